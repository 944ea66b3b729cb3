//! Document highlights: the uses of a symbol in one file.

use std::sync::Arc;

use crate::ide::Analysis;
use crate::ide::shared::cursor::target_at;
use crate::ide::shared::symbol::symbol_of;
use crate::ide::shared::uses::uses;
use crate::text::Span;

/// A use of the symbol under the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Highlight {
    /// The name.
    pub span: Span,
    /// Whether it is a use or a declaration.
    pub kind: HighlightKind,
}

/// The kind of a highlight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HighlightKind {
    /// A use.
    Read,
    /// A declaration.
    Write,
}

/// The uses in the file of the symbol at an offset.
pub fn highlights(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Vec<Highlight> {
    let Some(symbol) = target_at(analysis, file, offset).and_then(|it| symbol_of(analysis, &it.target)) else {
        return Vec::new();
    };
    let kind = |declares| if declares { HighlightKind::Write } else { HighlightKind::Read };
    let all = uses(analysis, &symbol, Some(file)).into_iter();
    all.map(|it| Highlight { span: it.location.span, kind: kind(it.declares) }).collect()
}
