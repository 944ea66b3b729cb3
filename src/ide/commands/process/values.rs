//! The values of parameters: given, generated, checked (T8.1 to T10.7).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::ide::commands::process::{Notices, ProcessError, ProcessOptions, Quirk, RandomBelow};
use crate::k8s::{Parameter, Template};
use crate::resolve::ParameterType as Type;
use crate::resolve::{GeneratorPart, find_literal_brackets, generate_value, parse_generator};

/// A parameter with the value it is processed with.
#[derive(Clone, Debug)]
pub(super) struct FinalValue {
    /// What takes the place of its references.
    pub(super) value: Arc<str>,
    /// What it is, if the dialect has types.
    pub(super) type_: Option<Type>,
}

/// The values of all parameters, or everything that is wrong with them. `drawn` gets the value of each in the order of
/// the list.
pub(super) fn values(
    template: &Template,
    request: &ProcessOptions,
    draw: RandomBelow<'_>,
    notices: &mut Notices,
    problems: &mut Vec<ProcessError>,
) -> (HashMap<Arc<str>, FinalValue>, Vec<Arc<str>>) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (at, parameter) in template.parameters.iter().enumerate() {
        let name = Parameter::text(&parameter.name);
        if names.contains_key(name) && request.values.contains_key(name) {
            // What is given goes to the first, and the last one counts.
            notices.add(Quirk::LostOverride, name);
        }
        names.entry(name).or_insert(at);
    }
    unknown(&names, request, problems);
    let mut all = HashMap::with_capacity(names.len());
    let mut drawn = Vec::with_capacity(template.parameters.len());
    for (at, parameter) in template.parameters.iter().enumerate() {
        let name = Parameter::text(&parameter.name);
        for misfit in &parameter.mistyped_fields {
            let what = if misfit.field.is_empty() { "it".to_owned() } else { format!("`{}`", misfit.field) };
            let message = format!("parameter {}: {what} has to be {}", shown(name, at), misfit.wanted);
            problems.push(ProcessError { message, parameter: Some(name.into()), span: Some(misfit.span) });
        }
        let is_first = names.get(name) == Some(&at);
        let value = value(parameter, is_first, at, request, draw, notices, problems);
        drawn.push(Arc::clone(&value));
        let type_ = checked_type(template, parameter, &value, problems);
        all.insert(name.into(), FinalValue { value, type_ });
    }
    (all, drawn)
}

fn shown(name: &str, at: usize) -> String {
    if name.is_empty() { format!("{} without a name", at + 1) } else { name.to_owned() }
}

fn unknown(names: &HashMap<&str, usize>, request: &ProcessOptions, problems: &mut Vec<ProcessError>) {
    let mut given: Vec<&String> = request.values.keys().filter(|_| !request.ignore_unknown).collect();
    given.extend(request.expressions.keys());
    given.sort();
    given.dedup();
    for name in given.into_iter().filter(|it| !names.contains_key(it.as_str())) {
        let near = names.keys().map(|it| (strsim::osa_distance(it, name), *it)).min();
        let near = near.filter(|(distance, it)| *distance <= it.len().min(name.len()) / 3);
        let help = near.map_or(String::new(), |(_, it)| format!("; did you mean {it}?"));
        let message = format!("the template has no parameter {name}{help}");
        problems.push(ProcessError { message, parameter: Some(name.clone()), span: None });
    }
}

fn value(
    parameter: &Parameter,
    is_first: bool,
    at: usize,
    request: &ProcessOptions,
    draw: RandomBelow<'_>,
    notices: &mut Notices,
    problems: &mut Vec<ProcessError>,
) -> Arc<str> {
    let name = Parameter::text(&parameter.name);
    let place = parameter.name.as_ref().map(|it| it.span);
    let problem = |message: String| ProcessError { message, parameter: Some(name.into()), span: place };
    let given = request.values.get(name).filter(|_| is_first);
    let expression = request.expressions.get(name).filter(|_| given.is_none());
    let written =
        parameter.value.as_ref().filter(|it| it.is_string).map_or_else(|| "".into(), |it| Arc::clone(&it.value));
    let generator = Parameter::text(&parameter.generate);
    let value: Arc<str> = match (given, expression) {
        // A value that is given takes the generator away, also an empty one.
        (Some(given), _) => given.as_str().into(),
        (None, Some(_)) if generator.is_empty() => {
            problems.push(problem(format!(
                "parameter {name} has no generator that could take an expression; give it a value"
            )));
            return written;
        }
        (None, None) if !written.is_empty() => written,
        (None, _) if generator.is_empty() => written,
        (None, _) if generator != "expression" => {
            let message = format!("parameter {name}: there is no generator `{generator}`, only `expression`");
            problems.push(problem(message));
            return written;
        }
        (None, _) => {
            let from = expression.map_or(Parameter::text(&parameter.from), String::as_str);
            match parse_generator(from, request.ends) {
                Ok(parts) => {
                    tell(name, from, &parts, notices);
                    generate_value(&parts, draw).into()
                }
                Err(error) => {
                    problems.push(problem(format!("parameter {name} cannot be generated: {}", error.why)));
                    return written;
                }
            }
        }
    };
    if value.is_empty() && parameter.required {
        let reason = if given.is_some() { "an empty value is none" } else { "it has no value" };
        problems.push(problem(format!("parameter {} is required, and {reason}", shown(name, at))));
    }
    value
}

/// What is not drawn as it looks.
fn tell(name: &str, from: &str, parts: &[GeneratorPart], notices: &mut Notices) {
    for part in parts {
        let GeneratorPart::Random(random) = part else { continue };
        if !random.plain {
            notices.add(Quirk::Misread, name);
        } else if !random.left_out.is_empty() {
            let never: Vec<String> = random.left_out.chars().map(|it| format!("`{it}`")).collect();
            notices.add(Quirk::ExclusiveEnd, &format!("{name} (never {})", never.join(", ")));
        }
        if from[random.range.clone()].contains("\\a") && random.plain {
            notices.add(Quirk::LettersHaveDigits, name);
        }
    }
    if find_literal_brackets(from).is_some() {
        notices.add(Quirk::TextInBrackets, name);
    }
}

fn checked_type(
    template: &Template,
    parameter: &Parameter,
    value: &str,
    problems: &mut Vec<ProcessError>,
) -> Option<Type> {
    let written = parameter.type_.as_ref().filter(|it| template.dialect.is_proposal() && !it.value.is_empty())?;
    let name = Parameter::text(&parameter.name);
    let mut problem = |message: String| {
        problems.push(ProcessError { message, parameter: Some(name.into()), span: Some(written.span) });
    };
    let Some(type_) = Type::from_name(&written.value) else {
        problem(format!("parameter {name}: `{}` is no type; there are string, int, bool and base64", written.value));
        return None;
    };
    // A parameter that is not required may have no value.
    if !value.is_empty() && !type_.accepts(value) {
        problem(format!("parameter {name} is of type {}, and its value is not {}", written.value, type_.description()));
    }
    Some(type_)
}

/// ParameterValues by name, for [`ProcessOptions`].
pub type ParameterValues = BTreeMap<String, String>;
