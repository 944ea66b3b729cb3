//! The uses of symbols, for references, highlights and rename.

mod collector;

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::param_file_text::param_file_entries;
use crate::ide::shared::shell_reads::ShellDoubt;
use crate::ide::shared::symbol::{ObjectKey, Symbol, keys_named};
use crate::k8s::{EnvFrom, EnvFromSource, KeyRef, Text, ValueSource};
use crate::resolve::OriginKind;
use crate::syntax::has_placeholder;
use crate::text::Span;
use collector::UseCollector;

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
    /// The parameter whose value contains it: then the text is not written here.
    pub(crate) made_by: Option<Arc<str>>,
}

impl Use {
    /// A scalar that is the name as a whole, and that no shell reads.
    fn whole(location: Location, scalar: Span, text: Text, declares: bool) -> Self {
        let range = 0..text.value.len();
        let (is_whole, in_script, doubt) = (true, false, None);
        Self { location, declares, scalar, text, range, is_whole, in_script, doubt, prefix: "".into(), made_by: None }
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
    let mut collector = UseCollector::new(analysis);
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
        Symbol::Volume { object, pod, name } if is_wanted(object.file) => collector.volume(*object, pod, name),
        Symbol::Parameter(it) => {
            for location in param_file_entries(analysis, it).into_iter().filter(|it| is_wanted(&it.file)) {
                collector.push_param_file_entry(location, it.name);
            }
            if !is_wanted(it.file) {
                return collector.sorted();
            }
            for (_, name) in it.declarations() {
                collector.push(it.as_written(analysis, it.object), name, 0..name.value.len(), true, "");
            }
            for (object, text, range) in it.references() {
                collector.push(it.as_written(analysis, object), text, range, false, "");
            }
        }
        Symbol::Key(all) => {
            let all = if only.is_none() { &rename_closure(analysis, all.clone()) } else { all };
            for key in all.iter().filter(|it| is_wanted(it.of.object.file)) {
                collector.push_key(key);
            }
            collector.for_each_container(only, |collector, at| collector.key_uses(at, all));
        }
        Symbol::Object(defined) => {
            if is_wanted(defined.object.file)
                && let Some(name) = defined.object.model.reference_name_text()
            {
                collector.push_name(defined.object, name, true);
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

/// The keys that must be renamed together: if a use of one key may also refer to another object, the key of that object
/// is added, until nothing changes.
pub(crate) fn rename_closure<'s>(analysis: &Analysis<'s>, mut keys: Vec<ObjectKey<'s>>) -> Vec<ObjectKey<'s>> {
    let collector = UseCollector::new(analysis);
    let mut known = 0;
    while known < keys.len() {
        known = keys.len();
        let Some(wanted) = keys.first().map(|it| Arc::clone(&it.key.key.value)) else { return keys };
        for at in analysis.all_containers() {
            let one = key_references(&at).filter(|(_, it)| it.key.as_ref().is_some_and(|it| it.value == wanted));
            let one = one.filter_map(|(kind, it)| Some((kind, it.name.as_ref()?)));
            let all = at.container.env_from.iter().filter_map(|it| object_of(it.source.as_ref()));
            for (kind, name) in one.chain(all) {
                if keys.iter().any(|it| collector.may_refer_to(&at, kind, &name.value, &it.of)) {
                    let more = keys_named(at.object, kind, &name.value, &wanted).into_iter();
                    let more: Vec<ObjectKey<'s>> =
                        more.filter(|it| !keys.iter().any(|known| known.location() == it.location())).collect();
                    keys.extend(more);
                }
            }
        }
    }
    keys
}

/// The entries of `envFrom` of a container, including those from presets, each with its location.
pub(crate) fn env_from_entries(analysis: &Analysis<'_>, at: &LocatedContainer<'_>) -> Vec<(EnvFrom, Location)> {
    let mut all: Vec<(EnvFrom, Location)> =
        at.container.env_from.iter().map(|it| (it.clone(), at.at(it.span))).collect();
    if let Some(admission) = analysis.resolver.admission(at.handle().in_pod())
        && let Some(effect) = admission.container_changes(at.handle())
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
    Some((kind, name.as_ref().filter(|it| !has_placeholder(&it.value))?))
}
