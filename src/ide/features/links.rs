//! Document links from names of objects to their definitions.

use std::sync::Arc;

use crate::build::BuiltObject;
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::describe::manifest_kind;
use crate::ide::shared::located_container::{LocatedContainer, pods_of};
use crate::ide::shared::named_objects::{name_location, objects_named};
use crate::ide::shared::volume_sources::{has_volume_sources, volume_sources};
use crate::k8s::{EnvFromSource, Text, ValueSource};
use crate::resolve::OriginKind;
use crate::syntax::has_placeholder;
use crate::text::Span;

/// A link on the name of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLink {
    /// The name.
    pub span: Span,
    /// The definition.
    pub target: Location,
    /// Kind and name of the object, such as `ConfigMap/app`.
    pub tooltip: String,
}

/// The links of a file, in the order of the text. A name that matches several objects has no link.
pub fn document_links(analysis: &Analysis<'_>, file: &Arc<str>) -> Vec<DocumentLink> {
    let Some(file_text) = analysis.file_text(file) else { return Vec::new() };
    let mut links = Vec::new();
    let mut push = |object: BuiltObject<'_>, kind: OriginKind, name: &Text| {
        let found = objects_named(kind, &name.value, object);
        let ([only], false) = (found.as_slice(), has_placeholder(&name.value)) else { return };
        let span = file_text.inside(object, name, 0..name.value.len());
        let target = name_location(only.object);
        let tooltip = format!("{}/{}", manifest_kind(kind), name.value);
        links.push(DocumentLink { span, target, tooltip });
    };
    for at in LocatedContainer::all_with_presets(analysis, file) {
        names(&at).for_each(|(kind, name)| push(at.object, kind, name));
    }
    for object in analysis.objects(file) {
        let dependencies = object.model.pods.iter().filter_map(|it| it.service_dependencies.as_ref());
        for name in dependencies.flat_map(|it| &it.services).filter_map(|it| it.name.as_ref()) {
            push(object, OriginKind::Service, name);
        }
        for source in
            pods_of(object).filter(|it| has_volume_sources(it)).flat_map(|it| volume_sources(&file_text, object, it))
        {
            push(object, source.kind, &source.name);
        }
    }
    links.sort_by_key(|it| it.span);
    links.dedup_by(|b, a| a.span == b.span);
    links
}

/// The names of objects in a container.
fn names<'s>(at: &LocatedContainer<'s>) -> impl Iterator<Item = (OriginKind, &'s Text)> + use<'s> {
    let sources = at.container.env.iter().filter_map(|it| it.from.as_ref()).flat_map(|it| &it.sources);
    let keys = sources.filter_map(|it| match it {
        ValueSource::ConfigMap(it) => Some((OriginKind::ConfigMap, it.name.as_ref()?)),
        ValueSource::Secret(it) => Some((OriginKind::Secret, it.name.as_ref()?)),
        _ => None,
    });
    let whole = at.container.env_from.iter().filter_map(|it| match it.source.as_ref()? {
        EnvFromSource::ConfigMap { name, .. } => Some((OriginKind::ConfigMap, name.as_ref()?)),
        EnvFromSource::Secret { name, .. } => Some((OriginKind::Secret, name.as_ref()?)),
        EnvFromSource::Service { name, .. } => Some((OriginKind::Service, name.as_ref()?)),
    });
    keys.chain(whole)
}
