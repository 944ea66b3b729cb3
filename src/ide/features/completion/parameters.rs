//! Names of a template's parameters behind `${`, `${{` and, where the dialect has it, `$(`; and in parameter files.

use crate::ide::features::completion::{Completion, CompletionDetails, CompletionItem, CompletionKind};
use crate::ide::shared::param_file_text::ParamFileText;
use crate::ide::shared::template_parameters::LocatedParameter;
use crate::k8s::format_parameter_reference;
use crate::syntax::ReferenceForm;
use crate::text::Span;

/// A reference to a parameter that is being typed.
#[derive(Clone, Debug)]
pub(super) struct Typing<'s> {
    /// The template, with any name.
    pub(super) place: LocatedParameter<'s>,
    /// From the dollar sign to the end of the name and what closes it.
    pub(super) replace: Span,
    pub(super) form: ReferenceForm,
}

/// A name that is being typed in a parameter file.
#[derive(Debug)]
pub(super) struct Setting<'s> {
    pub(super) file: ParamFileText<'s>,
    /// The name as far as it is there.
    pub(super) replace: Span,
    /// Whether a separator stands behind it.
    pub(super) is_set: bool,
}

impl Setting<'_> {
    /// The parameters that the file does not set yet, those first that have to be set.
    pub(super) fn items(&self) -> Completion {
        let elsewhere = |name: &str| {
            let mut entries = self.file.content.entries.iter();
            entries.any(|it| it.name == name && it.name_span.start != self.replace.start)
        };
        let mut items: Vec<CompletionItem> = Vec::new();
        for (at, place) in self.file.parameters().enumerate() {
            if elsewhere(place.name) || items.iter().any(|it| it.label == place.name) {
                continue;
            }
            let separator = if self.is_set { "" } else { "=" };
            let rank = if place.is_missing() { 'a' } else { 'b' };
            items.push(CompletionItem {
                label: place.name.to_owned(),
                kind: CompletionKind::Parameter,
                detail: Some(place.detail()),
                replace: self.replace,
                filter_text: place.name.to_owned(),
                text: format!("{}{separator}", place.name),
                sort_text: format!("{rank}{at:05}"),
                has_edits: false,
            });
        }
        items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
        Completion { items, is_incomplete: false }
    }

    /// What is to say about one of them.
    pub(super) fn details(&self, label: &str) -> CompletionDetails {
        let documentation = self.file.parameter(label).and_then(|it| it.markup());
        CompletionDetails { documentation, additional_edits: Vec::new() }
    }
}

/// The parameters that can stand there.
pub(super) fn items(typing: &Typing<'_>) -> Completion {
    let mut items: Vec<CompletionItem> = Vec::new();
    for (at, parameter) in typing.place.template.parameters.iter().enumerate() {
        let Some(name) = parameter.name.as_ref().filter(|it| crate::k8s::is_parameter_name(&it.value)) else {
            continue;
        };
        if items.iter().any(|it| it.label == *name.value) {
            continue;
        }
        let place = LocatedParameter { name: &name.value, ..typing.place.clone() };
        let text = format_parameter_reference(&name.value, typing.form);
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
pub(super) fn details(typing: &Typing<'_>, label: &str) -> CompletionDetails {
    let place = LocatedParameter { name: label, ..typing.place.clone() };
    CompletionDetails { documentation: place.markup(), additional_edits: Vec::new() }
}
