//! The editor's settings: the keys of `podlens.yaml`, sent with `workspace/configuration` or `didChangeConfiguration`.

use serde_json::{Map, Value};

use crate::workspace::Settings;

/// The section of the editor's settings.
pub(crate) const SECTION: &str = "podlens";

/// Reads settings from an object with their keys, or from an object that has them in its section `podlens`. `None` if
/// no key is set.
pub(crate) fn parse_editor_settings(value: &Value) -> Option<Settings> {
    let value = value.get(SECTION).unwrap_or(value);
    let keys = value.as_object()?;
    // Editors have other keys in this section (`path`, `trace.server`): they are ignored.
    let known = Settings::keys();
    let set: Map<String, Value> = keys
        .iter()
        .filter(|(key, _)| known.contains(&key.as_str()))
        .filter_map(|(key, value)| Some((key.clone(), without_unset(value)?)))
        .collect();
    (!set.is_empty()).then(|| Settings::parse(&Value::Object(set).to_string()))
}

/// A value without keys that are not set: editors send these as null, empty text or an empty object.
fn without_unset(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Object(keys) => {
            let set: Map<String, Value> =
                keys.iter().filter_map(|(key, value)| Some((key.clone(), without_unset(value)?))).collect();
            (!set.is_empty()).then_some(Value::Object(set))
        }
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules;

    #[test]
    fn editor_settings_have_the_keys_of_the_settings_file() {
        let settings = parse_editor_settings(
            &json!({"podlens": {"kubernetes": "1.30", "proposals": true, "secrets": null, "path": "x"}}),
        );
        let settings = settings.expect("keys are set");
        assert_eq!((settings.kubernetes.to_string().as_str(), settings.proposals), ("1.30", true));
        assert!(rules::settings_errors(&settings).is_empty());
        let wrong =
            parse_editor_settings(&json!({"unknown": "perhaps", "rules": {"nope": "error"}})).expect("keys are set");
        let errors = rules::settings_errors(&wrong);
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(
            parse_editor_settings(&json!({})).is_none()
                && parse_editor_settings(&json!(null)).is_none()
                && parse_editor_settings(&json!({"podlens": {}})).is_none()
        );
    }
}
