//! Fixes that change the order of `env`.
//!
//! A new order is offered only if every reference keeps its value, except references that had none.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use crate::diagnostic::Fix;
use crate::k8s::{Text, VariableScope};
use crate::resolve::Lookup;
use crate::rules::engine::{ContainerContext, edit};
use crate::syntax::{DollarTokenKind, dollar_tokens, reorder_items};

/// How many entries are moved for all fixes of a container. A fix costs as much as the list is long: of very many forward
/// references only the first have one, and sorting the list corrects the others too.
const MOST_MOVES: usize = 5_000;

/// Finds the orders of `env` that give forward references their values.
pub(in crate::rules) struct ForwardReferenceFixes<'c> {
    container: &'c ContainerContext<'c>,
    entries: OnceCell<EnvEntries<'c>>,
    moves: Cell<usize>,
}

impl<'c> ForwardReferenceFixes<'c> {
    pub(in crate::rules) fn new(container: &'c ContainerContext<'c>) -> Self {
        Self { container, entries: OnceCell::new(), moves: Cell::new(0) }
    }

    /// The first entry of a name below another one.
    pub(in crate::rules) fn declared_below(&self, user: usize, name: &str) -> Option<&'c Text> {
        let positions = self.entries().entries_named(name);
        let at = *positions.get(positions.partition_point(|it| *it <= user))?;
        self.container.container.env[at].name.as_ref()
    }

    /// Orders that give a forward reference its value: first with the declaration moved up, then with all entries sorted.
    pub(in crate::rules) fn declare_earlier(&self, user: usize, name: &str) -> Vec<Fix> {
        let entries = self.entries();
        self.moves.set(self.moves.get() + entries.names.len());
        if self.moves.get() > MOST_MOVES.max(entries.names.len()) {
            return Vec::new();
        }
        let Some(declared) = entries.first_after(user, name) else { return Vec::new() };
        let mut fixes: Vec<Fix> = Vec::new();
        let mut known: Option<Vec<usize>> = None;
        if let Some((order, title)) = entries.move_before_first_use(declared)
            && let Some(fix) = entries.fix(&order, title)
        {
            fixes.push(fix);
            known = Some(order);
        }
        let sorted = entries.sort_by_dependency();
        let helps = sorted.iter().position(|it| *it == declared) < sorted.iter().position(|it| *it == user);
        if helps
            && known.as_ref() != Some(&sorted)
            && let Some(fix) = entries.fix(&sorted, "Sort `env` by dependency".into())
        {
            fixes.push(fix);
        }
        fixes
    }

    fn entries(&self) -> &EnvEntries<'c> {
        self.entries.get_or_init(|| EnvEntries::of(self.container))
    }
}

/// Puts every entry of `env` after the entries it refers to; `None` if they are in such an order already, or if a
/// reference would get another value.
pub fn sort_env(container: &ContainerContext<'_>) -> Option<Fix> {
    let entries = EnvEntries::of(container);
    let order = entries.sort_by_dependency();
    entries.fix(&order, "Sort `env` by dependency".into())
}

/// Puts the declaration of a name, with the entries it needs, above an entry that is about to refer to it.
pub fn move_declaration_above(container: &ContainerContext<'_>, user: usize, name: &str) -> Option<Fix> {
    let entries = EnvEntries::of(container);
    let declared = entries.first_after(user, name)?;
    let (order, title) = entries.move_above(declared, user)?;
    entries.fix(&order, title)
}

/// The order of `env` with a declaration, and the entries it needs, above an entry that is about to refer to it.
pub fn env_order_with_declaration_above(
    container: &ContainerContext<'_>,
    user: usize,
    name: &str,
) -> Option<Vec<usize>> {
    let entries = EnvEntries::of(container);
    let declared = entries.first_after(user, name)?;
    let (order, _) = entries.move_above(declared, user)?;
    entries.keeps_values(&order).then_some(order)
}

/// The entries of `env` with their references.
struct EnvEntries<'c> {
    container: &'c ContainerContext<'c>,
    names: Vec<&'c str>,
    positions: HashMap<&'c str, Vec<usize>>,
    references: Vec<Vec<EntryReference<'c>>>,
}

/// A reference in the value of an entry.
struct EntryReference<'c> {
    name: &'c str,
    /// The entry that defines its value.
    entry: Option<usize>,
    /// Whether it has no value because the entry with its name is further down.
    forward: bool,
}

