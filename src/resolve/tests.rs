//! Tests of the environment of a container: manifests as input, one line of text per variable as output.

use super::*;
use crate::build::{self, BuiltObject};
use crate::k8s::VariableScope;
use crate::workspace::{File, Workspace};

/// Compares lines of the form `NAME=value (source, hides …)`, then the expanded texts, then `! NAME reason` for
/// unresolved references. The variables of the default service are not listed.
fn check(manifests: &str, expected: &str) {
    check_at(None, &[("pod.yaml", manifests)], expected);
}

fn check_at(release: Option<&str>, files: &[(&str, &str)], expected: &str) {
    let shown = show(release, files);
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected, "{shown}");
}

fn show(release: Option<&str>, files: &[(&str, &str)]) -> String {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    let snapshot = workspace.snapshot();
    let release = release.map(|it| it.parse().expect("a release"));
    let resolver = Resolver::new(&snapshot, release);
    let mut shown = String::new();
    for (path, file) in snapshot.files() {
        for container in build::objects(&snapshot, path, file).flat_map(BuiltObject::containers) {
            shown += &describe(&resolver.environment(container));
        }
    }
    shown
}

fn describe(environment: &Environment<'_>) -> String {
    let mut shown = String::new();
    for binding in environment.bindings() {
        if binding.origin.object.as_deref() == Some("kubernetes") {
            continue;
        }
        shown += &format!("{}={} ({}", binding.name, binding.value, origin(&binding.origin));
        for hidden in &binding.hides {
            shown += &format!(", hides {}", origin(hidden));
        }
        shown += ")\n";
        for (value, from) in &binding.alternatives {
            shown += &format!("or {value} ({})\n", origin(from));
        }
    }
    let line =
        |items: &[ExpandedScalar]| items.iter().map(|it| it.expansion.value.to_string()).collect::<Vec<_>>().join(" ");
    let mut section = |name: &str, text: String| {
        if !text.is_empty() {
            shown += &format!("{name}: {text}\n");
        }
    };
    section("command", line(&environment.command));
    section("args", line(&environment.args));
    for probe in &environment.probes {
        section(probe.probe, line(&probe.command));
    }
    for path in &environment.sub_paths {
        section("subPath", path.item.expansion.value.to_string());
    }
    for it in &environment.unresolved {
        shown += &format!("! {} {}\n", it.name, it.reason.as_str());
    }
    shown
}

fn origin(origin: &Origin) -> String {
    let object = origin.object.as_ref().map_or(String::new(), |it| format!(" {it}"));
    let key = origin.key.as_ref().map_or(String::new(), |it| format!("/{it}"));
    format!("{}{object}{key}", origin.kind.as_str())
}

/// A pod with one container that has these fields; they are given without indentation.
fn pod(fields: &str) -> String {
    let fields: String = fields.lines().map(|line| format!("      {line}\n")).collect();
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec:\n  containers:\n    - name: main\n      image: i\n{fields}"
    )
}

#[test]
fn entries_see_earlier_entries() {
    check(
        &pod("env:\n\
              - {name: A, value: $(B)}\n\
              - {name: B, value: two}\n\
              - {name: C, value: '$(B) $(C) $(NOPE)'}\n\
              - {name: B, value: $(B)-more}\n\
              - {name: D, value: $(B)}\n\
              - {name: EMPTY, value: ''}\n\
              command: [run, $(A), '$(EMPTY)', $(B)]"),
        "A=$(B) (env)
         B=two-more (env, hides env)
         C=two $(C) $(NOPE) (env)
         D=two-more (env)
         EMPTY= (env)
         command: run $(B)  two-more
         ! B forward
         ! C self
         ! NOPE undefined",
    );
}

