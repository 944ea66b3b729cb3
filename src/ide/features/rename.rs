//! Rename: another name for a thing, everywhere it is used, or a reason why not.
//!
//! A rename is refused as a whole rather than done in part.

use std::sync::Arc;

use thiserror::Error;

use crate::diagnostic::{Edit, Location};
use crate::ide::Analysis;
use crate::ide::shared::cursor::{CursorTarget, target_at};
use crate::ide::shared::describe::{kind_words, location_text};
use crate::ide::shared::located_container::{FileText, LocatedContainer, ShellDoubt};
use crate::ide::shared::named_objects::name_location;
use crate::ide::shared::preset_reach::{PresetOutcome, recipients, selected_workloads};
use crate::ide::shared::template_parameters::LocatedParameter;
use crate::ide::shared::uses::{
    DefinedObject, ObjectKey, Symbol, Use, env_from_entries, rename_closure, symbol_of, uses, uses_with_doubtful,
};
use crate::k8s::{EnvFromSource, ObjectData};
use crate::k8s::{VariableScope, is_parameter_name};
use crate::resolve::{
    Lookup, OriginKind, UnknownReason, has_data_key_characters, is_relaxed_variable_name, is_strict_variable_name,
};
use crate::syntax::{ScalarStyle, has_helm_placeholder, parse, replace_in_scalar};
use crate::text::Span;

/// Something that can be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamable {
    /// Where its name stands under the cursor.
    pub span: Span,
    /// Its name now.
    pub name: String,
}

/// Why something is not renamed, for a person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct RenameError(pub String);

/// What would be renamed at an offset; nothing where there is nothing of ours.
pub fn prepare_rename(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: usize,
) -> Result<Option<Renamable>, RenameError> {
    let Some((symbol, name)) = renamable(analysis, file, offset)? else { return Ok(None) };
    let all = uses(analysis, &symbol, Some(file));
    let here = all.iter().find(|it| it.location.span.touches(offset));
    // `$(` and `)` belong to the reference, but not to its name.
    let here = here.or_else(|| all.iter().find(|it| it.location.span.touches(offset.saturating_add(2))));
    let here = here.or_else(|| all.iter().find(|it| it.location.span.end + 1 == offset));
    Ok(here.map(|it| {
        let start = it.location.span.start + it.prefix.len();
        Renamable { span: Span::new(start.min(it.location.span.end), it.location.span.end), name: name.to_string() }
    }))
}

/// The edits that rename what stands at an offset, in all files, by file and place.
pub fn rename(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: usize,
    new_name: &str,
) -> Result<Vec<Edit>, RenameError> {
    let Some((mut symbol, name)) = renamable(analysis, file, offset)? else {
        return refuse("there is nothing here that podlens could rename: put the cursor on a variable or on a key");
    };
    if *name == *new_name {
        return Ok(Vec::new());
    }
    match &mut symbol {
        Symbol::Variable { at, .. } => {
            check_variable(analysis, at, new_name)?;
            check_reached(analysis, at, new_name)?;
        }
        Symbol::Key(keys) => {
            *keys = rename_closure(analysis, std::mem::take(keys));
            keys.iter().try_for_each(|key| check_origin(analysis, key))?;
            check_key(analysis, keys, &name, new_name)?;
        }
        Symbol::Parameter(place) => check_parameter(place, new_name)?,
        Symbol::Object(_) | Symbol::Volume { .. } | Symbol::EnvFileKey(_) | Symbol::Undeclared { .. } => {}
    }
    let mut edits = Vec::new();
    for found in uses_with_doubtful(analysis, &symbol, None) {
        if let Some(doubt) = found.doubt {
            let shown = location_text(analysis, "", &found.location);
            return refuse(match doubt {
                ShellDoubt::Set => {
                    format!("the script in {shown} sets `{name}` itself, and which one it reads cannot be told")
                }
                ShellDoubt::Literal => {
                    format!("`{name}` stands in single quotes in {shown}: what reads it there cannot be told")
                }
            });
        }
        edits.push(edit(analysis, &found, new_name)?);
    }
    Ok(edits)
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, RenameError> {
    Err(RenameError(reason.into()))
}

/// The thing at an offset with its name, if it is one that can be renamed.
fn renamable<'s>(
    analysis: &Analysis<'s>,
    file: &Arc<str>,
    offset: usize,
) -> Result<Option<(Symbol<'s>, Arc<str>)>, RenameError> {
    let Some(symbol) = target_at(analysis, file, offset).and_then(|it| symbol_of(analysis, &it.target)) else {
        return Ok(None);
    };
    let name = match &symbol {
        Symbol::Variable { name, .. } => Arc::clone(name),
        Symbol::Key(keys) => {
            let Some(first) = keys.first() else { return Ok(None) };
            for key in keys {
                check_origin(analysis, key)?;
            }
            Arc::clone(&first.key.key.value)
        }
        Symbol::Object(DefinedObject { kind: OriginKind::Service, object, .. }) => {
            let name = object.model.reference_name().unwrap_or_default();
            return match target_at(analysis, file, offset).map(|it| it.target) {
                Some(CursorTarget::Reference { .. } | CursorTarget::ShellReference { .. }) => {
                    refuse(format!("this name is made of the service `{name}`: rename the service instead"))
                }
                _ => {
                    refuse(format!("`{name}` is also a DNS name, and who uses that cannot be seen: rename it by hand"))
                }
            };
        }
        Symbol::Object(DefinedObject { kind: OriginKind::Preset, object, .. }) => {
            let name = object.model.reference_name().unwrap_or_default();
            return refuse(format!("nothing refers to preset `{name}` by its name: change it where it stands"));
        }
        Symbol::Parameter(place) => place.name.into(),
        Symbol::Undeclared { name, meaning, .. } => return refuse(from_outside(name, meaning)),
        // Too many things that are not seen here go by the names of objects and volumes.
        Symbol::Object(_) | Symbol::Volume { .. } => return Ok(None),
        // A script may make a key of several parts.
        Symbol::EnvFileKey(_) => return Ok(None),
    };
    if has_helm_placeholder(&name) {
        return refuse("a Helm expression makes this name");
    }
    Ok(Some((symbol, name)))
}

