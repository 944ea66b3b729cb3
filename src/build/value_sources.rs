//! Sources of variables that the API server accepts (V8 to V12).

use crate::build::label_names::is_qualified_name;
use crate::build::quantity::Quantity;
use crate::build::variable_names::is_relaxed_variable_name;

/// Field paths that a variable can refer to (V8).
pub const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Whether a variable can refer to a `fieldPath` (V8, B21).
pub fn is_env_field(path: &str) -> bool {
    let entry = |(map, key): (&str, &str)| match map {
        "metadata.labels" => is_qualified_name(key),
        // V8: keys of annotations are compared in lower case.
        "metadata.annotations" => is_qualified_name(&key.to_ascii_lowercase()),
        _ => false,
    };
    ENV_FIELDS.contains(&path) || path == "spec.host" || split_subscript(path).is_some_and(entry)
}

/// The resources of every container that a variable can refer to (V10).
pub const ENV_RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
];

/// Whether a variable can refer to a `resource` (V10).
pub fn is_env_resource(resource: &str) -> bool {
    let Some((section, what)) = resource.split_once('.') else { return false };
    let known = matches!(what, "cpu" | "memory" | "ephemeral-storage") || what.starts_with("hugepages-");
    matches!(section, "limits" | "requests") && known
}

/// Whether a `divisor` is valid for a resource (V10).
pub fn is_valid_divisor(resource: &str, text: &str) -> bool {
    let Some(divisor) = Quantity::parse(text) else { return false };
    // X5: the text is compared, so `1024` is not `1Ki`, and `1e3` is not `1k`.
    let allowed: &[&str] = match (resource.ends_with(".cpu"), text.ends_with('i')) {
        (true, _) => &["1", "1m"],
        (false, true) => &["1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"],
        (false, false) => &["1", "1k", "1M", "1G", "1T", "1P", "1E"],
    };
    let end = text.find(|it: char| !matches!(it, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let is_plain = !number.starts_with(['0', '+']) || number.starts_with("0.");
    let has_exponent = suffix.len() > 1 && suffix.starts_with(['e', 'E']) && suffix != "Ei";
    let is_text_form = is_plain && !number.ends_with('.') && !has_exponent;
    divisor.is_zero() || is_text_form && allowed.iter().any(|it| Quantity::parse(it) == Some(divisor))
}

/// Splits `metadata.labels['key']` into the map and the key.
pub fn split_subscript(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['")
}

/// V11: whether a text has only characters of ConfigMap and Secret keys. `date +%s` is never a key.
pub fn has_data_key_characters(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_'))
}

/// V11: whether a text can be a key of a ConfigMap or Secret.
pub fn is_data_key(key: &str) -> bool {
    has_data_key_characters(key) && key.len() <= 253 && key != "." && !key.starts_with("..")
}

/// Whether a text is a name of a volume: a DNS label.
pub fn is_volume_name(name: &str) -> bool {
    let ordinary = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let is_edge = |it: Option<u8>| it.is_some_and(ordinary);
    name.len() <= 63
        && is_edge(name.bytes().next())
        && is_edge(name.bytes().last())
        && name.bytes().all(|it| ordinary(it) || it == b'-')
}

/// Whether a path leaves its volume.
pub fn has_parent_element(path: &str) -> bool {
    path.split('/').any(|it| it == "..")
}

/// What is wrong with a field of `fileKeyRef` that is not empty, and what to do (V12).
pub fn env_file_field_problem(field: &str, text: &str) -> Option<(String, &'static str)> {
    match field {
        "volumeName" if !is_volume_name(text) => Some((
            format!("`{text}` is not a valid name of a volume"),
            "a name has lower-case letters, digits and `-`, and at most 63 characters",
        )),
        "path" if has_parent_element(text) => {
            Some((format!("`{text}` leaves the volume"), "write the path from the top of the volume, without `..`"))
        }
        "key" if !is_relaxed_variable_name(text) => Some((
            format!("`{}` is not a valid key of an env file", text.escape_debug()),
            "a key has printable ASCII characters except `=`",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_compared_as_text() {
        // X5.
        for text in ["1024", "1048576", "1e3", "1e6", "1E3", "1e0", "01", "+1", "1."] {
            assert!(!is_valid_divisor("limits.memory", text), "{text}");
        }
        for text in ["1000", "1000k", "1000m", "1", "1k", "1Ki", "1Ei", "1E", "0", "00", "0.0"] {
            assert!(is_valid_divisor("limits.memory", text), "{text}");
        }
    }

    #[test]
    fn valid_fields_resources_and_divisors() {
        for path in [
            "metadata.uid",
            "spec.host",
            "metadata.labels['a/b.c']",
            "metadata.annotations['App']",
            "metadata.annotations['Example.COM/Key']",
        ] {
            assert!(is_env_field(path), "{path}");
        }
        for path in [
            "metadata.labels",
            "metadata.labels['Example.COM/Key']",
            "spec.replicas",
            "metadata.labels[\"a\"]",
            "metadata.labels['']",
            "status.phase",
        ] {
            assert!(!is_env_field(path), "{path}");
        }
        assert!(is_env_resource("limits.hugepages-2Mi") && !is_env_resource("limits.gpu") && !is_env_resource("cpu"));
        assert!(
            is_valid_divisor("limits.cpu", "1000m")
                && is_valid_divisor("limits.memory", "1Mi")
                && is_valid_divisor("limits.cpu", "0")
        );
        assert!(
            !is_valid_divisor("limits.cpu", "1Mi")
                && !is_valid_divisor("limits.memory", "1m")
                && !is_valid_divisor("limits.cpu", "x")
        );
    }
}
