//! `--fix`: applies edits that do not touch each other, in rounds, until no fix is left.
//!
//! A safe fix is applied as it is. A fix that may change the meaning is applied only if no new warning or error results from
//! it, so that of two fixes that need each other's text at most one is applied. Suppression comments are corrected first.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

use crate::cli::lint::Arguments;
use crate::cli::lint::project::{Checked, Project};
use crate::cli::notice;
use crate::diagnostic::{Diagnostic, Edit, Fix, Severity};

/// A fix can enable another one. More rounds than this mean that two fixes undo each other.
const ROUNDS: usize = 20;
/// Unsafe fixes are tried together, and one by one where they do not fit. After this many failures the rest is left.
const FAILURES: usize = 200;

/// The result of fixing.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The number of findings that are fixed.
    pub(super) fixed: usize,
    /// Whether a file could not be written.
    pub(super) failed: bool,
}

/// Applies fixes in memory, and with `--fix` writes the files. `checked` becomes the remaining findings.
///
/// A file that cannot be written is left out, with all fixes that change it too, and a notice says so.
pub(super) fn run(project: &mut Project, checked: &mut Checked, arguments: &Arguments) -> Outcome {
    let before = count(&checked.diagnostics, Severity::Hint);
    let mut fixer = Fixer { project, checked, arguments, unwritable: BTreeMap::new(), given_up: HashSet::new() };
    fixer.apply_all();
    while arguments.fix && !fixer.write() {
        fixer.revert();
        fixer.apply_all();
    }
    let unwritable = std::mem::take(&mut fixer.unwritable);
    for (file, reason) in &unwritable {
        let is_fixable = |it: &&Diagnostic| usable_fix(it, true).or(usable_fix(it, arguments.unsafe_fixes)).is_some();
        let findings = checked.diagnostics.iter().filter(|it| it.location.file == *file);
        let left = match findings.filter(is_fixable).count() {
            1 => "1 finding is not fixed".to_owned(),
            several => format!("{several} findings are not fixed"),
        };
        notice(format_args!("{}: cannot be written: {reason}; {left}", project.loaded.display(file)));
    }
    let after = count(&checked.diagnostics, Severity::Hint);
    let fixed = before.iter().map(|(key, number)| number.saturating_sub(after.get(key).copied().unwrap_or(0))).sum();
    Outcome { fixed, failed: !unwritable.is_empty() }
}

struct Fixer<'p> {
    project: &'p mut Project,
    checked: &'p mut Checked,
    arguments: &'p Arguments,
    /// Files that cannot be written, with the reason.
    unwritable: BTreeMap<Arc<str>, String>,
    /// Files in which an edit has no effect or breaks the syntax.
    given_up: HashSet<Arc<str>>,
}

