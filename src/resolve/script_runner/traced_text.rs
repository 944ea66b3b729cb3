//! Text with the origin of each character: its position in a script, and whether it is secret.
//!
//! A text is known up to some character. After that it is open: any text may follow.

use std::sync::Arc;

use crate::resolve::value::{ResolvedValue, UnknownReason, ValuePart};
use crate::syntax::ShellQuote;
use crate::text::Span;

/// The maximum number of known characters of a text.
const MAX_LENGTH: usize = 128 * 1024;

/// The character for a part of a value that only the cluster knows.
const PLACEHOLDER: char = '\u{fffc}';

/// A text with the origins of its characters.
#[derive(Clone, Debug, Default)]
pub(in crate::resolve) struct TracedText {
    pub(in crate::resolve) characters: Vec<TracedCharacter>,
    /// Whether unknown text may follow.
    pub(in crate::resolve) is_open: bool,
}

/// A character with its origin.
#[derive(Clone, Debug)]
pub(in crate::resolve) struct TracedCharacter {
    pub(in crate::resolve) value: char,
    /// The position in the script that writes it.
    pub(in crate::resolve) place: ScriptPosition,
    /// Whether it is quoted or escaped, so that the shell does not split or match it.
    pub(in crate::resolve) is_literal: bool,
    /// The secret or unknown part of a value that it comes from.
    pub(in crate::resolve) origin: Option<Arc<ValuePart>>,
}

/// A range of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::resolve) struct ScriptPosition {
    /// The index of the script.
    pub(in crate::resolve) script: u32,
    pub(in crate::resolve) start: u32,
    pub(in crate::resolve) end: u32,
    pub(in crate::resolve) quote: ShellQuote,
}

impl ScriptPosition {
    pub(in crate::resolve) fn new(script: u32, span: Span, quote: ShellQuote) -> Self {
        let narrow = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        Self { script, start: narrow(span.start), end: narrow(span.end), quote }
    }

    pub(in crate::resolve) fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

/// Texts are equal if they have the same characters; positions are not compared.
impl PartialEq for TracedText {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&TracedCharacter, &TracedCharacter)| (a.value, &a.origin) == (b.value, &b.origin);
        self.is_open == other.is_open
            && self.characters.len() == other.characters.len()
            && self.characters.iter().zip(&other.characters).all(same)
    }
}

impl TracedText {
    /// An unknown text.
    pub(in crate::resolve) fn open() -> Self {
        Self { characters: Vec::new(), is_open: true }
    }

    pub(in crate::resolve) fn push(&mut self, character: TracedCharacter) {
        self.is_open |= self.characters.len() >= MAX_LENGTH;
        if !self.is_open {
            self.characters.push(character);
        }
    }

    pub(in crate::resolve) fn append(&mut self, other: &TracedText) {
        other.characters.iter().for_each(|it| self.push(it.clone()));
        self.is_open |= other.is_open;
    }

    /// The value of an environment variable at a position of a script.
    pub(in crate::resolve) fn from_value(value: &ResolvedValue, place: ScriptPosition, is_literal: bool) -> Self {
        let mut text = Self::default();
        for piece in value.parts() {
            match piece {
                ValuePart::Text(known) => {
                    known
                        .chars()
                        .for_each(|value| text.push(TracedCharacter { value, place, is_literal, origin: None }));
                }
                ValuePart::Secret { text: known, of } => {
                    for value in known.chars() {
                        let shown: Arc<str> = value.to_string().into();
                        let origin = Some(Arc::new(ValuePart::Secret { text: shown, of: Arc::clone(of) }));
                        text.push(TracedCharacter { value, place, is_literal, origin });
                    }
                }
                ValuePart::Unknown(reason) if is_single_word(reason) => {
                    let origin = Some(Arc::new(piece.clone()));
                    text.push(TracedCharacter { value: PLACEHOLDER, place, is_literal, origin });
                }
                ValuePart::Unknown(_) => text.is_open = true,
            }
        }
        text
    }

    /// The text, if it is completely known.
    pub(in crate::resolve) fn known(&self) -> Option<String> {
        let is_plain = |it: &TracedCharacter| !matches!(it.origin.as_deref(), Some(ValuePart::Unknown(_)));
        (!self.is_open && self.characters.iter().all(is_plain))
            .then(|| self.characters.iter().map(|it| it.value).collect())
    }

    /// Whether it is certainly equal to a text.
    pub(in crate::resolve) fn is(&self, text: &str) -> bool {
        !self.is_open && self.characters.len() == text.len() && self.starts_with(text)
    }

    /// Whether it certainly starts with a text.
    pub(in crate::resolve) fn starts_with(&self, text: &str) -> bool {
        let mut own = self.characters.iter();
        text.chars().all(|it| own.next().is_some_and(|own| own.value == it && own.origin.is_none()))
    }

    /// The common start of both texts; open, unless they are equal.
    pub(in crate::resolve) fn common_start(&self, other: &TracedText) -> TracedText {
        if self == other {
            return self.clone();
        }
        let same = |(a, b): &(&TracedCharacter, &TracedCharacter)| (a.value, &a.origin) == (b.value, &b.origin);
        let both = self.characters.iter().zip(&other.characters).take_while(same).map(|(it, _)| it.clone());
        TracedText { characters: both.collect(), is_open: true }
    }

    /// Removes line breaks from the end, as command substitution does.
    pub(in crate::resolve) fn without_final_newlines(mut self) -> Self {
        while self.characters.last().is_some_and(|it| it.value == '\n') {
            self.characters.pop();
        }
        self
    }
}

/// Whether the value is a single word without special characters: an address, a number, a name.
fn is_single_word(reason: &UnknownReason) -> bool {
    match reason {
        UnknownReason::ClusterIp(_) | UnknownReason::ServicePort(_) | UnknownReason::Resource(_) => true,
        UnknownReason::Field(path) => !path.contains(['[', ']']),
        _ => false,
    }
}
