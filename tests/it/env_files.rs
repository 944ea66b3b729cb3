//! Extreme env files: very large files, very long lines, scripts that do not end. Each has a clear finding or none, in time
//! that is linear in its size.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use podlens::diagnostic::Diagnostic;

use crate::findings::lint;
use crate::fixture::File;
use crate::manifest::POD_HEAD;
use crate::memory_project::MemoryProject;

/// A pod whose init container runs a script, and whose container reads some keys of the file that it writes.
fn pod(script: &str, keys: &[&str]) -> String {
    let script = serde_json::to_string(script).expect("a string");
    let mut text = format!(
        "{POD_HEAD}  initContainers:
    - name: setup
      image: busybox
      command: [sh, -c, {script}]
      volumeMounts: [{{name: config, mountPath: /data}}]
  volumes: [{{name: config, emptyDir: {{}}}}]
  containers:
    - name: web
      image: web
      env:
"
    );
    for key in keys {
        text.push_str(&format!(
            "        - {{name: {key}, valueFrom: {{fileKeyRef: {{volumeName: config, path: app.env, key: {key}}}}}}}\n"
        ));
    }
    text
}

fn found(files: &[(&str, &str)]) -> Vec<Diagnostic> {
    lint(&files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect::<BTreeMap<_, _>>())
}

/// The findings in some files: the file, the rule and the message.
fn messages(files: &[(&str, &str)]) -> Vec<String> {
    found(files).into_iter().map(|it| format!("{} {} {}", it.location.file, it.rule, it.message)).collect()
}

