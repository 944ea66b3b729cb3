//! The reference: the facts of `docs/spec/kubernetes.md`, as simple as possible. `None` is a value that is not fully
//! known.

use std::collections::BTreeMap;

use super::case::{Case, From, Service, Source};

type Known = Option<String>;

/// The expected environment of a container.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// Value, kind of its source, kinds of the sources that it hides.
    pub(super) env: BTreeMap<String, (Known, String, Vec<String>)>,
    pub(super) command: Vec<Known>,
    pub(super) probe: Vec<Known>,
    pub(super) sub_paths: Vec<Known>,
    pub(super) unresolved: Vec<(String, String)>,
}

/// The meaning of a name.
enum Meaning {
    Value(Known),
    Unknown,
    Stays,
}

impl Expected {
    pub(super) fn of(case: &Case) -> Self {
        let world = World { case };
        let services = world.services();
        let mut table: BTreeMap<String, (Known, String, Vec<String>)> = BTreeMap::new();
        let set = |table: &mut BTreeMap<_, (Known, String, Vec<String>)>, name: &str, value: Known, kind: &str| {
            let before = table.get(name).map(|(_, kind, hides)| (kind.clone(), hides.clone()));
            let before = before.or_else(|| services.contains_key(name).then(|| ("service".to_owned(), Vec::new())));
            let hides = before.map_or(Vec::new(), |(kind, hides)| [vec![kind], hides].concat());
            table.insert(name.to_owned(), (value, kind.to_owned(), hides));
        };
        // B6 to B10.
        for from in &case.env_from {
            let kind = if from.secret { "secret" } else { "configMap" };
            let mut given: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for source in world.sources(from.secret, from.name) {
                for (key, value) in &source.data {
                    given.entry(key).or_default().push(value);
                }
            }
            for (key, values) in given {
                let name = format!("{}{key}", from.prefix);
                let skipped = case.release == Some("1.29") && name.starts_with(|it: char| it.is_ascii_digit());
                if !skipped {
                    set(&mut table, &name, agreed(&values), kind);
                }
            }
        }
        let mut unresolved = Vec::new();
        // B12 to B18.
        for (at, (name, from)) in case.env.iter().enumerate() {
            match from {
                From::Nothing => set(&mut table, name, Some(String::new()), "env"),
                From::Value(text) => {
                    let value = world.expand(text, |wanted| {
                        if let Some((value, ..)) = table.get(wanted) {
                            return Meaning::Value(value.clone());
                        }
                        if let Some(value) = services.get(wanted) {
                            return Meaning::Value(value.clone());
                        }
                        if world.may_exist(wanted) {
                            return Meaning::Unknown;
                        }
                        let later = case.env[at..].iter().any(|(it, from)| *it == wanted && world.is_there(from));
                        let why = match later {
                            true if *name == wanted => "self",
                            true => "forward",
                            false => world.why_undefined(wanted),
                        };
                        unresolved.push((wanted.to_owned(), why.to_owned()));
                        Meaning::Stays
                    });
                    set(&mut table, name, value, "env");
                }
                From::Field(path) => set(&mut table, name, world.field(path), "field"),
                From::Resource(resource, divisor) => {
                    set(&mut table, name, world.resource(resource, *divisor), "resource");
                }
                From::Key { secret, .. } => {
                    if world.is_there(from) {
                        set(&mut table, name, world.key(from), if *secret { "secret" } else { "configMap" });
                    }
                }
            }
        }
        let mut env = table.clone();
        for (name, value) in &services {
            env.entry(name.clone()).or_insert((value.clone(), "service".into(), Vec::new()));
        }
        // P2 and P4.
        let mut line = |text: &str, is_script: bool| {
            world.expand(text, |wanted| match env.get(wanted) {
                Some((value, ..)) => Meaning::Value(value.clone()),
                None if world.may_exist(wanted) => Meaning::Unknown,
                None => {
                    if !is_script {
                        unresolved.push((wanted.to_owned(), world.why_undefined(wanted).into()));
                    }
                    Meaning::Stays
                }
            })
        };
        let is_shell = case.command.first().is_some_and(|it| it == "/bin/sh");
        let items = case.command.iter().chain(&case.args);
        let command = items.enumerate().map(|(at, text)| line(text, is_shell && at == 2)).collect();
        let sub_paths = case.sub_path.iter().map(|it| line(it, false)).collect();
        // P3.
        let raw: BTreeMap<&str, &str> = case
            .env
            .iter()
            .map(|(name, from)| (*name, if let From::Value(text) = from { text.as_str() } else { "" }))
            .collect();
        let is_shell = case.probe.first().is_some_and(|it| it == "/bin/sh");
        let mut probe = Vec::new();
        for (at, text) in case.probe.iter().enumerate() {
            probe.push(world.expand(text, |wanted| match raw.get(wanted) {
                Some(value) => Meaning::Value(Some((*value).to_owned())),
                None => {
                    if !(is_shell && at == 2) {
                        let is_seen = env.contains_key(wanted) || world.may_exist(wanted);
                        let why = if is_seen { "probe" } else { "undefined" };
                        unresolved.push((wanted.to_owned(), why.into()));
                    }
                    Meaning::Stays
                }
            }));
        }
        unresolved.sort();
        Self { env, command, probe, sub_paths, unresolved }
    }
}

