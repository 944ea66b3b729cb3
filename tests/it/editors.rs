//! The VS Code extension has the settings of `podlens.yaml` and the version of the server.
//!
//! The settings are one section of a hand-written `package.json`, so `UPDATE=1` replaces only this section.

use std::fs;
use std::path::{Path, PathBuf};

use podlens::rules::settings_schema;
use serde_json::{Map, Value, json};

/// The title of the generated section.
const TITLE: &str = "        \"title\": \"Settings shared with podlens.yaml\",\n        \"properties\": ";

#[test]
fn the_settings_of_the_extension_are_up_to_date() {
    let path = manifest_path();
    let text = fs::read_to_string(&path).expect("the extension's manifest");
    let start = text.find(TITLE).expect("the section of the settings") + TITLE.len();
    let end = start + text[start..].find("\n        }").expect("the end of the section") + "\n        }".len();
    let settings = serde_json::to_string_pretty(&settings()).expect("settings are JSON").replace('\n', "\n        ");
    let fresh = format!("{}{settings}{}", &text[..start], &text[end..]);
    if std::env::var_os("UPDATE").is_some() && fresh != text {
        fs::write(&path, &fresh).expect("writing the extension's manifest");
        return;
    }
    assert!(
        fresh == text,
        "the settings in editors/vscode/package.json are stale: UPDATE=1 cargo test --test it editors"
    );
}

#[test]
fn the_extension_has_the_version_of_the_server() {
    let text = fs::read_to_string(manifest_path()).expect("the extension's manifest");
    let manifest: Value = serde_json::from_str(&text).expect("the manifest is JSON");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    // A workspace must not decide which program is executed.
    for section in manifest["contributes"]["configuration"].as_array().expect("sections") {
        for (name, setting) in section["properties"].as_object().expect("properties") {
            if name.starts_with("podlens.server.") {
                assert_eq!(setting["scope"], "machine", "{name}");
            }
        }
    }
}

#[test]
fn the_settings_in_the_guides_are_valid() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/zed/settings.json"));
    let zed: Value = serde_json::from_str(&text.expect("the settings for Zed")).expect("they are JSON");
    let validator = jsonschema::validator_for(&settings_schema()).expect("the schema is one");
    let shown = &zed["lsp"]["podlens"]["settings"]["podlens"];
    assert!(shown.is_object(), "{zed}");
    let wrong: Vec<String> = validator.iter_errors(shown).map(|it| it.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

fn manifest_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode/package.json")
}

/// Every key of `podlens.yaml` as a setting: nested keys are joined with dots.
fn settings() -> Map<String, Value> {
    let mut settings = Map::new();
    collect("podlens", &settings_schema(), &mut settings);
    settings
}

fn collect(name: &str, schema: &Value, settings: &mut Map<String, Value>) {
    for (key, below) in schema["properties"].as_object().expect("keys with their schemas") {
        let name = format!("{name}.{key}");
        // Rules are one table in the settings editor, not one setting per rule.
        if below["type"] == "object" && key != "rules" {
            collect(&name, below, settings);
            continue;
        }
        let mut setting = below.clone();
        without_false(&mut setting);
        setting["scope"] = json!("resource");
        settings.insert(name, setting);
    }
}

/// In JSON `off` is a string, so `false` is not needed for it.
fn without_false(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Array(values)) = map.get_mut("enum") {
                values.retain(|value| *value != json!(false));
            }
            map.values_mut().for_each(without_false);
        }
        Value::Array(items) => items.iter_mut().for_each(without_false),
        _ => {}
    }
}
