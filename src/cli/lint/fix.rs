//! `--fix`: applies edits that do not touch each other, in rounds, until no fix is left.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use crate::cli::lint::Arguments;
use crate::cli::lint::project::{Checked, Project};
use crate::diagnostic::{Diagnostic, Edit, Fix};

/// A fix can enable another one. More rounds than this mean that two fixes undo each other.
const ROUNDS: usize = 20;

/// The result of fixing.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The number of findings that are fixed.
    pub(super) fixed: usize,
}

/// Applies fixes in memory and checks again. `checked` becomes the remaining findings.
pub(super) fn run(project: &mut Project, checked: &mut Checked, arguments: &Arguments) -> Outcome {
    let before = checked.diagnostics.len();
    let mut given_up: Vec<Arc<str>> = Vec::new();
    for _ in 0..ROUNDS {
        let may = |file: &str| {
            project.loaded.reported.iter().any(|it| **it == *file) && !given_up.iter().any(|it| **it == *file)
        };
        let edits = select(&checked.diagnostics, arguments.unsafe_fixes, &may);
        if edits.is_empty() {
            break;
        }
        for (file, edits) in edits {
            let Some(text) = project.text(&file) else { continue };
            let errors =
                |project: &Project| project.loaded.workspace.snapshot().file(&file).map_or(0, |it| it.errors.len());
            let were = errors(project);
            let changed = apply(&text, &edits).map(Arc::<str>::from).filter(|new| *new != text);
            let Some(new) = changed else {
                given_up.push(file);
                continue;
            };
            project.change(&file, Arc::clone(&text), new.clone());
            if errors(project) > were {
                // A fix that breaks the syntax is undone.
                project.change(&file, new, text);
                given_up.push(file);
            }
        }
        *checked = project.check(arguments);
    }
    Outcome { fixed: before.saturating_sub(checked.diagnostics.len()) }
}

/// The edits of the first applicable fix of each finding, by file. An edit that touches another waits for the next round;
/// equal fixes of several findings are applied once.
fn select(findings: &[Diagnostic], with_unsafe: bool, may: &dyn Fn(&str) -> bool) -> BTreeMap<Arc<str>, Vec<Edit>> {
    let mut chosen: BTreeMap<Arc<str>, Vec<Edit>> = BTreeMap::new();
    let mut fixes: Vec<&Fix> = Vec::new();
    for finding in findings {
        // The best fix comes first, but an unsafe one is skipped in favour of a safe one.
        let usable = |fix: &&Fix| (fix.safe || with_unsafe) && !fix.edits.is_empty();
        let Some(fix) = finding.fixes.iter().find(usable) else { continue };
        let clashes = |edit: &Edit| {
            let taken = chosen.get(&edit.location.file).into_iter().flatten();
            !may(&edit.location.file) || taken.into_iter().any(|it| touch(it, edit))
        };
        if fixes.iter().any(|it| it.edits == fix.edits) || fix.edits.iter().any(clashes) {
            continue;
        }
        for edit in &fix.edits {
            chosen.entry(Arc::clone(&edit.location.file)).or_default().push(edit.clone());
        }
        fixes.push(fix);
    }
    chosen
}

fn touch(one: &Edit, other: &Edit) -> bool {
    let (one, other) = (one.location.span, other.location.span);
    one.start <= other.end && other.start <= one.end
}

/// The text after the edits, with the line endings it has. `None` if an edit does not fit the text.
fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|it| it.location.span);
    let crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        let span = edit.location.span;
        result.push_str(text.get(at..span.start)?);
        text.get(span.range())?;
        if crlf {
            result.push_str(&edit.text.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            result.push_str(&edit.text);
        }
        at = span.end;
    }
    result.push_str(text.get(at..)?);
    Some(result)
}

/// Replaces a file as a whole or not at all. Permissions are kept, and a link remains a link.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let permissions = fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".podlens-").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Location, Severity};
    use crate::text::Span;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { location: Location { file: "a".into(), span: Span::new(start, end) }, text: text.into() }
    }

    fn finding(fixes: &[(bool, Vec<Edit>)]) -> Diagnostic {
        let fix = |(safe, edits): &(bool, Vec<Edit>)| Fix { title: String::new(), safe: *safe, edits: edits.clone() };
        Diagnostic {
            rule: "x",
            severity: Severity::Error,
            name: String::new(),
            message: String::new(),
            help: None,
            location: Location { file: "a".into(), span: Span::new(0, 0) },
            related: Vec::new(),
            fixes: fixes.iter().map(fix).collect(),
            object: None,
            built_object: None,
            views: Vec::new(),
            path: None,
            unnecessary: false,
        }
    }

    #[test]
    fn edits_are_applied_in_order_and_keep_line_ends() {
        assert_eq!(apply("abc", &[edit(2, 3, "C"), edit(0, 1, "A")]).as_deref(), Some("AbC"));
        assert_eq!(apply("a\r\nb", &[edit(3, 3, "x\ny\r\n")]).as_deref(), Some("a\r\nx\r\ny\r\nb"));
        assert_eq!(apply("aé", &[edit(2, 3, "")]), None);
        assert_eq!(apply("a", &[edit(0, 9, "")]), None);
    }

    #[test]
    fn fixes_that_touch_wait_and_equal_ones_count_once() {
        let all = |findings: &[Diagnostic], with_unsafe| {
            select(findings, with_unsafe, &|_| true).into_values().flatten().collect::<Vec<_>>()
        };
        let first = finding(&[(true, vec![edit(0, 2, "x"), edit(8, 9, "y")])]);
        let touching = finding(&[(true, vec![edit(2, 3, "z")])]);
        let apart = finding(&[(true, vec![edit(4, 5, "w")])]);
        let chosen = all(&[first.clone(), first.clone(), touching, apart], false);
        assert_eq!(chosen, [edit(0, 2, "x"), edit(8, 9, "y"), edit(4, 5, "w")]);
        let unsure = finding(&[(false, vec![edit(0, 1, "u")]), (true, vec![edit(0, 1, "s")])]);
        assert_eq!(all(std::slice::from_ref(&unsure), false), [edit(0, 1, "s")]);
        assert_eq!(all(&[unsure], true), [edit(0, 1, "u")]);
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.yaml");
        fs::write(&path, "old").expect("written");
        let before = fs::metadata(&path).expect("there").permissions();
        replace(&path, "new").expect("replaced");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "new");
        assert_eq!(fs::metadata(&path).expect("there").permissions(), before);
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }
}
