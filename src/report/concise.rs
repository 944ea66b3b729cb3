//! One line per finding: `file:line:column: level[rule] message`.

use std::io::{self, Write};

use anstyle::Style;

use crate::report::findings::Report;
use crate::report::{one_line, summary};

const POSITION: Style = Style::new().bold();

/// Writes the findings, and the summary.
pub fn write(out: &mut dyn Write, report: &Report, quiet: bool) -> io::Result<()> {
    for it in &report.findings {
        let style = summary::style(it.level);
        let place = it.range.start;
        write!(out, "{POSITION}{}{POSITION:#}:{}:{}: ", one_line(&it.file), place.line, place.column)?;
        writeln!(out, "{style}{}[{}]{style:#} {}", it.level.as_str(), it.rule, one_line(&it.message))?;
    }
    if quiet { Ok(()) } else { summary::write(out, report) }
}
