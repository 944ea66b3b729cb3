//! The tree after an edit: parses the smallest chunk that contains the edit, and shares everything else.
//!
//! The result of parsing a chunk is a pure function of its text, and where chunks begin depends only on nearby lines.
//! So this module finds the chunks whose lines the edit touched and calls the same functions as a full parse; where it
//! is not certain, it parses the chunk around them. Text that is parsed again reuses the unchanged chunks in it (see
//! [`PreviousTree`]), so an edit that changes the structure costs the lines whose structure changes.
//!
//! Invariant, checked by property tests: `tree.reparse(edit, text) == parse(text)`.

use std::sync::Arc;

use crate::syntax::chunk_boundaries::{ChunkStart, QUOTE_LOOKAHEAD, starts_chunk};
use crate::syntax::chunks::{
    ChunkRun, Closer, LEAF_SIZE, ParsedBlock, UnclosedChunk, chunked_collection, find_closer_after,
};
use crate::syntax::content_lines::{self, MemberKind, find_key, lines_from};
use crate::syntax::documents::{self, DocumentSlot, StreamLine};
use crate::syntax::edited_lines::{EditedLines, lines_ahead, signed};
use crate::syntax::green::{
    Chunk, ChunkedBlock, GreenDocument, GreenEntry, GreenKind, GreenNode, Positioned, offset32, shift,
};
use crate::syntax::merge_conflicts;
use crate::syntax::previous_tree::{ChunkContext, PreviousTree};
use crate::syntax::text_slices::{TextSlices, line_end, line_start};
use crate::syntax::tree::Tree;
use crate::text::{Span, TextChange};

impl Tree {
    /// The tree of the text after an edit, from the tree before it.
    pub fn reparse(&self, edit: TextChange, text: &(impl TextSlices + ?Sized)) -> Tree {
        let change = EditedLines::new(edit, text);
        let previous = PreviousTree { tree: self, edited: Span::new(change.start, change.end), by: change.by };
        self.reparse_one_document(&change, &previous, text)
            .unwrap_or_else(|| self.reparse_documents(edit, &previous, text))
    }

    /// Parses one document again, if the edit is inside it and moves no document boundary.
    fn reparse_one_document(
        &self,
        change: &EditedLines,
        previous: &PreviousTree<'_>,
        text: &(impl TextSlices + ?Sized),
    ) -> Option<Tree> {
        let index = self.documents.partition_point(|it| it.offset as usize <= change.start).checked_sub(1)?;
        let old = &self.documents[index];
        let start = old.offset as usize;
        let end = start + old.node.len as usize;
        // The first line may be a marker; so may any line of a marked document.
        if change.start == start || change.end > end || old.node.marked {
            return None;
        }
        let lines = text.slice(Span::new(change.start, change.new_end()));
        let is_boundary = |line: &str| {
            let kind = documents::stream_line(line.as_bytes());
            matches!(kind, StreamLine::Start | StreamLine::End | StreamLine::Directive)
        };
        if lines.split_inclusive('\n').any(is_boundary) {
            return None;
        }
        // The edit may turn the stream into JSON, or JSON into YAML. The boundaries of JSON documents are their outermost
        // braces.
        let root = old.node.root.as_ref()?;
        let first = start + root.offset as usize;
        let moves_brace = || {
            !root.node.is_flow()
                || change.end > first + root.node.len as usize
                || lines.split_inclusive('\n').any(|line| line.starts_with('{'))
                || is_before_brace(text, change.new_end())
        };
        if change.start <= first || (self.json && moves_brace()) {
            return None;
        }
        let new_end = change.moved(end);
        let green = if new_end - start > LEAF_SIZE
            && !lines.contains('\0')
            && !lines.lines().any(merge_conflicts::is_marker)
            && let Some(document) = reparse_root(&old.node, start, change, previous, text)
        {
            document
        } else {
            let slot = DocumentSlot { span: Span::new(0, new_end - start), marked: false };
            let context = ChunkContext::after_edit(previous, start, 0);
            documents::parse_document(&text.slice(Span::new(start, new_end)), &slot, context)
        };
        let mut documents = self.documents.clone();
        documents[index] = Positioned::new(old.offset, green);
        for later in &mut documents[index + 1..] {
            later.offset = shift(later.offset, change.by);
        }
        Some(Tree { documents, len: text.len(), json: self.json })
    }

