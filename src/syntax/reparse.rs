//! The tree after an edit: reads again the smallest piece the edit stands in, shares everything else.
//!
//! Parsing is a pure function of pieces of text, and where pieces begin is a property of their own lines. So this only
//! finds the pieces whose lines the edit touched and calls the same functions; where it is not sure, it climbs to the
//! piece around them. Whatever is read again takes over the healthy pieces in it that the edit did not touch, so a
//! keystroke that changes the structure costs the lines it tears apart. `reparse(edit) == parse(whole)` is a property
//! test.

use std::borrow::Cow;
use std::sync::Arc;

use crate::syntax::chunk_boundaries::{self, ChunkStart, MemberKind};
use crate::syntax::chunks::{self, ChunkRun, Closer, LEAF_SIZE, ParsedBlock, UnclosedChunk, member_end, offset32};
use crate::syntax::documents::{self, DocumentSlot, StreamLine};
use crate::syntax::merge_conflicts;
use crate::syntax::previous_tree::{ChunkContext, PreviousTree};
use crate::syntax::tree::{
    Chunk, ChunkedBlock, GreenDocument, GreenEntry, GreenKind, GreenNode, Positioned, Tree, shift,
};
use crate::text::{Buffer, Span, TextChange};

/// A text that can be looked at in parts.
pub trait TextSlices {
    /// Its length in bytes.
    fn len(&self) -> usize;
    /// Some of it; the span's ends lie between characters.
    fn slice(&self, span: Span) -> Cow<'_, str>;
    /// Whether it has no text.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The nearest place between two characters that is not behind `offset`.
    fn floor_char(&self, offset: usize) -> usize;
}

impl TextSlices for str {
    fn len(&self) -> usize {
        str::len(self)
    }

    fn slice(&self, span: Span) -> Cow<'_, str> {
        Cow::Borrowed(self.get(span.range()).unwrap_or_default())
    }

    fn floor_char(&self, offset: usize) -> usize {
        self.floor_char_boundary(offset)
    }
}

impl TextSlices for Buffer {
    fn len(&self) -> usize {
        Buffer::len(self)
    }

    fn slice(&self, span: Span) -> Cow<'_, str> {
        Buffer::slice(self, span)
    }

    fn floor_char(&self, offset: usize) -> usize {
        Buffer::floor_char(self, offset)
    }
}

impl Tree {
    /// The tree of the text after an edit, from the tree before it.
    pub fn reparse(&self, edit: TextChange, text: &(impl TextSlices + ?Sized)) -> Tree {
        let change = EditedLines::new(edit, text);
        let previous = PreviousTree { tree: self, old: Span::new(change.start, change.end), by: change.by };
        self.within_document(&change, &previous, text).unwrap_or_else(|| self.by_documents(edit, &previous, text))
    }

    /// The edit stands inside one document and moves no boundary.
    fn within_document(
        &self,
        change: &EditedLines,
        previous: &PreviousTree<'_>,
        text: &(impl TextSlices + ?Sized),
    ) -> Option<Tree> {
        let index = self.documents.partition_point(|placed| placed.offset as usize <= change.start).checked_sub(1)?;
        let placed = &self.documents[index];
        let start = placed.offset as usize;
        let end = start + placed.node.len as usize;
        // The first line may hold a marker; so may any line of a marked document.
        if change.start == start || change.end > end || placed.node.marked {
            return None;
        }
        let lines = text.slice(Span::new(change.start, change.new_end()));
        if lines.split_inclusive('\n').any(|line| {
            matches!(
                documents::stream_line(line.as_bytes()),
                StreamLine::Start | StreamLine::End | StreamLine::Directive
            )
        }) {
            return None;
        }
        // The stream may turn into JSON, or back, and the boundaries of JSON documents are their outermost braces.
        let root = placed.node.root.as_ref()?;
        let first = start + root.offset as usize;
        let moves_brace = || {
            !root.node.is_flow()
                || change.end > first + root.node.len as usize
                || lines.split_inclusive('\n').any(|line| line.starts_with('{'))
        };
        if change.start <= first || (self.json && moves_brace()) {
            return None;
        }
        let new_end = change.moved(end);
        let green = if new_end - start > LEAF_SIZE
            && !lines.lines().any(merge_conflicts::is_marker)
            && let Some(root) = reparse_root(&placed.node, start, change, previous, text)
        {
            root
        } else {
            let slot = DocumentSlot { span: Span::new(0, new_end - start), marked: false };
            let context = ChunkContext::after(previous, start, 0);
            documents::parse_document(&text.slice(Span::new(start, new_end)), &slot, context)
        };
        let mut documents = self.documents.clone();
        documents[index] = Positioned::new(placed.offset, green);
        for later in &mut documents[index + 1..] {
            later.offset = shift(later.offset, change.by);
        }
        Some(Tree { documents, len: text.len(), json: self.json })
    }

