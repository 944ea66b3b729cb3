//! The expression generator of templates, which turns `user[A-Z0-9]{3}` into random text exactly as OpenShift does
//! (T9.1 to T9.9).
//!
//! The expressions are not regular expressions. Brackets that are not a generator are literal text, the end of a range
//! is not part of it, and classes next to ranges are misread. This module keeps that behaviour and makes it visible to
//! rules.

use std::ops::Range;

/// The characters in the order that ranges use.
const ORDER: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789~!@#$%^&*()-_+={}[]\\|<,>.?/\"';:`";
const LETTERS: Range<usize> = 0..52;
const DIGITS: Range<usize> = 52..62;
const SYMBOLS: Range<usize> = 62..94;

/// Whether the last character of a range is part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RangeEnds {
    /// It is not, as in every release.
    #[default]
    Exclusive,
    /// It is, as users expect.
    Inclusive,
}

/// A part of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratorPart {
    /// Literal text.
    Text(String),
    /// Random characters.
    Random(RandomCharacters),
}

/// A generator of random characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomCharacters {
    /// The range of `[…]{n}` in the expression.
    pub range: Range<usize>,
    /// The possible characters, each once.
    pub alphabet: String,
    /// The characters that would be added if ranges included their ends.
    pub excluded_ends: String,
    /// The number of generated characters.
    pub length: usize,
    /// Whether the brackets contain only ranges or only classes. Other brackets are misread.
    pub is_plain: bool,
}

/// Why an expression is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeneratorProblem {
    /// The length is out of range.
    #[error("`{{{0}}}` is not a valid length: write a number from 1 to 255")]
    Length(String),
    /// The brackets contain neither ranges nor classes.
    #[error(
        "`{0}` is not a list of characters: write ranges such as `[a-zA-Z0-9]`, or one of `[\\w]`, `[\\d]`, `[\\a]`, `[\\A]`"
    )]
    Malformed(String),
    /// The end of a range is before its start.
    #[error("`{0}-{1}` is not a valid range: characters are in the order a-z, A-Z, 0-9")]
    Range(char, char),
    /// The brackets contain no characters.
    #[error("`{0}` contains no characters: the end of a range is not part of it")]
    Empty(String),
}

/// A refused generator of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorError {
    /// The range of the generator in the expression.
    pub range: Range<usize>,
    /// Why it is refused.
    pub problem: GeneratorProblem,
}

/// Parses an expression.
pub fn parse_generator(expression: &str, ends: RangeEnds) -> Result<Vec<GeneratorPart>, GeneratorError> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(found) = find_generator(expression, at) {
        if at < found.range.start {
            parts.push(GeneratorPart::Text(expression[at..found.range.start].to_owned()));
        }
        at = found.range.end;
        let range = found.range.clone();
        let random = parse_random(expression, &found, ends).map_err(|problem| GeneratorError { range, problem })?;
        parts.push(GeneratorPart::Random(random));
    }
    if at < expression.len() {
        parts.push(GeneratorPart::Text(expression[at..].to_owned()));
    }
    Ok(parts)
}

/// Generates a value; `random(n)` returns a number below `n`.
pub fn generate_value(parts: &[GeneratorPart], random: &mut dyn FnMut(usize) -> usize) -> String {
    let mut value = String::new();
    for part in parts {
        match part {
            GeneratorPart::Text(text) => value.push_str(text),
            GeneratorPart::Random(part) => {
                let alphabet = part.alphabet.as_bytes();
                for _ in 0..part.length {
                    value.push(char::from(alphabet[random(alphabet.len()).min(alphabet.len() - 1)]));
                }
            }
        }
    }
    value
}

/// Finds literal text that looks like a part of a regular expression: `[a-z]+`, `[a-zA-Z0-9_]{8}`, `\w{5}`,
/// `(foo|bar)`, `foo|bar`, `.{4}`, `x{3}`, `a+`, `u?`, `^` and `$` around the whole.
pub fn find_literal_pattern(expression: &str) -> Option<Range<usize>> {
    let mut at = 0;
    let is_all_literal = find_generator(expression, 0).is_none();
    let mut anchor = None;
    loop {
        let found = find_generator(expression, at);
        let end = found.as_ref().map_or(expression.len(), |it| it.range.start);
        let text = LiteralText {
            text: &expression[at..end],
            follows_generator: at > 0,
            precedes_generator: found.is_some(),
            is_all_literal,
        };
        if let Some(range) = text.find_pattern() {
            return Some(at + range.start..at + range.end);
        }
        let found_anchor = text.find_anchor().map(|range| at + range.start..at + range.end);
        anchor = anchor.or(found_anchor);
        match found {
            Some(found) => at = found.range.end,
            None => return anchor,
        }
    }
}

