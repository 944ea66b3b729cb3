//! Semantic tokens: references, escapes and names inside scalars.

use std::ops::Range;
use std::sync::Arc;

use crate::ide::Analysis;
use crate::ide::shared::file_text::{FileText, TextMap};
use crate::ide::shared::located_container::LocatedContainer;
use crate::k8s::{Text, VariableScope};
use crate::resolve::Lookup;
use crate::syntax::{DollarTokenKind, dollar_tokens};
use crate::text::Span;

/// A part of the text with its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SemanticToken {
    /// Its span, within one line.
    pub span: Span,
    /// Its kind.
    pub kind: SemanticKind,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SemanticKind {
    /// `$(`, `)`, `${`, `}`: an operator.
    Delimiter,
    /// The name in a reference that has a value: a variable.
    Variable,
    /// The name in a reference without a value.
    Unresolved,
    /// The name of an entry of `env`: the declaration of a variable.
    Declaration,
    /// A template's parameter.
    Parameter,
    /// `$$`
    Escape,
}

/// The tokens of a file or of a range, in the order of the text, without overlaps.
pub fn semantic_tokens(analysis: &Analysis<'_>, file: &Arc<str>, range: Option<Span>) -> Vec<SemanticToken> {
    let Some(file_text) = analysis.file_text(file) else { return Vec::new() };
    let mut found = Vec::new();
    for at in LocatedContainer::all_with_presets(analysis, file) {
        let is_wanted = |text: &Text| {
            let span = at.object.file_span(text.span);
            range.is_none_or(|range| span.start <= range.end && range.start <= span.end)
        };
        for name in at.container.env.iter().filter_map(|it| it.name.as_ref()).filter(|it| is_wanted(it)) {
            let span = file_text.inside(at.object, name, 0..name.value.len());
            found.push(SemanticToken { span, kind: SemanticKind::Declaration });
        }
        let mut environment = None;
        for (field, text) in at.container.texts() {
            if !text.value.contains('$') || !is_wanted(text) {
                continue;
            }
            let environment = environment.get_or_insert_with(|| at.environment(analysis));
            let is_script = at.is_script(environment, field);
            let mut collector = TokenCollector::new(&at, &file_text, text, &mut found);
            for (range, name) in at.shell_names(environment, field, text) {
                if matches!(environment.lookup(VariableScope::All, name), Lookup::Bound(_)) {
                    collector.push(range, SemanticKind::Variable);
                }
            }
            // Kubernetes does not expand this field: only a shell reads it.
            let Some(site) = field.variable_scope() else { continue };
            for token in dollar_tokens(&text.value) {
                match (token.kind, token.name(&text.value)) {
                    (DollarTokenKind::Escape, _) => collector.push(token.range, SemanticKind::Escape),
                    (DollarTokenKind::Reference, Some(name)) => {
                        let kind = match environment.lookup(site, name) {
                            Lookup::Bound(_) => SemanticKind::Variable,
                            // A command substitution of the shell.
                            _ if is_script => continue,
                            Lookup::Maybe(_) => SemanticKind::Variable,
                            // The value depends on the pod that the preset applies to.
                            _ if at.is_preset() => SemanticKind::Variable,
                            // Text for a shell or of another language.
                            _ if environment.why_unresolved(site, name).is_none() => continue,
                            Lookup::Later(_) | Lookup::Unbound => SemanticKind::Unresolved,
                        };
                        let name = token.name_range();
                        collector.push(token.range.start..name.start, SemanticKind::Delimiter);
                        collector.push(name.clone(), kind);
                        collector.push(name.end..token.range.end, SemanticKind::Delimiter);
                    }
                    _ => {}
                }
            }
        }
    }
    if let Some(range) = range {
        found.retain(|it| it.span.start < range.end && range.start < it.span.end);
    }
    found.sort_unstable();
    let mut end = 0;
    found.retain(|it| {
        let line = file_text.text().get(it.span.range()).is_some_and(|it| !it.is_empty() && !it.contains(['\n', '\r']));
        let fits = line && it.span.start >= end;
        if fits {
            end = it.span.end;
        }
        fits
    });
    found
}

/// Collects tokens of one text, with spans of the file.
struct TokenCollector<'p> {
    map: Option<TextMap<'p>>,
    at: &'p LocatedContainer<'p>,
    text: &'p Text,
    found: &'p mut Vec<SemanticToken>,
}

impl<'p> TokenCollector<'p> {
    fn new(
        at: &'p LocatedContainer<'p>,
        file_text: &FileText,
        text: &'p Text,
        found: &'p mut Vec<SemanticToken>,
    ) -> Self {
        Self { map: file_text.map(at.object, text).filter(TextMap::is_exact), at, text, found }
    }

    fn push(&mut self, range: Range<usize>, kind: SemanticKind) {
        if let Some(map) = &self.map {
            // A reference in the value of a parameter is not written here.
            if self.at.object.parameters_in(self.text, range.clone()).is_empty() {
                self.found.push(SemanticToken { span: map.source_span(range), kind });
            }
        }
    }
}
