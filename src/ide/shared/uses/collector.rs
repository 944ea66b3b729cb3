//! Collects the uses of a symbol in containers, objects and scripts.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::{Use, env_from_entries, key_references, object_of};
use crate::build::{BuiltObject, WrittenRange};
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::objects_named;
use crate::ide::shared::preset_workloads::{self, PresetRecipient};
use crate::ide::shared::service_usage::ServiceUsage;
use crate::ide::shared::symbol::{DefinedObject, ObjectKey, is_env_entry};
use crate::ide::shared::volume_sources::{has_volume_sources, volume_sources};
use crate::k8s::{ContainerField, EnvVar, ObjectSpan, Pod, Text, ValueSource, VariableScope};
use crate::resolve::{Environment, Lookup, OriginKind};
use crate::syntax::{DollarTokenKind, ScalarStyle, dollar_tokens};
use crate::text::Span;

/// Collects the uses of one symbol.
pub(super) struct UseCollector<'c, 's> {
    analysis: &'c Analysis<'s>,
    /// The last file whose text was requested.
    file_text: Option<(Arc<str>, FileText)>,
    pub(super) found: Vec<Use>,
}

impl<'c, 's> UseCollector<'c, 's> {
    pub(super) fn new(analysis: &'c Analysis<'s>) -> Self {
        Self { analysis, file_text: None, found: Vec::new() }
    }

    pub(super) fn sorted(self) -> Vec<Use> {
        let mut found = self.found;
        found.sort_by(|a, b| a.location.cmp(&b.location));
        found.dedup_by(|b, a| a.location == b.location);
        found
    }

    /// The name of a parameter in a parameter file.
    pub(super) fn push_param_file_entry(&mut self, location: Location, name: &str) {
        let span = location.span;
        let text = nowhere(name.into());
        self.found.push(Use { is_whole: false, ..Use::whole(location, span, text, false) });
    }

    pub(super) fn file_text(&mut self, file: &Arc<str>) -> Option<&FileText> {
        if self.file_text.as_ref().is_none_or(|(known, _)| known != file) {
            self.file_text = Some((Arc::clone(file), self.analysis.file_text(file)?));
        }
        self.file_text.as_ref().map(|(_, file_text)| file_text)
    }

