//! Checks that the compiler does not make: the order of the layers, and the format of the project's files.
//!
//! Each check collects all its findings, so that one run shows everything that must be fixed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The pure layers in the order of the data; each may use those before it.
const PURE_LAYERS: [&str; 10] =
    ["work", "text", "diagnostic", "syntax", "k8s", "workspace", "build", "resolve", "rules", "ide"];

/// The layers that read, print and communicate, with the other such layers that each may use. `load` and `report` use
/// none, and `cli` and `lsp` do not know each other: `main.rs` connects them.
const EDGE_LAYERS: [(&str, &[&str]); 4] =
    [("load", &[]), ("report", &[]), ("lsp", &["load"]), ("cli", &["load", "report"])];

#[test]
fn layers_use_only_layers_before_them() {
    let mut findings = Vec::new();
    for file in sources_below("src") {
        let Some(layer) = file.layer() else { continue };
        let own = PURE_LAYERS.iter().position(|&pure| pure == layer);
        let edges = EDGE_LAYERS.iter().find(|(edge, _)| *edge == layer).map(|(_, edges)| *edges);
        if own.is_none() && edges.is_none() {
            findings.push(format!("{}: `{layer}` is not a layer; add it to the layers in tests/it/tidy.rs", file.path));
        }
        for (number, line) in file.code_lines() {
            if line.contains("use crate::{") {
                findings.push(format!("{}:{number}: one layer per line: `use crate::layer::…`", file.path));
            }
            for used in line.split("crate::").skip(1).map(first_word).filter(|used| *used != layer) {
                let pure = PURE_LAYERS.iter().position(|&pure| pure == used);
                let is_edge = EDGE_LAYERS.iter().any(|(edge, _)| *edge == used);
                let may_use = match (own, pure) {
                    (Some(own), Some(used)) => used < own,
                    (Some(_), None) => !is_edge,
                    (None, Some(_)) => true,
                    (None, None) => !is_edge || edges.is_some_and(|edges| edges.contains(&used)),
                };
                if !may_use {
                    findings.push(format!("{}:{number}: `{layer}` must not use `{used}`", file.path));
                }
            }
        }
    }
    assert_tidy(&findings);
}

/// The folders of `src/lsp`; each may use those before it. Only `main_loop.rs` and `router.rs` use all of them.
const LSP_FOLDERS: [&str; 5] = ["transport", "session", "background", "notifications", "requests"];

#[test]
fn folders_of_lsp_use_only_those_before() {
    let mut findings = Vec::new();
    for file in sources_below("src/lsp") {
        let folder = file.path.trim_start_matches("src/lsp/").split(['/', '.']).next().unwrap_or_default();
        let Some(own) = LSP_FOLDERS.iter().position(|&it| it == folder) else { continue };
        for (number, line) in file.code_lines() {
            for used in line.split("crate::lsp::").skip(1).map(first_word) {
                let is_later = LSP_FOLDERS.iter().position(|&it| it == used).is_some_and(|at| at > own);
                if is_later || ["main_loop", "router"].contains(&used) {
                    findings.push(format!("{}:{number}: `lsp::{folder}` must not use `lsp::{used}`", file.path));
                }
            }
        }
    }
    assert_tidy(&findings);
}

#[test]
fn layers_are_used_through_their_root_only() {
    let mut findings = Vec::new();
    let layers: Vec<&str> = PURE_LAYERS.into_iter().chain(EDGE_LAYERS.map(|(edge, _)| edge)).collect();
    for file in rust_sources() {
        let own = file.layer().filter(|_| file.path.starts_with("src/"));
        for (number, line) in file.code_lines() {
            let paths = line.split("crate::").chain(line.split("podlens::")).skip(1);
            for (layer, rest) in paths.filter_map(|path| path.split_once("::")) {
                // A lower-case name with something below it is a module.
                let module = first_word(rest);
                let is_module = rest[module.len()..].starts_with("::") && module.starts_with(char::is_lowercase);
                if layers.contains(&layer) && own != Some(layer) && is_module {
                    findings.push(format!("{}:{number}: use `{layer}::{module}::…` through `{layer}`", file.path));
                }
            }
        }
        if let Some(layer) = own.filter(|layer| file.path == format!("src/{layer}.rs")) {
            for (number, line) in file.code_lines().filter(|(_, line)| line.starts_with("pub mod ")) {
                findings.push(format!("{}:{number}: `{line}`: modules of `{layer}` are private", file.path));
            }
        }
    }
    assert_tidy(&findings);
}

