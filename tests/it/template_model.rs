//! `podlens process` against a second implementation: a model of the upstream code on plain JSON values, for random
//! templates (T2.1 to T7.1).
//!
//! The model follows the upstream code step by step and shares nothing with podlens.

use std::collections::BTreeMap;

use podlens::build::{ProcessOptions, process_template, select_template};
use podlens::syntax::parse;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// The parameters of every template, in all forms that matter.
const PARAMETERS: &[(&str, &str)] = &[
    ("A", "a"),
    ("B", "${A}"),
    ("N", "5"),
    ("FLAG", "true"),
    ("NULL", "null"),
    ("LIST", "[1,\"x\"]"),
    ("VERSION", "v1beta3"),
    ("WRONG", "x/y/z"),
    ("KIND", "Route"),
];

/// Why an object is refused.
type Refused = &'static str;

fn parameter(name: &str) -> Option<&'static str> {
    PARAMETERS.iter().find(|(it, _)| *it == name).map(|(_, value)| *value)
}

/// The names of `${NAME}` in a text.
fn string_references(text: &str) -> Vec<&str> {
    let is_name = |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    text.match_indices("${")
        .filter_map(|(at, _)| text[at + 2..].split_once('}'))
        .map(|it| it.0)
        .filter(is_name)
        .collect()
}

/// The text after substitution, and whether it is a string.
fn evaluate(text: &str) -> (String, bool) {
    let whole = text.strip_prefix("${{").and_then(|it| it.strip_suffix("}}"));
    if let Some(value) = whole.and_then(parameter) {
        return (value.to_owned(), false);
    }
    let mut result = text.to_owned();
    for name in string_references(text) {
        if let Some(value) = parameter(name) {
            result = result.replacen(&format!("${{{name}}}"), value, 1);
        }
    }
    (result, true)
}

fn decoded(text: &str) -> Value {
    match evaluate(text) {
        (text, true) => Value::String(text),
        (text, false) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
    }
}

fn visit(value: &Value) -> Result<Value, Refused> {
    Ok(match value {
        Value::String(text) => decoded(text),
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().map(visit).collect::<Result<_, _>>()?;
            let was_null = |(new, old): (&Value, &Value)| new.is_null() && !old.is_null();
            if items.iter().zip(value.as_array().into_iter().flatten()).any(was_null) {
                return Err("a list item becomes null");
            }
            Value::Array(items)
        }
        Value::Object(entries) => {
            let (mut plain, mut replaced) = (Map::new(), Map::new());
            for (key, value) in entries {
                let new_key = decoded(key).as_str().ok_or("a key becomes another type")?.to_owned();
                let new = visit(value)?;
                if new.is_null() && !value.is_null() {
                    continue;
                }
                if new_key == *key {
                    plain.insert(new_key, new)
                } else {
                    replaced.insert(new_key, new)
                };
            }
            plain.append(&mut replaced);
            Value::Object(plain)
        }
        other => other.clone(),
    })
}

fn text<'v>(object: &'v Value, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The group and version of an `apiVersion`.
fn group_version(text: &str) -> Option<(String, String)> {
    match text.matches('/').count() {
        _ if text == "/" => Some((String::new(), String::new())),
        0 => Some((String::new(), text.to_owned())),
        1 => text.split_once('/').map(|(group, version)| (group.to_owned(), version.to_owned())),
        _ => None,
    }
}

/// Reads an object, and completes the items of a list.
fn decode(object: &Value) -> Result<Value, Refused> {
    let mut object = object.clone();
    if text(&object, "kind").is_empty() || group_version(text(&object, "apiVersion")).is_none() {
        return Err("it has no kind");
    }
    let (version, kind) = (text(&object, "apiVersion").to_owned(), text(&object, "kind").to_owned());
    if let Some(items) = object.get_mut("items") {
        if items.is_null() {
            *items = json!([]);
        }
        for item in items.as_array_mut().ok_or("the items are not a list")? {
            if item.is_null() {
                *item = json!({});
            }
            if !item.is_object() {
                return Err("an item is not an object");
            }
            if text(item, "kind").is_empty() && text(item, "apiVersion").is_empty() {
                item["kind"] = json!(kind.strip_suffix("List").unwrap_or(&kind));
                item["apiVersion"] = json!(version);
            }
        }
    }
    Ok(object)
}

fn strip_namespace(object: &mut Value) {
    let refers = |it: &str| !string_references(it).is_empty();
    if let Some(metadata) = object.get_mut("metadata") {
        let Some(metadata) = metadata.as_object_mut() else { return };
        match metadata.get("namespace").cloned() {
            Some(Value::String(it)) if refers(&it) => {}
            Some(Value::String(it)) if !it.is_empty() => {
                metadata.remove("namespace");
            }
            Some(_) => {
                metadata.insert("namespace".into(), json!(""));
            }
            None => {}
        }
    } else if object.get("namespace").is_some_and(|it| !it.as_str().is_some_and(refers)) {
        object["namespace"] = json!("");
    }
}

fn set_group(object: &mut Value) {
    let (version, kind) = (text(object, "apiVersion").to_owned(), text(object, "kind").to_owned());
    let (version, kind) = match group_version(&version) {
        None => (String::new(), String::new()),
        Some((group, version)) => {
            let group = match (&*group, &*kind) {
                ("", "Route" | "RouteList") => "route.openshift.io",
                ("", "DeploymentConfig") => "apps.openshift.io",
                _ => &group,
            };
            (if group.is_empty() { version } else { format!("{group}/{version}") }, kind)
        }
    };
    object["apiVersion"] = json!(version);
    object["kind"] = json!(kind);
}