fn from_outside(name: &str, meaning: &Lookup) -> String {
    match meaning {
        Lookup::Unbound => format!("nothing declares `{name}` here: declare it first"),
        Lookup::Maybe(UnknownReason::Helm) => "a Helm expression makes this name".into(),
        Lookup::Maybe(hole) => format!("`{name}` comes from outside this workspace (<{hole}>)"),
        Lookup::Bound(_) | Lookup::Later(_) => format!("`{name}` comes from outside: nothing here declares it"),
    }
}

fn check_parameter(place: &LocatedParameter<'_>, new: &str) -> Result<(), RenameError> {
    if !is_parameter_name(new) {
        return refuse(format!("`{new}` is no name for a parameter: use letters, digits and `_`"));
    }
    if place.template.exported.contains(new) {
        return refuse(format!("`{new}` is taken: the template has such a parameter"));
    }
    Ok(())
}

/// Whether a key can be written anew where it is defined.
fn check_origin(analysis: &Analysis<'_>, key: &ObjectKey<'_>) -> Result<(), RenameError> {
    let name = &key.key.key.value;
    if analysis.snapshot.file(&key.of.file).is_none_or(|it| it.settings.is_some()) {
        return refuse(format!("`{name}` comes from outside this workspace: the settings say that it exists"));
    }
    let made_by = match &key.of.object.model.data {
        ObjectData::ConfigMap(source) | ObjectData::Secret(source) => source.made_by,
        _ => None,
    };
    if made_by.is_some() && key.key.value.is_none() && key.key.value_span == Some(key.key.key.span) {
        return refuse(format!("the name of a file gives `{name}` its name: rename the file instead"));
    }
    Ok(())
}

fn check_variable(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, new: &str) -> Result<(), RenameError> {
    // V1 and V2; a `)` would end every reference to it.
    let is_valid = is_strict_variable_name(new)
        || (analysis.resolver.release(&at.file).is_at_least(32) && is_relaxed_variable_name(new));
    if !is_valid || new.contains(')') || new.trim() != new {
        return refuse(format!("`{new}` is no name for a variable: use letters, digits, `_`, `-` and `.`"));
    }
    check_free(analysis, &at.file, at, new)
}

/// Whether what a preset brings can have a name in every container that gets it.
fn check_reached(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, new: &str) -> Result<(), RenameError> {
    if !at.is_preset() {
        return Ok(());
    }
    for it in selected_workloads(analysis, &at.file, at.object) {
        if it.outcome == PresetOutcome::Unknown {
            let place = location_text(analysis, &at.file, &name_location(&it.file, it.object));
            return refuse(format!("it is not known whether the preset is for the workload in {place}"));
        }
    }
    recipients(analysis, at, None).iter().try_for_each(|it| check_free(analysis, &at.file, &it.at, new))
}

/// Whether a container has no variable of this name yet.
fn check_free(analysis: &Analysis<'_>, from: &str, at: &LocatedContainer<'_>, new: &str) -> Result<(), RenameError> {
    let mut names = at.container.env.iter().filter_map(|it| it.name.as_ref());
    if let Some(taken) = names.find(|it| &*it.value == new) {
        let place = location_text(analysis, from, &at.at(taken.span));
        return refuse(format!("`{new}` is taken: {place} declares it"));
    }
    if let Lookup::Bound(binding) = at.environment(analysis).lookup(VariableScope::All, new) {
        let kind = kind_words(binding.origin.kind);
        let object = binding.origin.object.as_deref().map_or(String::new(), |it| format!(" `{it}`"));
        return refuse(format!("`{new}` is taken: the container has it from {kind}{object}"));
    }
    Ok(())
}

