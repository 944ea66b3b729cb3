//! What a rule sees, from the file down to the container, and how it reports.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit, Fix, Label, Location, Severity};
use crate::k8s::{Container, Object, Pod, Text};
use crate::resolve::{Environment, Resolver};
use crate::rules::Rule;
use crate::syntax::{EnvFileDialect, SourceMap, Tree, show_helm_placeholders};
use crate::text::Span;
use crate::workspace::{File, ParsedText, Snapshot};

/// Where texts come from. Answers for the same file are expected to be the same while a check runs.
pub trait Sources: Sync {
    /// The source of a file.
    fn source(&self, path: &str) -> Option<Arc<ParsedText>>;
}

/// A file.
#[derive(Clone, Copy)]
pub struct FileContext<'a> {
    /// Everything that is known.
    pub snapshot: &'a Snapshot,
    /// Gives environments.
    pub resolver: &'a Resolver<'a>,
    /// The file's path in the workspace.
    pub path: &'a Arc<str>,
    /// What is known of it.
    pub facts: &'a File,
    /// Texts and trees.
    pub sources: &'a dyn Sources,
}

impl FileContext<'_> {
    /// Its text and tree.
    pub fn source(&self) -> Option<Arc<ParsedText>> {
        self.sources.source(self.path)
    }

    /// A span of this file as a location.
    pub fn at(&self, span: Span) -> Location {
        Location { file: Arc::clone(self.path), span }
    }

    /// How the file is read if it is an env file.
    pub(super) fn dialect(&self) -> Option<EnvFileDialect> {
        self.facts.is_env_format().then(|| self.resolver.reading(self.path).dialect)
    }

    /// The source, if the file holds a suppression comment.
    pub(super) fn suppression_source(&self) -> Option<Arc<ParsedText>> {
        self.facts.has_suppressions.then(|| self.source()).flatten()
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

    /// Where a part of a scalar's value stands: through escapes, folding and indentation.
    pub fn inside(&self, text: &Text, range: Range<usize>) -> Location {
        let span = self.object.file_span(text.span);
        let source = self.file.source();
        let inner = source
            .as_ref()
            .and_then(|it| it.masked_text().get(span.range()))
            .map(|source| SourceMap::new(source, text.style, &text.value).source_span(range).shifted(span.start));
        self.file.at(inner.unwrap_or(span))
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
    /// What it gets.
    pub environment: &'a Environment,
}

impl<'a> ContainerContext<'a> {
    /// All containers of its pod. What is found then rests on them too.
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

/// Takes what a rule finds.
pub struct Findings<'f> {
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    pub(super) object: Option<&'f ObjectContext<'f>>,
    pub(super) found: &'f mut Vec<Found>,
}

impl Findings<'_> {
    /// Reports a finding of an object, from a rule that looks at whole files.
    pub fn push_in(&mut self, object: &ObjectContext<'_>, finding: Finding) {
        Findings { object: Some(object), rule: self.rule, severity: self.severity, found: self.found }.push(finding);
    }

    /// Reports a finding.
    pub fn push(&mut self, finding: Finding) {
        self.found.push(Found {
            rule: self.rule,
            severity: finding.severity.unwrap_or(self.severity),
            object: self.object.map(ObjectContext::title),
            finding,
        });
    }
}

/// A finding as a rule reports it; the rest is added by the framework.
#[derive(Clone, Debug)]
pub struct Finding {
    location: Location,
    name: String,
    message: String,
    severity: Option<Severity>,
    help: Option<String>,
    related: Vec<Label>,
    fixes: Vec<Fix>,
    unnecessary: bool,
}

impl Finding {
    /// A finding at a location, about something of this name, and what is wrong with it.
    ///
    /// The name identifies the finding from run to run, together with its rule and path: that of the variable, parameter,
    /// key, object, service, volume or field, or a fixed word where there is none. Two findings at one location have
    /// different names. It is never a value, which may be secret, nor a part of the message, whose wording may change.
    pub fn new(location: Location, name: impl AsRef<str>, message: impl Into<String>) -> Self {
        Self {
            location,
            name: name.as_ref().to_owned(),
            message: message.into(),
            severity: None,
            help: None,
            related: Vec::new(),
            fixes: Vec::new(),
            unnecessary: false,
        }
    }

    /// What to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Another severity than the rule's, such as info for what is only possible.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Another place that belongs to it.
    pub fn related(mut self, location: Location, message: impl Into<String>) -> Self {
        self.related.push(Label { location, message: message.into() });
        self
    }

    /// A change that mends it, if there is one.
    pub fn fix(mut self, fix: Option<Fix>) -> Self {
        self.fixes.extend(fix);
        self
    }

    /// The text does nothing.
    pub fn unnecessary(mut self) -> Self {
        self.unnecessary = true;
        self
    }
}

/// A replacement at a place.
pub(super) fn edit(location: Location, text: impl Into<String>) -> Edit {
    Edit { location, text: text.into() }
}

/// A finding with its rule.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    pub(super) object: Option<String>,
    pub(super) finding: Finding,
}

impl Found {
    /// Takes its fixes away.
    pub(super) fn without_fixes(mut self) -> Self {
        self.finding.fixes.clear();
        self
    }

    pub(super) fn location(&self) -> &Location {
        &self.finding.location
    }

    /// Adds what the framework knows.
    pub(super) fn finished(self, file: &FileContext<'_>) -> Diagnostic {
        let Finding { location, name, message, help, related, fixes, unnecessary, .. } = self.finding;
        let path = file.source().and_then(|source| path(&source.tree, file, location.span.start));
        Diagnostic {
            rule: self.rule.name,
            severity: self.severity,
            name,
            message,
            help,
            location,
            related,
            fixes,
            object: self.object,
            path,
            unnecessary,
        }
    }
}

/// The path of an offset in its object: `spec.containers[0].env[1].value`.
fn path(tree: &Tree, file: &FileContext<'_>, offset: usize) -> Option<String> {
    let start = file
        .facts
        .objects
        .iter()
        .filter(|object| object.file_span(object.model.span).touches(offset))
        .map(|object| object.offset)
        .max()
        .unwrap_or(0);
    let root = tree.document_at(offset)?.root()?;
    Some(root.field_path(offset, start)).filter(|path| !path.is_empty())
}
