//! Edits that add items to a list or entries to a mapping, in the style of the existing ones.
//!
//! As in `edit`, the result is parsed again, and if it does not have the intended content, there is no edit.

use crate::syntax::documents::parse;
use crate::syntax::edit::{TextEdit, ends_with_kept_line_breaks, line_end, line_start};
use crate::syntax::green::CollectionStyle;
use crate::syntax::node::{Node, NodeKind};
use crate::syntax::yaml_value::YamlValue;
use crate::text::Span;

/// Where new items are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertPosition {
    /// Before the existing items.
    First,
    /// After the existing items.
    Last,
}

/// Adds items to a list. `None` if the list is an alias, or if its lines cannot be separated from other text.
pub fn add_items(text: &str, list: Node<'_>, new: &[YamlValue], position: InsertPosition) -> Option<TextEdit> {
    let items: Vec<Node<'_>> = list.items().collect();
    if list.alias().is_some() || new.is_empty() {
        return None;
    }
    let edit = match (list.kind(), items.first(), items.last()) {
        (NodeKind::Sequence(CollectionStyle::Flow), first, last) => {
            let style = FlowStyle::detect(text, list, last.map(|it| it.span()));
            let new: Option<Vec<String>> = new.iter().map(|it| style.value(it)).collect();
            flow(list, first.map(|it| it.span().start), last.map(|it| it.span().end), &new?, position, &style)
        }
        (NodeKind::Sequence(CollectionStyle::Block), Some(first), Some(last)) => {
            let dash = dash_of(text, *first)?;
            let column = dash - line_start(text, dash);
            let new: Option<Vec<String>> = new.iter().map(|it| item(it, column, text)).collect();
            let new = new?.concat();
            match position {
                InsertPosition::First => {
                    // If another dash or a key is before the dash, the line does not belong to the list alone.
                    let is_own = text[line_start(text, dash)..dash].bytes().all(|it| it == b' ');
                    if !is_own {
                        return None;
                    }
                    let start = line_start(text, dash);
                    TextEdit { span: Span::new(start, start), text: new }
                }
                InsertPosition::Last => lines_after(text, *last, &new)?,
            }
        }
        _ => return None,
    };
    let reads = |before: Node<'_>, after: Node<'_>| {
        let old = before.items().count();
        let all: Vec<Node<'_>> = after.items().collect();
        let fresh = if position == InsertPosition::First { all.get(..new.len()) } else { all.get(old..) };
        all.len() == old + new.len()
            && fresh.is_some_and(|it| it.iter().zip(new).all(|(node, meant)| has_content(*node, meant)))
    };
    if_result_is(text, list, edit, reads)
}

/// Adds an entry at the end of a mapping. `None` if the key exists, if the mapping is an alias, or if its lines cannot
/// be separated from other text.
pub fn add_entry(text: &str, mapping: Node<'_>, key: &str, value: &YamlValue) -> Option<TextEdit> {
    add_entries(text, mapping, &[(key.to_owned(), value.clone())])
}

/// Adds entries at the end of a mapping, as [`add_entry`] does.
pub fn add_entries(text: &str, mapping: Node<'_>, new: &[(String, YamlValue)]) -> Option<TextEdit> {
    let entries: Vec<(Node<'_>, Option<Node<'_>>)> = mapping.own_entries().collect();
    if mapping.alias().is_some() || new.is_empty() || new.iter().any(|(key, _)| mapping.entry(key).is_some()) {
        return None;
    }
    let edit = match (mapping.kind(), entries.first(), entries.last()) {
        (NodeKind::Mapping(CollectionStyle::Flow), first, last) => {
            let start = first.map(|(key, _)| key.span().start);
            let end = last.map(|(key, value)| value.map_or(key.span().end, |it| it.span().end));
            let last = start.and(last).map(|(key, _)| Span::new(key.span().start, end.unwrap_or_default()));
            let style = FlowStyle::detect(text, mapping, last);
            let new: Option<Vec<String>> = new.iter().map(|(key, value)| style.entry(key, value)).collect();
            flow(mapping, start, end, &new?, InsertPosition::Last, &style)
        }
        (NodeKind::Mapping(CollectionStyle::Block), Some((first, _)), Some((last_key, last_value))) => {
            let start = first.span().start;
            let column = start - line_start(text, start);
            let block = YamlValue::Map(new.to_vec()).to_block()?;
            lines_after(text, last_value.unwrap_or(*last_key), &indented(&block, column, text))?
        }
        _ => return None,
    };
    let reads = |before: Node<'_>, after: Node<'_>| {
        after.own_entries().count() == before.own_entries().count() + new.len()
            && new.iter().all(|(key, value)| after.get(key).is_some_and(|node| has_content(node, value)))
    };
    if_result_is(text, mapping, edit, reads)
}

