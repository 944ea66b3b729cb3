//! `--param` and `--param-file`: values for the parameters of templates.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::build::ParameterValues;
use crate::cli::{Exit, assignment, notice, read_text, shown_path};
use crate::k8s::{ObjectData, ParameterValue};
use crate::load::Loaded;
use crate::resolve::is_strict_variable_name;
use crate::syntax::parse_param_file;
use crate::text::nearest_name;

#[derive(Debug, Args)]
pub(super) struct ParameterFlags {
    /// A value for a parameter of a template
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = assignment)]
    param: Vec<(String, String)>,
    /// A file with `NAME=VALUE` lines; --param takes precedence, and an earlier file over a later one
    #[arg(long = "param-file", value_name = "FILE")]
    param_files: Vec<PathBuf>,
}

/// The values that the flags give.
#[derive(Debug, Default)]
pub(super) struct GivenValues {
    pub(super) values: ParameterValues,
    /// The file and line of each value that came from a file, by parameter name.
    pub(super) origins: BTreeMap<String, (String, usize)>,
}

impl ParameterFlags {
    /// The values, or the exit code if they are refused.
    pub(super) fn read(&self) -> Result<GivenValues, Exit> {
        let mut given = GivenValues::default();
        let mut twice = Vec::new();
        for (name, value) in &self.param {
            if given.values.insert(name.clone(), value.clone()).is_some() {
                twice.push(name.as_str());
            }
            if looks_like_several(value) {
                notice(format_args!("--param {name}: commas do not separate parameters; give each its own --param"));
            }
        }
        let invalid: Vec<&str> =
            given.values.keys().map(String::as_str).filter(|it| !is_strict_variable_name(it)).collect();
        for name in &invalid {
            notice(format_args!("--param {name}: {INVALID_NAME}"));
        }
        if !invalid.is_empty() {
            return Err(Exit::Findings);
        }
        if !twice.is_empty() {
            notice(format_args!("--param is given more than once for {}", twice.join(", ")));
            return Err(Exit::Failure);
        }
        for path in &self.param_files {
            given.add_file(path)?;
        }
        Ok(given)
    }

    /// Gives the values to the templates of the selected files.
    pub(super) fn apply(&self, loaded: &mut Loaded) -> Result<(), Exit> {
        let given = self.read()?;
        if given.values.is_empty() {
            return Ok(());
        }
        let snapshot = loaded.workspace.snapshot();
        let mut names: Vec<String> = Vec::new();
        for object in loaded.reported.iter().filter_map(|it| snapshot.file(it)).flat_map(|it| &it.objects) {
            if let ObjectData::Template(template) = &object.model.data {
                names.extend(template.exported.names().map(|it| it.to_string()));
            }
        }
        let unknown: Vec<&String> = given.values.keys().filter(|it| !names.contains(it)).collect();
        for name in &unknown {
            let near = nearest_name(name, names.iter().map(String::as_str));
            let help = near.map_or(String::new(), |it| format!("; did you mean `{it}`?"));
            notice(format_args!("no template here has a parameter `{name}`{help}"));
        }
        if !unknown.is_empty() {
            return Err(Exit::Findings);
        }
        let GivenValues { values, origins } = given;
        let value = |(name, value): (String, String)| {
            let file = origins.get(&name).map(|(file, _)| Arc::from(file.as_str()));
            (Arc::from(name), ParameterValue::Given { value: value.into(), file })
        };
        loaded.give_parameter_values(values.into_iter().map(value).collect());
        Ok(())
    }
}

impl GivenValues {
    fn add_file(&mut self, path: &std::path::Path) -> Result<(), Exit> {
        let text = read_text(path).map_err(|problem| {
            notice(&problem);
            Exit::for_problem(&problem)
        })?;
        let (file, shown) = (parse_param_file(&text), shown_path(path));
        for error in &file.errors {
            // The content of the line may be a secret, so only its number is shown.
            notice(format_args!("{shown}:{}: expected `NAME=VALUE` or `NAME: VALUE`", error.line));
        }
        let invalid = file.entries.iter().filter(|it| !is_strict_variable_name(&it.name));
        let mut is_refused = !file.errors.is_empty();
        for entry in invalid {
            notice(format_args!("{shown}:{}: `{}`: {INVALID_NAME}", entry.line, entry.name));
            is_refused = true;
        }
        if is_refused {
            return Err(Exit::Findings);
        }
        // In one file the last of equal names wins, among files the first file.
        let entries: BTreeMap<String, _> = file.entries.into_iter().map(|it| (it.name, (it.value, it.line))).collect();
        for (name, (value, line)) in entries {
            match self.values.entry(name) {
                Entry::Vacant(entry) => {
                    self.origins.insert(entry.key().clone(), (shown.clone(), line));
                    entry.insert(value);
                }
                Entry::Occupied(entry) => {
                    let name = entry.key();
                    notice(format_args!("{shown}: `{name}` already has a value, so this one is ignored"));
                }
            }
        }
        Ok(())
    }
}

/// T10.3: the name must be valid for a variable, even if a parameter has it.
const INVALID_NAME: &str =
    "`oc process` refuses a name that is not valid for a variable, such as one that starts with a digit";

/// `1,B=2`
fn looks_like_several(value: &str) -> bool {
    let is_name =
        |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_');
    value.split(',').skip(1).any(|it| it.split_once('=').is_some_and(|(name, _)| is_name(name)))
}
