//! The rule `invalid-service-link`.

use crate::build::{BuiltMatch, EnvFromRefusal};
use crate::diagnostic::Fix;
use crate::k8s::{EnvFrom, EnvFromSource, ObjectData, ServiceDependency, Text};
use crate::resolve::{has_cluster_ip, is_service_name};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::source_objects::name_location;
use crate::syntax::{ScalarStyle, may_be_replaced};

declare_rule! {
    /// Reports an invalid explicit link to a service.
    ///
    /// ## What it does
    /// An entry of `envFrom` with `service` needs the `name` of the service. The items of `serviceDependencies` are
    /// mappings with a `name` that is valid for a service: lower-case letters, digits and dashes, at most 63
    /// characters. A linked service needs ports, as every service with a cluster IP does. The finding covers the name;
    /// where it is missing, it covers `service` or the item.
    ///
    /// ## Why it matters
    /// The object is rejected. Where the service is rejected, the pod waits for it forever.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   serviceDependencies:
    ///     - name: Redis_Master
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - service: {}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   serviceDependencies:
    ///     - name: redis-master
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - service: {name: redis-master}
    /// ```
    ///
    /// ## Fix
    /// Writes `name:` before an item that is only a name. Safe: the object is rejected without it.
    name: "invalid-service-link",
    level: Error,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    if let ObjectData::Preset(preset) = &object.object.model.data {
        preset.container().into_iter().flat_map(|it| &it.env_from).for_each(|it| check_link(object, it, findings));
    }
    for pod in &object.object.model.pods {
        for item in pod.service_dependencies.iter().flat_map(|it| &it.services) {
            check_dependency(object, item, findings);
        }
        for entry in pod.containers.iter().flat_map(|it| &it.env_from) {
            check_link(object, entry, findings);
        }
    }
}

fn check_link(object: &ObjectContext<'_>, entry: &EnvFrom, findings: &mut Findings<'_>) {
    let release = object.file.resolver.release(object.file.path);
    let lacks_name = |it: &EnvFromRefusal| matches!(it, EnvFromRefusal::NoName("service"));
    let place = match &entry.source {
        Some(EnvFromSource::Service { name: Some(name), .. }) if !name.value.is_empty() => {
            return check_ports(object, name, "the container", findings);
        }
        _ if !EnvFromRefusal::all(entry, release).iter().any(lacks_name) => return,
        Some(EnvFromSource::Service { field, name }) => name.as_ref().map_or(*field, |it| it.span),
        _ => return,
    };
    let finding = Finding::new(object.at(place), "service", "`service` has no `name`");
    findings.push(finding.help("write `service: {name: …}`"));
}

fn check_ports(object: &ObjectContext<'_>, name: &Text, who: &str, findings: &mut Findings<'_>) {
    let snapshot = object.file.snapshot;
    let found = object.object.services_named(&name.value);
    let lacks_ports = |it: &BuiltMatch<'_>| match &it.object.model.data {
        // A service of the settings has no ports there, and a patch may leave them to the object that it changes.
        ObjectData::Service(service) => {
            service.ports.is_empty()
                && has_cluster_ip(service)
                && it.object.model.kind.is_some()
                && !snapshot.is_patch(it.object.file)
        }
        _ => false,
    };
    if let Some(first) = found.first().filter(|_| found.iter().all(lacks_ports)) {
        let message = format!("service `{}` has no ports: it is rejected, and {who} waits for it", name.value);
        let finding = Finding::new(object.at(name.span), &name.value, message).help("add `ports` to the service");
        findings.push(match name_location(first) {
            Some(location) => finding.related(location, "the service"),
            None => finding,
        });
    }
}

fn check_dependency(object: &ObjectContext<'_>, item: &ServiceDependency, findings: &mut Findings<'_>) {
    let Some(name) = item.name.as_ref().filter(|it| !it.value.is_empty()) else {
        let finding = Finding::new(object.at(item.span), "name", "this dependency has no `name`");
        findings.push(finding.help("write `- name: …`"));
        return;
    };
    if may_be_replaced(&name.value) {
        return;
    }
    let release = object.file.resolver.release(object.file.path);
    if !name.is_string || !is_service_name(&name.value, release) {
        let message = format!("`{}` is not a valid name of a service", name.value);
        let help = "a name has lower-case letters, digits and dashes, starts with a letter, does not end with a dash, and has at \
                    most 63 characters";
        findings.push(Finding::new(object.at(name.span), &name.value, message).help(help));
    } else if !item.is_reference {
        let message = format!("a dependency must be a mapping: `name: {}`", name.value);
        findings.push(Finding::new(object.at(name.span), &name.value, message).fix(mapping_fix(object, name)));
    } else {
        check_ports(object, name, "the pod", findings);
    }
}

fn mapping_fix(object: &ObjectContext<'_>, name: &Text) -> Option<Fix> {
    let location = object.file.at(object.literal_span(name)?);
    let source = object.file.parsed_text()?;
    let written = source.text.get(location.span.range())?;
    let path = source.tree.document_at(location.span.start)?.root()?.path_to(location.span.start);
    let is_flow =
        path.iter().rev().nth(1)?.kind() == crate::syntax::NodeKind::Sequence(crate::syntax::CollectionStyle::Flow);
    let is_simple = matches!(name.style, ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    let is_own = path.last()?.anchor().is_none() && path.last()?.alias().is_none();
    let text = if is_flow { format!("{{name: {written}}}") } else { format!("name: {written}") };
    let title = format!("Write `name: {}`", name.value);
    (is_simple && is_own).then(|| Fix { title, safe: true, edits: vec![edit(location, text)] })
}
