//! What keeps a container from starting.
//!
//! Each failure is also a finding of a rule, and the same code decides both.

use std::borrow::Cow;
use std::sync::Arc;

use crate::build;
use crate::build::EnvFromRefusal;
use crate::diagnostic::Location;
use crate::k8s::{EnvFrom, EnvFromSource, EnvVar, ObjectSpan, ShapeEntry};
use crate::resolve::{Binding, Lookup, OriginKind, SubPath, UnknownReason, ValuePart};
use crate::rules::checks::{invalid_env_file, invalid_value_source, malformed_env, missing_key, unresolved_sub_path};
use crate::rules::engine::{ContainerContext, ObjectContext, has_helm_action};
use crate::rules::shared::file_key_refs::{FileKeyRef, VolumeUse};
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};
use crate::syntax::show_placeholders;

/// Something that keeps a container from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFailure {
    /// The variable, the object of an entry of `envFrom`, or the path.
    pub name: Arc<str>,
    /// The cause.
    pub reason: StartFailureReason,
    /// The name of the entry, the reference in `subPathExpr`, or the path.
    pub location: Location,
}

/// Why a container does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFailureReason {
    /// The ConfigMap, Secret or env file does not have the key.
    MissingKey,
    /// No container writes the env file.
    MissingFile,
    /// The kubelet cannot read the env file.
    UnreadableFile,
    /// The resource is that of a container that the pod does not have (B24).
    MissingContainer(Arc<str>),
    /// The API server refuses the `valueFrom`, with this reason.
    RefusedSource(Arc<str>),
    /// The API server refuses the entry of `envFrom`, with this reason.
    RefusedEntry(Arc<str>),
    /// The API server refuses the shape of a field or of an entry, with this reason.
    RefusedShape(Arc<str>),
    /// A `subPathExpr` is refused, with this reason.
    RefusedSubPath(&'static str),
    /// A `subPathExpr` needs a variable that has no value.
    EmptySubPath {
        /// Whether the variable exists and is empty.
        is_defined: bool,
    },
}

impl StartFailureReason {
    /// The name in the JSON output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::MissingKey => "missingKey",
            Self::MissingFile => "missingFile",
            Self::UnreadableFile => "unreadableFile",
            Self::MissingContainer(_) => "missingContainer",
            Self::RefusedSource(_) | Self::RefusedEntry(_) | Self::RefusedShape(_) | Self::RefusedSubPath(_) => {
                "refusedSource"
            }
            Self::EmptySubPath { .. } => "emptySubPath",
        }
    }

    /// The cause as a clause about the variable.
    pub fn words(&self) -> Cow<'static, str> {
        match self {
            Self::MissingKey => "its key does not exist".into(),
            Self::MissingFile => "nothing writes its env file before the container starts".into(),
            Self::UnreadableFile => "its env file cannot be read".into(),
            Self::MissingContainer(name) => format!("the pod has no container {}", show_placeholders(name)).into(),
            Self::RefusedSource(why) | Self::RefusedEntry(why) | Self::RefusedShape(why) => {
                format!("the API server refuses it ({})", show_placeholders(why)).into()
            }
            Self::RefusedSubPath(why) => (*why).into(),
            Self::EmptySubPath { is_defined: true } => "it is empty".into(),
            Self::EmptySubPath { is_defined: false } => "nothing defines it".into(),
        }
    }
}

/// What keeps a container from starting: entries of `envFrom` and `env` in their order, then sub paths.
pub fn start_failures(container: &ContainerContext<'_>) -> Vec<StartFailure> {
    // The output of an action may change the container.
    if has_helm_action(container) {
        return Vec::new();
    }
    let mut all: Vec<StartFailure> =
        container.container.env_from.iter().filter_map(|it| env_from_failure(container, it)).collect();
    for (index, entry) in container.container.env.iter().enumerate() {
        let Some(binding) = container.entry(index) else { continue };
        if let (Some(name), Some(reason)) = (&entry.name, entry_failure(container, entry, binding)) {
            all.push(StartFailure { name: Arc::clone(&binding.name), reason, location: container.at(name.span) });
        }
    }
    let malformed = malformed_entries(container, &all);
    all.extend(malformed);
    for binding in container.own_bindings().into_iter().filter(|it| it.preset.is_some()) {
        let reason = value_failure(binding).or_else(|| volume_failure(container, binding));
        if let (Some(location), Some(reason)) = (&binding.entry, reason) {
            all.push(StartFailure { name: Arc::clone(&binding.name), reason, location: location.clone() });
        }
    }
    for (text, step, verdict) in judge_references(container) {
        if let ReferenceVerdict::SubPath { empty } = verdict {
            let reason = StartFailureReason::EmptySubPath { is_defined: empty };
            let location = container.inside(text.text, step.range.clone());
            all.push(StartFailure { name: Arc::clone(&step.name), reason, location });
        }
    }
    for sub_path in container.sub_paths() {
        match &sub_path.within {
            Some(_) => all.extend(preset_sub_path(container, sub_path)),
            None => all.extend(refused_sub_path(container, sub_path)),
        }
    }
    all
}

/// The entries and lists whose shape the API server refuses, without entries that are among the known failures.
fn malformed_entries(container: &ContainerContext<'_>, known: &[StartFailure]) -> Vec<StartFailure> {
    let has_failure = |entry: ObjectSpan| {
        let Location { file, span } = container.at(entry);
        known.iter().any(|it| it.location.file == file && span.touches(it.location.span.start))
    };
    let mut all = Vec::new();
    for (mistake, finding) in malformed_env::refused_shapes(container) {
        let (env, env_from) = (&container.container.env, &container.container.env_from);
        let entry = match mistake.entry {
            ShapeEntry::Env(at) => env.get(at).map(|it| it.span),
            ShapeEntry::EnvFrom(at) => env_from.get(at).map(|it| it.span),
            ShapeEntry::Container => None,
        };
        if !entry.is_some_and(has_failure) {
            let reason = StartFailureReason::RefusedShape(finding.message().into());
            all.push(StartFailure { name: finding.name().into(), reason, location: container.at(mistake.span) });
        }
    }
    all
}

