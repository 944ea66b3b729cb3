//! The metadata files agree with each other: address, package, releases, and the statements in SECURITY.md.

use std::process::Command;

use serde_json::Value;

use crate::tidy::{Source, assert_tidy, paths_below, project, read};

/// The address of the project, from Cargo.toml.
const ADDRESS: &str = env!("CARGO_PKG_REPOSITORY");

/// The files that need the address as a literal. Code uses `env!("CARGO_PKG_REPOSITORY")`, Markdown relative links.
const COPIES: [&str; 6] = [
    ".github/ISSUE_TEMPLATE/config.yml",
    "Cargo.toml",
    "SECURITY.md",
    "docs/ci.md",
    "editors/vscode/package.json",
    "editors/zed/extension.toml",
];

/// Addresses of pages about podlens on other sites.
const OTHER_SITES: [&str; 2] = ["https://crates.io/crates/podlens", "https://docs.rs/podlens"];

/// What `cargo metadata` prints, from the files that are on this machine.
pub(crate) fn cargo_metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(project())
        .output()
        .expect("cargo starts");
    // A build downloads only the packages for this platform.
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`cargo metadata` failed; run `cargo fetch --locked` once:\n{problem}");
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

/// The text before a repository without its host: `uses: owner/name`.
const SHORT_FORMS: [&str; 4] = ["uses: ", "--repo ", "github:", "git@github.com:"];

#[test]
fn the_address_is_written_once() {
    let mut findings = Vec::new();
    let mut with_copy = Vec::new();
    for file in all_texts() {
        for (number, line) in (1..).zip(file.text.lines()) {
            for found in addresses(line) {
                let place = format!("{}:{number}", file.path);
                if !is_project_address(found) {
                    findings.push(format!("{place}: `{found}` is not the address in Cargo.toml, {ADDRESS}"));
                } else if !file.path.starts_with("fixtures/") && !COPIES.contains(&file.path.as_str()) {
                    findings.push(format!(
                        "{place}: a copy of the project's address: derive it from Cargo.toml, or use a relative link"
                    ));
                }
                with_copy.push(file.path.clone());
            }
        }
    }
    for path in COPIES {
        if !with_copy.iter().any(|it| it == path) {
            findings.push(format!("{path}: no copy of the address: remove it from the list in tests/it/metadata.rs"));
        }
    }
    assert_tidy(&findings);
}

#[test]
fn other_spellings_of_the_address_are_found() {
    fn all(line: &str) -> Vec<&str> {
        addresses(line).collect()
    }
    // In parts, so that this file does not contain them.
    let other = ["https:", "", "example.com", "Podlens.git"].join("/");
    assert_eq!(all(&format!("see <{other}> for more")), [&other]);
    assert!(!is_project_address(&other) && !is_project_address(&format!("{ADDRESS}2")));
    let short = ["someone", "podlens@v1"].join("/");
    assert_eq!(all(&format!("  - uses: {short} # a comment")), [&short]);
    assert!(!is_project_address(&short));
    for address in [ADDRESS, &format!("{ADDRESS}.git"), &format!("{ADDRESS}/issues"), repository()] {
        assert!(is_project_address(address), "{address}");
    }
    assert_eq!(all("uses: actions/checkout, https://example.com, target/debug/podlens"), [""; 0]);
}

#[test]
fn editor_packages_have_the_address() {
    let manifest: Value = serde_json::from_str(&read("editors/vscode/package.json").text).expect("it is JSON");
    assert_eq!(manifest["repository"]["url"], ADDRESS);
    let zed = read("editors/zed/extension.toml").text;
    assert!(zed.lines().any(|line| line == format!("repository = \"{ADDRESS}\"")), "{zed}");
}

