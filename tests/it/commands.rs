//! The commands in unusual situations: their output, their messages about bad input, their exit codes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{directory, project, run};
use crate::manifest::pod_for_commands;

const POD: &str = pod_for_commands!("        - {name: B, value: it's}\n");

#[test]
fn bad_files_do_not_hide_good_ones() {
    let broken = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: [}\n";
    let place = directory(&[("ok.yaml", POD.as_bytes()), ("latin.yaml", b"a: \xff\n"), ("broken.yaml", broken)]);
    let (code, out, err) = run(place.path(), &["env", "."], "");
    assert_eq!(code, 2, "{err}");
    assert!(
        out.contains("Pod/web") && out.contains("! $(NOPE) is not expanded: nothing defines it  ok.yaml:9:30"),
        "{out}"
    );
    assert!(err.contains("latin.yaml:1:4: not UTF-8") && err.contains("broken.yaml:"), "{err}");

    let (code, out, err) = run(place.path(), &["env", "ok.yaml", "gone.yaml"], "");
    assert_eq!((code, err.as_str()), (3, "podlens: gone.yaml: no such file or directory\n"));
    assert!(out.contains("Pod/web"), "{out}");

    let (code, _, err) = run(place.path(), &["env", "broken.yaml"], "");
    assert_eq!(code, 1, "{err}");
}

#[test]
fn input_without_workloads_has_a_message() {
    let place = directory(&[
        ("notes/readme.txt", b"hello"),
        ("other/values.yaml", b"a: 1\n"),
        ("map.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
    ]);
    for (path, code, said) in [
        ("notes", 3, "no manifests found"),
        ("other", 3, "other/values.yaml has no Kubernetes objects"),
        ("gone", 3, "gone: no such file or directory"),
        ("map.yaml", 0, "no workloads found"),
    ] {
        let (exit, out, err) = run(place.path(), &["env", path], "");
        assert_eq!((exit, out.as_str()), (code, ""), "{path}: {err}");
        assert!(err.contains(said), "{path}: {err}");
    }
    let (exit, out, _) = run(place.path(), &["env", "--format", "json", "notes"], "");
    assert_eq!(exit, 3);
    assert!(out.contains("\"workloads\": []"), "{out}");
}

#[test]
fn stdin_is_read_like_a_file() {
    let place = directory(&[]);
    let text = format!("---\n# Source: chart/templates/web.yaml\n{POD}");
    let (code, out, err) = run(place.path(), &["env", "-"], &text);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("chart/templates/web.yaml"), "{out}");
    let (code, _, _) = run(place.path(), &["env", "-"], "");
    assert_eq!(code, 3);
}

#[test]
fn errors_in_the_settings_are_reported() {
    let place = directory(&[
        ("podlens.yaml", b"# settings\nkubernetes: banana\nrules: {no-such-rule: error}\n"),
        ("ok.yaml", POD.as_bytes()),
        ("below/.git/HEAD", b""),
        ("below/ok.yaml", POD.as_bytes()),
    ]);
    let errors = |from: &str| {
        format!(
            "podlens: {from}podlens.yaml:2:13: expected a Kubernetes release such as \"1.34\" or \"1.34.4\"\n\
             podlens: {from}podlens.yaml:3:9: there is no rule `no-such-rule`\n"
        )
    };
    for (directory, from) in [("", ""), ("below", "../")] {
        let (code, out, err) = run(&place.path().join(directory), &["env"], "");
        assert_eq!((code, err), (2, errors(from)));
        assert!(out.contains("Pod/web"), "{out}");
    }
    let (code, out, err) = run(place.path(), &["expand", "x"], "");
    assert_eq!((code, out.as_str(), err), (2, "x\n", errors("")));
    // Settings that cannot be read are an error, not the same as no settings.
    fs::write(place.path().join("podlens.yaml"), b"\xff").expect("written");
    for command in [&["env"][..], &["expand", "x"]] {
        let (code, _, err) = run(place.path(), command, "");
        let expected = "podlens: podlens.yaml:1:1: not UTF-8 (byte 0xFF); save the file as UTF-8\n";
        assert_eq!((code, err.as_str()), (2, expected), "{command:?}");
    }
}

