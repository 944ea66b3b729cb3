//! Previews: what the cluster would get, as text.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::ide::Analysis;
use crate::ide::render::{Renderer, workloads};
use crate::k8s::Object;

/// What is previewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PreviewKind {
    /// Workloads with their variables expanded.
    Render,
    /// A template with its parameters put in.
    Process,
}

impl PreviewKind {
    /// The kind of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "render" => Some(Self::Render),
            "process" => Some(Self::Process),
            _ => None,
        }
    }
}

/// A preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// What is previewed.
    pub kind: PreviewKind,
    /// The text.
    pub text: String,
    /// What keeps it from being whole.
    pub problems: Vec<Problem>,
    /// The parameters of a template.
    pub parameters: Vec<ParameterView>,
}

/// Something wrong with a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What.
    pub message: String,
    /// The parameter it is about.
    pub parameter: Option<String>,
}

/// A parameter of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// `type`
    #[serde(rename = "type")]
    pub type_: Option<String>,
}

/// A preview of the object at an offset, or of the whole file; nothing if there is nothing of the kind.
pub fn preview(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: Option<usize>,
    kind: PreviewKind,
    _parameters: &BTreeMap<String, String>,
) -> Option<Preview> {
    match kind {
        PreviewKind::Render => render(analysis, file, offset),
        PreviewKind::Process => None,
    }
}

fn render(analysis: &Analysis<'_>, file: &Arc<str>, offset: Option<usize>) -> Option<Preview> {
    let facts = analysis.snapshot.file(file).filter(|it| !it.is_helm)?;
    let source = analysis.sources.source(file)?;
    let renderer = Renderer { resolver: analysis.resolver };
    let is_wanted = |object: &&Object| offset.is_none_or(|it| object.place(object.model.span).touches(it));
    let objects = workloads(facts).filter(is_wanted);
    let documents: Vec<String> = objects.filter_map(|it| renderer.document(file, &source.tree, it)).collect();
    if documents.is_empty() {
        return None;
    }
    let text = documents.join("---\n");
    Some(Preview { kind: PreviewKind::Render, text, problems: Vec::new(), parameters: Vec::new() })
}
