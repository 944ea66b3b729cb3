//! Completion at every place for a name, in every style of scalar, closed or not, also in files that end at the cursor: the
//! name is offered, and the text with it has the right value.

use podlens::ide::completion;
use podlens::syntax::parse;

use crate::fixture::File;
use crate::memory_project::MemoryProject;

const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: shop}}
spec:
  initContainers:
    - name: setup
      image: busybox
      command: [sh, -c, \"echo \\\"COLOUR='red'\\\" > /data/app.env\"]
      volumeMounts: [{name: config, mountPath: /data}]
  volumes:
    - {name: config, emptyDir: {}}
    - {name: host, hostPath: {path: /x}}
  containers:
    - name: web
      image: web
      resources: {limits: {cpu: '2'}}
";

const OTHERS: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: fast}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: hunter2}
---
apiVersion: v1
kind: Service
metadata: {name: redis}
spec: {clusterIP: 10.0.0.1, ports: [{port: 6379}]}
";

/// The name of a style, and the text before and after a scalar of that style.
const STYLES: [(&str, &str, &str); 5] =
    [("plain", "", ""), ("single", "'", "'"), ("double", "\"", "\""), ("literal", "|-\n", ""), ("folded", ">-\n", "")];

/// A file with a scalar of a style after `head`.
fn written(head: &str, style: (&str, &str, &str), text: &str, tail: &str) -> String {
    let (_, open, close) = style;
    let last = head.rsplit('\n').next().unwrap_or_default();
    let indent = " ".repeat(last.len() - last.trim_start_matches([' ', '-']).len() + 2);
    let inner = if open.ends_with('\n') { format!("{open}{indent}{text}") } else { format!("{open}{text}{close}") };
    format!("{POD}{head} {inner}{tail}\n")
}

/// The text after an item was inserted.
fn completed(file: &str, label: &str) -> Option<String> {
    let files = [File::with_cursors("web.yaml", file), File::with_cursors("others.yaml", OTHERS)];
    let project = MemoryProject::new(file, &files);
    project.analysis(|it| {
        let found = completion(it, &project.file, project.offset())?;
        let item = found.items.iter().find(|it| it.label == label)?;
        let mut text = project.text().to_owned();
        text.replace_range(item.replace.range(), &item.text);
        Some(text)
    })
}

/// The texts of all scalars in a file.
fn scalars(text: &str) -> Vec<String> {
    let tree = parse(text);
    assert!(tree.errors().is_empty(), "{:?}\n{text}", tree.errors());
    let mut found = Vec::new();
    let mut open: Vec<_> = tree.documents().filter_map(|it| it.root()).collect();
    while let Some(node) = open.pop() {
        found.extend(node.text().map(str::to_owned));
        open.extend(node.items());
        open.extend(node.entries().into_iter().filter_map(|(_, value)| value));
    }
    found
}

#[test]
fn references_are_completed_in_every_style() {
    let places = [
        "      env:\n        - {name: HOST, value: example}\n        - name: URL\n          value:",
        "      env:\n        - {name: HOST, value: example}\n      command:\n        - serve\n        -",
        "      env:\n        - {name: HOST, value: example}\n      args:\n        -",
        "      env:\n        - {name: HOST, value: example}\n      livenessProbe:\n        exec:\n          command:\n            - check\n            -",
        "      env:\n        - {name: HOST, value: example}\n      volumeMounts:\n        - name: host\n          mountPath: /x\n          subPathExpr:",
    ];
    for (head, style) in places.iter().flat_map(|head| STYLES.map(|style| (head, style))) {
        for (typed, closed) in ["", "H", "HO"].iter().flat_map(|typed| ["", ")", ")/b"].map(|closed| (typed, closed))) {
            for open in ["$(", "${"] {
                let closed = if open == "${" { closed.replace(')', "}") } else { closed.to_owned() };
                let text = written(head, style, &format!("a-{open}{typed}$0{closed}"), "");
                let after = completed(&text, "HOST").unwrap_or_else(|| panic!("HOST is not offered in\n{text}"));
                let expected = format!("a-$(HOST){}", if closed.ends_with("/b") { "/b" } else { "" });
                assert!(scalars(&after).contains(&expected), "{} {expected}\n{after}", style.0);
            }
            // A file that ends at the cursor.
            let text = written(head, style, &format!("a-$({typed}$0"), "");
            let cut = &text[..text.find("$0").expect("a cursor") + 2];
            let after = completed(cut, "HOST").unwrap_or_else(|| panic!("HOST is not offered in\n{cut}"));
            assert!(after.ends_with("a-$(HOST)"), "{after}");
        }
    }
}

#[test]
fn names_are_completed_in_every_style() {
    let from = |source: &str| format!("      env:\n        - name: A\n          valueFrom:\n            {source}");
    let places = [
        (from("configMapKeyRef:\n              name:"), "settings"),
        (from("configMapKeyRef:\n              name: settings\n              key:"), "mode"),
        (from("secretKeyRef:\n              name:"), "login"),
        (from("secretKeyRef:\n              name: login\n              key:"), "password"),
        (from("fieldRef:\n              fieldPath:"), "metadata.namespace"),
        (from("resourceFieldRef:\n              resource:"), "limits.cpu"),
        (from("resourceFieldRef:\n              containerName:"), "setup"),
        (from("fileKeyRef:\n              volumeName:"), "config"),
        (from("fileKeyRef:\n              volumeName: config\n              path:"), "app.env"),
        (
            from("fileKeyRef:\n              volumeName: config\n              path: app.env\n              key:"),
            "COLOUR",
        ),
        ("      envFrom:\n        - configMapRef:\n            name:".to_owned(), "settings"),
        ("      envFrom:\n        - secretRef:\n            name:".to_owned(), "login"),
        ("      envFrom:\n        - service:\n            name:".to_owned(), "redis"),
        ("      volumeMounts:\n        - mountPath: /y\n          name:".to_owned(), "host"),
        ("      env:\n        - name:".to_owned(), "REDIS_SERVICE_HOST"),
        ("      args: [$(WANTED)]\n      env:\n        - name:".to_owned(), "WANTED"),
    ];
    for (head, label) in &places {
        for style in &STYLES[..3] {
            for typed in [&label[..0], &label[..1], &label[..3]] {
                let text = written(head, *style, &format!("{typed}$0"), "");
                let after = completed(&text, label).unwrap_or_else(|| panic!("{label} is not offered in\n{text}"));
                assert!(scalars(&after).iter().any(|it| it == label), "{} {label}\n{after}", style.0);
                // In the middle of the name, and at the end of the file.
                let text = written(head, *style, &format!("{typed}$0{}", &label[typed.len()..]), " # note");
                let after = completed(&text, label).unwrap_or_else(|| panic!("{label} is not offered in\n{text}"));
                assert!(scalars(&after).iter().any(|it| it == label), "{} {label}\n{after}", style.0);
                let text = written(head, *style, &format!("{typed}$0"), "");
                let cut = &text[..text.find("$0").expect("a cursor") + 2];
                let after = completed(cut, label).unwrap_or_else(|| panic!("{label} is not offered in\n{cut}"));
                assert!(after.contains(&format!("{label}{}", style.2)), "{after}");
            }
        }
    }
}
