//! Which type the fields of a kind expect: a graph of types, generated from the API of Kubernetes by `derive.py`.
//!
//! Fields that take strings and numbers alike, such as sizes and ports with names, are not in it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The type of a scalar that a field expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarType {
    /// A string.
    String,
    /// A whole number.
    Int,
    /// Any number.
    Number,
    /// `true` or `false`.
    Bool,
}

impl ScalarType {
    /// The type with its article, for messages.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Int => "an integer",
            Self::Number => "a number",
            Self::Bool => "a boolean",
        }
    }

    /// Whether a text can be decoded as this type.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::String => true,
            Self::Int => text.trim().parse::<i64>().is_ok(),
            Self::Number => text.trim().parse::<f64>().is_ok(),
            Self::Bool => matches!(text.trim(), "true" | "false"),
        }
    }
}

/// A field of a known kind, or the object itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldType {
    nesting: FieldNesting,
    target: FieldTarget,
}

/// Whether a field has one value, a list or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldNesting {
    One,
    List,
    Map,
}

/// The type of the values of a field: a scalar, or another type of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldTarget {
    Scalar(ScalarType),
    Type(&'static str),
}

impl FieldType {
    /// The object of a kind. OpenShift's kinds may be written without their group, and an old group has the fields of
    /// the group that replaced it. Of an unknown kind only the metadata is known.
    pub fn of_kind(api_version: &str, kind: &str) -> Self {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let kinds = TABLE.kinds.get(kind).map_or(&[][..], Vec::as_slice);
        let same = kinds.iter().find(|(known, _)| *known == group);
        let moved = || match group {
            "" => kinds.iter().find(|(known, _)| known.ends_with(".openshift.io")),
            "extensions" => kinds.first(),
            _ => None,
        };
        let name = same.or_else(moved).map_or(ANY_OBJECT, |(_, name)| name);
        Self { nesting: FieldNesting::One, target: FieldTarget::Type(name) }
    }

    /// The field, or the value of a map, at a key.
    pub fn at_key(self, key: &str) -> Option<Self> {
        match (self.nesting, self.target) {
            (FieldNesting::Map, target) => Some(Self { nesting: FieldNesting::One, target }),
            (FieldNesting::One, FieldTarget::Type(name)) => TABLE.types.get(name)?.get(key).copied(),
            _ => None,
        }
    }

    /// An item of a list.
    pub fn item(self) -> Option<Self> {
        (self.nesting == FieldNesting::List).then_some(Self { nesting: FieldNesting::One, target: self.target })
    }

    /// The type of a scalar.
    pub fn scalar(self) -> Option<ScalarType> {
        match (self.nesting, self.target) {
            (FieldNesting::One, FieldTarget::Scalar(scalar)) => Some(scalar),
            _ => None,
        }
    }

    /// The type of the scalar at a path, such as `spec.ports[0].port`.
    pub fn scalar_at(self, path: &str) -> Option<ScalarType> {
        let mut field = self;
        for step in path.split('.') {
            if let (FieldNesting::Map, FieldTarget::Scalar(scalar)) = (field.nesting, field.target) {
                // The rest of the path is a key, which may contain dots.
                return Some(scalar);
            }
            field = match step.split_once('[') {
                Some((name, _)) => field.at_key(name)?.item()?,
                None => field.at_key(step)?,
            };
        }
        field.scalar()
    }
}

/// The type of an object of an unknown kind.
const ANY_OBJECT: &str = "other.Object";

type TypeFields = BTreeMap<&'static str, FieldType>;

struct FieldTypeTable {
    /// The group and the type of each kind.
    kinds: BTreeMap<&'static str, Vec<(&'static str, &'static str)>>,
    types: BTreeMap<&'static str, TypeFields>,
}

static TABLE: LazyLock<FieldTypeTable> = LazyLock::new(|| {
    let mut table = FieldTypeTable { kinds: BTreeMap::new(), types: BTreeMap::new() };
    table.read(include_str!("field_types/fields.txt"));
    table.read(include_str!("field_types/openshift.txt"));
    table.read(include_str!("field_types/other.txt"));
    table
});

impl FieldTypeTable {
    fn read(&mut self, text: &'static str) {
        let mut fields: Option<&mut TypeFields> = None;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match (line.starts_with(' '), words.next(), words.next(), words.next(), words.next()) {
                (true, Some(field), Some(target), None, _) => {
                    if let Some(fields) = &mut fields {
                        fields.insert(field, read_field(target));
                    }
                }
                (false, Some("kind"), Some(group), Some(kind), Some(name)) => {
                    self.kinds.entry(kind).or_default().push((if group == "core" { "" } else { group }, name));
                }
                (false, Some("type"), Some(name), None, _) => fields = Some(self.types.entry(name).or_default()),
                _ => {}
            }
        }
    }
}

