//! The format of the suites in `fixtures`, and the only parser for it.
//!
//! A suite is a Markdown file. Each `## heading` is a test; its text up to the next heading has prose and fenced blocks.
//!
//! A `yaml`, `json` or `env` block holds the files of the test:
//! - `#- path` starts a file. Without such a line the file is called `manifest`, with the language as its extension.
//!   Flags may follow the path: `crlf` (the lines end with CR LF) and `no-final-newline`.
//! - `$0` is the cursor. A second one ends a selection.
//! - A label is a row of `#`, spaces and `^` below a line: it names the rule of a finding in that line, and its message
//!   (`#   ^^^^ rule: message`). The carets cover the finding. `^…` covers a finding that continues on the next line,
//!   and `#<^` one that begins in the first column. A label without a message accepts any message. A finding whose level
//!   is not that of its rule has it in the label: `rule (hint): message`.
//!
//! Labels and cursors are removed before the file is used. A file in `templates/` that has Helm actions needs the
//! `Chart.yaml` of its chart among the files.
//!
//! Blocks of all other languages are expected results: `diff`, `console` and `text`. The suites write them, and the
//! columns and messages of labels, with `UPDATE=1`. Everything else is an error that names the file and the line.
//!
//! The same text without Markdown, as one string in a test, is read by [`parse_files`].

use std::fmt::{self, Display};
use std::fs;
use std::path::Path;

/// The languages of blocks that hold files.
const FILES: [&str; 3] = ["yaml", "json", "env"];
/// The languages of blocks that hold results.
const RESULTS: [&str; 3] = ["diff", "console", "text"];

/// The levels of findings.
const LEVELS: [&str; 4] = ["error", "warning", "info", "hint"];

/// Whether there is a rule of this name.
type IsRule = fn(&str) -> bool;

/// A Markdown file with tests.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    /// The text before the first heading.
    pub(crate) head: String,
    pub(crate) cases: Vec<Case>,
}

/// One test: a heading and what follows it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) title: String,
    /// The line of the heading, from 1.
    pub(crate) line: usize,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
enum Block {
    Prose(String),
    Files { fence: String, language: String, files: Vec<File> },
    Result(Expected),
}

/// A file of a test.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    /// The text without labels and cursors.
    pub(crate) text: String,
    /// The offsets of the cursors in the text.
    pub(crate) cursors: Vec<usize>,
    pub(crate) labels: Vec<Label>,
    /// The line in the suite on which it starts.
    pub(crate) line: usize,
    /// The line `#- path` if it has one.
    header: String,
    /// The text with cursors, without labels.
    written: String,
}

/// A finding that is expected in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Label {
    /// Line and column from 1.
    pub(crate) line: u32,
    pub(crate) start: u32,
    /// The column after the last; `None` if the finding ends in another line.
    pub(crate) end: Option<u32>,
    pub(crate) rule: String,
    /// The level, if it is not that of the rule.
    pub(crate) level: Option<String>,
    /// `None` accepts any message.
    pub(crate) message: Option<String>,
}

/// A block with a result.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// `diff`, `console` or `text`.
    pub(crate) kind: String,
    /// The rest of the info string.
    pub(crate) argument: String,
    pub(crate) text: String,
    /// The line of its fence in the suite.
    pub(crate) line: usize,
}

