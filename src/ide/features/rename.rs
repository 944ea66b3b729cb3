//! Rename: edits for all uses of a symbol, or an error. A rename is never done in part.

use std::sync::Arc;

use thiserror::Error;

use crate::diagnostic::{Edit, Location};
use crate::ide::Analysis;
use crate::ide::shared::cursor::{CursorTarget, target_at};
use crate::ide::shared::describe::{kind_words, location_text};
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::{name_location, objects_named};
use crate::ide::shared::preset_workloads::{PresetOutcome, recipients, selected_workloads};
use crate::ide::shared::shell_reads::ShellDoubt;
use crate::ide::shared::symbol::{DefinedObject, ObjectKey, Symbol, symbol_of};
use crate::ide::shared::template_parameters::LocatedParameter;
use crate::ide::shared::uses::{Use, env_from_entries, rename_closure, uses, uses_with_doubtful};
use crate::k8s::{EnvFromSource, ObjectData};
use crate::k8s::{VariableScope, is_parameter_name};
use crate::resolve::{
    Lookup, OriginKind, UnknownReason, has_data_key_characters, is_relaxed_variable_name, is_strict_variable_name,
};
use crate::syntax::{ScalarStyle, has_placeholder, parse, replace_in_scalar};
use crate::text::Span;

/// The symbol that a rename at an offset would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamable {
    /// The name under the cursor.
    pub span: Span,
    /// The current name.
    pub name: String,
}

/// Why a symbol cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct RenameError(pub String);

/// The symbol that would be renamed at an offset; `None` without one.
pub fn prepare_rename(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: usize,
) -> Result<Option<Renamable>, RenameError> {
    let Some((symbol, name)) = renamable(analysis, file, offset)? else { return Ok(None) };
    let all = uses(analysis, &symbol, Some(file));
    let here = all.iter().find(|it| it.location.span.touches(offset));
    // The cursor may be on `$(` or `)`, which are part of the reference but not of the name.
    let here = here.or_else(|| all.iter().find(|it| it.location.span.touches(offset.saturating_add(2))));
    let here = here.or_else(|| all.iter().find(|it| it.location.span.end + 1 == offset));
    Ok(here.map(|it| {
        let start = it.location.span.start + it.prefix.len();
        Renamable { span: Span::new(start.min(it.location.span.end), it.location.span.end), name: name.to_string() }
    }))
}

