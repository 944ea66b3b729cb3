//! Checks the entries of a PodPreset, each in the containers that get it.
//!
//! What a reference in a preset means depends on the pod. A finding that holds in every container that gets the entry is
//! the same as in a pod. One that holds only in some of them names these, and has no fix: it would change the others too. So
//! does one of a preset that may apply to further pods.

use crate::build::BuiltContainer;
use crate::diagnostic::Location;
use crate::k8s::{Container, ValueSource};
use crate::rules::engine::contexts::ServedContainer;
use crate::rules::engine::findings::RawFinding;
use crate::rules::engine::levels::ActiveRules;
use crate::rules::engine::rule::{Check, Sees};
use crate::rules::engine::runner::run;
use crate::rules::engine::{ContainerContext, ObjectContext};

/// The findings about the entries of a preset.
pub(super) fn check_preset_entries(
    object: &ObjectContext<'_>,
    active: &ActiveRules,
    sees: Option<Sees>,
    entries: BuiltContainer<'_>,
) -> Vec<RawFinding> {
    let environment = object.file.resolver.environment(entries);
    let alone = ContainerContext::new(object.file, entries, &environment);
    let (recipients, may_have_more) = match has_references(entries.container) {
        true => object.preset_recipients(),
        false => (Vec::new(), false),
    };
    let mut found = run(active, sees, Some(object), &|check, findings| match check {
        Check::ContainerOrPreset(check) => check(&alone, findings),
        Check::ContainerOrPresetInPod(check) if recipients.is_empty() => check(&alone, findings),
        _ => {}
    });
    let mut joined: Vec<JoinedFinding> = Vec::new();
    for (at, recipient) in recipients.iter().enumerate() {
        let context = ContainerContext::of_preset(*object, entries.container, recipient);
        let in_one = run(active, sees, Some(object), &|check, findings| {
            if let Check::ContainerOrPresetInPod(check) = check {
                check(&context, findings);
            }
        });
        in_one.into_iter().for_each(|finding| JoinedFinding::add(&mut joined, finding, at));
    }
    found.extend(joined.into_iter().map(|it| it.finish(object, entries.container, &recipients, may_have_more)));
    found
}

/// Whether a value can have another meaning in each pod.
fn has_references(entries: &Container) -> bool {
    let names_container = |it: &ValueSource| matches!(it, ValueSource::Resource { container: Some(_), .. });
    let sources = entries.env.iter().filter_map(|it| it.from.as_ref()).flat_map(|it| &it.sources);
    entries.env.iter().filter_map(|it| it.value.as_ref()).any(|it| it.value.contains('$'))
        || sources.into_iter().any(names_container)
        || entries.mounts.iter().any(|it| it.sub_path_expr.is_some())
}

/// A finding with the recipients in which it holds.
struct JoinedFinding {
    finding: RawFinding,
    holds_in: Vec<usize>,
}

impl JoinedFinding {
    fn add(all: &mut Vec<Self>, finding: RawFinding, recipient: usize) {
        match all.iter_mut().find(|it| it.finding.is_same(&finding)) {
            Some(known) => {
                known.finding.keep_common_fixes(&finding);
                if known.holds_in.last() != Some(&recipient) {
                    known.holds_in.push(recipient);
                }
            }
            None => all.push(Self { finding, holds_in: vec![recipient] }),
        }
    }

    fn finish(
        self,
        object: &ObjectContext<'_>,
        entries: &Container,
        recipients: &[ServedContainer<'_>],
        may_have_more: bool,
    ) -> RawFinding {
        let Self { finding, holds_in } = self;
        let location = finding.location();
        let holds = |outer: Location| outer.file == location.file && outer.span.touches(location.span.start);
        let entry = entries.env.iter().position(|it| holds(object.at(it.span)));
        let gets_it = |it: &ServedContainer<'_>| entry.is_none_or(|at| it.entries.get(at).copied().flatten().is_some());
        let all: Vec<usize> = (0..recipients.len()).filter(|at| gets_it(&recipients[*at])).collect();
        if all.len() == holds_in.len() && !may_have_more {
            return finding;
        }
        let mut names: Vec<String> = Vec::new();
        let mut pods: Vec<Location> = Vec::new();
        for recipient in holds_in.iter().map(|at| &recipients[*at]) {
            let of_pod = |all: &[usize]| {
                all.iter().filter(|at| std::ptr::eq(recipients[**at].handle.pod, recipient.handle.pod)).count()
            };
            let (owner, container) = (recipient.handle.object, &recipient.handle.container.name);
            let name = match container.as_ref().filter(|_| of_pod(&all) != of_pod(&holds_in)) {
                Some(container) => format!("container `{}` of {}", container.value, owner.title()),
                None => owner.title(),
            };
            if !names.contains(&name) {
                names.push(name);
                pods.extend(owner.model.name.as_ref().map(|it| owner.location(it.span)));
            }
        }
        finding.only_in(&names, pods)
    }
}