/// The text between two generators, or between one and an end of the expression.
struct LiteralText<'a> {
    text: &'a str,
    follows_generator: bool,
    precedes_generator: bool,
    /// Whether the expression has no generator.
    is_all_literal: bool,
}

impl LiteralText<'_> {
    fn find_pattern(&self) -> Option<Range<usize>> {
        find_brackets(self.text)
            .or_else(|| find_group(self.text))
            .or_else(|| self.find_alternatives())
            .or_else(|| self.find_repeated_generator())
            .or_else(|| self.find_repetition())
            .or_else(|| find_class(self.text))
    }

    /// `foo|bar`, or the bar between two generators. In `auth0|[a-z]{4}` it may be meant as it is.
    fn find_alternatives(&self) -> Option<Range<usize>> {
        if self.text == "|" && self.follows_generator && self.precedes_generator {
            return Some(0..1);
        }
        let is_word = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
        let bytes = self.text.as_bytes();
        memchr::memchr_iter(b'|', bytes).find_map(|bar| {
            let before = bytes[..bar].iter().rev().take_while(|it| is_word(**it)).count();
            let after = bytes[bar + 1..].iter().take_while(|it| is_word(**it)).count();
            (before > 0 && after > 0).then_some(bar - before..bar + 1 + after)
        })
    }

    /// What repeats a generator: `[a-z]{3}+`. In `[a-z]{3}+tag` the plus may be meant as it is.
    fn find_repeated_generator(&self) -> Option<Range<usize>> {
        let len = quantifier_len(self.text);
        let is_last = !self.precedes_generator && matches!(&self.text[len..], "" | "$");
        (self.follows_generator && len > 0 && (is_last || self.text.starts_with('{'))).then_some(0..len)
    }

    /// A character and what repeats it. A plus or a star after a letter may be meant as it is, unless it is the last
    /// character, or nothing in the expression is random. A question mark may begin the query of an address.
    fn find_repetition(&self) -> Option<Range<usize>> {
        let text = self.text;
        let is_address = text.contains(['/', '=']);
        let mut before: Option<(usize, char)> = None;
        for (at, character) in text.char_indices() {
            let len = quantifier_len(&text[at..]);
            if let Some((start, repeated)) = before.filter(|_| len > 0 && !(character == '?' && is_address)) {
                let is_class = ends_with_class(&text[..at]);
                let next = text[at + len..].chars().next();
                let is_last = next.is_none() && !self.precedes_generator;
                let in_word = character == '?' && next.is_some_and(|it| it.is_ascii_alphanumeric());
                let is_meant = is_last || in_word || self.is_all_literal && character != '?';
                if is_class || repeated == '.' || character == '{' || is_meant && repeated.is_ascii_alphanumeric() {
                    let start = if is_class { at - 2 } else { start };
                    return Some(start..at + len);
                }
            }
            before = Some((at, character));
        }
        None
    }

    /// `^` at the start of the expression, or `$` at its end, beside a generator or around a text.
    fn find_anchor(&self) -> Option<Range<usize>> {
        let text = self.text;
        let (is_first, is_last) = (!self.follows_generator, !self.precedes_generator);
        let is_around = text.len() > 2 && text.starts_with('^') && text.ends_with('$');
        if is_first && text.starts_with('^') && (!self.is_all_literal || is_around) {
            return Some(0..1);
        }
        (is_last && self.follows_generator && text == "$").then_some(0..1)
    }
}

/// `[a-z]`, `[abc]{3}`, `[^a]+`.
fn find_brackets(text: &str) -> Option<Range<usize>> {
    let open = text.find('[')?;
    let close = open + text[open..].find(']')? + 1;
    let end = close + quantifier_len(&text[close..]);
    (end > close || text[open..close].contains('-')).then_some(open..end)
}

/// `(foo|bar)`, with what repeats it.
fn find_group(text: &str) -> Option<Range<usize>> {
    let open = text.find('(')?;
    let close = open + text[open..].find(')')? + 1;
    let end = close + quantifier_len(&text[close..]);
    (end > close || text[open..close].contains('|')).then_some(open..end)
}

/// `\d` or `\w` that no letter follows, as one does in `C:\data`.
fn find_class(text: &str) -> Option<Range<usize>> {
    memchr::memchr_iter(b'\\', text.as_bytes()).find_map(|start| {
        let mut after = text[start + 1..].chars();
        let is_class = matches!(after.next(), Some('w' | 'd'));
        (is_class && !after.next().is_some_and(|it| it.is_ascii_alphanumeric())).then_some(start..start + 2)
    })
}

