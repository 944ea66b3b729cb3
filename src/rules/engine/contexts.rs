//! The contexts that a check gets: a file, an object, a pod, a container.

use std::ops::Range;
use std::sync::Arc;

use crate::build::{self, BuiltContainer, BuiltObject, BuiltPod, WrittenRange};
use crate::diagnostic::{Edit, Location};
use crate::k8s::{Container, Object, ObjectSpan, Pod, Text, VariableScope};
use crate::resolve::{Binding, Environment, ExpandedScalar, Lookup, PresetLocation, ProbeCommand, Resolver, SubPath};
use crate::syntax::{EnvFileDialect, SyntaxError, replace_in_mapped_scalar, replace_in_scalar};
use crate::text::Span;
use crate::workspace::{File, KubernetesVersion, ParsedText, Snapshot};

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
    /// The objects of the file as their views make them.
    pub fn objects(&self) -> impl Iterator<Item = BuiltObject<'_>> {
        build::objects(self.snapshot, self.path, self.facts)
    }

    /// The text of the file with its tree.
    pub fn parsed_text(&self) -> Option<Arc<ParsedText>> {
        self.texts.parsed_text(self.path)
    }

    /// A span of this file as a location.
    pub fn at(&self, span: Span) -> Location {
        Location { file: Arc::clone(self.path), span }
    }

    /// Whether the text of an object has no syntax errors. The errors are not a part of the object, so cached findings are
    /// reused only while this answer is the same.
    pub(in crate::rules) fn has_certain_structure(&self, object: &Object) -> bool {
        let span = object.file_span(object.model.span);
        let is_inside = |it: &SyntaxError| span.touches(it.span.start) || span.touches(it.span.end);
        // The errors of a template are not errors of what is applied, but its structure is as uncertain.
        match self.facts.is_template() {
            false => !self.facts.errors.iter().any(is_inside),
            true => self.parsed_text().is_some_and(|it| !it.tree.errors().iter().any(is_inside)),
        }
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

/// An object of a view. A check about how an object is written gets the source object.
#[derive(Clone, Copy)]
pub struct ObjectContext<'a> {
    /// The file of the source object.
    pub file: &'a FileContext<'a>,
    /// The object.
    pub object: BuiltObject<'a>,
}

impl ObjectContext<'_> {
    /// The place of a span of the object.
    pub fn at(&self, span: ObjectSpan) -> Location {
        self.object.location(span)
    }

    /// The place of a part of a scalar's value, through escapes, folding and indentation. Of a value that was inserted it
    /// is the reference.
    pub fn inside(&self, text: &Text, range: Range<usize>) -> Location {
        let WrittenRange { scalar, style, value, range } = self.object.written_range(text, range);
        let source = self.file.texts.parsed_text(&scalar.file);
        let inner = source
            .as_ref()
            .and_then(|it| it.mapped_scalar(scalar.span, style, &value))
            .map(|it| it.map.source_span(range).shifted(scalar.span.start));
        Location { span: inner.unwrap_or(scalar.span), ..scalar }
    }

    /// The bytes of a scalar in this file, if they are its text: no parameter or patch decides it. Only such a text can be
    /// edited.
    pub(in crate::rules) fn literal_span(&self, text: &Text) -> Option<Span> {
        let location = self.object.is_literal(text).then(|| self.at(text.span))?;
        (location.file == *self.file.path).then_some(location.span)
    }

    /// The edit that replaces a part of a scalar's value. `None` if that part is not written there: it is the value of a
    /// parameter, or comes from elsewhere.
    pub(in crate::rules) fn replace_edit(&self, text: &Text, range: Range<usize>, new: &str) -> Option<Edit> {
        if !self.object.parameters_in(text, range.clone()).is_empty() {
            return None;
        }
        let WrittenRange { scalar, style, value, range } = self.object.written_range(text, range);
        let source = self.file.parsed_text().filter(|_| scalar.file == *self.file.path)?;
        // An action of a Helm template is not text that can be edited.
        let change = match source.mask {
            Some(_) => replace_in_scalar(&source.text.part(scalar.span)?, style, &value, range, new)?,
            None => {
                let mapped = source.mapped_scalar(scalar.span, style, &value)?;
                replace_in_mapped_scalar(&mapped.source, &mapped.map, style, range, new)?
            }
        };
        let span = change.span.shifted(scalar.span.start);
        Some(Edit { location: Location { span, ..scalar }, text: change.text })
    }

    /// The location of a key in the mapping at a span of the object.
    pub(in crate::rules) fn key_location(&self, mapping: ObjectSpan, key: &str) -> Option<Location> {
        let Location { file, span } = self.at(mapping);
        let source = self.file.texts.parsed_text(&file)?;
        let path = source.tree.document_at(span.start)?.root()?.path_to(span.start);
        let node = path.iter().find(|it| it.is_mapping() && it.span() == span)?;
        let (key, _) = node.entry(key)?;
        Some(Location { span: key.span(), file })
    }
}

/// A pod of an object.
#[derive(Clone, Copy)]
pub struct PodContext<'a> {
    /// The object.
    pub object: ObjectContext<'a>,
    /// The pod.
    pub pod: &'a Pod,
}

impl<'a> PodContext<'a> {
    /// The pod as other layers name it.
    pub fn handle(&self) -> BuiltPod<'a> {
        BuiltPod { object: self.object.object, pod: self.pod }
    }
}

