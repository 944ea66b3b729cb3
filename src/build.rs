//! What files become on their way to the cluster: built objects, whose every part knows where it comes from.
//!
//! A cluster does not get most files as they are written. A *view* is what a set of files becomes: a template with values
//! for its parameters, or plain objects that nothing changes. Where nothing builds, the built object is the source object:
//! nothing is copied.
//!
//! - [`BuiltObject`] is an object of a view, and [`BuiltContainer`] the handle for one of its containers. All later layers
//!   use these handles.
//! - `node` is the tree that steps change; [`Origins`] says where its nodes come from.
//! - `built` builds objects and keeps the results with their sources.
//! - `lookup` finds other objects by name, first in the same view.
//! - [`Admission`] applies PodPresets to the pods of built objects.
//! - `process` is the engine of `podlens process`, and processes the objects of templates; `wrap` is its inverse.

#![warn(clippy::disallowed_methods)]

mod admission;
mod built;
mod env_from_refusal;
mod label_names;
mod lookup;
mod named_views;
mod node;
mod object;
mod origin;
mod preset_problems;
mod preset_selector;
mod process;
mod provenance;
mod quantity;
mod value_sources;
mod variable_names;
mod view;
mod views;
mod wrap;

pub use admission::{
    Admission, AdmissionContext, Conflict, ConflictKind, ContainerChanges, DuplicateEntry, EnvFromNames,
    MatchingPreset, PossiblePreset, PresetEntry, RefusedPreset, is_in_same_namespace, presets_apply_one_by_one,
};
pub use built::BuiltSource;
pub use env_from_refusal::EnvFromRefusal;
pub use label_names::{is_dns_subdomain, is_dns_subdomain_prefix, is_qualified_name};
pub use lookup::{BuiltMatch, Elsewhere};
pub use named_views::named_views;
pub use node::{BuildError, BuildLimits, BuiltContent, BuiltNode, BuiltScalar};
pub use object::{BuiltContainer, BuiltObject, BuiltPod, WrittenRange, title};
pub use origin::{BuiltBy, BuiltText, Origins, Place, SourceObject};
pub use preset_problems::{
    OPERATORS_HELP, PresetProblem, SELECTOR_HELP, entry_release, preset_name_problem, preset_problems, preset_refusal,
};
pub use preset_selector::{PRESET_EXCLUDE_ANNOTATION, PodLabels, SelectorMatch, is_exempt_from_presets, match_pod};
pub use process::{
    GeneratorError, GeneratorPart, GeneratorProblem, Json, JsonMap, ObjectList, ParameterValues, ParameterView,
    ProcessError, ProcessOptions, ProcessedTemplate, RandomBelow, RandomCharacters, RangeEnds, SelectedTemplate,
    find_literal_pattern, generate_value, parse_generator, process_template, select_template, select_template_at,
};
pub use provenance::{FieldProvenance, PieceProvenance, ProvenanceFiles, UnknownPart, fields, unknown_parts};
pub use quantity::Quantity;
pub use value_sources::{
    ENV_FIELDS, ENV_RESOURCES, env_file_field_problem, has_data_key_characters, has_parent_element, is_data_key,
    is_env_field, is_env_resource, is_valid_divisor, is_volume_name, split_subscript,
};
pub use variable_names::{is_relaxed_variable_name, is_strict_variable_name};
pub use view::{BuiltView, View, view_list};
pub use views::{UnmatchedView, ViewInputs, ViewKind, ViewSummary, ViewUnknown, unmatched_views, views};
pub use wrap::{ParameterChoice, WrapError, WrapInput, WrapOptions, Wrapped, wrap_in_template};
pub(crate) use wrap::{ParameterEdits, ValueReplacer, object_name};

use std::sync::Arc;

use crate::workspace::{File, Snapshot};

#[cfg(test)]
mod tests;

/// What each view makes of the object at a position of a file: first its own template, then the views of the settings. For
/// an object that nothing builds it is the object itself.
pub fn views_of<'s>(
    snapshot: &'s Snapshot,
    path: &'s Arc<str>,
    file: &'s File,
    position: usize,
) -> impl Iterator<Item = BuiltObject<'s>> {
    let own = file.objects.get(position).map(|source| built::of_file(snapshot, path, file, position, source));
    let is_template = own.is_some_and(|it| it.view == View::Template);
    let others = if is_template { named_views(snapshot) } else { &[] };
    own.into_iter().chain(others.iter().filter_map(move |view| view.object(snapshot, path, file, position)))
}

/// All Services of the workspace, as their own views make them, and those of the settings.
pub fn all_services(snapshot: &Snapshot) -> impl Iterator<Item = BuiltObject<'_>> {
    snapshot.all_services().map(|found| {
        let built = found.position.and_then(|it| built::built_object(snapshot, found.file, it));
        built.unwrap_or_else(|| BuiltObject::as_written(snapshot, found.file, found.object))
    })
}

/// The objects of a file in all views, in the order of the file.
pub fn all_views<'s>(
    snapshot: &'s Snapshot,
    path: &'s Arc<str>,
    file: &'s File,
) -> impl Iterator<Item = BuiltObject<'s>> {
    (0..file.objects.len()).flat_map(move |at| views_of(snapshot, path, file, at))
}

/// The object at a position of a file, as its own view makes it.
pub fn object_in_file<'s>(snapshot: &'s Snapshot, file: &str, position: usize) -> Option<BuiltObject<'s>> {
    let (path, _) = snapshot.entry(file)?;
    built::built_object(snapshot, path, position)
}

/// The object that starts at an offset of a file, as its own view makes it.
pub fn object_at<'s>(snapshot: &'s Snapshot, file: &str, offset: usize) -> Option<BuiltObject<'s>> {
    let (path, facts) = snapshot.entry(file)?;
    let position = facts.objects.binary_search_by_key(&offset, |it| it.offset).ok()?;
    built::built_object(snapshot, path, position)
}

/// The objects of a file as their own views make them, in the order of the file.
pub fn objects<'s>(
    snapshot: &'s Snapshot,
    path: &'s Arc<str>,
    file: &'s File,
) -> impl Iterator<Item = BuiltObject<'s>> {
    file.objects.iter().enumerate().map(move |(at, source)| built::of_file(snapshot, path, file, at, source))
}
