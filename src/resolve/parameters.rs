//! Template parameters in the texts of objects; they are substituted before the kubelet expands anything.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::k8s::SubstitutedPart;
use crate::k8s::{Object, ParameterDefault, Parameters};
use crate::resolve::binding::Lookup;
use crate::resolve::expand::{DollarCopying, Expansion, ExpansionStep, expand};
use crate::resolve::value::{ResolvedValue, UnknownReason, ValuePart};
use crate::syntax::{DollarTokenKind, ParameterReference, dollar_tokens, parameter_references};

/// The parameter types of the proposal (PT2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// Any text.
    String,
    /// A whole number.
    Int,
    /// `true` or `false`.
    Bool,
    /// Text in base64.
    Base64,
}

impl ParameterType {
    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "string" => Some(Self::String),
            "int" => Some(Self::Int),
            "bool" => Some(Self::Bool),
            "base64" => Some(Self::Base64),
            _ => None,
        }
    }

    /// Whether a value is of this type.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::String => true,
            Self::Int => text.parse::<i64>().is_ok(),
            Self::Bool => matches!(text, "true" | "false"),
            Self::Base64 => STANDARD.decode(text).is_ok(),
        }
    }

    /// A description of valid values for messages.
    pub fn description(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Int => "a whole number",
            Self::Bool => "`true` or `false`",
            Self::Base64 => "text in base64",
        }
    }
}

/// A text with its parameters substituted; parameters without a value are unknown parts.
pub(super) fn substitute(object: &Object, text: &Arc<str>) -> ResolvedValue {
    let parts = object.parameters.as_ref().and_then(|it| it.substitute(text));
    let Some(parts) = parts else { return ResolvedValue::written(Arc::clone(text)) };
    let mut value = ResolvedValue::default();
    for part in parts {
        value.push(match part {
            SubstitutedPart::Text(text) => ValuePart::Text(text.into()),
            SubstitutedPart::Open(name, preset) => ValuePart::Unknown(unknown_reason(name, preset)),
        });
    }
    value.with_joined_text()
}

/// Why the value of a parameter is unknown.
fn unknown_reason(name: &str, preset: &ParameterDefault) -> UnknownReason {
    match preset {
        ParameterDefault::Generated => UnknownReason::Generated(name.into()),
        ParameterDefault::Value(_) | ParameterDefault::Unset => UnknownReason::Parameter(name.into()),
    }
}

/// Expands a text of an object. The ranges of steps are those of the written references, also if a parameter contains
/// the reference.
pub(super) fn expand_in(
    object: &Object,
    text: &Arc<str>,
    copying: DollarCopying,
    mut lookup: impl FnMut(&str) -> Lookup,
) -> Expansion {
    let Some(parameters) = object.parameters.as_deref().filter(|_| text.contains('$')) else {
        return expand(text, copying, lookup);
    };
    let mut references = parameter_references(text, parameters.dialect.is_proposal());
    references.retain(|it| it.is_substituted_in(text) && parameters.contains(&text[it.name.clone()]));
    if references.is_empty() {
        return expand(text, copying, lookup);
    }
    let masked = mask_references(text, &references);
    let mut builder =
        ParameterExpansion { text, parameters, references: &references, copying, result: Expansion::default() };
    let mut at = 0;
    for token in dollar_tokens(&masked) {
        match token.kind {
            DollarTokenKind::Reference => {
                builder.add_text(at..token.range.start, &mut lookup);
                let written = &text[token.name_range()];
                let name = parameters.substitute_known(written).unwrap_or(Cow::Borrowed(written));
                let outcome = match parameters.substitute_known(written) {
                    Some(_) => lookup(&name),
                    None => Lookup::Maybe(UnknownReason::External(written.into())),
                };
                let step = ExpansionStep { range: token.range.clone(), name: (&*name).into(), outcome };
                match step.outcome {
                    Lookup::Later(_) | Lookup::Unbound => builder.add_text(token.range.clone(), &mut lookup),
                    _ => builder.result.value.append(&step.value()),
                }
                builder.result.steps.push(step);
                at = token.range.end;
            }
            DollarTokenKind::Escape => {
                builder.add_text(at..token.range.start, &mut lookup);
                builder.result.value.push(ValuePart::Text("$".into()));
                at = token.range.end;
            }
            // Literal text.
            DollarTokenKind::Unterminated | DollarTokenKind::Plain => {}
        }
    }
    builder.add_text(at..text.len(), &mut lookup);
    let mut result = builder.result;
    result.value = result.value.with_joined_text();
    result
}

/// The text with parameter references replaced by `x`, so that their dollar signs are not read as variable references.
fn mask_references(text: &str, references: &[ParameterReference]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for reference in references {
        masked.push_str(&text[at..reference.range.start]);
        masked.push_str(&"x".repeat(reference.range.len()));
        at = reference.range.end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// Builds the expansion of a text with parameters.
struct ParameterExpansion<'a> {
    text: &'a str,
    parameters: &'a Parameters,
    references: &'a [ParameterReference],
    copying: DollarCopying,
    result: Expansion,
}

impl ParameterExpansion<'_> {
    /// Adds a range without variable references; it may have parameter references.
    fn add_text(&mut self, range: std::ops::Range<usize>, lookup: &mut impl FnMut(&str) -> Lookup) {
        let mut at = range.start;
        let inside = |it: &&ParameterReference| range.start <= it.range.start && it.range.end <= range.end;
        for reference in self.references.iter().filter(inside) {
            self.result.value.push(ValuePart::Text(self.text[at..reference.range.start].into()));
            at = reference.range.end;
            let name = &self.text[reference.name.clone()];
            match self.parameters.get(name) {
                Some(ParameterDefault::Value(value)) if value.contains('$') => {
                    let expansion = expand(value, self.copying, &mut *lookup);
                    self.result.value.append(&expansion.value);
                    let steps = expansion.steps.into_iter();
                    self.result.steps.extend(steps.map(|it| ExpansionStep { range: reference.range.clone(), ..it }));
                }
                Some(ParameterDefault::Value(value)) => self.result.value.push(ValuePart::Text(Arc::clone(value))),
                Some(open) => self.result.value.push(ValuePart::Unknown(unknown_reason(name, open))),
                None => {}
            }
        }
        self.result.value.push(ValuePart::Text(self.text[at..range.end].into()));
    }
}