    /// Cuts the stream again and keeps the documents the edit did not touch.
    fn by_documents(&self, edit: TextChange, previous: &PreviousTree<'_>, text: &(impl TextSlices + ?Sized)) -> Tree {
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
                let kept = old_start.and_then(|start| {
                    let at = self.documents.binary_search_by_key(&offset32(start), |placed| placed.offset).ok()?;
                    let it = &self.documents[at].node;
                    (it.len as usize == slot.span.len() && it.marked == slot.marked).then(|| Arc::clone(it))
                });
                let node = kept.unwrap_or_else(|| {
                    Arc::new(documents::parse_document(&whole, slot, ChunkContext::after(previous, 0, 0)))
                });
                Positioned { offset: offset32(slot.span.start), node }
            })
            .collect();
        Tree { documents, len: text.len(), json: documents::is_json(&whole) }
    }
}

/// An edit widened to whole lines.
struct EditedLines {
    /// The first byte of the first line.
    start: usize,
    /// Closer the last line, in the old text.
    end: usize,
    /// How far everything behind it moved.
    by: i64,
    /// Where the edit itself begins.
    edit: usize,
    /// The lines of the edit with those around them that must be known to tell which of them begin pieces.
    around: String,
    /// Where that begins.
    around_start: usize,
    /// Lines before the edit that it may turn into beginnings of pieces, or into the rest of the line before them: where
    /// they begin in the text around the edit.
    lookahead_dependent: Vec<usize>,
    /// Whether a quote or bracket stands in the lines of the edit.
    may_open: bool,
}

impl EditedLines {
    fn new(edit: TextChange, text: &(impl TextSlices + ?Sized)) -> Self {
        let by = signed(edit.new_len) - signed(edit.old.len());
        let start = line_start(text, edit.old.start);
        let new_end = line_end(text, edit.old.start + edit.new_len);
        let end = usize::try_from(signed(new_end) - by).unwrap_or_default();
        let around_start = lines_back(text, start);
        let around = text.slice(Span::new(around_start, lines_ahead(text, new_end))).into_owned();
        let before = &around[..start - around_start];
        let mut lookahead_dependent: Vec<usize> = chunk_boundaries::lines_from(before, 0)
            .filter(|line| chunk_boundaries::is_lookahead_dependent(before, line))
            .map(|line| line.start)
            .collect();
        // What the first of them is depends on the line before it, which is not there.
        if around_start > 0 {
            lookahead_dependent.retain(|at| *at > 0);
        }
        lookahead_dependent.extend(chunk_boundaries::lines_from(before, 0).last().map(|line| line.start));
        let lines = &around[start - around_start..new_end - around_start];
        let may_open = lines.contains(['"', '\'', '[', '{']);
        Self { start, end, by, edit: edit.old.start, around, around_start, lookahead_dependent, may_open }
    }

    /// A place behind the change, in the new text.
    fn moved(&self, offset: usize) -> usize {
        usize::try_from(signed(offset) + self.by).unwrap_or_default()
    }

    fn new_end(&self) -> usize {
        self.moved(self.end)
    }

    /// The text around the edit, up to the end of a level in the old text.
    fn around_in(&self, level_end: usize) -> &str {
        let end = self.moved(level_end).saturating_sub(self.around_start);
        self.around.get(..end).unwrap_or(&self.around)
    }
}

