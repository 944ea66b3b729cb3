//! The exit code of every command for inputs and flags that do not work, and that stdout has only results.

use crate::command::{directory, run};

const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - {name: main, image: app}\n";
const TEMPLATE: &str = "apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n\
                        - {apiVersion: v1, kind: ConfigMap, metadata: {name: '${NAME}'}}\n\
                        parameters:\n- {name: NAME, required: true}\n";

/// Runs a command in a directory with some files, and checks its exit code, an empty stdout and a part of stderr.
fn check(arguments: &[&str], stdin: &str, code: i32, said: &str) {
    let place = directory(&[
        ("pod.yaml", POD.as_bytes()),
        ("t.yaml", TEMPLATE.as_bytes()),
        ("folder/notes.txt", b"hello"),
        ("latin/a.yaml", b"a: \xff\n"),
    ]);
    let (exit, out, err) = run(place.path(), arguments, stdin);
    assert_eq!((exit, out.as_str()), (code, ""), "{arguments:?}: {err}");
    assert!(err.contains(said), "{arguments:?}: {err}");
}

#[test]
fn a_path_that_does_not_exist() {
    for arguments in [
        &["lint", "gone"][..],
        &["lint", "gone/pod.yaml"],
        &["lint", "--quiet", "pod.yaml/x"],
        &["env", "gone"],
        &["env", "pod.yaml/x"],
        &["render", "gone"],
        &["render", "--diff", "gone"],
        &["process", "gone"],
        &["process", "gone", "--parameters"],
        &["process", "t.yaml", "-p", "NAME=a", "--param-file", "gone"],
        &["wrap", "gone", "--name", "s"],
        &["wrap", "pod.yaml", "gone", "--name", "s"],
        &["expand", "--env-file", "gone", "x"],
        &["expand", "--env-file", "gone"],
    ] {
        check(arguments, "", 3, ": no such file or directory");
    }
    for command in ["lint", "env", "render"] {
        check(&[command, "--root", "gone", "gone"], "", 3, "gone: the root does not exist");
    }
}

#[test]
fn a_path_that_does_not_exist_beside_others() {
    let place = directory(&[("pod.yaml", POD.as_bytes()), ("latin.yaml", b"a: \xff\n")]);
    for command in ["lint", "env", "render"] {
        let (code, out, err) = run(place.path(), &[command, "pod.yaml", "gone"], "");
        assert_eq!((code, err.as_str()), (3, "podlens: gone: no such file or directory\n"), "{command}");
        assert!(!out.is_empty(), "{command} shows the other input");
        let (code, _, _) = run(place.path(), &[command, "latin.yaml", "gone"], "");
        assert_eq!(code, 2, "{command}: a file that cannot be read is worse");
    }
    let (code, _, err) = run(place.path(), &["lint", "pod.yaml", "--baseline", "gone"], "");
    assert_eq!((code, err.as_str()), (3, "podlens: gone: no such file or directory\n"));
}

#[test]
fn a_file_that_cannot_be_read() {
    for arguments in [
        &["process", "folder"][..],
        &["process", "t.yaml", "-p", "NAME=a", "--param-file", "folder"],
        &["wrap", "folder", "--name", "s"],
        &["expand", "--env-file", "folder", "x"],
    ] {
        check(arguments, "", 2, "folder: cannot be read");
    }
    for arguments in [
        &["env", "latin"][..],
        &["render", "latin"],
        &["process", "latin/a.yaml"],
        &["process", "t.yaml", "--param-file", "latin/a.yaml"],
        &["wrap", "latin/a.yaml", "--name", "s"],
        &["expand", "--env-file", "latin/a.yaml", "x"],
    ] {
        check(arguments, "", 2, "latin/a.yaml:1:4: not UTF-8");
    }
    for command in ["env", "render"] {
        check(&[command, "--root", "pod.yaml", "folder"], "", 2, "pod.yaml: the root is not a directory");
    }
    let place = directory(&[("pod.yaml", POD.as_bytes()), ("folder/notes.txt", b"hello"), ("a.yaml", b"a: \xff\n")]);
    for arguments in [
        &["lint", "a.yaml"][..],
        &["lint", "--baseline", "folder", "pod.yaml"],
        &["lint", "--write-baseline", "folder", "pod.yaml"],
        &["lint", "--output", "folder", "pod.yaml"],
        &["lint", "--output", "gone/x.txt", "pod.yaml"],
        &["lsp", "--log", "folder"],
    ] {
        let (code, _, err) = run(place.path(), arguments, "");
        assert!(code == 2 && !err.is_empty(), "{arguments:?}: {code} {err}");
    }
}

