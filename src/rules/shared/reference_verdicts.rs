//! Decides for every reference of a container which rule reports it.
//!
//! All rules on references use this module, so that a reference has at most one finding.

use std::sync::Arc;

use crate::k8s::{ContainerField, Text, VariableScope};
use crate::resolve::{
    ExpandedScalar, ExpansionStep, Lookup, ReferencePattern, ServiceVariableAbsence, ShellUse, UnknownReason,
    UnresolvedReason, whole_reference,
};
use crate::rules::engine::ContainerContext;
use crate::syntax::{DollarTokenKind, dollar_tokens};

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
    /// There is no `)` after it.
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
            let shell = ShellUse::of_value(&text.value);
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
    let mut push = |item: &'a ExpandedScalar, field| {
        if item.text.value.contains('$') {
            let ExpandedScalar { text, expansion, shell } = item;
            all.push(ExpandedText { text, steps: &expansion.steps, field, variable: None, shell: *shell });
        }
    };
    for (at, item) in context.command().iter().chain(context.args()).enumerate() {
        push(item, context.container.command_line_field(at));
    }
    for (index, probe) in context.probes().iter().enumerate() {
        for (at, item) in probe.command.iter().enumerate() {
            push(item, ContainerField::ProbeCommand(index, at));
        }
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
    if let (true, Lookup::Bound(it)) = (text.field.is_sub_path(), &step.outcome) {
        let is_empty = it.value.is_empty() && it.alternatives.is_empty();
        return match is_empty && !container.may_be_set_by_patch(&step.name) {
            true => ReferenceVerdict::SubPath { empty: true },
            false => ReferenceVerdict::NoFinding,
        };
    }
    let Some(reason) = &step.unresolved else { return open_verdict(container, text, step) };
    // The value of a parameter contains it: `dead-parameter` reports it there.
    let template = container.object.object.source.template.as_ref();
    if template.is_some_and(|it| it.parameters.dialect.is_proposal() && it.parameters.contains(&step.name)) {
        return ReferenceVerdict::NoFinding;
    }
    let service = match reason {
        _ if text.field.is_sub_path() => return ReferenceVerdict::SubPath { empty: false },
        UnresolvedReason::SelfReference => return ReferenceVerdict::SelfReference,
        UnresolvedReason::Forward => return ReferenceVerdict::Forward,
        UnresolvedReason::Probe => return ReferenceVerdict::Probe(ProbeVisibility::NotExpanded),
        UnresolvedReason::EmptyInProbe => return ReferenceVerdict::Probe(ProbeVisibility::Empty),
        UnresolvedReason::Service(absence) => Some(absence),
        UnresolvedReason::Undefined | UnresolvedReason::Skipped => None,
    };
    let malformed = ReferenceVerdict::Malformed;
    match pattern(container, text, step) {
        ReferencePattern::Command => ReferenceVerdict::Command,
        ReferencePattern::Padded(name) => malformed(ReferenceFlaw::Padded(name.to_owned())),
        ReferencePattern::Nested => malformed(ReferenceFlaw::Nested),
        ReferencePattern::Default(_) | ReferencePattern::Extended(_) if is_nested(&text.text.value, step) => {
            malformed(ReferenceFlaw::Nested)
        }
        ReferencePattern::Default(name) => malformed(ReferenceFlaw::Default(name.to_owned())),
        ReferencePattern::Extended(name) => malformed(ReferenceFlaw::Extended(name.to_owned())),
        ReferencePattern::Name | ReferencePattern::Other => {
            service.map_or(ReferenceVerdict::Undefined, |it| ReferenceVerdict::Service(Arc::clone(it)))
        }
    }
}

/// The verdict for a reference that is expanded, or that something else may expand.
fn open_verdict(container: &ContainerContext<'_>, text: &ExpandedText<'_>, step: &ExpansionStep) -> ReferenceVerdict {
    let maybe = match &step.outcome {
        Lookup::Bound(_) if text.field.is_probe() && differs_in_container(container, step) => {
            return ReferenceVerdict::Probe(ProbeVisibility::Raw);
        }
        Lookup::Maybe(reason) => Some(reason.clone()),
        Lookup::Unbound if text.field.is_probe() => match container.lookup(&step.name, VariableScope::All) {
            Lookup::Maybe(reason) => Some(reason),
            _ => None,
        },
        Lookup::Bound(_) | Lookup::Unbound | Lookup::Later(_) => None,
    };
    match maybe {
        Some(reason) if text.field.is_sub_path() => ReferenceVerdict::MaybeUndefined(reason),
        Some(reason) if text.shell != ShellUse::Yes && pattern(container, text, step) == ReferencePattern::Name => {
            ReferenceVerdict::MaybeUndefined(reason)
        }
        _ => ReferenceVerdict::NoFinding,
    }
}

fn pattern<'s>(
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    step: &'s ExpansionStep,
) -> ReferencePattern<'s> {
    ReferencePattern::of(&step.name, |word| matches!(container.lookup(word, text.variables()), Lookup::Bound(_)))
}

/// Whether a reference contains another one and ends after it: `$(A:-$(B))`.
fn is_nested(value: &str, step: &ExpansionStep) -> bool {
    step.name.contains("$(") && whole_reference(value, step.range.clone()) != step.range
}

/// Whether the value that a probe gets, as it is written, is another one in the container (P3).
fn differs_in_container(container: &ContainerContext<'_>, step: &ExpansionStep) -> bool {
    let mut entries = container.container.env.iter().enumerate();
    let last = entries.rfind(|(_, it)| it.name.as_ref().is_some_and(|it| it.value == step.name));
    let expands = |it: &ExpansionStep| matches!(it.outcome, Lookup::Bound(_) | Lookup::Maybe(_));
    let is_escaped = |value: &str| dollar_tokens(value).any(|it| it.kind == DollarTokenKind::Escape);
    match last {
        Some((index, entry)) => {
            container.entry(index).is_some_and(|it| it.steps.iter().any(expands))
                || is_escaped(entry.value.as_ref().map_or("", |it| &it.value))
        }
        // A preset adds it.
        None => match container.lookup(&step.name, VariableScope::All) {
            Lookup::Bound(it) => it.steps.iter().any(expands) || it.raw.as_deref().is_some_and(is_escaped),
            _ => false,
        },
    }
}
