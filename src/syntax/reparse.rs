//! The tree after an edit: reads again the smallest piece the edit stands in, shares everything else.
//!
//! Parsing is a pure function of pieces of text, and where pieces begin is a property of their own lines. So this only
//! finds the pieces whose lines the edit touched and calls the same functions; where it is not sure, it climbs to the
//! piece around them. `reparse(edit) == parse(whole)` is a property test.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use crate::syntax::conflict;
use crate::syntax::cut::{self, Cut, Members};
use crate::syntax::documents::{self, Line, Slot};
use crate::syntax::pieces::{self, Behind, LEAF, Parsed, Part, member_end, offset32};
use crate::syntax::tree::{Entry, Green, GreenDocument, Kind, Level, Piece, Placed, Tree, shift};
use crate::text::{Buffer, Change, Span};

/// A text that can be looked at in parts.
pub trait Source {
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

impl Source for str {
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

impl Source for Buffer {
    fn len(&self) -> usize {
        Buffer::len(self)
    }

    fn slice(&self, span: Span) -> Cow<'_, str> {
        Buffer::slice(self, span)
    }

    fn floor_char(&self, offset: usize) -> usize {
        Buffer::floor(self, offset)
    }
}

impl Tree {
    /// The tree of the text after an edit, from the tree before it.
    pub fn reparse(&self, edit: Change, text: &(impl Source + ?Sized)) -> Tree {
        let change = Touched::new(edit, text);
        self.within_document(&change, text).unwrap_or_else(|| self.by_documents(edit, text))
    }

    /// The edit stands inside one document and moves no boundary.
    fn within_document(&self, change: &Touched, text: &(impl Source + ?Sized)) -> Option<Tree> {
        let index = self.documents.partition_point(|placed| placed.offset as usize <= change.start).checked_sub(1)?;
        let placed = &self.documents[index];
        let start = placed.offset as usize;
        let end = start + placed.it.len as usize;
        // The first line may hold a marker; so may any line of a marked document.
        if change.start == start || change.end > end || placed.it.marked {
            return None;
        }
        let lines = text.slice(Span::new(change.start, change.new_end()));
        if lines
            .split_inclusive('\n')
            .any(|line| matches!(documents::kind(line.as_bytes()), Line::Start | Line::End | Line::Directive))
        {
            return None;
        }
        // The stream may turn into JSON, or back, and the boundaries of JSON documents are their outermost braces.
        let root = placed.it.root.as_ref()?;
        let first = start + root.offset as usize;
        let moves_brace = || {
            !root.it.is_flow()
                || change.end > first + root.it.len as usize
                || lines.split_inclusive('\n').any(|line| line.starts_with('{'))
        };
        if change.start <= first || (self.json && moves_brace()) {
            return None;
        }
        let new_end = change.moved(end);
        let green = if new_end - start > LEAF
            && !lines.lines().any(conflict::is_marker)
            && let Some(root) = relevel_root(&placed.it, start, change, text)
        {
            root
        } else {
            let slot = Slot { span: Span::new(0, new_end - start), marked: false };
            documents::document(&text.slice(Span::new(start, new_end)), &slot)
        };
        let mut documents = self.documents.clone();
        documents[index] = Placed::new(placed.offset, green);
        for later in &mut documents[index + 1..] {
            later.offset = shift(later.offset, change.by);
        }
        Some(Tree { documents, len: text.len(), json: self.json })
    }

    /// Cuts the stream again and keeps the documents the edit did not touch.
    fn by_documents(&self, edit: Change, text: &(impl Source + ?Sized)) -> Tree {
        let whole = text.slice(Span::new(0, text.len()));
        let by = signed(edit.new_len) - signed(edit.old.len());
        let documents = documents::cut(&whole)
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
                    let it = &self.documents[at].it;
                    (it.len as usize == slot.span.len() && it.marked == slot.marked).then(|| Arc::clone(it))
                });
                let it = kept.unwrap_or_else(|| Arc::new(documents::document(&whole, slot)));
                Placed { offset: offset32(slot.span.start), it }
            })
            .collect();
        Tree { documents, len: text.len(), json: documents::is_json(&whole) }
    }
}

/// An edit widened to whole lines.
struct Touched {
    /// The first byte of the first line.
    start: usize,
    /// Behind the last line, in the old text.
    end: usize,
    /// How far everything behind it moved.
    by: i64,
    /// Where the edit itself begins.
    edit: usize,
}

