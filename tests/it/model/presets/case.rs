//! Generates random pods and presets, from few names and values so that they often conflict.

use serde_json::{Map, Value as Json, json};

use super::super::case::Random;
use super::{object, with};

const NAMES: &[&str] = &["A", "B", "C", "D"];
const TEXTS: &[&str] = &["1", "1", "1", "2", "", "$(A)", "$(B)x", "$$(A)", "$(K)", "$(P_A)", "$(C)$(D)"];
const NAMESPACES: &[Option<&str>] = &[None, None, Some("ns1"), Some("ns1"), Some("ns2")];
const RELEASES: &[Option<&str>] = &[
    None,
    None,
    Some("1.19"),
    Some("1.16"),
    Some("1.15"),
    Some("1.14"),
    Some("1.13"),
    Some("1.8"),
    Some("1.7"),
    Some("1.6"),
];

/// The `apiVersion` of the webhook's presets.
pub(super) const WEBHOOK: &str = "redhatcop.redhat.io/v1alpha1";

/// The ConfigMaps of the namespace: names, keys and values.
pub(super) const MAPS: &[(&str, &[(&str, &str)])] =
    &[("one", &[("A", "one A"), ("K", "one $(A)")]), ("two", &[("A", "two A"), ("B", "two B")])];

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) release: Option<&'static str>,
    pub(super) proposals: bool,
    /// The workload, whole.
    pub(super) workload: Json,
    /// The presets, whole.
    pub(super) presets: Vec<Json>,
}

impl Case {
    pub(super) fn random(random: &mut Random) -> Self {
        let mut names = vec!["m", "c", "x", "a"];
        let mut presets = random.many(4, |random| {
            let name = names.remove(random.below(names.len()));
            preset(random, name)
        });
        // Most presets select most pods, so that most cases test something.
        if random.one_in(2) {
            for it in presets.iter_mut().filter(|it| it.get("spec").is_some()) {
                it["spec"]["selector"] = json!({"matchLabels": {"app": "web"}});
            }
        }
        // A3: presets without conflicts whose values depend on their order.
        if random.one_in(4) {
            let count = presets.len();
            for (at, it) in presets.iter_mut().enumerate() {
                let value = format!("{at} $(P{})", random.below(count));
                let env = json!([{"name": format!("P{at}"), "value": value}]);
                it["apiVersion"] = "settings.k8s.io/v1alpha1".into();
                it["spec"] = json!({"selector": {"matchLabels": {"app": "web"}}, "env": env});
                put(&mut it["spec"], "envFrom", random.many(1, source));
            }
        }
        // What a cluster writes: sometimes all presets have an age, sometimes only some.
        let ages = random.below(3);
        for it in presets.iter_mut().filter(|_| ages > 0) {
            if ages == 2 || random.one_in(2) {
                it["metadata"]["creationTimestamp"] = format!("2020-01-0{}T00:00:00Z", 1 + random.below(5)).into();
            }
            if random.one_in(2) {
                it["metadata"]["resourceVersion"] = random.pick(&["7", "42"]).into();
            }
        }
        let (release, proposals) = (random.pick(RELEASES), random.one_in(4));
        Self { release, proposals, workload: workload(random), presets }
    }

    /// The manifests.
    pub(super) fn objects(&self) -> Vec<Json> {
        let mut all = vec![self.workload.clone()];
        all.extend(self.presets.iter().cloned());
        for (name, data) in MAPS {
            let data: Map<String, Json> =
                data.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
            all.push(object("v1", "ConfigMap", json!({"name": name}), json!({"data": data})));
        }
        all
    }
}

fn metadata(random: &mut Random, name: &str) -> Json {
    let metadata = json!({ "name": name });
    match random.pick(NAMESPACES) {
        Some(namespace) => with(metadata, "namespace", namespace),
        None => metadata,
    }
}

