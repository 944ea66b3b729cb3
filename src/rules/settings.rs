//! Mistakes in `podlens.yaml` as diagnostics, and the JSON schema of what it can say.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit, Fix, Location, Severity};
use crate::k8s::Text;
use crate::rules::neighbours::nearest;
use crate::rules::{RULES, rule};
use crate::text::Span;
use crate::workspace::{Settings, Snapshot};

/// The code of a mistake in the settings. It is no rule: settings cannot be silenced by settings.
pub const INVALID_SETTINGS: &str = "invalid-settings";

/// What is wrong in the settings files of a workspace, in the order of their paths and texts.
pub fn check_settings(snapshot: &Snapshot) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = snapshot.all_settings().flat_map(|settings| check(settings)).collect();
    found.sort_by(|a, b| (&a.location, &a.message).cmp(&(&b.location, &b.message)));
    found
}

fn check(settings: &Settings) -> Vec<Diagnostic> {
    let mistakes = settings.mistakes.iter();
    let mut found: Vec<Diagnostic> =
        mistakes.map(|it| diagnostic(&settings.file, it.span, it.message.clone())).collect();
    let levels = settings.rules.iter().chain(settings.overrides.iter().flat_map(|it| &it.rules));
    found.extend(levels.filter(|it| rule(&it.rule.value).is_none()).map(|it| unknown_rule(&settings.file, &it.rule)));
    found
}

fn unknown_rule(file: &Arc<str>, name: &Text) -> Diagnostic {
    let near = nearest(&name.value, RULES.iter().map(|it| it.name));
    let mut it = diagnostic(file, name.span, format!("there is no rule `{}`", name.value));
    match near {
        Some(near) => {
            it.help = Some(format!("did you mean `{near}`?"));
            let edits = vec![Edit { location: it.location.clone(), text: near.to_owned() }];
            it.fixes.push(Fix { title: format!("Write `{near}`"), safe: false, edits });
        }
        None => it.help = Some("`podlens explain` lists all rules".to_owned()),
    }
    it
}

fn diagnostic(file: &Arc<str>, span: Span, message: String) -> Diagnostic {
    Diagnostic {
        rule: INVALID_SETTINGS,
        severity: Severity::Error,
        message,
        help: None,
        location: Location { file: Arc::clone(file), span },
        related: Vec::new(),
        fixes: Vec::new(),
        object: None,
        path: None,
        unnecessary: false,
    }
}

/// The JSON schema of `podlens.yaml`, with every rule in it.
pub fn settings_schema() -> serde_json::Value {
    let rules: Vec<(&str, &str)> = RULES.iter().map(|it| (it.name, it.summary())).collect();
    crate::workspace::schema(&rules)
}
