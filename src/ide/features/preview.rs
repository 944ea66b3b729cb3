//! Previews: what the cluster would get, as text.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::ide::Analysis;
use crate::ide::commands::process::{ParameterView, ProcessOptions, process_template, select_template_at};
use crate::ide::commands::render::{Renderer, workloads};
use crate::ide::shared::template_parameters::sample_numbers;
use crate::k8s::{Object, ObjectData};

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
    pub problems: Vec<PreviewError>,
    /// The parameters of a template.
    pub parameters: Vec<ParameterView>,
}

/// Something wrong with a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreviewError {
    /// What.
    pub message: String,
    /// The parameter it is about.
    pub parameter: Option<String>,
}

/// A preview of the object at an offset, or of the whole file; nothing if there is nothing of the kind.
pub fn preview(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: Option<usize>,
    kind: PreviewKind,
    parameters: &BTreeMap<String, String>,
) -> Option<Preview> {
    match kind {
        PreviewKind::Render => render(analysis, file, offset),
        PreviewKind::Process => process_preview(analysis, file, offset, parameters),
    }
}

/// A template with its parameters put in. What is missing is a problem, and stands in the text as its name.
fn process_preview(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: Option<usize>,
    parameters: &BTreeMap<String, String>,
) -> Option<Preview> {
    let facts = analysis.snapshot.file(file).filter(|it| !it.is_helm_template())?;
    let mut templates = facts.objects.iter().filter(|it| matches!(it.model.data, ObjectData::Template(_)));
    let object = templates.find(|it| offset.is_none_or(|offset| it.file_span(it.model.span).touches(offset)))?;
    let source = analysis.sources.parsed_text(file)?;
    let kind = PreviewKind::Process;
    let selected = match select_template_at(&source.tree, object.offset) {
        Ok(selected) => selected,
        Err(problem) => {
            let problems = vec![PreviewError { message: problem.message, parameter: None }];
            return Some(Preview { kind, text: String::new(), problems, parameters: Vec::new() });
        }
    };
    let mut request = ProcessOptions { values: parameters.clone(), ..ProcessOptions::default() };
    let mut outcome = process_template(&selected, &request, &mut sample_numbers());
    let problems = std::mem::take(&mut outcome.problems);
    if !problems.is_empty() {
        // A preview with a gap says more than none.
        for name in problems.iter().filter_map(|it| it.parameter.as_ref()) {
            request.values.insert(name.clone(), format!("<{name}>"));
        }
        request.ignore_unknown = true;
        outcome = process_template(&selected, &request, &mut sample_numbers());
    }
    let options = serde_saphyr::ser_options! { compact_list_indent: false, folded_wrap_chars: 1_000_000 };
    let documents =
        outcome.objects.iter().filter_map(|it| serde_saphyr::to_string_with_options(it, options.clone()).ok());
    let text = documents.collect::<Vec<_>>().join("---\n");
    let problems = problems.into_iter().map(|it| PreviewError { message: it.message, parameter: it.parameter });
    Some(Preview { kind, text, problems: problems.collect(), parameters: selected.parameters() })
}

fn render(analysis: &Analysis<'_>, file: &Arc<str>, offset: Option<usize>) -> Option<Preview> {
    let facts = analysis.snapshot.file(file).filter(|it| !it.is_helm_template())?;
    let source = analysis.sources.parsed_text(file)?;
    let text = |path: &str| analysis.sources.parsed_text(path).map(|it| it.text.shared());
    let renderer = Renderer { resolver: analysis.resolver, text: &text };
    let is_wanted = |object: &&Object| offset.is_none_or(|it| object.file_span(object.model.span).touches(it));
    let objects = workloads(facts).filter(is_wanted);
    let documents: Vec<String> = objects.filter_map(|it| renderer.document(file, &source.tree, it)).collect();
    if documents.is_empty() {
        return None;
    }
    let text = documents.join("---\n");
    Some(Preview { kind: PreviewKind::Render, text, problems: Vec::new(), parameters: Vec::new() })
}
