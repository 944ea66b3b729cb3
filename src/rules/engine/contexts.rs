//! The contexts that a check gets: a file, an object, a pod, a container.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{Container, Object, Pod, Text};
use crate::resolve::{Environment, Resolver};
use crate::syntax::{EnvFileDialect, SourceMap, show_helm_placeholders};
use crate::text::Span;
use crate::workspace::{File, ParsedText, Snapshot};

/// Returns the texts of files with their trees, and always the same text for a file during one check.
pub trait TextProvider: Sync {
    /// The text of a file with its tree.
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>>;
}

/// A file that is checked.
#[derive(Clone, Copy)]
pub struct FileContext<'a> {
    /// The workspace.
    pub snapshot: &'a Snapshot,
    /// Resolves environments.
    pub resolver: &'a Resolver<'a>,
    /// The path of the file in the workspace.
    pub path: &'a Arc<str>,
    /// The objects and errors of the file.
    pub facts: &'a File,
    /// The texts of all files.
    pub texts: &'a dyn TextProvider,
}

impl FileContext<'_> {
    /// The text of the file with its tree.
    pub fn parsed_text(&self) -> Option<Arc<ParsedText>> {
        self.texts.parsed_text(self.path)
    }

    /// A span of this file as a location.
    pub fn at(&self, span: Span) -> Location {
        Location { file: Arc::clone(self.path), span }
    }

    /// The dialect of an env file; `None` for other files.
    pub(super) fn dialect(&self) -> Option<EnvFileDialect> {
        self.facts.is_env_format().then(|| self.resolver.env_file_syntax(self.path).dialect)
    }

    /// The text, if the file has a suppression comment.
    pub(super) fn text_with_suppressions(&self) -> Option<Arc<ParsedText>> {
        self.facts.has_suppressions.then(|| self.parsed_text()).flatten()
    }
}

/// An object in a file.
#[derive(Clone, Copy)]
pub struct ObjectContext<'a> {
    /// The file.
    pub file: &'a FileContext<'a>,
    /// The object.
    pub object: &'a Object,
}

impl ObjectContext<'_> {
    /// `Deployment/web`.
    pub fn title(&self) -> String {
        let part = |text: &Option<Text>| {
            text.as_ref().map_or("?".to_owned(), |it| show_helm_placeholders(&it.value).into_owned())
        };
        format!("{}/{}", part(&self.object.model.kind), part(&self.object.model.name))
    }

    /// A span of the object as a location.
    pub fn at(&self, span: Span) -> Location {
        self.file.at(self.object.file_span(span))
    }

    /// The location of a part of a scalar's value, through escapes, folding and indentation.
    pub fn inside(&self, text: &Text, range: Range<usize>) -> Location {
        let span = self.object.file_span(text.span);
        let source = self.file.parsed_text();
        let inner = source
            .as_ref()
            .and_then(|it| it.masked_text().get(span.range()))
            .map(|source| SourceMap::new(source, text.style, &text.value).source_span(range).shifted(span.start));
        self.file.at(inner.unwrap_or(span))
    }
}

impl ObjectContext<'_> {
    /// The location of a key in the mapping at a span of the object.
    pub(in crate::rules) fn key_location(&self, mapping: Span, key: &str) -> Option<Location> {
        let span = self.object.file_span(mapping);
        let source = self.file.parsed_text()?;
        let path = source.tree.document_at(span.start)?.root()?.path_to(span.start);
        let node = path.iter().find(|it| it.is_mapping() && it.span() == span)?;
        let (key, _) = node.entry(key)?;
        Some(self.file.at(key.span()))
    }
}

/// A pod in an object.
#[derive(Clone, Copy)]
pub struct PodContext<'a> {
    /// The object.
    pub object: &'a ObjectContext<'a>,
    /// The pod.
    pub pod: &'a Pod,
}

/// A container in a pod.
#[derive(Clone, Copy)]
pub struct ContainerContext<'a> {
    /// The pod.
    pub pod: &'a PodContext<'a>,
    /// The container.
    pub container: &'a Container,
    /// Its environment.
    pub environment: &'a Environment,
}

impl<'a> ContainerContext<'a> {
    /// All containers of its pod. The findings of this container then depend on them too.
    pub fn siblings(&self) -> &'a [Arc<Container>] {
        self.pod.object.file.snapshot.depend_on_siblings();
        &self.pod.pod.containers
    }
}

impl ContainerContext<'_> {
    /// A span of the object as a location.
    pub fn at(&self, span: Span) -> Location {
        self.pod.object.at(span)
    }

    /// See [`ObjectContext::inside`].
    pub fn inside(&self, text: &Text, range: Range<usize>) -> Location {
        self.pod.object.inside(text, range)
    }
}
