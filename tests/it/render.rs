//! `podlens render` prints valid YAML of the same objects, without secrets.

use podlens::syntax::parse;

use crate::command::{directory, run};

#[test]
fn the_output_is_the_same_object() {
    let pod = "# a comment\napiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {a: \"yes\", b: \"08\", e: ''}}\nspec:\n  \
               terminationGracePeriodSeconds: 0o10\n  hostNetwork: yes\n  containers:\n    - &c\n      name: a\n      image: a\n      \
               env:\n        - {name: PORT, value: \"80\"}\n        - {name: LINES, value: \"a\\nb $(PORT)\\n\"}\n        \
               - {name: KEPT, value: $$(PORT)}\n      command: [sh, -c, 'echo $(PORT) $(date)']\n      args: [$(PORT), --x=$(PORT)]\n    \
               - <<: *c\n      name: b\n      env: [{name: PORT, value: \"81\"}]\n";
    let place = directory(&[("pod.yaml", pod.as_bytes())]);
    let (code, out, err) = run(place.path(), &["render"], "");
    assert_eq!((code, err.as_str()), (0, ""));
    let tree = parse(&out);
    assert_eq!(tree.errors(), [], "{out}");
    let root = tree.documents().find_map(|it| it.root()).expect("a document");
    let text = |path: &[&str], at: usize, key: &str| {
        let container = root.at(&["spec", "containers"]).and_then(|it| it.items().nth(at)).expect("a container");
        let list = container.at(path).and_then(|it| it.items().nth(key.parse().unwrap_or(0))).expect("an item");
        list.get("value").unwrap_or(list).string().map(str::to_owned)
    };
    assert_eq!(text(&["args"], 0, "0").as_deref(), Some("80"), "{out}");
    assert_eq!(text(&["args"], 1, "1").as_deref(), Some("--x=81"), "{out}");
    assert_eq!(text(&["command"], 0, "2").as_deref(), Some("echo 80 $(date)"), "{out}");
    assert_eq!(text(&["env"], 0, "1").as_deref(), Some("a\nb 80\n"), "{out}");
    assert_eq!(text(&["env"], 0, "2").as_deref(), Some("$(PORT)"), "{out}");
    for (key, value) in [("a", "yes"), ("b", "08"), ("e", "")] {
        assert_eq!(root.at(&["metadata", "labels", key]).and_then(|it| it.string()), Some(value), "{out}");
    }
    assert!(!out.contains("a comment"), "{out}");

    let (code, diff, err) = run(place.path(), &["render", "--diff"], "");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(diff.contains("+      command: [sh, -c,") || !diff.contains("+      command"), "{diff}");
    assert!(!diff.contains("args: [\"80\""), "the containers of an anchor have different values: {diff}");
}

#[test]
fn secrets_are_not_printed() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {PASSWORD: hunter2}\n---\napiVersion: v1\nkind: Pod\n\
                metadata: {name: web}\nspec:\n  containers:\n    - name: a\n      image: a\n      envFrom: [{secretRef: {name: s}}]\n      \
                args: [--password=$(PASSWORD), --host=$(DB_SERVICE_HOST)]\n";
    let place = directory(&[("all.yaml", text.as_bytes())]);
    for arguments in [&["render"][..], &["render", "--diff"]] {
        let (code, out, err) = run(place.path(), arguments, "");
        assert!(code == 0 && !out.contains("hunter2") && !err.contains("hunter2"), "{out}\n{err}");
    }
    let (_, out, _) = run(place.path(), &["render"], "");
    assert!(out.contains("- --password=$(PASSWORD) # <secret s/PASSWORD>\n"), "{out}");
    assert!(out.contains("- --host=$(DB_SERVICE_HOST) # <"), "{out}");
}

#[test]
fn templates_are_not_rendered() {
    let template = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\nspec: {containers: [{name: a, image: a}]}\n";
    let place = directory(&[("t.yaml", template.as_bytes())]);
    let (code, out, err) = run(place.path(), &["render"], "");
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.contains("t.yaml: is a Helm template"), "{err}");
}
