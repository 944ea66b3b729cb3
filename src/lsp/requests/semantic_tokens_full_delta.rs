//! `textDocument/semanticTokens/full/delta`: the difference to the last answer.

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    SemanticToken, SemanticTokens, SemanticTokensDelta, SemanticTokensDeltaParams, SemanticTokensEdit,
    SemanticTokensFullDeltaResult,
};

use crate::lsp::requests::semantic_tokens;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: SemanticTokensDeltaParams,
) -> Result<Option<SemanticTokensFullDeltaResult>> {
    let name = snapshot.name(&params.text_document.uri);
    let (new, old) = semantic_tokens::report(snapshot, &name);
    let result_id = Some(new.id);
    let Some(old) = old.filter(|it| it.id == params.previous_result_id) else {
        return Ok(Some(SemanticTokens { result_id, data: new.tokens }.into()));
    };
    let edits = difference(&old.tokens, &new.tokens).into_iter().collect();
    Ok(Some(SemanticTokensDelta { result_id, edits }.into()))
}

/// The edit that turns the old tokens into the new ones; `None` if they are equal.
fn difference(old: &[SemanticToken], new: &[SemanticToken]) -> Option<SemanticTokensEdit> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    // The protocol counts the five numbers of each token.
    let count = |tokens: usize| u32::try_from(tokens * 5).unwrap_or(u32::MAX);
    let data = new[start..new.len() - rest].to_vec();
    let deleted = old.len() - rest - start;
    (deleted > 0 || !data.is_empty()).then(|| SemanticTokensEdit {
        start: count(start),
        delete_count: count(deleted),
        data: (!data.is_empty()).then_some(data),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edit_turns_the_old_tokens_into_the_new_ones() {
        let tokens = |numbers: &[u32]| -> Vec<SemanticToken> {
            numbers.iter().map(|&length| SemanticToken { length, ..SemanticToken::default() }).collect()
        };
        for (old, new) in [
            (&[][..], &[][..]),
            (&[1, 2, 3], &[1, 2, 3]),
            (&[1, 2, 3], &[1, 4, 3]),
            (&[1, 2, 3], &[]),
            (&[], &[1]),
            (&[1, 1], &[1, 1, 1]),
            (&[1, 2, 1, 2], &[1, 2]),
        ] {
            let (old, new) = (tokens(old), tokens(new));
            let mut edited = old.clone();
            if let Some(edit) = difference(&old, &new) {
                let start = edit.start as usize / 5;
                edited.splice(start..start + edit.delete_count as usize / 5, edit.data.unwrap_or_default());
            } else {
                assert_eq!(old, new);
            }
            assert_eq!(edited, new);
        }
    }
}
