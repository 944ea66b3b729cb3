//! A cache of the findings of a document that is being edited.
//!
//! An object or a container is checked again if it has changed, or something that its findings depend on: the fields
//! around it in its object, the names that were looked up, the locations in other files that are in its findings. All
//! other findings are reused, and their locations in this file are moved by the edits. The result is the same as that
//! of [`check`](super::runner::check).

use std::sync::Arc;

use crate::build::{self, BuiltContainer};
use crate::diagnostic::Diagnostic;
use crate::k8s::{Container, Model, Object};
use crate::resolve::{Resolver, SharedPodInputs};
use crate::rules::checks::invalid_settings::check_settings;
use crate::rules::engine::FileContext;
use crate::rules::engine::contexts::TextProvider;
use crate::rules::engine::findings::{RawFinding, SharedFinding, ViewedFinding};
use crate::rules::engine::helm_filter::certain_findings;
use crate::rules::engine::levels::{ActiveRules, Levels, active_rules};
use crate::text::{Span, TextChange};
use crate::workspace::{Dependencies, File, KubernetesVersion, LintLevel, Snapshot, TextRevision};

/// The findings of one file with their dependencies. Belongs to one document and one workspace.
#[derive(Debug, Default)]
pub struct FindingsCache {
    last: Option<LastCheck>,
}

/// The last check.
#[derive(Debug)]
struct LastCheck {
    path: Arc<str>,
    facts: Option<Arc<File>>,
    revision: Option<TextRevision>,
    /// The snapshot that was checked.
    snapshot: Snapshot,
    release: Option<KubernetesVersion>,
    active: Vec<(&'static str, LintLevel)>,
    /// The dependencies of the checks of the whole file.
    dependencies: Dependencies,
    objects: Vec<CachedObject>,
}

#[derive(Debug)]
struct CachedObject {
    model: Arc<Model>,
    /// What its views make of it.
    built: Vec<Arc<Model>>,
    /// The Lists and Templates that contain it, the innermost first.
    holders: Vec<Arc<Model>>,
    /// Whether it had no syntax errors.
    has_certain_structure: bool,
    own: CachedFindings,
    /// For each pod.
    common: Vec<SharedPodInputs>,
    /// The containers of all pods.
    containers: Vec<(Arc<Container>, CachedFindings)>,
}

/// The findings in an object or container.
#[derive(Debug, Default)]
struct CachedFindings {
    found: Vec<ViewedFinding>,
    dependencies: Dependencies,
    /// Whether an edit touched a location of a finding.
    is_touched: bool,
}

impl FindingsCache {
    /// Checks a file and caches its findings. Findings are reused only if the text records its edits, as that of a
    /// [`Document`](crate::workspace::Document) does.
    ///
    /// The result is shared with the cache. The next check moves the locations in place, and copies a finding that is
    /// still in use.
    pub fn check(
        &mut self,
        snapshot: &Snapshot,
        release: Option<KubernetesVersion>,
        path: &Arc<str>,
        texts: &dyn TextProvider,
        levels: &dyn Levels,
    ) -> Vec<Arc<SharedFinding>> {
        let facts = snapshot.file(path);
        let last = self.last.take();
        let recording = snapshot.recording_dependencies();
        let resolver = Resolver::new(&recording, release);
        let active = active_rules(levels, path);
        let mut new = LastCheck {
            path: Arc::clone(path),
            facts: facts.cloned(),
            revision: None,
            snapshot: snapshot.clone(),
            release,
            active: active.iter().map(|(rule, level)| (rule.name, *level)).collect(),
            dependencies: Dependencies::default(),
            objects: Vec::new(),
        };
        let Some(facts) = facts else {
            self.last = Some(new);
            return Vec::new();
        };
        if let Some(settings) = &facts.settings {
            self.last = Some(new);
            return check_settings(settings).into_iter().map(|it| Arc::new(it.into())).collect();
        }
        let source = texts.parsed_text(path);
        new.revision = source.as_ref().map(|it| it.revision());
        let mut old = last.filter(|last| last.is_reusable(&new, snapshot)).and_then(|last| {
            let changes = source.as_ref()?.changes_since(last.revision.as_ref()?)?;
            Some(last.moved(changes))
        });
        let file = FileContext { snapshot: &recording, resolver: &resolver, path, facts, texts };
        let checking = CachedCheck { file, active: &active };
        let mut found = checking.checked(|| file.check_file(&active)).found;
        let mut old = old.as_mut().map(|it| std::mem::take(&mut it.objects)).unwrap_or_default();
        let holders = holders(&facts.objects);
        let mut old = aligned(&mut old, &facts.objects, |old, new| Arc::ptr_eq(&old.model, &new.model));
        let mut spare: Vec<CachedObject> =
            old.spare.into_iter().filter(|it| it.model.surrounding_subtrees().is_some()).collect();
        for at in 0..facts.objects.len() {
            let around = std::iter::successors(holders[at], |it| holders[*it]);
            let around: Vec<Arc<Model>> = around.map(|it| Arc::clone(&facts.objects[it].model)).collect();
            let before = old.matched[at].take().filter(|it| same_surroundings(&it.holders, &around));
            let kept = checking.check_object(at, around, before, &mut spare);
            found.extend(kept.own.found.iter().cloned());
            found.extend(kept.containers.iter().flat_map(|(_, part)| &part.found).cloned());
            new.objects.push(kept);
        }
        let found = file.conclude(&active, found);
        new.dependencies = recording.take_dependencies();
        self.last = Some(new);
        found
    }

