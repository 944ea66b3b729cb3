//! Config maps and secrets in volumes: their names and the keys in `items`.
//!
//! They define no variables, so the model does not hold them and they are read from the tree. Rename and references
//! need them.

use std::sync::Arc;

use crate::build::BuiltObject;
use crate::ide::shared::file_text::FileText;
use crate::k8s::{ObjectSpan, Pod, Text};
use crate::resolve::OriginKind;
use crate::syntax::{Node, ScalarStyle};

/// A ConfigMap or Secret in a volume.
#[derive(Clone, Debug)]
pub(crate) struct VolumeSource {
    /// The kind of the object.
    pub(crate) kind: OriginKind,
    /// Its name.
    pub(crate) name: Text,
    /// The keys in `items`.
    pub(crate) keys: Vec<Text>,
}

/// Whether a pod has such volumes, by the model alone.
pub(crate) fn has_volume_sources(pod: &Pod) -> bool {
    let is_source = |kind: &Text| matches!(&*kind.value, "configMap" | "secret" | "projected");
    pod.volumes.iter().any(|it| it.kind.as_ref().is_some_and(is_source))
}

/// The ConfigMaps and Secrets in the volumes of a pod.
pub(crate) fn volume_sources(file_text: &FileText, object: BuiltObject<'_>, pod: &Pod) -> Vec<VolumeSource> {
    let mut found = Vec::new();
    for volume in &pod.volumes {
        let span = object.file_span(volume.span);
        let Some(root) = file_text.source.tree.document_at(span.start).and_then(|it| it.root()) else { continue };
        let ancestors = root.path_to(span.start);
        let Some(node) = ancestors.into_iter().find(|it| it.span() == span && it.is_mapping()) else { continue };
        found.extend(source(object, node, "secretName"));
        let projected = node.at(&["projected", "sources"]).into_iter().flat_map(Node::items);
        found.extend(projected.flat_map(|it| source(object, it, "name")));
    }
    found
}

/// The sources of a volume or of one source of a projected volume. `secret_name` is the key of a Secret's name, which
/// differs between the two.
fn source(object: BuiltObject<'_>, node: Node<'_>, secret_name: &str) -> Vec<VolumeSource> {
    let kinds = [("configMap", OriginKind::ConfigMap, "name"), ("secret", OriginKind::Secret, secret_name)];
    let read = |(key, kind, name): (&str, OriginKind, &str)| {
        let source = node.get(key)?;
        let items = source.get("items").into_iter().flat_map(Node::items);
        let keys = items.filter_map(|it| text(object, it.get("key")?)).collect();
        Some(VolumeSource { kind, name: text(object, source.get(name)?)?, keys })
    };
    kinds.into_iter().filter_map(read).collect()
}

fn text(object: BuiltObject<'_>, node: Node<'_>) -> Option<Text> {
    let node = node.resolved();
    Some(Text {
        value: built_value(object, node.text()?),
        span: ObjectSpan::relative(node.span().relative_to(object.source.offset)),
        style: node.style().unwrap_or(ScalarStyle::Plain),
        is_string: node.string().is_some(),
    })
}

/// The value of a scalar after the template's parameters are substituted.
fn built_value(object: BuiltObject<'_>, text: &str) -> Arc<str> {
    let written: Arc<str> = text.into();
    let parameters = object.source.template.as_ref().map(|it| &it.parameters);
    parameters.and_then(|it| it.substituted_string(&written)).unwrap_or(written)
}
