//! Reading one file: its kind, its objects and its errors. The text and the tree are not kept.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::k8s::{self, DataValue, Object, ObjectData, ParameterValue, Parameters, Template};
use crate::syntax::{self, SyntaxError, Tree};
use crate::text::{LineIndex, Span};
use crate::workspace::file_kind::FileKind;
use crate::workspace::helm;
use crate::workspace::inclusion::{self, Includes};
use crate::workspace::settings::Settings;

/// The contents of a file as the other layers see them.
#[derive(Clone, Debug)]
pub struct File {
    /// What the file is.
    pub kind: FileKind,
    /// The objects, including those inside Lists and Templates, in text order.
    pub objects: Vec<Object>,
    /// Errors of its YAML. A template has none: it is not YAML yet.
    pub errors: Vec<SyntaxError>,
    /// Pairs of equal keys in one mapping, the earlier key first. Only of documents with objects.
    pub duplicate_keys: Vec<(Span, Span)>,
    /// Converts offsets to lines and columns.
    pub lines: Arc<LineIndex>,
    /// The number of documents, without those that hold only comments.
    pub document_count: usize,
    /// Whether a document is a list and not an object: a JSON patch.
    pub is_list: bool,
    /// Whether the text may contain suppression comments.
    pub has_suppressions: bool,
    /// The settings, if this is a settings file.
    pub settings: Option<Arc<Settings>>,
    /// Files that a Kustomization in this file names as patches.
    pub(super) patches: Vec<Arc<str>>,
    /// What the file includes as a kustomization, a chart, settings or a delivery object.
    pub(super) includes: Option<Arc<Includes>>,
    /// What this file is read as when it belongs to a Helm chart, if that is different.
    pub(super) in_chart: Option<Arc<File>>,
    /// The names and values of a parameter file or env file.
    pub values: Vec<(Arc<str>, DataValue)>,
    /// See [`File::derived_from_objects`].
    pub(super) derived: DerivedFromFile,
}

/// What is computed from the objects of a file, once. A copy of the file starts without it.
#[derive(Default)]
pub(super) struct DerivedFromFile {
    /// The result of a later layer.
    other: OnceLock<Box<dyn Any + Send + Sync>>,
    /// The positions of the templates.
    templates: OnceLock<Box<[usize]>>,
}

impl Clone for DerivedFromFile {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for DerivedFromFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DerivedFromFile")
    }
}

impl File {
    /// Reads a file. The path is relative to the root, with `/` as separator. Documents that cannot hold a relevant
    /// object are not parsed.
    pub fn read(path: &str, text: &str) -> Self {
        Self::read_with(path, text, &FreshReader(&|text| syntax::parse_matching_documents(text, k8s::may_hold_objects)))
    }

    /// Reads a file and parses all its documents.
    pub fn read_whole(path: &str, text: &str) -> Self {
        Self::read_with(path, text, &FreshReader(&|text| (syntax::parse(text), 0)))
    }

    /// Reads a file whose text is parsed already.
    pub fn from_tree(path: &str, text: &str, tree: &Tree) -> Self {
        let parse = |part: &str| {
            let tree = if std::ptr::eq(part, text) { tree.clone() } else { syntax::parse(part) };
            (tree, 0)
        };
        Self::read_with(path, text, &FreshReader(&parse))
    }

    /// Whether it is a Helm template.
    pub fn is_helm_template(&self) -> bool {
        self.kind == FileKind::HelmTemplate
    }

    /// Whether a template engine produces the manifest from this file.
    pub fn is_template(&self) -> bool {
        self.kind.is_template()
    }

    /// Whether the file holds lines `NAME=value` instead of YAML.
    pub fn is_env_format(&self) -> bool {
        self.kind.is_env_format()
    }

