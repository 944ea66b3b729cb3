//! The rule `shadowed-source`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::build::BuiltObject;
use crate::diagnostic::Location;
use crate::k8s::{Container, DataEntry, EnvFrom, EnvVar, ObjectData, Text, ValueSource};
use crate::resolve::{OriginKind, is_service_variable_name, service_variables};
use crate::rules::engine::{ContainerContext, Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::source_objects::{
    self, imported_keys, imported_object, is_partial, kind_name, name_location, objects, share_namespace,
};

declare_rule! {
    /// Reports a key of `envFrom` that `env` or a later `envFrom` hides, and an entry that looks like a default for a service.
    ///
    /// ## What it does
    /// Looks for keys of ConfigMaps and Secrets in `envFrom` whose variable is also declared in `env`, or set by a
    /// later entry of `envFrom`, in every container that imports the object. A key that has an effect somewhere is a default,
    /// which others override on purpose. So has one that a value refers to, such as `$(OPTIONS) --more` of the entry itself. An
    /// entry with an optional key, which may be missing, hides nothing. The finding covers the hidden key.
    ///
    /// Also looks for entries of `env` such as `REDIS_SERVICE_HOST` with a literal value, where the service is certainly in
    /// the namespace of the pod, adds its variables to it, and has another value. A name such as `REDIS_PORT`, which
    /// programs use for other purposes, a value that names the service, and an empty value are not reported. That finding covers the
    /// name of the entry.
    ///
    /// ## Why it matters
    /// Changing the key has no effect, and Kubernetes gives no warning: `env` wins over `envFrom`, and a later entry
    /// wins over an earlier one. In the same way an entry always wins over a service: it is not a default for the time
    /// in which the service does not exist.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data: {CURRENCY: EUR}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - configMapRef: {name: settings}
    ///       env:
    ///         - {name: CURRENCY, value: USD}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data: {CURRENCY: USD}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - configMapRef: {name: settings}
    /// ```
    ///
    /// ## Fix
    /// Editors offer to remove an entry that hides the variable of a service. There is no fix for keys: only the author
    /// knows which of the two is meant.
    name: "shadowed-source",
    level: Hint,
    checks: [Object(check), Container(check_defaults)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let (kind, data) = match &object.object.model.data {
        ObjectData::ConfigMap(data) => (OriginKind::ConfigMap, data),
        ObjectData::Secret(data) => (OriginKind::Secret, data),
        _ => return,
    };
    let Some(name) = object.object.model.reference_name().filter(|_| !data.keys.is_empty()) else { return };
    let mut keys = KeyUses::default();
    for user in object.object.users() {
        let found = objects(user, kind, name);
        if found.iter().any(|it| it.object.is_same(object.object)) {
            let is_whole = |key: &str| found.iter().all(|it| source_objects::keys(it).any(|it| &*it.key.value == key));
            keys.add_object(object, user, (kind, name), &data.keys, &is_whole);
        }
    }
    for key in &data.keys {
        let Some(hider) = keys.hidden.get(&*key.key.value).filter(|_| !keys.used.contains(&*key.key.value)) else {
            continue;
        };
        let message = format!("`{}` has no effect in {}: {}", key.key.value, hider.user, hider.what);
        let finding = Finding::new(object.at(key.key.span), &key.key.value, message)
            .related(hider.location.clone(), "it is set here")
            .help("only one of the two is needed; a `prefix` would give both a name");
        findings.push(if keys.in_volumes { finding } else { finding.unnecessary() });
    }
}

/// B5: reports entries that look like a default for the variable of a service, and always win over it.
fn check_defaults(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    if container.is_partial() || container.object.file.is_template() {
        return;
    }
    let env = &container.container.env;
    for (at, entry) in env.iter().enumerate() {
        let Some(name) = entry.name.as_ref().filter(|it| is_service_variable_name(&it.value)) else { continue };
        let is_later = |it: &EnvVar| it.name.as_ref().is_some_and(|it| it.value == name.value);
        if entry.value.as_ref().is_none_or(|it| it.value.contains("$(")) || env[at + 1..].iter().any(is_later) {
            continue;
        }
        let Some(value) = container.entry(at).and_then(|it| it.value.known()).filter(|it| !it.is_empty()) else {
            continue;
        };
        let Some((service, location)) = hidden_service(container, at, &value) else { continue };
        if container.may_be_set_by_patch(&name.value) {
            continue;
        }
        let message =
            format!("`{}` always wins over the variable of service `{service}`: an entry is not a default", name.value);
        let finding = Finding::new(container.at(name.span), &name.value, message).related(location, "the service");
        let remove = container.removal(entry.span, format!("Remove the entry of `{}`", name.value));
        findings
            .push(finding.help("remove the entry to use the service, or rename it to keep the value").choice(remove));
    }
}

/// The service whose variable an entry hides, if that has another value and the entry does not name the service.
fn hidden_service(container: &ContainerContext<'_>, at: usize, value: &str) -> Option<(Arc<str>, Location)> {
    let binding = container.entry(at)?;
    let origin = binding.hides.iter().find(|it| it.kind == OriginKind::Service)?;
    let name = origin.object.as_ref().filter(|_| origin.location.is_some())?;
    let object = container.object.object;
    let found = object.services_named(name);
    let [service] = found.as_slice() else { return None };
    let ObjectData::Service(data) = &service.object.model.data else { return None };
    let (_, hidden) = service_variables(name, data).into_iter().rfind(|(it, _)| *it == *binding.name)?;
    let is_other_form = value.contains("://") && !binding.name.contains("_PORT_");
    // An address that the cluster assigns may be the one in the entry.
    let host = value.rsplit("://").next().unwrap_or(value);
    let may_be_equal = match hidden.known() {
        Some(hidden) => hidden == value,
        None => host.starts_with(|it: char| it.is_ascii_digit() || it == '['),
    };
    let names_service = host.split([':', '/', '.']).next() == Some(name);
    let is_default = share_namespace(object, service.object) && !may_be_equal && !names_service && !is_other_form;
    is_default.then(|| Some((Arc::clone(name), name_location(service)?))).flatten()
}

/// What happens to the keys of an object in the containers that import it.
#[derive(Default)]
struct KeyUses<'k> {
    /// The first that hides each key.
    hidden: BTreeMap<&'k str, Hider>,
    /// Keys that set a variable somewhere, or may.
    used: HashSet<&'k str>,
    /// Whether a pod has such objects in volumes, where keys are files.
    in_volumes: bool,
}

/// What hides a key.
struct Hider {
    user: String,
    what: String,
    location: Location,
}

impl<'k> KeyUses<'k> {
    /// Adds the containers of an object. `is_whole` says whether every object that is meant has a key.
    fn add_object(
        &mut self,
        object: &ObjectContext<'_>,
        user: BuiltObject<'_>,
        import: (OriginKind, &str),
        keys: &'k [DataEntry],
        is_whole: &dyn Fn(&str) -> bool,
    ) {
        let file = object.file;
        let release = file.resolver.release(user.file);
        // A change of the kind of the file changes its objects, which are recorded.
        let is_template = || file.snapshot.file_unrecorded(user.file).is_some_and(|it| it.is_template());
        let volume = if import.0 == OriginKind::Secret { "secret" } else { "configMap" };
        for pod in &user.model.pods {
            let is_mounted = |kind: &Text| *kind.value == *volume || &*kind.value == "projected";
            self.in_volumes |= pod.volumes.iter().any(|it| it.kind.as_ref().is_some_and(is_mounted));
            for container in &pod.containers {
                let is_import = |entry: &EnvFrom| {
                    imported_object(entry).is_some_and(|(kind, name, _)| {
                        kind == import.0 && name.is_some_and(|it| &*it.value == import.1)
                    })
                };
                // What else sets variables of a part of a container, or of a template, is not known.
                let is_open = container.may_have_more_variables || is_partial(user, container) || is_template();
                for (at, entry) in container.env_from.iter().enumerate().filter(|(_, it)| is_import(it)) {
                    let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
                    let later = &container.env_from[at + 1..];
                    let later: Vec<_> = later.iter().map(|it| (it, imported_keys(user, release, it))).collect();
                    for key in keys.iter().map(|it| &*it.key.value) {
                        let variable = format!("{prefix}{key}");
                        let hider = hider(user, container, &later, &variable).filter(|_| !is_open && is_whole(key));
                        match hider {
                            Some(hider) => drop(self.hidden.entry(key).or_insert(hider)),
                            None => drop(self.used.insert(key)),
                        }
                    }
                }
            }
        }
    }
}

/// What hides a variable of `envFrom` in a container.
fn hider(
    user: BuiltObject<'_>,
    container: &Container,
    later: &[(&EnvFrom, BTreeMap<Arc<str>, Location>)],
    variable: &str,
) -> Option<Hider> {
    let import =
        later.iter().find(|(_, keys)| keys.contains_key(variable)).and_then(|(entry, _)| imported_object(entry));
    if let Some((kind, Some(name), _)) = import {
        let what = format!("the {} `{}` sets `{variable}` too, later in `envFrom`", kind_name(kind), name.value);
        return Some(Hider { user: user.title(), what, location: user.location(name.span) });
    }
    let named = |it: &EnvVar| it.name.as_ref().is_some_and(|it| &*it.value == variable);
    let at = container.env.iter().position(named)?;
    // The entries up to the first of the name can refer to the value of `envFrom`.
    let uses_it = |it: &EnvVar| it.value.as_ref().is_some_and(|it| it.value.contains(&format!("$({variable})")));
    if container.env[..=at].iter().any(uses_it) || is_optional(&container.env[at]) {
        return None;
    }
    let span = container.env[at].name.as_ref()?.span;
    let what = format!("`env` sets `{variable}` too");
    Some(Hider { user: user.title(), what, location: user.location(span) })
}

/// B17: if the optional key is missing, the entry is skipped and the key of `envFrom` is used.
fn is_optional(entry: &EnvVar) -> bool {
    entry.from.as_ref().is_some_and(|from| match from.sources.first() {
        Some(ValueSource::ConfigMap(key) | ValueSource::Secret(key)) => key.optional,
        Some(ValueSource::File { optional, .. }) => *optional,
        _ => false,
    })
}
