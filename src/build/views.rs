//! The list of views: which exist, the files that go into each, and what is unknown about it.
//!
//! A view is every template; every kustomization and chart that no other one includes, except components and library
//! charts; and what the settings, Argo CD and Flux name. Objects that nothing builds are not a view with a name.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::build::views::files::FileCollector;
use crate::k8s::{Object, ObjectData, Parameter, Template, Text};
use crate::text::Span;
use crate::workspace::{
    BuildRole, Delivery, IncludeKind, IncludeTarget, Includes, Inclusion, NamedView, Settings, Snapshot,
};

/// A view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSummary {
    /// The unique name.
    pub name: String,
    /// What it builds.
    pub kind: ViewKind,
    /// The directory of the kustomization or chart, or the file of the template, in the workspace. Empty for the root.
    pub path: Arc<str>,
    /// The kustomization, the `Chart.yaml`, or the file of the template.
    pub root: Arc<str>,
    /// The offset of the template in its file.
    pub template: Option<usize>,
    /// The files that go into it, sorted. They include files that exist and are not read.
    pub files: Vec<Arc<str>>,
    /// What is unknown, sorted by place.
    pub unknown: Vec<ViewUnknown>,
    /// What is built with.
    pub inputs: ViewInputs,
}

/// What a view builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewKind {
    /// A Template with parameter values.
    Template,
    /// A kustomization.
    Kustomization,
    /// A chart with values.
    Chart,
}

impl ViewKind {
    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Template => "template",
            Self::Kustomization => "kustomization",
            Self::Chart => "chart",
        }
    }
}

/// A part of a view that is unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ViewUnknown {
    /// The file that has the entry.
    pub file: Arc<str>,
    /// The line of the entry, from 1.
    pub line: u32,
    /// What is unknown, such as a resource or a parameter.
    pub what: String,
    /// Why it is unknown.
    pub why: String,
}

/// What a view is built with, beside its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewInputs {
    /// Values files of a chart, in order.
    pub values: Vec<Arc<str>>,
    /// Values of a chart or parameters of a template.
    pub set: Vec<(Arc<str>, Arc<str>)>,
    /// A parameter file of a template.
    pub params: Option<Arc<str>>,
    /// The name of the release of a chart.
    pub release: Option<Arc<str>>,
    /// The namespace of the release of a chart.
    pub namespace: Option<Arc<str>>,
}

/// A view of the settings whose path matches nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedView {
    /// The settings file.
    pub file: Arc<str>,
    /// `name` of the view.
    pub name: Arc<str>,
    /// `path` of the view.
    pub path: Arc<str>,
    /// `path` in the settings file.
    pub span: Span,
}

/// All views, sorted by name.
pub fn views(snapshot: &Snapshot) -> Vec<ViewSummary> {
    let targets = Targets::new(snapshot);
    let mut defaults: BTreeMap<usize, ViewSummary> = BTreeMap::new();
    for (at, target) in targets.all.iter().enumerate().filter(|(_, it)| it.is_view) {
        defaults.insert(at, target.view(snapshot, target.default_name(), ViewInputs::default(), &[]));
    }
    let mut named = Vec::new();
    for (settings, view) in named_views(snapshot) {
        let matches: Vec<usize> = targets.matching(settings, view).collect();
        for &at in &matches {
            let target = &targets.all[at];
            let name = match matches.len() {
                1 => view.name.value.to_string(),
                _ => format!("{}#{}", target.default_name(), view.name.value),
            };
            let (inputs, unknown) = settings_inputs(snapshot, settings, view);
            named.push(target.view(snapshot, name, inputs, &unknown));
            if view.has_no_values() {
                defaults.remove(&at);
            }
        }
    }
    for (file, delivery) in deliveries(snapshot) {
        if let Some(at) = targets.of_delivery(snapshot, file, delivery) {
            named.push(delivered_view(snapshot, &targets.all[at], file, delivery));
            if !delivery.changes_build {
                defaults.remove(&at);
            }
        }
    }
    let mut views: Vec<ViewSummary> = named.into_iter().chain(defaults.into_values()).collect();
    make_names_unique(&mut views);
    views.sort_by(|one, other| one.name.cmp(&other.name));
    views
}