/// The layers in which a name of a type has one meaning.
const LAYERS_WITH_UNIQUE_TYPES: [&str; 6] = ["k8s", "workspace", "build", "resolve", "rules", "ide"];

#[test]
fn no_two_types_of_these_layers_have_the_same_name() {
    let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in sources_below("src") {
        let is_test = file.path.ends_with("/tests.rs") || file.path.contains("/tests/");
        if is_test || !file.layer().is_some_and(|it| LAYERS_WITH_UNIQUE_TYPES.contains(&it)) {
            continue;
        }
        // Declarations without indentation: not those of functions and of test modules.
        for (index, line) in file.text.lines().enumerate() {
            if let Some(name) = declared_type(line) {
                declared.entry(name.to_owned()).or_default().push(format!("{}:{}", file.path, index + 1));
            }
        }
    }
    let repeated = declared.iter().filter(|(_, places)| places.len() > 1);
    let findings: Vec<String> =
        repeated.map(|(name, places)| format!("`{name}` is declared in {}", places.join(" and "))).collect();
    assert!(declared.len() > 200, "only {} types were found", declared.len());
    assert_tidy(&findings);
}

/// The name of the type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let (keyword, rest) = rest.split_once(' ')?;
    ["struct", "enum", "trait", "type", "union"].contains(&keyword).then(|| first_word(rest))
}

#[test]
fn the_pure_layers_build_without_threads_and_terminals() {
    // `tests/run` builds the features. This test only checks that none of these crates is a dependency.
    let edge =
        ["tokio", "tower-lsp-server", "notify", "ignore", "rayon", "clap", "indicatif", "terminal_size", "tempfile"];
    let tree = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--no-default-features", "--edges", "normal", "--prefix", "none"])
        .current_dir(project())
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let packages: Vec<&str> = tree.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert!(packages.contains(&"granit-parser"), "{tree}");
    let findings: Vec<String> = edge
        .into_iter()
        .filter(|name| packages.contains(name))
        .map(|name| format!("`{name}` is built without the features `cli` and `lsp`: make it optional in Cargo.toml"))
        .collect();
    assert_tidy(&findings);
}

#[test]
fn pure_layers_refuse_io() {
    let mut findings = Vec::new();
    for file in sources_below("src") {
        let is_root = file.path.matches('/').count() == 1;
        let is_pure = file.layer().is_some_and(|layer| PURE_LAYERS.contains(&layer));
        if is_root && is_pure && !file.text.contains("\n#![warn(clippy::disallowed_methods)]\n") {
            findings.push(format!("{}: missing `#![warn(clippy::disallowed_methods)]`", file.path));
        }
    }
    assert_tidy(&findings);
}

#[test]
fn files_say_what_they_are_for_and_stay_short() {
    let mut findings = Vec::new();
    for file in rust_sources() {
        if !file.text.starts_with("//! ") {
            findings.push(format!("{}: open with `//!` and one sentence that says what the file is for", file.path));
        }
        let lines = file.text.lines().count();
        if lines > 800 {
            findings.push(format!("{}: {lines} lines; split what is over 800", file.path));
        }
        if file.path.ends_with("/mod.rs") {
            findings.push(format!("{}: write `name.rs` beside `name/`", file.path));
        }
    }
    assert_tidy(&findings);
}

