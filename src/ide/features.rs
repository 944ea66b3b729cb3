//! Editor features, one module each. `ide.rs` re-exports their functions and answers.

pub(super) mod code_actions;
pub(super) mod code_lens;
pub(super) mod completion;
pub(super) mod definition;
pub(super) mod diagnostics;
pub(super) mod environment;
pub(super) mod highlight;
pub(super) mod hover;
pub(super) mod inlay_hints;
pub(super) mod links;
pub(super) mod preview;
pub(super) mod references;
pub(super) mod rename;
pub(super) mod semantic_tokens;
pub(super) mod symbols;
