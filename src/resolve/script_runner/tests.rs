//! Tests of simple scripts and the files they write. `tests/it/producers.rs` compares them with real shells.

use std::sync::Arc;

use crate::build;
use crate::resolve::{EnvFile, Resolver};
use crate::workspace::{File, Snapshot, Workspace};

/// A pod with an init container that runs a script and has some variables; `/data` is the volume.
fn pod(shell: &str, script: &str) -> String {
    let script: String = script.lines().map(|line| format!("          {line}\n")).collect();
    format!(
        "apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  initContainers:
    - name: setup
      image: tools
      env:
        - {{name: HOST, value: db}}
        - {{name: IP, valueFrom: {{fieldRef: {{fieldPath: status.podIP}}}}}}
        - {{name: PASSWORD, valueFrom: {{secretKeyRef: {{name: login, key: password}}}}}}
      command:
        - {shell}
        - -c
        - |
{script}
      volumeMounts:
        - {{name: config, mountPath: /data}}
  containers:
    - name: web
      image: web
      env:
        - {{name: K, valueFrom: {{fileKeyRef: {{volumeName: config, path: f, key: K}}}}}}
  volumes:
    - {{name: config, emptyDir: {{}}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: login}}
stringData: {{password: hunter2}}
"
    )
}

fn snapshot(text: &str) -> Snapshot {
    let mut workspace = Workspace::default();
    workspace.set_disk("pod.yaml", File::read("pod.yaml", text));
    workspace.snapshot()
}