/// Adds members between brackets.
fn flow(
    node: Node<'_>,
    first: Option<usize>,
    last: Option<usize>,
    new: &[String],
    position: InsertPosition,
    style: &FlowStyle<'_>,
) -> TextEdit {
    let between = style.between();
    let new = new.join(&between);
    match (first, last) {
        (Some(at), Some(_)) if position == InsertPosition::First => {
            TextEdit { span: Span::new(at, at), text: format!("{new}{between}") }
        }
        (Some(_), Some(at)) => TextEdit { span: Span::new(at, at), text: format!("{between}{new}") },
        _ => TextEdit {
            span: node.span(),
            text: if node.is_sequence() { format!("[{new}]") } else { format!("{{{new}}}") },
        },
    }
}

/// How the members of a collection in brackets are written.
struct FlowStyle<'t> {
    /// Whether they are written as JSON.
    is_json: bool,
    line_break: &'static str,
    /// The indentation of each member, if each is on a separate line.
    lead: Option<&'t str>,
    /// The additional indentation of the lines inside a member, if it has several lines.
    step: Option<&'t str>,
}

impl<'t> FlowStyle<'t> {
    fn detect(text: &'t str, node: Node<'_>, last: Option<Span>) -> Self {
        // A flow collection inside a block document may look like JSON but is YAML.
        let root = node.document().root().map(Node::kind);
        let is_json =
            matches!(root, Some(NodeKind::Mapping(CollectionStyle::Flow) | NodeKind::Sequence(CollectionStyle::Flow)))
                && serde_json::from_str::<serde::de::IgnoredAny>(&text[node.span().range()]).is_ok();
        let is_indentation = |it: &&str| it.bytes().all(|it| matches!(it, b' ' | b'\t'));
        let lead = last.map(|it| &text[line_start(text, it.start)..it.start]).filter(is_indentation);
        let step = last.zip(lead).and_then(|(last, lead)| {
            let second = text[last.range()].split_once('\n')?.1;
            let indent = &second[..second.len() - second.trim_start_matches([' ', '\t']).len()];
            indent.strip_prefix(lead).filter(|it| !it.is_empty())
        });
        Self { is_json, line_break: line_break(text), lead, step: step.filter(|_| is_json) }
    }

    fn between(&self) -> String {
        self.lead.map_or_else(|| ", ".to_owned(), |lead| format!(",{}{lead}", self.line_break))
    }

    fn value(&self, value: &YamlValue) -> Option<String> {
        if self.is_json { self.json(value, self.lead.unwrap_or_default()) } else { value.to_flow() }
    }

    fn entry(&self, key: &str, value: &YamlValue) -> Option<String> {
        if self.is_json {
            let value = self.json(value, self.lead.unwrap_or_default())?;
            return Some(format!("{}: {value}", serde_json::to_string(key).ok()?));
        }
        let whole = YamlValue::Map(vec![(key.to_owned(), value.clone())]).to_flow()?;
        Some(whole.strip_prefix('{')?.strip_suffix('}')?.to_owned())
    }

