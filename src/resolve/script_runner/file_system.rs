//! The files in the volumes of a pod while containers run, as far as they are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::resolve::script_runner::file_modes::FilePermissions;
use crate::resolve::script_runner::traced_text::TracedText;

/// The known state of a file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::resolve) enum FileState {
    /// It does not exist.
    Absent,
    /// It has this content.
    Known(Arc<TracedText>),
    /// It may exist with any content.
    Unknown,
}

/// A tree of files.
#[derive(Clone, Debug, PartialEq)]
struct FileTree {
    files: BTreeMap<String, FileState>,
    directories: BTreeSet<String>,
    /// Whether there may be other files and directories.
    is_open: bool,
    /// Files whose content was replaced.
    rewritten: BTreeSet<String>,
    /// What is known about the permissions of files.
    permissions: BTreeMap<String, FilePermissions>,
}

/// A file in a volume, or in the container's own file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileLocation {
    volume: Option<Arc<str>>,
    /// Relative to the volume, or absolute in the container's file system.
    path: String,
}

/// A mounted volume.
#[derive(Clone, Debug)]
pub(super) struct MountPoint {
    pub(super) volume: Arc<str>,
    /// The mount path, without a `/` at the end.
    pub(super) path: String,
    /// The mounted directory of the volume, without `/` at both ends.
    pub(super) sub_path: String,
    pub(super) read_only: bool,
}

/// All volumes, and the file system of the running container.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileSystem {
    volumes: BTreeMap<Arc<str>, FileTree>,
    own: FileTree,
}

impl FileTree {
    fn new(is_open: bool) -> Self {
        let (files, directories) = (BTreeMap::new(), BTreeSet::new());
        Self { files, directories, is_open, rewritten: BTreeSet::new(), permissions: BTreeMap::new() }
    }

    /// The file system of an image: any file may exist, and `/tmp` does.
    fn for_image() -> Self {
        Self { directories: BTreeSet::from(["/tmp".to_owned()]), ..Self::new(true) }
    }

    fn get(&self, path: &str) -> FileState {
        let default = if self.is_open { FileState::Unknown } else { FileState::Absent };
        self.files.get(path).cloned().unwrap_or(default)
    }

    fn set(&mut self, path: &str, state: FileState) {
        let before = self.get(path);
        if matches!(&before, FileState::Known(text) if !text.characters.is_empty()) && before != state {
            self.rewritten.insert(path.to_owned());
        }
        self.files.insert(path.to_owned(), state);
    }

    fn make_unknown(&mut self) {
        *self = Self::new(true);
    }

    fn merged(&self, other: &FileTree) -> FileTree {
        let paths: BTreeSet<&String> = self.files.keys().chain(other.files.keys()).collect();
        let state = |path: &String| {
            let (one, two) = (self.get(path), other.get(path));
            if one == two { one } else { FileState::Unknown }
        };
        let common = |(path, one): (&String, &FilePermissions)| {
            other.permissions.get(path).map(|other| (path.clone(), one.common(*other)))
        };
        FileTree {
            files: paths.into_iter().map(|path| (path.clone(), state(path))).collect(),
            directories: self.directories.intersection(&other.directories).cloned().collect(),
            is_open: self.is_open || other.is_open,
            rewritten: self.rewritten.union(&other.rewritten).cloned().collect(),
            permissions: self.permissions.iter().filter_map(common).collect(),
        }
    }
}

impl FileSystem {
    /// The state before any container has run. The given volumes are known to be empty.
    pub(super) fn new(empty: impl IntoIterator<Item = Arc<str>>) -> Self {
        // The kubelet makes the directory of a volume as root.
        let root = || BTreeMap::from([(String::new(), FilePermissions::of_user(Some(0)))]);
        let tree = || FileTree { permissions: root(), ..FileTree::new(false) };
        let volumes = empty.into_iter().map(|name| (name, tree())).collect();
        Self { volumes, own: FileTree::for_image() }
    }

    /// Resets the container's own file system for the next container; the volumes are kept.
    pub(super) fn start_next_container(&mut self) {
        self.own = FileTree::for_image();
    }

