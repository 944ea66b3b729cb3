//! Builds the environment view of the workloads in a snapshot.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::view::{
    AlternativeView, ConflictView, ContainerView, ExecProbeView, ExpandedView, FailureView, FileLine, OpaqueView,
    PresetView, SourceView, SubPathView, UnresolvedView, VariableView, WorkloadView,
};
use crate::build::{self, BuiltObject, Conflict, MatchingPreset, RefusedPreset, WrittenRange};
use crate::diagnostic::Location;
use crate::k8s::{Container, ContainerRole, Pod, Text};
use crate::resolve::{
    Binding, Environment, ExpandedScalar, OpaqueSource, Origin, PresetLocation, ResolvedValue, Resolver,
    UnresolvedReference, ValueState,
};
use crate::rules::{ContainerContext, FileContext, StartFailure, TextProvider, start_failures};
use crate::syntax::{SourceMap, has_placeholder, show_placeholders};
use crate::text::{LineColumn, Span};
use crate::workspace::{ParsedText, Snapshot};

/// Builds views of the workloads in a snapshot.
pub struct EnvironmentViewer<'s> {
    /// The files and their objects.
    pub snapshot: &'s Snapshot,
    /// Computes environments.
    pub resolver: &'s Resolver<'s>,
    /// Maps a path of the workspace to the path to show.
    pub path: &'s (dyn Fn(&str) -> String + Sync),
    /// The text of a file, for exact columns.
    pub text: &'s (dyn Fn(&str) -> Option<Arc<str>> + Sync),
    /// Whether to show the variables that only services define.
    pub all: bool,
}

/// The trees that the checks of one workload need, which are few.
struct ParsedTexts<'v> {
    viewer: &'v EnvironmentViewer<'v>,
    known: Mutex<HashMap<String, Option<Arc<ParsedText>>>>,
}

impl TextProvider for ParsedTexts<'_> {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        let viewer = self.viewer;
        let parse = || Some(Arc::new(ParsedText::new(viewer.snapshot.file(path)?, (viewer.text)(path)?)));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(path.to_owned()).or_insert_with(parse).clone()
    }
}

