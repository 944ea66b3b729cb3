//! Builds the hover for a variable or reference in a container.

use super::{LONGEST, MOST_LINES, code, failure_block, limited, text};
use crate::ide::Analysis;
use crate::ide::shared::describe::{self, location_link, one_line, value_text};
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::markup::{Block, Inline, Markup};
use crate::k8s::{EnvVar, ValueSource, VariableScope};
use crate::resolve::{
    Binding, Environment, Lookup, Origin, OriginKind, ResolvedValue, UnknownReason, UnresolvedReason, elsewhere,
    is_service_variable_name, possible_services,
};
use crate::rules::StartFailureReason;
use crate::syntax::{has_placeholder, show_placeholders};
use crate::workspace::UnknownPolicy;

/// Builds the hover for an item in a container.
pub(super) struct HoverBuilder<'c, 's> {
    analysis: &'c Analysis<'s>,
    at: &'c LocatedContainer<'c>,
    reveal: bool,
    pub(super) markup: Markup,
}

impl<'c, 's> HoverBuilder<'c, 's> {
    pub(super) fn new(analysis: &'c Analysis<'s>, at: &'c LocatedContainer<'c>) -> Self {
        Self { analysis, at, reveal: analysis.reveals(&at.file), markup: Markup::default() }
    }

    pub(super) fn paragraph(&mut self, line: Vec<Inline>) {
        self.markup.blocks.push(Block::Paragraph(line));
    }

    /// `$(name)` that the shell runs as a command.
    pub(super) fn command(&mut self, name: &str) {
        self.paragraph(vec![
            text("Not a variable: the shell runs "),
            code(format!("$({name})")),
            text(" as a command and inserts its output."),
        ]);
    }

    /// What keeps the container from starting.
    pub(super) fn failure(&mut self, reason: &StartFailureReason) {
        self.markup.blocks.push(failure_block(reason));
    }

    /// A variable: its value, source, expansion steps and the sources it hides.
    pub(super) fn binding(&mut self, binding: &Binding) {
        let from = describe::binding_origin_and_entry(self.analysis, self.at, binding);
        self.variable(binding, Some(from));
    }

    /// A variable at its declaration, without the location of the declaration.
    pub(super) fn declared(&mut self, binding: &Binding) {
        let from = match binding.origin.kind {
            OriginKind::Env => None,
            _ => Some(describe::binding_origin(self.analysis, self.at, binding)),
        };
        self.variable(binding, from);
    }

