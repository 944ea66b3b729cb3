//! The pods that a PodPreset applies to, and fixes for conflicts and duplicates between them.

use crate::build::{
    self, Admission, BuiltObject, BuiltPod, ConflictKind, DuplicateEntry, MatchingPreset, PRESET_EXCLUDE_ANNOTATION,
    PresetEntry, presets_apply_one_by_one,
};
use crate::diagnostic::Fix;
use crate::k8s::{Container, ObjectSpan, Pod, ValueSource};
use crate::rules::engine::{ObjectContext, ServedContainer, edit};
use crate::rules::shared::item_removal;
use crate::rules::shared::source_objects::imported_object;
use crate::syntax::{Node, YamlValue, add_entries, add_entry};
use crate::workspace::Snapshot;

/// Removes the entry of a pod at an offset, where a preset adds the same: nothing changes for the containers. Unsafe, as
/// the pod then needs the preset.
pub fn remove_preset_duplicate<'a>(object: &ObjectContext<'a>, pod: &'a Pod, offset: usize) -> Option<Fix> {
    let file = object.file;
    for duplicate in file.resolver.duplicates(object.pod(pod)) {
        let container = duplicate.container.and_then(|it| pod.containers.get(it));
        let Some((span, name)) = removable_entry(pod, container.map(|it| &**it), &duplicate) else { continue };
        if object.at(span).span.touches(offset) {
            let title = format!("Remove `{name}`: preset `{}` adds the same", duplicate.preset);
            return item_removal::remove_entry(object, span, title);
        }
    }
    None
}

/// The span and the name of an entry of a pod that a preset repeats; `None` if something else in the pod needs the
/// entry.
fn removable_entry<'p>(
    pod: &'p Pod,
    container: Option<&'p Container>,
    duplicate: &DuplicateEntry,
) -> Option<(ObjectSpan, &'p str)> {
    match duplicate.kind {
        ConflictKind::Env => {
            let container = container?;
            let entry = container.env.get(duplicate.index)?;
            let name = &*entry.name.as_ref()?.value;
            // A11: the preset adds it after all entries of the container, which then cannot refer to it.
            let reference = format!("$({name})");
            let is_used =
                container.env.iter().filter_map(|it| it.value.as_ref()).any(|it| it.value.contains(&reference));
            let named = container.env.iter().filter(|it| it.name.as_ref().is_some_and(|it| &*it.value == name));
            (!is_used && named.count() == 1).then_some((entry.span, name))
        }
        ConflictKind::EnvFrom => {
            let container = container?;
            let entry = container.env_from.get(duplicate.index)?;
            // Otherwise the entry of the preset would come after, and hide, those that follow this one.
            let is_last = duplicate.index + 1 == container.env_from.len();
            let (_, name, _) = imported_object(entry)?;
            is_last.then_some((entry.span, &*name?.value))
        }
        ConflictKind::MountName | ConflictKind::MountPath => {
            let mount = container?.mounts.get(duplicate.index)?;
            Some((mount.span, &*mount.mount_path.as_ref()?.value))
        }
        ConflictKind::Volume => {
            let volume = pod.volumes.get(duplicate.index)?;
            let name = &*volume.name.as_ref()?.value;
            // A template that mounts a missing volume is rejected before presets are applied.
            let is_mounted = |it: &Container| {
                let mounts = it.mounts.iter().filter_map(|it| it.name.as_ref());
                let sources = it.env.iter().filter_map(|it| it.from.as_ref()).flat_map(|it| &it.sources);
                let files = sources.filter_map(|it| match it {
                    ValueSource::File { volume, .. } => volume.as_ref(),
                    _ => None,
                });
                mounts.chain(files).any(|it| &*it.value == name)
            };
            (!pod.containers.iter().any(|it| is_mounted(it))).then_some((volume.span, name))
        }
    }
}

/// A pod that a preset applies to.
pub(in crate::rules) struct PresetTarget<'a> {
    pub(in crate::rules) object: BuiltObject<'a>,
    pub(in crate::rules) pod: &'a Pod,
    pub(in crate::rules) admission: Admission<'a>,
    /// The index of the preset among those of the pod.
    pub(in crate::rules) at: usize,
}

impl<'a> PresetTarget<'a> {
    /// The preset as it applies to the pod.
    pub(in crate::rules) fn matched(&self) -> Option<&MatchingPreset<'a>> {
        self.admission.presets.get(self.at)
    }

    /// `Deployment/web`
    pub(in crate::rules) fn title(&self) -> String {
        self.object.title()
    }
}

/// Whether a pod is only a patch.
fn is_patch(snapshot: &Snapshot, file: &str, pod: &Pod) -> bool {
    snapshot.is_patch(file) || pod.containers.iter().all(|it| it.image.is_none())
}

