//! The environment of one container (B1 to B27), with everything that is expanded against it (P1 to P4).
//!
//! Declarations are kept in order, so that a name can be looked up as any place in the container sees it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use crate::k8s::{
    Container, ContainerField, ContainerRole, EnvVar, Mount, Object, ObjectData, Pod, Text, ValueSource, VariableScope,
};
use crate::resolve::admission::{Admission, MatchingPreset};
use crate::resolve::binding::{Binding, Lookup, Origin, OriginKind};
use crate::resolve::controller_variables::{self, ControllerVariable, ControllerVariables};
use crate::resolve::env_sources::{self, EnvFromEntry, PossibleSource};
use crate::resolve::expand::Expansion;
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::parameters::{self, expand_in};
use crate::resolve::script_runner;
use crate::resolve::service_variables::ServiceVariables;
use crate::resolve::shell_items;
use crate::resolve::value::{ResolvedValue, UnknownReason};
use crate::syntax::has_helm_placeholder;
use crate::workspace::Snapshot;

/// What a container gets.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The variables of its entries, in the order the kubelet reads them: what a controller puts first, `env`, what a
    /// controller puts last, what presets bring (A11). Nothing for an entry that defines none.
    declared: Vec<Declaration>,
    /// The position of `env[0]` in `declared`.
    first_entry: usize,
    /// Where each name is declared.
    positions: HashMap<Arc<str>, Vec<usize>>,
    /// What `envFrom` gives, before `env`.
    sources: BTreeMap<Arc<str>, Arc<Binding>>,
    /// What services give, below all others (B5).
    services: Arc<ServiceVariables>,
    /// Where services stand that have moved since.
    moved_services: Option<Snapshot>,
    /// What may define more names than can be seen.
    opaque: Vec<PossibleSource>,
    /// Whether the order of the entries cannot be told: a deployment hook.
    unordered: bool,
    /// Whether there may be entries that cannot be seen.
    is_open: bool,
    /// `command`, expanded.
    pub command: Vec<ExpandedScalar>,
    /// `args`, expanded.
    pub args: Vec<ExpandedScalar>,
    /// The commands of exec probes, expanded.
    pub probes: Vec<ProbeCommand>,
    /// `subPathExpr` of mounts, expanded.
    pub sub_paths: Vec<SubPath>,
    /// The references that stay as they are, in the order of the text.
    pub unresolved: Vec<UnresolvedReference>,
}

/// A position in the list the kubelet reads.
#[derive(Clone, Debug)]
struct Declaration {
    /// Where it is declared, known before its value is.
    origin: Option<Origin>,
    /// The variable; nothing for an entry that is half typed or skipped (B17).
    binding: Option<Arc<Binding>>,
    /// What an exec probe sees: the raw `value` field (P3).
    raw: ResolvedValue,
}

/// A text that was expanded.
#[derive(Clone, Debug)]
pub struct ExpandedScalar {
    /// As written.
    pub text: Text,
    /// What became of it.
    pub expansion: Expansion,
    /// Whether a shell reads it.
    pub is_script: bool,
}

/// An exec probe.
#[derive(Clone, Debug)]
pub struct ProbeCommand {
    /// `livenessProbe`, `readinessProbe` or `startupProbe`.
    pub probe: &'static str,
    /// Its command.
    pub command: Vec<ExpandedScalar>,
}

/// A mount with `subPathExpr`.
#[derive(Clone, Debug)]
pub struct SubPath {
    /// The field of the mount.
    pub field: ContainerField,
    /// `mountPath`
    pub mount_path: Option<Arc<str>>,
    /// `subPathExpr`
    pub item: ExpandedScalar,
    /// Where it is written, if a preset brings it.
    pub within: Option<PresetLocation>,
}

/// An object that brings something to a container elsewhere: spans of what it brings count from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetLocation {
    /// Its file.
    pub file: Arc<str>,
    /// Its first byte there.
    pub offset: usize,
}