/// An entry of `envFrom` that the API server refuses. It gives no variables.
fn env_from_failure(container: &ContainerContext<'_>, entry: &EnvFrom) -> Option<StartFailure> {
    let file = container.object.file;
    // An entry without text is not complete yet, and a patch may leave out parts.
    let is_incomplete = container.is_partial() || entry.span.is_empty();
    let is_certain = |it: &EnvFromRefusal| !(is_incomplete && matches!(it, EnvFromRefusal::NoSource));
    let mut refusals = EnvFromRefusal::all(entry, container.entry_release()).into_iter();
    let refusal = refusals.find(|it| !file.is_template() && is_certain(it))?;
    let source = entry.source.as_ref().and_then(EnvFromSource::name).filter(|it| !it.value.is_empty());
    let place = source.or(entry.prefix.as_ref());
    let reason = StartFailureReason::RefusedEntry(refusal.to_string().into());
    let name = place.map_or_else(|| "envFrom".into(), |it| Arc::clone(&it.value));
    Some(StartFailure { name, reason, location: container.at(place.map_or(entry.span, |it| it.span)) })
}

fn entry_failure(container: &ContainerContext<'_>, entry: &EnvVar, binding: &Binding) -> Option<StartFailureReason> {
    if let Some(finding) = invalid_value_source::refusal(container, entry) {
        return Some(StartFailureReason::RefusedSource(finding.message().into()));
    }
    match binding.origin.kind {
        OriginKind::EnvFile => {
            let own = container.handle().index().and_then(|at| {
                let owner = container.object;
                FileKeyRef::new(owner, at, container.container, entry)
            });
            let is_served = container.object.file.resolver.serves_env_files(container.object.file.path);
            let fields = own.map(|it| invalid_env_file::check_fields(&container.in_pod(), &it)).unwrap_or_default();
            match fields.first().filter(|_| is_served) {
                Some(finding) => Some(StartFailureReason::RefusedSource(finding.message().into())),
                None => value_failure(binding).or_else(|| volume_failure(container, binding)),
            }
        }
        OriginKind::Resource => value_failure(binding).filter(|_| !container.may_be_set_by_patch(&binding.name)),
        // Another tool may add keys to an object that has none.
        _ => value_failure(binding).filter(|_| missing_key::lacks_key(container, entry)),
    }
}

/// V13: the failure of an env file in a volume that cannot hold it.
fn volume_failure(container: &ContainerContext<'_>, binding: &Binding) -> Option<StartFailureReason> {
    let is_served = container.object.file.resolver.serves_env_files(container.object.file.path);
    let volume = binding.origin.object.as_ref().filter(|_| is_served && binding.origin.kind == OriginKind::EnvFile)?;
    let message = match container.in_pod().volume_use(volume) {
        VolumeUse::Missing => format!("the pod has no volume `{volume}`"),
        VolumeUse::Other { .. } => format!("volume `{volume}` is not an `emptyDir`"),
        VolumeUse::Unmounted(_) | VolumeUse::Usable | VolumeUse::Unknown => return None,
    };
    Some(StartFailureReason::RefusedSource(message.into()))
}

/// The failure that an unknown value means.
fn value_failure(binding: &Binding) -> Option<StartFailureReason> {
    match binding.value.parts() {
        [ValuePart::Unknown(UnknownReason::MissingKey(_))] => Some(StartFailureReason::MissingKey),
        [ValuePart::Unknown(UnknownReason::MissingFile { .. })] => Some(StartFailureReason::MissingFile),
        [ValuePart::Unknown(UnknownReason::RefusedFile { .. } | UnknownReason::UnreadableFile { .. })] => {
            Some(StartFailureReason::UnreadableFile)
        }
        [ValuePart::Unknown(UnknownReason::MissingContainer(name))] => {
            Some(StartFailureReason::MissingContainer(Arc::clone(name)))
        }
        _ => None,
    }
}

/// The failure of a path that is refused.
fn refused_sub_path(container: &ContainerContext<'_>, sub_path: &SubPath) -> Option<StartFailure> {
    let flaw = unresolved_sub_path::path_flaw(container, sub_path)?;
    let text = &sub_path.item.text;
    let reason = StartFailureReason::RefusedSubPath(flaw.message());
    Some(StartFailure { name: Arc::clone(&text.value), reason, location: container.at(text.span) })
}

/// The failures of a mount that a preset adds.
fn preset_sub_path(container: &ContainerContext<'_>, sub_path: &SubPath) -> Vec<StartFailure> {
    let snapshot = container.object.file.snapshot;
    let preset = sub_path.within.as_ref().and_then(|it| build::object_at(snapshot, &it.file, it.offset));
    let Some(object) = preset else { return Vec::new() };
    let preset = ObjectContext { object, file: container.object.file };
    let mut all = Vec::new();
    for step in &sub_path.item.expansion.steps {
        let is_defined = match &step.outcome {
            Lookup::Bound(it) if it.value.is_empty() && it.alternatives.is_empty() => true,
            Lookup::Unbound | Lookup::Later(_) => false,
            Lookup::Bound(_) | Lookup::Maybe(_) => continue,
        };
        let location = preset.inside(&sub_path.item.text, step.range.clone());
        let reason = StartFailureReason::EmptySubPath { is_defined };
        all.push(StartFailure { name: Arc::clone(&step.name), reason, location });
    }
    all
}
