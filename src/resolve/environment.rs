//! The environment of one container (B1 to B27), and the texts that are expanded with it (P1 to P4).
//!
//! Declarations are kept in order, because a name has different values at different places of a container.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::build::{Admission, BuiltContainer, BuiltObject, MatchingPreset};
use crate::k8s::{
    Container, ContainerField, ContainerRole, EnvVar, Mount, PodPreset, Text, ValueSource, VariableScope,
};
use crate::resolve::binding::{Binding, Lookup, Origin, OriginKind};
use crate::resolve::controller_variables::{self, ControllerVariable, ControllerVariables};
use crate::resolve::env_from::{EnvFromEntry, EnvFromVariables, env_from};
use crate::resolve::env_sources::{self, OpaqueReason, OpaqueSource, PossibleSource};
use crate::resolve::expand::{Expansion, expand};
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::preset_order::OrderDependence;
use crate::resolve::script_inputs::ScriptInputs;
use crate::resolve::script_runner;
use crate::resolve::shell_use::ShellUse;
use crate::resolve::similar_names::SimilarNames;
use crate::resolve::unresolved::{ReferencePlace, ServiceVariableAbsence, UnresolvedReason, UnresolvedReference};
use crate::resolve::value::{ResolvedValue, UnknownReason};
use crate::resolve::visible_services::VisibleServices;
use crate::syntax::{TextPart, has_placeholder, may_become, split_placeholders};

/// The environment of a container, and its expanded texts.
#[derive(Clone, Debug)]
pub struct Environment<'s> {
    /// The declarations in the order in which the kubelet reads them: variables that a controller adds first, `env`,
    /// variables that a controller adds last, variables of presets (A11).
    declared: Vec<Declaration>,
    /// The index of `env[0]` in `declared`.
    first_entry: usize,
    /// The number of entries of `env`.
    own_entries: usize,
    /// The indexes in `declared` of the entries that presets add, in order.
    added_entries: Vec<usize>,
    /// The indexes in `declared` of each name.
    positions: HashMap<Arc<str>, Vec<usize>>,
    /// The variables of `envFrom`, which entries of `env` hide.
    sources: EnvFromVariables<'s>,
    /// The variables of services, which all others hide (B5).
    services: VisibleServices<'s>,
    /// The names among these that have unknown parts: each may become any name that has its known parts.
    unknown_names: Vec<Arc<str>>,
    /// Sources that may define more variables.
    possible_sources: Vec<PossibleSource>,
    /// Entries of `envFrom` whose variables are not all known, in order.
    pub opaque: Vec<OpaqueSource>,
    /// Whether the order of the entries is unknown: the container is a deployment hook.
    is_unordered: bool,
    /// Whether `env` may have more entries than the manifest shows.
    is_open: bool,
    /// `command`, expanded.
    pub command: Vec<ExpandedScalar>,
    /// `args`, expanded.
    pub args: Vec<ExpandedScalar>,
    /// The commands of exec probes, expanded.
    pub probes: Vec<ProbeCommand>,
    /// `subPathExpr` of mounts, expanded.
    pub sub_paths: Vec<SubPath>,
    /// The variables whose values become part of a shell script.
    script_inputs: ScriptInputs,
    /// See [`Environment::similar_names`].
    similar: SimilarNames,
    /// The references that are not expanded, in the order of the text.
    pub unresolved: Vec<UnresolvedReference>,
}

/// An entry of the list that the kubelet reads.
#[derive(Clone, Debug)]
struct Declaration {
    /// Where it is declared; known before its value is.
    origin: Option<Origin>,
    /// The variable; `None` for an entry that is incomplete or skipped (B17).
    binding: Option<Arc<Binding>>,
    /// The value for exec probes: the `value` field, unexpanded (P3).
    raw: ResolvedValue,
}

/// A scalar and its expansion.
#[derive(Clone, Debug)]
pub struct ExpandedScalar {
    /// The scalar as written.
    pub text: Text,
    /// Its expansion.
    pub expansion: Expansion,
    /// Whether a shell reads it.
    pub shell: ShellUse,
}

impl ExpandedScalar {
    /// Whether it is a shell script.
    pub fn is_script(&self) -> bool {
        self.shell == ShellUse::Yes
    }
}

/// The command of an exec probe.
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
    /// The preset that contains it, if one does.
    pub within: Option<PresetLocation>,
}

