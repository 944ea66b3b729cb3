//! Reading small manifests, kind by kind.

use super::*;
use crate::syntax::parse;

fn read(text: &str) -> Vec<Object> {
    read_objects(&parse(text))
}

/// The containers of a text as `path role name: VARIABLES`, all objects in order.
fn containers(text: &str) -> Vec<String> {
    let line = |it: &Container| {
        let name = it.name.as_ref().map_or("-", |name| &*name.value);
        let env: Vec<&str> = it.env.iter().filter_map(|it| it.name.as_ref()).map(|name| &*name.value).collect();
        format!("{} {:?} {name}: {}", it.path, it.role, env.join(","))
    };
    let models: Vec<_> = read(text).into_iter().map(|object| object.model).collect();
    models.iter().flat_map(|model| &model.pods).flat_map(|pod| &pod.containers).map(|it| line(it)).collect()
}

/// A manifest with a pod spec in the place of `SPEC`.
fn workload(api_version: &str, kind: &str, above: &str) -> String {
    let spec = "{containers: [{name: main, image: i, env: [{name: A, value: x}]}]}";
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: it}}\n{}\n", above.replace("SPEC", spec))
}

#[test]
fn pods_are_read_at_the_path_of_their_kind() {
    let template = "spec: {template: {spec: SPEC}}";
    let analysis = "spec: {metrics: [{name: a}, {provider: {job: {spec: {template: {spec: SPEC}}}}}]}";
    for (api_version, kind, above, path) in [
        ("v1", "Pod", "spec: SPEC", "spec"),
        ("v1", "PodTemplate", "template: {spec: SPEC}", "template.spec"),
        ("v1", "ReplicationController", template, "spec.template.spec"),
        ("apps/v1", "Deployment", template, "spec.template.spec"),
        ("apps/v1beta2", "StatefulSet", template, "spec.template.spec"),
        ("extensions/v1beta1", "DaemonSet", template, "spec.template.spec"),
        ("apps/v1", "ReplicaSet", template, "spec.template.spec"),
        ("batch/v1", "Job", template, "spec.template.spec"),
        (
            "batch/v1",
            "CronJob",
            "spec: {jobTemplate: {spec: {template: {spec: SPEC}}}}",
            "spec.jobTemplate.spec.template.spec",
        ),
        ("apps.openshift.io/v1", "DeploymentConfig", template, "spec.template.spec"),
        ("v1", "DeploymentConfig", template, "spec.template.spec"),
        ("argoproj.io/v1alpha1", "Rollout", template, "spec.template.spec"),
        (
            "argoproj.io/v1alpha1",
            "Experiment",
            "spec: {templates: [{template: {spec: SPEC}}]}",
            "spec.templates[0].template.spec",
        ),
        ("argoproj.io/v1alpha1", "AnalysisTemplate", analysis, "spec.metrics[1].provider.job.spec.template.spec"),
        (
            "argoproj.io/v1alpha1",
            "ClusterAnalysisTemplate",
            analysis,
            "spec.metrics[1].provider.job.spec.template.spec",
        ),
        ("argoproj.io/v1alpha1", "AnalysisRun", analysis, "spec.metrics[1].provider.job.spec.template.spec"),
        ("serving.knative.dev/v1", "Service", template, "spec.template.spec"),
        ("serving.knative.dev/v1", "Configuration", template, "spec.template.spec"),
        ("serving.knative.dev/v1", "Revision", "spec: SPEC", "spec"),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "spec: {replicatedJobs: [{template: {spec: {template: {spec: SPEC}}}}]}",
            "spec.replicatedJobs[0].template.spec.template.spec",
        ),
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            "spec: {leaderWorkerTemplate: {workerTemplate: {spec: SPEC}}}",
            "spec.leaderWorkerTemplate.workerTemplate.spec",
        ),
        // Unknown kinds, found by their structure.
        ("example.com/v1", "Widget", "spec: SPEC", "spec"),
        ("ray.io/v1", "RayCluster", "spec: {groups: [{template: {spec: SPEC}}]}", "spec.groups[0].template.spec"),
        (
            "kubeflow.org/v1",
            "TFJob",
            "spec: {specs: {Worker: {template: {spec: SPEC}}}}",
            "spec.specs.Worker.template.spec",
        ),
    ] {
        let found = containers(&workload(api_version, kind, above));
        assert_eq!(found, [format!("{path}.containers[0] Container main: A")], "{api_version} {kind}");
    }
}

