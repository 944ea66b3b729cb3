//! Hovers on config maps, secrets and services: their keys and values, and the variables that a container gets.

use crate::build::{BuiltMatch, BuiltObject, EnvFromRefusal};
use crate::ide::Analysis;
use crate::ide::features::hover::services::consumer_blocks;
use crate::ide::features::hover::{LONGEST, code, limited, text};
use crate::ide::shared::describe::{self, kind_words, location_link};
use crate::ide::shared::markup::{Block, Inline, Markup};
use crate::ide::shared::named_objects::{key_value, name_location, object_keys, objects_named};
use crate::k8s::{DataEntry, EnvFrom, ObjectData, Text};
use crate::resolve::{OriginKind, elsewhere, service_variables};
use crate::syntax::{has_placeholder, show_placeholders};

/// The name of an object in a reference; `entry` is the entry of `envFrom` that contains it.
pub(super) fn object(
    analysis: &Analysis<'_>,
    user: BuiltObject<'_>,
    kind: OriginKind,
    name: &Text,
    entry: Option<&EnvFrom>,
) -> Option<Markup> {
    let file = user.file;
    if has_placeholder(&name.value) {
        return None;
    }
    let prefix = entry.and_then(|it| it.prefix.as_ref()).map_or("", |it| &it.value);
    let found = objects_named(kind, &name.value, user);
    let mut blocks = vec![title(analysis, user, kind, &name.value, &found)];
    let refusals = entry.map_or(Vec::new(), |it| EnvFromRefusal::all(it, analysis.resolver.release(file)));
    if let Some(refusal) = refusals.first() {
        let effect = Inline::Strong("The API server refuses this entry".into());
        let why = format!(": {}. It gives no variables.", refusal.to_string().replace('`', ""));
        blocks.push(Block::Paragraph(vec![effect, text(&why)]));
        return Some(Markup { blocks });
    }
    let Some(first) = found.first() else { return Some(Markup { blocks }) };
    let reveal = analysis.reveals(file);
    let lines: Vec<Vec<Inline>> = match kind {
        OriginKind::Service => service_lines(first.object, prefix, reveal),
        _ => object_keys(first.object)
            .iter()
            .map(|it| key_line(kind, &name.value, &format!("{prefix}{}", it.key.value), it, reveal))
            .collect(),
    };
    blocks.push(Block::List(limited(lines)));
    if first.may_have_more_keys {
        blocks.push(Block::Paragraph(vec![text("It may have more keys than this workspace shows.")]));
    }
    Some(Markup { blocks })
}

/// The object that a name in another object refers to.
pub(in crate::ide) fn object_markup(
    analysis: &Analysis<'_>,
    from: BuiltObject<'_>,
    kind: OriginKind,
    name: &str,
) -> Option<Markup> {
    let file = from.file;
    let found = objects_named(kind, name, from);
    let first = found.first()?;
    let reveal = analysis.reveals(file);
    let lines = match kind {
        OriginKind::Service => service_lines(first.object, "", reveal),
        _ => object_keys(first.object).iter().map(|it| key_line(kind, name, &it.key.value, it, reveal)).collect(),
    };
    Some(Markup { blocks: vec![title(analysis, from, kind, name, &found), Block::List(limited(lines))] })
}

/// A key of the object that a name in another object refers to.
pub(in crate::ide) fn key_markup(
    analysis: &Analysis<'_>,
    from: BuiltObject<'_>,
    kind: OriginKind,
    name: &str,
    key: &str,
) -> Option<Markup> {
    let file = from.file;
    let found = objects_named(kind, name, from);
    let reveal = analysis.reveals(file);
    let named = found.iter().flat_map(|it| object_keys(it.object)).filter(|it| *it.key.value == *key);
    let lines: Vec<Vec<Inline>> = named.map(|it| key_line(kind, name, key, it, reveal)).collect();
    Some(Markup { blocks: vec![title(analysis, from, kind, name, &found), Block::List(limited(lines))] })
}

