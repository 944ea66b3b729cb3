//! Reading the data that objects offer to others: ConfigMaps, Secrets, the objects that make them, and Services.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, PAD};

use crate::k8s::container_shape::{JsonType, is_assertion_key};
use crate::k8s::identity::Identity;
use crate::k8s::model::{
    DataEntry, DataValue, KeyedData, MisspelledField, ObjectData, RefusedValue, Service, ServicePort, Text, ValueFlaw,
};
use crate::k8s::node_reader::{NodeReader, exact, mappings};
use crate::k8s::preset;
use crate::k8s::stand_in::is_stand_in;
use crate::k8s::template;
use crate::syntax::{Node, TypedScalar, has_placeholder, may_be_replaced};
use crate::text::nearest_name;

/// Reads the data of an object of one kind.
type ReadData = fn(NodeReader<'_>, Node<'_>) -> ObjectData;

/// Kinds that define a ConfigMap, a Secret or a Service: group, kind and how it is read.
const DATA_KINDS: &[(&str, &str, ReadData)] = &[
    ("", "ConfigMap", |reader, root| ObjectData::ConfigMap(config_map(reader, root))),
    ("", "Secret", |reader, root| ObjectData::Secret(secret(reader, root))),
    ("", "Service", |reader, root| ObjectData::Service(service(reader, root))),
    ("bitnami.com", "SealedSecret", |reader, root| ObjectData::Secret(sealed_secret(reader, root))),
    ("external-secrets.io", "ExternalSecret", |reader, root| {
        ObjectData::Secret(external_secret(reader, root.get("spec"), "secretKey"))
    }),
    ("external-secrets.io", "ClusterExternalSecret", |reader, root| {
        ObjectData::Secret(external_secret(reader, root.at(&["spec", "externalSecretSpec"]), "secretKey"))
    }),
    ("kubernetes-client.io", "ExternalSecret", |reader, root| {
        ObjectData::Secret(external_secret(reader, root.get("spec"), "name"))
    }),
];

/// Whether a kind defines a ConfigMap, a Secret or a Service, in some group.
pub(super) fn is_data_kind(kind: &str) -> bool {
    DATA_KINDS.iter().any(|(_, known, _)| *known == kind)
}

/// Reads the data that an object offers to others.
pub(super) fn data(reader: NodeReader<'_>, root: Node<'_>, identity: Identity<'_>) -> ObjectData {
    if let Some(admission) = preset::admission(identity) {
        return ObjectData::Preset(Box::new(preset::preset(reader, root, admission)));
    }
    if let Some((_, _, read)) = DATA_KINDS.iter().find(|(group, kind, _)| identity.is(group, kind)) {
        return read(reader, root);
    }
    match template::template(reader, root, identity) {
        Some(template) => ObjectData::Template(Box::new(template)),
        None => ObjectData::None,
    }
}

fn config_map(reader: NodeReader<'_>, root: Node<'_>) -> KeyedData {
    let mut source = KeyedData { keys: keys(reader, root.get("data"), plain), ..KeyedData::default() };
    add_refused_values(reader, root, "data", false, &mut source);
    if let Some(binary) = root.get("binaryData") {
        source.binary_keys = binary.entries().into_iter().filter_map(|(key, _)| reader.key(key)).collect();
    }
    add_misspelled_fields(reader, root, &["data", "binaryData", "immutable"], &mut source);
    mark_incomplete(root, &mut source);
    source
}

fn secret(reader: NodeReader<'_>, root: Node<'_>) -> KeyedData {
    let mut source = KeyedData { keys: keys(reader, root.get("data"), encoded), ..KeyedData::default() };
    // The API server overwrites `data` with `stringData`.
    for key in keys(reader, root.get("stringData"), plain) {
        match source.keys.iter_mut().find(|it| it.key.value == key.key.value) {
            Some(below) => *below = key,
            None => source.keys.push(key),
        }
    }
    add_refused_values(reader, root, "data", true, &mut source);
    add_refused_values(reader, root, "stringData", false, &mut source);
    add_misspelled_fields(reader, root, &["data", "stringData", "type", "immutable"], &mut source);
    source.keys.shrink_to_fit();
    mark_incomplete(root, &mut source);
    source
}

