//! The JSON schema of the settings is current, and all of its keys are read.

use std::fs;
use std::path::Path;

use podlens::rules::settings_schema;
use podlens::workspace::Settings;

#[test]
fn the_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/podlens.schema.json");
    let mut schema = serde_json::to_string_pretty(&settings_schema()).expect("a schema is JSON");
    schema.push('\n');
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().expect("a directory")).expect("the directory of the schema");
        fs::write(&path, &schema).expect("writing the schema");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == schema, "editors/podlens.schema.json is stale: UPDATE=1 cargo test --test it schema");
}

#[test]
fn every_key_of_the_schema_is_read() {
    let text = "kubernetes: '1.34'\nproposals: true\nrules: {missing-key: off}\nexclude: [vendor]\n\
                externals: {variables: [A], configMaps: [a], secrets: {b: [c]}, services: {d: [80]}}\n\
                unknown: always\nsecrets: {show: true}\noverrides: [{files: [a], rules: {missing-key: error}}]\n\
                views: [{name: a, path: b, values: [c], set: {d: 1}, params: e, release: f, namespace: g}]\n\
                kustomize: {loadRestrictor: none}\n";
    let settings = Settings::parse(text);
    assert_eq!(settings.errors, []);
    let schema = settings_schema();
    let keys: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
    assert!(keys.iter().all(|key| text.contains(&format!("{key}:"))), "{keys:?}");
}