impl Touched {
    fn new(edit: Change, text: &(impl Source + ?Sized)) -> Self {
        let by = signed(edit.new_len) - signed(edit.old.len());
        let start = line_start(text, edit.old.start);
        let new_end = line_end(text, edit.old.start + edit.new_len);
        let end = usize::try_from(signed(new_end) - by).unwrap_or_default();
        Self { start, end, by, edit: edit.old.start }
    }

    /// A place behind the change, in the new text.
    fn moved(&self, offset: usize) -> usize {
        usize::try_from(signed(offset) + self.by).unwrap_or_default()
    }

    fn new_end(&self) -> usize {
        self.moved(self.end)
    }
}

fn relevel_root(
    document: &GreenDocument,
    start: usize,
    change: &Touched,
    text: &(impl Source + ?Sized),
) -> Option<GreenDocument> {
    let root = document.root.as_ref()?;
    if !document.errors.is_empty() {
        return None;
    }
    let root_start = start + root.offset as usize;
    let end = start + document.len as usize;
    // What kind of level it is must be plain from its first line.
    let (level, kind) = root.it.cut()?;
    if !kind.is_flow() {
        let first = text.slice(Span::new(root_start, line_end(text, root_start)));
        if !is_member(first.trim_end(), kind) || level.pieces.first()?.offset != 0 {
            return None;
        }
    }
    let green =
        Relevel { text, change, is_root: true, clean: &Cell::default() }.collection(&root.it, root_start, end)?;
    Some(GreenDocument {
        len: offset32(change.moved(end) - start),
        root: Some(Placed::new(root.offset, green)),
        ..Default::default()
    })
}

fn is_member(line: &str, kind: Members) -> bool {
    match kind {
        Members::Entries => cut::key(line).is_some(),
        Members::Items => line == "-" || line.starts_with("- "),
        Members::FlowEntries | Members::FlowItems => true,
    }
}

/// Whether a line that began a piece still does. The first piece of a level may begin behind a dash.
fn still_begins(line: &cut::Line<'_>, text: &str, index: usize, column: usize, kind: Members) -> bool {
    if index == 0 {
        return line.content == 0 && is_member(line.text, kind);
    }
    let blanks = &text[..line.content];
    // A line indented by tabs stands nowhere, except between brackets.
    (kind.is_flow() || !blanks.contains('\t')) && cut::begins_at(line, blanks.len(), column, kind)
}

struct Relevel<'t, S: ?Sized> {
    text: &'t S,
    change: &'t Touched,
    /// Whether no level is around it.
    is_root: bool,
    /// Where the pieces that were read again begin.
    clean: &'t Cell<Cut>,
}

