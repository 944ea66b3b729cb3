//! Parses YAML and JSON to a tree, even if the text has mistakes, and the other text formats that podlens reads: env
//! files, parameter files, Helm actions and shell scripts.
//!
//! Parsing cannot fail: [`parse`] returns a [`Tree`] and its errors. [`Tree::reparse`] returns the tree after an edit and
//! shares everything that the edit did not change.
//!
//! # How a document is parsed
//!
//! The YAML parser (`granit-parser`) stops at the first error and cannot update a tree after an edit. So podlens divides
//! a document into *chunks* and parses each of them separately:
//!
//! 1. `documents` divides the file at `---` and `...` lines. Each document is parsed separately.
//! 2. A document up to `LEAF_SIZE` bytes without errors is parsed at once. Otherwise its root is a *block*: members
//!    (`key: value` or `- item`) at one column. `chunk_boundaries` decides line by line which lines start a chunk: those
//!    at the column of the block or left of it. A chunk is usually one member with everything below it.
//! 3. `chunks` parses each chunk. A small chunk is given to the YAML parser (`node_builder` makes nodes from its events).
//!    A chunk that is large, or that the YAML parser rejects, is divided again: into its head (`key:` or `-`) and the
//!    block nested in it, which is parsed like the root. So a mistake ends up alone in a small chunk.
//! 4. A small chunk that still cannot be parsed goes to `repair`, which patches the text (`patched_text`), for example
//!    adds a missing quote, and reports one error. `misplaced_lines` finds lines that belong to a block further out.
//! 5. A quote or bracket may be closed in a later chunk. If one is open at the end of a chunk, its end is searched in the
//!    chunks after it (`chunks::find_closer_after`) and the chunks are parsed together.
//!
//! Collections that were divided remember their chunks (`green::ChunkedBlock`).
//!
//! # How an edit is parsed
//!
//! `reparse` looks for the innermost block whose chunks can absorb the edit. It parses the touched chunks of that block
//! and puts them in place of the old ones (`splice`). Where it is not certain, for example because the edit changes the
//! head of a chunk, it parses the chunk around the block instead, in the worst case the whole document. Any chunk inside
//! that the edit did not touch is reused from the old tree (`previous_tree`).
//!
//! # Invariants
//!
//! - A tree is a pure function of its text: `tree.reparse(edit, text) == parse(text)`, and a text that is parsed in chunks
//!   gives the same nodes as the text parsed at once. Property tests compare both after thousands of random edits.
//! - What a chunk is parsed to depends only on its text, its column and the kind of its members, and on the next
//!   `lookahead` bytes if a quote or bracket is open at its end. This is why a chunk can be reused at another position.
//! - Whether a line starts a chunk depends only on that line, the line before it and at most `LOOKAHEAD_LINES` lines after
//!   it (`is_lookahead_dependent`). This is why only boundaries near an edit have to be decided again.
//! - Nodes and errors have offsets relative to their parent or chunk, never to the file. Errors that refer to another
//!   chunk are completed when they are collected (`syntax_error`).

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
mod foreign_templates;
mod green;
mod helm;
mod indent_index;
mod insert;
mod merge_conflicts;
mod misplaced_lines;
mod node;
mod node_builder;
mod owned_node;
mod param_file;
mod parser_messages;
mod patched_text;
mod placeholders;
mod previous_tree;
mod quote_parameters;
mod references;
mod remove;
mod repair;
mod reparse;
mod scalar;
mod shell;
mod source_map;
mod syntax_error;
mod text_slices;
mod tree;
mod yaml_value;

pub use comments::{lines_with_suppressions, may_have_suppressions};
pub use documents::{parse, parse_matching_documents};
pub use edit::{TextEdit, ends_with_kept_line_breaks, reorder_items, replace_in_mapped_scalar, replace_in_scalar};
pub use env_file::{
    EnvFileDialect, EnvFileEntry, EnvFileError, EnvFileProblem, env_file_comments, find_env_file_entry,
    look_up_env_file_key, parse_env_file,
};
pub use foreign_templates::{has_foreign_placeholder, has_template_delimiters};
pub use green::CollectionStyle;
pub use helm::{HelmMask, HelmOutput, mask_helm_actions};
pub use insert::{InsertPosition, add_entries, add_entry, add_items};
pub use node::{Node, NodeKind, Subtree};
pub use owned_node::{NewContent, NewNode, OwnedNode};
pub use param_file::{ParamFile, ParamFileEntry, ParamFileError, parse_param_file};
pub use placeholders::{
    TextPart, has_placeholder, mask_expressions, may_be_replaced, may_become, may_start_with, parameter_placeholder,
    push_helm_placeholder, show_placeholders, split_placeholders,
};
pub use quote_parameters::quote_parameters;
pub use references::{
    DollarToken, DollarTokenKind, DollarTokens, ParameterReference, ReferenceForm, dollar_tokens, parameter_references,
    template_parameters,
};
pub use remove::remove_mapping_entry;
pub use scalar::{ScalarStyle, TypedScalar};
pub use shell::{
    ShellCommand, ShellCommandKind, ShellCommandList, ShellOperator, ShellQuote, ShellRedirect, ShellRedirectKind,
    ShellScript, ShellVariable, ShellWord, ShellWordPart, ShellWordPartKind, parse_shell_script, shell_variables,
};
pub use source_map::SourceMap;
pub use syntax_error::{SyntaxError, SyntaxErrorKind};
pub use text_slices::{TextSlices, lines_around};
pub use tree::{Tree, YamlDocument};
pub use yaml_value::YamlValue;

#[cfg(test)]
mod layout_tests;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::{Random, edit_count};
