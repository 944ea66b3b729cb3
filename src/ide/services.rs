//! Who has to do with a service: the workloads that link it, wait for it, or use its variables, and what nobody uses.
//!
//! What a program reads from its environment by itself cannot be seen: `unused` means that no manifest here shows a use.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::objects::found;
use crate::ide::place::ContainerPlace;
use crate::ide::uses::Defined;
use crate::k8s::{EnvFromSource, Object, Text};
use crate::resolve::{Binding, Kind, service_usages, service_variables};
use crate::workspace::File;

/// A workload or preset that has to do with a service.
#[derive(Clone, Debug)]
pub struct Taker<'s> {
    /// The file.
    pub file: Arc<str>,
    /// The object.
    pub object: &'s Object,
    /// Whether it links the service in `envFrom`.
    pub links: bool,
    /// Whether it names it in `serviceDependencies`.
    pub waits: bool,
    /// The variables it uses, as the service calls them.
    pub variables: BTreeSet<String>,
}

/// Who has to do with a service.
#[derive(Clone, Debug, Default)]
pub struct Takers<'s> {
    /// By file and place.
    pub all: Vec<Taker<'s>>,
    /// How many variables the service gives.
    pub variables: usize,
    /// Those that nobody uses.
    pub unused: Vec<String>,
}

/// Who has to do with a service.
pub fn takers<'s>(analysis: &Analysis<'s>, service: &Defined<'_>) -> Takers<'s> {
    let Some(asked) = Asked::of(service) else { return Takers::default() };
    let mut takers = Takers { variables: asked.variables.len(), ..Takers::default() };
    for (path, facts) in analysis.snapshot.files() {
        for object in &facts.objects {
            if let Some(taker) = asked.taker(analysis, path, facts, object) {
                takers.all.push(taker);
            }
        }
    }
    let used: BTreeSet<&String> = takers.all.iter().flat_map(|it| &it.variables).collect();
    takers.unused = asked.variables.iter().filter(|it| !used.contains(it)).cloned().collect();
    takers
}

/// A service with the names of its variables.
pub struct Asked<'a> {
    service: &'a Defined<'a>,
    location: Location,
    /// What the names of its variables begin with, unless a link puts something before it.
    prefix: String,
    variables: Vec<String>,
}

impl<'a> Asked<'a> {
    /// Nothing for an object that is no service.
    pub fn of(service: &'a Defined<'a>) -> Option<Self> {
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

    /// Whether a name in an object may mean it.
    pub fn is_meant(&self, analysis: &Analysis<'_>, file: &Arc<str>, object: &Object, name: &Text) -> bool {
        self.service.object.reference_name().is_some_and(|it| **it == **object.with_known_parameters(&name.value))
            && found(analysis, Kind::Service, &name.value, file, object).iter().any(|it| self.service.is(it))
    }

    /// Every use of its variables in a container: the scalar, the name in its value, and the variable.
    pub fn uses(
        &self,
        analysis: &Analysis<'_>,
        at: &ContainerPlace<'_>,
    ) -> Vec<(Text, std::ops::Range<usize>, String)> {
        if !at.texts().any(|(_, it)| it.value.contains(&*self.prefix)) {
            return Vec::new();
        }
        let usages = service_usages(&at.environment(analysis), at.container).into_iter();
        let ours = usages.filter_map(|usage| {
            let variable = self.variable(&usage.binding)?;
            let written = &usage.text.value[usage.range.clone()];
            // The name without `$(`, `${` or `$`, and without what closes it.
            let start = usage.range.start + written.find(|it: char| !matches!(it, '$' | '(' | '{'))?;
            let end = usage.range.end - usize::from(written.ends_with([')', '}']));
            Some((usage.text, start..end, variable))
        });
        ours.collect()
    }

    /// What the service calls a variable that comes from it.
    fn variable(&self, binding: &Binding) -> Option<String> {
        let several = binding.alternatives.iter().map(|(_, it)| it);
        let mut origins = std::iter::once(&binding.origin).chain(several);
        origins.find(|it| it.location.as_ref() == Some(&self.location))?;
        let mut all = self.variables.iter().filter(|it| binding.name.ends_with(&***it));
        all.next().cloned()
    }

    fn taker<'s>(
        &self,
        analysis: &Analysis<'s>,
        file: &Arc<str>,
        facts: &'s File,
        object: &'s Object,
    ) -> Option<Taker<'s>> {
        let mut taker =
            Taker { file: Arc::clone(file), object, links: false, waits: false, variables: BTreeSet::new() };
        let dependencies = object.model.pods.iter().filter_map(|it| it.service_dependencies.as_ref());
        let mut names = dependencies.flat_map(|it| &it.services).filter_map(|it| it.name.as_ref());
        taker.waits = names.any(|it| self.is_meant(analysis, file, object, it));
        for at in ContainerPlace::entries_of(file, facts, object) {
            let links = at.container.env_from.iter().filter_map(|it| match &it.source {
                Some(EnvFromSource::Service { name, .. }) => name.as_ref(),
                _ => None,
            });
            taker.links |= links.into_iter().any(|it| self.is_meant(analysis, file, object, it));
            taker.variables.extend(self.uses(analysis, &at).into_iter().map(|(_, _, variable)| variable));
        }
        (taker.links || taker.waits || !taker.variables.is_empty()).then_some(taker)
    }
}
