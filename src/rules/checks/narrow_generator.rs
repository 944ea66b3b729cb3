//! The rule `narrow-generator`.

use crate::build::{GeneratorPart, RandomCharacters, RangeEnds, parse_generator};
use crate::diagnostic::Fix;
use crate::k8s::Parameter;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};

declare_rule! {
    /// Reports a generator that loses many of its characters because the end of a range is excluded.
    ///
    /// ## What it does
    /// OpenShift excludes the last character of every range: `[0-9]` never gives 9, and `[0-1]{8}` is always
    /// `00000000`. Reports a generator if at least a tenth of its characters is excluded; in `[a-zA-Z0-9]` it is less.
    /// The finding covers the generator.
    ///
    /// ## Why it matters
    /// There are fewer possible values than it seems, and some expected ones never occur.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Secret
    ///     metadata: {name: web}
    ///     stringData:
    ///       pin: ${PIN}
    /// parameters:
    ///   - name: PIN
    ///     generate: expression
    ///     from: "[0-9]{4}"
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Secret
    ///     metadata: {name: web}
    ///     stringData:
    ///       pin: ${PIN}
    /// parameters:
    ///   - name: PIN
    ///     generate: expression
    ///     from: "[\\d]{4}"
    /// ```
    ///
    /// ## Fix
    /// For `[0-9]`, editors offer to write `[\d]`. Only the author knows whether the loss matters.
    name: "narrow-generator",
    level: Info,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = object.template() else { return };
    for parameter in &template.parameters {
        let is_generated = parameter.generate.as_ref().is_some_and(|it| &*it.value == "expression")
            && parameter.value.as_ref().is_none_or(|it| it.value.is_empty());
        let Some(from) = parameter.from.as_ref().filter(|_| is_generated) else { continue };
        let parts = parse_generator(&from.value, RangeEnds::Exclusive).unwrap_or_default();
        for random in parts.iter().filter_map(narrow_generator) {
            let never: Vec<String> = random.excluded_ends.chars().map(|it| format!("`{it}`")).collect();
            let message = match random.alphabet.len() {
                1 => format!(
                    "this always generates {:?}: the end of a range is excluded",
                    random.alphabet.repeat(random.length)
                ),
                _ => format!("{} is never generated: the end of a range is excluded", never.join(" or ")),
            };
            let finding =
                Finding::new(object.inside(from, random.range.clone()), Parameter::text(&parameter.name), message);
            let written = &from.value[random.range.clone()];
            findings.push(match written.strip_prefix("[0-9]") {
                Some(length) => {
                    let new = format!("[\\d]{length}");
                    let change = object.replace_edit(from, random.range.clone(), &new);
                    let title = format!("Write `{new}`");
                    let fix = change.map(|it| Fix { title, safe: false, edits: vec![it] });
                    finding.help(format!("write `{new}`, which has all digits")).choice(fix)
                }
                None => finding.help("end the range one character later"),
            });
        }
    }
}

/// The part, if it is a generator that excludes at least a tenth of its characters.
fn narrow_generator(part: &GeneratorPart) -> Option<&RandomCharacters> {
    match part {
        GeneratorPart::Random(random) if random.is_plain => {
            let all = random.alphabet.len() + random.excluded_ends.len();
            (random.excluded_ends.len() * 10 >= all).then_some(random)
        }
        _ => None,
    }
}
