//! Random pods with the objects they refer to.

use super::spelling::{Node, string};

/// Random numbers that are the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((it ^ (it >> 31)) % end as u64).expect("below the end")
    }

    pub(super) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(super) fn many<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }
}

/// Names that are equal to each other, to service variables, or to nothing.
const NAMES: &[&str] = &[
    "A",
    "B",
    "C",
    "D",
    "a.b",
    "REDIS_SERVICE_HOST",
    "REDIS_SERVICE_PORT",
    "REDIS_PORT",
    "FOO_SERVICE_PORT",
    "GHOST_SERVICE_HOST",
    "DB_PORT_80_TCP_ADDR",
    "KUBERNETES_SERVICE_PORT",
    "PRE_A",
    "PRE_B",
];
const KEYS: &[&str] = &["A", "B", "C", "a.b", "1x", "REDIS_PORT", "REDIS_SERVICE_HOST"];
const TEXTS: &[&str] = &["", "one", "two words", "$(A)", "$$", "a: b # c", "it's", "line\nline\n", "é€", "8080", "yes"];
const NAMESPACES: &[Option<&str>] = &[None, Some("ns1"), Some("ns2")];

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) release: Option<&'static str>,
    pub(super) kind: &'static str,
    pub(super) namespace: Option<&'static str>,
    pub(super) links: Option<bool>,
    pub(super) limits: Vec<(&'static str, &'static str)>,
    /// The CPU limit of the pod.
    pub(super) pod_limit: Option<&'static str>,
    /// The CPU limit of the init container `prepare`.
    pub(super) init_limit: Option<&'static str>,
    pub(super) env_from: Vec<EnvFrom>,
    pub(super) env: Vec<(&'static str, From)>,
    /// Whether `env` has an entry `{}`, which is refused and changes nothing (X6).
    pub(super) has_empty_entry: bool,
    pub(super) command: Vec<String>,
    pub(super) args: Vec<String>,
    pub(super) probe: Vec<String>,
    pub(super) sub_path: Option<String>,
    pub(super) sources: Vec<Source>,
    pub(super) services: Vec<Service>,
}

#[derive(Clone, Debug)]
pub(super) struct EnvFrom {
    pub(super) secret: bool,
    pub(super) name: &'static str,
    pub(super) prefix: &'static str,
    pub(super) optional: bool,
    pub(super) flaw: Option<Flaw>,
}

/// Why the API server refuses an entry of `envFrom`; an invalid prefix is another reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// `{}`
    Empty,
    /// A `service` beside the object.
    SecondSource,
}

#[derive(Clone, Debug)]
pub(super) enum From {
    Value(String),
    /// An entry without `value`.
    Nothing,
    Field(&'static str),
    Resource {
        resource: &'static str,
        divisor: Option<&'static str>,
        container: Option<&'static str>,
    },
    Key {
        secret: bool,
        name: &'static str,
        key: &'static str,
        optional: bool,
    },
}

/// A ConfigMap or Secret.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) secret: bool,
    pub(super) name: &'static str,
    pub(super) namespace: Option<&'static str>,
    pub(super) data: Vec<(&'static str, &'static str)>,
}

#[derive(Clone, Debug)]
pub(super) struct Service {
    pub(super) name: &'static str,
    pub(super) namespace: Option<&'static str>,
    pub(super) address: Option<&'static str>,
    pub(super) external: bool,
    pub(super) ports: Vec<(Option<&'static str>, i64, Option<&'static str>)>,
}

impl Case {
    pub(super) fn random(random: &mut Random) -> Self {
        let mut sources = random.many(4, source);
        let mut services = random.many(4, service);
        // Only one object of each kind and name in a namespace.
        let mut seen = Vec::new();
        sources.retain(|it| first(&mut seen, (it.secret, it.name, it.namespace)));
        let mut seen = Vec::new();
        services.retain(|it| first(&mut seen, (false, it.name, it.namespace)));
        Self {
            release: random.pick(&[None, None, Some("1.29"), Some("1.33"), Some("1.35"), Some("1.35.0")]),
            kind: random.pick(&["Pod", "Deployment", "Job"]),
            namespace: random.pick(NAMESPACES),
            links: random.pick(&[None, None, Some(true), Some(false)]),
            limits: random.pick(&[
                vec![],
                vec![("cpu", "1500m"), ("memory", "1Gi")],
                vec![("cpu", "0"), ("memory", "0")],
            ]),
            pod_limit: random.pick(&[None, Some("3"), Some("0")]),
            init_limit: random.pick(&[None, Some("2"), Some("0")]),
            env_from: random.many(3, |random| EnvFrom {
                secret: random.one_in(2),
                name: random.pick(&["one", "one", "two", "gone"]),
                prefix: random.pick(&["", "", "", "PRE_", "PRE_", "A="]),
                optional: random.one_in(3),
                flaw: random.pick(&[None, None, None, None, Some(Flaw::Empty), Some(Flaw::SecondSource)]),
            }),
            env: random.many(8, |random| (random.pick(NAMES), from(random))),
            has_empty_entry: random.one_in(8),
            command: command(random),
            args: random.many(3, text),
            probe: command(random),
            sub_path: random.one_in(2).then(|| text(random)).filter(|it| !it.is_empty()),
            sources,
            services,
        }
    }