#[test]
fn nothing_is_skipped_or_silenced() {
    let mut findings = Vec::new();
    for file in rust_sources() {
        for (number, line) in file.code_lines() {
            let attribute = line.starts_with("#[") || line.starts_with("#![");
            if attribute && line.contains("ignore") && first_word(line.trim_start_matches(['#', '['])) == "ignore" {
                findings.push(format!("{}:{number}: skip slow tests unless PODLENS_SLOW is set instead", file.path));
            }
            if attribute && line.contains("allow(") {
                findings.push(format!("{}:{number}: use `#[expect(lint, reason = \"…\")]`", file.path));
            }
        }
    }
    assert_tidy(&findings);
}

#[test]
fn no_file_contains_paths_of_one_machine() {
    // In parts, so that this file does not contain them either.
    let homes = ["home", "root", "Users", "work"].map(|directory| format!("/{directory}/"));
    let mut findings = Vec::new();
    for file in texts() {
        for (number, line) in file.text.lines().enumerate() {
            // Inside a longer path or a URI the same letters are only a part of a name.
            let found = homes.iter().find(|home| {
                line.match_indices(home.as_str()).any(|(at, _)| {
                    !line[..at].ends_with(|before: char| before.is_alphanumeric() || "/.-_)}*:".contains(before))
                })
            });
            if let Some(home) = found {
                findings.push(format!("{}:{}: a path of one machine ({home}…)", file.path, number + 1));
            }
        }
    }
    assert_tidy(&findings);
}

#[test]
fn every_dependency_says_why_it_is_there() {
    let manifest = read("Cargo.toml");
    let mut findings = Vec::new();
    let (mut in_dependencies, mut above) = (false, "");
    for (number, line) in manifest.text.lines().enumerate() {
        if line.starts_with('[') {
            in_dependencies = line.contains("dependencies");
        } else if in_dependencies && line.contains(" = ") && !line.starts_with([' ', '#']) && !above.starts_with('#') {
            findings.push(format!("Cargo.toml:{}: no comment above says why", number + 1));
        }
        above = line;
    }
    assert_tidy(&findings);
}

/// A file of the project.
pub(crate) struct Source {
    /// Relative to the project, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// The layer a file of `src/` belongs to; `None` for the root files of the library and the binary.
    fn layer(&self) -> Option<&str> {
        let layer = first_word(self.path.strip_prefix("src/")?);
        (!["lib", "main"].contains(&layer)).then_some(layer)
    }

    /// Lines that are not comments, with their numbers from 1, without indentation.
    fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().map(str::trim_start).enumerate();
        lines.filter(|(_, line)| !line.starts_with("//")).map(|(index, line)| (index + 1, line))
    }
}

fn first_word(text: &str) -> &str {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').next().unwrap_or_default()
}

fn rust_sources() -> impl Iterator<Item = Source> {
    ["src", "tests", "benches"].into_iter().flat_map(sources_below)
}

fn sources_below(directory: &str) -> Vec<Source> {
    paths_below(&project().join(directory))
        .into_iter()
        .filter(|path| path.ends_with(".rs"))
        .map(|path| read(&path))
        .collect()
}

/// All text files of the project.
fn texts() -> impl Iterator<Item = Source> {
    let is_text = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        ["rs", "md", "toml", "sh", "yml", "json", "ts", "lua", ""].contains(&extension) || path == "tests/run"
    };
    // Manifests contain paths inside containers, so YAML below `fixtures` is not checked.
    paths_below(&project())
        .into_iter()
        .filter(|path| !path.starts_with("fixtures/"))
        .filter(is_text)
        .map(|path| read(&path))
}

/// The files below a directory in the order of their names, without build output and installed packages.
pub(crate) fn paths_below(directory: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return paths };
    for entry in entries {
        let path = entry.expect("a directory of the project is readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", ".git", "node_modules"].contains(&name.as_str()) {
                paths.extend(paths_below(&path));
            }
        } else {
            let relative = path.strip_prefix(project()).expect("it lies in the project");
            paths.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    paths.sort();
    paths
}

pub(crate) fn read(path: &str) -> Source {
    let text = fs::read_to_string(project().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    Source { path: path.to_owned(), text }
}

pub(crate) fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn assert_tidy(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