fn add_labels(object: &mut Value, labels: &Map<String, Value>) -> Result<(), Refused> {
    if object.get("items").is_some() {
        return Err("a list has no labels");
    }
    let own = object.get("metadata").and_then(|it| it.get("labels")).and_then(Value::as_object);
    let coerced = own.map(|own| {
        let as_text = |value: &Value| match value {
            Value::String(it) => Some(it.clone()),
            Value::Null => Some(String::new()),
            _ => None,
        };
        own.iter().map(|(key, value)| Some((key.clone(), as_text(value)?))).collect::<Option<BTreeMap<_, _>>>()
    });
    let mut all = coerced.flatten().unwrap_or_default();
    for (key, value) in labels {
        all.insert(evaluate(key).0, evaluate(value.as_str().unwrap_or_default()).0);
    }
    match object.get_mut("metadata") {
        None => object["metadata"] = json!({ "labels": all }),
        Some(Value::Object(metadata)) => {
            metadata.insert("labels".into(), json!(all));
        }
        Some(_) => {}
    }
    Ok(())
}

/// The objects that the upstream code makes of a template.
fn model(template: &Value) -> Result<Vec<Value>, Refused> {
    let labels = template.get("labels").and_then(Value::as_object);
    let object = |written: &Value| {
        let mut object = decode(written)?;
        if object.get("items").is_none() {
            strip_namespace(&mut object);
        }
        let mut object = visit(&object)?;
        set_group(&mut object);
        labels.map_or(Ok(()), |labels| add_labels(&mut object, labels))?;
        Ok(object)
    };
    template["objects"].as_array().into_iter().flatten().map(object).collect()
}

/// One of some values, or no value.
fn one_of(values: Value) -> impl Strategy<Value = Option<Value>> {
    let mut all: Vec<Option<Value>> = values.as_array().into_iter().flatten().cloned().map(Some).collect();
    all.push(None);
    select(all)
}

fn map(entries: Vec<(&'static str, Option<Value>)>) -> Value {
    Value::Object(entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
}

fn metadata() -> impl Strategy<Value = Option<Value>> {
    let labels = one_of(json!([
        null, "x", {}, {"a": "b"}, {"a": null, "t": "own"}, {"a": 5}, {"a": "${{N}}", "b": "c"}, {"${A}": "b"},
        {"a": "${{NULL}}"}, {"a": []}
    ]));
    let namespace = one_of(json!(["prod", "${A}", "${{A}}", "", 7, null, "p-${NOPE}"]));
    let whole = (labels, namespace, one_of(json!(["${A}-${B}", "x", 3])))
        .prop_map(|(labels, namespace, name)| map(vec![("labels", labels), ("namespace", namespace), ("name", name)]));
    prop_oneof![6 => whole.prop_map(Some), 1 => one_of(json!([null, "text", [], 3]))]
}

fn object() -> impl Strategy<Value = Value> {
    let version =
        one_of(json!(["v1", "v1", "v1beta3", "apps/v1", "", "a/b/c", "${VERSION}", "${WRONG}", "${{N}}", 5, "/v1"]));
    let kind = one_of(json!([
        "Pod",
        "Pod",
        "Route",
        "DeploymentConfig",
        "PodList",
        "List",
        "${KIND}",
        "${{N}}",
        "${{NULL}}",
        "X${A}"
    ]));
    let items = prop_oneof![
        6 => Just(None),
        1 => one_of(json!([
            null, "text", [], [null], [1], [{"kind": "Pod"}], [{"metadata": {"namespace": "n"}}, {"kind": 5}],
            [{"a": "${A}"}]
        ])),
    ];
    let spec = one_of(json!([
        {"x": "${A}-${B}", "y": "${{N}}", "z": {"${A}": ["${{FLAG}}", null]}},
        {"x": ["${{NULL}}"]}, {"x": "${{NULL}}", "y": null}, {"${{A}}": "${{LIST}}"}, {"${{N}}": 1}, "x${{N}}", "$${A}"
    ]));
    let namespace = prop_oneof![4 => Just(None), 1 => one_of(json!(["n", "${A}", 4]))];
    (version, kind, metadata(), items, spec, namespace).prop_map(|(version, kind, metadata, items, spec, namespace)| {
        map(vec![
            ("apiVersion", version),
            ("kind", kind.or(Some(json!("Pod")))),
            ("metadata", metadata),
            ("items", items),
            ("spec", spec),
            ("namespace", namespace),
        ])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::cases(512, 20_000)))]

    #[test]
    fn objects_equal_those_of_the_model(
        objects in prop::collection::vec(object(), 1..3),
        labels in one_of(json!([{}, {"t": "x"}, {"t": "${A}", "${A}": "${{N}}"}, {"a": "${NOPE}"}])),
    ) {
        let parameters: Vec<Value> =
            PARAMETERS.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let mut template = json!({
            "apiVersion": "template.openshift.io/v1", "kind": "Template", "objects": objects, "parameters": parameters,
        });
        if let Some(labels) = labels {
            template["labels"] = labels;
        }
        let text = serde_json::to_string_pretty(&template).expect("JSON");
        let tree = parse(&text);
        let processed =
            process_template(&select_template(&tree).expect("a template"), &ProcessOptions::default(), &mut |_| 0);
        let actual = serde_json::to_value(&processed.objects).expect("JSON");
        match model(&template) {
            Ok(expected) => {
                prop_assert_eq!(&processed.errors, &[]);
                prop_assert_eq!(actual, json!(expected));
            }
            Err(reason) => prop_assert!(!processed.errors.is_empty(), "{}: {}", reason, actual),
        }
    }
}
