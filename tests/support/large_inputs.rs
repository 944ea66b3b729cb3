//! Inputs in which one thing is repeated, for tests and benchmarks of growth: the work must grow as the text does.

use std::fmt::Write as _;

/// An input of any size.
pub(crate) struct LargeInput {
    pub(crate) name: &'static str,
    /// What is repeated.
    pub(crate) unit: &'static str,
    /// The larger of the two sizes that the benchmark measures; the other is a tenth.
    pub(crate) size: usize,
    /// The files of an input of this size.
    pub(crate) files: fn(usize) -> Vec<(String, String)>,
    /// The number of findings of each rule in an input of this size; empty where nothing is wrong.
    pub(crate) findings: fn(usize) -> Vec<(&'static str, usize)>,
}

pub(crate) const LARGE_INPUTS: &[LargeInput] = &[
    LargeInput {
        name: "forward-chain",
        unit: "variables that each refer to the next one",
        size: 10_000,
        files: |size| one(pod("web", &container("main", &env(size, |at| format!("V{at}, value: $(V{})", at + 1))))),
        findings: |size| vec![("forward-reference", size - 1), ("undefined-variable", 1)],
    },
    LargeInput {
        name: "undefined",
        unit: "references to names that nothing defines",
        size: 10_000,
        files: |size| one(pod("web", &container("main", &arguments(size, |at| format!("$(U{at})"))))),
        findings: |size| vec![("undefined-variable", size)],
    },
    LargeInput {
        name: "near-names",
        unit: "variables, and references with a mistake in the name of each",
        size: 5_000,
        files: |size| {
            let declared = env(size, |at| format!("NAME_{at}_OF_IT, value: x"));
            let fields = declared + &arguments(size, |at| format!("$(NAME_{at}_OF_TI)"));
            one(pod("web", &container("main", &fields)))
        },
        findings: |size| vec![("undefined-variable", size)],
    },
    LargeInput {
        name: "presets",
        unit: "presets, and pods that all of them select",
        size: 250,
        files: |size| {
            let presets = (0..size).map(|at| preset(at, "web"));
            let pods = (0..size).map(|at| labelled_pod(&format!("web{at}"), "web", &container("main", "")));
            one(documents(presets.chain(pods)))
        },
        findings: |size| vec![("unserved-field", size)],
    },
    LargeInput {
        name: "selected-presets",
        unit: "presets, each for one pod",
        size: 1_000,
        files: |size| {
            let presets = (0..size).map(|at| preset(at, &format!("web{at}")));
            let pods = (0..size).map(|at| {
                let name = format!("web{at}");
                labelled_pod(&name, &name, &container("main", &arguments(1, |_| format!("$(P{at})"))))
            });
            one(documents(presets.chain(pods)))
        },
        findings: |size| vec![("unserved-field", size)],
    },
    LargeInput {
        name: "used-suppressions",
        unit: "suppressed findings",
        size: 5_000,
        files: |size| {
            let argument = |at| format!("$(U{at}) # podlens: ignore[undefined-variable]");
            one(pod("web", &container("main", &arguments(size, argument))))
        },
        findings: |_| Vec::new(),
    },
    LargeInput {
        name: "unused-suppressions",
        unit: "suppressions of nothing",
        size: 40_000,
        files: |size| {
            let argument = |at| format!("x{at} # podlens: ignore[undefined-variable]");
            one(pod("web", &container("main", &arguments(size, argument))))
        },
        findings: |size| vec![("unused-suppression", size)],
    },
    LargeInput {
        name: "env-file",
        unit: "containers that read one env file",
        size: 5_000,
        files: |size| one(pod("web", &env_file_users(size))),
        findings: |_| Vec::new(),
    },
    LargeInput {
        name: "config-map",
        unit: "containers, and keys of the ConfigMap that all of them take",
        size: 5_000,
        files: |size| {
            let one_container = |at: usize| {
                let fields = format!("    envFrom: [{{configMapRef: {{name: settings}}}}]\n    args: [$(K{at})]\n");
                container(&format!("main{at}"), &fields)
            };
            let containers: String = (0..size).map(one_container).collect();
            one(documents([config_map(size), pod("web", &containers)].into_iter()))
        },
        findings: |_| Vec::new(),
    },
    LargeInput {
        name: "equal-names",
        unit: "entries of `env` with one name",
        size: 10_000,
        files: |size| one(pod("web", &container("main", &env(size, |at| format!("A, value: x{at}"))))),
        findings: |_| vec![("duplicate-variable", 1)],
    },
    LargeInput {
        name: "appends",
        unit: "entries of `env` that append to one variable",
        size: 10_000,
        files: |size| one(pod("web", &container("main", &env(size, |_| "A, value: $(A)x".into())))),
        findings: |_| vec![("self-reference", 1)],
    },
    LargeInput {
        name: "containers",
        unit: "containers of one pod",
        size: 40_000,
        files: |size| {
            let containers: String = (0..size).map(|at| container(&format!("c{at}"), "    args: [a]\n")).collect();
            one(pod("web", &containers))
        },
        findings: |_| Vec::new(),
    },
    LargeInput {
        name: "references",
        unit: "references in one argument",
        size: 40_000,
        files: |size| {
            let fields = env(1, |_| "A, value: b".into()) + &arguments(1, |_| "$(A)".repeat(size));
            one(pod("web", &container("main", &fields)))
        },
        findings: |_| Vec::new(),
    },
    LargeInput {
        name: "undefined-references",
        unit: "references in one argument to a name that nothing defines",
        size: 40_000,
        files: |size| one(pod("web", &container("main", &arguments(1, |_| "$(A)".repeat(size))))),
        findings: |size| vec![("undefined-variable", size)],
    },
    LargeInput {
        name: "services",
        unit: "services, and pods that each refer to one of them",
        size: 1_000,
        files: |size| {
            let services = (0..size).map(service);
            let pods = (0..size).map(|at| {
                let fields = format!("    args: [$(S{at}_SERVICE_HOST)]\n");
                pod(&format!("web{at}"), &container("main", &fields))
            });
            one(documents(services.chain(pods)))
        },
        findings: |_| Vec::new(),
    },
    LargeInput {
        name: "findings",
        unit: "findings in one file",
        size: 32_000,
        files: |size| one(pod("web", &container("main", &env(size, |at| format!("V{at}, value: {at}"))))),
        findings: |size| vec![("non-string-value", size)],
    },
    LargeInput {
        name: "lines",
        unit: "entries without findings in one file",
        size: 32_000,
        files: |size| one(pod("web", &container("main", &env(size, |at| format!("V{at}, value: '{at}'"))))),
        findings: |_| Vec::new(),
    },
    LargeInput {
        name: "directories",
        unit: "directories with objects of the same names",
        size: 2_000,
        files: |size| {
            let application = |at: usize| {
                let fields = "    envFrom: [{configMapRef: {name: settings}}]\n    args: [$(K0)]\n";
                [
                    (format!("d{at}/settings.yaml"), config_map(1)),
                    (format!("d{at}/pod.yaml"), pod("web", &container("main", fields))),
                ]
            };
            (0..size).flat_map(application).collect()
        },
        findings: |_| Vec::new(),
    },
    LargeInput {
        name: "kustomizations",
        unit: "kustomizations, each with a base and a patch",
        size: 1_000,
        files: |size| (0..size).flat_map(kustomized).collect(),
        findings: |_| Vec::new(),
    },
];

fn one(text: String) -> Vec<(String, String)> {
    vec![("input.yaml".into(), text)]
}

fn documents(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join("---\n")
}

fn pod(name: &str, containers: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec:\n  containers:\n{containers}")
}

fn labelled_pod(name: &str, app: &str, containers: &str) -> String {
    pod(&format!("{name}\n  labels: {{app: {app}}}"), containers)
}

fn container(name: &str, fields: &str) -> String {
    format!("  - name: {name}\n    image: example.org/web:1\n{fields}")
}

fn env(size: usize, entry: impl Fn(usize) -> String) -> String {
    (0..size).fold("    env:\n".into(), |mut text, at| {
        let _ = writeln!(text, "    - {{name: {}}}", entry(at));
        text
    })
}

fn arguments(size: usize, argument: impl Fn(usize) -> String) -> String {
    (0..size).fold("    args:\n".into(), |mut text, at| {
        let _ = writeln!(text, "    - {}", argument(at));
        text
    })
}

fn preset(at: usize, app: &str) -> String {
    format!(
        "apiVersion: settings.k8s.io/v1alpha1\nkind: PodPreset\nmetadata: {{name: p{at}}}\nspec:\n  selector: {{matchLabels: \
         {{app: {app}}}}}\n  env: [{{name: P{at}, value: x}}]\n"
    )
}

fn service(at: usize) -> String {
    format!("apiVersion: v1\nkind: Service\nmetadata: {{name: s{at}}}\nspec: {{ports: [{{port: 80}}]}}\n")
}

fn config_map(keys: usize) -> String {
    let mut text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n".to_owned();
    for at in 0..keys {
        let _ = writeln!(text, "  K{at}: v");
    }
    text
}

fn env_file_users(size: usize) -> String {
    let user = |at: usize| {
        let source = "{fileKeyRef: {volumeName: files, path: a.env, key: A}}";
        container(&format!("main{at}"), &format!("    env: [{{name: A, valueFrom: {source}}}]\n"))
    };
    let users: String = (0..size).map(user).collect();
    users
        + "  initContainers:\n  - name: first\n    image: example.org/web:1\n    command: [sh, -c, 'echo \"A=''1''\" > /files/a.env']\n    \
           volumeMounts: [{name: files, mountPath: /files}]\n  volumes: [{name: files, emptyDir: {}}]\n"
}

fn kustomized(at: usize) -> [(String, String); 4] {
    let fields = "    env:\n    - {name: HOST, value: db}\n    - {name: URL, value: http://$(HOST)}\n";
    let patch = "    env:\n    - {name: HOST, value: other}\n";
    [
        (format!("k{at}/base/pod.yaml"), pod("web", &container("main", fields))),
        (format!("k{at}/base/kustomization.yaml"), "resources: [pod.yaml]\n".into()),
        (format!("k{at}/overlay/kustomization.yaml"), "resources: [../base]\npatches: [{path: patch.yaml}]\n".into()),
        (format!("k{at}/overlay/patch.yaml"), pod("web", &container("main", patch))),
    ]
}
