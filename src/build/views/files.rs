//! Collects the files of a view, transitively, and what is unknown about them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::build::views::{ViewUnknown, described, line_in};
use crate::text::Span;
use crate::workspace::{BuildRole, IncludeKind, IncludeTarget, Inclusion, Snapshot};

/// Collects files and unknown parts.
pub(super) struct FileCollector<'s> {
    snapshot: &'s Snapshot,
    files: BTreeSet<Arc<str>>,
    unknown: Vec<ViewUnknown>,
    /// The builds from the view to the current one.
    stack: Vec<Arc<str>>,
}

impl<'s> FileCollector<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, files: BTreeSet::new(), unknown: Vec::new(), stack: Vec::new() }
    }

    pub(super) fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }

    pub(super) fn finish(self) -> (Vec<Arc<str>>, Vec<ViewUnknown>) {
        (self.files.into_iter().collect(), self.unknown)
    }

    pub(super) fn add_file(&mut self, file: &Arc<str>) {
        self.files.insert(Arc::clone(file));
    }

    pub(super) fn add_unknown(&mut self, file: &Arc<str>, span: Option<Span>, what: String, why: String) {
        let line = span.map_or(1, |span| line_in(self.snapshot, file, span));
        self.unknown.push(ViewUnknown { file: Arc::clone(file), line, what, why });
    }

    /// Adds a kustomization or chart with everything it includes.
    pub(super) fn add_build(&mut self, file: &Arc<str>) {
        if !self.files.insert(Arc::clone(file)) {
            return;
        }
        let directory = file.rsplit_once('/').map_or("", |it| it.0);
        let kustomizations = self.snapshot.kustomizations_in(directory);
        if kustomizations.len() > 1 && kustomizations.contains(file) {
            let names: Vec<&str> = kustomizations.iter().filter_map(|it| it.rsplit('/').next()).collect();
            let why = format!("kustomize refuses a directory with several of them: {}", names.join(", "));
            self.add_unknown(file, None, "kustomization".into(), why);
        }
        if self.snapshot.written_includes(file).is_some_and(|it| it.is_empty_kustomization) {
            self.add_unknown(file, None, "kustomization".into(), "kustomize refuses it because it is empty".into());
        }
        self.stack.push(Arc::clone(file));
        self.add_included(file);
        self.stack.pop();
    }

    fn add_included(&mut self, file: &Arc<str>) {
        for inclusion in self.snapshot.inclusions(file) {
            self.add(file, &inclusion);
        }
    }

    fn add(&mut self, from: &Arc<str>, inclusion: &Inclusion) {
        let snapshot = self.snapshot;
        let mut unknown = |why: &str| self.add_unknown(from, inclusion.span, described(inclusion), why.to_owned());
        if snapshot.is_refused_by_load_restrictor(from, inclusion) {
            unknown(
                "kustomize refuses files outside of the directory of the kustomization; \
                 set `kustomize.loadRestrictor` to `none` if the build allows them",
            );
        }
        match &inclusion.target {
            IncludeTarget::Kustomization(file) | IncludeTarget::Chart(file) => {
                if let Some(why) = refused_kind(snapshot, inclusion.kind, file) {
                    unknown(why);
                }
                if self.stack.contains(file) {
                    self.add_unknown(from, inclusion.span, described(inclusion), "it includes itself".into());
                } else {
                    self.add_build(file);
                }
            }
            IncludeTarget::File(file) => self.add_included_file(from, inclusion, file),
            IncludeTarget::Unread(path) => {
                // The content of these is one value, or is read when the chart is rendered.
                if !matches!(inclusion.kind, IncludeKind::GeneratorFile | IncludeKind::ChartFile)
                    && let Some(why) = inclusion.target.reason()
                {
                    unknown(&why);
                }
                self.files.insert(Arc::clone(path));
            }
            other => {
                if let Some(why) = other.reason() {
                    unknown(&why);
                }
            }
        }
    }

    fn add_included_file(&mut self, from: &Arc<str>, inclusion: &Inclusion, file: &Arc<str>) {
        let is_new = self.files.insert(Arc::clone(file));
        let build = build_role(self.snapshot, file);
        let why = if build.is_some_and(|it| !it.is_chart()) {
            Some("kustomize takes the directory of a kustomization, not its file")
        } else if inclusion.kind.may_run_program() && !self.snapshot.configures_builtin_plugins(file) {
            Some("it runs a program, which podlens does not do")
        } else {
            None
        };
        if let Some(why) = why {
            self.add_unknown(from, inclusion.span, described(inclusion), why.into());
        } else if is_new && (inclusion.kind.may_run_program() || inclusion.kind == IncludeKind::ChartFile) {
            // Configuration of a plugin, and `requirements.yaml` of a chart, include further files.
            self.add_included(file);
        }
    }
}

fn build_role(snapshot: &Snapshot, file: &str) -> Option<BuildRole> {
    snapshot.written_includes(file).and_then(|it| it.build)
}

/// Why Kustomize refuses a kustomization in this field (KN1).
fn refused_kind(snapshot: &Snapshot, kind: IncludeKind, file: &str) -> Option<&'static str> {
    match (kind, build_role(snapshot, file)) {
        (IncludeKind::Component, Some(BuildRole::Kustomization)) => {
            Some("kustomize refuses it: it is not of the kind Component")
        }
        (IncludeKind::Resource | IncludeKind::Base, Some(BuildRole::Component)) => {
            Some("kustomize refuses a Component here; list it in `components`")
        }
        _ => None,
    }
}