fn ends_with_class(text: &str) -> bool {
    const CLASSES: [&str; 5] = ["\\w", "\\d", "\\s", "\\a", "\\A"];
    CLASSES.iter().any(|it| text.ends_with(it))
}

/// The length of `{3}`, `{1,3}`, `+`, `*` or `?` at the start of a text.
fn quantifier_len(text: &str) -> usize {
    match text.bytes().next() {
        Some(b'+' | b'*' | b'?') => 1,
        Some(b'{') => {
            let inner = text[1..].bytes().take_while(|it| it.is_ascii_digit() || *it == b',').count();
            if inner > 0 && text.as_bytes().get(1 + inner) == Some(&b'}') { inner + 2 } else { 0 }
        }
        _ => 0,
    }
}

struct GeneratorMatch {
    /// The range of `[…]{n}`.
    range: Range<usize>,
    /// The range of `[…]`.
    bracket: Range<usize>,
    /// The range of `n`.
    length: Range<usize>,
}

/// Finds the next `[…]{n}`: one or more of `[A-Za-z0-9\-\\]` in brackets, followed by digits in braces.
fn find_generator(text: &str, from: usize) -> Option<GeneratorMatch> {
    let bytes = text.as_bytes();
    let inside = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'\\');
    let mut at = from;
    while let Some(skipped) = memchr::memchr(b'[', &bytes[at..]) {
        let open = at + skipped;
        at = open + 1;
        let close = at + bytes[at..].iter().take_while(|it| inside(it)).count();
        if close == at || !bytes[close..].starts_with(b"]{") {
            continue;
        }
        let digits = close + 2..close + 2 + bytes[close + 2..].iter().take_while(|it| it.is_ascii_digit()).count();
        if digits.is_empty() || bytes.get(digits.end) != Some(&b'}') {
            continue;
        }
        return Some(GeneratorMatch { range: open..digits.end + 1, bracket: open..close + 1, length: digits });
    }
    None
}

fn parse_random(text: &str, found: &GeneratorMatch, ends: RangeEnds) -> Result<RandomCharacters, GeneratorProblem> {
    let bracket = &text[found.bracket.clone()];
    let inner = &bracket[1..bracket.len() - 1];
    if !is_well_formed(inner) {
        return Err(GeneratorProblem::Malformed(bracket.to_owned()));
    }
    let digits = &text[found.length.clone()];
    let length = digits.parse().unwrap_or(usize::MAX);
    if !(1..=255).contains(&length) {
        return Err(GeneratorProblem::Length(digits.to_owned()));
    }
    let (mut alphabet, mut excluded_ends) = (String::new(), String::new());
    for (first, last) in split_ranges(inner) {
        match class_characters(first, last) {
            Some(class) => alphabet.push_str(class),
            None => {
                let place = |it: u8| ORDER.find(char::from(it));
                let (Some(start), Some(end)) = (place(first), place(last)) else { continue };
                if start > end {
                    return Err(GeneratorProblem::Range(first.into(), last.into()));
                }
                alphabet.push_str(&ORDER[start..end]);
                // A single character is read as a range from itself to itself, without a written end.
                if first != last || inner.contains(&format!("{}-{}", char::from(first), char::from(last))) {
                    excluded_ends.push(last.into());
                }
            }
        }
    }
    if ends == RangeEnds::Inclusive {
        alphabet.push_str(&excluded_ends);
        excluded_ends.clear();
    }
    let alphabet = distinct(&alphabet, "");
    let excluded_ends = distinct(&excluded_ends, &alphabet);
    if alphabet.is_empty() {
        return Err(GeneratorProblem::Empty(bracket.to_owned()));
    }
    Ok(RandomCharacters { range: found.range.clone(), alphabet, excluded_ends, length, is_plain: is_plain(inner) })
}

/// Whether the brackets start with a class or end with a range.
fn is_well_formed(inner: &str) -> bool {
    let bytes = inner.as_bytes();
    let begins = matches!(bytes, [b'\\', b'w' | b'd' | b'a' | b'A', ..]);
    let ends = matches!(bytes, [.., from, b'-', to] if from.is_ascii_alphanumeric() && to.is_ascii_alphanumeric());
    begins || ends
}

