//! The levels of rules: from the settings, or from the caller.

use crate::rules::checks::RULES;
use crate::rules::engine::rule::Rule;
use crate::workspace::{LintLevel, Snapshot};

/// Decides the level of each rule in each file.
pub trait Levels {
    /// The level of a rule in a file.
    fn level(&self, rule: &Rule, file: &str) -> LintLevel;
}

/// The levels of the settings, or else the default level of the rule.
#[derive(Debug)]
pub struct SettingsLevels<'s>(pub &'s Snapshot);

impl Levels for SettingsLevels<'_> {
    fn level(&self, rule: &Rule, file: &str) -> LintLevel {
        self.0.settings(file).level(rule.name, file).unwrap_or(rule.level)
    }
}

/// Rules with their levels, none of them off.
pub(in crate::rules) type ActiveRules = [(&'static Rule, LintLevel)];

/// The rules that run on a file.
pub(super) fn active_rules(levels: &dyn Levels, path: &str) -> Vec<(&'static Rule, LintLevel)> {
    RULES.iter().map(|rule| (*rule, levels.level(rule, path))).filter(|(_, level)| *level != LintLevel::Off).collect()
}
