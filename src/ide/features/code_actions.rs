//! Code actions: the fixes of findings, and rewrites, extractions and views for a range of a file.

mod declare;
mod extract;
mod rewrite;
mod settings;
mod sources;
mod suppress;
mod wrap;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit};
use crate::ide::features::preview::PreviewKind;
use crate::ide::{Analysis, EditorCommand};
use crate::rules;
use crate::text::Span;

/// An action that an editor offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeAction {
    /// The text of its menu entry, in the imperative.
    pub title: String,
    /// Its kind.
    pub kind: CodeActionKind,
    /// The findings it fixes, as indices into the findings passed to [`code_actions`].
    pub diagnostics: Vec<usize>,
    /// Whether it is the default action for its findings.
    pub is_preferred: bool,
    /// Its edits, possibly in several files; they do not overlap. An edit of a file that does not exist creates it.
    pub edits: Vec<Edit>,
    /// The command to run, for actions without edits.
    pub command: Option<EditorCommand>,
}

/// The kind of an action, with its name in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeActionKind {
    /// Fixes a finding: `quickfix`.
    QuickFix,
    /// Writes the same manifest in another way: `refactor.rewrite`.
    Rewrite,
    /// Extracts a value into a parameter: `refactor.extract`.
    Extract,
    /// Applies all safe fixes: `source.fixAll.podlens`.
    FixAll,
    /// Sorts `env`: `source.sortEnv.podlens`.
    Sort,
    /// Opens a view: `source.podlens`.
    Show,
}

/// The actions for a range of a file. `diagnostics` are all findings of the file, as returned by
/// [`diagnostics`](crate::ide::diagnostics).
pub fn code_actions(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    range: Span,
    diagnostics: &[Diagnostic],
) -> Vec<CodeAction> {
    let mut actions = ActionList::default();
    let here: Vec<(usize, &Diagnostic)> = diagnostics
        .iter()
        .enumerate()
        .filter(|(_, it)| it.location.span.start <= range.end && range.start <= it.location.span.end)
        .collect();
    for (index, found) in &here {
        for (at, fix) in found.fixes.iter().chain(&found.choices).enumerate() {
            let preferred = at == 0 && fix.safe;
            actions.fix(*index, fix.title.clone(), fix.edits.clone(), preferred);
        }
    }
    for (index, found) in &here {
        if is_undefined(found)
            && let Some((title, edits)) = declare::declare(analysis, file, found.location.span.start)
        {
            actions.fix(*index, title, edits, false);
        }
    }
    for (index, found) in &here {
        let sources = sources::add_key(analysis, file, found).into_iter();
        let sources = sources.chain(sources::add_object(analysis, file, found));
        let sources = sources.chain(sources::make_optional(analysis, file, found));
        let settings = settings::add_external(analysis, file, found);
        let settings = settings.into_iter().chain(settings::enable_proposals(analysis, file, found));
        for (title, edit) in sources.chain(settings) {
            actions.fix(*index, title, vec![edit], false);
        }
    }
    for (index, found) in &here {
        for (title, edit) in suppress::suppress(analysis, file, found) {
            actions.fix(*index, title, vec![edit], false);
        }
    }
    for fix in rewrite::rewrites(analysis, file, range.start) {
        // A finding may already offer the same edits.
        if !actions.all.iter().any(|it| it.edits == fix.edits) {
            actions.push(Some((CodeActionKind::Rewrite, fix.title, fix.edits)));
        }
    }
    actions.push(fix_all(diagnostics));
    actions.push(sort(analysis, file, range.start));
    for (title, edits) in extract::extract(analysis, file, range) {
        actions.push(Some((CodeActionKind::Extract, title, edits)));
    }
    if range.is_empty() {
        actions.push(
            wrap::wrap_file(analysis, file, range.start).map(|(title, edits)| (CodeActionKind::Rewrite, title, edits)),
        );
    }
    actions.all.extend(show(analysis, file, range.start));
    actions.all
}