    pub(super) fn for_each_container(
        &mut self,
        only: Option<&Arc<str>>,
        mut visit: impl FnMut(&mut Self, &LocatedContainer<'s>),
    ) {
        match only {
            Some(path) => LocatedContainer::all_with_presets(self.analysis, path).for_each(|at| visit(self, &at)),
            None => self.analysis.all_containers().for_each(|at| visit(self, &at)),
        }
    }

    pub(super) fn push(
        &mut self,
        object: BuiltObject<'_>,
        text: &Text,
        range: Range<usize>,
        declares: bool,
        prefix: &str,
    ) {
        let made_by = object.parameters_in(text, range.clone()).into_iter().next();
        let WrittenRange { scalar, style, value, range } = object.written_range(text, range);
        let text = Text { value, style, ..text.clone() };
        let Some(file_text) = self.file_text(&scalar.file) else { return };
        let span = file_text.inside_scalar(scalar.span, &text, range.clone());
        let location = Location { file: Arc::clone(&scalar.file), span };
        let is_whole = range == (0..text.value.len());
        let whole = Use::whole(location, scalar.span, text, declares);
        self.found.push(Use { range, is_whole, prefix: prefix.into(), made_by, ..whole });
    }

    /// Adds a name by its location.
    pub(super) fn push_location(&mut self, location: &Location, name: &Arc<str>, declares: bool) {
        let (value, span) = (Arc::clone(name), location.span);
        let text = nowhere(value);
        self.found.push(Use::whole(location.clone(), span, text, declares));
    }

    /// Adds a scalar that is exactly the name.
    pub(super) fn push_name(&mut self, object: BuiltObject<'_>, text: &Text, declares: bool) {
        self.push(object, text, 0..text.value.len(), declares, "");
    }

    /// A variable in its container, and in all containers that share its texts through aliases.
    pub(super) fn variable(&mut self, at: &LocatedContainer<'s>, name: &str) {
        // Every alias contains a `*`.
        let has_aliases = self.file_text(&at.file).is_some_and(|it| it.text().contains('*'));
        let others = has_aliases.then(|| LocatedContainer::all_with_presets(self.analysis, &at.file));
        let others: Vec<LocatedContainer<'s>> = others.into_iter().flatten().collect();
        let mut pending: Vec<LocatedContainer<'s>> = at.in_other_views().chain([at.clone()]).collect();
        let mut seen: Vec<(Location, Option<Arc<str>>)> = Vec::new();
        while let Some(at) = pending.pop() {
            let id = (at.at(at.container.span), at.object.view_name());
            if seen.contains(&id) {
                continue;
            }
            seen.push(id);
            let first = self.found.len();
            for declared in at.container.env.iter().filter_map(|it| it.name.as_ref()).filter(|it| &*it.value == name) {
                self.push_name(at.object, declared, true);
            }
            let environment = at.environment(self.analysis);
            self.references(&at, name, &|at, field| is_env_entry(at, &environment, field, name));
            if is_env_entry(&at, &environment, ContainerField::Command(0), name) {
                self.in_scripts(&at, &environment, name, "");
            }
            let spans: HashSet<Span> = self.found[first..].iter().map(|it| it.scalar).collect();
            // Compare the range first: most containers of a large file share nothing.
            let start = spans.iter().map(|it| it.start).min().unwrap_or_default();
            let end = spans.iter().map(|it| it.end).max().unwrap_or_default();
            let is_found = |span: Span| start <= span.start && span.end <= end && spans.contains(&span);
            let shares = |other: &&LocatedContainer<'s>| {
                let names = other.container.env.iter().filter_map(|it| it.name.as_ref());
                let mut texts = other.container.texts().map(|(_, it)| it).chain(names);
                texts.any(|it| is_found(other.object.file_span(it.span)))
            };
            pending.extend(others.iter().filter(shares).cloned());
        }
    }

