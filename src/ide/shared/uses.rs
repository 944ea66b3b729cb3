//! Symbols and their uses, for references, highlights and rename. The meaning of a reference comes from `resolve`.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::cursor::CursorTarget;
use crate::ide::shared::env_file_keys::{self, EnvFileKey};
use crate::ide::shared::located_container::{FileText, LocatedContainer, ShellDoubt};
use crate::ide::shared::named_objects::{object_keys, objects_named};
use crate::ide::shared::param_file_text::param_file_entries;
use crate::ide::shared::preset_reach::{self, PresetRecipient};
use crate::ide::shared::service_usage::ServiceUsage;
use crate::ide::shared::template_parameters::LocatedParameter;
use crate::ide::shared::volume_sources::{has_volume_sources, volume_sources};
use crate::k8s::{
    ContainerField, DataEntry, EnvFrom, EnvFromSource, EnvVar, KeyRef, Object, Pod, Text, ValueSource, VariableScope,
};
use crate::resolve::{Binding, Environment, Lookup, OriginKind};
use crate::syntax::{DollarTokenKind, ScalarStyle, dollar_tokens, has_helm_placeholder};
use crate::text::Span;
use crate::workspace::{File, ObjectMatch};

/// A named item with uses: a variable, key, object, volume or parameter.
#[derive(Clone, Debug)]
pub(crate) enum Symbol<'s> {
    /// A variable that entries of `env` declare.
    Variable {
        /// A container that declares it.
        at: LocatedContainer<'s>,
        /// Its name.
        name: Arc<str>,
    },
    /// A key of a ConfigMap or Secret, in each object that may be the source.
    Key(Vec<ObjectKey<'s>>),
    /// A ConfigMap, Secret or Service.
    Object(DefinedObject<'s>),
    /// A volume of a pod.
    Volume {
        /// The file.
        file: Arc<str>,
        /// The object.
        object: &'s Object,
        /// The pod.
        pod: &'s Pod,
        /// Its name.
        name: Arc<str>,
    },
    /// A parameter of a template.
    Parameter(LocatedParameter<'s>),
    /// A key of an env file.
    EnvFileKey(EnvFileKey),
    /// A variable without a declaration in the workspace.
    Undeclared {
        /// A container that refers to it.
        at: LocatedContainer<'s>,
        /// Its name.
        name: Arc<str>,
        /// The result of its lookup.
        meaning: Lookup,
    },
}

/// An object in a file.
#[derive(Clone, Debug)]
pub(crate) struct DefinedObject<'s> {
    /// The file.
    pub(crate) file: Arc<str>,
    /// The object.
    pub(crate) object: &'s Object,
    /// Its kind.
    pub(crate) kind: OriginKind,
}

impl DefinedObject<'_> {
    /// Whether it is the object that a name was resolved to.
    pub(crate) fn is(&self, found: &ObjectMatch<'_>) -> bool {
        *self.file == **found.file && std::ptr::eq(self.object.model.as_ref(), found.object.model.as_ref())
    }
}

/// A key of an object.
#[derive(Clone, Debug)]
pub(crate) struct ObjectKey<'s> {
    /// The object.
    pub(crate) of: DefinedObject<'s>,
    /// The key.
    pub(crate) key: &'s DataEntry,
}

impl ObjectKey<'_> {
    /// Its location, with quotes.
    pub(crate) fn location(&self) -> Location {
        Location { file: Arc::clone(&self.of.file), span: self.of.object.file_span(self.key.key.span) }
    }
}

/// An occurrence of a symbol's name.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The name.
    pub(crate) location: Location,
    /// Whether it is declared here.
    pub(crate) declares: bool,
    /// The scalar around it, as a span of the file.
    pub(crate) scalar: Span,
    /// The scalar's value and style.
    pub(crate) text: Text,
    /// The name in the scalar's value.
    pub(crate) range: Range<usize>,
    /// Whether the scalar is the name as a whole.
    pub(crate) is_whole: bool,
    /// Whether a shell reads it.
    pub(crate) in_script: bool,
    /// Why the name may mean something else. Such an occurrence is not a use, but it prevents a rename.
    pub(crate) doubt: Option<ShellDoubt>,
    /// The prefix that an `envFrom` adds to the name.
    pub(crate) prefix: Arc<str>,
}

