//! Finds the templates that a parameter file (`NAME=value` lines) belongs to.
//!
//! A parameter file does not name its template, so its directory and its names decide: it belongs to templates in its
//! directory, or else in the parent directory. A `*.params` file is always a parameter file. A `*.env` file is one only
//! if most of its names are parameters or if it is named after the template, and never if a pod reads it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::k8s::{Object, ObjectData, Template};
use crate::rules::shared::file_key_refs::env_file_readers;
use crate::syntax::ParamFile;
use crate::workspace::{File, Snapshot, choose_templates, is_param_file};

/// A template in a file.
#[derive(Clone, Debug)]
pub struct LocatedTemplate<'s> {
    /// The file.
    pub file: &'s Arc<str>,
    /// The contents of the file.
    pub facts: &'s File,
    /// The template as an object.
    pub object: &'s Object,
    /// The template.
    pub template: &'s Template,
}

/// The templates of a parameter file.
#[derive(Clone, Debug, Default)]
pub struct ParamFileTemplates<'s> {
    /// The templates it belongs to: its names are names of their parameters.
    pub templates: Vec<LocatedTemplate<'s>>,
    /// All parameters of all templates in the directory: a file may have values for several templates.
    known: BTreeSet<&'s str>,
    /// Whether so many of its names are parameters that the others are mistakes.
    is_sure: bool,
}

impl ParamFileTemplates<'_> {
    /// Whether a name is certainly a mistake.
    pub fn is_unknown(&self, name: &str) -> bool {
        self.is_sure && !self.known.contains(name)
    }

    /// The parameters to suggest for a misspelled name.
    pub(in crate::rules) fn known(&self) -> impl Iterator<Item = &str> {
        self.known.iter().copied()
    }
}

/// The templates that a parameter file belongs to.
pub fn templates_of_param_file<'s>(snapshot: &'s Snapshot, path: &str, file: &ParamFile) -> ParamFileTemplates<'s> {
    let directory = path.rsplit_once('/').map_or("", |it| it.0);
    let mut all = templates_in(snapshot, directory);
    if all.is_empty() && !directory.is_empty() {
        all = templates_in(snapshot, directory.rsplit_once('/').map_or("", |it| it.0));
    }
    if all.is_empty() || !is_param_file(path) && !env_file_readers(snapshot, path).is_empty() {
        return ParamFileTemplates::default();
    }
    let names: BTreeSet<&str> = file.entries.iter().map(|it| &*it.name).collect();
    let known = all.iter().flat_map(|it| it.template.exported.names()).map(|it| &**it).collect::<BTreeSet<_>>();
    let candidates: Vec<_> = all.iter().map(|it| (&**it.file, &*it.template.exported)).collect();
    let choice = choose_templates(path, &names, &candidates);
    let templates = choice.chosen.into_iter().map(|at| all[at].clone()).collect();
    ParamFileTemplates { is_sure: choice.is_sure, templates, known }
}

/// The templates with parameters in a directory, without its subdirectories.
fn templates_in<'s>(snapshot: &'s Snapshot, directory: &str) -> Vec<LocatedTemplate<'s>> {
    let mut found = Vec::new();
    for (file, facts) in snapshot.files_in(directory).filter(|(_, facts)| !facts.is_helm_template()) {
        for object in &facts.objects {
            if let ObjectData::Template(template) = &object.model.data
                && template.exported.names().next().is_some()
            {
                found.push(LocatedTemplate { file, facts, object, template });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse_param_file;
    use crate::workspace::Workspace;

    const SHOP: &str = "apiVersion: template.openshift.io/v1\nkind: Template\nobjects: []\nparameters:\n- name: A\n- name: B\n- name: C\n";
    const OTHER: &str = "apiVersion: template.openshift.io/v1\nkind: Template\nobjects: []\nparameters:\n- name: D\n";
    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";

    /// The files that a parameter file belongs to, and the names that are mistakes.
    fn shown(files: &[(&str, &str)], path: &str, text: &str) -> String {
        let mut workspace = Workspace::default();
        for (path, text) in files {
            workspace.set_disk(path, File::read(path, text));
        }
        let snapshot = workspace.snapshot();
        let file = parse_param_file(text);
        let found = templates_of_param_file(&snapshot, path, &file);
        let templates: Vec<&str> = found.templates.iter().map(|it| &**it.file).collect();
        let unknown: Vec<&str> = file.entries.iter().map(|it| &*it.name).filter(|it| found.is_unknown(it)).collect();
        format!("{} | {}", templates.join(" "), unknown.join(" "))
    }

    #[test]
    fn the_directory_the_file_name_and_the_names_decide() {
        let one = [("t/shop.yaml", SHOP), ("t/pod.yaml", POD)];
        let two = [("t/shop.yaml", SHOP), ("t/other.yaml", OTHER)];
        for (files, path, text, expected) in [
            (&one[..], "t/x.params", "", "t/shop.yaml | "),
            (&one, "t/x.params", "A=1\nB=2\nX=3\n", "t/shop.yaml | X"),
            (&one, "t/dev/x.params", "A=1\nX=3\nB=\n", "t/shop.yaml | X"),
            (&one, "t/dev/eu/x.params", "A=1\n", " | "),
            (&one, "u/x.params", "A=1\n", " | "),
            // At most half of the names are parameters: nothing is certainly a mistake.
            (&one, "t/x.params", "X=1\n", "t/shop.yaml | "),
            (&one, "t/x.params", "X=1\nA=1\n", "t/shop.yaml | "),
            // An ordinary env file is not a parameter file.
            (&one, "t/.env", "A=1\nX=1\nY=1\n", " | "),
            (&one, "t/x.env", "A=1\n", " | "),
            (&one, "t/x.env", "A=1\nB=1\nX=1\n", "t/shop.yaml | X"),
            (&one, "t/shop-dev.env", "A=1\n", "t/shop.yaml | "),
            (&one, "t/shop.env", "", "t/shop.yaml | "),
            (&one, "t/shopping.env", "", " | "),
            // A file for several templates.
            (&two, "t/all.params", "A=1\nD=1\nX=1\n", "t/other.yaml t/shop.yaml | X"),
            (&two, "t/all.params", "A=1\nB=1\nD=1\n", "t/shop.yaml | "),
            (&two, "t/dev.other.params", "D=1\nA=1\n", "t/other.yaml | "),
        ] {
            assert_eq!(shown(files, path, text), expected, "{path}: {text}");
        }
    }

    #[test]
    fn a_file_that_a_pod_reads_is_an_env_file() {
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      valueFrom: {fileKeyRef: {volumeName: v, path: x.env, key: A}}\n  volumes:\n  - {name: v, emptyDir: {}}\n";
        let files = [("t/shop.yaml", SHOP), ("t/pod.yaml", pod)];
        let text = "A=1\nB=1\nX=1\n";
        assert_eq!(shown(&files[..1], "t/x.env", text), "t/shop.yaml | X");
        assert_eq!(shown(&files, "t/x.env", text), " | ");
    }
}