/// The position of a PodPreset object. Spans of its entries are relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetLocation {
    /// The file of the preset.
    pub file: Arc<str>,
    /// The offset of the object in the file.
    pub offset: usize,
}

impl PresetLocation {
    /// The position of a preset.
    pub fn of(preset: BuiltObject<'_>) -> Self {
        Self { file: Arc::clone(preset.file), offset: preset.source.offset }
    }
}

/// An entry of `env`, and the preset that adds it.
#[derive(Clone, Copy)]
pub(super) struct EnvListEntry<'e> {
    pub(super) entry: &'e EnvVar,
    pub(super) preset: Option<&'e MatchingPreset<'e>>,
}

/// What the expansion of a text needs.
pub(super) struct Expander<'e> {
    scope: &'e LookupScope<'e>,
    /// The container.
    pub(super) of: BuiltContainer<'e>,
    /// Its entries of `env`, and those that presets add.
    pub(super) listed: &'e [EnvListEntry<'e>],
    /// Which values depend on the order of presets.
    dependence: &'e OrderDependence,
    /// Why a service variable does not exist.
    pub(super) absence: &'e dyn Fn(&str) -> Option<ServiceVariableAbsence>,
}

impl<'s> Environment<'s> {
    /// Resolves a container. A3: a value that depends on the order of presets is one of several. `absence` says why a
    /// service variable does not exist.
    pub(super) fn resolve(
        scope: &LookupScope<'_>,
        of: BuiltContainer<'_>,
        services: &VisibleServices<'s>,
        admission: Option<&Admission<'_>>,
        absence: &dyn Fn(&str) -> Option<ServiceVariableAbsence>,
    ) -> Self {
        let in_order = |admission: Option<&Admission<'_>>, dependence: &OrderDependence| {
            Self::resolve_in_order(scope, of, services, admission, dependence, absence)
        };
        let known = in_order(admission, &OrderDependence::default());
        let others = admission.map(|it| it.other_orders(of.in_pod(), scope.admission_context())).unwrap_or_default();
        if others.is_empty() {
            return known;
        }
        let others: Vec<Self> = others.iter().map(|it| in_order(Some(it), &OrderDependence::default())).collect();
        let dependence = OrderDependence::between(&known, &others);
        if dependence.is_empty() { known } else { in_order(admission, &dependence) }
    }

    fn resolve_in_order(
        scope: &LookupScope<'_>,
        of: BuiltContainer<'_>,
        services: &VisibleServices<'s>,
        admission: Option<&Admission<'_>>,
        dependence: &OrderDependence,
        absence: &dyn Fn(&str) -> Option<ServiceVariableAbsence>,
    ) -> Self {
        let BuiltContainer { object, pod, container } = of;
        let changes = admission.and_then(|it| Some((it, it.container_changes(of)?)));
        // Scripts are run only for the few pods that read env files.
        let added = || changes.into_iter().flat_map(|(all, it)| it.env.iter().filter_map(|it| all.env(*it)));
        let is_read = || container.env.iter().chain(added().map(|(_, it)| it)).any(reads_env_file);
        if scope.files().is_none() && scope.serves_env_files() && is_read() {
            let files = script_runner::files_before(scope, of, services);
            return Self::resolve_in_order(&scope.with_files(&files), of, services, admission, dependence, absence);
        }
        let mut from: Vec<EnvFromEntry<'_>> = Vec::new();
        if changes.is_none_or(|(_, it)| it.keeps_env_from) {
            let own = |entry| EnvFromEntry { entry, location: object.location(entry.span), preset: None };
            from.extend(container.env_from.iter().map(own));
        }
        for (matched, entry) in
            changes.into_iter().flat_map(|(all, it)| it.env_from.iter().filter_map(|it| all.env_from(*it)))
        {
            let (location, preset) = (matched.location(entry.span), Some(Arc::clone(&matched.name)));
            from.push(EnvFromEntry { entry, location, preset });
        }
        let mut from = env_from(scope, services.object(), &from);
        from.variables.set_dependent(dependence.sources());
        let mut environment = Self {
            declared: Vec::new(),
            first_entry: 0,
            own_entries: container.env.len(),
            added_entries: Vec::new(),
            positions: HashMap::new(),
            unknown_names: from.variables.unknown_names(),
            sources: from.variables,
            services: services.clone(),
            possible_sources: from.possible,
            opaque: from.opaque,
            is_unordered: container.role == ContainerRole::Hook,
            is_open: container.may_have_more_variables
                || env_sources::is_part_of_patch(scope, container)
                || pod.controller.is_unknown(),
            command: Vec::new(),
            args: Vec::new(),
            probes: Vec::new(),
            sub_paths: Vec::new(),
            script_inputs: ScriptInputs::default(),
            similar: SimilarNames::default(),
            unresolved: Vec::new(),
        };
        environment.possible_sources.extend(env_sources::other_sources(scope, container));
        environment.possible_sources.extend(env_sources::misplaced_sources(pod));
        let mut injected = controller_variables::collect(of);
        environment.possible_sources.append(&mut injected.possible);
        environment.possible_sources.extend(preset_sources(admission));
        environment.opaque.extend(admission.into_iter().flat_map(possible_presets));
        let own = |entry| EnvListEntry { entry, preset: None };
        let mut listed: Vec<EnvListEntry<'_>> = container.env.iter().map(own).collect();
        let added = changes.into_iter().flat_map(|(all, it)| it.env.iter().filter_map(|it| all.env(*it)));
        listed.extend(added.map(|(matched, entry)| EnvListEntry { entry, preset: Some(matched) }));
        let keeps_env = changes.is_none_or(|(_, it)| it.keeps_env);
        let at = environment.declare_all(scope, of, &listed, keeps_env, injected);
        environment.added_entries = at[container.env.len()..].to_vec();
        environment.script_inputs = ScriptInputs::of(of, &listed);
        let expander = &Expander { scope, of, listed: &listed, dependence, absence };
        environment.compute_values(expander, &at);
        environment.expand_command_line(expander);
        if let Some((admission, changes)) = changes {
            if !changes.keeps_mounts {
                environment.sub_paths.clear();
            }
            let added = changes.mounts.iter().filter_map(|it| admission.mount(*it)).enumerate();
            for (index, (matched, mount)) in added {
                let index = container.mounts.len() + index;
                environment.expand_mount(expander, (index, mount), Some(matched.object));
            }
        }
        environment.unresolved.sort_by_key(|it| (it.within.is_some(), it.text.span, it.range.start));
        environment
    }

    /// Looks up a name among the variables that a field sees.
    pub fn lookup(&self, visible: VariableScope, name: &str) -> Lookup {
        match visible {
            _ if has_placeholder(name) => Lookup::Maybe(unknown_name(name)),
            VariableScope::EarlierEntries(index) => self.lookup_before(self.entry_position(index), name),
            VariableScope::All => self.lookup_before(self.declared.len(), name),
            VariableScope::ProbeValues => self.lookup_raw(name),
        }
    }

    /// The variables that the container starts with, sorted by name.
    pub fn bindings(&self) -> Vec<Arc<Binding>> {
        let mut all: BTreeMap<&str, Arc<Binding>> = BTreeMap::new();
        for binding in self.services.all().variables.values() {
            all.insert(&binding.name, self.services.at_current_location(binding));
        }
        let declared = self.declared.iter().filter_map(|it| it.binding.as_ref());
        for binding in self.source_bindings().values().chain(declared) {
            all.insert(&binding.name, Arc::clone(binding));
        }
        all.into_values().collect()
    }

    /// The names of variables that a name may be a slip of, the most similar first.
    pub fn similar_names(&self, name: &str) -> Vec<Arc<str>> {
        let declared = self.declared.iter().filter_map(|it| it.binding.as_ref());
        let own = || self.source_bindings().keys().chain(declared.map(|it| &it.name)).collect();
        self.similar.of(name, own, || self.services.similar_names(name))
    }

    /// The variables without those that only services define, which can be tens of thousands.
    pub fn own_bindings(&self) -> Vec<&Arc<Binding>> {
        let mut all: BTreeMap<&str, &Arc<Binding>> = BTreeMap::new();
        let declared = self.declared.iter().filter_map(|it| it.binding.as_ref());
        for binding in self.source_bindings().values().chain(declared) {
            all.insert(&binding.name, binding);
        }
        all.into_values().collect()
    }

    /// The names of the services whose variables the container gets without naming them.
    pub fn services(&self) -> BTreeSet<Arc<str>> {
        self.services.names()
    }

    /// The variables of services by name, including hidden ones.
    pub fn service_bindings(&self) -> &BTreeMap<Arc<str>, Arc<Binding>> {
        &self.services.all().variables
    }

    /// The variable of the entry `env[index]`. Entries of presets are counted after those of the container.
    pub fn entry(&self, index: usize) -> Option<&Arc<Binding>> {
        self.declared.get(self.entry_position(index))?.binding.as_ref()
    }

    /// The index in `declared` of an entry of `env`.
    fn entry_position(&self, index: usize) -> usize {
        let added = index.checked_sub(self.own_entries).and_then(|it| self.added_entries.get(it));
        added.copied().unwrap_or(self.first_entry + index)
    }

    /// The variables of `envFrom`.
    pub(super) fn source_bindings(&self) -> &BTreeMap<Arc<str>, Arc<Binding>> {
        self.sources.all(Some(&self.services))
    }

    /// The variables of the entries that presets add.
    pub(super) fn added_bindings(&self) -> impl Iterator<Item = &Arc<Binding>> {
        self.added_entries.iter().filter_map(|it| self.declared[*it].binding.as_ref())
    }

    /// The number of entries of the container's own `env`.
    pub(super) fn own_entry_count(&self) -> usize {
        self.own_entries
    }

    /// Adds all declarations before any value is computed, since a lookup has to find later declarations. Returns the
    /// index in `declared` of each entry.
    fn declare_all(
        &mut self,
        scope: &LookupScope<'_>,
        of: BuiltContainer<'_>,
        listed: &[EnvListEntry<'_>],
        keeps_env: bool,
        injected: ControllerVariables,
    ) -> Vec<usize> {
        let container = of.container;
        let is_declared =
            |name: &str| container.env.iter().any(|it| it.name.as_ref().is_some_and(|it| &*it.value == name));
        let inject = |environment: &mut Self, all: Vec<ControllerVariable>| {
            for injected in all.into_iter().filter(|it| !it.yields || !is_declared(it.name)) {
                let binding = Binding::new(injected.name, injected.value, Origin::new(OriginKind::Injected));
                let origin = Some(binding.origin.clone());
                environment.add_position(&binding.name);
                environment.declared.push(Declaration { origin, binding: Some(Arc::new(binding)), raw: injected.raw });
            }
        };
        inject(self, injected.before);
        self.first_entry = self.declared.len();
        let mut places = Vec::with_capacity(listed.len());
        let (own, added) = listed.split_at(container.env.len());
        for listed in own {
            places.push(self.declared.len());
            if !keeps_env {
                // A21: its index is kept, so that entries are found by index.
                self.declared.push(Declaration { origin: None, binding: None, raw: ResolvedValue::default() });
                continue;
            }
            self.declare_entry(scope, of, *listed);
        }
        inject(self, injected.after);
        for listed in added {
            places.push(self.declared.len());
            self.declare_entry(scope, of, *listed);
        }
        places
    }

    fn declare_entry(&mut self, scope: &LookupScope<'_>, of: BuiltContainer<'_>, listed: EnvListEntry<'_>) {
        let declared = self.declaration(scope, of, listed);
        // Skipped entries are included: a probe sees them (P3).
        if let Some(name) = &listed.entry.name {
            self.add_position(&name.value);
        }
        self.declared.push(declared);
    }

    fn add_position(&mut self, name: &Arc<str>) {
        if has_placeholder(name) {
            self.unknown_names.push(Arc::clone(name));
        }
        self.positions.entry(Arc::clone(name)).or_default().push(self.declared.len());
    }

    /// The declaration of an entry of `env`, with its value if that needs no expansion.
    fn declaration(
        &self,
        scope: &LookupScope<'_>,
        of: BuiltContainer<'_>,
        EnvListEntry { entry, preset }: EnvListEntry<'_>,
    ) -> Declaration {
        let raw_text: Arc<str> = entry.value.as_ref().map_or_else(|| "".into(), |it| Arc::clone(&it.value));
        let owner: BuiltObject<'_> = preset.map_or(of.object, |it| it.object);
        // The value of an entry that is not well-formed is not known, unless it has one.
        let is_hidden = entry.is_malformed && raw_text.is_empty();
        let raw = match is_hidden {
            true => ResolvedValue::unknown(UnknownReason::Unfinished),
            false => ResolvedValue::written(Arc::clone(&raw_text)),
        };
        let Some(name) = entry.name.as_ref().filter(|it| !it.value.is_empty()) else {
            return Declaration { origin: None, binding: None, raw };
        };
        let location = owner.location(name.span);
        let by = preset.map(|it| Arc::clone(&it.name));
        // B13: a non-empty `value` wins over `valueFrom`.
        let from = entry.from.as_ref().filter(|_| raw_text.is_empty());
        if let Some(from) = from {
            let found = env_sources::value_from(scope, of, from, &location);
            let name = Arc::clone(&name.value);
            let named = |it| Binding { name, entry: Some(location), preset: by, ..it };
            let binding = found.map(|it| Arc::new(named(it)));
            return Declaration { origin: binding.as_ref().map(|it| it.origin.clone()), binding, raw };
        }
        let kind = if by.is_some() { OriginKind::Preset } else { OriginKind::Env };
        let origin = Origin { object: by.clone(), location: Some(location), ..Origin::new(kind) };
        if is_hidden {
            let binding = Binding::new(Arc::clone(&name.value), raw.clone(), origin.clone());
            let binding = Some(Arc::new(Binding { preset: by, ..binding }));
            return Declaration { origin: Some(origin), binding, raw };
        }
        Declaration { origin: Some(origin), binding: None, raw }
    }

    /// Computes the values of the entries, in order (B4, B12). `places` has the index in `declared` of each entry.
    fn compute_values(&mut self, expander: &Expander<'_>, places: &[usize]) {
        let mut entries = places.iter().copied().zip(expander.listed.iter().enumerate()).peekable();
        for at in 0..self.declared.len() {
            let listed = entries.next_if(|(place, _)| *place == at).map(|(_, (index, listed))| (index, *listed));
            let Some(origin) = self.declared[at].origin.clone() else { continue };
            let binding = match (&self.declared[at].binding, listed) {
                (Some(binding), _) => (**binding).clone(),
                (None, Some((index, EnvListEntry { entry: EnvVar { name: Some(name), value, .. }, preset }))) => {
                    let raw = value.as_ref().map_or_else(|| "".into(), |it| Arc::clone(&it.value));
                    let lookup = |name: &str| self.lookup_before(at, name);
                    let mut expansion = expand(&raw, expander.scope.dollar_copying(), lookup);
                    let name = &name.value;
                    let open = match preset {
                        Some(_) => expander.dependence.entry(name),
                        None => expander.dependence.own_entry(index),
                    };
                    if let Some(open) = open {
                        open.keep_certain(&mut expansion.steps);
                    }
                    if let Some(text) = value.as_ref().filter(|_| !expansion.steps.is_empty()) {
                        let (field, preset) = (ContainerField::EnvValue(index), preset.map(|it| it.object));
                        let shell = ShellUse::of_value(&text.value);
                        let place = ReferencePlace { text, field, preset, own: Some(name), shell };
                        self.record_unresolved(expander, place, &mut expansion);
                    }
                    let Expansion { value, steps } = expansion;
                    let preset = preset.map(|it| Arc::clone(&it.name));
                    let binding = Binding::new(Arc::clone(name), value, origin);
                    let binding = Binding { raw: Some(raw), steps, preset, ..binding };
                    match open {
                        Some(open) => open.apply_to(binding),
                        None => binding,
                    }
                }
                (None, _) => continue,
            };
            let hidden = self.binding_before(at, &binding.name);
            let binding = binding.hiding(hidden.as_ref());
            self.declared[at].binding = Some(Arc::new(binding));
        }
    }

    fn expand_command_line(&mut self, expander: &Expander<'_>) {
        let container = expander.of.container;
        let texts: Vec<&Text> = container.command.iter().chain(&container.args).collect();
        // The object that a patch changes may have a command that runs a shell, and so may a command that cannot be read.
        let may_run_shell = container.shape.hides_command
            || container.command.is_empty() && matches!(self.lookup(VariableScope::All, ""), Lookup::Maybe(_));
        let mut shells = shell_uses(&texts, !container.command.is_empty());
        for shell in shells.iter_mut().filter(|it| may_run_shell && **it == ShellUse::No) {
            *shell = ShellUse::Maybe;
        }
        let mut items = self.expand_items(expander, &texts, &shells, |at| container.command_line_field(at));
        self.args = items.split_off(container.command.len());
        self.command = items;
        for (index, probe) in container.probes.iter().enumerate() {
            let texts: Vec<&Text> = probe.command.iter().collect();
            let field = |at| ContainerField::ProbeCommand(index, at);
            let command = self.expand_items(expander, &texts, &shell_uses(&texts, true), field);
            self.probes.push(ProbeCommand { probe: probe.probe, command });
        }
        for (index, mount) in container.mounts.iter().enumerate() {
            self.expand_mount(expander, (index, mount), None);
        }
    }

    fn expand_mount(
        &mut self,
        expander: &Expander<'_>,
        (index, mount): (usize, &Mount),
        preset: Option<BuiltObject<'_>>,
    ) {
        let Some(text) = &mount.sub_path_expr else { return };
        let lookup = |name: &str| self.lookup(VariableScope::All, name);
        let mut expansion = expand(&text.value, expander.scope.dollar_copying(), lookup);
        let (field, shell) = (ContainerField::SubPathExpr(index), ShellUse::No);
        let place = ReferencePlace { text, field, preset, own: None, shell };
        self.record_unresolved(expander, place, &mut expansion);
        let mount_path = mount.mount_path.as_ref().map(|it| Arc::clone(&it.value));
        let item = ExpandedScalar { text: text.clone(), expansion, shell };
        self.sub_paths.push(SubPath { field, mount_path, item, within: preset.map(PresetLocation::of) });
    }

    fn expand_items(
        &mut self,
        expander: &Expander<'_>,
        texts: &[&Text],
        shells: &[ShellUse],
        field: impl Fn(usize) -> ContainerField,
    ) -> Vec<ExpandedScalar> {
        let mut items = Vec::with_capacity(texts.len());
        for (at, (text, shell)) in texts.iter().zip(shells).enumerate() {
            let (field, shell) = (field(at), *shell);
            let variables = field.variable_scope().unwrap_or(VariableScope::All);
            let lookup = |name: &str| self.lookup(variables, name);
            let mut expansion = expand(&text.value, expander.scope.dollar_copying(), lookup);
            let place = ReferencePlace { text, field, preset: None, own: None, shell };
            self.record_unresolved(expander, place, &mut expansion);
            items.push(ExpandedScalar { text: (*text).clone(), expansion, shell });
        }
        items
    }

    /// Sets the reason of each reference that is not expanded, and lists it.
    fn record_unresolved(&mut self, expander: &Expander<'_>, place: ReferencePlace<'_>, expansion: &mut Expansion) {
        for step in &mut expansion.steps {
            step.unresolved = UnresolvedReason::of(self, expander, &place, step);
            if let Some(reason) = &step.unresolved {
                let (name, reason, range) = (Arc::clone(&step.name), reason.clone(), step.range.clone());
                let (text, within) = (place.text.clone(), place.preset.map(PresetLocation::of));
                self.unresolved.push(UnresolvedReference { name, reason, field: place.field, text, range, within });
            }
        }
    }

    /// Whether entries of `env` have this name, with or without a value.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.positions.contains_key(name)
    }

    /// Whether the value of a variable may become part of a shell script, which then reads `$(x)` and `${x}` in it.
    pub fn reaches_shell(&self, name: &str) -> bool {
        self.script_inputs.contains(name)
    }

    /// Why a name is not expanded in the fields that see these variables; `None` if no field has such a reference.
    pub fn why_unresolved(&self, visible: VariableScope, name: &str) -> Option<&UnresolvedReason> {
        let is_it = |it: &&UnresolvedReference| *it.name == *name && it.field.variable_scope() == Some(visible);
        self.unresolved.iter().find(is_it).map(|it| &it.reason)
    }

    fn lookup_before(&self, at: usize, name: &str) -> Lookup {
        if has_placeholder(name) {
            return Lookup::Maybe(unknown_name(name));
        }
        let in_entry = at < self.declared.len();
        if self.is_unordered && in_entry && self.positions.contains_key(name) {
            return Lookup::Maybe(UnknownReason::External(name.into()));
        }
        if let Some(binding) = self.binding_before(at, name) {
            return Lookup::Bound(binding);
        }
        if let Some(reason) = self.possible_value(name) {
            return Lookup::Maybe(reason);
        }
        let positions = self.positions.get(name).map_or(&[][..], Vec::as_slice);
        let mut later = positions[positions.partition_point(|it| *it < at)..].iter();
        later.find_map(|it| self.declared[*it].origin.clone()).map_or(Lookup::Unbound, Lookup::Later)
    }

    /// The variable of this name before an index in `declared` (B15, B16).
    fn binding_before(&self, at: usize, name: &str) -> Option<Arc<Binding>> {
        let positions = self.positions.get(name).map_or(&[][..], Vec::as_slice);
        let before = &positions[..positions.partition_point(|it| *it < at)];
        let declared = before.iter().rev().find_map(|it| self.declared[*it].binding.as_ref());
        let service = || self.services.get(name);
        declared.cloned().or_else(|| self.sources.get(name, Some(&self.services))).or_else(service)
    }

    /// Looks up a name for an exec probe (P3).
    fn lookup_raw(&self, name: &str) -> Lookup {
        // The prober also reads entries that the container skips (B17).
        let last = self.positions.get(name).and_then(|it| it.last());
        match last {
            Some(at) => {
                let declared = &self.declared[*at];
                let origin = declared.origin.clone().unwrap_or_else(|| Origin::new(OriginKind::Env));
                Lookup::Bound(Arc::new(Binding::new(name, declared.raw.clone(), origin)))
            }
            None if self.is_unordered || self.is_open => Lookup::Maybe(UnknownReason::External(name.into())),
            None => self.possible_entry(name).map_or(Lookup::Unbound, Lookup::Maybe),
        }
    }

    /// The unknown part of an entry that may become the entry of this name.
    fn possible_entry(&self, name: &str) -> Option<UnknownReason> {
        self.unknown_names.iter().find(|it| may_become(it, name)).map(|it| unknown_name(it))
    }

    fn possible_value(&self, name: &str) -> Option<UnknownReason> {
        if self.services.may_define(name) {
            return Some(UnknownReason::ServiceVariable(name.into()));
        }
        let is_declared = self.positions.contains_key(name);
        let source = self.possible_sources.iter().rev().find_map(|it| it.unknown_value(name, is_declared));
        source.or_else(|| self.possible_entry(name))
    }
}

