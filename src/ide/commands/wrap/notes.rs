//! What a person should know about a template that was made of objects.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::ide::commands::process::Json;
use crate::ide::commands::wrap::{InputObject, WrapOptions, values};
use crate::syntax::template_parameters;

/// `metadata.namespace`, where it is a text.
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

/// What is to say, and about what.
pub(super) fn line(text: &str, about: &[String]) -> String {
    const MOST: usize = 5;
    let more = about.len().saturating_sub(MOST);
    let mut names = about[..about.len().min(MOST)].join(", ");
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    format!("{text}: {names}")
}

/// Fields that a cluster fills in: nobody wants them in another one.
const OF_A_CLUSTER: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

/// Everything that is to say about objects and what became of them.
pub(super) fn notices(options: &WrapOptions, wanted: &[InputObject<'_>], kept: &[bool]) -> Vec<String> {
    let (mut lost, mut staying, mut from_cluster, mut encoded) = (Vec::new(), BTreeSet::new(), Vec::new(), Vec::new());
    for (it, keeps_namespace) in wanted.iter().zip(kept) {
        let title = title(&it.said);
        if namespace(&it.said).is_some() && !keeps_namespace {
            lost.push(title.clone());
        }
        for (text, _) in values::texts(it.node) {
            staying.extend(template_parameters(&text).map(|it| format!("${{{}}}", &text[it.name])));
        }
        if is_from_cluster(&it.said) {
            from_cluster.push(title.clone());
        }
        encoded.extend(encoded_in(options, &it.said).map(|key| format!("{title} {key}")));
    }
    let staying: Vec<String> = staying.into_iter().collect();
    let all = [
        ("processing removes a namespace that no parameter gives (--parameter NAMESPACE=…)", lost),
        ("stays as it is, since no parameter is called so", staying),
        ("has fields that a cluster filled in, such as `status` or `metadata.uid`; take them out", from_cluster),
        ("the value is in base64 there, where no parameter can be put in; use `stringData`", encoded),
    ];
    all.iter().filter(|(_, about)| !about.is_empty()).map(|(text, about)| line(text, about)).collect()
}

fn is_from_cluster(object: &Json<'_>) -> bool {
    let Some(map) = object.as_map() else { return false };
    let says = |it: &Json<'_>| match it {
        Json::Null => false,
        Json::Map(map) => !map.is_empty(),
        Json::Text(text) => !text.is_empty(),
        _ => true,
    };
    let metadata = map.get("metadata").and_then(Json::as_map);
    map.get("status").is_some_and(says)
        || metadata.is_some_and(|it| OF_A_CLUSTER.iter().any(|key| it.get(*key).is_some_and(says)))
}

/// The keys of a Secret whose bytes are one of the values.
fn encoded_in<'j>(options: &'j WrapOptions, object: &'j Json<'_>) -> impl Iterator<Item = String> + 'j {
    let map = object.as_map().filter(|it| it.get("kind").and_then(Json::as_text) == Some("Secret"));
    let data = map.and_then(|it| it.get("data")).and_then(Json::as_map).into_iter().flatten();
    data.filter(|(_, value)| {
        let bytes = value.as_text().and_then(|it| STANDARD.decode(it).ok());
        bytes.is_some_and(|it| options.parameters.iter().any(|given| given.value.as_bytes() == it))
    })
    .map(|(key, _)| format!("data.{key}"))
}