/// The content of the file `f`, with `…` at the end if more may follow; `-` if it does not exist, `?` if it is unknown.
fn written(shell: &str, script: &str) -> String {
    let snapshot = snapshot(&pod(shell, script));
    let file: Arc<str> = "pod.yaml".into();
    let object = build::objects(&snapshot, &file, snapshot.file(&file).expect("the file")).next().expect("a pod");
    let container = object.containers().nth(1).expect("a second container");
    let files = Resolver::new(&snapshot, None).env_files(container);
    match files.file("config", "f") {
        EnvFile::Absent => "-".into(),
        EnvFile::Unknown | EnvFile::Late(_) => "?".into(),
        EnvFile::Written(content) if content.is_complete() => content.text().to_owned(),
        EnvFile::Written(content) => format!("{}…", content.text()),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (script, expected) in cases {
        assert_eq!(written("sh", script), *expected, "{script}");
    }
}

#[test]
fn plain_commands_are_followed() {
    check(&[
        ("echo \"K='v'\" > /data/f", "K='v'\n"),
        ("echo -n a > /data/f; echo b >> /data/f", "ab\n"),
        ("printf 'K=%s\\n' a b > /data/f", "K=a\nK=b\n"),
        ("cat <<EOF > /data/f\nA=$HOST\nEOF", "A=db\n"),
        ("cat > /data/f <<'EOF'\nA=$HOST\nEOF", "A=$HOST\n"),
        ("cat <<-E | tee /data/f\n\tx\n\tE\n", "x\n"),
        ("echo a | tee -a /data/f /data/g >/dev/null; echo b | tee -a /data/f", "a\nb\n"),
        ("{ echo a; echo b; } > /data/f", "a\nb\n"),
        ("(echo a; exit 0; echo b) > /data/f", "a\n"),
        ("cd /data && echo a > f", "a\n"),
        ("mkdir -p /data/x && echo a > /data/x/t && mv /data/x/t /data/f", "a\n"),
        ("X=$(echo a b); for i in $X; do echo \"$i=${Y:-1}\"; done > /data/f", "a=…"),
        ("for i in a b; do echo $i >> /data/f; done", "a\nb\n"),
        ("set -eu\nexport X=1\necho $X > /data/f\nexec sleep infinity", "1\n"),
        ("echo a > /data/f; while true; do sleep 10; done", "a\n"),
        ("apk add curl && echo a > /data/f", "a\n"),
        ("touch /data/f", ""),
        ("> /data/f", ""),
        ("echo a > /data/f; rm -f /data/f", "-"),
        ("echo a > /data/other", "-"),
        ("if true; then echo a > /data/f; else echo b > /data/f; fi", "a\n"),
    ]);
}

#[test]
fn other_scripts_are_unknown() {
    check(&[
        ("curl -o /data/f http://x", "?"),
        ("echo a > /data/f; ./mangle", "?"),
        ("./prepare; echo a > /data/f", "a\n"),
        ("./prepare; echo a >> /data/f", "?"),
        ("if [ -f /x ]; then echo a > /data/f; fi", "?"),
        ("[ -f /x ] && echo a > /data/f; true", "?"),
        ("[ -f /x ] && exit 0; echo a > /data/f", "?"),
        ("echo a > /data/f; while read x; do echo $x >> /data/f; done", "?"),
        ("echo \"A=$(date)\" > /data/f", "A=…"),
        ("echo \"A=$UNKNOWN\" > /data/f", "A=…"),
        ("echo A $UNKNOWN > /data/f", "A…"),
        ("echo a > $UNKNOWN", "?"),
        ("echo a > f", "?"),
        ("eval x; echo a > /data/f", "?"),
        ("echo a > /data/f; exit 1", "?"),
        ("{ echo a; echo b > /data/f; } >> /data/f", "?"),
        ("f() { :; }; echo a > /data/f", "?"),
        ("echo *.x > /data/f", "…"),
        ("echo a > /data/deep/f; echo b > /data/f", "b\n"),
        ("IFS=,; echo a > /data/f", "?"),
    ]);
}

#[test]
fn shells_differ() {
    let script = "echo 'a\\nb' > /data/f";
    assert_eq!(written("bash", script), "a\\nb\n");
    assert_eq!(written("dash", script), "a\nb\n");
    assert_eq!(written("sh", script), "a…");
    let script = "echo -e 'a\\tb' > /data/f";
    assert_eq!(written("bash", script), "a\tb\n");
    assert_eq!(written("dash", script), "-e a\tb\n");
    assert_eq!(written("sh", script), "…");
    assert_eq!(written("zsh", "echo a > /data/f"), "?");
}

#[test]
fn references_are_expanded_before_the_script_runs() {
    check(&[
        ("echo $(HOST) > /data/f", "db\n"),
        ("echo '$$(HOST) $$HOST' > /data/f", "$(HOST) $HOST\n"),
        ("echo \"$IP:1\" > /data/f", "\u{fffc}:1\n"),
    ]);
}

#[test]
fn chains_run_from_left_to_right() {
    check(&[
        ("false && echo a > /data/f || echo b > /data/f", "b\n"),
        ("true || echo a > /data/f && echo b > /data/f", "b\n"),
        ("set -e; false && true; echo a > /data/f", "a\n"),
        ("grep x y && echo a > /data/f", "a\n"),
        ("grep x y && echo a > /data/f || true", "?"),
    ]);
}

#[test]
fn extreme_scripts_end() {
    let doubling = format!("X=aaaaaaaa\n{}echo $X > /data/f", "X=$X$X$X$X\n".repeat(60));
    assert!(written("sh", &doubling).ends_with('…') || written("sh", &doubling) == "?");
    let nested = "for a in 1 2 3 4 5 6 7 8 9 0; do ".repeat(9) + "echo $a >> /data/f; " + &"done; ".repeat(9);
    assert_eq!(written("sh", &nested), "?");
    assert_eq!(written("sh", &"(".repeat(60_000)), "?");
    assert_eq!(written("sh", &"echo a >> /data/f\n".repeat(100)).len(), 200);
    let chain = ":&&".repeat(5_000) + "echo a > /data/f";
    assert_eq!(written("sh", &chain), "a\n");
    assert_eq!(written("sh", &format!("{}true; echo a > /data/f", "!\t".repeat(5_000))), "?");
    let branches = "elif false; then echo b; ".repeat(3_000);
    assert_eq!(written("sh", &format!("if false; then echo c; {branches}fi; echo a > /data/f")), "?");
    let circle = "while true; do cat /data/f >> /data/g; mv /data/g /data/f; done";
    assert_eq!(written("sh", circle), "?");
}