/// A key in a reference.
pub(super) fn key_use(
    analysis: &Analysis<'_>,
    user: BuiltObject<'_>,
    kind: OriginKind,
    name: &Text,
    key: &Text,
) -> Option<Markup> {
    let file = user.file;
    if has_placeholder(&key.value) || has_placeholder(&name.value) {
        return None;
    }
    let found = objects_named(kind, &name.value, user);
    let reveal = analysis.reveals(file);
    let mut lines = Vec::new();
    for it in &found {
        for known in object_keys(it.object).iter().filter(|it| it.key.value == key.value) {
            let mut line = key_line(kind, &name.value, &key.value, known, reveal);
            let location = it.location(known.key.span);
            line.extend([text(", "), location_link(analysis, file, &location)]);
            lines.push(line);
        }
    }
    let mut blocks = vec![title(analysis, user, kind, &name.value, &found)];
    if !lines.is_empty() {
        blocks.push(Block::List(limited(lines)));
    } else if !found.is_empty() {
        let word = if found.iter().any(|it| it.may_have_more_keys) {
            " is not among the keys in this workspace."
        } else {
            " is not one of its keys."
        };
        blocks.push(Block::Paragraph(vec![code(key.value.to_string()), text(word)]));
    }
    Some(Markup { blocks })
}

/// A key where it is defined.
pub(super) fn key(analysis: &Analysis<'_>, object: BuiltObject<'_>, kind: OriginKind, key: &DataEntry) -> Markup {
    let file = object.file;
    let name = object.model.reference_name().unwrap_or_default();
    let line = key_line(kind, name, &key.key.value, key, analysis.reveals(file));
    let title = vec![text(&format!("Key of {} ", kind_words(kind))), code(show_placeholders(name).into_owned())];
    Markup { blocks: vec![Block::Paragraph(title), Block::List(vec![line])] }
}

/// The name of an object at its definition: for a service its variables and consumers.
pub(super) fn own_name(
    analysis: &Analysis<'_>,
    object: BuiltObject<'_>,
    kind: OriginKind,
    name: &Text,
) -> Option<Markup> {
    let file = object.file;
    if kind != OriginKind::Service || has_placeholder(&name.value) {
        return None;
    }
    let lines = service_lines(object, "", analysis.reveals(file));
    let mut blocks = if lines.is_empty() {
        let line = vec![text("No variables: a service without a cluster IP has none.")];
        vec![Block::Paragraph(line)]
    } else {
        let title = vec![text("Variables of service "), code(name.value.to_string())];
        vec![Block::Paragraph(title), Block::List(limited(lines))]
    };
    blocks.extend(consumer_blocks(analysis, object));
    Some(Markup { blocks })
}

pub(super) fn title(
    analysis: &Analysis<'_>,
    user: BuiltObject<'_>,
    kind: OriginKind,
    name: &str,
    found: &[BuiltMatch<'_>],
) -> Block {
    let words = kind_words(kind);
    let mut capital = words.chars();
    let words: String = capital.next().into_iter().flat_map(char::to_uppercase).chain(capital).collect();
    let mut line = vec![text(&format!("{words} ")), code(name.to_owned())];
    let other = if found.is_empty() { elsewhere(user, kind, name) } else { None };
    if let Some(other) = other {
        line.push(text(&format!(": {other}.")));
        return Block::Paragraph(line);
    }
    match found {
        [] if kind == OriginKind::Service => line.push(text(": not in this workspace.")),
        [] => line.push(text(": not in this workspace, so its keys are unknown.")),
        found => {
            for (at, it) in found.iter().enumerate() {
                line.push(text(if at == 0 { ", " } else { " or " }));
                line.push(location_link(analysis, user.file, &name_location(it.object)));
            }
        }
    }
    Block::Paragraph(line)
}

fn key_line(kind: OriginKind, object: &str, shown_as: &str, key: &DataEntry, reveal: bool) -> Vec<Inline> {
    let name = code(show_placeholders(shown_as).into_owned());
    match key_value(kind, object, key) {
        Some(value) => vec![name, text(" = "), code(describe::short_value(&value, reveal, LONGEST))],
        None => vec![name, text(": value not in this workspace")],
    }
}

fn service_lines(object: BuiltObject<'_>, prefix: &str, reveal: bool) -> Vec<Vec<Inline>> {
    let ObjectData::Service(service) = &object.model.data else { return Vec::new() };
    let Some(name) = object.model.reference_name() else { return Vec::new() };
    let variables = service_variables(name, service).into_iter();
    let line = |(name, value): (String, _)| {
        vec![code(format!("{prefix}{name}")), text(" = "), code(describe::short_value(&value, reveal, LONGEST))]
    };
    variables.map(line).collect()
}