    /// Divides the stream into documents again and reuses those that the edit did not touch.
    fn reparse_documents(
        &self,
        edit: TextChange,
        previous: &PreviousTree<'_>,
        text: &(impl TextSlices + ?Sized),
    ) -> Tree {
        let whole = text.slice(Span::new(0, text.len()));
        let by = signed(edit.new_len) - signed(edit.old.len());
        let documents = documents::split_documents(&whole)
            .iter()
            .map(|slot| {
                let old_start = if slot.span.end <= edit.old.start {
                    Some(slot.span.start)
                } else if slot.span.start >= edit.old.start + edit.new_len {
                    usize::try_from(signed(slot.span.start) - by).ok()
                } else {
                    None
                };
                let reused = old_start.and_then(|start| {
                    let at = self.documents.binary_search_by_key(&offset32(start), |it| it.offset).ok()?;
                    let old = &self.documents[at].node;
                    (old.len as usize == slot.span.len() && old.marked == slot.marked).then(|| Arc::clone(old))
                });
                let context = ChunkContext::after_edit(previous, 0, 0);
                let node = reused.unwrap_or_else(|| Arc::new(documents::parse_document(&whole, slot, context)));
                Positioned { offset: offset32(slot.span.start), node }
            })
            .collect();
        Tree { documents, len: text.len(), json: documents::is_json(&whole) }
    }
}

/// Whether the first content line from an offset on begins with a brace: it begins a document of JSON if the line before it
/// ends with one.
fn is_before_brace(text: &(impl TextSlices + ?Sized), from: usize) -> bool {
    const WINDOW: usize = 4 * 1024;
    let near = text.slice(Span::new(from, text.floor_char((from + WINDOW).min(text.len()))));
    let mut content = near.lines().filter(|line| documents::stream_line(line.as_bytes()) != StreamLine::Blank);
    content.next().is_none_or(|line| line.starts_with('{'))
}

/// The document at `start` after the edit, if its root is a chunked collection that stays one.
fn reparse_root(
    document: &GreenDocument,
    start: usize,
    change: &EditedLines,
    previous: &PreviousTree<'_>,
    text: &(impl TextSlices + ?Sized),
) -> Option<GreenDocument> {
    let root = document.root.as_ref()?;
    if !document.errors.is_empty() {
        return None;
    }
    let root_start = start + root.offset as usize;
    let end = start + document.len as usize;
    // The kind of the block must be certain from its first line.
    let (block, kind) = root.node.chunked()?;
    if !kind.is_flow() {
        let first = text.slice(Span::new(root_start, line_end(text, root_start)));
        // If the first line is indented, the column of the block depends on the second line.
        let is_at_left_edge = |chunk: &Chunk| chunk.offset == 0 && chunk.column == 0;
        if !is_member(first.trim_end(), kind) || !block.chunks.first().is_some_and(is_at_left_edge) {
            return None;
        }
    }
    let green = BlockReparser { text, change, previous }.reparse(&root.node, root_start, end, 0)?;
    let document = GreenDocument {
        len: offset32(change.moved(end) - start),
        root: Some(Positioned::new(root.offset, green)),
        ..Default::default()
    };
    if documents::has_error_in_brackets(&document) {
        return None;
    }
    Some(documents::parse_valid_document(&document, text, start).unwrap_or(document))
}

