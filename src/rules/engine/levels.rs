//! The levels of rules: from the settings, or from the caller.

use crate::rules::checks::RULES;
use crate::rules::engine::rule::Rule;
use crate::workspace::{LintLevel, Snapshot};

/// Decides the level of each rule in each file.
pub trait Levels {
    /// The level that somebody has set for a rule in a file; `None` for the default of the rule.
    fn level(&self, rule: &Rule, file: &str) -> Option<LintLevel>;
}

/// The levels of the settings.
#[derive(Debug)]
pub struct SettingsLevels<'s>(pub &'s Snapshot);

impl Levels for SettingsLevels<'_> {
    fn level(&self, rule: &Rule, file: &str) -> Option<LintLevel> {
        self.0.settings(file).level(rule.name, file)
    }
}

/// Rules with their levels. A rule that is off by default and is listed here reports only evident findings.
pub(in crate::rules) type ActiveRules = [(&'static Rule, LintLevel)];

/// The rules that run on a file.
pub(super) fn active_rules(levels: &dyn Levels, path: &str) -> Vec<(&'static Rule, LintLevel)> {
    let active = |rule: &&'static Rule| {
        let set = levels.level(rule, path);
        let level = set.unwrap_or(rule.level);
        let is_active = level != LintLevel::Off || set.is_none() && rule.evident_level != LintLevel::Off;
        is_active.then_some((*rule, level))
    };
    RULES.iter().filter_map(active).collect()
}