/// The views of settings files in the workspace whose path matches no kustomization, chart or template. Settings above
/// the workspace may name paths that are not in it.
pub fn unmatched_views(snapshot: &Snapshot) -> Vec<UnmatchedView> {
    let targets = Targets::new(snapshot);
    let mut views = named_views(snapshot);
    views.retain(|(settings, view)| {
        snapshot.file(&settings.file).is_some() && targets.matching(settings, view).next().is_none()
    });
    let unmatched = views.into_iter().map(|(settings, view)| UnmatchedView {
        file: Arc::clone(&settings.file),
        name: Arc::clone(&view.name.value),
        path: Arc::clone(&view.path.value),
        span: view.path.span.to_relative(),
    });
    unmatched.collect()
}

/// Something that can be built.
struct Target<'s> {
    kind: ViewKind,
    /// The kustomization, the `Chart.yaml`, or the file of the template.
    root: &'s Arc<str>,
    template: Option<(&'s Object, &'s Template)>,
    /// Of several templates in a file, the name of this one.
    suffix: Option<String>,
    /// Whether it is a view without being named.
    is_view: bool,
}

impl Target<'_> {
    /// The directory, or the file of a template.
    fn path(&self) -> Arc<str> {
        match self.kind {
            ViewKind::Template => Arc::clone(self.root),
            ViewKind::Kustomization | ViewKind::Chart => self.root.rsplit_once('/').map_or("", |it| it.0).into(),
        }
    }

    fn default_name(&self) -> String {
        let path = self.path();
        let path = if path.is_empty() { "." } else { &*path };
        match &self.suffix {
            Some(suffix) => format!("{path}#{suffix}"),
            None => path.to_owned(),
        }
    }

    fn view(&self, snapshot: &Snapshot, name: String, inputs: ViewInputs, unknown: &[ViewUnknown]) -> ViewSummary {
        let mut collector = FileCollector::new(snapshot);
        match self.template {
            Some((object, template)) => {
                collector.add_file(self.root);
                add_parameters(&mut collector, self.root, object, template, &inputs);
            }
            None => collector.add_build(self.root),
        }
        inputs.values.iter().chain(&inputs.params).for_each(|file| collector.add_file(file));
        let (files, mut found) = collector.finish();
        found.extend(unknown.iter().cloned());
        found.sort();
        found.dedup();
        let (root, template) = (Arc::clone(self.root), self.template.map(|(object, _)| object.offset));
        ViewSummary { name, kind: self.kind, path: self.path(), root, template, files, unknown: found, inputs }
    }
}

/// Everything that can be built.
struct Targets<'s> {
    all: Vec<Target<'s>>,
}

impl<'s> Targets<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        let mut all = Vec::new();
        let included = included_builds(snapshot);
        for (file, includes) in snapshot.including_files() {
            let kind = match includes.build {
                Some(BuildRole::Kustomization) => ViewKind::Kustomization,
                Some(BuildRole::Chart) => ViewKind::Chart,
                Some(BuildRole::Component | BuildRole::LibraryChart) | None => continue,
            };
            let directory = file.rsplit_once('/').map_or("", |it| it.0);
            let is_second = kind == ViewKind::Kustomization
                && snapshot.kustomizations_in(directory).first().is_some_and(|it| it != file);
            if is_second || snapshot.file(file).is_none_or(|it| it.is_template()) {
                continue;
            }
            let is_view = !included.contains(file) && !snapshot.is_excluded(file);
            all.push(Target { kind, root: file, template: None, suffix: None, is_view });
        }
        add_templates(snapshot, &mut all);
        Self { all }
    }

    /// The targets that the path of a view of the settings matches: by directory, or by file.
    fn matching(&self, settings: &Settings, view: &NamedView) -> impl Iterator<Item = usize> {
        let matches = |it: &Target<'_>| settings.matches_view(view, &it.path()) || settings.matches_view(view, it.root);
        self.all.iter().enumerate().filter(move |(_, it)| matches(it)).map(|(at, _)| at)
    }

    fn of_delivery(&self, snapshot: &Snapshot, file: &str, delivery: &Delivery) -> Option<usize> {
        match snapshot.include_target(file, &delivery.path) {
            IncludeTarget::Kustomization(root) | IncludeTarget::Chart(root) => {
                self.all.iter().position(|it| *it.root == root)
            }
            _ => None,
        }
    }
}

