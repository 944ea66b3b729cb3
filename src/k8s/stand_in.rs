//! Texts that stand for a value which a person or a tool writes in their place.
//!
//! This is a guess from the text alone. A wrong guess leads to a missing finding, never to a false one.

/// Words of texts that a person replaces.
const WORDS: [&str; 10] =
    ["base64", "change", "replace", "insert", "your", "placeholder", "redacted", "todo", "...", "***"];

/// The start and the end of texts that tools replace: those of SOPS, vals and Vault, and of several template engines.
const MARKS: [(&str, &str); 9] = [
    ("<", ">"),
    ("@", "@"),
    ("%", "%"),
    ("#{", "}"),
    ("__", "__"),
    ("$", ""),
    ("ENC[", "]"),
    ("ref+", ""),
    ("vault:", ""),
];

/// Whether a text only stands for another one.
pub(super) fn is_stand_in(text: &str) -> bool {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let is_capital = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_';
    let is_word = |text: &str| text.len() > 3 && text.bytes().all(|it| it.is_ascii_uppercase());
    let is_constant = is_word(text) || text.contains('_') && text.bytes().all(is_capital);
    let is_marked = |(start, end): &(&str, &str)| {
        text.strip_prefix(start).is_some_and(|rest| !rest.is_empty() && rest.ends_with(end))
    };
    is_constant || MARKS.iter().any(is_marked) || WORDS.iter().any(|it| lower.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_not_a_value() {
        for text in [
            "<password>",
            "@PASSWORD@",
            "REPLACE_ME",
            "$PASSWORD",
            "your-password-here",
            "ENC[x]",
            "__KEY__",
            "CERTIFICATE",
        ] {
            assert!(is_stand_in(text), "{text}");
        }
        for text in ["p@ssw0rd", "hunter2", "shop-user", "a_b", "100%", "ABC", ""] {
            assert!(!is_stand_in(text), "{text}");
        }
    }
}
