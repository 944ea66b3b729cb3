//! A fix removes its finding, adds no other one, keeps the file valid, and changes the environment only as its title says.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use podlens::build::{self, BuiltObject};
use podlens::diagnostic::{Diagnostic, Fix};
use podlens::resolve::Resolver;
use podlens::syntax;
use podlens::workspace::{File, Workspace};

use crate::command::{directory, run};
use crate::findings::{lint, with_edits};

const NAMES: [&str; 6] = ["ALPHA", "BRAVO", "CHARLIE", "DELTA", "ECHO_1", "FOXTROT"];

#[test]
fn every_fix_removes_its_finding_and_nothing_else() {
    let (mut tried, mut moved) = (0, 0);
    for seed in 0..u64::from(crate::cases(400, 20_000)) {
        let files = BTreeMap::from([("pod.yaml".to_owned(), Random::new(seed).pod())]);
        let before = lint(&files);
        for finding in &before {
            // Other choices change values on purpose.
            let rewrites = finding.choices.iter().filter(|it| it.title.starts_with("Write"));
            for fix in finding.fixes.iter().chain(rewrites) {
                tried += 1;
                moved += usize::from(fix.title.starts_with("Move") || fix.title.starts_with("Sort"));
                let after = with_edits(&files, &fix.edits);
                if let Err(problem) = check(&files, &after, &before, finding, fix) {
                    panic!(
                        "seed {seed}: {problem}\n{}: {}\n{}\n--- before\n{}\n--- after\n{}",
                        finding.rule, finding.message, fix.title, files["pod.yaml"], after["pod.yaml"]
                    );
                }
            }
        }
    }
    assert!(tried > 500 && moved > 50, "only {tried} fixes, {moved} of them moves");
}

/// All fixes of many pods together: findings disappear, none is new, nothing is escaped, and a second run changes nothing.
#[test]
fn all_fixes_together_remove_findings_and_add_none() {
    let pods: Vec<(String, String)> = (0..u64::from(crate::cases(60, 2_000)))
        .map(|seed| (format!("p{seed}/pod.yaml"), Random::new(seed).pod()))
        .collect();
    let files: Vec<(&str, &[u8])> = pods.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let place = directory(&files);
    let read = |path: &str| std::fs::read_to_string(place.path().join(path)).expect("readable");
    let (_, _, err) = run(place.path(), &["lint", "--fix", "--unsafe-fixes", "--quiet"], "");
    assert_eq!(err, "", "all files can be written");
    let mut changed = 0;
    for (path, before) in &pods {
        let after = read(path);
        changed += usize::from(after != *before);
        let findings = |text: &str| lint(&BTreeMap::from([("pod.yaml".to_owned(), text.to_owned())]));
        let (old, new) = (counted(&findings(before)), counted(&findings(&after)));
        for (key, count) in &new {
            assert!(old.get(key).is_some_and(|it| count <= it), "{path}: a new finding: {key:?}\n{before}\n{after}");
        }
        let escapes = |text: &str| text.matches("$$").count();
        assert!(escapes(&after) <= escapes(before), "{path}: an escape is new\n{before}\n{after}");
    }
    assert!(changed * 4 > pods.len(), "only {changed} pods changed");
    let fixed: Vec<String> = pods.iter().map(|(path, _)| read(path)).collect();
    run(place.path(), &["lint", "--fix", "--unsafe-fixes", "--quiet"], "");
    assert_eq!(pods.iter().map(|(path, _)| read(path)).collect::<Vec<_>>(), fixed, "the second run changes files");
}

fn check(
    files: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
    findings: &[Diagnostic],
    finding: &Diagnostic,
    fix: &Fix,
) -> Result<(), String> {
    let errors = syntax::parse(&after["pod.yaml"]).errors();
    if !errors.is_empty() {
        return Err(format!("the file is broken: {errors:?}"));
    }
    let mut left = counted(findings);
    for (key, count) in counted(&lint(after)) {
        let had = left.entry(key.clone()).or_default();
        if count > *had {
            return Err(format!("a new finding: {key:?}"));
        }
        if key == (finding.rule, finding.message.clone()) && count == *had {
            return Err("the finding is still there".to_owned());
        }
    }
    let reference = finding.message.split('`').nth(1).unwrap_or_default();
    let is_order = fix.title.starts_with("Move") || fix.title.starts_with("Sort");
    // A new order may change all values with references; other fixes change only values with their reference.
    let sign = if is_order { "$(" } else { reference.trim_start_matches("$$") };
    let (old, new) = (environment(files), environment(after));
    if !old.keys().eq(new.keys()) {
        return Err("the names of the variables changed".to_owned());
    }
    for (name, value) in &old {
        let escapes = fix.title.ends_with("to keep the text");
        if *value != new[name] && (escapes || !value.contains(sign)) {
            return Err(format!("{name} was {value} and is {}", new[name]));
        }
    }
    // Removing an entry also removes the comments on its lines.
    let (old, mut new) = (comments(&files["pod.yaml"]), comments(&after["pod.yaml"]));
    let kept = old.iter().filter(|it| new.contains(it)).count();
    new.retain(|it| !old.contains(it));
    if !new.is_empty() || (kept < old.len() && !fix.title.starts_with("Remove")) {
        return Err("comments are lost".to_owned());
    }
    Ok(())
}

