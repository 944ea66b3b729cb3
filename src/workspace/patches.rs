//! What the kustomizations that build a file may add to its containers: variables of patches, and `vars` that are declared
//! where podlens cannot look.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::k8s::ObjectData;
use crate::workspace::dependencies::Dependency;
use crate::workspace::inclusion::{BuildRole, Include, IncludeKind, IncludeTarget};
use crate::workspace::{File, Snapshot};

/// The variables that patches may set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchedVariables {
    /// Names in the `env` of patches.
    pub names: BTreeSet<Arc<str>>,
    /// Whether there are patches that are not read, which may set any variable.
    pub is_open: bool,
}

impl PatchedVariables {
    /// Whether a patch may set a variable.
    pub fn may_contain(&self, name: &str) -> bool {
        self.is_open || self.names.contains(name)
    }
}

impl Snapshot {
    /// The patches that kustomizations name, and the kustomizations, which may have patches inside.
    pub fn patching_files(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<File>)> {
        self.record(|| Dependency::Files);
        let builds = self.inclusion.including.iter().filter(|(_, it)| it.build.is_some()).map(|(path, _)| path);
        self.index.patches().chain(builds).filter_map(|it| self.files.get_key_value(it))
    }

    /// The variables that the patches of the kustomizations that build a file may set.
    pub fn patched_variables(&self, file: &str) -> PatchedVariables {
        let mut found = PatchedVariables::default();
        self.record(|| Dependency::Scope);
        for build in self.builds_of(file) {
            let Some(kustomization) = self.file(&build) else { continue };
            found.names.extend(inline_names(kustomization).cloned());
            found.is_open |= patches_entries(kustomization);
            let entries = self.inclusion.including.get(&build).map(|it| &it.entries);
            for patch in entries.into_iter().flatten().filter(|it| it.kind == IncludeKind::Patch) {
                match patch.candidates.iter().find_map(|it| self.file(it)) {
                    // An object without containers, such as a ServiceAccount, may not have been read.
                    Some(patch) if !patch.is_list && patch.errors.is_empty() => {
                        found.names.extend(variable_names(patch).cloned());
                    }
                    // A JSON patch is not an object.
                    _ => found.is_open = true,
                }
            }
        }
        found
    }

    /// Whether the build of a file may replace `vars` that no kustomization in the workspace declares: it has
    /// configuration for them, includes a remote kustomization, or is a component that something else includes.
    pub fn may_have_other_vars(&self, file: &str) -> bool {
        self.record(|| Dependency::Scope);
        self.builds_of(file).iter().any(|build| {
            let Some(includes) = self.inclusion.including.get(build) else { return false };
            includes.build == Some(BuildRole::Component) && self.builds_of(build).len() == 1
                || includes.entries.iter().any(|it| self.may_declare_vars(build, it))
        })
    }

    fn may_declare_vars(&self, build: &str, include: &Include) -> bool {
        match include.kind {
            IncludeKind::Configuration => true,
            IncludeKind::Resource | IncludeKind::Base | IncludeKind::Component => {
                let is_file = [".yaml", ".yml", ".json"].iter().any(|it| include.text.ends_with(it));
                !is_file && matches!(self.include_target(build, include), IncludeTarget::Remote(_))
            }
            _ => false,
        }
    }
}

/// The names of variables in patches that are written in a kustomization.
fn inline_names(file: &File) -> impl Iterator<Item = &Arc<str>> {
    file.objects.iter().flat_map(|it| match &it.model.data {
        ObjectData::Kustomization(it) => &it.patched_names[..],
        _ => &[],
    })
}

/// Whether a patch that is written in a kustomization sets a part of an entry that it does not name.
fn patches_entries(file: &File) -> bool {
    let is_open = |it: &ObjectData| matches!(it, ObjectData::Kustomization(it) if it.patches_entries);
    file.objects.iter().any(|it| is_open(&it.model.data))
}

/// The names of the variables in a file.
fn variable_names(file: &File) -> impl Iterator<Item = &Arc<str>> {
    let containers = file.objects.iter().flat_map(|it| &it.model.pods).flat_map(|it| &it.containers);
    containers.flat_map(|it| &it.env).filter_map(|it| Some(&it.name.as_ref()?.value))
}
