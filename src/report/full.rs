//! Findings with the source around them, drawn as rustc draws them.
//!
//! Only the lines that matter are handed to the renderer, so a finding costs the same in a file of any size.

use std::io::{self, Write};
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::diagnostic::Severity;
use crate::report::findings::{Finding, Range, Report};
use crate::report::{one_line, summary};

/// Places further apart than this get a snippet each.
const NEAR: u32 = 40;
/// Up to this many lines are shown as they are; of more, those without a mark are left out.
const FEW: usize = 6;
/// Nobody reads a longer excerpt.
const LONGEST: usize = 16 * 1024;

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// In colour.
    pub color: bool,
    /// The columns there are, if it is a terminal.
    pub width: Option<usize>,
    /// Without the summary.
    pub quiet: bool,
}

/// Gives the text of a file of the workspace.
pub type Texts<'t> = dyn Fn(&str) -> Option<Arc<str>> + 't;

/// Writes the findings, and the summary.
pub fn write(out: &mut dyn Write, report: &Report, texts: &Texts<'_>, look: Look) -> io::Result<()> {
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(look.width.unwrap_or(140).max(60));
    for finding in &report.findings {
        writeln!(out, "{}\n", renderer.render(&[group(finding, texts)]))?;
    }
    if look.quiet { Ok(()) } else { summary::write(out, report) }
}

fn group<'a>(finding: &'a Finding, texts: &Texts<'_>) -> Group<'a> {
    let level = match finding.level {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let mut group = Group::with_title(level.primary_title(one_line(&finding.message)).id(finding.rule));
    for piece in pieces(finding) {
        let excerpt = texts(piece.source).and_then(|text| piece.excerpt(&text));
        let path = one_line(piece.file);
        group = match excerpt {
            Some((excerpt, start, line)) => {
                let annotations: Vec<_> = piece
                    .marks
                    .iter()
                    .map(|mark| {
                        let inside = |offset: usize| (offset - start).min(excerpt.len());
                        let span = inside(mark.range.start.offset)..inside(mark.range.end.offset);
                        mark.kind.span(span).label(mark.label.map(one_line))
                    })
                    .collect();
                let folds = excerpt.lines().count() > FEW;
                let snippet: Snippet<'_, Annotation<'_>> = Snippet::source(excerpt).line_start(line).path(path);
                group.element(snippet.fold(folds).annotations(annotations))
            }
            // The file has changed, or the line is too long to be shown.
            None => {
                let first = piece.marks[0].range.start;
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

/// Marks that are shown in one snippet.
struct Piece<'f> {
    source: &'f str,
    file: &'f str,
    marks: Vec<Mark<'f>>,
}

#[derive(Clone, Copy)]
struct Mark<'f> {
    kind: AnnotationKind,
    range: Range,
    label: Option<&'f str>,
}

/// The places of a finding, those near each other together; the primary one comes first.
fn pieces(finding: &Finding) -> Vec<Piece<'_>> {
    let primary = Mark { kind: AnnotationKind::Primary, range: finding.range, label: None };
    let mut pieces = vec![Piece { source: &finding.source, file: &finding.file, marks: vec![primary] }];
    for it in &finding.related {
        let mark = Mark { kind: AnnotationKind::Context, range: it.range, label: Some(&it.message) };
        match pieces.iter_mut().find(|piece| piece.source == &*it.source && piece.is_near(it.range)) {
            Some(piece) => piece.marks.push(mark),
            None => pieces.push(Piece { source: &it.source, file: &it.file, marks: vec![mark] }),
        }
    }
    pieces
}

impl Piece<'_> {
    fn is_near(&self, range: Range) -> bool {
        self.marks.iter().any(|it| it.range.start.line.abs_diff(range.start.line) <= NEAR)
    }

    /// The lines from the first mark to the last, with one around them where there is one: the text, its offset and the
    /// number of its first line.
    fn excerpt(&self, text: &str) -> Option<(String, usize, usize)> {
        let first = self.marks.iter().map(|it| it.range.start).min_by_key(|it| it.offset)?;
        let last = self.marks.iter().map(|it| it.range.end.offset).max()?;
        // The file may have changed since it was checked.
        let fits = |it: &Mark<'_>| text.get(it.range.start.offset..it.range.end.offset).is_some();
        if !self.marks.iter().all(fits) {
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
        // Lines that end with a mere CR are counted, but not drawn, as lines.
        let is_drawable = !excerpt.replace("\r\n", "").contains('\r');
        is_drawable.then(|| (excerpt.to_owned(), start, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::findings::{Related, SCHEMA, Summary};
    use crate::text::{LineIndex, Span};

    const OWN: &str = "a: 1\nb: $(X)\r\nc: 3\n";
    const OTHER: &str = "one\ntwo\nthree";

    fn range(text: &str, part: &str) -> Range {
        let start = text.find(part).expect("there");
        Range::new(Span::new(start, start + part.len()), &LineIndex::new(text))
    }

    fn drawn(own: &str, other: &str) -> String {
        let related = Related {
            message: "here".into(),
            file: "d/other.yaml".into(),
            range: range(OTHER, "two"),
            source: "o".into(),
        };
        let finding = Finding {
            rule: "some-rule",
            level: Severity::Hint,
            message: "what\nis wrong".into(),
            help: Some("do this".into()),
            file: "own.yaml".into(),
            range: range(OWN, "$(X)"),
            object: None,
            path: None,
            fingerprint: String::new(),
            related: vec![related],
            fix: None,
            source: "own".into(),
        };
        let report = Report {
            schema: SCHEMA,
            findings: vec![finding],
            summary: Summary::default(),
            problems: Vec::new(),
            objects: 0,
        };
        let texts = |file: &str| Some(Arc::from(if file == "own" { own } else { other }));
        let mut out = Vec::new();
        write(&mut out, &report, &texts, Look { color: false, width: None, quiet: true }).expect("a buffer");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn places_in_other_files_are_drawn_below() {
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
        assert_eq!(drawn(OWN, OTHER), expected);
    }

    #[test]
    fn a_file_that_has_changed_is_named_only() {
        for own in ["", "é", "a: 1\nb: ééé", "a\rb\rc\rdefghijklmnop"] {
            let drawn = drawn(own, "");
            assert!(drawn.contains("own.yaml:2:4") && drawn.contains("d/other.yaml:2:1"), "{drawn}");
        }
    }
}