/// Where the lines begin that may depend on the line at an offset, which begins there.
fn lines_back(text: &(impl TextSlices + ?Sized), offset: usize) -> usize {
    let mut width = 8 * 1024;
    loop {
        let from = text.floor_char(offset.saturating_sub(width));
        let window = text.slice(Span::new(from, offset));
        // Only whole lines count.
        let whole = if from == 0 { Some(0) } else { window.find('\n').map(|end| end + 1) };
        let whole = whole.unwrap_or(window.len());
        let mut start = window.len();
        let mut said = 0;
        while start > whole && said <= chunk_boundaries::LOOKAHEAD_LINES + 1 {
            let line = window[..start - 1].rfind('\n').map_or(0, |end| end + 1);
            said += usize::from(chunk_boundaries::lines_from(&window[line..start], 0).next().is_some());
            start = line;
        }
        if said > chunk_boundaries::LOOKAHEAD_LINES + 1 || from == 0 {
            return from + start;
        }
        width *= 4;
    }
}

/// Where the lines end that the line before an offset may depend on.
fn lines_ahead(text: &(impl TextSlices + ?Sized), offset: usize) -> usize {
    let mut width = 4096;
    loop {
        let end = line_end(text, text.floor_char((offset + width).min(text.len())));
        let window = text.slice(Span::new(offset, end));
        let found = chunk_boundaries::lines_from(&window, 0)
            .nth(chunk_boundaries::LOOKAHEAD_LINES)
            .map(|line| offset + line.start);
        match found {
            Some(end) => return end,
            None if end >= text.len() => return end,
            None => width *= 4,
        }
    }
}

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
    // What kind of level it is must be plain from its first line.
    let (level, kind) = root.node.cut()?;
    if !kind.is_flow() {
        let first = text.slice(Span::new(root_start, line_end(text, root_start)));
        // If that is indented, so is the level, or not, by what the second line says.
        let is_plain = |piece: &Chunk| piece.offset == 0 && piece.column == 0;
        if !is_member(first.trim_end(), kind) || !level.pieces.first().is_some_and(is_plain) {
            return None;
        }
    }
    let green = BlockReparser { text, change, previous }.collection(&root.node, root_start, end, 0)?;
    Some(GreenDocument {
        len: offset32(change.moved(end) - start),
        root: Some(Positioned::new(root.offset, green)),
        ..Default::default()
    })
}

fn is_member(line: &str, kind: MemberKind) -> bool {
    match kind {
        MemberKind::Entries => chunk_boundaries::key(line).is_some(),
        MemberKind::Items => line == "-" || line.starts_with("- "),
        MemberKind::FlowEntries | MemberKind::FlowItems => true,
    }
}

struct BlockReparser<'t, S: ?Sized> {
    text: &'t S,
    change: &'t EditedLines,
    previous: &'t PreviousTree<'t>,
}

