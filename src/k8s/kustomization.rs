//! Kustomizations: the ConfigMaps and Secrets that their generators make, and the objects that they patch.

use std::sync::Arc;

use crate::k8s::identity::Identity;
use crate::k8s::model::{DataEntry, DataValue, KeyedData, Kustomization, Model, Object, ObjectData, Text};
use crate::k8s::node_reader::{DEPTH, NodeReader, mappings};
use crate::syntax::{self, Node};

/// Kinds that are a Kustomization.
pub(super) const KINDS: [&str; 2] = ["Kustomization", "Component"];

const GENERATORS: [&str; 2] = ["configMapGenerator", "secretGenerator"];

/// Whether this is a Kustomization. Its file may omit `apiVersion` and `kind`.
pub(super) fn is_kustomization(root: Node<'_>, identity: Identity<'_>) -> bool {
    match identity.kind {
        Some(kind) if KINDS.contains(&kind) => identity.group() == "kustomize.config.k8s.io",
        Some(_) => false,
        None => {
            let listed = |key: &str| root.get(key).is_some_and(Node::is_sequence);
            let own = GENERATORS.into_iter().chain(["patchesStrategicMerge", "patchesJson6902"]);
            let includes = || ["resources", "bases", "components"].into_iter().any(listed);
            own.into_iter().any(listed) || includes() && (listed("patches") || listed("vars"))
        }
    }
}

/// Reads the patches and `vars`.
pub(super) fn kustomization(reader: NodeReader<'_>, root: Node<'_>) -> Kustomization {
    let mut it = Kustomization::default();
    for item in items(root, "patchesStrategicMerge") {
        let text = reader.text(item);
        match text {
            Some(text) if text.value.contains('\n') => it.add_inline_patch(&text.value),
            text => it.patches.extend(text),
        }
    }
    for item in items(root, "patches").chain(items(root, "patchesJson6902")) {
        it.patches.extend(reader.text_at(item, "path"));
        if let Some(patch) = item.get("patch") {
            it.add_inline_patch(patch.text().unwrap_or_default());
        }
    }
    for item in items(root, "vars") {
        it.vars.extend(reader.text_at(item, "name"));
    }
    it
}

impl Kustomization {
    fn add_inline_patch(&mut self, text: &str) {
        self.has_inline_patches = true;
        let tree = syntax::parse(text);
        for root in tree.documents().filter_map(|document| document.root()) {
            add_names(root, DEPTH, &mut self.patched_names);
            let paths = root.items().filter_map(|operation| operation.get("path")?.text());
            self.patches_entries |= paths.filter_map(|it| it.split_once("/env/")).any(|(_, rest)| rest.contains('/'));
        }
    }
}

/// Adds every scalar with the key `name` in a patch.
fn add_names(node: Node<'_>, depth: usize, names: &mut Vec<Arc<str>>) {
    if depth == 0 || node.contains_alias() {
        return;
    }
    for (key, value) in node.entries() {
        let Some(value) = value else { continue };
        match value.text() {
            Some(text) if key.text() == Some("name") => names.push(text.into()),
            _ => add_names(value, depth - 1, names),
        }
    }
    node.items().for_each(|item| add_names(item, depth - 1, names));
}

/// Adds an object for each generator, and for each patch of a ConfigMap or Secret.
pub(super) fn add_generated(reader: NodeReader<'_>, root: Node<'_>, found: &mut Vec<Object>) {
    for (list, data) in
        GENERATORS.into_iter().zip([ObjectData::ConfigMap as fn(KeyedData) -> ObjectData, ObjectData::Secret])
    {
        for (_, item) in root.get(list).into_iter().flat_map(mappings) {
            let item = item.resolved();
            let reader = NodeReader { base: item.span().start, ..reader };
            let model = Model {
                span: reader.span(item),
                name: reader.text_at(item, "name"),
                namespace: reader.text_at(item, "namespace"),
                data: data(generated_data(reader, item)),
                ..Model::default()
            };
            found.push(Object { offset: reader.base, model: Arc::new(model), template: None });
        }
    }
    for item in items(root, "patches").chain(items(root, "patchesJson6902")) {
        let target = item.get("target");
        if let Some(target) = target
            && let Some(name) = target.get("name")
        {
            add_patch(reader, target.get("kind").and_then(Node::string), name, name.text(), found);
        } else if let Some(inline) = item.get("patch") {
            add_inline_patch(reader, inline, found);
        }
    }
    for item in items(root, "patchesStrategicMerge") {
        if item.text().is_some_and(|text| text.contains('\n')) {
            add_inline_patch(reader, item, found);
        }
    }
}

fn generated_data(reader: NodeReader<'_>, item: Node<'_>) -> KeyedData {
    let mut source = KeyedData { made_by: Some("a Kustomize generator"), ..KeyedData::default() };
    let add = |source: &mut KeyedData, entry: &Text, key: &str, value: Option<DataValue>| {
        let key = Text { value: key.into(), ..entry.clone() };
        source.keys.push(DataEntry { key, value, value_span: Some(entry.span) });
    };
    for entry in reader.texts_at(item, "literals") {
        if let Some((key, value)) = entry.value.split_once('=') {
            add(&mut source, &entry, key, Some(DataValue::new(unquoted(value))));
        }
    }
    for entry in reader.texts_at(item, "files") {
        let key = match entry.value.split_once('=') {
            Some((key, _)) => key,
            None => entry.value.rsplit('/').next().unwrap_or_default(),
        };
        add(&mut source, &entry, key, None);
    }
    source.may_have_more_keys = item.get("envs").is_some() || item.get("env").is_some();
    if item.get("behavior").and_then(Node::string) == Some("merge") {
        source.may_have_more_keys = true;
        source.is_addition = true;
    }
    source
}

/// The value of a literal without the pair of quotes that Kustomize removes.
fn unquoted(value: &str) -> &str {
    ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(value)
}

/// Adds the objects of a patch that is written in the Kustomization itself.
fn add_inline_patch(reader: NodeReader<'_>, node: Node<'_>, found: &mut Vec<Object>) {
    let Some(text) = node.text() else { return };
    let tree = syntax::parse(text);
    for root in tree.documents().filter_map(|document| document.root()) {
        let identity = Identity::from_node(root);
        let name = root.at(&["metadata", "name"]).and_then(Node::text);
        add_patch(reader, identity.kind, node, name, found);
    }
}

/// Adds an object for a patch of a ConfigMap or Secret. Its keys are unknown.
fn add_patch(reader: NodeReader<'_>, kind: Option<&str>, at: Node<'_>, name: Option<&str>, found: &mut Vec<Object>) {
    let source = KeyedData {
        may_have_more_keys: true,
        is_addition: true,
        made_by: Some("a Kustomize patch"),
        ..KeyedData::default()
    };
    let data = match kind {
        Some("ConfigMap") => ObjectData::ConfigMap(source),
        Some("Secret") => ObjectData::Secret(source),
        _ => return,
    };
    let at = at.resolved();
    let reader = NodeReader { base: at.span().start, ..reader };
    let (Some(name), Some(text)) = (name, reader.text(at)) else { return };
    let name = Text { value: name.into(), ..text };
    let model = Model { span: reader.span(at), name: Some(name), data, ..Model::default() };
    found.push(Object { offset: reader.base, model: Arc::new(model), template: None });
}

fn items<'t>(root: Node<'t>, key: &str) -> impl Iterator<Item = Node<'t>> {
    root.get(key).into_iter().flat_map(Node::items)
}
