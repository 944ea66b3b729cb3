//! Variables that a shell reads in the texts of a container.

use std::borrow::Cow;
use std::ops::Range;

use crate::ide::shared::located_container::LocatedContainer;
use crate::k8s::{ContainerField, Text, VariableScope};
use crate::resolve::{Environment, Lookup, is_script_item};
use crate::syntax::{DollarTokenKind, dollar_tokens, shell_variables};

impl<'s> LocatedContainer<'s> {
    /// Whether a shell reads the text of a field.
    pub(crate) fn is_script(&self, environment: &Environment<'_>, field: ContainerField) -> bool {
        let item = match field {
            ContainerField::Command(at) => environment.command.get(at),
            ContainerField::Args(at) => environment.args.get(at),
            ContainerField::ProbeCommand(probe, at) => environment.probes.get(probe).and_then(|it| it.command.get(at)),
            // The command of a hook.
            ContainerField::Unexpanded(at) => return is_script_item(&self.container.unexpanded, at),
            ContainerField::EnvValue(_) | ContainerField::SubPathExpr(_) => None,
        };
        item.is_some_and(|it| it.is_script())
    }

    /// The variables that a shell reads in the text of a field, `$NAME` and `${NAME}`. A `${NAME}` of a template parameter is
    /// left out, because it is replaced before.
    pub(crate) fn shell_reads(
        &self,
        environment: &Environment<'_>,
        field: ContainerField,
        text: &'s Text,
    ) -> Vec<ShellRead<'s>> {
        if !text.value.contains('$') || !self.is_script(environment, field) {
            return Vec::new();
        }
        let script = match field.variable_scope() {
            Some(site) => Cow::Owned(script_after_expansion(environment, site, &text.value)),
            None => Cow::Borrowed(&*text.value),
        };
        let parameters = self.object.source.template.as_ref().map(|it| &it.parameters);
        let names = shell_variables(&script).into_iter().filter_map(|it| {
            let name = text.value.get(it.range.clone())?;
            let is_parameter =
                text.value[..it.range.start].ends_with('{') && parameters.is_some_and(|it| it.contains(name));
            let doubt = match it.is_literal {
                true => Some(ShellDoubt::Quoted),
                false => assigns(&text.value, name).then_some(ShellDoubt::Assigned),
            };
            (!is_parameter).then_some(ShellRead { range: it.range, name, doubt })
        });
        names.collect()
    }

    /// The variables of [`Self::shell_reads`] without those that may mean something else.
    pub(crate) fn shell_names(
        &self,
        environment: &Environment<'_>,
        field: ContainerField,
        text: &'s Text,
    ) -> impl Iterator<Item = (Range<usize>, &'s str)> {
        let all = self.shell_reads(environment, field, text).into_iter();
        all.filter(|it| it.doubt.is_none()).map(|it| (it.range, it.name))
    }
}

/// A variable that a shell reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellRead<'s> {
    /// The range of its name in the value of the text.
    pub(crate) range: Range<usize>,
    /// Its name.
    pub(crate) name: &'s str,
    /// Why it may not be the variable of the container.
    pub(crate) doubt: Option<ShellDoubt>,
}

/// Why a name in a script may not be the variable of the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellDoubt {
    /// The script assigns it.
    Assigned,
    /// It is in single quotes, which the shell does not expand; a program that gets the text may.
    Quoted,
}

/// The script as the shell gets it, with the same offsets: the first `$` of `$$` and all replaced references are filled
/// with `x`.
fn script_after_expansion(environment: &Environment<'_>, site: VariableScope, text: &str) -> String {
    let mut script = text.to_owned();
    for token in dollar_tokens(text) {
        let range = match (token.kind, token.name(text)) {
            (DollarTokenKind::Escape, _) => token.range.start..token.range.start + 1,
            (DollarTokenKind::Reference, Some(name)) if matches!(environment.lookup(site, name), Lookup::Bound(_)) => {
                token.range.clone()
            }
            _ => continue,
        };
        let filler = "x".repeat(range.len());
        script.replace_range(range, &filler);
    }
    script
}

/// Whether a script assigns a variable: `NAME=`, `for NAME`, `read NAME`, `local NAME`, `unset NAME`.
fn assigns(script: &str, name: &str) -> bool {
    script.match_indices(name).any(|(at, _)| {
        let (before, after) = (&script[..at], &script[at + name.len()..]);
        let is_word = !before.ends_with(|it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '{'));
        let word = before.trim_end().rsplit(|it: char| it.is_whitespace() || it == ';').next().unwrap_or_default();
        let follows_keyword =
            matches!(word, "for" | "read" | "-r" | "local" | "declare" | "unset") && before.ends_with(' ');
        is_word && (follows_keyword || after.starts_with('=') || after.starts_with("+="))
    })
}
