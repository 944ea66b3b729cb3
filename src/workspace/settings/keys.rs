//! Every key of `podlens.yaml`: the one list that reading, its messages and the JSON schema are made from.

use serde_json::{Map, Value, json};

use crate::workspace::settings::{LintLevel, UnknownPolicy};

/// A key, what it is for, and what stands under it.
#[derive(Debug)]
pub(super) struct SettingsKey {
    pub(super) name: &'static str,
    docs: &'static str,
    shape: ValueType,
}

/// What stands under a key.
#[derive(Debug)]
enum ValueType {
    /// A release.
    Release,
    /// True or false; false if absent.
    Flag,
    /// Rules with levels.
    Levels,
    /// A list of globs.
    Globs,
    /// What to do with what is unknown.
    Unknown,
    /// Further keys.
    Keys(&'static [SettingsKey]),
    /// A list of mappings with these keys, of which the first must be there.
    List(&'static [SettingsKey]),
    /// Names of objects, each with its keys.
    Sources,
    /// Names of services, each with its ports.
    Services,
}

const fn key(name: &'static str, shape: ValueType, docs: &'static str) -> SettingsKey {
    SettingsKey { name, docs, shape }
}

pub(super) const ROOT: &[SettingsKey] = &[
    key("kubernetes", ValueType::Release, "The Kubernetes release the manifests are for; the newest if absent."),
    key("proposals", ValueType::Flag, "Whether designs that no release serves are taken for granted."),
    key("rules", ValueType::Levels, "Levels of rules."),
    key("exclude", ValueType::Globs, "Files that are not looked at, as in a .gitignore."),
    key("externals", ValueType::Keys(EXTERNALS), "What exists outside the workspace."),
    key("unknown", ValueType::Unknown, "What to do with a reference that may or may not resolve."),
    key("secrets", ValueType::Keys(SECRETS), "How values of Secrets are treated."),
    key("overrides", ValueType::List(OVERRIDE), "Levels for some files only; later ones win."),
];

pub(super) const EXTERNALS: &[SettingsKey] = &[
    key("variables", ValueType::Globs, "Names of variables, such as ACME_*."),
    key("configMaps", ValueType::Sources, "ConfigMaps with their keys; without a list, or with * in it, any key."),
    key("secrets", ValueType::Sources, "Secrets with their keys; without a list, or with * in it, any key."),
    key("services", ValueType::Services, "Services with their ports."),
];

pub(super) const SECRETS: &[SettingsKey] =
    &[key("show", ValueType::Flag, "Whether the values of Secrets may be shown.")];

pub(super) const OVERRIDE: &[SettingsKey] = &[
    key("files", ValueType::Globs, "The files, as globs from the directory of the settings."),
    key("rules", ValueType::Levels, "Levels of rules in these files."),
];

/// The names of some keys.
pub(super) fn names(keys: &[SettingsKey]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// The JSON schema of the settings; rules are names with a sentence each.
pub fn schema(rules: &[(&str, &str)]) -> Value {
    let mut schema = mapping(ROOT, rules);
    let more = [
        ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        ("title", json!("podlens settings")),
        ("description", json!("What podlens.yaml can say.")),
    ];
    schema.extend(more.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(schema)
}

fn mapping(keys: &[SettingsKey], rules: &[(&str, &str)]) -> Map<String, Value> {
    let property = |key: &SettingsKey| {
        let mut schema = key.shape.schema(rules);
        schema.insert("description".into(), key.docs.into());
        (key.name.to_owned(), Value::Object(schema))
    };
    let properties: Map<String, Value> = keys.iter().map(property).collect();
    object(json!({"type": "object", "additionalProperties": false, "properties": properties}))
}

impl ValueType {
    fn schema(&self, rules: &[(&str, &str)]) -> Map<String, Value> {
        let strings = json!({"type": "array", "items": {"type": "string"}});
        match self {
            // A release without quotes is a number in YAML: 1.30 would be 1.3.
            Self::Release => object(json!({"type": "string", "pattern": r"^v?1\.\d+(\.\d+)?$"})),
            Self::Flag => object(json!({"type": "boolean", "default": false})),
            Self::Globs => object(strings),
            Self::Unknown => object(json!({"enum": UnknownPolicy::NAMES.map(|(name, _)| name), "default": "auto"})),
            Self::Keys(keys) => mapping(keys, rules),
            Self::List(keys) => {
                let mut item = mapping(keys, rules);
                item.insert("required".into(), json!([keys[0].name]));
                object(json!({"type": "array", "items": item}))
            }
            Self::Levels => {
                // YAML 1.1 reads `off` as false.
                let mut levels: Vec<Value> = LintLevel::NAMES.iter().map(|(name, _)| json!(name)).collect();
                levels.push(json!(false));
                let level =
                    |(name, docs): &(&str, &str)| ((*name).to_owned(), json!({"description": docs, "enum": levels}));
                let properties: Map<String, Value> = rules.iter().map(level).collect();
                object(json!({"type": "object", "additionalProperties": false, "properties": properties}))
            }
            Self::Sources => {
                let keys = json!({"anyOf": [strings, {"type": "null"}]});
                object(json!({"anyOf": [strings, {"type": "object", "additionalProperties": keys}]}))
            }
            Self::Services => {
                let number = json!({"type": "integer", "minimum": 1, "maximum": 65535});
                let fields = json!({"name": {"type": "string"}, "port": number, "protocol": {"type": "string"}});
                let port = json!({"anyOf": [number, {"type": "object", "required": ["port"], "properties": fields}]});
                let ports = json!({"anyOf": [{"type": "array", "items": port}, {"type": "null"}]});
                object(json!({"anyOf": [strings, {"type": "object", "additionalProperties": ports}]}))
            }
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