impl Suite {
    /// Reads a suite. An error begins with `path:line: `.
    pub(crate) fn parse(path: &str, text: &str, is_rule: IsRule) -> Result<Self, String> {
        let mut suite = Self { head: String::new(), cases: Vec::new() };
        let mut lines = (1..).zip(text.split_inclusive('\n'));
        while let Some((number, line)) = lines.next() {
            let at = |message: String| format!("{path}:{number}: {message}");
            if let Some(title) = line.strip_prefix("## ") {
                let title = title.trim();
                if let Some(other) = suite.cases.iter().find(|it| it.title == title) {
                    return Err(at(format!(
                        "line {} has the same heading: each one is the name of a test",
                        other.line
                    )));
                }
                suite.cases.push(Case { title: title.into(), line: number, blocks: Vec::new() });
                continue;
            }
            if line.starts_with("### ") || line.starts_with("~~~") {
                return Err(at("expected `## ` for a test and backticks for a fence".into()));
            }
            let ticks = line.len() - line.trim_start_matches('`').len();
            let Some(case) = suite.cases.last_mut() else {
                if ticks >= 3 {
                    return Err(at("expected a `## ` heading before the first fence".into()));
                }
                suite.head.push_str(line);
                continue;
            };
            if ticks < 3 {
                match case.blocks.last_mut() {
                    Some(Block::Prose(text)) => text.push_str(line),
                    _ => case.blocks.push(Block::Prose(line.into())),
                }
                continue;
            }
            let (fence, info) = (line[..ticks].to_owned(), line[ticks..].trim());
            let mut body = String::new();
            loop {
                match lines.next() {
                    Some((_, line)) if line.trim_end() == fence => break,
                    Some((_, line)) => body.push_str(line),
                    None => return Err(at(format!("this fence is not closed: expected a line `{fence}`"))),
                }
            }
            let (language, argument) = info.split_once(' ').unwrap_or((info, ""));
            let (language, argument) = (language.to_owned(), argument.trim().to_owned());
            if FILES.contains(&&*language) && argument.is_empty() {
                let default = format!("manifest.{language}");
                let files = read_files(&body, &default, number + 1, is_rule)
                    .map_err(|(line, message)| format!("{path}:{line}: {message}"))?;
                case.blocks.push(Block::Files { fence, language, files });
            } else if FILES.contains(&&*language) {
                return Err(at(format!("`{argument}` after `{language}`: a file is named in the block, by `#- path`")));
            } else if RESULTS.contains(&&*language) {
                case.blocks.push(Block::Result(Expected { kind: language, argument, text: body, line: number }));
            } else {
                let known = [&FILES[..], &RESULTS[..]].concat().join("`, `");
                return Err(at(format!("unknown language `{language}` of a fence: expected `{known}`")));
            }
        }
        for case in &suite.cases {
            let mut paths: Vec<&str> = case.files().map(|file| &*file.path).collect();
            paths.sort_unstable();
            if let Some(twice) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("{path}:{}: two files `{}`: name one with `#- path`", case.line, twice[0]));
            }
            for file in case.files() {
                if let Some(chart) = missing_chart(&file.path, &file.text, &paths) {
                    return Err(format!(
                        "{path}:{}: `{}` has Helm actions but no chart: add a file `#- {chart}Chart.yaml` with `name: chart`",
                        file.line, file.path
                    ));
                }
            }
        }
        Ok(suite)
    }
}

/// The directory of the chart that a Helm template needs. Without its `Chart.yaml`, actions in quotes are plain text.
fn missing_chart<'p>(path: &'p str, text: &str, paths: &[&str]) -> Option<&'p str> {
    let directories = path.match_indices("templates/").map(|(at, _)| &path[..at]);
    let mut charts = directories.filter(|it| it.is_empty() || it.ends_with('/')).peekable();
    let first = *charts.peek()?;
    // `${{P}}` is a parameter of an OpenShift template.
    let has_actions = text.replace("${{", "").contains("{{");
    let is_chart = |directory: &str| paths.iter().any(|it| it.strip_suffix("Chart.yaml") == Some(directory));
    (has_actions && !charts.any(is_chart)).then_some(first)
}

impl Case {
    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.blocks.iter().flat_map(|block| if let Block::Files { files, .. } = block { &files[..] } else { &[] })
    }

    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = &mut File> {
        self.blocks
            .iter_mut()
            .flat_map(|block| if let Block::Files { files, .. } = block { &mut files[..] } else { &mut [] })
    }

    pub(crate) fn results(&self) -> impl Iterator<Item = &Expected> {
        self.blocks.iter().filter_map(|block| if let Block::Result(it) = block { Some(it) } else { None })
    }

    pub(crate) fn results_mut(&mut self) -> impl Iterator<Item = &mut Expected> {
        self.blocks.iter_mut().filter_map(|block| if let Block::Result(it) = block { Some(it) } else { None })
    }

    /// Sets the only result of this kind; it is added to the end if there is none.
    pub(crate) fn set_result(&mut self, kind: &str, text: String) {
        if let Some(result) = self.results_mut().find(|it| it.kind == kind) {
            result.text = text;
            return;
        }
        // Blank lines before the next heading stay before it.
        let mut tail = String::new();
        if let Some(Block::Prose(prose)) = self.blocks.last_mut() {
            tail = prose.split_off(prose.trim_end_matches('\n').len() + usize::from(!prose.trim().is_empty()));
        }
        let (kind, argument) = (kind.to_owned(), String::new());
        self.blocks.push(Block::Result(Expected { kind, argument, text, line: self.line }));
        self.blocks.push(Block::Prose(tail));
    }
}

