//! The reference: the facts of `docs/spec/kubernetes.md`, as simple as possible. `None` is a value that is not fully
//! known.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, EnvFrom, Flaw, From, REFUSED_NAME, Service, Source};

type Known = Option<String>;
/// Value, kind of its source, kinds of the sources that it hides.
type Environment = BTreeMap<String, (Known, String, Vec<String>)>;

/// The expected environment of a container.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) env: Environment,
    pub(super) command: Vec<Known>,
    pub(super) probe: Vec<Known>,
    pub(super) sub_paths: Vec<Known>,
    pub(super) unresolved: Vec<(String, String)>,
    /// What the API server or the kubelet refuses: names, sorted.
    pub(super) refused: Vec<String>,
}

/// The mark of a part that is not known.
const UNKNOWN: &str = "\0";

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
        let mut table: Environment = BTreeMap::new();
        let set = |table: &mut Environment, name: &str, value: Known, kind: &str| {
            let before = table.get(name).map(|(_, kind, hides)| (kind.clone(), hides.clone()));
            let before = before.or_else(|| services.contains_key(name).then(|| ("service".to_owned(), Vec::new())));
            let hides = before.map_or(Vec::new(), |(kind, hides)| [vec![kind], hides].concat());
            table.insert(name.to_owned(), (value, kind.to_owned(), hides));
        };
        // B6 to B10.
        for from in case.env_from.iter().filter(|it| !is_refused(it)) {
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
        let for_shell = world.script_inputs();
        let shown = |value: &Known| value.clone().unwrap_or_else(|| UNKNOWN.into());
        // The values with a mark for each part that is not known.
        let mut marked: BTreeMap<String, String> =
            table.iter().map(|(name, (value, ..))| (name.clone(), shown(value))).collect();
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
                        // A shell reads the rest of the value. `$()` is text.
                        if later || !for_shell.contains(*name) && !wanted.trim().is_empty() && !is_foreign(wanted) {
                            unresolved.push((wanted.to_owned(), why.to_owned()));
                        }
                        Meaning::Stays
                    });
                    set(&mut table, name, value, "env");
                    let text = world.expand(text, |wanted| match (marked.get(wanted), services.get(wanted)) {
                        (Some(value), _) => Meaning::Value(Some(value.clone())),
                        (None, Some(value)) => Meaning::Value(Some(shown(value))),
                        (None, None) if world.may_exist(wanted) => Meaning::Value(Some(UNKNOWN.into())),
                        (None, None) => Meaning::Stays,
                    });
                    marked.extend(text.map(|it| ((*name).to_owned(), it)));
                    continue;
                }
                From::Field(path) => set(&mut table, name, world.field(path), "field"),
                From::Resource { resource, divisor, container } => {
                    set(&mut table, name, world.resource(resource, *divisor, *container), "resource");
                }
                From::Key { secret, .. } => {
                    if world.is_there(from) {
                        set(&mut table, name, world.key(from), if *secret { "secret" } else { "configMap" });
                    }
                }
            }
            marked.extend(table.get(*name).map(|(value, ..)| ((*name).to_owned(), shown(value))));
        }
        let mut env = table.clone();
        for (name, value) in &services {
            env.entry(name.clone()).or_insert((value.clone(), "service".into(), Vec::new()));
        }
        // P2 and P4.
        let mut line = |text: &str, is_path: bool, is_script: bool| {
            // The image decides what runs: a first argument with spaces may be its script, and a word there a command.
            let is_constant = |it: &str| it.bytes().all(|it| matches!(it, b'A'..=b'Z' | b'0'..=b'9' | b'_'));
            let is_entry_point = !is_path && case.command.is_empty() && case.args.first().is_some_and(|it| it == text);
            let may_be_script = is_entry_point && !text.starts_with('-') && has_space_outside_references(text);
            world.expand(text, |wanted| match env.get(wanted) {
                Some((value, ..)) => Meaning::Value(value.clone()),
                None if world.may_exist(wanted) => Meaning::Unknown,
                None => {
                    let is_meant = !is_script && !wanted.trim().is_empty() && (!may_be_script || is_constant(wanted));
                    if (is_path || is_meant) && !is_foreign(wanted) {
                        unresolved.push((wanted.to_owned(), world.why_undefined(wanted).into()));
                    }
                    Meaning::Stays
                }
            })
        };
        let is_shell = case.command.first().is_some_and(|it| it == "/bin/sh");
        let items = case.command.iter().chain(&case.args);
        let command = items.enumerate().map(|(at, text)| line(text, false, is_shell && at == 2)).collect();
        let sub_paths: Vec<Known> = case.sub_path.iter().map(|it| line(it, true, false)).collect();
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
                Some(value) => {
                    // The container has a value, and the probe has none.
                    let has_value = env.get(wanted).is_some_and(|(it, ..)| it.as_deref() != Some(""));
                    if value.is_empty() && has_value {
                        unresolved.push((wanted.to_owned(), "probe".into()));
                    }
                    Meaning::Value(Some((*value).to_owned()))
                }
                None => {
                    let is_script = is_shell && at == 2;
                    let is_word = wanted.bytes().any(|it| it.is_ascii_lowercase());
                    let why = match env.contains_key(wanted) {
                        true if is_script && is_word => None,
                        true => Some("probe"),
                        false if is_script || wanted.trim().is_empty() || is_foreign(wanted) => None,
                        // Whether or not it exists. What a refused entry gives the container is not known.
                        false if world.may_exist(wanted) => (!world.may_be_of_refused(wanted)).then_some("probe"),
                        false => Some("undefined"),
                    };
                    unresolved.extend(why.map(|it| (wanted.to_owned(), it.to_owned())));
                    Meaning::Stays
                }
            }));
        }
        unresolved.sort();
        let refused = world.refused(&env, &marked, &sub_paths);
        Self { env, command, probe, sub_paths, unresolved, refused }
    }
}

