//! Parameter files: each name refers to a parameter of the template that the file belongs to.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::template_parameters::LocatedParameter;
use crate::rules::{LocatedTemplate, ParamFileTemplates, templates_of_param_file};
use crate::syntax::{ParamFile, parse_param_file};
use crate::text::Span;

/// A parameter file with the templates it belongs to.
#[derive(Debug)]
pub(crate) struct ParamFileText<'s> {
    /// Its entries.
    pub(crate) content: ParamFile,
    /// The templates that the file belongs to.
    pub(crate) belonging: ParamFileTemplates<'s>,
}

impl<'s> ParamFileText<'s> {
    /// Reads a file with `NAME=value` lines.
    pub(crate) fn of(analysis: &Analysis<'s>, file: &str, file_text: &FileText) -> Self {
        let content = parse_param_file(file_text.text());
        let belonging = templates_of_param_file(analysis.snapshot, file, &content);
        Self { content, belonging }
    }

    /// The parameter whose name is at an offset, and the span of the name.
    pub(crate) fn parameter_at(&self, offset: usize) -> Option<(Span, LocatedParameter<'s>)> {
        let entry = self.content.entries.iter().find(|it| it.name_span.touches(offset))?;
        Some((entry.name_span, self.parameter(&entry.name)?))
    }

    /// The parameter with a name.
    pub(crate) fn parameter(&self, name: &str) -> Option<LocatedParameter<'s>> {
        self.belonging.templates.iter().find_map(|it| located_parameter(it, name))
    }

    /// The parameters of its templates.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = LocatedParameter<'s>> {
        self.belonging.templates.iter().flat_map(|it| {
            let names = it.template.parameters.iter().filter_map(|it| it.name.as_ref());
            names.filter_map(|name| located_parameter(it, &name.value))
        })
    }
}

fn located_parameter<'s>(it: &LocatedTemplate<'s>, name: &str) -> Option<LocatedParameter<'s>> {
    let (name, _) = it.template.parameters.iter().filter_map(|it| it.name.as_ref()).find_map(|it| {
        let known: &'s str = &it.value;
        (known == name).then_some((known, ()))
    })?;
    let LocatedTemplate { file, facts, object, template } = *it;
    Some(LocatedParameter { file, facts, object, template, name })
}

/// The entries of parameter files that set a parameter.
pub(crate) fn param_file_entries(analysis: &Analysis<'_>, parameter: &LocatedParameter<'_>) -> Vec<Location> {
    let directory = parameter.file.rsplit_once('/').map_or("", |it| it.0);
    let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    // In the directory of the template or one level below it.
    let is_near = |path: &str| path.strip_prefix(&*prefix).is_some_and(|it| it.matches('/').count() <= 1);
    let files = analysis.snapshot.files().filter(|(path, facts)| facts.is_env_format() && is_near(path));
    let mut found = Vec::new();
    for (path, _) in files {
        let Some(file_text) = analysis.file_text(path) else { continue };
        let file = ParamFileText::of(analysis, path, &file_text);
        let is_template =
            |it: &LocatedTemplate<'_>| it.file == parameter.file && it.object.offset == parameter.object.offset;
        if file.belonging.templates.iter().any(is_template) {
            let same = file.content.entries.iter().filter(|it| it.name == parameter.name);
            found.extend(same.map(|it| Location { file: Arc::clone(path), span: it.name_span }));
        }
    }
    found
}
