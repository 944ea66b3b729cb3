//! Service variables (S1 to S11): the names every service of a namespace puts into every container there.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{Model, Pod, Service, Text};
use crate::resolve::binding::{Binding, Origin, OriginKind};
use crate::resolve::value::{ResolvedValue, UnknownReason, ValuePart};
use crate::workspace::Snapshot;

/// The service that every pod sees (S1, S9).
pub(super) const DEFAULT_SERVICE: &str = "kubernetes";

/// A service of old releases that the explicit links proposal keeps beside the default one (PS4).
pub(super) const READ_ONLY_SERVICE: &str = "kubernetes-ro";

/// Which services put their variables into a pod without being named in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServiceLinks {
    /// Every service of the namespace (S1).
    All,
    /// Only those of the cluster's API, `kubernetes` and `kubernetes-ro`: the pod names the others in `envFrom`.
    Explicit,
    /// Only `kubernetes`: `enableServiceLinks` is false.
    Off,
}

impl ServiceLinks {
    /// What a pod asks for. A link anywhere in it counts for all its containers.
    pub fn for_pod(pod: &Pod) -> Self {
        // B1.
        match pod.service_links.map_or(pod.default_service_links, |(it, _)| it) {
            _ if pod.links_explicitly() => Self::Explicit,
            true => Self::All,
            false => Self::Off,
        }
    }
}

/// The variables of all services a pod sees, shared by its containers and by pods beside it.
#[derive(Clone, Debug, Default)]
pub struct ServiceVariables {
    /// By name.
    pub variables: BTreeMap<Arc<str>, Arc<Binding>>,
    /// The prefixes of the services in this workspace, headless ones too: what they do not give does not exist.
    prefixes: BTreeSet<String>,
    /// The prefixes of those whose ports are not known.
    open: BTreeSet<String>,
    /// The prefixes of the services in this workspace that have no address, and so no variables (S3).
    without_address: BTreeMap<String, Origin>,
    /// Whether services outside this workspace count too: `enableServiceLinks` is not false.
    links: bool,
    /// What stood where when these variables were made.
    pub(super) places: BTreeMap<Location, Arc<Model>>,
}

/// A service as seen from a pod.
#[derive(Clone, Debug)]
pub struct ServiceCandidate<'s> {
    /// `metadata.name`, with the parameters of a template in it.
    pub name: Arc<str>,
    /// Its ports and address.
    pub service: Cow<'s, Service>,
    /// Where it is declared.
    pub origin: Origin,
}

