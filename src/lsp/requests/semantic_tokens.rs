//! `textDocument/semanticTokens`: full, range, and what has changed since the last answer.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDelta,
    SemanticTokensDeltaParams, SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensLegend,
    SemanticTokensParams, SemanticTokensRangeParams, SemanticTokensRangeResult, SemanticTokensResult,
};

use crate::ide;
use crate::ide::SemanticKind;
use crate::lsp::session::snapshot::SessionSnapshot;
use crate::text::Span;

/// The last full answer for each document, with its id.
#[derive(Debug, Default)]
pub(crate) struct ReportedTokens(Mutex<HashMap<Arc<str>, Answer>>);

/// An answer with its id.
type Answer = (String, Vec<SemanticToken>);

const TYPES: [SemanticTokenType; 4] = [
    SemanticTokenType::OPERATOR,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::new("escapeSequence"),
];

const MODIFIERS: [SemanticTokenModifier; 2] =
    [SemanticTokenModifier::DECLARATION, SemanticTokenModifier::new("unresolved")];

/// What the numbers in the answers mean.
pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

/// A kind as the legend numbers it: its type, and its modifiers as bits.
fn number(kind: SemanticKind) -> (u32, u32) {
    match kind {
        SemanticKind::Delimiter => (0, 0),
        SemanticKind::Variable => (1, 0),
        SemanticKind::Unresolved => (1, 0b10),
        SemanticKind::Declaration => (1, 0b01),
        SemanticKind::Parameter => (2, 0),
        SemanticKind::Escape => (3, 0),
    }
}

pub(crate) fn full(snapshot: &SessionSnapshot, params: SemanticTokensParams) -> Result<Option<SemanticTokensResult>> {
    let name = snapshot.name(&params.text_document.uri);
    let (tokens, _) = remembered(snapshot, &name);
    Ok(Some(tokens.into()))
}

pub(crate) fn range(
    snapshot: &SessionSnapshot,
    params: SemanticTokensRangeParams,
) -> Result<Option<SemanticTokensRangeResult>> {
    let name = snapshot.name(&params.text_document.uri);
    let span = snapshot.span(&name, params.range);
    Ok(Some(SemanticTokens { result_id: None, data: tokens(snapshot, &name, Some(span)) }.into()))
}

pub(crate) fn delta(
    snapshot: &SessionSnapshot,
    params: SemanticTokensDeltaParams,
) -> Result<Option<SemanticTokensFullDeltaResult>> {
    let name = snapshot.name(&params.text_document.uri);
    let (new, old) = remembered(snapshot, &name);
    let Some((_, old)) = old.filter(|(id, _)| *id == params.previous_result_id) else {
        return Ok(Some(new.into()));
    };
    let edits = change(&old, &new.data).into_iter().collect();
    Ok(Some(SemanticTokensDelta { result_id: new.result_id, edits }.into()))
}

/// The tokens of a document, and those that were told before.
fn remembered(snapshot: &SessionSnapshot, name: &Arc<str>) -> (SemanticTokens, Option<Answer>) {
    let data = tokens(snapshot, name, None);
    let mut hasher = DefaultHasher::new();
    for token in &data {
        (token.delta_line, token.delta_start, token.length).hash(&mut hasher);
        (token.token_type, token.token_modifiers_bitset).hash(&mut hasher);
    }
    let id = format!("{:016x}", hasher.finish());
    let mut told = snapshot.tokens.0.lock().unwrap_or_else(PoisonError::into_inner);
    // What is closed is not asked for by its last answer again.
    told.retain(|name, _| snapshot.documents.contains_key(name));
    let old = told.insert(Arc::clone(name), (id.clone(), data.clone()));
    (SemanticTokens { result_id: Some(id), data }, old)
}

/// The one edit that makes the new tokens of the old ones; nothing if they are the same.
fn change(old: &[SemanticToken], new: &[SemanticToken]) -> Option<SemanticTokensEdit> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    let count = |tokens: usize| u32::try_from(tokens * 5).unwrap_or(u32::MAX);
    let data = new[same..new.len() - rest].to_vec();
    let deleted = old.len() - rest - same;
    (deleted > 0 || !data.is_empty()).then(|| SemanticTokensEdit {
        start: count(same),
        delete_count: count(deleted),
        data: (!data.is_empty()).then_some(data),
    })
}

fn tokens(snapshot: &SessionSnapshot, name: &Arc<str>, range: Option<Span>) -> Vec<SemanticToken> {
    let found = snapshot.analyse(|analysis| ide::semantic_tokens(analysis, name, range));
    let mut tokens = Vec::with_capacity(found.len());
    let (mut line, mut start) = (0, 0);
    for token in found {
        let place = snapshot.range(name, token.span);
        let (token_type, token_modifiers_bitset) = number(token.kind);
        tokens.push(SemanticToken {
            delta_line: place.start.line - line,
            delta_start: if place.start.line == line { place.start.character - start } else { place.start.character },
            length: place.end.character.saturating_sub(place.start.character),
            token_type,
            token_modifiers_bitset,
        });
        (line, start) = (place.start.line, place.start.character);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_makes_the_new_of_the_old() {
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
            let mut made = old.clone();
            if let Some(edit) = change(&old, &new) {
                let start = edit.start as usize / 5;
                made.splice(start..start + edit.delete_count as usize / 5, edit.data.unwrap_or_default());
            } else {
                assert_eq!(old, new);
            }
            assert_eq!(made, new);
        }
    }
}