#[test]
fn other_languages_have_no_pods() {
    for (api_version, kind, above) in [
        ("tekton.dev/v1", "Task", "spec: SPEC"),
        ("triggers.tekton.dev/v1beta1", "TriggerTemplate", "spec: {resourcetemplates: [{spec: SPEC}]}"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec: {x: SPEC}"),
        ("kyverno.io/v1", "ClusterPolicy", "spec: {rules: [{validate: {pattern: {spec: SPEC}}}]}"),
    ] {
        assert!(containers(&workload(api_version, kind, above)).is_empty(), "{api_version} {kind}");
    }
}

#[test]
fn other_yaml_has_no_objects() {
    for text in [
        "",
        "# only a comment\n",
        "just text",
        "- a\n- b\n",
        "services: {web: {image: nginx, environment: [A=$(B)]}}",
        "name: ci\non: push\njobs: {build: {steps: [{run: echo $(date)}]}}",
        "kind: pipeline\nsteps: [{name: a, commands: [x]}]",
        "spec: {containers: [{name: a, image: b}]}",
        "resources: [a.yaml]\n",
    ] {
        assert!(read(text).is_empty(), "{text}");
    }
}

#[test]
fn api_version_or_kind_is_enough_while_typing() {
    let rest = "metadata: {name: a}\nspec: {containers: [{name: main, image: i}]}\n";
    for head in
        ["kind: Pod", "apiVersion: v1", "apiVersion:\nkind: Pod", "apiVersion: v\nkind: Pod", "apiVersion: v1\nkind: P"]
    {
        assert_eq!(containers(&format!("{head}\n{rest}")), ["spec.containers[0] Container main: "], "{head}");
    }
}

#[test]
fn lists_and_templates_hold_objects() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: NAME}, spec: {containers: [{name: NAME, image: i}]}}";
    let one = pod.replace("NAME", "one");
    let two = pod.replace("NAME", "two");
    for text in [
        format!("apiVersion: v1\nkind: List\nitems: [{one}, {two}]"),
        format!("apiVersion: v1\nkind: List\nitems: [{{apiVersion: v1, kind: List, items: [{one}]}}, {two}]"),
        format!("apiVersion: v1\nkind: PodList\nitems: [{one}, {two}]"),
        format!("apiVersion: template.openshift.io/v1\nkind: Template\nobjects: [{one}, {two}]"),
        format!("apiVersion: v1\nkind: Template\nobjects: [{one}, {two}]"),
        format!("apiVersion: v1\nkind: ProcessedTemplate\nobjects: [{one}, {two}]"),
        format!(
            "apiVersion: template.openshift.io/v1\nkind: TemplateList\nitems: [{{objects: [{one}]}}, {{kind: Template, objects: [{two}]}}]"
        ),
        format!(
            "apiVersion: template.openshift.io/v1\nkind: TemplateInstance\nspec: {{template: {{objects: [{one}, {two}]}}}}"
        ),
        format!("---\n{one}\n---\n# nothing\n---\n{two}"),
    ] {
        let expected = ["spec.containers[0] Container one: ", "spec.containers[0] Container two: "];
        assert_eq!(containers(&text), expected, "{text}");
        for object in read(&text) {
            for pod in &object.model.pods {
                let name = object.model.name.as_ref().map(|name| object.file_span(name.span));
                assert_eq!(name.map(|span| &text[span.range()]), object.model.name.as_ref().map(|it| &*it.value));
                assert!(text[object.file_span(pod.span).range()].starts_with("{containers"));
            }
        }
    }
}

