//! Moves the text of documents under `objects` of the template.

use crate::build::process::Json;
use crate::build::wrap::parameter_edits::ParameterEdits;
use crate::build::wrap::value_replacer::{ValueReplacer, has_user_keys, is_identity};
use crate::build::wrap::{InputDocument, ParameterChoice, WrapInput, WrapOptions, quoted};
use crate::syntax::{CollectionStyle, Node, NodeKind, Tree, TypedScalar, YamlValue, ends_with_kept_line_breaks};
use crate::text::Span;

/// The format of the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputLayout {
    /// YAML, with this line break.
    Yaml(&'static str),
    /// JSON, because all inputs are; with this indentation and line break.
    Json(Indent, &'static str),
}

/// The indentation of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indent {
    Tab,
    Spaces(usize),
}

impl Indent {
    fn of(text: &str) -> Self {
        let first = text.lines().find(|line| line.starts_with(['\t', ' '])).unwrap_or_default();
        let spaces = first.len() - first.trim_start_matches(' ').len();
        if first.starts_with('\t') { Self::Tab } else { Self::Spaces(if spaces == 0 { 2 } else { spaces.min(8) }) }
    }

    fn steps(self, number: usize) -> String {
        match self {
            Self::Tab => "\t".repeat(number),
            Self::Spaces(width) => " ".repeat(width * number),
        }
    }
}