fn check_key(analysis: &Analysis<'_>, keys: &[ObjectKey<'_>], old: &str, new: &str) -> Result<(), RenameError> {
    // V11.
    if !has_data_key_characters(new) || matches!(new, "." | "..") || new.len() > 253 {
        return refuse(format!("`{new}` is no name for a key: use letters, digits, `_`, `-` and `.`"));
    }
    for key in keys {
        let (ObjectData::ConfigMap(source) | ObjectData::Secret(source)) = &key.of.object.model.data else { continue };
        let binary = source.binary_keys.iter();
        if let Some(taken) = source.keys.iter().map(|it| &it.key).chain(binary).find(|it| &*it.value == new) {
            let location = Location { file: Arc::clone(&key.of.file), span: key.of.object.file_span(taken.span) };
            return refuse(format!("`{new}` is taken: {} has it", location_text(analysis, &key.of.file, &location)));
        }
    }
    // Containers that take all keys get a variable of the new name.
    let files = analysis.snapshot.files();
    for at in files.flat_map(|(path, facts)| LocatedContainer::all_with_presets(path, facts)) {
        for (entry, _) in env_from_entries(analysis, &at) {
            let (kind, name) = match &entry.source {
                Some(EnvFromSource::ConfigMap { name: Some(name), .. }) => (OriginKind::ConfigMap, name),
                Some(EnvFromSource::Secret { name: Some(name), .. }) => (OriginKind::Secret, name),
                _ => continue,
            };
            let is_meant = |key: &&ObjectKey<'_>| {
                key.of.kind == kind
                    && key
                        .of
                        .object
                        .reference_name()
                        .is_some_and(|it| **it == **at.object.with_known_parameters(&name.value))
            };
            let Some(key) = keys.iter().find(is_meant) else { continue };
            let found =
                crate::ide::shared::named_objects::objects_named(analysis, kind, &name.value, &at.file, at.object);
            if !found.iter().any(|it| *it.file == key.of.file && it.object.offset == key.of.object.offset) {
                continue;
            }
            let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
            check_free(analysis, &at.file, &at, &format!("{prefix}{new}"))?;
            // What refers to a variable that hides the key stays as it is; but the key would be seen again.
            let hides = |it: &&crate::k8s::Text| *it.value == *format!("{prefix}{old}");
            if let Some(hiding) = at.container.env.iter().filter_map(|it| it.name.as_ref()).find(hides) {
                let place = location_text(analysis, &at.file, &at.at(hiding.span));
                return refuse(format!("`{}` hides this key in {}, {place}: rename that first", hiding.value, at.file));
            }
        }
    }
    Ok(())
}

/// The edit at one place.
fn edit(analysis: &Analysis<'_>, found: &Use, new_name: &str) -> Result<Edit, RenameError> {
    let file = &found.location.file;
    let shown = || location_text(analysis, "", &found.location);
    let Some(written) = analysis.file_text(file) else { return refuse(format!("{file} cannot be read")) };
    let new = format!("{}{new_name}", found.prefix);
    let is_shell_name = new.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && !new.starts_with(|it: char| it.is_ascii_digit());
    if found.in_script && !is_shell_name {
        return refuse(format!("a shell reads this variable in {}, and `{new}` is no name there", shown()));
    }
    let change = if found.is_whole { scalar(&written, found, &new) } else { inside(&written, found, &new) };
    let Some((span, text)) = change else { return refuse(format!("`{new}` cannot be written in {}", shown())) };
    Ok(Edit { location: Location { file: Arc::clone(file), span }, text })
}

/// A scalar that is the name as a whole.
fn scalar(written: &FileText, found: &Use, new: &str) -> Option<(Span, String)> {
    let text = match found.text.style {
        ScalarStyle::Plain => {
            let tree = parse(new);
            let root = tree.documents().next().and_then(|it| it.root());
            let is_plain = tree.errors().is_empty() && root.is_some_and(|it| it.string() == Some(new));
            if is_plain && !new.contains([',', '[', ']', '{', '}', '#', ':']) {
                new.to_owned()
            } else {
                serde_json::to_string(new).ok()?
            }
        }
        ScalarStyle::SingleQuoted => format!("'{}'", new.replace('\'', "''")),
        ScalarStyle::DoubleQuoted => serde_json::to_string(new).ok()?,
        ScalarStyle::Literal | ScalarStyle::Folded => return inside(written, found, new),
    };
    Some((found.scalar, text))
}

/// A part of a scalar.
fn inside(written: &FileText, found: &Use, new: &str) -> Option<(Span, String)> {
    let is_ordinary = new.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.'));
    let now = written.text().get(found.location.span.range())?;
    // Ordinary letters in the place of ordinary letters are right in every style.
    if is_ordinary && now == &found.text.value[found.range.clone()] {
        return Some((found.location.span, new.to_owned()));
    }
    let source = written.text().get(found.scalar.range())?;
    let change = replace_in_scalar(source, found.text.style, &found.text.value, found.range.clone(), new)?;
    Some((change.span.shifted(found.scalar.start), change.text))
}