/// The symbol of an item under the cursor.
pub(crate) fn symbol_of<'s>(analysis: &Analysis<'s>, target: &CursorTarget<'s>) -> Option<Symbol<'s>> {
    match target {
        CursorTarget::Variable { at, index } => {
            let name = at.container.env.get(*index)?.name.as_ref()?;
            Some(Symbol::Variable { at: at.clone(), name: Arc::clone(&name.value) })
        }
        CursorTarget::Reference { at, field, name, .. } => Some(symbol_of_reference(analysis, at, *field, name)),
        // A shell has the same variables as the command line.
        CursorTarget::ShellReference { at, name } => {
            Some(symbol_of_reference(analysis, at, ContainerField::Command(0), name))
        }
        CursorTarget::KeyUse { at, kind, name, key } => {
            let all = keys_named(analysis, &at.file, at.object, *kind, &name.value, &key.value);
            (!all.is_empty()).then_some(Symbol::Key(all))
        }
        CursorTarget::VolumeSource { file, object, kind, name, key: Some(key) } => {
            let all = keys_named(analysis, file, object, *kind, &name.value, &key.value);
            (!all.is_empty()).then_some(Symbol::Key(all))
        }
        CursorTarget::VolumeSource { file, object, kind, name, key: None } => {
            let first = objects_named(analysis, *kind, &name.value, file, object).into_iter().next()?;
            Some(Symbol::Object(DefinedObject { file: Arc::clone(first.file), object: first.object, kind: *kind }))
        }
        CursorTarget::Key { file, object, kind, key } => {
            let of = DefinedObject { file: Arc::clone(file), object, kind: *kind };
            Some(Symbol::Key(vec![ObjectKey { of, key }]))
        }
        CursorTarget::Object { at, kind, name, .. } => {
            let first = objects_named(analysis, *kind, &name.value, &at.file, at.object).into_iter().next()?;
            Some(Symbol::Object(DefinedObject { file: Arc::clone(first.file), object: first.object, kind: *kind }))
        }
        CursorTarget::ObjectName { file, object, kind, .. } => {
            Some(Symbol::Object(DefinedObject { file: Arc::clone(file), object, kind: *kind }))
        }
        CursorTarget::Selector { file, object } => {
            Some(Symbol::Object(DefinedObject { file: Arc::clone(file), object, kind: OriginKind::Preset }))
        }
        CursorTarget::Dependency { file, object, name } => {
            let first = objects_named(analysis, OriginKind::Service, &name.value, file, object).into_iter().next()?;
            Some(Symbol::Object(DefinedObject {
                file: Arc::clone(first.file),
                object: first.object,
                kind: OriginKind::Service,
            }))
        }
        CursorTarget::Volume { file, object, pod, name } => {
            let (file, name) = (Arc::clone(file), Arc::clone(&name.value));
            Some(Symbol::Volume { file, object, pod, name })
        }
        CursorTarget::Parameter(it) => Some(Symbol::Parameter(it.clone())),
        CursorTarget::EnvFileEntry { file, name, .. } => {
            Some(Symbol::EnvFileKey(env_file_keys::key_of_entry(analysis, file, name)))
        }
        CursorTarget::EnvFileKey { at, index } => {
            env_file_keys::key_of_reference(analysis, at, *index).map(Symbol::EnvFileKey)
        }
        CursorTarget::Escape { .. }
        | CursorTarget::Source { .. }
        | CursorTarget::Container { .. }
        | CursorTarget::Workload { .. }
        | CursorTarget::Rule(_) => None,
    }
}

fn keys_named<'s>(
    analysis: &Analysis<'s>,
    file: &str,
    user: &Object,
    kind: OriginKind,
    name: &str,
    key: &str,
) -> Vec<ObjectKey<'s>> {
    let found = objects_named(analysis, kind, name, file, user).into_iter();
    let all = found.flat_map(|it| {
        let same = object_keys(it.object).iter().filter(|it| *it.key.value == *key);
        same.map(move |key| ObjectKey { of: DefinedObject { file: Arc::clone(it.file), object: it.object, kind }, key })
    });
    all.collect()
}

