//! Names of rules as people write them: which one was meant, and which of the settings is none.

use crate::rules::{RULES, Rule, rule};
use crate::workspace::{RuleLevel, Settings, SettingsError};

/// The rule of a name, or what to tell about the name.
pub fn named(name: &str) -> Result<&'static Rule, String> {
    rule(name).ok_or_else(|| format!("there is no rule `{name}`{}", did_you_mean(name)))
}

/// Everything that is wrong with settings: their own mistakes, and names of rules that do not exist.
pub fn mistakes(settings: &Settings) -> Vec<SettingsError> {
    let unknown = |it: &RuleLevel, parent: &str| {
        let message = named(&it.rule.value).err()?;
        Some(SettingsError { span: it.rule.span, path: format!("{parent}.{}", it.rule.value), message })
    };
    let overrides = settings.overrides.iter().enumerate();
    let overrides =
        overrides.flat_map(|(at, it)| it.rules.iter().map(move |it| (it, format!("overrides[{at}].rules"))));
    let all = settings.rules.iter().map(|it| (it, "rules".to_owned())).chain(overrides);
    let unknown = all.filter_map(|(it, parent)| unknown(it, &parent));
    let mut all: Vec<SettingsError> = settings.errors.iter().cloned().chain(unknown).collect();
    all.sort_by_key(|it| it.span);
    all
}

/// ` (did you mean …?)`, if a rule has a similar name.
fn did_you_mean(name: &str) -> String {
    let name = name.trim().to_lowercase().replace('_', "-");
    RULES
        .iter()
        .map(|it| (strsim::osa_distance(&name, it.name), it.name))
        .filter(|(distance, known)| *distance <= known.len() / 3)
        .min()
        .map_or_else(String::new, |(_, known)| format!(" (did you mean `{known}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_understood() {
        let said = |name| named(name).err();
        assert_eq!(said("forward-reference"), None);
        let expected = "there is no rule `Forward_Refrence` (did you mean `forward-reference`?)";
        assert_eq!(said("Forward_Refrence").as_deref(), Some(expected));
        assert_eq!(said("banana").as_deref(), Some("there is no rule `banana`"));
    }

    #[test]
    fn settings_name_rules_that_exist() {
        let text = "rules: {self-reference: off, nope: error}\noverrides: [{files: [a], rules: {gone: off}}]\nx: 1\n";
        let found: Vec<_> = mistakes(&Settings::parse(text)).into_iter().map(|it| &text[it.span.range()]).collect();
        assert_eq!(found, ["nope", "gone", "x"]);
    }
}
