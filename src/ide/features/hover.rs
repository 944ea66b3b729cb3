//! Hover: the value of the item under the cursor, its source, and the steps of its expansion, in this order.

pub(super) mod objects;
mod presets;
mod services;

use std::sync::Arc;

use crate::ide::Analysis;
use crate::ide::shared::cursor::{CursorTarget, target_at};
use crate::ide::shared::describe::{self, location_link, one_line, value_text};
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::markup::{Block, Inline, Markup};
use crate::k8s::{ContainerField, EnvVar, Text, ValueSource, VariableScope};
use crate::resolve::{Binding, Environment, Lookup, Origin, OriginKind, ResolvedValue, UnknownReason};
use crate::rules::{Rule, env_file_readers};
use crate::syntax::{has_helm_placeholder, show_helm_placeholders};
use crate::text::Span;
use crate::workspace::{LintLevel, UnknownPolicy};

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
    let contents = contents(analysis, &found.target)?;
    Some(Hover { span: found.span, contents })
}

fn contents(analysis: &Analysis<'_>, target: &CursorTarget<'_>) -> Option<Markup> {
    match target {
        CursorTarget::Reference { at, field: ContainerField::EnvValue(index), name, .. } if at.is_preset() => {
            presets::reference(analysis, at, *index, name)
        }
        CursorTarget::Reference { at, field, name, .. } => reference(analysis, at, *field, name),
        CursorTarget::ShellReference { at, name } => {
            let environment = at.environment(analysis);
            self::name(analysis, at, &environment, VariableScope::All, name)
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
            let prefix = entry.and_then(|it| it.prefix.as_ref()).map_or("", |it| &it.value);
            objects::object(analysis, &at.file, at.object, *kind, name, prefix)
        }
        CursorTarget::KeyUse { at, kind, name, key } => {
            objects::key_use(analysis, &at.file, at.object, *kind, name, key)
        }
        CursorTarget::Key { file, object, kind, key } => Some(objects::key(analysis, file, object, *kind, key)),
        CursorTarget::ObjectName { file, object, kind: OriginKind::Preset, .. }
        | CursorTarget::Selector { file, object } => presets::preset(analysis, file, object),
        CursorTarget::Workload { file, object } => presets::workload(analysis, file, object),
        CursorTarget::Dependency { file, object, name } => services::dependency(analysis, file, object, name),
        CursorTarget::ObjectName { file, object, kind, name } => objects::own_name(analysis, file, object, *kind, name),
        CursorTarget::Parameter(place) => place.markup(),
        CursorTarget::Rule(rule) => Some(documentation(rule)),
        CursorTarget::EnvFileEntry { file, name, value } => Some(env_file_entry(analysis, file, name, value)),
        CursorTarget::VolumeSource { file, object, kind, name, key: Some(key) } => {
            objects::key_use(analysis, file, object, *kind, name, key)
        }
        CursorTarget::VolumeSource { file, object, kind, name, key: None } => {
            objects::object(analysis, file, object, *kind, name, "")
        }
        CursorTarget::Volume { .. } | CursorTarget::Container { .. } => None,
    }
}

/// The hover for a variable name at a site of a container.
pub(super) fn name(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    environment: &Environment,
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
        Lookup::Maybe(hole) => hover.maybe(name, &hole)?,
    }
    Some(hover.markup)
}