    /// The file at a path.
    pub(super) fn locate(mounts: &[MountPoint], path: &str) -> FileLocation {
        let path = normalize(path);
        let below = |mount: &&MountPoint| {
            path.strip_prefix(&mount.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match mounts.iter().filter(below).max_by_key(|mount| mount.path.len()) {
            Some(mount) => {
                let inside = path[mount.path.len()..].trim_start_matches('/');
                let parts = [mount.sub_path.as_str(), inside];
                let parts: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
                FileLocation { volume: Some(Arc::clone(&mount.volume)), path: parts.join("/") }
            }
            None => FileLocation { volume: None, path },
        }
    }

    pub(super) fn get(&self, place: &FileLocation) -> FileState {
        match &place.volume {
            Some(volume) => self.volumes.get(volume).map_or(FileState::Unknown, |files| files.get(&place.path)),
            None => self.own.get(&place.path),
        }
    }

    /// Writes a file. The result is unknown if its directory may not exist.
    pub(super) fn set(&mut self, place: &FileLocation, state: FileState) {
        let has_directory = self.has_directory(place);
        let Some(files) = self.files_mut(place) else { return };
        let is_file = !files.directories.contains(&place.path) && !place.path.is_empty();
        if is_file {
            files.set(&place.path, if has_directory { state } else { FileState::Unknown });
        }
    }

    /// What is known about the permissions of a file.
    pub(super) fn permissions(&self, place: &FileLocation) -> FilePermissions {
        let files = match &place.volume {
            Some(volume) => self.volumes.get(volume),
            None => Some(&self.own),
        };
        files.and_then(|it| it.permissions.get(&place.path)).copied().unwrap_or_default()
    }

    pub(super) fn set_permissions(&mut self, place: &FileLocation, permissions: FilePermissions) {
        if let Some(files) = self.files_mut(place) {
            files.permissions.insert(place.path.clone(), permissions);
        }
    }

    /// Forgets the permissions of all files.
    pub(super) fn forget_permissions(&mut self) {
        self.volumes.values_mut().chain([&mut self.own]).for_each(|it| it.permissions.clear());
    }

    /// The known files and directories at or below a path.
    pub(super) fn files_below(&self, place: &FileLocation) -> Vec<FileLocation> {
        let files = match &place.volume {
            Some(volume) => self.volumes.get(volume),
            None => Some(&self.own),
        };
        let inside = format!("{}/", place.path);
        let is_below = |it: &&String| **it == place.path || place.path.is_empty() || it.starts_with(&inside);
        let paths = files.into_iter().flat_map(|it| it.files.keys().chain(&it.directories)).filter(is_below);
        let root = self.is_directory(place).then_some(&place.path).filter(|it| it.is_empty());
        paths.chain(root).map(|path| FileLocation { volume: place.volume.clone(), path: path.clone() }).collect()
    }

    /// Whether the directory of a file certainly exists.
    pub(super) fn has_directory(&self, place: &FileLocation) -> bool {
        let files = match &place.volume {
            Some(volume) => self.volumes.get(volume),
            None => Some(&self.own),
        };
        match place.path.rsplit_once('/') {
            Some((directory, _)) => files.is_some_and(|files| files.directories.contains(directory)),
            None => true,
        }
    }

    /// Creates a directory and its parents, with the permissions of new ones.
    pub(super) fn make_directory(&mut self, place: &FileLocation, permissions: FilePermissions) {
        let Some(files) = self.files_mut(place) else { return };
        let ends = place.path.match_indices('/').map(|(at, _)| at).chain([place.path.len()]);
        for end in ends.filter(|end| *end > 0) {
            let path = place.path[..end].to_owned();
            if files.directories.insert(path.clone()) && !files.is_open {
                files.permissions.insert(path, permissions);
            }
        }
    }

    pub(super) fn is_directory(&self, place: &FileLocation) -> bool {
        let files = match &place.volume {
            Some(volume) => self.volumes.get(volume),
            None => Some(&self.own),
        };
        place.path.is_empty() || files.is_some_and(|files| files.directories.contains(&place.path))
    }

    /// Removes a file, or a directory with its content.
    pub(super) fn remove(&mut self, place: &FileLocation) {
        let Some(files) = self.files_mut(place) else { return };
        let inside = format!("{}/", place.path);
        let is_root = place.path.is_empty();
        let is_below = |it: &String| is_root && !it.is_empty() || it.starts_with(&inside);
        let below: Vec<String> = files.files.keys().filter(|it| is_below(it)).cloned().collect();
        for path in below {
            files.set(&path, FileState::Absent);
        }
        files.permissions.retain(|it, _| !is_below(it) && (is_root || *it != place.path));
        files.directories.retain(|it| *it != place.path && !it.starts_with(&inside));
        if !is_root {
            files.set(&place.path, FileState::Absent);
        }
    }

    /// Makes all files unknown that the container can write.
    pub(super) fn make_unknown(&mut self, mounts: &[MountPoint]) {
        self.own.make_unknown();
        for mount in mounts.iter().filter(|it| !it.read_only) {
            if let Some(files) = self.volumes.get_mut(&mount.volume) {
                files.make_unknown();
            }
        }
    }

    /// The state that is common to both.
    pub(super) fn merged(&self, other: &FileSystem) -> FileSystem {
        let volumes = self.volumes.iter().map(|(name, files)| {
            let files = other.volumes.get(name).map_or_else(|| FileTree::new(true), |other| files.merged(other));
            (Arc::clone(name), files)
        });
        FileSystem { volumes: volumes.collect(), own: self.own.merged(&other.own) }
    }

    /// The file at a path relative to the volume.
    pub(super) fn file(&self, volume: &str, path: &str) -> FileState {
        self.volumes.get(volume).map_or(FileState::Unknown, |files| files.get(path))
    }

    /// The files that certainly exist in a volume.
    pub(super) fn paths(&self, volume: &str) -> impl Iterator<Item = &str> {
        let files = self.volumes.get(volume).into_iter().flat_map(|files| &files.files);
        files.filter(|(_, state)| matches!(state, FileState::Known(_))).map(|(path, _)| path.as_str())
    }

    /// Whether all files of a volume are known.
    pub(super) fn is_known(&self, volume: &str) -> bool {
        let is_known = |state: &FileState| *state != FileState::Unknown;
        self.volumes.get(volume).is_some_and(|files| !files.is_open && files.files.values().all(is_known))
    }

    /// Whether the content of a file was replaced.
    pub(super) fn was_rewritten(&self, volume: &str, path: &str) -> bool {
        self.volumes.get(volume).is_some_and(|files| files.rewritten.contains(path))
    }

    /// What is known about the permissions of the file at a path relative to the volume, and of its directories.
    pub(super) fn file_permissions(&self, volume: &str, path: &str) -> Vec<FilePermissions> {
        let directories = path.match_indices('/').map(|(at, _)| &path[..at]).chain([""]);
        let known = |it: &str| self.volumes.get(volume).and_then(|files| files.permissions.get(it)).copied();
        [path].into_iter().chain(directories).filter_map(known).collect()
    }

    fn files_mut(&mut self, place: &FileLocation) -> Option<&mut FileTree> {
        match &place.volume {
            Some(volume) => self.volumes.get_mut(volume),
            None => Some(&mut self.own),
        }
    }
}

/// An absolute path without `.`, `..` and repeated `/`.
pub(super) fn normalize(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.iter().flat_map(|part| ["/", part]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_located_in_mounts() {
        let mount = |volume: &str, path: &str, sub: &str| MountPoint {
            volume: volume.into(),
            path: path.to_owned(),
            sub_path: sub.to_owned(),
            read_only: false,
        };
        let mounts = [mount("a", "/data", ""), mount("b", "/data/deep", "x/y")];
        let locate = |path: &str| {
            let place = FileSystem::locate(&mounts, path);
            format!("{}:{}", place.volume.unwrap_or_default(), place.path)
        };
        assert_eq!(locate("/data/f"), "a:f");
        assert_eq!(locate("//data/./q/../f"), "a:f");
        assert_eq!(locate("/data/deep/f"), "b:x/y/f");
        assert_eq!(locate("/database/f"), ":/database/f");
        assert_eq!(locate("/data"), "a:");
    }

    #[test]
    fn a_file_needs_its_directory() {
        let mut file_system = FileSystem::new(["v".into()]);
        let place = |path: &str| FileLocation { volume: Some("v".into()), path: path.to_owned() };
        let text = FileState::Known(Arc::new(TracedText::default()));
        file_system.set(&place("a/f"), text.clone());
        assert_eq!(file_system.file("v", "a/f"), FileState::Unknown);
        file_system.make_directory(&place("a/b"), FilePermissions::default());
        file_system.set(&place("a/f"), text.clone());
        assert_eq!(file_system.file("v", "a/f"), text);
        file_system.remove(&place("a"));
        assert_eq!(file_system.file("v", "a/f"), FileState::Absent);
    }
}
