//! Code actions for every finding in the suites of the rules.

use std::collections::BTreeMap;

use podlens::diagnostic::Diagnostic;
use podlens::ide::{CodeAction, code_actions, diagnostics};
use podlens::rules::{RULES, find_rule};

use crate::command::project as repository;
use crate::findings::{Files, lint, with_edits};
use crate::fixture::{File, Suite};
use crate::memory_project::MemoryProject;

/// The cases of the suites of all rules: the title and the files.
fn cases() -> Vec<(String, Vec<File>)> {
    let mut all = Vec::new();
    for rule in RULES {
        let path = format!("fixtures/rules/{}.md", rule.name);
        let text = std::fs::read_to_string(repository().join(&path)).expect("every rule has a suite");
        let suite = Suite::parse(&path, &text, |_| true).expect("the suites check the format");
        let case = |it: &crate::fixture::Case| (format!("{path}: {}", it.title), it.files().cloned().collect());
        all.extend(suite.cases.iter().map(case));
    }
    all
}

/// Calls a function with every finding of every case, the files of the case, and the actions for it.
fn for_each_finding(mut check: impl FnMut(&str, &Files, &Diagnostic, &[CodeAction])) {
    for (title, files) in cases() {
        for at in 0..files.len() {
            let mut files = files.clone();
            files.swap(0, at);
            files.iter_mut().for_each(|it| it.cursors.clear());
            let project = MemoryProject::new(&title, &files);
            project.analysis(|it| {
                let found = diagnostics(it, &project.file);
                for (index, finding) in found.iter().enumerate() {
                    let mut actions = code_actions(it, &project.file, finding.location.span, &found);
                    actions.retain(|it| it.diagnostics.contains(&index));
                    check(&title, &project.files, finding, &actions);
                }
            });
        }
    }
}

fn counted(findings: &[Diagnostic]) -> BTreeMap<(&str, &str), usize> {
    let mut all = BTreeMap::new();
    for it in findings {
        *all.entry((it.rule, &*it.name)).or_default() += 1;
    }
    all
}

#[test]
fn every_comment_suppresses_its_finding_and_nothing_else() {
    let (mut lines, mut files_with) = (0, 0);
    for_each_finding(|title, files, finding, actions| {
        let file = &*finding.location.file;
        let can_have_comments = find_rule(finding.rule).is_some_and(|it| it.suppressible) && !file.ends_with(".json");
        let comments: Vec<&CodeAction> = actions.iter().filter(|it| it.title.starts_with("Suppress ")).collect();
        assert!(comments.is_empty() != can_have_comments || file.ends_with(".env"), "{title}: {}", finding.message);
        for action in comments {
            let after = with_edits(files, &action.edits);
            let (before, left) = (lint(files), lint(&after));
            let (old, new) = (counted(&before), counted(&left));
            let key = (finding.rule, &*finding.name);
            assert!(new.get(&key) < old.get(&key), "{title}: {}: still there\n{}", action.title, after[file]);
            for (key, number) in &new {
                assert!(old.get(key) >= Some(number), "{title}: {}: new: {key:?}\n{}", action.title, after[file]);
            }
            let is_whole = action.title.ends_with("in this file");
            *(if is_whole { &mut files_with } else { &mut lines }) += 1;
        }
    });
    assert!(lines > 300 && files_with > 300, "only {lines} for a line, {files_with} for a file");
}

/// Actions that are not fixes of a rule: what they add makes their finding disappear.
#[test]
fn every_addition_removes_its_finding_and_adds_none() {
    let mut tried = BTreeMap::new();
    for_each_finding(|title, files, finding, actions| {
        for action in actions {
            let kind = action.title.split('`').next().unwrap_or_default().trim().to_owned();
            if !matches!(&*kind, "Add" | "Add the key" | "Add config map" | "Add secret" | "Set" | "Declare") {
                continue;
            }
            *tried.entry(kind.clone()).or_insert(0) += 1;
            let after = with_edits(files, &action.edits);
            let (before, left) = (lint(files), lint(&after));
            let (old, new) = (counted(&before), counted(&left));
            let number = |all: &[Diagnostic]| all.iter().filter(|it| it.message == finding.message).count();
            let shown = || {
                format!(
                    "{title}: {}: {}\n{}",
                    finding.message,
                    action.title,
                    after.values().cloned().collect::<Vec<_>>().join("---\n")
                )
            };
            assert!(number(&left) < number(&before), "still there: {}", shown());
            // A declared variable is empty, which may be wrong elsewhere.
            // A variable from elsewhere has no value in a probe.
            let is_proposal = action.title.contains("proposals");
            // A new object has no keys.
            let is_object = matches!(&*kind, "Add config map" | "Add secret");
            let is_right = |rule: &str| match rule {
                "probe-literal-only" | "unused-suppression" => true,
                "undefined-variable" => kind == "Declare" || is_object || is_proposal,
                _ => kind == "Declare" || is_proposal,
            };
            for (key, number) in new.iter().filter(|((rule, _), _)| !is_right(rule)) {
                assert!(old.get(key) >= Some(number), "new: {key:?}: {}", shown());
            }
        }
    });
    assert!(tried.len() >= 5, "{tried:?}");
}