impl<'a> ObjectContext<'a> {
    /// The pods of this workspace that this preset certainly selects.
    pub(in crate::rules) fn preset_targets(&self) -> Vec<PresetTarget<'a>> {
        self.find_preset_targets().0
    }

    /// The pods that this preset certainly selects, and whether it may select others.
    fn find_preset_targets(&self) -> (Vec<PresetTarget<'a>>, bool) {
        let file = self.file;
        let (mut all, mut may_have_more) = (Vec::new(), false);
        for object in file.resolver.preset_workloads(self.object) {
            let path = object.file;
            if !build::is_in_same_namespace(self.object, object) || file.snapshot.is_excluded(path) {
                continue;
            }
            for pod in object.model.pods.iter().filter(|it| !is_patch(file.snapshot, path, it)) {
                let Some(admission) = file.resolver.admission(BuiltPod { object, pod }) else { continue };
                let is_this = |it: &MatchingPreset<'_>| it.object.is_same(self.object);
                let at = admission.presets.iter().position(is_this);
                match at {
                    Some(at) if admission.presets.iter().all(|it| it.is_certain) => {
                        all.push(PresetTarget { object, pod, admission, at });
                    }
                    Some(_) => may_have_more = true,
                    None => {
                        may_have_more |=
                            admission.has_others || admission.possible.iter().any(|it| it.object.is_same(self.object));
                    }
                }
            }
        }
        (all, may_have_more)
    }

    /// The containers of this workspace that certainly get entries of this preset, and whether others may get some.
    pub(in crate::rules) fn preset_recipients(&self) -> (Vec<ServedContainer<'a>>, bool) {
        let count = self.object.preset_container().map_or(0, |it| it.container.env.len());
        let mut all = Vec::new();
        let (targets, may_have_more) = self.find_preset_targets();
        for PresetTarget { object, pod, admission, at } in targets {
            for handle in (BuiltPod { object, pod }).containers() {
                let Some(changes) = admission.container_changes(handle) else { continue };
                let is_given = |added: &[PresetEntry]| added.iter().any(|it| it.preset == at);
                if !is_given(&changes.env) && !is_given(&changes.env_from) && !is_given(&changes.mounts) {
                    continue;
                }
                let mut entries = vec![None; count];
                let own = handle.container.env.len();
                for (index, added) in changes.env.iter().enumerate().filter(|(_, it)| it.preset == at) {
                    entries[added.entry] = Some(own + index);
                }
                let environment = self.file.resolver.environment(handle);
                all.push(ServedContainer { handle, environment, entries });
            }
        }
        (all, may_have_more)
    }

    /// Whether the release of a file applies presets one by one.
    pub(in crate::rules) fn takes_one_by_one(&self, file: &str) -> bool {
        presets_apply_one_by_one(self.file.resolver.release(file), self.file.snapshot.settings(file).proposals)
    }

    /// The changes that presets make to a pod, if all of them are certain.
    pub(in crate::rules) fn certain_admission(&self, pod: &'a Pod) -> Option<Admission<'a>> {
        if is_patch(self.file.snapshot, self.file.path, pod) {
            return None;
        }
        let admission = self.file.resolver.admission(self.pod(pod))?;
        admission.presets.iter().all(|it| it.is_certain).then_some(admission)
    }

    /// Excludes a pod from presets. Unsafe: the pod also loses the entries of other presets.
    pub(in crate::rules) fn exclude_presets_fix(&self, pod: &Pod) -> Option<Fix> {
        let source = self.file.parsed_text()?;
        let span = self.object.file_span(pod.span);
        let path = source.tree.document_at(span.start)?.root()?.path_to(span.start);
        let holds = |node: &&Node<'_>| node.entries().iter().any(|(_, it)| it.is_some_and(|it| it.span() == span));
        let at = path.iter().position(|it| it.is_mapping() && holds(&it))?;
        if path[..=at].iter().any(|it| it.anchor().is_some() || it.alias().is_some()) {
            return None;
        }
        let text = &source.text;
        let value = YamlValue::text("true");
        let change = match path[at].get("metadata") {
            Some(metadata) => match metadata.get("annotations") {
                Some(annotations) => add_entry(text, annotations, PRESET_EXCLUDE_ANNOTATION, &value)?,
                None => {
                    add_entry(text, metadata, "annotations", &YamlValue::map([(PRESET_EXCLUDE_ANNOTATION, value)]))?
                }
            },
            None => {
                let metadata = YamlValue::map([("annotations", YamlValue::map([(PRESET_EXCLUDE_ANNOTATION, value)]))]);
                add_entries(text, path[at], &[("metadata".into(), metadata)])?
            }
        };
        let edits = vec![edit(self.file.at(change.span), change.text)];
        Some(Fix { title: "Exclude this pod from presets".into(), safe: false, edits })
    }
}
