//! The rule `string-substitution`.

use crate::build::{GeneratorPart, RangeEnds, parse_generator};
use crate::k8s::{FieldType, ParameterType, ParameterValue, ScalarType};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::parameter_texts::{ParameterText, default, write_reference};
use crate::syntax::{ParameterReference, ReferenceForm};

declare_rule! {
    /// Reports `${P}` in a field that expects a number or a boolean, and `${{P}}` in one that expects a string.
    ///
    /// ## What it does
    /// Knows which fields of the common kinds of Kubernetes and OpenShift are numbers, booleans or strings, such as
    /// `replicas`, `paused` and the value of a variable. Reports `${P}` of a declared parameter where a number or a
    /// boolean is expected; in templates of `apiVersion: v1` also `$(P)`, unless the `type` of the parameter fits the
    /// field. The help suggests a `type` only with `proposals: true`, because no release reads it. Reports `${{P}}` where a string is expected and the value of the parameter is a number, a boolean, a list
    /// or a mapping, or is generated from digits only. Ports and sizes that may be strings or numbers are not reported. The finding covers the reference.
    ///
    /// ## Why it matters
    /// `${P}` always gives a string, with or without quotes around it, and the API server rejects `replicas: "3"`.
    /// `${{P}}` gives what the value is in JSON, and the API server rejects `value: 3` for a variable.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: apps/v1
    ///     kind: Deployment
    ///     metadata: {name: web}
    ///     spec:
    ///       replicas: ${REPLICAS}
    /// parameters:
    ///   - {name: REPLICAS, value: "3"}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: apps/v1
    ///     kind: Deployment
    ///     metadata: {name: web}
    ///     spec:
    ///       replicas: ${{REPLICAS}}
    /// parameters:
    ///   - {name: REPLICAS, value: "3"}
    /// ```
    ///
    /// ## Fix
    /// Writes `${{P}}` where the reference is the whole value. Safe if the value of the parameter is a number or a
    /// boolean, as the field expects. With `proposals: true` another fix gives the parameter a type; it is unsafe,
    /// because the type applies to every `$(P)`. In a field that expects a string it writes `${P}`; that is safe.
    name: "string-substitution",
    level: Error,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    if object.object.source.template.is_none() {
        return;
    }
    let mut field = None;
    for place in object.parameter_texts().iter().filter(|it| !it.is_key) {
        let references = place.references();
        if references.is_empty() {
            continue;
        }
        let field = field.get_or_insert_with(|| object_type(object));
        let Some(wanted) = field.scalar_at(place.path) else { continue };
        let mut given = references.iter().filter_map(|it| Some((it, given_type(place, it, wanted)?)));
        if let Some((reference, given)) = given.find(|(_, given)| !given.fits(wanted)) {
            findings.push(Mismatch { object, place, reference, wanted, given }.finding());
        }
    }
}

fn object_type(object: &ObjectContext<'_>) -> FieldType {
    let text = |it: &'_ Option<crate::k8s::Text>| it.as_ref().map_or_else(|| "".into(), |it| it.value.clone());
    FieldType::of_kind(&text(&object.object.model.api_version), &text(&object.object.model.kind))
}

/// What a reference gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenType {
    Scalar(ScalarType),
    /// A random text of digits: a number, unless it starts with a zero.
    Digits,
    List,
    Mapping,
}

impl GivenType {
    fn fits(self, wanted: ScalarType) -> bool {
        self == Self::Scalar(wanted) || self == Self::Scalar(ScalarType::Int) && wanted == ScalarType::Number
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Scalar(ScalarType::Int) => "gives a number",
            Self::Digits => "can give a number",
            Self::Scalar(ScalarType::Bool) => "gives a boolean",
            Self::Scalar(ScalarType::Number) => "gives a number",
            Self::Scalar(ScalarType::String) => "gives a string",
            Self::List => "gives a list",
            Self::Mapping => "gives a mapping",
        }
    }
}

/// What a reference to a declared parameter gives in a field; `None` if it is not known.
fn given_type(place: &ParameterText<'_>, reference: &ParameterReference, wanted: ScalarType) -> Option<GivenType> {
    let parameter = place.parameters.get(place.name(reference))?;
    let is_whole = reference.range == (0..place.text.value.len());
    let wants_string = wanted == ScalarType::String;
    let scalar = match (reference.form, parameter.type_) {
        // The author has chosen the form for a number; whether the value is one is known when the template is used.
        (ReferenceForm::Raw, _) if !wants_string || !is_whole => return None,
        (ReferenceForm::Raw, _) => {
            return match &parameter.value {
                ParameterValue::Generated { from } => is_digits(from).then_some(GivenType::Digits),
                value => decoded_type(value.known()?),
            };
        }
        (ReferenceForm::Proposed, Some(ParameterType::Int)) if is_whole && !wants_string => ScalarType::Int,
        (ReferenceForm::Proposed, Some(ParameterType::Bool)) if is_whole && !wants_string => ScalarType::Bool,
        (ReferenceForm::Text | ReferenceForm::Proposed, _) => ScalarType::String,
    };
    Some(GivenType::Scalar(scalar))
}

