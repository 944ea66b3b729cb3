//! The semantic tokens that were last sent for each document, to answer the next request with the difference.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tower_lsp_server::ls_types::SemanticToken;

use crate::lsp::session::document::Documents;

/// The last tokens of each document.
#[derive(Debug, Default)]
pub(crate) struct ReportedTokens(Mutex<HashMap<Arc<str>, TokenReport>>);

/// The tokens of an answer and its id.
#[derive(Clone, Debug)]
pub(crate) struct TokenReport {
    pub(crate) id: String,
    pub(crate) tokens: Vec<SemanticToken>,
}

impl ReportedTokens {
    /// Stores the tokens of a document and returns those before. Documents that are not open are forgotten.
    pub(crate) fn replace(&self, open: &Documents, name: &Arc<str>, report: TokenReport) -> Option<TokenReport> {
        let mut reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reports.retain(|name, _| open.contains_key(name));
        reports.insert(Arc::clone(name), report)
    }
}
