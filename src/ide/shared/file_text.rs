//! The text of a file with its tree, and the settings of a file that features need.

use std::ops::Range;
use std::sync::Arc;

use crate::build::{BuiltObject, WrittenRange};
use crate::ide::Analysis;
use crate::k8s::{DataEntry, Text};
use crate::syntax::{EnvFileDialect, SourceMap};
use crate::text::Span;
use crate::workspace::ParsedText;

/// A file's text and tree.
#[derive(Clone, Debug)]
pub(crate) struct FileText {
    /// The text and its tree.
    pub(crate) source: Arc<ParsedText>,
}

impl FileText {
    /// The span of a key's name, without quotes. In a Kustomize generator the name is before a `=`.
    pub(crate) fn key(&self, object: BuiltObject<'_>, key: &DataEntry) -> Option<Span> {
        if !object.is_literal(&key.key) {
            return Some(self.inside(object, &key.key, 0..key.key.value.len()));
        }
        let span = object.file_span(key.key.span);
        let root = self.source.tree.document_at(span.start)?.root()?;
        let node = root.path_to(span.start).into_iter().rev().find(|it| it.span() == span && it.text().is_some())?;
        let whole = node.text()?;
        let text = Text { value: whole.into(), ..key.key.clone() };
        let name = &*key.key.value;
        let range = if whole.starts_with(name) {
            0..name.len()
        } else {
            // The key is the name of a file.
            let start = whole.len().checked_sub(name.len()).filter(|start| &whole[*start..] == name)?;
            start..whole.len()
        };
        Some(self.inside_scalar(span, &text, range))
    }

    /// The text as parsed, with the same offsets as the file.
    pub(crate) fn text(&self) -> &str {
        self.source.masked_text()
    }

    /// The map from a scalar's value to its source.
    pub(crate) fn map<'o>(&self, object: BuiltObject<'o>, text: &'o Text) -> Option<TextMap<'o>> {
        let WrittenRange { scalar, style, value, .. } = object.written_range(text, 0..text.value.len());
        let source = self.text().get(scalar.span.range())?;
        Some(TextMap { scalar: scalar.span, map: SourceMap::new(source, style, &value), object, text })
    }

    /// The source of a part of a scalar's value. Of an inserted value it is the reference.
    pub(crate) fn inside(&self, object: BuiltObject<'_>, text: &Text, range: Range<usize>) -> Span {
        self.map(object, text).map_or_else(|| object.file_span(text.span), |map| map.source_span(range))
    }

    /// The source of a part of the scalar at a span.
    pub(crate) fn inside_scalar(&self, span: Span, text: &Text, range: Range<usize>) -> Span {
        let source = self.text().get(span.range());
        let map = source.map(|source| SourceMap::new(source, text.style, &text.value));
        map.map_or(span, |map| map.source_span(range).shifted(span.start))
    }

    /// The line break of the first line, for text to insert.
    pub(crate) fn line_break(&self) -> &'static str {
        let text = self.text();
        let first = text.find('\n').unwrap_or(0);
        if text[..first].ends_with('\r') { "\r\n" } else { "\n" }
    }

    /// The line at an offset, without its line break.
    pub(crate) fn line(&self, offset: usize) -> Span {
        let text = self.text();
        let offset = floor(text, offset);
        let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |len| offset + len);
        Span::new(start, start + text[start..end].trim_end_matches('\r').len())
    }
}

/// The map from a scalar's value to its source, through what a view inserts.
pub(crate) struct TextMap<'o> {
    /// The scalar in the file.
    pub(crate) scalar: Span,
    map: SourceMap,
    object: BuiltObject<'o>,
    text: &'o Text,
}

impl TextMap<'_> {
    /// The source of a part of the value.
    pub(crate) fn source_span(&self, range: Range<usize>) -> Span {
        let written = self.object.written_range(self.text, range).range;
        self.map.source_span(written).shifted(self.scalar.start)
    }

    /// The offset in the value of an offset in the file.
    pub(crate) fn value_offset(&self, offset: usize) -> usize {
        self.object.built_offset(self.text, self.map.value_offset(offset - self.scalar.start))
    }

    /// See [`SourceMap::is_exact`].
    pub(crate) fn is_exact(&self) -> bool {
        self.map.is_exact()
    }
}

/// The last character boundary at or before an offset.
pub(crate) fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl Analysis<'_> {
    /// The text and tree of a file.
    pub(crate) fn file_text(&self, file: &str) -> Option<FileText> {
        Some(FileText { source: self.texts.parsed_text(file)? })
    }

    /// The dialect of an env file; `None` for other files.
    pub(crate) fn dialect(&self, file: &str) -> Option<EnvFileDialect> {
        let is_env_file = self.snapshot.file(file).is_some_and(|it| it.is_env_format());
        is_env_file.then(|| self.resolver.env_file_syntax(file).dialect)
    }

    /// Whether values of Secrets may be shown in a file.
    pub(crate) fn reveals(&self, file: &str) -> bool {
        self.snapshot.settings(file).show_secrets
    }
}