fn reference(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, field: ContainerField, name: &str) -> Option<Markup> {
    if has_helm_placeholder(name) {
        return None;
    }
    let environment = at.environment(analysis);
    let Some(site) = field.variable_scope() else { return unexpanded(analysis, at, &environment, field, name) };
    let is_command = match environment.lookup(site, name) {
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
    self::name(analysis, at, &environment, site, name)
}

/// The hover for a reference in a field that Kubernetes does not expand.
fn unexpanded(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    environment: &Environment,
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
pub(super) fn documentation(rule: &Rule) -> Markup {
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

/// Builds the hover for an item in a container.
struct HoverBuilder<'c, 's> {
    analysis: &'c Analysis<'s>,
    at: &'c LocatedContainer<'c>,
    reveal: bool,
    markup: Markup,
}

impl<'c, 's> HoverBuilder<'c, 's> {
    fn new(analysis: &'c Analysis<'s>, at: &'c LocatedContainer<'c>) -> Self {
        Self { analysis, at, reveal: analysis.reveals(&at.file), markup: Markup::default() }
    }

    fn paragraph(&mut self, line: Vec<Inline>) {
        self.markup.blocks.push(Block::Paragraph(line));
    }

    /// `$(name)` that the shell runs as a command.
    fn command(&mut self, name: &str) {
        self.paragraph(vec![
            text("Not a variable: the shell runs "),
            code(format!("$({name})")),
            text(" as a command and inserts its output."),
        ]);
    }

    /// A variable: its value, source, expansion steps and the sources it hides.
    fn binding(&mut self, binding: &Binding) {
        let from = describe::binding_origin_and_entry(self.analysis, self.at, binding);
        self.variable(binding, Some(from));
    }

    /// A variable at its declaration, without the location of the declaration.
    fn declared(&mut self, binding: &Binding) {
        let from = match binding.origin.kind {
            OriginKind::Env => None,
            _ => Some(describe::binding_origin(self.analysis, self.at, binding)),
        };
        self.variable(binding, from);
    }

    /// An entry that defines no variable, because its optional source does not exist.
    fn unset(mut self, entry: &EnvVar) -> Option<Markup> {
        let (what, of, key) = match entry.from.as_ref()?.sources.first()? {
            ValueSource::ConfigMap(it) if it.optional => ("config map ", it.name.as_ref()?, it.key.as_ref()?),
            ValueSource::Secret(it) if it.optional => ("secret ", it.name.as_ref()?, it.key.as_ref()?),
            ValueSource::File { optional: true, volume, key, .. } => {
                ("the env file in volume ", volume.as_ref()?, key.as_ref()?)
            }
            _ => return None,
        };
        let name = entry.name.as_ref()?;
        self.paragraph(vec![
            code(name.value.to_string()),
            text(" is not set: "),
            text(what),
            code(of.value.to_string()),
            text(" has no key "),
            code(key.value.to_string()),
            text(", and the reference is optional."),
        ]);
        Some(self.markup)
    }

    fn variable(&mut self, binding: &Binding, from: Option<Vec<Inline>>) {
        let name = show_helm_placeholders(&binding.name).into_owned();
        if binding.alternatives.is_empty() {
            self.value(&name, &binding.value);
        } else {
            self.paragraph(vec![code(name), text(" has one of several values: more than one object matches.")]);
        }
        if binding.alternatives.is_empty() {
            if let Some(from) = from {
                self.paragraph(std::iter::once(text("From ")).chain(from).collect());
            }
        } else {
            let lines = binding.alternatives.iter().map(|(value, origin)| {
                let mut line = vec![self.short(value), text(" from ")];
                line.extend(describe::origin_words(self.analysis, &self.at.file, origin));
                line
            });
            let lines = limited(lines.collect());
            self.markup.blocks.push(Block::List(lines));
        }
        self.chain(binding);
        self.hides(binding);
    }

    fn value(&mut self, name: &str, value: &ResolvedValue) {
        let shown = value_text(value, self.reveal);
        let mut lines: Vec<String> = shown.lines().take(MOST_LINES).map(|it| cut(it, 4 * LONGEST)).collect();
        if shown.lines().count() > MOST_LINES {
            lines.push("…".into());
        }
        let text = format!("{name}={}", lines.join("\n"));
        self.markup.blocks.push(Block::Code { language: "ini", text });
    }

    /// The steps of the expansion, starting with the text as written.
    fn chain(&mut self, binding: &Binding) {
        let Some(raw) = binding.raw.as_ref().filter(|_| !binding.steps.is_empty()) else { return };
        let mut lines = vec![vec![text("as written: "), code(one_line(&show_helm_placeholders(raw), LONGEST))]];
        self.steps(binding, 0, &mut lines);
        let lines = limited(lines);
        self.markup.blocks.push(Block::List(lines));
    }

    fn steps(&self, binding: &Binding, depth: usize, lines: &mut Vec<Vec<Inline>>) {
        let mut known: Vec<&str> = Vec::new();
        for step in &binding.steps {
            if lines.len() > MOST_LINES || known.contains(&&*step.name) || has_helm_placeholder(&step.name) {
                continue;
            }
            known.push(&step.name);
            let arrow = "↳ ".repeat(depth);
            let mut line = vec![text(&arrow), code(format!("$({})", step.name))];
            match &step.outcome {
                Lookup::Bound(inner) => {
                    line.push(text(" is "));
                    line.push(code(describe::short_binding(inner, self.reveal, LONGEST)));
                    line.push(text(" from "));
                    line.extend(describe::binding_origin(self.analysis, self.at, inner));
                    lines.push(line);
                    self.steps(inner, depth + 1, lines);
                }
                Lookup::Later(origin) => {
                    line.push(text(" is not expanded: declared later"));
                    if let Some(location) = &origin.location {
                        line.push(text(", "));
                        line.push(location_link(self.analysis, &self.at.file, location));
                    }
                    lines.push(line);
                }
                Lookup::Unbound => {
                    line.push(text(" is not expanded: nothing defines it"));
                    lines.push(line);
                }
                Lookup::Maybe(hole) => {
                    line.push(text(" is "));
                    line.push(code(format!("<{hole}>")));
                    lines.push(line);
                }
            }
        }
    }

    fn hides(&mut self, binding: &Binding) {
        if binding.hides.is_empty() {
            return;
        }
        let lines = binding.hides.iter().map(|hidden| {
            let mut line = vec![text("hides the value from ")];
            line.extend(describe::origin_words(self.analysis, &self.at.file, hidden));
            line
        });
        let lines = limited(lines.collect());
        self.markup.blocks.push(Block::List(lines));
    }

    /// P3: the value in an exec probe may differ from the value in the container.
    fn probe(&mut self, environment: &Environment, site: VariableScope, seen: &Binding) {
        if site != VariableScope::ProbeValues {
            return;
        }
        if let Lookup::Bound(real) = environment.lookup(VariableScope::All, &seen.name)
            && !real.value.same_text(&seen.value)
        {
            self.paragraph(vec![
                text("An exec probe sees "),
                code("value".into()),
                text(" as written; the container gets "),
                self.short(&real.value),
                text("."),
            ]);
        }
    }

    fn later(&mut self, site: VariableScope, name: &str, origin: &Origin) {
        let own = match site {
            VariableScope::EarlierEntries(index) => self.at.container.env.get(index).and_then(|it| it.name.as_ref()),
            _ => None,
        };
        if own.is_some_and(|it| &*it.value == name) {
            self.paragraph(vec![
                code(format!("$({name})")),
                text(" is not expanded: it is in the declaration of "),
                code(name.into()),
                text(" itself, and no earlier entry declares it."),
            ]);
            return;
        }
        let mut line = vec![code(format!("$({name})")), text(" is not expanded: ")];
        if let (OriginKind::Preset, Some(preset), Some(location)) = (origin.kind, &origin.object, &origin.location) {
            line.extend([text("preset "), code(preset.to_string()), text(", ")]);
            line.extend([location_link(self.analysis, &self.at.file, location), text(", adds ")]);
            line.extend([code(name.into()), text(" after all entries of "), code("env".into()), text(".")]);
            return self.paragraph(line);
        }
        line.push(code(name.into()));
        match &origin.location {
            Some(location) => {
                line.push(text(" is declared later, "));
                line.push(location_link(self.analysis, &self.at.file, location));
                line.push(text(". Entries of "));
                line.push(code("env".into()));
                line.push(text(" see only the entries above them."));
            }
            None => {
                line.push(text(" is added after all entries of "));
                line.push(code("env".into()));
                line.push(text("."));
            }
        }
        self.paragraph(line);
    }

    fn unbound(&mut self, environment: &Environment, site: VariableScope, name: &str) {
        let not_expanded = || vec![code(format!("$({name})")), text(" is not expanded: ")];
        if site == VariableScope::ProbeValues
            && let Lookup::Bound(binding) = environment.lookup(VariableScope::All, name)
        {
            let mut line = not_expanded();
            line.extend([
                text("an exec probe sees only entries of "),
                code("env".into()),
                text(". The container has:"),
            ]);
            self.paragraph(line);
            self.binding(&binding);
            return;
        }
        let mut line = not_expanded();
        line.extend([text("nothing defines "), code(name.into()), text(".")]);
        self.paragraph(line);
    }

    /// A name that may be defined outside of the workspace; `None` if the settings turn such remarks off.
    fn maybe(&mut self, name: &str, hole: &UnknownReason) -> Option<()> {
        if self.analysis.snapshot.settings(&self.at.file).unknown == UnknownPolicy::Never {
            return None;
        }
        self.value(name, &ResolvedValue::unknown(hole.clone()));
        self.paragraph(vec![text("Not defined in this workspace; it may be defined elsewhere.")]);
        Some(())
    }

    fn short(&self, value: &ResolvedValue) -> Inline {
        code(describe::short_value(value, self.reveal, LONGEST))
    }
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

fn cut(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