/// The edits that rename the symbol at an offset in all files, sorted by location.
pub fn rename(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: usize,
    new_name: &str,
) -> Result<Vec<Edit>, RenameError> {
    let Some((mut symbol, name)) = renamable(analysis, file, offset)? else {
        return refuse("nothing to rename here: put the cursor on a variable, key or parameter");
    };
    if *name == *new_name {
        return Ok(Vec::new());
    }
    match &mut symbol {
        Symbol::Variable { at, .. } => {
            for at in at.in_other_views().chain([at.clone()]) {
                check_variable(analysis, &at, new_name)?;
            }
            check_preset_recipients(analysis, at, new_name)?;
        }
        Symbol::Key(keys) => {
            *keys = rename_closure(analysis, std::mem::take(keys));
            keys.iter().try_for_each(|key| check_origin(analysis, key))?;
            check_key(analysis, keys, &name, new_name)?;
        }
        Symbol::Parameter(parameter) => check_parameter(parameter, new_name)?,
        Symbol::Object(_) | Symbol::Volume { .. } | Symbol::EnvFileKey(_) | Symbol::Undeclared { .. } => {}
    }
    let mut edits = Vec::new();
    for found in uses_with_doubtful(analysis, &symbol, None) {
        if let Some(doubt) = found.doubt {
            let location = location_text(analysis, "", &found.location);
            return refuse(match doubt {
                ShellDoubt::Assigned => {
                    format!("the script at {location} assigns `{name}` itself: rename it by hand")
                }
                ShellDoubt::Quoted => {
                    format!(
                        "`{name}` is in single quotes at {location}, where the shell does not expand it: rename it by hand"
                    )
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

/// The symbol at an offset with its name, if it can be renamed.
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
                    refuse(format!("this name is derived from the service `{name}`: rename the service by hand"))
                }
                _ => refuse(format!(
                    "`{name}` is also a DNS name, and podlens cannot see all its uses: rename it by hand"
                )),
            };
        }
        Symbol::Object(DefinedObject { kind: OriginKind::Preset, object, .. }) => {
            let name = object.model.reference_name().unwrap_or_default();
            return refuse(format!("nothing refers to preset `{name}` by name: edit the name directly"));
        }
        Symbol::Parameter(parameter) => parameter.name.into(),
        Symbol::Undeclared { name, meaning, .. } => return refuse(not_declared(name, meaning)),
        // Names of objects and volumes have uses that podlens does not see.
        Symbol::Object(_) | Symbol::Volume { .. } => return Ok(None),
        // A script may build the key from parts.
        Symbol::EnvFileKey(_) => return Ok(None),
    };
    if has_placeholder(&name) {
        return refuse("this name contains a Helm expression");
    }
    Ok(Some((symbol, name)))
}

fn not_declared(name: &str, meaning: &Lookup) -> String {
    match meaning {
        Lookup::Unbound => format!("nothing declares `{name}`: declare it first"),
        Lookup::Maybe(UnknownReason::Helm) => "this name contains a Helm expression".into(),
        Lookup::Maybe(reason) => format!("`{name}` is not declared in this workspace (<{reason}>)"),
        Lookup::Bound(_) | Lookup::Later(_) => format!("`{name}` is not declared in this workspace"),
    }
}

fn check_parameter(parameter: &LocatedParameter<'_>, new: &str) -> Result<(), RenameError> {
    if !is_parameter_name(new) {
        return refuse(format!("`{new}` is not a valid parameter name: use letters, digits and `_`"));
    }
    if parameter.template.exported.contains(new) {
        return refuse(format!("the template already has a parameter `{new}`"));
    }
    Ok(())
}

/// Whether a key can be renamed at its definition.
fn check_origin(analysis: &Analysis<'_>, key: &ObjectKey<'_>) -> Result<(), RenameError> {
    let name = &key.key.key.value;
    if analysis.snapshot.file(key.of.object.file).is_none_or(|it| it.settings.is_some()) {
        return refuse(format!("`{name}` is listed in the settings and not defined in this workspace"));
    }
    let made_by = match &key.of.object.model.data {
        ObjectData::ConfigMap(source) | ObjectData::Secret(source) => source.made_by,
        _ => None,
    };
    if made_by.is_some() && key.key.value.is_none() && key.key.value_span == Some(key.key.key.span) {
        return refuse(format!("`{name}` is the name of a file: rename the file instead"));
    }
    Ok(())
}

fn check_variable(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, new: &str) -> Result<(), RenameError> {
    // V1, V2; a `)` would end a reference to the variable.
    let is_valid = is_strict_variable_name(new)
        || (analysis.resolver.release(&at.file).is_at_least(32) && is_relaxed_variable_name(new));
    if !is_valid || new.contains(')') || new.trim() != new {
        return refuse(format!("`{new}` is not a valid variable name: use letters, digits, `_`, `-` and `.`"));
    }
    check_free(analysis, &at.file, at, new)
}

/// Whether a variable of a preset can have a name in every container that the preset applies to.
fn check_preset_recipients(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, new: &str) -> Result<(), RenameError> {
    if !at.is_preset() {
        return Ok(());
    }
    for it in selected_workloads(analysis, at.object) {
        if it.outcome == PresetOutcome::Unknown {
            let location = location_text(analysis, &at.file, &name_location(it.object));
            return refuse(format!("it is unknown whether the preset applies to the workload at {location}"));
        }
    }
    recipients(analysis, at, None).iter().try_for_each(|it| check_free(analysis, &at.file, &it.at, new))
}

/// Whether a container has no variable of this name.
fn check_free(analysis: &Analysis<'_>, from: &str, at: &LocatedContainer<'_>, new: &str) -> Result<(), RenameError> {
    let mut names = at.container.env.iter().filter_map(|it| it.name.as_ref());
    if let Some(existing) = names.find(|it| &*it.value == new) {
        let location = location_text(analysis, from, &at.at(existing.span));
        return refuse(format!("`{new}` is already declared at {location}"));
    }
    if let Lookup::Bound(binding) = at.environment(analysis).lookup(VariableScope::All, new) {
        let kind = kind_words(binding.origin.kind);
        let object = binding.origin.object.as_deref().map_or(String::new(), |it| format!(" `{it}`"));
        return refuse(format!("the container already has `{new}` from {kind}{object}"));
    }
    Ok(())
}

fn check_key(analysis: &Analysis<'_>, keys: &[ObjectKey<'_>], old: &str, new: &str) -> Result<(), RenameError> {
    // V11.
    if !has_data_key_characters(new) || matches!(new, "." | "..") || new.len() > 253 {
        return refuse(format!("`{new}` is not a valid key: use letters, digits, `_`, `-` and `.`"));
    }
    for key in keys {
        let (ObjectData::ConfigMap(source) | ObjectData::Secret(source)) = &key.of.object.model.data else { continue };
        let binary = source.binary_keys.iter();
        if let Some(existing) = source.keys.iter().map(|it| &it.key).chain(binary).find(|it| &*it.value == new) {
            let location = key.of.object.location(existing.span);
            let file = key.of.object.file;
            return refuse(format!("`{new}` already exists at {}", location_text(analysis, file, &location)));
        }
    }
    // Containers with `envFrom` get a variable of the new name.
    for at in analysis.all_containers() {
        for (entry, _) in env_from_entries(analysis, &at) {
            let (kind, name) = match &entry.source {
                Some(EnvFromSource::ConfigMap { name: Some(name), .. }) => (OriginKind::ConfigMap, name),
                Some(EnvFromSource::Secret { name: Some(name), .. }) => (OriginKind::Secret, name),
                _ => continue,
            };
            let is_meant = |key: &&ObjectKey<'_>| {
                key.of.kind == kind && key.of.object.model.reference_name() == Some(&*name.value)
            };
            let Some(key) = keys.iter().find(is_meant) else { continue };
            let found = objects_named(kind, &name.value, at.object);
            if !found.iter().any(|it| key.of.is(it)) {
                continue;
            }
            let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
            check_free(analysis, &at.file, &at, &format!("{prefix}{new}"))?;
            // References to a variable that hides the key keep their name, but the renamed key would be visible again.
            let hides = |it: &&crate::k8s::Text| *it.value == *format!("{prefix}{old}");
            if let Some(hiding) = at.container.env.iter().filter_map(|it| it.name.as_ref()).find(hides) {
                let location = location_text(analysis, &at.file, &at.at(hiding.span));
                return refuse(format!(
                    "the variable `{}` hides this key in {}, {location}: rename the variable first",
                    hiding.value, at.file
                ));
            }
        }
    }
    Ok(())
}