impl Fixer<'_> {
    fn apply_all(&mut self) {
        self.apply_safe();
        if self.arguments.unsafe_fixes {
            self.apply_unsafe();
        }
    }

    fn apply_safe(&mut self) {
        for _ in 0..ROUNDS {
            let fixes = self.select(true, usize::MAX, &HashSet::new());
            if fixes.is_empty() {
                break;
            }
            let (_, broken) = self.apply(&fixes);
            self.given_up.extend(broken);
            *self.checked = self.project.check(self.arguments);
        }
    }

    /// Applies fixes that may change the meaning, as many at once as no new finding results from.
    fn apply_unsafe(&mut self) {
        let mut refused: HashSet<FixKey> = HashSet::new();
        let (mut limit, mut failures) = (usize::MAX, 0);
        while failures < FAILURES {
            let fixes = self.select(false, limit, &refused);
            if fixes.is_empty() {
                break;
            }
            let (old, broken) = self.apply(&fixes);
            let checked = broken.is_empty().then(|| self.project.check(self.arguments));
            if let Some(checked) = checked.filter(|it| is_better(&self.checked.diagnostics, &it.diagnostics)) {
                *self.checked = checked;
                limit = limit.saturating_mul(2);
                self.apply_safe();
                continue;
            }
            for (file, text) in old {
                self.change(&file, text);
            }
            failures += 1;
            limit = fixes.len() / 2;
            if let [only] = &*fixes {
                refused.insert(only.key.clone());
                limit = 1;
            }
        }
    }

    /// The first safe or unsafe fix of each finding, at most `limit` of them. One that touches another waits for the next
    /// round; equal fixes of several findings are applied once.
    fn select(&self, safe: bool, limit: usize, refused: &HashSet<FixKey>) -> Vec<SelectedFix> {
        let may = |file: &Arc<str>| {
            self.project.loaded.reported.binary_search(file).is_ok()
                && !self.given_up.contains(file)
                && !self.unwritable.contains_key(file)
        };
        select(&self.checked.diagnostics, safe, limit, refused, &may)
    }

    /// Applies fixes in memory. Returns the old texts of the files that changed, and the files in which the edits would have
    /// no effect or break the syntax: these are left as they are.
    fn apply(&mut self, fixes: &[SelectedFix]) -> (Vec<OldText>, Vec<Arc<str>>) {
        let mut by_file: BTreeMap<&Arc<str>, Vec<&Edit>> = BTreeMap::new();
        for edit in fixes.iter().flat_map(|it| &it.fix.edits) {
            by_file.entry(&edit.location.file).or_default().push(edit);
        }
        let (mut changed, mut broken) = (Vec::new(), Vec::new());
        for (file, edits) in by_file {
            let Some(text) = self.project.text(file) else { continue };
            let new = edited(&text, &edits).map(Arc::<str>::from).filter(|new| *new != text);
            let Some(new) = new else {
                broken.push(Arc::clone(file));
                continue;
            };
            let before = self.syntax_errors(file);
            self.change(file, new);
            if self.syntax_errors(file) > before {
                self.change(file, text);
                broken.push(Arc::clone(file));
            } else {
                changed.push((Arc::clone(file), text));
            }
        }
        (changed, broken)
    }

    fn syntax_errors(&self, file: &str) -> usize {
        self.project.loaded.workspace.snapshot().file(file).map_or(0, |it| it.errors.len())
    }

    fn change(&mut self, file: &Arc<str>, new: Arc<str>) {
        if let Some(old) = self.project.text(file) {
            self.project.change(file, old, new);
        }
    }

    /// Writes the changed files: all of them, or none if one cannot be written. Returns whether that worked.
    fn write(&mut self) -> bool {
        let mut staged = Vec::new();
        for (file, change) in &self.project.changed {
            match self.project.stage(file, change) {
                Ok(it) => staged.push((Arc::clone(file), it)),
                Err(reason) => drop(self.unwritable.insert(Arc::clone(file), reason)),
            }
        }
        let changed = self.project.changed.keys();
        if changed.into_iter().any(|it| self.unwritable.contains_key(it)) {
            return false;
        }
        let mut failed = Vec::new();
        for (file, it) in staged {
            if let Err(error) = it.commit() {
                self.unwritable.insert(Arc::clone(&file), error.to_string());
                failed.push(file);
            }
        }
        for file in &failed {
            self.revert_file(file);
        }
        if !failed.is_empty() {
            *self.checked = self.project.check(self.arguments);
        }
        true
    }

    /// Drops all changes in memory.
    fn revert(&mut self) {
        let files: Vec<Arc<str>> = self.project.changed.keys().cloned().collect();
        for file in &files {
            self.revert_file(file);
        }
        *self.checked = self.project.check(self.arguments);
    }

    fn revert_file(&mut self, file: &Arc<str>) {
        if let Some(old) = self.project.changed.get(file).map(|it| Arc::clone(&it.old)) {
            self.change(file, old);
        }
    }
}

/// A file and its text before a change.
type OldText = (Arc<str>, Arc<str>);