/// Names of files and values may contain control characters; the terminal does not get them.
#[cfg(unix)]
#[test]
fn names_of_files_are_shown_on_one_line() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let broken = b"apiVersion: v1\nkind: Pod\nspec: {a: [}\n";
    let place = directory(&[("a\n\u{1b}[31m.yaml", POD.as_bytes()), ("b\u{202e}.yaml", broken)]);
    fs::write(place.path().join(OsStr::from_bytes(b"c\xff.yaml")), POD).expect("written");
    let (code, out, err) = run(place.path(), &["env"], "");
    assert_eq!(code, 2, "{err}");
    assert!(out.contains("Pod/web  a\\n\\u{1b}[31m.yaml:1\n"), "{out}");
    assert!(out.contains("nothing defines it  a\\n\\u{1b}[31m.yaml:9:30\n"), "{out}");
    assert!(err.contains("podlens: b\\u{202e}.yaml:3:"), "{err}");
    assert!(err.contains("podlens: c\u{fffd}.yaml: its path is not UTF-8; rename it\n"), "{err}");
}

/// `podlens env <(helm template shop)`: a file that can be read only once is shown like any other file.
#[cfg(unix)]
#[test]
fn a_pipe_is_read_once() {
    let place = directory(&[]);
    let pipe = place.path().join("pipe.yaml");
    for (command, expected) in
        [("env", "nothing defines it  pipe.yaml:9:30"), ("lint", "9 |         - {name: A, value: é $(NOPE)}")]
    {
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there").success());
        let writer = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::write(pipe, POD))
        };
        let (_, out, err) = run(place.path(), &[command, "pipe.yaml"], "");
        assert!(out.contains(expected), "{out}{err}");
        writer.join().expect("no panic").expect("written");
        fs::remove_file(&pipe).expect("removed");
    }
    // A device that never ends is not read to its end.
    if Path::new("/dev/zero").exists() {
        let (code, _, err) = run(place.path(), &["env", "/dev/zero"], "");
        assert!(code == 2 && err.contains("larger than 64 MB"), "{err}");
    }
}

#[test]
fn unknown_flags_are_rejected() {
    let place = directory(&[]);
    for arguments in
        [&["env", "--format", "xml"][..], &["expand", "--set", "A"], &["env", "--kubernetes", "new"], &["nope"]]
    {
        let (code, out, err) = run(place.path(), arguments, "");
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
    }
}

#[test]
fn a_shell_can_read_the_dotenv_format() {
    let shell = Path::new("/bin/sh");
    if !shell.exists() {
        return;
    }
    let place = directory(&[("ok.yaml", POD.replace("it's", "'it''s \"a\" $HOME\\n `x`'").as_bytes())]);
    let (_, out, _) = run(place.path(), &["env", "--format", "dotenv"], "");
    fs::write(place.path().join("ok.env"), out).expect("written");
    let output = Command::new(shell)
        .args(["-c", "set -a; . ./ok.env; printf '%s|%s' \"$A\" \"$B\""])
        .current_dir(place.path())
        .output()
        .expect("a shell starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "é $(NOPE)|it's \"a\" $HOME\\n `x`");
}

#[test]
fn secrets_are_shown_only_on_request() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {PASSWORD: hunter2}\n---\n";
    let pod = POD.replace(
        "env:\n",
        "envFrom: [{secretRef: {name: s}}]\n      env:\n        - {name: URL, value: x:$(PASSWORD)}\n",
    );
    let text = format!("{secret}{pod}");
    let place = directory(&[("all.yaml", text.as_bytes())]);
    for format in ["table", "json", "dotenv"] {
        let (_, out, err) = run(place.path(), &["env", "--format", format], "");
        assert!(out.contains("PASSWORD") && !out.contains("hunter2") && !err.contains("hunter2"), "{out}");
    }
    fs::write(place.path().join("podlens.yaml"), "secrets: {show: true}\n").expect("written");
    let (_, out, _) = run(place.path(), &["env", "--format", "json"], "");
    assert!(out.contains("\"value\": \"x:hunter2\"") && out.contains("\"state\": \"secret\""), "{out}");
}

