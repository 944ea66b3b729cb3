//! Valid names of variables and services, by release (V1 to V3, S4).

use crate::workspace::KubernetesVersion;

/// V1: letters, digits, `-`, `.` and `_`, not starting with a digit.
pub fn is_strict_variable_name(name: &str) -> bool {
    let ordinary = |it: u8| it.is_ascii_alphabetic() || matches!(it, b'-' | b'.' | b'_');
    let mut bytes = name.bytes();
    bytes.next().is_some_and(ordinary)
        && bytes.all(|it| ordinary(it) || it.is_ascii_digit())
        && name != "."
        && !name.starts_with("..")
}

/// V2: printable ASCII characters except `=`.
pub fn is_relaxed_variable_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| (0x20..=0x7e).contains(&it) && it != b'=')
}

/// Whether a text is a service name: a DNS label. S4: since 1.36 it may start with a digit.
pub fn is_service_name(name: &str, release: KubernetesVersion) -> bool {
    let ordinary = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let first = |it: u8| it.is_ascii_lowercase() || release.is_at_least(36) && it.is_ascii_digit();
    name.len() <= 63
        && name.bytes().next().is_some_and(first)
        && name.bytes().last().is_some_and(ordinary)
        && name.bytes().all(|it| ordinary(it) || it == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_services() {
        for name in ["a", "redis-master", "a1"] {
            assert!(is_service_name(name, KubernetesVersion::minor(30)), "{name}");
        }
        for name in ["", "A", "a_b", "a.b", "-a", "a-", &"a".repeat(64)] {
            assert!(!is_service_name(name, KubernetesVersion::NEWEST), "{name}");
        }
        assert!(
            is_service_name("1a", KubernetesVersion::minor(36)) && !is_service_name("1a", KubernetesVersion::minor(35))
        );
    }

    #[test]
    fn strict_and_relaxed() {
        for name in ["A", "_a", "a.b-c", ".a", "-", "A1"] {
            assert!(is_strict_variable_name(name) && is_relaxed_variable_name(name), "{name}");
        }
        for name in ["1A", "a b", "a(b)", "..a", "..", "."] {
            assert!(!is_strict_variable_name(name) && is_relaxed_variable_name(name), "{name}");
        }
        for name in ["", "a=b", "ü", "a\n"] {
            assert!(!is_strict_variable_name(name) && !is_relaxed_variable_name(name), "{name}");
        }
    }
}
