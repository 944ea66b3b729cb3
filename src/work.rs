//! Counts of the work that was done on this thread, for tests of growth: what is counted must grow as the text does.
//!
//! A step that is repeated for each of many things says so with `count`, which costs as much as an addition. Times depend on
//! the machine, counts do not. Nothing but tests and statistics looks at them.

#![warn(clippy::disallowed_methods)]

use std::cell::Cell;

/// A kind of step that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A byte of a document was parsed.
    ParsedByte,
    /// A child of a node of a tree was looked at.
    Child,
    /// A dollar sign in a value was read.
    DollarToken,
    /// A name was compared with one that is misspelled.
    NearName,
    /// A definition of a name was looked at.
    Definition,
    /// The variables of a container were looked at by the rules.
    Container,
    /// The places of two files were compared.
    Scope,
}

impl Step {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::ParsedByte,
        Self::Child,
        Self::DollarToken,
        Self::NearName,
        Self::Definition,
        Self::Container,
        Self::Scope,
    ];
}

/// How often each kind of step was done.
pub type Counts = [u64; Step::ALL.len()];

thread_local! {
    static DONE: [Cell<u64>; Step::ALL.len()] = const { [const { Cell::new(0) }; Step::ALL.len()] };
}

/// Adds steps to the counts of this thread.
#[inline]
pub(crate) fn count(step: Step, number: usize) {
    DONE.with(|done| {
        let cell = &done[step as usize];
        cell.set(cell.get() + number as u64);
    });
}

/// What was counted on this thread until now.
pub fn counts() -> Counts {
    DONE.with(|done| std::array::from_fn(|at| done[at].get()))
}

/// The steps that some work needs, which is done on this thread.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, Counts) {
    let before = counts();
    let result = work();
    let after = counts();
    (result, std::array::from_fn(|at| after[at] - before[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_steps_of_the_work_are_counted() {
        count(Step::Child, 3);
        let ((), found) = counted(|| count(Step::Child, 2));
        assert_eq!(found[Step::Child as usize], 2);
        assert_eq!(found.iter().sum::<u64>(), 2);
    }
}
