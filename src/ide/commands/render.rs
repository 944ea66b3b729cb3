//! The engine of `podlens render`: workloads with their variables expanded and their presets applied.
//!
//! A value that is not completely known keeps its text, with a comment that gives the reason. Values of Secrets are never
//! inserted.

mod preset_changes;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::k8s::{Container, Object, Pod, Text};
use crate::resolve::{Environment, ResolvedValue, Resolver, ValuePart, ValueState};
use crate::syntax::{self, DollarTokenKind, Node, ScalarStyle, SourceMap, Tree, YamlValue, dollar_tokens};
use crate::text::Span;
use crate::workspace::File;
use preset_changes::PresetChanges;

/// Renders the workloads of files.
pub struct Renderer<'s> {
    /// Computes environments.
    pub resolver: &'s Resolver<'s>,
    /// Returns the text of a file; needed for the files of presets.
    pub text: &'s (dyn Fn(&str) -> Option<Arc<str>> + Sync),
}

impl std::fmt::Debug for Renderer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer").finish_non_exhaustive()
    }
}

/// A text with its expanded value, by path in the object.
struct RenderedText {
    path: String,
    text: Text,
    value: ResolvedValue,
}

impl RenderedText {
    /// The value, if it is completely known.
    fn known(&self) -> Option<String> {
        self.value.known()
    }

    /// The scalar to write: the value, or the text with a comment that gives the reason.
    fn scalar(&self) -> YamlValue {
        match (self.known(), self.reason()) {
            (Some(value), _) => YamlValue::Text(value),
            (None, Some(reason)) => YamlValue::Commented(self.text.value.to_string(), reason),
            (None, None) => YamlValue::text(&*self.text.value),
        }
    }

    /// Why the value is not known.
    fn reason(&self) -> Option<String> {
        let unknown = self.value.parts().iter().filter(|it| !matches!(it, ValuePart::Text(_)));
        let mut reasons: Vec<String> = Vec::new();
        for piece in unknown {
            let mut alone = ResolvedValue::default();
            alone.push(piece.clone());
            let reason = alone.to_string();
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        (self.value.state() != ValueState::Known).then(|| reasons.join(", "))
    }
}

impl Renderer<'_> {
    /// The workloads of a file as YAML documents, in the order of the text. None for a Helm template, whose result is not
    /// known.
    pub fn workloads(&self, path: &Arc<str>, file: &File, text: &str) -> Vec<String> {
        if file.is_helm_template() || workloads(file).next().is_none() {
            return Vec::new();
        }
        let tree = syntax::parse(text);
        workloads(file).filter_map(|object| self.document(path, &tree, object)).collect()
    }

    /// The text of a file with variables expanded and presets applied; the rest is not changed.
    pub fn in_place(&self, path: &Arc<str>, file: &File, text: &str) -> String {
        let mut edits: BTreeMap<Span, Option<String>> = BTreeMap::new();
        for object in workloads(file).filter(|_| !file.is_helm_template()) {
            for expanded in self.expanded_texts(path, object) {
                let span = object.file_span(expanded.text.span);
                let new = expanded.known().and_then(|value| rewritten(text.get(span.range())?, &expanded, &value));
                match edits.entry(span) {
                    Entry::Vacant(entry) => drop(entry.insert(new)),
                    // Containers that share the text through an anchor expand it differently.
                    Entry::Occupied(mut entry) if *entry.get() != new => drop(entry.insert(None)),
                    Entry::Occupied(_) => {}
                }
            }
        }
        let mut all: Vec<(Span, String)> = edits.into_iter().filter_map(|(span, new)| Some((span, new?))).collect();
        let mut tree = None;
        for object in workloads(file).filter(|_| !file.is_helm_template()) {
            for preset_changes in self.preset_changes(path, object) {
                let tree = tree.get_or_insert_with(|| syntax::parse(text));
                all.extend(preset_changes.edits(text, tree).into_iter().map(|it| (it.span, it.text)));
            }
        }
        // Insertions at one offset keep their order: inner ones first.
        all.sort_by_key(|(span, _)| span.start);
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for (span, new) in all {
            if span.start >= at {
                result.push_str(&text[at..span.start]);
                result.push_str(&new);
                at = span.end;
            }
        }
        result.push_str(&text[at..]);
        result
    }

