//! Generates a monorepo of applications with seeded mistakes, for tests and benchmarks of growth.
//!
//! Each application has a Deployment, a Service, a ConfigMap and a Secret in one of ten namespaces. Every sixth has a CRD
//! of 100 to 300 KB too. The mistakes are at fixed places, so a check can compare what is found with all of them.

use std::fmt::Write as _;

/// What to generate.
#[derive(Clone, Copy)]
pub(crate) struct Monorepo {
    /// The number of applications.
    pub(crate) apps: usize,
    /// Whether objects are in one of ten namespaces. Otherwise no object says its namespace.
    pub(crate) namespaces: bool,
    /// Whether each application has a Service.
    pub(crate) services: bool,
    /// Services of other teams in the first namespace.
    pub(crate) more_services: usize,
    /// PodPresets in the first namespace, each for one application.
    pub(crate) presets: usize,
}

/// A generated file.
pub(crate) struct GeneratedFile {
    pub(crate) path: String,
    pub(crate) text: String,
    /// The rule and the line of each mistake in the text.
    pub(crate) mistakes: Vec<(&'static str, usize)>,
}

const NAMESPACES: usize = 10;
/// The number of applications for each CRD.
const APPS_PER_CRD: usize = 6;

impl Monorepo {
    /// A monorepo of about this number of files.
    pub(crate) fn of_files(files: usize, namespaces: bool, services: bool) -> Self {
        let apps = (files / if services { 4 } else { 3 }).max(NAMESPACES).next_multiple_of(NAMESPACES);
        Self { apps, namespaces, services, more_services: 0, presets: 0 }
    }

    /// The files, one after the other, so that a large tree is never in memory.
    pub(crate) fn files(self) -> impl Iterator<Item = GeneratedFile> {
        let shared = (self.more_services > 0).then(|| self.services_of_other_teams());
        let presets = (0..self.presets).map(move |it| self.preset(it));
        (0..self.apps).flat_map(move |app| self.app(app)).chain(shared).chain(presets)
    }

    fn app(self, app: usize) -> Vec<GeneratedFile> {
        let directory = format!("team{}/app{app}", app / 100);
        let file = |name: &str, text: String| GeneratedFile {
            path: format!("{directory}/{name}.yaml"),
            text,
            mistakes: Vec::new(),
        };
        let namespace = self.namespace(app);
        let mut deployment = file("deployment", self.deployment(app));
        if let Some((rule, text)) = Mistake::of(app).written() {
            let line = deployment.text.lines().position(|it| it.contains(text));
            deployment.mistakes.extend(line.map(|index| (rule, index + 1)));
        }
        let mut files = vec![
            deployment,
            file(
                "config",
                format!(
                    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app{app}-config{namespace}\ndata:\n  LOG_LEVEL: info\n  \
                     FEATURE_A: \"true\"\n  FEATURE_B: \"false\"\n  TIMEOUT: \"30\"\n"
                ),
            ),
            file(
                "secret",
                format!(
                    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app{app}-secret{namespace}\nstringData:\n  password: \
                     example\n"
                ),
            ),
        ];
        if self.services {
            files.push(file("service", service(&format!("app{app}"), &namespace)));
        }
        if app.is_multiple_of(APPS_PER_CRD) {
            files.push(file("crd", crd(app, 100_000 + app / APPS_PER_CRD * 37_000 % 200_000)));
        }
        files
    }

    fn namespace(self, app: usize) -> String {
        if self.namespaces { format!("\n  namespace: ns{}", app % NAMESPACES) } else { String::new() }
    }

