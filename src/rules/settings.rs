//! The JSON schema of `podlens.yaml`, with every rule in it.

use crate::rules::RULES;
use crate::workspace;

/// What the settings can say, for editors.
pub fn settings_schema() -> serde_json::Value {
    let rules: Vec<(&str, &str)> = RULES.iter().map(|it| (it.name, it.summary())).collect();
    workspace::schema(&rules)
}
