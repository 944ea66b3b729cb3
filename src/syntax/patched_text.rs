//! Text with small changes that make it readable, and the way back to the offsets of the original.
//!
//! Every repair is a patch: the parser reads the patched text, the tree speaks of the text the user wrote.

use std::borrow::Cow;

/// A text, perhaps changed in a few places.
#[derive(Debug, Clone)]
pub(super) struct PatchedText<'s> {
    text: Cow<'s, str>,
    /// For each change: where it ends in the patched text, and how far offsets behind it are off. Sorted.
    changes: Vec<AppliedPatch>,
}

#[derive(Debug, Clone, Copy)]
struct AppliedPatch {
    /// The place in the patched text.
    start: usize,
    inserted: usize,
    /// The place in the original text and the bytes it replaces there.
    original: usize,
    removed: usize,
}

/// One change: `remove` bytes at `at` of the original are replaced by `insert`.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    pub(super) at: usize,
    pub(super) remove: usize,
    pub(super) insert: Cow<'static, str>,
}

impl Patch {
    pub(super) fn insert(at: usize, text: impl Into<Cow<'static, str>>) -> Self {
        Self { at, remove: 0, insert: text.into() }
    }

    pub(super) fn replace(at: usize, remove: usize, text: impl Into<Cow<'static, str>>) -> Self {
        Self { at, remove, insert: text.into() }
    }
}

impl<'s> PatchedText<'s> {
    /// The text as it is.
    pub(super) fn plain(text: &'s str) -> Self {
        Self { text: Cow::Borrowed(text), changes: Vec::new() }
    }

    /// The text with patches, which may come in any order; of those that overlap the first counts.
    pub(super) fn new(source: &'s str, patches: &[Patch]) -> Self {
        if patches.is_empty() {
            return Self::plain(source);
        }
        let mut patches: Vec<&Patch> = patches.iter().collect();
        patches.sort_by_key(|patch| patch.at);
        let mut text = String::with_capacity(source.len() + 64);
        let mut changes = Vec::with_capacity(patches.len());
        let mut done = 0;
        for patch in patches {
            let Some(kept) = source.get(done..patch.at) else { continue };
            text.push_str(kept);
            changes.push(AppliedPatch {
                start: text.len(),
                inserted: patch.insert.len(),
                original: patch.at,
                removed: patch.remove,
            });
            text.push_str(&patch.insert);
            done = patch.at + patch.remove;
        }
        text.push_str(source.get(done..).unwrap_or_default());
        Self { text: Cow::Owned(text), changes }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The place in the original text. Inserted text has the place it was inserted at.
    pub(super) fn original(&self, offset: usize) -> u32 {
        let behind = self.changes.partition_point(|change| change.start <= offset);
        let original = match behind.checked_sub(1).map(|last| self.changes[last]) {
            None => offset,
            Some(change) => {
                let past = offset - change.start;
                if past < change.inserted {
                    change.original + past.min(change.removed)
                } else {
                    change.original + change.removed + (past - change.inserted)
                }
            }
        };
        u32::try_from(original).unwrap_or(u32::MAX)
    }
}
