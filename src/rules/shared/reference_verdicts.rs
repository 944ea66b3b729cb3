//! Decides for every reference of a container which rule reports it.
//!
//! All rules on references use this module, so that a reference has at most one finding.

use std::collections::HashSet;
use std::sync::Arc;

use crate::k8s::{ContainerField, Text, VariableScope};
use crate::resolve::{ExpandedScalar, ExpansionStep, Lookup, ServiceVariableAbsence, UnknownReason, UnresolvedReason};
use crate::rules::engine::ContainerContext;
use crate::rules::shared::reference_text::{ReferencePattern, is_constant, is_other_language, whole_reference};
use crate::rules::shared::shell_detection::{ShellUse, detect_reader, looks_like_script};
use crate::syntax::{DollarTokenKind, dollar_tokens, has_placeholder, mask_expressions, may_become, may_start_with};

/// A text that Kubernetes expands.
#[derive(Clone, Copy, Debug)]
pub(in crate::rules) struct ExpandedText<'a> {
    pub(in crate::rules) text: &'a Text,
    pub(in crate::rules) steps: &'a [ExpansionStep],
    pub(in crate::rules) field: ContainerField,
    /// The variable whose value it is.
    pub(in crate::rules) variable: Option<&'a str>,
    pub(in crate::rules) shell: ShellUse,
}

impl<'a> ExpandedText<'a> {
    /// The variables that a reference in it can use.
    pub(in crate::rules) fn variables(&self) -> VariableScope {
        self.field.variable_scope().unwrap_or(VariableScope::All)
    }

    /// The variable whose value it is, or the name of the field.
    pub(in crate::rules) fn name(&self) -> &'a str {
        match self.field {
            ContainerField::EnvValue(_) => self.variable.unwrap_or_default(),
            ContainerField::ProbeCommand(..) => "exec",
            ContainerField::SubPathExpr(_) => "subPathExpr",
            ContainerField::Command(_) | ContainerField::Args(_) | ContainerField::Unexpanded(_) => "command",
        }
    }
}

/// The result for a reference: which rule reports it.
#[derive(Clone, Debug)]
pub(in crate::rules) enum ReferenceVerdict {
    /// Not reported.
    NoFinding,
    /// `undefined-variable`
    Undefined,
    /// `service-links-off` or `headless-service-variable`
    Service(Arc<ServiceVariableAbsence>),
    /// `undefined-variable`, if the settings also report references that may be defined elsewhere.
    MaybeUndefined(UnknownReason),
    /// `forward-reference`
    Forward,
    /// `self-reference`
    SelfReference,
    /// `malformed-reference`
    Malformed(ReferenceFlaw),
    /// `command-substitution-outside-shell`
    Command,
    /// `probe-literal-only`
    Probe(ProbeVisibility),
    /// `unresolved-sub-path`
    SubPath {
        /// Whether the variable is defined, but empty.
        empty: bool,
    },
}

/// The mistake in a malformed reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rules) enum ReferenceFlaw {
    Padded(String),
    Default(String),
    Extended(String),
    Nested,
    Unclosed(String),
}

/// The text that a probe gets for a reference (P3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum ProbeVisibility {
    /// The reference, not expanded.
    NotExpanded,
    /// An empty text.
    Empty,
    /// The value before expansion.
    Raw,
}

/// The texts of a container that Kubernetes expands and that contain a dollar sign. Of the entries of a preset they are
/// those that are written in the preset.
pub(in crate::rules) fn expanded_texts<'a>(container: &ContainerContext<'a>) -> Vec<ExpandedText<'a>> {
    let context = container;
    let container = context.container;
    let mut all: Vec<ExpandedText<'a>> = Vec::new();
    for (index, entry) in container.env.iter().enumerate() {
        let (Some(name), Some(text)) = (&entry.name, &entry.value) else { continue };
        let Some(binding) = context.entry(index).filter(|it| it.raw.is_some()) else { continue };
        if text.value.contains('$') {
            let shell = if looks_like_script(&text.value) { ShellUse::Maybe } else { ShellUse::No };
            let (field, variable) = (ContainerField::EnvValue(index), Some(&*name.value));
            all.push(ExpandedText { text, steps: &binding.steps, field, variable, shell });
        }
    }
    if context.object.object.preset().is_none() {
        command_texts(context, &mut all);
    }
    for sub_path in context.own_sub_paths().filter(|it| it.item.text.value.contains('$')) {
        let (item, field) = (&sub_path.item, sub_path.field);
        let steps = &item.expansion.steps;
        all.push(ExpandedText { text: &item.text, steps, field, variable: None, shell: ShellUse::No });
    }
    all
}

