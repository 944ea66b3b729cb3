//! Unified diffs, as git writes them.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use crate::report::one_line;

const HEADER: Style = Style::new().bold();
const HUNK: Style = AnsiColor::Cyan.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// Writes the changes of a file. Line endings are kept, so that the diff can be applied.
pub fn write(out: &mut dyn Write, file: &str, old: &str, new: &str) -> io::Result<()> {
    let diff = TextDiff::from_lines(old, new);
    let file = one_line(file);
    writeln!(out, "{HEADER}--- a/{file}{HEADER:#}\n{HEADER}+++ b/{file}{HEADER:#}")?;
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        writeln!(out, "{HUNK}{}{HUNK:#}", hunk.header())?;
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Equal => (' ', Style::new()),
                ChangeTag::Delete => ('-', REMOVED),
                ChangeTag::Insert => ('+', ADDED),
            };
            let line = change.value();
            let content = line.strip_suffix('\n').unwrap_or(line);
            let content = content.strip_suffix('\r').map_or((content, ""), |content| (content, "\r"));
            writeln!(out, "{style}{sign}{}{style:#}{}", content.0, content.1)?;
            if change.missing_newline() {
                writeln!(out, "\\ No newline at end of file")?;
            }
        }
    }
    Ok(())
}
