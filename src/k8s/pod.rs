//! Reading pod specs and containers.

use std::sync::Arc;

use crate::k8s::container_shape::{self, ContainerShape, ShapeEntry};
use crate::k8s::content_hash::{self, Defaults};
use crate::k8s::model::{
    Container, ContainerRole, EnvFrom, EnvFromSource, EnvVar, KeyRef, Mount, Pod, Probe, Text, UserFields, ValueFrom,
    ValueSource, Volume,
};
use crate::k8s::node_reader::{DEPTH, NodeReader, exact, mappings};
use crate::k8s::object_cache;
use crate::k8s::service_dependencies;
use crate::syntax::{Node, TypedScalar, has_placeholder};

/// The lists of containers of a pod spec, in the order of [`Pod::containers`].
const LISTS: [(&str, ContainerRole); 3] = [
    ("initContainers", ContainerRole::Init),
    ("containers", ContainerRole::Container),
    ("ephemeralContainers", ContainerRole::Ephemeral),
];

const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

/// Reads a pod spec. The caller adds the metadata around it.
pub(super) fn pod(reader: NodeReader<'_>, spec: Node<'_>, path: String) -> Pod {
    let mut pod = Pod {
        span: reader.span(spec),
        default_service_links: true,
        service_links: reader.flag(spec, "enableServiceLinks"),
        service_dependencies: service_dependencies::dependencies(reader, spec),
        node_name: reader.text_at(spec, "nodeName"),
        service_account: reader.text_at(spec, "serviceAccountName").or_else(|| reader.text_at(spec, "serviceAccount")),
        limits: reader.pairs_at(spec, &["resources", "limits"]),
        volumes: spec.get("volumes").map(|list| volumes(reader, list)).unwrap_or_default(),
        user: user(reader, spec),
        misplaced: container_shape::misplaced_fields(reader, spec),
        ..Pod::default()
    };
    for (list, role) in LISTS {
        let Some(items) = spec.get(list) else { continue };
        for (index, item) in mappings(items) {
            if reader.budget.take() {
                pod.containers.push(object_cache::container(reader, item, format!("{path}.{list}[{index}]"), role));
            }
        }
    }
    pod.containers.shrink_to_fit();
    pod.path = path;
    pod
}

/// Whether a mapping of an unknown kind looks like a pod spec: it has a list of containers.
pub(super) fn looks_like_pod_spec(node: Node<'_>) -> bool {
    LISTS.iter().any(|(list, _)| {
        node.get(list).is_some_and(|items| mappings(items).any(|(_, item)| looks_like_container(item)))
    })
}

fn looks_like_container(node: Node<'_>) -> bool {
    let has = |key: &str| node.entry(key).is_some();
    has("image") || has("name") && ["env", "envFrom", "command", "args", "volumeMounts"].into_iter().any(has)
}

/// Reads the fields that a preset adds to pods, as a pod with one container.
pub(super) fn fragment(reader: NodeReader<'_>, spec: Node<'_>, path: &str) -> Pod {
    let mut given = container(reader, spec, path.to_owned(), ContainerRole::Container);
    // The fields of a preset include its selector and volumes, which are not fields of a container.
    given.unexpanded.clear();
    apply_shape(&mut given, container_shape::fields(reader, spec, "env"));
    Pod {
        path: path.to_owned(),
        span: reader.span(spec),
        default_service_links: true,
        volumes: spec.get("volumes").map(|list| volumes(reader, list)).unwrap_or_default(),
        containers: vec![Arc::new(given)],
        ..Pod::default()
    }
}

/// Reads a deployment hook: its variables and command, and the name of the container that it is based on.
pub(super) fn hook(reader: NodeReader<'_>, node: Node<'_>, path: String, env: &str) -> Container {
    let mut it = Container {
        path,
        span: reader.span(node),
        role: ContainerRole::Hook,
        name: reader.text_at(node, "containerName"),
        image: reader.text_at(node, "image"),
        env: node.get(env).map(|list| variables(reader, list)).unwrap_or_default(),
        env_span: node.get(env).map(|list| reader.span(list)),
        command: reader.texts_at(node, "command"),
        ..Container::default()
    };
    apply_shape(&mut it, container_shape::fields(reader, node, env));
    it
}

