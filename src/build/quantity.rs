//! Quantities such as `500m` and `1.5Gi`, exact to a billionth, as the API parses them.

/// A quantity in billionths; smaller fractions are rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

const UNIT: i128 = 1_000_000_000;

impl Quantity {
    /// Parses a decimal number with an optional binary suffix, decimal suffix or exponent.
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.find(|it: char| !matches!(it, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (negative, digits) = match number.as_bytes().first()? {
            b'-' => (true, &number[1..]),
            b'+' => (false, &number[1..]),
            _ => (false, number),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.len() + fraction.len() == 0 || !whole.bytes().chain(fraction.bytes()).all(|it| it.is_ascii_digit()) {
            return None;
        }
        let (multiple, exponent) = scale(suffix)?;
        let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent + 9 - i32::try_from(fraction.len()).ok()?;
        let scaled = mantissa.checked_mul(multiple)?;
        let power = 10_i128.checked_pow(exponent.unsigned_abs());
        let billionths = match (exponent >= 0, power) {
            (true, Some(power)) => scaled.checked_mul(power)?,
            (true, None) if scaled != 0 => return None,
            (false, Some(power)) if negative => scaled / power,
            (false, Some(power)) => ceiling(scaled, power),
            (_, None) => i128::from(scaled != 0 && !negative),
        };
        Some(Self(if negative { -billionths } else { billionths }))
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The quotient, rounded up (B24). Both quantities are first rounded up to thousandths for CPU, to whole units
    /// otherwise.
    pub fn divided(self, divisor: Self, in_thousandths: bool) -> Option<i64> {
        let unit = if in_thousandths { UNIT / 1000 } else { UNIT };
        let (amount, divisor) = (ceiling(self.0, unit), ceiling(divisor.0, unit));
        if divisor <= 0 {
            return None;
        }
        i64::try_from(ceiling(amount, divisor)).ok()
    }
}

/// The factor and the power of ten of a suffix.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    Some(match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            (1, exponent.parse::<i16>().ok()?.into())
        }
    })
}

fn ceiling(amount: i128, divisor: i128) -> i128 {
    amount.div_euclid(divisor) + i128::from(amount.rem_euclid(divisor) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(amount: &str, divisor: &str, cpu: bool) -> Option<i64> {
        Quantity::parse(amount)?.divided(Quantity::parse(divisor)?, cpu)
    }

    #[test]
    fn division_rounds_up() {
        assert_eq!(divided("250m", "1", true), Some(1));
        assert_eq!(divided("250m", "1m", true), Some(250));
        assert_eq!(divided("1.5", "1m", true), Some(1500));
        assert_eq!(divided("0.5m", "1m", true), Some(1));
        assert_eq!(divided("1.5Gi", "1Mi", false), Some(1536));
        assert_eq!(divided("1G", "1Mi", false), Some(954));
        assert_eq!(divided("1e3", "1", false), Some(1000));
        assert_eq!(divided("100", "1k", false), Some(1));
        assert_eq!(divided("7Ei", "1", false), Some(7 << 60));
        assert_eq!(divided("0", "1", false), Some(0));
        assert_eq!(divided("128974848000m", "1", false), Some(128_974_848));
    }

    #[test]
    fn other_texts_are_not_quantities() {
        for text in ["", "m", "1.2.3", "1 Gi", "1gi", "--1", "1e", "1e99999", "0x10", "1_000"] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
        assert_eq!(Quantity::parse("1e-30"), Quantity::parse("1n"));
        assert_eq!(Quantity::parse("0e300"), Quantity::parse("0"));
        assert_eq!(Quantity::parse(".5"), Quantity::parse("500m"));
        assert_eq!(Quantity::parse("5."), Quantity::parse("5"));
    }
}
