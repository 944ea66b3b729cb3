//! The environment view: what `podlens env` and the editor's environment panel show of a workload.
//!
//! Plain data in the shape and order of the `podlens/env/v1` contract. Secrets are left out unless the settings say
//! otherwise; `shown` texts never hold them.

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::diagnostic::Location;
use crate::k8s::{Container, ContainerRole, Object, Pod, Text};
use crate::resolve::{
    self, Binding, Elsewhere, Environment, Item, Lookup, Matched, Origin, Part, Resolver, State, Step, SubPath,
    Unresolved, Value,
};
use crate::syntax::{SourceMap, has_helm_placeholder, show_helm_placeholders};
use crate::text::{LineColumn, Span};
use crate::workspace::{File, Snapshot};

/// The name and version of the contract.
pub const SCHEMA: &str = "podlens/env/v1";

/// The environments of some workloads.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// [`SCHEMA`]
    pub schema: &'static str,
    /// In the order of files and objects.
    pub workloads: Vec<Workload>,
}

/// An object with pods.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// The file it stands in.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// `apiVersion`
    pub api_version: Option<Arc<str>>,
    /// `kind`
    pub kind: Option<Arc<str>>,
    /// `metadata.name`
    pub name: Option<Arc<str>>,
    /// `metadata.namespace`
    pub namespace: Option<Arc<str>>,
    /// PodPresets that match it.
    pub presets: Vec<Preset>,
    /// Its containers.
    pub containers: Vec<ContainerView>,
}

/// A PodPreset that matches a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Preset {
    /// Its name.
    pub name: Arc<str>,
    /// The file it stands in.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// Whether it takes part.
    pub applied: bool,
    /// What keeps it from taking part.
    pub conflicts: Vec<Conflict>,
}

/// Something that a preset and a pod, or two presets, both define.
#[derive(Clone, Debug, Serialize)]
pub struct Conflict {
    /// `env`, `volume`, `mountName`, `mountPath` or `envFrom`.
    pub kind: &'static str,
    /// What both define.
    pub name: Arc<str>,
    /// The container it is about.
    pub container: Option<Arc<str>>,
    /// The other definition.
    pub with: FileLine,
}

/// A line of a file.
#[derive(Clone, Debug, Serialize)]
pub struct FileLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A container.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerView {
    /// `name`
    pub name: Option<Arc<str>>,
    /// `init`, `sidecar`, `container`, `ephemeral` or `hook`.
    pub role: &'static str,
    /// By name.
    pub env: Vec<Variable>,
    /// `command`
    pub command: Vec<Expanded>,
    /// `args`
    pub args: Vec<Expanded>,
    /// Exec probes.
    pub probes: Vec<ProbeView>,
    /// Mounts with `subPathExpr`.
    pub sub_paths: Vec<SubPathView>,
    /// References that stay as they are.
    pub unresolved: Vec<UnresolvedView>,
    /// References in `subPathExpr` to variables that are empty: the container does not start (P4).
    #[serde(skip)]
    pub refused: Vec<UnresolvedView>,
}

/// A variable.
#[derive(Clone, Debug, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// Its value; nothing for secrets and where candidates differ.
    pub value: Option<String>,
    /// How much of it is known.
    pub state: &'static str,
    /// Before expansion.
    pub raw: Option<Arc<str>>,
    /// Where it comes from.
    pub source: Source,
    /// What it hides.
    pub hides: Vec<Source>,
    /// Where several candidates give different values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// The value for a person, secrets masked.
    #[serde(skip)]
    pub shown: String,
}

/// One of several values.
#[derive(Clone, Debug, Serialize)]
pub struct Alternative {
    /// The value; nothing for secrets.
    pub value: Option<String>,
    /// Where it comes from.
    pub source: Source,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The kind of source.
    pub kind: &'static str,
    /// The object's name.
    pub object: Option<Arc<str>>,
    /// The key in it.
    pub key: Option<Arc<str>>,
    /// The file; nothing for what is not in this workspace.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
}

/// A text after expansion.
#[derive(Clone, Debug, Serialize)]
pub struct Expanded {
    /// The result; nothing for secrets.
    pub value: Option<String>,
    /// How much of it is known.
    pub state: &'static str,
    /// As written.
    pub raw: Arc<str>,
    /// The result for a person, secrets masked.
    #[serde(skip)]
    pub shown: String,
}

/// An exec probe.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeView {
    /// `livenessProbe`, `readinessProbe` or `startupProbe`.
    pub probe: &'static str,
    /// Its command.
    pub command: Vec<Expanded>,
}

/// A mount with `subPathExpr`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubPathView {
    /// `mountPath`
    pub mount_path: Option<Arc<str>>,
    /// The path in the volume.
    #[serde(flatten)]
    pub path: Expanded,
}

/// A reference that stays as it is.
#[derive(Clone, Debug, Serialize)]
pub struct UnresolvedView {
    /// The name in it.
    pub name: Arc<str>,
    /// The file.
    pub file: String,
    /// The line of the `$`.
    pub line: u32,
    /// The column of the `$`, in characters.
    pub column: u32,
    /// `undefined`, `forward` or `self`.
    pub why: &'static str,
    /// What it stands in.
    #[serde(skip)]
    pub part: Part,
}

/// Makes views of the workloads in a snapshot.
pub struct Viewer<'s> {
    /// What is looked at.
    pub snapshot: &'s Snapshot,
    /// Resolves their containers.
    pub resolver: &'s Resolver<'s>,
    /// How a path of the workspace is shown.
    pub path: &'s (dyn Fn(&str) -> String + Sync),
    /// The text of a file, for exact columns.
    pub text: &'s (dyn Fn(&str) -> Option<Arc<str>> + Sync),
}

