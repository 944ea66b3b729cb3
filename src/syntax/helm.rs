//! Helm templates as YAML: every action is replaced with text of the same length, so that offsets do not change.
//!
//! An action inside a line becomes a placeholder: a run of characters that do not occur in manifests. Lines that contain
//! only actions become empty lines; for those that may print something the key above them is recorded.

use memchr::memmem;

use crate::syntax::placeholders::{HELM, SHORT_HELM};
use crate::text::Span;

/// A template whose actions are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelmMask {
    /// The text with its actions masked, of the same length.
    pub text: String,
    /// Lines that contain only actions and may print something.
    pub outputs: Vec<HelmOutput>,
    /// All lines that contain only actions, in text order.
    pub lines: Vec<Span>,
}

/// Lines that contain only actions and may print something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmOutput {
    /// The lines.
    pub span: Span,
    /// The key below which they print, if the indentation makes it certain.
    pub key: Option<Box<str>>,
}

/// Masks the actions of a text; `None` if it has none.
pub fn mask_helm_actions(text: &str) -> Option<HelmMask> {
    let regions = regions(text, actions(text)?);
    let mut mask = HelmMask { text: String::with_capacity(text.len()), ..HelmMask::default() };
    let mut printing = Vec::new();
    let mut at = 0;
    let mut regions = regions.into_iter().peekable();
    while let Some(first) = regions.next() {
        let line_start = text[..first.span.start].rfind('\n').map_or(0, |end| end + 1).max(at);
        let begins = at <= line_start && text[line_start..first.span.start].trim().is_empty();
        let mut group = vec![first];
        while let Some(next) = regions.next_if(|next| {
            let between = &text[group[group.len() - 1].span.end..next.span.start];
            between.bytes().all(|byte| byte == b' ' || byte == b'\t')
        }) {
            group.push(next);
        }
        let end = group[group.len() - 1].span.end;
        let line_end_after = |end: usize| text[end..].find('\n').map_or(text.len(), |len| end + len);
        let mut line_end = line_end_after(end);
        let rest = text[end..line_end].trim_start();
        if begins && (rest.is_empty() || rest.starts_with('#')) {
            // Actions in the comment belong to it, and may span several lines.
            while let Some(next) = regions.next_if(|next| next.span.start < line_end) {
                line_end = line_end_after(next.span.end);
                group.push(next);
            }
            mask.text.push_str(&text[at..line_start]);
            mask.text.extend(std::iter::repeat_n('\n', line_end - line_start));
            let span = Span::new(line_start, line_end);
            mask.lines.push(span);
            let indent = |region: &MaskedRegion| {
                let column = region.span.start - text[..region.span.start].rfind('\n').map_or(0, |end| end + 1);
                region.indent.unwrap_or(column)
            };
            printing.extend(group.iter().filter(|it| it.prints).map(|it| (span, indent(it))));
            at = line_end;
        } else {
            for region in group {
                mask.text.push_str(&text[at..region.span.start]);
                push_placeholder(region.span.len(), &mut mask.text);
                at = region.span.end;
            }
        }
    }
    mask.text.push_str(&text[at..]);
    let owned = |(span, indent): (Span, usize)| HelmOutput { span, key: owner(&mask.text[..span.start], indent) };
    mask.outputs = printing.into_iter().map(owned).collect();
    Some(mask)
}

/// Appends a placeholder of `len` bytes.
fn push_placeholder(len: usize, into: &mut String) {
    let short = match len % 3 {
        0 => 0,
        1 => 2,
        _ => 1,
    };
    into.extend(std::iter::repeat_n(HELM, len.saturating_sub(short * 2) / 3));
    into.extend(std::iter::repeat_n(SHORT_HELM, short));
}

