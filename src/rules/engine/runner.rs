//! Runs the rules over a file.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::k8s::{Container, Object, ObjectData, Pod};
use crate::resolve::Resolver;
use crate::rules::checks::invalid_settings::check_settings;
use crate::rules::engine::contexts::TextProvider;
use crate::rules::engine::findings::RawFinding;
use crate::rules::engine::helm_filter::certain_findings;
use crate::rules::engine::levels::{ActiveRules, Levels, active_rules};
use crate::rules::engine::rule::Check;
use crate::rules::engine::suppression::apply_suppressions;
use crate::rules::engine::{ContainerContext, FileContext, Findings, ObjectContext, PodContext};
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
    for object in &facts.objects {
        found.extend(file.check_object(&active, object));
        for pod in &object.model.pods {
            for container in &pod.containers {
                found.extend(file.check_container(&active, object, pod, container));
            }
        }
    }
    let found = certain_findings(&file, found);
    let found = found.into_iter().map(|finding| finding.into_diagnostic(&file)).collect();
    file.conclude(&active, found)
}

impl FileContext<'_> {
    /// The findings of checks that look at whole files.
    pub(super) fn check_file(&self, active: &ActiveRules) -> Vec<RawFinding> {
        run(active, None, &|check, findings| {
            if let Check::File(check) = check {
                check(self, findings);
            }
        })
    }

    /// The findings in an object and its pods, without those in containers.
    pub(super) fn check_object(&self, active: &ActiveRules, object: &Object) -> Vec<RawFinding> {
        let object = ObjectContext { file: self, object };
        let mut found = run(active, Some(&object), &|check, findings| {
            if let Check::Object(check) = check {
                check(&object, findings);
            }
        });
        if let ObjectData::Preset(preset) = &object.object.model.data
            && let Some(container) = preset.container()
        {
            let environment = self.resolver.environment(self.path, object.object, &preset.pod, container);
            let pod = PodContext { object: &object, pod: &preset.pod };
            let given = ContainerContext { pod: &pod, container, environment: &environment };
            found.extend(run(active, Some(&object), &|check, findings| {
                if let Check::ContainerOrPreset(check) = check {
                    check(&given, findings);
                }
            }));
        }
        for pod in &object.object.model.pods {
            let pod = PodContext { object: &object, pod };
            found.extend(run(active, Some(&object), &|check, findings| {
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
        object: &Object,
        pod: &Pod,
        container: &Container,
    ) -> Vec<RawFinding> {
        let environment = self.resolver.environment(self.path, object, pod, container);
        let object = ObjectContext { file: self, object };
        let pod = PodContext { object: &object, pod };
        let container = ContainerContext { pod: &pod, container, environment: &environment };
        run(active, Some(&object), &|check, findings| {
            if let Check::Container(check) | Check::ContainerOrPreset(check) = check {
                check(&container, findings);
            }
        })
    }

    /// Removes suppressed findings and duplicates, and sorts the rest.
    pub(super) fn conclude(&self, active: &ActiveRules, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut found = apply_suppressions(self, active, found);
        // The sort is stable and ignores messages, so the first of equal findings is kept.
        found.sort_by(|a, b| (&a.location, a.rule, &a.name).cmp(&(&b.location, b.rule, &b.name)));
        // Containers that share their env through an anchor are checked one by one, and reported once.
        found.dedup_by(|b, a| (&a.location, a.rule, &a.name) == (&b.location, b.rule, &b.name));
        found
    }
}

/// Calls every check of every active rule.
fn run(
    active: &ActiveRules,
    object: Option<&ObjectContext<'_>>,
    call: &dyn Fn(&Check, &mut Findings<'_>),
) -> Vec<RawFinding> {
    let mut found = Vec::new();
    for (rule, level) in active {
        let Some(severity) = level.severity() else { continue };
        let mut findings = Findings { rule, severity, object, found: &mut found };
        rule.checks.iter().for_each(|check| call(check, &mut findings));
    }
    found
}
