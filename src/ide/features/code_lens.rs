//! Code lenses: above containers a summary of their environment, above presets, services, workloads and templates a
//! summary of what they are related to.
//!
//! Positions are computed for the whole file; titles only for the lenses that an editor shows.

use std::sync::Arc;

use crate::build::BuiltObject;
use crate::diagnostic::Location;
use crate::ide::features::preview::PreviewKind;
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::name_location;
use crate::ide::shared::preset_workloads::{PresetOutcome, presets_of_workload, selected_workloads};
use crate::ide::shared::service_usage::consumers;
use crate::ide::shared::symbol::DefinedObject;
use crate::ide::{Analysis, EditorCommand};
use crate::k8s::{Object, ObjectData};
use crate::resolve::{Environment, OriginKind, has_cluster_ip};
use crate::rules::start_failures;
use crate::syntax::show_placeholders;
use crate::text::Span;
use crate::workspace::File;

/// A lens without its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLens {
    /// The line that it is shown above.
    pub span: Span,
    /// Its kind.
    pub kind: CodeLensKind,
}

/// The kind of a lens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeLensKind {
    /// The variables of a container.
    Environment,
    /// The presets for a workload.
    Presets,
    /// The workloads that a preset selects.
    Selected,
    /// The workloads that use a service.
    Consumers,
    /// The preview of a template.
    Process,
}

impl CodeLensKind {
    /// The name that identifies the kind in a resolve request.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Presets => "presets",
            Self::Selected => "selected",
            Self::Consumers => "consumers",
            Self::Process => "process",
        }
    }

    /// The kind with a name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Environment, Self::Presets, Self::Selected, Self::Consumers, Self::Process];
        all.into_iter().find(|it| it.as_str() == name)
    }
}

/// The title of a lens and its command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLensTitle {
    /// The text.
    pub title: String,
    /// The command to run on a click.
    pub command: EditorCommand,
}

/// The lenses of a file.
pub fn code_lenses(analysis: &Analysis<'_>, file: &Arc<str>) -> Vec<CodeLens> {
    let (Some(facts), Some(file_text)) = (analysis.snapshot.file(file), analysis.file_text(file)) else {
        return Vec::new();
    };
    let spans = LocatedContainer::all(analysis, file).map(|at| container_line(&at, &file_text));
    let mut lenses: Vec<CodeLens> = spans.map(|span| CodeLens { span, kind: CodeLensKind::Environment }).collect();
    let templates =
        templates(facts).map(|it| CodeLens { span: first_line(it, &file_text), kind: CodeLensKind::Process });
    lenses.extend(templates.filter(|_| !facts.is_helm_template()));
    for object in analysis.objects(file) {
        let kind = match &object.model.data {
            ObjectData::Preset(_) => CodeLensKind::Selected,
            ObjectData::Service(_) if object.model.name.is_some() => CodeLensKind::Consumers,
            _ if !presets_of_workload(analysis, object).is_empty() => CodeLensKind::Presets,
            _ => continue,
        };
        lenses.push(CodeLens { span: first_line(object.source, &file_text), kind });
    }
    lenses.sort_by_key(|it| it.span);
    lenses.dedup();
    lenses
}

/// The title of a lens of [`code_lenses`]; `None` if its line has changed.
pub fn resolve_code_lens(analysis: &Analysis<'_>, file: &Arc<str>, lens: &CodeLens) -> Option<CodeLensTitle> {
    let facts = analysis.snapshot.file(file)?;
    let file_text = analysis.file_text(file)?;
    let location = Location { file: Arc::clone(file), span: lens.span };
    match lens.kind {
        CodeLensKind::Environment => {
            let at = LocatedContainer::all(analysis, file).find(|it| container_line(it, &file_text) == lens.span)?;
            let environment = at.environment(analysis);
            let starts = at.with_context(analysis, &environment, start_failures).is_empty();
            Some(CodeLensTitle {
                title: environment_title(&environment, starts),
                command: EditorCommand::ShowEnvironment(location),
            })
        }
        CodeLensKind::Process => {
            let object = templates(facts).find(|it| first_line(it, &file_text) == lens.span)?;
            let ObjectData::Template(template) = &object.model.data else { return None };
            let title = match template.parameters.len() {
                0 => "Preview".to_owned(),
                1 => "Preview · 1 parameter".to_owned(),
                number => format!("Preview · {number} parameters"),
            };
            Some(CodeLensTitle { title, command: EditorCommand::ShowPreview(location, PreviewKind::Process) })
        }
        CodeLensKind::Presets | CodeLensKind::Selected | CodeLensKind::Consumers => {
            let mut objects = analysis.objects(file).filter(|it| first_line(it.source, &file_text) == lens.span);
            let (title, locations) = objects.find_map(|it| related(analysis, it, lens.kind))?;
            let title = show_placeholders(&title).into_owned();
            Some(CodeLensTitle { title, command: EditorCommand::ShowLocations(location, locations) })
        }
    }
}

