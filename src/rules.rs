//! The rules: one file each, one ordered registry, one function that runs them over a file.
//!
//! A rule sees what was resolved, never the protocol or the output. It reports only what is true under every reading of
//! what can be seen.
//!
//! # What a rule may look at
//! In an editor, findings are kept while nothing changes that they rest on (see [`Kept`]). So a rule looks at what its
//! kind of check is about, and asks for the rest:
//!
//! - `Container`: the container and its environment, and the pod and the object around it as far as other containers are
//!   not meant. Those are asked for by [`ContainerContext::siblings`].
//! - `Pod` and `Object`: everything in the object. It is looked at again whenever something in it changes, so a large
//!   object should cost little here; what is about single containers is better a check of `Container`.
//! - `File`: the whole file, each time anew. It has to be cheap.
//! - Other objects and files, the own file's included, are asked for by the snapshot and the resolver, which take notes:
//!   a name that was looked up, a kind that was gone through, a file. [`Snapshot::files`] is for rules that cannot do
//!   without: whatever changes anywhere, they look again.
//!
//! Everyone may look at the settings, and an object of a List or Template at what stands around the objects there. Places
//! in the findings may be anywhere. A property test compares findings that were kept with those of a fresh check.

#![warn(clippy::disallowed_methods)]

mod collapsed_dollar;
mod command_substitution_outside_shell;
mod context;
mod crowded_environment;
mod dead_parameter;
mod dropped_namespace;
mod duplicate_key;
mod duplicate_parameter;
mod duplicate_variable;
mod embedded_raw_parameter;
mod env_file_content;
mod env_file_unproduced;
mod env_file_volume;
mod env_files;
mod fixes;
mod forward_reference;
mod headless_service_variable;
mod invalid_env_file;
mod invalid_env_from_key;
mod invalid_generator;
mod invalid_parameter;
mod invalid_preset;
mod invalid_service_link;
mod invalid_value_source;
mod invalid_variable_name;
mod kept;
mod links;
mod malformed_reference;
mod missing_key;
mod missing_object;
mod missing_service;
mod names;
mod narrow_generator;
mod neighbours;
mod non_string_value;
mod param_files;
mod parameter_variable_clash;
mod parameters;
mod preset_conflict;
mod preset_hides_source;
mod presets;
mod probe_literal_only;
mod references;
mod removal;
mod self_reference;
mod service_links_off;
mod service_variable_collision;
mod services;
mod settings;
mod shadowed_source;
mod shape;
mod shell_style_reference;
mod string_substitution;
mod suppression;
mod syntax_error;
mod templates;
mod unclosed_parameter;
mod undefined_parameter;
mod undefined_variable;
mod unexpanded_field;
mod unresolved_sub_path;
mod unserved_field;
mod unused_parameter;

use std::sync::Arc;

pub use context::{ContainerContext, FileContext, Finding, Findings, ObjectContext, PodContext, Sources};
pub use env_files::{EnvFileReader, env_file_readers};
pub use fixes::{declare_above, order_above, sort_env};
pub use kept::Kept;
pub use links::links_of_its_own;
pub use names::{mistakes, named};
pub use param_files::{Belonging, TemplateAt, belonging};
pub use presets::without_duplicate;
pub use settings::settings_schema;
pub use suppression::{Suppression, suppressions, suppressions_in};

use crate::diagnostic::Diagnostic;
use crate::k8s::{Container, Object, ObjectData, Pod};
use crate::resolve::Resolver;
pub use crate::workspace::ParsedText;
use crate::workspace::{LintLevel, Snapshot};
use context::Found;

/// A rule: its name, what it says about itself, and how it looks.
#[derive(Debug)]
pub struct Rule {
    /// Reads as 'allow NAME'.
    pub name: &'static str,
    /// How loud it is unless the settings say otherwise.
    pub level: LintLevel,
    /// Its documentation in Markdown, with the headings every rule has.
    pub docs: &'static str,
    check: Check,
}