#[test]
fn items_of_a_typed_list_have_its_kind() {
    let text = "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: a}\n  spec: {template: {spec: {containers: [{name: c}]}}}\n";
    assert_eq!(containers(text), ["spec.template.spec.containers[0] Container c: "]);
    assert_eq!(read(text)[1].model.kind.as_ref().map(|kind| &*kind.value), Some("Deployment"));
}

#[test]
fn containers_are_ordered_by_role() {
    let text = "
apiVersion: v1
kind: Pod
spec:
  ephemeralContainers: [{name: debug}]
  containers: [{name: main}]
  initContainers: [{name: setup}, {name: proxy, restartPolicy: Always}]
";
    assert_eq!(
        containers(text),
        [
            "spec.initContainers[0] Init setup: ",
            "spec.initContainers[1] Sidecar proxy: ",
            "spec.containers[0] Container main: ",
            "spec.ephemeralContainers[0] Ephemeral debug: ",
        ]
    );
}

#[test]
fn hooks_of_a_deployment_config_are_read() {
    let text = "
apiVersion: apps.openshift.io/v1
kind: DeploymentConfig
spec:
  strategy:
    customParams: {image: d, command: [run], environment: [{name: C, value: c}]}
    recreateParams:
      pre: {execNewPod: {containerName: main, command: [migrate, $(H)], env: [{name: H, value: h}]}}
    rollingParams:
      post: {execNewPod: {env: [{name: R}]}}
  template: {spec: {containers: [{name: main}]}}
";
    assert_eq!(
        containers(text),
        [
            "spec.template.spec.containers[0] Container main: ",
            "spec.strategy.customParams Hook -: C",
            "spec.strategy.recreateParams.pre.execNewPod Hook main: H",
            "spec.strategy.rollingParams.post.execNewPod Hook -: R",
        ]
    );
}

#[test]
fn completion_modes_and_link_defaults_follow_the_kind() {
    for (api_version, kind, above, is_indexed, links) in [
        ("batch/v1", "Job", "spec: {template: {spec: SPEC}}", false, true),
        ("batch/v1", "Job", "spec: {completionMode: Indexed, template: {spec: SPEC}}", true, true),
        (
            "batch/v1",
            "CronJob",
            "spec: {jobTemplate: {spec: {completionMode: Indexed, template: {spec: SPEC}}}}",
            true,
            true,
        ),
        ("apps/v1", "Deployment", "spec: {completionMode: Indexed, template: {spec: SPEC}}", false, true),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "spec: {replicatedJobs: [{template: {spec: {template: {spec: SPEC}}}}]}",
            true,
            true,
        ),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "spec: {replicatedJobs: [{template: {spec: {completionMode: NonIndexed, template: {spec: SPEC}}}}]}",
            false,
            true,
        ),
        ("serving.knative.dev/v1", "Service", "spec: {template: {spec: SPEC}}", false, false),
    ] {
        let objects = read(&workload(api_version, kind, above));
        let pod = &objects[0].model.pods[0];
        assert_eq!((pod.is_indexed, pod.default_service_links), (is_indexed, links), "{kind} {above}");
        assert!(matches!(objects[0].model.data, ObjectData::None), "{kind}");
    }
}

const FULL: &str = r#"
apiVersion: v1
kind: Pod
metadata:
  name: full
  namespace: shop
  labels: {app: full}
  annotations: {note: hello}
