//! Asks on the terminal for parameters without a value.

use std::io::{self, BufRead, Write};

use crate::build::{ParameterValues, ParameterView};
use crate::k8s::ParameterType as Type;
use crate::report::one_line;

/// Asks for each parameter that has no value yet. An empty answer takes the default. The question is repeated where a
/// value is required and there is no default. The end of the input ends the questions.
pub(super) fn ask(
    parameters: &[ParameterView],
    values: &mut ParameterValues,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<()> {
    for parameter in parameters {
        if parameter.name.is_empty() || values.contains_key(&parameter.name) {
            continue;
        }
        if let Some(description) = parameter.description.as_ref().filter(|it| !it.is_empty()) {
            writeln!(out, "{}", one_line(description))?;
        }
        let title = parameter.display_name.as_ref().filter(|it| !it.is_empty());
        let title = title.map_or(String::new(), |it| format!(" ({})", one_line(it)));
        let default = default(parameter);
        let hint = default.as_ref().map_or(String::new(), |it| format!(" [{}]", one_line(it)));
        loop {
            write!(out, "{}{title}{hint}: ", parameter.name)?;
            out.flush()?;
            let mut answer = String::new();
            if input.read_line(&mut answer)? == 0 {
                writeln!(out)?;
                return Ok(());
            }
            let answer = answer.trim_end_matches(['\r', '\n']);
            if answer.is_empty() && (default.is_some() || !parameter.required) {
                break;
            }
            if answer.is_empty() {
                writeln!(out, "  a value is required")?;
                continue;
            }
            let type_ = parameter.type_.as_deref().and_then(Type::from_name);
            if let Some(type_) = type_.filter(|it| !it.accepts(answer)) {
                writeln!(out, "  the value must be {}", type_.description())?;
                continue;
            }
            values.insert(parameter.name.clone(), answer.to_owned());
            break;
        }
    }
    Ok(())
}

/// The value of an empty answer.
fn default(parameter: &ParameterView) -> Option<String> {
    let set = |it: &Option<String>| it.clone().filter(|it| !it.is_empty());
    set(&parameter.value).or_else(|| {
        let from = set(&parameter.from)?;
        set(&parameter.generate).map(|_| format!("generated from {from}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str) -> ParameterView {
        ParameterView {
            name: name.into(),
            display_name: None,
            description: None,
            value: None,
            generate: None,
            from: None,
            required: false,
            type_: None,
        }
    }

    #[test]
    fn parameters_without_a_value_are_asked_for() {
        let parameters = [
            ParameterView { description: Some("Where it runs".into()), required: true, ..parameter("HOST") },
            ParameterView { value: Some("80".into()), type_: Some("int".into()), ..parameter("PORT") },
            ParameterView {
                generate: Some("expression".into()),
                from: Some("[a-z]{3}".into()),
                display_name: Some("Password".into()),
                ..parameter("PASSWORD")
            },
            parameter("GIVEN"),
            parameter("REST"),
        ];
        let mut values = ParameterValues::from([("GIVEN".to_owned(), "1".to_owned())]);
        let mut shown = Vec::new();
        ask(&parameters, &mut values, &mut "\nweb\nmany\n8080\n\n".as_bytes(), &mut shown).expect("asked");
        let pairs: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(pairs, ["GIVEN=1", "HOST=web", "PORT=8080"]);
        assert_eq!(
            String::from_utf8_lossy(&shown),
            "Where it runs\nHOST:   a value is required\nHOST: PORT [80]:   the value must be a whole number\nPORT [80]: \
             PASSWORD (Password) [generated from [a-z]{3}]: REST: \n"
        );
    }
}