/// Whether a name has an expression of another program in it.
fn is_foreign(name: &str) -> bool {
    name.contains("${")
}

/// Whether a text has a space that is not in a reference.
fn has_space_outside_references(text: &str) -> bool {
    let (mut rest, mut outside) = (text, String::new());
    while let Some(at) = rest.find('$') {
        outside.push_str(&rest[..at]);
        let end = match rest[at + 1..].chars().next() {
            Some('$') => Some(at + 2),
            Some('(') => rest[at..].find(')').map(|it| at + it + 1),
            _ => Some(at + 1),
        };
        let Some(end) = end else { break };
        rest = &rest[end..];
    }
    outside.push_str(rest);
    outside.contains(char::is_whitespace)
}

/// V5, V6, X6: whether the API server refuses an entry of `envFrom`.
fn is_refused(from: &EnvFrom) -> bool {
    from.flaw.is_some() || from.prefix == "A="
}

fn refused_name(from: &EnvFrom) -> String {
    if from.flaw == Some(Flaw::Empty) { "envFrom".to_owned() } else { from.name.to_owned() }
}

struct World<'c> {
    case: &'c Case,
}

impl World<'_> {
    /// The variables whose values become part of a script.
    fn script_inputs(&self) -> BTreeSet<String> {
        let case = self.case;
        let items: Vec<&String> = case.command.iter().chain(&case.args).collect();
        let scripts = [items, case.probe.iter().collect()].into_iter();
        let scripts = scripts.filter(|it| it.first().is_some_and(|it| *it == "/bin/sh"));
        let mut open: Vec<&str> = scripts.filter_map(|it| it.get(2).map(|it| it.as_str())).collect();
        let mut found = BTreeSet::new();
        while let Some(text) = open.pop() {
            self.expand(text, |wanted| {
                if found.insert(wanted.to_owned()) {
                    for (_, from) in case.env.iter().filter(|(it, _)| *it == wanted) {
                        open.extend(if let From::Value(text) = from { Some(text.as_str()) } else { None });
                    }
                }
                Meaning::Stays
            });
        }
        found
    }

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
        // B17: an optional entry of this name is left out.
        if self.case.env.iter().any(|(it, _)| *it == name) {
            return "undefined";
        }
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
        self.is_of_unknown_service(name) || self.case.env_from.iter().any(|it| self.may_give(it, name))
    }

    fn is_of_unknown_service(&self, name: &str) -> bool {
        let is_here = |name| self.visible_services().iter().any(|it| it.name == name);
        self.links() && Self::service_of(name).is_some_and(|it| !is_here(it))
    }

    /// Whether an entry of `envFrom` may define a name. A reference to a variable of a refused entry is not a second
    /// mistake.
    fn may_give(&self, from: &EnvFrom, name: &str) -> bool {
        let is_key =
            |key: &str| !key.is_empty() && key.chars().all(|it| it.is_ascii_alphanumeric() || "-._".contains(it));
        match is_refused(from) {
            true => is_key(name) && !self.case.env.iter().any(|(it, _)| *it == name),
            false => {
                name.strip_prefix(from.prefix).is_some_and(is_key) && self.sources(from.secret, from.name).is_empty()
            }
        }
    }

    /// Whether the last entry that may define a name is refused.
    fn may_be_of_refused(&self, name: &str) -> bool {
        let last = self.case.env_from.iter().rev().find(|it| self.may_give(it, name));
        !self.is_of_unknown_service(name) && last.is_some_and(is_refused)
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

    /// V5 to V7, X4 to X6.
    fn refused(&self, env: &Environment, marked: &BTreeMap<String, String>, sub_paths: &[Known]) -> Vec<String> {
        let case = self.case;
        let mut all: Vec<String> = case.env_from.iter().filter(|it| is_refused(it)).map(refused_name).collect();
        all.extend(case.has_empty_entry.then(|| "env".to_owned()));
        for (name, from) in &case.env {
            let valid = match from {
                From::Resource { resource: "limits.cpu", divisor: Some(it), .. } => ["0", "1m", "1000m"].contains(it),
                From::Resource { divisor: Some(it), .. } => ["0", "1Mi", "1000m"].contains(it),
                From::Key { name, .. } => *name != REFUSED_NAME,
                _ => true,
            };
            if !valid {
                all.push((*name).to_owned());
            }
        }
        let has_parent = |path: &str| path.split('/').any(|it| it == "..");
        for (written, result) in case.sub_path.iter().zip(sub_paths) {
            // A variable that is missing or empty is another failure.
            let mut has_values = true;
            // A path is absolute by its start alone.
            let start = self.expand(written, |wanted| {
                has_values &= env.get(wanted).map_or(self.may_exist(wanted), |(it, ..)| it.as_deref() != Some(""));
                let value = || env.get(wanted).and_then(|(it, ..)| it.clone());
                Meaning::Value(Some(marked.get(wanted).cloned().or_else(value).unwrap_or_else(|| UNKNOWN.into())))
            });
            let start = start.as_deref().filter(|_| has_values).unwrap_or_default();
            let result = result.as_deref().filter(|_| has_values).unwrap_or_default();
            if written.starts_with('/') || has_parent(written) || start.starts_with('/') || has_parent(result) {
                all.push(written.clone());
            }
        }
        all.sort();
        all
    }

    /// B24 and X1 to X3.
    fn resource(&self, resource: &str, divisor: Option<&str>, container: Option<&str>) -> Known {
        let limit = |name: &str| self.case.limits.iter().find(|(it, _)| *it == name).map(|(_, amount)| *amount);
        let is_set = |it: &&str| *it != "0";
        let has_pod_limits = !matches!(self.case.release, Some("1.29" | "1.33"));
        let pod_limit = self.case.pod_limit.filter(|_| has_pod_limits);
        let amount = match (resource, container) {
            ("requests.ephemeral-storage" | "limits.hugepages-2Mi", _) => "0",
            ("limits.cpu", Some("prepare")) => self.case.init_limit.unwrap_or("0"),
            ("limits.memory", Some("prepare")) => "0",
            ("limits.cpu", _) => limit("cpu").filter(is_set).or(pod_limit.filter(is_set))?,
            _ => limit("memory").filter(is_set)?,
        };
        // Thousandths of a CPU, or bytes.
        let (amount, divisor): (u64, u64) = if resource == "limits.cpu" {
            let milli = match divisor {
                None | Some("0" | "01" | "1." | "1000m") => 1000,
                Some("1m") => 1,
                Some("1e3") => 1_000_000,
                Some("1024") => 1_024_000,
                _ => 1_048_576_000,
            };
            (
                match amount {
                    "0" => 0,
                    "1500m" => 1500,
                    "2" => 2000,
                    _ => 3000,
                },
                milli,
            )
        } else {
            // A divisor below one is treated as one.
            let bytes = match divisor {
                Some("1e3") => 1000,
                Some("1024") => 1024,
                Some("1Mi") => 1_048_576,
                _ => 1,
            };
            (if amount == "0" { 0 } else { 1_073_741_824 }, bytes)
        };
        Some(amount.div_ceil(divisor).to_string())
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
