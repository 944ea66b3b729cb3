//! The environment of the container at a place, in the shape of `podlens/env/v1`.

use std::sync::Arc;

use crate::ide::Analysis;
use crate::ide::environment::{SCHEMA, View, Viewer};
use crate::ide::place::container_at;

/// The one workload and one container at an offset. `path` says how a path of the workspace is shown.
pub fn environment_at(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: usize,
    path: &(dyn Fn(&str) -> String + Sync),
) -> Option<View> {
    let facts = analysis.snapshot.file(file)?;
    let at = container_at(file, facts, offset)?;
    let text = |path: &str| Some(analysis.sources.source(path)?.text.shared());
    let viewer = Viewer { snapshot: analysis.snapshot, resolver: analysis.resolver, path, text: &text };
    let workload = viewer.workload(file, facts, at.object, |it| std::ptr::eq(it, at.container));
    Some(View { schema: SCHEMA, workloads: vec![workload] })
}