    /// The references to a name in the texts of a container that Kubernetes expands.
    pub(super) fn references(
        &mut self,
        at: &LocatedContainer<'s>,
        name: &str,
        is_meant: &dyn Fn(&LocatedContainer<'s>, ContainerField) -> bool,
    ) {
        self.prefixed(at, name, "", is_meant);
    }

    pub(super) fn prefixed(
        &mut self,
        at: &LocatedContainer<'s>,
        name: &str,
        prefix: &str,
        is_meant: &dyn Fn(&LocatedContainer<'s>, ContainerField) -> bool,
    ) {
        for (field, text) in at.container.texts().filter(|(field, _)| field.variable_scope().is_some()) {
            let named = |it: &crate::syntax::DollarToken| {
                it.kind == DollarTokenKind::Reference && it.name(&text.value) == Some(name)
            };
            for token in dollar_tokens(&text.value).filter(named) {
                if is_meant(at, field) {
                    self.push(at.object, text, token.name_range(), false, prefix);
                }
            }
        }
    }

    /// The uses of a variable in scripts.
    pub(super) fn in_scripts(
        &mut self,
        at: &LocatedContainer<'s>,
        environment: &Environment<'_>,
        name: &str,
        prefix: &str,
    ) {
        for (field, text) in at.container.texts().filter(|(_, it)| it.value.contains('$')) {
            for read in at.shell_reads(environment, field, text).into_iter().filter(|it| it.name == name) {
                let first = self.found.len();
                self.push(at.object, text, read.range, false, prefix);
                for found in &mut self.found[first..] {
                    (found.in_script, found.doubt) = (true, read.doubt);
                }
            }
        }
    }

    pub(super) fn volume(&mut self, object: BuiltObject<'_>, pod: &Pod, name: &str) {
        let is_it = |text: &&Text| &*text.value == name;
        for volume in pod.volumes.iter().filter_map(|it| it.name.as_ref()).filter(is_it) {
            self.push_name(object, volume, true);
        }
        for container in &pod.containers {
            let mounts = container.mounts.iter().filter_map(|it| it.name.as_ref());
            let sources = container.env.iter().filter_map(|it| it.from.as_ref()).flat_map(|it| &it.sources);
            let files = sources.filter_map(|it| match it {
                ValueSource::File { volume, .. } => volume.as_ref(),
                _ => None,
            });
            for text in mounts.chain(files).filter(is_it) {
                self.push_name(object, text, false);
            }
        }
    }

    /// Adds the definition of a key.
    pub(super) fn push_key(&mut self, key: &ObjectKey<'_>) {
        let object = key.of.object;
        let (file, scalar) = (object.file, object.file_span(key.key.key.span));
        let Some(span) = self.file_text(file).and_then(|it| it.key(object, key.key)) else { return };
        let text = key.key.key.clone();
        let location = Location { file: Arc::clone(file), span };
        // In a generator's literal the value follows the key.
        let quotes = if text.style == ScalarStyle::Plain { 0 } else { 2 };
        let is_whole = span.len() + quotes == scalar.len();
        let made_by = object.parameters_in(&text, 0..text.value.len()).into_iter().next();
        self.found.push(Use { is_whole, made_by, ..Use::whole(location, scalar, text, true) });
    }

    /// Whether a name in a container may refer to an object.
    pub(super) fn may_refer_to(
        &self,
        at: &LocatedContainer<'_>,
        kind: OriginKind,
        name: &str,
        of: &DefinedObject<'_>,
    ) -> bool {
        of.kind == kind
            && of.object.model.reference_name() == Some(name)
            && objects_named(kind, name, at.object).iter().any(|it| of.is(it))
    }

    pub(super) fn key_uses(&mut self, at: &LocatedContainer<'s>, all: &[ObjectKey<'_>]) {
        let Some(wanted) = all.first().map(|it| Arc::clone(&it.key.key.value)) else { return };
        for (kind, reference) in key_references(at) {
            let (Some(name), Some(key)) = (&reference.name, &reference.key) else { continue };
            if key.value == wanted && all.iter().any(|it| self.may_refer_to(at, kind, &name.value, &it.of)) {
                self.push_name(at.object, key, false);
            }
        }
        let objects: Vec<&DefinedObject<'_>> = all.iter().map(|it| &it.of).collect();
        self.volume_uses(at, &objects, Some(&wanted));
        let mut environment = None;
        for (entry, location) in env_from_entries(self.analysis, at) {
            let Some((kind, name)) = object_of(entry.source.as_ref()) else { continue };
            if !all.iter().any(|it| self.may_refer_to(at, kind, &name.value, &it.of)) {
                continue;
            }
            let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
            let variable = format!("{prefix}{wanted}");
            if !at.container.texts().any(|(_, it)| it.value.contains('$') && it.value.contains(&*variable)) {
                continue;
            }
            let environment = environment.get_or_insert_with(|| at.environment(self.analysis)).clone();
            self.prefixed(at, &variable, prefix, &|_, field| {
                let Some(site) = field.variable_scope() else { return false };
                matches!(environment.lookup(site, &variable), Lookup::Bound(it) if it.entry.as_ref() == Some(&location))
            });
            if let Lookup::Bound(bound) = environment.lookup(VariableScope::All, &variable)
                && bound.entry.as_ref() == Some(&location)
            {
                self.in_scripts(at, &environment, &variable, prefix);
            }
        }
    }

    /// Names and keys in the volumes of a container's pod; only for the first container of each pod.
    pub(super) fn volume_uses(&mut self, at: &LocatedContainer<'s>, all: &[&DefinedObject<'_>], key: Option<&str>) {
        let is_first = at.pod.containers.first().is_some_and(|it| std::ptr::eq(&**it, at.container));
        if !is_first || !has_volume_sources(at.pod) {
            return;
        }
        let Some(found) = self.file_text(&at.file).map(|it| volume_sources(it, at.object, at.pod)) else { return };
        for source in found {
            if !all.iter().any(|it| self.may_refer_to(at, source.kind, &source.name.value, it)) {
                continue;
            }
            match key {
                None => self.push_name(at.object, &source.name, false),
                Some(key) => {
                    for text in source.keys.iter().filter(|it| &*it.value == key) {
                        self.push_name(at.object, text, false);
                    }
                }
            }
        }
    }

