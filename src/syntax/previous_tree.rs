//! The tree before an edit, from which unchanged chunks are reused instead of being parsed again.
//!
//! What a chunk is parsed to depends only on its text, its column and the kind of its members. A chunk of the old tree
//! without errors can therefore be used for the same chunk of the new text, even if other blocks are around it now.

use crate::syntax::chunks::ParsedChunk;
use crate::syntax::content_lines::MemberKind;
use crate::syntax::green::{ChunkedBlock, GreenEntry, GreenKind, GreenNode, Positioned};
use crate::syntax::indent_index::{IndentIndex, IndentIndexView};
use crate::syntax::tree::Tree;
use crate::text::Span;

/// The tree before an edit and the lines that the edit replaced.
pub(super) struct PreviousTree<'t> {
    pub(super) tree: &'t Tree,
    /// The edited lines, in the old text.
    pub(super) edited: Span,
    /// How far the text after them moved.
    pub(super) by: i64,
}

/// What the parser of a chunk knows in addition to its text. Only `depth` may change the result: the rest is for speed.
#[derive(Clone, Copy)]
pub(super) struct ChunkContext<'m> {
    /// How many blocks are around the chunk.
    pub(super) depth: usize,
    pub(super) index: Option<IndentIndexView<'m>>,
    /// The tree before an edit, and where the text begins in the file.
    previous: Option<(&'m PreviousTree<'m>, usize)>,
}

impl<'m> ChunkContext<'m> {
    /// The context of a text without a previous tree.
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, index: None, previous: None }
    }

    /// The context of a text that begins at offset `start` of the file after an edit.
    pub(super) fn after_edit(previous: &'m PreviousTree<'m>, start: usize, depth: usize) -> Self {
        Self { depth, index: None, previous: Some((previous, start)) }
    }

    /// The context of the part of the text that begins at an offset.
    pub(super) fn at(self, offset: usize) -> Self {
        Self {
            index: self.index.map(|index| index.at(offset)),
            previous: self.previous.map(|(previous, start)| (previous, start + offset)),
            ..self
        }
    }

    /// Whether there is a previous tree, so that some chunks will not be parsed.
    pub(super) fn has_previous(self) -> bool {
        self.previous.is_some()
    }

    pub(super) fn with_index<'o>(self, index: Option<&'o IndentIndex>) -> ChunkContext<'o>
    where
        'm: 'o,
    {
        ChunkContext { index: index.map(IndentIndexView::new), ..self }
    }

    pub(super) fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// What a chunk of the text was parsed to before the edit, if it is unchanged and has no errors.
    pub(super) fn reusable_chunk(self, chunk: Span, column: usize, kind: MemberKind) -> Option<ParsedChunk> {
        // Where a chunk between brackets ends depends on the chunks around it.
        let (previous, start) = self.previous.filter(|_| !kind.is_flow())?;
        previous.reusable_chunk(chunk.shifted(start), column, kind)
    }
}

impl PreviousTree<'_> {
    fn reusable_chunk(&self, chunk: Span, column: usize, kind: MemberKind) -> Option<ParsedChunk> {
        let start = self.old_start(chunk)?;
        let end = start + chunk.len();
        let documents = &self.tree.documents;
        let document = &documents[documents.partition_point(|it| it.offset as usize <= start).checked_sub(1)?];
        // An error of the whole document decides how all of its text was parsed.
        let root = document.node.root.as_ref().filter(|_| document.node.errors.is_empty())?;
        let mut at = (document.offset + root.offset) as usize;
        let mut green = &root.node;
        let mut block_end = Some((document.offset + document.node.len) as usize);
        loop {
            let (block, found_kind) = green.chunked()?;
            let index = block.chunks.partition_point(|it| at + it.offset as usize <= start).checked_sub(1)?;
            let next_line = block.chunks.get(index + 1).map(|it| at + (it.offset - it.column) as usize);
            // The end of the last chunk between brackets is not known here.
            let chunk_end = next_line.or(block_end.filter(|_| !found_kind.is_flow()));
            let found = &block.chunks[index];
            let is_same_text = at + found.offset as usize == start && chunk_end == Some(end);
            let has_no_errors = found.lookahead == 0 && found.errors.is_empty();
            let members = members_of_chunk(green, block, index);
            if is_same_text && found_kind == kind && found.column as usize == column {
                let is_complete =
                    members.len() == found.member_count as usize && members.iter().all(Member::ends_with_last_child);
                return (has_no_errors && is_complete).then(|| relative_to_chunk(&members, found.offset));
            }
            let inner = members.iter().rev().map(Member::last_child).find(|it| at + it.offset as usize <= start)?;
            at += inner.offset as usize;
            // A chunk with an error may have several members, and the end of each is not known: its last lines may have
            // been parsed as another member.
            block_end = chunk_end.filter(|_| found.errors.is_empty() && found.member_count == 1);
            green = &inner.node;
        }
    }

    /// Where a part of the new text began in the old text, if the edit did not touch it.
    fn old_start(&self, part: Span) -> Option<usize> {
        let new_end = i64::try_from(self.edited.end).ok()? + self.by;
        let start = i64::try_from(part.start).ok()?;
        if part.end <= self.edited.start {
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
    fn last_child(&self) -> &'g Positioned<GreenNode> {
        match self {
            Self::Entry(entry) => entry.value.as_ref().unwrap_or(&entry.key),
            Self::Item(item) => item,
        }
    }

    /// Whether it has no errors and its end is the end of its last child. `key:` without a value ends after the colon.
    fn ends_with_last_child(&self) -> bool {
        match self {
            Self::Entry(entry) => entry.value.as_ref().is_some_and(|it| it.node.len > 0) && !entry.is_broken(),
            Self::Item(item) => item.node.len > 0 && !item.node.flags.error,
        }
    }

    fn to_entry(&self) -> GreenEntry {
        match self {
            Self::Entry(entry) => (*entry).clone(),
            Self::Item(item) => GreenEntry { key: (*item).clone(), value: None },
        }
    }
}

/// The members of a collection that come from a chunk.
fn members_of_chunk<'g>(green: &'g GreenNode, block: &ChunkedBlock, index: usize) -> Vec<Member<'g>> {
    let from = block.chunks[index].offset;
    let to = block.chunks.get(index + 1).map_or(u32::MAX, |next| next.offset);
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

/// A parsed chunk from members whose offsets are relative to the collection, in which the chunk is at `offset`.
fn relative_to_chunk(members: &[Member<'_>], offset: u32) -> ParsedChunk {
    let members: Vec<GreenEntry> = members.iter().map(|member| member.to_entry().moved(-i64::from(offset))).collect();
    let end = members.iter().map(GreenEntry::end).max().unwrap_or(0);
    ParsedChunk { members, end, ..ParsedChunk::default() }
}