/// Adds the keys of an object that are misspelled fields, or fields that only the other kind has (V17). They may hold data.
fn add_misspelled_fields(
    reader: NodeReader<'_>,
    root: Node<'_>,
    fields: &'static [&'static str],
    source: &mut KeyedData,
) {
    const COMMON: [&str; 3] = ["apiVersion", "kind", "metadata"];
    for (key, value) in root.own_entries() {
        let Some(name) = key.key_text() else { continue };
        let is_filled = value.is_some_and(|it| it.is_mapping());
        if !is_filled || COMMON.contains(&&*name) || fields.contains(&&*name) || is_assertion_key(&name) {
            continue;
        }
        let field = match &*name {
            "stringData" | "binaryData" => Some("data"),
            name => nearest_name(name, fields.iter().copied())
                .and_then(|near| fields.iter().find(|it| **it == near))
                .copied(),
        };
        if let (Some(field), Some(key)) = (field, reader.key(key)) {
            source.may_have_more_keys = true;
            source.misspelled.push(MisspelledField { key, field, is_free: root.entry(field).is_none() });
        }
    }
}

/// Adds the values of a field that the API server refuses (V18); `is_encoded` says that they are base64.
fn add_refused_values(
    reader: NodeReader<'_>,
    root: Node<'_>,
    field: &'static str,
    is_encoded: bool,
    source: &mut KeyedData,
) {
    for (key, value) in root.get(field).into_iter().flat_map(Node::own_entries) {
        let (Some(value), Some(key)) = (value.map(Node::resolved), reader.key(key)) else { continue };
        // An empty collection is filled by another tool.
        let is_filled = value.own_entries().next().is_some() || value.items().next().is_some();
        if is_assertion_key(&key.value) || (value.is_mapping() || value.is_sequence()) && !is_filled {
            continue;
        }
        let is_byte = |item: Node<'_>| matches!(item.typed(), Some(TypedScalar::Int(0..256)));
        let flaw = match JsonType::of(value) {
            Some(JsonType::Text) => {
                let text = value.text().filter(|it| is_encoded && !is_stand_in(it) && !may_be_replaced(it));
                if text.is_none_or(|it| decoded(it).is_some()) {
                    continue;
                }
                ValueFlaw::Encoding
            }
            // A list of bytes is decoded too.
            Some(JsonType::List) if is_encoded && value.items().all(is_byte) => continue,
            Some(found) => ValueFlaw::Type(found),
            None => continue,
        };
        source.refused_values.push(RefusedValue { key, span: reader.span(value), field, flaw });
    }
}

/// Labels and annotations that make a controller add keys.
const FILLED_BY: &[&str] = &[
    "config.openshift.io/inject-trusted-cabundle",
    "service.beta.openshift.io/inject-cabundle",
    "service.alpha.openshift.io/inject-cabundle",
    "kubernetes.io/service-account.name",
    "reflector.v1.k8s.emberstack.com/reflects",
    "replicator.v1.mittwald.de/replicate-from",
    "secret-generator.v1.mittwald.de/autogenerate",
];

/// The key with the list of keys that the provider of Conjur adds to a Secret.
const CONJUR_MAP: &str = "conjur-map";

/// Marks data that is not complete in the text: unknown keys, SOPS files, service account tokens, patches, and objects
/// that a controller fills.
fn mark_incomplete(root: Node<'_>, source: &mut KeyedData) {
    let is_unknown = |key: &str| root.get(key).and_then(Node::text).is_some_and(has_placeholder);
    source.may_have_more_keys |= ["data", "stringData"].into_iter().any(is_unknown);
    source.may_have_more_keys |= source.keys.iter().any(|it| has_placeholder(&it.key.value));
    source.keys.retain(|it| !has_placeholder(&it.key.value));
    if root.get("sops").is_some_and(Node::is_mapping) {
        for key in &mut source.keys {
            key.value = None;
        }
        source.refused_values.clear();
        source.may_have_more_keys = true;
        source.made_by = Some("SOPS");
    }
    let is_token = root.get("type").and_then(Node::string) == Some("kubernetes.io/service-account-token");
    let mut metadata = ["labels", "annotations"].into_iter().filter_map(|it| root.at(&["metadata", it]));
    let is_filled = metadata.any(|it| FILLED_BY.iter().any(|filler| it.entry(filler).is_some()));
    // Nobody annotates an object without data, unless the annotation makes a controller fill it.
    let has_data = ["data", "stringData", "binaryData"].into_iter().any(|it| root.entry(it).is_some());
    let annotations = root.at(&["metadata", "annotations"]);
    let is_annotated = annotations.is_some_and(|it| it.own_entries().next().is_some());
    let is_map = source.keys.iter().any(|it| &*it.key.value == CONJUR_MAP);
    source.may_have_more_keys |= is_token || is_filled || is_map || (!has_data && is_annotated);
    if root.entry("$patch").is_some() {
        source.may_have_more_keys = true;
        source.is_addition = true;
    }
}

