//! Whether a PodPreset is valid (A13, PA2 to PA5). The API server refuses an invalid one, so no pod gets anything of it.
//!
//! The rule `invalid-preset` reports the problems of the preset itself. Entries of `env` and `envFrom` have the rules of a
//! pod, and other rules report their problems; here they only decide whether the preset exists in a cluster.

use std::collections::HashSet;
use std::sync::Arc;

use crate::build::env_from_refusal::EnvFromRefusal;
use crate::build::label_names::{is_dns_subdomain, is_qualified_name};
use crate::build::object::BuiltObject;
use crate::build::value_sources::{
    env_file_field_problem, has_parent_element, is_data_key, is_env_field, is_env_resource, is_valid_divisor,
    is_volume_name,
};
use crate::build::variable_names::{is_relaxed_variable_name, is_strict_variable_name};
use crate::k8s::{
    Container, EnvVar, Mount, ObjectSpan, PRESET_LISTS, PodPreset, PresetAdmitter, Selector, Text, ValueSource, Volume,
};
use crate::syntax::may_be_replaced;
use crate::workspace::KubernetesVersion;

/// A reason why a preset is invalid.
#[derive(Clone, Debug)]
pub struct PresetProblem {
    /// The span relative to the object; `None` for the whole object.
    pub span: Option<ObjectSpan>,
    /// The name of the field, volume or label that it is about.
    pub name: Arc<str>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

/// The fields of a volume that name its type.
const VOLUME_TYPES: [&str; 30] = [
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "persistentVolumeClaim",
    "photonPersistentDisk",
    "portworxVolume",
    "projected",
    "quobyte",
    "rbd",
    "scaleIO",
    "secret",
    "storageos",
    "vsphereVolume",
];

/// Why the API server refuses a preset; `None` if it is valid.
pub fn preset_refusal(object: BuiltObject<'_>, release: KubernetesVersion, proposals: bool) -> Option<String> {
    let preset = object.preset()?;
    let own = preset_problems(preset, proposals).into_iter().next().map(|it| it.message);
    own.or_else(|| preset_name_problem(object.model.name.as_ref()?, preset))
        .or_else(|| entry_problem(preset.container()?, entry_release(preset, release)))
}

/// The release whose rules the entries of a preset follow. A13: the strict rules for names. The API server lost its presets
/// long before 1.32 relaxed them (V3).
pub fn entry_release(preset: &PodPreset, release: KubernetesVersion) -> KubernetesVersion {
    match preset.admission {
        PresetAdmitter::ApiServer if release.is_at_least(32) => KubernetesVersion::minor(31),
        _ => release,
    }
}

/// What is wrong with the name of a preset.
pub fn preset_name_problem(name: &Text, preset: &PodPreset) -> Option<String> {
    let is_valid = preset.has_generated_name || may_be_replaced(&name.value) || is_dns_subdomain(&name.value);
    (!is_valid).then(|| format!("`{}` is not a valid name of a preset", name.value))
}

/// The advice about a field of a selector that does not exist.
pub const SELECTOR_HELP: &str = "write `matchLabels` or `matchExpressions`";

/// The advice about a list that is in the selector.
const LIST_HELP: &str = "move it out of `selector`, to `spec`";

/// The advice about an operator that does not exist.
pub const OPERATORS_HELP: &str = "write `In`, `NotIn`, `Exists` or `DoesNotExist`";

/// Finds the reasons why a preset is invalid: A13, and those of the proposal (PA2 to PA4).
pub fn preset_problems(preset: &PodPreset, proposals: bool) -> Vec<PresetProblem> {
    let Some(spec) = preset.spec else {
        let help = "add `spec` with a `selector` and at least one of `env`, `envFrom`, `volumes` and `volumeMounts`";
        return vec![PresetProblem {
            span: None,
            name: "spec".into(),
            message: "the preset has no `spec`".into(),
            help,
        }];
    };
    let mut found = Vec::new();
    // The proposal does not include the webhook's kind.
    if proposals && preset.admission == PresetAdmitter::ApiServer {
        find_problems_of_proposal(preset, spec, &mut found);
    }
    if let Some(selector) = &preset.selector {
        find_selector_problems(selector, &mut found);
    }
    // A list that is in the selector by mistake is reported there.
    let is_misplaced = || preset.selector.as_ref().is_some_and(|it| it.others.iter().any(|it| is_list(&it.value)));
    if preset.lists.is_empty() && !is_misplaced() {
        let message = "the preset has none of `env`, `envFrom`, `volumes` and `volumeMounts`".into();
        found.push(PresetProblem { span: Some(spec), name: "spec".into(), message, help: "add at least one of them" });
    }
    let (volumes, mounts) = (&preset.pod.volumes, preset.container().map_or(&[][..], |it| &it.mounts));
    find_volume_problems(volumes, &mut found);
    find_mount_problems(mounts, volumes, &mut found);
    // The resource definition of the webhook does not compare entries.
    if preset.admission == PresetAdmitter::ApiServer {
        let named = volumes.iter().filter_map(|it| it.name.as_ref());
        find_repetitions(named, |name| format!("two volumes have the name `{name}`"), &mut found);
        let paths = mounts.iter().filter_map(|it| it.mount_path.as_ref());
        find_repetitions(paths, |path| format!("two mounts have the path `{path}`"), &mut found);
    }
    found
}

/// PA2 to PA4.
fn find_problems_of_proposal(preset: &PodPreset, spec: ObjectSpan, found: &mut Vec<PresetProblem>) {
    let help = "add `matchLabels` with the labels of the pods that it applies to";
    let mut push = |span: ObjectSpan, name: &str, message: String, help: &'static str| {
        found.push(PresetProblem { span: Some(span), name: name.into(), message, help });
    };
    match &preset.selector {
        None => push(spec, "selector", "the preset has no `selector`".into(), help),
        Some(it) if it.is_empty() && it.others.is_empty() => {
            push(it.span, "selector", "the `selector` is empty".into(), help);
        }
        Some(_) => {}
    }
    let list = |name: &str| preset.lists.iter().find(|it| &*it.value == name);
    match (list("volumes"), list("volumeMounts")) {
        (Some(volumes), None) => {
            let message = "`volumes` has no effect without `volumeMounts`".into();
            push(volumes.span, "volumes", message, "add `volumeMounts`");
        }
        (None, Some(mounts)) if list("env").is_none() && list("envFrom").is_none() => {
            let message = "`volumeMounts` has nothing to mount without `volumes`".into();
            push(mounts.span, "volumeMounts", message, "add `volumes`");
        }
        (Some(_), Some(_)) => {
            let mounts = || preset.container().into_iter().flat_map(|it| &it.mounts).filter_map(|it| it.name.as_ref());
            for volume in preset.pod.volumes.iter().filter_map(|it| it.name.as_ref()) {
                if mounts().all(|it| it.value != volume.value) {
                    let message = format!("volume `{}` is not mounted", volume.value);
                    push(volume.span, &volume.value, message, "add a `volumeMounts` entry for it");
                }
            }
        }
        _ => {}
    }
}