    /// Whether the findings of the last check are current: neither the file nor any of their dependencies has changed.
    pub fn is_current(&self, snapshot: &Snapshot) -> bool {
        let Some(last) = &self.last else { return false };
        let is_same = match (&last.facts, snapshot.file(&last.path)) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        let parts = || last.objects.iter().flat_map(CachedObject::parts);
        is_same
            && last.is_before(snapshot)
            && snapshot.is_current(&last.dependencies)
            && parts().all(|it| snapshot.is_current(&it.dependencies))
    }
}

impl LastCheck {
    /// Whether a snapshot is a later one of the same workspace, without changes since that concern every file.
    fn is_before(&self, snapshot: &Snapshot) -> bool {
        let version = self.snapshot.version();
        snapshot.is_of_same_workspace(&self.snapshot)
            && version <= snapshot.version()
            && version >= snapshot.last_global_change()
    }

    /// Whether its findings may be reused.
    fn is_reusable(&self, new: &Self, snapshot: &Snapshot) -> bool {
        let kind = |file: &Option<Arc<File>>| file.as_ref().map(|it| it.kind);
        self.path == new.path
            && self.is_before(snapshot)
            && self.release == new.release
            && self.active == new.active
            && kind(&self.facts) == kind(&new.facts)
    }

    /// The same check with all locations in the file moved by some edits.
    fn moved(mut self, changes: &[TextChange]) -> Self {
        for part in self.objects.iter_mut().flat_map(CachedObject::parts_mut).filter(|it| !it.found.is_empty()) {
            let found = part.found.iter_mut().map(|it| &mut Arc::make_mut(&mut it.finding).diagnostic);
            for location in found.flat_map(Diagnostic::locations_mut).filter(|it| it.file == self.path) {
                for change in changes {
                    match moved(location.span, change) {
                        Some(span) => location.span = span,
                        None => part.is_touched = true,
                    }
                }
            }
        }
        self
    }
}

impl CachedObject {
    fn parts(&self) -> impl Iterator<Item = &CachedFindings> {
        std::iter::once(&self.own).chain(self.containers.iter().map(|(_, part)| part))
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut CachedFindings> {
        std::iter::once(&mut self.own).chain(self.containers.iter_mut().map(|(_, part)| part))
    }
}

/// A check that is running.
struct CachedCheck<'c> {
    file: FileContext<'c>,
    active: &'c ActiveRules,
}

impl CachedCheck<'_> {
    /// Checks an object, or reuses its findings. `at` is its position in the file, and `before` the same object in the
    /// last check; `spare` holds the objects of the last check that have changed or are gone.
    fn check_object(
        &self,
        at: usize,
        holders: Vec<Arc<Model>>,
        before: Option<CachedObject>,
        spare: &mut Vec<CachedObject>,
    ) -> CachedObject {
        let object = &self.file.facts.objects[at];
        let model = &object.model;
        let built = self.built_models(at);
        let has_certain_structure = self.file.has_certain_structure(object);
        let is_same =
            |one: &Vec<Arc<Model>>| one.len() == built.len() && one.iter().zip(&built).all(|(a, b)| Arc::ptr_eq(a, b));
        // Most objects of a file, and their dependencies, have not changed.
        let before = before.filter(|it| it.has_certain_structure == has_certain_structure && is_same(&it.built));
        let before = match before {
            Some(before) if before.parts().all(|it| self.is_valid(it)) => return CachedObject { holders, ..before },
            before => before,
        };
        let checked = self.file.checked_objects(at);
        let own = |before: Option<CachedFindings>| {
            let check =
                || checked.iter().flat_map(|(object, sees)| self.file.check_object(self.active, *object, *sees));
            self.cached_or_checked(before, || check().collect())
        };
        let is_same = before.is_some();
        let mut new = CachedObject {
            model: Arc::clone(model),
            built,
            holders,
            has_certain_structure,
            own: CachedFindings::default(),
            common: Vec::new(),
            containers: Vec::new(),
        };
        let mut old = match before {
            Some(before) => {
                new.own = own(Some(before.own));
                new.common = before.common;
                before.containers
            }
            None => {
                new.own = own(None);
                new.common = model.pods.iter().map(SharedPodInputs::new).collect();
                // Its containers may be unchanged.
                let fits = |it: &CachedObject| {
                    it.common == new.common
                        && it.has_certain_structure == new.has_certain_structure
                        && it.model.surrounding_subtrees() == model.surrounding_subtrees()
                        && same_surroundings(&it.holders, &new.holders)
                };
                let found = model.surrounding_subtrees().and_then(|_| spare.iter().position(fits));
                found.map(|at| spare.swap_remove(at).containers).unwrap_or_default()
            }
        };
        let mut containers = Vec::new();
        for (object, sees) in &checked {
            for pod in &object.model.pods {
                let all = pod.containers.iter();
                containers.extend(all.map(|it| (BuiltContainer { object: *object, pod, container: it }, it, *sees)));
            }
        }
        let mut old = aligned(&mut old, &containers, |(old, _), (_, new, _)| Arc::ptr_eq(old, new)).matched;
        for (at, (handle, container, sees)) in containers.into_iter().enumerate() {
            let before =
                old[at].take().map(|(_, part)| part).filter(|it| is_same || !it.dependencies.include_siblings());
            // The dependencies on presets belong to each container.
            let check =
                || self.file.check_container(self.active, &self.file.resolver.pod(handle.in_pod()), handle, sees);
            let part = self.cached_or_checked(before, check);
            new.containers.push((Arc::clone(container), part));
        }
        new
    }

