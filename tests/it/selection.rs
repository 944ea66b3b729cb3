//! `--workload`, `--in-namespace` and `--container`.

use crate::command::{directory, run};

const FILES: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      containers:
        - {name: main, image: app, env: [{name: A, value: one}, {name: B, value: $(A)}]}
        - {name: proxy, image: app, env: [{name: C, value: two}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: test}
spec:
  template:
    spec:
      containers:
        - {name: main, image: app, env: [{name: D, value: x$(D)}]}
---
apiVersion: v1
kind: Pod
metadata: {name: tools}
spec:
  containers:
    - {name: shell, image: app, args: [$$(A)]}
";

#[test]
fn workloads_and_containers_are_chosen() {
    let place = directory(&[("all.yaml", FILES.as_bytes())]);
    let env = |arguments: &[&str]| {
        let (code, out, err) = run(place.path(), &[&["env"], arguments].concat(), "");
        assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
        let is_title = |it: &&str| it.contains('/') && !it.starts_with(' ') || it.starts_with("  container ");
        let titles = out.lines().filter(is_title).map(|it| it.split_whitespace().take(2).collect::<Vec<_>>().join(" "));
        let cut = |it: String| it.replace(" all.yaml:19", "").replace(" in", "").replace(" all.yaml:20", "");
        titles.map(cut).collect::<Vec<_>>().join(", ")
    };
    let web = "Deployment/web, container main, container proxy";
    for kind in ["deploy", "Deployment", "deployments", "deployments.apps"] {
        assert_eq!(env(&["--workload", &format!("{kind}/web")]), web);
    }
    assert_eq!(env(&["--in-namespace", "shop"]), web);
    assert_eq!(env(&["--workload", "sts/web"]), "StatefulSet/web, container main");
    assert_eq!(env(&["--container", "main"]), "Deployment/web, container main, StatefulSet/web, container main");
    assert_eq!(env(&["--container", "main", "--in-namespace", "test"]), "StatefulSet/web, container main");
    let both =
        env(&["--workload", "po/tools", "--workload", "deploy/web", "--container", "shell", "--container", "proxy"]);
    assert!(
        both.starts_with("Deployment/web, container proxy, Pod/tools") && both.ends_with("container shell"),
        "{both}"
    );
}

#[test]
fn rendered_workloads_are_chosen() {
    let place = directory(&[("all.yaml", FILES.as_bytes())]);
    let (code, out, err) = run(place.path(), &["render", "--workload", "po/tools"], "");
    assert_eq!((code, err.as_str(), out.matches("kind: ").count()), (0, "", 1), "{out}");
    assert!(out.contains("- $(A)\n"), "{out}");
    let (_, out, _) = run(place.path(), &["render", "--container", "proxy"], "");
    assert!(
        out.matches("kind: ").count() == 1 && out.contains("name: main"),
        "a workload is rendered as a whole\n{out}"
    );
    // A diff has only the changes of the chosen workloads.
    let (code, out, _) = run(place.path(), &["render", "--diff", "--workload", "deployment/web"], "");
    assert!(
        code == 0 && out.contains("+") && out.contains("value: one}]") && !out.contains("+    - {name: shell"),
        "{out}"
    );
}

#[test]
fn nothing_that_matches_is_an_error_with_similar_names() {
    let place = directory(&[("all.yaml", FILES.as_bytes())]);
    for command in ["env", "render"] {
        for (arguments, said) in [
            (&["--workload", "deploy/wbe"][..], "no workload `deploy/wbe`; did you mean `Deployment/web`?"),
            (&["--workload", "ds/web"], "no workload `ds/web`; did you mean `Deployment/web`?"),
            (&["--workload", "svc/tools"], "no workload `svc/tools`; did you mean `Pod/tools`?"),
            (
                &["--workload", "job/nothing"],
                "no workload `job/nothing`; there is `Deployment/web`, `Pod/tools`, `StatefulSet/web`",
            ),
            (&["--in-namespace", "shpo"], "no workload in namespace `shpo`; did you mean `shop`?"),
            (&["--in-namespace", "else"], "no workload in namespace `else`; there is `shop`, `test`"),
            (
                &["--workload", "po/tools", "--in-namespace", "shop"],
                "no workload in namespace `shop`; no workload here has a namespace",
            ),
            (&["--container", "mian"], "no container `mian`; did you mean `main`?"),
            (&["--workload", "po/tools", "--container", "main"], "no container `main`; there is `shell`"),
        ] {
            let (code, out, err) = run(place.path(), &[&[command], arguments].concat(), "");
            assert_eq!((code, out.as_str(), err), (3, "", format!("podlens: {said}\n")), "{command} {arguments:?}");
        }
    }
    // What matches is shown.
    let (code, out, err) = run(place.path(), &["env", "--workload", "po/tools", "--workload", "po/web"], "");
    assert_eq!((code, err.as_str()), (3, "podlens: no workload `po/web`; did you mean `Deployment/web`?\n"));
    assert!(out.contains("Pod/tools"), "{out}");
    let (code, out, _) = run(place.path(), &["env", "-o", "json", "--workload", "po/web"], "");
    assert!(code == 3 && out.contains("\"workloads\": []"), "{out}");
}
