//! What an object is: names, the pods in it, and the data others refer to.
//!
//! Everything is optional, as half-typed manifests are; nothing here judges.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::k8s::content_hash::ContentHash;
use crate::k8s::object_cache::{self, Region};
use crate::k8s::preset::PodPreset;
use crate::k8s::service_dependencies::ServiceDependencies;
use crate::k8s::template::{ParameterNames, ParameterizedText, Parameters, Template};
use crate::k8s::workloads::Controller;
use crate::syntax::{ScalarStyle, Subtree};
use crate::text::Span;

/// An object at its place in a file.
#[derive(Clone, Debug)]
pub struct Object {
    /// The offset of its first byte in the file. Spans in `model` count from here, or are marks: see
    /// [`Object::file_span`].
    pub offset: usize,
    /// What it says.
    pub model: Arc<Model>,
    /// The parameters of the template it stands in.
    pub parameters: Option<Arc<Parameters>>,
}

impl Object {
    /// A span of the model as a span of the file. This is the only way there: in a document that is being edited,
    /// spans in a container may be marks that stay the same when the container moves.
    pub fn file_span(&self, span: Span) -> Span {
        object_cache::unmarked(&self.model.regions, span).shifted(self.offset)
    }

    /// A text of it with the parameters of its template replaced, as far as they have values; as written otherwise.
    pub fn with_known_parameters<'t>(&self, text: &'t Arc<str>) -> Cow<'t, Arc<str>> {
        let known = self.parameters.as_ref().filter(|_| text.contains('$')).and_then(|it| it.substitute_known(text));
        match known {
            Some(Cow::Owned(known)) => Cow::Owned(known.into()),
            _ => Cow::Borrowed(text),
        }
    }

    /// What it says if it is a Service, the known parameters of its template put in.
    pub fn service(&self) -> Option<Cow<'_, Service>> {
        let ObjectData::Service(service) = &self.model.data else { return None };
        if self.parameters.is_none() {
            return Some(Cow::Borrowed(service));
        }
        let with_value = |it: &Text| Text { value: self.with_known_parameters(&it.value).into_owned(), ..it.clone() };
        let filled = |text: &Option<Text>| text.as_ref().map(with_value);
        // What a parameter without a value makes of an address is not known.
        let known = |text: &Option<Text>| filled(text).filter(|it| !it.value.contains('$'));
        let port = |it: &ServicePort| {
            let number = filled(&it.port_text).and_then(|it| it.value.trim().parse().ok());
            let (name, protocol) = (filled(&it.name), filled(&it.protocol));
            ServicePort { name, protocol, port: it.port.or(number), ..it.clone() }
        };
        Some(Cow::Owned(Service {
            type_: filled(&service.type_),
            cluster_ip: known(&service.cluster_ip),
            ports: service.ports.iter().map(port).collect(),
        }))
    }

    /// The namespace it lives in, as far as the text decides that: processing a template removes what is written there, or
    /// puts a parameter in.
    pub fn namespace(&self) -> Option<&str> {
        let namespace = self.model.namespace.as_ref().filter(|_| self.parameters.is_none());
        namespace.map(|it| &*it.value)
    }

    /// The name others refer to it by, with parameters replaced.
    pub fn reference_name(&self) -> Option<Cow<'_, Arc<str>>> {
        self.model.reference_name_text().map(|text| self.with_known_parameters(&text.value))
    }
}

/// A scalar that matters: its value, where it stands and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text after unescaping and folding.
    pub value: Arc<str>,
    /// Relative to the object.
    pub span: Span,
    /// Leads, with the source, to the place of each character.
    pub style: ScalarStyle,
    /// Whether kubectl reads it as a string; `8080` and `yes` are not.
    pub is_string: bool,
}

/// An object without its place.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The whole object, relative to itself.
    pub span: Span,
    /// `apiVersion`.
    pub api_version: Option<Text>,
    /// `kind`.
    pub kind: Option<Text>,
    /// `metadata.name`.
    pub name: Option<Text>,
    /// `metadata.namespace`.
    pub namespace: Option<Text>,
    /// `metadata.labels`.
    pub labels: Vec<(Text, Text)>,
    /// `metadata.annotations`; not those of a Secret, where kubectl keeps a copy of the whole object.
    pub annotations: Vec<(Text, Text)>,
    /// The pods this object makes, each with its path.
    pub pods: Vec<Pod>,
    /// What other objects can refer to.
    pub data: ObjectData,
    /// Its texts in which a parameter may stand, if it is an object of a template.
    pub parameterized_texts: Vec<ParameterizedText>,
    /// The names in those texts that may be meant for parameters.
    pub candidate_names: ParameterNames,
    /// The bytes of containers whose spans are marks, by marks.
    pub(crate) regions: Vec<Region>,
    /// What stands around the parts that are known by themselves, its containers or the objects in it.
    pub(crate) surrounding_subtrees: Option<Vec<Subtree>>,
}

