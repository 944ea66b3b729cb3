//! Surprising behaviour of `oc process` that is reproduced and reported.

use std::collections::BTreeMap;

/// A surprising behaviour of `oc process` that is reproduced and reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quirk {
    LostOverride,
    ExclusiveEnd,
    Misread,
    LettersHaveDigits,
    LiteralPattern,
    InsertedReference,
    LostDigits,
    NullRemoves,
    SameKeys,
    LabelsReplaced,
    DroppedNamespace,
}

impl Quirk {
    fn text(self) -> &'static str {
        match self {
            Self::LostOverride => {
                "declared twice: the given value is set on the first declaration, but the last declaration is used"
            }
            Self::ExclusiveEnd => "the last character of a range is never generated (use --no-exact to include it)",
            Self::Misread => {
                "brackets that mix ranges with classes or single characters generate other characters than written"
            }
            Self::LettersHaveDigits => "`\\a` generates digits too",
            Self::LiteralPattern => "only `[…]{n}` is random; other parts of a regular expression are plain text",
            Self::InsertedReference => {
                "an inserted value contains a reference, which is replaced instead of a later one"
            }
            Self::LostDigits => "an integer above 2^53 loses digits in `${{…}}`",
            Self::NullRemoves => "`null` in `${{…}}` removes the key",
            Self::SameKeys => "a key with a parameter replaces an equal key",
            Self::LabelsReplaced => "labels with values other than strings are replaced by the labels of the template",
            Self::DroppedNamespace => "a namespace without `${…}` is removed",
        }
    }
}

/// Notices by quirk, each with the names it applies to.
#[derive(Debug, Default)]
pub(super) struct Notices(BTreeMap<Quirk, Vec<String>>);

impl Notices {
    pub(super) fn add(&mut self, quirk: Quirk, about: &str) {
        let all = self.0.entry(quirk).or_default();
        if !all.iter().any(|it| it == about) {
            all.push(about.to_owned());
        }
    }

    pub(super) fn lines(self) -> Vec<String> {
        const MOST: usize = 5;
        let line = |(quirk, about): (Quirk, Vec<String>)| {
            let more = about.len().saturating_sub(MOST);
            let mut names = about[..about.len().min(MOST)].join(", ");
            if more > 0 {
                names.push_str(&format!(" and {more} more"));
            }
            format!("{}: {names}", quirk.text())
        };
        self.0.into_iter().map(line).collect()
    }
}