/// Reads a container.
pub(super) fn container(reader: NodeReader<'_>, node: Node<'_>, path: String, role: ContainerRole) -> Container {
    let mut it = Container { path, span: reader.span(node), role, ..Container::default() };
    it.working_directory = reader.text_at(node, "workingDir");
    it.has_hooks = node.get("lifecycle").is_some_and(Node::is_mapping);
    it.user = user(reader, node);
    for (key, value) in node.entries() {
        let (Some(name), Some(value)) = (key.key_text(), value) else { continue };
        match &*name {
            "name" => it.name = reader.text(value),
            "image" => {
                it.image = reader.text(value);
                unexpanded(reader, value, "image", &mut it);
            }
            "env" => {
                it.env_span = Some(reader.span(value));
                it.env = variables(reader, value);
                for (index, entry) in mappings(value) {
                    if let Some(from) = entry.get("valueFrom") {
                        unexpanded(reader, from, &format!("env[{index}].valueFrom"), &mut it);
                    }
                }
            }
            "envFrom" => {
                it.env_from = exact(reader.items(value).map(|e| env_from(reader, e)));
                unexpanded(reader, value, "envFrom", &mut it);
            }
            "command" => it.command = reader.texts(value),
            "args" => it.args = reader.texts(value),
            "volumeMounts" => mounts(reader, value, &mut it),
            "resources" => {
                it.limits = reader.pairs_at(value, &["limits"]);
                it.requests = reader.pairs_at(value, &["requests"]);
                unexpanded(reader, value, "resources", &mut it);
            }
            "restartPolicy" => {
                if role == ContainerRole::Init && value.string() == Some("Always") {
                    it.role = ContainerRole::Sidecar;
                }
            }
            other => match PROBES.into_iter().find(|probe| *probe == other) {
                Some(name) => probe(reader, value, name, &mut it),
                None => unexpanded(reader, value, other, &mut it),
            },
        }
    }
    it.may_have_more_variables = ["env", "envFrom"].into_iter().any(|key| is_partly_unknown(node, key));
    apply_shape(&mut it, container_shape::container(reader, node));
    it
}

/// Adds the mistakes in the shape of a container, and marks what they hide.
fn apply_shape(container: &mut Container, shape: ContainerShape) {
    container.may_have_more_variables |= shape.hides_variables;
    for mistake in &shape.mistakes {
        let is_malformed = match mistake.entry {
            ShapeEntry::Container => None,
            ShapeEntry::Env(index) => container.env.get_mut(index).map(|it| &mut it.is_malformed),
            ShapeEntry::EnvFrom(index) => container.env_from.get_mut(index).map(|it| &mut it.is_malformed),
        };
        if let Some(is_malformed) = is_malformed {
            *is_malformed = true;
        }
    }
    container.shape = shape;
}

/// Reads the user in the `securityContext` of a pod spec or a container.
fn user(reader: NodeReader<'_>, node: Node<'_>) -> UserFields {
    let Some(context) = node.get("securityContext") else { return UserFields::default() };
    UserFields {
        id: reader.text_at(context, "runAsUser"),
        is_non_root: reader.flag(context, "runAsNonRoot").map(|(it, _)| it),
    }
}

/// Whether the list at a key, or an item of it, is not known.
fn is_partly_unknown(node: Node<'_>, key: &str) -> bool {
    let is_unknown = |node: Node<'_>| node.text().is_some_and(has_placeholder);
    node.get(key).is_some_and(|list| is_unknown(list) || list.items().any(is_unknown))
}

fn variables(reader: NodeReader<'_>, list: Node<'_>) -> Vec<EnvVar> {
    exact(reader.items(list).map(|item| EnvVar {
        span: reader.span(item),
        name: reader.text_at(item, "name"),
        value: reader.text_at(item, "value"),
        from: item.get("valueFrom").filter(|from| from.is_mapping()).map(|from| value_from(reader, from)),
        is_malformed: false,
    }))
}

fn value_from(reader: NodeReader<'_>, node: Node<'_>) -> ValueFrom {
    let text = |source: Node<'_>, key: &str| reader.text_at(source, key);
    let key = |source: Node<'_>| KeyRef {
        name: text(source, "name"),
        key: text(source, "key"),
        optional: reader.is_set(source, "optional"),
    };
    // B20: the order in which the kubelet checks them.
    let known = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let sources =
        known.into_iter().filter_map(|name| Some((name, node.get(name).filter(|source| source.is_mapping())?)));
    let sources = exact(sources.map(|(name, source)| match name {
        "fieldRef" => ValueSource::Field { api_version: text(source, "apiVersion"), path: text(source, "fieldPath") },
        "resourceFieldRef" => ValueSource::Resource {
            container: text(source, "containerName"),
            resource: text(source, "resource"),
            divisor: text(source, "divisor"),
        },
        "configMapKeyRef" => ValueSource::ConfigMap(key(source)),
        "secretKeyRef" => ValueSource::Secret(key(source)),
        _ => ValueSource::File {
            field: node.entry(name).map_or(reader.span(source), |(key, _)| reader.span(key)),
            volume: text(source, "volumeName"),
            path: text(source, "path"),
            key: text(source, "key"),
            optional: reader.is_set(source, "optional"),
        },
    }));
    ValueFrom {
        span: reader.span(node),
        sources,
        others: others(reader, node, &known),
        content_hash: content_hash::hash_node(node, "", Defaults::Filled, reader.budget),
    }
}

/// The keys of a mapping that have a value and are not in `known`. A field that is null is absent.
fn others(reader: NodeReader<'_>, node: Node<'_>, known: &[&str]) -> Vec<Text> {
    let is_set = |value: Option<Node<'_>>| value.is_some_and(|it| it.typed() != Some(TypedScalar::Null));
    let keys = node.entries().into_iter().filter(|(_, value)| is_set(*value)).filter_map(|(key, _)| reader.key(key));
    keys.filter(|key| !known.contains(&&*key.value)).collect()
}

