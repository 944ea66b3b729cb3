//! Service variables (S1 to S11), which the services of a namespace add to each of its containers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{Model, Pod, Service, Text, service_prefix as prefix};
use crate::resolve::binding::{Binding, Origin, OriginKind};
use crate::resolve::value::{ResolvedValue, UnknownReason, ValuePart};
use crate::workspace::Snapshot;

/// The service that all pods see (S1, S9).
pub(super) const DEFAULT_SERVICE: &str = "kubernetes";

/// A service of old releases that the proposal for explicit links keeps in addition to the default one (PS4).
pub(super) const READ_ONLY_SERVICE: &str = "kubernetes-ro";

/// Which services add their variables to a pod without being named in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServiceLinks {
    /// Every service of the namespace (S1).
    All,
    /// Only the services of the cluster's API, `kubernetes` and `kubernetes-ro`: the pod names others in `envFrom`.
    Explicit,
    /// Only `kubernetes`: `enableServiceLinks` is false.
    Off,
}

impl ServiceLinks {
    /// The links of a pod. An explicit link in one container counts for all.
    pub fn for_pod(pod: &Pod) -> Self {
        // B1.
        match pod.service_links.map_or(pod.default_service_links, |(it, _)| it) {
            _ if pod.links_explicitly() => Self::Explicit,
            true => Self::All,
            false => Self::Off,
        }
    }
}

/// The variables of all services that a pod sees; pods that see the same services share them.
#[derive(Clone, Debug, Default)]
pub(super) struct ServiceVariables {
    /// The variables by name.
    pub(super) variables: BTreeMap<Arc<str>, Arc<Binding>>,
    /// The prefixes of the services in this workspace, including headless ones. Other names with these prefixes do not
    /// exist.
    prefixes: BTreeSet<String>,
    /// The prefixes of services with unknown ports.
    unknown_ports: BTreeSet<String>,
    /// The prefixes of the services in this workspace that have no cluster IP, and so no variables (S3).
    without_address: BTreeMap<String, Origin>,
    /// Whether services outside this workspace also add variables: `enableServiceLinks` is not false.
    links: bool,
    /// The locations of the services at the time of computation.
    pub(super) places: BTreeMap<Location, Arc<Model>>,
}

/// A service that a pod sees.
#[derive(Clone, Debug)]
pub(super) struct ServiceCandidate<'s> {
    /// `metadata.name`.
    pub(super) name: Arc<str>,
    /// Its ports and address.
    pub(super) service: &'s Service,
    /// Where it is declared.
    pub(super) origin: Origin,
}

