//! The rule `service-links-off`.

use crate::diagnostic::Fix;
use crate::resolve::ServiceVariableAbsence;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule, edit};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};

declare_rule! {
    /// Reports a service variable in a pod that has no service variables.
    ///
    /// ## What it does
    /// Reports `$(X_SERVICE_HOST)` and similar names in a pod with `enableServiceLinks: false`, which is the default of
    /// Knative. Such a pod has only the variables of the cluster's own API. A pod that links services in `envFrom`, as
    /// the explicit service links proposal allows, has only the variables of these services. The finding covers the
    /// reference.
    ///
    /// ## Why it matters
    /// The reference is not expanded, although the service exists.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   enableServiceLinks: false
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       args: ["--database=$(DATABASE_SERVICE_HOST)"]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   enableServiceLinks: false
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       args: ["--database=database"]
    /// ```
    ///
    /// ## Fix
    /// Links the service, if the pod links others. Unsafe: the pod then waits for the service. Otherwise editors
    /// offer to enable the links.
    name: "service-links-off",
    level: Warning,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::Service(absent) = verdict else { continue };
        let place = container.inside(text.text, step.range.clone());
        let name = &step.name;
        findings.push(match &*absent {
            ServiceVariableAbsence::Headless(_) => continue,
            ServiceVariableAbsence::LinksOff => {
                let message = format!("`$({name})` is not expanded: this pod has no service variables");
                let finding = Finding::new(place, name, message)
                    .help("use the DNS name of the service, or set `enableServiceLinks: true`");
                match container.pod.service_links {
                    Some((_, span)) => {
                        let place = container.handle().location(span);
                        let edits = vec![edit(place.clone(), "true")];
                        let enable = Fix { title: "Set `enableServiceLinks: true`".into(), safe: false, edits };
                        // The field of another file is not changed.
                        let enable = Some(enable).filter(|_| place.file == *container.object.file.path);
                        finding.related(place, "disabled here").choice(enable)
                    }
                    None => finding,
                }
            }
            ServiceVariableAbsence::Prefixed { service, prefix } => {
                let message =
                    format!("`$({name})` is not expanded: service `{service}` is linked with the prefix `{prefix}`");
                let new = format!("{prefix}{name}");
                let title = format!("Write `$({new})`");
                let range = step.range.clone();
                let fix = reference_fixes::replace(container, text.text, range, &format!("$({new})"), title);
                Finding::new(place, name, message).help(format!("write `$({new})`")).fix(fix)
            }
            ServiceVariableAbsence::NotLinked(service) => {
                let message =
                    format!("`$({name})` is not expanded: this pod has only the variables of the services it links");
                let fix = service.as_deref().and_then(|it| container.object.link_service_fix(container.container, it));
                Finding::new(place, name, message).help("link the service in `envFrom`").fix(fix)
            }
        });
    }
}