    /// An entry that defines no variable, because its optional source does not exist.
    pub(super) fn unset(mut self, entry: &EnvVar) -> Option<Markup> {
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

    pub(super) fn variable(&mut self, binding: &Binding, from: Option<Vec<Inline>>) {
        let name = show_placeholders(&binding.name).into_owned();
        if binding.alternatives.is_empty() {
            self.value(&name, &binding.value);
        } else {
            let why = match binding.value == ResolvedValue::unknown(UnknownReason::PresetOrder) {
                true => " has one of several values: it depends on the order of presets, which is not defined.",
                false => " has one of several values: more than one object matches.",
            };
            self.paragraph(vec![code(name), text(why)]);
        }
        if binding.alternatives.is_empty() {
            if let Some(from) = from {
                self.paragraph(std::iter::once(text("From ")).chain(from).collect());
            }
        } else {
            let lines = binding.alternatives.iter().map(|(value, origin)| {
                let mut line = vec![self.short(value), text(" from ")];
                line.extend(describe::origin_words(self.analysis, self.at, origin));
                line
            });
            let lines = limited(lines.collect());
            self.markup.blocks.push(Block::List(lines));
        }
        self.chain(binding);
        self.hides(binding);
        self.wins_over_service(binding);
    }

    pub(super) fn value(&mut self, name: &str, value: &ResolvedValue) {
        let shown = value_text(value, self.reveal);
        let mut lines: Vec<String> = shown.lines().take(MOST_LINES).map(|it| cut(it, 4 * LONGEST)).collect();
        if shown.lines().count() > MOST_LINES {
            lines.push("…".into());
        }
        let text = format!("{name}={}", lines.join("\n"));
        self.markup.blocks.push(Block::Code { language: "ini", text });
    }

    /// The steps of the expansion, starting with the text as written.
    pub(super) fn chain(&mut self, binding: &Binding) {
        let Some(raw) = binding.raw.as_ref().filter(|_| !binding.steps.is_empty()) else { return };
        let mut lines = vec![vec![text("as written: "), code(one_line(&show_placeholders(raw), LONGEST))]];
        self.steps(binding, 0, &mut lines);
        let lines = limited(lines);
        self.markup.blocks.push(Block::List(lines));
    }

    pub(super) fn steps(&self, binding: &Binding, depth: usize, lines: &mut Vec<Vec<Inline>>) {
        let mut known: Vec<&str> = Vec::new();
        for step in &binding.steps {
            if lines.len() > MOST_LINES || known.contains(&&*step.name) || has_placeholder(&step.name) {
                continue;
            }
            known.push(&step.name);
            let arrow = "↳ ".repeat(depth);
            let mut line = vec![text(&arrow), code(format!("$({})", step.name))];
            match &step.outcome {
                Lookup::Bound(inner) => {
                    line.push(text(" is "));
                    line.extend(describe::value_from(self.analysis, self.at, inner, (self.reveal, LONGEST)));
                    lines.push(line);
                    self.steps(inner, depth + 1, lines);
                }
                Lookup::Later(_) | Lookup::Unbound => {
                    line.push(text(" is "));
                    line.extend(describe::unresolved_words(self.analysis, &self.at.file, step));
                    lines.push(line);
                }
                Lookup::Maybe(reason) => {
                    line.push(text(" is "));
                    line.push(code(format!("<{reason}>")));
                    lines.push(line);
                }
            }
        }
    }

    pub(super) fn hides(&mut self, binding: &Binding) {
        if binding.hides.is_empty() {
            return;
        }
        let lines = binding.hides.iter().map(|hidden| {
            let mut line = vec![text("hides the value from ")];
            line.extend(describe::origin_words(self.analysis, self.at, hidden));
            line
        });
        let lines = limited(lines.collect());
        self.markup.blocks.push(Block::List(lines));
    }

    /// B5: a value in `env` is not a default for the variable of a service.
    fn wins_over_service(&mut self, binding: &Binding) {
        let hides_service = binding.hides.iter().any(|it| it.kind == OriginKind::Service);
        let is_own = binding.origin.kind != OriginKind::Service;
        if is_own && (hides_service || is_service_variable_name(&binding.name)) {
            self.paragraph(vec![text("It always wins over the variable of a service: it is not a default.")]);
        }
    }

    /// P3: the value in an exec probe may differ from the value in the container.
    pub(super) fn probe(&mut self, environment: &Environment<'_>, site: VariableScope, seen: &Binding) {
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

    pub(super) fn later(&mut self, site: VariableScope, name: &str, origin: &Origin) {
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

    pub(super) fn unbound(&mut self, environment: &Environment<'_>, site: VariableScope, name: &str) {
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
        match environment.why_unresolved(site, name) {
            None | Some(UnresolvedReason::Undefined) => {
                line.extend([text("nothing defines "), code(name.into()), text(".")]);
            }
            Some(reason) => line.push(text(&format!("{reason}."))),
        }
        self.paragraph(line);
    }

    /// A name that may be defined outside of the workspace; `None` if the settings turn such remarks off.
    pub(super) fn maybe(&mut self, name: &str, reason: &UnknownReason) -> Option<()> {
        if self.analysis.snapshot.settings(&self.at.file).unknown == UnknownPolicy::Never {
            return None;
        }
        self.value(name, &ResolvedValue::unknown(reason.clone()));
        let (kind, objects) = match reason {
            UnknownReason::ConfigMapKey(object, _) => (OriginKind::ConfigMap, vec![object.to_string()]),
            UnknownReason::SecretKey(object, _) => (OriginKind::Secret, vec![object.to_string()]),
            UnknownReason::ServiceVariable(name) => (OriginKind::Service, possible_services(name).collect()),
            _ => (OriginKind::Env, Vec::new()),
        };
        let place = |object: String| Some((elsewhere(self.at.object, kind, &object)?, object));
        self.paragraph(match objects.into_iter().find_map(place) {
            Some((other, object)) => {
                let words = describe::kind_words(kind);
                vec![text(&format!("Not defined: {words} ")), code(object), text(&format!(" is {other}."))]
            }
            None => vec![text("Not defined in this workspace; it may be defined elsewhere.")],
        });
        Some(())
    }

    pub(super) fn short(&self, value: &ResolvedValue) -> Inline {
        code(describe::short_value(value, self.reveal, LONGEST))
    }
}

fn cut(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
