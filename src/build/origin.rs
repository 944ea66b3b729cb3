//! Where the parts of a built object come from.
//!
//! A built object has positions of its own, which identify its nodes. Positions of nodes that come from the source object
//! are those in the source object, so an object that only gets other values needs no table. Nodes from elsewhere have
//! positions after the end of the source object; a table maps them to their places. Nothing here holds an offset in a
//! file: places are converted when they are shown.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::k8s::{Model, ObjectSpan, TextPiece};
use crate::syntax::ScalarStyle;
use crate::text::Span;

/// What put a part of a built object there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltBy {
    /// It is written in the source object.
    Source,
    /// A patch.
    Patch,
    /// The value of a parameter.
    Parameter,
    /// A label of the template.
    Label,
    /// Processing of a template, which replaces the group of a legacy kind.
    Template,
    /// A PodPreset.
    Preset,
}

impl BuiltBy {
    /// The name in the JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Patch => "patch",
            Self::Parameter => "parameter",
            Self::Label => "label",
            Self::Template => "template",
            Self::Preset => "preset",
        }
    }
}

/// A source object, independent of its position in the file. A snapshot finds its position.
#[derive(Clone, Debug)]
pub struct SourceObject {
    /// The file.
    pub file: Arc<str>,
    /// The object.
    pub model: Arc<Model>,
}

/// Where a node comes from.
#[derive(Clone, Debug)]
pub enum Place {
    /// A span of the source object.
    Own(ObjectSpan),
    /// A span of another object.
    Other(Arc<SourceObject>, ObjectSpan),
    /// A key or a value of the `labels` of the template that contains the object.
    TemplateLabel {
        /// The key of the label.
        key: Arc<str>,
        /// Whether it is the value.
        is_value: bool,
    },
}

/// The places of the nodes of a built object.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// Nodes that are not at their position in the source object, sorted by `start`.
    regions: Vec<GraftedRegion>,
    /// Scalars whose text is not the written one, by the position of the node.
    texts: BTreeMap<usize, BuiltText>,
    /// Nodes of the source object that something other than the source decides, by position.
    authors: BTreeMap<usize, BuiltBy>,
}

/// A range of positions that maps to another place.
#[derive(Clone, Debug)]
struct GraftedRegion {
    start: usize,
    len: usize,
    place: Place,
    by: BuiltBy,
}

/// A scalar whose text is not the written one.
#[derive(Clone, Debug)]
pub struct BuiltText {
    /// The text as written at the place of the node.
    pub written: Arc<str>,
    /// The style of the written scalar.
    pub style: ScalarStyle,
    /// The pieces of the new text, in order.
    pub pieces: Vec<TextPiece>,
}

impl BuiltText {
    /// The piece at an offset of the new text, and the offset of its start.
    fn piece_at(&self, offset: usize) -> Option<(&TextPiece, usize)> {
        let mut start = 0;
        for piece in &self.pieces {
            if offset < start + piece.text.len() {
                return Some((piece, start));
            }
            start += piece.text.len();
        }
        self.pieces.last().map(|piece| (piece, start - piece.text.len()))
    }

    /// The range in the written text that a range of the new text comes from. Of an inserted value it is the reference.
    pub fn written_range(&self, range: Range<usize>) -> Range<usize> {
        let bound = |offset: usize, is_end: bool| match self.piece_at(offset.saturating_sub(usize::from(is_end))) {
            Some((TextPiece { parameter: None, written, .. }, start)) => {
                written.start + (offset - start).min(written.len())
            }
            Some((piece, _)) if is_end => piece.written.end,
            Some((piece, _)) => piece.written.start,
            None => 0,
        };
        let start = bound(range.start, false);
        start..bound(range.end, range.end > range.start).max(start)
    }

    /// The offset in the new text of an offset in the written text. In a reference it is the start of the inserted value.
    pub fn built_offset(&self, written: usize) -> usize {
        let mut start = 0;
        for piece in &self.pieces {
            if written < piece.written.end || (written == piece.written.end && piece.parameter.is_none()) {
                return match piece.parameter {
                    Some(_) => start,
                    None => start + written.saturating_sub(piece.written.start),
                };
            }
            start += piece.text.len();
        }
        start
    }
}

impl Origins {
    /// The first position after those of the source object and of all regions.
    fn end(&self, source_len: usize) -> usize {
        self.regions.last().map_or(source_len + 1, |it| it.start + it.len + 1)
    }

    /// Reserves positions for a node from elsewhere.
    pub(super) fn add_region(&mut self, source_len: usize, len: usize, place: Place, by: BuiltBy) -> usize {
        let start = self.end(source_len);
        self.regions.push(GraftedRegion { start, len, place, by });
        start
    }

    pub(super) fn add_text(&mut self, position: usize, text: BuiltText) {
        self.texts.insert(position, text);
    }

    pub(super) fn set_author(&mut self, position: usize, by: BuiltBy) {
        self.authors.insert(position, by);
    }

    /// The text of a scalar at a span, if it is not the written one.
    pub fn text(&self, span: ObjectSpan) -> Option<&BuiltText> {
        self.texts.get(&span.to_relative().start)
    }

    /// The place of a span, and what put it there.
    pub fn place(&self, span: ObjectSpan) -> (Place, BuiltBy) {
        let relative = span.to_relative();
        let next = self.regions.partition_point(|region| region.start <= relative.start);
        if let Some(region) = next.checked_sub(1).map(|at| &self.regions[at])
            && relative.start - region.start <= region.len
        {
            let place = match &region.place {
                Place::Other(object, at) => Place::Other(Arc::clone(object), within(*at, relative, region.start)),
                Place::Own(at) => Place::Own(within(*at, relative, region.start)),
                label @ Place::TemplateLabel { .. } => label.clone(),
            };
            return (place, region.by);
        }
        (Place::Own(span), self.authors.get(&relative.start).copied().unwrap_or(BuiltBy::Source))
    }
}

/// A span of a region as a span of its place.
fn within(place: ObjectSpan, span: Span, region: usize) -> ObjectSpan {
    ObjectSpan::relative(span.relative_to(region).shifted(place.to_relative().start))
}
