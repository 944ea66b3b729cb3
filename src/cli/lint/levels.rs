//! `--select`, `--ignore` and `--level`: rule levels from the command line, which override the settings.

use clap::Args;

use crate::rules::{self, Levels, Rule, SettingsLevels};
use crate::workspace::{LintLevel, Snapshot};

#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Run only these rules; a rule that is off becomes a warning
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rules::parse_configurable_rule_name)]
    select: Vec<&'static Rule>,
    /// Do not run these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rules::parse_configurable_rule_name)]
    ignore: Vec<&'static Rule>,
    /// Set the level of a rule: error, warning, info, hint or off
    #[arg(long = "level", value_name = "RULE=LEVEL", value_delimiter = ',', value_parser = rule_level)]
    levels: Vec<(&'static Rule, LintLevel)>,
}

fn rule_level(text: &str) -> Result<(&'static Rule, LintLevel), String> {
    let (rule, level) = text.split_once('=').ok_or("expected RULE=LEVEL")?;
    let rule = rules::parse_configurable_rule_name(rule)?;
    let known = LintLevel::NAMES.iter().find(|(name, _)| *name == level);
    let names = || LintLevel::NAMES.map(|(name, _)| name).join(", ");
    known
        .map(|(_, level)| (rule, *level))
        .ok_or_else(|| format!("`{level}` is not a level; expected one of {}", names()))
}

/// The levels of one run.
pub(super) struct FlagLevels<'f> {
    pub(super) flags: &'f Flags,
    pub(super) snapshot: &'f Snapshot,
}

impl Levels for FlagLevels<'_> {
    fn level(&self, rule: &Rule, file: &str) -> Option<LintLevel> {
        let is_in = |rules: &[&'static Rule]| rules.iter().any(|it| it.name == rule.name);
        if let Some((_, level)) = self.flags.levels.iter().rev().find(|(it, _)| it.name == rule.name) {
            return Some(*level);
        }
        if is_in(&self.flags.ignore) {
            return Some(LintLevel::Off);
        }
        let level = SettingsLevels(self.snapshot).level(rule, file);
        match (self.flags.select.is_empty(), is_in(&self.flags.select)) {
            (true, _) => level,
            (false, true) if level.unwrap_or(rule.level) == LintLevel::Off => Some(LintLevel::Warning),
            (false, true) => level,
            (false, false) => Some(LintLevel::Off),
        }
    }
}