fn env_from(reader: NodeReader<'_>, item: Node<'_>) -> EnvFrom {
    let source = |key: &str| item.get(key).filter(|source| source.is_mapping());
    let name = |source: Node<'_>| reader.text_at(source, "name");
    let optional = |source: Node<'_>| reader.is_set(source, "optional");
    let source = if let Some(source) = source("configMapRef") {
        Some(EnvFromSource::ConfigMap { name: name(source), optional: optional(source) })
    } else if let Some(source) = source("secretRef") {
        Some(EnvFromSource::Secret { name: name(source), optional: optional(source) })
    } else {
        // A link without a value has no name.
        let is_link =
            |value: &Option<Node<'_>>| value.is_none_or(|it| it.is_mapping() || it.typed() == Some(TypedScalar::Null));
        let link = item.entry("service").filter(|(_, value)| is_link(value));
        link.map(|(key, value)| EnvFromSource::Service { field: reader.span(key), name: value.and_then(name) })
    };
    let used = match source {
        Some(EnvFromSource::ConfigMap { .. }) => "configMapRef",
        Some(EnvFromSource::Secret { .. }) => "secretRef",
        Some(EnvFromSource::Service { .. }) => "service",
        None => "",
    };
    let others = others(reader, item, &["prefix", used]);
    let content_hash = content_hash::hash_node(item, "", Defaults::Filled, reader.budget);
    let (span, prefix) = (reader.span(item), reader.text_at(item, "prefix"));
    EnvFrom { span, prefix, source, others, content_hash, is_malformed: false }
}

fn mounts(reader: NodeReader<'_>, list: Node<'_>, container: &mut Container) {
    for (index, item) in list.items().enumerate() {
        if !reader.budget.take() {
            return;
        }
        container.mounts.push(Mount {
            span: reader.span(item),
            name: reader.text_at(item, "name"),
            mount_path: reader.text_at(item, "mountPath"),
            sub_path: reader.text_at(item, "subPath"),
            sub_path_expr: reader.text_at(item, "subPathExpr"),
            read_only: reader.is_set(item, "readOnly"),
            content_hash: content_hash::hash_node(item, "", Defaults::Filled, reader.budget),
        });
        for (key, value) in item.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            if key != "subPathExpr" {
                unexpanded(reader, value, &format!("volumeMounts[{index}].{key}"), container);
            }
        }
    }
}

fn probe(reader: NodeReader<'_>, node: Node<'_>, name: &'static str, container: &mut Container) {
    if let Some(command) = node.at(&["exec", "command"]) {
        container.probes.push(Probe { probe: name, command: reader.texts(command) });
    }
    for (key, value) in node.entries() {
        let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
        if key != "exec" {
            unexpanded(reader, value, &format!("{name}.{key}"), container);
        }
    }
}

fn volumes(reader: NodeReader<'_>, list: Node<'_>) -> Vec<Volume> {
    exact(reader.items(list).map(|item| Volume {
        span: reader.span(item),
        name: reader.text_at(item, "name"),
        kind: volume_kinds(reader, item).next(),
        second_kind: volume_kinds(reader, item).nth(1),
        content_hash: content_hash::hash_volume(item, Defaults::Filled, reader.budget),
    }))
}

/// The keys of a volume other than its name. A source that is null is absent.
fn volume_kinds(reader: NodeReader<'_>, item: Node<'_>) -> impl Iterator<Item = Text> {
    let is_source = |key: Node<'_>| key.key_text().is_some_and(|key| key != "name" && key != "<<");
    let is_set = |value: Option<Node<'_>>| value.is_some_and(|it| it.typed() != Some(TypedScalar::Null));
    let sources = item.own_entries().filter(move |(key, value)| is_source(*key) && is_set(*value));
    sources.filter_map(move |(key, _)| reader.key(key))
}

/// Adds the strings with a `$` under a node. Kubernetes does not expand them.
fn unexpanded(reader: NodeReader<'_>, node: Node<'_>, path: &str, container: &mut Container) {
    walk(reader, node, path, DEPTH, container);
}

fn walk(reader: NodeReader<'_>, node: Node<'_>, path: &str, depth: usize, container: &mut Container) {
    if depth == 0 || !reader.budget.take() {
        return;
    }
    let holds_dollar = |node: Node<'_>| node.text().is_some_and(|text| text.contains('$'));
    if node.is_sequence() {
        let whole = node.items().any(holds_dollar);
        for (index, item) in node.items().enumerate() {
            let path = format!("{path}[{index}]");
            match reader.text(item).filter(|_| whole) {
                Some(text) => container.unexpanded.push((path, text)),
                None => walk(reader, item, &path, depth - 1, container),
            }
        }
    } else if node.is_mapping() {
        for (key, value) in node.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            walk(reader, value, &format!("{path}.{key}"), depth - 1, container);
        }
    } else if holds_dollar(node)
        && let Some(text) = reader.text(node)
    {
        container.unexpanded.push((path.to_owned(), text));
    }
}
