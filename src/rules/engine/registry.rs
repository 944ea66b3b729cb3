//! Finds rules by name.

use crate::rules::checks::RULES;
use crate::rules::engine::rule::Rule;

/// The rule with a name.
pub fn find_rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.name == name)
}

/// The rule with a name that a user wrote. The error suggests a similar name.
pub fn parse_rule_name(name: &str) -> Result<&'static Rule, String> {
    find_rule(name).ok_or_else(|| format!("there is no rule `{name}`{}", did_you_mean(name)))
}

/// The rule with a name that a user wrote to change its level.
pub fn parse_configurable_rule_name(name: &str) -> Result<&'static Rule, String> {
    let rule = parse_rule_name(name)?;
    if rule.configurable { Ok(rule) } else { Err(format!("the level of `{name}` cannot be changed")) }
}

/// ` (did you mean …?)`, if a rule has a similar name.
fn did_you_mean(name: &str) -> String {
    similar_rule(name).map_or_else(String::new, |known| format!(" (did you mean `{known}`?)"))
}

/// The name of the rule that a misspelled name is most similar to.
pub(in crate::rules) fn similar_rule(name: &str) -> Option<&'static str> {
    let name = name.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase().replace('_', "-");
    let distances = RULES.iter().map(|it| (strsim::osa_distance(&name, it.name), it.name));
    distances.filter(|(distance, known)| *distance <= known.len() / 3).min().map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_understood() {
        let error = |name| parse_rule_name(name).err();
        assert_eq!(error("forward-reference"), None);
        let expected = "there is no rule `Forward_Refrence` (did you mean `forward-reference`?)";
        assert_eq!(error("Forward_Refrence").as_deref(), Some(expected));
        assert_eq!(error("banana").as_deref(), Some("there is no rule `banana`"));
    }

    const HEADINGS: [&str; 5] = ["## What it does", "## Why it matters", "## Example", "## Use instead", "## Fix"];

    #[test]
    fn names_are_unique_and_every_rule_is_documented() {
        for (at, rule) in RULES.iter().enumerate() {
            assert!(RULES[..at].iter().all(|other| other.name != rule.name), "{} twice", rule.name);
            let found: Vec<&str> = rule.docs.lines().map(str::trim).filter(|line| line.starts_with("## ")).collect();
            assert_eq!(found, HEADINGS, "{}", rule.name);
            assert!(!rule.summary().is_empty(), "{}", rule.name);
        }
    }
}
