//! Builds the environment view of the workloads in a snapshot.

use std::ops::Range;
use std::sync::Arc;

use super::view::{
    AlternativeView, ConflictView, ContainerView, ExecProbeView, ExpandedView, FileLine, PresetView, SourceView,
    SubPathView, UnresolvedView, VariableView, WorkloadView,
};
use crate::diagnostic::Location;
use crate::k8s::{Container, ContainerRole, Object, Pod, Text};
use crate::resolve::{
    self, Binding, Environment, ExpandedScalar, ExpansionStep, Lookup, MatchingPreset, Origin, PresetLocation,
    ResolvedValue, Resolver, SubPath, UnresolvedReference, ValueState,
};
use crate::syntax::{SourceMap, has_helm_placeholder, show_helm_placeholders};
use crate::text::{LineColumn, Span};
use crate::workspace::{File, Snapshot};

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
}

impl EnvironmentViewer<'_> {
    /// The workloads of a file: its objects with containers.
    pub fn workloads(&self, path: &Arc<str>, file: &File) -> Vec<WorkloadView> {
        let with_containers = file.objects.iter().filter(|it| it.model.pods.iter().any(|it| !it.containers.is_empty()));
        with_containers.map(|object| self.workload(path, file, object, |_| true)).collect()
    }

    /// One workload with the containers selected by `is_wanted`.
    pub fn workload(
        &self,
        path: &Arc<str>,
        file: &File,
        object: &Object,
        is_wanted: impl Fn(&Container) -> bool,
    ) -> WorkloadView {
        let shared = |text: &Option<Text>| text.as_ref().map(|it| readable(&it.value));
        let reveal = self.snapshot.settings(path).show_secrets;
        let mut containers = Vec::new();
        let mut presets = Vec::new();
        for pod in &object.model.pods {
            if let Some(admission) = self.resolver.admission(path, object, pod) {
                presets.extend(admission.presets.iter().map(|it| self.preset(it, pod)));
            }
            for container in pod.containers.iter().filter(|it| is_wanted(it)) {
                let environment = self.resolver.environment(path, object, pod, container);
                containers.push(ContainerView {
                    name: shared(&container.name),
                    role: role(container.role),
                    ..self.container(path, file, object, &environment, reveal)
                });
            }
        }
        WorkloadView {
            file: (self.path)(path),
            line: file.lines.line_column(object.offset).line,
            api_version: shared(&object.model.api_version),
            kind: shared(&object.model.kind),
            name: shared(&object.model.name),
            namespace: shared(&object.model.namespace),
            presets,
            containers,
        }
    }

    fn preset(&self, matched: &MatchingPreset, pod: &Pod) -> PresetView {
        let line = |location: &Location| {
            self.snapshot.file(&location.file).map_or(1, |it| it.lines.line_column(location.span.start).line)
        };
        let conflict = |it: &resolve::Conflict| ConflictView {
            kind: it.kind.as_str(),
            name: Arc::clone(&it.name),
            container: it.container.and_then(|at| pod.containers.get(at)?.name.as_ref()).map(|it| readable(&it.value)),
            with: FileLine { file: (self.path)(&it.with.file), line: line(&it.with) },
        };
        PresetView {
            name: Arc::clone(&matched.name),
            file: (self.path)(&matched.file),
            line: line(&matched.location(matched.object.model.span)),
            applied: matched.applied,
            conflicts: matched.conflicts.iter().map(conflict).collect(),
        }
    }

    fn container(
        &self,
        path: &Arc<str>,
        file: &File,
        object: &Object,
        environment: &Environment,
        reveal: bool,
    ) -> ContainerView {
        let items = |items: &[ExpandedScalar]| items.iter().map(|it| expanded(it, reveal)).collect();
        ContainerView {
            name: None,
            role: "",
            env: environment.bindings().iter().map(|it| self.variable(it, reveal)).collect(),
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
            unresolved: environment.unresolved.iter().map(|it| self.unresolved(path, file, object, it)).collect(),
            refused: environment.sub_paths.iter().flat_map(|it| self.refused(path, file, object, it)).collect(),
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
            object: origin.object.clone(),
            key: origin.key.clone(),
            file: origin.location.as_ref().map(|it| (self.path)(&it.file)),
            line,
        }
    }

    fn unresolved(&self, path: &Arc<str>, file: &File, object: &Object, it: &UnresolvedReference) -> UnresolvedView {
        let (path, position) = self.position((path, file, object), it.within.as_ref(), &it.text, &it.range);
        UnresolvedView {
            name: Arc::clone(&it.name),
            file: (self.path)(path),
            line: position.line,
            column: position.column,
            why: it.reason.as_str(),
            field: it.field,
        }
    }

    /// The references of a `subPathExpr` to variables that are empty.
    fn refused(&self, path: &Arc<str>, file: &File, object: &Object, it: &SubPath) -> Vec<UnresolvedView> {
        let is_empty =
            |step: &&ExpansionStep| matches!(&step.outcome, Lookup::Bound(binding) if binding.value.is_empty());
        let view = |step: &ExpansionStep| {
            let (path, position) = self.position((path, file, object), it.within.as_ref(), &it.item.text, &step.range);
            UnresolvedView {
                name: Arc::clone(&step.name),
                file: (self.path)(path),
                line: position.line,
                column: position.column,
                why: "empty",
                field: it.field,
            }
        };
        it.item.expansion.steps.iter().filter(is_empty).map(view).collect()
    }

    /// The position of a part of a scalar. Entries of a preset are in the file of the preset.
    fn position<'p>(
        &'p self,
        (path, file, object): (&'p Arc<str>, &File, &Object),
        within: Option<&'p PresetLocation>,
        text: &Text,
        range: &Range<usize>,
    ) -> (&'p Arc<str>, LineColumn) {
        let path = within.map_or(path, |it| &it.file);
        let file = self.snapshot.file(path).map_or(file, |it| it);
        let preset = within.and_then(|it| file.objects.iter().find(|object| object.offset == it.offset));
        let span = preset.unwrap_or(object).file_span(text.span);
        let source = (self.text)(path);
        let offset = source.and_then(|source| place_in_source(&file.masked_text(&source), span, text, range));
        (path, file.lines.line_column(offset.unwrap_or(span.start)))
    }
}

impl std::fmt::Debug for EnvironmentViewer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnvironmentViewer").finish_non_exhaustive()
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

/// A text with a readable word for each Helm placeholder.
fn readable(text: &Arc<str>) -> Arc<str> {
    if has_helm_placeholder(text) { show_helm_placeholders(text).into() } else { Arc::clone(text) }
}

/// The value for programs; `None` for a Secret that must not be shown.
fn text(value: &ResolvedValue, reveal: bool) -> Option<String> {
    (reveal || value.state() != ValueState::Secret).then(|| value.revealed())
}

/// The value for people: a Secret is shown as its name and length.
fn shown(value: &ResolvedValue, reveal: bool) -> String {
    if reveal { value.revealed() } else { value.to_string() }
}

/// The offset in the file of a range in a scalar's value.
fn place_in_source(source: &str, span: Span, text: &Text, range: &Range<usize>) -> Option<usize> {
    let map = SourceMap::new(source.get(span.range())?, text.style, &text.value);
    Some(span.start + map.source_span(range.clone()).start)
}
