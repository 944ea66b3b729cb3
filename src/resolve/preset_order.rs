//! Values that depend on the order of PodPresets, which a cluster does not define (A3): each is one of several.

use std::collections::{BTreeMap, HashMap};
use std::mem::discriminant;
use std::sync::Arc;

use crate::resolve::binding::{Binding, Origin};
use crate::resolve::environment::Environment;
use crate::resolve::expand::ExpansionStep;
use crate::resolve::value::{ResolvedValue, UnknownReason};

/// The variables of a container whose values depend on the order of presets.
#[derive(Debug, Default)]
pub(super) struct OrderDependence {
    /// Variables of `envFrom`.
    sources: BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>>,
    /// Variables of entries that presets add to `env`.
    entries: HashMap<Arc<str>, DependentEntry>,
    /// Entries of the container's own `env`, by index, which may refer to variables of presets.
    own: HashMap<usize, DependentEntry>,
}

/// A variable of `env` whose value depends on the order.
#[derive(Debug)]
pub(super) struct DependentEntry {
    alternatives: Vec<(ResolvedValue, Origin)>,
    /// For each reference, whether every order has the same outcome.
    certain: Vec<bool>,
}

impl OrderDependence {
    /// Compares the environments of a container in different orders.
    pub(super) fn between(known: &Environment<'_>, others: &[Environment<'_>]) -> Self {
        let mut dependence = Self::default();
        for (name, binding) in known.source_bindings() {
            let same = others.iter().filter_map(|it| it.source_bindings().get(name));
            if let Some(alternatives) = alternatives(binding, same) {
                dependence.sources.insert(Arc::clone(name), alternatives);
            }
        }
        // The names of added entries are unique.
        for binding in known.added_bindings() {
            let same = others.iter().filter_map(|it| it.added_bindings().find(|it| it.name == binding.name));
            if let Some(entry) = DependentEntry::of(binding, &same.collect::<Vec<_>>()) {
                dependence.entries.insert(Arc::clone(&binding.name), entry);
            }
        }
        for index in 0..known.own_entry_count() {
            let Some(binding) = known.entry(index) else { continue };
            let same: Vec<_> = others.iter().filter_map(|it| it.entry(index)).collect();
            if let Some(entry) = DependentEntry::of(binding, &same) {
                dependence.own.insert(index, entry);
            }
        }
        dependence
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.entries.is_empty() && self.own.is_empty()
    }

    /// The variables of `envFrom` that depend on the order, with their values.
    pub(super) fn sources(&self) -> &BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>> {
        &self.sources
    }

    /// A variable of `envFrom` with all values that it has in some order.
    pub(super) fn source(binding: &Binding, alternatives: Vec<(ResolvedValue, Origin)>) -> Binding {
        // What one order hides is the value in another.
        let is_hidden = |it: &&Origin| alternatives.iter().all(|(_, origin)| origin != *it);
        let hides = binding.hides.iter().filter(is_hidden).cloned().collect();
        Binding { hides, ..Self::with_alternatives(binding, alternatives) }
    }

    /// A variable with all values that it has in some order.
    fn with_alternatives(binding: &Binding, alternatives: Vec<(ResolvedValue, Origin)>) -> Binding {
        Binding { value: ResolvedValue::unknown(UnknownReason::PresetOrder), alternatives, ..binding.clone() }
    }

    /// An entry of a preset whose value depends on the order.
    pub(super) fn entry(&self, name: &str) -> Option<&DependentEntry> {
        self.entries.get(name)
    }

    /// An entry of the container's own `env` whose value depends on the order.
    pub(super) fn own_entry(&self, index: usize) -> Option<&DependentEntry> {
        self.own.get(&index)
    }
}

impl DependentEntry {
    /// A variable with the same one in other orders; `None` if all orders have the same value.
    fn of(binding: &Arc<Binding>, others: &[&Arc<Binding>]) -> Option<Self> {
        let alternatives = alternatives(binding, others.iter().copied())?;
        let is_certain = |(at, step): (usize, &ExpansionStep)| {
            let outcome = discriminant(&step.outcome);
            others.iter().all(|it| it.steps.get(at).is_some_and(|it| discriminant(&it.outcome) == outcome))
        };
        let certain = binding.steps.iter().enumerate().map(is_certain).collect();
        Some(Self { alternatives, certain })
    }

    /// Removes the references whose outcome depends on the order.
    pub(super) fn keep_certain(&self, steps: &mut Vec<ExpansionStep>) {
        let mut certain = self.certain.iter();
        steps.retain(|_| certain.next().is_some_and(|it| *it));
    }

    /// The variable with all its values.
    pub(super) fn apply_to(&self, binding: Binding) -> Binding {
        OrderDependence::with_alternatives(&binding, self.alternatives.clone())
    }
}

/// The different values of a variable; `None` if all orders have the same.
fn alternatives<'b>(
    known: &'b Arc<Binding>,
    others: impl Iterator<Item = &'b Arc<Binding>>,
) -> Option<Vec<(ResolvedValue, Origin)>> {
    let mut found: Vec<(ResolvedValue, Origin)> = Vec::new();
    for binding in std::iter::once(known).chain(others) {
        let own = match &binding.alternatives[..] {
            [] => vec![(binding.value.clone(), binding.origin.clone())],
            several => several.to_vec(),
        };
        for (value, origin) in own {
            if found.iter().all(|(known, _)| !known.same_text(&value)) {
                found.push((value, origin));
            }
        }
    }
    let is_known = if known.alternatives.is_empty() { 1 } else { known.alternatives.len() };
    (found.len() > is_known).then_some(found)
}