#[test]
fn the_package_has_what_the_build_needs_and_no_more() {
    let list = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--locked", "--offline"])
        .current_dir(project())
        .output()
        .expect("cargo runs");
    assert!(list.status.success(), "{}", String::from_utf8_lossy(&list.stderr));
    let list = String::from_utf8(list.stdout).expect("paths are UTF-8").replace('\\', "/");
    let (sources, others): (Vec<&str>, Vec<&str>) = list.lines().partition(|path| path.starts_with("src/"));
    let missing: Vec<String> =
        paths_below(&project().join("src")).into_iter().filter(|path| !sources.contains(&path.as_str())).collect();
    assert!(missing.is_empty(), "not in the package: {missing:?}");
    let expected = ["CHANGELOG.md", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig", "LICENSE", "README.md"];
    // Cargo adds it where it finds a repository.
    let others: Vec<&str> = others.into_iter().filter(|path| *path != ".cargo_vcs_info.json").collect();
    assert_eq!(others, expected);
}

#[test]
fn every_platform_is_released_checked_and_packed_alike() {
    let workflow = read(".github/workflows/release.yml").text;
    let lines = || workflow.lines().map(str::trim);
    let targets: Vec<&str> = lines()
        .filter_map(|line| line.strip_prefix("- { target: ")?.split_once(','))
        .map(|(target, _)| target)
        .collect();
    assert!(targets.len() >= 5, "the targets of release.yml: {targets:?}");
    let (deny, vsix) = (read("deny.toml").text, read("editors/vscode/scripts/package.mjs").text);
    let mut findings = Vec::new();
    for target in &targets {
        for (path, text) in [("deny.toml", &deny), ("editors/vscode/scripts/package.mjs", &vsix)] {
            if !text.contains(&format!("\"{target}\",")) {
                findings.push(format!("{path}: no `{target}`, which release.yml builds"));
            }
        }
    }
    assert_tidy(&findings);
    // `cargo binstall` looks for the archives under the names that the workflow gives them.
    let manifest = read("Cargo.toml").text;
    let name =
        lines().find_map(|line| line.strip_prefix("name=\"")?.strip_suffix('"')).expect("a name of the archives");
    let name = name.replace("$VERSION", "{ version }").replace("$TARGET", "{ target }");
    for value in [format!("/{name}.tar.gz\""), format!("/{name}.zip\""), format!("\"{name}/{{ bin }}")] {
        assert!(manifest.contains(&value), "package.metadata.binstall in Cargo.toml: no `{value}`");
    }
    assert!(lines().any(|line| line.contains("cargo build --locked --profile dist ")), "{workflow}");
    assert!(manifest.contains("\n[profile.dist]\n"));
}

#[test]
fn actions_are_pinned_by_commit() {
    let mut findings = Vec::new();
    for path in paths_below(&project().join(".github")) {
        for (number, line) in (1..).zip(read(&path).text.lines()) {
            let Some((_, used)) = line.split_once("uses: ") else { continue };
            let commit = used.split_once('@').and_then(|(_, rest)| rest.split_once(" # v")).map(|(commit, _)| commit);
            if !commit.is_some_and(|it| it.len() == 40 && it.bytes().all(|byte| byte.is_ascii_hexdigit())) {
                findings.push(format!("{path}:{number}: `{used}`: expected `owner/name@COMMIT # vVERSION`"));
            }
        }
    }
    assert_tidy(&findings);
}

/// What SECURITY.md promises.
#[test]
fn no_process_is_started_and_no_connection_opened() {
    const REFUSED: [&str; 7] =
        ["process::Command", "std::net", "tokio::net", "tokio::process", "os::unix::net", "unsafe {", "unsafe fn"];
    let mut findings = Vec::new();
    for path in paths_below(&project().join("src")).iter().filter(|path| path.ends_with(".rs")) {
        for (number, line) in
            (1..).zip(read(path).text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            if let Some(refused) = REFUSED.iter().find(|it| line.contains(**it)) {
                findings.push(format!("{path}:{number}: SECURITY.md promises that podlens never uses `{refused}`"));
            }
        }
    }
    let metadata = cargo_metadata();
    let nodes = metadata["resolve"]["nodes"].as_array().expect("the packages that are built");
    let tokio = nodes.iter().find(|it| it["id"].as_str().is_some_and(|id| id.contains("#tokio@"))).expect("tokio");
    for feature in tokio["features"].as_array().expect("its features") {
        if ["net", "process"].iter().any(|refused| feature == refused) {
            findings.push(format!("Cargo.toml: SECURITY.md promises that podlens never uses {feature} of tokio"));
        }
    }
    assert_tidy(&findings);
}

/// The addresses of repositories in a line that look like those of podlens: URLs, and `owner/name` where a tool expects it.
fn addresses(line: &str) -> impl Iterator<Item = &str> {
    let urls = line.match_indices("://").map(|(at, _)| &line[scheme_start(&line[..at])..]);
    let urls = urls.filter(|url| ["http", "git", "ssh"].iter().any(|scheme| url.starts_with(scheme)));
    let short = SHORT_FORMS.iter().flat_map(|form| line.match_indices(form).map(|(at, it)| &line[at + it.len()..]));
    let ends = |character: char| character.is_whitespace() || "\"'`<>()[]{},\\".contains(character);
    let all = urls.chain(short).map(move |rest| rest.split(ends).next().unwrap_or_default());
    all.filter(|found| found.to_ascii_lowercase().contains("podlens"))
        .filter(|found| !OTHER_SITES.iter().any(|site| found.starts_with(site)))
}

/// The start of the URL scheme at the end of a text.
fn scheme_start(before: &str) -> usize {
    before.trim_end_matches(|it: char| it.is_ascii_alphanumeric() || it == '+').len()
}

fn is_project_address(found: &str) -> bool {
    let is_start = |address: &str| {
        found
            .strip_prefix(address)
            .is_some_and(|rest| rest.is_empty() || rest == ".git" || rest.starts_with(['/', '@', '#']))
    };
    is_start(ADDRESS) || is_start(repository())
}

/// `owner/name`.
fn repository() -> &'static str {
    let mut parts = ADDRESS.splitn(4, '/');
    parts.nth(3).expect("an address has a host, an owner and a name")
}

/// Every text file, except those that tools generate.
fn all_texts() -> impl Iterator<Item = Source> {
    let is_generated =
        |path: &String| path.ends_with("lock.json") || path.ends_with(".lock") || path.contains("/dist/");
    paths_below(&project())
        .into_iter()
        .filter(move |path| !is_generated(path))
        .filter_map(|path| Some(Source { text: std::fs::read_to_string(project().join(&path)).ok()?, path }))
}
