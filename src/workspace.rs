//! The workspace: files with their objects, an index over them, the settings; changes in, immutable snapshots out.

#![warn(clippy::disallowed_methods)]

pub mod path;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::k8s::Object;
use crate::syntax::SyntaxError;

/// Everything that is known at one moment. Cheap to clone; never changes.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Files by path, relative to the workspace's root with `/` between its parts.
    pub files: BTreeMap<Arc<str>, Arc<File>>,
}

/// What is kept of a file: its facts, not its tree.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The objects in it, those inside Lists and Templates too, in the order of the text.
    pub objects: Vec<Object>,
    /// What is wrong with its YAML.
    pub errors: Vec<SyntaxError>,
}
