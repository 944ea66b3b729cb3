//! Which fields of a kind are numbers or booleans: a graph of types, generated from the schemas by `derive.py`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::k8s::Model;

/// The type that a field expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum ScalarType {
    Int,
    Number,
    Bool,
}

impl ScalarType {
    pub(in crate::rules) fn in_words(self) -> &'static str {
        match self {
            Self::Int => "an integer",
            Self::Number => "a number",
            Self::Bool => "a boolean",
        }
    }

    /// Whether a text can be decoded as this type.
    pub(in crate::rules) fn fits(self, text: &str) -> bool {
        match self {
            Self::Int => text.trim().parse::<i64>().is_ok(),
            Self::Number => text.trim().parse::<f64>().is_ok(),
            Self::Bool => matches!(text.trim(), "true" | "false"),
        }
    }
}

/// The type of a field: a scalar, or another type of the table.
#[derive(Clone, Copy, Debug)]
enum FieldTarget {
    Scalar(ScalarType),
    Type(&'static str),
}

type TypeFields = BTreeMap<&'static str, (FieldNesting, FieldTarget)>;

/// Whether a field has one value, a list or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldNesting {
    One,
    List,
    Map,
}

struct FieldTypeTable {
    /// The group and the type of each kind.
    kinds: BTreeMap<&'static str, Vec<(&'static str, &'static str)>>,
    types: BTreeMap<&'static str, TypeFields>,
}

static TABLE: LazyLock<FieldTypeTable> = LazyLock::new(|| {
    let mut table = FieldTypeTable { kinds: BTreeMap::new(), types: BTreeMap::new() };
    table.read(include_str!("field_types/fields.txt"));
    table.read(include_str!("field_types/openshift.txt"));
    table
});

impl FieldTypeTable {
    fn read(&mut self, text: &'static str) {
        let mut fields: Option<&mut TypeFields> = None;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match (line.starts_with(' '), words.next(), words.next(), words.next(), words.next()) {
                (true, Some(field), Some(target), None, _) => {
                    let (shape, target) = match target.split_at_checked(2) {
                        Some(("[]", rest)) => (FieldNesting::List, rest),
                        Some(("{}", rest)) => (FieldNesting::Map, rest),
                        _ => (FieldNesting::One, target),
                    };
                    let target = match target {
                        "int" => FieldTarget::Scalar(ScalarType::Int),
                        "number" => FieldTarget::Scalar(ScalarType::Number),
                        "bool" => FieldTarget::Scalar(ScalarType::Bool),
                        name => FieldTarget::Type(name),
                    };
                    if let Some(fields) = &mut fields {
                        fields.insert(field, (shape, target));
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

/// The fields of one kind.
#[derive(Clone, Copy, Debug)]
pub(in crate::rules) struct KindFields(&'static str);

/// The fields of an object, if its kind is known. OpenShift's kinds may be written without their group, and an old
/// group has the fields of the group that replaced it.
pub(in crate::rules) fn fields_of(model: &Model) -> Option<KindFields> {
    let version = model.api_version.as_ref().map_or("", |it| &it.value);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let kinds = TABLE.kinds.get(&*model.kind.as_ref()?.value)?;
    let same = kinds.iter().find(|(known, _)| *known == group);
    let moved = || match group {
        "" => kinds.iter().find(|(known, _)| known.ends_with(".openshift.io")),
        "extensions" => kinds.first(),
        _ => None,
    };
    same.or_else(moved).map(|(_, name)| KindFields(name))
}

impl KindFields {
    /// The type of the field at a path; `None` for strings and unknown fields.
    pub(in crate::rules) fn at(self, path: &str) -> Option<ScalarType> {
        let mut name = self.0;
        let mut steps = path.split('.');
        loop {
            let step = steps.next()?;
            let (field, is_item) = step.split_once('[').map_or((step, false), |(field, _)| (field, true));
            let (shape, target) = TABLE.types.get(name)?.get(field)?;
            if *shape == FieldNesting::Map {
                steps.next()?;
            }
            if is_item != (*shape == FieldNesting::List) {
                return None;
            }
            match target {
                FieldTarget::Scalar(scalar) => return steps.next().is_none().then_some(*scalar),
                FieldTarget::Type(next) => name = next,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::read_objects;
    use crate::syntax::parse;

    fn at(api_version: &str, kind: &str, path: &str) -> Option<ScalarType> {
        let tree = parse(&format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n"));
        fields_of(&read_objects(&tree)[0].model)?.at(path)
    }

    #[test]
    fn fields_are_known_by_their_paths() {
        use ScalarType::{Bool, Int};
        let container = "spec.template.spec.containers[0]";
        for (version, kind, path, expected) in [
            ("apps/v1", "Deployment", "spec.replicas", Some(Int)),
            ("extensions/v1beta1", "Deployment", "spec.replicas", Some(Int)),
            ("apps/v1", "Deployment", "spec.paused", Some(Bool)),
            ("apps/v1", "Deployment", &*format!("{container}.ports[1].containerPort"), Some(Int)),
            ("apps/v1", "Deployment", &*format!("{container}.livenessProbe.periodSeconds"), Some(Int)),
            ("apps/v1", "Deployment", &*format!("{container}.livenessProbe.httpGet.port"), None),
            ("apps/v1", "Deployment", &*format!("{container}.resources.limits.memory"), None),
            ("apps/v1", "Deployment", &*format!("{container}.env[0].value"), None),
            ("apps/v1", "Deployment", &*format!("{container}.securityContext.runAsUser"), Some(Int)),
            ("apps/v1", "Deployment", "spec.template.spec.terminationGracePeriodSeconds", Some(Int)),
            ("v1", "DeploymentConfig", "spec.replicas", Some(Int)),
            ("apps.openshift.io/v1", "DeploymentConfig", "spec.triggers[0].imageChangeParams.automatic", Some(Bool)),
            ("v1", "DeploymentConfig", &*format!("{container}.ports[0].hostPort"), Some(Int)),
            ("v1", "Service", "spec.ports[0].port", Some(Int)),
            ("v1", "Service", "spec.ports[0].targetPort", None),
            ("v1", "Service", "spec.ports.port", None),
            ("v1", "Service", "metadata.name", None),
            ("route.openshift.io/v1", "Route", "spec.to.weight", Some(Int)),
            ("batch/v1", "CronJob", "spec.suspend", Some(Bool)),
            ("v1", "ConfigMap", "data.replicas", None),
            ("v1", "ConfigMap", "immutable", Some(Bool)),
            ("autoscaling/v2", "HorizontalPodAutoscaler", "spec.maxReplicas", Some(Int)),
            ("autoscaling/v1", "HorizontalPodAutoscaler", "spec.minReplicas", Some(Int)),
            ("example.org/v1", "Deployment", "spec.replicas", None),
        ] {
            assert_eq!(at(version, kind, path), expected, "{version} {kind} {path}");
        }
    }

    #[test]
    fn every_type_that_is_named_is_there() {
        for (name, fields) in &TABLE.types {
            for (field, (_, target)) in fields {
                if let FieldTarget::Type(target) = target {
                    assert!(TABLE.types.contains_key(target), "{name}.{field} is a {target}");
                }
            }
        }
        for (kind, all) in &TABLE.kinds {
            assert!(all.iter().all(|(_, name)| TABLE.types.contains_key(name)), "{kind}");
        }
    }
}
