//! Consumers of a service: the workloads that link it, wait for it or use its variables; and its unused variables.
//!
//! A program may read any variable, so `unused` only means that no manifest of the workspace uses it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::objects_named;
use crate::ide::shared::symbol::DefinedObject;
use crate::k8s::{EnvFromSource, Object, Text};
use crate::resolve::{Binding, OriginKind, service_variable_references, service_variables};
use crate::workspace::File;

/// A workload or preset that uses a service.
#[derive(Clone, Debug)]
pub(crate) struct Consumer<'s> {
    /// The file.
    pub(crate) file: Arc<str>,
    /// The object.
    pub(crate) object: &'s Object,
    /// Whether it links the service in `envFrom`.
    pub(crate) links: bool,
    /// Whether it names it in `serviceDependencies`.
    pub(crate) waits: bool,
    /// The variables it uses, without the prefix of a link.
    pub(crate) variables: BTreeSet<String>,
}

/// The consumers of a service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consumers<'s> {
    /// The consumers, sorted by location.
    pub(crate) all: Vec<Consumer<'s>>,
    /// The number of variables of the service.
    pub(crate) variables: usize,
    /// The variables that no consumer uses.
    pub(crate) unused: Vec<String>,
}

/// The consumers of a service.
pub(crate) fn consumers<'s>(analysis: &Analysis<'s>, service: &DefinedObject<'_>) -> Consumers<'s> {
    let Some(usage) = ServiceUsage::of(service) else { return Consumers::default() };
    let mut consumers = Consumers { variables: usage.variables.len(), ..Consumers::default() };
    for (path, facts) in analysis.snapshot.files() {
        for object in &facts.objects {
            if let Some(consumer) = usage.consumer(analysis, path, facts, object) {
                consumers.all.push(consumer);
            }
        }
    }
    let used: BTreeSet<&String> = consumers.all.iter().flat_map(|it| &it.variables).collect();
    consumers.unused = usage.variables.iter().filter(|it| !used.contains(it)).cloned().collect();
    consumers
}

/// Finds the uses of a service and its variables.
pub(crate) struct ServiceUsage<'a> {
    service: &'a DefinedObject<'a>,
    location: Location,
    /// The prefix of its variables' names; a link may add another one.
    prefix: String,
    variables: Vec<String>,
}

impl<'a> ServiceUsage<'a> {
    /// `None` for an object that is not a service.
    pub(crate) fn of(service: &'a DefinedObject<'a>) -> Option<Self> {
        let data = service.object.service()?;
        let name = service.object.reference_name()?;
        let mut variables: Vec<String> = service_variables(&name, &data).into_iter().map(|(name, _)| name).collect();
        let mut seen = BTreeSet::new();
        variables.retain(|it| seen.insert(it.clone()));
        let span = service.object.file_span(service.object.model.span);
        let location = Location { file: Arc::clone(&service.file), span };
        let prefix = name.replace('-', "_").to_ascii_uppercase();
        Some(Self { service, location, prefix, variables })
    }

    /// Whether a name in an object may refer to the service.
    pub(crate) fn refers_to_service(
        &self,
        analysis: &Analysis<'_>,
        file: &Arc<str>,
        object: &Object,
        name: &Text,
    ) -> bool {
        self.service.object.reference_name().is_some_and(|it| **it == **object.with_known_parameters(&name.value))
            && objects_named(analysis, OriginKind::Service, &name.value, file, object)
                .iter()
                .any(|it| self.service.is(it))
    }

    /// The uses of its variables in a container: the scalar, the range of the name, and the variable.
    pub(crate) fn uses(
        &self,
        analysis: &Analysis<'_>,
        at: &LocatedContainer<'_>,
    ) -> Vec<(Text, std::ops::Range<usize>, String)> {
        if !at.container.texts().any(|(_, it)| it.value.contains(&*self.prefix)) {
            return Vec::new();
        }
        let usages = service_variable_references(&at.environment(analysis), at.container).into_iter();
        let ours = usages.filter_map(|usage| {
            let variable = self.variable(&usage.binding)?;
            let written = &usage.text.value[usage.range.clone()];
            // The name without `$(`, `${` or `$` and without the closing character.
            let start = usage.range.start + written.find(|it: char| !matches!(it, '$' | '(' | '{'))?;
            let end = usage.range.end - usize::from(written.ends_with([')', '}']));
            Some((usage.text, start..end, variable))
        });
        ours.collect()
    }

    /// The name of a variable of this service without the prefix of a link.
    fn variable(&self, binding: &Binding) -> Option<String> {
        let several = binding.alternatives.iter().map(|(_, it)| it);
        let mut origins = std::iter::once(&binding.origin).chain(several);
        origins.find(|it| it.location.as_ref() == Some(&self.location))?;
        let mut all = self.variables.iter().filter(|it| binding.name.ends_with(&***it));
        all.next().cloned()
    }

    fn consumer<'s>(
        &self,
        analysis: &Analysis<'s>,
        file: &Arc<str>,
        facts: &'s File,
        object: &'s Object,
    ) -> Option<Consumer<'s>> {
        let mut consumer =
            Consumer { file: Arc::clone(file), object, links: false, waits: false, variables: BTreeSet::new() };
        let dependencies = object.model.pods.iter().filter_map(|it| it.service_dependencies.as_ref());
        let mut names = dependencies.flat_map(|it| &it.services).filter_map(|it| it.name.as_ref());
        consumer.waits = names.any(|it| self.refers_to_service(analysis, file, object, it));
        for at in LocatedContainer::of_object_or_preset(file, facts, object) {
            let links = at.container.env_from.iter().filter_map(|it| match &it.source {
                Some(EnvFromSource::Service { name, .. }) => name.as_ref(),
                _ => None,
            });
            consumer.links |= links.into_iter().any(|it| self.refers_to_service(analysis, file, object, it));
            consumer.variables.extend(self.uses(analysis, &at).into_iter().map(|(_, _, variable)| variable));
        }
        (consumer.links || consumer.waits || !consumer.variables.is_empty()).then_some(consumer)
    }
}