impl PresetLocation {
    fn of(matched: &MatchingPreset) -> Self {
        Self { file: Arc::clone(&matched.file), offset: matched.object.offset }
    }
}

/// An entry of `env`, and who brings it.
#[derive(Clone, Copy)]
struct EnvListEntry<'e> {
    entry: &'e EnvVar,
    preset: Option<&'e MatchingPreset>,
}

/// A reference that stays as it is.
#[derive(Clone, Debug)]
pub struct UnresolvedReference {
    /// The name in it.
    pub name: Arc<str>,
    /// Why nothing took its place.
    pub why: UnresolvedReason,
    /// The field with the reference. Entries and mounts of presets are counted after those of the container.
    pub field: ContainerField,
    /// What the name meant.
    pub outcome: Lookup,
    /// The scalar it stands in, relative to the object.
    pub text: Text,
    /// The reference in that scalar's value.
    pub range: Range<usize>,
    /// The object it stands in, if a preset brings it.
    pub within: Option<PresetLocation>,
}

/// Why a reference stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnresolvedReason {
    /// Nothing defines the name.
    Undefined,
    /// It is declared later.
    Forward,
    /// It is the variable that is being declared.
    SelfReference,
}

impl UnresolvedReason {
    /// As the JSON output writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Forward => "forward",
            Self::SelfReference => "self",
        }
    }
}

impl Environment {
    /// Resolves a container.
    pub(super) fn of(
        scope: &LookupScope<'_>,
        object: &Object,
        pod: &Pod,
        container: &Container,
        services: Arc<ServiceVariables>,
        admission: Option<&Admission>,
    ) -> Self {
        let effect = admission.and_then(|it| Some((it, it.effect(pod, container)?)));
        // Most pods have no env files, and nothing is run for them.
        let brought = || effect.into_iter().flat_map(|(all, it)| it.env.iter().filter_map(|it| all.env(*it)));
        let is_read = || container.env.iter().chain(brought().map(|(_, it)| it)).any(is_of_file);
        if scope.files().is_none() && is_read() {
            let files = script_runner::before(scope, object, pod, container, &services);
            return Self::of(&scope.with_files(&files), object, pod, container, services, admission);
        }
        let mut from: Vec<EnvFromEntry<'_>> = Vec::new();
        if effect.is_none_or(|(_, it)| it.keeps_env_from) {
            let own = |entry| EnvFromEntry { entry, location: scope.location(object, entry.span), preset: None };
            from.extend(container.env_from.iter().map(own));
        }
        for (matched, entry) in
            effect.into_iter().flat_map(|(all, it)| it.env_from.iter().filter_map(|it| all.env_from(*it)))
        {
            let (location, preset) = (matched.location(entry.span), Some(Arc::clone(&matched.name)));
            from.push(EnvFromEntry { entry, location, preset });
        }
        let from = env_sources::env_from(scope, &from, &services);
        let mut environment = Self {
            declared: Vec::new(),
            first_entry: 0,
            positions: HashMap::new(),
            sources: from.bindings,
            services,
            moved_services: scope.moved_services(),
            opaque: from.opaque,
            unordered: container.role == ContainerRole::Hook,
            is_open: container.may_have_more_variables
                || env_sources::is_part(scope, object, container)
                || pod.controller.is_unknown(),
            command: Vec::new(),
            args: Vec::new(),
            probes: Vec::new(),
            sub_paths: Vec::new(),
            unresolved: Vec::new(),
        };
        environment.opaque.extend(env_sources::surroundings(scope, object, container));
        let injected = controller_variables::of(object, pod, container);
        let mut injected = injected;
        environment.opaque.append(&mut injected.opaque);
        environment.opaque.extend(possible(admission));
        let own = |entry| EnvListEntry { entry, preset: None };
        let mut listed: Vec<EnvListEntry<'_>> = container.env.iter().map(own).collect();
        let brought = effect.into_iter().flat_map(|(all, it)| it.env.iter().filter_map(|it| all.env(*it)));
        listed.extend(brought.map(|(matched, entry)| EnvListEntry { entry, preset: Some(matched) }));
        let keeps_env = effect.is_none_or(|(_, it)| it.keeps_env);
        let at = environment.announce(scope, object, pod, container, &listed, keeps_env, injected);
        environment.bind(scope, object, &listed, &at);
        environment.expand_command_line(scope, object, container);
        if let Some((admission, effect)) = effect {
            if !effect.keeps_mounts {
                environment.sub_paths.clear();
            }
            let brought = effect.mounts.iter().filter_map(|it| admission.mount(*it)).enumerate();
            for (index, (matched, mount)) in brought {
                let index = container.mounts.len() + index;
                environment.expand_mount(scope, &matched.object, (index, mount), Some(PresetLocation::of(matched)));
            }
        }
        environment.unresolved.sort_by_key(|it| (it.within.is_some(), it.text.span.start, it.range.start));
        environment
    }

