//! The types that describe an object: its names, its pods, and the data that other objects refer to.
//!
//! Fields are optional because manifests may be incomplete. Nothing is validated here.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::k8s::container_shape::{ContainerShape, JsonType, MisplacedField};
use crate::k8s::content_hash::ContentHash;
use crate::k8s::derived::Derived;
use crate::k8s::key_index::KeyIndex;
use crate::k8s::object_cache::{self, Region};
use crate::k8s::object_span::ObjectSpan;
use crate::k8s::parameters::TemplateMember;
use crate::k8s::preset::PodPreset;
use crate::k8s::service_dependencies::ServiceDependencies;
use crate::k8s::template::{ParameterNames, ParameterizedText, Template};
use crate::k8s::workloads::Controller;
use crate::syntax::{OwnedNode, ScalarStyle, Subtree, has_placeholder};
use crate::text::Span;

/// An object at its position in a file.
#[derive(Clone, Debug)]
pub struct Object {
    /// The offset of its first byte in the file. Spans in `model` are relative to it, or marks: see
    /// [`Object::file_span`].
    pub offset: usize,
    /// The content.
    pub model: Arc<Model>,
    /// Set if a template contains it.
    pub template: Option<TemplateMember>,
}

impl Object {
    /// Converts a span of the model to a span of the file. Always use this: in a document that is being edited, spans
    /// in a container may be marks, which stay the same when the container moves.
    pub fn file_span(&self, span: ObjectSpan) -> Span {
        object_cache::resolve_mark(&self.model.regions, span).shifted(self.offset)
    }

    /// The namespace, if it is known. Processing a template removes a namespace without parameters.
    pub fn namespace(&self) -> Option<Arc<str>> {
        let written = &self.model.namespace.as_ref()?.value;
        let namespace = match &self.template {
            Some(template) if !template.is_list_item && !template.parameters.keeps_namespace(written) => return None,
            Some(template) => template.parameters.substituted_string(written)?,
            None => Arc::clone(written),
        };
        Some(namespace).filter(|it| !has_placeholder(it))
    }

    /// The name that other objects use to refer to it. For an object of a template it is the name after substitution;
    /// placeholders stand for unknown values.
    pub fn reference_name(&self) -> Option<Arc<str>> {
        let written = &self.model.reference_name_text()?.value;
        match &self.template {
            Some(template) => template.parameters.substituted_string(written),
            None => Some(Arc::clone(written)),
        }
    }
}

/// A scalar: its value, its span and its style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The value after unescaping and folding.
    pub value: Arc<str>,
    /// Relative to the object.
    pub span: ObjectSpan,
    /// The style. With the source text it maps characters of the value to bytes.
    pub style: ScalarStyle,
    /// Whether kubectl reads it as a string. `8080` and `yes` are not strings.
    pub is_string: bool,
}

/// The content of an object, independent of its position.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The whole object, relative to itself.
    pub span: ObjectSpan,
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
    /// `metadata.annotations`. Empty for a Secret, because kubectl stores a copy of the whole object in one.
    pub annotations: Vec<(Text, Text)>,
    /// The pods that this object makes.
    pub pods: Vec<Pod>,
    /// The data that other objects refer to.
    pub data: ObjectData,
    /// The texts that contain a `$`, if it is an object of a template.
    pub parameterized_texts: Vec<ParameterizedText>,
    /// The names in these texts that may refer to parameters.
    pub candidate_names: ParameterNames,
    /// The tree of the object, if it is an object of a template and holds no other objects: it is built from this tree.
    pub tree: Option<OwnedNode>,
    /// What later layers derive from the object.
    pub derived: Derived,
    /// The containers whose spans are marks, sorted by mark.
    pub(crate) regions: Vec<Region>,
    /// See [`Model::surrounding_subtrees`].
    pub(crate) surrounding_subtrees: Option<Vec<Subtree>>,
}

impl Model {
    /// The subtrees around its containers, or around the objects in it. While they are equal, the rest of the object is
    /// unchanged for them. Only large objects of a document that is being edited have them.
    pub fn surrounding_subtrees(&self) -> Option<&[Subtree]> {
        self.surrounding_subtrees.as_deref()
    }

