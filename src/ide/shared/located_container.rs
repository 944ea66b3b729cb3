//! Containers with their file, object and pod, and functions to find them.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::k8s::{Container, EnvVar, Object, ObjectData, Pod, PodPreset};
use crate::resolve::Environment;
use crate::rules::{ContainerContext, FileContext, ObjectContext, PodContext};
use crate::text::Span;
use crate::workspace::{File, LookupSite};

/// A container with its file, object and pod.
#[derive(Clone, Debug)]
pub(crate) struct LocatedContainer<'s> {
    /// The file.
    pub(crate) file: Arc<str>,
    /// The parsed file.
    pub(crate) facts: &'s File,
    /// The object.
    pub(crate) object: &'s Object,
    /// The pod.
    pub(crate) pod: &'s Pod,
    /// The container.
    pub(crate) container: &'s Container,
}

impl<'s> LocatedContainer<'s> {
    /// Every container of a file.
    pub(crate) fn all(file: &Arc<str>, facts: &'s File) -> impl Iterator<Item = LocatedContainer<'s>> {
        facts.objects.iter().flat_map(move |object| Self::of_object(file, facts, object))
    }

    /// The containers of an object.
    pub(crate) fn of_object(
        file: &Arc<str>,
        facts: &'s File,
        object: &'s Object,
    ) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        let file = Arc::clone(file);
        object.model.pods.iter().flat_map(move |pod| {
            let file = Arc::clone(&file);
            pod.containers.iter().map(move |container| LocatedContainer {
                file: Arc::clone(&file),
                facts,
                object,
                pod,
                container,
            })
        })
    }

    /// The containers of an object; for a PodPreset its entries as one container. The environment of that container is
    /// not the environment in a pod: see [`preset_workloads`](crate::ide::shared::preset_workloads).
    pub(crate) fn of_object_or_preset(
        file: &Arc<str>,
        facts: &'s File,
        object: &'s Object,
    ) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        let file_ = Arc::clone(file);
        let preset = preset_of(object).and_then(|preset| Some((preset, preset.container()?)));
        let preset = preset.map(|(preset, container)| LocatedContainer {
            file: file_,
            facts,
            object,
            pod: &preset.pod,
            container,
        });
        Self::of_object(file, facts, object).chain(preset)
    }

    /// The containers of a file, with its PodPresets as containers.
    pub(crate) fn all_with_presets(file: &Arc<str>, facts: &'s File) -> impl Iterator<Item = LocatedContainer<'s>> {
        facts.objects.iter().flat_map(move |object| Self::of_object_or_preset(file, facts, object))
    }

    /// Whether it holds the entries of a PodPreset.
    pub(crate) fn is_preset(&self) -> bool {
        preset_of(self.object).is_some_and(|it| std::ptr::eq(&it.pod, self.pod))
    }

    /// Its environment.
    pub(crate) fn environment(&self, analysis: &Analysis<'_>) -> Environment {
        analysis.resolver.environment(&self.file, self.object, self.pod, self.container)
    }

    /// Whether it covers an offset.
    pub(crate) fn touches(&self, offset: usize) -> bool {
        self.object.file_span(self.container.span).touches(offset)
    }

    /// A span of the object as a location.
    pub(crate) fn at(&self, span: Span) -> Location {
        Location { file: Arc::clone(&self.file), span: self.object.file_span(span) }
    }

    /// The entry of `env` whose name is at a location.
    pub(crate) fn entry_at(&self, location: &Location) -> Option<(usize, &'s EnvVar)> {
        let is_it = |it: &&'s EnvVar| it.name.as_ref().is_some_and(|it| self.at(it.span) == *location);
        let index = self.container.env.iter().position(|it| is_it(&it))?;
        Some((index, &self.container.env[index]))
    }

    /// Calls a function of `rules` with the context of the container.
    pub(crate) fn with_context<T>(
        &self,
        analysis: &Analysis<'_>,
        environment: &Environment,
        call: impl FnOnce(&ContainerContext<'_>) -> T,
    ) -> T {
        let Analysis { snapshot, resolver, texts } = *analysis;
        let file = FileContext { snapshot, resolver, path: &self.file, facts: self.facts, texts };
        let object = ObjectContext { file: &file, object: self.object };
        let pod = PodContext { object: &object, pod: self.pod };
        call(&ContainerContext { pod: &pod, container: self.container, environment })
    }
}

/// The PodPreset data of an object.
pub(crate) fn preset_of(object: &Object) -> Option<&PodPreset> {
    match &object.model.data {
        ObjectData::Preset(preset) => Some(preset),
        _ => None,
    }
}

/// The pods of an object; for a PodPreset its entries as a pod.
pub(crate) fn pods_of(object: &Object) -> impl Iterator<Item = &Pod> {
    object.model.pods.iter().chain(preset_of(object).map(|it| &it.pod))
}

/// The site that names in an object are looked up from.
pub(crate) fn lookup_site<'a>(file: &'a str, object: &'a Object) -> LookupSite<'a> {
    LookupSite { file, namespace: object.namespace() }
}

/// The objects around an offset, the innermost first.
pub(crate) fn objects_at(facts: &File, offset: usize) -> Vec<&Object> {
    let mut found: Vec<&Object> =
        facts.objects.iter().filter(|it| it.file_span(it.model.span).touches(offset)).collect();
    found.sort_by_key(|it| it.model.span.len());
    found
}

/// The container at an offset.
pub(crate) fn container_at<'s>(file: &Arc<str>, facts: &'s File, offset: usize) -> Option<LocatedContainer<'s>> {
    objects_at(facts, offset)
        .into_iter()
        .flat_map(|object| LocatedContainer::of_object(file, facts, object))
        .find(|it| it.touches(offset))
}