    pub(super) fn object_uses(&mut self, at: &LocatedContainer<'s>, defined: &DefinedObject<'_>) {
        for (kind, reference) in key_references(at) {
            if let Some(name) = &reference.name
                && self.may_refer_to(at, kind, &name.value, defined)
            {
                self.push_name(at.object, name, false);
            }
        }
        for entry in &at.container.env_from {
            if let Some((kind, name)) = object_of(entry.source.as_ref())
                && self.may_refer_to(at, kind, &name.value, defined)
            {
                self.push_name(at.object, name, false);
            }
        }
        self.volume_uses(at, &[defined], None);
        self.service_variables(at, defined);
    }

    /// References to the variables of a service, with the prefixes of links.
    pub(super) fn service_variables(&mut self, at: &LocatedContainer<'s>, defined: &DefinedObject<'_>) {
        let Some(usage) = ServiceUsage::of(defined) else { return };
        for (text, range, _) in usage.uses(self.analysis, at) {
            self.push(at.object, &text, range, false, "");
        }
    }

    /// The pods that wait for a service.
    pub(super) fn dependencies(&mut self, only: Option<&Arc<str>>, defined: &DefinedObject<'_>) {
        let Some(usage) = ServiceUsage::of(defined) else { return };
        for object in self.analysis.all_objects().filter(|it| only.is_none_or(|only| only == it.file)) {
            let dependencies = object.model.pods.iter().filter_map(|it| it.service_dependencies.as_ref());
            for name in dependencies.flat_map(|it| &it.services).filter_map(|it| it.name.as_ref()) {
                if usage.refers_to_service(object, name) {
                    self.push_name(object, name, false);
                }
            }
        }
    }

    /// The names of the workloads that a preset selects.
    pub(super) fn selected_workloads(&mut self, only: Option<&Arc<str>>, preset: &DefinedObject<'_>) {
        for it in preset_workloads::selected_workloads(self.analysis, preset.object) {
            if let Some(name) =
                it.object.model.reference_name_text().filter(|_| only.is_none_or(|only| only == it.object.file))
            {
                self.push_name(it.object, name, false);
            }
        }
    }

    /// The references to a variable of a preset, in the containers that it is applied to.
    pub(super) fn preset_variable(&mut self, at: &LocatedContainer<'s>, name: &str) {
        let named = |it: &EnvVar| it.name.as_ref().is_some_and(|it| &*it.value == name);
        for (index, entry) in at.container.env.iter().enumerate().filter(|(_, it)| named(it)) {
            let Some(location) = entry.name.as_ref().map(|it| at.at(it.span)) else { continue };
            for PresetRecipient { at: to, environment, .. } in
                preset_workloads::recipients(self.analysis, at, Some(index))
            {
                let is_it =
                    |field: ContainerField| match field.variable_scope().map(|site| environment.lookup(site, name)) {
                        Some(Lookup::Bound(it)) => it.entry.as_ref().or(it.origin.location.as_ref()) == Some(&location),
                        Some(Lookup::Later(origin)) => origin.location.as_ref() == Some(&location),
                        _ => false,
                    };
                self.references(&to, name, &|_, field| is_it(field));
                if is_it(ContainerField::Command(0)) {
                    self.in_scripts(&to, &environment, name, "");
                }
            }
        }
    }
}

/// A text that is not in an object.
fn nowhere(value: Arc<str>) -> Text {
    Text { value, span: ObjectSpan::default(), style: ScalarStyle::Plain, is_string: true }
}
