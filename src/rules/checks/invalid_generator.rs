//! The rule `invalid-generator`.

use crate::build::{GeneratorPart, RangeEnds, find_literal_pattern, parse_generator};
use crate::diagnostic::{Fix, Severity};
use crate::k8s::{Parameter, ParameterType, Text};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::rename_fix::rename_fix;
use crate::syntax::{YamlValue, add_entry};

declare_rule! {
    /// Reports a generator that generates nothing, or a different text than it seems to.
    ///
    /// ## What it does
    /// Reads `from` as OpenShift does: `[…]{n}` with ranges such as `a-z`, or with the classes `\w`, `\d`, `\a` and
    /// `\A`, and a length from 1 to 255. Reports expressions that are rejected, an unknown `generate`, brackets that
    /// mix ranges, classes and single characters, and brackets that are plain text because they have no length or
    /// contain other characters. Other parts of regular expressions are plain text too, such as `(a|b)`, `a|b`, `.{4}`,
    /// `a+`, `u?`, and `^` and `$` around an expression: they are warnings. In templates of `apiVersion: v1` it also reports an expression that can generate a value
    /// which is not of the `type` of the parameter, such as letters for an `int`. A parameter with a value is not
    /// generated, so it is not checked. The finding covers the generator.
    ///
    /// ## Why it matters
    /// `from` looks like a regular expression, but is not one. `[a-zA-Z0-9_]{16}` is not random: the password is
    /// exactly this text.
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
    ///       password: ${PASSWORD}
    /// parameters:
    ///   - name: PASSWORD
    ///     generate: expression
    ///     from: "[a-zA-Z0-9_]{16}"
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
    ///       password: ${PASSWORD}
    /// parameters:
    ///   - name: PASSWORD
    ///     generate: expression
    ///     from: "[\\w]{16}"
    /// ```
    ///
    /// ## Fix
    /// Editors offer to write the generator `expression`, and to add an expression in `from`.
    name: "invalid-generator",
    level: Error,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = object.template() else { return };
    for parameter in &template.parameters {
        let Some(generate) = parameter.generate.as_ref().filter(|it| it.is_string && !it.value.is_empty()) else {
            continue;
        };
        if parameter.value.as_ref().is_some_and(|it| !it.value.is_empty()) {
            continue;
        }
        if &*generate.value != "expression" {
            let message = format!("there is no generator `{}`", generate.value);
            findings.push(
                Finding::new(object.at(generate.span), Parameter::text(&parameter.name), message)
                    .help("the only generator is `expression`")
                    .choice(rename_fix(object, generate, "expression")),
            );
            continue;
        }
        check_expression(object, parameter, findings);
    }
}

fn check_expression(object: &ObjectContext<'_>, parameter: &Parameter, findings: &mut Findings<'_>) {
    let Some(from) = parameter.from.as_ref().filter(|it| !it.value.is_empty()) else {
        if let Some(generate) = parameter.generate.as_ref().filter(|_| parameter.required) {
            let message = "nothing is generated without `from`, and the parameter is required";
            findings.push(
                Finding::new(object.at(generate.span), Parameter::text(&parameter.name), message)
                    .help("add `from`, such as `[a-zA-Z0-9]{16}`")
                    .choice(add_from_fix(object, parameter)),
            );
        }
        return;
    };
    let name = Parameter::text(&parameter.name);
    let parts = match parse_generator(&from.value, RangeEnds::Exclusive) {
        Ok(parts) => parts,
        Err(error) => {
            findings.push(Finding::new(
                object.inside(from, error.range),
                name,
                format!("this cannot be generated: {}", error.problem),
            ));
            return;
        }
    };
    let misread = parts.iter().find_map(|it| match it {
        GeneratorPart::Random(random) if !random.is_plain => Some(random),
        _ => None,
    });
    if let Some(random) = misread {
        let few: String = random.alphabet.chars().take(10).collect();
        let more = if random.alphabet.len() > 10 { "…" } else { "" };
        let message = format!("this does not mean what it seems: it generates characters from `{few}{more}`");
        let finding = Finding::new(object.inside(from, random.range.clone()), name, message);
        findings.push(finding.help("use only ranges, `[a-zA-Z0-9]`, or only classes, `[\\w]`"));
    } else if let Some(range) = find_literal_pattern(&from.value) {
        let written = &from.value[range.clone()];
        let message = match written {
            // Nothing random is expected of these.
            "^" | "$" | "+" | "*" | "?" => format!("`{written}` is plain text, and part of every value"),
            _ => format!("`{written}` is plain text, not random"),
        };
        let finding = Finding::new(object.inside(from, range), name, message)
            .help("a generator is `[…]{n}` with ranges such as `a-z`, or one of `\\w`, `\\d`, `\\a`, `\\A`");
        // Only brackets are never meant as they are.
        findings.push(if written.starts_with('[') { finding } else { finding.at_most(Severity::Warning) });
    } else {
        check_type(object, parameter, from, &parts, findings);
    }
}

/// Adds an expression that is often used.
fn add_from_fix(object: &ObjectContext<'_>, parameter: &Parameter) -> Option<Fix> {
    const FROM: &str = "[a-zA-Z0-9]{16}";
    let value = YamlValue::Quoted(FROM.to_owned());
    let change = object.change(parameter.span, |text, node| add_entry(text, node, "from", &value))?;
    let edits = vec![edit(object.file.at(change.span), change.text)];
    Some(Fix { title: format!("Add `from: {FROM}`"), safe: false, edits })
}

/// Reports an expression that can generate a value of another type than that of the parameter.
fn check_type(
    object: &ObjectContext<'_>,
    parameter: &Parameter,
    from: &Text,
    parts: &[GeneratorPart],
    findings: &mut Findings<'_>,
) {
    let is_proposal = object.template().is_some_and(|it| it.dialect.is_proposal());
    let Some(written) = parameter.type_.as_ref().filter(|_| is_proposal) else { return };
    let Some(type_) = ParameterType::from_name(&written.value) else { return };
    let Some(example) = extreme_values(parts).into_iter().find(|it| !type_.accepts(it)) else { return };
    let message = format!(
        "this can generate `{example}`, which is not {}, as the type `{}` requires",
        type_.description(),
        written.value
    );
    let finding = Finding::new(object.at(from.span), Parameter::text(&parameter.name), message);
    findings.push(finding.related(object.at(written.span), "the type"));
}

/// Values that an expression can generate: with other characters than digits where possible, and with the last ones.
fn extreme_values(parts: &[GeneratorPart]) -> [String; 2] {
    let value = |choose: fn(&str) -> Option<char>| {
        let text = |part: &GeneratorPart| match part {
            GeneratorPart::Text(text) => text.clone(),
            GeneratorPart::Random(random) => {
                choose(&random.alphabet).map(String::from).unwrap_or_default().repeat(random.length)
            }
        };
        parts.iter().map(text).collect()
    };
    let last = |alphabet: &str| alphabet.chars().next_back();
    [value(|alphabet| alphabet.chars().find(|it| !it.is_ascii_digit()).or(alphabet.chars().next())), value(last)]
}
