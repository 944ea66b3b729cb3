//! Values and their sources as text, for hover, completion and hints.
//!
//! Values of Secrets are shown only if the settings allow it (`reveal`).

use crate::build::BuiltObject;
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::markup::Inline;
use crate::ide::shared::named_objects::objects_named;
use crate::k8s::{EnvVar, ValueSource};
use crate::resolve::{Binding, ExpansionStep, Lookup, Origin, OriginKind, ResolvedValue, UnresolvedReason, elsewhere};
use crate::syntax::show_placeholders;

/// A value as text, with Secrets redacted unless `reveal` is set.
pub(crate) fn value_text(value: &ResolvedValue, reveal: bool) -> String {
    if reveal { value.revealed() } else { value.to_string() }
}

/// A value in one line of at most `most` characters.
pub(crate) fn short_value(value: &ResolvedValue, reveal: bool, most: usize) -> String {
    one_line(&value_text(value, reveal), most)
}

/// A text in one line of at most `most` characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    let mut line = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == most {
            line.push('…');
            break;
        }
        line.push(match character {
            '\n' => '⏎',
            it if it.is_control() => ' ',
            it => it,
        });
    }
    line
}

/// The value of a variable in one line; several different values are joined by `|`.
pub(crate) fn short_binding(binding: &Binding, reveal: bool, most: usize) -> String {
    match binding.alternatives.as_slice() {
        [] => short_value(&binding.value, reveal, most),
        several => {
            let mut values: Vec<String> = several.iter().map(|(it, _)| short_value(it, reveal, most)).collect();
            values.dedup();
            one_line(&values.join(" | "), most)
        }
    }
}

/// The value of a variable with its source; where it has one of several values, each with its own source.
pub(crate) fn value_from(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    binding: &Binding,
    (reveal, most): (bool, usize),
) -> Vec<Inline> {
    if binding.alternatives.is_empty() {
        let mut words = vec![Inline::Code(short_value(&binding.value, reveal, most)), Inline::Text(" from ".into())];
        words.extend(binding_origin(analysis, at, binding));
        return words;
    }
    let mut words = Vec::new();
    for (value, origin) in &binding.alternatives {
        if !words.is_empty() {
            words.push(Inline::Text(", or ".into()));
        }
        words.extend([Inline::Code(short_value(value, reveal, most)), Inline::Text(" from ".into())]);
        words.extend(variable_origin(analysis, at, &binding.name, origin));
    }
    words
}

/// `config map`, `secret`, `service`, ….
pub(crate) fn kind_words(kind: OriginKind) -> &'static str {
    match kind {
        OriginKind::Env => "env",
        OriginKind::ConfigMap => "config map",
        OriginKind::Secret => "secret",
        OriginKind::Service => "service",
        OriginKind::Preset => "preset",
        OriginKind::Field => "field",
        OriginKind::Resource => "resource",
        OriginKind::EnvFile => "env file",
        OriginKind::Injected => "controller",
    }
}

/// The kind as written in manifests.
pub(crate) fn manifest_kind(kind: OriginKind) -> &'static str {
    match kind {
        OriginKind::ConfigMap => "ConfigMap",
        OriginKind::Secret => "Secret",
        OriginKind::Service => "Service",
        OriginKind::Preset => "PodPreset",
        other => kind_words(other),
    }
}

/// `Deployment/web`
pub(crate) fn workload_title(object: BuiltObject<'_>) -> String {
    object.title()
}

/// A location as text: `line 3` in the file `from`, `web.yaml:3` otherwise.
pub(crate) fn location_text(analysis: &Analysis<'_>, from: &str, location: &Location) -> String {
    let line = analysis.snapshot.file(&location.file).map(|it| it.lines.line_column(location.span.start).line);
    match line {
        Some(line) if *location.file == *from => format!("line {line}"),
        Some(line) => format!("{}:{line}", location.file),
        None => location.file.to_string(),
    }
}

/// A link to a location.
pub(crate) fn location_link(analysis: &Analysis<'_>, from: &str, location: &Location) -> Inline {
    Inline::Link(location_text(analysis, from, location), location.clone())
}

/// The location of an origin: in a script, the part that writes the value.
pub(crate) fn origin_location(analysis: &Analysis<'_>, origin: &Origin) -> Option<Location> {
    let location = origin.location.as_ref()?;
    let span = origin.inside.as_ref().and_then(|inside| {
        let file_text = analysis.file_text(&location.file)?;
        Some(file_text.inside_scalar(location.span, &inside.text, inside.range.clone()))
    });
    Some(Location { span: span.unwrap_or(location.span), ..location.clone() })
}

