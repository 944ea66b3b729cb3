//! The parameters of a template as its objects see them, and their substitution in a text.
//!
//! Parameters have no positions, so they change only when a name, a value or a type is edited.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::k8s::template::{Dialect, Parameter};
use crate::syntax::{ReferenceForm, parameter_placeholder, parameter_references};

/// The parameters of a template, by name, and what else its objects get from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The dialect of the template.
    pub dialect: Dialect,
    by_name: BTreeMap<Arc<str>, DeclaredParameter>,
    /// `labels`, which every object gets. An empty list is not the same as none (T6.6).
    pub labels: Option<Vec<(Arc<str>, Arc<str>)>>,
}

/// A parameter as objects see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredParameter {
    /// The value.
    pub value: ParameterValue,
    /// Its type, if the dialect has types.
    pub type_: Option<ParameterType>,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterValue {
    /// The `value` in the template.
    Default(Arc<str>),
    /// A value given for the template.
    Given {
        /// The value.
        value: Arc<str>,
        /// The file with the value; `None` if it was given on the command line.
        file: Option<Arc<str>>,
    },
    /// A generated value. It is not known.
    Generated {
        /// The expression; empty if there is none.
        from: Arc<str>,
    },
    /// No value. It is not known, because it can be set.
    Unset,
}

