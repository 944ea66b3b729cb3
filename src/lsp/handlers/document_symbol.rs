//! `textDocument/documentSymbol`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, SymbolInformation, SymbolKind, Uri,
};

use crate::ide::symbols::{self, Symbol};
use crate::lsp::world::World;

pub(in crate::lsp) fn answer(world: &World, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
    let uri = params.text_document.uri;
    let name = world.name(&uri);
    let found = world.analyse(|analysis| symbols::document_symbols(analysis, &name));
    if found.is_empty() {
        return Ok(None);
    }
    if world.client.nested_symbols {
        let nested = found.into_iter().map(|it| nested(world, &name, it)).collect();
        return Ok(Some(DocumentSymbolResponse::Nested(nested)));
    }
    let mut flat = Vec::new();
    flatten(world, &name, &uri, None, found, &mut flat);
    Ok(Some(DocumentSymbolResponse::Flat(flat)))
}

/// A kind as the protocol has it.
pub(in crate::lsp) fn kind(kind: symbols::SymbolKind) -> SymbolKind {
    match kind {
        symbols::SymbolKind::Object => SymbolKind::OBJECT,
        symbols::SymbolKind::Container => SymbolKind::MODULE,
        symbols::SymbolKind::Variable => SymbolKind::VARIABLE,
        symbols::SymbolKind::Key => SymbolKind::KEY,
        symbols::SymbolKind::Parameter => SymbolKind::CONSTANT,
    }
}

#[expect(deprecated, reason = "the protocol's struct has a field that nobody uses any more")]
fn nested(world: &World, name: &str, symbol: Symbol) -> DocumentSymbol {
    let children: Vec<_> = symbol.children.into_iter().map(|it| nested(world, name, it)).collect();
    DocumentSymbol {
        name: symbol.name,
        detail: symbol.detail,
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: world.range(name, symbol.span),
        selection_range: world.range(name, symbol.focus),
        children: (!children.is_empty()).then_some(children),
    }
}

#[expect(deprecated, reason = "the protocol's struct has a field that nobody uses any more")]
fn flatten(
    world: &World,
    name: &str,
    uri: &Uri,
    parent: Option<&str>,
    symbols: Vec<Symbol>,
    flat: &mut Vec<SymbolInformation>,
) {
    for symbol in symbols {
        flat.push(SymbolInformation {
            name: symbol.name.clone(),
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location::new(uri.clone(), world.range(name, symbol.span)),
            container_name: parent.map(str::to_owned),
        });
        flatten(world, name, uri, Some(&symbol.name), symbol.children, flat);
    }
}
