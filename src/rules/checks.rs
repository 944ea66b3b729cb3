//! One file per rule, and the registry of all rules.
//!
//! A rule is registered with two lines here: its module, and its place in [`RULES`]. A test fails where one is missing.

mod collapsed_dollar;
mod command_substitution_outside_shell;
mod crowded_environment;
mod dead_parameter;
mod dropped_namespace;
mod duplicate_key;
mod duplicate_parameter;
mod duplicate_variable;
mod embedded_raw_parameter;
mod empty_template;
mod env_file_content;
mod env_file_unproduced;
mod env_file_volume;
mod forward_reference;
mod headless_service_variable;
pub(super) mod invalid_env_file;
mod invalid_env_from_key;
mod invalid_generator;
mod invalid_parameter;
mod invalid_preset;
mod invalid_secret_data;
mod invalid_service_link;
pub(super) mod invalid_settings;
pub(super) mod invalid_value_source;
mod invalid_variable_name;
pub(super) mod malformed_env;
mod malformed_reference;
pub(super) mod missing_key;
mod missing_object;
mod missing_service;
mod narrow_generator;
mod non_string_value;
mod parameter_variable_clash;
mod preset_conflict;
mod preset_hides_source;
mod probe_literal_only;
mod refused_object;
mod secret_newline;
mod self_reference;
mod service_links_off;
mod service_variable_collision;
mod shadowed_source;
mod shell_style_reference;
mod string_substitution;
pub(super) mod syntax_error;
mod unclosed_parameter;
mod undefined_parameter;
mod undefined_variable;
mod unexpanded_field;
mod unexpanded_source;
mod unknown_env_field;
pub(super) mod unresolved_sub_path;
mod unserved_field;
mod unused_parameter;
pub(super) mod unused_suppression;

use crate::rules::engine::rule::Rule;

/// Every rule, in the order of the documentation.
pub static RULES: &[&Rule] = &[
    &undefined_variable::RULE,
    &forward_reference::RULE,
    &self_reference::RULE,
    &malformed_reference::RULE,
    &shell_style_reference::RULE,
    &command_substitution_outside_shell::RULE,
    &collapsed_dollar::RULE,
    &unexpanded_field::RULE,
    &unexpanded_source::RULE,
    &probe_literal_only::RULE,
    &unresolved_sub_path::RULE,
    &duplicate_variable::RULE,
    &shadowed_source::RULE,
    &invalid_variable_name::RULE,
    &invalid_env_from_key::RULE,
    &malformed_env::RULE,
    &unknown_env_field::RULE,
    &non_string_value::RULE,
    &invalid_secret_data::RULE,
    &secret_newline::RULE,
    &invalid_value_source::RULE,
    &missing_key::RULE,
    &missing_object::RULE,
    &service_links_off::RULE,
    &headless_service_variable::RULE,
    &service_variable_collision::RULE,
    &unserved_field::RULE,
    &missing_service::RULE,
    &crowded_environment::RULE,
    &invalid_service_link::RULE,
    &preset_conflict::RULE,
    &invalid_preset::RULE,
    &preset_hides_source::RULE,
    &undefined_parameter::RULE,
    &unused_parameter::RULE,
    &duplicate_parameter::RULE,
    &invalid_parameter::RULE,
    &invalid_generator::RULE,
    &narrow_generator::RULE,
    &string_substitution::RULE,
    &embedded_raw_parameter::RULE,
    &unclosed_parameter::RULE,
    &dead_parameter::RULE,
    &parameter_variable_clash::RULE,
    &dropped_namespace::RULE,
    &empty_template::RULE,
    &refused_object::RULE,
    &invalid_env_file::RULE,
    &env_file_volume::RULE,
    &env_file_unproduced::RULE,
    &env_file_content::RULE,
    &invalid_settings::RULE,
    &syntax_error::RULE,
    &duplicate_key::RULE,
    &unused_suppression::RULE,
];
