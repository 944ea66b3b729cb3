//! Valid names of variables (V1 to V3).

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

#[cfg(test)]
mod tests {
    use super::*;

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
