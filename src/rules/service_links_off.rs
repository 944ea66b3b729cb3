//! `service-links-off`

use crate::rules::references::{Verdict, judged};
use crate::rules::services::Absent;
use crate::rules::{ContainerContext, Finding, Findings, declare_rule};

declare_rule! {
    /// Reports a service variable in a pod that gets none.
    ///
    /// ## What it does
    /// Reports `$(X_SERVICE_HOST)` and the like in a pod with `enableServiceLinks: false`, which Knative sets by itself.
    /// Only the variables of the cluster's own API are left there. A pod that links services in `envFrom`, as the
    /// explicit links proposal has it, gets the variables of these and no others. The finding covers the reference.
    ///
    /// ## Why it matters
    /// The text stays as it is, although the service exists.
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
    /// Links the service where the pod links others. Otherwise none: use the service's DNS name, or switch the links on.
    SERVICE_LINKS_OFF = "service-links-off", Warning, Container(check);
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judged(container) {
        let Verdict::Service(absent) = verdict else { continue };
        let place = container.inside(text.text, step.range.clone());
        let name = &step.name;
        findings.push(match absent {
            Absent::Headless(_) => continue,
            Absent::LinksOff => {
                let message = format!("`$({name})` stays as it is: this pod gets no variables of services");
                let finding = Finding::new(place, name, message)
                    .help("use the service's DNS name, or set `enableServiceLinks: true`");
                match container.pod.pod.service_links {
                    Some((_, span)) => finding.related(container.at(span), "switched off here"),
                    None => finding,
                }
            }
            Absent::NotLinked(service) => {
                let message = format!("`$({name})` stays as it is: this pod gets variables of the services it links");
                let fix = service.as_deref().and_then(|it| container.pod.object.linked(container.container, it));
                Finding::new(place, name, message).help("link its service in `envFrom`").fix(fix)
            }
        });
    }
}
