//! The rule `crowded-environment`.

use crate::build::BuiltPod;
use crate::resolve::ServiceLinks;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};

declare_rule! {
    /// Reports a pod whose services add more than 100 KiB of variables to each container.
    ///
    /// ## What it does
    /// Every service in a namespace adds at least seven variables to every container there. Adds up the variables of
    /// the services that are certainly in the namespace of the pod, and reports more than 100 KiB. The finding covers
    /// the name of the object.
    ///
    /// ## Why it matters
    /// Arguments and environment of a process share one limit. Above it nothing starts: `argument list too long`. Well
    /// below it, shells and other programs that copy their environment become slow.
    ///
    /// ## Example
    /// A namespace with 400 services, and in it:
    /// ```text
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
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
    /// ```
    ///
    /// ## Fix
    /// Sets `enableServiceLinks: false` where no container uses such a variable; otherwise links only the services that
    /// are used. Unsafe: a program may read a variable that the manifest does not mention.
    name: "crowded-environment",
    level: Info,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

/// The number of bytes above which a pod is reported.
const CROWDED: usize = 100 * 1024;

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let file = object.file;
    let has_links = |pod: &BuiltPod<'_>| file.resolver.service_links(*pod) == ServiceLinks::All;
    let Some(BuiltPod { pod, .. }) = object.object.pods().find(has_links) else { return };
    // The object that a patch changes may set `enableServiceLinks`.
    if pod.containers.iter().all(|it| it.image.is_none()) || file.snapshot.is_patch(file.path) {
        return;
    }
    let crowd = file.resolver.service_variable_totals(object.object);
    if crowd.bytes <= CROWDED {
        return;
    }
    let name = object.object.model.name.as_ref();
    let place = name.map_or(pod.span, |it| it.span);
    let services = if crowd.services == 1 { "service adds" } else { "services add" };
    let message =
        format!("{} {services} about {} KiB of variables to every container", crowd.services, crowd.bytes / 1024);
    findings.push(
        Finding::new(object.at(place), name.map_or("", |it| &it.value), message)
            .help("set `enableServiceLinks: false` and use the DNS names of the services")
            .fix(object.replace_automatic_links_fix(pod)),
    );
}