/// What identifies a fix after other fixes moved it: the rule, the file, the name and the title.
type FixKey = (&'static str, Arc<str>, String, String);

/// A fix to apply.
struct SelectedFix {
    key: FixKey,
    fix: Fix,
}

fn select(
    findings: &[Diagnostic],
    safe: bool,
    limit: usize,
    refused: &HashSet<FixKey>,
    may: &dyn Fn(&Arc<str>) -> bool,
) -> Vec<SelectedFix> {
    let mut chosen: Vec<SelectedFix> = Vec::new();
    let mut taken: HashMap<Arc<str>, Vec<Edit>> = HashMap::new();
    // A corrected comment may suppress findings, which are then not fixed.
    let corrections = findings.iter().filter(|it| safe && is_correction(it)).map(|it| &it.location.file);
    let corrected: HashSet<&Arc<str>> = corrections.filter(|it| may(it)).collect();
    for finding in findings {
        if chosen.len() >= limit {
            break;
        }
        if corrected.contains(&finding.location.file) && !is_correction(finding) {
            continue;
        }
        let Some(fix) = usable_fix(finding, safe) else { continue };
        let key = (finding.rule, Arc::clone(&finding.location.file), finding.name.clone(), fix.title.clone());
        let clashes = |edit: &Edit| {
            let mut others = taken.get(&edit.location.file).into_iter().flatten();
            !may(&edit.location.file) || others.any(|it| touch(it, edit))
        };
        if refused.contains(&key) || fix.edits.iter().any(clashes) {
            continue;
        }
        for edit in &fix.edits {
            taken.entry(Arc::clone(&edit.location.file)).or_default().push(edit.clone());
        }
        chosen.push(SelectedFix { key, fix: fix.clone() });
    }
    chosen
}

/// Whether the fix of a finding corrects a suppression comment, and does not only remove it.
fn is_correction(finding: &Diagnostic) -> bool {
    let corrects = |it: &Fix| it.edits.iter().any(|edit| !edit.text.trim().is_empty());
    finding.rule == "unused-suppression" && usable_fix(finding, true).is_some_and(corrects)
}

/// The first safe or unsafe fix of a finding.
fn usable_fix(finding: &Diagnostic, safe: bool) -> Option<&Fix> {
    finding.fixes.iter().find(|it| it.safe == safe && !it.edits.is_empty())
}

/// Whether findings are gone, and no warning or error is new.
fn is_better(before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    let old = count(before, Severity::Warning);
    let is_known = |(key, number): (&FindingKey, &usize)| old.get(key).is_some_and(|it| number <= it);
    after.len() < before.len() && count(after, Severity::Warning).iter().all(is_known)
}

/// What identifies a finding after an edit: its rule, file, object and name, not its place.
type FindingKey = (&'static str, Arc<str>, Option<String>, String);

/// How often each finding from a severity upwards occurs.
fn count(findings: &[Diagnostic], from: Severity) -> HashMap<FindingKey, usize> {
    let mut all = HashMap::new();
    for it in findings.iter().filter(|it| it.severity >= from) {
        let key = (it.rule, Arc::clone(&it.location.file), it.object.clone(), it.name.clone());
        *all.entry(key).or_default() += 1;
    }
    all
}

fn touch(one: &Edit, other: &Edit) -> bool {
    let (one, other) = (one.location.span, other.location.span);
    one.start <= other.end && other.start <= one.end
}

/// The text after the edits, with the line endings it has. `None` if an edit does not fit the text.
fn edited(text: &str, edits: &[&Edit]) -> Option<String> {
    let mut edits = edits.to_vec();
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

/// The new text of a file beside it, ready to replace it.
pub(super) struct StagedFile {
    new: NamedTempFile,
    path: PathBuf,
}

impl StagedFile {
    /// Writes a new text beside a file. Permissions are kept, and a link remains a link.
    pub(super) fn write(path: &Path, text: &str) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let permissions = fs::metadata(&path)?.permissions();
        if permissions.readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut new = tempfile::Builder::new().prefix(".podlens-").tempfile_in(directory)?;
        new.write_all(text.as_bytes())?;
        new.as_file().set_permissions(permissions)?;
        new.as_file().sync_all()?;
        Ok(Self { new, path })
    }

    /// Replaces the file as a whole.
    fn commit(self) -> io::Result<()> {
        self.new.persist(&self.path)?;
        Ok(())
    }
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
            choices: Vec::new(),
            object: None,
            built_object: None,
            views: Vec::new(),
            path: None,
            unnecessary: false,
        }
    }

    fn after(text: &str, edits: &[Edit]) -> Option<String> {
        edited(text, &edits.iter().collect::<Vec<_>>())
    }

    #[test]
    fn edits_are_applied_in_order_and_keep_line_ends() {
        assert_eq!(after("abc", &[edit(2, 3, "C"), edit(0, 1, "A")]).as_deref(), Some("AbC"));
        assert_eq!(after("a\r\nb", &[edit(3, 3, "x\ny\r\n")]).as_deref(), Some("a\r\nx\r\ny\r\nb"));
        assert_eq!(after("aé", &[edit(2, 3, "")]), None);
        assert_eq!(after("a", &[edit(0, 9, "")]), None);
    }

    #[test]
    fn fixes_that_touch_wait_and_equal_ones_count_once() {
        let all = |findings: &[Diagnostic], safe| {
            let fixes = select(findings, safe, usize::MAX, &HashSet::new(), &|_| true);
            fixes.into_iter().flat_map(|it| it.fix.edits).collect::<Vec<_>>()
        };
        let first = finding(&[(true, vec![edit(0, 2, "x"), edit(8, 9, "y")])]);
        let touching = finding(&[(true, vec![edit(2, 3, "z")])]);
        let apart = finding(&[(true, vec![edit(4, 5, "w")])]);
        let chosen = all(&[first.clone(), first.clone(), touching, apart], true);
        assert_eq!(chosen, [edit(0, 2, "x"), edit(8, 9, "y"), edit(4, 5, "w")]);
        let both = finding(&[(false, vec![edit(0, 1, "u")]), (true, vec![edit(0, 1, "s")])]);
        assert_eq!(all(std::slice::from_ref(&both), true), [edit(0, 1, "s")]);
        assert_eq!(all(&[both], false), [edit(0, 1, "u")]);
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.yaml");
        fs::write(&path, "old").expect("written");
        let before = fs::metadata(&path).expect("there").permissions();
        let staged = StagedFile::write(&path, "new").expect("staged");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "old");
        staged.commit().expect("replaced");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "new");
        assert_eq!(fs::metadata(&path).expect("there").permissions(), before);
        drop(StagedFile::write(&path, "not written").expect("staged"));
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }
}