impl OutputLayout {
    pub(super) fn of(inputs: &[WrapInput<'_>], trees: &[Tree]) -> Self {
        let first = inputs.first().map_or("", |it| it.text);
        let end = if first.contains("\r\n") { "\r\n" } else { "\n" };
        let is_json = |(input, tree): (&WrapInput<'_>, &Tree)| {
            tree.documents().filter_map(|it| it.root()).all(|root| {
                root.kind() == NodeKind::Mapping(CollectionStyle::Flow)
                    && serde_json::from_str::<serde::de::IgnoredAny>(&input.text[root.span().range()]).is_ok()
            }) && tree.comments(input.text, Span::new(0, input.text.len())).is_empty()
        };
        let all = inputs.iter().zip(trees).all(is_json);
        if all { Self::Json(Indent::of(first), end) } else { Self::Yaml(end) }
    }

    pub(super) fn is_json(self) -> bool {
        matches!(self, Self::Json(..))
    }

    /// The whole template.
    pub(super) fn assemble(self, options: &WrapOptions, pieces: &[ObjectText<'_>]) -> String {
        match self {
            Self::Yaml(end) => {
                let name = YamlValue::text(options.name.as_str()).to_flow().unwrap_or_default();
                let mut text = String::new();
                let head = ["apiVersion: template.openshift.io/v1", "kind: Template", "metadata:"];
                for line in head.into_iter().chain([&*format!("  name: {name}"), "objects:"]) {
                    text.push_str(line);
                    text.push_str(end);
                }
                for piece in pieces {
                    for line in piece.comments.iter().chain(&piece.lines) {
                        text.push_str(line);
                        text.push_str(if line.ends_with('\n') { "" } else { end });
                    }
                }
                if !options.parameters.is_empty() {
                    text.push_str("parameters:");
                    text.push_str(end);
                }
                for choice in &options.parameters {
                    let name = YamlValue::text(choice.name.as_str()).to_flow().unwrap_or_default();
                    text.push_str(&format!("- name: {name}{end}  value: {}{end}", quoted(&choice.value)));
                }
                text
            }
            Self::Json(indent, end) => {
                let one = indent.steps(1);
                let two = indent.steps(2);
                let three = indent.steps(3);
                let mut text = format!(
                    "{{{end}{one}\"apiVersion\": \"template.openshift.io/v1\",{end}{one}\"kind\": \"Template\",{end}\
                     {one}\"metadata\": {{{end}{two}\"name\": {}{end}{one}}},{end}{one}\"objects\": [{end}",
                    quoted(&options.name)
                );
                let objects: Vec<String> =
                    pieces.iter().flat_map(|it| &it.lines).map(|it| format!("{two}{it}")).collect();
                text.push_str(&objects.join(&format!(",{end}")));
                text.push_str(&format!("{end}{one}]"));
                if !options.parameters.is_empty() {
                    let parameter = |it: &ParameterChoice| {
                        let (name, value) = (quoted(&it.name), quoted(&it.value));
                        format!("{two}{{{end}{three}\"name\": {name},{end}{three}\"value\": {value}{end}{two}}}")
                    };
                    let all: Vec<String> = options.parameters.iter().map(parameter).collect();
                    text.push_str(&format!(
                        ",{end}{one}\"parameters\": [{end}{}{end}{one}]",
                        all.join(&format!(",{end}"))
                    ));
                }
                text.push_str(&format!("{end}}}{end}"));
                text
            }
        }
    }
}

/// The items of a List; `None` for any other object.
pub(super) fn items_of(root: Node<'_>) -> Option<Vec<Node<'_>>> {
    let kind = root.get("kind").and_then(Node::string)?;
    let items = root.get("items").filter(|it| it.is_sequence())?;
    kind.ends_with("List").then(|| items.items().collect())
}

/// The text of a document's objects, as it appears in the template.
#[derive(Debug)]
pub(super) struct ObjectText<'t> {
    /// The objects in it.
    pub(super) objects: Vec<Node<'t>>,
    /// The comments before them.
    comments: Vec<String>,
    /// In YAML the lines of the list, in JSON one text per object.
    lines: Vec<String>,
}

impl<'t> ObjectText<'t> {
    /// Takes the text of a document.
    pub(super) fn cut(
        text: &str,
        tree: &Tree,
        found: &InputDocument<'t>,
        edits: &ParameterEdits<'_>,
        layout: OutputLayout,
    ) -> Self {
        let mover = TextMover { text, tree, edits };
        let (root, objects) = (found.root, found.objects.clone());
        if let OutputLayout::Json(indent, _) = layout {
            let lines = objects.iter().map(|it| mover.flow_object(*it, &indent.steps(2))).collect();
            return Self { objects, comments: Vec::new(), lines };
        }
        let list = items_of(root).and_then(|_| root.get("items"));
        let (own, mut lines) = match list.map(|it| (it, it.resolved().kind())) {
            None => mover.document(root),
            Some((list, NodeKind::Sequence(CollectionStyle::Block))) if list.alias().is_none() => {
                mover.block_list(root, list)
            }
            Some(_) => mover.flow_list(root, &objects),
        };
        let mut comments: Vec<String> = found.before.iter().flat_map(|it| mover.comments_in(*it)).collect();
        comments.extend(own);
        for comment in found.after.iter().flat_map(|it| mover.comments_in(*it)) {
            if let Some(last) = lines.last_mut().filter(|it| !it.ends_with('\n')) {
                last.push('\n');
            }
            lines.push(comment);
        }
        Self { objects, comments, lines }
    }

    /// Rewrites its objects from their data.
    pub(super) fn rewrite(&mut self, replacer: &ValueReplacer<'_>, layout: OutputLayout) {
        let mut lines = Vec::new();
        for object in &self.objects {
            let data = object_data(*object, "", replacer, 256);
            match layout {
                OutputLayout::Json(..) => lines.extend(serde_json::to_string(&data).ok()),
                OutputLayout::Yaml(_) => {
                    let block = data.to_block().unwrap_or_default();
                    let indented =
                        block.lines().map(|it| if it.is_empty() { String::new() } else { format!("  {it}") });
                    let start = lines.len();
                    lines.extend(indented);
                    if let Some(first) = lines.get_mut(start) {
                        first.replace_range(..2, "- ");
                    }
                }
            }
        }
        self.lines = lines;
    }
}

/// The data of an object, with values replaced by parameters.
fn object_data(node: Node<'_>, key: &str, replacer: &ValueReplacer<'_>, depth: usize) -> YamlValue {
    let text = |it: &str| replacer.replaced(it).unwrap_or_else(|| it.to_owned());
    if depth == 0 {
        return YamlValue::Null;
    }
    if node.is_mapping() {
        let entry = |(name, value): (Node<'_>, Option<Node<'_>>)| {
            let name = name.key_text()?.into_owned();
            let value = match value {
                Some(it) if is_identity(&name) => YamlValue::from_node(it, "", &|_| None)?,
                Some(it) => object_data(it, &name, replacer, depth - 1),
                None => YamlValue::Null,
            };
            Some((if has_user_keys(key) { text(&name) } else { name }, value))
        };
        return YamlValue::Map(node.entries().into_iter().filter_map(entry).collect());
    }
    if node.is_sequence() {
        return YamlValue::List(node.items().map(|it| object_data(it, key, replacer, depth - 1)).collect());
    }
    let raw = |value: &Json<'_>, plain: YamlValue| match replacer.typed(value) {
        Some(it) => YamlValue::text(format!("${{{{{}}}}}", replacer.name(it))),
        None => plain,
    };
    match node.typed() {
        Some(TypedScalar::Str(it)) => YamlValue::text(text(it)),
        Some(TypedScalar::Bool(it)) => raw(&Json::Bool(it), YamlValue::Bool(it)),
        Some(TypedScalar::Int(it)) => raw(&Json::Int(it), YamlValue::Int(it)),
        Some(TypedScalar::Float(it)) => raw(&Json::of_float(it), YamlValue::Float(it)),
        _ => YamlValue::Null,
    }
}

struct TextMover<'c> {
    text: &'c str,
    tree: &'c Tree,
    edits: &'c ParameterEdits<'c>,
}

