//! The environment of the container at an offset, as `podlens/env/v2`.

mod view;
mod viewer;

use std::sync::Arc;

use crate::ide::Analysis;
pub use view::{
    AlternativeView, ConflictView, ContainerView, ENVIRONMENT_SCHEMA, EnvironmentView, ExecProbeView, ExpandedView,
    FailureView, FileLine, OpaqueView, PresetView, SourceView, SubPathView, UnresolvedView, VariableView, WorkloadView,
};
pub use viewer::EnvironmentViewer;

/// The workload and container at an offset, with the variables of services. `path` maps a path of the workspace to the path to show.
pub fn environment_at(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: usize,
    path: &(dyn Fn(&str) -> String + Sync),
) -> Option<EnvironmentView> {
    let at = analysis.container_at(file, offset)?;
    let text = |path: &str| Some(analysis.texts.parsed_text(path)?.text.shared());
    let viewer =
        EnvironmentViewer { snapshot: analysis.snapshot, resolver: analysis.resolver, path, text: &text, all: true };
    let workload = viewer.workload(at.object, |it| std::ptr::eq(it, at.container))?;
    Some(EnvironmentView { schema: ENVIRONMENT_SCHEMA, workloads: vec![workload] })
}