fn is_member(line: &str, kind: MemberKind) -> bool {
    match kind {
        MemberKind::Entries => find_key(line).is_some(),
        MemberKind::Items => line == "-" || line.starts_with("- "),
        MemberKind::FlowEntries | MemberKind::FlowItems => true,
    }
}

/// Parses the chunks of a collection that an edit touched. Methods return `None` where the chunk around the collection
/// has to be parsed instead.
struct BlockReparser<'t, S: ?Sized> {
    text: &'t S,
    change: &'t EditedLines,
    previous: &'t PreviousTree<'t>,
}

impl<S: TextSlices + ?Sized> BlockReparser<'_, S> {
    /// The collection at `start` after the edit. `end` is the end of the chunk that contains it, in the old text.
    fn reparse(&self, green: &GreenNode, start: usize, end: usize, depth: usize) -> Option<GreenNode> {
        let (block, kind) = green.chunked()?;
        let end = if kind.is_flow() {
            // Up to the line of the closing bracket, which must not change.
            let closer = start + (green.len as usize).checked_sub(1)?;
            if self.change.end > closer {
                return None;
            }
            let line = line_start(self.text, self.change.moved(closer));
            usize::try_from(signed(line) - self.change.by).ok()?
        } else {
            end
        };
        let chunks = PositionedChunks { block, start, end };
        let range = self.touched_chunks(&chunks, kind)?;
        let parsed = self.parse_range(green, &chunks, range, kind, depth)?;
        Some(self.splice(green, &chunks, range.first..range.end, parsed, kind))
    }

    /// The chunks that the edit touched.
    fn touched_chunks(&self, chunks: &PositionedChunks<'_>, kind: MemberKind) -> Option<ChunkRange> {
        let change = self.change;
        let list = &chunks.block.chunks;
        let column = chunks.block.column as usize;
        if change.end > chunks.end {
            return None;
        }
        let after = list.partition_point(|chunk| chunks.start_of(chunk) < change.end);
        let before = list.partition_point(|chunk| chunks.start_of(chunk) < change.start);
        let first_at = chunks.start_of(list.first()?);
        if before == 0 && change.edit < first_at {
            return None;
        }
        let around = change.around_in(chunks.end);
        let starts_chunk_now = |at: usize| {
            let line = lines_from(around, at).next().filter(|line| line.start == at)?;
            Some(starts_chunk(around, 0, &line, column, kind))
        };
        // A line before the edit that starts a chunk because of it, or no longer starts one.
        let changed_boundary = change.lookahead_dependent.iter().find(|at| {
            let line = change.around_start + **at;
            let started_chunk = || {
                let lines_of_chunks = (0..before).rev().map(|index| chunks.line_of(index));
                lines_of_chunks.take_while(|it| *it >= line).any(|it| it == line)
            };
            line > first_at && starts_chunk_now(**at).is_some_and(|starts| starts != started_chunk())
        });
        let mut first = match changed_boundary {
            Some(at) => {
                list.partition_point(|chunk| chunks.start_of(chunk) < change.around_start + at).checked_sub(1)?
            }
            None if before == 0 => {
                let line = self.text.slice(Span::new(first_at, line_end(self.text, first_at)));
                let is_still_member = content_lines::lines(&line, column)
                    .next()
                    .is_some_and(|line| line.content == 0 && is_member(line.text, kind));
                is_still_member.then_some(0)?
            }
            None => {
                // If the first edited line still starts its chunk, the chunk before it is unchanged.
                let still_starts_chunk = before < after
                    && chunks.line_of(before) == change.start
                    && starts_chunk_now(change.start - change.around_start) == Some(true);
                if still_starts_chunk { before } else { before - 1 }
            }
        };
        while let Some(earlier) = (0..first).rev().find(|earlier| {
            let chunk = &list[*earlier];
            chunk.lookahead > 0 && chunks.line_of(earlier + 1) + chunk.lookahead as usize > change.start
        }) {
            first = earlier;
        }
        let mut end = after.max(first + 1);
        // Whether the line after the edit starts a chunk depends on the last edited line too.
        let next_started = chunks.line_of(end) == change.end && change.end < chunks.end;
        let next_starts = starts_chunk_now(change.new_end() - change.around_start);
        let next_changed = next_starts.is_some_and(|starts| starts != next_started);
        if next_changed && next_started {
            end += 1;
        }
        // Whether a wrongly indented chunk is reported depends on the chunk before it.
        while list.get(end).is_some_and(|chunk| chunk.column as usize != column) {
            end += 1;
        }
        Some(ChunkRange { first, end, boundaries_changed: changed_boundary.is_some() || next_changed })
    }

    /// Parses a range of chunks again.
    fn parse_range(
        &self,
        green: &GreenNode,
        chunks: &PositionedChunks<'_>,
        range: ChunkRange,
        kind: MemberKind,
        depth: usize,
    ) -> Option<ParsedBlock> {
        let list = &chunks.block.chunks;
        let is_last = range.end == list.len();
        let column = chunks.block.column as usize;
        if range.end == range.first + 1
            && !range.boundaries_changed
            && let Some(parsed) = self.reparse_inside_chunk(green, chunks, range.first, kind, depth)
        {
            return Some(parsed);
        }
        let (start, first) = self.new_start_of(chunks, range.first);
        let limit = self.change.moved(chunks.line_of(range.end));
        let block_end = self.change.moved(chunks.end);
        let before = range.first.checked_sub(1).map(|before| list[before].column as usize);
        let parse_to = |end: usize| {
            let text = &self.text.slice(Span::new(start, end));
            ChunkRun { text, limit: limit - start, first, column, kind, before, is_to_end: end == block_end }
                .parse(ChunkContext::after_edit(self.previous, start, depth))
        };
        let near = || lines_ahead(self.text, limit).min(block_end);
        let far = || self.closer_search_end(limit, block_end);
        // A quote or bracket that the edit opens may be closed further down.
        let end = if is_last || self.change.may_open { far() } else { near() };
        let mut parsed = parse_to(end);
        if parsed.looked_ahead && !is_last && !self.change.may_open {
            parsed = parse_to(far());
        }
        Some(parsed)
    }

    /// How far the end of a quote or bracket that is open at `from` is searched.
    fn closer_search_end(&self, from: usize, block_end: usize) -> usize {
        let limit = self.text.floor_char((from + QUOTE_LOOKAHEAD).min(block_end));
        lines_ahead(self.text, limit).min(block_end)
    }

    /// Parses only the nested block of a chunk, if the edit is inside it.
    fn reparse_inside_chunk(
        &self,
        green: &GreenNode,
        chunks: &PositionedChunks<'_>,
        index: usize,
        kind: MemberKind,
        depth: usize,
    ) -> Option<ParsedBlock> {
        let chunk = &chunks.block.chunks[index];
        let start = chunks.start_of(chunk);
        let end = chunks.line_of(index + 1);
        if chunk.member_count != 1 || !chunk.errors.is_empty() || self.change.moved(end) <= start + LEAF_SIZE {
            return None;
        }
        let members_before: usize = chunks.block.chunks[..index].iter().map(|it| it.member_count as usize).sum();
        let member = match &green.kind {
            GreenKind::Mapping { entries, .. } => entries.get(members_before)?.clone(),
            GreenKind::Sequence { items, .. } => GreenEntry { key: items.get(members_before)?.clone(), value: None },
            _ => return None,
        };
        let nested = member.value.as_ref().unwrap_or(&member.key);
        let nested_start = chunks.start + nested.offset as usize;
        let first_line_end = line_end(self.text, start);
        let on_head = self.change.start < first_line_end;
        // The head must not change. In `- key: value` the nested block begins on the same line.
        if on_head && (kind != MemberKind::Items || nested_start >= first_line_end || self.change.edit < nested_start) {
            return None;
        }
        if self.edited_line_starts_chunk(chunks, kind, on_head) {
            return None;
        }
        let (block, nested_kind) = nested.node.chunked()?;
        if !nested_kind.is_flow() {
            // Whether a word without a colon begins a block depends on the lines below it.
            let first = self.text.slice(Span::new(nested_start, line_end(self.text, nested_start)));
            if block.chunks.first()?.offset != 0 || !is_member(first.trim_end(), nested_kind) {
                return None;
            }
        }
        let green = self.reparse(&nested.node, nested_start, end, depth + 1)?;
        let (mut lookahead, mut still_unclosed) = (0, None);
        let unclosed = if nested_kind.is_flow() { None } else { unclosed_in(&green, nested_start) };
        if let Some(unclosed) = unclosed {
            let end = self.change.moved(end);
            let block_end = self.change.moved(chunks.end);
            let far = self.closer_search_end(end, block_end);
            let text = self.text.slice(Span::new(start, far));
            let following = self.new_chunk_starts(chunks, index + 1, start, far);
            let unclosed = unclosed.relative_to(start);
            match find_closer_after(&text, far == block_end, unclosed, end - start, &following) {
                Closer::InChunks { is_valid: true, .. } => return None,
                Closer::InChunks { count, .. } => {
                    lookahead = following.get(count).map_or(far, |it| it.line + start) - end;
                }
                Closer::NotFound { searched_to } => {
                    lookahead = searched_to + start - end;
                    if searched_to + start == block_end {
                        lookahead += 1;
                        still_unclosed = Some(Box::new(unclosed));
                    }
                }
            }
        }
        let nested_end = nested_start + green.len as usize - start;
        let nested = Positioned::new(offset32(nested_start - start), green);
        let member = match member.value {
            Some(_) => {
                let key_start = chunks.start + member.key.offset as usize - start;
                GreenEntry { key: Positioned { offset: offset32(key_start), ..member.key }, value: Some(nested) }
            }
            None => GreenEntry { key: nested, value: None },
        };
        let chunk = Chunk {
            offset: 0,
            errors: Vec::new(),
            lookahead: offset32(lookahead),
            unclosed: still_unclosed,
            ..chunk.clone()
        };
        let consumed = self.change.moved(end) - start;
        Some(ParsedBlock {
            members: vec![member],
            chunks: vec![chunk],
            end: nested_end,
            consumed,
            ..Default::default()
        })
    }

    /// The starts of the chunks from index `from` on in the new text, up to `limit`. They are relative to `base`.
    fn new_chunk_starts(
        &self,
        chunks: &PositionedChunks<'_>,
        from: usize,
        base: usize,
        limit: usize,
    ) -> Vec<ChunkStart> {
        let list = chunks.block.chunks.get(from..).unwrap_or_default();
        let starts = list.iter().map(|chunk| {
            let start = self.change.moved(chunks.start_of(chunk)) - base;
            ChunkStart { line: start - chunk.column as usize, start, column: chunk.column as usize }
        });
        starts.take_while(|it| it.line + base < limit).collect()
    }

    /// Whether an edited line starts a chunk of a block. If the first edited line is the head of the chunk, it is not
    /// counted.
    fn edited_line_starts_chunk(&self, chunks: &PositionedChunks<'_>, kind: MemberKind, on_head: bool) -> bool {
        let column = chunks.block.column as usize;
        let around = self.change.around_in(chunks.end);
        let first = self.change.start - self.change.around_start;
        let end = self.change.new_end() - self.change.around_start;
        lines_from(around, first)
            .take_while(|line| line.start < end)
            .any(|line| !(on_head && line.start == first) && starts_chunk(around, 0, &line, column, kind))
    }

    /// The collection with a range of its chunks replaced.
    fn splice(
        &self,
        green: &GreenNode,
        chunks: &PositionedChunks<'_>,
        range: std::ops::Range<usize>,
        parsed: ParsedBlock,
        kind: MemberKind,
    ) -> GreenNode {
        let list = &chunks.block.chunks;
        let (start, _) = self.new_start_of(chunks, range.start);
        let consumed = start + parsed.consumed;
        // An open quote or bracket may have consumed chunks after the range.
        let is_consumed = |chunk: &&Chunk| self.change.moved(chunks.start_of(chunk)) < consumed;
        let after = range.end + list[range.end..].iter().take_while(is_consumed).count();
        let count = |chunks: &[Chunk]| chunks.iter().map(|chunk| chunk.member_count as usize).sum::<usize>();
        let (before_members, old_members) = (count(&list[..range.start]), count(&list[range.start..after]));
        let by = signed(start) - signed(chunks.start);
        let mut members = green.members();
        for member in &mut members[before_members + old_members..] {
            member.key.offset = shift(member.key.offset, self.change.by);
            if let Some(value) = &mut member.value {
                value.offset = shift(value.offset, self.change.by);
            }
        }
        let new_members = parsed.members.into_iter().map(|member| member.moved(by));
        members.splice(before_members..before_members + old_members, new_members);
        let moved = |chunk: Chunk, by: i64| Chunk { offset: shift(chunk.offset, by), ..chunk };
        let mut new_list = Vec::with_capacity(list.len());
        new_list.extend_from_slice(&list[..range.start]);
        new_list.extend(parsed.chunks.into_iter().map(|chunk| moved(chunk, by)));
        new_list.extend(list[after..].iter().map(|chunk| moved(chunk.clone(), self.change.by)));
        let end = if kind.is_flow() || after < list.len() {
            self.change.moved(chunks.start + green.len as usize) - chunks.start
        } else {
            let before = members[..before_members].iter().map(GreenEntry::end).max().unwrap_or(0);
            before.max(usize::try_from(signed(parsed.end) + by).unwrap_or_default())
        };
        chunked_collection(members, ChunkedBlock { column: chunks.block.column, chunks: new_list }, kind, end)
    }

    /// The first character of a chunk and its column in the new text. Only the first edited line may have moved its
    /// chunk.
    fn new_start_of(&self, chunks: &PositionedChunks<'_>, index: usize) -> (usize, usize) {
        let chunk = &chunks.block.chunks[index];
        let old = chunks.start_of(chunk);
        if old < self.change.start || index == 0 {
            return (old, chunk.column as usize);
        }
        let line = self.text.slice(Span::new(self.change.start, line_end(self.text, self.change.start)));
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        (self.change.start + indent, indent)
    }
}

