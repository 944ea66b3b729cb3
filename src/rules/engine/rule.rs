//! A rule and its declaration.

use crate::rules::engine::{ContainerContext, FileContext, Findings, ObjectContext, PodContext};
use crate::workspace::LintLevel;

/// A rule as `declare_rule!` declares it.
#[derive(Debug)]
pub struct Rule {
    /// The name in outputs, settings and comments: the name of the rule's file, with `-` for `_`.
    pub name: &'static str,
    /// The level unless the settings have another one.
    pub level: LintLevel,
    /// The level of evident findings, if the rule is off by default and the settings have no other level.
    pub evident_level: LintLevel,
    /// The documentation in Markdown, as the doc comment has it. Every rule has the same headings.
    pub docs: &'static str,
    /// Whether editors offer to suppress a finding with a comment. Not where a syntax error may break the comment too, nor
    /// for a comment about a comment.
    pub suppressible: bool,
    /// Whether settings and flags can change the level.
    pub configurable: bool,
    pub(in crate::rules) checks: &'static [Check],
    pub(in crate::rules) sees: Sees,
    pub(in crate::rules) helm: HelmScope,
}

/// A function of a rule, and what it is called for.
///
/// The editor caches findings, and a check may look only at what its kind is about. See [`crate::rules`].
#[derive(Debug)]
pub(in crate::rules) enum Check {
    /// Called for every file.
    File(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// Called for every object.
    Object(fn(&ObjectContext<'_>, &mut Findings<'_>)),
    /// Called for every pod.
    Pod(fn(&PodContext<'_>, &mut Findings<'_>)),
    /// Called for every container, with its environment.
    Container(fn(&ContainerContext<'_>, &mut Findings<'_>)),
    /// Called for every container, and for the entries that a PodPreset adds to containers.
    ContainerOrPreset(fn(&ContainerContext<'_>, &mut Findings<'_>)),
    /// Called for every container, and for the entries of a PodPreset in every container that gets them. A preset without
    /// known pods is checked once: its pods may define any name.
    ContainerOrPresetInPod(fn(&ContainerContext<'_>, &mut Findings<'_>)),
}

/// Which objects a rule looks at. No rule looks at both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Sees {
    /// Objects as the cluster gets them: values, references, keys, conflicts.
    Built,
    /// Objects as they are written: syntax, parameters, suppressions.
    Source,
}

/// Where a finding in a Helm template is certain, for every output of the actions.
///
/// The branches of an `{{ if }}` are side by side in the text that is checked, and an action may print more entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum HelmScope {
    /// Everywhere: the rule looks at one scalar and at the names in scope, and knows that a template may add names.
    AnyScalar,
    /// On lines without an action: as before, but an action may print the rest of the text.
    LineWithoutAction,
    /// In containers without an action (in objects, for a finding outside of containers): the rule compares entries, or
    /// reports that something is missing. This is right for every rule.
    ContainerWithoutAction,
}

impl Rule {
    /// The documentation without the space that a doc comment has before each line.
    pub fn markdown(&self) -> String {
        self.docs.lines().flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
    }

    /// Whether it looks at objects as the cluster gets them, and not as they are written.
    pub fn looks_at_built_objects(&self) -> bool {
        self.sees == Sees::Built
    }

    /// The first sentence of the documentation.
    pub fn summary(&self) -> &'static str {
        let body = self.docs.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        body.unwrap_or_default()
    }
}

/// Declares a rule as the static `RULE`: its documentation, then its fields in this order.
///
/// ```text
/// declare_rule! {
///     /// Reports … (one line; then the headings What it does, Why it matters, Example, Use instead, Fix)
///     name: "empty-variable",          // the file is src/rules/checks/empty_variable.rs
///     level: Info,                     // Error, Warning, Info, Hint or Off
///     evident: Warning,                // left out, it is Off; see Rule::evident_level
///     checks: [Container(check)],      // see Check; none if the engine itself reports the findings
///     sees: Built,                     // see Sees
///     helm: ContainerWithoutAction,    // see HelmScope
///     suppressible: false,             // left out, it is true; see Rule
///     configurable: false,             // left out, it is true; see Rule
/// }
/// ```
macro_rules! declare_rule {
    (
        $(#[doc = $docs:literal])+
        name: $name:literal,
        level: $level:ident,
        $(evident: $evident:ident,)?
        checks: [$($kind:ident($check:expr)),* $(,)?],
        sees: $sees:ident,
        helm: $helm:ident,
        $(suppressible: $suppressible:literal,)?
        $(configurable: $configurable:literal,)?
    ) => {
        $(#[doc = $docs])+
        pub(in crate::rules) static RULE: crate::rules::engine::rule::Rule = crate::rules::engine::rule::Rule {
            name: $name,
            level: crate::workspace::LintLevel::$level,
            evident_level: crate::rules::engine::rule::or_off!($($evident)?),
            docs: concat!($($docs, "\n"),+),
            suppressible: crate::rules::engine::rule::or_true!($($suppressible)?),
            configurable: crate::rules::engine::rule::or_true!($($configurable)?),
            checks: &[$(crate::rules::engine::rule::Check::$kind($check)),*],
            sees: crate::rules::engine::rule::Sees::$sees,
            helm: crate::rules::engine::rule::HelmScope::$helm,
        };
    };
}
pub(in crate::rules) use declare_rule;

/// A level; `Off` if there is none.
macro_rules! or_off {
    () => {
        crate::workspace::LintLevel::Off
    };
    ($level:ident) => {
        crate::workspace::LintLevel::$level
    };
}
pub(in crate::rules) use or_off;

/// A literal; `true` if there is none.
macro_rules! or_true {
    () => {
        true
    };
    ($value:literal) => {
        $value
    };
}
pub(in crate::rules) use or_true;