impl ServiceVariables {
    /// What the services give. Without links only the default service counts (S1).
    pub fn of(candidates: &[ServiceCandidate<'_>], links: bool) -> Self {
        let (mut prefixes, mut open) = (BTreeSet::new(), BTreeSet::new());
        let mut given: BTreeMap<String, Vec<(ResolvedValue, Origin)>> = BTreeMap::new();
        let mut without_address = BTreeMap::new();
        for candidate in candidates {
            if has_no_address(&candidate.service) {
                without_address.insert(prefix(&candidate.name), candidate.origin.clone());
            }
            if is_open(&candidate.service) {
                open.insert(prefix(&candidate.name));
            } else {
                prefixes.insert(prefix(&candidate.name));
            }
            for (name, value) in variables(&candidate.name, &candidate.service) {
                // S8: one service repeats itself with equal names, and the last one counts.
                let values = given.entry(name).or_default();
                values.retain(|(_, origin)| *origin != candidate.origin);
                values.push((value, candidate.origin.clone()));
            }
        }
        // S2: a service called `kubernetes` among the candidates takes the place of the default one.
        if prefixes.insert(prefix(DEFAULT_SERVICE)) {
            let origin = Origin { object: Some(DEFAULT_SERVICE.into()), ..Origin::new(OriginKind::Service) };
            for (name, value) in default_service() {
                given.entry(name).or_default().push((value, origin.clone()));
            }
        }
        let variables = given
            .into_iter()
            .filter_map(|(name, candidates)| {
                // S10: which of two services wins is decided anew at each start.
                let what = format!("values of {name}");
                let name: Arc<str> = name.into();
                Some((Arc::clone(&name), Arc::new(Binding::among(name, &what, candidates)?)))
            })
            .collect();
        Self { variables, prefixes, open, without_address, links, places: BTreeMap::new() }
    }

    /// A variable with its origins where they stand in a snapshot: services move when the text before them changes, and
    /// their variables stay.
    pub(super) fn placed(&self, snapshot: &Snapshot, binding: &Arc<Binding>) -> Arc<Binding> {
        let moved = |origin: &Origin| {
            let location = origin.location.as_ref()?;
            let span = snapshot.moved_service(&location.file, self.places.get(location)?)?;
            Some(Origin { location: Some(Location { span, ..location.clone() }), ..origin.clone() })
        };
        let origins = || std::iter::once(&binding.origin).chain(binding.alternatives.iter().map(|(_, origin)| origin));
        if !origins().any(|origin| moved(origin).is_some()) {
            return Arc::clone(binding);
        }
        let mut binding = (**binding).clone();
        let alternatives = binding.alternatives.iter_mut().map(|(_, origin)| origin);
        for origin in std::iter::once(&mut binding.origin).chain(alternatives) {
            if let Some(now) = moved(origin) {
                *origin = now;
            }
        }
        Arc::new(binding)
    }

    /// The service that would give this name if it had an address.
    pub fn without_address(&self, name: &str) -> Option<&Origin> {
        let link = name.strip_suffix("_PORT");
        possible_prefixes(name).chain(link).find_map(|it| self.without_address.get(it))
    }

    /// Whether a service that is not in this workspace may give this name.
    pub fn may_define(&self, name: &str) -> bool {
        let is_open = |name: &str| name.strip_suffix("_PORT").is_some_and(|it| self.open.contains(it));
        self.links && (is_open(name) || possible_prefixes(name).any(|it| !self.prefixes.contains(it)))
    }
}

/// The length of a value whose holes are filled: an address like 10.96.112.113, a port like 8080.
fn length(value: &ResolvedValue) -> usize {
    let piece = |it: &ValuePart| match it {
        ValuePart::Text(text) | ValuePart::Secret { text, .. } => text.len(),
        ValuePart::Unknown(UnknownReason::ServicePort(_)) => 4,
        ValuePart::Unknown(_) => 13,
    };
    value.pieces().iter().map(piece).sum()
}

/// About how many bytes one service puts into an environment: `NAME=value` with its end, for each variable.
pub(super) fn bytes_of(name: &str, service: &Service) -> usize {
    // S8: equal names count once.
    let all: BTreeMap<String, ResolvedValue> = variables(name, service).into_iter().collect();
    all.iter().map(|(name, value)| name.len() + length(value) + 2).sum()
}

/// Whether a name is shaped like a variable of this one service, `X_PORT` among them.
pub(super) fn is_variable_of(service: &str, name: &str) -> bool {
    let prefix = prefix(service);
    name.strip_prefix(&*prefix) == Some("_PORT") || possible_prefixes(name).any(|it| *it == *prefix)
}

/// Whether a service has ports that cannot be seen: the settings name it without them, or it is half typed.
pub(super) fn is_open(service: &Service) -> bool {
    service.ports.is_empty() && !has_no_address(service)
}

/// Whether a service gets an address, and so variables (S3).
pub fn has_cluster_ip(service: &Service) -> bool {
    !has_no_address(service)
}

/// S3.
fn has_no_address(service: &Service) -> bool {
    let is = |text: &Option<Text>, value: &str| text.as_ref().is_some_and(|it| &*it.value == value);
    is(&service.type_, "ExternalName") || is(&service.cluster_ip, "None")
}

/// The variables of one service, in the order of S5. Headless and external ones have none (S3).
pub fn variables(name: &str, service: &Service) -> Vec<(String, ResolvedValue)> {
    let address = service.cluster_ip.as_ref().map_or("", |it| &it.value);
    if has_no_address(service) {
        return Vec::new();
    }
    let ports: Vec<ServicePortView<'_>> = service
        .ports
        .iter()
        .map(|it| ServicePortView {
            name: it.name.as_ref().map_or("", |name| &name.value),
            number: it.port,
            // S6.
            protocol: it.protocol.as_ref().map_or("TCP", |it| if it.value.is_empty() { "TCP" } else { &it.value }),
        })
        .collect();
    of_ports(name, address, &ports)
}

struct ServicePortView<'s> {
    name: &'s str,
    number: Option<i64>,
    protocol: &'s str,
}

/// S9.
fn default_service() -> Vec<(String, ResolvedValue)> {
    of_ports(DEFAULT_SERVICE, "", &[ServicePortView { name: "https", number: Some(443), protocol: "TCP" }])
}