/// The title for a preset, service or workload, and the locations of the related objects.
fn related(analysis: &Analysis<'_>, object: BuiltObject<'_>, kind: CodeLensKind) -> Option<(String, Vec<Location>)> {
    match (kind, &object.model.data) {
        (CodeLensKind::Selected, ObjectData::Preset(_)) => {
            let all = selected_workloads(analysis, object);
            if analysis.resolver.preset_refusal(object).is_some() {
                let locations = all.iter().map(|it| name_location(it.object)).collect();
                return Some(("refused, applies to no workload".to_owned(), locations));
            }
            let mut title = match all.len() {
                0 => "selects no workload".to_owned(),
                number => format!("selects {}", count(number, "workload", "workloads")),
            };
            for word in ["conflicting", "blocked by another preset", "excluded by annotation", "unknown"] {
                match all.iter().filter(|it| short_outcome(&it.outcome) == Some(word)).count() {
                    0 => {}
                    number => title += &format!(" · {number} {word}"),
                }
            }
            Some((title, all.iter().map(|it| name_location(it.object)).collect()))
        }
        (CodeLensKind::Consumers, ObjectData::Service(service)) => {
            let consumers = consumers(analysis, &DefinedObject { object, kind: OriginKind::Service });
            let mut title = match consumers.all.len() {
                0 => "not used by any workload".to_owned(),
                number => format!("used by {}", count(number, "workload", "workloads")),
            };
            match (consumers.unused.len(), consumers.variables) {
                _ if !has_cluster_ip(service) => title += " · no cluster IP, no variables",
                _ if consumers.all.is_empty() => {}
                (0, _) => {}
                (unused, all) => title += &format!(" · {unused} of {all} variables unused"),
            }
            Some((title, consumers.all.iter().map(|it| name_location(it.object)).collect()))
        }
        (CodeLensKind::Presets, _) => {
            let all = presets_of_workload(analysis, object);
            let state = |outcome: &PresetOutcome| match outcome {
                PresetOutcome::Applied(_) => "",
                PresetOutcome::Refused(_) => " refused",
                _ => " not applied",
            };
            let named = |wanted: &str| {
                let all = all.iter().filter(|(_, _, it)| state(it) == wanted);
                let names: Vec<&str> = all.map(|(name, _, _)| &**name).collect();
                (!names.is_empty()).then(|| format!("{}{wanted}", names.join(", ")))
            };
            let word = if all.len() == 1 { "preset" } else { "presets" };
            let parts: Vec<String> = ["", " not applied", " refused"].into_iter().filter_map(named).collect();
            let title = (!parts.is_empty()).then(|| format!("{word} {}", parts.join(" · ")))?;
            Some((title, all.into_iter().map(|(_, location, _)| location).collect()))
        }
        _ => None,
    }
}

/// Why a preset is not applied; `None` if it is.
fn short_outcome(outcome: &PresetOutcome) -> Option<&'static str> {
    match outcome {
        PresetOutcome::Applied(_) => None,
        PresetOutcome::Refused(_) => Some("refused"),
        PresetOutcome::Conflicting(_) => Some("conflicting"),
        PresetOutcome::Blocked => Some("blocked by another preset"),
        PresetOutcome::Exempt => Some("excluded by annotation"),
        PresetOutcome::Unknown => Some("unknown"),
    }
}

/// The templates of a file.
fn templates(facts: &File) -> impl Iterator<Item = &Object> {
    facts.objects.iter().filter(|it| matches!(it.model.data, ObjectData::Template(_)))
}

/// The first line of an object.
fn first_line(object: &Object, file_text: &FileText) -> Span {
    let start = object.file_span(object.model.span).start;
    Span::new(start, file_text.line(start).end.max(start))
}

/// The first line of a container, starting at its first key.
fn container_line(at: &LocatedContainer<'_>, file_text: &FileText) -> Span {
    let start = at.object.file_span(at.container.span).start;
    Span::new(start, file_text.line(start).end.max(start))
}

fn count(number: usize, one: &str, several: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {several}"),
    }
}

/// `5 variables, 14 from services · 1 unresolved reference · does not start`.
fn environment_title(environment: &Environment<'_>, starts: bool) -> String {
    let own = environment.own_bindings();
    let is_own = |name: &str| own.binary_search_by(|it| (*it.name).cmp(name)).is_ok();
    // The variables of the service `kubernetes` are in every container and are not counted.
    let services = environment.service_bindings().values().filter(|it| it.origin.location.is_some());
    let services = services.filter(|it| !is_own(&it.name)).count();
    let mut title = count(own.len(), "variable", "variables");
    if services > 0 {
        title += &format!(", {services} from services");
    }
    match environment.unresolved.len() {
        0 => {}
        number => title += &format!(" · {}", count(number, "unresolved reference", "unresolved references")),
    }
    if !starts {
        title += " · does not start";
    }
    title
}