#[test]
fn env_from_hides_services_and_is_hidden_by_env() {
    let data = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {A: one, B: $(A), REDIS_PORT: mine}\n\
                ---\napiVersion: v1\nkind: Secret\nmetadata: {name: two}\nstringData: {B: hidden}\n\
                ---\napiVersion: v1\nkind: Service\nmetadata: {name: redis}\n\
                spec: {clusterIP: 10.0.0.1, ports: [{port: 6379}]}\n";
    let pod = pod("envFrom:\n\
                   - configMapRef: {name: one}\n\
                   - secretRef: {name: two}\n\
                   - {prefix: P_, configMapRef: {name: one}}\n\
                   env:\n\
                   - {name: A, value: '$(A)+$(B)'}\n\
                   - {name: URL, value: 'redis://$(REDIS_SERVICE_HOST):$(REDIS_SERVICE_PORT)'}\n");
    check(
        &format!("{pod}{data}"),
        "A=one+<secret two/B> (env, hides configMap one/A)
         B=<secret two/B> (secret two/B, hides configMap one/B)
         P_A=one (configMap one/A)
         P_B=$(A) (configMap one/B)
         P_REDIS_PORT=mine (configMap one/REDIS_PORT)
         REDIS_PORT=mine (configMap one/REDIS_PORT, hides service redis)
         REDIS_PORT_6379_TCP=tcp://10.0.0.1:6379 (service redis)
         REDIS_PORT_6379_TCP_ADDR=10.0.0.1 (service redis)
         REDIS_PORT_6379_TCP_PORT=6379 (service redis)
         REDIS_PORT_6379_TCP_PROTO=tcp (service redis)
         REDIS_SERVICE_HOST=10.0.0.1 (service redis)
         REDIS_SERVICE_PORT=6379 (service redis)
         URL=redis://10.0.0.1:6379 (env)",
    );
}

#[test]
fn keys_may_be_missing_optional_or_elsewhere() {
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {k: v}\nbinaryData: {b: AA==}\n";
    let pod = pod("env:\n\
                   - {name: A, value: first}\n\
                   - {name: A, valueFrom: {configMapKeyRef: {name: c, key: none, optional: true}}}\n\
                   - {name: B, valueFrom: {configMapKeyRef: {name: c, key: b}}}\n\
                   - {name: C, valueFrom: {configMapKeyRef: {name: c, key: k}}}\n\
                   - {name: D, valueFrom: {secretKeyRef: {name: s, key: k}}}\n\
                   - {name: E, value: '$(D) $(F)'}\n\
                   - {name: F, valueFrom: {configMapKeyRef: {name: c, key: none, optional: true}}}\n");
    check(
        &format!("{pod}{map}"),
        "A=first (env)
         B=<missing key b of config map c> (configMap c/b)
         C=v (configMap c/k)
         D=<secret key s/k> (secret s/k)
         E=<secret key s/k> $(F) (env)
         ! F undefined",
    );
}

#[test]
fn variables_of_absent_sources_are_unknown() {
    check(
        &pod("envFrom: [{prefix: X_, configMapRef: {name: elsewhere}}]\n\
              env: [{name: A, value: '$(X_KEY) $(Y_KEY) $(X_date +%s) $(DB_SERVICE_HOST) $(DB_PORT)'}]"),
        "A=<config map key elsewhere/KEY> $(Y_KEY) $(X_date +%s) <service variable DB_SERVICE_HOST> $(DB_PORT) (env)
         ! Y_KEY undefined
         ! X_date +%s undefined
         ! DB_PORT undefined",
    );
}

#[test]
fn without_links_only_the_default_service_counts() {
    let text = pod("args: ['$(DB_SERVICE_HOST)', '$(KUBERNETES_SERVICE_PORT)']")
        .replace("spec:\n", "spec:\n  enableServiceLinks: false\n");
    check(&text, "args: $(DB_SERVICE_HOST) 443\n! DB_SERVICE_HOST linksOff");
}

/// S1, S2: pods of every namespace see the one of `default`, unless their own has one and links are on.
#[test]
fn the_default_service_is_that_of_the_namespace_default() {
    let service = |namespace: &str, address: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: kubernetes, namespace: {namespace}}}\n\
             spec: {{clusterIP: {address}, ports: [{{name: https, port: 6443}}]}}\n---\n"
        )
    };
    let services = format!("{}{}", service("default", "10.96.0.1"), service("own", "10.0.0.9"));
    let pod = |namespace: &str, links: bool| {
        pod("args: ['$(KUBERNETES_SERVICE_HOST)', '$(KUBERNETES_SERVICE_PORT)']")
            .replace("{name: web}", &format!("{{name: web, namespace: {namespace}}}"))
            .replace("spec:\n", &format!("spec:\n  enableServiceLinks: {links}\n"))
    };
    for (namespace, links, address) in [
        ("shop", true, "10.96.0.1"),
        ("shop", false, "10.96.0.1"),
        ("default", false, "10.96.0.1"),
        ("own", true, "10.0.0.9"),
        ("own", false, "10.96.0.1"),
    ] {
        check(&format!("{services}{}", pod(namespace, links)), &format!("args: {address} 6443"));
    }
}

