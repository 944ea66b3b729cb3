//! The result of admission and of the kubelet for a case: A1 to A14, A20 to A23, X7 and X8 with maps and lists of JSON, as
//! simple as possible.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::case::{Case, MAPS, WEBHOOK};
use super::{items, with};

/// Whether a preset is applied, and its conflicts: kind, name, container.
type Outcome = (bool, Vec<(String, String, String)>);

#[derive(Debug)]
pub(super) struct Expected {
    /// The presets that fit, by name.
    pub(super) presets: BTreeMap<String, Outcome>,
    pub(super) containers: Vec<Container>,
    /// The object with its pod after admission, with all known values inserted.
    pub(super) object: Json,
    /// Whether another order of presets would give another pod, because one by one is applied (A4).
    pub(super) is_open: bool,
    /// The containers in every order in which the presets may be applied (A3, PA10).
    pub(super) orders: Vec<Vec<Container>>,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Container {
    pub(super) role: &'static str,
    /// The value, and where it comes from.
    pub(super) env: BTreeMap<String, (String, String)>,
    pub(super) args: Vec<String>,
    pub(super) unresolved: Vec<(String, String)>,
}

/// The lists that presets change, each entry with the preset it comes from.
#[derive(Clone, Default)]
struct Lists {
    name: String,
    role: &'static str,
    env: Vec<Entry>,
    env_from: Vec<Entry>,
    mounts: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    json: Json,
    by: Option<String>,
    /// Whether it is in a custom resource, which has no defaults.
    is_written: bool,
}

struct Admission<'c> {
    case: &'c Case,
    volumes: Vec<Entry>,
    containers: Vec<Lists>,
    presets: BTreeMap<String, Outcome>,
}

impl Expected {
    pub(super) fn of(case: &Case) -> Self {
        let is_of = |it: &&Json, webhook: bool| (it["apiVersion"] == WEBHOOK) == webhook;
        let mut presets: Vec<&Json> = case.presets.iter().filter(|it| is_of(it, false) && fits(case, it)).collect();
        let mut listed: Vec<&Json> =
            case.presets.iter().filter(|it| is_of(it, true) && is_near(case, it) && is_valid(case, it)).collect();
        listed.sort_by_key(|it| name(it));
        // PA10: from the oldest to the newest. A3: without ages the order is not defined; podlens shows that of the names.
        let age = |it: &Json| it["metadata"]["creationTimestamp"].as_str().map(str::to_owned);
        presets.sort_by_key(|it| name(it));
        let mut is_ordered = false;
        if presets.iter().all(|it| age(it).is_some()) {
            presets.sort_by_key(|it| age(it));
            is_ordered = presets.windows(2).all(|it| age(it[0]) != age(it[1]));
        }
        let mut expected = Self::in_order(case, &presets, &listed);
        if !is_ordered && presets.iter().all(|it| expected.presets[&name(it)].0) {
            for order in permutations(&presets) {
                expected.orders.push(Self::in_order(case, &order, &listed).containers);
            }
        }
        expected
    }

    fn in_order(case: &Case, presets: &[&Json], webhook: &[&Json]) -> Self {
        let pod = pod_of(&case.workload);
        let mut admission =
            Admission { case, volumes: own(&pod["spec"], "volumes"), containers: lists(pod), presets: BTreeMap::new() };
        for it in presets {
            admission.presets.insert(name(it), (false, Vec::new()));
        }
        admission.run(presets);
        admission.run_webhook(webhook);
        for (_, conflicts) in admission.presets.values_mut() {
            conflicts.sort();
            conflicts.dedup();
        }
        let labels = &pod["metadata"]["labels"];
        let containers: Vec<Container> = admission
            .containers
            .iter()
            .zip(all_containers(pod))
            .map(|(lists, (_, _, written))| container(lists, written, labels))
            .collect();
        let object = admission.object(&containers, labels["app"].as_str().expect("a label"));
        let is_stopped = !is_all_or_nothing(case) && presets.iter().any(|it| !admission.presets[&name(it)].0);
        // A22.
        let is_any_applied = webhook.len() > 1 && webhook.iter().any(|it| selects_pod(case, it));
        let is_open = is_stopped && presets.len() > 1 || is_any_applied;
        Self { presets: admission.presets, containers, object, is_open, orders: Vec::new() }
    }
}

