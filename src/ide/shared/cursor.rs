//! Finds the item under the cursor, for all features.
//!
//! To support a new kind of item, add a variant to [`CursorTarget`]; hover, definition and symbols match on it.

mod target_finder;

use std::ops::Range;
use std::sync::Arc;

use crate::build::BuiltObject;
use crate::ide::Analysis;
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::{LocatedContainer, views_of};
use crate::ide::shared::param_file_text::ParamFileText;
use crate::ide::shared::template_parameters::LocatedParameter;
use crate::k8s::{ContainerField, DataEntry, Pod, Text};
use crate::resolve::OriginKind;
use crate::rules::{self, Rule};
use crate::syntax::{may_have_suppressions, parse_env_file};
use crate::text::Span;
use crate::workspace::is_param_file;
use target_finder::TargetFinder;

/// An item under the cursor with its span.
#[derive(Clone, Debug)]
pub(crate) struct TargetAt<'s> {
    /// Its span in the file.
    pub(crate) span: Span,
    /// The item.
    pub(crate) target: CursorTarget<'s>,
}

/// An item that features have answers for.
#[derive(Clone, Debug)]
pub(crate) enum CursorTarget<'s> {
    /// `$(NAME)` in a text of a container.
    Reference {
        /// The container.
        at: LocatedContainer<'s>,
        /// The field.
        field: ContainerField,
        /// The name in it.
        name: &'s str,
    },
    /// `$NAME` or `${NAME}` in a script, which the shell replaces.
    ShellReference {
        /// The container.
        at: LocatedContainer<'s>,
        /// The name.
        name: &'s str,
    },
    /// `$$` in a text of a container.
    Escape {
        /// The text.
        text: &'s Text,
        /// The dollar signs in the text's value.
        range: Range<usize>,
    },
    /// The name of an entry of `env`.
    Variable {
        /// The container.
        at: LocatedContainer<'s>,
        /// The entry.
        index: usize,
    },
    /// The key of an env file in an entry of `env`.
    EnvFileKey {
        /// The container.
        at: LocatedContainer<'s>,
        /// The entry.
        index: usize,
    },
    /// The source of an entry of `env`: a field path, a resource, the path of an env file.
    Source {
        /// The container.
        at: LocatedContainer<'s>,
        /// The entry.
        index: usize,
    },
    /// The name of a ConfigMap, Secret or Service in a reference.
    Object {
        /// The container.
        at: LocatedContainer<'s>,
        /// The kind.
        kind: OriginKind,
        /// The name.
        name: &'s Text,
        /// The entry of `envFrom` that contains it.
        env_from: Option<usize>,
    },
    /// A key of a ConfigMap or Secret in a reference.
    KeyUse {
        /// The container.
        at: LocatedContainer<'s>,
        /// The kind.
        kind: OriginKind,
        /// The name of the object.
        name: &'s Text,
        /// The key.
        key: &'s Text,
    },
    /// A key of a ConfigMap or Secret in its definition.
    Key {
        /// The object.
        object: BuiltObject<'s>,
        /// The kind.
        kind: OriginKind,
        /// The key.
        key: &'s DataEntry,
    },
    /// The name of a service that a pod waits for.
    Dependency {
        /// The object.
        object: BuiltObject<'s>,
        /// The name.
        name: &'s Text,
    },
    /// The selector of a PodPreset.
    Selector {
        /// The preset.
        object: BuiltObject<'s>,
    },
    /// The name of an object with pods.
    Workload {
        /// The object.
        object: BuiltObject<'s>,
    },
    /// The name of a ConfigMap, Secret, Service or PodPreset in its definition.
    ObjectName {
        /// The object.
        object: BuiltObject<'s>,
        /// The kind.
        kind: OriginKind,
        /// Its name.
        name: &'s Text,
    },
    /// The name of a volume, in a use or in its definition.
    Volume {
        /// The object.
        object: BuiltObject<'s>,
        /// The pod.
        pod: &'s Pod,
        /// The name.
        name: &'s Text,
    },
    /// The name of a ConfigMap or Secret in a volume, or a key in its `items`.
    VolumeSource {
        /// The object that has the volume.
        object: BuiltObject<'s>,
        /// The kind.
        kind: OriginKind,
        /// The name.
        name: Text,
        /// The key in `items`.
        key: Option<Text>,
    },
    /// The name of another container of the pod.
    Container {
        /// The container that names it.
        at: LocatedContainer<'s>,
        /// The name.
        name: &'s Text,
    },
    /// A parameter of a template, in its declaration or in a reference.
    Parameter(LocatedParameter<'s>),
    /// An entry of an env file.
    EnvFileEntry {
        /// The file.
        file: Arc<str>,
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// The name of a rule, in a suppression comment or in the settings.
    Rule(&'static Rule),
}

/// The item at an offset.
pub(crate) fn target_at<'s>(analysis: &Analysis<'s>, file: &Arc<str>, offset: usize) -> Option<TargetAt<'s>> {
    let snapshot = analysis.snapshot;
    let (path, facts) = snapshot.entry(file)?;
    let file_text = analysis.file_text(file)?;
    if let Some((rule, span)) = rule_at(analysis, file, &file_text, offset) {
        return Some(TargetAt { span, target: CursorTarget::Rule(rule) });
    }
    if facts.is_env_format() {
        let param_file = ParamFileText::of(analysis, file, &file_text);
        if let Some((span, parameter)) = param_file.parameter_at(offset) {
            return Some(TargetAt { span, target: CursorTarget::Parameter(parameter) });
        }
        if is_param_file(file) {
            return None;
        }
        let reading = analysis.resolver.env_file_syntax(file);
        let (entries, _) = parse_env_file(&file_text.source.text, reading.dialect, reading.is_name);
        let entry = entries.into_iter().find(|it| it.name_span.touches(offset))?;
        let (name, value) = (entry.name.into_owned(), entry.value.into_owned());
        let target = CursorTarget::EnvFileEntry { file: Arc::clone(file), name, value };
        return Some(TargetAt { span: entry.name_span, target });
    }
    let finder = TargetFinder { analysis, file, path, facts, file_text: &file_text, offset };
    let around = analysis.objects_at(file, offset);
    if let Some(found) = around.first().and_then(|object| finder.parameter(object.source)) {
        return Some(found);
    }
    around.iter().find_map(|object| finder.in_object(*object)).or_else(|| finder.by_alias(&around))
}

