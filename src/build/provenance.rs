//! Where every scalar of a built object comes from, for `podlens build -o provenance`.

use std::sync::Arc;

use serde::Serialize;

use crate::build::object::BuiltObject;
use crate::build::origin::{BuiltBy, BuiltText};
use crate::diagnostic::Location;
use crate::k8s::{DeclaredParameter, ObjectSpan, ParameterValue, Text, TextPiece};
use crate::syntax::{Node, ScalarStyle, SourceMap, parse_param_file, show_placeholders};
use crate::text::LineIndex;

/// The texts and display paths of files.
pub struct ProvenanceFiles<'f> {
    /// The text of a file.
    pub text: &'f dyn Fn(&str) -> Option<Arc<str>>,
    /// Maps a path of the workspace to the path to show.
    pub path: &'f dyn Fn(&str) -> String,
}

impl std::fmt::Debug for ProvenanceFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProvenanceFiles").finish_non_exhaustive()
    }
}

/// A scalar of a built object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldProvenance {
    /// Its path, such as `spec.containers[0].env[0].value`.
    pub path: String,
    /// The pieces of its text, in order.
    pub pieces: Vec<PieceProvenance>,
}

/// A piece of the text of a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PieceProvenance {
    /// Its text.
    pub text: String,
    /// The file it is written in; `None` if it was given on the command line.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// What put it there.
    pub by: &'static str,
}

/// A part of a built object that is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnknownPart {
    /// What is not known.
    pub what: String,
    /// Why.
    pub why: String,
    /// The file that declares it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
}

/// The scalars of an object with their pieces; `node` is its tree.
pub fn fields(object: BuiltObject<'_>, node: Node<'_>, files: &ProvenanceFiles<'_>) -> Vec<FieldProvenance> {
    let mut fields = Vec::new();
    FieldReader { object, files, base: node.span().start, is_built: object.tree().is_some() }.walk(
        node,
        String::new(),
        DEEPEST,
        &mut fields,
    );
    fields
}

/// How deep objects may be nested.
const DEEPEST: usize = 256;

/// The parameters without a known value that an object depends on.
pub fn unknown_parts(object: BuiltObject<'_>, files: &ProvenanceFiles<'_>) -> Vec<UnknownPart> {
    let Some(template) = &object.source.template else { return Vec::new() };
    let is_used = |name: &str| object.source.model.candidate_names.contains(name);
    let unknown = template.parameters.iter().filter(|(name, it)| it.value.known().is_none() && is_used(name));
    let part = |(name, it): (&Arc<str>, &DeclaredParameter)| {
        let why = if matches!(it.value, ParameterValue::Generated { .. }) { "generated" } else { "not set" };
        let place = object.parameter_location(name).and_then(|it| ShownPlace::of(&it, files));
        let (file, line) = place.map_or((None, None), |it| (Some(it.file), Some(it.line)));
        UnknownPart { what: format!("parameter {name}"), why: why.into(), file, line }
    };
    unknown.map(part).collect()
}

/// A place as it is shown.
struct ShownPlace {
    file: String,
    line: u32,
    column: u32,
}

impl ShownPlace {
    fn of(location: &Location, files: &ProvenanceFiles<'_>) -> Option<Self> {
        let at = LineIndex::new(&(files.text)(&location.file)?).line_column(location.span.start);
        Some(Self { file: (files.path)(&location.file), line: at.line, column: at.column })
    }
}

struct FieldReader<'r, 'f> {
    object: BuiltObject<'r>,
    files: &'r ProvenanceFiles<'f>,
    base: usize,
    is_built: bool,
}

impl FieldReader<'_, '_> {
    fn walk(&self, node: Node<'_>, path: String, depth: usize, fields: &mut Vec<FieldProvenance>) {
        let node = node.resolved();
        if depth == 0 {
            return;
        }
        if node.is_mapping() {
            for (key, value) in node.entries() {
                let Some(key) = key.key_text() else { continue };
                let key = show_placeholders(&key).into_owned();
                let below = if path.is_empty() { key } else { format!("{path}.{key}") };
                if let Some(value) = value {
                    self.walk(value, below, depth - 1, fields);
                }
            }
        } else if node.is_sequence() {
            for (at, item) in node.items().enumerate() {
                self.walk(item, format!("{path}[{at}]"), depth - 1, fields);
            }
        } else if let Some(text) = node.text() {
            fields.push(FieldProvenance { path, pieces: self.pieces(node, text) });
        }
    }

    fn pieces(&self, node: Node<'_>, text: &str) -> Vec<PieceProvenance> {
        let span = ObjectSpan::relative(node.span().relative_to(self.base));
        let (location, by, built) = match self.object.built.filter(|_| self.is_built) {
            Some(built) => (self.object.location(span), built.origins.place(span).1, built.origins.text(span)),
            None => (self.object.location(span), BuiltBy::Source, None),
        };
        let Some(built) = built else {
            return vec![self.piece(text, Some(&location), by)];
        };
        let map = self.source_map(&location, span, built);
        let piece = |piece: &TextPiece| match &piece.parameter {
            Some(name) => self.parameter_piece(&piece.text, name),
            None => {
                let start = map.as_ref().map(|map| map.source_span(piece.written.clone()).shifted(location.span.start));
                let location = Location { span: start.unwrap_or(location.span), ..location.clone() };
                self.piece(&piece.text, Some(&location), by)
            }
        };
        built.pieces.iter().map(piece).collect()
    }

    fn source_map(&self, location: &Location, span: ObjectSpan, built: &BuiltText) -> Option<SourceMap> {
        let text = (self.files.text)(&location.file)?;
        // The style of the written scalar; a label of the template is in another object.
        let nowhere = Text { span, style: ScalarStyle::Plain, ..Text::of("") };
        let style = self.object.written_range(&nowhere, 0..0).style;
        Some(SourceMap::new(text.get(location.span.range())?, style, &built.written))
    }

    fn piece(&self, text: &str, location: Option<&Location>, by: BuiltBy) -> PieceProvenance {
        let place = location.and_then(|it| ShownPlace::of(it, self.files));
        let (line, column) = (place.as_ref().map(|it| it.line), place.as_ref().map(|it| it.column));
        let text = show_placeholders(text).into_owned();
        PieceProvenance { text, file: place.map(|it| it.file), line, column, by: by.as_str() }
    }

    fn parameter_piece(&self, text: &str, name: &str) -> PieceProvenance {
        let given = match self.object.parameter(name).map(|it| &it.value) {
            Some(ParameterValue::Given { file, .. }) => Some(file.clone()),
            _ => None,
        };
        match given {
            Some(file) => PieceProvenance {
                line: file.as_deref().and_then(|it| self.given_line(it, name)),
                file: file.map(|it| it.to_string()),
                ..self.piece(text, None, BuiltBy::Parameter)
            },
            None => self.piece(text, self.object.parameter_location(name).as_ref(), BuiltBy::Parameter),
        }
    }

    /// The line of a parameter file that gives a value.
    fn given_line(&self, file: &str, name: &str) -> Option<u32> {
        let entries = parse_param_file(&(self.files.text)(file)?).entries;
        u32::try_from(entries.iter().rfind(|it| it.name == name)?.line).ok()
    }
}