    /// The text that was parsed: of a Helm template the text with its actions masked, with equal offsets.
    pub fn masked_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.kind {
            FileKind::EnvFile | FileKind::ParamFile => Cow::Borrowed(""),
            FileKind::HelmTemplate => {
                syntax::mask_helm_actions(text).map_or(Cow::Borrowed(text), |mask| mask.text.into())
            }
            FileKind::Manifest | FileKind::OtherTemplate | FileKind::Settings => Cow::Borrowed(text),
        }
    }

    /// The same file with other values for the parameters of its templates. Names that a template does not declare are
    /// ignored.
    pub fn with_parameter_values(&self, values: &[(Arc<str>, ParameterValue)]) -> Self {
        let mut file = self.clone();
        let mut known: Vec<(Arc<Parameters>, Arc<Parameters>)> = Vec::new();
        for template in file.objects.iter_mut().filter_map(|it| it.template.as_mut()) {
            let old = &template.parameters;
            let new = match known.iter().find(|(it, _)| Arc::ptr_eq(it, old)) {
                Some((_, new)) => Arc::clone(new),
                None => {
                    let declared = values.iter().filter(|(name, _)| old.contains(name)).cloned();
                    let new = Arc::new(old.with_values(declared));
                    known.push((Arc::clone(old), Arc::clone(&new)));
                    new
                }
            };
            template.parameters = new;
        }
        file
    }

    /// What a later layer computes from the objects of the file. It is kept with the file. All callers must use the same
    /// type; `None` for another one.
    pub fn derived_from_objects<T: Any + Send + Sync>(&self, compute: impl FnOnce() -> T) -> Option<&T> {
        self.derived.other.get_or_init(|| Box::new(compute())).downcast_ref()
    }

    /// The number of templates in this file.
    pub fn template_count(&self) -> usize {
        self.templates().len()
    }

    /// The positions of the templates: a file may have thousands of objects and findings, and one template.
    fn templates(&self) -> &[usize] {
        let is_template = |at: &usize| matches!(self.objects[*at].model.data, ObjectData::Template(_));
        self.derived.templates.get_or_init(|| (0..self.objects.len()).filter(is_template).collect())
    }

    /// The template that contains an object of this file.
    pub fn template_of(&self, object: &Object) -> Option<(&Object, &Template)> {
        object.template.as_ref()?;
        let after = self.templates().partition_point(|at| self.objects[*at].offset < object.offset);
        let holder = &self.objects[self.templates()[..after].last().copied()?];
        match &holder.model.data {
            ObjectData::Template(template) => Some((holder, template)),
            _ => None,
        }
    }

    /// A cheap check whether both files export the same objects. False does not mean that they differ.
    pub(super) fn exports_the_same(&self, other: &Self) -> bool {
        let same = |(one, other): (&Object, &Object)| match (&one.model.data, &other.model.data) {
            (ObjectData::None, ObjectData::None) => true,
            _ => {
                let template = match (&one.template, &other.template) {
                    (Some(one), Some(other)) => Arc::ptr_eq(&one.parameters, &other.parameters),
                    (one, other) => one.is_none() && other.is_none(),
                };
                template && Arc::ptr_eq(&one.model, &other.model)
            }
        };
        self.objects.len() == other.objects.len() && self.objects.iter().zip(&other.objects).all(same)
    }

    /// Reads a file with a given reader.
    pub(super) fn read_with(path: &str, text: &str, reader: &dyn TextReader) -> Self {
        match FileKind::from_path(path) {
            kind @ (FileKind::EnvFile | FileKind::ParamFile) => Self::read_env_format(path, text, kind),
            FileKind::Settings => {
                let (tree, skipped) = reader.parse(text);
                let settings = Settings::read(path, text);
                let includes = inclusion::read_settings(&settings);
                let settings = Some(Arc::new(settings));
                let file = Self::from_objects(path, &tree, Vec::new(), false, &|_| false);
                let (lines, document_count) = (Arc::new(LineIndex::new(text)), file.document_count + skipped);
                Self { kind: FileKind::Settings, settings, includes, lines, document_count, ..file }
            }
            FileKind::Manifest | FileKind::HelmTemplate | FileKind::OtherTemplate => {
                let file = Self::read_manifest(path, text, reader);
                match inclusion::read(path, text, reader) {
                    Some(includes) => {
                        Self { lines: Arc::new(LineIndex::new(text)), ..file }.with_includes(Some(includes))
                    }
                    None => file,
                }
            }
        }
    }

    fn read_env_format(path: &str, text: &str, kind: FileKind) -> Self {
        let file =
            Self::from_objects(path, &syntax::parse(""), Vec::new(), syntax::may_have_suppressions(text), &|_| false);
        let entries = syntax::parse_param_file(text).entries.into_iter();
        let values = entries.map(|it| (it.name.into(), DataValue::new(it.value))).collect();
        let includes = inclusion::read_parameters(text);
        Self { kind, includes, lines: Arc::new(LineIndex::new(text)), document_count: 1, values, ..file }
    }

    /// Reads YAML or JSON, and decides whether it is a template.
    fn read_manifest(path: &str, text: &str, reader: &dyn TextReader) -> Self {
        // A template is not YAML yet, so its errors are not reported. Their number is compared below.
        let as_helm = || {
            let (tree, skipped, objects) = reader.read_helm(text)?;
            let file = Self::plain(path, text, &tree, skipped, objects);
            let errors = file.errors.len();
            let kind = FileKind::HelmTemplate;
            Some((Self { kind, errors: Vec::new(), ..file }, errors))
        };
        let may_be_helm = helm::has_actions(text);
        // YAML cannot begin a line with an action.
        if may_be_helm
            && helm::begins_with_action(text)
            && let Some((file, _)) = as_helm()
        {
            return file;
        }
        let (tree, skipped) = reader.parse(text);
        let mut file = Self::plain(path, text, &tree, skipped, reader.objects(&tree));
        // Evaluated last: it looks at every action.
        let has_bare_action = || helm::has_bare_action(text, &tree);
        if may_be_helm && (!file.errors.is_empty() || helm::is_template(path) || has_bare_action()) {
            match as_helm() {
                Some((template, errors)) if errors < file.errors.len() || has_bare_action() => return template,
                Some((template, _)) if helm::is_template(path) => file.in_chart = Some(Arc::new(template)),
                _ => {}
            }
        }
        file.without_values(path)
    }

    /// The file with what it includes, also where it is read as part of a chart.
    pub(super) fn with_includes(mut self, includes: Option<Arc<Includes>>) -> Self {
        if let Some(in_chart) = self.in_chart.take() {
            let in_chart = Arc::unwrap_or_clone(in_chart);
            self.in_chart = Some(Arc::new(Self { includes: includes.clone(), ..in_chart }));
        }
        Self { includes, ..self }
    }

    /// The values of a chart may look like objects: in a chart the file has none.
    pub(super) fn without_values(mut self, path: &str) -> Self {
        if helm::is_values(path) && !self.objects.is_empty() {
            self.in_chart = Some(Arc::new(Self { objects: Vec::new(), patches: Vec::new(), ..self.clone() }));
        }
        self
    }

    fn plain(path: &str, text: &str, tree: &Tree, skipped: usize, objects: Vec<Object>) -> Self {
        let has_suppressions = syntax::may_have_suppressions(text);
        let mut file = Self::from_objects(path, tree, objects, has_suppressions, &|errors| {
            syntax::has_template_delimiters(text) || syntax::has_foreign_placeholder(text, errors)
        });
        file.document_count += skipped;
        file.is_list |= skipped > 0 && begins_with_list(text);
        // Without objects, errors and suppressions no position in the file is ever shown.
        let has_positions = has_suppressions || !file.objects.is_empty() || !file.errors.is_empty() || skipped == 0;
        file.lines = Arc::new(LineIndex::new(if has_positions { text } else { "" }));
        file
    }

    /// A file with these objects. The caller sets `lines`.
    pub(super) fn from_objects(
        path: &str,
        tree: &Tree,
        objects: Vec<Object>,
        has_suppressions: bool,
        is_other_template: &dyn Fn(&[SyntaxError]) -> bool,
    ) -> Self {
        let patches = objects
            .iter()
            .filter_map(|object| match &object.model.data {
                ObjectData::Kustomization(it) => Some(&it.patches),
                _ => None,
            })
            .flatten()
            .filter_map(|patch| inclusion::join(inclusion::directory_of(path), &patch.value))
            .collect();
        let has_objects = |span: Span| {
            let next = objects.partition_point(|object| object.offset < span.start);
            objects.get(next).is_some_and(|object| object.offset < span.end)
        };
        // Where the structure is not certain, neither is which keys are in one mapping.
        let read = tree.documents().filter(|it| has_objects(it.span()) && !it.has_errors());
        let duplicate_keys = read.flat_map(|document| document.duplicate_keys()).collect();
        let errors = tree.errors();
        let is_other_template = !errors.is_empty() && is_other_template(&errors);
        Self {
            kind: if is_other_template { FileKind::OtherTemplate } else { FileKind::Manifest },
            objects,
            errors,
            duplicate_keys,
            lines: Arc::default(),
            document_count: tree.documents().filter(|document| document.root().is_some()).count(),
            is_list: tree.documents().filter_map(|it| it.root()).any(|root| root.is_sequence()),
            has_suppressions,
            settings: None,
            patches,
            includes: None,
            in_chart: None,
            values: Vec::new(),
            derived: DerivedFromFile::default(),
        }
    }
}

