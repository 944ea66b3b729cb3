//! References: from a thing to its uses, in every file.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::cursor::target;
use crate::ide::shared::uses::{entity, uses};

/// The uses of the thing at an offset, by file and place; with `declarations`, where it is declared too.
pub fn references(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize, declarations: bool) -> Vec<Location> {
    let Some(entity) = target(analysis, file, offset).and_then(|it| entity(analysis, &it.target)) else {
        return Vec::new();
    };
    let all = uses(analysis, &entity, None).into_iter();
    all.filter(|it| declarations || !it.declares).map(|it| it.location).collect()
}