/// Advice that only the author can follow: the text, or the place for it, is not known. Each is the start of a clause.
const FOR_THE_AUTHOR: &[&str] = &[
    // The value, the name or the command is not known.
    "write `- name: …`",
    "write `- configMapRef",
    "write `service: {name: …}`",
    "write `configMapRef: {name: …}`",
    "write `secretRef: {name: …}`",
    "write each source",
    "write the name of a variable",
    "write the path from the top of the volume",
    "write a path inside the volume",
    "write a volume source",
    "write `name` or `prefix/name`",
    "write it as one string, in quotes",
    "write it as a text",
    "write one string for each item",
    "write two entries",
    "write it in `stringData`",
    "write the whole value",
    "add `spec`",
    "add `matchLabels`",
    "add `volumes`",
    "add `volumeMounts`",
    "add a `name`",
    "add a `volumeMounts` entry",
    "add at least one",
    "add it to `volumes`: a preset",
    "add one of",
    "add the `key`",
    "add the `mountPath`",
    "add the `name`",
    "add the values",
    "add `ports`",
    "add a `prefix`",
    "remove the keys from one",
    // It is written in a script.
    "write the file in an earlier init container",
    "write the file to an `emptyDir`",
    "write the key to the file",
    // The program may read service variables.
    "set `enableServiceLinks: false` if no",
    // The release decides.
    "set `kubernetes`",
    // An editor renames with its own command.
    "rename",
];

/// The verbs of actions.
const VERBS: [(&str, &[&str]); 10] = [
    ("write", &["Write", "Quote"]),
    ("did you mean", &["Write"]),
    ("remove", &["Remove", "Write"]),
    ("add", &["Add"]),
    ("set", &["Set"]),
    ("declare", &["Declare"]),
    ("move", &["Move", "Exclude"]),
    ("quote", &["Quote"]),
    ("exclude", &["Exclude"]),
    ("rename", &["Rename"]),
];

/// What a help text advises can be done in the editor, for at least one finding with this text.
#[test]
fn every_advice_is_an_action() {
    let mut missing: BTreeMap<String, Option<String>> = BTreeMap::new();
    for_each_finding(|title, _, finding, actions| {
        let help = finding.help.as_deref().unwrap_or_default();
        let texts = help
            .split(": ")
            .flat_map(|it| it.split(", or "))
            .flat_map(|it| it.split(", "))
            .map(|it| it.trim_start_matches("or "));
        for clause in texts {
            let Some((verb, titles)) = VERBS.iter().find(|(verb, _)| clause.starts_with(verb)) else { continue };
            if FOR_THE_AUTHOR.iter().any(|it| help[help.find(clause).unwrap_or(0)..].starts_with(it)) {
                continue;
            }
            let is_offered = actions.iter().any(|it| titles.iter().any(|title| it.title.starts_with(title)));
            // Names in the text differ from case to case.
            let kind = format!("{} {verb} {}", finding.rule, clause.split('`').step_by(2).collect::<String>());
            let shown: Vec<&str> = actions.iter().map(|it| &*it.title).collect();
            let problem = (!is_offered)
                .then(|| format!("{}: {help:?} has no action for {clause:?} in {title}: {shown:?}", finding.rule));
            let known = missing.entry(kind).or_insert_with(|| problem.clone());
            if problem.is_none() {
                *known = None;
            }
        }
    });
    let missing: Vec<String> = missing.into_values().flatten().collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