impl Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        self.cases.iter().try_for_each(|case| case.fmt(f))
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}", self.title)?;
        for block in &self.blocks {
            match block {
                Block::Prose(text) => f.write_str(text)?,
                Block::Files { fence, language, files } => {
                    writeln!(f, "{fence}{language}")?;
                    files.iter().try_for_each(|file| file.fmt(f))?;
                    writeln!(f, "{fence}")?;
                }
                Block::Result(Expected { kind, argument, text, .. }) => {
                    // A fence in the result needs a longer one around it.
                    let inner = text.lines().map(|line| line.len() - line.trim_start_matches('`').len()).max();
                    let fence = "`".repeat(inner.map_or(3, |ticks| if ticks < 3 { 3 } else { ticks + 1 }));
                    let space = if argument.is_empty() { "" } else { " " };
                    writeln!(f, "{fence}{kind}{space}{argument}\n{text}{fence}")?;
                }
            }
        }
        Ok(())
    }
}

impl Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.header)?;
        let mut labels: Vec<&Label> = self.labels.iter().collect();
        labels.sort();
        let last = self.written.split_inclusive('\n').count();
        for (number, line) in (1..).zip(self.written.split_inclusive('\n')) {
            f.write_str(line)?;
            let here =
                |label: &&&Label| label.line as usize == number || (number == last && label.line as usize > last);
            labels.iter().filter(here).try_for_each(|label| writeln!(f, "{label}"))?;
        }
        Ok(())
    }
}

impl Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start {
            1 => f.write_str("#<")?,
            start => write!(f, "#{}", " ".repeat(start.saturating_sub(2) as usize))?,
        }
        match self.end {
            Some(end) => f.write_str(&"^".repeat(end.saturating_sub(self.start).max(1) as usize))?,
            None => f.write_str("^…")?,
        }
        write!(f, " {}", self.rule)?;
        self.level.as_ref().map_or(Ok(()), |level| write!(f, " ({level})"))?;
        self.message.as_ref().map_or(Ok(()), |message| write!(f, ": {message}"))
    }
}

/// The suites in a folder of `fixtures`, with their names.
pub(crate) fn suites_in(folder: &str) -> Vec<(String, Suite)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a suite is readable").path()).collect();
    paths.sort();
    let suite = |path: &Path| {
        let text = fs::read_to_string(path).expect("a suite is text");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name, Suite::parse(&path.display().to_string(), &text, |_| true).unwrap_or_else(|error| panic!("{error}")))
    };
    paths.iter().map(|path| suite(path)).collect()
}

/// The broken manifests of `fixtures/recovery`, each named for its heading.
pub(crate) fn broken_manifests() -> Vec<(String, String)> {
    let cases = suites_in("recovery").into_iter().flat_map(|(_, suite)| suite.cases);
    let files = cases.flat_map(|case| case.files().map(|file| (case.title.clone(), file.clone())).collect::<Vec<_>>());
    files
        .map(|(title, file)| {
            let extension = file.path.rsplit('.').next().unwrap_or_default();
            (format!("{}.{extension}", title.to_lowercase().replace(' ', "-")), file.text)
        })
        .collect()
}

/// Reads files from one string, as the blocks of a suite have them. It has no labels.
pub(crate) fn parse_files(text: &str) -> Vec<File> {
    read_files(text, "manifest.yaml", 1, |_| false)
        .unwrap_or_else(|(line, message)| panic!("line {line}: {message}\n{text}"))
}