/// Whether the brackets contain only ranges or only classes.
fn is_plain(inner: &str) -> bool {
    let bytes = inner.as_bytes();
    let is_range =
        |it: &[u8]| matches!(it, [from, b'-', to] if from.is_ascii_alphanumeric() && to.is_ascii_alphanumeric());
    let is_class = |it: &[u8]| matches!(it, [b'\\', b'w' | b'd' | b'a' | b'A']);
    bytes.chunks(3).all(is_range) || bytes.chunks(2).all(is_class)
}

/// Splits the brackets into ranges: an optional backslash, a character, an optional dash, an optional character. The
/// first and the last byte of each are its start and end.
fn split_ranges(inner: &str) -> Vec<(u8, u8)> {
    let bytes = inner.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + usize::from(bytes[at] == b'\\');
        if !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
            at += 1;
            continue;
        }
        end += 1;
        end += usize::from(bytes.get(end) == Some(&b'-'));
        end += usize::from(bytes.get(end).is_some_and(u8::is_ascii_alphanumeric));
        found.push((bytes[at], bytes[end - 1]));
        at = end;
    }
    found
}

fn class_characters(first: u8, last: u8) -> Option<&'static str> {
    const WORD: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    match (first, last) {
        (b'\\', b'w') => Some(WORD),
        (b'\\', b'd') => Some(&ORDER[DIGITS]),
        // The documentation says letters; the implementation includes digits.
        (b'\\', b'a') => Some(&ORDER[LETTERS.start..DIGITS.end]),
        (b'\\', b'A') => Some(&ORDER[SYMBOLS]),
        _ => None,
    }
}

