//! Findings with the source around them, in the style of rustc.
//!
//! Only the lines that are shown are given to the renderer, so a finding costs the same in a file of any size.

use std::io::{self, Write};
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::diagnostic::Severity;
use crate::ide::{ExcerptText, ShownText};
use crate::report::findings::{Finding, Range, Report};
use crate::report::{one_line, summary};
use crate::text::Span;

/// Labels more lines apart than this get separate snippets.
const NEAR: u32 = 40;
/// Up to this many lines are shown in full; from longer excerpts lines without a label are omitted.
const FEW: usize = 6;
/// The longest excerpt that is shown, in bytes.
const LONGEST: usize = 16 * 1024;

/// Options for the output of findings.
#[derive(Clone, Copy, Debug)]
pub struct Drawing {
    /// With colors.
    pub color: bool,
    /// The width of the terminal, if the output is one.
    pub width: Option<usize>,
    /// Without the summary.
    pub quiet: bool,
}

/// Gives the text of a file of the workspace.
pub type Texts<'t> = dyn Fn(&str) -> Option<Arc<ExcerptText>> + 't;

/// Writes the findings, and the summary.
pub fn write(out: &mut dyn Write, report: &Report, texts: &Texts<'_>, drawing: Drawing) -> io::Result<()> {
    let renderer = if drawing.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(drawing.width.unwrap_or(140).max(60));
    for finding in &report.findings {
        writeln!(out, "{}\n", renderer.render(&[group(finding, texts)]))?;
    }
    if drawing.quiet { Ok(()) } else { summary::write(out, report) }
}

fn group<'a>(finding: &'a Finding, texts: &Texts<'_>) -> Group<'a> {
    let level = match finding.level {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let mut group = Group::with_title(level.primary_title(one_line(&finding.message)).id(finding.rule));
    for snippet in snippets(finding) {
        let excerpt = texts(snippet.source).and_then(|text| snippet.excerpt(&text));
        let path = one_line(snippet.file);
        group = match excerpt {
            Some((excerpt, line)) => {
                let annotation = |label: &SnippetLabel<'a>| {
                    let Range { start, end } = label.range;
                    let span = excerpt.range(Span::new(start.offset, end.offset));
                    label.kind.span(span).label(label.message.map(one_line))
                };
                let annotations: Vec<_> = snippet.labels.iter().map(annotation).collect();
                let folds = excerpt.text.lines().count() > FEW;
                let shown: Snippet<'_, Annotation<'_>> = Snippet::source(excerpt.text).line_start(line).path(path);
                group.element(shown.fold(folds).annotations(annotations))
            }
            // The file has changed, the line is too long, or a place is after a hidden value.
            None => {
                let first = snippet.labels[0].range.start;
                group.element(Origin::path(path).line(first.line as usize).char_column(first.column as usize))
            }
        };
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(one_line(help)));
    }
    if let Some(fix) = &finding.fix {
        let how = if fix.safe { "--fix" } else { "--fix --unsafe-fixes" };
        group = group.element(Level::NOTE.with_name("fix").message(format!("{} ({how})", one_line(&fix.title))));
    }
    group
}

/// The labels of one snippet.
struct LabeledSnippet<'f> {
    source: &'f str,
    file: &'f str,
    labels: Vec<SnippetLabel<'f>>,
}

#[derive(Clone, Copy)]
struct SnippetLabel<'f> {
    kind: AnnotationKind,
    range: Range,
    message: Option<&'f str>,
}

/// The snippets of a finding: labels near each other share one, and the primary label comes first.
fn snippets(finding: &Finding) -> Vec<LabeledSnippet<'_>> {
    let primary = SnippetLabel { kind: AnnotationKind::Primary, range: finding.range, message: None };
    let mut snippets = vec![LabeledSnippet { source: &finding.source, file: &finding.file, labels: vec![primary] }];
    for it in &finding.related {
        let label = SnippetLabel { kind: AnnotationKind::Context, range: it.range, message: Some(&it.message) };
        match snippets.iter_mut().find(|snippet| snippet.source == &*it.source && snippet.is_near(it.range)) {
            Some(snippet) => snippet.labels.push(label),
            None => snippets.push(LabeledSnippet { source: &it.source, file: &it.file, labels: vec![label] }),
        }
    }
    snippets
}