#[test]
fn a_bad_flag() {
    for arguments in [
        &["lint", "--no-such-flag"][..],
        &["lint", "-o", "xml"],
        &["lint", "--select", "no-such-rule"],
        &["env", "--no-such-flag"],
        &["env", "-o", "xml"],
        &["env", "--workload", "web"],
        &["render", "--no-such-flag"],
        &["render", "--workload", "/web"],
        &["process", "--no-such-flag", "t.yaml"],
        &["process", "t.yaml", "-o", "xml"],
        &["process", "t.yaml", "-p", "NAME=1", "-p", "NAME=2"],
        &["wrap", "--no-such-flag", "pod.yaml"],
        &["wrap", "pod.yaml", "--name", "s", "--parameter", "A=web"],
        &["expand", "--no-such-flag"],
        &["expand", "--set", "A"],
        &["explain", "--no-such-flag"],
        &["explain", "no-such-rule"],
        &["completions", "no-such-shell"],
        &["lsp", "--no-such-flag"],
        &["no-such-command"],
    ] {
        check(arguments, "", 2, "");
    }
}

/// `--output` is a file in every command: stdout has nothing, and the file is as stdout would be.
#[test]
fn an_output_file() {
    let place = directory(&[("pod.yaml", POD.as_bytes()), ("t.yaml", TEMPLATE.as_bytes())]);
    for arguments in [
        &["lint", "pod.yaml"][..],
        &["env", "pod.yaml"],
        &["env", "pod.yaml", "-o", "json"],
        &["render", "pod.yaml"],
        &["build", "pod.yaml"],
        &["views"],
        &["process", "t.yaml", "-p", "NAME=a"],
        &["process", "t.yaml", "--parameters"],
        &["wrap", "pod.yaml", "--name", "s"],
    ] {
        let (code, printed, err) = run(place.path(), arguments, "");
        let with_file = [arguments, &["--output", "result"]].concat();
        let (same_code, nothing, _) = run(place.path(), &with_file, "");
        let written = std::fs::read_to_string(place.path().join("result")).expect("a file");
        assert_eq!(
            (same_code, nothing.as_str(), written.as_str()),
            (code, "", printed.as_str()),
            "{arguments:?}: {err}"
        );
        assert!(!written.is_empty(), "{arguments:?}");
        let with_directory = [arguments, &["--output", "."]].concat();
        let (failed, nothing, err) = run(place.path(), &with_directory, "");
        assert_eq!((failed, nothing.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(".: cannot be written"), "{arguments:?}: {err}");
        std::fs::remove_file(place.path().join("result")).expect("removed");
    }
}

#[test]
fn a_refused_input() {
    for (arguments, stdin, said) in [
        (&["process", "pod.yaml"][..], "", "not a Template"),
        (&["process", "t.yaml"], "", "`NAME` is required"),
        (&["process", "t.yaml", "-p", "NAME=a", "-p", "OTHER=b"], "", "no parameter `OTHER`"),
        (&["process", "-"], "kind: [", "<stdin>:1:"),
        (&["wrap", "pod.yaml", "--name", "s", "-p", "A=nowhere"], "", "does not occur"),
        (&["expand", "--env-file", "pod.yaml", "$(A)"], "", "pod.yaml:1: "),
    ] {
        check(arguments, stdin, 1, said);
    }
}

#[test]
fn an_empty_stdin() {
    for (arguments, said) in [
        (&["lint", "-"][..], "stdin is empty"),
        (&["env", "-"], "stdin is empty"),
        (&["render", "-"], "stdin is empty"),
        (&["process", "-"], "<stdin> has no documents"),
        (&["wrap", "-", "--name", "s"], "no objects found"),
    ] {
        check(arguments, "", 3, said);
    }
    // No lines give no lines.
    check(&["expand"], "", 0, "");
}

#[test]
fn a_path_without_manifests() {
    for command in ["lint", "env", "render"] {
        check(&[command, "folder"], "", 3, "no manifests found");
    }
}