    /// A value as JSON, on several lines if the existing members are.
    fn json(&self, value: &YamlValue, lead: &str) -> Option<String> {
        let inner = format!("{lead}{}", self.step.unwrap_or_default());
        let (open, between, close) = match self.step {
            Some(_) => {
                let end = self.line_break;
                (format!("{end}{inner}"), format!(",{end}{inner}"), format!("{end}{lead}"))
            }
            None => (String::new(), ", ".to_owned(), String::new()),
        };
        Some(match value {
            YamlValue::Map(entries) if !entries.is_empty() => {
                let entry = |(key, value): &(String, YamlValue)| {
                    Some(format!("{}: {}", serde_json::to_string(key).ok()?, self.json(value, &inner)?))
                };
                let all: Option<Vec<String>> = entries.iter().map(entry).collect();
                format!("{{{open}{}{close}}}", all?.join(&between))
            }
            YamlValue::List(items) if !items.is_empty() => {
                let all: Option<Vec<String>> = items.iter().map(|it| self.json(it, &inner)).collect();
                format!("[{open}{}{close}]", all?.join(&between))
            }
            YamlValue::Text(text) | YamlValue::Commented(text, _) => serde_json::to_string(text).ok()?,
            other => other.to_flow()?,
        })
    }
}

/// Adds lines after the last line of a node.
fn lines_after(text: &str, last: Node<'_>, new: &str) -> Option<TextEdit> {
    if ends_with_kept_line_breaks(text, last) {
        return None;
    }
    let end = last.span().start + text[last.span().range()].trim_end().len();
    let at = line_end(text, end);
    let line_break = line_break(text);
    let new = format!("{line_break}{}", new.strip_suffix(line_break).unwrap_or(new));
    Some(TextEdit { span: Span::new(at, at), text: new })
}

/// The lines of an item of a block list, dash included.
fn item(it: &YamlValue, column: usize, text: &str) -> Option<String> {
    let lines = indented(&it.to_block()?, column + 2, text);
    Some(format!("{}- {}", " ".repeat(column), lines.get(column + 2..)?))
}

/// Lines with an indentation added.
fn indented(block: &str, column: usize, text: &str) -> String {
    let indent = " ".repeat(column);
    let line_break = line_break(text);
    let line = |line: &str| if line.is_empty() { line_break.to_owned() } else { format!("{indent}{line}{line_break}") };
    block.lines().map(line).collect()
}

fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The offset of the dash of an item.
fn dash_of(text: &str, item: Node<'_>) -> Option<usize> {
    let before = text[..item.span().start].trim_end_matches(' ');
    before.ends_with('-').then(|| before.len() - 1)
}

/// Parses the changed collection separately, at its column, and returns the edit if `reads` accepts the result.
fn if_result_is(
    text: &str,
    node: Node<'_>,
    edit: TextEdit,
    reads: impl Fn(Node<'_>, Node<'_>) -> bool,
) -> Option<TextEdit> {
    let span = node.span();
    let start = span.start.min(edit.span.start);
    let end = span.end.max(edit.span.end);
    // The span of a block list begins at its first dash, which is before its first item.
    let first = line_start(text, start);
    let lead = " ".repeat(span.start.max(first) - first);
    let old = format!("{lead}{}", &text[span.start..end]);
    let mut new = text[first..end].to_owned();
    new.replace_range(edit.span.start - first..edit.span.end - first, &edit.text);
    // The text before the collection on its line is replaced with spaces.
    if edit.span.start >= span.start {
        new.replace_range(..span.start - first, &lead);
    }
    let (before, after) = (parse(&old), parse(&new));
    let root = |tree: &'_ crate::syntax::Tree| tree.documents().filter(|it| it.root().is_some()).count() == 1;
    if !root(&before) || !root(&after) || after.errors().len() > before.errors().len() {
        return None;
    }
    let before = before.documents().find_map(|it| it.root())?;
    let holds = after.documents().find_map(|it| it.root()).is_some_and(|after| reads(before, after));
    holds.then_some(edit)
}