impl ServiceVariables {
    /// Computes the variables of services. Without links only the default service counts (S1). `with_default` adds the
    /// default service unless it is a candidate.
    pub(super) fn new(candidates: &[ServiceCandidate<'_>], links: bool, with_default: bool) -> Self {
        let (mut prefixes, mut unknown_ports) = (BTreeSet::new(), BTreeSet::new());
        let mut values_by_name: BTreeMap<String, Vec<(ResolvedValue, Origin)>> = BTreeMap::new();
        let mut without_address = BTreeMap::new();
        for candidate in candidates {
            if lacks_cluster_ip(candidate.service) {
                without_address.insert(prefix(&candidate.name), candidate.origin.clone());
            }
            if has_unknown_ports(candidate.service) {
                unknown_ports.insert(prefix(&candidate.name));
            } else {
                prefixes.insert(prefix(&candidate.name));
            }
            for (name, value) in variables(&candidate.name, candidate.service) {
                // S8: a service may define a name twice; the last one wins.
                let values = values_by_name.entry(name).or_default();
                values.retain(|(_, origin)| *origin != candidate.origin);
                values.push((value, candidate.origin.clone()));
            }
        }
        // S2: a candidate called `kubernetes` replaces the default service.
        if with_default && prefixes.insert(prefix(DEFAULT_SERVICE)) {
            let origin = Origin { object: Some(DEFAULT_SERVICE.into()), ..Origin::new(OriginKind::Service) };
            for (name, value) in default_service() {
                values_by_name.entry(name).or_default().push((value, origin.clone()));
            }
        }
        let variables = values_by_name
            .into_iter()
            .filter_map(|(name, candidates)| {
                // S10: which of two services wins is decided at each start of a pod.
                let what = format!("values of {name}");
                let name: Arc<str> = name.into();
                Some((Arc::clone(&name), Arc::new(Binding::from_candidates(name, &what, candidates)?)))
            })
            .collect();
        Self { variables, prefixes, unknown_ports, without_address, links, places: BTreeMap::new() }
    }

    /// A variable with the current locations of its services: services move when the text before them is edited, but
    /// their variables are kept.
    pub(super) fn at_current_location(&self, snapshot: &Snapshot, binding: &Arc<Binding>) -> Arc<Binding> {
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

    /// The service that would define this name if it had a cluster IP.
    pub(super) fn without_address(&self, name: &str) -> Option<&Origin> {
        let link = name.strip_suffix("_PORT");
        possible_prefixes(name).chain(link).find_map(|it| self.without_address.get(it))
    }

    /// Whether a service outside this workspace may define this name.
    pub(super) fn may_define(&self, name: &str) -> bool {
        let has_unknown_ports =
            |name: &str| name.strip_suffix("_PORT").is_some_and(|it| self.unknown_ports.contains(it));
        self.links && (has_unknown_ports(name) || possible_prefixes(name).any(|it| !self.prefixes.contains(it)))
    }
}

/// The approximate length of a value: a cluster IP such as 10.96.112.113, a port such as 8080.
fn approximate_length(value: &ResolvedValue) -> usize {
    let part = |it: &ValuePart| match it {
        ValuePart::Text(text) | ValuePart::Secret { text, .. } => text.len(),
        ValuePart::Unknown(UnknownReason::ServicePort(_)) => 4,
        ValuePart::Unknown(_) => 13,
    };
    value.parts().iter().map(part).sum()
}

/// The approximate size of a service's variables in an environment: `NAME=value` and a zero byte for each.
pub(super) fn approximate_size(name: &str, service: &Service) -> usize {
    // S8: equal names count once.
    let all: BTreeMap<String, ResolvedValue> = variables(name, service).into_iter().collect();
    all.iter().map(|(name, value)| name.len() + approximate_length(value) + 2).sum()
}

/// Whether a name has the form of a variable of this service, including `X_PORT`.
pub(super) fn is_variable_of(service: &str, name: &str) -> bool {
    let prefix = prefix(service);
    name.strip_prefix(&*prefix) == Some("_PORT") || possible_prefixes(name).any(|it| *it == *prefix)
}

/// Whether a service has unknown ports: the settings name it without ports, or the manifest is incomplete.
pub(super) fn has_unknown_ports(service: &Service) -> bool {
    service.ports.is_empty() && !lacks_cluster_ip(service)
}

/// Whether a service gets a cluster IP, and so variables (S3).
pub fn has_cluster_ip(service: &Service) -> bool {
    !lacks_cluster_ip(service)
}

/// S3.
fn lacks_cluster_ip(service: &Service) -> bool {
    let has = |text: &Option<Text>, value: &str| text.as_ref().is_some_and(|it| &*it.value == value);
    has(&service.type_, "ExternalName") || has(&service.cluster_ip, "None")
}

/// The variables of one service, in the order of S5. Headless and external services have none (S3).
pub fn variables(name: &str, service: &Service) -> Vec<(String, ResolvedValue)> {
    let address = service.cluster_ip.as_ref().map_or("", |it| &it.value);
    if lacks_cluster_ip(service) {
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
    port_variables(name, address, &ports)
}

struct ServicePortView<'s> {
    name: &'s str,
    number: Option<i64>,
    protocol: &'s str,
}

/// The variables of the default service (S9).
fn default_service() -> Vec<(String, ResolvedValue)> {
    port_variables(DEFAULT_SERVICE, "", &[ServicePortView { name: "https", number: Some(443), protocol: "TCP" }])
}

fn port_variables(service: &str, address: &str, ports: &[ServicePortView<'_>]) -> Vec<(String, ResolvedValue)> {
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
        // S7: an IPv6 address has brackets only in URLs.
        let (open, close) = if address.contains(':') { ("[", "]:") } else { ("", ":") };
        let mut url = ResolvedValue::default();
        url.push(ValuePart::Text(format!("{}://{open}", port.protocol.to_ascii_lowercase()).into()));
        url.append(&host);
        url.push(ValuePart::Text(close.into()));
        url.append(&number(port));
        url.with_joined_text()
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

/// Whether a name has the form of a service variable. `X_PORT` alone does not count: too many other variables have such
/// names.
pub fn is_service_variable_name(name: &str) -> bool {
    possible_prefixes(name).next().is_some()
}

/// The names of the services that could define a variable (S4).
pub fn possible_services(variable: &str) -> impl Iterator<Item = String> {
    possible_prefixes(variable).map(|it| it.to_ascii_lowercase().replace('_', "-"))
}

/// All service prefixes that could define this name.
fn possible_prefixes(name: &str) -> impl Iterator<Item = &str> {
    let upper = name.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_');
    let host = name.strip_suffix("_SERVICE_HOST");
    let port = name.strip_suffix("_SERVICE_PORT");
    let named_port = name.match_indices("_SERVICE_PORT_").map(|(at, found)| (&name[..at], &name[at + found.len()..]));
    let named_port = named_port.filter(|(_, rest)| !rest.is_empty()).map(|(prefix, _)| prefix);
    let link = name.match_indices("_PORT_").filter(|(at, found)| is_port_link(&name[at + found.len()..]));
    let link = link.map(|(at, _)| &name[..at]);
    host.into_iter().chain(port).chain(named_port).chain(link).filter(move |it| upper && !it.is_empty())
}

/// The prefixes of all services that could define a variable with this name, including `X_PORT` and ports of any protocol.
pub(super) fn prefixes_in(name: &str) -> BTreeSet<&str> {
    let parts = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT"].into_iter();
    parts.flat_map(|part| name.match_indices(part)).map(|(at, _)| &name[..at]).filter(|it| !it.is_empty()).collect()
}

/// Whether a text is `<n>_TCP`, `<n>_UDP` or `<n>_SCTP`, optionally with `_PROTO`, `_PORT` or `_ADDR`.
fn is_port_link(rest: &str) -> bool {
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
    use crate::k8s::{ObjectSpan, ServicePort};

    fn text(value: &str) -> Option<Text> {
        Some(Text::of(value))
    }

    fn service(address: &str, ports: &[(&str, i64, &str)]) -> Service {
        let port = |&(name, port, protocol): &(&str, i64, &str)| ServicePort {
            name: text(name).filter(|_| !name.is_empty()),
            port: Some(port),
            port_text: None,
            protocol: text(protocol).filter(|_| !protocol.is_empty()),
            span: ObjectSpan::default(),
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
    fn a_collision_has_an_unknown_value() {
        let (foo, other) = (service("1.1.1.1", &[("", 80, "")]), service("2.2.2.2", &[("", 81, "")]));
        let origin = |name: &str| Origin { object: Some(name.into()), ..Origin::new(OriginKind::Service) };
        let candidates = [
            ServiceCandidate { name: "foo".into(), service: &foo, origin: origin("foo") },
            ServiceCandidate { name: "foo-service".into(), service: &other, origin: origin("foo-service") },
        ];
        let all = ServiceVariables::new(&candidates, true, true);
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
        let all =
            ServiceVariables::new(&[ServiceCandidate { name: "redis".into(), service: &redis, origin }], true, true);
        assert!(!all.may_define("REDIS_SERVICE_HOST"));
        assert!(all.may_define("DB_SERVICE_HOST"));
        assert!(all.may_define("DB_PORT_5432_TCP_ADDR"));
        assert!(!all.may_define("DB_PORT"));
        assert!(!ServiceVariables::new(&[], false, true).may_define("DB_SERVICE_HOST"));
        assert!(is_service_variable_name("A_SERVICE_PORT_HTTP") && !is_service_variable_name("_SERVICE_HOST"));
    }
}
