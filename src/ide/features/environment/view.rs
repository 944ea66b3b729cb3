//! The data of `podlens/env/v2`: what `podlens env` prints and what an editor's environment panel shows.
//!
//! Fields are in the order of the contract. The values of Secrets are left out unless the settings show them; the
//! `shown` texts never hold them.

use std::sync::Arc;

use serde::Serialize;

use crate::resolve::UnresolvedReason;
use crate::rules::StartFailureReason;

/// The name and version of the contract.
pub const ENVIRONMENT_SCHEMA: &str = "podlens/env/v2";

/// The environments of some workloads.
#[derive(Clone, Debug, Serialize)]
pub struct EnvironmentView {
    /// [`ENVIRONMENT_SCHEMA`]
    pub schema: &'static str,
    /// In the order of files and objects.
    pub workloads: Vec<WorkloadView>,
}

/// An object with pods.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadView {
    /// Its file.
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
    /// The name of its view; `None` for an object that is used as it is written.
    pub view: Option<Arc<str>>,
    /// The name of its view, if the settings name it. For people: the other views are clear from the file.
    #[serde(skip)]
    pub named_view: Option<Arc<str>>,
    /// PodPresets that match it.
    pub presets: Vec<PresetView>,
    /// The services whose variables its containers get without naming them, sorted.
    pub services: Vec<Arc<str>>,
    /// Its containers.
    pub containers: Vec<ContainerView>,
}

/// A PodPreset that matches a workload.
#[derive(Clone, Debug, Serialize)]
pub struct PresetView {
    /// Its name.
    pub name: Arc<str>,
    /// Its file.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// Whether it is applied.
    pub applied: bool,
    /// The conflicts that prevent it, or that drop lists of the pod.
    pub conflicts: Vec<ConflictView>,
    /// Why the API server refuses it, if it is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A name that a preset and a pod, or two presets, define differently.
#[derive(Clone, Debug, Serialize)]
pub struct ConflictView {
    /// `env`, `volume`, `mountName`, `mountPath` or `envFrom`.
    pub kind: &'static str,
    /// The name that both define.
    pub name: Arc<str>,
    /// The container with the conflict.
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
    /// Its variables, sorted by name. Those that only services define are included on request.
    pub env: Vec<VariableView>,
    /// `command`
    pub command: Vec<ExpandedView>,
    /// `args`
    pub args: Vec<ExpandedView>,
    /// Exec probes.
    pub probes: Vec<ExecProbeView>,
    /// Mounts with `subPathExpr`.
    pub sub_paths: Vec<SubPathView>,
    /// References that are not expanded.
    pub unresolved: Vec<UnresolvedView>,
    /// Entries of `envFrom` whose variables are not all known.
    pub opaque: Vec<OpaqueView>,
    /// What keeps the container from starting.
    pub failures: Vec<FailureView>,
}

/// A variable.
#[derive(Clone, Debug, Serialize)]
pub struct VariableView {
    /// Its name.
    pub name: Arc<str>,
    /// Its value; `None` for a Secret and for several different values.
    pub value: Option<String>,
    /// How much of the value is known.
    pub state: &'static str,
    /// The text before expansion.
    pub raw: Option<Arc<str>>,
    /// Its source.
    pub source: SourceView,
    /// The sources it hides.
    pub hides: Vec<SourceView>,
    /// The values of several matching objects, if they differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<AlternativeView>,
    /// The value to show, with Secrets redacted.
    #[serde(skip)]
    pub shown: String,
}

/// One of several possible values.
#[derive(Clone, Debug, Serialize)]
pub struct AlternativeView {
    /// The value; `None` for a Secret.
    pub value: Option<String>,
    /// Its source.
    pub source: SourceView,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceView {
    /// The kind of source.
    pub kind: &'static str,
    /// The object's name.
    pub object: Option<Arc<str>>,
    /// The key in it.
    pub key: Option<Arc<str>>,
    /// The file; `None` for an object that is not in this workspace.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
}

/// A text after expansion.
#[derive(Clone, Debug, Serialize)]
pub struct ExpandedView {
    /// The result; `None` for a Secret.
    pub value: Option<String>,
    /// How much of the value is known.
    pub state: &'static str,
    /// The text as written.
    pub raw: Arc<str>,
    /// The result to show, with Secrets redacted.
    #[serde(skip)]
    pub shown: String,
}

/// An exec probe.
#[derive(Clone, Debug, Serialize)]
pub struct ExecProbeView {
    /// `livenessProbe`, `readinessProbe` or `startupProbe`.
    pub probe: &'static str,
    /// Its command.
    pub command: Vec<ExpandedView>,
}

/// A mount with `subPathExpr`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubPathView {
    /// `mountPath`
    pub mount_path: Option<Arc<str>>,
    /// The path in the volume.
    #[serde(flatten)]
    pub path: ExpandedView,
}

/// A reference that is not expanded.
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
    /// `undefined`, `forward`, `self`, `probe` or `linksOff`.
    pub why: &'static str,
    /// The same reason for people.
    #[serde(skip)]
    pub reason: UnresolvedReason,
}

/// An entry of `envFrom` whose variables are not all known.
#[derive(Clone, Debug, Serialize)]
pub struct OpaqueView {
    /// `configMap`, `secret` or `service`.
    pub kind: &'static str,
    /// The name of the object.
    pub object: Arc<str>,
    /// The prefix of the variables.
    pub prefix: Arc<str>,
    /// Why they are not known.
    pub why: String,
}

/// Something that keeps a container from starting.
#[derive(Clone, Debug, Serialize)]
pub struct FailureView {
    /// The variable, the object of an entry of `envFrom`, or the path.
    pub name: Arc<str>,
    /// `missingKey`, `missingFile`, `unreadableFile`, `missingContainer`, `refusedSource` or `emptySubPath`.
    pub why: &'static str,
    /// The file.
    pub file: String,
    /// The line of the entry or of the reference.
    pub line: u32,
    /// The column there, in characters.
    #[serde(skip)]
    pub column: u32,
    /// The cause.
    #[serde(skip)]
    pub reason: StartFailureReason,
}
