//! The rule `secret-newline`.

use crate::diagnostic::Fix;
use crate::k8s::{DataEntry, ObjectData};
use crate::resolve::OriginKind;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::data_users::{data_users, variable_of};
use crate::syntax::{Node, has_placeholder};

declare_rule! {
    /// Reports a value of a Secret that ends in a newline.
    ///
    /// ## What it does
    /// Looks at values of one line in Secrets: `data` that was encoded with a newline at its end, and blocks in
    /// `stringData` written with `|`. Values of several lines are files, and so are keys such as `tls.crt` and Secrets of a
    /// special type, unless a container gets the key as a variable. The finding covers the value, and never shows it.
    ///
    /// ## Why it matters
    /// The newline is part of the value: a login with such a password fails, and a URL made of it is broken.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata: {name: login}
    /// stringData:
    ///   user: |
    ///     shop
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata: {name: login}
    /// stringData:
    ///   user: shop
    /// ```
    ///
    /// ## Fix
    /// Writes `|-` for a block in `stringData`. Unsafe: the program may expect the newline. None for `data`, because an
    /// edit would show the value.
    name: "secret-newline",
    level: Info,
    checks: [Object(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let ObjectData::Secret(data) = &object.object.model.data else { return };
    for key in data.keys.iter().filter(|it| ends_in_newline(it)) {
        let Some(span) = key.value_span else { continue };
        let name = &key.key.value;
        if (is_file_name(name) || !has_plain_type(object)) && !is_variable(object, name) {
            continue;
        }
        let finding = Finding::new(object.at(span), name, format!("the value of `{name}` ends in a newline"));
        findings.push(match chomp_fix(object, key) {
            Some(fix) => finding.help("`|-` in place of `|` leaves it out").fix(Some(fix)),
            None if is_plain(object, key) => finding.help("its text should not end in a newline"),
            None => finding.help("encode it without the newline: `printf %s … | base64`"),
        });
    }
}

/// Whether a container gets a key of the Secret as a variable.
fn is_variable(object: &ObjectContext<'_>, key: &str) -> bool {
    let Some(name) = object.object.model.reference_name() else { return false };
    data_users(object).any(|it| variable_of(it, OriginKind::Secret, name, key).is_some())
}

/// Whether the value is written in `stringData`, and so is not encoded.
fn is_plain(object: &ObjectContext<'_>, key: &DataEntry) -> bool {
    let Some(place) = key.value_span.map(|it| object.at(it).span.start) else { return false };
    let is_inside = |secret: Node<'_>| secret.get("stringData").is_some_and(|it| it.span().touches(place));
    with_secret(object, is_inside).unwrap_or_default()
}

/// Whether the type of the Secret is that of values for programs: other types have files, or keys of a storage system.
fn has_plain_type(object: &ObjectContext<'_>) -> bool {
    let is_plain = |secret: Node<'_>| match secret.get("type").and_then(Node::string) {
        None | Some("" | "Opaque" | "kubernetes.io/basic-auth") => true,
        Some(_) => false,
    };
    with_secret(object, is_plain).unwrap_or(true)
}

/// Looks at the mapping of the Secret in its file.
fn with_secret<T>(object: &ObjectContext<'_>, look: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let (source, start) = (object.file.parsed_text()?, object.object.source.offset);
    let path = source.tree.document_at(start)?.root()?.path_to(start);
    path.into_iter().rfind(|it| it.is_mapping() && it.span().start == start).map(look)
}

/// Whether a value is one line with a newline after it.
fn ends_in_newline(key: &DataEntry) -> bool {
    let Some(line) = key.value.as_deref().and_then(|it| it.strip_suffix('\n')) else { return false };
    let line = line.strip_suffix('\r').unwrap_or(line);
    !line.is_empty() && !line.contains('\n') && !has_placeholder(line)
}

/// Keys of files that are mounted, without an extension.
const FILES: [&str; 9] = [
    "htpasswd",
    "auth",
    "known_hosts",
    "authorized_keys",
    "kubeconfig",
    "ssh-publickey",
    "ssh-privatekey",
    "cert",
    "ca",
];

/// Whether a key is the name of a file.
fn is_file_name(key: &str) -> bool {
    key.contains('.') || FILES.contains(&key) || key.starts_with("id_")
}

/// The fix that ends a block without a newline.
fn chomp_fix(object: &ObjectContext<'_>, key: &DataEntry) -> Option<Fix> {
    let span = key.value_span.filter(|it| object.object.is_literal_at(*it) && is_plain(object, key))?;
    let place = object.at(span);
    let source = object.file.parsed_text().filter(|_| place.file == *object.file.path)?;
    let written = source.text.get(place.span.range())?;
    let header = written.lines().next()?.trim_end();
    if !matches!(header, "|" | ">") {
        return None;
    }
    let mut at = place;
    at.span.start += header.len();
    at.span.end = at.span.start;
    let title = format!("End `{}` without a newline", key.key.value);
    Some(Fix { title, safe: false, edits: vec![edit(at, "-")] })
}