impl EnvironmentViewer<'_> {
    /// One workload with the containers selected by `is_wanted`.
    pub fn workload(&self, object: BuiltObject<'_>, is_wanted: impl Fn(&Container) -> bool) -> Option<WorkloadView> {
        let path = object.file;
        let file = self.snapshot.file(path)?;
        let shared = |text: &Option<Text>| text.as_ref().map(|it| readable(&it.value));
        let reveal = self.snapshot.settings(path).show_secrets;
        let mut containers = Vec::new();
        let mut presets = Vec::new();
        let mut services: BTreeSet<Arc<str>> = BTreeSet::new();
        let texts = &ParsedTexts { viewer: self, known: Mutex::default() };
        let file_context = FileContext { snapshot: self.snapshot, resolver: self.resolver, path, facts: file, texts };
        for pod in object.pods() {
            if let Some(admission) = self.resolver.admission(pod) {
                presets.extend(admission.presets.iter().map(|it| self.preset(it, pod.pod)));
                presets.extend(admission.refused.iter().map(|it| self.refused(it)));
            }
            let containers_of_pod = pod.containers().filter(|it| is_wanted(it.container));
            for (at, container) in containers_of_pod.enumerate() {
                let environment = &self.resolver.environment(container);
                // The containers of a pod see the same services.
                if at == 0 {
                    services.extend(environment.services().iter().cloned());
                }
                let context = ContainerContext::new(&file_context, container, environment);
                containers.push(self.container(&context, environment, reveal));
            }
        }
        Some(WorkloadView {
            file: (self.path)(path),
            line: file.lines.line_column(object.source.offset).line,
            api_version: shared(&object.model.api_version),
            kind: shared(&object.model.kind),
            name: shared(&object.model.name),
            namespace: shared(&object.model.namespace),
            view: object.view_name(),
            named_view: object.named_view().cloned(),
            presets,
            services: services.iter().map(readable).collect(),
            containers,
        })
    }

    fn line(&self, location: &Location) -> u32 {
        self.snapshot.file(&location.file).map_or(1, |it| it.lines.line_column(location.span.start).line)
    }

    fn refused(&self, refused: &RefusedPreset<'_>) -> PresetView {
        let object = refused.object;
        PresetView {
            name: readable(&refused.name),
            file: (self.path)(object.file),
            line: self.line(&object.location(object.model.span)),
            applied: false,
            conflicts: Vec::new(),
            refused: Some(show_placeholders(&refused.reason.replace('`', "")).into_owned()),
        }
    }

    fn preset(&self, matched: &MatchingPreset<'_>, pod: &Pod) -> PresetView {
        let conflict = |it: &Conflict| ConflictView {
            kind: it.kind.as_str(),
            name: readable(&it.name),
            container: it.container.and_then(|at| pod.containers.get(at)?.name.as_ref()).map(|it| readable(&it.value)),
            with: FileLine { file: (self.path)(&it.with.file), line: self.line(&it.with) },
        };
        PresetView {
            name: readable(&matched.name),
            file: (self.path)(matched.object.file),
            line: self.line(&matched.location(matched.object.model.span)),
            applied: matched.applied,
            conflicts: matched.conflicts.iter().map(conflict).collect(),
            refused: None,
        }
    }

    fn container(&self, context: &ContainerContext<'_>, environment: &Environment<'_>, reveal: bool) -> ContainerView {
        let items = |items: &[ExpandedScalar]| items.iter().map(|it| expanded(it, reveal)).collect();
        let env = match self.all {
            true => environment.bindings().iter().map(|it| self.variable(it, reveal)).collect(),
            false => environment.own_bindings().into_iter().map(|it| self.variable(it, reveal)).collect(),
        };
        ContainerView {
            name: context.container.name.as_ref().map(|it| readable(&it.value)),
            role: role(context.container.role),
            env,
            command: items(&environment.command),
            args: items(&environment.args),
            probes: environment
                .probes
                .iter()
                .map(|it| ExecProbeView { probe: it.probe, command: items(&it.command) })
                .collect(),
            sub_paths: environment
                .sub_paths
                .iter()
                .map(|it| SubPathView {
                    mount_path: it.mount_path.as_ref().map(readable),
                    path: expanded(&it.item, reveal),
                })
                .collect(),
            unresolved: environment.unresolved.iter().map(|it| self.unresolved(context.object.object, it)).collect(),
            opaque: environment.opaque.iter().map(opaque).collect(),
            failures: start_failures(context).into_iter().map(|it| self.failure(it)).collect(),
        }
    }

    fn variable(&self, binding: &Binding, reveal: bool) -> VariableView {
        let open = !binding.alternatives.is_empty();
        VariableView {
            name: readable(&binding.name),
            value: if open { None } else { text(&binding.value, reveal) },
            state: if open { ValueState::Unknown } else { binding.value.state() }.as_str(),
            raw: binding.raw.as_ref().map(readable),
            source: self.source(&binding.origin),
            hides: binding.hides.iter().map(|it| self.source(it)).collect(),
            alternatives: binding
                .alternatives
                .iter()
                .map(|(value, origin)| AlternativeView { value: text(value, reveal), source: self.source(origin) })
                .collect(),
            shown: shown(&binding.value, reveal),
        }
    }

    fn source(&self, origin: &Origin) -> SourceView {
        let line = origin.location.as_ref().and_then(|it| {
            let file = self.snapshot.file(&it.file)?;
            // The line of the script that writes the value.
            let inside = origin.inside.as_ref().and_then(|inside| {
                let source = (self.text)(&it.file)?;
                place_in_source(&file.masked_text(&source), it.span, &inside.text, &inside.range)
            });
            Some(file.lines.line_column(inside.unwrap_or(it.span.start)).line)
        });
        SourceView {
            kind: origin.kind.as_str(),
            object: origin.object.as_ref().map(readable),
            key: origin.key.as_ref().map(readable),
            file: origin.location.as_ref().map(|it| (self.path)(&it.file)),
            line,
        }
    }

    fn unresolved(&self, object: BuiltObject<'_>, it: &UnresolvedReference) -> UnresolvedView {
        let (path, position) = self.position(object, it.within.as_ref(), &it.text, &it.range);
        UnresolvedView {
            name: readable(&it.name),
            file: (self.path)(&path),
            line: position.line,
            column: position.column,
            why: it.reason.as_str(),
            reason: it.reason.clone(),
        }
    }

    fn failure(&self, failure: StartFailure) -> FailureView {
        let StartFailure { name, reason, location } = failure;
        let file = self.snapshot.file(&location.file);
        let LineColumn { line, column } =
            file.map_or(LineColumn { line: 1, column: 1 }, |file| file.lines.line_column(location.span.start));
        FailureView {
            name: readable(&name),
            why: reason.as_str(),
            file: (self.path)(&location.file),
            line,
            column,
            reason,
        }
    }

    /// The position of a part of a scalar. Entries of a preset are in the file of the preset.
    fn position(
        &self,
        object: BuiltObject<'_>,
        within: Option<&PresetLocation>,
        text: &Text,
        range: &Range<usize>,
    ) -> (Arc<str>, LineColumn) {
        let preset = within.and_then(|it| build::object_at(self.snapshot, &it.file, it.offset));
        let WrittenRange { scalar, style, value, range } = preset.unwrap_or(object).written_range(text, range.clone());
        let written = Text { value, style, ..text.clone() };
        let Some(file) = self.snapshot.file(&scalar.file) else {
            return (scalar.file, LineColumn { line: 1, column: 1 });
        };
        let source = (self.text)(&scalar.file);
        let offset =
            source.and_then(|source| place_in_source(&file.masked_text(&source), scalar.span, &written, &range));
        let position = file.lines.line_column(offset.unwrap_or(scalar.span.start));
        (scalar.file, position)
    }
}

