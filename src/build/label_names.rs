//! Names of labels and of objects.

/// Whether a text is a label key: a name, or a DNS prefix, `/` and a name.
pub fn is_qualified_name(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let edge = |it: Option<u8>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    let inner = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    prefix.is_none_or(is_dns_subdomain)
        && name.len() <= 63
        && edge(name.bytes().next())
        && edge(name.bytes().last())
        && name.bytes().all(inner)
}

/// Whether a text is a DNS-1123 subdomain, as the names of objects are.
pub fn is_dns_subdomain(name: &str) -> bool {
    let part = |it: &str| {
        let inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        !it.is_empty() && !it.starts_with('-') && !it.ends_with('-') && it.bytes().all(inner)
    };
    name.len() <= 253 && name.split('.').all(part)
}

/// Whether a DNS-1123 subdomain can start with a text. In `envFrom` this is enough for a name (X6).
pub fn is_dns_subdomain_prefix(text: &str) -> bool {
    // The API server replaces the last two characters by one letter.
    let masked = || text.strip_suffix('-').and_then(|it| it.get(..it.len().checked_sub(1)?));
    is_dns_subdomain(text) || masked().is_some_and(|it| is_dns_subdomain(&format!("{it}a")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects() {
        assert!(
            is_dns_subdomain("a.b-c1")
                && !is_dns_subdomain("a-")
                && !is_dns_subdomain("A")
                && !is_dns_subdomain("a..b")
        );
        for (text, is_prefix) in [("a", true), ("a-", true), ("a--", true), ("-", false), ("a.-", true), ("A-", true)] {
            assert_eq!(is_dns_subdomain_prefix(text), is_prefix, "{text}");
        }
        assert!(!is_dns_subdomain_prefix("") && !is_dns_subdomain_prefix("a_b-") && !is_dns_subdomain_prefix("B--"));
        assert!(is_qualified_name("app") && is_qualified_name("a.b/app") && !is_qualified_name("/app"));
    }
}