impl Model {
    /// What stands around its containers, or around the objects in it, in the tree that it was read from: while it is
    /// the same, so is all that they see of their object. Known only of large objects in a document that is being
    /// edited.
    pub fn surrounding_subtrees(&self) -> Option<&[Subtree]> {
        self.surrounding_subtrees.as_deref()
    }

    /// The name others refer to it by: `metadata.name`, or the name of what a sealed or external secret makes.
    pub fn reference_name_text(&self) -> Option<&Text> {
        match &self.data {
            ObjectData::ConfigMap(source) | ObjectData::Secret(source) => {
                source.object_name.as_ref().or(self.name.as_ref())
            }
            _ => self.name.as_ref(),
        }
    }

    /// Whether it offers the same to others as another object does, wherever the two stand.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        let same = |a: &Option<Text>, b: &Option<Text>| match (a, b) {
            (Some(a), Some(b)) => a.is_equivalent(b),
            (None, None) => true,
            _ => false,
        };
        let named = same(&self.api_version, &other.api_version)
            && same(&self.kind, &other.kind)
            && same(&self.name, &other.name)
            && same(&self.namespace, &other.namespace);
        named
            && match (&self.data, &other.data) {
                (ObjectData::ConfigMap(a), ObjectData::ConfigMap(b))
                | (ObjectData::Secret(a), ObjectData::Secret(b)) => {
                    let keys = |a: &DataEntry, b: &DataEntry| a.key.is_equivalent(&b.key) && a.value == b.value;
                    all(&a.keys, &b.keys, keys)
                        && all(&a.binary_keys, &b.binary_keys, Text::is_equivalent)
                        && (a.may_have_more_keys, a.is_addition, a.made_by)
                            == (b.may_have_more_keys, b.is_addition, b.made_by)
                        && same(&a.object_name, &b.object_name)
                }
                (ObjectData::Service(a), ObjectData::Service(b)) => {
                    let ports = |a: &ServicePort, b: &ServicePort| {
                        same(&a.name, &b.name)
                            && a.port == b.port
                            && same(&a.port_text, &b.port_text)
                            && same(&a.protocol, &b.protocol)
                    };
                    same(&a.type_, &b.type_) && same(&a.cluster_ip, &b.cluster_ip) && all(&a.ports, &b.ports, ports)
                }
                // Of other things nobody knows.
                _ => false,
            }
    }

    /// See [`Model::reference_name_text`].
    pub fn reference_name(&self) -> Option<&str> {
        self.reference_name_text().map(|text| &*text.value)
    }
}

impl Text {
    /// Whether it is the same text, wherever it stands.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self.value == other.value && self.style == other.style && self.is_string == other.is_string
    }
}

fn all<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// What an object offers to others.
#[derive(Clone, Debug, Default)]
pub enum ObjectData {
    /// Nothing we know of.
    #[default]
    None,
    /// A ConfigMap, also one that a Kustomize generator makes.
    ConfigMap(KeyedData),
    /// A Secret, also one that a generator, SealedSecret or ExternalSecret makes.
    Secret(KeyedData),
    /// A core Service.
    Service(Service),
    /// A PodPreset.
    Preset(Box<PodPreset>),
    /// A Kustomization; what its generators make are objects of their own.
    Kustomization(Kustomization),
    /// A Template; what it holds are objects of their own.
    Template(Box<Template>),
}

/// The keys of a ConfigMap or Secret.
#[derive(Clone, Debug, Default)]
pub struct KeyedData {
    /// `data` and `stringData` (which wins), in order.
    pub keys: Vec<DataEntry>,
    /// Keys of `binaryData`: they exist, but never as variables (B9, B18).
    pub binary_keys: Vec<Text>,
    /// Whether keys may exist that this text does not show: a generator with files we cannot see, a sealed or external
    /// secret, a SOPS file, `behavior: merge`.
    pub may_have_more_keys: bool,
    /// Whether it adds to a definition that stands elsewhere, whose keys are then not all: `behavior: merge`, a patch.
    pub is_addition: bool,
    /// The name of the object it makes, where that is not its own `metadata.name`.
    pub object_name: Option<Text>,
    /// Whether the cluster's name gets a suffix or the object is otherwise made by a tool; for hover texts.
    pub made_by: Option<&'static str>,
}

