//! Values that differ between the views of a place: equal values are one row, with the names of their views.

use std::sync::Arc;

use crate::build::view_list;
use crate::ide::shared::markup::{Block, Inline};

/// The maximum number of rows.
const MOST_ROWS: usize = 5;

/// Equal values in one row with the names of their views, in the order of the first view of each.
pub(crate) fn grouped<T: PartialEq>(values: impl IntoIterator<Item = (Arc<str>, T)>) -> Vec<(Vec<Arc<str>>, T)> {
    let mut rows: Vec<(Vec<Arc<str>>, T)> = Vec::new();
    for (view, value) in values {
        match rows.iter_mut().find(|(_, it)| *it == value) {
            Some((views, _)) => views.push(view),
            None => rows.push((vec![view], value)),
        }
    }
    rows
}

/// The rows as a list; `None` if all views agree.
pub(crate) fn rows_block(values: impl IntoIterator<Item = (Arc<str>, Vec<Inline>)>) -> Option<Block> {
    let rows = grouped(values);
    if rows.len() < 2 {
        return None;
    }
    let more = rows.len().saturating_sub(MOST_ROWS);
    let row = |(views, value): (Vec<Arc<str>>, Vec<Inline>)| {
        let views = Inline::Strong(view_list(&views));
        [views, Inline::Text(": ".into())].into_iter().chain(value).collect()
    };
    let mut lines: Vec<Vec<Inline>> = rows.into_iter().take(MOST_ROWS).map(row).collect();
    if more > 0 {
        lines.push(vec![Inline::Text(format!("… {more} more values"))]);
    }
    Some(Block::List(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_five_rows_are_shown() {
        let value = |number: usize| (Arc::from(format!("v{number}")), vec![Inline::Code((number / 2).to_string())]);
        assert_eq!(rows_block((0..2).map(value)), None);
        let Some(Block::List(lines)) = rows_block((0..14).map(value)) else { panic!("a list") };
        assert_eq!(lines.len(), MOST_ROWS + 1);
        assert_eq!(lines[0][0], Inline::Strong("v0, v1".into()));
        assert_eq!(lines[5], [Inline::Text("… 2 more values".into())]);
    }
}