/// A container of a pod, or the entries that a PodPreset adds to one.
#[derive(Clone, Copy)]
pub struct ContainerContext<'a> {
    /// The object that it is written in.
    pub object: ObjectContext<'a>,
    /// The pod.
    pub pod: &'a Pod,
    /// The container. Of a preset it is the fragment with its entries.
    pub container: &'a Container,
    /// Its environment. Checks ask for single names, so that it need not be computed as a whole.
    environment: &'a Environment<'a>,
    /// For the entries of a preset, the container that gets them; `None` for a container, and for a preset without pods.
    recipient: Option<&'a ServedContainer<'a>>,
}

/// A container that gets entries of a preset.
pub(in crate::rules) struct ServedContainer<'a> {
    pub(in crate::rules) handle: BuiltContainer<'a>,
    pub(in crate::rules) environment: Environment<'a>,
    /// For each entry of the preset's `env`, its index in that of the container after admission; `None` if it is not added.
    pub(in crate::rules) entries: Vec<Option<usize>>,
}

impl<'a> ContainerContext<'a> {
    /// A container with its environment.
    pub fn new(file: &'a FileContext<'a>, handle: BuiltContainer<'a>, environment: &'a Environment<'a>) -> Self {
        let BuiltContainer { object, pod, container } = handle;
        Self { object: ObjectContext { file, object }, pod, container, environment, recipient: None }
    }

    /// The entries of a preset in a container that gets them.
    pub(super) fn of_preset(
        object: ObjectContext<'a>,
        entries: &'a Container,
        recipient: &'a ServedContainer<'a>,
    ) -> Self {
        let (pod, environment) = (recipient.handle.pod, &recipient.environment);
        Self { object, pod, container: entries, environment, recipient: Some(recipient) }
    }

    /// The container as other layers name it. For the entries of a preset it is the container that gets them.
    pub fn handle(&self) -> BuiltContainer<'a> {
        let own = BuiltContainer { object: self.object.object, pod: self.pod, container: self.container };
        self.recipient.map_or(own, |it| it.handle)
    }

    /// The release whose rules its entries follow.
    pub(in crate::rules) fn entry_release(&self) -> KubernetesVersion {
        let release = self.object.file.resolver.release(self.object.file.path);
        self.object.object.preset().map_or(release, |preset| build::entry_release(preset, release))
    }

    /// Its pod.
    pub fn in_pod(&self) -> PodContext<'a> {
        PodContext { object: self.object, pod: self.pod }
    }

    /// Looks up a name among the variables that a field sees.
    pub fn lookup(&self, name: &str, site: VariableScope) -> Lookup {
        let site = match site {
            VariableScope::EarlierEntries(index) => {
                self.entry_index(index).map_or(VariableScope::All, VariableScope::EarlierEntries)
            }
            VariableScope::All | VariableScope::ProbeValues => site,
        };
        self.environment.lookup(site, name)
    }

    /// The variable of the entry `env[index]`.
    pub fn entry(&self, index: usize) -> Option<&'a Arc<Binding>> {
        self.environment.entry(self.entry_index(index)?)
    }

    /// The index in the environment of the entry `env[index]`.
    fn entry_index(&self, index: usize) -> Option<usize> {
        self.recipient.map_or(Some(index), |it| it.entries.get(index).copied().flatten())
    }

    /// The variables without those that only services define.
    pub fn own_bindings(&self) -> Vec<&'a Arc<Binding>> {
        self.environment.own_bindings()
    }

    /// See [`Environment::similar_names`].
    pub fn similar_names(&self, name: &str) -> Vec<Arc<str>> {
        self.environment.similar_names(name)
    }

    /// See [`Environment::reaches_shell`].
    pub fn reaches_shell(&self, name: &str) -> bool {
        self.environment.reaches_shell(name)
    }

    /// `command`, expanded.
    pub fn command(&self) -> &'a [ExpandedScalar] {
        &self.environment.command
    }

    /// `args`, expanded.
    pub fn args(&self) -> &'a [ExpandedScalar] {
        &self.environment.args
    }

    /// The commands of exec probes, expanded.
    pub fn probes(&self) -> &'a [ProbeCommand] {
        &self.environment.probes
    }

    /// `subPathExpr` of mounts, expanded, with those of presets.
    pub fn sub_paths(&self) -> &'a [SubPath] {
        &self.environment.sub_paths
    }

    /// `subPathExpr` of the mounts that are written here.
    pub fn own_sub_paths(&self) -> impl Iterator<Item = &'a SubPath> {
        let preset = self.recipient.map(|_| PresetLocation::of(self.object.object));
        self.environment.sub_paths.iter().filter(move |it| it.within == preset)
    }

    /// All containers of its pod. The findings of this container then depend on them too.
    pub fn siblings(&self) -> &'a [Arc<Container>] {
        self.object.file.snapshot.depend_on_siblings();
        &self.pod.containers
    }

    /// The place of a span of the object.
    pub fn at(&self, span: ObjectSpan) -> Location {
        self.object.at(span)
    }

    /// See [`ObjectContext::inside`].
    pub fn inside(&self, text: &Text, range: Range<usize>) -> Location {
        self.object.inside(text, range)
    }
}
