//! Parameter files in an editor: a name in one means the parameter of the template that it belongs to.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::parameters::ParameterPlace;
use crate::ide::place::Written;
use crate::rules::{Belonging, TemplateAt, belonging};
use crate::syntax::{ParamFile, parse_param_file};
use crate::text::Span;

/// A parameter file with the templates it belongs to.
#[derive(Debug)]
pub struct ParamFileText<'s> {
    /// What it says.
    pub content: ParamFile,
    /// What it is for.
    pub belonging: Belonging<'s>,
}

impl<'s> ParamFileText<'s> {
    /// Reads a file with `NAME=value` lines.
    pub fn of(analysis: &Analysis<'s>, file: &str, written: &Written) -> Self {
        let content = parse_param_file(written.text());
        let belonging = belonging(analysis.snapshot, file, &content);
        Self { content, belonging }
    }

    /// The parameter whose name stands at an offset, and where.
    pub fn parameter_at(&self, offset: usize) -> Option<(Span, ParameterPlace<'s>)> {
        let entry = self.content.entries.iter().find(|it| it.name_span.touches(offset))?;
        Some((entry.name_span, self.parameter(&entry.name)?))
    }

    /// The parameter of a name.
    pub fn parameter(&self, name: &str) -> Option<ParameterPlace<'s>> {
        self.belonging.templates.iter().find_map(|it| place(it, name))
    }

    /// The parameters that it can set, in the order of their templates.
    pub fn parameters(&self) -> impl Iterator<Item = ParameterPlace<'s>> {
        self.belonging.templates.iter().flat_map(|it| {
            let names = it.template.parameters.iter().filter_map(|it| it.name.as_ref());
            names.filter_map(|name| place(it, &name.value))
        })
    }
}

fn place<'s>(it: &TemplateAt<'s>, name: &str) -> Option<ParameterPlace<'s>> {
    let (name, _) = it.template.parameters.iter().filter_map(|it| it.name.as_ref()).find_map(|it| {
        let known: &'s str = &it.value;
        (known == name).then_some((known, ()))
    })?;
    let TemplateAt { file, facts, object, template } = *it;
    Some(ParameterPlace { file: Arc::clone(file), facts, object, template, name })
}

/// The places in parameter files that set a parameter.
pub(super) fn settings_of(analysis: &Analysis<'_>, place: &ParameterPlace<'_>) -> Vec<Location> {
    let directory = place.file.rsplit_once('/').map_or("", |it| it.0);
    let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    // In the directory of the template, or in one right below it.
    let is_near = |path: &str| path.strip_prefix(&*prefix).is_some_and(|it| it.matches('/').count() <= 1);
    let files = analysis.snapshot.files().filter(|(path, facts)| facts.is_env_file && is_near(path));
    let mut found = Vec::new();
    for (path, _) in files {
        let Some(written) = analysis.written(path) else { continue };
        let file = ParamFileText::of(analysis, path, &written);
        let is_its = |it: &TemplateAt<'_>| *it.file == place.file && it.object.offset == place.object.offset;
        if file.belonging.templates.iter().any(is_its) {
            let same = file.content.entries.iter().filter(|it| it.name == place.name);
            found.extend(same.map(|it| Location { file: Arc::clone(path), span: it.name_span }));
        }
    }
    found
}