fn add_templates<'s>(snapshot: &'s Snapshot, all: &mut Vec<Target<'s>>) {
    for (root, file) in snapshot.files().filter(|(_, file)| !file.is_template()) {
        let templates: Vec<(&Object, &Template)> = file
            .objects
            .iter()
            .filter_map(|object| match &object.model.data {
                ObjectData::Template(template) => Some((object, &**template)),
                _ => None,
            })
            .collect();
        let is_single = templates.len() == 1;
        let is_view = !templates.is_empty() && !snapshot.is_excluded(root);
        for (at, (object, template)) in templates.into_iter().enumerate() {
            let name = object.model.name.as_ref().map_or_else(|| (at + 1).to_string(), |it| it.value.to_string());
            let suffix = (!is_single).then_some(name);
            let template = Some((object, template));
            all.push(Target { kind: ViewKind::Template, root, template, suffix, is_view });
        }
    }
}

/// The kustomizations and charts that another one includes. Of builds that only include each other the first is left
/// out, so that they have a view.
fn included_builds(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut edges: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
    for (file, includes) in snapshot.including_files() {
        if includes.build.is_none() && includes.entries.is_empty() || includes.is_settings() {
            continue;
        }
        let targets = snapshot.inclusions(file).into_iter().filter_map(|it| match it.target {
            IncludeTarget::Kustomization(to) | IncludeTarget::Chart(to) if to != *file => Some(to),
            _ => None,
        });
        edges.insert(Arc::clone(file), targets.collect());
    }
    let mut included: BTreeSet<Arc<str>> = edges.values().flatten().cloned().collect();
    let reached_from = |start: &Arc<str>| {
        let mut reached: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut next = vec![Arc::clone(start)];
        while let Some(file) = next.pop() {
            let new = edges.get(&file).into_iter().flatten().filter(|it| reached.insert(Arc::clone(it)));
            next.extend(new.cloned());
        }
        reached
    };
    let mut covered: BTreeSet<Arc<str>> = BTreeSet::new();
    for root in edges.keys().filter(|it| !included.contains(*it)) {
        covered.extend(reached_from(root));
    }
    for file in edges.keys() {
        if included.contains(file) && !covered.contains(file) {
            let reached = reached_from(file);
            if reached.contains(file) {
                included.remove(file);
                covered.extend(reached);
            }
        }
    }
    included
}

/// The views of all settings, each once.
fn named_views(snapshot: &Snapshot) -> Vec<(&Settings, &NamedView)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for settings in snapshot.settings_with_defaults() {
        let (owner, views) = settings.named_views();
        let new = views.iter().filter(|it| seen.insert((Arc::clone(&owner.file), Arc::clone(&it.name.value))));
        found.extend(new.map(|view| (owner, view)));
    }
    found
}

fn deliveries(snapshot: &Snapshot) -> impl Iterator<Item = (&Arc<str>, &Delivery)> {
    let files = snapshot.including_files().filter(|(file, _)| !snapshot.is_excluded(file));
    files.flat_map(|(file, includes): (&Arc<str>, &Arc<Includes>)| includes.deliveries.iter().map(move |it| (file, it)))
}

/// What a view of the settings is built with, and which of its files are unknown.
fn settings_inputs(snapshot: &Snapshot, settings: &Settings, view: &NamedView) -> (ViewInputs, Vec<ViewUnknown>) {
    let mut unknown = Vec::new();
    let mut file = |kind: IncludeKind, text: &Text| {
        let path: Option<Arc<str>> = settings.resolve_path(&text.value).map(Arc::from);
        let target = snapshot.path_target(kind, path.as_ref(), &text.value);
        if let Some(why) = target.reason() {
            let what = format!("{} `{}`", kind.noun(), text.value);
            let line = line_in(snapshot, &settings.file, text.span.to_relative());
            unknown.push(ViewUnknown { file: Arc::clone(&settings.file), line, what, why });
        }
        target.file().cloned().or(match target {
            IncludeTarget::Unread(path) => Some(path),
            _ => None,
        })
    };
    let inputs = ViewInputs {
        values: view.values.iter().filter_map(|it| file(IncludeKind::Values, it)).collect(),
        params: view.params.as_ref().and_then(|it| file(IncludeKind::Parameters, it)),
        set: view.set.iter().map(|(name, value)| (Arc::clone(&name.value), Arc::clone(&value.value))).collect(),
        release: view.release.as_ref().map(|it| Arc::clone(&it.value)),
        namespace: view.namespace.as_ref().map(|it| Arc::clone(&it.value)),
    };
    (inputs, unknown)
}

