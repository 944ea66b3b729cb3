//! Find references: the uses of a symbol in all files.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::cursor::target_at;
use crate::ide::shared::symbol::symbol_of;
use crate::ide::shared::uses::uses;

/// The uses of the symbol at an offset, sorted by location; with `declarations`, its declarations too.
pub fn references(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize, declarations: bool) -> Vec<Location> {
    let Some(symbol) = target_at(analysis, file, offset).and_then(|it| symbol_of(analysis, &it.target)) else {
        return Vec::new();
    };
    let all = uses(analysis, &symbol, None).into_iter();
    all.filter(|it| declarations || !it.declares).map(|it| it.location).collect()
}
