//! Consumers of a service: the workloads that link it, wait for it or use its variables; and its unused variables.
//!
//! A program may read any variable, so `unused` only means that no manifest of the workspace uses it.

use std::collections::BTreeSet;

use crate::build::BuiltObject;
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::objects_named;
use crate::ide::shared::symbol::DefinedObject;
use crate::k8s::{EnvFromSource, ObjectData, Text};
use crate::resolve::{Binding, OriginKind, service_variable_references, service_variables};

/// A workload or preset that uses a service.
#[derive(Clone, Debug)]
pub(crate) struct Consumer<'s> {
    /// The object.
    pub(crate) object: BuiltObject<'s>,
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
    consumers.all.extend(analysis.all_objects().filter_map(|object| usage.consumer(analysis, object)));
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
        let ObjectData::Service(data) = &service.object.model.data else { return None };
        let name = service.object.model.reference_name()?;
        let mut variables: Vec<String> = service_variables(name, data).into_iter().map(|(name, _)| name).collect();
        let mut seen = BTreeSet::new();
        variables.retain(|it| seen.insert(it.clone()));
        let location = service.object.location(service.object.model.span);
        let prefix = name.replace('-', "_").to_ascii_uppercase();
        Some(Self { service, location, prefix, variables })
    }

    /// Whether a name in an object may refer to the service.
    pub(crate) fn refers_to_service(&self, object: BuiltObject<'_>, name: &Text) -> bool {
        self.service.object.model.reference_name() == Some(&*name.value)
            && objects_named(OriginKind::Service, &name.value, object).iter().any(|it| self.service.is(it))
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

    fn consumer<'s>(&self, analysis: &Analysis<'s>, object: BuiltObject<'s>) -> Option<Consumer<'s>> {
        let mut consumer = Consumer { object, links: false, waits: false, variables: BTreeSet::new() };
        let dependencies = object.model.pods.iter().filter_map(|it| it.service_dependencies.as_ref());
        let mut names = dependencies.flat_map(|it| &it.services).filter_map(|it| it.name.as_ref());
        consumer.waits = names.any(|it| self.refers_to_service(object, it));
        for at in LocatedContainer::of_object_or_preset(object) {
            let links = at.container.env_from.iter().filter_map(|it| match &it.source {
                Some(EnvFromSource::Service { name, .. }) => name.as_ref(),
                _ => None,
            });
            consumer.links |= links.into_iter().any(|it| self.refers_to_service(object, it));
            consumer.variables.extend(self.uses(analysis, &at).into_iter().map(|(_, _, variable)| variable));
        }
        (consumer.links || consumer.waits || !consumer.variables.is_empty()).then_some(consumer)
    }
}