#[test]
fn absent_fields_have_defaults_only_in_complete_pods() {
    let fields = "env:\n\
                  - {name: LABEL, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['app']\"}}}\n\
                  - {name: ACCOUNT, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}}\n\
                  - {name: CPU, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}\n";
    let (known, open) = (
        "ACCOUNT=default (field)\nCPU=0 (resource)\nLABEL= (field)",
        "ACCOUNT=<field spec.serviceAccountName> (field)\nCPU=<resource requests.cpu> (resource)\n\
         LABEL=<field metadata.labels['app']> (field)",
    );
    let pod = pod(fields);
    let deployment = pod
        .replace("v1\nkind: Pod", "apps/v1\nkind: Deployment")
        .replace("spec:\n", "spec: {template: {spec: {")
        .replace("  containers:\n    - ", "containers: [{")
        .replace("\n      image: i\n      env:\n      - ", ", image: i, env: [")
        .replace("\n      - ", ", ");
    let deployment = format!("{}]}}]}}}}}}\n", deployment.trim_end());
    check(&pod, known);
    check(&deployment, known);
    // An unknown controller, the base of a patch or a Helm expression may add fields.
    check(&deployment.replace("apps/v1\nkind: Deployment", "example.org/v1\nkind: Widget"), open);
    check(&deployment.replace(", image: i", ""), open);
    check(&deployment.replace("name: web", "name: {{ .Release.Name }}"), open);
}

#[test]
fn template_parameters_are_substituted_in_fields() {
    let fields = "env:\n\
                  - {name: LABEL, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['app']\"}}}\n\
                  - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}\n\
                  - {name: SPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}\n";
    let object =
        pod(fields).replace("{name: web}", "{name: '${APP}-pod', namespace: gone, labels: {app: '${APP}-${KEY}'}}");
    let object: String = object.lines().map(|line| format!("  {line}\n")).collect();
    check(
        &format!(
            "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: t}}\n\
             parameters: [{{name: APP, value: shop}}, {{name: KEY}}]\nobjects:\n- {}",
            &object[2..]
        ),
        "LABEL=shop-<parameter KEY, not set> (field)
         NAME=shop-pod (field)
         SPACE=<field metadata.namespace> (field)",
    );
}

#[test]
fn pod_limits_apply_to_containers_without_limits() {
    let text = pod("resources: {limits: {cpu: '2'}}\n\
                    env:\n\
                    - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}\n\
                    - {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}\n")
    .replace("spec:\n", "spec:\n  resources: {limits: {cpu: '8', memory: 1Gi}}\n");
    check_at(None, &[("a.yaml", &text)], "CPU=2 (resource)\nMEMORY=1024 (resource)");
    check_at(Some("1.33"), &[("a.yaml", &text)], "CPU=2 (resource)\nMEMORY=<resource limits.memory> (resource)");
}

#[test]
fn several_candidates_are_alternatives() {
    let map =
        |value: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{k: {value}, s: x}}\n");
    let pod = pod("envFrom: [{configMapRef: {name: c}}]\nargs: [$(k)$(s)]");
    check_at(
        None,
        &[("a/one.yaml", &map("one")), ("a/two.yaml", &map("two")), ("b/pod.yaml", &pod)],
        "k=<one of several values of config map c> (configMap c/k)
         or one (configMap c/k)
         or two (configMap c/k)
         s=x (configMap c/s)
         args: <one of several values of config map c>x",
    );
    check_at(
        None,
        &[("a/one.yaml", &map("one")), ("b/two.yaml", &map("two")), ("b/pod.yaml", &pod)],
        "k=two (configMap c/k)
         s=x (configMap c/s)
         args: twox",
    );
}

