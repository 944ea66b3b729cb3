//! YAML and JSON text to a tree that always exists.
//!
//! Parsing cannot fail: it gives a [`Tree`] and its errors. Trees are position-independent, so an edit shares all it
//! did not touch.

#![warn(clippy::disallowed_methods)]

mod chunk_boundaries;
mod chunks;
mod comments;
mod content_lines;
mod delimiters;
mod documents;
mod edit;
mod edited_lines;
mod env_file;
mod green;
mod helm;
mod indent_index;
mod insert;
mod merge_conflicts;
mod misplaced_lines;
mod node;
mod node_builder;
mod param_file;
mod patched_text;
mod previous_tree;
mod quote_parameters;
mod references;
mod repair;
mod reparse;
mod scalar;
mod shell;
mod source_map;
mod syntax_error;
mod text_slices;
mod tree;
mod yaml_value;

pub use documents::{parse, parse_matching_documents};
pub use edit::{TextEdit, ends_with_kept_line_breaks, reorder_items, replace_in_scalar};
pub use env_file::{
    EnvFileDialect, EnvFileEntry, EnvFileError, EnvFileProblem, env_file_comments, find_env_file_entry,
    look_up_env_file_key, parse_env_file,
};
pub use green::CollectionStyle;
pub use helm::{
    HelmMask, HelmOutput, has_helm_placeholder, mask_helm_actions, push_helm_placeholder, show_helm_placeholders,
    split_helm_placeholders,
};
pub use insert::{InsertPosition, add_entries, add_entry, add_items};
pub use node::{Node, NodeKind, Subtree};
pub use param_file::{ParamFile, ParamFileEntry, ParamFileError, parse_param_file};
pub use quote_parameters::quote_parameters;
pub use references::{
    DollarToken, DollarTokenKind, DollarTokens, ParameterReference, ReferenceForm, dollar_tokens, parameter_references,
    template_parameters,
};
pub use scalar::{ScalarStyle, TypedScalar};
pub use shell::{
    ShellCommand, ShellCommandKind, ShellCommandList, ShellQuote, ShellRedirect, ShellRedirectKind, ShellScript,
    ShellVariable, ShellWord, ShellWordPart, ShellWordPartKind, parse_shell_script, shell_variables,
};
pub use source_map::SourceMap;
pub use syntax_error::{SyntaxError, SyntaxErrorKind};
pub use text_slices::TextSlices;
pub use tree::{Tree, YamlDocument};
pub use yaml_value::YamlValue;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::{Random, edit_count};
