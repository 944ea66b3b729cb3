//! Valid names of services, by release (S4), and of variables.

pub use crate::build::{is_relaxed_variable_name, is_strict_variable_name};
use crate::workspace::KubernetesVersion;

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
}