impl<S: TextSlices + ?Sized> BlockReparser<'_, S> {
    /// The collection at `start` after the change. `end` is where the text of the piece that holds it ended.
    fn collection(&self, green: &GreenNode, start: usize, end: usize, depth: usize) -> Option<GreenNode> {
        let (level, kind) = green.cut()?;
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
        let pieces = PositionedChunks { level, start, end };
        let run = self.run(&pieces, kind)?;
        let parsed = self.read(green, &pieces, run, kind, depth)?;
        Some(self.splice(green, &pieces, run.first..run.behind, parsed, kind))
    }

    /// The pieces the change touches.
    fn run(&self, pieces: &PositionedChunks<'_>, kind: MemberKind) -> Option<ChunkRange> {
        let change = self.change;
        let list = &pieces.level.pieces;
        let column = pieces.level.column as usize;
        if change.end > pieces.end {
            return None;
        }
        let behind = list.partition_point(|piece| pieces.at(piece) < change.end);
        let before = list.partition_point(|piece| pieces.at(piece) < change.start);
        let first_at = pieces.at(list.first()?);
        if before == 0 && change.edit < first_at {
            return None;
        }
        let around = change.around_in(pieces.end);
        let begins_piece = |at: usize| {
            let line = chunk_boundaries::lines_from(around, at).next().filter(|line| line.start == at)?;
            Some(chunk_boundaries::starts_chunk(around, 0, &line, column, kind))
        };
        // A line before the change that begins a piece since then, or does no more.
        let flipped = change.lookahead_dependent.iter().find(|at| {
            let line = change.around_start + **at;
            let began = || {
                (0..before).rev().map(|index| pieces.line_of(index)).take_while(|it| *it >= line).any(|it| it == line)
            };
            line > first_at && begins_piece(**at).is_some_and(|begins| begins != began())
        });
        let mut first = match flipped {
            Some(at) => list.partition_point(|piece| pieces.at(piece) < change.around_start + at).checked_sub(1)?,
            // The line the change begins on still begins a piece: the piece before it is as it was.
            None if before == 0 => {
                let line = self.text.slice(Span::new(first_at, line_end(self.text, first_at)));
                let is_still = chunk_boundaries::lines(&line, column)
                    .next()
                    .is_some_and(|line| line.content == 0 && is_member(line.text, kind));
                is_still.then_some(0)?
            }
            None => {
                let is_still = before < behind
                    && pieces.line_of(before) == change.start
                    && begins_piece(change.start - change.around_start) == Some(true);
                if is_still { before } else { before - 1 }
            }
        };
        while let Some(earlier) = (0..first).rev().find(|earlier| {
            let piece = &list[*earlier];
            piece.reach > 0 && pieces.line_of(earlier + 1) + piece.reach as usize > change.start
        }) {
            first = earlier;
        }
        let mut behind = behind.max(first + 1);
        // The line behind the change may have been torn off it, or no more.
        let next_began = pieces.line_of(behind) == change.end && change.end < pieces.end;
        let next_begins = begins_piece(change.new_end() - change.around_start);
        let next_flipped = next_begins.is_some_and(|begins| begins != next_began);
        if next_flipped && next_began {
            behind += 1;
        }
        // Whether a piece at a strange column is told depends on the piece before it.
        while list.get(behind).is_some_and(|piece| piece.column as usize != column) {
            behind += 1;
        }
        Some(ChunkRange { first, behind, flipped: flipped.is_some() || next_flipped })
    }

    /// Reads a run of pieces again.
    fn read(
        &self,
        green: &GreenNode,
        pieces: &PositionedChunks<'_>,
        run: ChunkRange,
        kind: MemberKind,
        depth: usize,
    ) -> Option<ParsedBlock> {
        let list = &pieces.level.pieces;
        let last = run.behind == list.len();
        let column = pieces.level.column as usize;
        if run.behind == run.first + 1
            && !run.flipped
            && let Some(parsed) = self.inside(green, pieces, run.first, kind, depth)
        {
            return Some(parsed);
        }
        let (start, first) = self.start_of(pieces, run.first);
        let limit = self.change.moved(pieces.line_of(run.behind));
        let level_end = self.change.moved(pieces.end);
        let before = run.first.checked_sub(1).map(|before| list[before].column as usize);
        let part = |end: usize| {
            let text = &self.text.slice(Span::new(start, end));
            ChunkRun { text, limit: limit - start, first, column, kind, before, whole: end == level_end }
                .parse(ChunkContext::after(self.previous, start, depth))
        };
        let near = || lines_ahead(self.text, limit).min(level_end);
        let far = || {
            lines_ahead(self.text, self.text.floor_char((limit + chunk_boundaries::QUOTE_LOOKAHEAD).min(level_end)))
                .min(level_end)
        };
        // What may be open is closed further on, perhaps.
        let end = if last || self.change.may_open { far() } else { near() };
        let mut parsed = part(end);
        if parsed.looked && !last && !self.change.may_open {
            parsed = part(far());
        }
        Some(parsed)
    }

    /// The change stands inside one piece that was divided: only the level in it is read again.
    fn inside(
        &self,
        green: &GreenNode,
        pieces: &PositionedChunks<'_>,
        index: usize,
        kind: MemberKind,
        depth: usize,
    ) -> Option<ParsedBlock> {
        let piece = &pieces.level.pieces[index];
        let start = pieces.at(piece);
        let end = pieces.line_of(index + 1);
        if piece.children != 1 || !piece.errors.is_empty() || self.change.moved(end) <= start + LEAF_SIZE {
            return None;
        }
        let children_before: usize = pieces.level.pieces[..index].iter().map(|piece| piece.children as usize).sum();
        let member = match &green.kind {
            GreenKind::Mapping { entries, .. } => entries.get(children_before)?.clone(),
            GreenKind::Sequence { items, .. } => GreenEntry { key: items.get(children_before)?.clone(), value: None },
            _ => return None,
        };
        let nested = member.value.as_ref().unwrap_or(&member.key);
        let nested_start = pieces.start + nested.offset as usize;
        let first_line_end = line_end(self.text, start);
        let on_head = self.change.start < first_line_end;
        // The head must stay what it is. `- key: value` has its level on the same line.
        if on_head && (kind != MemberKind::Items || nested_start >= first_line_end || self.change.edit < nested_start) {
            return None;
        }
        if self.begins_anything(pieces, kind, on_head) {
            return None;
        }
        let (level, nested_kind) = nested.node.cut()?;
        if !nested_kind.is_flow() {
            // That a word without a colon begins a level is told by the lines below it.
            let first = self.text.slice(Span::new(nested_start, line_end(self.text, nested_start)));
            if level.pieces.first()?.offset != 0 || !is_member(first.trim_end(), nested_kind) {
                return None;
            }
        }
        let green = self.collection(&nested.node, nested_start, end, depth + 1)?;
        let (mut reach, mut still_open) = (0, None);
        let open = if nested_kind.is_flow() { None } else { open_in(&green, nested_start) };
        if let Some(open) = open {
            let end = self.change.moved(end);
            let level_end = self.change.moved(pieces.end);
            let far =
                lines_ahead(self.text, self.text.floor_char((end + chunk_boundaries::QUOTE_LOOKAHEAD).min(level_end)))
                    .min(level_end);
            let text = self.text.slice(Span::new(start, far));
            let cuts = self.cuts(pieces, index + 1, start, far);
            let open = open.within(start);
            match chunks::find_closer_after(&text, far == level_end, open, end - start, &cuts) {
                Closer::InChunks { healthy: true, .. } => return None,
                Closer::InChunks { more, .. } => {
                    reach = cuts.get(more).map_or(far, |cut| cut.line + start) - end;
                }
                Closer::Unknown { limit } => {
                    reach = limit + start - end;
                    if limit + start == level_end {
                        reach += 1;
                        still_open = Some(Box::new(open));
                    }
                }
            }
        }
        let by = -signed(start);
        let nested_end = nested_start + green.len as usize - start;
        let nested = Positioned::new(offset32(nested_start - start), green);
        let moved = |placed: &Positioned<GreenNode>| Positioned {
            offset: offset32(usize::try_from(signed(pieces.start + placed.offset as usize) + by).unwrap_or_default()),
            node: Arc::clone(&placed.node),
        };
        let member = match &member.value {
            Some(_) => GreenEntry { key: moved(&member.key), value: Some(nested) },
            None => GreenEntry { key: nested, value: None },
        };
        let piece = Chunk { offset: 0, errors: Vec::new(), reach: offset32(reach), open: still_open, ..piece.clone() };
        let consumed = self.change.moved(end) - start;
        Some(ParsedBlock {
            members: vec![member],
            pieces: vec![piece],
            end: nested_end,
            consumed,
            ..ParsedBlock::default()
        })
    }

    /// Where pieces behind the change begin now, as far as a limit, counted from `base`.
    fn cuts(&self, pieces: &PositionedChunks<'_>, from: usize, base: usize, limit: usize) -> Vec<ChunkStart> {
        let list = pieces.level.pieces.get(from..).unwrap_or_default();
        let cuts = list.iter().map(|piece| {
            let start = self.change.moved(pieces.at(piece)) - base;
            ChunkStart { line: start - piece.column as usize, start, column: piece.column as usize }
        });
        cuts.take_while(|cut| cut.line + base < limit).collect()
    }

    /// Whether a line of the change begins a piece of a level; the first line is known to if it is a head.
    fn begins_anything(&self, pieces: &PositionedChunks<'_>, kind: MemberKind, on_head: bool) -> bool {
        let column = pieces.level.column as usize;
        let around = self.change.around_in(pieces.end);
        let first = self.change.start - self.change.around_start;
        let behind = self.change.new_end() - self.change.around_start;
        chunk_boundaries::lines_from(around, first).take_while(|line| line.start < behind).any(|line| {
            !(on_head && line.start == first) && chunk_boundaries::starts_chunk(around, 0, &line, column, kind)
        })
    }

    /// The collection with a run of its pieces replaced.
    fn splice(
        &self,
        green: &GreenNode,
        pieces: &PositionedChunks<'_>,
        run: std::ops::Range<usize>,
        parsed: ParsedBlock,
        kind: MemberKind,
    ) -> GreenNode {
        let list = &pieces.level.pieces;
        let (start, _) = self.start_of(pieces, run.start);
        let consumed = start + parsed.consumed;
        // What was open may have swallowed pieces behind the run.
        let behind =
            run.end + list[run.end..].iter().take_while(|piece| self.change.moved(pieces.at(piece)) < consumed).count();
        let count = |pieces: &[Chunk]| pieces.iter().map(|piece| piece.children as usize).sum::<usize>();
        let (before_members, old_members) = (count(&list[..run.start]), count(&list[run.start..behind]));
        let by = signed(start) - signed(pieces.start);
        let mut members = green.members();
        for member in &mut members[before_members + old_members..] {
            member.key.offset = shift(member.key.offset, self.change.by);
            if let Some(value) = &mut member.value {
                value.offset = shift(value.offset, self.change.by);
            }
        }
        let fresh = parsed.members.into_iter().map(|member| chunks::moved(member, by));
        members.splice(before_members..before_members + old_members, fresh);
        let mut new_list = Vec::with_capacity(list.len());
        new_list.extend_from_slice(&list[..run.start]);
        new_list.extend(parsed.pieces.into_iter().map(|piece| Chunk {
            offset: offset32(usize::try_from(signed(piece.offset as usize) + by).unwrap_or_default()),
            ..piece
        }));
        new_list.extend(list[behind..].iter().map(|piece| Chunk {
            offset: offset32(usize::try_from(signed(piece.offset as usize) + self.change.by).unwrap_or_default()),
            ..piece.clone()
        }));
        let end = if kind.is_flow() {
            self.change.moved(pieces.start + green.len as usize) - pieces.start
        } else if behind == list.len() {
            let kept = members[..before_members].iter().map(member_end).max().unwrap_or(0);
            kept.max(usize::try_from(signed(parsed.end) + by).unwrap_or_default())
        } else {
            self.change.moved(pieces.start + green.len as usize) - pieces.start
        };
        let level = ChunkedBlock { column: pieces.level.column, pieces: new_list };
        chunks::collection(members, level, kind, end)
    }

    /// Where a piece begins now, and its column. Only the first line of the change may have moved its piece.
    fn start_of(&self, pieces: &PositionedChunks<'_>, index: usize) -> (usize, usize) {
        let piece = &pieces.level.pieces[index];
        let old = pieces.at(piece);
        if old < self.change.start || index == 0 {
            return (old, piece.column as usize);
        }
        let line = self.text.slice(Span::new(self.change.start, line_end(self.text, self.change.start)));
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        (self.change.start + blanks, blanks)
    }
}