impl TextMover<'_> {
    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |end| end + 1)
    }

    /// A document that is one object: comments before it, and its lines as an item.
    fn document(&self, root: Node<'_>) -> (Vec<String>, Vec<String>) {
        let document = root.document().span();
        let line = self.line_start(root.span().start).max(document.start);
        let is_marked = self.text[line..].starts_with("---");
        let start = if is_marked { root.span().start } else { line };
        let comments = self.comments_in(Span::new(document.start, line));
        let body = self.edits.applied(Span::new(start, self.content_end(root)));
        let mut lines: Vec<String> = body.split_inclusive('\n').map(indented).collect();
        if let Some(first) = lines.first_mut() {
            // After a `---` marker the object starts with a bracket.
            first.replace_range(..2, "- ");
        }
        (comments, lines)
    }

    /// The comments in a span and the empty lines between them, without markers and directives.
    fn comments_in(&self, span: Span) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for line in self.text[span.range()].split('\n') {
            let line = line.trim_end_matches('\r').trim_start_matches('\u{feff}');
            let line = line.strip_prefix("---").map_or(line, str::trim_start);
            let is_comment = line.trim_start().starts_with('#');
            if is_comment || line.trim().is_empty() && !lines.is_empty() {
                lines.push(line.trim().to_owned());
            }
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    /// The end of a document's lines: before the marker that closes it, without empty lines at the end.
    fn content_end(&self, root: Node<'_>) -> usize {
        let span = root.document().span();
        let from = root.span().start;
        let mut end = span.end;
        let mut at = root.span().end.min(span.end);
        // After the content, `...` closes the document.
        at = self.line_start(at);
        for line in self.text[at..span.end].split_inclusive('\n') {
            if at > from && line.starts_with("...") {
                end = at;
                break;
            }
            at += line.len();
        }
        if ends_with_kept_line_breaks(self.text, root) {
            return end;
        }
        let body = self.text[from..end].trim_end();
        let last = from + body.len();
        self.text[last..end].find('\n').map_or(end, |len| last + len + 1)
    }

    /// The lines of a block list without their indentation, and the other comments of the document.
    fn block_list(&self, root: Node<'_>, list: Node<'_>) -> (Vec<String>, Vec<String>) {
        let span = list.span();
        let Some((key, _)) = root.entry("items") else { return Default::default() };
        let start = key.span().end + self.text[key.span().end..].find('\n').map_or(0, |len| len + 1);
        let next_key = root.own_entries().map(|(key, _)| key.span().start).filter(|it| *it > span.start).min();
        let end = next_key.map_or_else(|| self.content_end(root), |it| self.line_start(it)).max(start);
        let column = span.start - self.line_start(span.start);
        let region = Span::new(start, end);
        let body = self.edits.applied(region);
        let lines = body.split_inclusive('\n').map(|line| {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            line[spaces.min(column)..].to_owned()
        });
        (self.comments_outside(root, &[region]), lines.collect())
    }

    /// The items of a flow list, or of a list that is an alias.
    fn flow_list(&self, root: Node<'_>, items: &[Node<'_>]) -> (Vec<String>, Vec<String>) {
        let spans: Vec<Span> = items.iter().map(|it| it.span()).collect();
        let mut lines = Vec::new();
        for item in items {
            let mut text = self.flow_object(*item, "  ");
            text.insert_str(0, "- ");
            lines.extend(text.split_inclusive('\n').map(str::to_owned));
        }
        (self.comments_outside(root, &spans), lines)
    }

    /// An object in brackets; its lines start with `indent`.
    fn flow_object(&self, object: Node<'_>, indent: &str) -> String {
        let span = object.span();
        let line = &self.text[self.line_start(span.start)..span.start];
        let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let text = self.edits.applied(span);
        let mut lines = text.split_inclusive('\n');
        let mut result = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let rest = line.strip_prefix(indentation).unwrap_or_else(|| line.trim_start_matches([' ', '\t']));
            if !rest.trim().is_empty() {
                result.push_str(indent);
            }
            result.push_str(rest);
        }
        result
    }

    /// The comments of a document outside of some spans.
    fn comments_outside(&self, root: Node<'_>, spans: &[Span]) -> Vec<String> {
        let all = self.tree.comments(self.text, root.document().span()).into_iter();
        let outside = all.filter(|it| !spans.iter().any(|span| span.start <= it.start && it.end <= span.end));
        outside.map(|it| self.text[it.range()].to_owned()).collect()
    }
}

/// A line indented by two more spaces; an empty line is not changed.
fn indented(line: &str) -> String {
    if line.trim_end_matches(['\r', '\n']).is_empty() { line.to_owned() } else { format!("  {line}") }
}
