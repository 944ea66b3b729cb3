//! Scalars: their styles, and the types that kubectl gives them (Y1 to Y6).

use std::borrow::Cow;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarStyle {
    /// `text`
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// A scalar's value with the type that kubectl gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedScalar<'t> {
    /// An empty text, `~` or `null`.
    Null,
    /// A boolean in any of its spellings.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(&'t str),
    /// A text that does not match its tag, such as `!!int x`.
    Misfit,
}

impl<'t> TypedScalar<'t> {
    /// The value as a JSON key: a string is unchanged, `0x10` becomes `16`.
    pub fn into_text(self) -> Cow<'t, str> {
        match self {
            TypedScalar::Null => "null".into(),
            TypedScalar::Bool(it) => if it { "true" } else { "false" }.into(),
            TypedScalar::Int(it) => it.to_string().into(),
            TypedScalar::Float(it) => it.to_string().into(),
            TypedScalar::Str(it) => it.into(),
            TypedScalar::Misfit => "".into(),
        }
    }
}

/// The type of a scalar. A core tag decides it; otherwise only plain scalars can be other than strings (Y1).
pub(super) fn typed<'t>(value: &'t str, style: ScalarStyle, tag: Option<&str>) -> TypedScalar<'t> {
    let core = tag.and_then(|tag| {
        tag.strip_prefix("!!").or_else(|| tag.strip_prefix("!<tag:yaml.org,2002:").and_then(|it| it.strip_suffix('>')))
    });
    match core {
        Some("str" | "binary") => return TypedScalar::Str(value),
        Some("int") => return integer(value).map_or(TypedScalar::Misfit, TypedScalar::Int),
        Some("float") => {
            #[expect(clippy::cast_precision_loss, reason = "the tag requires a float")]
            return float(value).or(integer(value).map(|it| it as f64)).map_or(TypedScalar::Misfit, TypedScalar::Float);
        }
        Some("bool") => return boolean(value).map_or(TypedScalar::Misfit, TypedScalar::Bool),
        Some("null") => return if is_null(value) { TypedScalar::Null } else { TypedScalar::Misfit },
        _ => {}
    }
    if style != ScalarStyle::Plain || tag == Some("!") {
        return TypedScalar::Str(value);
    }
    if is_null(value) {
        return TypedScalar::Null;
    }
    if let Some(it) = boolean(value) {
        return TypedScalar::Bool(it);
    }
    // Numbers begin with one of these characters; most strings do not.
    if !value.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return TypedScalar::Str(value);
    }
    if let Some(it) = integer(value) {
        return TypedScalar::Int(it);
    }
    if let Some(it) = float(value) {
        return TypedScalar::Float(it);
    }
    TypedScalar::Str(value)
}

/// Y3.
fn is_null(value: &str) -> bool {
    matches!(value, "" | "~" | "null" | "Null" | "NULL")
}

/// Y2.
fn boolean(value: &str) -> Option<bool> {
    match value {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// Y4: 64 bits, signed or unsigned, after every `_` is removed.
fn integer(value: &str) -> Option<i128> {
    let digits: Cow<'_, str> = if value.contains('_') { value.replace('_', "").into() } else { value.into() };
    let (negative, digits) = match digits.as_bytes().first()? {
        b'-' => (true, &digits[1..]),
        b'+' => (false, &digits[1..]),
        _ => (false, &digits[..]),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    // `from_str_radix` would accept a second sign.
    if !digits.starts_with(|first: char| first.is_ascii_hexdigit()) {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let number = if negative { -magnitude } else { magnitude };
    (number >= i128::from(i64::MIN)).then_some(number)
}

/// Y5.
fn float(value: &str) -> Option<f64> {
    match value.strip_prefix(['+', '-']).unwrap_or(value) {
        ".inf" | ".Inf" | ".INF" => {
            return Some(if value.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        ".nan" | ".NaN" | ".NAN" if value.starts_with('.') => return Some(f64::NAN),
        _ => {}
    }
    let digits: Cow<'_, str> = if value.contains('_') { value.replace('_', "").into() } else { value.into() };
    let rest = digits.strip_prefix(['+', '-']).unwrap_or(&digits);
    let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = whole;
    if rest.as_bytes().get(end) == Some(&b'.') {
        let decimals = rest[end + 1..].bytes().take_while(u8::is_ascii_digit).count();
        if whole == 0 && decimals == 0 {
            return None;
        }
        end += 1 + decimals;
    } else if whole == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = rest.as_bytes().get(end) {
        let exponent = rest[end + 1..].strip_prefix(['+', '-']).unwrap_or(&rest[end + 1..]);
        if exponent.is_empty() || !exponent.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        end = rest.len();
    }
    if end == rest.len() { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_the_types_kubectl_gives_them() {
        let of = |value| typed(value, ScalarStyle::Plain, None);
        for text in ["yes", "on", "Y", "True"] {
            assert_eq!(of(text), TypedScalar::Bool(true), "{text}");
        }
        for text in ["", "~", "Null"] {
            assert_eq!(of(text), TypedScalar::Null, "{text}");
        }
        for (text, number) in [
            ("8080", 8080),
            ("-1", -1),
            ("+1", 1),
            ("010", 8),
            ("0o10", 8),
            ("0x1F", 31),
            ("0b11", 3),
            ("1_000", 1000),
            ("18446744073709551615", i128::from(u64::MAX)),
        ] {
            assert_eq!(of(text), TypedScalar::Int(number), "{text}");
        }
        for (text, number) in [("08", 8.0), ("1e3", 1000.0), ("1.", 1.0), (".5", 0.5), ("-1.5", -1.5)] {
            assert_eq!(of(text), TypedScalar::Float(number), "{text}");
        }
        for text in ["1.2.3", "10m", "12:30:45", "2024-01-02", "tRue", ".", "e3", "1e", "--1", "0x", "-", "+-1", "a_1"]
        {
            assert_eq!(of(text), TypedScalar::Str(text), "{text}");
        }
    }

    #[test]
    fn a_core_tag_decides() {
        assert_eq!(typed("80", ScalarStyle::DoubleQuoted, Some("!!int")), TypedScalar::Int(80));
        assert_eq!(typed("8080", ScalarStyle::Plain, Some("!!str")), TypedScalar::Str("8080"));
        assert_eq!(typed("false", ScalarStyle::SingleQuoted, Some("!!bool")), TypedScalar::Bool(false));
        assert_eq!(typed("x", ScalarStyle::Plain, Some("!!int")), TypedScalar::Misfit);
        assert_eq!(typed("8080", ScalarStyle::DoubleQuoted, None), TypedScalar::Str("8080"));
        assert_eq!(typed("80", ScalarStyle::Plain, Some("!<tag:yaml.org,2002:str>")), TypedScalar::Str("80"));
    }
}