    /// What a name means at a place.
    pub fn lookup(&self, site: VariableScope, name: &str) -> Lookup {
        match site {
            _ if has_helm_placeholder(name) => Lookup::Maybe(UnknownReason::Helm),
            VariableScope::EarlierEntries(index) => self.lookup_before(self.first_entry + index, name),
            VariableScope::All => self.lookup_before(self.declared.len(), name),
            VariableScope::ProbeValues => self.lookup_raw(name),
        }
    }

    /// The variables the container starts with, by name.
    pub fn bindings(&self) -> Vec<Arc<Binding>> {
        let mut all: BTreeMap<&str, Arc<Binding>> = BTreeMap::new();
        for binding in self.services.variables.values() {
            all.insert(&binding.name, self.placed(binding));
        }
        let declared = self.declared.iter().filter_map(|it| it.binding.as_ref());
        for binding in self.sources.values().chain(declared) {
            all.insert(&binding.name, Arc::clone(binding));
        }
        all.into_values().collect()
    }

    /// The names of these variables, in no order; one that is hidden comes again.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        let declared = self.declared.iter().filter_map(|it| it.binding.as_ref());
        self.services.variables.keys().chain(self.sources.keys()).chain(declared.map(|it| &it.name))
    }

    /// The same without those that only services give, which may be tens of thousands.
    pub fn own_bindings(&self) -> Vec<&Arc<Binding>> {
        let mut all: BTreeMap<&str, &Arc<Binding>> = BTreeMap::new();
        let declared = self.declared.iter().filter_map(|it| it.binding.as_ref());
        for binding in self.sources.values().chain(declared) {
            all.insert(&binding.name, binding);
        }
        all.into_values().collect()
    }

    /// What services give, by name, whether or not something hides it.
    pub fn service_bindings(&self) -> &BTreeMap<Arc<str>, Arc<Binding>> {
        &self.services.variables
    }

    /// The variable that an entry of `env` defines.
    pub fn entry(&self, index: usize) -> Option<&Arc<Binding>> {
        self.declared.get(self.first_entry + index)?.binding.as_ref()
    }

    /// What may define names that cannot be seen, as reasons for a person.
    pub fn opaque(&self) -> impl Iterator<Item = &str> {
        self.opaque.iter().map(|it| &*it.reason)
    }

    /// Puts every entry in its place before any value is known: a forward reference needs to see what comes later. Gives
    /// the place of each entry.
    #[expect(clippy::too_many_arguments, reason = "what the pod, the controller and presets give comes together here")]
    fn announce(
        &mut self,
        scope: &LookupScope<'_>,
        object: &Object,
        pod: &Pod,
        container: &Container,
        listed: &[EnvListEntry<'_>],
        keeps_env: bool,
        injected: ControllerVariables,
    ) -> Vec<usize> {
        let is = |text: &Text, name: &str| **object.with_known_parameters(&text.value) == *name;
        let has = |name: &str| container.env.iter().any(|it| it.name.as_ref().is_some_and(|it| is(it, name)));
        let inject = |environment: &mut Self, all: Vec<ControllerVariable>| {
            for injected in all.into_iter().filter(|it| !it.yields || !has(it.name)) {
                let binding = Binding::new(injected.name, injected.value, Origin::new(OriginKind::Injected));
                let origin = Some(binding.origin.clone());
                environment.position(&binding.name);
                environment.declared.push(Declaration { origin, binding: Some(Arc::new(binding)), raw: injected.raw });
            }
        };
        inject(self, injected.before);
        self.first_entry = self.declared.len();
        let mut places = Vec::with_capacity(listed.len());
        let (own, brought) = listed.split_at(container.env.len());
        for listed in own {
            places.push(self.declared.len());
            if !keeps_env {
                // A21: its place stays, so that entries are known by their index.
                self.declared.push(Declaration { origin: None, binding: None, raw: ResolvedValue::default() });
                continue;
            }
            self.announce_entry(scope, object, pod, container, *listed);
        }
        inject(self, injected.after);
        for listed in brought {
            places.push(self.declared.len());
            self.announce_entry(scope, object, pod, container, *listed);
        }
        places
    }

    fn announce_entry(
        &mut self,
        scope: &LookupScope<'_>,
        object: &Object,
        pod: &Pod,
        container: &Container,
        listed: EnvListEntry<'_>,
    ) {
        let declared = self.announced(scope, object, pod, container, listed);
        // Skipped entries too: a probe sees them (P3).
        if let Some(name) = &listed.entry.name {
            let whose = listed.preset.map_or(object, |it| &it.object);
            self.position(&whose.with_known_parameters(&name.value));
        }
        self.declared.push(declared);
    }

    fn position(&mut self, name: &Arc<str>) {
        self.positions.entry(Arc::clone(name)).or_default().push(self.declared.len());
    }

    /// An entry of `env`, with its value if that needs no expansion.
    fn announced(
        &self,
        scope: &LookupScope<'_>,
        object: &Object,
        pod: &Pod,
        container: &Container,
        EnvListEntry { entry, preset }: EnvListEntry<'_>,
    ) -> Declaration {
        let raw_text = entry.value.as_ref().map_or_else(|| "".into(), |it| Arc::clone(&it.value));
        let whose = preset.map_or(object, |it| &it.object);
        let raw = parameters::filled(whose, &raw_text);
        let Some(name) = entry.name.as_ref().filter(|it| !it.value.is_empty()) else {
            return Declaration { origin: None, binding: None, raw };
        };
        let location = preset.map_or_else(|| scope.location(object, name.span), |matched| matched.location(name.span));
        let by = preset.map(|it| Arc::clone(&it.name));
        // B13: a value that is not empty wins over `valueFrom`.
        let from = entry.from.as_ref().filter(|_| raw_text.is_empty());
        if let Some(from) = from {
            let found = env_sources::value_from(scope, object, pod, container, from, &location);
            let name = whose.with_known_parameters(&name.value).into_owned();
            let named = |it| Binding { name, entry: Some(location), preset: by, ..it };
            let binding = found.map(|it| Arc::new(named(it)));
            return Declaration { origin: binding.as_ref().map(|it| it.origin.clone()), binding, raw };
        }
        let kind = if by.is_some() { OriginKind::Preset } else { OriginKind::Env };
        let origin = Origin { object: by, location: Some(location), ..Origin::new(kind) };
        Declaration { origin: Some(origin), binding: None, raw }
    }

    /// Gives each entry its value, in order (B4, B12). `places` tells where each of the entries is.
    fn bind(&mut self, scope: &LookupScope<'_>, object: &Object, listed: &[EnvListEntry<'_>], places: &[usize]) {
        let mut entries = places.iter().copied().zip(listed.iter().enumerate()).peekable();
        for at in 0..self.declared.len() {
            let listed = entries.next_if(|(place, _)| *place == at).map(|(_, (index, listed))| (index, *listed));
            let Some(origin) = self.declared[at].origin.clone() else { continue };
            let binding = match (&self.declared[at].binding, listed) {
                (Some(binding), _) => (**binding).clone(),
                (None, Some((index, EnvListEntry { entry: EnvVar { name: Some(name), value, .. }, preset }))) => {
                    let raw = value.as_ref().map_or_else(|| "".into(), |it| Arc::clone(&it.value));
                    let object = preset.map_or(object, |it| &it.object);
                    let expansion = expand_in(object, &raw, scope.copying(), |name| self.lookup_before(at, name));
                    let name = object.with_known_parameters(&name.value);
                    if let Some(text) = value {
                        let within = preset.map(PresetLocation::of);
                        let field = ContainerField::EnvValue(index);
                        self.note_unresolved(field, text, &expansion, Some(&name), within.as_ref());
                    }
                    let Expansion { value, steps } = expansion;
                    let preset = preset.map(|it| Arc::clone(&it.name));
                    Binding { raw: Some(raw), steps, preset, ..Binding::new(name.into_owned(), value, origin) }
                }
                (None, _) => continue,
            };
            let hidden = self.bound_before(at, &binding.name);
            let binding = binding.hiding(hidden.as_ref());
            self.declared[at].binding = Some(Arc::new(binding));
        }
    }

    fn expand_command_line(&mut self, scope: &LookupScope<'_>, object: &Object, container: &Container) {
        let texts: Vec<&Text> = container.command.iter().chain(&container.args).collect();
        let field = |at| container.command_line_field(at);
        let mut items = self.items(scope, object, &texts, !container.command.is_empty(), field);
        self.args = items.split_off(container.command.len());
        self.command = items;
        for (index, probe) in container.probes.iter().enumerate() {
            let texts: Vec<&Text> = probe.command.iter().collect();
            let field = |at| ContainerField::ProbeCommand(index, at);
            let command = self.items(scope, object, &texts, true, field);
            self.probes.push(ProbeCommand { probe: probe.probe, command });
        }
        for (index, mount) in container.mounts.iter().enumerate() {
            self.expand_mount(scope, object, (index, mount), None);
        }
    }

    fn expand_mount(
        &mut self,
        scope: &LookupScope<'_>,
        object: &Object,
        (index, mount): (usize, &Mount),
        within: Option<PresetLocation>,
    ) {
        let Some(text) = &mount.sub_path_expr else { return };
        let lookup = |name: &str| self.lookup(VariableScope::All, name);
        let expansion = expand_in(object, &text.value, scope.copying(), lookup);
        let field = ContainerField::SubPathExpr(index);
        self.note_unresolved(field, text, &expansion, None, within.as_ref());
        let mount_path = mount.mount_path.as_ref().map(|it| Arc::clone(&it.value));
        let item = ExpandedScalar { text: text.clone(), expansion, is_script: false };
        self.sub_paths.push(SubPath { field, mount_path, item, within });
    }

    fn items(
        &mut self,
        scope: &LookupScope<'_>,
        object: &Object,
        texts: &[&Text],
        has_command: bool,
        field: impl Fn(usize) -> ContainerField,
    ) -> Vec<ExpandedScalar> {
        let values: Vec<&str> = texts.iter().map(|it| &*it.value).collect();
        let script = shell_items::script_index(&values, has_command);
        let mut items = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            let field = field(at);
            let variables = field.variable_scope().unwrap_or(VariableScope::All);
            let expansion = expand_in(object, &text.value, scope.copying(), |name| self.lookup(variables, name));
            let is_script = script == Some(at);
            if !is_script {
                self.note_unresolved(field, text, &expansion, None, None);
            }
            items.push(ExpandedScalar { text: (*text).clone(), expansion, is_script });
        }
        items
    }

    fn note_unresolved(
        &mut self,
        field: ContainerField,
        text: &Text,
        expansion: &Expansion,
        own: Option<&str>,
        within: Option<&PresetLocation>,
    ) {
        for step in &expansion.steps {
            let why = match &step.outcome {
                Lookup::Bound(_) | Lookup::Maybe(_) => continue,
                Lookup::Unbound => UnresolvedReason::Undefined,
                Lookup::Later(_) if own == Some(&*step.name) => UnresolvedReason::SelfReference,
                Lookup::Later(_) => UnresolvedReason::Forward,
            };
            let (name, range) = (Arc::clone(&step.name), step.range.clone());
            let outcome = step.outcome.clone();
            let within = within.cloned();
            self.unresolved.push(UnresolvedReference { name, why, field, outcome, text: text.clone(), range, within });
        }
    }

    fn lookup_before(&self, at: usize, name: &str) -> Lookup {
        if has_helm_placeholder(name) {
            return Lookup::Maybe(UnknownReason::Helm);
        }
        let in_entry = at < self.declared.len();
        if self.unordered && in_entry && self.positions.contains_key(name) {
            return Lookup::Maybe(UnknownReason::External(name.into()));
        }
        if let Some(binding) = self.bound_before(at, name) {
            return Lookup::Bound(binding);
        }
        if let Some(hole) = self.may_define(name) {
            return Lookup::Maybe(hole);
        }
        let mut later = self.positions.get(name).into_iter().flatten().filter(|it| **it >= at);
        later.find_map(|it| self.declared[*it].origin.clone()).map_or(Lookup::Unbound, Lookup::Later)
    }

    /// What has the name before a position (B15, B16).
    fn bound_before(&self, at: usize, name: &str) -> Option<Arc<Binding>> {
        let positions = self.positions.get(name).map_or(&[][..], Vec::as_slice);
        let declared = positions.iter().rev().filter(|it| **it < at).find_map(|it| self.declared[*it].binding.as_ref());
        let service = || self.services.variables.get(name).map(|it| self.placed(it));
        declared.or_else(|| self.sources.get(name)).map(Arc::clone).or_else(service)
    }

    /// A service's variable with the service where it stands now.
    fn placed(&self, binding: &Arc<Binding>) -> Arc<Binding> {
        match &self.moved_services {
            Some(snapshot) => self.services.placed(snapshot, binding),
            None => Arc::clone(binding),
        }
    }

    /// P3.
    fn lookup_raw(&self, name: &str) -> Lookup {
        // An entry that is skipped at run time (B17) is still in the list the prober reads.
        let last = self.positions.get(name).and_then(|it| it.last());
        match last {
            Some(at) => {
                let declared = &self.declared[*at];
                let origin = declared.origin.clone().unwrap_or_else(|| Origin::new(OriginKind::Env));
                Lookup::Bound(Arc::new(Binding::new(name, declared.raw.clone(), origin)))
            }
            None if self.unordered || self.is_open => Lookup::Maybe(UnknownReason::External(name.into())),
            None => Lookup::Unbound,
        }
    }

    fn may_define(&self, name: &str) -> Option<UnknownReason> {
        if self.services.may_define(name) {
            return Some(UnknownReason::ServiceVariable(name.into()));
        }
        let is_declared = self.positions.contains_key(name);
        self.opaque.iter().rev().find_map(|it| it.hole(name, is_declared))
    }
}

/// Whether an entry takes its value from an env file.
fn is_of_file(entry: &EnvVar) -> bool {
    let source = entry.from.as_ref().and_then(|it| it.sources.first());
    matches!(source, Some(ValueSource::File { .. }))
}

/// What presets may bring of which it is not known whether they fit.
fn possible(admission: Option<&Admission>) -> Vec<PossibleSource> {
    let mut all = Vec::new();
    for possible in admission.into_iter().flat_map(|it| &it.possible) {
        let ObjectData::Preset(preset) = &possible.object.model.data else { continue };
        let Some(given) = preset.container() else { continue };
        let reason = format!("preset {} may bring it", possible.name);
        if !given.env_from.is_empty() {
            all.push(PossibleSource::any(&reason));
        }
        let names = given.env.iter().filter_map(|it| it.name.as_ref());
        all.extend(names.map(|name| PossibleSource::name(Arc::clone(&name.value), &reason)));
    }
    all
}