impl<'c> EnvEntries<'c> {
    fn of(container: &'c ContainerContext<'c>) -> Self {
        let env = &container.container.env;
        let names: Vec<&str> = env.iter().map(|it| it.name.as_ref().map_or("", |it| &it.value)).collect();
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            positions.entry(name).or_default().push(at);
        }
        let mut entries = Self { container, names, positions, references: Vec::new() };
        for (at, entry) in env.iter().enumerate() {
            let text: &str = entry.value.as_ref().map_or("", |it| &it.value);
            let names =
                dollar_tokens(text).filter(|it| it.kind == DollarTokenKind::Reference).filter_map(|it| it.name(text));
            let references = names.map(|name| EntryReference {
                name,
                entry: entries.last_before(at, name),
                forward: matches!(container.lookup(name, VariableScope::EarlierEntries(at)), Lookup::Later(_)),
            });
            let references = references.collect();
            entries.references.push(references);
        }
        entries
    }

    fn entries_named(&self, name: &str) -> &[usize] {
        self.positions.get(name).map_or(&[], Vec::as_slice)
    }

    fn last_before(&self, at: usize, name: &str) -> Option<usize> {
        let positions = self.entries_named(name);
        positions[..positions.partition_point(|it| *it < at)].last().copied()
    }

    fn first_after(&self, at: usize, name: &str) -> Option<usize> {
        let counts = |it: &usize| *it > at && self.container.entry(*it).is_some();
        self.entries_named(name).iter().copied().find(counts)
    }

    /// The order with an entry, and the entries it needs, moved above the first entry that refers to it.
    fn move_before_first_use(&self, declared: usize) -> Option<(Vec<usize>, String)> {
        let name = self.names[declared];
        let uses = |at: &usize| self.references[*at].iter().any(|it| it.forward && it.name == name);
        let target = (0..declared).find(uses)?;
        self.move_above(declared, target)
    }

    /// The order with an entry, and the entries it needs, moved above another entry.
    fn move_above(&self, declared: usize, target: usize) -> Option<(Vec<usize>, String)> {
        let mut moving = vec![declared];
        let mut is_moving = vec![false; self.names.len()];
        is_moving[declared] = true;
        let mut next = 0;
        while let Some(at) = moving.get(next).copied() {
            next += 1;
            for needed in self.references[at].iter().filter_map(|it| it.entry).filter(|it| *it >= target) {
                if needed == target {
                    return None;
                }
                if !std::mem::replace(&mut is_moving[needed], true) {
                    moving.push(needed);
                }
            }
        }
        moving.sort_unstable();
        let stay = |at: &usize| !is_moving[*at];
        let mut order: Vec<usize> = (0..target).collect();
        order.extend(&moving);
        order.extend((target..self.names.len()).filter(stay));
        let names: Vec<String> = moving.iter().map(|it| format!("`{}`", self.names[*it])).collect();
        Some((order, format!("Move {} above `{}`", names.join(" and "), self.names[target])))
    }

    /// The order with every entry after those it refers to, otherwise as written. Entries that refer to each other in a
    /// circle are not moved.
    fn sort_by_dependency(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.names.len());
        let mut seen = vec![false; self.names.len()];
        for start in 0..self.names.len() {
            // Without recursion, because a chain of references can be as long as the list.
            let mut open = vec![(start, false)];
            while let Some((at, done)) = open.pop() {
                if done {
                    order.push(at);
                    continue;
                }
                if std::mem::replace(&mut seen[at], true) {
                    continue;
                }
                open.push((at, true));
                let needed = self.references[at]
                    .iter()
                    .filter_map(|it| it.entry.or_else(|| it.forward.then(|| self.first_after(at, it.name)).flatten()));
                let mut needed: Vec<usize> = needed.filter(|it| !seen[*it]).collect();
                needed.sort_unstable();
                open.extend(needed.into_iter().rev().map(|it| (it, false)));
            }
        }
        order
    }

    /// The fix for an order; `None` if a reference would get another value, except a forward reference that gets its
    /// value.
    fn fix(&self, order: &[usize], title: String) -> Option<Fix> {
        if !self.keeps_values(order) {
            return None;
        }
        let object = self.container.object;
        let source = object.file.parsed_text()?;
        let span = object.object.file_span(self.container.container.env_span?);
        let root = source.tree.document_at(span.start)?.root()?;
        let path = root.path_to(span.start);
        let at = path.iter().position(|it| it.span() == span && (it.is_sequence()))?;
        let list = path[at].resolved();
        // Other containers may use the list through an anchor, with other variables.
        let shared = path[at].alias().is_some() || path[..=at].iter().any(|it| it.anchor().is_some());
        let change = reorder_items(&source.text, list, order)?;
        // Entries of equal names keep their order, but such a fix needs a review.
        let changed = order.iter().enumerate().filter(|(at, from)| at != *from).map(|(_, from)| self.names[*from]);
        let unique = changed.into_iter().all(|name| self.entries_named(name).len() == 1);
        let edits = vec![edit(object.file.at(change.span), change.text)];
        Some(Fix { title, safe: unique && !shared, edits })
    }

    fn keeps_values(&self, order: &[usize]) -> bool {
        let mut place = vec![0; order.len()];
        for (at, from) in order.iter().enumerate() {
            place[*from] = at;
        }
        // The last of equal names wins, and each may refer to the one before it.
        let same_order = |it: &[usize]| it.is_sorted_by_key(|at| place[*at]);
        let unnamed = self.entries_named("").len() <= 1;
        let names_kept = self.positions.values().all(|it| same_order(it));
        unnamed
            && names_kept
            && self.references.iter().enumerate().all(|(at, references)| {
                references.iter().all(|reference| {
                    let positions = self.entries_named(reference.name);
                    let before = positions.partition_point(|it| place[*it] < place[at]);
                    let now = positions[..before].last().copied();
                    now == reference.entry || reference.forward && now == self.first_after(at, reference.name)
                })
            })
    }
}
