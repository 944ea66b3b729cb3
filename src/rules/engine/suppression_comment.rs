//! Reads suppression comments: `# podlens: ignore[rule, rule] reason` and `# podlens: ignore-file[rule]`.
//!
//! Case and spaces do not matter. A comment that is meant as one but has another form is read too, with its flaw, so that it
//! can be reported and corrected.

use crate::rules::engine::registry::{find_rule, similar_rule};
use crate::syntax::{EnvFileDialect, NodeKind, env_file_comments, lines_with_suppressions};
use crate::text::{Span, nearest_name};
use crate::workspace::ParsedText;

/// A suppression comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The comment, from its `#`. In a Helm template it may be an action.
    pub comment: Span,
    /// From `podlens` to the end of the list.
    pub directive: Span,
    /// The rules it names, each with its span.
    pub rules: Vec<(String, Span)>,
    /// Whether it applies to the whole file.
    pub whole_file: bool,
    /// The lines it applies to: its own, and the next one if nothing is before it on its line.
    pub lines: Span,
    /// Why it suppresses nothing, whatever it names.
    pub flaw: Option<SuppressionFlaw>,
}

/// A mistake in the form of a suppression comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuppressionFlaw {
    /// Another word than `ignore` and `ignore-file`.
    Word(String),
    /// There is no list of rules, or it is empty.
    NoRules,
    /// The rules are not in square brackets.
    Brackets,
    /// The closing bracket is missing.
    Unclosed,
}

impl Suppression {
    /// Whether it applies to a place. `offsets` are those of [`suppression_offsets`].
    pub fn covers(&self, offsets: &[usize]) -> bool {
        let on_line = |it: &usize| self.lines.start <= *it && *it < self.lines.end.max(self.lines.start + 1);
        self.whole_file || offsets.iter().any(on_line)
    }

    /// The word before the list.
    pub fn word(&self) -> &'static str {
        if self.whole_file { "ignore-file" } else { "ignore" }
    }

    /// The directive with other rules, in the right form.
    pub fn with_rules(&self, rules: &[&str]) -> String {
        format!("podlens: {}[{}]", self.word(), rules.join(", "))
    }
}

/// The suppression comments of a file; `dialect` is that of an env file, which is not YAML.
pub fn suppressions(source: &ParsedText, dialect: Option<EnvFileDialect>) -> Vec<Suppression> {
    // Few lines have one. Searching every comment of a large file would be too slow after each keystroke.
    let lines = lines_with_suppressions(&source.text);
    let mut blocks = CommentBlocks::default();
    lines.into_iter().flat_map(|line| suppressions_with(source, dialect, line, &mut blocks)).collect()
}

/// The suppression comments that begin in a part of a file.
pub fn suppressions_in(source: &ParsedText, dialect: Option<EnvFileDialect>, within: Span) -> Vec<Suppression> {
    suppressions_with(source, dialect, within, &mut CommentBlocks::default())
}

fn suppressions_with(
    source: &ParsedText,
    dialect: Option<EnvFileDialect>,
    within: Span,
    blocks: &mut CommentBlocks,
) -> Vec<Suppression> {
    let text: &str = &source.text;
    let mut comments = match dialect {
        None => source.tree.comments(text, within),
        Some(dialect) => {
            let mut all = env_file_comments(text, dialect);
            all.retain(|it| within.start <= it.start && it.start < within.end.max(within.start + 1));
            all
        }
    };
    if source.mask.is_some() {
        comments.extend(helm_comments(text, within));
        comments.sort();
    }
    comments.into_iter().filter_map(|comment| read(text, comment, blocks)).collect()
}