/// A field as it is written in the table: `int`, `[]string`, `{}core.v1.Container`.
fn read_field(text: &'static str) -> FieldType {
    let (nesting, name) = match text.split_at_checked(2) {
        Some(("[]", rest)) => (FieldNesting::List, rest),
        Some(("{}", rest)) => (FieldNesting::Map, rest),
        _ => (FieldNesting::One, text),
    };
    let target = match name {
        "string" => FieldTarget::Scalar(ScalarType::String),
        "int" => FieldTarget::Scalar(ScalarType::Int),
        "number" => FieldTarget::Scalar(ScalarType::Number),
        "bool" => FieldTarget::Scalar(ScalarType::Bool),
        name => FieldTarget::Type(name),
    };
    FieldType { nesting, target }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(api_version: &str, kind: &str, path: &str) -> Option<ScalarType> {
        FieldType::of_kind(api_version, kind).scalar_at(path)
    }

    #[test]
    fn fields_are_known_by_their_paths() {
        use ScalarType::{Bool, Int, String};
        let container = "spec.template.spec.containers[0]";
        for (version, kind, path, expected) in [
            ("apps/v1", "Deployment", "spec.replicas", Some(Int)),
            ("extensions/v1beta1", "Deployment", "spec.replicas", Some(Int)),
            ("apps/v1", "Deployment", "spec.paused", Some(Bool)),
            ("apps/v1", "Deployment", &*format!("{container}.ports[1].containerPort"), Some(Int)),
            ("apps/v1", "Deployment", &*format!("{container}.livenessProbe.periodSeconds"), Some(Int)),
            ("apps/v1", "Deployment", &*format!("{container}.livenessProbe.httpGet.port"), None),
            ("apps/v1", "Deployment", &*format!("{container}.resources.limits.memory"), None),
            ("apps/v1", "Deployment", &*format!("{container}.env[0].value"), Some(String)),
            ("apps/v1", "Deployment", &*format!("{container}.securityContext.runAsUser"), Some(Int)),
            ("apps/v1", "Deployment", "spec.template.spec.terminationGracePeriodSeconds", Some(Int)),
            ("v1", "DeploymentConfig", "spec.replicas", Some(Int)),
            ("apps.openshift.io/v1", "DeploymentConfig", "spec.triggers[0].imageChangeParams.automatic", Some(Bool)),
            ("v1", "DeploymentConfig", &*format!("{container}.ports[0].hostPort"), Some(Int)),
            ("v1", "Service", "spec.ports[0].port", Some(Int)),
            ("v1", "Service", "spec.ports[0].targetPort", None),
            ("v1", "Service", "spec.ports.port", None),
            ("v1", "Service", "metadata.name", Some(String)),
            ("route.openshift.io/v1", "Route", "spec.to.weight", Some(Int)),
            ("batch/v1", "CronJob", "spec.suspend", Some(Bool)),
            ("v1", "ConfigMap", "data.replicas", Some(String)),
            ("v1", "Secret", "stringData.a.b/c[0]", Some(String)),
            ("v1", "Pod", "metadata.annotations.example.org/x", Some(String)),
            ("v1", "Pod", "metadata.annotations", None),
            ("apps/v1", "Deployment", &*format!("{container}.args[3]"), Some(String)),
            ("apps/v1", "Deployment", &*format!("{container}.args"), None),
            ("apps/v1", "Deployment", "spec.selector.matchLabels.app", Some(String)),
            ("v1", "DeploymentConfig", "spec.selector.app", Some(String)),
            ("v1", "DeploymentConfig", "metadata.labels.app", Some(String)),
            ("apps/v1", "Deployment", "spec.strategy.rollingUpdate.maxSurge", None),
            ("v1", "ConfigMap", "immutable", Some(Bool)),
            ("autoscaling/v2", "HorizontalPodAutoscaler", "spec.maxReplicas", Some(Int)),
            ("autoscaling/v1", "HorizontalPodAutoscaler", "spec.minReplicas", Some(Int)),
            ("example.org/v1", "Deployment", "spec.replicas", None),
            ("example.org/v1", "Deployment", "metadata.labels.app", Some(String)),
            ("settings.k8s.io/v1alpha1", "PodPreset", "spec.env[0].value", Some(String)),
        ] {
            assert_eq!(at(version, kind, path), expected, "{version} {kind} {path}");
        }
    }

    #[test]
    fn values_of_variables_are_strings_in_every_workload() {
        for workload in crate::k8s::WORKLOAD_KINDS {
            let version = if workload.group.is_empty() { "v1".into() } else { format!("{}/v1", workload.group) };
            let pods = workload.pod_specs.iter().map(|it| format!("{it}.containers[0].env[0]"));
            let hooks = workload.hooks.iter().map(|it| format!("{}.{}[0]", it.path, it.env));
            for entry in pods.chain(hooks) {
                let path = format!("{}.value", entry.replace("[*]", "[0]"));
                assert_eq!(at(&version, workload.kind, &path), Some(ScalarType::String), "{version} {path}");
            }
        }
    }

    #[test]
    fn every_type_that_is_named_is_there() {
        for (name, fields) in &TABLE.types {
            for (field, it) in fields {
                if let FieldTarget::Type(target) = it.target {
                    assert!(TABLE.types.contains_key(target), "{name}.{field} is a {target}");
                }
            }
        }
        for (kind, all) in &TABLE.kinds {
            assert!(all.iter().all(|(_, name)| TABLE.types.contains_key(name)), "{kind}");
        }
        assert!(TABLE.types.contains_key(ANY_OBJECT));
    }
}
