//! Built objects, and the handle for one container of one.

use std::ops::Range;
use std::sync::Arc;

use crate::build::built::BuiltSource;
use crate::build::origin::{BuiltBy, Place};
use crate::build::view::View;
use crate::diagnostic::Location;
use crate::k8s::{
    Container, DeclaredParameter, Model, Object, ObjectData, ObjectSpan, Parameter, Parameters, Pod, PodPreset, Text,
};
use crate::syntax::{Node, ScalarStyle, has_placeholder, show_placeholders};
use crate::text::Span;
use crate::workspace::{Settings, Snapshot};

/// An object as a view has it. Where nothing builds, it is the source object.
#[derive(Clone, Copy, Debug)]
pub struct BuiltObject<'s> {
    /// The workspace.
    pub snapshot: &'s Snapshot,
    /// The file of the source object.
    pub file: &'s Arc<str>,
    /// The source object at its position.
    pub source: &'s Object,
    /// The content after the build. Only [`BuiltObject::location`] converts its spans to places in files.
    pub model: &'s Arc<Model>,
    /// The view.
    pub view: View<'s>,
    pub(super) built: Option<&'s BuiltSource>,
}

/// A part of a scalar as it is written in a file.
#[derive(Clone, Debug)]
pub struct WrittenRange {
    /// The scalar.
    pub scalar: Location,
    /// Its style.
    pub style: ScalarStyle,
    /// Its value as written, before anything was replaced in it.
    pub value: Arc<str>,
    /// The range in that value.
    pub range: Range<usize>,
}

impl<'s> BuiltObject<'s> {
    /// A source object as it is written.
    pub fn as_written(snapshot: &'s Snapshot, file: &'s Arc<str>, source: &'s Object) -> Self {
        Self { snapshot, file, source, model: &source.model, view: View::Plain, built: None }
    }

    /// The place of a span in a file.
    pub fn location(self, span: ObjectSpan) -> Location {
        let own = |span: ObjectSpan| Location { file: Arc::clone(self.file), span: self.source.file_span(span) };
        let Some(built) = self.built else { return own(span) };
        match built.origins.place(span).0 {
            Place::Own(span) => own(span),
            Place::Other(object, span) => match self.snapshot.find_object(&object.file, &object.model) {
                Some(found) => Location { file: Arc::clone(&object.file), span: found.file_span(span) },
                None => own(self.source.model.span),
            },
            Place::TemplateLabel { key, is_value } => match self.template_label(&key, is_value) {
                Some((location, _)) => location,
                None => own(self.source.model.span),
            },
        }
    }

    /// The bytes of a span in the file of the source object. Of a span in another file they are those of the object.
    pub fn file_span(self, span: ObjectSpan) -> Span {
        let location = self.location(span);
        if location.file == *self.file { location.span } else { self.source.file_span(self.source.model.span) }
    }

    /// Where a part of a scalar's value is written. Of an inserted value it is the reference.
    pub fn written_range(self, text: &Text, range: Range<usize>) -> WrittenRange {
        let scalar = self.location(text.span);
        match self.built.and_then(|it| it.origins.text(text.span)) {
            Some(built) => {
                let (style, value) = (self.written_style(text.span, built.style), Arc::clone(&built.written));
                WrittenRange { scalar, style, value, range: built.written_range(range) }
            }
            None => WrittenRange { scalar, style: text.style, value: Arc::clone(&text.value), range },
        }
    }

    /// The offset in a scalar's value of an offset in its written text.
    pub fn built_offset(self, text: &Text, written: usize) -> usize {
        self.built.and_then(|it| it.origins.text(text.span)).map_or(written, |it| it.built_offset(written))
    }

    /// The parameters whose values are in a range of a scalar's value.
    pub fn parameters_in(self, text: &Text, range: Range<usize>) -> Vec<Arc<str>> {
        let built = self.built.and_then(|it| it.origins.text(text.span));
        let mut names = Vec::new();
        let mut start = 0;
        for piece in built.into_iter().flat_map(|it| &it.pieces) {
            let end = start + piece.text.len();
            if start < range.end && range.start < end {
                names.extend(piece.parameter.clone());
            }
            start = end;
        }
        names
    }