/// The offsets that stand for a place: itself, and the start of a scalar of several lines around it with its key. No comment
/// can be inside such a scalar, so those at its start count.
pub fn suppression_offsets(source: &ParsedText, offset: usize) -> Vec<usize> {
    let mut offsets = vec![offset];
    let Some(root) = source.tree.document_at(offset).and_then(|it| it.root()) else { return offsets };
    let path = root.path_to(offset);
    let Some((scalar, parents)) = path.split_last() else { return offsets };
    let start = scalar.span().start;
    let is_scalar = matches!(scalar.kind(), NodeKind::Scalar(_));
    let between = source.masked_slice(Span::new(start.min(offset), offset));
    if !is_scalar || !between.is_some_and(|it| it.contains('\n')) {
        return offsets;
    }
    offsets.push(start);
    let entries = parents.last().into_iter().flat_map(|it| it.own_entries());
    let key = entries.filter(|(_, value)| value.is_some_and(|it| it.span() == scalar.span())).map(|(key, _)| key);
    offsets.extend(key.map(|it| it.span().start));
    offsets
}

/// Comments of Helm, `{{/* … */}}`, that begin in a part of a text.
fn helm_comments(text: &str, within: Span) -> Vec<Span> {
    let part = text.get(within.range()).unwrap_or_default();
    let starts = part.match_indices("{{").map(|(at, _)| within.start + at);
    let comment = |start: usize| {
        let inner = text[start + 2..].trim_start_matches('-').trim_start();
        let end = inner.starts_with("/*").then(|| inner.find("*/").map(|at| text.len() - inner.len() + at))??;
        Some(Span::new(start, end + text[end..].find("}}")? + 2))
    };
    starts.filter_map(comment).collect()
}

/// Words that other linters use.
const OTHER_WORDS: [&str; 16] = [
    "allow",
    "disable",
    "disable-file",
    "disable-line",
    "disable-next-line",
    "exclude",
    "ignore-all",
    "ignore-line",
    "ignore-next-line",
    "ignore-this-line",
    "nolint",
    "noqa",
    "off",
    "skip",
    "skip-file",
    "suppress",
];

fn read(text: &str, comment: Span, blocks: &mut CommentBlocks) -> Option<Suppression> {
    let body = &text[comment.range()];
    // The start of the comment, and of another one in it: `# noqa # podlens: ignore[rule]`.
    let first = body.len() - body.trim_start_matches(['#', '{', '/', '*', '-', ' ', '\t']).len();
    let others = body.match_indices(" #").map(|(at, _)| body.len() - body[at + 2..].trim_start().len());
    let (start, parts) = std::iter::once(first).chain(others).find_map(|at| Some((at, parse(&body[at..])?)))?;
    let from = comment.start + start;
    let DirectiveParts { end, whole_file, rules, flaw } = parts;
    let rules = rules.into_iter().map(|(at, name)| (name.to_owned(), Span::new(from + at, from + at + name.len())));
    let (rules, directive) = (rules.collect(), Span::new(from, from + end));
    Some(Suppression { comment, directive, rules, whole_file, lines: blocks.lines_of(text, comment), flaw })
}

/// The comment lines that were read last: comments that follow each other apply to the same line.
#[derive(Default)]
struct CommentBlocks {
    /// The lines of the block after its first one, and the end of the line after them.
    last: Option<(Span, usize)>,
}

impl CommentBlocks {
    /// The lines that a comment applies to.
    fn lines_of(&mut self, text: &str, comment: Span) -> Span {
        let line_start = text[..comment.start].rfind('\n').map_or(0, |end| end + 1);
        let alone = text[line_start..comment.start].trim().is_empty();
        let line_end = |from: usize| text[from..].find('\n').map_or(text.len(), |len| from + len + 1);
        let next = line_end(comment.end);
        if !alone {
            return Span::new(line_start, next);
        }
        if let Some((_, end)) = self.last.filter(|(block, _)| block.start <= next && next <= block.end) {
            return Span::new(line_start, end);
        }
        // Other comments may come between it and the line it applies to.
        let mut block_end = next;
        while block_end < text.len()
            && matches!(text[block_end..].trim_start_matches([' ', '\t']).chars().next(), Some('#'))
        {
            block_end = line_end(block_end);
        }
        let end = line_end(block_end);
        self.last = Some((Span::new(next, block_end), end));
        Span::new(line_start, end)
    }
}

/// The parts of a directive; offsets are relative to its start.
struct DirectiveParts<'t> {
    end: usize,
    whole_file: bool,
    rules: Vec<(usize, &'t str)>,
    flaw: Option<SuppressionFlaw>,
}