/// The texts of commands, arguments and exec probes.
fn command_texts<'a>(context: &ContainerContext<'a>, all: &mut Vec<ExpandedText<'a>>) {
    let container = context.container;
    let items: Vec<&'a ExpandedScalar> = context.command().iter().chain(context.args()).collect();
    let first = all.len();
    let field = |at| container.command_line_field(at);
    command_line(&items, !context.command().is_empty(), field, all);
    // The object that a patch changes may have a command that runs a shell.
    if context.command().is_empty() && matches!(context.lookup("", VariableScope::All), Lookup::Maybe(_)) {
        let open = all[first..].iter_mut().filter(|it| it.shell == ShellUse::No);
        open.for_each(|it| it.shell = ShellUse::Maybe);
    }
    for (index, probe) in context.probes().iter().enumerate() {
        let items: Vec<&'a ExpandedScalar> = probe.command.iter().collect();
        command_line(&items, true, |at| ContainerField::ProbeCommand(index, at), all);
    }
}

fn command_line<'a>(
    items: &[&'a ExpandedScalar],
    has_command: bool,
    field: impl Fn(usize) -> ContainerField,
    all: &mut Vec<ExpandedText<'a>>,
) {
    for (at, item) in items.iter().enumerate().filter(|(_, it)| it.text.value.contains('$')) {
        let values: Vec<&str> = items.iter().map(|it| &*it.text.value).collect();
        let shell = if item.is_script { ShellUse::Yes } else { detect_reader(&values, at, has_command) };
        let (text, steps) = (&item.text, &item.expansion.steps[..]);
        all.push(ExpandedText { text, steps, field: field(at), variable: None, shell });
    }
}

/// Every reference that a rule reports, with its verdict.
pub(in crate::rules) fn judge_references<'a>(
    container: &ContainerContext<'a>,
) -> Vec<(ExpandedText<'a>, &'a ExpansionStep, ReferenceVerdict)> {
    let mut all = Vec::new();
    for text in expanded_texts(container) {
        for step in text.steps {
            match verdict(container, &text, step) {
                ReferenceVerdict::NoFinding => {}
                verdict => all.push((text, step, verdict)),
            }
        }
    }
    all
}

fn verdict(container: &ContainerContext<'_>, text: &ExpandedText<'_>, step: &ExpansionStep) -> ReferenceVerdict {
    let declared = |word: &str| matches!(container.lookup(word, text.variables()), Lookup::Bound(_));
    let shape = ReferencePattern::of(&step.name, declared);
    if text.field.is_sub_path() {
        return match &step.outcome {
            Lookup::Bound(it) if it.value.is_empty() && it.alternatives.is_empty() => {
                ReferenceVerdict::SubPath { empty: true }
            }
            Lookup::Unbound | Lookup::Later(_)
                if !is_other_language(&step.name) && !is_templated(container, &step.name) =>
            {
                ReferenceVerdict::SubPath { empty: false }
            }
            Lookup::Maybe(reason) => ReferenceVerdict::MaybeUndefined(reason.clone()),
            _ => ReferenceVerdict::NoFinding,
        };
    }
    if text.field.is_probe()
        && let Some(verdict) = probe_verdict(container, text, step)
    {
        return verdict;
    }
    match &step.outcome {
        Lookup::Bound(_) => return ReferenceVerdict::NoFinding,
        _ if text.shell == ShellUse::Yes => return ReferenceVerdict::NoFinding,
        Lookup::Maybe(reason) if shape == ReferencePattern::Name => {
            return ReferenceVerdict::MaybeUndefined(reason.clone());
        }
        Lookup::Maybe(_) => return ReferenceVerdict::NoFinding,
        Lookup::Later(_) | Lookup::Unbound => {}
    }
    let service = match &step.unresolved {
        Some(UnresolvedReason::SelfReference) => return ReferenceVerdict::SelfReference,
        Some(UnresolvedReason::Forward) => return ReferenceVerdict::Forward,
        Some(UnresolvedReason::Service(absence)) => Some(absence),
        Some(UnresolvedReason::Undefined | UnresolvedReason::Probe | UnresolvedReason::EmptyInProbe) | None => None,
    };
    let reaches = text.variable.is_some_and(|own| reaches_shell(container, own));
    match text.shell {
        ShellUse::No if !reaches => {}
        ShellUse::EntryPoint if is_constant(&step.name) => {}
        _ => return ReferenceVerdict::NoFinding,
    }
    match shape {
        ReferencePattern::Other => ReferenceVerdict::NoFinding,
        ReferencePattern::Name if is_templated(container, &step.name) => ReferenceVerdict::NoFinding,
        ReferencePattern::Name => {
            service.map_or(ReferenceVerdict::Undefined, |it| ReferenceVerdict::Service(Arc::clone(it)))
        }
        ReferencePattern::Command => ReferenceVerdict::Command,
        _ if is_nested(&text.text.value, step) => ReferenceVerdict::Malformed(ReferenceFlaw::Nested),
        ReferencePattern::Padded(name) => ReferenceVerdict::Malformed(ReferenceFlaw::Padded(name.to_owned())),
        ReferencePattern::Default(name) => ReferenceVerdict::Malformed(ReferenceFlaw::Default(name.to_owned())),
        ReferencePattern::Extended(name) => ReferenceVerdict::Malformed(ReferenceFlaw::Extended(name.to_owned())),
        ReferencePattern::Unclosed(name) => ReferenceVerdict::Malformed(ReferenceFlaw::Unclosed(name.to_owned())),
        ReferencePattern::Nested => ReferenceVerdict::Malformed(ReferenceFlaw::Nested),
    }
}