struct World<'c> {
    case: &'c Case,
}

impl World<'_> {
    fn is_visible(&self, namespace: Option<&str>) -> bool {
        namespace.is_none() || self.case.namespace.is_none() || namespace == self.case.namespace
    }

    fn sources(&self, secret: bool, name: &str) -> Vec<&Source> {
        let fits = |it: &&Source| it.secret == secret && it.name == name && self.is_visible(it.namespace);
        self.case.sources.iter().filter(fits).collect()
    }

    fn links(&self) -> bool {
        self.case.links.unwrap_or(true)
    }

    fn visible_services(&self) -> Vec<&Service> {
        self.case.services.iter().filter(|it| self.links() && self.is_visible(it.namespace)).collect()
    }

    /// S1 to S10.
    fn services(&self) -> BTreeMap<String, Known> {
        let mut given: BTreeMap<String, Vec<Known>> = BTreeMap::new();
        let default = Service {
            name: "kubernetes",
            namespace: Some("default"),
            address: None,
            external: false,
            ports: vec![(Some("https"), 443, None)],
        };
        for service in self.visible_services().into_iter().chain([&default]) {
            for (name, value) in variables(service) {
                given.entry(name).or_default().push(value);
            }
        }
        let one = |values: Vec<Known>| match values.iter().all(|it| *it == values[0]) {
            true => values[0].clone(),
            false => None,
        };
        given.into_iter().map(|(name, values)| (name, one(values))).collect()
    }

    /// The service whose variable has this name.
    fn service_of(name: &str) -> Option<&'static str> {
        match name {
            "REDIS_SERVICE_HOST" | "REDIS_SERVICE_PORT" => Some("redis"),
            "FOO_SERVICE_PORT" => Some("foo"),
            "GHOST_SERVICE_HOST" => Some("ghost"),
            "DB_PORT_80_TCP_ADDR" => Some("db"),
            _ => None,
        }
    }

    /// Why a name that nothing defines is not defined: S1, unless the service has no address (S3).
    fn why_undefined(&self, name: &str) -> &'static str {
        let has_no_address = |it: &Service| it.external || it.address == Some("None");
        let is_headless = |service: &str| {
            // `FOO_SERVICE_PORT` is also a variable of the service `foo-service`.
            let names = if name == "FOO_SERVICE_PORT" { vec![service, "foo-service"] } else { vec![service] };
            let fits = |it: &&Service| names.contains(&it.name) && self.is_visible(it.namespace);
            self.case.services.iter().filter(fits).any(has_no_address)
        };
        let with_links = self.case.services.iter().filter(|it| self.is_visible(it.namespace));
        let is_given = with_links.flat_map(variables).any(|(it, _)| it == name);
        match Self::service_of(name) {
            _ if !self.links() && is_given => "linksOff",
            Some(service) if !self.links() && !is_headless(service) => "linksOff",
            _ => "undefined",
        }
    }

    /// Whether an unknown service or object may define a name.
    fn may_exist(&self, name: &str) -> bool {
        let service = Self::service_of(name);
        let is_here = |name| self.visible_services().iter().any(|it| it.name == name);
        let by_service = self.links() && service.is_some_and(|it| !is_here(it));
        let by_source = self.case.env_from.iter().any(|from| {
            let key = name.strip_prefix(from.prefix).unwrap_or("");
            let is_key = !key.is_empty() && key.chars().all(|it| it.is_ascii_alphanumeric() || "-._".contains(it));
            is_key && self.sources(from.secret, from.name).is_empty()
        });
        by_service || by_source
    }

    /// B17: whether an entry defines its name.
    fn is_there(&self, from: &From) -> bool {
        let From::Key { secret, name, key, optional } = from else { return true };
        let sources = self.sources(*secret, name);
        let has = |it: &&Source| it.data.iter().any(|(it, _)| it == key);
        sources.is_empty() || sources.iter().any(has) || !optional
    }

    fn key(&self, from: &From) -> Known {
        let From::Key { secret, name, key, .. } = from else { return None };
        let sources = self.sources(*secret, name);
        let values: Vec<&str> =
            sources.iter().flat_map(|it| &it.data).filter(|(it, _)| it == key).map(|(_, value)| *value).collect();
        agreed(&values)
    }

    /// B21 to B23.
    fn field(&self, path: &str) -> Known {
        match path {
            "metadata.name" => (self.case.kind == "Pod").then(|| "web".to_owned()),
            "metadata.namespace" => self.case.namespace.map(str::to_owned),
            "metadata.labels['app']" => Some("shop".into()),
            "metadata.labels['none']" => Some(String::new()),
            "spec.serviceAccountName" => Some("default".into()),
            _ => None,
        }
    }

    /// B24, computed by hand for 1500m of CPU and 1Gi of memory.
    fn resource(&self, resource: &str, divisor: Option<&str>) -> Known {
        if resource.starts_with("requests.") {
            return Some("0".into());
        }
        if self.case.limits.is_empty() {
            return None;
        }
        let amount = match (resource, divisor) {
            ("limits.cpu", None | Some("0")) => "2",
            ("limits.cpu", Some("1m")) => "1500",
            ("limits.cpu", Some("1Mi")) => "1",
            ("limits.memory", None | Some("0")) => "1073741824",
            // A divisor below one is treated as one.
            ("limits.memory", Some("1m")) => "1073741824",
            ("limits.memory", Some("1Mi")) => "1024",
            _ => panic!("not computed: {resource} {divisor:?}"),
        };
        Some(amount.into())
    }

    /// E1 to E15, on bytes.
    fn expand(&self, text: &str, mut lookup: impl FnMut(&str) -> Meaning) -> Known {
        let fixed = !matches!(self.case.release, Some("1.29" | "1.33" | "1.35.0"));
        let bytes = text.as_bytes();
        let mut out: Vec<u8> = Vec::new();
        let mut known = true;
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] != b'$' || at + 1 == bytes.len() {
                out.push(bytes[at]);
                at += 1;
                continue;
            }
            match bytes[at + 1] {
                b'$' => {
                    out.push(b'$');
                    at += 2;
                }
                b'(' => match text[at + 2..].find(')') {
                    None => {
                        out.extend(b"$(");
                        at += 2;
                    }
                    Some(length) => {
                        let name = &text[at + 2..at + 2 + length];
                        match lookup(name) {
                            Meaning::Value(Some(value)) => out.extend(value.bytes()),
                            Meaning::Value(None) | Meaning::Unknown => known = false,
                            Meaning::Stays => out.extend(format!("$({name})").bytes()),
                        }
                        at += length + 3;
                    }
                },
                other => {
                    out.push(b'$');
                    if fixed {
                        out.push(other);
                    } else {
                        out.extend(char::from(other).to_string().bytes());
                    }
                    at += 2;
                }
            }
        }
        known.then(|| String::from_utf8_lossy(&out).into_owned())
    }
}

