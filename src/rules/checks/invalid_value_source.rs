//! The rule `invalid-value-source`.

use crate::build::{
    ENV_FIELDS, ENV_RESOURCES, EnvFromRefusal, is_data_key, is_dns_subdomain, is_env_field, is_env_resource,
    is_valid_divisor,
};
use crate::diagnostic::Fix;
use crate::k8s::{ContainerRole, EnvFrom, EnvVar, ObjectSpan, Text, ValueFrom, ValueSource};
use crate::resolve::{UnknownReason, ValuePart};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule, edit};
use crate::rules::shared::item_removal::remove_field;
use crate::rules::shared::rename_fix::rename_fix;
use crate::syntax::may_be_replaced;
use crate::text::nearest_name;

declare_rule! {
    /// Reports a variable whose source is invalid: none, several, both `value` and `valueFrom`, or a rejected one.
    ///
    /// ## What it does
    /// Checks `valueFrom` and `envFrom` as the API server does: `value` together with `valueFrom`, no source or more
    /// than one, an unsupported `fieldPath`, `apiVersion`, `resource` or `divisor`, and a name or key that is missing
    /// or invalid. A `containerName` that the pod does not have is accepted, but the container does not start; in a
    /// preset it is looked up in every pod that the preset applies to. The finding covers the invalid value. Where a field is missing, it covers the source, such as `secretKeyRef`; where
    /// the source is missing, the name of the variable.
    ///
    /// ## Why it matters
    /// The API server rejects the whole object.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - name: POD
    ///           valueFrom: {fieldRef: {fieldPath: metadata.nmae}}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - name: POD
    ///           valueFrom: {fieldRef: {fieldPath: metadata.name}}
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar field, resource or container. Unsafe: only the author knows what was meant. Editors
    /// also offer to remove `value`, `valueFrom` or `apiVersion` where one of them is too much.
    name: "invalid-value-source",
    level: Error,
    checks: [ContainerOrPreset(check), ContainerOrPresetInPod(check_container_names)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    // `malformed-env` and `unknown-env-field` report entries with another shape.
    let found: Vec<Finding> = {
        let env = container.container.env.iter().filter(|it| !it.is_malformed);
        let env_from = container.container.env_from.iter().filter(|it| !it.is_malformed);
        let env = env.flat_map(|entry| check_variable(container, entry));
        env.chain(env_from.filter_map(|entry| check_env_from(container, entry))).collect()
    };
    // The branches of a template are side by side in its text, and a wrong indentation may join two entries.
    if !found.is_empty() && !container.object.file.is_template() && container.object.has_certain_structure() {
        found.into_iter().for_each(|finding| findings.push(finding));
    }
}

/// The first reason why the API server refuses the `valueFrom` of an entry.
pub(in crate::rules) fn refusal(container: &ContainerContext<'_>, entry: &EnvVar) -> Option<Finding> {
    if container.object.file.is_template() { None } else { check_variable(container, entry).into_iter().next() }
}

fn check_variable(container: &ContainerContext<'_>, entry: &EnvVar) -> Vec<Finding> {
    let Some(from) = &entry.from else { return Vec::new() };
    let place = entry.name.as_ref().map_or(from.span, |it| it.span);
    let name = entry.name.as_ref().map_or("", |it| &it.value);
    let mut found = Vec::new();
    // V7.
    match (&from.sources[..], &entry.value) {
        ([], _) => found.extend(missing_source(container, from, name, place)),
        (_, Some(value)) if !value.value.is_empty() => {
            let message = format!("`{name}` has both `value` and `valueFrom`");
            let finding = Finding::new(container.at(value.span), name, message);
            let finding = finding.related(container.at(from.span), "the source").help("remove one of the two");
            let file = container.object.file;
            let remove = |span: ObjectSpan, field: &str| {
                remove_field(file, &container.at(span), format!("Remove `{field}` of `{name}`"))
            };
            found.push(finding.choice(remove(value.span, "value")).choice(remove(from.span, "valueFrom")));
        }
        _ => {}
    }
    if from.sources.len() > 1 {
        let message = format!("`valueFrom` has {} sources: exactly one is allowed", from.sources.len());
        found.push(Finding::new(container.at(place), name, message));
    }
    for source in &from.sources {
        check_source(container, from, source, name, &mut found);
    }
    // The base of an overlay may have a text that a patch replaces.
    if !found.is_empty() && container.may_be_set_by_patch(name) {
        found.clear();
    }
    found
}

/// The finding about a `valueFrom` that is empty.
fn missing_source(
    container: &ContainerContext<'_>,
    from: &ValueFrom,
    name: &str,
    place: ObjectSpan,
) -> Option<Finding> {
    const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    // A newer release, or the kind of a custom resource, may have other sources, and a patch has directives. A patch may
    // also leave out the source.
    let may_have_source = !from.others.is_empty() || container.is_partial();
    let finding = || Finding::new(container.at(place), name, "`valueFrom` has no source");
    (!may_have_source).then(|| finding().help(format!("add one of {}", SOURCES.join(", "))))
}

/// The finding about the source of an entry of `envFrom` (V6). `invalid-service-link` reports a link without a name, and
/// `invalid-env-from-key` a prefix.
fn check_env_from(container: &ContainerContext<'_>, entry: &EnvFrom) -> Option<Finding> {
    const SOURCES: [&str; 2] = ["configMapRef", "secretRef"];
    match EnvFromRefusal::all(entry, container.entry_release()).first() {
        Some(EnvFromRefusal::SecondSource(second)) => {
            let message = "this entry of `envFrom` has two sources: exactly one is allowed";
            Some(Finding::new(container.at(second.span), &second.value, message).help("write two entries"))
        }
        Some(EnvFromRefusal::NoSource) if !container.is_partial() => entry.prefix.as_ref().map(|prefix| {
            let message = "this entry of `envFrom` has no source";
            let finding = Finding::new(container.at(prefix.span), &prefix.value, message);
            finding.help(format!("add one of {}", SOURCES.join(", ")))
        }),
        Some(EnvFromRefusal::NoName(source)) if SOURCES.contains(source) => {
            let location = container.object.key_location(entry.span, source);
            let location = location.unwrap_or_else(|| container.at(entry.span));
            Some(Finding::new(location, "name", format!("`{source}` has no `name`")))
        }
        Some(EnvFromRefusal::InvalidName(name)) => Some(invalid_object_name(container, name)),
        Some(
            EnvFromRefusal::NoSource
            | EnvFromRefusal::Malformed(_)
            | EnvFromRefusal::NoName(_)
            | EnvFromRefusal::InvalidPrefix(_),
        )
        | None => None,
    }
}

/// Checks one source of `valueFrom`.
fn check_source(
    container: &ContainerContext<'_>,
    from: &ValueFrom,
    source: &ValueSource,
    variable: &str,
    found: &mut Vec<Finding>,
) {
    let name = source_name(source);
    // The object that a patch changes may have the missing field.
    let missing = |field: &str| {
        let location = || container.object.key_location(from.span, name).unwrap_or_else(|| container.at(from.span));
        let finding = || Finding::new(location(), format!("{variable} {field}"), format!("`{name}` has no `{field}`"));
        (!container.is_partial()).then(finding)
    };
    match source {
        ValueSource::Field { api_version, path } => {
            let known = |text: &Text| is_env_field(&text.value) || may_be_replaced(&text.value);
            match path {
                None => found.extend(missing("fieldPath")),
                Some(path) if known(path) => {}
                Some(path) => {
                    found.push(misspelled(container, path, "field that a variable can refer to", &ENV_FIELDS))
                }
            }
            // V9.
            if let Some(version) = api_version.as_ref().filter(|it| !matches!(&*it.value, "" | "v1")) {
                let message = format!("`apiVersion` must be `v1`, not `{}`", version.value);
                let removal =
                    remove_field(container.object.file, &container.at(version.span), "Remove `apiVersion`".into());
                let finding = Finding::new(container.at(version.span), variable, message).help("remove `apiVersion`");
                found.push(finding.choice(removal));
            }
        }
        ValueSource::Resource { resource, divisor, .. } => match resource {
            None => found.extend(missing("resource")),
            Some(it) if may_be_replaced(&it.value) => {}
            Some(it) if !is_env_resource(&it.value) => {
                found.push(misspelled(container, it, "resource that a variable can refer to", &ENV_RESOURCES));
            }
            Some(it) => {
                found.extend(divisor.as_ref().and_then(|divisor| invalid_divisor(container, &it.value, divisor)))
            }
        },
        ValueSource::ConfigMap(reference) | ValueSource::Secret(reference) => {
            // V11.
            match &reference.name {
                None => found.extend(missing("name")),
                Some(name) => found.extend(check_object_name(container, name)),
            }
            match &reference.key {
                None => found.extend(missing("key")),
                Some(key) if may_be_replaced(&key.value) || is_data_key(&key.value) => {}
                Some(key) => {
                    let message = match &*key.value {
                        "" => format!("`key` of `{name}` is empty"),
                        other => format!("`{other}` is not a valid key"),
                    };
                    let finding = Finding::new(container.at(key.span), &key.value, message);
                    found.push(finding.help("a key has letters, digits, `-`, `.` and `_`"));
                }
            }
        }
        // Checked by `invalid-env-file`.
        ValueSource::File { .. } => {}
    }
}

/// The finding about a name that is not valid for an object (V11, X6).
fn check_object_name(container: &ContainerContext<'_>, name: &Text) -> Option<Finding> {
    let is_valid = may_be_replaced(&name.value) || is_dns_subdomain(&name.value);
    (!is_valid).then(|| invalid_object_name(container, name))
}

fn invalid_object_name(container: &ContainerContext<'_>, name: &Text) -> Finding {
    let message = match &*name.value {
        "" => "the name of the object is empty".to_owned(),
        other => format!("`{other}` is not a valid name of an object"),
    };
    let help = "a name has lower-case letters, digits, `-` and `.`, and starts and ends with a letter or digit";
    Finding::new(container.at(name.span), &name.value, message).help(help)
}

/// The finding about a word that is not one of the known ones, with the most similar one as a fix.
fn misspelled(container: &ContainerContext<'_>, text: &Text, what: &str, known: &[&str]) -> Finding {
    let finding = Finding::new(container.at(text.span), &text.value, format!("`{}` is not a {what}", text.value));
    if let Some(path) = subscripted(&text.value) {
        let fix = container.object.literal_span(text).map(|span| Fix {
            title: format!("Write `{path}`"),
            safe: false,
            edits: vec![edit(container.object.file.at(span), format!("\"{path}\""))],
        });
        return finding.help(format!("write `{path}`")).fix(fix);
    }
    match nearest_name(&text.value, known.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).fix(rename_fix(&container.object, text, near)),
        None => finding.help(format!("use one of {}", known.join(", "))),
    }
}

