//! Hover: what a thing is worth here, how it came about and where it comes from.
//!
//! Short: the value first, then its source, then each step of its expansion, then what else there is to know.

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

/// What a hover shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is about.
    pub span: Span,
    /// What it says.
    pub contents: Markup,
}

/// How long a value in a line may be, and how many lines a list.
const LONGEST: usize = 100;
const MOST_LINES: usize = 12;

/// What there is to say about an offset.
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

/// What is to say about a name at a place of a container.
pub(super) fn name(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    environment: &Environment,
    site: VariableScope,
    name: &str,
) -> Option<Markup> {
    let mut card = Card::new(analysis, at);
    match environment.lookup(site, name) {
        Lookup::Bound(binding) => {
            card.binding(&binding);
            card.probe(environment, site, &binding);
        }
        Lookup::Later(origin) => card.later(site, name, &origin),
        Lookup::Unbound => card.unbound(environment, site, name),
        Lookup::Maybe(hole) => card.maybe(name, &hole)?,
    }
    Some(card.markup)
}

fn reference(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, field: ContainerField, name: &str) -> Option<Markup> {
    if has_helm_placeholder(name) {
        return None;
    }
    let environment = at.environment(analysis);
    let Some(site) = field.variable_scope() else { return unexpanded(analysis, at, &environment, field, name) };
    let is_command = match environment.lookup(site, name) {
        Lookup::Unbound => true,
        // No command is called like a constant.
        Lookup::Maybe(_) => name.bytes().any(|it| it.is_ascii_lowercase() || it.is_ascii_whitespace()),
        Lookup::Bound(_) | Lookup::Later(_) => false,
    };
    if is_command && at.is_script(&environment, field) {
        let mut card = Card::new(analysis, at);
        card.command(name);
        return Some(card.markup);
    }
    self::name(analysis, at, &environment, site, name)
}

/// A reference where Kubernetes expands nothing.
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
    let mut card = Card::new(analysis, at);
    if at.is_script(environment, field) {
        card.command(name);
        if let Lookup::Bound(binding) = &bound {
            card.say(vec![
                text("The shell has a variable of this name, which it reads as "),
                code(format!("${{{name}}}")),
            ]);
            card.binding(binding);
        }
        return Some(card.markup);
    }
    let Lookup::Bound(binding) = bound else { return None };
    card.say(vec![
        text("Stays as it is: Kubernetes expands nothing in "),
        code(path.clone()),
        text(". The container has this variable:"),
    ]);
    card.binding(&binding);
    Some(card.markup)
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
    let mut card = Card::new(analysis, at);
    let Some(binding) = environment.entry(index) else { return card.unset(at.container.env.get(index)?) };
    card.declared(binding);
    // The last of equal names is what the container starts with.
    if let Lookup::Bound(last) = environment.lookup(VariableScope::All, &binding.name)
        && !Arc::ptr_eq(&last, binding)
        && let Some(location) = last.entry.as_ref().or(last.origin.location.as_ref())
    {
        card.say(vec![text("Replaced by a later entry: "), location_link(analysis, &at.file, location)]);
    }
    Some(card.markup)
}

/// An entry of an env file, as the kubelet of the target reads it, with who takes it.
fn env_file_entry(analysis: &Analysis<'_>, file: &Arc<str>, name: &str, value: &str) -> Markup {
    let shown = format!("{name}={}", one_line(value, 4 * LONGEST));
    let mut blocks = vec![Block::Code { language: "ini", text: shown }];
    let reading = match analysis.snapshot.settings(file).proposals {
        true => "As the proposal reads env files.".to_owned(),
        false => format!("As Kubernetes {} reads env files.", analysis.resolver.release(file)),
    };
    blocks.push(Block::Paragraph(vec![text(&reading)]));
    let readers = env_file_readers(analysis.snapshot, file).into_iter().filter(|it| &*it.key == name);
    let lines = readers.map(|it| vec![text("taken in "), location_link(analysis, file, &it.location)]);
    let lines = limited(lines.collect());
    if !lines.is_empty() {
        blocks.push(Block::List(lines));
    }
    Markup { blocks }
}

/// A rule's documentation up to its examples.
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

/// A hover that is being written, for something in a container.
struct Card<'c, 's> {
    analysis: &'c Analysis<'s>,
    at: &'c LocatedContainer<'c>,
    reveal: bool,
    markup: Markup,
}

impl<'c, 's> Card<'c, 's> {
    fn new(analysis: &'c Analysis<'s>, at: &'c LocatedContainer<'c>) -> Self {
        Self { analysis, at, reveal: analysis.reveals(&at.file), markup: Markup::default() }
    }

    fn say(&mut self, line: Vec<Inline>) {
        self.markup.blocks.push(Block::Paragraph(line));
    }

    /// `$(name)` that is left to a shell.
    fn command(&mut self, name: &str) {
        self.say(vec![
            text("No variable: the shell reads "),
            code(format!("$({name})")),
            text(" as a command and puts in what it prints."),
        ]);
    }

