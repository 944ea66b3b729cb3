//! Actions for a ConfigMap or Secret, or a key of it, that is missing: add it, or make the reference optional.

use std::sync::Arc;

use crate::build::BuiltMatch;
use crate::diagnostic::{Diagnostic, Edit, Location};
use crate::ide::Analysis;
use crate::ide::shared::cursor::{CursorTarget, target_at};
use crate::ide::shared::located_container::LocatedContainer;
use crate::k8s::{KeyRef, ObjectData, ValueSource};
use crate::resolve::OriginKind;
use crate::syntax::{InsertPosition, Node, TextEdit, TypedScalar, YamlValue, add_entry, add_items};
use crate::text::Span;

/// A reference to a ConfigMap or Secret, with the key if it has one.
pub(super) struct ObjectUse<'s> {
    pub(super) at: LocatedContainer<'s>,
    pub(super) kind: OriginKind,
    pub(super) name: Arc<str>,
    pub(super) key: Option<Arc<str>>,
}

/// The reference that a finding is about.
pub(super) fn object_use<'s>(analysis: &Analysis<'s>, file: &Arc<str>, found: &Diagnostic) -> Option<ObjectUse<'s>> {
    match target_at(analysis, file, found.location.span.start)?.target {
        CursorTarget::KeyUse { at, kind, name, key } => {
            Some(ObjectUse { at, kind, name: Arc::clone(&name.value), key: Some(Arc::clone(&key.value)) })
        }
        CursorTarget::Object { at, kind, name, .. } if matches!(kind, OriginKind::ConfigMap | OriginKind::Secret) => {
            let sources = at.container.env.iter().filter_map(|it| it.from.as_ref()).flat_map(|it| &it.sources);
            let key = sources.into_iter().find_map(|it| match it {
                ValueSource::ConfigMap(KeyRef { name: Some(it), key, .. })
                | ValueSource::Secret(KeyRef { name: Some(it), key, .. })
                    if it.span == name.span =>
                {
                    key.as_ref().map(|it| Arc::clone(&it.value))
                }
                _ => None,
            });
            Some(ObjectUse { key, kind, name: Arc::clone(&name.value), at })
        }
        _ => None,
    }
}

/// The actions that add a missing key to the objects of its name, each with its title and edit.
pub(super) fn add_key(analysis: &Analysis<'_>, file: &Arc<str>, found: &Diagnostic) -> Vec<(String, Edit)> {
    // A key cannot be in `data` and in `binaryData`.
    let is_missing = found.rule == "missing-key" && !found.message.contains("binary data");
    let Some(ObjectUse { at, kind, name, key: Some(key) }) = object_use(analysis, file, found).filter(|_| is_missing)
    else {
        return Vec::new();
    };
    let matches = if kind == OriginKind::Secret { at.object.secrets(&name) } else { at.object.config_maps(&name) };
    let several = matches.len() > 1;
    let action = |found: &BuiltMatch<'_>| {
        let edit = key_edit(analysis, found, &key)?;
        let place = if several { format!(" in {}", found.object.file) } else { String::new() };
        Some((format!("Add the key `{key}` to {} `{name}`{place}", kind_name(kind)), edit))
    };
    matches.iter().filter_map(action).collect()
}

/// Adds a key with an empty value to an object.
fn key_edit(analysis: &Analysis<'_>, found: &BuiltMatch<'_>, key: &str) -> Option<Edit> {
    let object = found.object;
    // An entry of `externals` is in the settings.
    if analysis.snapshot.file(object.file).is_none_or(|it| it.settings.is_some()) {
        return None;
    }
    let file_text = analysis.file_text(object.file)?;
    let span = object.source.file_span(object.source.model.span);
    let root = file_text.source.tree.document_at(span.start)?.root()?;
    let node = root.path_to(span.start).into_iter().find(|it| it.is_mapping() && it.span() == span)?;
    let text = file_text.text();
    let change = if node.get("kind").is_none() {
        // A generator of a kustomization.
        let literal = YamlValue::text(format!("{key}="));
        match node.get("literals") {
            Some(list) => add_items(text, list, &[literal], InsertPosition::Last)?,
            None => add_entry(text, node, "literals", &YamlValue::List(vec![literal]))?,
        }
    } else {
        let is_secret = matches!(object.model.data, ObjectData::Secret(_));
        let preferred = if is_secret { ["stringData", "data"] } else { ["data", "data"] };
        let value = YamlValue::Quoted(String::new());
        match preferred.iter().find_map(|it| node.get(it)) {
            Some(data) => add_entry(text, data, key, &value)?,
            None => add_entry(text, node, preferred[0], &YamlValue::map([(key, value)]))?,
        }
    };
    let location = Location { file: Arc::clone(object.file), span: change.span };
    Some(Edit { location, text: change.text })
}

