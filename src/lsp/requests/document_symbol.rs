//! `textDocument/documentSymbol`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, SymbolInformation, SymbolKind, Uri,
};

use crate::ide;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>> {
    let uri = params.text_document.uri;
    let name = snapshot.name(&uri);
    let symbols = snapshot.analyse(|analysis| ide::document_symbols(analysis, &name));
    if symbols.is_empty() {
        return Ok(None);
    }
    if snapshot.client.nested_symbols {
        let nested = symbols.into_iter().map(|it| nested(snapshot, &name, it)).collect();
        return Ok(Some(DocumentSymbolResponse::Nested(nested)));
    }
    let mut flat = Vec::new();
    flatten(snapshot, &name, &uri, None, symbols, &mut flat);
    Ok(Some(DocumentSymbolResponse::Flat(flat)))
}

/// The protocol's kind of a symbol.
pub(crate) fn protocol_kind(kind: ide::SymbolKind) -> SymbolKind {
    match kind {
        ide::SymbolKind::Object => SymbolKind::OBJECT,
        ide::SymbolKind::Container => SymbolKind::MODULE,
        ide::SymbolKind::Variable => SymbolKind::VARIABLE,
        ide::SymbolKind::Key => SymbolKind::KEY,
        ide::SymbolKind::Parameter => SymbolKind::CONSTANT,
    }
}

#[expect(deprecated, reason = "the struct of the protocol has a deprecated field")]
fn nested(snapshot: &SessionSnapshot, name: &str, symbol: ide::DocumentSymbol) -> DocumentSymbol {
    let children: Vec<_> = symbol.children.into_iter().map(|it| nested(snapshot, name, it)).collect();
    DocumentSymbol {
        name: symbol.name,
        detail: symbol.detail,
        kind: protocol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: snapshot.range(name, symbol.span),
        selection_range: snapshot.range(name, symbol.focus),
        children: (!children.is_empty()).then_some(children),
    }
}

#[expect(deprecated, reason = "the struct of the protocol has a deprecated field")]
fn flatten(
    snapshot: &SessionSnapshot,
    name: &str,
    uri: &Uri,
    parent: Option<&str>,
    symbols: Vec<ide::DocumentSymbol>,
    flat: &mut Vec<SymbolInformation>,
) {
    for symbol in symbols {
        flat.push(SymbolInformation {
            name: symbol.name.clone(),
            kind: protocol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location::new(uri.clone(), snapshot.range(name, symbol.span)),
            container_name: parent.map(str::to_owned),
        });
        flatten(snapshot, name, uri, Some(&symbol.name), symbol.children, flat);
    }
}