#[test]
fn probes_see_raw_entries_only() {
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {FROM: v}\n";
    let pod = pod("envFrom: [{configMapRef: {name: c}}]\n\
                   env:\n\
                   - {name: A, value: a}\n\
                   - {name: B, value: $(A)$$}\n\
                   - {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}\n\
                   - {name: D, valueFrom: {configMapKeyRef: {name: c, key: none, optional: true}}}\n\
                   livenessProbe: {exec: {command: ['$(A)', '$(B)', 'c$(C)', 'd$(D)', '$(FROM)']}}\n\
                   readinessProbe: {exec: {command: [sh, -c, 'echo $(A) $(cat f)']}}\n");
    check(
        &format!("{pod}{map}"),
        "A=a (env)
         B=a$ (env)
         C=web (field)
         FROM=v (configMap c/FROM)
         livenessProbe: a $(A)$$ c d $(FROM)
         readinessProbe: sh -c echo a $(cat f)
         ! C probe
         ! FROM probe",
    );
}

#[test]
fn scripts_keep_their_command_substitutions() {
    check(
        &pod("env: [{name: A, value: a}]\n\
              command: [sh, -c]\n\
              args: ['echo $(A) $(date) $$(A)', '$(date)']\n\
              volumeMounts: [{name: v, mountPath: /d, subPathExpr: '$(A)/$(B)'}]"),
        "A=a (env)
         command: sh -c
         args: echo a $(date) $(A) $(date)
         subPath: a/$(B)
         ! date undefined
         ! B undefined",
    );
}

#[test]
fn older_releases_skip_keys_that_are_not_variable_names() {
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {'1234': v, A: v}\n";
    let text = format!("{}{map}", pod("envFrom: [{configMapRef: {name: c}}, {prefix: p_, configMapRef: {name: c}}]"));
    let shown = show(Some("1.29"), &[("a.yaml", &text)]);
    assert!(!shown.contains("\n1234=") && !shown.starts_with("1234=") && shown.contains("p_1234=v"), "{shown}");
    assert!(show(Some("1.30"), &[("a.yaml", &text)]).contains("1234=v (configMap c/1234)\n"));
}

#[test]
fn older_releases_break_characters_after_a_dollar() {
    let text = pod("args: ['$£']");
    for (release, expected) in [("1.33", "$Â\u{fffd}"), ("1.35.0", "$Â\u{fffd}"), ("1.35", "$£"), ("1.34.4", "$£")]
    {
        check_at(Some(release), &[("a.yaml", &text)], &format!("args: {expected}"));
    }
}

#[test]
fn controllers_add_variables() {
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  completionMode: Indexed\n  template:\n    spec:\n\
               \x20     containers: [{name: c, image: i, env: [{name: A, value: $(JOB_COMPLETION_INDEX)}], args: [$(JOB_COMPLETION_INDEX)]}]\n";
    check(
        job,
        "A=$(JOB_COMPLETION_INDEX) (env)
         JOB_COMPLETION_INDEX=<index of the Job's pod> (injected)
         args: <index of the Job's pod>
         ! JOB_COMPLETION_INDEX forward",
    );
    let knative = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s}\nspec:\n  template:\n    spec:\n\
                   \x20     containers: [{image: i, args: [$(K_SERVICE), $(PORT), $(DB_SERVICE_HOST)]}]\n";
    check(
        knative,
        "K_CONFIGURATION=s (injected)
         K_REVISION=<name of the revision> (injected)
         K_SERVICE=s (injected)
         PORT=<port of the container> (injected)
         args: s <port of the container> $(DB_SERVICE_HOST)
         ! DB_SERVICE_HOST linksOff",
    );
}

#[test]
fn patches_and_externals_may_have_more() {
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [\n\
                 {name: c, env: [{name: A, value: $(BASE)}]}]}}}\n";
    check(patch, "A=<variable BASE, set elsewhere> (env)");
    check_at(
        None,
        &[("podlens.yaml", "externals: {variables: ['ACME_*']}\n"), ("a.yaml", &pod("args: ['$(ACME_X)', '$(X)']"))],
        "args: <variable ACME_X, set elsewhere> $(X)
         ! X undefined",
    );
}

