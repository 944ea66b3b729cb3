//! The list of views: as data for JSON, and as a table for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::report::{counted, one_line};

const TITLE: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const OPEN: Style = AnsiColor::Yellow.on_default();

/// Names wider than this do not widen the column.
const WIDEST_NAME: usize = 60;

/// The views, with paths as they are shown.
#[derive(Clone, Debug, Serialize)]
pub struct ViewList {
    /// The version of the format.
    pub schema: &'static str,
    /// The views, sorted by name.
    pub views: Vec<ListedView>,
}

/// A view.
#[derive(Clone, Debug, Serialize)]
pub struct ListedView {
    /// The unique name.
    pub name: String,
    /// `template`, `kustomization` or `chart`.
    pub kind: &'static str,
    /// The directory of the kustomization or chart, or the file of the template.
    pub path: String,
    /// The files that go into it, sorted.
    pub files: Vec<String>,
    /// What is unknown.
    pub unknown: Vec<ListedUnknown>,
}

/// A part of a view that is unknown.
#[derive(Clone, Debug, Serialize)]
pub struct ListedUnknown {
    /// What is unknown.
    pub what: String,
    /// Why.
    pub why: String,
    /// The file that names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Writes a row for each view, and below it what is unknown.
pub fn write(out: &mut dyn Write, list: &ViewList) -> io::Result<()> {
    let rows: Vec<(String, String)> =
        list.views.iter().map(|it| (one_line(&it.name).into_owned(), counted(it.files.len(), "file"))).collect();
    let width = rows.iter().map(|(name, _)| name.width()).filter(|it| *it <= WIDEST_NAME).max().unwrap_or(0);
    let kinds = list.views.iter().map(|it| it.kind.len()).max().unwrap_or(0);
    let counts = rows.iter().map(|(_, files)| files.len()).max().unwrap_or(0);
    for (view, (name, files)) in list.views.iter().zip(&rows) {
        let gap = " ".repeat(width.saturating_sub(name.width()));
        write!(out, "{TITLE}{name}{TITLE:#}{gap}  {:kinds$}  ", view.kind)?;
        // Without further names, the name of a view is its path.
        match view.path == view.name {
            true => writeln!(out, "{files}")?,
            false => writeln!(out, "{files:counts$}  {FAINT}{}{FAINT:#}", one_line(&view.path))?,
        }
        for unknown in &view.unknown {
            let (what, why, file) = (one_line(&unknown.what), one_line(&unknown.why), one_line(&unknown.file));
            writeln!(out, "  {OPEN}? {what}{OPEN:#}: {why}  {FAINT}{file}:{}{FAINT:#}", unknown.line)?;
        }
    }
    Ok(())
}
