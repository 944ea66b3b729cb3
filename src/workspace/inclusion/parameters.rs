//! Which templates a parameter file belongs to. The file does not name them: its directory, its name and the names in it
//! decide.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::k8s::{ObjectData, Parameters};
use crate::text::Span;
use crate::workspace::Snapshot;
use crate::workspace::file_kind::is_param_file;
use crate::workspace::inclusion::{IncludeKind, IncludeTarget, Inclusion, directory_of, file_name};

/// The templates that a parameter file belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterTemplates {
    /// Their positions in the list of candidates.
    pub chosen: Vec<usize>,
    /// Whether so many of the names are parameters that the others are mistakes.
    pub is_sure: bool,
}

/// Chooses among the templates of a directory, each with its file. A `*.params` file always belongs to one of them. A
/// `*.env` file does if most of its names are parameters, or if it is named after the template.
pub fn choose_templates(path: &str, names: &BTreeSet<&str>, candidates: &[(&str, &Parameters)]) -> ParameterTemplates {
    let count = |parameters: &Parameters| names.iter().filter(|name| parameters.contains(name)).count();
    let is_known = |name: &&&str| candidates.iter().any(|(_, it)| it.contains(name));
    let hits = names.iter().filter(is_known).count();
    let name = file_name(path);
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    let numbered = || candidates.iter().enumerate();
    let named_after: Vec<usize> = numbered().filter(|(_, it)| is_named_after(it.0, stem)).map(|it| it.0).collect();
    let is_alike = !named_after.is_empty();
    let most = hits * 2 > names.len() && (hits > 1 || is_alike || is_param_file(path));
    let chosen = match named_after {
        alike if is_alike => alike,
        _ if !is_param_file(path) && !most => Vec::new(),
        _ => {
            let best = candidates.iter().map(|it| count(it.1)).max().unwrap_or(0);
            numbered().filter(|(_, it)| count(it.1) == best).map(|it| it.0).collect()
        }
    };
    ParameterTemplates { is_sure: most && !chosen.is_empty(), chosen }
}

/// Whether a file is named after a template: `shop.params`, `shop-dev.params` and `dev.shop.env` after `shop.yaml`.
fn is_named_after(template: &str, stem: &str) -> bool {
    let name = file_name(template);
    let own = name.split('.').next().unwrap_or(name);
    let is_border = |rest: &str, at_start: bool| {
        let edge = if at_start { rest.chars().next() } else { rest.chars().next_back() };
        edge.is_none_or(|it| matches!(it, '.' | '-' | '_'))
    };
    !own.is_empty()
        && (stem.strip_prefix(own).is_some_and(|rest| is_border(rest, true))
            || stem.strip_suffix(own).is_some_and(|rest| is_border(rest, false)))
}

impl Snapshot {
    /// The files of the templates that a `*.params` file belongs to: in its directory, or else in the parent directory.
    pub fn templates_of_parameters(&self, path: &str) -> Vec<Arc<str>> {
        if !is_param_file(path) {
            return Vec::new();
        }
        let written = self.written_includes(path);
        let names: BTreeSet<&str> = written.iter().flat_map(|it| &it.parameters).map(|it| &**it).collect();
        let directory = directory_of(path);
        let mut candidates = self.parameterized_in(directory);
        if candidates.is_empty() && !directory.is_empty() {
            candidates = self.parameterized_in(directory_of(directory));
        }
        let listed: Vec<(&str, &Parameters)> = candidates.iter().map(|(file, it)| (&***file, *it)).collect();
        let mut files: Vec<Arc<str>> =
            choose_templates(path, &names, &listed).chosen.into_iter().map(|at| Arc::clone(candidates[at].0)).collect();
        files.dedup();
        files
    }

    /// The `*.params` files of the templates in a file. Which of them is used is decided when a template is processed.
    pub fn parameter_files(&self, template: &Arc<str>) -> Vec<Inclusion> {
        let start = match directory_of(template) {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        let below = self.files.range(Arc::<str>::from(start.as_str())..).map(|(path, _)| path);
        let near = below.take_while(|it| it.starts_with(&start)).filter(|it| is_param_file(it));
        let own = near.filter(|it| self.templates_of_parameters(it).contains(template));
        own.map(|path| parameter_file(template, path)).collect()
    }

    /// The templates with parameters in a directory, without its subdirectories.
    fn parameterized_in(&self, directory: &str) -> Vec<(&Arc<str>, &Parameters)> {
        let files = self.files_in(directory).filter(|(_, file)| !file.is_helm_template());
        let objects = files.flat_map(|(path, file)| file.objects.iter().map(move |it| (path, it)));
        let templates = objects.filter_map(|(path, object)| match &object.model.data {
            ObjectData::Template(it) if it.exported.names().next().is_some() => Some((path, &*it.exported)),
            _ => None,
        });
        templates.collect()
    }
}

/// The inclusion of a parameter file by a template.
pub(super) fn parameter_file(template: &Arc<str>, path: &Arc<str>) -> Inclusion {
    Inclusion {
        from: Arc::clone(template),
        kind: IncludeKind::Parameters,
        text: file_name(path).into(),
        span: None::<Span>,
        target: IncludeTarget::File(Arc::clone(path)),
    }
}