/// Reads a directive at the start of a text. `None` if the text is prose.
fn parse(text: &str) -> Option<DirectiveParts<'_>> {
    const NAME: &str = "podlens";
    let rest = text.get(NAME.len()..).filter(|_| text[..NAME.len()].eq_ignore_ascii_case(NAME))?;
    let offset = |part: &str| text.len() - part.len();
    let separated = rest.trim_start();
    let colon = separated.strip_prefix(':');
    if colon.is_none() && separated.len() == rest.len() {
        return None;
    }
    let rest = colon.unwrap_or(separated).trim_start();
    let word = &rest[..rest.find(|it: char| !it.is_ascii_alphanumeric() && !"-_".contains(it)).unwrap_or(rest.len())];
    let after = &rest[word.len()..];
    let list = after.trim_start();
    let known = word.to_ascii_lowercase().replace('_', "-");
    let is_right = matches!(&*known, "ignore" | "ignore-file");
    let is_other = || OTHER_WORDS.contains(&&*known) || nearest_name(&known, ["ignore", "ignore-file"]).is_some();
    let parts = |end: &str, rules, flaw| DirectiveParts {
        end: offset(end),
        whole_file: known.contains("file"),
        rules,
        flaw: if is_right { flaw } else { Some(SuppressionFlaw::Word(word.to_owned())) },
    };
    if let Some(inner) = list.strip_prefix('[') {
        let start = offset(inner);
        return Some(match inner.split_once(']') {
            Some((inner, after)) => {
                let rules = names(inner, start).collect::<Vec<_>>();
                let flaw = rules.is_empty().then_some(SuppressionFlaw::NoRules);
                parts(after, rules, flaw)
            }
            None => {
                let (rules, after) = leading_rules(inner, start);
                parts(after, rules, Some(SuppressionFlaw::Unclosed))
            }
        });
    }
    if !is_right && !is_other() {
        return None;
    }
    // `ignore(rule)`, `ignore: rule`, `ignore rule`, `ignore`.
    let open = list.trim_start_matches(['(', '{', '<', ':', '=']);
    let (rules, after) = leading_rules(open.trim_start(), offset(open.trim_start()));
    if rules.is_empty() {
        // Without a colon it is a sentence about podlens.
        return colon.map(|_| parts(&rest[word.len()..], rules, Some(SuppressionFlaw::NoRules)));
    }
    let after = after.strip_prefix([')', '}', '>']).unwrap_or(after);
    Some(parts(after, rules, Some(SuppressionFlaw::Brackets)))
}

/// The names in a list, separated by commas or spaces, with their offsets.
fn names(list: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let words = list.split(|it: char| it == ',' || it.is_whitespace()).filter(|it| !it.is_empty());
    words.map(move |it| (start + (it.as_ptr() as usize - list.as_ptr() as usize), it))
}