spec:
  enableServiceLinks: false
  nodeName: n1
  serviceAccountName: sa
  serviceDependencies: [redis, {name: db}]
  volumes:
  - name: v
    emptyDir: {}
  containers:
  - name: main
    image: "app:$(TAG)"
    workingDir: /$(DIR)
    command: [sh, "-c", 8]
    args: ["$(A)"]
    env:
    - name: A
      value: "a"
    - name: N
      value: 8080
    - {name: E, value: ""}
    - name: F
      valueFrom: {fieldRef: {fieldPath: metadata.name}}
    - name: R
      valueFrom: {resourceFieldRef: {containerName: main, resource: limits.cpu, divisor: 1m}}
    - name: C
      valueFrom: {configMapKeyRef: {name: c, key: k, optional: true}}
    - name: S
      valueFrom: {secretKeyRef: {name: s, key: k}}
    - name: L
      valueFrom: {fileKeyRef: {volumeName: v, path: a.env, key: k, optional: true}}
    - name: X
      valueFrom: {}
    envFrom:
    - prefix: P_
      configMapRef: {name: c, optional: true}
    - secretRef: {name: s}
    - service: {name: redis}
    - {}
    livenessProbe:
      exec: {command: [check, "$(A)"]}
    readinessProbe:
      httpGet: {path: "/$(A)", port: 80}
    lifecycle:
      preStop: {exec: {command: [sh, -c, "echo $(A)"]}}
    resources:
      limits: {cpu: 500m, memory: 1Gi}
      requests: {cpu: 0.5}
    volumeMounts:
    - {name: v, mountPath: "/d/$(A)", subPathExpr: $(A)/b}
"#;

