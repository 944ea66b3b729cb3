//! Names of a template's parameters behind `${`, `${{` and, where the dialect has it, `$(`.

use crate::ide::completion::{Completion, CompletionItem, CompletionKind, ItemDetails};
use crate::ide::parameters::ParameterPlace;
use crate::k8s::template::reference;
use crate::syntax::reference::Form;
use crate::text::Span;

/// A reference to a parameter that is being typed.
#[derive(Clone, Debug)]
pub(super) struct Typing<'s> {
    /// The template, with any name.
    pub(super) place: ParameterPlace<'s>,
    /// From the dollar sign to the end of the name and what closes it.
    pub(super) replace: Span,
    pub(super) form: Form,
}

/// The parameters that can stand there.
pub(super) fn items(typing: &Typing<'_>) -> Completion {
    let mut items: Vec<CompletionItem> = Vec::new();
    for (at, parameter) in typing.place.template.parameters.iter().enumerate() {
        let Some(name) = parameter.name.as_ref().filter(|it| crate::k8s::template::is_parameter_name(&it.value)) else {
            continue;
        };
        if items.iter().any(|it| it.label == *name.value) {
            continue;
        }
        let place = ParameterPlace { name: &name.value, ..typing.place.clone() };
        let text = reference(&name.value, typing.form);
        items.push(CompletionItem {
            label: name.value.to_string(),
            kind: CompletionKind::Parameter,
            detail: Some(place.detail()),
            replace: typing.replace,
            filter_text: text.clone(),
            text,
            sort_text: format!("{at:05}"),
            has_edits: false,
        });
    }
    Completion { items, is_incomplete: false }
}

/// What is to say about one of them.
pub(super) fn details(typing: &Typing<'_>, label: &str) -> ItemDetails {
    let place = ParameterPlace { name: label, ..typing.place.clone() };
    ItemDetails { documentation: place.markup(), additional_edits: Vec::new() }
}