    /// Whether a scalar is written in the source object with this very text, so that an edit of it is an edit of the text.
    pub fn is_literal(self, text: &Text) -> bool {
        self.is_literal_at(text.span)
    }

    /// The same for the value at a span, which may be a list or a mapping.
    pub fn is_literal_at(self, span: ObjectSpan) -> bool {
        self.built.is_none_or(|it| {
            it.origins.text(span).is_none() && matches!(it.origins.place(span), (Place::Own(_), BuiltBy::Source))
        })
    }

    /// The tree after the build; `None` where nothing builds.
    pub fn tree(self) -> Option<Node<'s>> {
        self.built.map(|it| it.tree.node())
    }

    /// Why the real program refuses to build it.
    pub fn errors(self) -> &'s [String] {
        self.built.map_or(&[], |it| &it.errors)
    }

    fn written_style(self, span: ObjectSpan, style: ScalarStyle) -> ScalarStyle {
        match self.built.map(|it| it.origins.place(span).0) {
            Some(Place::TemplateLabel { key, is_value }) => {
                self.template_label(&key, is_value).map_or(style, |it| it.1)
            }
            _ => style,
        }
    }

    /// The place and style of a label of the template.
    fn template_label(self, key: &str, is_value: bool) -> Option<(Location, ScalarStyle)> {
        let (holder, template) = self.snapshot.file(self.file)?.template_of(self.source)?;
        let (key, value) = template.labels.iter().rfind(|(it, _)| &*it.value == key)?;
        let text = if is_value { value } else { key };
        Some((Location { file: Arc::clone(self.file), span: holder.file_span(text.span) }, text.style))
    }

    /// The parameters of the template that contains it, with the values of the view.
    pub fn parameters(self) -> Option<&'s Parameters> {
        match self.view {
            View::Named(view) => view.parameters(self),
            View::Plain | View::Template => self.source.template.as_ref().map(|it| &*it.parameters),
        }
    }

    /// A parameter of the template that contains it, with the value of the view.
    pub fn parameter(self, name: &str) -> Option<&'s DeclaredParameter> {
        self.parameters()?.get(name)
    }

    /// Where the value of a parameter is written in the template; without a value it is the name.
    pub fn parameter_location(self, name: &str) -> Option<Location> {
        let (holder, template) = self.snapshot.file_unrecorded(self.file)?.template_of(self.source)?;
        let is_it = |it: &&Parameter| it.name.as_ref().is_some_and(|it| &*it.value == name);
        let parameter = template.parameters.iter().rfind(is_it)?;
        let text = parameter.value.as_ref().or(parameter.name.as_ref())?;
        Some(Location { file: Arc::clone(self.file), span: holder.file_span(text.span) })
    }

    /// The settings that apply to the file of the source object.
    pub fn settings(self) -> &'s Settings {
        self.snapshot.settings(self.file)
    }

    /// The namespace, if it is known.
    pub fn namespace(self) -> Option<&'s Arc<str>> {
        self.model.namespace.as_ref().map(|it| &it.value).filter(|it| !has_placeholder(it))
    }

    /// `Deployment/web`.
    pub fn title(self) -> String {
        title(self.model)
    }

    /// Whether its pods may have more labels than it shows: it is a patch or the output of a Helm template.
    pub fn may_have_more_labels(self) -> bool {
        self.snapshot.is_patch(self.file) || self.is_helm_template()
    }

    /// Whether its file is a Helm template.
    pub fn is_helm_template(self) -> bool {
        self.snapshot.file(self.file).is_some_and(|it| it.is_helm_template())
    }

    /// The PodPreset, if it is one.
    pub fn preset(self) -> Option<&'s PodPreset> {
        match &self.model.data {
            ObjectData::Preset(preset) => Some(preset),
            _ => None,
        }
    }

    /// Whether it has containers.
    pub fn is_workload(self) -> bool {
        self.model.pods.iter().any(|it| !it.containers.is_empty())
    }

    /// Its containers.
    pub fn containers(self) -> impl Iterator<Item = BuiltContainer<'s>> {
        self.model.pods.iter().flat_map(move |pod| BuiltPod { object: self, pod }.containers())
    }

    /// Its pods.
    pub fn pods(self) -> impl Iterator<Item = BuiltPod<'s>> {
        self.model.pods.iter().map(move |pod| BuiltPod { object: self, pod })
    }

    /// For a PodPreset, the entries that it adds to containers, as a container.
    pub fn preset_container(self) -> Option<BuiltContainer<'s>> {
        let preset = self.preset()?;
        Some(BuiltContainer { object: self, pod: &preset.pod, container: preset.container()? })
    }

    /// Whether both are the same object in the same view.
    pub fn is_same(self, other: BuiltObject<'_>) -> bool {
        self.file == other.file && self.source.offset == other.source.offset && self.view == other.view
    }
}

