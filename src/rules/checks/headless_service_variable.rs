//! The rule `headless-service-variable`.

use crate::build::BuiltMatch;
use crate::k8s::{EnvFromSource, ObjectData, Text};
use crate::resolve::{ServiceVariableAbsence, has_cluster_ip};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};
use crate::rules::shared::source_objects::name_location;

declare_rule! {
    /// Reports a variable of a service that has no cluster IP, and so no variables.
    ///
    /// ## What it does
    /// Reports `$(X_SERVICE_HOST)` and similar names where service `x` in the workspace is headless (`clusterIP: None`)
    /// or of type `ExternalName`, and an explicit link to such a service. The finding covers the reference, or the name
    /// in the link.
    ///
    /// ## Why it matters
    /// The kubelet creates no variables for such a service, so the reference is not expanded.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: database}
    /// spec:
    ///   clusterIP: None
    ///   ports: [{port: 5432}]
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       args: ["--database=$(DATABASE_SERVICE_HOST)"]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: database}
    /// spec:
    ///   clusterIP: None
    ///   ports: [{port: 5432}]
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       args: ["--database=database"]
    /// ```
    ///
    /// ## Fix
    /// Editors offer to write the DNS name of the service in place of its address. Commands do not: the name is
    /// resolved when the program connects.
    name: "headless-service-variable",
    level: Warning,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for entry in &container.container.env_from {
        if let Some(EnvFromSource::Service { name: Some(name), .. }) = &entry.source {
            check_link(container, name, entry.prefix.as_ref(), findings);
        }
    }
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::Service(absence) = verdict else { continue };
        let ServiceVariableAbsence::Headless(origin) = &*absence else { continue };
        let (name, service) = (&step.name, origin.object.as_deref().unwrap_or("?"));
        let finding = Finding::new(
            container.inside(text.text, step.range.clone()),
            name,
            format!("`$({name})` is not expanded: service `{service}` has no cluster IP, and so no variables"),
        )
        .help(format!("use the DNS name `{service}`"));
        // The name takes the place of the address, not of a port.
        let is_address = name.ends_with("_SERVICE_HOST") || name.ends_with("_TCP_ADDR") || name.ends_with("_UDP_ADDR");
        let title = format!("Write the DNS name `{service}`");
        let rewrite = is_address
            .then(|| reference_fixes::replace(container, text.text, step.range.clone(), service, title))
            .flatten();
        let finding = finding.choice(rewrite);
        let found = container.object.object.services_named(service);
        findings.push(match found.first().and_then(name_location) {
            Some(location) => finding.related(location, "the service"),
            None => finding,
        });
    }
}

/// Reports a link to a service if no service of this name has a cluster IP.
fn check_link(container: &ContainerContext<'_>, name: &Text, prefix: Option<&Text>, findings: &mut Findings<'_>) {
    let found = container.object.object.services_named(&name.value);
    let is_headless =
        |it: &BuiltMatch<'_>| matches!(&it.object.model.data, ObjectData::Service(it) if !has_cluster_ip(it));
    let Some(first) = found.first().filter(|_| found.iter().all(is_headless)) else { return };
    let names = prefix.filter(|it| !it.value.is_empty()).map(|it| format!(" `{}*`", it.value)).unwrap_or_default();
    let message = format!("this link adds no variables{names}: service `{}` has no cluster IP", name.value);
    let finding =
        Finding::new(container.at(name.span), &name.value, message).help(format!("use the DNS name `{}`", name.value));
    findings.push(match name_location(first) {
        Some(location) => finding.related(location, "the service"),
        None => finding,
    });
}