/// The names of rules, also misspelled ones, at the start of a text, and the rest.
fn leading_rules(text: &str, start: usize) -> (Vec<(usize, &str)>, &str) {
    let mut rules = Vec::new();
    let mut end = 0;
    for (at, name) in names(text, start) {
        let name = name.trim_end_matches([')', '}', '>', ':', '.']);
        if find_rule(name).is_none() && similar_rule(name).is_none() {
            break;
        }
        end = at - start + name.len();
        rules.push((at, name));
    }
    (rules, &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse as parse_yaml;

    fn read_all(text: &str) -> Vec<Suppression> {
        let source = ParsedText::from_tree(text.into(), parse_yaml(text));
        suppressions(&source, None)
    }

    /// The rules of a comment, and its flaw.
    fn shown(comment: &str) -> Option<(Vec<String>, Option<SuppressionFlaw>)> {
        let text = format!("{comment}\na: b\n");
        let all = read_all(&text);
        for (name, span) in all.iter().flat_map(|it| &it.rules) {
            assert_eq!(&text[span.range()], name, "{comment}");
        }
        let it = all.into_iter().next()?;
        Some((it.rules.into_iter().map(|(name, _)| name).collect(), it.flaw))
    }

    #[test]
    fn comments_that_work() {
        let one = vec!["self-reference".to_owned()];
        let two = vec!["self-reference".to_owned(), "missing-key".to_owned()];
        for comment in [
            "# podlens: ignore[self-reference]",
            "#podlens:ignore[self-reference]",
            "## podlens: ignore[self-reference] reason",
            "# podlens: ignore [self-reference]",
            "# podlens : ignore[ self-reference ]",
            "# podlens: ignore[self-reference], because",
            "# podlens: ignore[self-reference,]",
            "# podlens: ignore[self-reference]: because",
            "# podlens ignore[self-reference]",
            "# Podlens: Ignore[self-reference]",
            "# PODLENS: IGNORE[self-reference]",
            "# yamllint disable-line # podlens: ignore[self-reference]",
            "# podlens: ignore-file[self-reference]",
            "# podlens: ignore_file[self-reference]",
        ] {
            assert_eq!(shown(comment), Some((one.clone(), None)), "{comment}");
        }
        for comment in
            ["# podlens: ignore[self-reference, missing-key]", "# podlens: ignore[self-reference missing-key]"]
        {
            assert_eq!(shown(comment), Some((two.clone(), None)), "{comment}");
        }
    }

    #[test]
    fn comments_with_a_flaw() {
        use SuppressionFlaw::{Brackets, NoRules, Unclosed, Word};
        let word = |it: &str| Word(it.to_owned());
        for (comment, rules, flaw) in [
            ("# podlens: ignore", "", NoRules),
            ("# podlens: ignore this line", "", NoRules),
            ("# podlens: ignore[]", "", NoRules),
            ("# podlens: ignore [ ]", "", NoRules),
            ("# podlens: ignore-file", "", NoRules),
            ("# podlens: ignore self-reference why", "self-reference", Brackets),
            ("# podlens: ignore: self-reference, missing-key why", "self-reference missing-key", Brackets),
            ("# podlens: ignore(self-reference) why", "self-reference", Brackets),
            ("# podlens: ignore=self-refrence", "self-refrence", Brackets),
            ("# podlens ignore self-reference", "self-reference", Brackets),
            ("# podlens: ignore[self-reference why", "self-reference", Unclosed),
            ("# podlens: ignore[self-reference, missing-key", "self-reference missing-key", Unclosed),
            ("# podlens: disable[self-reference] why", "self-reference", word("disable")),
            ("# podlens disable[self-reference]", "self-reference", word("disable")),
            ("# podlens: disable", "", word("disable")),
            ("# podlens: ingore[self-reference]", "self-reference", word("ingore")),
            ("# podlens: noqa self-reference", "self-reference", word("noqa")),
        ] {
            let rules = rules.split_whitespace().map(str::to_owned).collect();
            assert_eq!(shown(comment), Some((rules, Some(flaw))), "{comment}");
        }
    }

    #[test]
    fn prose_is_not_a_suppression() {
        for comment in [
            "# podlens",
            "# podlens.yaml has the settings",
            "# podlens: see the documentation",
            "# podlens ignores this",
            "# podlens ignore",
            "# write `# podlens: ignore[rule]` to suppress a finding",
            "# checked by podlens: ignore[self-reference]",
            "# podlensignore[self-reference]",
        ] {
            assert_eq!(shown(comment), None, "{comment}");
        }
    }

    #[test]
    fn lines_in_a_scalar_belong_to_its_start() {
        let text = "a:\n  - |\n    one\n    two\nb: >-\n  three\nc:\n  'four\n  five'\nd: six\n";
        let source = ParsedText::from_tree(text.into(), parse_yaml(text));
        let at = |part: &str| text.find(part).expect("there");
        for (inside, starts) in [
            ("two", &["|"][..]),
            ("three", &[">-", "b:"]),
            ("five", &["'four", "c:"]),
            ("four", &[]),
            ("six", &[]),
            ("|", &[]),
        ] {
            let expected: Vec<usize> = std::iter::once(at(inside)).chain(starts.iter().map(|it| at(it))).collect();
            assert_eq!(suppression_offsets(&source, at(inside)), expected, "{inside}");
        }
    }
}