/// One key of a ConfigMap or Secret.
#[derive(Clone, Debug)]
pub struct DataEntry {
    /// The key.
    pub key: Text,
    /// Its value; for a Secret decoded from base64. Nothing when it is not text or not known.
    pub value: Option<DataValue>,
    /// Where the value stands.
    pub value_span: Option<Span>,
}

/// The value of a key. It may be a secret, so `Debug` shows its length and nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct DataValue(Arc<str>);

impl DataValue {
    /// A value.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl Deref for DataValue {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DataValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.len())
    }
}

/// A core Service, as far as variables come from it (S1 to S11).
#[derive(Clone, Debug, Default)]
pub struct Service {
    /// `spec.type`.
    pub type_: Option<Text>,
    /// `spec.clusterIP`.
    pub cluster_ip: Option<Text>,
    /// `spec.ports`.
    pub ports: Vec<ServicePort>,
}

/// A port of a Service.
#[derive(Clone, Debug, Default)]
pub struct ServicePort {
    /// `name`.
    pub name: Option<Text>,
    /// `port`, as a number where it is one.
    pub port: Option<i64>,
    /// `port`, where it is a text: a parameter of a template.
    pub port_text: Option<Text>,
    /// `protocol`.
    pub protocol: Option<Text>,
    /// The whole entry.
    pub span: Span,
}

/// What a Kustomization says about other files.
#[derive(Clone, Debug, Default)]
pub struct Kustomization {
    /// Files that hold patches: their objects are parts of objects elsewhere.
    pub patches: Vec<Text>,
    /// Names of `vars`: `$(NAME)` in the files it builds may be one of them.
    pub vars: Vec<Text>,
    /// Whether it holds patches itself.
    pub has_inline_patches: bool,
}

/// A pod spec with what surrounds it.
#[derive(Clone, Debug, Default)]
pub struct Pod {
    /// The path of the spec in the object, such as `spec.template.spec`.
    pub path: String,
    /// The pod spec mapping.
    pub span: Span,
    /// Labels of the pod (of the template's metadata, or of the Pod itself).
    pub labels: Vec<(Text, Text)>,
    /// Annotations of the pod.
    pub annotations: Vec<(Text, Text)>,
    /// The pod's own name where the manifest decides it: a bare Pod without `generateName`.
    pub name: Option<Text>,
    /// Containers: init (sidecars among them), regular, ephemeral, each as declared.
    pub containers: Vec<Arc<Container>>,
    /// `volumes`.
    pub volumes: Vec<Volume>,
    /// `enableServiceLinks` with its place.
    pub service_links: Option<(bool, Span)>,
    /// What is assumed when `enableServiceLinks` is absent: true, but false for Knative.
    pub default_service_links: bool,
    /// `serviceDependencies` of the explicit links proposal (PS5).
    pub service_dependencies: Option<Box<ServiceDependencies>>,
    /// `nodeName`.
    pub node_name: Option<Text>,
    /// `serviceAccountName`.
    pub service_account: Option<Text>,
    /// `resources.limits` of the pod as a whole.
    pub limits: Vec<(Text, Text)>,
    /// What makes the pod, and may add to it.
    pub controller: Controller,
    /// Whether it is a pod of an indexed Job (B25).
    pub is_indexed: bool,
}

/// What a container is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContainerRole {
    /// Runs to its end before the others.
    Init,
    /// An init container with `restartPolicy: Always`.
    Sidecar,
    /// Regular.
    #[default]
    Container,
    /// For debugging a running pod.
    Ephemeral,
    /// A deployment hook's environment (DeploymentConfig): env and command without a container of its own. What the
    /// platform adds to it, the env of the container it names among it, comes in no order that could be told.
    Hook,
}

/// A container.
#[derive(Clone, Debug, Default)]
pub struct Container {
    /// The path in the object, such as `spec.containers[0]`.
    pub path: String,
    /// The container mapping.
    pub span: Span,
    /// What it is for.
    pub role: ContainerRole,
    /// `name`.
    pub name: Option<Text>,
    /// `image`; a container without one is a patch.
    pub image: Option<Text>,
    /// `env`, as declared.
    pub env: Vec<EnvVar>,
    /// The whole `env` list.
    pub env_span: Option<Span>,
    /// `envFrom`, as declared.
    pub env_from: Vec<EnvFrom>,
    /// `command`.
    pub command: Vec<Text>,
    /// `args`.
    pub args: Vec<Text>,
    /// `workingDir`.
    pub working_directory: Option<Text>,
    /// Whether it has hooks of its own: `lifecycle`.
    pub has_hooks: bool,
    /// Exec probes.
    pub probes: Vec<Probe>,
    /// `volumeMounts`.
    pub mounts: Vec<Mount>,
    /// `resources.limits`, then `resources.requests`: name and quantity.
    pub limits: Vec<(Text, Text)>,
    /// See `limits`.
    pub requests: Vec<(Text, Text)>,
    /// Every other string in it that holds a `$`, with its path in the container: lifecycle, httpGet, workingDir, image,
    /// mountPath … Kubernetes expands nothing there. Of a list such as a lifecycle command all items are kept, since
    /// the first of them tell whether a shell runs.
    pub unexpanded: Vec<(String, Text)>,
    /// Whether a Helm expression may add entries to `env` or `envFrom`.
    pub may_have_more_variables: bool,
}

