//! The list of all keys of `podlens.yaml`. Reading, error messages and the JSON schema use it.

use serde_json::{Map, Value, json};

use crate::workspace::settings::{LintLevel, LoadRestrictor, UnknownPolicy};

/// A key with its documentation and the type of its value.
#[derive(Debug)]
pub(super) struct SettingsKey {
    pub(super) name: &'static str,
    docs: &'static str,
    value: ValueType,
}

/// The type of a value.
#[derive(Debug)]
enum ValueType {
    /// A Kubernetes release.
    Release,
    /// A boolean; false if absent.
    Flag,
    /// A mapping of rules to levels.
    Levels,
    /// A list of globs.
    Globs,
    /// An [`UnknownPolicy`].
    Unknown,
    /// A [`LoadRestrictor`].
    Restrictor,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A mapping of names to scalars.
    Assignments,
    /// A mapping with these keys.
    Keys(&'static [SettingsKey]),
    /// A list of mappings with these keys. So many of the first keys are required.
    List(&'static [SettingsKey], usize),
    /// A mapping of objects to their keys.
    Sources,
    /// A mapping of services to their ports.
    Services,
}

const fn key(name: &'static str, value: ValueType, docs: &'static str) -> SettingsKey {
    SettingsKey { name, docs, value }
}

pub(super) const ROOT: &[SettingsKey] = &[
    key(
        "kubernetes",
        ValueType::Release,
        "The Kubernetes release that the manifests are for. Default: the newest that podlens knows.",
    ),
    key(
        "proposals",
        ValueType::Flag,
        "Apply designs that were proposed for Kubernetes but are in no release: explicit service links, the proposals \
         for PodPresets and templates, and the env file format of its proposal. Their fields are then not reported.",
    ),
    key("rules", ValueType::Levels, "The level of each rule: error, warning, info, hint or off."),
    key(
        "exclude",
        ValueType::Globs,
        "Files that are not checked and whose objects are ignored, as globs like in a .gitignore.",
    ),
    key("externals", ValueType::Keys(EXTERNALS), "Variables and objects that exist outside the workspace."),
    key(
        "unknown",
        ValueType::Unknown,
        "What to do with a reference that may or may not resolve: auto mentions it in hovers, always reports it as info, \
         never does neither.",
    ),
    key("secrets", ValueType::Keys(SECRETS), "How values of Secrets are shown."),
    key("overrides", ValueType::List(OVERRIDE, 1), "Levels of rules for some files. Later entries win."),
    key(
        "views",
        ValueType::List(VIEW, 2),
        "Kustomizations, charts and templates that are built with given values, beside those that podlens finds itself. \
         `podlens views` lists all of them.",
    ),
    key("kustomize", ValueType::Keys(KUSTOMIZE), "How kustomizations are built."),
];

pub(super) const EXTERNALS: &[SettingsKey] = &[
    key("variables", ValueType::Globs, "Globs of names, such as ACME_*. These variables count as defined."),
    key(
        "configMaps",
        ValueType::Sources,
        "ConfigMaps with their keys. Without a list, or with * in the list, any key may exist.",
    ),
    key(
        "secrets",
        ValueType::Sources,
        "Secrets with their keys. Without a list, or with * in the list, any key may exist.",
    ),
    key("services", ValueType::Services, "Services with their ports."),
];

pub(super) const SECRETS: &[SettingsKey] =
    &[key("show", ValueType::Flag, "Show the values of Secrets. By default they are hidden.")];

pub(super) const OVERRIDE: &[SettingsKey] = &[
    key("files", ValueType::Globs, "The files, as globs relative to the directory of the settings file."),
    key("rules", ValueType::Levels, "Levels of rules in these files."),
];

pub(super) const VIEW: &[SettingsKey] = &[
    key("name", ValueType::Text, "The name of the view. Names are unique."),
    key(
        "path",
        ValueType::Text,
        "The directory of a kustomization or chart, or the file of a template, relative to the settings file. A glob \
         makes a view of each path that matches.",
    ),
    key("values", ValueType::Texts, "Values files of the chart, relative to the settings file. Later ones win."),
    key("set", ValueType::Assignments, "Values of the chart, such as image.tag, or parameters of the template."),
    key("params", ValueType::Text, "A file with parameters of the template, relative to the settings file."),
    key("release", ValueType::Text, "The name of the release of the chart."),
    key("namespace", ValueType::Text, "The namespace of the release of the chart."),
];

pub(super) const KUSTOMIZE: &[SettingsKey] = &[key(
    "loadRestrictor",
    ValueType::Restrictor,
    "Which files a kustomization may include, as the flag --load-restrictor of kustomize: rootOnly allows files in its \
     directory and below, none allows all files.",
)];

/// The names of keys.
pub(super) fn names(keys: &[SettingsKey]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// The JSON schema of the settings. `rules` are names and descriptions.
pub fn schema(rules: &[(&str, &str)]) -> Value {
    let mut schema = mapping(ROOT, rules);
    let more = [
        ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        ("title", json!("podlens settings")),
        ("description", json!("The settings file of podlens: podlens.yaml.")),
    ];
    schema.extend(more.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(schema)
}

fn mapping(keys: &[SettingsKey], rules: &[(&str, &str)]) -> Map<String, Value> {
    let property = |key: &SettingsKey| {
        let mut schema = key.value.schema(rules);
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
            // Without quotes a release is a number in YAML: 1.30 would be 1.3.
            Self::Release => object(json!({"type": "string", "pattern": r"^v?1\.\d+(\.\d+)?$"})),
            Self::Flag => object(json!({"type": "boolean", "default": false})),
            Self::Globs => object(strings),
            Self::Unknown => object(json!({"enum": UnknownPolicy::NAMES.map(|(name, _)| name), "default": "auto"})),
            Self::Keys(keys) => mapping(keys, rules),
            Self::Restrictor => {
                object(json!({"enum": LoadRestrictor::NAMES.map(|(name, _)| name), "default": "rootOnly"}))
            }
            Self::Text => object(json!({"type": "string"})),
            Self::Texts => object(strings),
            Self::Assignments => {
                let scalar = json!({"type": ["string", "number", "boolean"]});
                object(json!({"type": "object", "additionalProperties": scalar}))
            }
            Self::List(keys, required) => {
                let mut item = mapping(keys, rules);
                item.insert("required".into(), json!(names(&keys[..*required])));
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
