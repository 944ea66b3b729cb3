//! The rule `service-variable-collision`.

use crate::build::BuiltMatch;
use crate::k8s::{EnvVar, ObjectData};
use crate::resolve::{ResolvedValue, ServiceLinks, service_variables};
use crate::rules::engine::{ContainerContext, Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::source_objects::{name_location, share_namespace};
use crate::syntax::may_be_replaced;

declare_rule! {
    /// Reports a service variable whose name is set twice.
    ///
    /// ## What it does
    /// Two services can set the same name: `foo` sets `FOO_SERVICE_PORT=80`, and `foo-service` sets
    /// `FOO_SERVICE_PORT=tcp://…:80`. And an entry of `env` can hide a service variable of a different form, as
    /// `REDIS_PORT=6379` hides `tcp://…:6379`. Reports both if the services are certainly in the same namespace. The
    /// finding covers the name of the service with the longer name, or the name of the entry.
    ///
    /// ## Why it matters
    /// Which of the two services wins can change at every start of the pod. A program or library that reads the hidden
    /// variable gets a value it does not expect; in another container, or in a value above the entry, the variable of
    /// the service is visible again.
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
    /// None: rename one of the two, or set `enableServiceLinks: false` in pods that use no service variable.
    name: "service-variable-collision",
    level: Warning,
    checks: [Object(check_service), Container(check_env)],
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

fn check_env(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let entries = &container.container.env;
    if !entries.iter().any(|entry| literal_value(entry).is_some()) {
        return;
    }
    let object = container.object;
    let file = object.file;
    let links = file.resolver.service_links(container.handle().in_pod());
    if links != ServiceLinks::All || file.snapshot.is_patch(file.path) {
        return;
    }
    let services = file.resolver.service_variables(object.object, ServiceLinks::All);
    for entry in entries {
        let (Some(name), Some(value)) = (&entry.name, literal_value(entry)) else { continue };
        let Some(hidden) = services.variables.get(&name.value) else { continue };
        let mut values = hidden.alternatives.iter().map(|(value, _)| value).chain([&hidden.value]);
        let is_open = !hidden.alternatives.is_empty();
        let differs = |it: &ResolvedValue| ValueShape::of(&it.to_string()).differs_from(&ValueShape::of(value));
        if !values.all(|it| differs(it) || (is_open && *it == hidden.value)) {
            continue;
        }
        let Some(service) = &hidden.origin.object else { continue };
        let Some(found) = services_in_namespace(&object, service).into_iter().next() else { continue };
        let shown = hidden.alternatives.first().map_or(&hidden.value, |(value, _)| value);
        let finding = Finding::new(
            object.at(name.span),
            &name.value,
            format!(
                "`{}` hides the variable of service `{service}`: its value is `{value}` instead of `{shown}`",
                name.value
            ),
        )
        .help("use another name, or set `enableServiceLinks: false` if no service variable is used");
        findings.push(match name_location(&found) {
            Some(location) => finding.related(location, "the service"),
            None => finding,
        });
    }
}

/// The value of an entry without references, if its name may be that of a service variable.
fn literal_value(entry: &EnvVar) -> Option<&str> {
    let value = entry.value.as_ref().map(|it| &*it.value)?;
    let may_be = entry.name.as_ref().is_some_and(|it| it.value.contains("_PORT") || it.value.contains("_HOST"));
    (may_be && entry.from.is_none() && !value.is_empty() && !may_be_replaced(value)).then_some(value)
}

/// The services of a name that are certainly in the namespace of an object.
fn services_in_namespace<'a>(object: &ObjectContext<'a>, name: &str) -> Vec<BuiltMatch<'a>> {
    let mut found = object.object.services_named(name);
    found.retain(|it| share_namespace(object.object, it.object));
    found
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueShape {
    Url,
    Number,
    Other,
}

impl ValueShape {
    fn of(value: &str) -> Self {
        if value.contains("://") {
            Self::Url
        } else if value.bytes().all(|it| it.is_ascii_digit()) {
            Self::Number
        } else {
            Self::Other
        }
    }

    fn differs_from(self, other: &Self) -> bool {
        self != *other
    }
}
