//! The JSON schema of the settings is what the code says, and the settings of the demo workspaces fit it.

use std::fs;
use std::path::Path;

use podlens::resolve::Resolver;
use podlens::rules::{self, check_settings, settings_schema};
use podlens::workspace::{File, Settings, Workspace};

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
    assert!(written == schema, "editors/podlens.schema.json is stale; UPDATE=1 writes it");
}

#[test]
fn every_key_of_the_schema_is_read() {
    let text = "kubernetes: '1.34'\nproposals: true\nrules: {missing-key: off}\nexclude: [vendor]\n\
                externals: {variables: [A], configMaps: [a], secrets: {b: [c]}, services: {d: [80]}}\n\
                unknown: always\nsecrets: {show: true}\noverrides: [{files: [a], rules: {missing-key: error}}]\n";
    let settings = Settings::parse(text);
    assert_eq!(settings.mistakes, []);
    let schema = settings_schema();
    let keys: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
    assert!(keys.iter().all(|key| text.contains(&format!("{key}:"))), "{keys:?}");
}

#[test]
fn mistakes_in_settings_are_diagnostics_in_them() {
    let text = "kubernets: '1.34'\nrules:\n  missing-kye: off\n  nonsense: off\noverrides:\n  - files: [a]\n    rules: {forward-refrence: error}\n";
    let mut workspace = Workspace::default();
    workspace.set_disk("shop/podlens.yaml", File::read("shop/podlens.yaml", text));
    let snapshot = workspace.snapshot();
    let found: Vec<String> = check_settings(&snapshot)
        .iter()
        .map(|it| {
            format!("{}: {} ({})", &text[it.location.span.range()], it.message, it.help.as_deref().unwrap_or("-"))
        })
        .collect();
    assert_eq!(
        found,
        [
            "kubernets: unknown key `kubernets` (did you mean `kubernetes`?); expected one of kubernetes, proposals, \
             rules, exclude, externals, unknown, secrets, overrides (-)",
            "missing-kye: there is no rule `missing-kye` (did you mean `missing-key`?)",
            "nonsense: there is no rule `nonsense` (`podlens explain` lists all rules)",
            "forward-refrence: there is no rule `forward-refrence` (did you mean `forward-reference`?)",
        ]
    );
    let resolver = Resolver::new(&snapshot, None);
    assert!(rules::rule("missing-key").is_some() && resolver.release("shop/a.yaml").has(1));
}
