//! Previews: rendered workloads and processed templates as text.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::build::{BuiltObject, ParameterView, ProcessOptions, process_template, select_template_at};
use crate::ide::Analysis;
use crate::ide::commands::render::Renderer;
use crate::ide::shared::template_parameters::sample_numbers;
use crate::k8s::ObjectData;

/// The kind of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PreviewKind {
    /// Workloads with their variables expanded.
    Render,
    /// A processed template.
    Process,
}

impl PreviewKind {
    /// The kind with a name.
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
    /// Its kind.
    pub kind: PreviewKind,
    /// The text.
    pub text: String,
    /// The errors that leave gaps in it.
    pub problems: Vec<PreviewError>,
    /// The parameters of a template.
    pub parameters: Vec<ParameterView>,
}

/// An error in a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreviewError {
    /// The message.
    pub message: String,
    /// The parameter it is about.
    pub parameter: Option<String>,
}

/// The preview of the object at an offset, or of the whole file; `None` without an object of this kind.
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

/// A processed template. A missing value is reported as an error and shown as `<NAME>` in the text.
fn process_preview(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: Option<usize>,
    parameters: &BTreeMap<String, String>,
) -> Option<Preview> {
    let facts = analysis.snapshot.file(file).filter(|it| !it.is_helm_template())?;
    let mut templates = facts.objects.iter().filter(|it| matches!(it.model.data, ObjectData::Template(_)));
    let object = templates.find(|it| offset.is_none_or(|offset| it.file_span(it.model.span).touches(offset)))?;
    let source = analysis.texts.parsed_text(file)?;
    let kind = PreviewKind::Process;
    let selected = match select_template_at(&source.tree, object.offset) {
        Ok(selected) => selected,
        Err(error) => {
            let problems = vec![PreviewError { message: error.message, parameter: None }];
            return Some(Preview { kind, text: String::new(), problems, parameters: Vec::new() });
        }
    };
    let mut options = ProcessOptions { values: parameters.clone(), ..ProcessOptions::default() };
    let mut processed = process_template(&selected, &options, &mut sample_numbers());
    let problems = std::mem::take(&mut processed.errors);
    if !problems.is_empty() {
        // Process again with placeholders: a preview with gaps is better than none.
        for name in problems.iter().filter_map(|it| it.parameter.as_ref()) {
            options.values.insert(name.clone(), format!("<{name}>"));
        }
        options.ignore_unknown = true;
        processed = process_template(&selected, &options, &mut sample_numbers());
    }
    let yaml = serde_saphyr::ser_options! { compact_list_indent: false, folded_wrap_chars: 1_000_000 };
    let documents =
        processed.objects.iter().filter_map(|it| serde_saphyr::to_string_with_options(it, yaml.clone()).ok());
    let text = documents.collect::<Vec<_>>().join("---\n");
    let problems = problems.into_iter().map(|it| PreviewError { message: it.message, parameter: it.parameter });
    Some(Preview { kind, text, problems: problems.collect(), parameters: selected.parameters() })
}

fn render(analysis: &Analysis<'_>, file: &Arc<str>, offset: Option<usize>) -> Option<Preview> {
    analysis.snapshot.file(file).filter(|it| !it.is_helm_template())?;
    let text = |path: &str| analysis.texts.parsed_text(path).map(|it| it.text.shared());
    let renderer = Renderer { resolver: analysis.resolver, text: &text };
    let is_wanted = |object: &BuiltObject<'_>| {
        object.is_workload() && offset.is_none_or(|it| object.source.file_span(object.source.model.span).touches(it))
    };
    let objects = analysis.objects(file).filter(is_wanted);
    let documents: Vec<String> = objects.filter_map(|it| renderer.document(it)).collect();
    if documents.is_empty() {
        return None;
    }
    let text = documents.join("---\n");
    Some(Preview { kind: PreviewKind::Render, text, problems: Vec::new(), parameters: Vec::new() })
}