#[test]
fn texts_are_expanded() {
    let place = directory(&[
        ("app.env", b"A='one'\n# c\nB='two'\nrubbish with a secret\nC='three'\n"),
        ("old.env", b"A = x y\n"),
    ]);
    let expand = |arguments: &[&str], stdin: &str| run(place.path(), &[&["expand"], arguments].concat(), stdin);
    assert_eq!(expand(&["--set", "A=1", "$(A)$$(A)", "$(B)"], ""), (0, "1$(A)\n$(B)\n".into(), String::new()));
    assert_eq!(expand(&["--set", "A=1"], "x$(A)\n\nlast"), (0, "x1\n\nlast\n".into(), String::new()));
    assert_eq!(
        expand(&["--env-file", "app.env", "--set", "B=set", "$(A) $(B)"], ""),
        (0, "one set\n".into(), String::new())
    );
    let (code, out, err) = expand(&["--env-file", "app.env", "$(B)", "$(C)"], "");
    assert_eq!((code, out.as_str()), (1, "two\n"));
    assert!(err.contains("app.env:4") && !err.contains("rubbish"), "{err}");
    assert_eq!(expand(&["--env-file", "old.env", "--kubernetes", "1.34", "$(A)"], "").1, "x y\n");
    assert_eq!(expand(&["--kubernetes", "1.33", "$£"], "").1, "$Â\u{fffd}\n");
    assert_eq!(expand(&["--env-file", "old.env", "--kubernetes", "1.35", "$(A)"], "").0, 1, "a space before the `=`");
    assert_eq!(expand(&["--env-file", "gone.env", "x"], "").0, 3);
}

#[test]
fn stdin_that_is_not_utf8_is_reported() {
    let place = directory(&[]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_podlens"))
        .arg("expand")
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("podlens starts");
    child.stdin.take().expect("stdin").write_all(b"$(A)\n\xff\n").expect("written");
    let output = child.wait_with_output().expect("podlens ends");
    let expected = "podlens: <stdin>:2:1: not UTF-8 (byte 0xFF); save the file as UTF-8\n";
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(2), expected));
}

