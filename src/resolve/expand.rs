//! Expands `$(NAME)` in a text exactly as the kubelet does (E1 to E15).
//!
//! The text is read once from left to right, and inserted values are not expanded again (E1). Unknown parts of values
//! are copied.

use std::ops::Range;
use std::sync::Arc;

use crate::resolve::binding::Lookup;
use crate::resolve::unresolved::UnresolvedReason;
use crate::resolve::value::{ResolvedValue, UnknownReason, ValuePart};
use crate::syntax::{DollarTokenKind, dollar_tokens};
use crate::workspace::KubernetesVersion;

/// How the character after a single dollar sign is copied (E11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DollarCopying {
    /// As a character.
    #[default]
    Characters,
    /// Its first byte as a character, which corrupts everything that is not ASCII.
    Bytes,
}

impl DollarCopying {
    /// The behaviour of a release. E11: fixed in 1.36.0, 1.35.1 and 1.34.4.
    pub fn for_release(release: KubernetesVersion) -> Self {
        let fixed = match release.minor {
            34 => release.is_at_least_patch(34, 4),
            35 => release.is_at_least_patch(35, 1),
            _ => release.is_at_least(36),
        };
        if fixed { Self::Characters } else { Self::Bytes }
    }
}

/// A text after expansion, with its steps.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    /// The result.
    pub value: ResolvedValue,
    /// One step for each reference, from left to right.
    pub steps: Vec<ExpansionStep>,
}

/// One reference and its result.
#[derive(Clone, Debug)]
pub struct ExpansionStep {
    /// The range of `$(NAME)` in the expanded text.
    pub range: Range<usize>,
    /// The name as written.
    pub name: Arc<str>,
    /// The result of looking up the name.
    pub outcome: Lookup,
    /// Why it is not expanded; `None` if it is, or if something outside of the workspace may define the name.
    pub unresolved: Option<UnresolvedReason>,
}

impl ExpansionStep {
    /// The text that replaces the reference.
    pub fn value(&self) -> ResolvedValue {
        match &self.outcome {
            Lookup::Bound(binding) => binding.value.clone(),
            Lookup::Maybe(reason) => ResolvedValue::unknown(reason.clone()),
            // E8: the reference is copied.
            Lookup::Later(_) | Lookup::Unbound => ResolvedValue::text(format!("$({})", self.name)),
        }
    }
}

/// Longer values are cut off as unknown. A program cannot be started with a variable of a tenth of this length, and
/// some entries that double each other would exhaust the memory.
const LONGEST: usize = 1 << 20;
/// The same limit for the number of parts.
const MOST_PIECES: usize = 1 << 10;

/// Expands a text with the variables of `lookup`.
pub fn expand(text: &Arc<str>, copying: DollarCopying, mut lookup: impl FnMut(&str) -> Lookup) -> Expansion {
    if !text.contains('$') {
        return Expansion { value: ResolvedValue::written(Arc::clone(text)), steps: Vec::new() };
    }
    let mut result = Expansion::default();
    let mut pending = String::new();
    let mut at = 0;
    for token in dollar_tokens(text) {
        pending.push_str(&text[at..token.range.start]);
        at = token.range.end;
        match token.kind {
            DollarTokenKind::Reference => {
                let name = &text[token.name_range()];
                let outcome = lookup(name);
                match &outcome {
                    Lookup::Bound(binding) => {
                        for part in binding.value.parts() {
                            match part {
                                ValuePart::Text(it) => pending.push_str(it),
                                other => {
                                    flush(&mut pending, &mut result.value);
                                    result.value.push(other.clone());
                                }
                            }
                        }
                    }
                    Lookup::Maybe(reason) => {
                        flush(&mut pending, &mut result.value);
                        result.value.push(ValuePart::Unknown(reason.clone()));
                    }
                    // E8: the reference is copied.
                    Lookup::Later(_) | Lookup::Unbound => pending.push_str(&text[token.range.clone()]),
                }
                result.steps.push(ExpansionStep { range: token.range, name: name.into(), outcome, unresolved: None });
                if pending.len() > LONGEST || result.value.parts().len() > MOST_PIECES {
                    result.value = ResolvedValue::unknown(UnknownReason::TooLong);
                    return result;
                }
            }
            DollarTokenKind::Escape => pending.push('$'),
            DollarTokenKind::Plain if copying == DollarCopying::Bytes => copy_bytes(&text[token.range], &mut pending),
            DollarTokenKind::Unterminated | DollarTokenKind::Plain => pending.push_str(&text[token.range]),
        }
    }
    pending.push_str(&text[at..]);
    flush(&mut pending, &mut result.value);
    result
}

/// Text is collected into one part, so that equal results have equal parts.
fn flush(pending: &mut String, value: &mut ResolvedValue) {
    if !pending.is_empty() {
        value.append(&ResolvedValue::written(std::mem::take(pending).into()));
    }
}

/// E11, before the fix: the first byte becomes a character, the others are invalid bytes, shown as U+FFFD.
fn copy_bytes(token: &str, into: &mut String) {
    let mut bytes = token.bytes();
    into.extend(bytes.by_ref().take(2).map(char::from));
    into.extend(bytes.map(|_| char::REPLACEMENT_CHARACTER));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::binding::Binding;

    #[test]
    fn values_that_double_each_other_end() {
        for first in [
            ResolvedValue::text("0123456789"),
            ResolvedValue::unknown(UnknownReason::Unfinished),
            ResolvedValue::secret("0123456789", "s/k"),
        ] {
            let mut last = Arc::new(Binding { value: first, ..Binding::literal("X", "") });
            for _ in 0..64 {
                let expansion =
                    expand(&"$(X)$(X)".into(), DollarCopying::Characters, |_| Lookup::Bound(Arc::clone(&last)));
                last = Arc::new(Binding { value: expansion.value, ..Binding::literal("X", "") });
            }
            assert!(last.value.parts().len() < 2 * MOST_PIECES, "{} pieces", last.value.parts().len());
            assert!(last.value.revealed().len() < 4 * LONGEST);
        }
    }

    #[test]
    fn unknown_parts_are_copied_and_steps_have_ranges() {
        let ip = Arc::new(Binding {
            value: ResolvedValue::unknown(UnknownReason::ClusterIp("redis".into())),
            ..Binding::literal("HOST", "")
        });
        let text: Arc<str> = "http://$(HOST):$(PORT)/$$".into();
        let expansion = expand(&text, DollarCopying::Characters, |name| match name {
            "HOST" => Lookup::Bound(Arc::clone(&ip)),
            _ => Lookup::Unbound,
        });
        assert_eq!(expansion.value.to_string(), "http://<cluster IP of redis>:$(PORT)/$");
        let steps: Vec<_> =
            expansion.steps.iter().map(|it| (&text[it.range.clone()], it.value().to_string())).collect();
        assert_eq!(steps, [("$(HOST)", "<cluster IP of redis>".into()), ("$(PORT)", "$(PORT)".to_owned())]);
    }
}
