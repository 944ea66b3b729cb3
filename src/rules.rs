//! The rules: what they check, what runs them, and what they share.
//!
//! A rule works on resolved environments and knows neither the protocol nor the output. It reports only what is true
//! under every reading of the files that podlens can see.
//!
//! - `checks`: one file per rule, and the registry.
//! - `engine`: the declaration of a rule, the contexts it gets, its findings, suppression, levels, and the cache.
//! - `shared`: what several rules use.
//!
//! # What a check may look at
//! In an editor, findings are cached until something changes that they depend on (see [`FindingsCache`]). So a check looks
//! only at what its kind is about; everything else it gets from functions that record the dependency:
//!
//! - `Container`: the container, its environment, and the pod and object around it, except other containers: those are in
//!   [`ContainerContext::siblings`].
//! - `Pod` and `Object`: everything in the object. These run again after every change in it, so they must be cheap for a
//!   large object. A check of single containers is better a `Container` check.
//! - `File`: the whole file. These run again after every change in the file, so they must be cheap.
//! - Other objects and files, even of the same file, come from the snapshot and the resolver, which record each name, kind
//!   and file that was looked up. [`Snapshot::files`](crate::workspace::Snapshot::files) is the last resort: such a check
//!   runs again after every change of any file.
//!
//! Every check may look at the settings, and a check of an object in a List or Template at the fields around the objects.
//! Locations in a finding may be anywhere. A property test compares cached findings with those of a new check.

#![warn(clippy::disallowed_methods)]

mod checks;
mod engine;
mod shared;

pub use checks::RULES;
pub use checks::invalid_settings::{INVALID_SETTINGS, check_settings};
pub use checks::syntax_error::may_have_objects;
pub use engine::cache::FindingsCache;
pub use engine::contexts::{ContainerContext, FileContext, ObjectContext, PodContext, TextProvider};
pub use engine::findings::{Finding, Findings, SharedFinding};
pub use engine::levels::{Levels, SettingsLevels};
pub use engine::pages::{index_page, index_path, index_url};
pub use engine::registry::{find_rule, parse_configurable_rule_name, parse_rule_name};
pub use engine::rule::Rule;
pub use engine::runner::check;
pub use engine::settings::{settings_errors, settings_schema};
pub use engine::suppression_comment::{Suppression, suppression_offsets, suppressions, suppressions_in};
pub use shared::env_order::{env_order_with_declaration_above, move_declaration_above, sort_env};
pub use shared::file_key_refs::{EnvFileReader, env_file_readers};
pub use shared::param_file_templates::{LocatedTemplate, ParamFileTemplates, templates_of_param_file};
pub use shared::preset_targets::remove_preset_duplicate;
pub use shared::service_link_fixes::limit_service_links;
pub use shared::start_failures::{StartFailure, StartFailureReason, start_failures};
