//! Containers with their file, object and pod, and functions to find them.

use std::sync::Arc;

use crate::build::{self, BuiltContainer, BuiltObject};
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::k8s::{Container, EnvVar, Object, ObjectSpan, Pod};
use crate::resolve::Environment;
use crate::rules::{ContainerContext, FileContext};
use crate::workspace::File;

/// A container with its file, object and pod.
#[derive(Clone, Debug)]
pub(crate) struct LocatedContainer<'s> {
    /// The file.
    pub(crate) file: Arc<str>,
    /// The parsed file.
    pub(crate) facts: &'s File,
    /// The object.
    pub(crate) object: BuiltObject<'s>,
    /// The pod.
    pub(crate) pod: &'s Pod,
    /// The container.
    pub(crate) container: &'s Container,
}

impl<'s> LocatedContainer<'s> {
    /// Every container of a file.
    pub(crate) fn all(analysis: &Analysis<'s>, file: &str) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        analysis.objects(file).flat_map(Self::of_object)
    }

    /// The containers of an object.
    pub(crate) fn of_object(object: BuiltObject<'s>) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        object.containers().filter_map(Self::of)
    }

    /// The containers of an object; for a PodPreset its entries as one container. The environment of that container is
    /// not the environment in a pod: see [`preset_workloads`](crate::ide::shared::preset_workloads).
    pub(crate) fn of_object_or_preset(object: BuiltObject<'s>) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        Self::of_object(object).chain(object.preset_container().and_then(Self::of))
    }

    /// The containers of a file, with its PodPresets as containers.
    pub(crate) fn all_with_presets(
        analysis: &Analysis<'s>,
        file: &str,
    ) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        analysis.objects(file).flat_map(Self::of_object_or_preset)
    }

    fn of(handle: BuiltContainer<'s>) -> Option<Self> {
        let BuiltContainer { object, pod, container } = handle;
        let facts = object.snapshot.file(object.file)?;
        Some(Self { file: Arc::clone(object.file), facts, object, pod, container })
    }

    /// The same container in the other views of its object.
    pub(crate) fn in_other_views(&self) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        let (view, location) = (self.object.view, self.at(self.container.span));
        let others = views_of(self.object).filter(move |it| it.view != view);
        others.flat_map(Self::of_object_or_preset).filter(move |it| it.at(it.container.span) == location)
    }

    /// The container as other layers name it.
    pub(crate) fn handle(&self) -> BuiltContainer<'s> {
        BuiltContainer { object: self.object, pod: self.pod, container: self.container }
    }

    /// Whether it holds the entries of a PodPreset.
    pub(crate) fn is_preset(&self) -> bool {
        self.object.preset().is_some_and(|it| std::ptr::eq(&it.pod, self.pod))
    }

    /// Its environment.
    pub(crate) fn environment(&self, analysis: &Analysis<'_>) -> Environment<'s> {
        analysis.resolver.environment(self.handle())
    }

    /// Whether it covers an offset.
    pub(crate) fn touches(&self, offset: usize) -> bool {
        self.object.file_span(self.container.span).touches(offset)
    }

    /// A span of the object as a location.
    pub(crate) fn at(&self, span: ObjectSpan) -> Location {
        self.object.location(span)
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
        environment: &Environment<'_>,
        call: impl FnOnce(&ContainerContext<'_>) -> T,
    ) -> T {
        let Analysis { snapshot, resolver, texts } = *analysis;
        let file = FileContext { snapshot, resolver, path: &self.file, facts: self.facts, texts };
        call(&ContainerContext::new(&file, self.handle(), environment))
    }
}

/// An object in all its views.
pub(crate) fn views_of<'s>(object: BuiltObject<'s>) -> impl Iterator<Item = BuiltObject<'s>> + use<'s> {
    let (snapshot, offset) = (object.snapshot, object.source.offset);
    let found = snapshot.entry(object.file).and_then(|(path, facts)| {
        let position = facts.objects.iter().position(|it| it.offset == offset)?;
        Some(build::views_of(snapshot, path, facts, position))
    });
    found.into_iter().flatten()
}

/// The pods of an object; for a PodPreset its entries as a pod.
pub(crate) fn pods_of<'s>(object: BuiltObject<'s>) -> impl Iterator<Item = &'s Pod> + use<'s> {
    object.model.pods.iter().chain(object.preset().map(|it| &it.pod))
}

impl<'s> Analysis<'s> {
    /// The objects of a file as their views make them, in the order of the file.
    pub(crate) fn objects(&self, file: &str) -> impl Iterator<Item = BuiltObject<'s>> + use<'s> {
        let snapshot = self.snapshot;
        let found = snapshot.entry(file);
        found.into_iter().flat_map(move |(path, facts)| build::objects(snapshot, path, facts))
    }

    /// The objects of all files.
    pub(crate) fn all_objects(&self) -> impl Iterator<Item = BuiltObject<'s>> + use<'s> {
        let snapshot = self.snapshot;
        snapshot.files().flat_map(move |(path, facts)| build::objects(snapshot, path, facts))
    }

    /// The containers of all files in all views, with PodPresets as containers.
    pub(crate) fn all_containers(&self) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        let snapshot = self.snapshot;
        let objects = snapshot.files().flat_map(move |(path, facts)| build::all_views(snapshot, path, facts));
        objects.flat_map(LocatedContainer::of_object_or_preset)
    }

    /// The objects around an offset as their views make them, the innermost first.
    pub(crate) fn objects_at(&self, file: &str, offset: usize) -> Vec<BuiltObject<'s>> {
        let is_around = |it: &BuiltObject<'s>| it.source.file_span(it.source.model.span).touches(offset);
        let mut found: Vec<BuiltObject<'s>> = self.objects(file).filter(is_around).collect();
        found.sort_by_key(|it| it.source.model.span.len());
        found
    }

    /// The container at an offset.
    pub(crate) fn container_at(&self, file: &str, offset: usize) -> Option<LocatedContainer<'s>> {
        let around = self.objects_at(file, offset).into_iter();
        around.flat_map(LocatedContainer::of_object).find(|it| it.touches(offset))
    }
}

/// The source objects around an offset, the innermost first.
pub(crate) fn objects_at(facts: &File, offset: usize) -> Vec<&Object> {
    let mut found: Vec<&Object> =
        facts.objects.iter().filter(|it| it.file_span(it.model.span).touches(offset)).collect();
    found.sort_by_key(|it| it.model.span.len());
    found
}