fn counted(findings: &[Diagnostic]) -> BTreeMap<(&'static str, String), usize> {
    let mut all = BTreeMap::new();
    for finding in findings {
        *all.entry((finding.rule, finding.message.clone())).or_default() += 1;
    }
    all
}

/// The variables of the only container.
fn environment(files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    let snapshot = workspace.snapshot();
    let (path, file) = snapshot.entry("pod.yaml").expect("the file is there");
    let container =
        build::objects(&snapshot, path, file).flat_map(BuiltObject::containers).next().expect("a container");
    let environment = Resolver::new(&snapshot, None).environment(container);
    environment.bindings().iter().map(|it| (it.name.to_string(), it.value.to_string())).collect()
}

fn comments(text: &str) -> Vec<&str> {
    let mut all: Vec<&str> = text.split('\n').filter_map(|line| Some(line.split_once("# ")?.1.trim_end())).collect();
    all.sort_unstable();
    all
}

/// The same numbers for the same seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D);
        random.below(2);
        random
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }

    fn name(&mut self) -> &'static str {
        NAMES[usize::try_from(self.below(6)).expect("small")]
    }

    /// A value before it is quoted.
    fn value(&mut self) -> String {
        let mut value = String::from(["v", "", "it's "][usize::try_from(self.below(3)).expect("small")]);
        for _ in 0..self.below(3) {
            let name = self.name();
            match self.below(14) {
                0 => value.push_str("$$"),
                1 => write!(value, "${{{name}}}").expect("text"),
                2 => write!(value, "$( {name} )").expect("text"),
                3 => write!(value, "$({name}S)").expect("text"),
                4 => write!(value, "$$({name})").expect("text"),
                5 => write!(value, "$({name}:-x)").expect("text"),
                6 => value.push_str("$(date +%s)"),
                _ => write!(value, "$({name})").expect("text"),
            }
            value.push('/');
        }
        value
    }

    /// The value in one of several YAML styles.
    fn written(&mut self, value: &str, indent: &str) -> String {
        match self.below(4) {
            0 => format!("'{}'", value.replace('\'', "''")),
            1 if !indent.is_empty() && !value.is_empty() => format!("|-\n{indent}{value}"),
            2 if value.contains('/') && !indent.is_empty() => format!(">-\n{indent}{value}"),
            _ => format!("\"{}\"", value.replace("$(", "\\u0024(").replace("\\u0024(A", "$(A")),
        }
    }

    fn pod(&mut self) -> String {
        let mut text =
            String::from("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {FOXTROT: f}\n---\n");
        text.push_str("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - name: web\n");
        text.push_str("      image: web\n");
        if self.one_in(3) {
            text.push_str("      envFrom: [{configMapRef: {name: settings}}]\n");
        }
        let unique = !self.one_in(3);
        let mut names: Vec<&str> = Vec::new();
        for _ in 0..2 + self.below(5) {
            let name = self.name();
            if !unique || !names.contains(&name) {
                names.push(name);
            }
        }
        let empty = if self.one_in(4) { self.flow(&names, &mut text) } else { self.block(&names, &mut text) };
        let argument = self.value();
        // A fix may write the first reference to an empty variable, and a rule may report an empty variable with a
        // reference. That finding would be right, so each empty variable has a reference from the start.
        let references: String = empty.iter().map(|name| format!(", $({name})")).collect();
        writeln!(text, "      args: [--x, {}{references}]", self.written(&argument, "")).expect("text");
        if self.one_in(5) { text.replace('\n', "\r\n") } else { text }
    }

    /// Writes the entries as a block, and returns the names of those that are empty.
    fn block<'n>(&mut self, names: &[&'n str], text: &mut String) -> Vec<&'n str> {
        let mut empty = Vec::new();
        text.push_str("      env:\n");
        for (at, name) in names.iter().enumerate() {
            if self.one_in(5) {
                writeln!(text, "\n        # section {at}\n").expect("text");
            }
            if self.one_in(3) {
                writeln!(text, "        # about {at}").expect("text");
            }
            if self.one_in(6) {
                writeln!(
                    text,
                    "        - name: {name}\n          valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}"
                )
                .expect("text");
                continue;
            }
            let value = self.value();
            empty.extend(value.is_empty().then_some(*name));
            let written = self.written(&value, "            ");
            let comment =
                if written.contains('\n') || !self.one_in(3) { String::new() } else { format!(" # after {at}") };
            writeln!(text, "        - name: {name}\n          value: {written}{comment}").expect("text");
        }
        empty
    }

    /// The same as a flow sequence.
    fn flow<'n>(&mut self, names: &[&'n str], text: &mut String) -> Vec<&'n str> {
        let mut empty = Vec::new();
        let lines = self.one_in(2);
        text.push_str("      env: [");
        for (at, name) in names.iter().enumerate() {
            let value = self.value();
            empty.extend(value.is_empty().then_some(*name));
            let written = self.written(&value, "");
            let comma = if at + 1 < names.len() { "," } else { "" };
            let comment = if lines && self.one_in(3) { format!(" # after {at}") } else { String::new() };
            let before = if lines { "\n        " } else { " " };
            write!(text, "{before}{{name: {name}, value: {written}}}{comma}{comment}").expect("text");
        }
        text.push_str(if lines { "\n      ]\n" } else { " ]\n" });
        empty
    }
}
