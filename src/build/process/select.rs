//! The template in a text, and its parameters.

use super::parameter_values::unknown_names;
use super::{ProcessError, ProcessOptions};
use crate::k8s::{self, Parameter, Template};
use crate::syntax::{Node, Tree, YamlDocument};

/// A template in a text.
#[derive(Clone, Debug)]
pub struct SelectedTemplate<'t> {
    /// The mapping with its objects.
    pub(super) node: Node<'t>,
    /// The offset that the spans of the template are relative to.
    pub(super) base: usize,
    /// Its content.
    pub template: Template,
    /// The number of documents in the text; only the first one is processed.
    pub documents: usize,
}

/// A parameter for forms and tables.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParameterView {
    /// `name`
    pub name: String,
    /// `displayName`
    pub display_name: Option<String>,
    /// `description`
    pub description: Option<String>,
    /// `value`
    pub value: Option<String>,
    /// `generate`
    pub generate: Option<String>,
    /// `from`
    pub from: Option<String>,
    /// `required`
    pub required: bool,
    /// `type`, as it is written: released templates have no types, and a form can still offer `true` and `false`.
    #[serde(rename = "type")]
    pub type_: Option<String>,
}

impl SelectedTemplate<'_> {
    /// Values and expressions that are given for parameters it does not have.
    pub fn given_errors(&self, options: &ProcessOptions) -> Vec<ProcessError> {
        unknown_names(&self.template, options)
    }

    /// Its parameters.
    pub fn parameters(&self) -> Vec<ParameterView> {
        let text = |it: &Option<k8s::Text>| it.as_ref().map(|it| it.value.to_string());
        let view = |it: &Parameter| ParameterView {
            name: text(&it.name).unwrap_or_default(),
            display_name: text(&it.display_name),
            description: text(&it.description),
            value: text(&it.value),
            generate: text(&it.generate),
            from: text(&it.from),
            required: it.required,
            type_: text(&it.type_),
        };
        self.template.parameters.iter().map(view).collect()
    }
}

/// The template in the first document of a text.
pub fn select_template(tree: &Tree) -> Result<SelectedTemplate<'_>, ProcessError> {
    let mut documents = tree.documents().filter(|it| it.root().is_some() || !it.errors().is_empty());
    let first = documents.next().ok_or_else(|| ProcessError::new("there are no documents in it", None))?;
    let others = documents.count();
    if let Some(error) = first.errors().into_iter().next() {
        return Err(ProcessError::new(error.to_string(), Some(error.span)));
    }
    select_in(first, 1 + others)
}

/// The template of the document at an offset.
pub fn select_template_at(tree: &Tree, offset: usize) -> Result<SelectedTemplate<'_>, ProcessError> {
    let document = tree.document_at(offset).ok_or_else(|| ProcessError::new("there are no documents in it", None))?;
    if let Some(error) = document.errors().into_iter().next() {
        return Err(ProcessError::new(error.to_string(), Some(error.span)));
    }
    select_in(document, 1)
}

fn select_in(document: YamlDocument<'_>, documents: usize) -> Result<SelectedTemplate<'_>, ProcessError> {
    let root = document.root().ok_or_else(|| ProcessError::new("there are no documents in it", None))?;
    let found = k8s::read_template(document);
    let Some((node, base, template)) = found else {
        let kind = root.get("kind").and_then(Node::text);
        let api_version = root.get("apiVersion").and_then(Node::text).unwrap_or_default();
        let message = match kind {
            None => "this is not a Template: it has no `kind`".into(),
            Some("Template") => format!("this is not a Template: its `apiVersion` is `{api_version}`"),
            Some(kind) => format!("this is not a Template but a `{kind}`"),
        };
        return Err(ProcessError::new(message, Some(root.span())));
    };
    Ok(SelectedTemplate { node, base, template, documents })
}
