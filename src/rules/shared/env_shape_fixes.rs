//! Rewrites `env`, `command` and `args` that have another shape, where the intended one is certain.

use crate::diagnostic::{Fix, Location};
use crate::k8s::{ShapeMistake, ShapeMistakeKind};
use crate::rules::engine::{ContainerContext, edit};
use crate::syntax::{CollectionStyle, Node, NodeKind, YamlValue};
use crate::text::Span;

/// The fix of a mistake in the shape of a container; `None` if what is meant is not certain.
pub(in crate::rules) fn shape_fix(container: &ContainerContext<'_>, mistake: &ShapeMistake) -> Option<Fix> {
    let file = container.object.file;
    let at = container.at(mistake.value);
    let source = file.parsed_text().filter(|_| at.file == *file.path)?;
    let path = source.tree.document_at(at.span.start)?.root()?.path_to(at.span.start);
    let is_key = matches!(mistake.kind, ShapeMistakeKind::KeyAsName(_));
    let is_it = |it: &Node<'_>| match is_key {
        // The mapping around the key.
        true => it.is_mapping(),
        false => it.span() == at.span,
    };
    let position = path.iter().rposition(|it| is_it(it) && it.alias().is_none())?;
    let node = path[position];
    let at = Location { span: node.span(), ..at };
    let (title, value) = match &mistake.kind {
        ShapeMistakeKind::Item { list: "env", name: Some(name), .. } => {
            let (_, value) = node.text()?.split_once('=')?;
            (format!("Write `name: {name}` and its `value`"), entry(name, YamlValue::text(value)))
        }
        ShapeMistakeKind::KeyAsName(name) => {
            let [(_, Some(value))] = node.own_entries().collect::<Vec<_>>()[..] else { return None };
            let value = YamlValue::text(value.text()?);
            (format!("Write `name: {}` and its `value`", name.value), entry(&name.value, value))
        }
        ShapeMistakeKind::Field { field: "env", .. } if node.is_mapping() => {
            let variable = |(key, value): (Node<'_>, Option<Node<'_>>)| {
                Some(entry(key.text()?, YamlValue::text(value.map_or(Some(""), Node::text)?)))
            };
            // One variable without a dash, or names with values.
            let variables = match node.get("name") {
                Some(_) => vec![YamlValue::from_node(node, "", &|_| None)?],
                None => node.own_entries().map(variable).collect::<Option<Vec<YamlValue>>>()?,
            };
            (
                "Write `env` as a list".to_owned(),
                Some(YamlValue::List(variables)).filter(|_| node.own_entries().next().is_some())?,
            )
        }
        ShapeMistakeKind::Field { field: field @ ("command" | "args"), .. } => {
            let text = node.text()?;
            // Anything else may be meant for a shell.
            let is_plain = |it: char| it.is_ascii_alphanumeric() || " -_./:=,@%+$()".contains(it);
            let words = text.split_whitespace().map(YamlValue::text).collect::<Vec<_>>();
            if words.is_empty() || !text.chars().all(is_plain) || text.contains("$(") && text.contains(' ') {
                return None;
            }
            (format!("Write `{field}` as a list"), YamlValue::List(words))
        }
        ShapeMistakeKind::Field { field: "optional", .. } => {
            let flag = matches!(node.text()?, "true" | "false").then(|| node.text() == Some("true"))?;
            (format!("Write `{flag}`"), YamlValue::Bool(flag))
        }
        ShapeMistakeKind::Item { list: "command" | "args", .. } => {
            let written = source.text.get(at.span.range())?.trim_end();
            if written.contains(['\n', '"', '\'', '{', '[']) {
                return None;
            }
            (format!("Quote `{written}`"), YamlValue::Quoted(written.to_owned()))
        }
        _ => return None,
    };
    let is_flow = |it: &Node<'_>| {
        matches!(it.kind(), NodeKind::Sequence(CollectionStyle::Flow) | NodeKind::Mapping(CollectionStyle::Flow))
    };
    let text = &source.text;
    let end = at.span.start + text.get(at.span.range())?.trim_end().len();
    let span = Span::new(at.span.start, end);
    let column = span.start - text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let is_list = matches!(mistake.kind, ShapeMistakeKind::Field { field: "command" | "args", .. });
    let new = if is_list || path[..=position].iter().any(is_flow) {
        value.to_flow()?
    } else {
        value.to_block()?.trim_end().replace('\n', &format!("\n{}", " ".repeat(column)))
    };
    // Comments would be lost.
    if !source.tree.comments(text, span).is_empty() || path[..=position].iter().any(|it| it.anchor().is_some()) {
        return None;
    }
    Some(Fix { title, safe: false, edits: vec![edit(file.at(span), new)] })
}

fn entry(name: &str, value: YamlValue) -> YamlValue {
    YamlValue::map([("name", YamlValue::text(name)), ("value", value)])
}