/// Whether a finding is about a reference that nothing defines.
fn is_undefined(found: &Diagnostic) -> bool {
    found.rule == "undefined-variable"
        || found.rule == "unresolved-sub-path" && found.message.ends_with("which nothing defines")
}

#[derive(Default)]
struct ActionList {
    all: Vec<CodeAction>,
}

impl ActionList {
    /// Adds a fix. Equal fixes of several findings become one action.
    fn fix(&mut self, diagnostic: usize, title: String, edits: Vec<Edit>, is_preferred: bool) {
        if let Some(known) = self.all.iter_mut().find(|it| it.title == title && it.edits == edits) {
            known.diagnostics.push(diagnostic);
            known.diagnostics.dedup();
            return;
        }
        let (kind, diagnostics) = (CodeActionKind::QuickFix, vec![diagnostic]);
        self.all.push(CodeAction { title, kind, diagnostics, is_preferred, edits, command: None });
    }

    fn push(&mut self, action: Option<(CodeActionKind, String, Vec<Edit>)>) {
        let Some((kind, title, edits)) = action else { return };
        self.all.push(CodeAction { title, kind, diagnostics: Vec::new(), is_preferred: false, edits, command: None });
    }
}

/// All safe fixes that do not overlap each other.
fn fix_all(diagnostics: &[Diagnostic]) -> Option<(CodeActionKind, String, Vec<Edit>)> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut fixes = 0;
    for fix in diagnostics.iter().filter_map(|it| it.fixes.first()).filter(|it| it.safe) {
        let is_known = fix.edits.iter().all(|it| edits.contains(it));
        let collides = |edit: &Edit| edits.iter().any(|other| overlap(edit, other));
        if is_known || fix.edits.iter().any(collides) {
            continue;
        }
        edits.extend(fix.edits.iter().cloned());
        fixes += 1;
    }
    let title = match fixes {
        0 => return None,
        1 => "Apply safe fixes".into(),
        several => format!("Apply safe fixes ({several})"),
    };
    Some((CodeActionKind::FixAll, title, edits))
}

/// Whether two edits overlap. Insertions at one offset do, because their order is undefined.
fn overlap(one: &Edit, other: &Edit) -> bool {
    let (a, b) = (&one.location, &other.location);
    a.file == b.file
        && a.span.start < b.span.end.max(b.span.start + 1)
        && b.span.start < a.span.end.max(a.span.start + 1)
}

fn sort(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Option<(CodeActionKind, String, Vec<Edit>)> {
    let at = analysis.container_at(file, offset)?;
    let environment = at.environment(analysis);
    let fix = at.with_context(analysis, &environment, rules::sort_env)?;
    Some((CodeActionKind::Sort, fix.title, fix.edits))
}

/// The views that can be opened at an offset.
fn show(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Vec<CodeAction> {
    let Some(facts) = analysis.snapshot.file(file) else { return Vec::new() };
    let here = crate::diagnostic::Location { file: Arc::clone(file), span: Span::new(offset, offset) };
    let action = |title: String, command| CodeAction {
        title,
        kind: CodeActionKind::Show,
        diagnostics: Vec::new(),
        is_preferred: false,
        edits: Vec::new(),
        command: Some(command),
    };
    let mut actions = Vec::new();
    if let Some(at) = analysis.container_at(file, offset) {
        let name = at.container.name.as_ref().map_or("the container".into(), |it| format!("`{}`", it.value));
        actions.push(action(format!("Show the environment of {name}"), EditorCommand::ShowEnvironment(here.clone())));
    }
    if !facts.is_helm_template() && analysis.objects_at(file, offset).iter().any(|it| it.is_workload()) {
        let command = EditorCommand::ShowPreview(here, PreviewKind::Render);
        actions.push(action("Show the rendered manifest".into(), command));
    }
    actions
}