    /// What the views make of an object; empty if nothing builds it.
    fn built_models(&self, at: usize) -> Vec<Arc<Model>> {
        let FileContext { snapshot, path, facts, .. } = self.file;
        if facts.objects[at].template.is_none() {
            return Vec::new();
        }
        build::views_of(snapshot, path, facts, at).map(|it| Arc::clone(it.model)).collect()
    }

    /// The cached findings if they are current, otherwise new ones.
    fn cached_or_checked(
        &self,
        before: Option<CachedFindings>,
        check: impl FnOnce() -> Vec<RawFinding>,
    ) -> CachedFindings {
        before.filter(|it| self.is_valid(it)).unwrap_or_else(|| self.checked(check))
    }

    /// Whether cached findings are current.
    fn is_valid(&self, part: &CachedFindings) -> bool {
        !part.is_touched && self.file.snapshot.is_current(&part.dependencies)
    }

    fn checked(&self, check: impl FnOnce() -> Vec<RawFinding>) -> CachedFindings {
        let found = certain_findings(&self.file, check());
        let found: Vec<ViewedFinding> = found.into_iter().map(|it| it.locate(&self.file)).collect();
        let locations = found.iter().flat_map(|it| it.diagnostic().locations());
        let others = locations.filter(|it| it.file != *self.file.path);
        others.for_each(|it| self.file.snapshot.depend_on_file(&it.file));
        let dependencies = self.file.snapshot.take_dependencies().without_file(self.file.path);
        CachedFindings { found, dependencies, is_touched: false }
    }
}

/// A span after a change elsewhere; `None` if the change touches it.
fn moved(span: Span, change: &TextChange) -> Option<Span> {
    if span.end < change.old.start {
        Some(span)
    } else if change.old.end < span.start {
        Some(Span::new(span.start - change.old.len() + change.new_len, span.end - change.old.len() + change.new_len))
    } else {
        None
    }
}

/// For each object the index of the object that contains it, which comes before it.
fn holders(objects: &[Object]) -> Vec<Option<usize>> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut holders = Vec::with_capacity(objects.len());
    for (at, object) in objects.iter().enumerate() {
        while open.pop_if(|(end, _)| *end <= object.offset).is_some() {}
        holders.push(open.last().map(|(_, at)| *at));
        open.push((object.file_span(object.model.span).end, at));
    }
    holders
}

/// Whether the fields around the objects of Lists and Templates are unchanged.
fn same_surroundings(old: &[Arc<Model>], new: &[Arc<Model>]) -> bool {
    let same = |(old, new): (&Arc<Model>, &Arc<Model>)| {
        Arc::ptr_eq(old, new)
            || old.surrounding_subtrees().is_some() && old.surrounding_subtrees() == new.surrounding_subtrees()
    };
    old.len() == new.len() && old.iter().zip(new).all(same)
}

/// The old items in the order of the new ones, and the old items without a match.
struct Aligned<T> {
    matched: Vec<Option<T>>,
    spare: Vec<T>,
}

/// Finds the old item for each new one. Most items are before or after an edit, in unchanged order.
fn aligned<T, N>(old: &mut Vec<T>, new: &[N], same: impl Fn(&T, &N) -> bool) -> Aligned<T> {
    let start = old.iter().zip(new).take_while(|(old, new)| same(old, new)).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rest.take_while(|(old, new)| same(old, new)).count();
    let after = old.split_off(old.len() - end);
    let mut middle: Vec<Option<T>> = old.split_off(start).into_iter().map(Some).collect();
    let mut matched: Vec<Option<T>> = std::mem::take(old).into_iter().map(Some).collect();
    let mut next = 0;
    for new in &new[start..new.len() - end] {
        let found = (next..middle.len()).find(|at| middle[*at].as_ref().is_some_and(|old| same(old, new)));
        matched.push(found.and_then(|at| middle[at].take()));
        next = found.map_or(next, |at| at + 1);
    }
    matched.extend(after.into_iter().map(Some));
    Aligned { matched, spare: middle.into_iter().flatten().collect() }
}

#[cfg(test)]
mod tests;
