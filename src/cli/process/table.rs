//! The table of `podlens process --parameters`.

use std::collections::HashMap;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::build::ParameterView;
use crate::report::one_line;

/// Writes the table. Display names and types have columns only if the template has some.
///
/// Each parameter has one row, with the value that is used: of two declarations the last (T8.3), and a `value` rather
/// than a generator (T8.4). A generated parameter has the expression it is generated from.
pub(super) fn write(out: &mut dyn Write, parameters: &[ParameterView]) -> io::Result<()> {
    let text = |it: &Option<String>| it.as_deref().map(|it| one_line(it).into_owned()).unwrap_or_default();
    let row = |it: &ParameterView| {
        let value = text(&it.value);
        let generate = if value.is_empty() { text(&it.generate) } else { String::new() };
        let value = if generate.is_empty() { value } else { text(&it.from) };
        let required = if it.required { "yes" } else { "" };
        let (display_name, description, type_) = (text(&it.display_name), text(&it.description), text(&it.type_));
        [it.name.clone(), display_name, description, type_, required.to_owned(), generate, value]
    };
    let last: HashMap<&str, usize> = parameters.iter().enumerate().map(|(at, it)| (&*it.name, at)).collect();
    let mut rows =
        vec![["NAME", "DISPLAY NAME", "DESCRIPTION", "TYPE", "REQUIRED", "GENERATOR", "VALUE"].map(str::to_owned)];
    let used = parameters.iter().enumerate().filter(|(at, it)| last.get(&*it.name) == Some(at));
    rows.extend(used.map(|(_, it)| row(it)));
    let is_shown = |column: usize| !matches!(column, 1 | 3) || rows[1..].iter().any(|it| !it[column].is_empty());
    let width = |column: usize| rows.iter().map(|it| it[column].width()).max().unwrap_or(0);
    let columns: Vec<(usize, usize)> = (0..7).filter(|it| is_shown(*it)).map(|it| (it, width(it))).collect();
    for row in &rows {
        let mut line = String::new();
        for (column, width) in &columns {
            let cell = &row[*column];
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