fn find_volume_problems(volumes: &[Volume], found: &mut Vec<PresetProblem>) {
    for volume in volumes {
        if volume.name.as_ref().is_none_or(|it| it.value.is_empty()) {
            let (span, message) = (Some(volume.span), "the volume has no `name`".into());
            found.push(PresetProblem { span, name: "name".into(), message, help: "add a `name`" });
        }
        if let Some(name) = volume.name.as_ref().filter(|it| !it.value.is_empty() && !may_be_replaced(&it.value))
            && !is_volume_name(&name.value)
        {
            let message = format!("`{}` is not a valid name of a volume", name.value);
            let help = "a name has lower-case letters, digits and `-`, and at most 63 characters";
            found.push(PresetProblem { span: Some(name.span), name: Arc::clone(&name.value), message, help });
        }
        if let Some(second) = &volume.second_kind {
            let message = format!("the volume has a second source, `{}`", second.value);
            let (span, name) = (Some(second.span), Arc::clone(&second.value));
            found.push(PresetProblem { span, name, message, help: "remove one of the two" });
        }
        if let Some(kind) = volume.kind.as_ref().filter(|it| !VOLUME_TYPES.contains(&&*it.value)) {
            let message = format!("`{}` is not a volume type", kind.value);
            let help = "write a volume source, such as `secret: {secretName: …}`";
            found.push(PresetProblem { span: Some(kind.span), name: Arc::clone(&kind.value), message, help });
        }
    }
}