/// The source of a value: `config map app, key LOG_LEVEL, config.yaml:7`.
pub(crate) fn origin_words(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, origin: &Origin) -> Vec<Inline> {
    let mut words = match (origin.kind, &origin.object) {
        (OriginKind::EnvFile, Some(volume)) => {
            let mut words = vec![Inline::Text("an env file in volume ".into()), Inline::Code(volume.to_string())];
            if let Some(key) = &origin.key {
                words.push(Inline::Text(", key ".into()));
                words.push(Inline::Code(key.to_string()));
            }
            words
        }
        (OriginKind::Env, _) => vec![Inline::Code("env".into())],
        (OriginKind::Injected, None) => vec![Inline::Text("the controller that creates the pod".into())],
        (kind, Some(object)) => {
            let mut words = vec![Inline::Text(format!("{} ", kind_words(kind))), Inline::Code(object.to_string())];
            if let Some(key) = &origin.key {
                words.push(Inline::Text(", key ".into()));
                words.push(Inline::Code(key.to_string()));
            }
            words
        }
        (OriginKind::Field, None) => vec![Inline::Text("a field of the pod".into())],
        (OriginKind::Resource, None) => vec![Inline::Text("a resource of a container".into())],
        (kind, None) => vec![Inline::Text(format!("a {}", kind_words(kind)))],
    };
    match origin_location(analysis, origin) {
        Some(location) => {
            words.push(Inline::Text(if origin.inside.is_some() { ", written at " } else { ", " }.into()));
            words.push(location_link(analysis, &at.file, &location));
        }
        None if matches!(origin.kind, OriginKind::ConfigMap | OriginKind::Secret | OriginKind::EnvFile) => {
            let other = origin.object.as_ref().and_then(|it| elsewhere(at.object, origin.kind, it));
            let is_here = |name: &str| !objects_named(origin.kind, name, at.object).is_empty();
            words.push(Inline::Text(match other {
                Some(other) => format!(", {other}"),
                None if origin.object.as_deref().is_some_and(is_here) => ", which does not exist".into(),
                None => ", not in this workspace".into(),
            }));
        }
        None => {}
    }
    words
}

/// `not expanded: it is declared later, line 3`.
pub(crate) fn unresolved_words(analysis: &Analysis<'_>, from: &str, step: &ExpansionStep) -> Vec<Inline> {
    let reason = step.unresolved.as_ref().unwrap_or(&UnresolvedReason::Undefined);
    let mut words = vec![Inline::Text(format!("not expanded: {reason}"))];
    if let (UnresolvedReason::Forward, Lookup::Later(Origin { location: Some(location), .. })) = (reason, &step.outcome)
    {
        words.extend([Inline::Text(", ".into()), location_link(analysis, from, location)]);
    }
    words
}

/// The source of a variable, without the entry that requests it.
pub(crate) fn binding_origin(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, binding: &Binding) -> Vec<Inline> {
    let entry = binding.entry.as_ref().or(binding.origin.location.as_ref()).and_then(|it| at.entry_at(it));
    match (binding.origin.kind, entry) {
        (OriginKind::Field | OriginKind::Resource, Some((_, entry))) => {
            let mut words = downward(entry);
            if let Some(location) = &binding.origin.location {
                words.push(Inline::Text(", ".into()));
                words.push(location_link(analysis, &at.file, location));
            }
            words
        }
        _ => variable_origin(analysis, at, &binding.name, &binding.origin),
    }
}

/// A source of a variable. A key with the name of the variable is left out.
fn variable_origin(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, name: &str, origin: &Origin) -> Vec<Inline> {
    match origin.key.as_deref() == Some(name) {
        true => origin_words(analysis, at, &Origin { key: None, ..origin.clone() }),
        false => origin_words(analysis, at, origin),
    }
}

/// The source of a variable, with the `valueFrom` or `envFrom` entry that requests it.
pub(crate) fn binding_origin_and_entry(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    binding: &Binding,
) -> Vec<Inline> {
    let entry = binding.entry.as_ref().or(binding.origin.location.as_ref()).and_then(|it| at.entry_at(it));
    let mut words = binding_origin(analysis, at, binding);
    // The value is not in the entry itself.
    if let Some(requested_at) = binding.entry.as_ref().filter(|it| binding.origin.location.as_ref() != Some(*it)) {
        let field = if entry.is_some() { "valueFrom" } else { "envFrom" };
        words.push(Inline::Text(", through ".into()));
        words.push(Inline::Code(field.into()));
        words.push(Inline::Text(" at ".into()));
        words.push(location_link(analysis, &at.file, requested_at));
    }
    words
}

/// `field metadata.name`, `resource limits.cpu`.
fn downward(entry: &EnvVar) -> Vec<Inline> {
    let source = entry.from.as_ref().and_then(|it| it.sources.first());
    let (what, text) = match source {
        Some(ValueSource::Field { path, .. }) => ("field ", path),
        Some(ValueSource::Resource { resource, .. }) => ("resource ", resource),
        _ => return vec![Inline::Text("the pod".into())],
    };
    let name = text.as_ref().map_or_else(String::new, |it| show_placeholders(&it.value).into_owned());
    vec![Inline::Text(what.into()), Inline::Code(name)]
}
