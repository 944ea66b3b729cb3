//! Text with small patches that make it parseable, and the mapping back to offsets of the original.
//!
//! Every repair is a patch: the parser reads the patched text, the tree has the offsets of the text the user wrote.

use std::borrow::Cow;

/// A text with patches applied.
#[derive(Debug, Clone)]
pub(super) struct PatchedText<'s> {
    text: Cow<'s, str>,
    /// In text order.
    patches: Vec<AppliedPatch>,
}

#[derive(Debug, Clone, Copy)]
struct AppliedPatch {
    /// Its offset in the patched text.
    start: usize,
    inserted: usize,
    /// Its offset in the original text.
    original: usize,
    removed: usize,
}

/// A patch: `remove` bytes at `at` of the original are replaced with `insert`.
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
    /// The text without patches.
    pub(super) fn plain(text: &'s str) -> Self {
        Self { text: Cow::Borrowed(text), patches: Vec::new() }
    }

    /// The text with patches applied. They may be in any order; of overlapping patches the first is applied.
    pub(super) fn new(source: &'s str, patches: &[Patch]) -> Self {
        if patches.is_empty() {
            return Self::plain(source);
        }
        let mut patches: Vec<&Patch> = patches.iter().collect();
        patches.sort_by_key(|patch| patch.at);
        let mut text = String::with_capacity(source.len() + 64);
        let mut applied = Vec::with_capacity(patches.len());
        let mut done = 0;
        for patch in patches {
            let Some(kept) = source.get(done..patch.at) else { continue };
            text.push_str(kept);
            applied.push(AppliedPatch {
                start: text.len(),
                inserted: patch.insert.len(),
                original: patch.at,
                removed: patch.remove,
            });
            text.push_str(&patch.insert);
            done = patch.at + patch.remove;
        }
        text.push_str(source.get(done..).unwrap_or_default());
        Self { text: Cow::Owned(text), patches: applied }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The offset in the original text. Inserted text has the offset at which it was inserted.
    pub(super) fn original(&self, offset: usize) -> u32 {
        let after = self.patches.partition_point(|patch| patch.start <= offset);
        let original = match after.checked_sub(1).map(|last| self.patches[last]) {
            None => offset,
            Some(patch) => {
                let past = offset - patch.start;
                if past < patch.inserted {
                    patch.original + past.min(patch.removed)
                } else {
                    patch.original + patch.removed + (past - patch.inserted)
                }
            }
        };
        u32::try_from(original).unwrap_or(u32::MAX)
    }
}