/// What a rule looks at.
#[derive(Debug)]
enum Check {
    /// A file as a whole.
    File(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// Every object, and a file as a whole.
    ObjectAndFile(fn(&ObjectContext<'_>, &mut Findings<'_>), fn(&FileContext<'_>, &mut Findings<'_>)),
    /// Every object, and every container.
    ObjectAndContainer(fn(&ObjectContext<'_>, &mut Findings<'_>), fn(&ContainerContext<'_>, &mut Findings<'_>)),
    /// Every object.
    Object(fn(&ObjectContext<'_>, &mut Findings<'_>)),
    /// Every pod.
    Pod(fn(&PodContext<'_>, &mut Findings<'_>)),
    /// Every container, with its environment.
    Container(fn(&ContainerContext<'_>, &mut Findings<'_>)),
    /// Every container, and what a preset brings to containers.
    Entries(fn(&ContainerContext<'_>, &mut Findings<'_>)),
    /// Nothing of its own: the framework reports it.
    Framework,
}

/// Declares a rule: its documentation, then `NAME = "name", level, kind(check);`.
macro_rules! declare_rule {
    ($(#[doc = $docs:literal])+ $rule:ident = $name:literal, $level:ident, $kind:ident $(($($check:expr),+))?;) => {
        $(#[doc = $docs])+
        pub(super) static $rule: crate::rules::Rule = crate::rules::Rule {
            name: $name,
            level: crate::workspace::LintLevel::$level,
            docs: concat!($($docs, "\n"),+),
            check: crate::rules::Check::$kind $(($($check),+))?,
        };
    };
}
use declare_rule;

/// Every rule, in the order of the documentation.
pub static RULES: &[&Rule] = &[
    &undefined_variable::UNDEFINED_VARIABLE,
    &forward_reference::FORWARD_REFERENCE,
    &self_reference::SELF_REFERENCE,
    &malformed_reference::MALFORMED_REFERENCE,
    &shell_style_reference::SHELL_STYLE_REFERENCE,
    &command_substitution_outside_shell::COMMAND_SUBSTITUTION_OUTSIDE_SHELL,
    &collapsed_dollar::COLLAPSED_DOLLAR,
    &unexpanded_field::UNEXPANDED_FIELD,
    &probe_literal_only::PROBE_LITERAL_ONLY,
    &unresolved_sub_path::UNRESOLVED_SUB_PATH,
    &duplicate_variable::DUPLICATE_VARIABLE,
    &shadowed_source::SHADOWED_SOURCE,
    &invalid_variable_name::INVALID_VARIABLE_NAME,
    &invalid_env_from_key::INVALID_ENV_FROM_KEY,
    &non_string_value::NON_STRING_VALUE,
    &invalid_value_source::INVALID_VALUE_SOURCE,
    &missing_key::MISSING_KEY,
    &missing_object::MISSING_OBJECT,
    &service_links_off::SERVICE_LINKS_OFF,
    &headless_service_variable::HEADLESS_SERVICE_VARIABLE,
    &service_variable_collision::SERVICE_VARIABLE_COLLISION,
    &unserved_field::UNSERVED_FIELD,
    &missing_service::MISSING_SERVICE,
    &crowded_environment::CROWDED_ENVIRONMENT,
    &invalid_service_link::INVALID_SERVICE_LINK,
    &preset_conflict::PRESET_CONFLICT,
    &invalid_preset::INVALID_PRESET,
    &preset_hides_source::PRESET_HIDES_SOURCE,
    &undefined_parameter::UNDEFINED_PARAMETER,
    &unused_parameter::UNUSED_PARAMETER,
    &duplicate_parameter::DUPLICATE_PARAMETER,
    &invalid_parameter::INVALID_PARAMETER,
    &invalid_generator::INVALID_GENERATOR,
    &narrow_generator::NARROW_GENERATOR,
    &string_substitution::STRING_SUBSTITUTION,
    &embedded_raw_parameter::EMBEDDED_RAW_PARAMETER,
    &unclosed_parameter::UNCLOSED_PARAMETER,
    &dead_parameter::DEAD_PARAMETER,
    &parameter_variable_clash::PARAMETER_VARIABLE_CLASH,
    &dropped_namespace::DROPPED_NAMESPACE,
    &invalid_env_file::INVALID_ENV_FILE,
    &env_file_volume::ENV_FILE_VOLUME,
    &env_file_unproduced::ENV_FILE_UNPRODUCED,
    &env_file_content::ENV_FILE_CONTENT,
    &syntax_error::SYNTAX_ERROR,
    &duplicate_key::DUPLICATE_KEY,
    &suppression::UNUSED_SUPPRESSION,
];

/// The rule of a name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.name == name)
}

impl Rule {
    /// Its documentation without the blank that doc comments put before each line.
    pub fn markdown(&self) -> String {
        self.docs.lines().flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
    }

    /// The first sentence of its documentation.
    pub fn summary(&self) -> &'static str {
        let body = self.docs.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        body.unwrap_or_default()
    }
}

/// Which rules run, and how loud they are.
pub trait Levels {
    /// The level of a rule in a file.
    fn level(&self, rule: &Rule, file: &str) -> LintLevel;
}

/// As the settings say.
#[derive(Debug)]
pub struct SettingsLevels<'s>(pub &'s Snapshot);

impl Levels for SettingsLevels<'_> {
    fn level(&self, rule: &Rule, file: &str) -> LintLevel {
        self.0.settings(file).level(rule.name, file).unwrap_or(rule.level)
    }
}

