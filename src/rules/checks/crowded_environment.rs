//! The rule `crowded-environment`.

use crate::k8s::Pod;
use crate::resolve::ServiceLinks;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};

declare_rule! {
    /// Reports a pod whose environment is crowded with variables of services.
    ///
    /// ## What it does
    /// Every service of a namespace puts at least seven variables into every container there. Adds up what the services
    /// that surely share the pod's namespace bring, and reports more than 100 KiB. The finding covers the name of the
    /// object.
    ///
    /// ## Why it matters
    /// Arguments and environment of a process share one limit; beyond it nothing starts: `argument list too long`. Long
    /// before that, shells and other programs that copy their environment become slow.
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
    /// Sets `enableServiceLinks: false` where no container uses such a variable, and links exactly the services that are
    /// used where some do. Unsafe: a program may read a variable that its manifest does not show.
    name: "crowded-environment",
    level: Info,
    checks: [Object(check)],
    helm: ContainerWithoutAction,
}

/// More than this is worth a word.
const CROWDED: usize = 100 * 1024;

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let file = object.file;
    let has_links = |pod: &&Pod| file.resolver.service_links(file.path, object.object, pod) == ServiceLinks::All;
    let Some(pod) = object.object.model.pods.iter().find(has_links) else { return };
    // The other half of a patch may say something else.
    if pod.containers.iter().all(|it| it.image.is_none()) || file.snapshot.is_patch(file.path) {
        return;
    }
    let crowd = file.resolver.service_variable_totals(file.path, object.object);
    if crowd.bytes <= CROWDED {
        return;
    }
    let name = object.object.model.name.as_ref();
    let place = name.map_or(pod.span, |it| it.span);
    let services = if crowd.services == 1 { "service puts" } else { "services put" };
    let message =
        format!("{} {services} about {} KiB of variables into every container", crowd.services, crowd.bytes / 1024);
    findings.push(
        Finding::new(object.at(place), name.map_or("", |it| &it.value), message)
            .help("set `enableServiceLinks: false` and use the services' DNS names")
            .fix(object.replace_automatic_links_fix(pod)),
    );
}