fn of_ports(service: &str, address: &str, ports: &[ServicePortView<'_>]) -> Vec<(String, ResolvedValue)> {
    let prefix = prefix(service);
    let host = if address.is_empty() {
        // S3: the API server will allocate one.
        ResolvedValue::unknown(UnknownReason::ClusterIp(service.into()))
    } else {
        ResolvedValue::text(address)
    };
    let number = |port: &ServicePortView<'_>| match port.number {
        Some(number) => ResolvedValue::text(number.to_string()),
        None => ResolvedValue::unknown(UnknownReason::ServicePort(service.into())),
    };
    let url = |port: &ServicePortView<'_>| {
        // S7: an IPv6 address stands in brackets here only.
        let (open, close) = if address.contains(':') { ("[", "]:") } else { ("", ":") };
        let mut url = ResolvedValue::default();
        url.push(ValuePart::Text(format!("{}://{open}", port.protocol.to_ascii_lowercase()).into()));
        url.append(&host);
        url.push(ValuePart::Text(close.into()));
        url.append(&number(port));
        url.merged()
    };
    let mut all = vec![(format!("{prefix}_SERVICE_HOST"), host.clone())];
    if let Some(first) = ports.first() {
        all.push((format!("{prefix}_SERVICE_PORT"), number(first)));
    }
    for port in ports.iter().filter(|it| !it.name.is_empty()) {
        all.push((format!("{prefix}_SERVICE_PORT_{}", self::prefix(port.name)), number(port)));
    }
    if let Some(first) = ports.first() {
        all.push((format!("{prefix}_PORT"), url(first)));
    }
    for port in ports {
        let Some(shown) = port.number else { continue };
        let link = format!("{prefix}_PORT_{shown}_{}", port.protocol.to_ascii_uppercase());
        all.push((link.clone(), url(port)));
        all.push((format!("{link}_PROTO"), ResolvedValue::text(port.protocol.to_ascii_lowercase())));
        all.push((format!("{link}_PORT"), number(port)));
        all.push((format!("{link}_ADDR"), host.clone()));
    }
    all
}

/// S4.
pub(super) fn prefix(name: &str) -> String {
    name.replace('-', "_").to_ascii_uppercase()
}

/// Whether a name is shaped like a service variable. A bare `X_PORT` is not: too many variables are called that.
pub fn is_service_variable_name(name: &str) -> bool {
    possible_prefixes(name).next().is_some()
}

/// Each prefix of a service that could give this name.
fn possible_prefixes(name: &str) -> impl Iterator<Item = &str> {
    let upper = name.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_');
    let host = name.strip_suffix("_SERVICE_HOST");
    let port = name.strip_suffix("_SERVICE_PORT");
    let named_port = name.match_indices("_SERVICE_PORT_").map(|(at, found)| (&name[..at], &name[at + found.len()..]));
    let named_port = named_port.filter(|(_, rest)| !rest.is_empty()).map(|(prefix, _)| prefix);
    let link = name.match_indices("_PORT_").filter(|(at, found)| is_link(&name[at + found.len()..]));
    let link = link.map(|(at, _)| &name[..at]);
    host.into_iter().chain(port).chain(named_port).chain(link).filter(move |it| upper && !it.is_empty())
}

