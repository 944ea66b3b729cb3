//! The engine of `podlens render`: workloads as the cluster runs them, with variables expanded and presets applied.
//!
//! A value that is not completely known keeps its text, with a comment that gives the reason. Values of Secrets are never
//! inserted.

mod preset_changes;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::build::{BuiltContainer, BuiltObject};
use crate::k8s::Text;
use crate::resolve::{Environment, ResolvedValue, Resolver, ValuePart, ValueState};
use crate::syntax::{
    self, DollarTokenKind, Node, ScalarStyle, SourceMap, Tree, YamlValue, dollar_tokens, show_placeholders,
};
use crate::text::Span;
use preset_changes::PresetChanges;

/// Renders the workloads of files.
pub struct Renderer<'s> {
    /// Computes environments.
    pub resolver: &'s Resolver<'s>,
    /// Returns the text of a file.
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
        let text = || show_placeholders(&self.text.value).into_owned();
        match (self.known(), self.reason()) {
            (Some(value), _) => YamlValue::Text(value),
            (None, Some(reason)) => YamlValue::Commented(text(), reason),
            (None, None) => YamlValue::Text(text()),
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
    /// One workload as a YAML document.
    pub fn document(&self, object: BuiltObject<'_>) -> Option<String> {
        let expanded_texts: BTreeMap<String, RenderedText> =
            self.expanded_texts(object).into_iter().map(|it| (it.path.clone(), it)).collect();
        let scalar = |path: &str| expanded_texts.get(path).map(RenderedText::scalar);
        let mut document = self.built_value(object, &scalar)?;
        for changes in self.preset_changes(object) {
            changes.apply(&mut document);
        }
        document.to_block()
    }

    /// An object after the build, before admission. `scalar` may return a replacement for the scalar at a path.
    pub fn built_value(
        &self,
        object: BuiltObject<'_>,
        scalar: &dyn Fn(&str) -> Option<YamlValue>,
    ) -> Option<YamlValue> {
        if let Some(node) = object.tree() {
            return Some(readable(YamlValue::from_node(node, "", scalar)?));
        }
        let tree = syntax::parse(&(self.text)(object.file)?);
        YamlValue::from_node(node_of(&tree, object)?, "", scalar)
    }

    /// The text of a file with variables expanded and presets applied; the rest is not changed. Not for files with
    /// templates: their objects differ from their text.
    pub fn in_place<'o>(&self, objects: &[BuiltObject<'o>], text: &str) -> String {
        let mut edits: BTreeMap<Span, Option<String>> = BTreeMap::new();
        for object in objects {
            for expanded in self.expanded_texts(*object) {
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
        for object in objects {
            for changes in self.preset_changes(*object) {
                let tree = tree.get_or_insert_with(|| syntax::parse(text));
                all.extend(changes.edits(text, tree).into_iter().map(|it| (it.span, it.text)));
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
    fn preset_changes<'a>(&self, object: BuiltObject<'a>) -> Vec<PresetChanges<'a>> {
        object.pods().filter_map(|pod| PresetChanges::of(self, pod)).collect()
    }

    fn expanded_texts(&self, object: BuiltObject<'_>) -> Vec<RenderedText> {
        let mut found = Vec::new();
        object.containers().for_each(|container| self.of_container(container, &mut found));
        found.retain(|it| it.text.value.contains('$') && it.value.known().is_none_or(|value| *value != *it.text.value));
        found
    }

    fn of_container(&self, of: BuiltContainer<'_>, found: &mut Vec<RenderedText>) {
        let environment: Environment = self.resolver.environment(of);
        let (container, at) = (of.container, &of.container.path);
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

/// A value with a readable form of each placeholder, and a comment that says that it is not known.
fn readable(value: YamlValue) -> YamlValue {
    match value {
        YamlValue::Text(text) if syntax::has_placeholder(&text) => {
            let value = ResolvedValue::written(text.as_str().into());
            RenderedText { path: String::new(), text: Text::of(text), value }.scalar()
        }
        YamlValue::List(items) => YamlValue::List(items.into_iter().map(readable).collect()),
        YamlValue::Map(entries) => {
            let entry = |(key, value): (String, YamlValue)| (show_placeholders(&key).into_owned(), readable(value));
            YamlValue::Map(entries.into_iter().map(entry).collect())
        }
        other => other,
    }
}

/// The mapping of a source object.
fn node_of<'t>(tree: &'t Tree, object: BuiltObject<'_>) -> Option<Node<'t>> {
    let offset = object.source.offset;
    let root = tree.document_at(offset)?.root()?;
    let mut ancestors = root.path_to(offset).into_iter();
    ancestors.find(|node| node.span().start == offset && node.is_mapping())
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