/// The path of a label or annotation whose key is written in another form: `metadata.labels.app`,
/// `metadata.labels["app"]`.
fn subscripted(path: &str) -> Option<String> {
    let field = ["metadata.labels", "metadata.annotations"].into_iter().find(|it| path.starts_with(it))?;
    let rest = &path[field.len()..];
    let key = rest.strip_prefix('.').or_else(|| rest.strip_prefix('[')?.strip_suffix(']'))?.trim_matches(['"', '\'']);
    (!key.is_empty() && !key.contains(['\'', '"', '[', ']'])).then(|| format!("{field}['{key}']"))
}

/// The key of a source in `valueFrom`.
fn source_name(source: &ValueSource) -> &'static str {
    match source {
        ValueSource::Field { .. } => "fieldRef",
        ValueSource::Resource { .. } => "resourceFieldRef",
        ValueSource::ConfigMap(_) => "configMapKeyRef",
        ValueSource::Secret(_) => "secretKeyRef",
        ValueSource::File { .. } => "fileKeyRef",
    }
}

fn invalid_divisor(container: &ContainerContext<'_>, resource: &str, divisor: &Text) -> Option<Finding> {
    if may_be_replaced(&divisor.value) || is_valid_divisor(resource, &divisor.value) {
        return None;
    }
    let allowed = match resource.ends_with(".cpu") {
        true => "`1` or `1m`",
        false => "`1`, `1k` … `1E`, `1Ki` … `1Ei`",
    };
    let message = format!("`{}` is not a valid divisor of `{resource}`", divisor.value);
    Some(Finding::new(container.at(divisor.span), resource, message).help(format!("use {allowed}")))
}

/// Reports each `containerName` that the pod does not have (B24).
fn check_container_names(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    if container.object.file.is_template() || container.is_partial() {
        return;
    }
    for (index, entry) in container.container.env.iter().enumerate() {
        let source = entry.from.as_ref().and_then(|it| it.sources.first());
        let Some(ValueSource::Resource { container: Some(whose), .. }) = source else { continue };
        let name = entry.name.as_ref().map_or("", |it| &it.value);
        if lacks_container(container, index) && !container.may_be_set_by_patch(name) {
            let containers = container.siblings().iter();
            let counts = containers.filter(|it| it.role != ContainerRole::Ephemeral);
            let names: Vec<&str> = counts.filter_map(|it| it.name.as_ref()).map(|it| &*it.value).collect();
            findings.push(misspelled(container, whose, "container of this pod", &names));
        }
    }
}

/// Whether the value of an entry is the resource of a container that the pod does not have.
fn lacks_container(container: &ContainerContext<'_>, index: usize) -> bool {
    let value = container.entry(index).map(|it| it.value.parts());
    matches!(value, Some([ValuePart::Unknown(UnknownReason::MissingContainer(_))]))
}
