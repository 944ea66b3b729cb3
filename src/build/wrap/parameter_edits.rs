//! Edits that replace values by parameters in the text of an object, keeping the style of each scalar.

use crate::build::process::Json;
use crate::build::wrap::quoted;
use crate::build::wrap::value_replacer::{ValueReplacer, has_user_keys, is_identity};
use crate::syntax::{CollectionStyle, Node, NodeKind, ScalarStyle, SourceMap, TextEdit, TypedScalar};
use crate::text::Span;

/// The edits for one text, in its order.
#[derive(Debug)]
pub(crate) struct ParameterEdits<'e> {
    text: &'e str,
    replacer: &'e ValueReplacer<'e>,
    is_json: bool,
    all: Vec<TextEdit>,
}

impl<'e> ParameterEdits<'e> {
    /// No edits yet. For JSON all inserted scalars are in double quotes.
    pub(crate) fn new(text: &'e str, replacer: &'e ValueReplacer<'e>, is_json: bool) -> Self {
        Self { text, replacer, is_json, all: Vec::new() }
    }

    /// Adds the edits for an object.
    pub(crate) fn object(&mut self, node: Node<'_>) {
        self.node(node, "", false);
        self.all.sort_by_key(|it| it.span);
        // Objects that share text through an alias have equal edits.
        self.all.dedup();
    }

    /// The edits.
    pub(crate) fn into_all(self) -> Vec<TextEdit> {
        self.all
    }

    /// A part of the text with its edits applied.
    pub(super) fn applied(&self, span: Span) -> String {
        let first = self.all.partition_point(|it| it.span.start < span.start);
        let mut result = String::with_capacity(span.len());
        let mut at = span.start;
        for edit in self.all[first..].iter().take_while(|it| it.span.end <= span.end) {
            result.push_str(&self.text[at..edit.span.start]);
            result.push_str(&edit.text);
            at = edit.span.end;
        }
        result.push_str(&self.text[at..span.end]);
        result
    }

    fn node(&mut self, node: Node<'_>, key: &str, in_flow: bool) {
        let is_flow = |style: CollectionStyle| in_flow || style == CollectionStyle::Flow;
        match node.kind() {
            NodeKind::Mapping(style) => {
                for (name, value) in node.own_entries() {
                    if has_user_keys(key) {
                        self.scalar(name, is_flow(style), true);
                    }
                    let name = name.key_text().unwrap_or_default();
                    if let Some(value) = value.filter(|_| !is_identity(&name)) {
                        self.node(value, &name, is_flow(style));
                    }
                }
            }
            NodeKind::Sequence(style) => node.items().for_each(|item| self.node(item, key, is_flow(style))),
            NodeKind::Scalar(_) => self.scalar(node, in_flow, false),
            // The text of an alias is edited at its anchor.
            NodeKind::Alias | NodeKind::Error => {}
        }
    }

    fn scalar(&mut self, node: Node<'_>, in_flow: bool, is_key: bool) {
        let value = match node.typed() {
            Some(TypedScalar::Str(text)) => return self.string(node, text, in_flow),
            Some(_) if is_key => {
                let Some(text) = node.text() else { return };
                return self.string(node, text, in_flow);
            }
            Some(TypedScalar::Bool(it)) => Json::Bool(it),
            Some(TypedScalar::Int(it)) => Json::Int(it),
            Some(TypedScalar::Float(it)) => Json::of_float(it),
            _ => return,
        };
        let Some(parameter) = self.replacer.typed(&value) else { return };
        let written = format!("${{{{{}}}}}", self.replacer.name(parameter));
        let text = if in_flow || self.is_json { quoted(&written) } else { written };
        self.all.push(TextEdit { span: node.span(), text });
    }

    fn string(&mut self, node: Node<'_>, value: &str, in_flow: bool) {
        let occurrences = self.replacer.occurrences(value);
        let (Some(replaced), Some(style)) = (self.replacer.replaced(value), node.style()) else { return };
        let span = node.span();
        let source = &self.text[span.range()];
        let map = SourceMap::new(source, style, value);
        // In a flow collection, `}` would end a plain scalar.
        if style == ScalarStyle::Plain && in_flow || !map.is_exact() {
            return self.all.push(TextEdit { span, text: quoted(&replaced) });
        }
        for (range, parameter) in occurrences {
            let text = format!("${{{}}}", self.replacer.name(parameter));
            self.all.push(TextEdit { span: map.source_span(range).shifted(span.start), text });
        }
    }
}
