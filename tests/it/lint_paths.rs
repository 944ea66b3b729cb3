//! Paths in reports and in fingerprints, wherever the command runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::manifest::pod_for_commands;

const POD: &str = pod_for_commands!("");

/// A directory with these files and directories, which end with `/`. It has no settings.
fn tree(paths: &[&str]) -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    for path in paths {
        let full = place.path().join(path);
        let directory = if path.ends_with('/') { &full } else { full.parent().expect("a parent") };
        fs::create_dir_all(directory).expect("created");
        if !path.ends_with('/') {
            fs::write(&full, if path.ends_with("podlens.yaml") { "" } else { POD }).expect("written");
        }
    }
    place
}

/// What `podlens lint` prints in a directory, with variables of a CI service.
fn lint(directory: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podlens"));
    command.arg("lint").args(arguments).current_dir(directory);
    command.env_remove("GITHUB_WORKSPACE").env_remove("CI_PROJECT_DIR").envs(variables.iter().copied());
    let output = command.output().expect("podlens starts");
    String::from_utf8(output.stdout).expect("podlens prints UTF-8")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The paths in the reports of a format.
fn paths(format: &str, text: &str) -> BTreeSet<String> {
    let owned = |it: &Value| it.as_str().expect("a path").to_owned();
    match format {
        "github" => {
            let file = |line: &str| line.split("file=").nth(1)?.split(',').next().map(str::to_owned);
            text.lines().filter_map(file).collect()
        }
        "gitlab" => json(text).as_array().expect("issues").iter().map(|it| owned(&it["location"]["path"])).collect(),
        "sarif" => {
            let log = json(text);
            let results = log["runs"][0]["results"].as_array().expect("results");
            let place = |it: &Value| owned(&it["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]);
            results.iter().map(place).collect()
        }
        "json" => json(text)["findings"].as_array().expect("findings").iter().map(|it| owned(&it["file"])).collect(),
        _ => text.lines().filter_map(|line| Some(line.split_once(".yaml:")?.0.to_owned() + ".yaml")).collect(),
    }
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn reports_for_code_hosting_have_paths_from_the_repository() {
    let place = tree(&[".git/", "deploy/app/pod.yaml", "other.yaml"]);
    for format in ["github", "gitlab", "sarif"] {
        for (directory, arguments, expected) in [
            ("", &[][..], &["deploy/app/pod.yaml", "other.yaml"][..]),
            ("deploy", &[], &["deploy/app/pod.yaml"]),
            ("deploy/app", &["."], &["deploy/app/pod.yaml"]),
            ("deploy/app", &["../../other.yaml"], &["other.yaml"]),
            ("deploy", &["app", "--root", "."], &["deploy/app/pod.yaml"]),
        ] {
            let arguments = [arguments, &["-o", format]].concat();
            let text = lint(&place.path().join(directory), &arguments, &[]);
            assert_eq!(paths(format, &text), set(expected), "{format} in {directory:?}: {text}");
        }
    }
    // Others are for the person or program that started the command.
    for format in ["json", "concise"] {
        let text = lint(&place.path().join("deploy"), &["..", "-o", format], &[]);
        assert_eq!(paths(format, &text), set(&["app/pod.yaml", "../other.yaml"]), "{format}: {text}");
    }
}

#[test]
fn a_ci_service_names_the_checkout() {
    let place = tree(&["work/deploy/pod.yaml", "nested/repo/.git/", "nested/repo/deploy/pod.yaml", "outside/pod.yaml"]);
    for variable in ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"] {
        for format in ["github", "gitlab", "sarif"] {
            let paths = |directory: &str, checkout: &str| {
                let variables = [(variable, &*place.path().join(checkout))];
                paths(format, &lint(&place.path().join(directory), &["-o", format], &variables))
            };
            assert_eq!(paths("work/deploy", "work"), set(&["deploy/pod.yaml"]), "{variable} {format}");
            assert_eq!(paths("nested/repo/deploy", "nested"), set(&["deploy/pod.yaml"]), "the repository is below it");
            assert_eq!(paths("outside", "work"), set(&["pod.yaml"]), "{variable} {format}: another directory");
        }
    }
}

#[test]
fn sarif_names_the_root_and_files_outside_of_it() {
    let place = tree(&["r p/.git/", "r p/deploy/ü b.yaml", "outside/pod.yaml"]);
    fs::write(place.path().join("r p/deploy/latin.yaml"), b"a: \xff\n").expect("written");
    let root = fs::canonicalize(place.path()).expect("there");
    let log = json(&lint(&place.path().join("r p/deploy"), &["-o", "sarif"], &[]));
    let run = &log["runs"][0];
    let uri = run["originalUriBaseIds"]["%SRCROOT%"]["uri"].as_str().expect("a URI");
    assert!(uri.starts_with("file:///") && uri.ends_with("/r%20p/"), "{uri}");
    let artifact = |it: &Value| it["locations"][0]["physicalLocation"]["artifactLocation"].clone();
    let expected = serde_json::json!({"uri": "deploy/%C3%BC%20b.yaml", "uriBaseId": "%SRCROOT%"});
    assert_eq!(artifact(&run["results"][0]), expected);
    let problem = artifact(&run["invocations"][0]["toolExecutionNotifications"][0]);
    assert_eq!(problem, serde_json::json!({"uri": "deploy/latin.yaml", "uriBaseId": "%SRCROOT%"}));
    let checkout = [("GITHUB_WORKSPACE", &*place.path().join("r p"))];
    let log = json(&lint(&place.path().join("r p"), &["-o", "sarif", "../outside", "--root", "."], &checkout));
    let outside = artifact(&log["runs"][0]["results"][0]);
    let expected = format!("file://{}/outside/pod.yaml", root.to_str().expect("UTF-8"));
    assert_eq!(outside, serde_json::json!({ "uri": expected }));
}

/// The fingerprints of all findings.
fn fingerprints(directory: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> BTreeSet<String> {
    let text = lint(directory, &[arguments, &["-o", "json"]].concat(), variables);
    let found = json(&text)["findings"].as_array().expect("findings").clone();
    found.iter().map(|it| it["fingerprint"].as_str().expect("a fingerprint").to_owned()).collect()
}

#[test]
fn fingerprints_do_not_depend_on_the_directory() {
    // The same files in a repository, in a checkout without one, and with settings.
    let repository = tree(&[".git/", "deploy/app/pod.yaml"]);
    let checkout = tree(&["deploy/app/pod.yaml"]);
    let settings = tree(&["podlens.yaml", "deploy/app/pod.yaml"]);
    let ci = [("GITHUB_WORKSPACE", checkout.path())];
    let expected = fingerprints(repository.path(), &[], &[]);
    assert_eq!(expected.len(), 1);
    for directory in ["", "deploy", "deploy/app"] {
        let here = |it: &tempfile::TempDir| it.path().join(directory);
        assert_eq!(fingerprints(&here(&repository), &[], &[]), expected, "{directory}");
        assert_eq!(fingerprints(&here(&checkout), &[], &ci), expected, "{directory}");
        assert_eq!(fingerprints(&here(&settings), &[], &[]), expected, "{directory}");
    }
    let elsewhere = tempfile::tempdir().expect("a directory");
    let path = repository.path().join("deploy/app/pod.yaml");
    assert_eq!(fingerprints(elsewhere.path(), &[path.to_str().expect("UTF-8")], &[]), expected);
}

/// Without a repository, settings or a CI service, paths are relative to the baseline.
#[test]
fn a_baseline_holds_in_every_directory() {
    for marks in
        [&["deploy/app/pod.yaml"][..], &[".git/", "deploy/app/pod.yaml"], &["podlens.yaml", "deploy/app/pod.yaml"]]
    {
        let place = tree(marks);
        let base = place.path().join("deploy/base.json");
        let base = base.to_str().expect("UTF-8");
        lint(&place.path().join("deploy"), &["--write-baseline", "base.json"], &[]);
        for (directory, path) in [("", "."), ("deploy", "app"), ("deploy/app", "pod.yaml"), ("deploy/app", "../..")] {
            let text = lint(&place.path().join(directory), &[path, "--baseline", base, "-o", "json"], &[]);
            assert_eq!(json(&text)["findings"], serde_json::json!([]), "{marks:?} {directory:?}");
        }
    }
}

/// The file that stdin replaces has the same fingerprints.
#[test]
fn stdin_with_a_name_has_the_path_of_the_file() {
    let place = tree(&[".git/", "app/podlens.yaml", "app/deploy/pod.yaml"]);
    let expected = fingerprints(place.path(), &[], &[]);
    let input = fs::File::open(place.path().join("app/deploy/pod.yaml")).expect("there");
    let output = Command::new(env!("CARGO_BIN_EXE_podlens"))
        .args([
            "lint",
            "-",
            "--stdin-filename",
            "deploy/pod.yaml",
            "-o",
            "json",
            "-o",
            "gitlab",
            "--output",
            "gitlab.json",
        ])
        .current_dir(place.path().join("app"))
        .stdin(input)
        .output()
        .expect("podlens starts");
    let found = json(&String::from_utf8(output.stdout).expect("UTF-8"));
    assert_eq!(found["findings"][0]["file"], "deploy/pod.yaml");
    assert_eq!(Some(&found["findings"][0]["fingerprint"].as_str().expect("one").to_owned()), expected.first());
    let issues = fs::read_to_string(place.path().join("app/gitlab.json")).expect("written");
    assert_eq!(json(&issues)[0]["location"]["path"], "app/deploy/pod.yaml");
}