fn workload(random: &mut Random) -> Json {
    let mut spec = json!({});
    let mut names = ["a", "b", "c", "d", "e"].into_iter();
    let mut containers = |random: &mut Random, key: &str, least: usize, most: usize, spec: &mut Json| {
        let count = least + random.below(most - least + 1);
        let all: Vec<Json> = (0..count).map(|_| container(random, key, names.next().expect("a name"))).collect();
        if !all.is_empty() {
            spec[key] = all.into();
        }
    };
    let is_pod = random.one_in(2);
    containers(random, "initContainers", 0, 2, &mut spec);
    containers(random, "containers", 1, 2, &mut spec);
    if is_pod {
        containers(random, "ephemeralContainers", 0, 1, &mut spec);
    }
    put(&mut spec, "volumes", random.many(2, volume));
    let mut labels = json!({"app": random.pick(&["web", "web", "db"])});
    if random.one_in(2) {
        labels["tier"] = random.pick(&["front", "back"]).into();
    }
    let mut pod = json!({ "labels": labels });
    let mut annotations = json!({});
    if random.one_in(8) {
        annotations["podpreset.admission.kubernetes.io/exclude"] = random.pick(&["true", "true", "false"]).into();
    }
    if random.one_in(16) {
        annotations["kubernetes.io/config.mirror"] = "x".into();
    }
    if annotations != json!({}) {
        pod["annotations"] = annotations;
    }
    let mut metadata = metadata(random, "web");
    if is_pod {
        metadata.as_object_mut().expect("a mapping").extend(pod.as_object().expect("a mapping").clone());
        return object("v1", "Pod", metadata, json!({ "spec": spec }));
    }
    let template = json!({"metadata": pod, "spec": spec});
    object("apps/v1", "Deployment", metadata, json!({"spec": {"template": template}}))
}

fn container(random: &mut Random, key: &str, name: &str) -> Json {
    let mut it = json!({"name": name, "image": "registry.example/app:1", "resources": {"limits": {"cpu": "2"}}});
    if key == "initContainers" && random.one_in(3) {
        it["restartPolicy"] = "Always".into();
    }
    put(&mut it, "env", random.many(3, entry));
    put(&mut it, "envFrom", random.many(2, source));
    put(&mut it, "volumeMounts", random.many(1, mount));
    it["args"] = json!(["$(A)-$(B)", random.pick(TEXTS)]);
    it
}

fn put(json: &mut Json, key: &str, items: Vec<Json>) {
    if !items.is_empty() {
        json[key] = items.into();
    }
}

fn preset(random: &mut Random, name: &str) -> Json {
    let metadata = metadata(random, name);
    const VERSIONS: &[&str] = &[
        "settings.k8s.io/v1alpha1",
        "settings.k8s.io/v1alpha1",
        "settings.k8s.io/v1alpha1",
        "settings/v1alpha1",
        WEBHOOK,
    ];
    let api_version = random.pick(VERSIONS);
    if random.one_in(30) {
        return object(api_version, "PodPreset", metadata, json!({}));
    }
    let mut spec = json!({});
    if let Some(selector) = selector(random) {
        spec["selector"] = selector;
    }
    // Sources have an effect only if there is no other conflict.
    if random.one_in(3) {
        put(&mut spec, "envFrom", random.many(2, source));
        return object(api_version, "PodPreset", metadata, json!({ "spec": spec }));
    }
    put(&mut spec, "env", random.many(2, entry));
    put(&mut spec, "envFrom", random.many(1, source));
    let mut volumes = random.many(1, volume);
    // Mounts of existing volumes, and sometimes of one that does not exist.
    let mut mounts = random.many(2, mount);
    if !random.one_in(10) {
        for it in &mounts {
            if !volumes.iter().any(|volume| volume["name"] == it["name"]) {
                volumes.push(with(volume(random), "name", it["name"].clone()));
            }
        }
    }
    if random.one_in(8) {
        mounts.clear();
    }
    put(&mut spec, "volumes", volumes);
    put(&mut spec, "volumeMounts", mounts);
    object(api_version, "PodPreset", metadata, json!({ "spec": spec }))
}