/// The symbol that a reference refers to.
fn symbol_of_reference<'s>(
    analysis: &Analysis<'s>,
    at: &LocatedContainer<'s>,
    field: ContainerField,
    name: &str,
) -> Symbol<'s> {
    let environment = at.environment(analysis);
    let meaning = environment.lookup(field.variable_scope().unwrap_or(VariableScope::All), name);
    let name: Arc<str> = name.into();
    if is_env_entry(at, &environment, field, &name) {
        return Symbol::Variable { at: at.clone(), name };
    }
    let preset_entry = match &meaning {
        Lookup::Bound(binding) => preset_reach::preset_entry_of(analysis, binding),
        Lookup::Later(origin) => origin.location.as_ref().and_then(|it| preset_reach::preset_entry_at(analysis, it)),
        Lookup::Maybe(_) | Lookup::Unbound => None,
    };
    if let Some((at, _)) = preset_entry {
        return Symbol::Variable { at, name };
    }
    if let Lookup::Bound(binding) = &meaning {
        let keys = source_keys(analysis, at, binding);
        if !keys.is_empty() {
            return Symbol::Key(keys);
        }
        if let Some((OriginKind::Service, location)) = origins(binding).first()
            && let Some((file, object)) = object_at(analysis, location)
        {
            return Symbol::Object(DefinedObject { file, object, kind: OriginKind::Service });
        }
    }
    Symbol::Undeclared { at: at.clone(), name, meaning }
}

/// The keys that a variable may get its value from, in all matching objects.
pub(crate) fn source_keys<'s>(
    analysis: &Analysis<'s>,
    at: &LocatedContainer<'s>,
    binding: &Binding,
) -> Vec<ObjectKey<'s>> {
    let origin = &binding.origin;
    match (origin.kind, &origin.object, &origin.key) {
        (kind @ (OriginKind::ConfigMap | OriginKind::Secret), Some(name), Some(key)) => {
            keys_named(analysis, &at.file, at.object, kind, name, key)
        }
        _ => Vec::new(),
    }
}

/// The keys that must be renamed together: if a use of one key may also refer to another object, the key of that object
/// is added, until nothing changes.
pub(crate) fn rename_closure<'s>(analysis: &Analysis<'s>, mut keys: Vec<ObjectKey<'s>>) -> Vec<ObjectKey<'s>> {
    let collector = Collector { analysis, file_text: None, found: Vec::new() };
    let mut known = 0;
    while known < keys.len() {
        known = keys.len();
        let Some(wanted) = keys.first().map(|it| Arc::clone(&it.key.key.value)) else { return keys };
        let files = analysis.snapshot.files();
        for at in files.flat_map(|(path, facts)| LocatedContainer::all_with_presets(path, facts)) {
            let one = key_references(&at).filter(|(_, it)| it.key.as_ref().is_some_and(|it| it.value == wanted));
            let one = one.filter_map(|(kind, it)| Some((kind, it.name.as_ref()?)));
            let all = at.container.env_from.iter().filter_map(|it| object_of(it.source.as_ref()));
            for (kind, name) in one.chain(all) {
                if keys.iter().any(|it| collector.may_refer_to(&at, kind, &name.value, &it.of)) {
                    let more = keys_named(analysis, &at.file, at.object, kind, &name.value, &wanted).into_iter();
                    let more: Vec<ObjectKey<'s>> =
                        more.filter(|it| !keys.iter().any(|known| known.location() == it.location())).collect();
                    keys.extend(more);
                }
            }
        }
    }
    keys
}

/// The locations that a variable may come from.
fn origins(binding: &Binding) -> Vec<(OriginKind, &Location)> {
    let several = binding.alternatives.iter().map(|(_, it)| it);
    let all = std::iter::once(&binding.origin).chain(several);
    all.filter_map(|it| Some((it.kind, it.location.as_ref()?))).collect()
}

/// The key of an object at a location.
pub(crate) fn key_at<'s>(analysis: &Analysis<'s>, kind: OriginKind, location: &Location) -> Option<ObjectKey<'s>> {
    let facts = analysis.snapshot.file(&location.file)?;
    let is_near = |it: &&'s Object| it.file_span(it.model.span).touches(location.span.start);
    facts.objects.iter().filter(is_near).find_map(|object| {
        let key = object_keys(object).iter().find(|it| object.file_span(it.key.span) == location.span)?;
        Some(ObjectKey { of: DefinedObject { file: Arc::clone(&location.file), object, kind }, key })
    })
}

