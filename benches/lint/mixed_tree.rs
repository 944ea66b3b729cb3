//! A tree with many kinds of manifests: what `lint` looks at, what it passes over, and text that only resembles either.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::Result;

pub(crate) const FILES: usize = 2_000;

/// Generates a directory like a monorepo: applications with a few manifests each, and large CRDs. Returns its size.
pub(crate) fn generate(tree: &Path) -> Result<usize> {
    let mut bytes = 0;
    let mut write = |path: String, text: String| -> Result<()> {
        let path = tree.join(path);
        fs::create_dir_all(path.parent().unwrap_or(tree))?;
        bytes += text.len();
        Ok(fs::write(path, text)?)
    };
    write("podlens.yaml".into(), "kubernetes: \"1.35\"\n".into())?;
    for file in 0..FILES {
        let app = file / 8;
        let directory = format!("team-{}/app-{app}", app % 25);
        match file % 8 {
            0 => write(format!("{directory}/deployment.yaml"), deployment(app))?,
            1 => write(format!("{directory}/service.yaml"), service(app))?,
            2 => write(format!("{directory}/config.yaml"), config(app))?,
            3 => write(format!("{directory}/rbac.yaml"), rbac(app))?,
            4 => write(format!("{directory}/ingress.yaml"), ingress(app))?,
            5 => write(format!("{directory}/monitoring.yaml"), rule(app))?,
            6 => write(format!("{directory}/job.yaml"), job(app))?,
            _ => write(format!("{directory}/crds/crd.yaml"), crd(app))?,
        }
    }
    Ok(bytes)
}

fn deployment(app: usize) -> String {
    let mut env = String::new();
    for at in 0..12 {
        let _ = write!(env, "            - name: SETTING_{at}\n              value: value-{at}-of-{app}\n");
    }
    let typo = if app.is_multiple_of(50) { "$(DB_HSOT)" } else { "$(DB_HOST)" };
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{app}\n  namespace: team-{team}\n  labels:\n    \
         app.kubernetes.io/name: app-{app}\n    app.kubernetes.io/part-of: shop\nspec:\n  replicas: 3\n  selector:\n    \
         matchLabels:\n      app: app-{app}\n  template:\n    metadata:\n      labels:\n        app: app-{app}\n    spec:\n      \
         serviceAccountName: app-{app}\n      containers:\n        - name: app\n          image: example.org/app-{app}:1.2.3\n          \
         args:\n            - --db=postgres://{typo}:$(DB_PORT)/app\n            - --level=$(LOG_LEVEL)\n          \
         envFrom:\n            - configMapRef:\n                name: app-{app}\n          env:\n            \
         - name: DB_HOST\n              value: db-{app}\n            - name: DB_PORT\n              value: \"5432\"\n{env}          \
         ports:\n            - name: http\n              containerPort: 8080\n          readinessProbe:\n            httpGet:\n              \
         path: /ready\n              port: http\n          resources:\n            requests:\n              cpu: 100m\n              \
         memory: 128Mi\n            limits:\n              memory: 256Mi\n",
        team = app % 25
    )
}

fn service(app: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: app-{app}\n  namespace: team-{}\nspec:\n  selector:\n    app: \
         app-{app}\n  ports:\n    - name: http\n      port: 80\n      targetPort: http\n",
        app % 25
    )
}

fn config(app: usize) -> String {
    let mut data = String::new();
    for at in 0..20 {
        let _ = writeln!(data, "  KEY_{at}: \"value {at} of application {app}\"");
    }
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app-{app}\n  namespace: team-{}\ndata:\n  LOG_LEVEL: info\n{data}  \
         run.sh: |\n    #!/bin/sh\n    exec serve --now=$(date +%s)\n",
        app % 25
    )
}

fn rbac(app: usize) -> String {
    let mut text = format!("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: app-{app}\n");
    for kind in ["Role", "ClusterRole"] {
        let _ = write!(
            text,
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: app-{app}\nrules:\n"
        );
        for group in ["\"\"", "apps", "batch", "networking.k8s.io", "policy"] {
            let _ = write!(
                text,
                "  - apiGroups: [{group}]\n    resources:\n      - pods\n      - deployments\n      - configmaps\n    verbs:\n      \
                 - get\n      - list\n      - watch\n"
            );
        }
    }
    text
}

fn ingress(app: usize) -> String {
    format!(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: app-{app}\n  annotations:\n    \
         example.org/rewrite: /$1\nspec:\n  rules:\n    - host: app-{app}.example.org\n      http:\n        paths:\n          \
         - path: /(.*)\n            pathType: Prefix\n            backend:\n              service:\n                name: app-{app}\n                \
         port:\n                  name: http\n"
    )
}

fn rule(app: usize) -> String {
    let mut text = format!(
        "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: app-{app}\nspec:\n  groups:\n    - name: app\n      rules:\n"
    );
    for at in 0..15 {
        let _ = write!(
            text,
            "        - alert: Alert{at}\n          expr: rate(http_requests_total{{job=\"app-{app}\", code=~\"5..\"}}[5m]) > 0.{at}\n          \
             for: 10m\n          annotations:\n            summary: \"{{{{ $labels.instance }}}} is unwell\"\n"
        );
    }
    text
}

fn job(app: usize) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: backup-{app}\n  namespace: team-{}\nspec:\n  schedule: \"0 3 * * *\"\n  \
         jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n            \
         - name: backup\n              image: example.org/backup:1\n              command:\n                - sh\n                \
         - -c\n                - |\n                  pg_dump -h \"$HOST\" > /backup/$(date +%F).sql\n                  ls -l \
         /backup\n              env:\n                - name: HOST\n                  value: db-{app}\n",
        app % 25
    )
}

fn crd(app: usize) -> String {
    let mut text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets-{app}.example.org\nspec:\n  \
         group: example.org\n  names:\n    kind: Widget\n    plural: widgets\n  scope: Namespaced\n  versions:\n    - name: v1\n      \
         schema:\n        openAPIV3Schema:\n          properties:\n            spec:\n              properties:\n                \
         containers:\n                  items:\n                    properties:\n"
    );
    // As large as CRDs of real operators: tens of kilobytes, some of them a megabyte.
    for at in 0..if app.is_multiple_of(25) { 4_000 } else { 250 } {
        let _ = write!(
            text,
            "                      field{at}:\n                        description: |-\n                          Variable references \
             $(VAR_NAME) are expanded using the container's environment. If a variable\n                          cannot be \
             resolved, the reference in the input string will be unchanged.\n                        type: string\n"
        );
    }
    text
}