impl std::fmt::Debug for EnvironmentViewer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnvironmentViewer").finish_non_exhaustive()
    }
}

fn opaque(source: &OpaqueSource) -> OpaqueView {
    OpaqueView {
        kind: source.kind.as_str(),
        object: readable(&source.object),
        prefix: readable(&source.prefix),
        why: show_placeholders(&source.reason.to_string()).into_owned(),
    }
}

fn role(role: ContainerRole) -> &'static str {
    match role {
        ContainerRole::Init => "init",
        ContainerRole::Sidecar => "sidecar",
        ContainerRole::Container => "container",
        ContainerRole::Ephemeral => "ephemeral",
        ContainerRole::Hook => "hook",
    }
}

fn expanded(item: &ExpandedScalar, reveal: bool) -> ExpandedView {
    let value = &item.expansion.value;
    ExpandedView {
        value: text(value, reveal),
        state: value.state().as_str(),
        raw: readable(&item.text.value),
        shown: shown(value, reveal),
    }
}

/// A text with a readable form of each placeholder.
fn readable(text: &Arc<str>) -> Arc<str> {
    if has_placeholder(text) { show_placeholders(text).into() } else { Arc::clone(text) }
}

/// The value for programs; `None` for a Secret that must not be shown.
fn text(value: &ResolvedValue, reveal: bool) -> Option<String> {
    (reveal || value.state() != ValueState::Secret).then(|| value.revealed())
}

/// The value for people: a Secret is shown as its name.
fn shown(value: &ResolvedValue, reveal: bool) -> String {
    if reveal { value.revealed() } else { value.to_string() }
}

/// The offset in the file of a range in a scalar's value.
fn place_in_source(source: &str, span: Span, text: &Text, range: &Range<usize>) -> Option<usize> {
    let map = SourceMap::new(source.get(span.range())?, text.style, &text.value);
    Some(span.start + map.source_span(range.clone()).start)
}