/// The object whose span is a location.
pub(crate) fn object_at<'s>(analysis: &Analysis<'s>, location: &Location) -> Option<(Arc<str>, &'s Object)> {
    let facts = analysis.snapshot.file(&location.file)?;
    let object = facts.objects.iter().find(|it| it.file_span(it.model.span) == location.span)?;
    Some((Arc::clone(&location.file), object))
}

/// Whether a reference in a field refers to the entry of `env` with this name.
fn is_env_entry(at: &LocatedContainer<'_>, environment: &Environment, field: ContainerField, name: &str) -> bool {
    let is_declared = at.container.env.iter().any(|it| it.name.as_ref().is_some_and(|it| &*it.value == name));
    if !is_declared {
        return false;
    }
    match environment.lookup(field.variable_scope().unwrap_or(VariableScope::All), name) {
        // A probe sees entries of `env` and nothing else (P3).
        Lookup::Bound(_) if field.variable_scope() == Some(VariableScope::ProbeValues) => true,
        Lookup::Bound(binding) => {
            let entry = binding.entry.as_ref().or(binding.origin.location.as_ref());
            entry.is_some_and(|it| at.entry_at(it).is_some())
        }
        // Another source may define it first, but this entry is the visible declaration.
        Lookup::Later(_) | Lookup::Maybe(_) | Lookup::Unbound => true,
    }
}

/// The uses of a symbol in one file or in all files, sorted by location.
pub(crate) fn uses(analysis: &Analysis<'_>, symbol: &Symbol<'_>, only: Option<&Arc<str>>) -> Vec<Use> {
    let mut all = uses_with_doubtful(analysis, symbol, only);
    all.retain(|it| it.doubt.is_none());
    all
}

/// Like [`uses`], with the occurrences in scripts that may mean something else.
pub(crate) fn uses_with_doubtful(analysis: &Analysis<'_>, symbol: &Symbol<'_>, only: Option<&Arc<str>>) -> Vec<Use> {
    let mut collector = Collector { analysis, file_text: None, found: Vec::new() };
    let is_wanted = |file: &Arc<str>| only.is_none_or(|only| only == file);
    match symbol {
        // A variable of a preset is used in other files too.
        Symbol::Variable { at, name } if at.is_preset() => {
            collector.variable(at, name);
            collector.preset_variable(at, name);
            collector.found.retain(|it| is_wanted(&it.location.file));
        }
        Symbol::Variable { at, name } if is_wanted(&at.file) => collector.variable(at, name),
        Symbol::Undeclared { at, name, .. } if is_wanted(&at.file) => collector.references(at, name, &|_, _| true),
        Symbol::Volume { file, object, pod, name } if is_wanted(file) => collector.volume(file, object, pod, name),
        Symbol::Parameter(it) => {
            for location in param_file_entries(analysis, it).into_iter().filter(|it| is_wanted(&it.file)) {
                collector.push_param_file_entry(location, it.name);
            }
            if !is_wanted(&it.file) {
                return collector.sorted();
            }
            for (_, name) in it.declarations() {
                collector.push(&it.file, it.object, name, 0..name.value.len(), true, "");
            }
            for (object, text, range) in it.references() {
                collector.push(&it.file, object, text, range, false, "");
            }
        }
        Symbol::Key(all) => {
            let all = if only.is_none() { &rename_closure(analysis, all.clone()) } else { all };
            for key in all.iter().filter(|it| is_wanted(&it.of.file)) {
                collector.push_key(key);
            }
            collector.for_each_container(only, |collector, at| collector.key_uses(at, all));
        }
        Symbol::Object(defined) => {
            if is_wanted(&defined.file)
                && let Some(name) = defined.object.model.reference_name_text()
            {
                collector.push_name(&defined.file, defined.object, name, true);
            }
            collector.for_each_container(only, |collector, at| collector.object_uses(at, defined));
            match defined.kind {
                OriginKind::Service => collector.dependencies(only, defined),
                OriginKind::Preset => collector.selected_workloads(only, defined),
                _ => {}
            }
        }
        Symbol::EnvFileKey(key) => {
            for (declares, all) in [(true, &key.definitions), (false, &key.uses)] {
                for location in all.iter().filter(|it| is_wanted(&it.file)) {
                    collector.push_location(location, &key.key, declares);
                }
            }
        }
        _ => {}
    }
    collector.sorted()
}