impl ParameterValue {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&Arc<str>> {
        match self {
            Self::Default(value) | Self::Given { value, .. } => Some(value),
            Self::Generated { .. } | Self::Unset => None,
        }
    }
}

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
    /// All types.
    pub const ALL: [Self; 4] = [Self::String, Self::Int, Self::Bool, Self::Base64];

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The name, as it is written in `type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Bool => "bool",
            Self::Base64 => "base64",
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

/// An object's membership in a template.
#[derive(Clone, Debug)]
pub struct TemplateMember {
    /// The parameters of the template.
    pub parameters: Arc<Parameters>,
    /// Whether it is an item of a List in the template. Such an item keeps its namespace and gets no labels.
    pub is_list_item: bool,
}

impl Parameters {
    pub(super) fn new(dialect: Dialect, parameters: &[Parameter], labels: Option<Vec<(Arc<str>, Arc<str>)>>) -> Self {
        let mut by_name = BTreeMap::new();
        // The last parameter of a name wins.
        for parameter in parameters {
            let Some(name) = &parameter.name else { continue };
            let generated = !Parameter::text(&parameter.generate).is_empty();
            let value = match &parameter.value {
                // A required parameter must be set to something else than an empty text (T2.6).
                Some(value) if !value.value.is_empty() || !generated && !parameter.required => {
                    ParameterValue::Default(Arc::clone(&value.value))
                }
                _ if generated => ParameterValue::Generated { from: Parameter::text(&parameter.from).into() },
                _ => ParameterValue::Unset,
            };
            let type_ = parameter.type_.as_ref().filter(|_| dialect.is_proposal());
            let type_ = type_.and_then(|it| ParameterType::from_name(&it.value));
            by_name.insert(Arc::clone(&name.value), DeclaredParameter { value, type_ });
        }
        Self { dialect, by_name, labels }
    }

    /// The same parameters with other values. A name without a declaration is added.
    pub fn with_values(&self, values: impl IntoIterator<Item = (Arc<str>, ParameterValue)>) -> Self {
        let mut new = self.clone();
        for (name, value) in values {
            let type_ = new.by_name.get(&name).and_then(|it| it.type_);
            new.by_name.insert(name, DeclaredParameter { value, type_ });
        }
        new
    }

    /// A parameter.
    pub fn get(&self, name: &str) -> Option<&DeclaredParameter> {
        self.by_name.get(name)
    }

    /// The parameters, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &DeclaredParameter)> {
        self.by_name.iter()
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_name.keys()
    }

    /// Whether a parameter of this name is declared.
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The text that replaces a reference: the value, or a placeholder if it is not known.
    pub fn inserted_text(&self, name: &str) -> Option<Arc<str>> {
        let parameter = self.by_name.get(name)?;
        Some(match &parameter.value {
            ParameterValue::Default(value) | ParameterValue::Given { value, .. } => Arc::clone(value),
            ParameterValue::Generated { .. } => parameter_placeholder(name, true).into(),
            ParameterValue::Unset => parameter_placeholder(name, false).into(),
        })
    }

    /// The parameter of a text that is exactly one reference, in a form that may give a value other than a string
    /// (`${{P}}`, and `$(P)` in the proposal).
    pub fn whole_reference<'t>(&self, text: &'t str) -> Option<(ReferenceForm, &'t str)> {
        let proposed = self.dialect.is_proposal();
        let is_candidate = text.starts_with("${{") || proposed && text.starts_with("$(");
        let found = is_candidate.then(|| parameter_references(text, proposed).into_iter().next()).flatten()?;
        let is_whole = found.range == (0..text.len()) && found.form != ReferenceForm::Text;
        let name = &text[found.name];
        (is_whole && self.contains(name)).then_some((found.form, name))
    }

    /// Replaces the references inside a text (T3.1 to T3.14); `None` if it has none. `${{P}}` is not replaced.
    ///
    /// As in `oc process`, each reference is replaced at the first occurrence of its text in the result so far. That is
    /// the reference itself, unless an inserted value contains the same text.
    pub fn substitute(&self, text: &str) -> Option<SubstitutedText> {
        if !text.contains('$') {
            return None;
        }
        let mut references = parameter_references(text, self.dialect.is_proposal());
        references.retain(|it| it.form != ReferenceForm::Raw && self.contains(&text[it.name.clone()]));
        let mut result = SubstitutedText { inserted_reference: false, pieces: Vec::new() };
        let mut at = 0;
        for (index, reference) in references.iter().enumerate() {
            result.push_text(text, at..reference.range.start);
            let written = &text[reference.range.clone()];
            if result.text().contains(written) {
                result.push_text(text, reference.range.start..text.len());
                result.inserted_reference = true;
                for reference in &references[index..] {
                    self.replace_first(&mut result, &text[reference.range.clone()], &text[reference.name.clone()]);
                }
                return Some(result);
            }
            let name = &text[reference.name.clone()];
            let value = self.inserted_text(name)?;
            result.pieces.push(TextPiece {
                text: value,
                written: reference.range.clone(),
                parameter: Some(name.into()),
            });
            at = reference.range.end;
        }
        if references.is_empty() {
            return None;
        }
        result.push_text(text, at..text.len());
        Some(result)
    }

    fn replace_first(&self, result: &mut SubstitutedText, written: &str, name: &str) {
        let (Some(start), Some(value)) = (result.text().find(written), self.inserted_text(name)) else { return };
        let end = start + written.len();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut replaced: Option<Range<usize>> = None;
        let mut at = 0;
        for piece in std::mem::take(&mut result.pieces) {
            let len = piece.text.len();
            let (first, last) = (start.clamp(at, at + len) - at, end.clamp(at, at + len) - at);
            at += len;
            if first > 0 {
                before.push(piece.part(0..first));
            }
            if first < last {
                let inside = piece.part(first..last).written;
                replaced =
                    Some(replaced.map_or(inside.clone(), |it| it.start.min(inside.start)..it.end.max(inside.end)));
            }
            if last < len {
                after.push(piece.part(last..len));
            }
        }
        let written = replaced.unwrap_or_default();
        before.push(TextPiece { text: value, written, parameter: Some(name.into()) });
        before.append(&mut after);
        result.pieces = before;
    }

    /// Whether processing keeps a `metadata.namespace` with this text (T5.1): it refers to a parameter.
    pub fn keeps_namespace(&self, text: &str) -> bool {
        parameter_references(text, self.dialect.is_proposal()).iter().any(|it| match it.form {
            ReferenceForm::Text => true,
            ReferenceForm::Proposed => self.contains(&text[it.name.clone()]),
            ReferenceForm::Raw => false,
        })
    }

    /// The text of the value that a scalar becomes, whatever its type. With placeholders for unknown values.
    pub fn substituted_text(&self, text: &Arc<str>) -> Arc<str> {
        let whole = self.whole_reference(text).and_then(|(_, name)| self.inserted_text(name));
        whole.or_else(|| Some(self.substitute(text)?.text().into())).unwrap_or_else(|| Arc::clone(text))
    }

    /// The string that a scalar becomes: with placeholders for unknown values. `None` if it becomes another type.
    pub fn substituted_string(&self, text: &Arc<str>) -> Option<Arc<str>> {
        if let Some((form, name)) = self.whole_reference(text) {
            let value = self.inserted_text(name)?;
            let is_known = self.get(name).is_some_and(|it| it.value.known().is_some());
            return match serde_json::from_str(&value) {
                Ok(serde_json::Value::String(value)) if form == ReferenceForm::Raw => Some(value.into()),
                Ok(_) if form == ReferenceForm::Raw && is_known => None,
                _ => Some(value),
            };
        }
        Some(self.substitute(text).map_or_else(|| Arc::clone(text), |it| it.text().into()))
    }
}

/// A text after substitution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubstitutedText {
    /// The pieces, in order.
    pub pieces: Vec<TextPiece>,
    /// Whether an inserted value contains a reference, which was replaced instead of a later one.
    pub inserted_reference: bool,
}

/// A piece of a text after substitution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece {
    /// Its text.
    pub text: Arc<str>,
    /// The range in the written text: the same text, or the reference it replaces.
    pub written: Range<usize>,
    /// The parameter whose value it is.
    pub parameter: Option<Arc<str>>,
}

impl TextPiece {
    /// A part of the piece. A part of an inserted value has the reference as its written text.
    fn part(&self, range: Range<usize>) -> Self {
        let written = match self.parameter {
            Some(_) => self.written.clone(),
            None => self.written.start + range.start..self.written.start + range.end,
        };
        Self { text: self.text[range].into(), written, parameter: self.parameter.clone() }
    }
}

impl SubstitutedText {
    /// The whole text.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|it| &*it.text).collect()
    }

    fn push_text(&mut self, text: &str, written: Range<usize>) {
        if !written.is_empty() {
            self.pieces.push(TextPiece { text: text[written.clone()].into(), written, parameter: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::ObjectSpan;
    use crate::k8s::model::Text;
    use crate::syntax::{ScalarStyle, show_placeholders};

    fn nowhere(value: &str) -> Text {
        Text { value: value.into(), span: ObjectSpan::default(), style: ScalarStyle::Plain, is_string: true }
    }

    fn parameters(dialect: Dialect, list: &[(&str, Option<&str>, bool)]) -> Parameters {
        let parameter = |(name, value, generated): &(&str, Option<&str>, bool)| Parameter {
            name: Some(nowhere(name)),
            value: value.map(nowhere),
            generate: generated.then(|| nowhere("expression")),
            ..Parameter::default()
        };
        Parameters::new(dialect, &list.iter().map(parameter).collect::<Vec<_>>(), None)
    }

    #[test]
    fn references_are_replaced() {
        let list = [("A", Some("1"), false), ("G", None, true), ("U", None, false), ("E", Some(""), false)];
        let it = parameters(Dialect::OpenShift, &list);
        let string = |it: &Parameters, text: &str| it.substituted_string(&text.into()).map(|it| it.to_string());
        assert_eq!(string(&it, "x-${A}${E}-${NOPE}-$(A)").as_deref(), Some("x-1-${NOPE}-$(A)"));
        assert_eq!(string(&it, "a${{A}}").as_deref(), Some("a${{A}}"));
        assert_eq!(string(&it, "${{A}}"), None, "a number");
        assert_eq!(string(&it, "${A}").as_deref(), Some("1"));
        assert_eq!(
            string(&it, "${G}/${U}").map(|it| show_placeholders(&it).into_owned()).as_deref(),
            Some("${G}/${U}")
        );
        let it = parameters(Dialect::Proposal, &list);
        assert_eq!(string(&it, "$(A)$(NOPE)").as_deref(), Some("1$(NOPE)"));
    }

    #[test]
    fn pieces_know_where_they_are_written() {
        let list = [("A", Some("a"), false), ("B", Some("<${A}>"), false), ("PAIR", Some("{A}"), false)];
        let it = parameters(Dialect::OpenShift, &list);
        for (text, expected) in [
            ("x${A}y", "x@0..1 a@1..5 y@5..6"),
            ("${B}-${A}.", "<@0..4 a@0..4 >@0..4 -@4..5 ${A}.@5..10"),
            ("$${PAIR}|${A}", "a@0..8 |@8..9 ${A}@9..13"),
        ] {
            let found = it.substitute(text).expect("references");
            let shown: Vec<String> =
                found.pieces.iter().map(|it| format!("{}@{}..{}", it.text, it.written.start, it.written.end)).collect();
            assert_eq!(shown.join(" "), expected, "{text}");
        }
    }
}
