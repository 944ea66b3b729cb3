//! Code lenses: a line above each container that leads to its environment.
//!
//! Places are cheap; what a lens says is found out when it is looked at.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::place::{ContainerPlace, Written};
use crate::ide::preview::PreviewKind;
use crate::ide::{Analysis, Command};
use crate::k8s::{Data, Object};
use crate::resolve::Environment;
use crate::text::Span;
use crate::workspace::File;

/// A line above something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLens {
    /// What it stands above: one line.
    pub span: Span,
    /// What it is about.
    pub kind: CodeLensKind,
}

/// What a lens is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeLensKind {
    /// The variables of a container.
    Environment,
    /// The presets that take part in a workload.
    Presets,
    /// A template, which can be processed.
    Process,
}

impl CodeLensKind {
    /// A name to find the lens again by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Presets => "presets",
            Self::Process => "process",
        }
    }

    /// The kind of a name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Environment, Self::Presets, Self::Process].into_iter().find(|it| it.as_str() == name)
    }
}

/// What a lens says and does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LensTitle {
    /// What it says.
    pub title: String,
    /// What a click does.
    pub command: Command,
}

/// The lenses of a file.
pub fn code_lenses(analysis: &Analysis<'_>, file: &Arc<str>) -> Vec<CodeLens> {
    let (Some(facts), Some(written)) = (analysis.snapshot.file(file), analysis.written(file)) else {
        return Vec::new();
    };
    let places = ContainerPlace::all(file, facts).map(|at| place(&at, &written));
    let mut lenses: Vec<CodeLens> = places.map(|span| CodeLens { span, kind: CodeLensKind::Environment }).collect();
    let templates = templates(facts).map(|it| CodeLens { span: first_line(it, &written), kind: CodeLensKind::Process });
    lenses.extend(templates.filter(|_| !facts.is_helm));
    lenses.sort_by_key(|it| it.span);
    lenses.dedup();
    lenses
}

/// What a lens of [`code_lenses`] says; nothing if it is gone.
pub fn resolve(analysis: &Analysis<'_>, file: &Arc<str>, lens: &CodeLens) -> Option<LensTitle> {
    let facts = analysis.snapshot.file(file)?;
    let written = analysis.written(file)?;
    let location = Location { file: Arc::clone(file), span: lens.span };
    match lens.kind {
        CodeLensKind::Environment => {
            let at = ContainerPlace::all(file, facts).find(|it| place(it, &written) == lens.span)?;
            Some(LensTitle { title: title(&at.environment(analysis)), command: Command::ShowEnvironment(location) })
        }
        CodeLensKind::Process => {
            let object = templates(facts).find(|it| first_line(it, &written) == lens.span)?;
            let Data::Template(template) = &object.model.data else { return None };
            let title = match template.parameters.len() {
                0 => "Preview".to_owned(),
                1 => "Preview · 1 parameter".to_owned(),
                number => format!("Preview · {number} parameters"),
            };
            Some(LensTitle { title, command: Command::ShowPreview(location, PreviewKind::Process) })
        }
        CodeLensKind::Presets => None,
    }
}

/// The templates of a file.
fn templates(facts: &File) -> impl Iterator<Item = &Object> {
    facts.objects.iter().filter(|it| matches!(it.model.data, Data::Template(_)))
}

/// The first line of an object.
fn first_line(object: &Object, written: &Written) -> Span {
    let start = object.place(object.model.span).start;
    Span::new(start, written.line(start).end.max(start))
}

/// The first line of a container, from its first key on.
fn place(at: &ContainerPlace<'_>, written: &Written) -> Span {
    let start = at.object.place(at.container.span).start;
    Span::new(start, written.line(start).end.max(start))
}

/// `5 variables, 14 from services · 1 reference stays`.
fn title(environment: &Environment) -> String {
    let own = environment.own_bindings();
    let is_own = |name: &str| own.binary_search_by(|it| (*it.name).cmp(name)).is_ok();
    // Every container has those of the cluster's own service.
    let services = environment.service_bindings().values().filter(|it| it.origin.location.is_some());
    let services = services.filter(|it| !is_own(&it.name)).count();
    let count = |number: usize, one: &str, several: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {several}"),
    };
    let mut title = count(own.len(), "variable", "variables");
    if services > 0 {
        title += &format!(", {services} from services");
    }
    match environment.unresolved.len() {
        0 => {}
        number => title += &format!(" · {}", count(number, "reference stays", "references stay")),
    }
    title
}