impl<S: Source + ?Sized> Relevel<'_, S> {
    /// The collection at `start` after the change. `end` is where the text of the piece that holds it ended.
    fn collection(&self, green: &Green, start: usize, end: usize) -> Option<Green> {
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
        let pieces = Pieces { level, start, end };
        let run = self.run(&pieces, kind)?;
        let parsed = self.read(green, &pieces, run, kind)?;
        // A piece at a strange column may belong to a level around this one.
        let is_strange = |piece: &Piece| piece.column != level.column;
        if !self.is_root && level.pieces.iter().chain(&parsed.pieces).any(is_strange) {
            return None;
        }
        Some(self.splice(green, &pieces, run.first..run.behind, parsed, kind))
    }

    /// The pieces the change touches.
    fn run(&self, pieces: &Pieces<'_>, kind: Members) -> Option<Run> {
        let change = self.change;
        let list = &pieces.level.pieces;
        let column = pieces.level.column as usize;
        if change.end > pieces.end {
            return None;
        }
        let behind = list.partition_point(|piece| pieces.at(piece) < change.end);
        let before = list.partition_point(|piece| pieces.at(piece) < change.start);
        let text_start = self.change.start.max(pieces.at(list.first()?));
        if before == 0 && change.edit < pieces.at(list.first()?) {
            return None;
        }
        // The line the change begins on still begins a piece: the piece before it is as it was.
        let text_of_line = self.text.slice(Span::new(text_start, line_end(self.text, text_start)));
        let mut first = match cut::lines(&text_of_line, column).next() {
            Some(line)
                if before < behind
                    && (before == 0 || pieces.line_of(before) == change.start)
                    && still_begins(&line, &text_of_line, before, column, kind) =>
            {
                before
            }
            _ => before.checked_sub(1)?,
        };
        while let Some(earlier) = (0..first).rev().find(|earlier| {
            let piece = &list[*earlier];
            piece.reach > 0 && pieces.line_of(earlier + 1) + piece.reach as usize > change.start
        }) {
            first = earlier;
        }
        let mut behind = behind.max(first + 1);
        // Whether a piece at a strange column is told depends on the piece before it.
        while list.get(behind).is_some_and(|piece| piece.column as usize != column) {
            behind += 1;
        }
        Some(Run { first, behind })
    }

    /// Reads a run of pieces again.
    fn read(&self, green: &Green, pieces: &Pieces<'_>, run: Run, kind: Members) -> Option<Parsed> {
        let list = &pieces.level.pieces;
        let last = run.behind == list.len();
        let column = pieces.level.column as usize;
        if run.behind == run.first + 1
            && let Some(parsed) = self.inside(green, pieces, run.first, kind, last)
        {
            return Some(parsed);
        }
        let (start, first) = self.start_of(pieces, run.first);
        self.clean.set(Cut { line: start - first, start, column: first });
        let limit = self.change.moved(pieces.line_of(run.behind));
        let before = run.first.checked_sub(1).map(|before| list[before].column as usize);
        let part = |text: &str, followed: bool| {
            let limit = limit - start;
            Part { text, limit, first, column, kind, before, followed }.read(0)
        };
        let mut parsed = part(&self.text.slice(Span::new(start, limit)), !last);
        if !last && parsed.open {
            // Perhaps it is closed further on.
            let level_end = self.change.moved(pieces.end);
            let far = (limit + cut::REACH).min(level_end);
            let far = pieces
                .lines_from(run.behind)
                .map(|line| self.change.moved(line))
                .find(|line| *line >= far)
                .unwrap_or(level_end);
            parsed = part(&self.text.slice(Span::new(start, far)), far < level_end);
        }
        let broken =
            parsed.pieces.iter().any(|piece| !piece.errors.is_empty()) || parsed.members.iter().any(pieces::is_broken);
        if broken && !self.is_root {
            let text = self.text.slice(Span::new(start, limit));
            if cut::escapes(&text, column, kind) {
                return None;
            }
        }
        Some(parsed)
    }

    /// The change stands inside one piece that was divided: only the level in it is read again.
    fn inside(&self, green: &Green, pieces: &Pieces<'_>, index: usize, kind: Members, last: bool) -> Option<Parsed> {
        let piece = &pieces.level.pieces[index];
        let start = pieces.at(piece);
        let end = pieces.line_of(index + 1);
        if piece.children != 1 || !piece.errors.is_empty() || self.change.moved(end) <= start + LEAF {
            return None;
        }
        let children_before: usize = pieces.level.pieces[..index].iter().map(|piece| piece.children as usize).sum();
        let member = match &green.kind {
            Kind::Mapping { entries, .. } => entries.get(children_before)?.clone(),
            Kind::Sequence { items, .. } => Entry { key: items.get(children_before)?.clone(), value: None },
            _ => return None,
        };
        let nested = member.value.as_ref().unwrap_or(&member.key);
        let nested_start = pieces.start + nested.offset as usize;
        let first_line_end = line_end(self.text, start);
        let on_head = self.change.start < first_line_end;
        // The head must stay what it is. `- key: value` has its level on the same line.
        if on_head && (kind != Members::Items || nested_start >= first_line_end || self.change.edit < nested_start) {
            return None;
        }
        if self.begins_anything(pieces.level.column as usize, kind, on_head) {
            return None;
        }
        let (level, nested_kind) = nested.it.cut()?;
        if !nested_kind.is_flow() {
            // That a word without a colon begins a level is told by the lines below it.
            let first = self.text.slice(Span::new(nested_start, line_end(self.text, nested_start)));
            if level.pieces.first()?.offset != 0 || !is_member(first.trim_end(), nested_kind) {
                return None;
            }
        }
        let relevel = Relevel { is_root: false, ..*self };
        let green = relevel.collection(&nested.it, nested_start, end)?;
        let mut reach = 0;
        if green.marks.error && !last {
            // What was healthy leaves nothing open, up to the pieces that were read again.
            let whole = Cut { line: start - piece.column as usize, start, column: piece.column as usize };
            let from = if nested.it.marks.error { whole } else { self.clean.get() };
            let near = self.change.moved(pieces.line_of(index + 1 + cut::SPREAD));
            let end = self.change.moved(end);
            let limit = self.text.floor_char((end + cut::REACH).min(near));
            let text = self.text.slice(Span::new(from.start, limit));
            let whole = limit == self.change.moved(pieces.end);
            reach = match pieces::behind(&text, from, &self.cuts(pieces, index + 1, limit), whole) {
                Behind::Nothing => 0,
                Behind::Unknown => limit - end,
                Behind::Pieces(_) => return None,
            };
        }
        let by = -signed(start);
        let nested_end = nested_start + green.len as usize - start;
        let nested = Placed::new(offset32(nested_start - start), green);
        let moved = |placed: &Placed<Green>| Placed {
            offset: offset32(usize::try_from(signed(pieces.start + placed.offset as usize) + by).unwrap_or_default()),
            it: Arc::clone(&placed.it),
        };
        let member = match &member.value {
            Some(_) => Entry { key: moved(&member.key), value: Some(nested) },
            None => Entry { key: nested, value: None },
        };
        let piece = Piece { offset: 0, errors: Vec::new(), reach: offset32(reach), ..piece.clone() };
        let consumed = self.change.moved(end) - start;
        Some(Parsed { members: vec![member], pieces: vec![piece], end: nested_end, consumed, open: false })
    }

    /// Where pieces behind the change begin now, as far as a limit.
    fn cuts(&self, pieces: &Pieces<'_>, from: usize, limit: usize) -> Vec<Cut> {
        let list = pieces.level.pieces.get(from..).unwrap_or_default();
        let cuts = list.iter().map(|piece| {
            let start = self.change.moved(pieces.at(piece));
            Cut { line: start - piece.column as usize, start, column: piece.column as usize }
        });
        cuts.take_while(|cut| cut.line <= limit).collect()
    }

    /// Whether a line of the change begins a piece at a column; the first line is known to if it is a head.
    fn begins_anything(&self, column: usize, kind: Members, on_head: bool) -> bool {
        let lines = self.text.slice(Span::new(self.change.start, self.change.new_end()));
        let first = lines.len() - lines.trim_start_matches(' ').len();
        cut::lines(&lines, first).any(|line| !(on_head && line.start == 0) && cut::begins(&line, column, kind))
    }

    /// The collection with a run of its pieces replaced.
    fn splice(
        &self,
        green: &Green,
        pieces: &Pieces<'_>,
        run: std::ops::Range<usize>,
        parsed: Parsed,
        kind: Members,
    ) -> Green {
        let list = &pieces.level.pieces;
        let (start, _) = self.start_of(pieces, run.start);
        let consumed = start + parsed.consumed;
        // What was open may have swallowed pieces behind the run.
        let behind =
            run.end + list[run.end..].iter().take_while(|piece| self.change.moved(pieces.at(piece)) < consumed).count();
        let count = |pieces: &[Piece]| pieces.iter().map(|piece| piece.children as usize).sum::<usize>();
        let (before_members, old_members) = (count(&list[..run.start]), count(&list[run.start..behind]));
        let by = signed(start) - signed(pieces.start);
        let mut members = green.members();
        for member in &mut members[before_members + old_members..] {
            member.key.offset = shift(member.key.offset, self.change.by);
            if let Some(value) = &mut member.value {
                value.offset = shift(value.offset, self.change.by);
            }
        }
        let fresh = parsed.members.into_iter().map(|member| pieces::moved(member, by));
        members.splice(before_members..before_members + old_members, fresh);
        let mut new_list = Vec::with_capacity(list.len());
        new_list.extend_from_slice(&list[..run.start]);
        new_list.extend(parsed.pieces.into_iter().map(|piece| Piece {
            offset: offset32(usize::try_from(signed(piece.offset as usize) + by).unwrap_or_default()),
            ..piece
        }));
        new_list.extend(list[behind..].iter().map(|piece| Piece {
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
        let level = Level { column: pieces.level.column, pieces: new_list };
        pieces::green(members, level, kind, end)
    }

    /// Where a piece begins now, and its column. Only the first line of the change may have moved its piece.
    fn start_of(&self, pieces: &Pieces<'_>, index: usize) -> (usize, usize) {
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

/// The pieces of a level at their places in the old text.
struct Pieces<'g> {
    level: &'g Level,
    start: usize,
    end: usize,
}

impl Pieces<'_> {
    fn at(&self, piece: &Piece) -> usize {
        self.start + piece.offset as usize
    }

    /// Where the line of a piece begins; behind the last one, where the level ends.
    fn line_of(&self, index: usize) -> usize {
        self.level.pieces.get(index).map_or(self.end, |piece| self.at(piece) - piece.column as usize)
    }

    fn lines_from(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        (index..self.level.pieces.len()).map(|index| self.line_of(index))
    }
}

#[derive(Clone, Copy)]
struct Run {
    first: usize,
    /// Behind the last.
    behind: usize,
}

/// The beginning of the line an offset stands in.
fn line_start(text: &(impl Source + ?Sized), offset: usize) -> usize {
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

/// Behind the line an offset stands in, its line break included.
fn line_end(text: &(impl Source + ?Sized), offset: usize) -> usize {
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