    fn deployment(self, app: usize) -> String {
        let namespace = self.namespace(app);
        // The numbers of applications in one namespace have the same last digit, so every other peer is in another one.
        let peer = app * if app.is_multiple_of(2) { 11 } else { 7 } % self.apps;
        let mistake = Mistake::of(app);
        let only = |which, text: &'static str, other: &'static str| if mistake == which { text } else { other };
        let mut text = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app{app}{namespace}\n  labels: {{app: app{app}}}\nspec:\n  \
             replicas: 2\n  selector:\n    matchLabels: {{app: app{app}}}\n  template:\n    metadata:\n      labels: {{app: \
             app{app}}}\n    spec:\n      containers:\n      - name: main\n        image: \
             registry.example.com/app{app}:1.0\n        ports:\n        - containerPort: 8080\n        env:\n"
        );
        let mut entry = |name: &str, value: &str| {
            let _ = write!(text, "        - name: {name}\n          value: {value}\n");
        };
        entry("EARLY", only(Mistake::Forward, "$(HOST)", "$(LOG_LEVEL)"));
        entry("HOST", &format!("app{app}.example.com"));
        entry("PORT", only(Mistake::Number, "8080", "\"8080\""));
        entry("URL", "http://$(HOST):$(PORT)/");
        entry("PEER", &format!("$(APP{peer}_SERVICE_HOST):$(APP{peer}_SERVICE_PORT)"));
        entry("OTHER", only(Mistake::Undefined, "$(NOT_THERE)", "fine"));
        let key = only(Mistake::Key, "passwrd", "password");
        let url = only(Mistake::Typo, "$(URLL)", "$(URL)");
        let _ = write!(
            text,
            "        - name: PASSWORD\n          valueFrom:\n            secretKeyRef: {{name: app{app}-secret, key: {key}}}\n        \
             envFrom:\n        - configMapRef: {{name: app{app}-config}}\n        args: [\"--url={url}\", \
             \"--level=$(LOG_LEVEL)\"]\n        readinessProbe:\n          httpGet: {{path: /, port: 8080}}\n        \
             resources:\n          limits: {{cpu: 100m, memory: 128Mi}}\n"
        );
        text
    }

    fn services_of_other_teams(self) -> GeneratedFile {
        let namespace = self.namespace(0);
        let services: Vec<_> = (0..self.more_services).map(|it| service(&format!("shared{it}"), &namespace)).collect();
        GeneratedFile { path: "shared/services.yaml".into(), text: services.join("---\n"), mistakes: Vec::new() }
    }

    fn preset(self, preset: usize) -> GeneratedFile {
        let app = preset * NAMESPACES % self.apps;
        let text = format!(
            "apiVersion: settings.k8s.io/v1alpha1\nkind: PodPreset\nmetadata:\n  name: preset{preset}{namespace}\nspec:\n  \
             selector:\n    matchLabels: {{app: app{app}}}\n  env:\n  - name: PRESET_{preset}\n    value: x\n",
            namespace = self.namespace(app),
        );
        // Current versions of Kubernetes have no presets: a finding at each `kind`.
        GeneratedFile { path: format!("presets/preset{preset}.yaml"), text, mistakes: vec![("unserved-field", 2)] }
    }
}

/// The mistake of an application, if it has one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    Undefined,
    Forward,
    Key,
    Typo,
    Number,
}

impl Mistake {
    fn of(app: usize) -> Self {
        match app % 50 {
            7 => Self::Undefined,
            16 => Self::Forward,
            25 => Self::Key,
            34 => Self::Typo,
            43 => Self::Number,
            _ => Self::None,
        }
    }

    /// The rule that finds it, and a text of its line.
    fn written(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::None => None,
            Self::Undefined => Some(("undefined-variable", "$(NOT_THERE)")),
            Self::Forward => Some(("forward-reference", "value: $(HOST)")),
            Self::Key => Some(("missing-key", "passwrd")),
            Self::Typo => Some(("undefined-variable", "$(URLL)")),
            Self::Number => Some(("non-string-value", "value: 8080")),
        }
    }
}

fn service(name: &str, namespace: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}{namespace}\nspec:\n  selector: {{app: {name}}}\n  ports:\n  \
         - name: http\n    port: 80\n    targetPort: 8080\n"
    )
}

fn crd(app: usize, bytes: usize) -> String {
    let mut text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things{app}.example.com\nspec:\n  \
         group: example.com\n  names: {{kind: Thing{app}, plural: things{app}}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    \
         served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          \
         spec:\n            type: object\n            properties:\n"
    );
    for field in 0.. {
        if text.len() >= bytes {
            break;
        }
        let _ = write!(
            text,
            "              field{field}:\n                description: The field number {field} of the resource, which has a long \
             text that says what it is for and how it is used.\n                type: string\n"
        );
    }
    text
}