/// The shortest time of a few runs.
fn least(mut run: impl FnMut()) -> Duration {
    let mut once = || {
        let started = Instant::now();
        run();
        started.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

/// A pod whose script is not known, so that only the file in the workspace is read.
fn reader() -> String {
    pod("generate", &["LAST"])
}

#[test]
fn time_is_linear_in_the_size_of_an_env_file() {
    let reader = reader();
    let file = |lines: usize, line: &str| format!("{}LAST='1'\n", line.repeat(lines));
    for (line, findings) in [("KEY='value'\n", 0), ("KEY=value\n", 100), ("oops\n", 100), ("A='x\n", 100)] {
        let lines = 1_000_000 / line.len();
        let (small, large) = (file(lines, line), file(10 * lines, line));
        assert!(large.len() > 9_900_000, "it is ten megabytes");
        let all = found(&[("pod.yaml", &reader), ("app.env", &large)]);
        assert!(
            all.len() <= 100 && all.len() >= findings,
            "{line:?}: {} findings, the last one {:?}",
            all.len(),
            all.last()
        );
        let took = |text: &str| least(|| drop(found(&[("pod.yaml", &reader), ("app.env", text)])));
        let (one, ten) = (took(&small), took(&large));
        // Linear time is ten times as long; the rest is tolerance for a busy machine.
        assert!(ten < 40 * one.max(Duration::from_micros(500)), "{line:?}: {one:?} for one megabyte, {ten:?} for ten");
    }
}

#[test]
fn a_line_that_is_too_long_is_reported() {
    let reader = reader();
    let long = "x".repeat(70_000 - "LONG=''".len());
    let text = format!("A='1'\nLONG='{long}'\nLAST='1'\n");
    let all = found(&[("pod.yaml", &reader), ("app.env", &text)]);
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!((all[0].rule, all[0].message.as_str()), ("env-file-content", "the line is longer than 65535 bytes"));
    assert_eq!(text[all[0].location.span.range()].len(), 70_000);
    // After the key it is never read, and the proposal has no such limit (PF11).
    let after = format!("LAST='1'\nLONG='{long}'\n");
    assert_eq!(messages(&[("pod.yaml", &reader), ("app.env", &after)]), [""; 0]);
    let settings = "proposals: true\n";
    let all = messages(&[("podlens.yaml", settings), ("pod.yaml", &reader), ("app.env", &text)]);
    assert_eq!(all, ["app.env env-file-content the file is larger than 64 KiB, the limit of the proposal"]);
    // The same line from a script.
    let script = format!("echo \"LONG='{}'\" > /data/app.env\necho \"LAST='1'\" >> /data/app.env", &long[..60_000]);
    assert_eq!(messages(&[("pod.yaml", &pod(&script, &["LAST"]))]), [""; 0]);
}

#[test]
fn editor_features_work_in_a_huge_env_file() {
    let text = format!("{}LA$0ST='1'\n", "KEY='value'\n".repeat(850_000));
    let files = [File::with_cursors("pod.yaml", &reader()), File::with_cursors("app.env", &text)];
    let project = MemoryProject::new("huge", &files);
    project.analysis(|it| {
        let hover = podlens::ide::hover(it, &project.file, project.offset()).expect("a hover");
        assert!(hover.contents.plain().contains("LAST=1"), "{}", hover.contents.plain());
        let all = podlens::ide::references(it, &project.file, project.offset(), true);
        assert_eq!(all.len(), 2, "{all:?}");
    });
}

/// Scripts with endless loops, recursion, deep nesting or growing values: the file they write is not known, so there is
/// no finding.
#[test]
fn extreme_scripts_have_no_findings() {
    let plain = "echo \"KEY='1'\" >> /data/app.env\n".repeat(300);
    let expected = ["pod.yaml env-file-content env file `app.env` has no key `OTHER`"];
    assert_eq!(messages(&[("pod.yaml", &pod(&plain, &["OTHER"]))]), expected);
    let usual = least(|| drop(found(&[("pod.yaml", &pod(&plain, &["OTHER"]))])));
    let loops = |inner: &str| {
        let head = "for a in 1 2 3 4 5 6 7 8 9 10; do ".repeat(12);
        format!("{head}{inner}; {}", "done; ".repeat(12))
    };
    for script in [
        "while true; do echo A=1 >> /data/app.env; done".to_owned(),
        "until false; do cat /data/app.env >> /data/app.env; done".to_owned(),
        "f() { f; echo A=1 >> /data/app.env; }; f".to_owned(),
        "exec sh \"$0\"".to_owned(),
        ". /data/app.env; echo $X > /data/app.env".to_owned(),
        "eval \"$(cat /data/app.env)\"".to_owned(),
        format!("X=aaaaaaaa\n{}echo \"A='$X'\" > /data/app.env", "X=$X$X\n".repeat(500)),
        format!(
            "echo \"A='1'\" > /data/app.env\n{}",
            "cat /data/app.env /data/app.env > /data/b; mv /data/b /data/app.env\n".repeat(300)
        ),
        loops("echo A=1 >> /data/app.env"),
        loops("X=$X$a; echo $X > /data/app.env"),
        format!("echo {}x{} > /data/app.env", "$(echo ".repeat(5_000), ")".repeat(5_000)),
        format!("{}echo A=1 > /data/app.env{}", "{ ".repeat(5_000), "; }".repeat(5_000)),
        format!("{}true", "if true; then ".repeat(5_000)),
        "cat <<A <<B <<C > /data/app.env\n".repeat(2_000),
        "echo \"".repeat(20_001),
        "echo ${A:-".repeat(10_000),
        "`".repeat(60_001),
    ] {
        let shown = &script[..script.len().min(60)];
        let text = pod(&script, &["OTHER"]);
        assert_eq!(messages(&[("pod.yaml", &text)]), [""; 0], "{shown}");
        let took = least(|| drop(found(&[("pod.yaml", &text)])));
        assert!(took < 100 * usual.max(Duration::from_millis(1)), "{shown}: {took:?}, a plain one {usual:?}");
    }
}

/// The content of a file is computed once for all keys.
#[test]
fn many_keys_need_one_file() {
    let script = format!("{}echo \"LAST='1'\" >> /data/app.env", "echo \"KEY='1'\" >> /data/app.env\n".repeat(200));
    let names: Vec<String> = (0..200).map(|at| format!("KEY_{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let one = pod(&script, &names[..1]);
    let many = pod(&script, &names);
    let all = messages(&[("pod.yaml", &many)]);
    for name in &names {
        let about = all.iter().filter(|it| it.contains(&format!("`{name}`"))).count();
        assert_eq!(about, 1, "{name} in {all:#?}");
    }
    assert_eq!(all.len(), names.len(), "one finding per key: {all:#?}");
    let (one, many) = (least(|| drop(found(&[("pod.yaml", &one)]))), least(|| drop(found(&[("pod.yaml", &many)]))));
    // Computing the content takes much longer than looking up a key.
    assert!(many < 50 * one, "one key {one:?}, 200 keys {many:?}");
}