/// The characters of `text` that are not in `without`, each once.
fn distinct(text: &str, without: &str) -> String {
    let mut result = String::new();
    for it in text.chars() {
        if !result.contains(it) && !without.contains(it) {
            result.push(it);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The characters of the first generator.
    fn alphabet(expression: &str, ends: RangeEnds) -> String {
        let parts = parse_generator(expression, ends).unwrap_or_else(|error| panic!("{expression}: {}", error.problem));
        let random =
            parts.into_iter().find_map(|it| if let GeneratorPart::Random(it) = it { Some(it.alphabet) } else { None });
        random.unwrap_or_default()
    }

    #[test]
    fn possible_characters_of_expressions() {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        for (expression, expected) in [
            ("[0-1]{8}", "0"),
            ("[y-z]{4}", "y"),
            ("[A-F0-9]{4}", "ABCDE012345678"),
            ("x[a-c]{3}y", "ab"),
            ("[\\d]{2}", "0123456789"),
            ("[a-Z]{1}", &letters[..51]),
            ("[\\wa-z]{3}", &ORDER[..62]),
            ("[\\da-f]{3}", &ORDER[..62]),
            ("[\\zA-C]{3}", &ORDER[62..]),
            ("[abA-C]{3}", "aAB"),
            ("[a0-9]{3}", letters),
            ("[\\a]{1}", &ORDER[..62]),
            ("[\\A]{1}", &ORDER[62..]),
        ] {
            assert_eq!(alphabet(expression, RangeEnds::Exclusive), expected, "{expression}");
        }
        assert_eq!(alphabet("[\\w]{50}", RangeEnds::Exclusive).len(), 63);
        assert_eq!(alphabet("[\\w\\A]{5}", RangeEnds::Exclusive).len(), 94);
        assert_eq!(alphabet("[0-1]{8}", RangeEnds::Inclusive), "01");
        assert_eq!(alphabet("[a-a]{3}", RangeEnds::Inclusive), "a");
    }

    #[test]
    fn other_brackets_are_literal() {
        let expressions = [
            "[a-z]",
            "[a-z]{1,3}",
            "[a-z]+",
            "\\w{5}",
            "[a-zA-Z0-9_]{8}",
            "[^a-z]{3}",
            "[a-z ]{3}",
            "[]{3}",
            "[a-z]{}",
            "plain",
            "",
        ];
        for expression in expressions {
            let parts = parse_generator(expression, RangeEnds::Exclusive).expect(expression);
            assert_eq!(generate_value(&parts, &mut |_| 0), expression);
        }
        let found: Vec<&str> = expressions.iter().filter(|it| find_literal_pattern(it).is_some()).copied().collect();
        assert_eq!(found, expressions[..9]);
        for (expression, expected) in [
            ("(foo|bar)+", Some("(foo|bar)+")),
            ("a+", Some("a+")),
            ("pin-x{3}", Some("x{3}")),
            ("[a-z]{2}.{4}", Some(".{4}")),
            ("id.*", Some(".*")),
            ("\\d+[a-z]{3}", Some("\\d+")),
            ("[a-z]{3}-[0-9]{2}a*", Some("a*")),
            ("^[a-z]{3}$", Some("^")),
            ("[a-z]{3}$", Some("$")),
            ("^(a|b)$", Some("(a|b)")),
            ("^abc$", Some("^")),
            ("[a-z]{3}+", Some("+")),
            ("[a-z]{3}{2}x", Some("{2}")),
            ("colou?r", Some("u?")),
            ("colou?r-[a-z]{3}", Some("u?")),
            ("foo|bar", Some("foo|bar")),
            ("[a-z]{3}|[0-9]{3}", Some("|")),
            ("\\d\\d-[a-z]{3}", Some("\\d")),
            ("auth0|[a-z]{4}", None),
            ("https://example.com/a?b=[a-z]{4}", None),
            ("Really? [a-z]{4}", None),
            ("[a-z]{4}+shop@example.com", None),
            ("cost: [0-9]{2} $", None),
            ("C:\\data\\[a-z]{4}", None),
            ("^x", None),
            ("me+[a-z]{4}@example.com", None),
            ("C++ (draft) [a-z]{4}", None),
            ("{[a-z]{4}}", None),
            ("user[A-Z0-9]{3}", None),
            ("a.b.c", None),
            ("plain", None),
        ] {
            assert_eq!(find_literal_pattern(expression).map(|it| &expression[it]), expected, "{expression}");
        }
        assert_eq!(find_literal_pattern("[a-z]{3}[a-z_]{4}x"), Some(8..17));
    }

    #[test]
    fn refused_expressions() {
        let empty = |it: &str| GeneratorProblem::Empty(it.into());
        let malformed = |it: &str| GeneratorProblem::Malformed(it.into());
        for (expression, expected) in [
            ("[a-z]{0}", GeneratorProblem::Length("0".into())),
            ("[a-z]{256}", GeneratorProblem::Length("256".into())),
            ("[a-z]{99999999999999999999}", GeneratorProblem::Length("99999999999999999999".into())),
            ("[abc]{3}", malformed("[abc]")),
            ("[a-z0]{3}", malformed("[a-z0]")),
            ("[a-z-]{3}", malformed("[a-z-]")),
            ("[\\z]{3}", malformed("[\\z]")),
            ("[A-z]{3}", GeneratorProblem::Range('A', 'z')),
            ("[0-z]{3}", GeneratorProblem::Range('0', 'z')),
            ("[Z-A]{3}", GeneratorProblem::Range('Z', 'A')),
            ("[a-a]{3}", empty("[a-a]")),
            ("x[0-0]{2}", empty("[0-0]")),
        ] {
            let error = parse_generator(expression, RangeEnds::Exclusive).expect_err(expression);
            assert_eq!(error.problem, expected, "{expression}");
        }
        assert_eq!(parse_generator("[a-z]{007}", RangeEnds::Exclusive).map(|it| it.len()), Ok(1));
    }

    #[test]
    fn misread_brackets() {
        let plain = |expression: &str| match parse_generator(expression, RangeEnds::Exclusive)
            .expect(expression)
            .swap_remove(0)
        {
            GeneratorPart::Random(it) => it.is_plain,
            GeneratorPart::Text(_) => panic!("{expression} is text"),
        };
        for expression in ["[a-zA-Z0-9]{8}", "[\\w]{5}", "[\\d\\A]{5}"] {
            assert!(plain(expression), "{expression}");
        }
        for expression in ["[\\wa-z]{5}", "[a0-9]{5}", "[abA-C]{3}", "[\\da-f]{3}"] {
            assert!(!plain(expression), "{expression}");
        }
    }

    #[test]
    fn all_possible_characters_are_generated() {
        // A linear congruential generator: every run generates the same numbers.
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap_or(0) % below
        };
        for expression in ["[\\w]{255}", "[a-zA-Z0-9]{255}", "[\\A]{255}", "[A-F0-9]{255}"] {
            let parts = parse_generator(expression, RangeEnds::Exclusive).expect(expression);
            let allowed = alphabet(expression, RangeEnds::Exclusive);
            let mut counts = vec![0_usize; allowed.len()];
            let rounds = 100;
            for _ in 0..rounds {
                let value = generate_value(&parts, &mut random);
                assert_eq!(value.len(), 255);
                for it in value.chars() {
                    counts[allowed.find(it).unwrap_or_else(|| panic!("{expression} gave {it}"))] += 1;
                }
            }
            let expected = 255 * rounds / allowed.len();
            let fair = |count: &usize| (expected / 2..expected * 2).contains(count);
            assert!(counts.iter().all(fair), "{expression}: {counts:?}");
        }
    }
}
