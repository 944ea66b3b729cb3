//! Additions to `podlens.yaml`: names in `externals`, and settings that a finding mentions.
//!
//! The nearest settings file is changed. If there is none, the edit has the name of a file that does not exist, and creates
//! it in the directory of the project.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit, Location};
use crate::ide::Analysis;
use crate::ide::features::code_actions::is_undefined;
use crate::ide::features::code_actions::sources::{ObjectUse, object_use};
use crate::resolve::{OriginKind, is_strict_variable_name};
use crate::syntax::{InsertPosition, Node, TextEdit, TypedScalar, YamlValue, add_entry, add_items};
use crate::text::Span;
use crate::workspace::{SETTINGS_FILE, Settings};

/// The action that declares in `externals` what a finding does not find: its title and edit.
pub(super) fn add_external(analysis: &Analysis<'_>, file: &Arc<str>, found: &Diagnostic) -> Option<(String, Edit)> {
    let any_key = || YamlValue::List(vec![YamlValue::text("*")]);
    let (what, list, object, value) = match found.rule {
        _ if is_undefined(found) => {
            let name = Some(&*found.name).filter(|it| is_strict_variable_name(it))?;
            (name.to_owned(), "variables", None, YamlValue::List(vec![YamlValue::text(name)]))
        }
        "missing-object" | "missing-key" => {
            let ObjectUse { kind, name, key, .. } = object_use(analysis, file, found)?;
            let list = if kind == OriginKind::Secret { "secrets" } else { "configMaps" };
            let keys = key.as_ref().map_or_else(any_key, |key| YamlValue::List(vec![YamlValue::text(&**key)]));
            let what = match (found.rule, &key) {
                ("missing-key", Some(key)) => format!("{name}/{key}"),
                _ => name.to_string(),
            };
            (what, list, Some(name.to_string()), keys)
        }
        "missing-service" => (found.name.clone(), "services", Some(found.name.clone()), YamlValue::Null),
        _ => return None,
    };
    let path: Vec<&str> = ["externals", list].into_iter().chain(object.as_deref()).collect();
    let (edit, place) = change(analysis, file, &path, &value)?;
    Some((format!("Add `{what}` to `externals` in {place}"), edit))
}

/// The action that enables proposals, for a finding that recommends it.
pub(super) fn enable_proposals(analysis: &Analysis<'_>, file: &Arc<str>, found: &Diagnostic) -> Option<(String, Edit)> {
    if found.rule != "unserved-field" || !found.help.as_ref().is_some_and(|it| it.contains("`proposals: true`")) {
        return None;
    }
    let (edit, place) = change(analysis, file, &["proposals"], &YamlValue::Bool(true))?;
    Some((format!("Set `proposals: true` in {place}"), edit))
}

/// Adds a value to the settings of a file, at a path of keys. Also returns the name of the settings file for the title.
fn change(analysis: &Analysis<'_>, file: &Arc<str>, path: &[&str], value: &YamlValue) -> Option<(Edit, &'static str)> {
    let settings = &analysis.snapshot.settings(file).file;
    if settings.is_empty() {
        let directory = analysis.snapshot.project_directory(file)?;
        let location = Location { file: format!("{directory}{SETTINGS_FILE}").into(), span: Span::new(0, 0) };
        return Some((Edit { location, text: nested(path, value).to_block()? }, "a new podlens.yaml"));
    }
    let file_text = analysis.file_text(settings)?;
    let text = file_text.text();
    let root = file_text.source.tree.documents().find_map(|it| it.root());
    let change = match root {
        Some(root) => insert(text, root, path, value)?,
        None => {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { file_text.line_break() };
            let block = nested(path, value).to_block()?.replace('\n', file_text.line_break());
            TextEdit { span: Span::new(text.len(), text.len()), text: format!("{gap}{block}") }
        }
    };
    let mut new = text.to_owned();
    new.replace_range(change.span.range(), &change.text);
    let errors = |text: &str| Settings::read(settings, text).errors.len();
    let location = Location { file: Arc::clone(settings), span: change.span };
    (errors(&new) <= errors(text)).then_some((Edit { location, text: change.text }, SETTINGS_FILE))
}

/// Adds a value below a node. Items are added to an existing list.
fn insert(text: &str, node: Node<'_>, path: &[&str], value: &YamlValue) -> Option<TextEdit> {
    let Some((key, rest)) = path.split_first() else {
        return match value {
            YamlValue::List(items) if node.is_sequence() => add_items(text, node, items, InsertPosition::Last),
            YamlValue::Bool(flag) if matches!(node.typed(), Some(TypedScalar::Bool(_))) => {
                Some(TextEdit { span: node.span(), text: flag.to_string() })
            }
            _ => None,
        };
    };
    if node.is_sequence() && rest.is_empty() {
        // Objects may also be a list of names, with any key.
        return add_items(text, node, &[YamlValue::text(*key)], InsertPosition::Last);
    }
    match node.entry(key) {
        Some((_, child)) => insert(text, child?, rest, value),
        None => add_entry(text, node, key, &nested(rest, value)),
    }
}

/// A value inside a mapping for each key.
fn nested(path: &[&str], value: &YamlValue) -> YamlValue {
    path.iter().rfold(value.clone(), |inner, key| YamlValue::Map(vec![((*key).to_owned(), inner)]))
}