    /// The name that other objects use to refer to it: `metadata.name`, or the name of the Secret that a sealed or
    /// external secret makes.
    pub fn reference_name_text(&self) -> Option<&Text> {
        match &self.data {
            ObjectData::ConfigMap(source) | ObjectData::Secret(source) => {
                source.object_name.as_ref().or(self.name.as_ref())
            }
            _ => self.name.as_ref(),
        }
    }

    /// Whether a program filled every field to test that it can be written and read again: names and images are numbers, or
    /// the field with `Value` after it. Nobody runs such an object.
    pub fn is_round_trip_data(&self) -> bool {
        let is_made = |field: &str, text: &Option<Text>| {
            text.as_ref().map(|it| &*it.value).is_some_and(|it| {
                !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()) || it.strip_suffix("Value") == Some(field)
            })
        };
        if !is_made("name", &self.name) {
            return false;
        }
        if let ObjectData::Preset(preset) = &self.data {
            let mut variables = preset.pod.containers.iter().flat_map(|it| &it.env).peekable();
            return variables.peek().is_some() && variables.all(|it| is_made("name", &it.name));
        }
        let mut containers = self.pods.iter().flat_map(|it| &it.containers).peekable();
        containers.peek().is_some() && containers.all(|it| is_made("name", &it.name) && is_made("image", &it.image))
    }

    /// Whether both objects offer the same data to others. Positions are ignored.
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
                // Other data is not compared.
                _ => false,
            }
    }

    /// See [`Model::reference_name_text`].
    pub fn reference_name(&self) -> Option<&str> {
        self.reference_name_text().map(|text| &*text.value)
    }
}

impl Text {
    /// A string that is not in a file.
    pub fn of(value: impl Into<Arc<str>>) -> Self {
        Self { value: value.into(), span: ObjectSpan::default(), style: ScalarStyle::Plain, is_string: true }
    }

    /// Whether both are the same text. Positions are ignored.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self.value == other.value && self.style == other.style && self.is_string == other.is_string
    }
}

fn all<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// The data that an object offers to others.
#[derive(Clone, Debug, Default)]
pub enum ObjectData {
    /// None that podlens knows.
    #[default]
    None,
    /// A ConfigMap, or a Kustomize generator that makes one.
    ConfigMap(KeyedData),
    /// A Secret, or a generator, SealedSecret or ExternalSecret that makes one.
    Secret(KeyedData),
    /// A core Service.
    Service(Service),
    /// A PodPreset.
    Preset(Box<PodPreset>),
    /// A Kustomization. Its generators are separate objects.
    Kustomization(Kustomization),
    /// A Template. The objects in it are separate objects.
    Template(Box<Template>),
}

/// The keys of a ConfigMap or Secret.
#[derive(Clone, Debug, Default)]
pub struct KeyedData {
    /// The entries of `data` and `stringData`, in order. `stringData` wins.
    pub keys: Vec<DataEntry>,
    /// The keys of `binaryData`, which never become variables (B9, B18).
    pub binary_keys: Vec<Text>,
    /// Whether there may be keys that this text does not show: a generator that reads files, a sealed or external
    /// secret, a SOPS file, `behavior: merge`.
    pub may_have_more_keys: bool,
    /// Whether it adds keys to a definition elsewhere: `behavior: merge`, a patch.
    pub is_addition: bool,
    /// The name of the object it makes, if that is not its own `metadata.name`.
    pub object_name: Option<Text>,
    /// The tool or object that makes it, for hover texts.
    pub made_by: Option<&'static str>,
    /// The values that the API server refuses (V18).
    pub refused_values: Vec<RefusedValue>,
    /// Keys of the object that are not fields.
    pub misspelled: Vec<MisspelledField>,
    /// See [`KeyedData::entries_named`].
    pub by_name: KeyIndex,
}

/// A key that is not a field, and is probably meant to be one.
#[derive(Clone, Debug)]
pub struct MisspelledField {
    /// The key.
    pub key: Text,
    /// The field.
    pub field: &'static str,
    /// Whether the mapping has no such field yet.
    pub is_free: bool,
}

/// A value of a ConfigMap or Secret that the API server refuses. It may be a secret, so its text is not part of this.
#[derive(Clone, Debug)]
pub struct RefusedValue {
    /// The key.
    pub key: Text,
    /// The span of the value.
    pub span: ObjectSpan,
    /// The field: `data` or `stringData`.
    pub field: &'static str,
    /// What is wrong.
    pub flaw: ValueFlaw,
}