struct Collector<'c, 's> {
    analysis: &'c Analysis<'s>,
    /// The last file whose text was requested.
    file_text: Option<(Arc<str>, FileText)>,
    found: Vec<Use>,
}

impl<'s> Collector<'_, 's> {
    fn sorted(self) -> Vec<Use> {
        let mut found = self.found;
        found.sort_by(|a, b| a.location.cmp(&b.location));
        found.dedup_by(|b, a| a.location == b.location);
        found
    }

    /// The name of a parameter in a parameter file.
    fn push_param_file_entry(&mut self, location: Location, name: &str) {
        let (scalar, range) = (location.span, 0..name.len());
        let text = Text { value: name.into(), span: scalar, style: ScalarStyle::Plain, is_string: true };
        let (declares, is_whole, in_script) = (false, false, false);
        let prefix = "".into();
        self.found.push(Use { location, declares, scalar, text, range, is_whole, in_script, prefix, doubt: None });
    }

    fn file_text(&mut self, file: &Arc<str>) -> Option<&FileText> {
        if self.file_text.as_ref().is_none_or(|(known, _)| known != file) {
            self.file_text = Some((Arc::clone(file), self.analysis.file_text(file)?));
        }
        self.file_text.as_ref().map(|(_, file_text)| file_text)
    }

    fn for_each_container(&mut self, only: Option<&Arc<str>>, mut visit: impl FnMut(&mut Self, &LocatedContainer<'s>)) {
        let snapshot = self.analysis.snapshot;
        let mut visit_file = |collector: &mut Self, path: &Arc<str>, facts: &'s File| {
            for at in LocatedContainer::all_with_presets(path, facts) {
                visit(collector, &at);
            }
        };
        match only {
            Some(path) => {
                if let Some(facts) = snapshot.file(path) {
                    visit_file(self, path, facts);
                }
            }
            None => {
                for (path, facts) in snapshot.files() {
                    visit_file(self, path, facts);
                }
            }
        }
    }

    fn push(
        &mut self,
        file: &Arc<str>,
        object: &Object,
        text: &Text,
        range: Range<usize>,
        declares: bool,
        prefix: &str,
    ) {
        let scalar = object.file_span(text.span);
        let Some(file_text) = self.file_text(file) else { return };
        let span = file_text.inside(scalar, text, range.clone());
        let location = Location { file: Arc::clone(file), span };
        let (text, prefix) = (text.clone(), prefix.into());
        let is_whole = range == (0..text.value.len());
        self.found.push(Use {
            location,
            declares,
            scalar,
            text,
            range,
            is_whole,
            in_script: false,
            doubt: None,
            prefix,
        });
    }

    /// Adds a name by its location.
    fn push_location(&mut self, location: &Location, name: &Arc<str>, declares: bool) {
        let (value, span) = (Arc::clone(name), location.span);
        let text = Text { value, span, style: ScalarStyle::Plain, is_string: true };
        self.found.push(Use {
            location: location.clone(),
            declares,
            scalar: span,
            range: 0..text.value.len(),
            text,
            is_whole: true,
            in_script: false,
            doubt: None,
            prefix: "".into(),
        });
    }

    /// Adds a scalar that is exactly the name.
    fn push_name(&mut self, file: &Arc<str>, object: &Object, text: &Text, declares: bool) {
        self.push(file, object, text, 0..text.value.len(), declares, "");
    }

    /// A variable in its container, and in all containers that share its texts through aliases.
    fn variable(&mut self, at: &LocatedContainer<'s>, name: &str) {
        // Every alias contains a `*`.
        let has_aliases = self.file_text(&at.file).is_some_and(|it| it.text().contains('*'));
        let others = has_aliases.then(|| LocatedContainer::all_with_presets(&at.file, at.facts));
        let others: Vec<LocatedContainer<'s>> = others.into_iter().flatten().collect();
        let mut pending = vec![at.clone()];
        let mut seen: Vec<Location> = Vec::new();
        while let Some(at) = pending.pop() {
            let id = at.at(at.container.span);
            if seen.contains(&id) {
                continue;
            }
            seen.push(id);
            let first = self.found.len();
            for declared in at.container.env.iter().filter_map(|it| it.name.as_ref()).filter(|it| &*it.value == name) {
                self.push_name(&at.file, at.object, declared, true);
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
    fn references(
        &mut self,
        at: &LocatedContainer<'s>,
        name: &str,
        is_meant: &dyn Fn(&LocatedContainer<'s>, ContainerField) -> bool,
    ) {
        self.prefixed(at, name, "", is_meant);
    }

    fn prefixed(
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
                    self.push(&at.file, at.object, text, token.name_range(), false, prefix);
                }
            }
        }
    }

    /// The uses of a variable in scripts.
    fn in_scripts(&mut self, at: &LocatedContainer<'s>, environment: &Environment, name: &str, prefix: &str) {
        for (field, text) in at.container.texts().filter(|(_, it)| it.value.contains('$')) {
            for read in at.shell_reads(environment, field, text).into_iter().filter(|it| it.name == name) {
                let first = self.found.len();
                self.push(&at.file, at.object, text, read.range, false, prefix);
                for found in &mut self.found[first..] {
                    (found.in_script, found.doubt) = (true, read.doubt);
                }
            }
        }
    }

    fn volume(&mut self, file: &Arc<str>, object: &Object, pod: &Pod, name: &str) {
        let is_it = |text: &&Text| &*text.value == name;
        for volume in pod.volumes.iter().filter_map(|it| it.name.as_ref()).filter(is_it) {
            self.push_name(file, object, volume, true);
        }
        for container in &pod.containers {
            let mounts = container.mounts.iter().filter_map(|it| it.name.as_ref());
            let sources = container.env.iter().filter_map(|it| it.from.as_ref()).flat_map(|it| &it.sources);
            let files = sources.filter_map(|it| match it {
                ValueSource::File { volume, .. } => volume.as_ref(),
                _ => None,
            });
            for text in mounts.chain(files).filter(is_it) {
                self.push_name(file, object, text, false);
            }
        }
    }

    /// Adds the definition of a key.
    fn push_key(&mut self, key: &ObjectKey<'_>) {
        let file = &key.of.file;
        let scalar = key.of.object.file_span(key.key.key.span);
        let Some(span) = self.file_text(file).and_then(|it| it.key(key.of.object, key.key)) else { return };
        let text = key.key.key.clone();
        let range = 0..text.value.len();
        let location = Location { file: Arc::clone(file), span };
        // In a generator's literal the value follows the key.
        let quotes = if text.style == ScalarStyle::Plain { 0 } else { 2 };
        let is_whole = span.len() + quotes == scalar.len();
        self.found.push(Use {
            location,
            declares: true,
            scalar,
            text,
            range,
            is_whole,
            in_script: false,
            doubt: None,
            prefix: "".into(),
        });
    }

    /// Whether a name in a container may refer to an object.
    fn may_refer_to(&self, at: &LocatedContainer<'_>, kind: OriginKind, name: &str, of: &DefinedObject<'_>) -> bool {
        of.kind == kind
            && of.object.reference_name().is_some_and(|it| **it == **at.object.with_known_parameters(&name.into()))
            && objects_named(self.analysis, kind, name, &at.file, at.object).iter().any(|it| of.is(it))
    }

    fn key_uses(&mut self, at: &LocatedContainer<'s>, all: &[ObjectKey<'_>]) {
        let Some(wanted) = all.first().map(|it| Arc::clone(&it.key.key.value)) else { return };
        for (kind, reference) in key_references(at) {
            let (Some(name), Some(key)) = (&reference.name, &reference.key) else { continue };
            if key.value == wanted && all.iter().any(|it| self.may_refer_to(at, kind, &name.value, &it.of)) {
                self.push_name(&at.file, at.object, key, false);
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
    fn volume_uses(&mut self, at: &LocatedContainer<'s>, all: &[&DefinedObject<'_>], key: Option<&str>) {
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
                None => self.push_name(&at.file, at.object, &source.name, false),
                Some(key) => {
                    for text in source.keys.iter().filter(|it| &*it.value == key) {
                        self.push_name(&at.file, at.object, text, false);
                    }
                }
            }
        }
    }

    fn object_uses(&mut self, at: &LocatedContainer<'s>, defined: &DefinedObject<'_>) {
        for (kind, reference) in key_references(at) {
            if let Some(name) = &reference.name
                && self.may_refer_to(at, kind, &name.value, defined)
            {
                self.push_name(&at.file, at.object, name, false);
            }
        }
        for entry in &at.container.env_from {
            if let Some((kind, name)) = object_of(entry.source.as_ref())
                && self.may_refer_to(at, kind, &name.value, defined)
            {
                self.push_name(&at.file, at.object, name, false);
            }
        }
        self.volume_uses(at, &[defined], None);
        self.service_variables(at, defined);
    }

    /// References to the variables of a service, with the prefixes of links.
    fn service_variables(&mut self, at: &LocatedContainer<'s>, defined: &DefinedObject<'_>) {
        let Some(usage) = ServiceUsage::of(defined) else { return };
        for (text, range, _) in usage.uses(self.analysis, at) {
            self.push(&at.file, at.object, &text, range, false, "");
        }
    }

    /// The pods that wait for a service.
    fn dependencies(&mut self, only: Option<&Arc<str>>, defined: &DefinedObject<'_>) {
        let Some(usage) = ServiceUsage::of(defined) else { return };
        for (path, facts) in self.analysis.snapshot.files().filter(|(path, _)| only.is_none_or(|it| it == *path)) {
            for object in &facts.objects {
                let dependencies = object.model.pods.iter().filter_map(|it| it.service_dependencies.as_ref());
                for name in dependencies.flat_map(|it| &it.services).filter_map(|it| it.name.as_ref()) {
                    if usage.refers_to_service(self.analysis, path, object, name) {
                        self.push_name(path, object, name, false);
                    }
                }
            }
        }
    }

    /// The names of the workloads that a preset selects.
    fn selected_workloads(&mut self, only: Option<&Arc<str>>, preset: &DefinedObject<'_>) {
        for it in preset_reach::selected_workloads(self.analysis, &preset.file, preset.object) {
            if let Some(name) =
                it.object.model.reference_name_text().filter(|_| only.is_none_or(|only| *only == it.file))
            {
                self.push_name(&it.file, it.object, name, false);
            }
        }
    }

    /// The references to a variable of a preset, in the containers that it is applied to.
    fn preset_variable(&mut self, at: &LocatedContainer<'s>, name: &str) {
        let named = |it: &EnvVar| it.name.as_ref().is_some_and(|it| &*it.value == name);
        for (index, entry) in at.container.env.iter().enumerate().filter(|(_, it)| named(it)) {
            let Some(location) = entry.name.as_ref().map(|it| at.at(it.span)) else { continue };
            for PresetRecipient { at: to, environment, .. } in preset_reach::recipients(self.analysis, at, Some(index))
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

/// The entries of `envFrom` of a container, including those from presets, each with its location.
pub(crate) fn env_from_entries(analysis: &Analysis<'_>, at: &LocatedContainer<'_>) -> Vec<(EnvFrom, Location)> {
    let mut all: Vec<(EnvFrom, Location)> =
        at.container.env_from.iter().map(|it| (it.clone(), at.at(it.span))).collect();
    if let Some(admission) = analysis.resolver.admission(&at.file, at.object, at.pod)
        && let Some(effect) = admission.effect(at.pod, at.container)
    {
        let added = effect.env_from.iter().filter_map(|it| admission.env_from(*it));
        all.extend(added.map(|(matched, entry)| (entry.clone(), matched.location(entry.span))));
    }
    all
}

fn key_references<'s>(at: &LocatedContainer<'s>) -> impl Iterator<Item = (OriginKind, &'s KeyRef)> + use<'s> {
    let sources = at.container.env.iter().filter_map(|it| it.from.as_ref()).flat_map(|it| &it.sources);
    sources.filter_map(|it| match it {
        ValueSource::ConfigMap(it) => Some((OriginKind::ConfigMap, it)),
        ValueSource::Secret(it) => Some((OriginKind::Secret, it)),
        _ => None,
    })
}

fn object_of(source: Option<&EnvFromSource>) -> Option<(OriginKind, &Text)> {
    let (kind, name) = match source? {
        EnvFromSource::ConfigMap { name, .. } => (OriginKind::ConfigMap, name),
        EnvFromSource::Secret { name, .. } => (OriginKind::Secret, name),
        EnvFromSource::Service { name, .. } => (OriginKind::Service, name),
    };
    Some((kind, name.as_ref().filter(|it| !has_helm_placeholder(&it.value))?))
}
