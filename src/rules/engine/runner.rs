//! Runs the rules over a file.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::build::{self, BuiltContainer, BuiltObject};
use crate::diagnostic::{Diagnostic, Location};
use crate::resolve::{PodResolver, Resolver};
use crate::rules::checks::invalid_settings::check_settings;
use crate::rules::engine::contexts::TextProvider;
use crate::rules::engine::deliberate::lower_announced;
use crate::rules::engine::findings::{RawFinding, SharedFinding, ViewedFinding};
use crate::rules::engine::helm_filter::certain_findings;
use crate::rules::engine::levels::{ActiveRules, Levels, active_rules};
use crate::rules::engine::preset_entries::check_preset_entries;
use crate::rules::engine::rule::{Check, Rule, Sees};
use crate::rules::engine::suppression::apply_suppressions;
use crate::rules::engine::{ContainerContext, FileContext, Findings, ObjectContext, PodContext};
use crate::work::{Step, count};
use crate::workspace::Snapshot;

/// The findings of a file in the order of its text, without suppressed ones.
pub fn check(
    snapshot: &Snapshot,
    resolver: &Resolver<'_>,
    path: &Arc<str>,
    texts: &dyn TextProvider,
    levels: &dyn Levels,
) -> Vec<Diagnostic> {
    let Some(facts) = snapshot.file(path) else { return Vec::new() };
    if let Some(settings) = &facts.settings {
        return check_settings(settings);
    }
    let file = FileContext { snapshot, resolver, path, facts, texts };
    let active = active_rules(levels, path);
    let mut found = file.check_file(&active);
    for at in 0..facts.objects.len() {
        for (object, sees) in file.checked_objects(at) {
            found.extend(file.check_object(&active, object, sees));
            for pod in object.pods() {
                let shared = resolver.pod(pod);
                for container in pod.containers() {
                    found.extend(file.check_container(&active, &shared, container, sees));
                }
            }
        }
    }
    let found = certain_findings(&file, found);
    let found = found.into_iter().map(|finding| finding.locate(&file)).collect();
    file.conclude(&active, found).into_iter().map(|it| Arc::unwrap_or_clone(it).diagnostic).collect()
}

impl<'a> FileContext<'a> {
    /// What is checked for the source object at a position: the object as it is written, and what each view makes of it.
    /// With `None` all rules look at it, because both are the same. Data of round-trip tests is not checked.
    pub(super) fn checked_objects(&self, at: usize) -> Vec<(BuiltObject<'a>, Option<Sees>)> {
        let source = BuiltObject::as_written(self.snapshot, self.path, &self.facts.objects[at]);
        if source.model.is_round_trip_data() {
            return Vec::new();
        }
        if source.source.template.is_none() {
            return vec![(source, None)];
        }
        let built = build::views_of(self.snapshot, self.path, self.facts, at);
        std::iter::once((source, Some(Sees::Source))).chain(built.map(|it| (it, Some(Sees::Built)))).collect()
    }

    /// The findings of checks that look at whole files.
    pub(super) fn check_file(&self, active: &ActiveRules) -> Vec<RawFinding> {
        run(active, None, None, &|check, findings| {
            if let Check::File(check) = check {
                check(self, findings);
            }
        })
    }

    /// The findings in an object and its pods, without those in containers.
    pub(super) fn check_object(
        &self,
        active: &ActiveRules,
        object: BuiltObject<'_>,
        sees: Option<Sees>,
    ) -> Vec<RawFinding> {
        let context = ObjectContext { file: self, object };
        let mut found = run(active, sees, Some(&context), &|check, findings| {
            if let Check::Object(check) = check {
                check(&context, findings);
            }
        });
        if let Some(entries) = object.preset_container() {
            found.extend(check_preset_entries(&context, active, sees, entries));
        }
        for pod in &object.model.pods {
            let pod = PodContext { object: context, pod };
            found.extend(run(active, sees, Some(&context), &|check, findings| {
                if let Check::Pod(check) = check {
                    check(&pod, findings);
                }
            }));
        }
        found
    }

