//! A Helm template that is being edited: an edit costs the parts of it that are masked differently then.
//!
//! Masking is a pass over the whole text. What comes out differs from the mask before in one stretch, and only that is
//! parsed again; an object is looked at again if it was read anew, or if the actions around it are others.

use std::collections::HashMap;
use std::sync::Arc;

use crate::k8s::{Model, Object, ObjectCache};
use crate::syntax::{self, HelmMask, HelmOutput, Tree, mask_helm_actions};
use crate::text::{Span, TextChange};
use crate::workspace::helm::{ActionsAround, known};

/// What was last read of a template.
#[derive(Debug, Default)]
pub(in crate::workspace) struct MaskedTemplate {
    last: Option<LastRead>,
    kept: ObjectCache,
    /// By the address of the model, which stands for it as long as it is held here.
    objects: HashMap<usize, KnownObject>,
}

#[derive(Debug)]
struct LastRead {
    text: Arc<str>,
    mask: Arc<HelmMask>,
    tree: Arc<Tree>,
}

/// An object, what stood around it, and what came of that.
#[derive(Debug)]
struct KnownObject {
    model: Arc<Model>,
    actions: SurroundingActions,
    known: Arc<Model>,
}

/// The actions around an object, counted from its beginning.
#[derive(Debug, PartialEq, Eq)]
struct SurroundingActions {
    end: usize,
    outputs: Vec<HelmOutput>,
    lines: Vec<Span>,
}

impl SurroundingActions {
    fn of(object: &Object, around: &ActionsAround<'_>) -> Self {
        let base = object.offset;
        // Those that begin before the object end in it at most by what they leave blank.
        let relative = |span: Span| Span::new(span.start.saturating_sub(base), span.end - base);
        let output = |it: &HelmOutput| HelmOutput { span: relative(it.span), key: it.key.clone() };
        Self {
            end: around.end - base,
            outputs: around.outputs.iter().map(output).collect(),
            lines: around.lines.iter().map(|it| relative(*it)).collect(),
        }
    }
}

impl MaskedTemplate {
    /// A text with its actions masked, and the tree of that; nothing if it has no actions.
    pub(in crate::workspace) fn read(&mut self, text: &Arc<str>) -> Option<(Arc<HelmMask>, Arc<Tree>)> {
        let last = match self.last.take() {
            Some(last) if last.text == *text => last,
            before => {
                let mask = mask_helm_actions(text)?;
                let tree = match before {
                    Some(before) if before.mask.text == mask.text => before.tree,
                    Some(before) => {
                        let change = difference(&before.mask.text, &mask.text);
                        Arc::new(before.tree.reparse(change, &*mask.text))
                    }
                    None => Arc::new(syntax::parse(&mask.text)),
                };
                LastRead { text: Arc::clone(text), mask: Arc::new(mask), tree }
            }
        };
        let read = (Arc::clone(&last.mask), Arc::clone(&last.tree));
        self.last = Some(last);
        Some(read)
    }

    /// The objects of the text that was read last, as far as they are known.
    pub(in crate::workspace) fn objects(&mut self) -> Vec<Object> {
        let Some(last) = &self.last else { return Vec::new() };
        let mut objects = self.kept.objects_of(&last.tree);
        let mut old = std::mem::take(&mut self.objects);
        let starts: Vec<usize> = objects.iter().map(|it| it.offset).collect();
        for (at, object) in objects.iter_mut().enumerate() {
            let around = ActionsAround::of(object, &last.mask, starts.get(at + 1).copied());
            let actions = SurroundingActions::of(object, &around);
            let address = Arc::as_ptr(&object.model).addr();
            let found = match old.remove(&address) {
                Some(it) if Arc::ptr_eq(&it.model, &object.model) && it.actions == actions => it,
                _ => {
                    let known = Arc::new(known(object, &around));
                    KnownObject { model: Arc::clone(&object.model), actions, known }
                }
            };
            object.model = Arc::clone(&found.known);
            self.objects.insert(address, found);
        }
        objects
    }
}

/// What has to change in a text to make it another one, as one edit.
fn difference(old: &str, new: &str) -> TextChange {
    let (old_bytes, new_bytes) = (old.as_bytes(), new.as_bytes());
    let mut start = same_at_start(old_bytes, new_bytes);
    while !new.is_char_boundary(start) || !old.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = same_at_end(&old_bytes[start..], &new_bytes[start..]);
    while !new.is_char_boundary(new.len() - end) || !old.is_char_boundary(old.len() - end) {
        end -= 1;
    }
    TextChange { old: Span::new(start, old.len() - end), new_len: new.len() - end - start }
}

/// How many bytes are compared at a time.
const BLOCK: usize = 256;

fn same_at_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    blocks + one[blocks..].iter().zip(&other[blocks..]).take_while(|(a, b)| a == b).count()
}

fn same_at_end(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK).zip(other.rchunks_exact(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    let (one, other) = (&one[..one.len() - blocks], &other[..other.len() - blocks]);
    blocks + one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_leads_from_one_text_to_the_other() {
        let long = "ü".repeat(400);
        let texts = ["", "a", "ab", "abab", "äöü", "äü", "aöü", &long, &format!("{long}x{long}"), &format!("x{long}")];
        for old in texts {
            for new in texts {
                let TextChange { old: span, new_len } = difference(old, new);
                let made =
                    format!("{}{}{}", &old[..span.start], &new[span.start..span.start + new_len], &old[span.end..]);
                assert_eq!(made, new, "from {old}");
            }
        }
        assert_eq!(difference("name: a\n", "name: ab\n"), TextChange { old: Span::new(7, 7), new_len: 1 });
    }

    /// Of many objects only the one that is edited is looked at again.
    #[test]
    fn an_edit_costs_what_it_touches() {
        let object = |number: usize| {
            format!(
                "---\nkind: Pod\napiVersion: v1\nmetadata: {{name: p{number}}}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      value: {{{{ .Values.a }}}}\n"
            )
        };
        let text: String = (0..20).map(object).collect();
        let mut template = MaskedTemplate::default();
        let mut models = |text: &str| -> Vec<Arc<Model>> {
            template.read(&text.into()).expect("it has actions");
            template.objects().into_iter().map(|it| it.model).collect()
        };
        let before = models(&text);
        // Inside an action, beside one, and above all of them.
        for edited in [
            text.replacen(".Values.a }}", ".Values.abc }}", 1),
            text.replacen("name: A", "name: B", 1),
            text.replacen("name: p0", "name: p0000", 1),
            text.replacen("value: {{ .Values.a }}", "value: {{ .Values.a }}\n    {{- if .Values.b }}", 1),
        ] {
            let after = models(&edited);
            let same = before.iter().zip(&after).filter(|(a, b)| Arc::ptr_eq(a, b)).count();
            assert_eq!((after.len(), same), (20, 19), "{}", &edited[..200]);
            assert!(before.iter().zip(models(&text)).skip(1).all(|(a, b)| Arc::ptr_eq(a, &b)), "and back again");
        }
    }
}