    /// A variable: its value, where it comes from, how it came about, what it hides.
    fn binding(&mut self, binding: &Binding) {
        let from = describe::binding_origin_and_entry(self.analysis, self.at, binding);
        self.variable(binding, Some(from));
    }

    /// The same where it is declared, which need not be told where it is.
    fn declared(&mut self, binding: &Binding) {
        let from = match binding.origin.kind {
            OriginKind::Env => None,
            _ => Some(describe::binding_origin(self.analysis, self.at, binding)),
        };
        self.variable(binding, from);
    }

    /// An entry that gives no variable, since what it would be taken from is optional.
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
        self.say(vec![
            code(name.value.to_string()),
            text(" is not set: "),
            text(what),
            code(of.value.to_string()),
            text(" has no key "),
            code(key.value.to_string()),
            text(", and it is optional."),
        ]);
        Some(self.markup)
    }

    fn variable(&mut self, binding: &Binding, from: Option<Vec<Inline>>) {
        let name = show_helm_placeholders(&binding.name).into_owned();
        if binding.alternatives.is_empty() {
            self.value(&name, &binding.value);
        } else {
            self.say(vec![code(name), text(" has one of several values: it cannot be told which object is meant.")]);
        }
        if binding.alternatives.is_empty() {
            if let Some(from) = from {
                self.say(std::iter::once(text("From ")).chain(from).collect());
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

    /// Each step of the expansion, from the text as written down to values that needed none.
    fn chain(&mut self, binding: &Binding) {
        let Some(raw) = binding.raw.as_ref().filter(|_| !binding.steps.is_empty()) else { return };
        let mut lines = vec![vec![text("written "), code(one_line(&show_helm_placeholders(raw), LONGEST))]];
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
                    line.push(text(" stays: declared later"));
                    if let Some(location) = &origin.location {
                        line.push(text(", "));
                        line.push(location_link(self.analysis, &self.at.file, location));
                    }
                    lines.push(line);
                }
                Lookup::Unbound => {
                    line.push(text(" stays: nothing defines it"));
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
            let mut line = vec![text("hides the one from ")];
            line.extend(describe::origin_words(self.analysis, &self.at.file, hidden));
            line
        });
        let lines = limited(lines.collect());
        self.markup.blocks.push(Block::List(lines));
    }

    /// P3: what an exec probe sees may differ from what the container gets.
    fn probe(&mut self, environment: &Environment, site: VariableScope, seen: &Binding) {
        if site != VariableScope::ProbeValues {
            return;
        }
        if let Lookup::Bound(real) = environment.lookup(VariableScope::All, &seen.name)
            && !real.value.same_text(&seen.value)
        {
            self.say(vec![
                text("An exec probe sees "),
                code("value".into()),
                text(" as it is written; the container itself gets "),
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
            self.say(vec![
                code(format!("$({name})")),
                text(" stays as it is: it stands in the declaration of "),
                code(name.into()),
                text(", and there is no earlier one."),
            ]);
            return;
        }
        let mut line = vec![code(format!("$({name})")), text(" stays as it is: "), code(name.into())];
        if let (OriginKind::Preset, Some(preset), Some(location)) = (origin.kind, &origin.object, &origin.location) {
            line.extend([text(" comes with preset "), code(preset.to_string()), text(", ")]);
            line.extend([location_link(self.analysis, &self.at.file, location), text(", behind all entries of ")]);
            line.extend([code("env".into()), text(".")]);
            return self.say(line);
        }
        match &origin.location {
            Some(location) => {
                line.push(text(" is declared later, "));
                line.push(location_link(self.analysis, &self.at.file, location));
                line.push(text(". Entries of "));
                line.push(code("env".into()));
                line.push(text(" see only those above them."));
            }
            None => {
                line.push(text(" is added behind all entries of "));
                line.push(code("env".into()));
                line.push(text("."));
            }
        }
        self.say(line);
    }

    fn unbound(&mut self, environment: &Environment, site: VariableScope, name: &str) {
        let stays = || vec![code(format!("$({name})")), text(" stays as it is: ")];
        if site == VariableScope::ProbeValues
            && let Lookup::Bound(binding) = environment.lookup(VariableScope::All, name)
        {
            let mut line = stays();
            line.extend([
                text("an exec probe sees only entries of "),
                code("env".into()),
                text(". The container has:"),
            ]);
            self.say(line);
            self.binding(&binding);
            return;
        }
        let mut line = stays();
        line.extend([text("nothing defines "), code(name.into()), text(" here.")]);
        self.say(line);
    }

    /// Something outside may define the name; nothing if the settings want no remarks.
    fn maybe(&mut self, name: &str, hole: &UnknownReason) -> Option<()> {
        if self.analysis.snapshot.settings(&self.at.file).unknown == UnknownPolicy::Never {
            return None;
        }
        self.value(name, &ResolvedValue::unknown(hole.clone()));
        self.say(vec![text("Not defined in this workspace: whether it has a value is decided outside.")]);
        Some(())
    }

    fn short(&self, value: &ResolvedValue) -> Inline {
        code(describe::short_value(value, self.reveal, LONGEST))
    }
}

/// At most so many lines, and how many more there are.
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
