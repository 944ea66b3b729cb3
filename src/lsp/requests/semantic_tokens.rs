//! The legend of semantic tokens, and the tokens of a document as the protocol encodes them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use tower_lsp_server::ls_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};

use crate::ide;
use crate::ide::SemanticKind;
use crate::lsp::session::{SessionSnapshot, TokenReport};
use crate::text::Span;

const TYPES: [SemanticTokenType; 4] = [
    SemanticTokenType::OPERATOR,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::new("escapeSequence"),
];

const MODIFIERS: [SemanticTokenModifier; 2] =
    [SemanticTokenModifier::DECLARATION, SemanticTokenModifier::new("unresolved")];

/// The names of the token types and modifiers. Tokens contain their indexes.
pub(super) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

/// The index of the token type, and the modifiers as bits.
fn type_and_modifiers(kind: SemanticKind) -> (u32, u32) {
    match kind {
        SemanticKind::Delimiter => (0, 0),
        SemanticKind::Variable => (1, 0),
        SemanticKind::Unresolved => (1, 0b10),
        SemanticKind::Declaration => (1, 0b01),
        SemanticKind::Parameter => (2, 0),
        SemanticKind::Escape => (3, 0),
    }
}

/// The tokens of a document or of a range of it.
pub(super) fn tokens(snapshot: &SessionSnapshot, name: &Arc<str>, range: Option<Span>) -> Vec<SemanticToken> {
    let found = snapshot.analyse(|analysis| ide::semantic_tokens(analysis, name, range));
    let mut tokens = Vec::with_capacity(found.len());
    let (mut line, mut start) = (0, 0);
    for token in found {
        let range = snapshot.range(name, token.span);
        let (token_type, token_modifiers_bitset) = type_and_modifiers(token.kind);
        tokens.push(SemanticToken {
            delta_line: range.start.line - line,
            delta_start: if range.start.line == line { range.start.character - start } else { range.start.character },
            length: range.end.character.saturating_sub(range.start.character),
            token_type,
            token_modifiers_bitset,
        });
        (line, start) = (range.start.line, range.start.character);
    }
    tokens
}

/// The tokens of a document with their id, and those that the client got before.
pub(super) fn report(snapshot: &SessionSnapshot, name: &Arc<str>) -> (TokenReport, Option<TokenReport>) {
    let tokens = tokens(snapshot, name, None);
    let mut hasher = DefaultHasher::new();
    for token in &tokens {
        (token.delta_line, token.delta_start, token.length).hash(&mut hasher);
        (token.token_type, token.token_modifiers_bitset).hash(&mut hasher);
    }
    let new = TokenReport { id: format!("{:016x}", hasher.finish()), tokens };
    let old = snapshot.reported_tokens.replace(&snapshot.documents, name, new.clone());
    (new, old)
}
