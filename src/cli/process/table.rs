//! The table of `podlens process --parameters`.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::build::ParameterView;
use crate::report::one_line;

/// Writes the table. For a generated parameter the value column has the expression it is generated from.
pub(super) fn write(out: &mut dyn Write, parameters: &[ParameterView]) -> io::Result<()> {
    let text = |it: &Option<String>| it.as_deref().map(|it| one_line(it).into_owned()).unwrap_or_default();
    let row = |it: &ParameterView| {
        let generate = text(&it.generate);
        let value = if generate.is_empty() { text(&it.value) } else { text(&it.from) };
        let required = if it.required { "yes" } else { "" };
        [it.name.clone(), text(&it.description), required.to_owned(), generate, value]
    };
    let mut rows = vec![["NAME", "DESCRIPTION", "REQUIRED", "GENERATOR", "VALUE"].map(str::to_owned)];
    rows.extend(parameters.iter().map(row));
    let widths: Vec<usize> = (0..5).map(|at| rows.iter().map(|it| it[at].width()).max().unwrap_or(0)).collect();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