impl LabeledSnippet<'_> {
    fn is_near(&self, range: Range) -> bool {
        self.labels.iter().any(|it| it.range.start.line.abs_diff(range.start.line) <= NEAR)
    }

    /// The lines from the first label to the last, with one line before and after: the text and the number of its first
    /// line.
    fn excerpt(&self, source: &ExcerptText) -> Option<(ShownText, usize)> {
        let text = source.original();
        let first = self.labels.iter().map(|it| it.range.start).min_by_key(|it| it.offset)?;
        let last = self.labels.iter().map(|it| it.range.end.offset).max()?;
        // The file may have changed since it was checked.
        let fits = |it: &SnippetLabel<'_>| text.get(it.range.start.offset..it.range.end.offset).is_some();
        if !self.labels.iter().all(fits) {
            return None;
        }
        let before = text.get(..first.offset)?;
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let above = text[..line_start.saturating_sub(1)].rfind('\n').map_or(0, |end| end + 1);
        let line_end = |from: usize| text.get(from..).map(|rest| rest.find('\n').map_or(text.len(), |len| from + len));
        let end = line_end(last)?;
        let below = if end < text.len() { line_end(end + 1)? } else { end };
        let line = first.line as usize;
        let (start, line) = if above < line_start { (above, line - 1) } else { (line_start, line) };
        let excerpt = text.get(start..below).filter(|it| it.len() <= LONGEST && line >= 1)?;
        let excerpt = excerpt.strip_suffix('\r').unwrap_or(excerpt);
        // The renderer does not treat a single CR as a line ending, so such lines are not shown.
        let is_drawable = !excerpt.replace("\r\n", "").contains('\r');
        if !is_drawable {
            return None;
        }
        let shown = source.shown(Span::new(start, start + excerpt.len()))?;
        // The renderer prints the column in the excerpt.
        (!self.labels.iter().any(|it| shown.moves(it.range.start.offset))).then_some((shown, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::findings::{Related, SCHEMA, Summary};
    use crate::text::LineIndex;

    const OWN: &str = "a: 1\nb: $(X)\r\nc: 3\n";
    const OTHER: &str = "one\ntwo\nthree";

    fn range(text: &str, part: &str) -> Range {
        let start = text.find(part).expect("there");
        Range::new(Span::new(start, start + part.len()), &LineIndex::new(text))
    }

    fn printed(own: &str, other: &str) -> String {
        let related = Related {
            message: "here".into(),
            file: "d/other.yaml".into(),
            range: range(OTHER, "two"),
            source: "o".into(),
            repository_file: String::new(),
        };
        let finding = Finding {
            rule: "some-rule",
            level: Severity::Hint,
            message: "what\nis wrong".into(),
            help: Some("do this".into()),
            file: "own.yaml".into(),
            range: range(OWN, "$(X)"),
            object: None,
            built_object: None,
            views: Vec::new(),
            path: None,
            fingerprint: String::new(),
            related: vec![related],
            fix: None,
            source: "own".into(),
            repository_file: String::new(),
        };
        let report = Report {
            schema: SCHEMA,
            findings: vec![finding],
            summary: Summary::default(),
            problems: Vec::new(),
            root: None,
            objects: 0,
        };
        let texts = |file: &str| Some(Arc::new(ExcerptText::open(if file == "own" { own } else { other }.into())));
        let mut out = Vec::new();
        write(&mut out, &report, &texts, Drawing { color: false, width: None, quiet: true }).expect("a buffer");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn related_locations_in_other_files_are_shown_below() {
        let expected = r"hint[some-rule]: what\nis wrong
 --> own.yaml:2:4
  |
1 | a: 1
2 | b: $(X)
  |    ^^^^
3 | c: 3
  |
 ::: d/other.yaml:2:1
  |
1 | one
2 | two
  | --- here
3 | three
  |
  = help: do this

";
        assert_eq!(printed(OWN, OTHER), expected);
    }

    #[test]
    fn a_changed_file_is_shown_without_source() {
        for own in ["", "é", "a: 1\nb: ééé", "a\rb\rc\rdefghijklmnop"] {
            let printed = printed(own, "");
            assert!(printed.contains("own.yaml:2:4") && printed.contains("d/other.yaml:2:1"), "{printed}");
        }
    }
}
