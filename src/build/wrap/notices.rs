//! Notices about a template that was made from objects.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::build::process::Json;
use crate::build::wrap::{InputObject, WrapOptions, value_replacer};
use crate::syntax::template_parameters;

/// `metadata.namespace`, if it is a string that is not empty.
pub(super) fn namespace<'j>(object: &'j Json<'_>) -> Option<&'j str> {
    let text = object.as_map()?.get("metadata")?.as_map()?.get("namespace")?.as_text()?;
    (!text.is_empty()).then_some(text)
}

/// `Kind/name`
pub(super) fn title(object: &Json<'_>) -> String {
    let map = object.as_map();
    let kind = map.and_then(|it| it.get("kind")).and_then(Json::as_text).unwrap_or("object");
    let name = map.and_then(|it| it.get("metadata")).and_then(Json::as_map).and_then(|it| it.get("name"));
    match name.and_then(Json::as_text) {
        Some(name) => format!("{kind}/{name}"),
        None => kind.to_owned(),
    }
}

/// A notice with the names it is about.
pub(super) fn line(text: &str, about: &[String]) -> String {
    const MOST: usize = 5;
    let more = about.len().saturating_sub(MOST);
    let mut names = about[..about.len().min(MOST)].join(", ");
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    format!("{text}: {names}")
}

/// Fields that a cluster sets; they should not be applied to another cluster.
const SET_BY_CLUSTER: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

/// All notices about the objects; `kept` says for each object whether it keeps its namespace.
pub(super) fn notices(options: &WrapOptions, objects: &[InputObject<'_>], kept: &[bool]) -> Vec<String> {
    let (mut lost, mut not_replaced, mut from_cluster, mut encoded) =
        (Vec::new(), BTreeSet::new(), Vec::new(), Vec::new());
    for (it, keeps_namespace) in objects.iter().zip(kept) {
        let title = title(&it.data);
        if namespace(&it.data).is_some() && !keeps_namespace {
            lost.push(title.clone());
        }
        for (text, _) in value_replacer::texts(it.node) {
            not_replaced.extend(template_parameters(&text).map(|it| format!("${{{}}}", &text[it.name])));
        }
        if is_from_cluster(&it.data) {
            from_cluster.push(title.clone());
        }
        encoded.extend(encoded_in(options, &it.data).map(|key| format!("{title} {key}")));
    }
    let not_replaced: Vec<String> = not_replaced.into_iter().collect();
    let all = [
        ("processing removes a namespace without a parameter (use --param NAMESPACE=…)", lost),
        ("not replaced, because no parameter has this name", not_replaced),
        ("contains fields that a cluster sets, such as `status` or `metadata.uid`; remove them", from_cluster),
        ("the value is base64-encoded there, so it is not replaced; use `stringData`", encoded),
    ];
    all.iter().filter(|(_, about)| !about.is_empty()).map(|(text, about)| line(text, about)).collect()
}

fn is_from_cluster(object: &Json<'_>) -> bool {
    let Some(map) = object.as_map() else { return false };
    let is_set = |it: &Json<'_>| match it {
        Json::Null => false,
        Json::Map(map) => !map.is_empty(),
        Json::Text(text) => !text.is_empty(),
        _ => true,
    };
    let metadata = map.get("metadata").and_then(Json::as_map);
    map.get("status").is_some_and(is_set)
        || metadata.is_some_and(|it| SET_BY_CLUSTER.iter().any(|key| it.get(*key).is_some_and(is_set)))
}

/// The keys in `data` of a Secret whose decoded value is the value of a parameter.
fn encoded_in<'j>(options: &'j WrapOptions, object: &'j Json<'_>) -> impl Iterator<Item = String> + 'j {
    let map = object.as_map().filter(|it| it.get("kind").and_then(Json::as_text) == Some("Secret"));
    let data = map.and_then(|it| it.get("data")).and_then(Json::as_map).into_iter().flatten();
    data.filter(|(_, value)| {
        let bytes = value.as_text().and_then(|it| STANDARD.decode(it).ok());
        bytes.is_some_and(|it| options.parameters.iter().any(|choice| choice.value.as_bytes() == it))
    })
    .map(|(key, _)| format!("data.{key}"))
}
