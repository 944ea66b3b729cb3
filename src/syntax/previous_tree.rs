//! What an edit left as it was: pieces of the tree before it, to be taken over instead of being read again.
//!
//! What a piece gives is a function of its text, its column and its kind. So a healthy piece of the old tree stands for
//! the same piece of the new text, whatever levels are around it now.

use crate::syntax::chunk_boundaries::MemberKind;
use crate::syntax::chunks::{self, ParsedChunk, member_end};
use crate::syntax::indent_index::{IndentIndex, IndentIndexView};
use crate::syntax::tree::{ChunkedBlock, GreenEntry, GreenKind, GreenNode, Positioned, Tree};
use crate::text::Span;

/// The tree before an edit, and which lines the edit replaced.
pub(super) struct PreviousTree<'t> {
    pub(super) tree: &'t Tree,
    /// The lines of the edit, in the old text.
    pub(super) old: Span,
    /// How far everything behind it moved.
    pub(super) by: i64,
}

/// What reading knows besides its text: how deep it is, how its lines stand, and what stood there before.
#[derive(Clone, Copy)]
pub(super) struct ChunkContext<'m> {
    pub(super) depth: usize,
    pub(super) outline: Option<IndentIndexView<'m>>,
    /// The tree before an edit, and where the text begins in the file.
    before: Option<(&'m PreviousTree<'m>, usize)>,
}

impl<'m> ChunkContext<'m> {
    /// Nothing is known.
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, outline: None, before: None }
    }

    /// The text begins at an offset of the file.
    pub(super) fn after(previous: &'m PreviousTree<'m>, start: usize, depth: usize) -> Self {
        Self { depth, outline: None, before: Some((previous, start)) }
    }

    /// For a part of the text that begins further on.
    pub(super) fn at(self, offset: usize) -> Self {
        Self {
            outline: self.outline.map(|outline| outline.at(offset)),
            before: self.before.map(|(previous, start)| (previous, start + offset)),
            ..self
        }
    }

    /// Whether nothing is known that could be taken over, so that all of the text is read.
    pub(super) fn is_new(self) -> bool {
        self.before.is_none()
    }

    /// The text's lines are known.
    pub(super) fn outlined<'o>(self, outline: Option<&'o IndentIndex>) -> ChunkContext<'o>
    where
        'm: 'o,
    {
        ChunkContext { outline: outline.map(IndentIndexView::new), ..self }
    }

    pub(super) fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// What a piece of the text gave before the edit, if it was healthy and is the same.
    pub(super) fn reusable_chunk(self, piece: Span, column: usize, kind: MemberKind) -> Option<ParsedChunk> {
        let (previous, start) = self.before?;
        previous.reusable_chunk(piece.shifted(start), column, kind)
    }
}

impl PreviousTree<'_> {
    fn reusable_chunk(&self, piece: Span, column: usize, kind: MemberKind) -> Option<ParsedChunk> {
        let start = self.old_place(piece)?;
        let end = start + piece.len();
        let documents = &self.tree.documents;
        let document = &documents[documents.partition_point(|it| it.offset as usize <= start).checked_sub(1)?];
        // What was wrong with all of it says what its text was taken for.
        let root = document.node.root.as_ref().filter(|_| document.node.errors.is_empty())?;
        let mut at = (document.offset + root.offset) as usize;
        let mut green = &root.node;
        let mut level_end = Some((document.offset + document.node.len) as usize);
        loop {
            let (level, is) = green.cut()?;
            let index = level.pieces.partition_point(|it| at + it.offset as usize <= start).checked_sub(1)?;
            let next = level.pieces.get(index + 1).map(|it| at + (it.offset - it.column) as usize);
            // Where the last piece between brackets ends is not known here.
            let piece_end = next.or(level_end.filter(|_| !is.is_flow()));
            let found = &level.pieces[index];
            let is_same = at + found.offset as usize == start && piece_end == Some(end);
            let is_healthy = found.reach == 0 && found.errors.is_empty();
            let members = members(green, level, index);
            if is_same && is == kind && found.column as usize == column {
                let is_whole = members.len() == found.children as usize && members.iter().all(Member::ends_plainly);
                return (is_healthy && is_whole).then(|| taken(&members, found.offset));
            }
            let inner = members.iter().rev().map(Member::last).find(|it| at + it.offset as usize <= start)?;
            at += inner.offset as usize;
            // A piece with a mistake may give several members, and where one ends is not told: its last lines may have
            // been taken for another.
            level_end = piece_end.filter(|_| found.errors.is_empty() && found.children == 1);
            green = &inner.node;
        }
    }

    /// Where a part of the new text stood, if the edit did not touch it.
    fn old_place(&self, part: Span) -> Option<usize> {
        let new_end = i64::try_from(self.old.end).ok()? + self.by;
        let start = i64::try_from(part.start).ok()?;
        if part.end <= self.old.start {
            Some(part.start)
        } else if start >= new_end {
            usize::try_from(start - self.by).ok()
        } else {
            None
        }
    }
}

/// A member of a collection.
enum Member<'g> {
    Entry(&'g GreenEntry),
    Item(&'g Positioned<GreenNode>),
}

impl<'g> Member<'g> {
    fn last(&self) -> &'g Positioned<GreenNode> {
        match self {
            Self::Entry(entry) => entry.value.as_ref().unwrap_or(&entry.key),
            Self::Item(item) => item,
        }
    }

    /// Whether it is healthy and ends with its last child: `key:` alone ends behind its colon.
    fn ends_plainly(&self) -> bool {
        match self {
            Self::Entry(it) => it.value.as_ref().is_some_and(|it| it.node.len > 0) && !chunks::is_broken(it),
            Self::Item(item) => item.node.len > 0 && !item.node.marks.error,
        }
    }

    fn to_entry(&self) -> GreenEntry {
        match self {
            Self::Entry(entry) => (*entry).clone(),
            Self::Item(item) => GreenEntry { key: (*item).clone(), value: None },
        }
    }
}

/// The members that a piece of a collection gave.
fn members<'g>(green: &'g GreenNode, level: &ChunkedBlock, index: usize) -> Vec<Member<'g>> {
    let from = level.pieces[index].offset;
    let to = level.pieces.get(index + 1).map_or(u32::MAX, |next| next.offset);
    match &green.kind {
        GreenKind::Mapping { entries, .. } => {
            let first = entries.partition_point(|it| it.key.offset < from);
            entries[first..].iter().take_while(|it| it.key.offset < to).map(Member::Entry).collect()
        }
        GreenKind::Sequence { items, .. } => {
            let first = items.partition_point(|it| it.offset < from);
            items[first..].iter().take_while(|it| it.offset < to).map(Member::Item).collect()
        }
        _ => Vec::new(),
    }
}

/// What a piece gave, counted from its beginning.
fn taken(members: &[Member<'_>], offset: u32) -> ParsedChunk {
    let members: Vec<GreenEntry> =
        members.iter().map(|member| chunks::moved(member.to_entry(), -i64::from(offset))).collect();
    let end = members.iter().map(member_end).max().unwrap_or(0);
    ParsedChunk { members, end, ..ParsedChunk::default() }
}
