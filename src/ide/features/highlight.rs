//! Highlights: the same thing elsewhere in the file.

use std::sync::Arc;

use crate::ide::Analysis;
use crate::ide::shared::cursor::target_at;
use crate::ide::shared::uses::{symbol_of, uses};
use crate::text::Span;

/// A place that means the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Highlight {
    /// Where.
    pub span: Span,
    /// How it is used there.
    pub kind: HighlightKind,
}

/// How a thing is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HighlightKind {
    /// It is used.
    Read,
    /// It is declared.
    Write,
}

/// The places in the file that mean what stands at an offset.
pub fn highlights(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Vec<Highlight> {
    let Some(symbol) = target_at(analysis, file, offset).and_then(|it| symbol_of(analysis, &it.target)) else {
        return Vec::new();
    };
    let kind = |declares| if declares { HighlightKind::Write } else { HighlightKind::Read };
    let all = uses(analysis, &symbol, Some(file)).into_iter();
    all.map(|it| Highlight { span: it.location.span, kind: kind(it.declares) }).collect()
}