impl Viewer<'_> {
    /// The workloads of a file: its objects that have containers.
    pub fn workloads(&self, path: &Arc<str>, file: &File) -> Vec<Workload> {
        let with_containers = file.objects.iter().filter(|it| it.model.pods.iter().any(|it| !it.containers.is_empty()));
        with_containers.map(|object| self.workload(path, file, object, |_| true)).collect()
    }

    /// One workload with those of its containers that are wanted.
    pub fn workload(
        &self,
        path: &Arc<str>,
        file: &File,
        object: &Object,
        is_wanted: impl Fn(&Container) -> bool,
    ) -> Workload {
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
        Workload {
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

    fn preset(&self, matched: &Matched, pod: &Pod) -> Preset {
        let line = |location: &Location| {
            self.snapshot.file(&location.file).map_or(1, |it| it.lines.line_column(location.span.start).line)
        };
        let conflict = |it: &resolve::Conflict| Conflict {
            kind: it.kind.as_str(),
            name: Arc::clone(&it.name),
            container: it.container.and_then(|at| pod.containers.get(at)?.name.as_ref()).map(|it| readable(&it.value)),
            with: FileLine { file: (self.path)(&it.with.file), line: line(&it.with) },
        };
        Preset {
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
        let items = |items: &[Item]| items.iter().map(|it| expanded(it, reveal)).collect();
        ContainerView {
            name: None,
            role: "",
            env: environment.bindings().iter().map(|it| self.variable(it, reveal)).collect(),
            command: items(&environment.command),
            args: items(&environment.args),
            probes: environment
                .probes
                .iter()
                .map(|it| ProbeView { probe: it.probe, command: items(&it.command) })
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

    fn variable(&self, binding: &Binding, reveal: bool) -> Variable {
        let open = !binding.alternatives.is_empty();
        Variable {
            name: readable(&binding.name),
            value: if open { None } else { text(&binding.value, reveal) },
            state: if open { State::Unknown } else { binding.value.state() }.as_str(),
            raw: binding.raw.as_ref().map(readable),
            source: self.source(&binding.origin),
            hides: binding.hides.iter().map(|it| self.source(it)).collect(),
            alternatives: binding
                .alternatives
                .iter()
                .map(|(value, origin)| Alternative { value: text(value, reveal), source: self.source(origin) })
                .collect(),
            shown: shown(&binding.value, reveal),
        }
    }

    fn source(&self, origin: &Origin) -> Source {
        let line = origin.location.as_ref().and_then(|it| {
            let file = self.snapshot.file(&it.file)?;
            // A line of a script.
            let inside = origin.inside.as_ref().and_then(|inside| {
                let source = (self.text)(&it.file)?;
                place_in_source(&file.masked_text(&source), it.span, &inside.text, &inside.range)
            });
            Some(file.lines.line_column(inside.unwrap_or(it.span.start)).line)
        });
        Source {
            kind: origin.kind.as_str(),
            object: origin.object.clone(),
            key: origin.key.clone(),
            file: origin.location.as_ref().map(|it| (self.path)(&it.file)),
            line,
        }
    }

    fn unresolved(&self, path: &Arc<str>, file: &File, object: &Object, it: &Unresolved) -> UnresolvedView {
        let (path, place) = self.place((path, file, object), it.within.as_ref(), &it.text, &it.range);
        UnresolvedView {
            name: Arc::clone(&it.name),
            file: (self.path)(path),
            line: place.line,
            column: place.column,
            why: it.why.as_str(),
            part: it.part,
        }
    }

    /// The references of a `subPathExpr` to variables that are empty.
    fn refused(&self, path: &Arc<str>, file: &File, object: &Object, it: &SubPath) -> Vec<UnresolvedView> {
        let is_empty = |step: &&Step| matches!(&step.outcome, Lookup::Bound(binding) if binding.value.is_empty());
        let view = |step: &Step| {
            let (path, place) = self.place((path, file, object), it.within.as_ref(), &it.item.text, &step.range);
            UnresolvedView {
                name: Arc::clone(&step.name),
                file: (self.path)(path),
                line: place.line,
                column: place.column,
                why: "empty",
                part: Part::SubPath,
            }
        };
        it.item.expansion.steps.iter().filter(is_empty).map(view).collect()
    }

    /// Where a part of a scalar stands. What a preset brings stands in the preset.
    fn place<'p>(
        &'p self,
        (path, file, object): (&'p Arc<str>, &File, &Object),
        within: Option<&'p Elsewhere>,
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

impl std::fmt::Debug for Viewer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Viewer").finish_non_exhaustive()
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

fn expanded(item: &Item, reveal: bool) -> Expanded {
    let value = &item.expansion.value;
    Expanded {
        value: text(value, reveal),
        state: value.state().as_str(),
        raw: readable(&item.text.value),
        shown: shown(value, reveal),
    }
}

/// A text with a word in the place of masked Helm expressions.
fn readable(text: &Arc<str>) -> Arc<str> {
    if has_helm_placeholder(text) { show_helm_placeholders(text).into() } else { Arc::clone(text) }
}

/// The text for a program: nothing for a secret that must not be shown.
fn text(value: &Value, reveal: bool) -> Option<String> {
    (reveal || value.state() != State::Secret).then(|| value.revealed())
}

/// The text for a person: a secret is a name and a length.
fn shown(value: &Value, reveal: bool) -> String {
    if reveal { value.revealed() } else { value.to_string() }
}

/// Where a reference in a scalar's value stands in its file.
fn place_in_source(source: &str, span: Span, text: &Text, range: &Range<usize>) -> Option<usize> {
    let map = SourceMap::new(source.get(span.range())?, text.style, &text.value);
    Some(span.start + map.source_span(range.clone()).start)
}