/// The chunk of a collection at `start` whose quote or bracket is open at the end of the collection.
fn unclosed_in(green: &GreenNode, start: usize) -> Option<UnclosedChunk> {
    let chunk = green.chunked_block()?.chunks.iter().find(|chunk| chunk.unclosed.is_some())?;
    chunk.unclosed.as_ref().map(|unclosed| unclosed.shifted(start + chunk.offset as usize))
}

/// The chunks of a collection at their positions in the old text.
struct PositionedChunks<'g> {
    block: &'g ChunkedBlock,
    /// The start of the collection.
    start: usize,
    /// The end of its last chunk.
    end: usize,
}

impl PositionedChunks<'_> {
    fn start_of(&self, chunk: &Chunk) -> usize {
        self.start + chunk.offset as usize
    }

    /// The start of the first line of a chunk. For the index after the last chunk, the end of the block.
    fn line_of(&self, index: usize) -> usize {
        self.block.chunks.get(index).map_or(self.end, |chunk| self.start_of(chunk) - chunk.column as usize)
    }
}

/// A range of chunks that an edit touched.
#[derive(Clone, Copy)]
struct ChunkRange {
    first: usize,
    /// The index after the last.
    end: usize,
    /// Whether a line next to the edit starts a chunk because of it, or no longer starts one.
    boundaries_changed: bool,
}
