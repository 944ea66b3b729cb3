//! The rule `shadowed-source`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::build::BuiltObject;
use crate::diagnostic::Location;
use crate::k8s::{Container, EnvFrom, EnvVar, ObjectData, Text, ValueSource};
use crate::resolve::{DataUser, OriginKind, is_service_variable_name, service_variables};
use crate::rules::engine::{ContainerContext, Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::source_objects::{
    ImportedKeys, has_key, imported_object, is_partial, kind_name, name_location, objects, share_namespace,
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
    let mut keys = HiddenKeys::default();
    let mut users = object.data_users().into_iter().peekable();
    if users.peek().is_none() {
        return;
    }
    keys.hidden = data.keys.iter().map(|it| (&*it.key.value, None)).collect();
    for user in users {
        keys.add_object(object, user, (kind, name));
        // A key with an effect somewhere is not reported, whatever the other users do.
        if keys.hidden.is_empty() {
            return;
        }
    }
    for key in &data.keys {
        let Some(Some(hider)) = keys.hidden.get(&*key.key.value) else { continue };
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

/// The keys of an object that set no variable in the containers that import it.
#[derive(Default)]
struct HiddenKeys<'k> {
    /// The keys that no container uses so far, with the first that hides each.
    hidden: BTreeMap<&'k str, Option<Hider>>,
    /// Whether a pod has such objects in volumes, where keys are files.
    in_volumes: bool,
}

/// What hides a key.
struct Hider {
    user: String,
    what: String,
    location: Location,
}

impl HiddenKeys<'_> {
    /// Adds the containers of an object.
    fn add_object(&mut self, object: &ObjectContext<'_>, user: DataUser<'_>, import: (OriginKind, &str)) {
        let file = object.file;
        let user = user.object;
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
                let mut imports = container.env_from.iter().enumerate().filter(|(_, it)| is_import(it)).peekable();
                if imports.peek().is_none() {
                    continue;
                }
                // What else sets variables of a part of a container, or of a template, is not known.
                if container.may_have_more_variables || is_partial(user, container) || is_template() {
                    self.hidden.clear();
                    return;
                }
                let found = objects(user, import.0, import.1);
                let is_whole = |key: &str| found.iter().all(|it| has_key(it, key));
                let entries = EntriesByName::of(container);
                for (at, entry) in imports {
                    let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
                    let later = &container.env_from[at + 1..];
                    let later: Vec<_> = later.iter().filter_map(|it| ImportedKeys::of(user, release, it)).collect();
                    self.hidden.retain(|key, known| {
                        let hider = || hider(user, &entries, &later, &format!("{prefix}{key}"));
                        match Some(key).filter(|it| is_whole(it)).and_then(|_| hider()) {
                            Some(hider) => drop(known.get_or_insert(hider)),
                            None => return false,
                        }
                        true
                    });
                }
            }
        }
    }
}

/// The entries of `env` of a container by name.
struct EntriesByName<'c> {
    container: &'c Container,
    /// The first entry of each name.
    first: HashMap<&'c str, usize>,
    /// The first entry with a reference to each name.
    first_use: HashMap<&'c str, usize>,
}

impl<'c> EntriesByName<'c> {
    fn of(container: &'c Container) -> Self {
        let (mut first, mut first_use) = (HashMap::new(), HashMap::new());
        for (at, entry) in container.env.iter().enumerate() {
            if let Some(name) = &entry.name {
                first.entry(&*name.value).or_insert(at);
            }
            let text: &str = entry.value.as_ref().map_or("", |it| &it.value);
            let ends = text.split("$(").skip(1).filter_map(|it| it.split_once(')'));
            for (name, _) in ends {
                first_use.entry(name).or_insert(at);
            }
        }
        Self { container, first, first_use }
    }
}

/// What hides a variable of `envFrom` in a container.
fn hider(
    user: BuiltObject<'_>,
    entries: &EntriesByName<'_>,
    later: &[ImportedKeys<'_, '_>],
    variable: &str,
) -> Option<Hider> {
    if let Some(import) = later.iter().find(|it| it.defines(variable)) {
        let name = import.name;
        let what = format!("the {} `{}` sets `{variable}` too, later in `envFrom`", kind_name(import.kind), name.value);
        return Some(Hider { user: user.title(), what, location: user.location(name.span) });
    }
    let at = *entries.first.get(variable)?;
    // The entries up to the first of the name can refer to the value of `envFrom`.
    let is_used = entries.first_use.get(variable).is_some_and(|it| *it <= at);
    let entry = &entries.container.env[at];
    if is_used || is_optional(entry) {
        return None;
    }
    let span = entry.name.as_ref()?.span;
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