/// `<n>_TCP|UDP|SCTP` and its `_PROTO _PORT _ADDR`.
fn is_link(rest: &str) -> bool {
    let Some((number, rest)) = rest.split_once('_') else { return false };
    let (protocol, part) = rest.split_once('_').unwrap_or((rest, "ADDR"));
    !number.is_empty()
        && number.bytes().all(|it| it.is_ascii_digit())
        && matches!(protocol, "TCP" | "UDP" | "SCTP")
        && matches!(part, "PROTO" | "PORT" | "ADDR")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::ServicePort;
    use crate::syntax::ScalarStyle;
    use crate::text::Span;

    fn text(value: &str) -> Option<Text> {
        Some(Text { value: value.into(), span: Span::default(), style: ScalarStyle::Plain, is_string: true })
    }

    fn service(address: &str, ports: &[(&str, i64, &str)]) -> Service {
        let port = |&(name, port, protocol): &(&str, i64, &str)| ServicePort {
            name: text(name).filter(|_| !name.is_empty()),
            port: Some(port),
            port_text: None,
            protocol: text(protocol).filter(|_| !protocol.is_empty()),
            span: Span::default(),
        };
        Service {
            type_: None,
            cluster_ip: text(address).filter(|_| !address.is_empty()),
            ports: ports.iter().map(port).collect(),
        }
    }

    fn shown(name: &str, service: &Service) -> String {
        variables(name, service).iter().map(|(name, value)| format!("{name}={value}\n")).collect()
    }

    #[test]
    fn names_and_values_of_a_service() {
        let it = service("1.2.3.4", &[("p", 8081, "TCP"), ("dns-udp", 53, "UDP"), ("", 9, "SCTP")]);
        assert_eq!(
            shown("foo-bar", &it),
            "FOO_BAR_SERVICE_HOST=1.2.3.4\nFOO_BAR_SERVICE_PORT=8081\nFOO_BAR_SERVICE_PORT_P=8081\n\
             FOO_BAR_SERVICE_PORT_DNS_UDP=53\nFOO_BAR_PORT=tcp://1.2.3.4:8081\n\
             FOO_BAR_PORT_8081_TCP=tcp://1.2.3.4:8081\nFOO_BAR_PORT_8081_TCP_PROTO=tcp\n\
             FOO_BAR_PORT_8081_TCP_PORT=8081\nFOO_BAR_PORT_8081_TCP_ADDR=1.2.3.4\n\
             FOO_BAR_PORT_53_UDP=udp://1.2.3.4:53\nFOO_BAR_PORT_53_UDP_PROTO=udp\nFOO_BAR_PORT_53_UDP_PORT=53\n\
             FOO_BAR_PORT_53_UDP_ADDR=1.2.3.4\nFOO_BAR_PORT_9_SCTP=sctp://1.2.3.4:9\nFOO_BAR_PORT_9_SCTP_PROTO=sctp\n\
             FOO_BAR_PORT_9_SCTP_PORT=9\nFOO_BAR_PORT_9_SCTP_ADDR=1.2.3.4\n"
        );
    }

    #[test]
    fn addresses_may_be_open_long_or_absent() {
        assert!(shown("a", &service("2001:DB8::", &[("", 1, "")])).contains("A_PORT_1_TCP=tcp://[2001:DB8::]:1\n"));
        assert!(shown("a", &service("2001:DB8::", &[("", 1, "")])).contains("A_SERVICE_HOST=2001:DB8::\n"));
        assert!(shown("a", &service("", &[("", 1, "")])).contains("A_PORT=tcp://<cluster IP of a>:1\n"));
        assert_eq!(shown("a", &service("None", &[("", 1, "")])), "");
    }

    #[test]
    fn a_collision_is_open() {
        let (foo, other) = (service("1.1.1.1", &[("", 80, "")]), service("2.2.2.2", &[("", 81, "")]));
        let origin = |name: &str| Origin { object: Some(name.into()), ..Origin::new(OriginKind::Service) };
        let candidates = [
            ServiceCandidate { name: "foo".into(), service: Cow::Borrowed(&foo), origin: origin("foo") },
            ServiceCandidate {
                name: "foo-service".into(),
                service: Cow::Borrowed(&other),
                origin: origin("foo-service"),
            },
        ];
        let all = ServiceVariables::of(&candidates, true);
        assert_eq!(all.variables["FOO_SERVICE_PORT"].alternatives.len(), 2);
        assert_eq!(all.variables["FOO_SERVICE_HOST"].value.to_string(), "1.1.1.1");
        assert_eq!(all.variables["KUBERNETES_SERVICE_PORT_HTTPS"].value.to_string(), "443");
        let names: Vec<_> = all.variables.keys().collect();
        assert_eq!(names.len(), 8 + 7 + 7 - 1, "{names:?}");
    }

    #[test]
    fn only_services_that_are_not_here_may_define_more() {
        let redis = service("None", &[]);
        let origin = Origin::new(OriginKind::Service);
        let all = ServiceVariables::of(
            &[ServiceCandidate { name: "redis".into(), service: Cow::Borrowed(&redis), origin }],
            true,
        );
        assert!(!all.may_define("REDIS_SERVICE_HOST"));
        assert!(all.may_define("DB_SERVICE_HOST"));
        assert!(all.may_define("DB_PORT_5432_TCP_ADDR"));
        assert!(!all.may_define("DB_PORT"));
        assert!(!ServiceVariables::of(&[], false).may_define("DB_SERVICE_HOST"));
        assert!(is_service_variable_name("A_SERVICE_PORT_HTTP") && !is_service_variable_name("_SERVICE_HOST"));
    }
}