/// Whether a node has the intended content.
fn has_content(node: Node<'_>, meant: &YamlValue) -> bool {
    YamlValue::from_node(node, "", &|_| None).is_some_and(|it| it.is_equivalent(meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, change: impl Fn(Node<'_>) -> Option<TextEdit>) -> Option<String> {
        let tree = parse(text);
        let edit = change(tree.documents().next()?.root()?.get("k")?)?;
        let mut after = text.to_owned();
        after.replace_range(edit.span.range(), &edit.text);
        Some(after)
    }

    fn service(name: &str) -> YamlValue {
        YamlValue::map([("service", YamlValue::map([("name", YamlValue::text(name))]))])
    }

    #[test]
    fn items_are_added_on_either_side() {
        let add = |text: &str, side| after(text, |list| add_items(text, list, &[service("a")], side));
        let block = "k:\n  # all\n  - b # one\n  - c:\n      d\n# end\ne: f\n";
        assert_eq!(
            add(block, InsertPosition::Last).as_deref(),
            Some("k:\n  # all\n  - b # one\n  - c:\n      d\n  - service:\n      name: a\n# end\ne: f\n")
        );
        assert_eq!(
            add(block, InsertPosition::First).as_deref(),
            Some("k:\n  # all\n  - service:\n      name: a\n  - b # one\n  - c:\n      d\n# end\ne: f\n")
        );
        assert_eq!(add("k: [b, c ]\n", InsertPosition::Last).as_deref(), Some("k: [b, c, {service: {name: a}} ]\n"));
        assert_eq!(add("k: [b]\n", InsertPosition::First).as_deref(), Some("k: [{service: {name: a}}, b]\n"));
        assert_eq!(add("k: []\n", InsertPosition::First).as_deref(), Some("k: [{service: {name: a}}]\n"));
        let json = "{\"k\": [{\"b\": 1}]}";
        assert_eq!(
            add(json, InsertPosition::Last).as_deref(),
            Some("{\"k\": [{\"b\": 1}, {\"service\": {\"name\": \"a\"}}]}")
        );
        let json = "{\n\t\"k\": [\n\t\t{\n\t\t\t\"b\": 1\n\t\t}\n\t]\n}\n";
        assert_eq!(
            add(json, InsertPosition::Last).as_deref(),
            Some(&*json.replace(
                "\t\t}\n\t]",
                "\t\t},\n\t\t{\n\t\t\t\"service\": {\n\t\t\t\t\"name\": \"a\"\n\t\t\t}\n\t\t}\n\t]"
            ))
        );
        assert_eq!(add("k:\r\n- b", InsertPosition::Last).as_deref(), Some("k:\r\n- b\r\n- service:\r\n    name: a"));
        assert_eq!(add("k:\n- |+\n  b\n\n", InsertPosition::Last), None);
    }

    #[test]
    fn entries_are_added_at_the_end() {
        let add = |text: &str, key: &str, value: YamlValue| after(text, |map| add_entry(text, map, key, &value));
        let text = "k:\n  a: b # c\n  d:\n    - e\nf: g\n";
        assert_eq!(
            add(text, "h", YamlValue::text("true")).as_deref(),
            Some("k:\n  a: b # c\n  d:\n    - e\n  h: \"true\"\nf: g\n")
        );
        assert_eq!(
            add("k: {a: b}\n", "h", YamlValue::List(vec![service("x")])).as_deref(),
            Some("k: {a: b, h: [{service: {name: x}}]}\n")
        );
        assert_eq!(add("k: {}\n", "h", YamlValue::Bool(false)).as_deref(), Some("k: {h: false}\n"));
        assert_eq!(add("k: {h: 1}\n", "h", YamlValue::Bool(false)), None);
        let listed = "k:\n  - name: a\n    image: b\n";
        let edit =
            after(listed, |list| add_entry(listed, list.items().next()?, "h", &YamlValue::List(vec![service("x")])));
        assert_eq!(
            edit.as_deref(),
            Some("k:\n  - name: a\n    image: b\n    h:\n      - service:\n          name: x\n")
        );
    }
}
