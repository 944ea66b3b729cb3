//! Hover: the value of the item under the cursor, its source, and the steps of its expansion, in this order.

mod builder;
pub(super) mod objects;
mod presets;
mod services;

use std::sync::Arc;

use crate::ide::Analysis;
use crate::ide::shared::cursor::{CursorTarget, target_at, targets_in_views};
use crate::ide::shared::describe::{location_link, one_line};
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::markup::{Block, Inline, Markup};
use crate::ide::shared::per_view::rows_block;
use crate::k8s::{ContainerField, Text, VariableScope};
use crate::resolve::{Environment, Lookup, OriginKind};
use crate::rules::{Rule, StartFailure, StartFailureReason, env_file_readers, start_failures};
use crate::syntax::has_placeholder;
use crate::text::Span;
use crate::workspace::LintLevel;
use builder::HoverBuilder;

/// The answer to a hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The span of the item.
    pub span: Span,
    /// The text to show.
    pub contents: Markup,
}

/// The maximum length of a value in a line, in characters, and the maximum number of lines of a list.
const LONGEST: usize = 100;
const MOST_LINES: usize = 12;

/// The hover for an offset.
pub fn hover(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Option<Hover> {
    let found = target_at(analysis, file, offset)?;
    let mut markup = contents(analysis, &found.target)?;
    let rows = match &found.target {
        CursorTarget::Parameter(parameter) => rows_block(parameter.values_in_views(analysis)),
        _ => rows_block(first_lines_in_views(analysis, file, offset)),
    };
    if let Some(rows) = rows {
        markup.blocks.push(Block::Paragraph(vec![text("The views of this file differ:")]));
        markup.blocks.push(rows);
    }
    Some(Hover { span: found.span, contents: markup })
}

/// The first line of the hover in each view: the value, or why there is none.
fn first_lines_in_views(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Vec<(Arc<str>, Vec<Inline>)> {
    let line = |target: &CursorTarget<'_>| match contents(analysis, target)?.blocks.into_iter().next()? {
        Block::Code { text, .. } => Some(vec![code(one_line(&text, LONGEST))]),
        Block::Paragraph(line) => Some(line),
        Block::List(_) | Block::Markdown(_) | Block::Divider => None,
    };
    let targets = targets_in_views(analysis, file, offset).into_iter();
    targets.filter_map(|(view, target)| Some((view, line(&target)?))).collect()
}

fn contents(analysis: &Analysis<'_>, target: &CursorTarget<'_>) -> Option<Markup> {
    match target {
        CursorTarget::Reference { at, field: ContainerField::EnvValue(index), name, .. } if at.is_preset() => {
            presets::reference(analysis, at, *index, name)
        }
        CursorTarget::Reference { at, field: ContainerField::SubPathExpr(index), name, .. } if at.is_preset() => {
            presets::path_reference(analysis, at, *index, name)
        }
        CursorTarget::Reference { at, field, name, .. } => reference(analysis, at, *field, name),
        CursorTarget::ShellReference { at, name } => {
            let environment = at.environment(analysis);
            variable_markup(analysis, at, &environment, VariableScope::All, name)
        }
        CursorTarget::Escape { text, range } => Some(escape(text, range.end)),
        CursorTarget::Variable { at, index }
        | CursorTarget::Source { at, index }
        | CursorTarget::EnvFileKey { at, index }
            if at.is_preset() =>
        {
            presets::variable(analysis, at, *index)
        }
        CursorTarget::Variable { at, index }
        | CursorTarget::Source { at, index }
        | CursorTarget::EnvFileKey { at, index } => declaration(analysis, at, *index),
        CursorTarget::Object { at, kind, name, env_from } => {
            let entry = env_from.and_then(|it| at.container.env_from.get(it));
            objects::object(analysis, at.object, *kind, name, entry)
        }
        CursorTarget::KeyUse { at, kind, name, key } => objects::key_use(analysis, at.object, *kind, name, key),
        CursorTarget::Key { object, kind, key } => Some(objects::key(analysis, *object, *kind, key)),
        CursorTarget::ObjectName { object, kind: OriginKind::Preset, .. } | CursorTarget::Selector { object } => {
            presets::preset(analysis, *object)
        }
        CursorTarget::Workload { object } => presets::workload(analysis, *object),
        CursorTarget::Dependency { object, name } => services::dependency(analysis, *object, name),
        CursorTarget::ObjectName { object, kind, name } => objects::own_name(analysis, *object, *kind, name),
        CursorTarget::Parameter(parameter) => parameter.markup(),
        CursorTarget::Rule(rule) => Some(rule_markup(rule)),
        CursorTarget::EnvFileEntry { file, name, value } => Some(env_file_entry(analysis, file, name, value)),
        CursorTarget::VolumeSource { object, kind, name, key: Some(key) } => {
            objects::key_use(analysis, *object, *kind, name, key)
        }
        CursorTarget::VolumeSource { object, kind, name, key: None } => {
            objects::object(analysis, *object, *kind, name, None)
        }
        CursorTarget::Volume { .. } | CursorTarget::Container { .. } => None,
    }
}

/// The hover for a variable name at a site of a container.
pub(super) fn variable_markup(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    environment: &Environment<'_>,
    site: VariableScope,
    name: &str,
) -> Option<Markup> {
    let mut hover = HoverBuilder::new(analysis, at);
    match environment.lookup(site, name) {
        Lookup::Bound(binding) => {
            hover.binding(&binding);
            hover.probe(environment, site, &binding);
        }
        Lookup::Later(origin) => hover.later(site, name, &origin),
        Lookup::Unbound => hover.unbound(environment, site, name),
        Lookup::Maybe(reason) => hover.maybe(name, &reason)?,
    }
    Some(hover.markup)
}

fn reference(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, field: ContainerField, name: &str) -> Option<Markup> {
    if has_placeholder(name) {
        return None;
    }
    let environment = at.environment(analysis);
    let Some(site) = field.variable_scope() else { return unexpanded(analysis, at, &environment, field, name) };
    let found = environment.lookup(site, name);
    let is_unbound = matches!(found, Lookup::Unbound);
    let is_command = match found {
        Lookup::Unbound => true,
        // A name in upper case is hardly a command.
        Lookup::Maybe(_) => name.bytes().any(|it| it.is_ascii_lowercase() || it.is_ascii_whitespace()),
        Lookup::Bound(_) | Lookup::Later(_) => false,
    };
    if is_command && at.is_script(&environment, field) {
        let mut hover = HoverBuilder::new(analysis, at);
        hover.command(name);
        return Some(hover.markup);
    }
    // Text for a shell or of another language.
    if is_unbound && !at.is_preset() && environment.why_unresolved(site, name).is_none() {
        return None;
    }
    let mut markup = variable_markup(analysis, at, &environment, site, name)?;
    if field.is_sub_path() {
        let failures = at.with_context(analysis, &environment, start_failures);
        let is_it =
            |it: &&StartFailure| &*it.name == name && matches!(it.reason, StartFailureReason::EmptySubPath { .. });
        if let Some(failure) = failures.iter().find(is_it) {
            markup.blocks.push(failure_block(&failure.reason));
        }
    }
    Some(markup)
}

/// Says that the container does not start, and why.
fn failure_block(reason: &StartFailureReason) -> Block {
    let effect = Inline::Strong("The variable keeps the container from starting".into());
    Block::Paragraph(vec![effect, text(&format!(": {}.", reason.words()))])
}

/// The hover for a reference in a field that Kubernetes does not expand.
fn unexpanded(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    environment: &Environment<'_>,
    field: ContainerField,
    name: &str,
) -> Option<Markup> {
    let ContainerField::Unexpanded(index) = field else { return None };
    let bound = environment.lookup(VariableScope::All, name);
    let (path, _) = at.container.unexpanded.get(index)?;
    let mut hover = HoverBuilder::new(analysis, at);
    if at.is_script(environment, field) {
        hover.command(name);
        if let Lookup::Bound(binding) = &bound {
            hover.paragraph(vec![
                text("The shell also has a variable of this name, read as "),
                code(format!("${{{name}}}")),
            ]);
            hover.binding(binding);
        }
        return Some(hover.markup);
    }
    let Lookup::Bound(binding) = bound else { return None };
    hover.paragraph(vec![
        text("Not expanded: Kubernetes does not expand references in "),
        code(path.clone()),
        text(". The container has this variable:"),
    ]);
    hover.binding(&binding);
    Some(hover.markup)
}

fn escape(text_: &Text, end: usize) -> Markup {
    let rest = &text_.value[end..];
    let reference = rest.starts_with('(').then(|| rest.find(')').map(|close| &rest[..=close])).flatten();
    let line = match reference {
        Some(rest) => vec![
            code(format!("$${rest}")),
            text(" is escaped: the container gets the text "),
            code(format!("${rest}")),
            text("."),
        ],
        None => vec![
            code("$$".into()),
            text(" is an escaped dollar sign: the container gets "),
            code("$".into()),
            text("."),
        ],
    };
    Markup { blocks: vec![Block::Paragraph(line)] }
}

fn declaration(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, index: usize) -> Option<Markup> {
    let environment = at.environment(analysis);
    let mut hover = HoverBuilder::new(analysis, at);
    let Some(binding) = environment.entry(index) else { return hover.unset(at.container.env.get(index)?) };
    hover.declared(binding);
    let failures = at.with_context(analysis, &environment, start_failures);
    let name = at.container.env.get(index).and_then(|it| it.name.as_ref()).map(|it| at.at(it.span));
    if let Some(failure) = failures.iter().find(|it| Some(&it.location) == name.as_ref()) {
        hover.failure(&failure.reason);
    }
    // The container gets the last entry with this name.
    if let Lookup::Bound(last) = environment.lookup(VariableScope::All, &binding.name)
        && !Arc::ptr_eq(&last, binding)
        && let Some(location) = last.entry.as_ref().or(last.origin.location.as_ref())
    {
        hover.paragraph(vec![text("Overridden by a later entry: "), location_link(analysis, &at.file, location)]);
    }
    Some(hover.markup)
}

/// The hover for an entry of an env file: its value as the kubelet reads it, and where it is used.
fn env_file_entry(analysis: &Analysis<'_>, file: &Arc<str>, name: &str, value: &str) -> Markup {
    let shown = format!("{name}={}", one_line(value, 4 * LONGEST));
    let mut blocks = vec![Block::Code { language: "ini", text: shown }];
    let reading = match analysis.snapshot.settings(file).proposals {
        true => "Value as the env file proposal reads it.".to_owned(),
        false => format!("Value as Kubernetes {} reads it.", analysis.resolver.release(file)),
    };
    blocks.push(Block::Paragraph(vec![text(&reading)]));
    let readers = env_file_readers(analysis.snapshot, file).into_iter().filter(|it| &*it.key == name);
    let lines = readers.map(|it| vec![text("used at "), location_link(analysis, file, &it.location)]);
    let lines = limited(lines.collect());
    if !lines.is_empty() {
        blocks.push(Block::List(lines));
    }
    Markup { blocks }
}

/// The documentation of a rule, without its examples.
pub(super) fn rule_markup(rule: &Rule) -> Markup {
    let level = LintLevel::NAMES.iter().find(|(_, level)| *level == rule.level).map_or("", |(name, _)| name);
    let docs = rule.markdown();
    let short = docs.split("## Example").next().unwrap_or_default().replace("## ", "#### ");
    let title = Block::Paragraph(vec![Inline::Strong(rule.name.into()), text(&format!(" · {level} by default"))]);
    Markup { blocks: vec![title, Block::Markdown(short)] }
}

fn text(text: &str) -> Inline {
    Inline::Text(text.into())
}

fn code(text: String) -> Inline {
    Inline::Code(text)
}

/// The first lines of a list, and the number of the others.
fn limited(mut lines: Vec<Vec<Inline>>) -> Vec<Vec<Inline>> {
    let more = lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.truncate(MOST_LINES);
        lines.push(vec![text(&format!("… {more} more"))]);
    }
    lines
}