/// The action that adds a missing object to the file that refers to it.
pub(super) fn add_object(analysis: &Analysis<'_>, file: &Arc<str>, found: &Diagnostic) -> Option<(String, Edit)> {
    let ObjectUse { at, kind, name, key } =
        object_use(analysis, file, found).filter(|_| found.rule == "missing-object")?;
    // An object of a template or a List is not a document of its own, and JSON has one document.
    let file_text = analysis.file_text(file)?;
    let text = file_text.text();
    let root = file_text.source.tree.document_at(found.location.span.start)?.root()?;
    let is_document = root.span().start == at.object.source.file_span(at.object.source.model.span).start;
    if !is_document || file.ends_with(".json") || at.facts.is_template() {
        return None;
    }
    let is_secret = kind == OriginKind::Secret;
    let mut metadata = vec![("name".to_owned(), YamlValue::text(&*name))];
    metadata.extend(at.object.namespace().map(|it| ("namespace".to_owned(), YamlValue::text(&**it))));
    let keys = key.map(|it| (it.to_string(), YamlValue::Quoted(String::new()))).into_iter().collect();
    let object = YamlValue::map([
        ("apiVersion", YamlValue::text("v1")),
        ("kind", YamlValue::text(if is_secret { "Secret" } else { "ConfigMap" })),
        ("metadata", YamlValue::Map(metadata)),
        (if is_secret { "stringData" } else { "data" }, YamlValue::Map(keys)),
    ]);
    let end = file_text.line_break();
    let gap = if text.ends_with('\n') { "" } else { end };
    let block = object.to_block()?.replace('\n', end);
    let location = Location { file: Arc::clone(file), span: Span::new(text.len(), text.len()) };
    let title = format!("Add {} `{name}` to this file", kind_name(kind));
    Some((title, Edit { location, text: format!("{gap}---{end}{block}") }))
}

/// The fields with `optional`.
const REFERENCES: [&str; 5] = ["configMapKeyRef", "secretKeyRef", "configMapRef", "secretRef", "fileKeyRef"];

/// The action that makes the reference around a finding optional, for a finding that recommends it.
pub(super) fn make_optional(analysis: &Analysis<'_>, file: &Arc<str>, found: &Diagnostic) -> Option<(String, Edit)> {
    let is_recommended = found.help.as_ref().is_some_and(|it| it.contains("`optional: true`"));
    if !is_recommended && !matches!(found.rule, "missing-key" | "missing-object") {
        return None;
    }
    let file_text = analysis.file_text(file)?;
    let offset = found.location.span.start;
    let path = file_text.source.tree.document_at(offset)?.root()?.path_to(offset);
    let at = path.iter().rposition(|it| it.is_mapping())?;
    let (reference, around) = (path[at], *path.get(at.checked_sub(1)?)?);
    let is_reference = |(key, value): (Node<'_>, Option<Node<'_>>)| {
        key.text().is_some_and(|it| REFERENCES.contains(&it)) && value.is_some_and(|it| it.span() == reference.span())
    };
    if !around.own_entries().any(is_reference) {
        return None;
    }
    let change = match reference.entry("optional") {
        None => add_entry(file_text.text(), reference, "optional", &YamlValue::Bool(true))?,
        Some((_, value)) => {
            let value = value.filter(|it| it.typed() == Some(TypedScalar::Bool(false)))?;
            TextEdit { span: value.span(), text: "true".into() }
        }
    };
    let location = Location { file: Arc::clone(file), span: change.span };
    Some(("Set `optional: true`".to_owned(), Edit { location, text: change.text }))
}

fn kind_name(kind: OriginKind) -> &'static str {
    if kind == OriginKind::Secret { "secret" } else { "config map" }
}