    /// The manifests.
    pub(super) fn objects(&self) -> Vec<Node> {
        let texts = |all: &[String]| Node::List(all.iter().map(string).collect());
        let mut container = vec![("name", string("main")), ("image", string("registry.example/app:1"))];
        if !self.env_from.is_empty() {
            container.push(("envFrom", Node::List(self.env_from.iter().map(EnvFrom::node).collect())));
        }
        let empty = self.has_empty_entry.then(|| Node::Map(Vec::new()));
        let env: Vec<Node> = empty.into_iter().chain(self.env.iter().map(|(name, from)| entry(name, from))).collect();
        if !env.is_empty() {
            container.push(("env", Node::List(env)));
        }
        if !self.command.is_empty() {
            container.push(("command", texts(&self.command)));
        }
        container.push(("args", texts(&self.args)));
        if !self.probe.is_empty() {
            let exec = Node::Map(vec![("command", texts(&self.probe))]);
            container.push(("livenessProbe", Node::Map(vec![("exec", exec)])));
        }
        if let Some(path) = &self.sub_path {
            let mount = vec![("name", string("data")), ("mountPath", string("/data")), ("subPathExpr", string(path))];
            container.push(("volumeMounts", Node::List(vec![Node::Map(mount)])));
        }
        let limits = self.limits.iter().map(|(name, amount)| ((*name).to_owned(), string(*amount))).collect();
        container.push(("resources", Node::Map(vec![("limits", Node::Data(limits))])));
        let cpu = |limit: Option<&str>| {
            let limits = limit.iter().map(|it| ("cpu".to_owned(), string(*it))).collect();
            ("resources", Node::Map(vec![("limits", Node::Data(limits))]))
        };
        let init = vec![("name", string("prepare")), ("image", string("busybox")), cpu(self.init_limit)];
        let mut spec = vec![
            ("initContainers", Node::List(vec![Node::Map(init)])),
            ("containers", Node::List(vec![Node::Map(container)])),
            cpu(self.pod_limit),
        ];
        if let Some(links) = self.links {
            spec.push(("enableServiceLinks", Node::Bool(links)));
        }
        let spec = Node::Map(spec);
        let labels = ("labels", Node::Data(vec![("app".into(), string("shop"))]));
        let mut metadata = metadata("web", self.namespace);
        let (api_version, spec) = match self.kind {
            "Pod" => {
                metadata.push(labels);
                ("v1", spec)
            }
            kind => {
                let template = Node::Map(vec![("metadata", Node::Map(vec![labels])), ("spec", spec)]);
                (if kind == "Job" { "batch/v1" } else { "apps/v1" }, Node::Map(vec![("template", template)]))
            }
        };
        let mut objects = vec![object(api_version, self.kind, metadata, vec![("spec", spec)])];
        objects.extend(self.sources.iter().map(Source::node));
        objects.extend(self.services.iter().map(Service::node));
        objects
    }
}

fn first<T: PartialEq>(seen: &mut Vec<T>, it: T) -> bool {
    let new = !seen.contains(&it);
    seen.push(it);
    new
}

fn source(random: &mut Random) -> Source {
    let mut data = random.many(4, |random| (random.pick(KEYS), random.pick(TEXTS)));
    let mut seen = Vec::new();
    data.retain(|(key, _)| first(&mut seen, *key));
    Source { secret: random.one_in(2), name: random.pick(&["one", "two"]), namespace: random.pick(NAMESPACES), data }
}

fn service(random: &mut Random) -> Service {
    let mut ports = vec![(None, 0, None); 1 + random.below(3)];
    for port in &mut ports {
        *port = (
            random.pick(&[None, Some("http"), Some("dns-udp")]),
            random.pick(&[80, 443, 53]),
            random.pick(&[None, Some("TCP"), Some("UDP"), Some("SCTP")]),
        );
    }
    Service {
        name: random.pick(&["redis", "db", "foo", "foo-service"]),
        namespace: random.pick(NAMESPACES),
        address: random.pick(&[None, Some("10.0.0.7"), Some("10.0.0.8"), Some("2001:DB8::"), Some("None")]),
        external: random.one_in(6),
        ports,
    }
}

fn from(random: &mut Random) -> From {
    match random.below(10) {
        0 => From::Nothing,
        1 => From::Field(random.pick(&[
            "metadata.name",
            "metadata.namespace",
            "metadata.labels['app']",
            "metadata.labels['none']",
            "status.podIP",
            "spec.serviceAccountName",
        ])),
        2 => From::Resource {
            resource: random.pick(&[
                "limits.cpu",
                "limits.memory",
                "limits.hugepages-2Mi",
                "requests.ephemeral-storage",
            ]),
            divisor: random.pick(DIVISORS),
            container: random.pick(&[None, Some("main"), Some("prepare")]),
        },
        3 | 4 => From::Key {
            secret: random.one_in(2),
            name: random.pick(&["one", "one", "one", "two", "two", "gone", REFUSED_NAME]),
            key: random.pick(KEYS),
            optional: random.one_in(2),
        },
        _ => From::Value(text(random)),
    }
}

