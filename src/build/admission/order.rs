//! The order of presets (A3, PA10). A cluster applies them in any order, so a value that depends on it is not known.

use std::collections::HashMap;

use crate::build::admission::{Admission, AdmissionContext, MatchingPreset, PresetMerge};
use crate::build::object::BuiltPod;
use crate::k8s::{Container, PresetAdmitter};
use crate::syntax::dollar_tokens;

/// The most presets for which all orders are compared. Of more, some orders are: any two presets are in both orders.
const MOST: usize = 4;

/// The most rotations that are compared if there are more presets.
const MOST_ROTATIONS: usize = 12;

impl<'s> Admission<'s> {
    /// Sorts the presets of the API server from the oldest to the newest, if all show when they were created (PA10).
    pub(super) fn sort_by_age(&mut self) {
        let count = self.plugin_count();
        let presets = &mut self.presets[..count];
        if presets.iter().all(|it| creation(it).is_some()) {
            presets.sort_by(|a, b| creation(a).cmp(&creation(b)));
            self.is_ordered = presets.windows(2).all(|it| creation(&it[0]) != creation(&it[1]));
        }
    }

    /// The number of presets of the API server, which come first.
    fn plugin_count(&self) -> usize {
        let is_plugin =
            |it: &&MatchingPreset<'_>| it.preset().is_some_and(|it| it.admission == PresetAdmitter::ApiServer);
        self.presets.iter().take_while(is_plugin).count()
    }

    /// The results of other orders of the presets; empty if the order is known or changes no value.
    pub fn other_orders(&self, pod: BuiltPod<'s>, context: AdmissionContext) -> Vec<Self> {
        let count = self.plugin_count();
        let (plugin, webhook) = self.presets.split_at(count);
        if self.is_ordered || plugin.iter().any(|it| !it.applied) || !does_order_matter(plugin) {
            return Vec::new();
        }
        let fresh = |it: &MatchingPreset<'s>| MatchingPreset { applied: false, conflicts: Vec::new(), ..it.clone() };
        let in_order = |order: Vec<usize>| {
            let presets = order.into_iter().map(|at| &plugin[at]).chain(webhook).map(fresh).collect();
            let possible = self.possible.clone();
            let mut other = Self { presets, possible, keeps_volumes: true, ..Self::default() };
            PresetMerge::new(&mut other, pod, context).run();
            other
        };
        orders(count).into_iter().skip(1).map(in_order).collect()
    }
}

/// When a preset was created, in the only form that the API server writes: such texts are in the order of time.
fn creation<'s>(matched: &MatchingPreset<'s>) -> Option<&'s str> {
    let text = &*matched.preset()?.creation_timestamp.as_ref()?.value;
    let is_like = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        19 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    (text.len() == 20 && text.bytes().enumerate().all(is_like)).then_some(text)
}

/// Whether another order can give a variable another value: two presets have sources, whose keys may be equal, or a value
/// of one refers to a variable of another.
fn does_order_matter(presets: &[MatchingPreset<'_>]) -> bool {
    let all: Vec<&Container> = presets.iter().filter_map(MatchingPreset::container).collect();
    let mut declaring: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, container) in all.iter().enumerate() {
        for name in container.env.iter().filter_map(|it| it.name.as_ref()) {
            declaring.entry(&*name.value).or_default().push(at);
        }
    }
    let refers_to_other = |at: usize, it: &Container| {
        let values = it.env.iter().filter_map(|it| it.value.as_ref());
        values.into_iter().any(|text| {
            let mut names = dollar_tokens(&text.value).filter_map(|it| it.name(&text.value));
            names.any(|name| declaring.get(name).is_some_and(|it| it.iter().any(|other| *other != at)))
        })
    };
    all.iter().filter(|it| !it.env_from.is_empty()).count() > 1
        || all.iter().enumerate().any(|(at, it)| refers_to_other(at, it))
}

/// Orders of some presets, first the given one.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count > MOST {
        let rotated = |by: usize| (0..count).map(move |at| (at + by) % count);
        return (0..count)
            .step_by(count.div_ceil(MOST_ROTATIONS))
            .flat_map(|by| [rotated(by).collect(), rotated(by).rev().collect()])
            .collect();
    }
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for item in 0..count {
        let longer = |order: Vec<usize>| {
            let at_each = move |at: usize| [&order[..at], &[item], &order[at..]].concat();
            (0..=item).rev().map(at_each)
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_of_few_and_both_orders_of_any_two_of_many() {
        assert_eq!(orders(2), [[0, 1], [1, 0]]);
        assert_eq!((orders(3).len(), orders(4).len()), (6, 24));
        for count in 2..8 {
            let all = orders(count);
            assert!(all[0].is_sorted());
            let place = |order: &[usize], item: usize| order.iter().position(|it| *it == item);
            for (one, other) in (0..count).flat_map(|one| (0..count).map(move |other| (one, other))) {
                let is_before = |order: &Vec<usize>| place(order, one) < place(order, other);
                assert!(one == other || all.iter().any(is_before), "{one} before {other} of {count}");
            }
        }
    }
}