    /// The pods of an object that presets change.
    fn preset_changes<'a>(&'a self, path: &'a Arc<str>, object: &'a Object) -> Vec<PresetChanges<'a>> {
        let pods = object.model.pods.iter();
        pods.filter_map(|pod| PresetChanges::of(self, path, object, pod)).collect()
    }

    /// One workload as a YAML document; `tree` is that of its file.
    pub fn document(&self, path: &Arc<str>, tree: &Tree, object: &Object) -> Option<String> {
        let node = node_of(tree, object)?;
        let expanded_texts: BTreeMap<String, RenderedText> =
            self.expanded_texts(path, object).into_iter().map(|it| (it.path.clone(), it)).collect();
        let mut document = YamlValue::from_node(node, "", &|path| expanded_texts.get(path).map(RenderedText::scalar))?;
        for preset_changes in self.preset_changes(path, object) {
            preset_changes.apply(&mut document);
        }
        document.to_block()
    }

    fn expanded_texts(&self, path: &Arc<str>, object: &Object) -> Vec<RenderedText> {
        let mut found = Vec::new();
        for pod in &object.model.pods {
            for container in &pod.containers {
                self.of_container(path, object, pod, container, &mut found);
            }
        }
        found.retain(|it| it.text.value.contains('$') && it.value.known().is_none_or(|value| *value != *it.text.value));
        found
    }

    fn of_container(
        &self,
        file: &Arc<str>,
        object: &Object,
        pod: &Pod,
        container: &Container,
        found: &mut Vec<RenderedText>,
    ) {
        let environment: Environment = self.resolver.environment(file, object, pod, container);
        let at = &container.path;
        let mut push = |path: String, text: &Text, value: &ResolvedValue| {
            found.push(RenderedText { path, text: text.clone(), value: value.clone() });
        };
        for (index, entry) in container.env.iter().enumerate() {
            if let (Some(text), Some(binding)) = (&entry.value, environment.entry(index)) {
                push(format!("{at}.env[{index}].value"), text, &binding.value);
                // The name of the list in a deployment hook.
                push(format!("{at}.environment[{index}].value"), text, &binding.value);
            }
        }
        for (list, items) in [("command", &environment.command), ("args", &environment.args)] {
            for (index, item) in items.iter().enumerate() {
                push(format!("{at}.{list}[{index}]"), &item.text, &item.expansion.value);
            }
        }
        for probe in &environment.probes {
            for (index, item) in probe.command.iter().enumerate() {
                push(format!("{at}.{}.exec.command[{index}]", probe.probe), &item.text, &item.expansion.value);
            }
        }
        let mounts = container.mounts.iter().enumerate().filter(|(_, mount)| mount.sub_path_expr.is_some());
        for ((index, _), sub_path) in mounts.zip(&environment.sub_paths) {
            let item = &sub_path.item;
            push(format!("{at}.volumeMounts[{index}].subPathExpr"), &item.text, &item.expansion.value);
        }
    }
}

/// The objects with containers.
pub(crate) fn workloads(file: &File) -> impl Iterator<Item = &Object> {
    file.objects.iter().filter(|it| it.model.pods.iter().any(|it| !it.containers.is_empty()))
}

/// The mapping of an object.
fn node_of<'t>(tree: &'t Tree, object: &Object) -> Option<Node<'t>> {
    let root = tree.document_at(object.offset)?.root()?;
    let mut ancestors = root.path_to(object.offset).into_iter();
    ancestors.find(|node| node.span().start == object.offset && node.is_mapping())
}

/// The source of a scalar with the value inserted: in its style if possible, otherwise in double quotes.
fn rewritten(source: &str, expanded: &RenderedText, value: &str) -> Option<String> {
    let Text { style, value: old, .. } = &expanded.text;
    replaced_in_style(source, *style, old, value).or_else(|| serde_json::to_string(value).ok())
}

/// The source with only the references replaced; `None` if the style cannot represent the result.
fn replaced_in_style(source: &str, style: ScalarStyle, old: &str, value: &str) -> Option<String> {
    let map = SourceMap::new(source, style, old);
    let (mut result, mut done, mut rest) = (String::new(), 0, value);
    let mut before = 0;
    let found: Vec<_> = dollar_tokens(old)
        .filter(|it| matches!(it.kind, DollarTokenKind::Reference | DollarTokenKind::Escape))
        .collect();
    for (at, token) in found.iter().enumerate() {
        // The text between two references is the same in both.
        rest = rest.strip_prefix(&old[before..token.range.start])?;
        let next = found.get(at + 1).map_or(old.len(), |next| next.range.start);
        let between = &old[token.range.end..next];
        let new = match at + 1 == found.len() {
            true => rest.strip_suffix(between)?,
            false if between.is_empty() => return None,
            false => &rest[..rest.find(between)?],
        };
        let span = map.source_span(token.range.clone());
        result.push_str(source.get(done..span.start)?);
        result.push_str(new);
        done = span.end;
        rest = &rest[new.len()..];
        before = token.range.end;
    }
    result.push_str(source.get(done..)?);
    let reads_back = |text: &str| {
        let tree = syntax::parse(text);
        let root = tree.documents().next()?.root()?;
        (tree.errors().is_empty() && root.string() == Some(value)).then_some(())
    };
    match style {
        ScalarStyle::Literal | ScalarStyle::Folded => (!value.contains('\r')).then_some(())?,
        ScalarStyle::Plain if value.contains([',', '[', ']', '{', '}', '\n', '#']) => return None,
        _ => reads_back(&result)?,
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_references_are_replaced() {
        let plain = ScalarStyle::Plain;
        assert_eq!(replaced_in_style("a-$(B)-c", plain, "a-$(B)-c", "a-b-c").as_deref(), Some("a-b-c"));
        assert_eq!(replaced_in_style("$(N)", plain, "$(N)", "80"), None, "it would be a number");
        assert_eq!(replaced_in_style("$(N)", plain, "$(N)", "a, b"), None);
        let double = ScalarStyle::DoubleQuoted;
        assert_eq!(replaced_in_style("\"\\u00e9 $(N)\"", double, "é $(N)", "é 80").as_deref(), Some("\"\\u00e9 80\""));
        assert_eq!(replaced_in_style("\"$(N)\"", double, "$(N)", "a\"b"), None);
        assert_eq!(
            replaced_in_style("'$$(N) $(M)'", ScalarStyle::SingleQuoted, "$$(N) $(M)", "$(N) m").as_deref(),
            Some("'$(N) m'")
        );
    }
}