/// The view of a path that an Argo CD or Flux object deploys. The object is one of its files if it has values.
fn delivered_view(snapshot: &Snapshot, target: &Target<'_>, file: &Arc<str>, delivery: &Delivery) -> ViewSummary {
    let mut unknown = Vec::new();
    let mut values = Vec::new();
    for include in &delivery.values {
        let target = snapshot.include_target(file, include);
        if let Some(why) = target.reason() {
            let what = format!("{} `{}`", include.kind.noun(), include.text);
            unknown.push(ViewUnknown {
                file: Arc::clone(file),
                line: line_in(snapshot, file, include.span),
                what,
                why,
            });
        }
        values.extend(target.file().cloned());
    }
    for (field, why, span) in &delivery.unknown {
        let line = line_in(snapshot, file, *span);
        unknown.push(ViewUnknown { file: Arc::clone(file), line, what: format!("`{field}`"), why: (*why).into() });
    }
    let inputs = ViewInputs {
        values,
        release: delivery.release.clone(),
        namespace: delivery.namespace.clone(),
        ..ViewInputs::default()
    };
    let mut view = target.view(snapshot, delivery.name.to_string(), inputs, &unknown);
    if delivery.changes_build
        && let Err(at) = view.files.binary_search(file)
    {
        view.files.insert(at, Arc::clone(file));
    }
    view
}

/// Adds the parameters of a template that have no known value.
fn add_parameters(
    collector: &mut FileCollector<'_>,
    file: &Arc<str>,
    object: &Object,
    template: &Template,
    inputs: &ViewInputs,
) {
    let from_file = inputs.params.as_ref().and_then(|it| collector.snapshot().written_includes(it));
    let is_set = |name: &str| {
        inputs.set.iter().any(|(it, _)| **it == *name)
            || from_file.is_some_and(|it| it.parameters.iter().any(|it| **it == *name))
    };
    for parameter in &template.parameters {
        let Some(name) = parameter.name.as_ref().filter(|it| !is_set(&it.value)) else { continue };
        let why = match () {
            () if template.has_secret => "a Secret in the cluster may have its value",
            () if !Parameter::text(&parameter.value).is_empty() => continue,
            () if parameter.generate.is_some() => "it is generated",
            () if parameter.required => "it is required and has no value",
            // An empty value is a value.
            () if parameter.value.is_some() => continue,
            () => "it has no value",
        };
        let span = object.file_span(name.span);
        collector.add_unknown(file, Some(span), format!("parameter `{}`", name.value), why.into());
    }
}

/// Views of equal names get the path in front; what is still equal is numbered.
fn make_names_unique(views: &mut [ViewSummary]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for view in &*views {
        *count.entry(view.name.clone()).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for view in views {
        if count.get(&view.name).is_some_and(|it| *it > 1) {
            let path = if view.path.is_empty() { "." } else { &view.path };
            view.name = format!("{path}#{}", view.name);
        }
        let base = view.name.clone();
        let mut number = 2;
        while !taken.insert(view.name.clone()) {
            view.name = format!("{base}#{number}");
            number += 1;
        }
    }
}

/// The line of a place; 1 in a file that is not in the workspace.
fn line_in(snapshot: &Snapshot, file: &str, span: Span) -> u32 {
    snapshot.file(file).map_or(1, |it| it.lines.line_column(span.start).line)
}

/// What an inclusion is called in messages.
fn described(inclusion: &Inclusion) -> String {
    format!("{} `{}`", inclusion.kind.noun(), inclusion.text)
}

#[cfg(test)]
mod tests;
