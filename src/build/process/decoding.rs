//! What decoding and encoding change in an object, apart from its parameters: lists, `apiVersion` and `kind`.

use std::borrow::Cow;

use super::legacy_groups;
use crate::build::node::{BuiltContent, BuiltNode};
use crate::build::origin::{BuiltBy, Place};
use crate::k8s::ObjectSpan;
use crate::syntax::Node;

/// Why an object cannot be decoded (T4.9, T4.10).
pub(super) fn refusal(object: Node<'_>) -> Option<String> {
    if object.get("kind").and_then(Node::string).is_none_or(str::is_empty) {
        return Some("the object has no `kind`".into());
    }
    let version = object.get("apiVersion").and_then(Node::string).unwrap_or_default();
    if split_version(version).is_none() {
        return Some(format!("the `apiVersion` `{version}` has more than one `/`"));
    }
    let items = object.get("items").filter(|it| !is_null(*it))?;
    let are_objects = items.is_sequence() && items.items().all(|it| it.is_mapping() || is_null(it));
    (!are_objects).then(|| "`items` is not a list of objects".into())
}

fn is_null(node: Node<'_>) -> bool {
    node.typed() == Some(crate::syntax::TypedScalar::Null)
}

/// Gives the items of a list without `kind` and `apiVersion` those of the list (T4.10).
pub(super) fn complete_items(list: &mut BuiltNode) {
    let (version, kind) = (text_at(list, "apiVersion"), text_at(list, "kind"));
    let kind = kind.strip_suffix("List").unwrap_or(&kind);
    let Some(items) = list.get_mut("items") else { return };
    if items.is_null() {
        items.content = BuiltContent::List(Vec::new());
    }
    for item in items.items_mut().into_iter().flatten() {
        if item.is_null() {
            item.content = BuiltContent::Map(Vec::new());
        }
        if item.is_map() && text_at(item, "kind").is_empty() && text_at(item, "apiVersion").is_empty() {
            set_text(item, "kind", kind);
            set_text(item, "apiVersion", &version);
        }
    }
}

/// Writes `apiVersion` and `kind` as texts, and adds the group of a legacy kind (T4.10, T7.1). An `apiVersion` that is
/// not valid makes both empty.
pub(super) fn set_group_and_kind(object: &mut BuiltNode) {
    let (written, kind) = (text_at(object, "apiVersion"), text_at(object, "kind"));
    let (group, version, kind) = match split_version(&written) {
        Some(("", version)) => (legacy_groups::group_of(&kind).unwrap_or_default(), version, kind.as_str()),
        Some((group, version)) => (group, version, kind.as_str()),
        None => ("", "", ""),
    };
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    set_text(object, "apiVersion", &api_version);
    set_text(object, "kind", kind);
}

/// The group and the version of an `apiVersion`; `None` if it has several slashes.
fn split_version(text: &str) -> Option<(&str, &str)> {
    let (group, version) = text.split_once('/').unwrap_or(("", text));
    (!version.contains('/')).then_some((group, version))
}

fn text_at(object: &mut BuiltNode, key: &str) -> String {
    object.get_mut(key).and_then(|it| it.string().map(Cow::into_owned)).unwrap_or_default()
}

/// Sets a text, and keeps the node of one that is already there.
fn set_text(object: &mut BuiltNode, key: &str, text: &str) {
    let place = match object.get_mut(key) {
        Some(node) if node.string().as_deref() == Some(text) => return,
        Some(node) => node.place.clone(),
        None => Place::Own(ObjectSpan::default()),
    };
    let scalar = |text: &str| BuiltNode::scalar(place.clone(), BuiltBy::Template, text, true);
    object.set(scalar(key), scalar(text));
}