/// Why the API server refuses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFlaw {
    /// It is not a string.
    Type(JsonType),
    /// It is a string that is not base64.
    Encoding,
}

/// One key of a ConfigMap or Secret.
#[derive(Clone, Debug)]
pub struct DataEntry {
    /// The key.
    pub key: Text,
    /// The value, for a Secret decoded from base64. `None` if it is unknown or not text.
    pub value: Option<DataValue>,
    /// The span of the value.
    pub value_span: Option<ObjectSpan>,
}

/// The value of a key. It may be a secret, so `Debug` does not show it, nor its length.
#[derive(Clone, PartialEq, Eq)]
pub struct DataValue(Arc<str>);

impl DataValue {
    /// Creates a value.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text, shared.
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
        f.write_str("<value>")
    }
}

/// The fields of a core Service that variables come from (S1 to S11).
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
    /// `port`, if it is a number.
    pub port: Option<i64>,
    /// `port`, if it is a string: a parameter of a template.
    pub port_text: Option<Text>,
    /// `protocol`.
    pub protocol: Option<Text>,
    /// The whole entry.
    pub span: ObjectSpan,
}

/// The parts of a Kustomization that concern other files.
#[derive(Clone, Debug, Default)]
pub struct Kustomization {
    /// Files with patches. Their objects are parts of objects elsewhere.
    pub patches: Vec<Text>,
    /// The names of `vars`. In the files it builds, `$(NAME)` may be one of them.
    pub vars: Vec<Text>,
    /// Whether it contains inline patches.
    pub has_inline_patches: bool,
    /// Every `name` in inline patches: some are names of variables.
    pub patched_names: Vec<Arc<str>>,
    /// Whether an inline JSON patch sets a part of an entry of `env`, which it names by its index.
    pub patches_entries: bool,
}

/// A pod spec, with the metadata around it.
#[derive(Clone, Debug, Default)]
pub struct Pod {
    /// The path of the spec in the object, such as `spec.template.spec`.
    pub path: String,
    /// The pod spec mapping.
    pub span: ObjectSpan,
    /// The labels of the pod, from the metadata of the template or of the Pod itself.
    pub labels: Vec<(Text, Text)>,
    /// The annotations of the pod.
    pub annotations: Vec<(Text, Text)>,
    /// The name of the pod, if the manifest decides it: a Pod without `generateName`.
    pub name: Option<Text>,
    /// The containers: first init containers and sidecars, then regular, then ephemeral ones, each list as declared.
    pub containers: Vec<Arc<Container>>,
    /// `volumes`.
    pub volumes: Vec<Volume>,
    /// `enableServiceLinks` and its span.
    pub service_links: Option<(bool, ObjectSpan)>,
    /// The value of `enableServiceLinks` where it is absent.
    pub default_service_links: bool,
    /// `serviceDependencies` of the explicit links proposal (PS5).
    pub service_dependencies: Option<Box<ServiceDependencies>>,
    /// `nodeName`.
    pub node_name: Option<Text>,
    /// `serviceAccountName`.
    pub service_account: Option<Text>,
    /// `resources.limits` of the whole pod.
    pub limits: Vec<(Text, Text)>,
    /// What makes the pod. It may add labels and variables.
    pub controller: Controller,
    /// Whether it is a pod of an indexed Job (B25).
    pub is_indexed: bool,
    /// The user in `securityContext`, for containers that do not set one.
    pub user: UserFields,
    /// Fields of a container that are written beside the containers.
    pub misplaced: Vec<MisplacedField>,
    /// See [`Pod::links_explicitly`].
    pub(crate) explicit_links: OnceLock<bool>,
}

/// The fields of a `securityContext` that decide which user a container runs as.
#[derive(Clone, Debug, Default)]
pub struct UserFields {
    /// `runAsUser`.
    pub id: Option<Text>,
    /// `runAsNonRoot`.
    pub is_non_root: Option<bool>,
}

/// The role of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContainerRole {
    /// Runs to completion before the regular containers start.
    Init,
    /// An init container with `restartPolicy: Always`.
    Sidecar,
    /// A regular container.
    #[default]
    Container,
    /// An ephemeral container, for debugging a running pod.
    Ephemeral,
    /// A hook of a DeploymentConfig: `env` and `command` without a container. The platform adds further variables,
    /// among them those of the container that the hook names, in an unknown order.
    Hook,
}

