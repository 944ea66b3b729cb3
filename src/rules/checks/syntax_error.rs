//! The rule `syntax-error`.

use crate::diagnostic::Fix;
use crate::rules::engine::{FileContext, Finding, Findings, declare_rule, edit};
use crate::syntax::{SyntaxError, SyntaxErrorKind, quote_parameters};
use crate::text::Span;

declare_rule! {
    /// Reports text that is not valid YAML.
    ///
    /// ## What it does
    /// Reports text that cannot be parsed in a file with Kubernetes objects. The rest of the file is still checked.
    /// Templates of Helm and other engines are not checked, nor files without Kubernetes objects. The finding covers
    /// the text that cannot be parsed, or the bracket, quote or key at its start.
    ///
    /// ## Why it matters
    /// The document is not applied.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       args: [serve, "--port=80]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       args: [serve, "--port=80"]
    /// ```
    ///
    /// ## Fix
    /// Quotes `${P}` in brackets, if nothing else is wrong. Otherwise none.
    name: "syntax-error",
    level: Error,
    checks: [File(check)],
    sees: Source,
    helm: ContainerWithoutAction,
    suppressible: false,
}

fn check(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    if file.facts.errors.is_empty() || file.facts.settings.is_some() || !has_objects(file) || file.is_template() {
        return;
    }
    for error in causes(file) {
        if let Some((span, message)) = wide_space(file, error) {
            findings.push(Finding::new(file.at(span), "wide-space", message));
            continue;
        }
        let finding = Finding::new(file.at(error.span), error.kind.code(), error.message(&file.facts.lines));
        findings.push(match quote_fix(file, error.span) {
            Some(fix) => finding.help("in brackets, `${…}` must be quoted").fix(Some(fix)),
            None => finding,
        });
    }
}

/// How many lines apart two errors are if they have different causes.
const LINES_APART: u32 = 10;

/// The errors without those that are probably the consequence of another one: in the same document, a few lines after it.
/// A line that does not belong to its block also moves the lines below it out of theirs.
fn causes<'f>(file: &FileContext<'f>) -> Vec<&'f SyntaxError> {
    let errors = &file.facts.errors;
    let source = if errors.len() > 1 { file.parsed_text() } else { None };
    let document_of = |error: &SyntaxError| Some(source.as_ref()?.tree.document_at(error.span.start)?.span());
    let line_of = |error: &SyntaxError| file.facts.lines.line_column(error.span.start).line;
    // Text at the start of a line ends every block, so that nothing below it is where it should be.
    let has_left_document = |error: &SyntaxError| {
        error.kind == SyntaxErrorKind::MissingColon && file.facts.lines.line_column(error.span.start).column == 1
    };
    let is_independent = |at: &usize| {
        let error = &errors[*at];
        // Each conflict is one error, and each alias too: neither affects other lines.
        let is_alone =
            |it: &SyntaxError| matches!(it.kind, SyntaxErrorKind::MergeConflict | SyntaxErrorKind::UndefinedAlias);
        let Some(before) = errors[..*at].iter().rfind(|it| !is_alone(it)).filter(|_| !is_alone(error)) else {
            return true;
        };
        document_of(before) != document_of(error)
            || line_of(error) > line_of(before) + LINES_APART
                && !errors[..*at].iter().any(|it| has_left_document(it) && document_of(it) == document_of(error))
    };
    (0..errors.len()).filter(is_independent).map(|at| &errors[at]).collect()
}

/// The first line around an error that is indented with a space that YAML does not count, and what is wrong with it.
fn wide_space(file: &FileContext<'_>, error: &SyntaxError) -> Option<(Span, String)> {
    let source = file.parsed_text()?;
    let text = &source.text;
    let end = text[error.span.start..].find('\n').map_or(text.len(), |it| error.span.start + it);
    let above = text[..error.span.start].rfind('\n').map_or(0, |it| text[..it].rfind('\n').map_or(0, |it| it + 1));
    let mut start = above;
    for line in text[above..end].split_inclusive('\n') {
        let indentation = line.len() - line.trim_start().len();
        let wide = line[..indentation].char_indices().find(|(_, it)| !it.is_ascii());
        if let Some((at, found)) = wide {
            let span = Span::new(start + at, start + indentation);
            let name = if found == '\u{a0}' { "a non-breaking space" } else { "a wide space" };
            let code = u32::from(found);
            return Some((span, format!("this line is indented with {name} (U+{code:04X}): use plain spaces")));
        }
        start += line.len();
    }
    None
}

/// The fix that quotes parameters: without quotes their braces are read as a flow mapping.
fn quote_fix(file: &FileContext<'_>, span: Span) -> Option<Fix> {
    let source = file.parsed_text()?;
    if !source.text.get(span.range())?.contains("${") {
        return None;
    }
    let edits = quote_parameters(&source.text, span.start)?;
    let title = match edits.as_slice() {
        [one] => format!("Quote `{}`", &source.text[one.span.range()]),
        _ => "Quote the parameters".to_owned(),
    };
    let edits = edits.into_iter().map(|it| edit(file.at(it.span), it.text)).collect();
    Some(Fix { title, safe: true, edits })
}

/// Whether a text with syntax errors may have objects. Other files, such as workflows of CI systems, are not checked.
pub fn may_have_objects(text: &str) -> bool {
    text.contains("apiVersion") && text.contains("kind")
}

/// Whether the file has objects, or text that would be one without the error.
fn has_objects(file: &FileContext<'_>) -> bool {
    !file.facts.objects.is_empty() || file.parsed_text().is_some_and(|source| may_have_objects(&source.text))
}
