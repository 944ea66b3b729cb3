//! The parts of the settings that depend on the rules: their names in the JSON schema, and errors about unknown names.

use crate::rules::checks::RULES;
use crate::rules::engine::registry::{find_rule, parse_configurable_rule_name, similar_rule};
use crate::workspace::{self, RuleLevel, Settings, SettingsError};

/// The JSON schema of `podlens.yaml`, with every rule in it.
pub fn settings_schema() -> serde_json::Value {
    let rules = RULES.iter().filter(|it| it.configurable).map(|it| (it.name, it.summary()));
    workspace::schema(&rules.collect::<Vec<_>>())
}

/// The errors in settings, names of rules that do not exist included.
pub fn settings_errors(settings: &Settings) -> Vec<SettingsError> {
    let unknown = |it: &RuleLevel, parent: &str| {
        let name = &it.rule.value;
        let message = parse_configurable_rule_name(name).err()?;
        let meant = if find_rule(name).is_none() { similar_rule(name) } else { None };
        let (span, path) = (it.rule.span.to_relative(), format!("{parent}.{name}"));
        Some(SettingsError { span, path, message, meant })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_rules_that_exist() {
        let text = "rules: {self-reference: off, nope: error, invalid-settings: off}\noverrides: [{files: [a], rules: {gone: off}}]\nx: 1\n";
        let found: Vec<_> =
            settings_errors(&Settings::parse(text)).into_iter().map(|it| &text[it.span.range()]).collect();
        assert_eq!(found, ["nope", "invalid-settings", "gone", "x"]);
    }
}