fn find_mount_problems(mounts: &[Mount], volumes: &[Volume], found: &mut Vec<PresetProblem>) {
    for mount in mounts {
        let is_missing = |text: &Option<Text>| text.as_ref().is_none_or(|it| it.value.is_empty());
        if is_missing(&mount.mount_path) {
            let message = match mount.name.as_ref().filter(|it| !it.value.is_empty()) {
                Some(name) => format!("the mount of volume `{}` has no `mountPath`", name.value),
                None => "the mount has no `mountPath`".into(),
            };
            let help = "add the `mountPath` in the container";
            found.push(PresetProblem { span: Some(mount.span), name: "mountPath".into(), message, help });
        }
        let Some(name) = mount.name.as_ref().filter(|it| !it.value.is_empty()) else {
            let (span, message) = (Some(mount.span), "the mount has no `name`".into());
            found.push(PresetProblem { span, name: "name".into(), message, help: "add the `name` of a volume" });
            continue;
        };
        if volumes.iter().all(|it| it.name.as_ref().is_none_or(|it| it.value != name.value)) {
            let message = format!("the preset has no volume `{}`", name.value);
            let help = "add it to `volumes`: a preset can mount only its own volumes";
            found.push(PresetProblem { span: Some(name.span), name: Arc::clone(&name.value), message, help });
        }
    }
}

/// Finds texts that an earlier entry of the same list has too.
fn find_repetitions<'t>(
    texts: impl Iterator<Item = &'t Text>,
    message: impl Fn(&str) -> String,
    found: &mut Vec<PresetProblem>,
) {
    let mut known = HashSet::new();
    for text in texts.filter(|it| !it.value.is_empty() && !may_be_replaced(&it.value)) {
        if !known.insert(&*text.value) {
            let (span, name) = (Some(text.span), Arc::clone(&text.value));
            found.push(PresetProblem { span, name, message: message(&text.value), help: "remove one of the two" });
        }
    }
}

/// What is wrong with the entries of `env` and `envFrom` (V1, V4, V6 to V12), and with the paths of mounts (X4).
fn entry_problem(entries: &Container, release: KubernetesVersion) -> Option<String> {
    let variable = entries.env.iter().find_map(|it| variable_problem(it, release));
    let path = || entries.mounts.iter().find_map(sub_path_problem);
    let refusals = || entries.env_from.iter().flat_map(|it| EnvFromRefusal::all(it, release));
    let message = |it: EnvFromRefusal| match it.to_string().strip_prefix("it ") {
        Some(rest) => format!("an entry of `envFrom` {rest}"),
        None => format!("in `envFrom`, {it}"),
    };
    variable.or_else(|| refusals().next().map(message)).or_else(path)
}

/// What is wrong with the path of a mount, before its variables are expanded.
fn sub_path_problem(mount: &Mount) -> Option<String> {
    let path = mount.sub_path_expr.as_ref().filter(|it| !it.value.is_empty())?;
    let has_other = mount.sub_path.as_ref().is_some_and(|it| !it.value.is_empty());
    let problem = match &*path.value {
        _ if has_other => "a mount has both `subPath` and `subPathExpr`",
        it if it.starts_with('/') => "a `subPathExpr` starts with `/`",
        it if has_parent_element(it) => "a `subPathExpr` has an element `..`",
        _ => return None,
    };
    Some(problem.into())
}

fn variable_problem(entry: &EnvVar, release: KubernetesVersion) -> Option<String> {
    let Some(name) = entry.name.as_ref().filter(|it| !it.value.is_empty()) else {
        return Some("an entry of `env` has no `name`".into());
    };
    let is_valid = if release.is_at_least(32) { is_relaxed_variable_name } else { is_strict_variable_name };
    if !may_be_replaced(&name.value) && !is_valid(&name.value) {
        return Some(format!("`{}` is not a valid name of a variable", name.value.escape_debug()));
    }
    if let Some(text) = [Some(name), entry.value.as_ref()].into_iter().flatten().find(|it| !it.is_string) {
        return Some(format!("`{}` in `env` is not a string", text.value));
    }
    let from = entry.from.as_ref()?;
    let has_value = entry.value.as_ref().is_some_and(|it| !it.value.is_empty());
    match &from.sources[..] {
        [source] if !has_value => source_problem(&name.value, source),
        [_] => Some(format!("`{}` has both `value` and `valueFrom`", name.value)),
        [] => Some(format!("`valueFrom` of `{}` has no source", name.value)),
        _ => Some(format!("`valueFrom` of `{}` has several sources", name.value)),
    }
}