/// What a level at a place leaves open at its end.
fn open_in(green: &GreenNode, start: usize) -> Option<UnclosedChunk> {
    let piece = green.level()?.pieces.iter().find(|piece| piece.open.is_some())?;
    piece.open.as_ref().map(|open| open.shifted(start + piece.offset as usize))
}

/// The pieces of a level at their places in the old text.
struct PositionedChunks<'g> {
    level: &'g ChunkedBlock,
    start: usize,
    end: usize,
}

impl PositionedChunks<'_> {
    fn at(&self, piece: &Chunk) -> usize {
        self.start + piece.offset as usize
    }

    /// Where the line of a piece begins; behind the last one, where the level ends.
    fn line_of(&self, index: usize) -> usize {
        self.level.pieces.get(index).map_or(self.end, |piece| self.at(piece) - piece.column as usize)
    }
}

#[derive(Clone, Copy)]
struct ChunkRange {
    first: usize,
    /// Closer the last.
    behind: usize,
    /// Whether a line beside the change begins a piece since then, or does no more.
    flipped: bool,
}

/// The beginning of the line an offset stands in.
fn line_start(text: &(impl TextSlices + ?Sized), offset: usize) -> usize {
    let mut width = 256;
    loop {
        let start = text.floor_char(offset.saturating_sub(width));
        let window = text.slice(Span::new(start, offset));
        match window.rfind('\n') {
            Some(at) => return start + at + 1,
            None if start == 0 => return 0,
            None => width *= 4,
        }
    }
}

/// Closer the line an offset stands in, its line break included.
fn line_end(text: &(impl TextSlices + ?Sized), offset: usize) -> usize {
    let mut width = 256;
    loop {
        let end = text.floor_char((offset + width).min(text.len()));
        let window = text.slice(Span::new(offset, end.max(offset)));
        match window.find('\n') {
            Some(at) => return offset + at + 1,
            None if end >= text.len() => return text.len(),
            None => width *= 4,
        }
    }
}

fn signed(offset: usize) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}
