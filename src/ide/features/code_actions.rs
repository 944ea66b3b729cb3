//! Code actions: every fix of every finding, and what else can be done at a place.

mod declare;
mod extract;
mod rewrite;
mod suppress;
mod wrap;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit};
use crate::ide::commands::render::workloads;
use crate::ide::features::preview::PreviewKind;
use crate::ide::shared::located_container::container_at;
use crate::ide::{Analysis, EditorCommand};
use crate::rules;
use crate::text::Span;

/// Something that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeAction {
    /// What it does, as a command.
    pub title: String,
    /// What it is for.
    pub kind: CodeActionKind,
    /// The findings it mends: indices into those that were given.
    pub diagnostics: Vec<usize>,
    /// Whether it is the one to take when in doubt.
    pub is_preferred: bool,
    /// What it changes, in any files; the edits do not overlap.
    pub edits: Vec<Edit>,
    /// What the editor does, for actions that change nothing.
    pub command: Option<EditorCommand>,
}

/// What an action is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeActionKind {
    /// Mends a finding: `quickfix`.
    QuickFix,
    /// Writes the same in another way: `refactor.rewrite`.
    Rewrite,
    /// Takes something out into a place of its own: `refactor.extract`.
    Extract,
    /// Mends everything that can be mended safely: `source.fixAll.podlens`.
    FixAll,
    /// Puts things in order: `source.sortEnv.podlens`.
    Sort,
    /// Shows something: `source.podlens`.
    Show,
}

/// What can be done in a range of a file. `diagnostics` are all findings of that file, as
/// [`diagnostics`](crate::ide::features::diagnostics::diagnostics) gives them.
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
        for (at, fix) in found.fixes.iter().enumerate() {
            let preferred = at == 0 && fix.safe;
            actions.fix(*index, fix.title.clone(), fix.edits.clone(), preferred);
        }
    }
    for (index, found) in &here {
        if found.rule == "undefined-variable"
            && let Some((title, edits)) = declare::declare(analysis, file, found.location.span.start)
        {
            actions.fix(*index, title, edits, false);
        }
    }
    for (index, found) in &here {
        for (title, edit) in suppress::suppress(analysis, file, found) {
            actions.fix(*index, title, vec![edit], false);
        }
    }
    for fix in rewrite::rewrites(analysis, file, range.start) {
        // Where a finding has it already, it is told once.
        if !actions.all.iter().any(|it| it.edits == fix.edits) {
            actions.source(Some((CodeActionKind::Rewrite, fix.title, fix.edits)));
        }
    }
    actions.source(fix_all(diagnostics));
    actions.source(sort(analysis, file, range.start));
    for (title, edits) in extract::extracted(analysis, file, range) {
        actions.source(Some((CodeActionKind::Extract, title, edits)));
    }
    if range.is_empty() {
        actions.source(
            wrap::wrapped(analysis, file, range.start).map(|(title, edits)| (CodeActionKind::Rewrite, title, edits)),
        );
    }
    actions.all.extend(show(analysis, file, range.start));
    actions.all
}

#[derive(Default)]
struct ActionList {
    all: Vec<CodeAction>,
}

impl ActionList {
    /// One action for all findings that it mends.
    fn fix(&mut self, diagnostic: usize, title: String, edits: Vec<Edit>, is_preferred: bool) {
        if let Some(known) = self.all.iter_mut().find(|it| it.title == title && it.edits == edits) {
            known.diagnostics.push(diagnostic);
            known.diagnostics.dedup();
            return;
        }
        let (kind, diagnostics) = (CodeActionKind::QuickFix, vec![diagnostic]);
        self.all.push(CodeAction { title, kind, diagnostics, is_preferred, edits, command: None });
    }

    fn source(&mut self, action: Option<(CodeActionKind, String, Vec<Edit>)>) {
        let Some((kind, title, edits)) = action else { return };
        self.all.push(CodeAction { title, kind, diagnostics: Vec::new(), is_preferred: false, edits, command: None });
    }
}

/// Every safe fix, as far as they leave each other alone.
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
        1 => "Fix what can be fixed safely".into(),
        several => format!("Fix what can be fixed safely ({several} fixes)"),
    };
    Some((CodeActionKind::FixAll, title, edits))
}

/// Insertions at one place collide too: their order would be a guess.
fn overlap(one: &Edit, other: &Edit) -> bool {
    let (a, b) = (&one.location, &other.location);
    a.file == b.file
        && a.span.start < b.span.end.max(b.span.start + 1)
        && b.span.start < a.span.end.max(a.span.start + 1)
}

fn sort(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Option<(CodeActionKind, String, Vec<Edit>)> {
    let at = container_at(file, analysis.snapshot.file(file)?, offset)?;
    let environment = at.environment(analysis);
    let fix = at.with_context(analysis, &environment, rules::sort_env)?;
    Some((CodeActionKind::Sort, fix.title, fix.edits))
}

/// The views that can be opened for a place.
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
    if let Some(at) = container_at(file, facts, offset) {
        let name = at.container.name.as_ref().map_or("the container".into(), |it| format!("`{}`", it.value));
        actions.push(action(format!("Show the environment of {name}"), EditorCommand::ShowEnvironment(here.clone())));
    }
    let is_here = |it: &&crate::k8s::Object| it.file_span(it.model.span).touches(offset);
    if !facts.is_helm_template() && workloads(facts).any(|it| is_here(&it)) {
        let command = EditorCommand::ShowPreview(here, PreviewKind::Render);
        actions.push(action("Show it as the cluster would run it".into(), command));
    }
    actions
}