/// One file with the syntax of 1.34, of 1.35 and later, and of the proposal.
#[test]
fn env_files_are_read_as_the_release_does() {
    let text = b"A='one'\\\n  two\nB='2'\nE=\nB='3'\n";
    let place = directory(&[("app.env", text), ("deep/x", b""), ("bad.env", b"A=1\nnot a name\xc3\xa4=2\n")]);
    let settings = |text: &str| fs::write(place.path().join("podlens.yaml"), text).expect("written");
    let expand = |arguments: &[&str]| {
        let arguments = [&["expand", "--env-file", "app.env"], arguments].concat();
        run(place.path(), &arguments, "")
    };
    // 1.34: quotes are text, a line can continue, the first entry is used, and an empty value is a missing one.
    for arguments in [&["--kubernetes", "1.34", "$(A)|$(B)|$(E)"][..], &["$(A)|$(B)|$(E)"]] {
        assert_eq!(expand(arguments), (0, "'one' two|'2'|$(E)\n".into(), String::new()));
        settings("kubernetes: '1.34'\n");
    }
    // The flag wins. From 1.35 on only a comment may follow the closing quote.
    let (code, out, err) = expand(&["--kubernetes", "1.37", "$(B)"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(err, "podlens: app.env:1: only a comment may follow the closing quote\n");
    // PF8, PF10: the last entry is used, and an empty value is a value.
    settings("proposals: true\n");
    assert_eq!(expand(&["$(A)|$(B)|$(E)|"]), (0, "'one' two|'3'||\n".into(), String::new()));
    let (code, _, err) = run(place.path(), &["expand", "--env-file", "bad.env", "$(A)"], "");
    assert_eq!(code, 1);
    assert_eq!(err, "podlens: bad.env:2: this is not a valid variable name\n");
    // Settings also apply below their directory, and their errors are reported.
    let (code, out, _) = run(&place.path().join("deep"), &["expand", "--env-file", "../app.env", "$(B)"], "");
    assert_eq!((code, out.as_str()), (0, "'3'\n"));
    settings("kubernetes: banana\n");
    let (code, _, err) = expand(&["x"]);
    assert!(code == 2 && err.contains("podlens.yaml:1"), "{code} {err}");
}

#[test]
fn a_closed_stdout_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_podlens"))
        .args(["env", "--format", "json", "fixtures/shop"])
        .current_dir(project())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("podlens starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("podlens ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

/// P3 and P4: a probe sees fewer variables than the container, and a sub path without its variable prevents the start.
#[test]
fn the_effect_of_an_unresolved_reference_is_shown() {
    let fields = "envFrom: [{configMapRef: {name: c}}]
      livenessProbe: {exec: {command: [$(K)]}}
      volumeMounts:
        - {name: v, mountPath: /v, subPathExpr: $(E)/$(X)}
      env:
        - {name: E, value: ''}
";
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {K: v}\n";
    let text = format!("{}{map}", POD.replace("env:\n", fields));
    let place = directory(&[("pod.yaml", text.as_bytes())]);
    let (_, out, _) = run(place.path(), &["env"], "");
    for line in [
        "! $(K) is not expanded: exec probes do not see it  pod.yaml:9:40\n",
        "! $(X) keeps the container from starting: nothing defines it  pod.yaml:11:54\n",
        "! $(E) keeps the container from starting: it is empty  pod.yaml:11:49\n",
    ] {
        assert!(out.contains(line), "{line}{out}");
    }
    let (_, out, _) = run(place.path(), &["env", "--format", "json"], "");
    let view: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let container = &view["workloads"][0]["containers"][0];
    assert_eq!(
        container["failures"],
        serde_json::json!([
            {"name": "E", "why": "emptySubPath", "file": "pod.yaml", "line": 11},
            {"name": "X", "why": "emptySubPath", "file": "pod.yaml", "line": 11},
        ])
    );
    let whys: Vec<_> =
        container["unresolved"].as_array().expect("a list").iter().map(|it| (&it["name"], &it["why"])).collect();
    let expected = [("K", "probe"), ("X", "undefined"), ("NOPE", "undefined")].map(|(a, b)| (a.into(), b.into()));
    assert_eq!(whys, expected.iter().map(|(a, b)| (a, b)).collect::<Vec<(&serde_json::Value, &serde_json::Value)>>());
}

#[test]
fn unresolved_references_have_exact_positions() {
    let pod = |value: &str| POD.replace("{name: B, value: it's}", &format!("name: B\n          value: {value}"));
    for (value, line, column) in [
        ("$(X)", 11, 18),
        ("'it''s $(X)'", 11, 25),
        ("\"\\u00e9\\t\\x24(X)\"", 11, 27),
        ("|-\n            one\n            é $(X)", 13, 15),
        (">\n            one\n            two $(X)", 13, 17),
        ("one\n            two $(X)", 12, 17),
    ] {
        for text in [pod(value), pod(value).replace('\n', "\r\n")] {
            let place = directory(&[("pod.yaml", text.as_bytes())]);
            let (code, out, err) = run(place.path(), &["env"], "");
            assert_eq!((code, err.as_str()), (0, ""), "{text}");
            assert!(
                out.contains(&format!("! $(X) is not expanded: nothing defines it  pod.yaml:{line}:{column}\n")),
                "{value}\n{out}"
            );
        }
    }
}
