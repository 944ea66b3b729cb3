//! The table of `podlens process --parameters`.

use std::collections::HashMap;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::build::{ParameterView, ProcessOptions};
use crate::report::one_line;

/// Writes the table. Display names and types have columns only if the template has some.
///
/// Each parameter has one row, with the value that is used: a given one, of two declarations the last (T8.3), and a `value`
/// rather than a generator (T8.4). A given value is set on the first declaration, so that of two declarations it is lost. A
/// generated parameter has the expression it is generated from.
pub(super) fn write(out: &mut dyn Write, parameters: &[ParameterView], given: &ProcessOptions) -> io::Result<()> {
    let text = |it: Option<&String>| it.map(|it| one_line(it).into_owned()).unwrap_or_default();
    let row = |it: &ParameterView| {
        let is_single = parameters.iter().filter(|other| other.name == it.name).count() == 1;
        let given_value = given.values.get(&it.name).filter(|_| is_single);
        let expression = given.expressions.get(&it.name);
        let value = text(given_value.or(it.value.as_ref().filter(|_| expression.is_none())));
        // A given value, even an empty one, disables the generator.
        let is_generated = given_value.is_none() && value.is_empty();
        let generate = if is_generated { text(it.generate.as_ref()) } else { String::new() };
        let value = if generate.is_empty() { value } else { text(expression.or(it.from.as_ref())) };
        let required = if it.required { "yes" } else { "" };
        let (display_name, description) = (text(it.display_name.as_ref()), text(it.description.as_ref()));
        let type_ = text(it.type_.as_ref());
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
