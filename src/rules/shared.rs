//! Code that several rules use.

pub(super) mod data_users;
pub(super) mod env_order;
pub(super) mod env_shape_fixes;
pub(super) mod file_key_refs;
pub(super) mod item_removal;
pub(super) mod param_file_templates;
pub(super) mod parameter_texts;
pub(super) mod preset_targets;
pub(super) mod reference_fixes;
pub(super) mod reference_verdicts;
pub(super) mod rename_fix;
pub(super) mod service_link_fixes;
pub(super) mod source_objects;
pub(super) mod start_failures;