/// The item at an offset in each view of the object around it, with the names of the views. Empty if only one view has
/// the object.
pub(crate) fn targets_in_views<'s>(
    analysis: &Analysis<'s>,
    file: &Arc<str>,
    offset: usize,
) -> Vec<(Arc<str>, CursorTarget<'s>)> {
    let (Some((path, facts)), Some(file_text)) = (analysis.snapshot.entry(file), analysis.file_text(file)) else {
        return Vec::new();
    };
    let Some(object) = analysis.objects_at(file, offset).into_iter().next() else { return Vec::new() };
    let views: Vec<BuiltObject<'s>> = views_of(object).collect();
    if views.len() < 2 {
        return Vec::new();
    }
    let finder = TargetFinder { analysis, file, path, facts, file_text: &file_text, offset };
    views.into_iter().filter_map(|it| Some((it.view_name()?, finder.in_object(it)?.target))).collect()
}

/// The rule named at an offset, in a suppression comment or in the settings.
fn rule_at(analysis: &Analysis<'_>, file: &str, file_text: &FileText, offset: usize) -> Option<(&'static Rule, Span)> {
    if let Some(settings) = &analysis.snapshot.file(file)?.settings {
        let overrides = settings.overrides.iter().flat_map(|it| &it.rules);
        let named = settings.rules.iter().chain(overrides).find(|it| it.rule.span.to_relative().touches(offset))?;
        return Some((rules::find_rule(&named.rule.value)?, named.rule.span.to_relative()));
    }
    let line = file_text.line(offset);
    if !may_have_suppressions(&file_text.text()[line.range()]) {
        return None;
    }
    let found = rules::suppressions_in(&file_text.source, analysis.dialect(file), line);
    let (name, span) = found.iter().flat_map(|it| &it.rules).find(|(_, span)| span.touches(offset))?;
    Some((rules::find_rule(name)?, *span))
}