/// A container.
#[derive(Clone, Debug, Default)]
pub struct Container {
    /// The path in the object, such as `spec.containers[0]`.
    pub path: String,
    /// The container mapping.
    pub span: ObjectSpan,
    /// The role.
    pub role: ContainerRole,
    /// `name`.
    pub name: Option<Text>,
    /// `image`. A container without one is a patch.
    pub image: Option<Text>,
    /// `env`, as declared.
    pub env: Vec<EnvVar>,
    /// The whole `env` list.
    pub env_span: Option<ObjectSpan>,
    /// `envFrom`, as declared.
    pub env_from: Vec<EnvFrom>,
    /// `command`.
    pub command: Vec<Text>,
    /// `args`.
    pub args: Vec<Text>,
    /// `workingDir`.
    pub working_directory: Option<Text>,
    /// Whether it has `lifecycle` hooks.
    pub has_hooks: bool,
    /// The user in `securityContext`.
    pub user: UserFields,
    /// Exec probes.
    pub probes: Vec<Probe>,
    /// `volumeMounts`.
    pub mounts: Vec<Mount>,
    /// `resources.limits`: names and quantities.
    pub limits: Vec<(Text, Text)>,
    /// `resources.requests`: names and quantities.
    pub requests: Vec<(Text, Text)>,
    /// Every other string with a `$`, with its path in the container: lifecycle, httpGet, workingDir, image, mountPath
    /// … Kubernetes expands nothing there. Of a list with such a string all items are included, because the first ones
    /// decide whether a shell runs.
    pub unexpanded: Vec<(String, Text)>,
    /// Whether `env` or `envFrom` may have more entries: a Helm action or a parameter without a value decides them.
    pub may_have_more_variables: bool,
    /// Mistakes in its shape.
    pub shape: ContainerShape,
}

/// An entry of `env`.
#[derive(Clone, Debug, Default)]
pub struct EnvVar {
    /// The whole entry.
    pub span: ObjectSpan,
    /// `name`.
    pub name: Option<Text>,
    /// `value`.
    pub value: Option<Text>,
    /// `valueFrom`.
    pub from: Option<ValueFrom>,
    /// Whether there is a mistake in the shape of the entry.
    pub is_malformed: bool,
}

/// `valueFrom`.
#[derive(Clone, Debug, Default)]
pub struct ValueFrom {
    /// The whole mapping.
    pub span: ObjectSpan,
    /// The sources that are set, usually one, in the order in which the kubelet checks them (B20).
    pub sources: Vec<ValueSource>,
    /// Keys that are not a source.
    pub others: Vec<Text>,
    /// Equal for sources with equal content.
    pub content_hash: ContentHash,
}

/// A source of a value.
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
        /// The span of the key `fileKeyRef`.
        field: ObjectSpan,
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

/// A reference to a key of an object.
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
    pub span: ObjectSpan,
    /// `prefix`
    pub prefix: Option<Text>,
    /// The source. `None` if it is incomplete. `configMapRef` has precedence (B6).
    pub source: Option<EnvFromSource>,
    /// Every other key with a value, except `prefix`: a second source, or an unknown key.
    pub others: Vec<Text>,
    /// Equal for entries with equal content.
    pub content_hash: ContentHash,
    /// Whether there is a mistake in the shape of the entry.
    pub is_malformed: bool,
}

/// The source of an entry of `envFrom`.
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
        field: ObjectSpan,
        /// `name`
        name: Option<Text>,
    },
}

impl EnvFromSource {
    /// The name of the object.
    pub fn name(&self) -> Option<&Text> {
        match self {
            Self::ConfigMap { name, .. } | Self::Secret { name, .. } | Self::Service { name, .. } => name.as_ref(),
        }
    }
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
    pub span: ObjectSpan,
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
    /// Equal for entries with equal content.
    pub content_hash: ContentHash,
}

/// An entry of `volumes`.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    /// The whole entry.
    pub span: ObjectSpan,
    /// `name`
    pub name: Option<Text>,
    /// The key of the volume's source, such as `emptyDir`.
    pub kind: Option<Text>,
    /// The key of a second source, which the API refuses.
    pub second_kind: Option<Text>,
    /// Equal for entries with equal content.
    pub content_hash: ContentHash,
}