/// Who reads each text of a command line.
fn shell_uses(texts: &[&Text], has_command: bool) -> Vec<ShellUse> {
    let values: Vec<&str> = texts.iter().map(|it| &*it.value).collect();
    ShellUse::of_items(&values, has_command)
}

/// Why a name with placeholders is not known.
fn unknown_name(name: &str) -> UnknownReason {
    let reason = |part: TextPart<'_>| match part {
        TextPart::Text(_) => None,
        TextPart::Helm => Some(UnknownReason::Helm),
        TextPart::Parameter(name) => Some(UnknownReason::Parameter(name.into())),
        TextPart::Generated(name) => Some(UnknownReason::Generated(name.into())),
    };
    split_placeholders(name).into_iter().find_map(reason).unwrap_or(UnknownReason::Helm)
}

/// Whether the value of an entry comes from an env file.
fn reads_env_file(entry: &EnvVar) -> bool {
    let source = entry.from.as_ref().and_then(|it| it.sources.first());
    matches!(source, Some(ValueSource::File { .. }))
}

/// The presets that may add variables.
fn possible_presets<'a>(admission: &'a Admission<'_>) -> impl Iterator<Item = OpaqueSource> + 'a {
    let adds_variables = |it: &Container| !it.env.is_empty() || !it.env_from.is_empty();
    let presets = admission.possible.iter();
    let adding = presets.filter(move |it| it.preset().and_then(PodPreset::container).is_some_and(adds_variables));
    adding.map(|it| OpaqueSource {
        kind: OriginKind::Preset,
        object: Arc::clone(&it.name),
        prefix: "".into(),
        reason: OpaqueReason::MayApply,
    })
}

/// The variables of presets that may apply.
fn preset_sources(admission: Option<&Admission<'_>>) -> Vec<PossibleSource> {
    let mut all = Vec::new();
    if admission.is_some_and(|it| it.has_others) {
        all.push(PossibleSource::Any);
    }
    for possible in admission.into_iter().flat_map(|it| &it.possible) {
        let Some(entries) = possible.preset().and_then(PodPreset::container) else { continue };
        if !entries.env_from.is_empty() {
            all.push(PossibleSource::Any);
        }
        let names = entries.env.iter().filter_map(|it| it.name.as_ref());
        all.extend(names.map(|name| PossibleSource::Name(Arc::clone(&name.value))));
    }
    all
}