#[test]
fn a_container_is_read_in_full() {
    let objects = read(FULL);
    let model = &objects[0].model;
    let value = |text: &Option<Text>| text.as_ref().map(|text| text.value.to_string()).unwrap_or_default();
    assert_eq!((value(&model.name), value(&model.namespace)), ("full".into(), "shop".into()));
    assert_eq!((model.labels.len(), model.annotations.len()), (1, 1), "{:?} {:?}", model.labels, model.annotations);
    let pod = &model.pods[0];
    assert_eq!(value(&pod.name), "full");
    assert_eq!(pod.service_links.map(|(it, _)| it), Some(false));
    assert_eq!((value(&pod.node_name), value(&pod.service_account)), ("n1".into(), "sa".into()));
    let dependencies = pod.service_dependencies.as_ref().expect("dependencies");
    assert_eq!(dependencies.services.iter().map(|it| value(&it.name)).collect::<Vec<_>>(), ["redis", "db"]);
    assert_eq!(dependencies.services.iter().map(|it| it.is_reference).collect::<Vec<_>>(), [false, true]);
    assert_eq!(value(&pod.volumes[0].kind), "emptyDir");
    let it = &pod.containers[0];
    assert_eq!(it.command.iter().map(|it| it.is_string).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(it.env.iter().map(|it| value(&it.name)).collect::<String>(), "ANEFRCSLX");
    assert!(it.env[1].value.as_ref().is_some_and(|text| &*text.value == "8080" && !text.is_string));
    assert!(it.env[2].value.as_ref().is_some_and(|text| text.value.is_empty() && text.is_string));
    let sources: Vec<_> = it.env[3..].iter().map(|it| it.from.as_ref().map(|from| &from.sources[..])).collect();
    assert!(matches!(sources[0], Some([ValueSource::Field { path: Some(_), .. }])));
    assert!(matches!(sources[1], Some([ValueSource::Resource { divisor: Some(_), .. }])));
    assert!(matches!(sources[2], Some([ValueSource::ConfigMap(KeyRef { optional: true, .. })])));
    assert!(matches!(sources[3], Some([ValueSource::Secret(KeyRef { optional: false, .. })])));
    assert!(matches!(sources[4], Some([ValueSource::File { optional: true, .. }])));
    assert!(matches!(sources[5], Some([])));
    assert_eq!(value(&it.env_from[0].prefix), "P_");
    assert!(matches!(it.env_from[0].source, Some(EnvFromSource::ConfigMap { optional: true, .. })));
    assert!(matches!(it.env_from[1].source, Some(EnvFromSource::Secret { optional: false, .. })));
    assert!(matches!(it.env_from[2].source, Some(EnvFromSource::Service { .. })));
    assert!(it.env_from[3].source.is_none());
    assert_eq!(it.probes.iter().map(|it| (it.probe, it.command.len())).collect::<Vec<_>>(), [("livenessProbe", 2)]);
    assert_eq!((it.limits.len(), it.requests.len()), (2, 1), "{:?} {:?}", it.limits, it.requests);
    assert_eq!(value(&it.mounts[0].sub_path_expr), "$(A)/b");
    let unexpanded: Vec<&str> = it.unexpanded.iter().map(|(path, _)| &**path).collect();
    assert_eq!(
        unexpanded,
        [
            "image",
            "workingDir",
            "readinessProbe.httpGet.path",
            "lifecycle.preStop.exec.command[0]",
            "lifecycle.preStop.exec.command[1]",
            "lifecycle.preStop.exec.command[2]",
            "volumeMounts[0].mountPath",
        ]
    );
    for text in it.args.iter().chain(it.unexpanded.iter().map(|(_, text)| text)) {
        assert!(FULL[objects[0].file_span(text.span).range()].contains(&*text.value));
    }
}

#[test]
fn earlier_text_is_read_after_every_keystroke() {
    let typed = FULL.find("    - name: N").unwrap_or_default();
    for (end, _) in FULL.char_indices() {
        let objects = read(&FULL[..end]);
        for object in &objects {
            assert!(object.file_span(object.model.span).end <= end);
        }
        if end >= typed {
            let found = containers(&FULL[..end]);
            let expected = "spec.containers[0] Container main: A";
            assert!(matches!(&found[..], [one] if one.starts_with(expected)), "{found:?} after {}", &FULL[..end]);
        }
    }
}

#[test]
fn claims_of_a_stateful_set_are_volumes() {
    let text = "
apiVersion: apps/v1
kind: StatefulSet
spec:
  volumeClaimTemplates: [{metadata: {name: data}}]
  template: {spec: {containers: [{name: main}], volumes: [{name: tmp, emptyDir: {}}]}}
";
    let objects = read(text);
    let names: Vec<_> = objects[0].model.pods[0].volumes.iter().filter_map(|it| it.name.as_ref()).collect();
    assert_eq!(names.iter().map(|it| &*it.value).collect::<Vec<_>>(), ["tmp", "data"]);
}

#[test]
fn aliases_and_merge_keys_are_followed() {
    let text = "
apiVersion: v1
kind: Pod
x: &env [{name: A, value: a}]
y: &base {image: i, env: *env}
spec: {containers: [{name: one, <<: *base}, {name: two, env: *env}]}
";
    assert_eq!(containers(text), ["spec.containers[0] Container one: A", "spec.containers[1] Container two: A"]);
}

#[test]
fn recursive_anchors_and_alias_bombs_terminate() {
    read("apiVersion: v1\nkind: List\nitems: &a [{apiVersion: v1, kind: List, items: *a}]");
    read("apiVersion: x.io/v1\nkind: X\nspec: &a {b: *a, c: [*a, *a]}");
    read("apiVersion: v1\nkind: Pod\nspec: {containers: [&a {name: $x, lifecycle: {b: *a, c: *a}}]}");
    let mut bomb = "apiVersion: v1\nkind: List\nx0: &x0 {apiVersion: v1, kind: Pod}\n".to_owned();
    for n in 1..9 {
        let items = vec![format!("*x{}", n - 1); 20].join(", ");
        bomb += &format!("x{n}: &x{n} {{apiVersion: v1, kind: List, items: [{items}]}}\n");
    }
    assert!(read(&format!("{bomb}items: [*x8]")).len() < 100_000);
}

/// The keys of ConfigMaps and Secrets as `name[+] KEY=value,…`: `?` for an unknown value, `+` if there may be more
/// keys.
fn sources(text: &str) -> Vec<String> {
    read(text)
        .iter()
        .filter_map(|object| match &object.model.data {
            ObjectData::ConfigMap(source) | ObjectData::Secret(source) => {
                let value = |key: &DataEntry| key.value.as_deref().unwrap_or("?").to_owned();
                let keys: Vec<_> = source.keys.iter().map(|key| format!("{}={}", key.key.value, value(key))).collect();
                let name = object.model.reference_name().unwrap_or("-");
                Some(format!("{name}{} {}", if source.may_have_more_keys { "+" } else { "" }, keys.join(",")))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn keys_of_config_maps_and_secrets_are_read() {
    for (text, expected) in [
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {A: a, B: 8, C: , D: 'x'}", "c A=a,B=?,C=,D=x"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nbinaryData: {A: AAA=}", "c "),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {1: a, yes: b}", "c 1=a,true=b"),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {A: aGVsbG8=, B: '/w==', C: '!'}",
            "s A=hello,B=?,C=?",
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {A: \"aGVs\\r\\nbG8=\\n\", B: aGVsbG8}",
            "s A=hello,B=?",
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {A: eA==, B: eQ==}\nstringData: {A: over, C: new}",
            "s A=over,B=y,C=new",
        ),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {A: ENC, B: eA==}\nsops: {mac: x}", "s+ A=?,B=?"),
        (
            "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: s}\nspec: {encryptedData: {A: x}}",
            "s+ A=?",
        ),
        (
            "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: s}\nspec: {template: {metadata: {name: t}}}",
            "t+ ",
        ),
        (
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: e}\nspec: {target: {name: t}, data: [{secretKey: A}], dataFrom: []}",
            "t+ A=?",
        ),
        ("apiVersion: external-secrets.io/v1beta1\nkind: ExternalSecret\nmetadata: {name: e}\nspec: {}", "e+ "),
        (
            "apiVersion: kubernetes-client.io/v1\nkind: ExternalSecret\nmetadata: {name: e}\nspec: {data: [{name: A}]}",
            "e+ A=?",
        ),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n$patch: replace\ndata: {A: a}", "c+ A=a"),
    ] {
        assert_eq!(sources(text), [expected], "{text}");
    }
}

#[test]
fn kustomizations_make_config_maps_and_secrets() {
    let text = "
configMapGenerator:
- name: c
  literals: [A=a, 'B=\"b=c\"', broken]
  files: [dir/app.conf, key=dir/other]
- {name: e, envs: [x.env]}
- {name: m, behavior: merge, literals: [A=1]}
secretGenerator:
- {name: s, literals: [P=w]}
patches:
- {path: deployment.yaml}
- {target: {kind: ConfigMap, name: t}, patch: '- {op: add, path: /data/X, value: y}'}
- patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: i}
    data: {Z: z}
patchesStrategicMerge: [merge.yaml]
vars: [{name: V}]
";
    assert_eq!(sources(text), ["c A=a,B=b=c,app.conf=?,key=?", "e+ ", "m+ A=1", "s P=w", "t+ ", "i+ "]);
    let objects = read(text);
    let ObjectData::Kustomization(it) = &objects[0].model.data else { panic!("{objects:?}") };
    let words = |texts: &[Text]| texts.iter().map(|it| it.value.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (words(&it.patches), words(&it.vars)),
        (vec!["merge.yaml".into(), "deployment.yaml".into()], vec!["V".into()])
    );
    let typed = format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{text}");
    assert_eq!(sources(&typed), sources(text));
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: x}";
    assert!(sources(flux).is_empty());
}

#[test]
fn ports_and_addresses_of_services_are_read() {
    let text = "
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  clusterIP: 10.0.0.1
  ports: [{name: http, port: 80}, {port: 53, protocol: UDP}, {port: '80'}]
";
    let objects = read(text);
    let ObjectData::Service(it) = &objects[0].model.data else { panic!("{objects:?}") };
    assert_eq!(it.cluster_ip.as_ref().map(|it| &*it.value), Some("10.0.0.1"));
    assert_eq!(it.ports.iter().map(|it| it.port).collect::<Vec<_>>(), [Some(80), Some(53), None]);
    assert_eq!(it.ports[1].protocol.as_ref().map(|it| &*it.value), Some("UDP"));
}

#[test]
fn debug_output_hides_secrets() {
    let text = "
apiVersion: v1
kind: Secret
metadata: {name: s, annotations: {last-applied: hunter2}}
data: {A: aHVudGVyMg==}
stringData: {B: hunter2}
";
    let shown = format!("{:?}", read(text));
    assert!(!shown.contains("hunter2") && !shown.contains("aHVudGVyMg"), "{shown}");
    assert!(shown.contains("<value>"), "{shown}");
}
