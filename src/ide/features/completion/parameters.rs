//! Parameter names of a template after `${`, `${{` and, in the proposed dialect, `$(`; and in parameter files.

use crate::ide::features::completion::{Completion, CompletionDetails, CompletionItem, CompletionKind};
use crate::ide::shared::param_file_text::ParamFileText;
use crate::ide::shared::template_parameters::LocatedParameter;
use crate::k8s::format_parameter_reference;
use crate::syntax::ReferenceForm;
use crate::text::Span;

/// A parameter reference that is being typed.
#[derive(Clone, Debug)]
pub(super) struct TypedParameter<'s> {
    /// The template; the name is empty.
    pub(super) parameter: LocatedParameter<'s>,
    /// From the dollar sign to the end of the name and the closing brackets.
    pub(super) replace: Span,
    pub(super) form: ReferenceForm,
}

/// An entry of a parameter file that is being typed.
#[derive(Debug)]
pub(super) struct TypedEntry<'s> {
    pub(super) file: ParamFileText<'s>,
    /// The name typed so far.
    pub(super) replace: Span,
    /// Whether a separator follows the name.
    pub(super) has_separator: bool,
}

impl TypedEntry<'_> {
    /// The parameters that the file does not set yet, required ones first.
    pub(super) fn items(&self) -> Completion {
        let is_set_elsewhere = |name: &str| {
            let mut entries = self.file.content.entries.iter();
            entries.any(|it| it.name == name && it.name_span.start != self.replace.start)
        };
        let mut items: Vec<CompletionItem> = Vec::new();
        for (at, parameter) in self.file.parameters().enumerate() {
            if is_set_elsewhere(parameter.name) || items.iter().any(|it| it.label == parameter.name) {
                continue;
            }
            let separator = if self.has_separator { "" } else { "=" };
            let rank = if parameter.needs_value() { 'a' } else { 'b' };
            items.push(CompletionItem {
                label: parameter.name.to_owned(),
                kind: CompletionKind::Parameter,
                detail: Some(parameter.detail()),
                replace: self.replace,
                filter_text: parameter.name.to_owned(),
                text: format!("{}{separator}", parameter.name),
                sort_text: format!("{rank}{at:05}"),
                has_edits: false,
            });
        }
        items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
        Completion { items, is_incomplete: false }
    }

    /// The documentation of a parameter.
    pub(super) fn details(&self, label: &str) -> CompletionDetails {
        let documentation = self.file.parameter(label).and_then(|it| it.markup());
        CompletionDetails { documentation, additional_edits: Vec::new() }
    }
}

/// The parameters of the template.
pub(super) fn items(typed: &TypedParameter<'_>) -> Completion {
    let mut items: Vec<CompletionItem> = Vec::new();
    for (at, declared) in typed.parameter.template.parameters.iter().enumerate() {
        let Some(name) = declared.name.as_ref().filter(|it| crate::k8s::is_parameter_name(&it.value)) else {
            continue;
        };
        if items.iter().any(|it| it.label == *name.value) {
            continue;
        }
        let parameter = LocatedParameter { name: &name.value, ..typed.parameter.clone() };
        let text = format_parameter_reference(&name.value, typed.form);
        items.push(CompletionItem {
            label: name.value.to_string(),
            kind: CompletionKind::Parameter,
            detail: Some(parameter.detail()),
            replace: typed.replace,
            filter_text: text.clone(),
            text,
            sort_text: format!("{at:05}"),
            has_edits: false,
        });
    }
    Completion { items, is_incomplete: false }
}

/// The documentation of a parameter.
pub(super) fn details(typed: &TypedParameter<'_>, label: &str) -> CompletionDetails {
    let parameter = LocatedParameter { name: label, ..typed.parameter.clone() };
    CompletionDetails { documentation: parameter.markup(), additional_edits: Vec::new() }
}

/// Changes the items of a parameter and a variable of one name: the parameter is shown and inserted as `${P}`, which cannot
/// be the variable, and the variable says that `$(P)` is replaced first.
pub(super) fn disambiguate(parameter: &mut CompletionItem, variable: &mut CompletionItem) {
    parameter.text = format_parameter_reference(&parameter.label, ReferenceForm::Text);
    parameter.label.clone_from(&parameter.text);
    let detail = variable.detail.take().map_or(String::new(), |it| it + " · ");
    variable.detail = Some(detail + "the parameter wins");
}

/// The parameter of a label that [`disambiguate`] made.
pub(super) fn disambiguated(label: &str) -> Option<&str> {
    label.strip_prefix("${")?.strip_suffix('}')
}