/// The edit for one use.
fn edit(analysis: &Analysis<'_>, found: &Use, new_name: &str) -> Result<Edit, RenameError> {
    let file = &found.location.file;
    let location = || location_text(analysis, "", &found.location);
    if let Some(parameter) = &found.made_by {
        let message = format!("the parameter `{parameter}` makes this name at {}: rename it by hand", location());
        return refuse(message);
    }
    let Some(file_text) = analysis.file_text(file) else { return refuse(format!("{file} cannot be read")) };
    let new = format!("{}{new_name}", found.prefix);
    let is_shell_name = new.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && !new.starts_with(|it: char| it.is_ascii_digit());
    if found.in_script && !is_shell_name {
        return refuse(format!(
            "a shell reads this variable at {}, and `{new}` is not a valid shell variable name",
            location()
        ));
    }
    let change = if found.is_whole { scalar(&file_text, found, &new) } else { inside(&file_text, found, &new) };
    let Some((span, text)) = change else { return refuse(format!("`{new}` cannot be written at {}", location())) };
    Ok(Edit { location: Location { file: Arc::clone(file), span }, text })
}

/// The edit for a scalar that is exactly the name.
fn scalar(file_text: &FileText, found: &Use, new: &str) -> Option<(Span, String)> {
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
        ScalarStyle::Literal | ScalarStyle::Folded => return inside(file_text, found, new),
    };
    Some((found.scalar, text))
}

/// The edit for a name inside a scalar.
fn inside(file_text: &FileText, found: &Use, new: &str) -> Option<(Span, String)> {
    let is_ordinary = new.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.'));
    let now = file_text.text().get(found.location.span.range())?;
    // Names of letters, digits, `_`, `-` and `.` need no escapes in any style.
    if is_ordinary && now == &found.text.value[found.range.clone()] {
        return Some((found.location.span, new.to_owned()));
    }
    let source = file_text.text().get(found.scalar.range())?;
    let change = replace_in_scalar(source, found.text.style, &found.text.value, found.range.clone(), new)?;
    Some((change.span.shifted(found.scalar.start), change.text))
}
