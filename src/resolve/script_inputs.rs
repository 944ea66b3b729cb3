//! The variables whose values become part of a shell script: the script refers to them with `$(X)`, or uses `eval`.
//!
//! A shell then reads `$(x)` and `${x}` in these values.

use std::collections::{HashMap, HashSet};

use crate::build::BuiltContainer;
use crate::k8s::Text;
use crate::resolve::environment::EnvListEntry;
use crate::resolve::shell_items;
use crate::syntax::{DollarToken, dollar_tokens};

/// The names of these variables.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptInputs {
    /// Whether it may be any variable: a script uses `eval`, or the scripts are not known.
    any: bool,
    names: HashSet<Box<str>>,
}

impl ScriptInputs {
    /// Collects the variables of a container; `entries` are all entries of its `env`. The scripts of the pods that get the
    /// entries of a preset are not known.
    pub(super) fn of(container: BuiltContainer<'_>, entries: &[EnvListEntry<'_>]) -> Self {
        let scripts = scripts(container);
        let any = container.object.preset().is_some() || scripts.iter().any(|it| it.value.contains("eval "));
        let mut names: HashSet<Box<str>> = HashSet::new();
        let mut open: Vec<&str> = scripts.iter().flat_map(|it| references(&it.value)).collect();
        if any || open.is_empty() {
            return Self { any, names };
        }
        let mut values: HashMap<&str, Vec<&str>> = HashMap::new();
        for EnvListEntry { entry, .. } in entries {
            if let (Some(name), Some(value)) = (&entry.name, &entry.value) {
                values.entry(&name.value).or_default().push(&value.value);
            }
        }
        while let Some(name) = open.pop() {
            if names.insert(name.into()) {
                open.extend(values.get(name).into_iter().flatten().flat_map(|it| references(it)));
            }
        }
        Self { any, names }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.any || self.names.contains(name)
    }
}

/// The names in `$(…)` of a text.
fn references(text: &str) -> impl Iterator<Item = &str> {
    dollar_tokens(text).filter_map(|it: DollarToken| it.name(text))
}

/// The scripts of the container and of its probes.
fn scripts(of: BuiltContainer<'_>) -> Vec<&Text> {
    let container = of.container;
    let own = script(container.command.iter().chain(&container.args).collect(), !container.command.is_empty());
    own.into_iter().chain(container.probes.iter().filter_map(|it| script(it.command.iter().collect(), true))).collect()
}

/// The script in a command line.
fn script(texts: Vec<&Text>, has_command: bool) -> Option<&Text> {
    let values: Vec<&str> = texts.iter().map(|it| &*it.value).collect();
    shell_items::script_index(&values, has_command).map(|it| texts[it])
}