    /// The findings in a container.
    pub(super) fn check_container(
        &self,
        active: &ActiveRules,
        pod: &PodResolver<'_, 'a>,
        container: BuiltContainer<'a>,
        sees: Option<Sees>,
    ) -> Vec<RawFinding> {
        let wanted = |check: &Check| {
            matches!(check, Check::Container(_) | Check::ContainerOrPreset(_) | Check::ContainerOrPresetInPod(_))
        };
        let is_needed = |rule: &Rule| sees.is_none_or(|it| rule.sees == it) && rule.checks.iter().any(wanted);
        if !active.iter().any(|(rule, _)| is_needed(rule)) {
            return Vec::new();
        }
        count(Step::Container, 1);
        let environment = pod.environment(container.container);
        let context = ContainerContext::new(self, container, &environment);
        run(active, sees, Some(&context.object), &|check, findings| {
            if let Check::Container(check) | Check::ContainerOrPreset(check) | Check::ContainerOrPresetInPod(check) =
                check
            {
                check(&context, findings);
            }
        })
    }

    /// Removes suppressed findings and duplicates, and sorts the rest.
    pub(super) fn conclude(&self, active: &ActiveRules, found: Vec<ViewedFinding>) -> Vec<Arc<SharedFinding>> {
        fn identity(viewed: &ViewedFinding) -> (&Location, &str, &str) {
            let finding = viewed.diagnostic();
            (&finding.location, finding.rule, &finding.name)
        }
        let mut found = apply_suppressions(self, active, found);
        lower_announced(self, &mut found);
        // The sort is stable and ignores messages, so the first of equal findings is kept.
        found.sort_by(|a, b| identity(a).cmp(&identity(b)));
        // Containers that share their env through an anchor are checked one by one, and reported once. So are the views
        // of an object.
        found.chunk_by(|a, b| identity(a) == identity(b)).map(|equal| self.join_views(equal)).collect()
    }

    /// One finding for equal findings of several views, with the views in which it holds.
    ///
    /// All views have the edited text in common. So a fix is one only if every view has the finding with the same fix;
    /// otherwise it is a choice, and its title names the other views that it changes.
    fn join_views(&self, equal: &[ViewedFinding]) -> Arc<SharedFinding> {
        let mut finding = Arc::clone(&equal[0].finding);
        let views: BTreeSet<&Arc<str>> = equal.iter().filter_map(|it| it.view.as_ref()).collect();
        // Without views in the settings an object has one view.
        if views.is_empty() || build::named_views(self.snapshot).is_empty() {
            return finding;
        }
        let all = self.views_at(&finding.diagnostic.location);
        let Diagnostic { fixes, choices, .. } = equal[0].diagnostic();
        let has_same_fixes =
            equal.iter().map(ViewedFinding::diagnostic).all(|it| it.fixes == *fixes && it.choices == *choices);
        let is_everywhere = all.iter().all(|it| views.contains(it));
        if is_everywhere && has_same_fixes {
            return finding;
        }
        let diagnostic = &mut Arc::make_mut(&mut finding).diagnostic;
        let others: Vec<Arc<str>> = all.iter().filter(|it| !views.contains(it)).cloned().collect();
        let fixes = std::mem::take(&mut diagnostic.fixes);
        diagnostic.choices.splice(..0, fixes);
        for fix in &mut diagnostic.choices {
            fix.safe = false;
            if !others.is_empty() {
                fix.title.push_str(&format!(" (also changes {})", build::view_list(&others)));
            }
        }
        if !is_everywhere {
            diagnostic.views = views.into_iter().cloned().collect();
        }
        finding
    }

    /// The names of the views of the object at a location.
    fn views_at(&self, location: &Location) -> Vec<Arc<str>> {
        let after = self.facts.objects.partition_point(|it| it.offset <= location.span.start);
        let Some(at) = after.checked_sub(1).filter(|_| location.file == *self.path) else { return Vec::new() };
        build::views_of(self.snapshot, self.path, self.facts, at).filter_map(|it| it.view_name()).collect()
    }
}

/// Calls every check of every active rule that looks at such objects.
pub(super) fn run(
    active: &ActiveRules,
    sees: Option<Sees>,
    object: Option<&ObjectContext<'_>>,
    call: &dyn Fn(&Check, &mut Findings<'_>),
) -> Vec<RawFinding> {
    let mut found = Vec::new();
    for (rule, level) in active.iter().filter(|(rule, _)| sees.is_none_or(|it| rule.sees == it)) {
        let only_evident = level.severity().is_none();
        let Some(severity) = level.severity().or(rule.evident_level.severity()) else { continue };
        let mut findings = Findings { rule, severity, only_evident, object, found: &mut found };
        rule.checks.iter().for_each(|check| call(check, &mut findings));
    }
    found
}