/// `Deployment/web`.
pub fn title(model: &Model) -> String {
    let part =
        |text: &Option<Text>| text.as_ref().map_or("?".to_owned(), |it| show_placeholders(&it.value).into_owned());
    format!("{}/{}", part(&model.kind), part(&model.name))
}

/// A pod of a built object.
#[derive(Clone, Copy, Debug)]
pub struct BuiltPod<'s> {
    /// The object that makes the pod.
    pub object: BuiltObject<'s>,
    /// The pod.
    pub pod: &'s Pod,
}

impl<'s> BuiltPod<'s> {
    /// Its containers.
    pub fn containers(self) -> impl Iterator<Item = BuiltContainer<'s>> {
        let Self { object, pod } = self;
        pod.containers.iter().map(move |container| BuiltContainer { object, pod, container })
    }

    /// Whether a Kustomize patch in the workspace may set something in the pod. `sets` says whether the pod of a patch
    /// does; patches inside a kustomization are not read, and may set anything. Files of JSON 6902 patches and
    /// `replacements` are not counted. It looks at all patches, so ask it last.
    pub fn may_be_patched(self, sets: impl Fn(&Pod) -> bool) -> bool {
        let snapshot = self.object.snapshot;
        snapshot.patching_files().any(|(path, file)| {
            let is_patch = snapshot.is_patch(path);
            file.objects.iter().any(|object| match &object.model.data {
                ObjectData::Kustomization(it) => it.has_inline_patches,
                _ => is_patch && object.model.pods.iter().any(&sets),
            })
        })
    }

    /// Whether a Kustomize patch may add a volume or mount it.
    pub fn may_patch_volume(self, name: &str) -> bool {
        let is_it = |text: &Option<Text>| text.as_ref().is_some_and(|it| &*it.value == name);
        self.may_be_patched(|patch| {
            patch.volumes.iter().any(|it| is_it(&it.name))
                || patch.containers.iter().flat_map(|it| &it.mounts).any(|it| is_it(&it.name))
        })
    }
}

/// One container of a built object: the handle by which all layers name it.
#[derive(Clone, Copy, Debug)]
pub struct BuiltContainer<'s> {
    /// The object.
    pub object: BuiltObject<'s>,
    /// The pod.
    pub pod: &'s Pod,
    /// The container.
    pub container: &'s Container,
}

impl<'s> BuiltContainer<'s> {
    /// Its pod.
    pub fn in_pod(self) -> BuiltPod<'s> {
        BuiltPod { object: self.object, pod: self.pod }
    }

    /// The index of the container in its pod.
    pub fn index(self) -> Option<usize> {
        self.pod.containers.iter().position(|it| std::ptr::eq(&**it, self.container))
    }

    /// The place of a span in a file.
    pub fn location(self, span: ObjectSpan) -> Location {
        self.object.location(span)
    }
}
