//! The workspace: files with their objects, an index of the names they define, and the settings.
//!
//! Changes go into a [`Workspace`]; immutable [`Snapshot`]s come out. The cost of a change depends on the changed file
//! only, not on the size of the workspace. Settings, charts and patches are the exception: they concern other files,
//! which are then indexed again.

#![warn(clippy::disallowed_methods)]

mod dependencies;
mod document;
mod file;
mod file_kind;
mod globs;
mod helm;
mod inclusion;
mod index;
mod lookup;
mod patches;
mod paths;
mod scope;
mod settings;
mod snapshot;
mod updates;
mod users;
mod version;

pub use dependencies::Dependencies;
pub use document::{Document, ParsedText, SharedText, TextRevision};
pub use file::File;
pub use file_kind::{FileKind, MANIFEST_EXTENSIONS, is_documentation, is_env_format, is_manifest, is_param_file};
pub use globs::Globs;
pub use inclusion::{
    BuildRole, Delivery, DeliveryTool, Include, IncludeKind, IncludeTarget, Includes, Inclusion, ParameterTemplates,
    choose_templates,
};
pub use lookup::{LookupSite, ObjectMatch};
pub use patches::PatchedVariables;
pub use paths::{PathStyle, display_path, join_path, path_from_uri, path_to_uri, relative_path};
pub use scope::{is_for_show, is_in_test_directory};
pub use settings::{
    Externals, FileOverride, LintLevel, LoadRestrictor, NamedView, RuleLevel, SETTINGS_FILE, Settings, SettingsError,
    UnknownPolicy, schema,
};
pub use snapshot::Snapshot;
pub use updates::Workspace;
pub use version::{InvalidVersion, KubernetesVersion};

#[cfg(test)]
mod test_projects;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use test_projects::{Project as TestProject, edit as random_edit, projects as test_projects};
