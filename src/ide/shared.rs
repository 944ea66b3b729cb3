//! Code that several features use: the item under the cursor, symbols and their uses, texts for people.

pub(super) mod cursor;
pub(super) mod describe;
pub(super) mod env_file_keys;
pub(super) mod file_text;
pub(super) mod located_container;
pub(super) mod markup;
pub(super) mod named_objects;
pub(super) mod param_file_text;
pub(super) mod per_view;
pub(super) mod preset_workloads;
pub(super) mod service_usage;
pub(super) mod shell_reads;
pub(super) mod symbol;
pub(super) mod template_parameters;
pub(super) mod uses;
pub(super) mod volume_sources;