/// The error is a line and a message.
fn read_files(body: &str, default: &str, first: usize, is_rule: IsRule) -> Result<Vec<File>, (usize, String)> {
    let mut files: Vec<File> = Vec::new();
    for (number, row) in (first..).zip(body.split_inclusive('\n')) {
        if let Some(path) = row.strip_prefix("#- ") {
            let path = path.split_whitespace().next().ok_or((number, "expected a path after `#- `".to_owned()))?;
            files.push(File::new(path, row, number));
            continue;
        }
        if files.is_empty() {
            files.push(File::new(default, "", number));
        }
        let Some(file) = files.last_mut() else { continue };
        match label(row).map_err(|message| (number, message))? {
            Some(label) if !is_rule(&label.rule) => {
                return Err((number, format!("there is no rule `{}`: `podlens explain` lists them", label.rule)));
            }
            Some(mut label) => {
                let above = file.written.split_inclusive('\n').count();
                let above = u32::try_from(above).ok().filter(|it| *it > 0);
                label.line = above.ok_or((number, "a label needs a line above it".to_owned()))?;
                file.labels.push(label);
            }
            None => file.written.push_str(row),
        }
    }
    for file in &mut files {
        file.finish().map_err(|message| (file.line, message))?;
    }
    Ok(files)
}

impl File {
    /// A file whose text may have cursors, but no labels.
    pub(crate) fn with_cursors(path: &str, text: &str) -> Self {
        let mut file = Self::new(path, "", 1);
        file.written = text.to_owned();
        file.finish().expect("no flags");
        file
    }

    fn new(path: &str, header: &str, line: usize) -> Self {
        let (text, written) = (String::new(), String::new());
        Self { path: path.into(), text, cursors: Vec::new(), labels: Vec::new(), line, header: header.into(), written }
    }

    /// Applies the flags and removes the cursors.
    fn finish(&mut self) -> Result<(), String> {
        let mut text = self.written.clone();
        for flag in self.header.split_whitespace().skip(2) {
            match flag {
                "crlf" => text = text.replace('\n', "\r\n"),
                "no-final-newline" => text.truncate(text.trim_end_matches('\n').len()),
                other => return Err(format!("unknown flag `{other}`: expected `crlf` or `no-final-newline`")),
            }
        }
        let mut parts = text.split("$0");
        self.text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            self.cursors.push(self.text.len());
            self.text.push_str(part);
        }
        Ok(())
    }
}

/// Reads a label; its line is not known here.
fn label(row: &str) -> Result<Option<Label>, String> {
    const EXPECTED: &str = "expected `#- path`, or a label: `#`, spaces, `^^^`, then ` rule` or ` rule: message`, with the level after the rule if it has another one, ` rule (hint)`";
    let row = row.trim_end();
    let Some(marker) = row.trim_start().strip_prefix('#') else { return Ok(None) };
    let carets = marker.trim_start_matches([' ', '<']);
    if !carets.starts_with('^') {
        // Comments have a space after `#`, or a word, a shell's `!` or another `#`.
        let unknown = |it: &char| it.is_ascii_punctuation() && !matches!(it, '!' | '#' | '"' | '\'');
        return match marker.chars().next().filter(unknown) {
            Some(character) if row.starts_with('#') => Err(format!("unknown marker `#{character}`: {EXPECTED}")),
            _ => Ok(None),
        };
    }
    let before = row.len() - carets.len();
    let is_first = &row[..before] == "#<";
    if !is_first && (!row.starts_with('#') || row[..before].contains('<')) {
        return Err(format!("this label does not begin with `#` in the first column: {EXPECTED}"));
    }
    let start = if is_first { 1 } else { before + 1 };
    let rest = carets.trim_start_matches('^');
    let length = carets.len() - rest.len();
    let (is_open, rest) = rest.strip_prefix('…').map_or((false, rest), |rest| (true, rest));
    let Some(rest) = rest.strip_prefix(' ') else { return Err(format!("this label has no rule: {EXPECTED}")) };
    let (rule, message) = rest.split_once(": ").map_or((rest, None), |(rule, message)| (rule, Some(message)));
    let (rule, level) = match rule.strip_suffix(')').and_then(|it| it.split_once(" (")) {
        Some((rule, level)) if LEVELS.contains(&level) => (rule, Some(level.to_owned())),
        _ => (rule, None),
    };
    let is_name = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    if rule.is_empty() || !rule.chars().all(is_name) {
        return Err(format!("`{rule}` is not the name of a rule: {EXPECTED}"));
    }
    let column = |column: usize| u32::try_from(column).unwrap_or(u32::MAX);
    let end = if is_open { None } else { Some(column(start + length)) };
    Ok(Some(Label {
        line: 0,
        start: column(start),
        end,
        rule: rule.into(),
        level,
        message: message.map(str::to_owned),
    }))
}