/// Whether the first document of a text is a list.
fn begins_with_list(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("---"));
    first.is_some_and(|line| line.starts_with(['-', '[']))
}

/// Parses a text and reads its objects, from scratch or from the results before an edit.
pub(super) trait TextReader {
    /// The tree, and the number of documents that were not parsed.
    fn parse(&self, text: &str) -> (Tree, usize);

    /// A tree with at least the documents that match.
    fn parse_documents(&self, text: &str, matches: &dyn Fn(&str) -> bool) -> Tree;

    /// The objects of the tree.
    fn objects(&self, tree: &Tree) -> Vec<Object>;

    /// The tree of the text with its Helm actions masked, the number of documents that were not parsed, and the objects
    /// without what the actions decide. `None` if the text has no actions.
    fn read_helm(&self, text: &str) -> Option<(Tree, usize, Vec<Object>)>;
}

/// Reads a text from scratch with a parser.
struct FreshReader<'p>(&'p dyn Fn(&str) -> (Tree, usize));

impl TextReader for FreshReader<'_> {
    fn parse(&self, text: &str) -> (Tree, usize) {
        self.0(text)
    }

    fn parse_documents(&self, text: &str, matches: &dyn Fn(&str) -> bool) -> Tree {
        syntax::parse_matching_documents(text, matches).0
    }

    fn objects(&self, tree: &Tree) -> Vec<Object> {
        k8s::read_objects(tree)
    }

    fn read_helm(&self, text: &str) -> Option<(Tree, usize, Vec<Object>)> {
        let mask = syntax::mask_helm_actions(text)?;
        let (tree, skipped) = self.0(&mask.text);
        let objects = helm::without_unknown_parts(k8s::read_objects(&tree), &mask);
        Some((tree, skipped, objects))
    }
}
