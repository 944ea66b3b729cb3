//! A Helm template that is being edited, masked and read incrementally.
//!
//! After an edit the whole text is masked again. The result is compared with the last mask, and only the range that
//! differs is parsed. An object is processed again if it was read again or if the actions around it have changed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::k8s::{Model, Object, ObjectCache};
use crate::syntax::{self, HelmMask, HelmOutput, Tree, mask_helm_actions};
use crate::text::{Span, TextChange};
use crate::workspace::helm::{ActionsAround, without_unknown};

/// The results of the last read of a template.
#[derive(Debug, Default)]
pub(in crate::workspace) struct MaskedTemplate {
    last: Option<LastRead>,
    cache: ObjectCache,
    /// By the address of the model. The entry keeps the model alive, so the address is not reused.
    objects: HashMap<usize, KnownObject>,
}

#[derive(Debug)]
struct LastRead {
    text: Arc<str>,
    mask: Arc<HelmMask>,
    tree: Arc<Tree>,
}

/// An object, the actions around it, and the object without the parts that depend on them.
#[derive(Debug)]
struct KnownObject {
    model: Arc<Model>,
    actions: SurroundingActions,
    known: Arc<Model>,
}

/// The actions around an object, relative to its offset.
#[derive(Debug, PartialEq, Eq)]
struct SurroundingActions {
    end: usize,
    outputs: Vec<HelmOutput>,
    lines: Vec<Span>,
}

impl SurroundingActions {
    fn new(object: &Object, around: &ActionsAround<'_>) -> Self {
        let base = object.offset;
        // An action that starts before the object reaches into it only with spaces.
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
    /// Masks a text and parses the result. `None` if it has no actions.
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

    /// The objects of the last text, without the parts that depend on actions.
    pub(in crate::workspace) fn objects(&mut self) -> Vec<Object> {
        let Some(last) = &self.last else { return Vec::new() };
        let mut objects = self.cache.read_objects(&last.tree);
        let mut old = std::mem::take(&mut self.objects);
        let starts: Vec<usize> = objects.iter().map(|it| it.offset).collect();
        for (at, object) in objects.iter_mut().enumerate() {
            let around = ActionsAround::new(object, &last.mask, starts.get(at + 1).copied());
            let actions = SurroundingActions::new(object, &around);
            let address = Arc::as_ptr(&object.model).addr();
            let found = match old.remove(&address) {
                Some(it) if Arc::ptr_eq(&it.model, &object.model) && it.actions == actions => it,
                _ => {
                    let known = Arc::new(without_unknown(object, &around));
                    KnownObject { model: Arc::clone(&object.model), actions, known }
                }
            };
            object.model = Arc::clone(&found.known);
            self.objects.insert(address, found);
        }
        objects
    }
}

/// The edit that turns one text into another.
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
    fn a_difference_turns_one_text_into_the_other() {
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

    /// Only the edited object is processed again.
    #[test]
    fn only_the_edited_object_is_processed_again() {
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
        // Edits inside an action, next to one, and before all of them.
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
