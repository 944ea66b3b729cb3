//! The prefix that the variables of a service share.

/// The prefix of a service's variables (S4).
pub fn service_prefix(service: &str) -> String {
    service.replace('-', "_").to_ascii_uppercase()
}
