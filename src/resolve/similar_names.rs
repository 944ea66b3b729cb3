//! Names of an environment that a name without a variable may be a slip of.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The most comparisons of names in one container. Of very many names without a variable, the last have no suggestions.
const MOST_COMPARISONS: usize = 200_000;

/// The names of a container by length, and the answers for names that were asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct SimilarNames(RefCell<Option<NamesByLength>>);

#[derive(Clone, Debug)]
struct NamesByLength {
    names: BTreeMap<usize, BTreeSet<Arc<str>>>,
    answers: HashMap<Box<str>, Vec<Arc<str>>>,
    comparisons: usize,
}

impl SimilarNames {
    /// The names that a name may be a slip of, the most similar first. `own` has the names of the container, and `others`
    /// computes further ones for this name.
    pub(super) fn of<'n>(
        &self,
        name: &str,
        own: impl FnOnce() -> Vec<&'n Arc<str>>,
        others: impl FnOnce() -> Vec<Arc<str>>,
    ) -> Vec<Arc<str>> {
        let mut state = self.0.borrow_mut();
        let state = state.get_or_insert_with(|| NamesByLength::new(own()));
        if let Some(known) = state.answers.get(name) {
            return known.clone();
        }
        let answer = state.similar(name, others());
        state.answers.insert(name.into(), answer.clone());
        answer
    }
}

impl NamesByLength {
    fn new(all: Vec<&Arc<str>>) -> Self {
        let mut names: BTreeMap<usize, BTreeSet<Arc<str>>> = BTreeMap::new();
        for name in all {
            names.entry(name.chars().count()).or_default().insert(Arc::clone(name));
        }
        Self { names, answers: HashMap::new(), comparisons: 0 }
    }

    fn similar(&mut self, name: &str, others: Vec<Arc<str>>) -> Vec<Arc<str>> {
        let length = name.chars().count();
        // A name of another length differs in as many characters at least.
        let reach = name.len() / 3;
        let own = self.names.range(length.saturating_sub(reach)..=length + reach).flat_map(|(_, names)| names);
        let left = MOST_COMPARISONS.saturating_sub(self.comparisons);
        let mut compared = 0;
        let mut found: Vec<(usize, Arc<str>)> = Vec::new();
        for it in own.chain(&others).take(left) {
            compared += 1;
            let limit = it.len().min(name.len()) / 3;
            if it.chars().count().abs_diff(length) > limit {
                continue;
            }
            let distance = if it.eq_ignore_ascii_case(name) { 0 } else { strsim::osa_distance(name, it) };
            if distance <= limit {
                found.push((distance, Arc::clone(it)));
            }
        }
        self.comparisons += compared;
        found.sort();
        found.dedup();
        found.into_iter().map(|(_, name)| name).collect()
    }
}