/// A name that the API server refuses in a reference to a key (X6).
pub(super) const REFUSED_NAME: &str = "one-";

const DIVISORS: &[Option<&str>] =
    &[None, Some("0"), Some("1m"), Some("1Mi"), Some("1000m"), Some("1024"), Some("1e3"), Some("01"), Some("1.")];

/// A text with many dollar signs.
fn text(random: &mut Random) -> String {
    let parts = random.many(5, |random| match random.below(8) {
        0 => random.pick(&["$$", "$", "$(", ")", "$x", "${A}", "$é", "$( A )", "$()"]).to_owned(),
        1 => random.pick(TEXTS).to_owned(),
        2 => random.pick(&["-", "/", "x", " ", "..", "/.."]).to_owned(),
        _ => format!("$({})", random.pick(NAMES)),
    });
    parts.concat()
}

fn command(random: &mut Random) -> Vec<String> {
    match random.below(4) {
        0 => Vec::new(),
        1 => vec!["/bin/sh".into(), "-ec".into(), format!("echo {}", text(random)), text(random)],
        _ => vec!["serve".into(), text(random)],
    }
}

fn metadata(name: &str, namespace: Option<&str>) -> Vec<(&'static str, Node)> {
    let mut metadata = vec![("name", string(name))];
    metadata.extend(namespace.map(|it| ("namespace", string(it))));
    metadata
}

fn object(api_version: &str, kind: &str, metadata: Vec<(&'static str, Node)>, rest: Vec<(&'static str, Node)>) -> Node {
    let mut all = vec![("apiVersion", string(api_version)), ("kind", string(kind)), ("metadata", Node::Map(metadata))];
    all.extend(rest);
    Node::Map(all)
}

fn entry(name: &str, from: &From) -> Node {
    let mut all = vec![("name", string(name))];
    let source = |name, fields| Some(("valueFrom", Node::Map(vec![(name, Node::Map(fields))])));
    all.extend(match from {
        From::Nothing => None,
        From::Value(text) => Some(("value", string(text))),
        From::Field(path) => source("fieldRef", vec![("fieldPath", string(*path))]),
        From::Resource { resource, divisor, container } => {
            let mut fields = vec![("resource", string(*resource))];
            fields.extend(container.map(|it| ("containerName", string(it))));
            fields.extend(divisor.map(|it| ("divisor", string(it))));
            source("resourceFieldRef", fields)
        }
        From::Key { secret, name, key, optional } => {
            let mut fields = vec![("name", string(*name)), ("key", string(*key))];
            if *optional {
                fields.push(("optional", Node::Bool(true)));
            }
            source(if *secret { "secretKeyRef" } else { "configMapKeyRef" }, fields)
        }
    });
    Node::Map(all)
}

impl EnvFrom {
    fn node(&self) -> Node {
        let mut all = Vec::new();
        if self.flaw == Some(Flaw::Empty) {
            return Node::Map(all);
        }
        if self.flaw == Some(Flaw::SecondSource) {
            all.push(("service", Node::Map(vec![("name", string("redis"))])));
        }
        if !self.prefix.is_empty() {
            all.push(("prefix", string(self.prefix)));
        }
        let mut fields = vec![("name", string(self.name))];
        if self.optional {
            fields.push(("optional", Node::Bool(true)));
        }
        all.push((if self.secret { "secretRef" } else { "configMapRef" }, Node::Map(fields)));
        Node::Map(all)
    }
}

impl Source {
    fn node(&self) -> Node {
        let data = |encode: &dyn Fn(&str) -> String| {
            Node::Data(self.data.iter().map(|(key, value)| ((*key).to_owned(), string(encode(value)))).collect())
        };
        let metadata = metadata(self.name, self.namespace);
        match (self.secret, self.data.len() % 2) {
            (false, _) => object("v1", "ConfigMap", metadata, vec![("data", data(&str::to_owned))]),
            (true, 0) => object("v1", "Secret", metadata, vec![("stringData", data(&str::to_owned))]),
            (true, _) => object("v1", "Secret", metadata, vec![("data", data(&base64))]),
        }
    }
}

impl Service {
    fn node(&self) -> Node {
        let port = |(name, port, protocol): &(Option<&str>, i64, Option<&str>)| {
            let mut all = vec![("port", Node::Int(*port))];
            all.extend(name.map(|it| ("name", string(it))));
            all.extend(protocol.map(|it| ("protocol", string(it))));
            Node::Map(all)
        };
        let mut spec = vec![("ports", Node::List(self.ports.iter().map(port).collect()))];
        if self.external {
            spec.push(("type", string("ExternalName")));
        } else {
            spec.extend(self.address.map(|it| ("clusterIP", string(it))));
        }
        object("v1", "Service", metadata(self.name, self.namespace), vec![("spec", Node::Map(spec))])
    }
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut result = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            result.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    result
}
