//! The editor's settings: the keys of `podlens.yaml`, as `workspace/configuration` or `didChangeConfiguration` gives
//! them.

use serde_json::{Map, Value};

use crate::rules;
use crate::workspace::Settings;

/// The section they stand in.
pub(crate) const SECTION: &str = "podlens";

/// Reads settings: an object with the keys, or one that has it as its section.
pub(crate) fn read(value: &Value) -> Option<Settings> {
    let value = value.get(SECTION).unwrap_or(value);
    let keys = value.as_object()?;
    // Editors have some of their own there (`path`, `trace.server`): only what podlens.yaml knows is read.
    let known = Settings::keys();
    let kept: Map<String, Value> = keys
        .iter()
        .filter(|(key, _)| known.contains(&key.as_str()))
        .filter_map(|(key, value)| Some((key.clone(), set(value)?)))
        .collect();
    (!kept.is_empty()).then(|| Settings::parse(&Value::Object(kept).to_string()))
}

/// What is set of a value: editors write what is not set as null, empty text or nothing in braces.
fn set(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Object(keys) => {
            let kept: Map<String, Value> =
                keys.iter().filter_map(|(key, value)| Some((key.clone(), set(value)?))).collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        other => Some(other.clone()),
    }
}

/// What is wrong with settings, for a person.
pub(crate) fn mistakes(settings: &Settings) -> Vec<String> {
    rules::mistakes(settings).into_iter().map(|it| it.message).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_editors_settings_have_the_keys_of_the_file() {
        let settings =
            read(&json!({"podlens": {"kubernetes": "1.30", "proposals": true, "secrets": null, "path": "x"}}));
        let settings = settings.expect("there are some");
        assert_eq!((settings.kubernetes.to_string().as_str(), settings.proposals), ("1.30", true));
        assert!(mistakes(&settings).is_empty());
        let wrong = read(&json!({"unknown": "perhaps", "rules": {"nope": "error"}})).expect("there are some");
        assert_eq!(mistakes(&wrong).len(), 2);
        assert!(read(&json!({})).is_none() && read(&json!(null)).is_none() && read(&json!({"podlens": {}})).is_none());
    }
}