#[test]
fn externals_name_keys_without_values() {
    let settings = "externals: {configMaps: {c: [k, more]}, secrets: {s: [p]}, services: [db]}\n";
    let pod = pod("envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}]\n\
                   args: ['$(k)', '$(more)', '$(none)', '$(DB_SERVICE_HOST)', '$(DB_PORT)']");
    check_at(
        None,
        &[("podlens.yaml", settings), ("pod.yaml", &pod)],
        "DB_SERVICE_HOST=<cluster IP of db> (service db)
         k=<config map key c/k> (configMap c/k)
         more=<config map key c/more> (configMap c/more)
         p=<secret key s/p> (secret s/p)
         args: <config map key c/k> <config map key c/more> $(none) <cluster IP of db> <service variable DB_PORT>
         ! none undefined",
    );
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {k: v}\n";
    let shown = show(None, &[("podlens.yaml", settings), ("map.yaml", map), ("pod.yaml", &pod)]);
    assert!(shown.contains("k=v (configMap c/k)\nmore=<config map key c/more> (configMap c/more)\n"), "{shown}");
}

#[test]
fn kustomize_may_set_its_vars() {
    let kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n\
                         vars: [{name: HOST, objref: {kind: Service, name: db, apiVersion: v1}}]\n";
    check_at(
        None,
        &[("kustomization.yaml", kustomization), ("pod.yaml", &pod("args: ['$(HOST)', '$(PORT)']"))],
        "args: <variable HOST, set elsewhere> $(PORT)
         ! PORT undefined",
    );
}

#[test]
fn hooks_of_a_deployment_config_see_their_container() {
    let config = "apiVersion: apps.openshift.io/v1\nkind: DeploymentConfig\nmetadata: {name: d}\nspec:\n\
                  \x20 strategy: {recreateParams: {pre: {execNewPod: {containerName: c, command: [run, $(A), $(OTHER)],\n\
                  \x20   env: [{name: A, value: $(B)}, {name: B, value: b}]}}}}\n\
                  \x20 template: {spec: {containers: [{name: c, image: i, env: [{name: OTHER, value: o}]}]}}\n";
    check(
        config,
        "OTHER=o (env)
         A=<variable B, set elsewhere> (env)
         B=b (env)
         command: run <variable B, set elsewhere> <variable OTHER, set elsewhere>",
    );
}

/// Service variables are cached while services only move, and their origins are the current locations.
#[test]
fn origins_follow_services_that_move() {
    let service =
        "apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {clusterIP: 1.2.3.4, ports: [{port: 80}]}\n";
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - {name: c, image: c, \
               env: [{name: DB_PORT, value: x}]}\n";
    let mut workspace = Workspace::default();
    workspace.set_disk("pod.yaml", File::read("pod.yaml", pod));
    for lines in 0..3 {
        let text = format!("{}{service}", "# a comment\n".repeat(lines));
        workspace.set_editor("db.yaml", File::read("db.yaml", &text));
        let snapshot = workspace.snapshot();
        let (path, file) = snapshot.files().find(|(path, _)| &***path == "pod.yaml").expect("the pod");
        let object = build::objects(&snapshot, path, file).next().expect("a pod");
        let container = object.containers().next().expect("a container");
        let environment = Resolver::new(&snapshot, None).environment(container);
        let start = |origin: &Origin| origin.location.as_ref().map(|it| it.span.start);
        let Lookup::Bound(host) = environment.lookup(VariableScope::All, "DB_SERVICE_HOST") else {
            panic!("not bound")
        };
        assert_eq!(start(&host.origin), Some(lines * 12));
        let Lookup::Bound(port) = environment.lookup(VariableScope::All, "DB_PORT") else { panic!("not bound") };
        assert_eq!(port.hides.iter().map(start).collect::<Vec<_>>(), [Some(lines * 12)]);
        let listed = environment.bindings().into_iter().find(|it| &*it.name == "DB_SERVICE_PORT").expect("listed");
        assert_eq!(start(&listed.origin), Some(lines * 12));
    }
}