/// What is wrong with the source of a variable (V8 to V12, X5, X6).
fn source_problem(variable: &str, source: &ValueSource) -> Option<String> {
    // A text that is missing, or that the function does not accept.
    let wrong = |field: &str, text: &Option<Text>, is_valid: &dyn Fn(&str) -> bool| match text {
        None => Some(format!("the source of `{variable}` has no `{field}`")),
        Some(text) if may_be_replaced(&text.value) || is_valid(&text.value) => None,
        Some(text) => Some(format!("`{}` is not a valid `{field}` in the source of `{variable}`", text.value)),
    };
    match source {
        ValueSource::Field { api_version, path } => {
            let version = api_version.as_ref().filter(|it| !matches!(&*it.value, "" | "v1"));
            wrong("fieldPath", path, &is_env_field).or_else(|| wrong("apiVersion", &Some(version?.clone()), &|_| false))
        }
        ValueSource::Resource { resource, divisor, .. } => {
            wrong("resource", resource, &is_env_resource).or_else(|| {
                let (resource, divisor) = (resource.as_ref()?, divisor.as_ref()?);
                let is_valid = |it: &str| may_be_replaced(&resource.value) || is_valid_divisor(&resource.value, it);
                wrong("divisor", &Some(divisor.clone()), &is_valid)
            })
        }
        ValueSource::ConfigMap(it) | ValueSource::Secret(it) => {
            wrong("name", &it.name, &is_dns_subdomain).or_else(|| wrong("key", &it.key, &is_data_key))
        }
        ValueSource::File { volume, path, key, .. } => {
            let field = |name: &'static str, text: &Option<Text>| {
                wrong(name, text, &|it| !it.is_empty() && env_file_field_problem(name, it).is_none())
            };
            field("volumeName", volume).or_else(|| field("path", path)).or_else(|| field("key", key))
        }
    }
}

/// Whether a field is a list that a preset adds to pods.
fn is_list(field: &str) -> bool {
    PRESET_LISTS.contains(&field)
}

fn find_selector_problems(selector: &Selector, found: &mut Vec<PresetProblem>) {
    let mut push = |span: ObjectSpan, name: &str, message: String, help: &'static str| {
        found.push(PresetProblem { span: Some(span), name: name.into(), message, help });
    };
    for other in &selector.others {
        let message = format!("`{}` is not a field of a selector", other.value);
        push(other.span, &other.value, message, if is_list(&other.value) { LIST_HELP } else { SELECTOR_HELP });
    }
    let keys = selector.labels.iter().map(|(key, _)| key);
    for key in keys.chain(selector.expressions.iter().filter_map(|it| it.key.as_ref())) {
        if !is_qualified_name(&key.value) && !key.value.contains("${") {
            let message = format!("`{}` is not a valid label key", key.value);
            push(key.span, &key.value, message, "write `name` or `prefix/name`");
        }
    }
    for it in &selector.expressions {
        if it.key.is_none() {
            push(it.span, "key", "the requirement has no `key`".into(), "add the `key` of a label");
        }
        let Some(operator) = &it.operator else {
            let message = "the requirement has no `operator`".into();
            push(it.span, "operator", message, OPERATORS_HELP);
            continue;
        };
        match (&*operator.value, it.values.first()) {
            ("In" | "NotIn", None) => {
                let message = format!("`{}` requires `values`", operator.value);
                push(operator.span, &operator.value, message, "add the values to compare the label with");
            }
            ("Exists" | "DoesNotExist", Some(value)) => {
                push(value.span, "values", format!("`{}` does not allow `values`", operator.value), "remove `values`");
            }
            ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
            (other, _) => {
                let message = format!("`{other}` is not a selector operator");
                push(operator.span, other, message, OPERATORS_HELP);
            }
        }
    }
}
