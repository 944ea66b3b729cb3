//! GitHub workflow commands, which annotate the lines of a pull request.

use std::io::{self, Write};

use crate::diagnostic::Severity;
use crate::report::findings::Report;

/// Writes a command for each finding.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    for it in &report.findings {
        let command = match it.level {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "notice",
        };
        let (start, end) = (it.range.start, it.range.end);
        write!(
            out,
            "::{command} title={},file={},",
            property(&format!("podlens ({})", it.rule)),
            property(&it.repository_file)
        )?;
        write!(out, "line={},endLine={}", start.line, end.line)?;
        // GitHub refuses columns where the two lines differ.
        if start.line == end.line {
            write!(out, ",col={},endColumn={}", start.column, end.column)?;
        }
        let place = format!("{}:{}:{}", it.repository_file, start.line, start.column);
        let help = it.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        writeln!(out, "::{}", data(&format!("{place}: {}{help}", it.message)))?;
    }
    Ok(())
}

/// Escapes a message: a line ending would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, which `:` and `,` would end too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_properties_are_escaped() {
        assert_eq!(data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
        assert_eq!(property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
    }
}