fn agreed(values: &[&str]) -> Known {
    let first = values.first()?;
    values.iter().all(|it| it == first).then(|| (*first).to_owned())
}

/// S3 to S8 for one service.
fn variables(service: &Service) -> BTreeMap<String, Known> {
    let mut all = BTreeMap::new();
    if service.external || service.address == Some("None") {
        return all;
    }
    let prefix = service.name.to_uppercase().replace('-', "_");
    let host = service.address.map(str::to_owned);
    let url = |protocol: &str, port: i64| {
        host.as_ref().map(|host| {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            format!("{}://{host}:{port}", protocol.to_lowercase())
        })
    };
    let (_, first, protocol) = service.ports[0];
    all.insert(format!("{prefix}_SERVICE_HOST"), host.clone());
    all.insert(format!("{prefix}_SERVICE_PORT"), Some(first.to_string()));
    for (name, port, _) in &service.ports {
        if let Some(name) = name {
            let name = name.to_uppercase().replace('-', "_");
            all.insert(format!("{prefix}_SERVICE_PORT_{name}"), Some(port.to_string()));
        }
    }
    all.insert(format!("{prefix}_PORT"), url(protocol.unwrap_or("TCP"), first));
    for (_, port, protocol) in &service.ports {
        let protocol = protocol.unwrap_or("TCP");
        let link = format!("{prefix}_PORT_{port}_{protocol}");
        all.insert(link.clone(), url(protocol, *port));
        all.insert(format!("{link}_PROTO"), Some(protocol.to_lowercase()));
        all.insert(format!("{link}_PORT"), Some(port.to_string()));
        all.insert(format!("{link}_ADDR"), host.clone());
    }
    all
}
