//! Text that remembers where each of its characters comes from: which place of which script, and what is secret.
//!
//! A text is known up to a point. Behind the first thing that cannot be followed it is open, and nothing more is kept
//! of it.

use std::sync::Arc;

use crate::resolve::value::{ResolvedValue, UnknownReason, ValuePart};
use crate::syntax::ShellQuote;
use crate::text::Span;

/// Longer texts are followed up to here.
const LONGEST: usize = 128 * 1024;

/// What stands for a part of a value that only the cluster knows.
const PLACEHOLDER: char = '\u{fffc}';

/// A text with its way.
#[derive(Clone, Debug, Default)]
pub(in crate::resolve) struct TracedText {
    pub(in crate::resolve) characters: Vec<TracedCharacter>,
    /// Whether anything may follow.
    pub(in crate::resolve) is_open: bool,
}

/// A character with its way.
#[derive(Clone, Debug)]
pub(in crate::resolve) struct TracedCharacter {
    pub(in crate::resolve) value: char,
    /// Where the script says so.
    pub(in crate::resolve) place: ScriptPosition,
    /// Whether quotes or an escape keep the shell from splitting and matching it.
    pub(in crate::resolve) is_literal: bool,
    /// What it stands for, if it is not simply text.
    pub(in crate::resolve) origin: Option<Arc<ValuePart>>,
}

/// A place in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::resolve) struct ScriptPosition {
    /// The number of the script.
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

/// Equal is what reads the same, wherever it comes from.
impl PartialEq for TracedText {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&TracedCharacter, &TracedCharacter)| (a.value, &a.origin) == (b.value, &b.origin);
        self.is_open == other.is_open
            && self.characters.len() == other.characters.len()
            && self.characters.iter().zip(&other.characters).all(same)
    }
}

impl TracedText {
    /// Nothing is known of it.
    pub(in crate::resolve) fn open() -> Self {
        Self { characters: Vec::new(), is_open: true }
    }

    pub(in crate::resolve) fn push(&mut self, character: TracedCharacter) {
        self.is_open |= self.characters.len() >= LONGEST;
        if !self.is_open {
            self.characters.push(character);
        }
    }

    pub(in crate::resolve) fn append(&mut self, other: &TracedText) {
        other.characters.iter().for_each(|it| self.push(it.clone()));
        self.is_open |= other.is_open;
    }

    /// A value of the environment, as it arrives at a place of a script.
    pub(in crate::resolve) fn of_value(value: &ResolvedValue, place: ScriptPosition, is_literal: bool) -> Self {
        let mut text = Self::default();
        for piece in value.pieces() {
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
                ValuePart::Unknown(hole) if is_tame(hole) => {
                    let origin = Some(Arc::new(piece.clone()));
                    text.push(TracedCharacter { value: PLACEHOLDER, place, is_literal, origin });
                }
                ValuePart::Unknown(_) => text.is_open = true,
            }
        }
        text
    }

    /// The text, if all of it is known for certain.
    pub(in crate::resolve) fn known(&self) -> Option<String> {
        let is_plain = |it: &TracedCharacter| !matches!(it.origin.as_deref(), Some(ValuePart::Unknown(_)));
        (!self.is_open && self.characters.iter().all(is_plain))
            .then(|| self.characters.iter().map(|it| it.value).collect())
    }

    /// Whether it is certainly this.
    pub(in crate::resolve) fn is(&self, text: &str) -> bool {
        !self.is_open && self.characters.len() == text.len() && self.starts_with(text)
    }

    /// Whether it certainly begins with this.
    pub(in crate::resolve) fn starts_with(&self, text: &str) -> bool {
        let mut own = self.characters.iter();
        text.chars().all(|it| own.next().is_some_and(|own| own.value == it && own.origin.is_none()))
    }

    /// What both begin with; open, unless they are the same.
    pub(in crate::resolve) fn common(&self, other: &TracedText) -> TracedText {
        if self == other {
            return self.clone();
        }
        let same = |(a, b): &(&TracedCharacter, &TracedCharacter)| (a.value, &a.origin) == (b.value, &b.origin);
        let both = self.characters.iter().zip(&other.characters).take_while(same).map(|(it, _)| it.clone());
        TracedText { characters: both.collect(), is_open: true }
    }

    /// As command substitution gives it.
    pub(in crate::resolve) fn without_last_lines(mut self) -> Self {
        while self.characters.last().is_some_and(|it| it.value == '\n') {
            self.characters.pop();
        }
        self
    }
}

/// Whether what the cluster will put here is one plain word: an address, a number, a name.
fn is_tame(hole: &UnknownReason) -> bool {
    match hole {
        UnknownReason::ClusterIp(_) | UnknownReason::ServicePort(_) | UnknownReason::Resource(_) => true,
        UnknownReason::Field(path) => !path.contains(['[', ']']),
        _ => false,
    }
}