/// An action `{{ … }}`.
struct HelmAction {
    span: Span,
    kind: ActionKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ActionKind {
    /// `if`, `range`, `with`, `define`, `block`
    Open,
    /// `end`
    Close,
    /// `else`, comments, assignments: they print nothing.
    Quiet,
    /// Anything else.
    Print,
}

/// A span that is masked as a unit: an action, or a whole `{{ if }}…{{ end }}` inside a line.
struct MaskedRegion {
    span: Span,
    prints: bool,
    /// The argument of `nindent`.
    indent: Option<usize>,
}

/// The actions of a text; `None` if there are none.
fn actions(text: &str) -> Option<Vec<HelmAction>> {
    let bytes = text.as_bytes();
    let finder = memmem::Finder::new(b"{{");
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = finder.find(&bytes[at..]) {
        let start = at + next;
        let end = action_end(bytes, start + 2)
            .unwrap_or_else(|| memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |len| start + len));
        let inner = text[start + 2..end].trim_end_matches('}').trim_matches('-').trim();
        found.push(HelmAction { span: Span::new(start, end), kind: kind(inner) });
        at = end;
    }
    (!found.is_empty()).then_some(found)
}

fn kind(inner: &str) -> ActionKind {
    let word = inner.split(|it: char| !it.is_ascii_alphanumeric()).next().unwrap_or_default();
    match word {
        "if" | "range" | "with" | "define" | "block" => ActionKind::Open,
        "end" => ActionKind::Close,
        "else" | "break" | "continue" => ActionKind::Quiet,
        _ if inner.starts_with("/*") => ActionKind::Quiet,
        // `$x := …` and `$x = …`
        _ if inner.starts_with('$') => {
            let after = inner[1..].trim_start_matches(|it: char| it.is_alphanumeric() || it == '_').trim_start();
            let assigns = after.starts_with(":=") || after.starts_with('=') && !after.starts_with("==");
            if assigns { ActionKind::Quiet } else { ActionKind::Print }
        }
        _ => ActionKind::Print,
    }
}