fn permutations<'j>(items: &[&'j Json]) -> Vec<Vec<&'j Json>> {
    let Some((first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let rest = permutations(rest);
    let insert = |at: usize, order: &[&'j Json]| [&order[..at], &[*first], &order[at..]].concat();
    rest.iter().flat_map(|order| (0..=order.len()).map(|at| insert(at, order)).collect::<Vec<_>>()).collect()
}

fn pod_of(workload: &Json) -> &Json {
    if workload["kind"] == "Pod" { workload } else { &workload["spec"]["template"] }
}

fn name(it: &Json) -> String {
    it["metadata"]["name"].as_str().expect("a name").to_owned()
}

/// The containers in the order of the output: the list, the index in it, the container.
fn all_containers(pod: &Json) -> Vec<(&'static str, usize, &Json)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists
        .into_iter()
        .flat_map(|key| items(&pod["spec"], key).iter().enumerate().map(move |(at, it)| (key, at, it)))
        .collect()
}

fn own(json: &Json, key: &str) -> Vec<Entry> {
    items(json, key).iter().map(|it| Entry { json: it.clone(), by: None, is_written: false }).collect()
}

fn lists(pod: &Json) -> Vec<Lists> {
    let role = |key: &str, it: &Json| match key {
        "initContainers" if it["restartPolicy"] == "Always" => "sidecar",
        "initContainers" => "init",
        "containers" => "container",
        _ => "ephemeral",
    };
    let lists = |(key, _, it): (&'static str, usize, &Json)| Lists {
        name: it["name"].as_str().expect("a name").to_owned(),
        role: role(key, it),
        env: own(it, "env"),
        env_from: own(it, "envFrom"),
        mounts: own(it, "volumeMounts"),
    };
    all_containers(pod).into_iter().map(lists).collect()
}

fn has(case: &Case, minor: u32) -> bool {
    let parts = case.release.and_then(|it| it.split_once('.'));
    parts.is_none_or(|(_, it)| it.parse::<u32>().expect("a release") >= minor)
}

/// A4.
fn is_all_or_nothing(case: &Case) -> bool {
    has(case, 8) || case.proposals
}

/// A1, A2, A13, A14: whether a preset is valid, is in the namespace of the pod, and selects it.
fn fits(case: &Case, preset: &Json) -> bool {
    is_near(case, preset) && is_valid(case, preset) && selects_pod(case, preset)
}

/// A1, A2: whether presets apply to the pod at all, and this one is in its namespace.
fn is_near(case: &Case, preset: &Json) -> bool {
    let annotations = &pod_of(&case.workload)["metadata"]["annotations"];
    let is_kept_away = annotations["podpreset.admission.kubernetes.io/exclude"] == "true"
        || annotations.get("kubernetes.io/config.mirror").is_some();
    if is_kept_away && (has(case, 7) || case.proposals) {
        return false;
    }
    let (one, other) = (&preset["metadata"]["namespace"], &case.workload["metadata"]["namespace"]);
    one.is_null() || other.is_null() || one == other
}

fn selects_pod(case: &Case, preset: &Json) -> bool {
    selects(case, &preset["spec"]["selector"], &pod_of(&case.workload)["metadata"]["labels"])
}

/// The presets that select the pod and are refused: `Some(true)` certainly, `None` if the selector itself is invalid.
pub(super) fn refused(case: &Case, name: &str) -> Option<bool> {
    let preset = case.presets.iter().find(|it| it["metadata"]["name"] == name).expect("a preset");
    if is_valid(case, preset) || !is_near(case, preset) {
        return Some(false);
    }
    is_selector(preset).then(|| selects_pod(case, preset))
}

fn is_selector(preset: &Json) -> bool {
    items(&preset["spec"]["selector"], "matchExpressions").iter().all(|it| {
        match (it["operator"].as_str(), it.get("values")) {
            (Some("In" | "NotIn"), values) => values.is_some(),
            (Some("Exists" | "DoesNotExist"), values) => values.is_none(),
            _ => false,
        }
    })
}

fn is_valid(case: &Case, preset: &Json) -> bool {
    let spec = &preset["spec"];
    let there: Vec<&str> =
        ["env", "envFrom", "volumes", "volumeMounts"].into_iter().filter(|it| !items(spec, it).is_empty()).collect();
    let is_named = |list: &str, name: &Json| items(spec, list).iter().any(|it| it["name"] == *name);
    let mounts_its_own = items(spec, "volumeMounts").iter().all(|it| is_named("volumes", &it["name"]));
    let expressions = items(&spec["selector"], "matchExpressions");
    let is_accepted = !there.is_empty() && mounts_its_own && is_selector(preset);
    if preset["apiVersion"] == WEBHOOK {
        return is_accepted;
    }
    let is_unique = |list: &str, key: &str| {
        let mut all: Vec<String> = items(spec, list).iter().map(|it| it[key].to_string()).collect();
        all.sort();
        all.windows(2).all(|it| it[0] != it[1])
    };
    let is_released = is_accepted && is_unique("volumes", "name") && is_unique("volumeMounts", "mountPath");
    // PA2 to PA4: the selector is not empty, and volumes are mounted.
    let asks = !expressions.is_empty() || spec["selector"]["matchLabels"].is_object();
    let are_mounted = items(spec, "volumes").iter().all(|it| is_named("volumeMounts", &it["name"]));
    is_released && (!case.proposals || (asks && are_mounted))
}

fn selects(case: &Case, selector: &Json, labels: &Json) -> bool {
    let wanted = selector["matchLabels"].as_object();
    let all_labels = wanted.is_none_or(|it| it.iter().all(|(key, value)| labels.get(key) == Some(value)));
    all_labels
        && items(selector, "matchExpressions").iter().all(|it| {
            let key = it["key"].as_str().expect("a key");
            let value = labels.get(key);
            // A14: the controller of a Deployment adds labels to its pods.
            let is_there = value.is_some() || (key == "pod-template-hash" && case.workload["kind"] == "Deployment");
            let is_among = value.is_some_and(|value| items(it, "values").contains(value));
            match it["operator"].as_str() {
                Some("In") => is_among,
                Some("NotIn") => !is_among,
                Some("Exists") => is_there,
                _ => !is_there,
            }
        })
}

/// An entry with defaults filled in and without fields that have no effect.
fn normal(list: &str, entry: &Json) -> Json {
    let mut it = entry.clone();
    let fields = it.as_object_mut().expect("a mapping");
    fields.retain(|_, value| *value != json!("") && *value != json!(false));
    match list {
        "env" if it["valueFrom"]["fieldRef"].is_object() => it["valueFrom"]["fieldRef"]["apiVersion"] = "v1".into(),
        "env" if it["valueFrom"]["resourceFieldRef"].is_object() => {
            let source = &mut it["valueFrom"]["resourceFieldRef"];
            if source["divisor"].is_null() {
                source["divisor"] = "0".into();
            }
        }
        "volumes" => {
            if it["hostPath"].is_object() {
                it["hostPath"]["type"] = "".into();
            }
            if it["emptyDir"]["medium"] == "" || it.as_object().is_some_and(|it| it.len() == 1) {
                it["emptyDir"] = json!({});
            }
            if it["secret"].is_object() {
                it["secret"]["defaultMode"] = 420.into();
            }
        }
        _ => {}
    }
    it
}

/// A23, X7: an entry of the webhook's presets, without defaults.
fn written(list: &str, entry: &Json) -> Json {
    let mut it = entry.clone();
    it.as_object_mut().expect("a mapping").retain(|_, value| *value != json!("") && *value != json!(false));
    if list == "volumes" && it["emptyDir"]["medium"] == "" {
        it["emptyDir"] = json!({});
    }
    it
}

/// The form in which an entry is compared.
fn compared(list: &str, entry: &Entry) -> Json {
    if entry.is_written { written(list, &entry.json) } else { normal(list, &entry.json) }
}

/// A5 to A7: new entries are appended, existing ones have to be equal. A conflict has the kind, the name, the later
/// preset, and the earlier preset if the existing entry comes from one.
type Conflict = (&'static str, String, String, Option<String>);

fn merged(list: &str, keys: &[(&'static str, &str)], own: &[Entry], presets: &[&Json]) -> (Vec<Entry>, Vec<Conflict>) {
    let (mut result, mut conflicts) = (own.to_vec(), Vec::new());
    let mut known: Vec<BTreeMap<String, Entry>> = Vec::new();
    let key_of = |it: &Json, key: &str| it[key].as_str().expect("a key").to_owned();
    for (_, key) in keys {
        known.push(own.iter().map(|it| (key_of(&it.json, key), it.clone())).collect());
    }
    for preset in presets {
        for json in items(&preset["spec"], list) {
            let is_written = preset["apiVersion"] == WEBHOOK;
            let entry = Entry { json: json.clone(), by: Some(name(preset)), is_written };
            let (first, mut before_of_first) = (conflicts.len(), None::<Json>);
            for (at, (kind, key)) in keys.iter().enumerate() {
                let key = key_of(json, key);
                match known[at].get(&key) {
                    None => {
                        known[at].insert(key, entry.clone());
                        if at == 0 {
                            result.push(entry.clone());
                        }
                    }
                    Some(before) if compared(list, before) != compared(list, &entry) => {
                        // A mount that has the name and the path of another is one conflict.
                        let is_other = before_of_first.as_ref().is_none_or(|it| *it != before.json);
                        if conflicts.len() == first || is_other {
                            conflicts.push((*kind, key, name(preset), before.by.clone()));
                        }
                        before_of_first = Some(before.json.clone());
                    }
                    Some(_) => {}
                }
            }
        }
    }
    (result, conflicts)
}

const ENV: &[(&str, &str)] = &[("env", "name")];
const MOUNTS: &[(&str, &str)] = &[("mountName", "name"), ("mountPath", "mountPath")];
const VOLUMES: &[(&str, &str)] = &[("volume", "name")];

impl Admission<'_> {
    /// A9.
    fn reached(&self) -> Vec<usize> {
        let is_reached = |it: &Lists| match it.role {
            "container" => true,
            "ephemeral" => false,
            _ => has(self.case, 14),
        };
        (0..self.containers.len()).filter(|at| is_reached(&self.containers[*at])).collect()
    }

    fn note(&mut self, conflicts: Vec<Conflict>, container: Option<usize>, both: bool) -> bool {
        let is_fine = conflicts.is_empty();
        let container = container.map_or(String::new(), |at| self.containers[at].name.clone());
        for (kind, name, by, with) in conflicts {
            for preset in [Some(by.clone()), with.filter(|it| both && *it != by)].into_iter().flatten() {
                let (_, all) = self.presets.get_mut(&preset).expect("a preset that fits");
                all.push((kind.to_owned(), name.clone(), container.clone()));
            }
        }
        is_fine
    }

    fn run(&mut self, presets: &[&Json]) {
        if is_all_or_nothing(self.case) {
            self.all_or_nothing(presets);
            return;
        }
        // A4 of 1.6 and 1.7.
        for preset in presets {
            if !self.one(preset) {
                return;
            }
            self.presets.get_mut(&name(preset)).expect("it fits").0 = true;
        }
    }

    /// A20 to A22: a list with a conflict is lost. Which of several presets is applied is not known.
    fn run_webhook(&mut self, listed: &[&Json]) {
        let [last] = listed else { return };
        if !selects_pod(self.case, last) {
            return;
        }
        self.presets.insert(name(last), (false, Vec::new()));
        let (volumes, found) = merged("volumes", VOLUMES, &self.volumes, &[last]);
        self.volumes = if self.note(found, None, true) { volumes } else { Vec::new() };
        for at in (0..self.containers.len()).filter(|at| self.containers[*at].role != "ephemeral").collect::<Vec<_>>() {
            let (env, found) = merged("env", ENV, &self.containers[at].env, &[last]);
            self.containers[at].env = if self.note(found, Some(at), true) { env } else { Vec::new() };
            let (mounts, found) = merged("volumeMounts", MOUNTS, &self.containers[at].mounts, &[last]);
            self.containers[at].mounts = if self.note(found, Some(at), true) { mounts } else { Vec::new() };
            self.sources(at, &[last]);
        }
        self.presets.get_mut(&name(last)).expect("it is there").0 = true;
    }

    /// A4.
    fn all_or_nothing(&mut self, presets: &[&Json]) {
        let (volumes, found) = merged("volumes", VOLUMES, &self.volumes, presets);
        let mut is_fine = self.note(found, None, true);
        let mut after = self.containers.clone();
        let reached = self.reached();
        for at in reached.iter().copied() {
            let (env, found) = merged("env", ENV, &self.containers[at].env, presets);
            is_fine &= self.note(found, Some(at), true);
            let (mounts, found) = merged("volumeMounts", MOUNTS, &self.containers[at].mounts, presets);
            is_fine &= self.note(found, Some(at), true);
            if self.case.proposals {
                let found = self.keys_of_sources(at, presets);
                is_fine &= self.note(found, Some(at), true);
            }
            (after[at].env, after[at].mounts) = (env, mounts);
        }
        if !is_fine {
            return;
        }
        (self.volumes, self.containers) = (volumes, after);
        for at in reached {
            self.sources(at, presets);
        }
        for preset in presets {
            self.presets.get_mut(&name(preset)).expect("it fits").0 = true;
        }
    }

    fn one(&mut self, preset: &Json) -> bool {
        let reached = self.reached();
        for at in reached.iter().copied() {
            let (env, found) = merged("env", ENV, &self.containers[at].env, &[preset]);
            if !self.note(found, Some(at), false) {
                return false;
            }
            self.containers[at].env = env;
        }
        for at in reached.iter().copied() {
            self.sources(at, &[preset]);
        }
        for at in reached {
            let (mounts, found) = merged("volumeMounts", MOUNTS, &self.containers[at].mounts, &[preset]);
            if !self.note(found, Some(at), false) {
                return false;
            }
            self.containers[at].mounts = mounts;
        }
        let (volumes, found) = merged("volumes", VOLUMES, &self.volumes, &[preset]);
        if !self.note(found, None, false) {
            return false;
        }
        self.volumes = volumes;
        true
    }

    /// A8.
    fn sources(&mut self, at: usize, presets: &[&Json]) {
        let key = |it: &Json| (it["prefix"].clone(), it["configMapRef"]["name"].clone());
        let own: Vec<Entry> = self.containers[at].env_from.clone();
        let mut lost = Vec::new();
        for preset in presets {
            for it in items(&preset["spec"], "envFrom") {
                let is_written = preset["apiVersion"] == WEBHOOK;
                let same = own.iter().rev().find(|own| key(&own.json) == key(it));
                match same.filter(|_| is_written || has(self.case, 15)) {
                    Some(same) if same.json == *it => {}
                    Some(_) => {
                        let source = it["configMapRef"]["name"].as_str().expect("a name").to_owned();
                        lost.push(("envFrom", source, name(preset), None));
                    }
                    None => {
                        let (json, by) = (it.clone(), Some(name(preset)));
                        self.containers[at].env_from.push(Entry { json, by, is_written });
                    }
                }
            }
        }
        if !self.note(lost, Some(at), true) {
            self.containers[at].env_from.clear();
        }
    }

    /// PA9: `env` of one side against `envFrom` of the other.
    fn keys_of_sources(&self, at: usize, presets: &[&Json]) -> Vec<Conflict> {
        let lists = &self.containers[at];
        let mut found = Vec::new();
        let own: Vec<String> = lists.env_from.iter().flat_map(|it| given(&it.json)).map(|(name, _)| name).collect();
        for preset in presets {
            for entry in items(&preset["spec"], "env") {
                let variable = entry["name"].as_str().expect("a name").to_owned();
                if own.contains(&variable) {
                    found.push(("envFrom", variable, name(preset), None));
                }
            }
            for (variable, _) in items(&preset["spec"], "envFrom").iter().flat_map(given) {
                if lists.env.iter().any(|it| it.json["name"] == *variable) {
                    found.push(("envFrom", variable, name(preset), None));
                }
            }
        }
        found
    }

    /// The object after admission, as it is rendered.
    fn object(&self, containers: &[Container], app: &str) -> Json {
        let mut object = self.case.workload.clone();
        let written = pod_of(&self.case.workload).clone();
        let pod = if object["kind"] == "Pod" { &mut object } else { &mut object["spec"]["template"] };
        for ((lists, it), (key, index, _)) in self.containers.iter().zip(containers).zip(all_containers(&written)) {
            let target = &mut pod["spec"][key][index];
            let env: Vec<Json> =
                lists.env.iter().enumerate().map(|(at, entry)| shown(lists, at, &entry.json, app)).collect();
            put(target, "env", env);
            put(target, "envFrom", lists.env_from.iter().map(|it| it.json.clone()).collect());
            put(target, "volumeMounts", lists.mounts.iter().map(|it| it.json.clone()).collect());
            target["args"] = it.args.clone().into();
        }
        put(&mut pod["spec"], "volumes", self.volumes.iter().map(|it| it.json.clone()).collect());
        // A10, and what 1.6 wrote.
        let infix = if has(self.case, 7) || self.case.proposals { "podpreset-" } else { "" };
        for (name, _) in self.presets.iter().filter(|(_, (applied, _))| *applied) {
            let preset = self.case.presets.iter().find(|it| it["metadata"]["name"] == **name).expect("a preset");
            // X8.
            let version = preset["metadata"]["resourceVersion"].as_str().unwrap_or("resource version");
            pod["metadata"]["annotations"][format!("podpreset.admission.kubernetes.io/{infix}{name}")] = version.into();
        }
        object
    }
}

fn put(json: &mut Json, key: &str, items: Vec<Json>) {
    if items.is_empty() {
        json.as_object_mut().expect("a mapping").remove(key);
    } else {
        json[key] = items.into();
    }
}

/// An entry with its expanded value.
fn shown(lists: &Lists, at: usize, entry: &Json, app: &str) -> Json {
    match entry["value"].as_str() {
        Some(text) if text.contains('$') => with(entry.clone(), "value", value_at(lists, at, app)),
        _ => entry.clone(),
    }
}

/// The variables of an entry of `envFrom`.
fn given(source: &Json) -> Vec<(String, String)> {
    let prefix = source["prefix"].as_str().unwrap_or_default();
    let (_, data) = MAPS.iter().find(|(name, _)| source["configMapRef"]["name"] == *name).expect("a config map");
    data.iter().map(|(key, value)| (format!("{prefix}{key}"), (*value).to_owned())).collect()
}

/// The value of an entry of `env`, computed from the first entry on.
fn value_at(lists: &Lists, at: usize, app: &str) -> String {
    let mut values = Values::new(lists, app);
    let mut value = String::new();
    for entry in lists.env.iter().take(at + 1) {
        value = values.add(entry);
    }
    value
}

/// The environment while it is built (B4, B12).
struct Values<'l> {
    lists: &'l Lists,
    app: String,
    env: BTreeMap<String, (String, String)>,
    done: usize,
    unresolved: Vec<(String, String)>,
}

impl<'l> Values<'l> {
    fn new(lists: &'l Lists, app: &str) -> Self {
        let mut env = BTreeMap::new();
        for (name, value) in lists.env_from.iter().flat_map(|it| given(&it.json)) {
            env.insert(name, (value, "configMap ".to_owned()));
        }
        Self { lists, app: app.to_owned(), env, done: 0, unresolved: Vec::new() }
    }

    /// Adds the next entry, and gives its value.
    fn add(&mut self, entry: &Entry) -> String {
        let name = entry.json["name"].as_str().expect("a name").to_owned();
        let from = &entry.json["valueFrom"];
        let (value, kind) = if from["fieldRef"].is_object() {
            (self.app.clone(), "field ".to_owned())
        } else if from["resourceFieldRef"].is_object() {
            ("2".to_owned(), "resource ".to_owned())
        } else if from.is_object() {
            ("one $(A)".to_owned(), "configMap ".to_owned())
        } else {
            let kind = entry.by.as_ref().map_or("env ".to_owned(), |by| format!("preset {by}"));
            (self.expand(entry.json["value"].as_str().unwrap_or_default(), Some(&name)), kind)
        };
        self.env.insert(name, (value.clone(), kind));
        self.done += 1;
        value
    }

    /// `$$`, `$(NAME)` and text; `own` is the variable whose value it is.
    fn expand(&mut self, text: &str, own: Option<&str>) -> String {
        let (mut result, mut rest) = (String::new(), text);
        while let Some(at) = rest.find('$') {
            result.push_str(&rest[..at]);
            let behind = &rest[at + 1..];
            if let Some(behind) = behind.strip_prefix('$') {
                result.push('$');
                rest = behind;
            } else {
                let (name, behind) = behind.strip_prefix('(').and_then(|it| it.split_once(')')).expect("a reference");
                match self.env.get(name) {
                    Some((value, _)) => result.push_str(value),
                    None => {
                        result.push_str(&format!("$({name})"));
                        let mut later = self.lists.env.iter().skip(self.done).map(|it| &it.json["name"]);
                        let why = match own {
                            Some(own) if own == name => "self",
                            Some(_) if later.any(|it| it == name) => "forward",
                            _ => "undefined",
                        };
                        self.unresolved.push((name.to_owned(), why.to_owned()));
                    }
                }
                rest = behind;
            }
        }
        result.push_str(rest);
        result
    }
}

fn container(lists: &Lists, written: &Json, labels: &Json) -> Container {
    let app = labels["app"].as_str().expect("a label");
    let mut values = Values::new(lists, app);
    for entry in &lists.env {
        values.add(entry);
    }
    let args: Vec<String> =
        items(written, "args").iter().map(|it| values.expand(it.as_str().expect("a text"), None)).collect();
    values.unresolved.sort();
    Container { role: lists.role, env: values.env, args, unresolved: values.unresolved }
}