/// Whether an expression generates only digits.
fn is_digits(from: &str) -> bool {
    let Ok(parts) = parse_generator(from, RangeEnds::Exclusive) else { return false };
    let text = |part: &GeneratorPart| match part {
        GeneratorPart::Text(text) => text.bytes().all(|it| it.is_ascii_digit()),
        GeneratorPart::Random(random) => random.alphabet.bytes().all(|it| it.is_ascii_digit()),
    };
    !parts.is_empty() && parts.iter().all(text)
}

/// The type of a value in JSON. Text that is not JSON is a string, and `null` removes the field.
fn decoded_type(value: &str) -> Option<GivenType> {
    use serde_json::Value;
    Some(match serde_json::from_str(value) {
        Err(_) | Ok(Value::String(_)) => GivenType::Scalar(ScalarType::String),
        Ok(Value::Number(_)) => GivenType::Scalar(ScalarType::Number),
        Ok(Value::Bool(_)) => GivenType::Scalar(ScalarType::Bool),
        Ok(Value::Array(_)) => GivenType::List,
        Ok(Value::Object(_)) => GivenType::Mapping,
        Ok(Value::Null) => return None,
    })
}

/// A reference that gives another type than its field expects.
struct Mismatch<'m, 'a> {
    object: &'m ObjectContext<'a>,
    place: &'m ParameterText<'a>,
    reference: &'m ParameterReference,
    wanted: ScalarType,
    given: GivenType,
}

impl Mismatch<'_, '_> {
    fn finding(&self) -> Finding {
        let Self { object, place, reference, wanted, given } = self;
        let (name, written) = (place.name(reference), place.written(reference));
        let field = place.path.rsplit('.').next().unwrap_or(place.path);
        let message = format!("`{field}` must be {}, but `{written}` {}", wanted.in_words(), given.in_words());
        let finding = Finding::new(object.inside(place.text, reference.range.clone()), name, message);
        if *wanted == ScalarType::String {
            return self.rewritten(finding, ReferenceForm::Text, true);
        }
        if reference.range != (0..place.text.value.len()) {
            return finding.help("use one parameter for the whole value, written with two braces");
        }
        if *given != GivenType::Scalar(ScalarType::String) {
            let finding = if self.has_types() {
                finding.help(format!("use a parameter of the type `{}`", self.type_name().unwrap_or("string")))
            } else {
                finding.help(format!("use a parameter whose value is {}", wanted.in_words()))
            };
            return finding;
        }
        let fits = default(place.parameters, name).is_none_or(|it| wanted.fits(it));
        let finding = self.rewritten(finding, ReferenceForm::Raw, fits);
        let Some(type_) = self.type_name().filter(|_| self.has_types()) else { return finding };
        let raw = write_reference(name, ReferenceForm::Raw);
        let typed = object.set_parameter_type_fix(name, type_);
        if reference.form == ReferenceForm::Proposed {
            return finding.help(format!("write `{raw}`, or give `{name}` the `type: {type_}`")).fix(typed);
        }
        // The type counts only in `$(P)`.
        let proposed = write_reference(name, ReferenceForm::Proposed);
        let title = format!("Write `{proposed}`, and give `{name}` the type `{type_}`");
        let rewrite = object.rewrite_fix(place.text, reference.range.clone(), &proposed, title, false);
        let both = rewrite.zip(typed).map(|(mut rewrite, typed)| {
            rewrite.edits.extend(typed.edits);
            rewrite
        });
        finding.help(format!("write `{raw}`, or `{proposed}` and give `{name}` the `type: {type_}`")).choice(both)
    }

    /// Whether the target reads the `type` of parameters: no release does.
    fn has_types(&self) -> bool {
        let file = self.object.file;
        self.place.parameters.dialect.is_proposal() && file.snapshot.settings(file.path).proposals
    }

    /// The finding with the fix that writes the reference in another form.
    fn rewritten(&self, finding: Finding, form: ReferenceForm, safe: bool) -> Finding {
        let new = write_reference(self.place.name(self.reference), form);
        let range = self.reference.range.clone();
        let fix = self.object.rewrite_fix(self.place.text, range, &new, format!("Write `{new}`"), safe);
        finding.help(format!("write `{new}`")).fix(fix)
    }

    /// The type of a parameter that the field needs.
    fn type_name(&self) -> Option<&'static str> {
        match self.wanted {
            ScalarType::Int | ScalarType::Number => Some("int"),
            ScalarType::Bool => Some("bool"),
            ScalarType::String => None,
        }
    }
}