/// Checks a file: its findings in the order of the text, suppressed ones left out.
pub fn check(
    snapshot: &Snapshot,
    resolver: &Resolver<'_>,
    path: &Arc<str>,
    sources: &dyn Sources,
    levels: &dyn Levels,
) -> Vec<Diagnostic> {
    let Some(facts) = snapshot.file(path) else { return Vec::new() };
    let file = FileContext { snapshot, resolver, path, facts, sources };
    let active = active(levels, path);
    let mut found = file.of_file(&active);
    for object in &facts.objects {
        found.extend(file.of_object(&active, object));
        for pod in &object.model.pods {
            for container in &pod.containers {
                found.extend(file.of_container(&active, object, pod, container));
            }
        }
    }
    let found = templates::settled(&file, found);
    let found = found.into_iter().map(|finding| finding.finished(&file)).collect();
    file.conclude(&active, found)
}

/// Rules with their levels.
type Active = [(&'static Rule, LintLevel)];

/// The rules that run on a file.
fn active(levels: &dyn Levels, path: &str) -> Vec<(&'static Rule, LintLevel)> {
    RULES.iter().map(|rule| (*rule, levels.level(rule, path))).filter(|(_, level)| *level != LintLevel::Off).collect()
}

impl FileContext<'_> {
    /// What rules find in the file as a whole.
    fn of_file(&self, active: &Active) -> Vec<Found> {
        run(active, None, &|check, findings| {
            if let Check::File(check) | Check::ObjectAndFile(_, check) = check {
                check(self, findings);
            }
        })
    }

    /// What rules find in an object and its pods, containers left out.
    fn of_object(&self, active: &Active, object: &Object) -> Vec<Found> {
        let object = ObjectContext { file: self, object };
        let mut found = run(active, Some(&object), &|check, findings| {
            if let Check::Object(check) | Check::ObjectAndFile(check, _) | Check::ObjectAndContainer(check, _) = check {
                check(&object, findings);
            }
        });
        if let ObjectData::Preset(preset) = &object.object.model.data
            && let Some(container) = preset.container()
        {
            let environment = self.resolver.environment(self.path, object.object, &preset.pod, container);
            let pod = PodContext { object: &object, pod: &preset.pod };
            let given = ContainerContext { pod: &pod, container, environment: &environment };
            found.extend(run(active, Some(&object), &|check, findings| {
                if let Check::Entries(check) = check {
                    check(&given, findings);
                }
            }));
        }
        for pod in &object.object.model.pods {
            let pod = PodContext { object: &object, pod };
            found.extend(run(active, Some(&object), &|check, findings| {
                if let Check::Pod(check) = check {
                    check(&pod, findings);
                }
            }));
        }
        found
    }

    /// What rules find in a container.
    fn of_container(&self, active: &Active, object: &Object, pod: &Pod, container: &Container) -> Vec<Found> {
        let environment = self.resolver.environment(self.path, object, pod, container);
        let object = ObjectContext { file: self, object };
        let pod = PodContext { object: &object, pod };
        let container = ContainerContext { pod: &pod, container, environment: &environment };
        run(active, Some(&object), &|check, findings| {
            if let Check::Container(check) | Check::Entries(check) | Check::ObjectAndContainer(_, check) = check {
                check(&container, findings);
            }
        })
    }

    /// Leaves out what is suppressed, and puts the rest in order.
    fn conclude(&self, active: &Active, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut found = suppression::apply(self, active, found);
        // The sort is stable, so the first of equal ones stays, whatever their messages are.
        found.sort_by(|a, b| (&a.location, a.rule, &a.name).cmp(&(&b.location, b.rule, &b.name)));
        // Containers that share their env through an anchor are checked one by one, and reported once.
        found.dedup_by(|b, a| (&a.location, a.rule, &a.name) == (&b.location, b.rule, &b.name));
        found
    }
}

/// Lets each rule look.
fn run(active: &Active, object: Option<&ObjectContext<'_>>, call: &dyn Fn(&Check, &mut Findings<'_>)) -> Vec<Found> {
    let mut found = Vec::new();
    for (rule, level) in active {
        let Some(severity) = level.severity() else { continue };
        let mut findings = Findings { rule, severity, object, found: &mut found };
        call(&rule.check, &mut findings);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADINGS: [&str; 5] = ["## What it does", "## Why it matters", "## Example", "## Use instead", "## Fix"];

    #[test]
    fn names_are_unique_and_every_rule_is_documented() {
        for (at, rule) in RULES.iter().enumerate() {
            assert!(RULES[..at].iter().all(|other| other.name != rule.name), "{} twice", rule.name);
            let found: Vec<&str> = rule.docs.lines().map(str::trim).filter(|line| line.starts_with("## ")).collect();
            assert_eq!(found, HEADINGS, "{}", rule.name);
            assert!(!rule.summary().is_empty(), "{}", rule.name);
        }
    }
}