/// An entry of `env`.
#[derive(Clone, Debug, Default)]
pub struct EnvVar {
    /// The whole entry.
    pub span: Span,
    /// `name`.
    pub name: Option<Text>,
    /// `value`.
    pub value: Option<Text>,
    /// `valueFrom`.
    pub from: Option<ValueFrom>,
}

/// `valueFrom`: the sources that are set, in the order the kubelet looks at them (B20).
#[derive(Clone, Debug, Default)]
pub struct ValueFrom {
    /// The whole mapping.
    pub span: Span,
    /// Usually exactly one.
    pub sources: Vec<ValueSource>,
    /// Keys beside them that are no source.
    pub others: Vec<Text>,
    /// Equal for equal sources.
    pub content_hash: ContentHash,
}

/// One source of a value.
#[derive(Clone, Debug)]
pub enum ValueSource {
    /// `fieldRef`
    Field {
        /// `apiVersion`
        api_version: Option<Text>,
        /// `fieldPath`
        path: Option<Text>,
    },
    /// `resourceFieldRef`
    Resource {
        /// `containerName`
        container: Option<Text>,
        /// `resource`
        resource: Option<Text>,
        /// `divisor`
        divisor: Option<Text>,
    },
    /// `configMapKeyRef`
    ConfigMap(KeyRef),
    /// `secretKeyRef`
    Secret(KeyRef),
    /// `fileKeyRef`
    File {
        /// Where the field's name stands.
        field: Span,
        /// `volumeName`
        volume: Option<Text>,
        /// `path`
        path: Option<Text>,
        /// `key`
        key: Option<Text>,
        /// `optional`
        optional: bool,
    },
}

/// A key of an object.
#[derive(Clone, Debug, Default)]
pub struct KeyRef {
    /// `name`
    pub name: Option<Text>,
    /// `key`
    pub key: Option<Text>,
    /// `optional`
    pub optional: bool,
}

/// An entry of `envFrom`.
#[derive(Clone, Debug, Default)]
pub struct EnvFrom {
    /// The whole entry.
    pub span: Span,
    /// `prefix`
    pub prefix: Option<Text>,
    /// The source; nothing when it is half typed. `configMapRef` is looked at first (B6).
    pub source: Option<EnvFromSource>,
    /// Every other key but `prefix`: a second source, or what is no source.
    pub others: Vec<Text>,
    /// Equal for equal entries.
    pub content_hash: ContentHash,
}

/// Where an entry of `envFrom` takes its variables from.
#[derive(Clone, Debug)]
pub enum EnvFromSource {
    /// `configMapRef`
    ConfigMap {
        /// `name`
        name: Option<Text>,
        /// `optional`
        optional: bool,
    },
    /// `secretRef`
    Secret {
        /// `name`
        name: Option<Text>,
        /// `optional`
        optional: bool,
    },
    /// `service`, of the explicit links proposal (PS1).
    Service {
        /// The key `service`.
        field: Span,
        /// `name`
        name: Option<Text>,
    },
}

/// An exec probe.
#[derive(Clone, Debug)]
pub struct Probe {
    /// `livenessProbe`, `readinessProbe` or `startupProbe`.
    pub probe: &'static str,
    /// `exec.command`
    pub command: Vec<Text>,
}

/// An entry of `volumeMounts`.
#[derive(Clone, Debug, Default)]
pub struct Mount {
    /// The whole entry.
    pub span: Span,
    /// `name`
    pub name: Option<Text>,
    /// `mountPath`
    pub mount_path: Option<Text>,
    /// `subPath`
    pub sub_path: Option<Text>,
    /// `subPathExpr`
    pub sub_path_expr: Option<Text>,
    /// `readOnly`
    pub read_only: bool,
    /// Equal for equal entries.
    pub content_hash: ContentHash,
}

/// An entry of `volumes`.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    /// The whole entry.
    pub span: Span,
    /// `name`
    pub name: Option<Text>,
    /// The field beside `name` that says what it is, such as `emptyDir`.
    pub kind: Option<Text>,
    /// Equal for equal entries.
    pub content_hash: ContentHash,
}
