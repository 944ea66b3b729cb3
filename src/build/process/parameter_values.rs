//! The values of parameters: given, generated, checked (T8.1 to T10.7).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::build::process::generator::{GeneratorPart, find_literal_pattern, generate_value, parse_generator};
use crate::build::process::quirks::{Notices, Quirk};
use crate::build::process::{ProcessError, ProcessOptions, RandomBelow};
use crate::k8s::{Parameter, ParameterType, Template};

/// The values of all parameters, in the order of the list. All errors are added to `errors`.
pub(super) fn values(
    template: &Template,
    options: &ProcessOptions,
    random_below: RandomBelow<'_>,
    notices: &mut Notices,
    errors: &mut Vec<ProcessError>,
) -> Vec<Arc<str>> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (at, parameter) in template.parameters.iter().enumerate() {
        let name = Parameter::text(&parameter.name);
        if names.contains_key(name) && options.values.contains_key(name) {
            // The given value is set on the first declaration, but the last one is used.
            notices.add(Quirk::LostOverride, name);
        }
        names.entry(name).or_insert(at);
    }
    errors.extend(unknown_names(template, options));
    let mut final_values = Vec::with_capacity(template.parameters.len());
    for (at, parameter) in template.parameters.iter().enumerate() {
        let name = Parameter::text(&parameter.name);
        for misfit in &parameter.mistyped_fields {
            let field = if misfit.field.is_empty() { "it".to_owned() } else { format!("`{}`", misfit.field) };
            let message = format!("parameter {}: {field} must be {}", label(name, at), misfit.wanted);
            errors.push(ProcessError { message, parameter: Some(name.into()), span: Some(misfit.span.to_relative()) });
        }
        let is_first = names.get(name) == Some(&at);
        let value = value(parameter, is_first, at, options, random_below, notices, errors);
        check_type(template, parameter, &value, errors);
        final_values.push(value);
    }
    final_values
}

/// The name in backticks; without a name the number of the parameter.
fn label(name: &str, at: usize) -> String {
    if name.is_empty() { format!("{} without a name", at + 1) } else { format!("`{name}`") }
}

/// Errors for values and expressions of parameters that the template does not have.
pub(super) fn unknown_names(template: &Template, options: &ProcessOptions) -> Vec<ProcessError> {
    let names: HashSet<&str> = template.parameters.iter().map(|it| Parameter::text(&it.name)).collect();
    let mut given: Vec<&String> = options.values.keys().filter(|_| !options.ignore_unknown).collect();
    given.extend(options.expressions.keys());
    given.sort();
    given.dedup();
    let unknown = given.into_iter().filter(|it| !names.contains(it.as_str()));
    let error = |name: &String| {
        let near = names.iter().map(|it| (strsim::osa_distance(it, name), *it)).min();
        let near = near.filter(|(distance, it)| *distance <= it.len().min(name.len()) / 3);
        let help = near.map_or(String::new(), |(_, it)| format!("; did you mean `{it}`?"));
        let message = format!("the template has no parameter `{name}`{help}");
        ProcessError { message, parameter: Some(name.clone()), span: None }
    };
    unknown.map(error).collect()
}

fn value(
    parameter: &Parameter,
    is_first: bool,
    at: usize,
    options: &ProcessOptions,
    random_below: RandomBelow<'_>,
    notices: &mut Notices,
    errors: &mut Vec<ProcessError>,
) -> Arc<str> {
    let name = Parameter::text(&parameter.name);
    let span = parameter.name.as_ref().map(|it| it.span.to_relative());
    let error = |message: String| ProcessError { message, parameter: Some(name.into()), span };
    let given = options.values.get(name).filter(|_| is_first);
    let expression = options.expressions.get(name).filter(|_| given.is_none());
    let written =
        parameter.value.as_ref().filter(|it| it.is_string).map_or_else(|| "".into(), |it| Arc::clone(&it.value));
    let generator = Parameter::text(&parameter.generate);
    let value: Arc<str> = match (given, expression) {
        // A given value, even an empty one, disables the generator.
        (Some(given), _) => given.as_str().into(),
        (None, Some(_)) if generator.is_empty() => {
            errors.push(error(format!(
                "parameter `{name}` has no generator, so an expression has no effect; give it a value"
            )));
            return written;
        }
        (None, None) if !written.is_empty() => written,
        (None, _) if generator.is_empty() => written,
        (None, _) if generator != "expression" => {
            let message =
                format!("parameter `{name}`: unknown generator `{generator}`; the only generator is `expression`");
            errors.push(error(message));
            return written;
        }
        (None, _) => {
            let from = expression.map_or(Parameter::text(&parameter.from), String::as_str);
            match parse_generator(from, options.ends) {
                Ok(parts) => {
                    add_notices(name, from, &parts, notices);
                    generate_value(&parts, random_below).into()
                }
                Err(invalid) => {
                    errors.push(error(format!("parameter `{name}` cannot be generated: {}", invalid.problem)));
                    return written;
                }
            }
        }
    };
    if value.is_empty() && parameter.required {
        let reason = if given.is_some() { "its value is empty" } else { "has no value" };
        errors.push(error(format!("parameter {} is required and {reason}", label(name, at))));
    }
    value
}

/// Adds notices for expressions that generate other characters than they seem to.
fn add_notices(name: &str, from: &str, parts: &[GeneratorPart], notices: &mut Notices) {
    for part in parts {
        let GeneratorPart::Random(random) = part else { continue };
        if !random.is_plain {
            notices.add(Quirk::Misread, name);
        } else if !random.excluded_ends.is_empty() {
            let never: Vec<String> = random.excluded_ends.chars().map(|it| format!("`{it}`")).collect();
            notices.add(Quirk::ExclusiveEnd, &format!("{name} (never {})", never.join(", ")));
        }
        if from[random.range.clone()].contains("\\a") && random.is_plain {
            notices.add(Quirk::LettersHaveDigits, name);
        }
    }
    if find_literal_pattern(from).is_some() {
        notices.add(Quirk::LiteralPattern, name);
    }
}

fn check_type(template: &Template, parameter: &Parameter, value: &str, errors: &mut Vec<ProcessError>) {
    let written = parameter.type_.as_ref().filter(|it| template.dialect.is_proposal() && !it.value.is_empty());
    let Some(written) = written else { return };
    let name = Parameter::text(&parameter.name);
    let span = Some(written.span.to_relative());
    let mut error = |message: String| errors.push(ProcessError { message, parameter: Some(name.into()), span });
    let Some(type_) = ParameterType::from_name(&written.value) else {
        error(format!("parameter `{name}`: `{}` is not a type; use string, int, bool or base64", written.value));
        return;
    };
    // A parameter that is not required may have no value.
    if !value.is_empty() && !type_.accepts(value) {
        error(format!("parameter `{name}` has type {}, but its value is not {}", written.value, type_.description()));
    }
}

/// Texts by name, for [`ProcessOptions`]: values, expressions or labels.
pub type ParameterValues = BTreeMap<String, String>;
