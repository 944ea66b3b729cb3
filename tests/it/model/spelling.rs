//! Objects as text in many styles: block, flow, quoted and tagged YAML, and JSON.

use super::case::Random;

/// A value of a manifest.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Map(Vec<(&'static str, Node)>),
    /// A map whose keys are data.
    Data(Vec<(String, Node)>),
    List(Vec<Node>),
    Str(String),
    Int(i64),
    Bool(bool),
}

pub(super) fn string(text: impl Into<String>) -> Node {
    Node::Str(text.into())
}

#[derive(Clone, Copy)]
struct Style {
    /// From this depth on everything is in flow style.
    flow_from: usize,
    json: bool,
    quote_keys: bool,
    tags: bool,
    /// Whether scalars may be plain or in blocks.
    free: bool,
}

/// The objects as one stream of documents, each in another style.
pub(super) fn write(objects: &[Node], random: &mut Random) -> String {
    let mut text = String::new();
    for object in objects {
        let style = match random.below(6) {
            0 => Style { flow_from: 0, json: true, quote_keys: true, tags: false, free: false },
            1 => Style { flow_from: 0, json: false, quote_keys: false, tags: false, free: true },
            2 => Style { flow_from: 99, json: false, quote_keys: true, tags: false, free: false },
            3 => Style { flow_from: 99, json: false, quote_keys: false, tags: true, free: false },
            4 => Style { flow_from: 1 + random.below(5), json: false, quote_keys: false, tags: false, free: true },
            _ => Style { flow_from: 99, json: false, quote_keys: false, tags: false, free: true },
        };
        text.push_str("---\n");
        node(object, style, 0, 0, random, &mut text);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

fn entries(map: &Node) -> Option<Vec<(String, &Node)>> {
    match map {
        Node::Map(entries) => Some(entries.iter().map(|(key, value)| ((*key).to_owned(), value)).collect()),
        Node::Data(entries) => Some(entries.iter().map(|(key, value)| (key.clone(), value)).collect()),
        _ => None,
    }
}

fn node(it: &Node, style: Style, depth: usize, indent: usize, random: &mut Random, out: &mut String) {
    let flow = depth >= style.flow_from;
    if let Some(entries) = entries(it) {
        if flow || entries.is_empty() {
            out.push('{');
            for (at, (name, value)) in entries.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&key(name, style));
                out.push_str(": ");
                node(value, Style { flow_from: 0, ..style }, depth + 1, indent, random, out);
            }
            out.push('}');
            return;
        }
        for (at, (name, value)) in entries.iter().enumerate() {
            if at > 0 {
                out.push_str(&" ".repeat(indent));
            }
            out.push_str(&key(name, style));
            out.push(':');
            child(value, style, depth, indent, random, out);
        }
        return;
    }
    match it {
        Node::List(items) if flow || items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                node(item, Style { flow_from: 0, ..style }, depth + 1, indent, random, out);
            }
            out.push(']');
        }
        Node::List(items) => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str("- ");
                node(item, style, depth + 1, indent + 2, random, out);
                if !out.ends_with('\n') {
                    out.push('\n');
                }
            }
        }
        Node::Str(text) => out.push_str(&scalar(text, style, flow, indent, random)),
        Node::Int(number) if style.tags => out.push_str(&format!("!!int \"{number}\"")),
        Node::Int(number) => out.push_str(&number.to_string()),
        Node::Bool(it) if style.tags => out.push_str(&format!("!!bool \"{it}\"")),
        Node::Bool(it) => out.push_str(&it.to_string()),
        Node::Map(_) | Node::Data(_) => unreachable!("maps are written above"),
    }
}

/// The value of a block entry: after the colon, or on the lines below it.
fn child(value: &Node, style: Style, depth: usize, indent: usize, random: &mut Random, out: &mut String) {
    let below = match value {
        Node::List(items) => !items.is_empty(),
        Node::Map(entries) => !entries.is_empty(),
        Node::Data(entries) => !entries.is_empty(),
        _ => false,
    } && depth + 1 < style.flow_from;
    if below {
        // A list may have the same indentation as its key.
        let deeper = if matches!(value, Node::List(_)) && random.below(2) == 0 { 0 } else { 2 };
        out.push('\n');
        out.push_str(&" ".repeat(indent + deeper));
        node(value, style, depth + 1, indent + deeper, random, out);
    } else {
        out.push(' ');
        node(value, style, depth + 1, indent + 2, random, out);
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

fn key(name: &str, style: Style) -> String {
    let plain = name.starts_with(|it: char| it.is_ascii_alphabetic()) && name != "y" && name != "n";
    if style.quote_keys || style.json || !plain { double(name) } else { name.to_owned() }
}

fn scalar(text: &str, style: Style, flow: bool, indent: usize, random: &mut Random) -> String {
    if style.json {
        return double(text);
    }
    let tag = if style.tags { "!!str " } else { "" };
    let spelling = random.below(5);
    if style.free && spelling == 0 && is_plain(text, flow) {
        return text.to_owned();
    }
    if style.free && !flow && spelling == 1 && is_block(text) {
        let indent = " ".repeat(indent.max(1));
        let keep = if text.ends_with('\n') { "" } else { "-" };
        let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
        let body: String =
            lines.map(|line| if line.is_empty() { "\n".into() } else { format!("{indent}{line}\n") }).collect();
        return format!("|{keep}\n{body}");
    }
    if spelling < 3 && !text.contains('\n') {
        return format!("{tag}'{}'", text.replace('\'', "''"));
    }
    format!("{tag}{}", double(text))
}

fn double(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// Whether the text is certainly the same string without quotes.
fn is_plain(text: &str, flow: bool) -> bool {
    let first = text.chars().next();
    first.is_some_and(|it| it.is_ascii_alphabetic() || it == '$' || it == '/')
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains('\n')
        && !text.ends_with([' ', ':'])
        && (!flow || !text.contains(['[', ']', '{', '}', ',']))
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
        )
}

fn is_block(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with([' ', '\n'])
        && !text.ends_with("\n\n")
        && !text.contains(" \n")
        && text != "\n"
}
