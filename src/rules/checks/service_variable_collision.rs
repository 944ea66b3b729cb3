//! The rule `service-variable-collision`.

use crate::build::BuiltMatch;
use crate::k8s::{ContainerField, ObjectData};
use crate::resolve::{Lookup, OriginKind, ResolvedValue, service_variables};
use crate::rules::engine::{ContainerContext, Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::reference_verdicts::expanded_texts;
use crate::rules::shared::source_objects::{name_location, share_namespace};
use crate::syntax::may_be_replaced;

declare_rule! {
    /// Reports a variable that two services set, or that a reference takes from a service and not from `env`.
    ///
    /// ## What it does
    /// Two services can set the same name: `foo` sets `FOO_SERVICE_PORT=80`, and `foo-service` sets
    /// `FOO_SERVICE_PORT=tcp://…:80`. Reports them if they are certainly in the same namespace. The finding covers the name
    /// of the service with the longer name. Also reports `$(X)` in `env` where `X` is a variable of a service and an
    /// entry of `env` further down. That finding covers the reference. An entry that replaces the variable of a service is
    /// not reported: it is the way to set another value.
    ///
    /// ## Why it matters
    /// Which of the two services wins can change at every start of the pod. A reference above an entry gets the value of the
    /// service, such as `tcp://10.0.0.1:6379` for `REDIS_PORT`.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: queue}
    /// spec: {ports: [{port: 5672}]}
    /// ---
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: queue-service}
    /// spec: {ports: [{port: 5672}]}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: queue}
    /// spec: {ports: [{port: 5672}]}
    /// ---
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: queue-admin}
    /// spec: {ports: [{port: 5672}]}
    /// ```
    ///
    /// ## Fix
    /// None: rename one of the two services, or set `enableServiceLinks: false` in pods that use no service variable. Of an
    /// entry, only the author knows which of the two values is meant.
    name: "service-variable-collision",
    level: Warning,
    checks: [Object(check_service), Container(check_references)],
    sees: Built,
    helm: ContainerWithoutAction,
}

/// S10. The name of one of the two services starts with that of the other, so only such services are looked up.
fn check_service(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let ObjectData::Service(service) = &object.object.model.data else { return };
    let Some(name) = object.object.model.name.as_ref().filter(|it| !may_be_replaced(&it.value)) else { return };
    let own = service_variables(&name.value, service);
    for (dash, _) in name.value.match_indices('-') {
        let shorter = &name.value[..dash];
        for other in services_in_namespace(object, shorter) {
            let ObjectData::Service(service) = &other.object.model.data else { continue };
            let theirs = service_variables(shorter, service);
            let both = |(variable, value): &&(String, ResolvedValue)| {
                theirs.iter().any(|(it, other)| it == variable && !other.same_text(value))
            };
            let Some((variable, _)) = own.iter().find(both) else { continue };
            let message = format!(
                "services `{}` and `{shorter}` both set `{variable}`: which of the two wins is not defined",
                name.value
            );
            let finding = Finding::new(object.at(name.span), shorter, message).help("rename one of the two");
            findings.push(match name_location(&other) {
                Some(location) => finding.related(location, "the other service"),
                None => finding,
            });
        }
    }
}

/// Reports references above an entry of the same name: they get the value of the service.
fn check_references(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for text in expanded_texts(container) {
        let ContainerField::EnvValue(user) = text.field else { continue };
        for step in text.steps.iter().filter(|it| text.variable != Some(&*it.name)) {
            let Lookup::Bound(bound) = &step.outcome else { continue };
            // The service `kubernetes` is not in any file, and everybody knows its variables.
            let is_here = bound.origin.kind == OriginKind::Service && bound.origin.location.is_some();
            let Some(service) = bound.origin.object.as_ref().filter(|_| is_here) else { continue };
            let mut later = container.container.env.iter().skip(user + 1).filter_map(|it| it.name.as_ref());
            let Some(declared) = later.find(|it| *it.value == *step.name) else { continue };
            let name = &step.name;
            let message =
                format!("`$({name})` is the variable of service `{service}`: the entry `{name}` is declared later");
            let finding = Finding::new(container.inside(text.text, step.range.clone()), name, message)
                .related(container.at(declared.span), "declared here");
            findings.push(
                finding.help(format!("the entry of `{name}` has to be above its first use, or needs another name")),
            );
        }
    }
}

/// The services of a name that are certainly in the namespace of an object.
fn services_in_namespace<'a>(object: &ObjectContext<'a>, name: &str) -> Vec<BuiltMatch<'a>> {
    let mut found = object.object.services_named(name);
    found.retain(|it| share_namespace(object.object, it.object));
    found
}
