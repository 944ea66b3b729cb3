//! Generates realistic manifests for the benchmarks, the same on every machine.

use std::fmt::Write as _;

use serde_json::json;

/// A typical small file: a workload with its service, config map and secret.
pub(crate) fn manifest(number: usize) -> String {
    let app = format!("app-{number}");
    let mut out = String::new();
    workload(&mut out, "", &app, 2);
    let _ = write!(
        out,
        "---\n\
         apiVersion: v1\n\
         kind: Service\n\
         metadata: {{name: {app}}}\n\
         spec:\n  selector:\n    app: {app}\n  ports:\n    - name: http\n      port: 80\n      targetPort: 8080\n\
         ---\n\
         # Settings of {app}.\n\
         apiVersion: v1\n\
         kind: ConfigMap\n\
         metadata:\n  name: {app}\n\
         data:\n  LEVEL: info\n  REGION: \"eu-1\"\n  app.properties: |\n    colour=blue\n    size=10\n\
         ---\n\
         apiVersion: v1\n\
         kind: Secret\n\
         metadata:\n  name: {app}\n\
         stringData:\n  PASSWORD: 'it''s secret'\n"
    );
    out
}

/// Appends a Deployment. `pad` is the indentation of all lines but the first.
fn workload(out: &mut String, pad: &str, app: &str, containers: usize) {
    let _ = write!(
        out,
        "apiVersion: apps/v1\n\
         {pad}kind: Deployment\n\
         {pad}metadata:\n\
         {pad}  name: {app}\n\
         {pad}  labels: {{app: {app}, tier: \"backend\"}}\n\
         {pad}spec:\n\
         {pad}  replicas: 3\n\
         {pad}  template:\n\
         {pad}    spec:\n\
         {pad}      containers:\n"
    );
    for number in 0..containers {
        container(out, &format!("{pad}        "), app, number);
    }
}

fn container(out: &mut String, pad: &str, app: &str, number: usize) {
    let _ = write!(
        out,
        "{pad}- name: main-{number}\n\
         {pad}  image: registry.example.com/team/{app}:1.{number}\n\
         {pad}  command: [\"/bin/serve\", \"--url=$(URL)\", \"--level=$(LEVEL)\"]\n\
         {pad}  envFrom:\n\
         {pad}    - configMapRef:\n\
         {pad}        name: {app}\n\
         {pad}  env:\n\
         {pad}    # The order matters: PORT is before URL.\n\
         {pad}    - name: PORT\n\
         {pad}      value: \"8080\"\n\
         {pad}    - name: HOST\n\
         {pad}      valueFrom:\n\
         {pad}        fieldRef:\n\
         {pad}          fieldPath: status.podIP\n\
         {pad}    - name: URL\n\
         {pad}      value: http://$(HOST):$(PORT)/v{number}\n\
         {pad}    - name: PASSWORD\n\
         {pad}      valueFrom:\n\
         {pad}        secretKeyRef:\n\
         {pad}          name: {app}\n\
         {pad}          key: PASSWORD\n\
         {pad}    - name: GREETING\n\
         {pad}      value: 'hello $(REGION), $$(escaped)'\n\
         {pad}  resources:\n\
         {pad}    limits:\n\
         {pad}      memory: 128Mi\n\
         {pad}      cpu: 500m\n"
    );
}

/// One Deployment with many containers.
pub(crate) fn deployment(bytes: usize) -> String {
    let mut out = String::new();
    workload(&mut out, "", "giant", 0);
    let mut number = 0;
    while out.len() < bytes {
        container(&mut out, "        ", "giant", number);
        number += 1;
    }
    out
}

/// A List of Deployments.
pub(crate) fn list(bytes: usize) -> String {
    let mut out = String::from("apiVersion: v1\nkind: List\nitems:\n");
    items(&mut out, bytes);
    out
}

/// A Template with its parameters after its objects.
pub(crate) fn template(bytes: usize) -> String {
    let mut out = String::from("apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n");
    items(&mut out, bytes);
    out.push_str("parameters:\n");
    for number in 0..20 {
        let _ = write!(out, "- name: P{number}\n  value: \"{number}\"\n");
    }
    out
}

fn items(out: &mut String, bytes: usize) {
    let mut number = 0;
    while out.len() < bytes {
        out.push_str("- ");
        workload(out, "  ", &format!("app-{number}"), 2);
        number += 1;
    }
}

/// A custom resource definition with descriptions in nested properties.
pub(crate) fn definition(bytes: usize) -> String {
    fn properties(out: &mut String, depth: usize, number: usize) {
        let pad = "  ".repeat(depth * 2 + 6);
        for name in ["template", "selector", "nodeAffinity"] {
            let _ = write!(
                out,
                "{pad}{name}{number}:\n\
                 {pad}  description: |-\n\
                 {pad}    {name} describes how a thing is made, and what it is: the first line of several.\n\
                 {pad}    More info: https://kubernetes.io/docs/concepts/{name}#{number}\n\
                 {pad}  type: object\n\
                 {pad}  required: [name]\n"
            );
            if depth < 8 && (name == "template" || depth < 2) {
                let _ = writeln!(out, "{pad}  properties:");
                properties(out, depth + 1, number + 1);
            }
        }
    }
    let mut out = String::from(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.example.com\n\
         spec:\n  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema:\n        properties:\n",
    );
    let mut number = 0;
    while out.len() < bytes {
        properties(&mut out, 0, number);
        number += 1;
    }
    out
}

/// A List in JSON, indented by two spaces.
pub(crate) fn json(bytes: usize) -> String {
    let container = |number: usize| {
        json!({
            "name": format!("main-{number}"),
            "image": format!("registry.example.com/team/app:1.{number}"),
            "command": ["/bin/serve", "--url=$(URL)"],
            "env": [
                {"name": "PORT", "value": "8080"},
                {"name": "HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "URL", "value": format!("http://$(HOST):$(PORT)/v{number}")},
                {"name": "GREETING", "value": "hello \"$(REGION)\"\n"},
            ],
        })
    };
    let item = |number: usize| {
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": format!("app-{number}"), "labels": {"tier": "backend"}},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [container(0), container(1)]}}},
        })
    };
    let one = serde_json::to_string_pretty(&json!({"items": [item(0)]})).map_or(1, |text| text.len());
    let items: Vec<_> = (0..bytes.div_ceil(one)).map(item).collect();
    serde_json::to_string_pretty(&json!({"apiVersion": "v1", "items": items, "kind": "List"})).unwrap_or_default()
}