fn sealed_secret(reader: NodeReader<'_>, root: Node<'_>) -> KeyedData {
    let mut source = KeyedData {
        keys: keys(reader, root.at(&["spec", "encryptedData"]), unknown),
        may_have_more_keys: true,
        object_name: root.at(&["spec", "template", "metadata", "name"]).and_then(|name| reader.text(name)),
        made_by: Some("a SealedSecret"),
        ..KeyedData::default()
    };
    source.keys.extend(keys(reader, root.at(&["spec", "template", "data"]), unknown));
    source
}

fn external_secret(reader: NodeReader<'_>, spec: Option<Node<'_>>, key: &str) -> KeyedData {
    let mut source = KeyedData { may_have_more_keys: true, made_by: Some("an ExternalSecret"), ..KeyedData::default() };
    let Some(spec) = spec else { return source };
    source.object_name = spec.at(&["target", "name"]).and_then(|name| reader.text(name));
    if let Some(list) = spec.get("data") {
        source.keys = mappings(list)
            .filter_map(|(_, item)| reader.text_at(item, key))
            .map(|key| DataEntry { key, value: None, value_span: None })
            .collect();
    }
    source.keys.extend(keys(reader, spec.at(&["target", "template", "data"]), unknown));
    source
}

fn service(reader: NodeReader<'_>, root: Node<'_>) -> Service {
    let Some(spec) = root.get("spec") else { return Service::default() };
    Service {
        type_: reader.text_at(spec, "type"),
        cluster_ip: reader.text_at(spec, "clusterIP").filter(|it| !has_placeholder(&it.value)),
        ports: spec.get("ports").map(|list| service_ports(reader, list)).unwrap_or_default(),
    }
}

fn service_ports(reader: NodeReader<'_>, list: Node<'_>) -> Vec<ServicePort> {
    exact(mappings(list).map(|(_, item)| ServicePort {
        name: reader.text_at(item, "name"),
        port: item.get("port").and_then(number),
        port_text: item.get("port").filter(|it| it.string().is_some()).and_then(|it| reader.text(it)),
        protocol: reader.text_at(item, "protocol"),
        span: reader.span(item),
    }))
}

/// A whole number. `80.0` is one: JSON does not distinguish them.
fn number(node: Node<'_>) -> Option<i64> {
    match node.typed()? {
        TypedScalar::Int(it) => i64::try_from(it).ok(),
        #[expect(clippy::cast_possible_truncation, reason = "checked to be a port number")]
        TypedScalar::Float(it) if it.fract() == 0.0 && (0.0..=65535.0).contains(&it) => Some(it as i64),
        _ => None,
    }
}

fn keys(
    reader: NodeReader<'_>,
    map: Option<Node<'_>>,
    read: fn(Option<Node<'_>>) -> Option<DataValue>,
) -> Vec<DataEntry> {
    let Some(map) = map else { return Vec::new() };
    let entries = map.entries().into_iter().take_while(|_| reader.budget.take());
    exact(entries.filter_map(|(key, value)| {
        let key: Text = reader.key(key)?;
        let value_span = value.map(|value| reader.span(value.resolved()));
        Some(DataEntry { key, value: read(value), value_span })
    }))
}

/// A string. `null` is an empty string. The API server rejects a number or boolean, so its value is unknown.
fn plain(value: Option<Node<'_>>) -> Option<DataValue> {
    let Some(value) = value else { return Some(DataValue::new("")) };
    match value.typed()? {
        TypedScalar::Str(text) => Some(DataValue::new(text)),
        TypedScalar::Null => Some(DataValue::new("")),
        _ => None,
    }
}

/// A string in base64.
fn encoded(value: Option<Node<'_>>) -> Option<DataValue> {
    let bytes = decoded(&plain(value)?)?;
    String::from_utf8(bytes).ok().map(DataValue::new)
}

/// Decodes base64 as Go's decoder does: line breaks are skipped, padding is required, and the bits that are left over may
/// have any value (V18).
fn decoded(text: &str) -> Option<Vec<u8>> {
    const GO: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PAD.with_decode_allow_trailing_bits(true));
    let packed: String = text.chars().filter(|it| !matches!(it, '\r' | '\n')).collect();
    GO.decode(packed).ok()
}

fn unknown(_: Option<Node<'_>>) -> Option<DataValue> {
    None
}