/// The end of the action that begins at `start`. A `}}` in a string or comment does not end it.
fn action_end(bytes: &[u8], start: usize) -> Option<usize> {
    let inner = bytes.get(start..)?;
    let trimmed = inner.strip_prefix(b"-").unwrap_or(inner).trim_ascii_start();
    if trimmed.starts_with(b"/*") {
        let comment = start + memmem::find(inner, b"*/")?;
        return Some(comment + memmem::find(&bytes[comment..], b"}}")? + 2);
    }
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'}' if bytes.get(at + 1) == Some(&b'}') => return Some(at + 2),
            b'`' => at += 1 + memchr::memchr(b'`', &bytes[at + 1..])?,
            b'"' | b'\'' => {
                at += 1;
                while *bytes.get(at)? != byte {
                    if bytes[at] == b'\n' {
                        return None;
                    }
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Joins the actions of each `{{ if }}…{{ end }}` that is inside one line.
fn regions(text: &str, actions: Vec<HelmAction>) -> Vec<MaskedRegion> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = actions.get(at) {
        let line_end = text[first.span.end..].find('\n').map_or(text.len(), |len| first.span.end + len);
        let mut last = at;
        if first.kind == ActionKind::Open {
            let mut depth = 0_usize;
            let same_line = actions[at..].iter().take_while(|it| it.span.end <= line_end);
            for (index, action) in same_line.enumerate() {
                match action.kind {
                    ActionKind::Open => depth += 1,
                    ActionKind::Close => depth -= 1,
                    ActionKind::Quiet | ActionKind::Print => {}
                }
                if depth == 0 {
                    last = at + index;
                    break;
                }
            }
        }
        let span = Span::new(first.span.start, actions[last].span.end);
        let prints = last > at || first.kind == ActionKind::Print;
        found.push(MaskedRegion { span, prints, indent: indent(&text[span.range()]) });
        at = last + 1;
    }
    found
}

/// The argument of `nindent` or `indent`.
fn indent(action: &str) -> Option<usize> {
    let (_, after) = action.rsplit_once("indent ")?;
    let digits = after.trim_start();
    digits[..digits.bytes().take_while(u8::is_ascii_digit).count()].parse().ok()
}

/// The key that text printed at a column belongs to; `None` if that is not certain.
fn owner(before: &str, column: usize) -> Option<Box<str>> {
    let mut nearest = true;
    let mut passed_item = false;
    for line in before.lines().rev() {
        let content = line.trim_start_matches(' ');
        if content.is_empty() || content.starts_with('#') || content.starts_with('\r') {
            continue;
        }
        let indent = line.len() - content.len();
        let is_item = content.starts_with("- ") || content == "-";
        let inner = content.trim_start_matches(['-', ' ']);
        let inner_column = indent + (content.len() - inner.len());
        // A key without a value on its line.
        let key = inner.split_once(':').filter(|(_, value)| {
            let value = value.trim();
            value.is_empty() || value.starts_with('#')
        });
        let key = key.map(|(key, _)| key.trim_matches(['"', '\'']));
        if indent < column {
            return key.filter(|_| inner_column < column || (nearest && inner_column == column)).map(Box::from);
        }
        if indent == column && !is_item && (nearest || passed_item) {
            // A list may have the same column as its key.
            match key {
                Some(key) if passed_item || matches!(key, "env" | "envFrom") => return Some(key.into()),
                _ => {}
            }
        }
        passed_item |= indent == column && is_item;
        nearest = false;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;
    use crate::syntax::placeholders::{TextPart, has_placeholder, show_placeholders, split_placeholders};

    fn masked(text: &str) -> HelmMask {
        let mask = mask_helm_actions(text).expect("there are actions");
        assert_eq!(mask.text.len(), text.len());
        mask
    }

    #[test]
    fn offsets_stay_and_the_rest_is_yaml() {
        for text in [
            "a: {{ .x }}\nb: \"{{ .y | default \"}}\" }}\"\n",
            "{{- if .a }}\na: {{.}}\n{{- else }}\nb: {{`}}`}}\n{{- end -}}\n",
            "a: |\n  x {{ .ü }} y\n  {{- range .l }}\n  z\n  {{- end }}\nb: c\n",
            "a: {{ include \"x\"\n  (dict \"k\" \"v\") }}\nb: 1\n",
            "{{ .k }}: v\nl:\n- {{ .x }}\n- a{{ if .b }}, c{{ end }}d\n",
            "a:\n  {{- /* }} */ -}}\n  b: [{{ .x }}, \"{{ .y }}\"]\n",
            "a: b # {{ .c }}\n{{/*\nmany\nlines\n*/}}\nc: d\n",
        ] {
            let mask = masked(text);
            assert_eq!(parse(&mask.text).errors(), [], "{text}\n{}", mask.text);
            assert!(!mask.text.contains("{{"), "{}", mask.text);
        }
    }

    #[test]
    fn placeholders_are_found() {
        let mask = masked("x{{ a }}y{{b}}{{ c}}z");
        let parts = [TextPart::Text("x"), TextPart::Helm, TextPart::Text("y"), TextPart::Helm, TextPart::Text("z")];
        assert_eq!(split_placeholders(&mask.text), parts);
        assert_eq!(show_placeholders(&mask.text), "x<Helm expression>y<Helm expression>z");
        assert!(!has_placeholder("x y"));
    }

    #[test]
    fn an_unfinished_action_ends_with_its_line() {
        assert_eq!(show_placeholders(&masked("a: {{ .x\nb: c\n").text), "a: <Helm expression>\nb: c\n");
    }

    #[test]
    fn printed_lines_belong_to_a_key() {
        let text = "spec:\n  containers:\n    - name: a\n      env:\n        - name: A\n          value: b\n        {{- toYaml .e | nindent 8 }}\n      resources:\n        {{- toYaml .r | nindent 8 }}\n      {{- include \"more\" . | nindent 6 }}\n      envFrom:\n      {{- toYaml .f | nindent 6 }}\n      {{- if .x }}\n      args: []\n      {{- end }}\n";
        let mask = masked(text);
        let keys: Vec<_> = mask.outputs.iter().map(|it| it.key.as_deref()).collect();
        assert_eq!(keys, [Some("env"), Some("resources"), None, Some("envFrom")]);
        assert_eq!(mask.lines.len(), 6);
    }

    #[test]
    fn actions_in_the_comment_of_an_action_are_masked_with_it() {
        let text = "a: b\n{{ x }} # {{ y }}\n{{ x }} # {{ y\n }} c\nd: e\n";
        let mask = mask_helm_actions(text).expect("actions");
        assert_eq!(mask.text.trim_start_matches("a: b").trim(), "d: e");
        assert_eq!(mask.text.len(), text.len());
    }
}