fn selector(random: &mut Random) -> Option<Json> {
    if random.one_in(6) {
        return None;
    }
    let mut selector = json!({});
    if random.one_in(2) {
        let tier = random.pick(&["front", "back"]);
        selector["matchLabels"] = random.pick(&[json!({"app": "web"}), json!({"tier": tier}), json!({"app": "db"})]);
    }
    if random.one_in(3) {
        selector["matchExpressions"] = random.many(2, requirement).into();
    }
    Some(selector)
}

fn requirement(random: &mut Random) -> Json {
    let key = random.pick(&["app", "tier", "none"]);
    let values = random.pick(&[json!(["web"]), json!(["front", "web"]), json!(["back", "db"])]);
    match random.below(9) {
        0 | 1 => json!({"key": key, "operator": "In", "values": values}),
        2 | 3 => json!({"key": key, "operator": "NotIn", "values": values}),
        4 => json!({"key": key, "operator": "Exists"}),
        5 => json!({"key": key, "operator": "DoesNotExist"}),
        6 => json!({"key": "pod-template-hash", "operator": random.pick(&["Exists", "DoesNotExist"])}),
        7 => json!({"key": key, "operator": random.pick(&["Equals", "In"])}),
        _ => json!({"key": key, "operator": "Exists", "values": values}),
    }
}

fn entry(random: &mut Random) -> Json {
    let name = random.pick(NAMES);
    let from = |source: &str, fields: Json| json!({"name": name, "valueFrom": {source: fields}});
    match random.below(11) {
        9 => from("resourceFieldRef", json!({"resource": "limits.cpu"})),
        10 => from("resourceFieldRef", json!({"resource": "limits.cpu", "divisor": random.pick(&["0", "1"])})),
        0 => from("fieldRef", json!({"fieldPath": "metadata.labels['app']"})),
        1 => from("fieldRef", json!({"fieldPath": "metadata.labels['app']", "apiVersion": "v1"})),
        2 => from("configMapKeyRef", json!({"name": "one", "key": "K"})),
        3 => from("configMapKeyRef", json!({"name": "one", "key": "K", "optional": random.one_in(2)})),
        4 => json!({ "name": name }),
        _ => json!({"name": name, "value": random.pick(TEXTS)}),
    }
}

fn source(random: &mut Random) -> Json {
    let mut reference = json!({"name": random.pick(&["one", "two"])});
    if random.one_in(3) {
        reference["optional"] = random.one_in(2).into();
    }
    let mut it = json!({ "configMapRef": reference });
    if random.one_in(3) {
        it["prefix"] = "P_".into();
    }
    it
}

fn volume(random: &mut Random) -> Json {
    let name = json!({"name": random.pick(&["v", "w"])});
    match random.below(10) {
        9 => with(name, "hostPath", json!({"path": "/h", "type": ""})),
        0 => name,
        1..=3 => with(name, "emptyDir", json!({})),
        4 => with(name, "emptyDir", json!({"medium": ""})),
        5 => with(name, "emptyDir", json!({"medium": "Memory"})),
        6 => with(name, "secret", json!({"secretName": "s"})),
        7 => with(name, "secret", json!({"secretName": "s", "defaultMode": 420})),
        _ => with(name, "hostPath", json!({"path": "/h"})),
    }
}

fn mount(random: &mut Random) -> Json {
    let it = json!({"name": random.pick(&["v", "v", "w"]), "mountPath": random.pick(&["/a", "/a", "/b"])});
    match random.below(6) {
        0 => with(it, "readOnly", true),
        1 => with(it, "readOnly", false),
        2 => with(it, "subPath", ""),
        _ => it,
    }
}
