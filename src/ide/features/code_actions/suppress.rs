//! Suppression comments for a finding: at the end of its line, on the line above, or for the whole file.
//!
//! No comment is offered where it would become part of a scalar: at the end of a line on which a scalar continues, or
//! between the lines of a scalar. For a finding inside such a scalar the comment is written where the scalar begins.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit, Location};
use crate::ide::Analysis;
use crate::ide::shared::file_text::FileText;
use crate::rules;
use crate::syntax::{EnvFileDialect, Node, NodeKind, ScalarStyle, env_file_comments};
use crate::text::Span;

/// The actions that suppress a finding, the narrowest first.
pub(super) fn suppress(analysis: &Analysis<'_>, file: &Arc<str>, found: &Diagnostic) -> Vec<(String, Edit)> {
    let rule = found.rule;
    // JSON has no comments.
    if rules::find_rule(rule).is_none_or(|it| !it.suppressible) || file.ends_with(".json") {
        return Vec::new();
    }
    let Some(file_text) = analysis.file_text(file) else { return Vec::new() };
    let edit = |(offset, text): (usize, String)| {
        let span = Span::new(offset, offset);
        Edit { location: Location { file: Arc::clone(file), span }, text }
    };
    if let Some(dialect) = analysis.dialect(file) {
        return in_env_file(&file_text, dialect, rule, found.location.span.start)
            .into_iter()
            .map(|(title, change)| (title, edit(change)))
            .collect();
    }
    let line = on_line(&file_text, rule, found.location.span.start);
    let line = line.map(|(place, it)| (format!("Suppress `{rule}` {place}"), edit(it)));
    let whole = (format!("Suppress `{rule}` in this file"), edit(in_file(&file_text, rule)));
    line.into_iter().chain(std::iter::once(whole)).collect()
}

/// A comment for one line, or for the scalar of several lines around an offset: where it applies, its offset and text.
fn on_line(file_text: &FileText, rule: &str, offset: usize) -> Option<(&'static str, (usize, String))> {
    let source = &file_text.source;
    let offsets = rules::suppression_offsets(source, offset);
    let place = if offsets.len() > 1 { "in this text" } else { "on this line" };
    // The comment is written where the scalar begins, or above its key.
    let start = offsets.get(1).copied().unwrap_or(offset);
    let first = offsets.iter().skip(1).copied().min().unwrap_or(offset);
    let (line, first_line) = (file_text.line(start), file_text.line(first));
    // Add the rule to an existing comment.
    let above = if first_line.start == 0 { first_line } else { file_text.line(first_line.start - 1) };
    let known = rules::suppressions_in(source, None, Span::new(above.start, line.end));
    let covers = |it: &&rules::Suppression| it.flaw.is_none() && !it.whole_file && it.covers(&offsets);
    if let Some((_, last)) = known.iter().find(covers).and_then(|it| it.rules.last()) {
        return Some((place, (last.end, format!(", {rule}"))));
    }
    let text = file_text.text();
    let comment = format!("# podlens: ignore[{rule}]");
    let is_free = source.tree.comments(&source.text, line).is_empty();
    if is_free && !scalar_continues_after(file_text, line) {
        return Some((place, (line.start + text[line.range()].trim_end().len(), format!(" {comment}"))));
    }
    if starts_in_scalar(file_text, first_line) {
        return None;
    }
    let shown = &text[first_line.range()];
    let indent = &shown[..shown.len() - shown.trim_start_matches(' ').len()];
    Some((place, (first_line.start, format!("{indent}{comment}{}", file_text.line_break()))))
}

/// Comments in an env file, above the line and at the top, unless they would become part of a value.
fn in_env_file(
    file_text: &FileText,
    dialect: EnvFileDialect,
    rule: &str,
    offset: usize,
) -> Vec<(String, (usize, String))> {
    let text = file_text.text();
    let line = file_text.line(offset);
    let above = if line.start == 0 { line } else { file_text.line(line.start - 1) };
    let known = rules::suppressions_in(&file_text.source, Some(dialect), Span::new(above.start, line.end));
    let covers = |it: &&rules::Suppression| it.flaw.is_none() && !it.whole_file && it.covers(&[offset]);
    let one = match known.iter().find(covers).and_then(|it| it.rules.last()) {
        Some((_, last)) => (last.end, format!(", {rule}")),
        None => (line.start, format!("# podlens: ignore[{rule}]{}", file_text.line_break())),
    };
    let is_comment = |change: &(usize, String)| {
        let (at, new) = change;
        let changed = format!("{}{new}{}", &text[..*at], &text[*at..]);
        let is_here = |it: &Span| it.start <= *at && *at < it.end;
        env_file_comments(&changed, dialect).iter().any(is_here)
    };
    let all = [
        (format!("Suppress `{rule}` on this line"), one),
        (format!("Suppress `{rule}` in this file"), in_file(file_text, rule)),
    ];
    all.into_iter().filter(|(_, change)| is_comment(change)).collect()
}

fn in_file(file_text: &FileText, rule: &str) -> (usize, String) {
    let text = file_text.text();
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    (start, format!("# podlens: ignore-file[{rule}]{}", file_text.line_break()))
}

/// Whether a scalar continues after the end of a line, so that a comment would become part of it or end it.
fn scalar_continues_after(file_text: &FileText, line: Span) -> bool {
    let end = line.start + file_text.text()[line.range()].trim_end().len();
    scalar_at(file_text, end).is_some_and(|it| {
        let is_header =
            matches!(it.style(), Some(ScalarStyle::Literal | ScalarStyle::Folded)) && it.span().start >= line.start;
        it.span().start < end && it.span().end > line.end && !is_header
    })
}

/// Whether a line starts inside a scalar.
fn starts_in_scalar(file_text: &FileText, line: Span) -> bool {
    scalar_at(file_text, line.start).is_some_and(|it| it.span().start < line.start && it.span().end > line.start)
}

fn scalar_at(file_text: &FileText, offset: usize) -> Option<Node<'_>> {
    let root = file_text.source.tree.document_at(offset)?.root()?;
    let node = root.path_to(offset).into_iter().next_back()?;
    matches!(node.kind(), NodeKind::Scalar(_)).then_some(node)
}