/// Whether a reference contains another one and ends after it: `$(A:-$(B))`.
fn is_nested(value: &str, step: &ExpansionStep) -> bool {
    step.name.contains("$(") && whole_reference(value, step.range.clone()) != step.range
}

/// The verdict for a reference in a probe (P3); `None` if it is the same as outside of probes.
fn probe_verdict(
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    step: &ExpansionStep,
) -> Option<ReferenceVerdict> {
    match &step.outcome {
        Lookup::Bound(_) if step.unresolved == Some(UnresolvedReason::EmptyInProbe) => {
            Some(ReferenceVerdict::Probe(ProbeVisibility::Empty))
        }
        Lookup::Bound(_) => {
            let mut entries = container.container.env.iter().enumerate();
            let last = entries.rfind(|(_, it)| it.name.as_ref().is_some_and(|it| it.value == step.name));
            let (index, entry) = last?;
            let value = entry.value.as_ref().map_or("", |it| &it.value);
            let expands = |it: &ExpansionStep| matches!(it.outcome, Lookup::Bound(_) | Lookup::Maybe(_));
            let differs = container.entry(index).is_some_and(|it| it.steps.iter().any(expands))
                || dollar_tokens(value).any(|it| it.kind == DollarTokenKind::Escape);
            differs.then_some(ReferenceVerdict::Probe(ProbeVisibility::Raw))
        }
        Lookup::Maybe(_) => None,
        Lookup::Unbound | Lookup::Later(_) => match container.lookup(&step.name, VariableScope::All) {
            // In a script a lower-case word is probably a command.
            _ if text.shell != ShellUse::No && step.name.bytes().any(|it| it.is_ascii_lowercase()) => None,
            Lookup::Bound(_) => Some(ReferenceVerdict::Probe(ProbeVisibility::NotExpanded)),
            // A probe does not see it, whether or not the key exists.
            Lookup::Maybe(
                UnknownReason::ConfigMapKey(..) | UnknownReason::SecretKey(..) | UnknownReason::ServiceVariable(_),
            ) if text.shell == ShellUse::No => Some(ReferenceVerdict::Probe(ProbeVisibility::NotExpanded)),
            Lookup::Maybe(reason) => Some(ReferenceVerdict::MaybeUndefined(reason)),
            Lookup::Unbound | Lookup::Later(_) => None,
        },
    }
}

/// Whether the value of a variable may become part of a shell script: the script refers to it with `$(X)`, or uses
/// `eval`. The scripts of unknown pods are not known.
pub(in crate::rules) fn reaches_shell(container: &ContainerContext<'_>, name: &str) -> bool {
    if container.is_preset_without_pods() {
        return true;
    }
    let scripts: Vec<&ExpandedScalar> = scripts(container).collect();
    if scripts.iter().any(|it| it.text.value.contains("eval ")) {
        return true;
    }
    let mut reached: HashSet<&str> = HashSet::new();
    let mut open: Vec<&ExpansionStep> = scripts.iter().flat_map(|it| &it.expansion.steps).collect();
    while let Some(step) = open.pop() {
        if let Lookup::Bound(binding) = &step.outcome
            && reached.insert(&step.name)
        {
            open.extend(&binding.steps);
        }
    }
    reached.contains(name)
}

fn scripts<'a>(container: &ContainerContext<'a>) -> impl Iterator<Item = &'a ExpandedScalar> {
    let probes = container.probes().iter().flat_map(|it| &it.command);
    container.command().iter().chain(container.args()).chain(probes).filter(|it| it.is_script)
}

/// Whether a tool may define this name before Kubernetes sees the text: an expression in a name of `env` or in a prefix
/// of `envFrom` may give it, or the name is a parameter of the template.
fn is_templated(container: &ContainerContext<'_>, name: &str) -> bool {
    let expression = |text: &Option<Text>| {
        let masked = mask_expressions(&text.as_ref()?.value);
        has_placeholder(&masked).then_some(masked)
    };
    let it = container.container;
    it.env.iter().filter_map(|it| expression(&it.name)).any(|it| may_become(&it, name))
        || it.env_from.iter().filter_map(|it| expression(&it.prefix)).any(|it| may_start_with(&it, name))
        || container.object.object.source.template.as_ref().is_some_and(|it| it.parameters.contains(name))
}
