//! Values of which parts may be unknown, because something outside the manifests decides them.
//!
//! Text from a Secret is always marked, so that it is not printed by accident, not even by `Debug`.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use crate::syntax::{TextPart, has_placeholder, show_placeholders, split_placeholders};
use crate::workspace::KubernetesVersion;

/// A text that may have unknown parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedValue {
    parts: Vec<ValuePart>,
}

/// A part of a value.
#[derive(Clone, PartialEq, Eq)]
pub enum ValuePart {
    /// Known text.
    Text(Arc<str>),
    /// Known text that came from a Secret.
    Secret {
        /// The text itself.
        text: Arc<str>,
        /// `secret/key`.
        of: Arc<str>,
    },
    /// A part that is not known here.
    Unknown(UnknownReason),
}

/// Why a part of a value is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownReason {
    /// The address that the cluster assigns to a service.
    ClusterIp(Arc<str>),
    /// A port that the manifest of a service does not contain.
    ServicePort(Arc<str>),
    /// A service variable whose service is not in this workspace.
    ServiceVariable(Arc<str>),
    /// A key of a ConfigMap that is not in this workspace, or whose value the manifest does not contain.
    ConfigMapKey(Arc<str>, Arc<str>),
    /// A key of a Secret that is not in this workspace, or whose value the manifest does not contain.
    SecretKey(Arc<str>, Arc<str>),
    /// A key that does not exist in its object: the container does not start.
    MissingKey(Arc<str>),
    /// A field that the cluster sets.
    Field(Arc<str>),
    /// A resource that the node or the namespace decides.
    Resource(Arc<str>),
    /// A key of a file that a container writes.
    EnvFileKey {
        /// The key.
        key: Arc<str>,
        /// The file's path in the volume.
        path: Arc<str>,
        /// The volume.
        volume: Arc<str>,
    },
    /// An env file that no container writes: the container does not start.
    MissingFile {
        /// The file's path in the volume.
        path: Arc<str>,
        /// The volume.
        volume: Arc<str>,
    },
    /// An env file that the kubelet refuses: the container does not start.
    RefusedFile {
        /// The file's path in the volume.
        path: Arc<str>,
        /// The volume.
        volume: Arc<str>,
    },
    /// An env file that only a container writes which starts at the same time.
    LateFile {
        /// The file's path in the volume.
        path: Arc<str>,
        /// The volume.
        volume: Arc<str>,
    },
    /// An env file that the user of the container may not read: the container does not start.
    UnreadableFile {
        /// The file's path in the volume.
        path: Arc<str>,
        /// The volume.
        volume: Arc<str>,
    },
    /// The resource of a container that the pod does not have: the container does not start (B24).
    MissingContainer(Arc<str>),
    /// A field that the release does not serve, so that it has no effect.
    Unserved {
        /// The field.
        field: &'static str,
        /// The release.
        release: KubernetesVersion,
    },
    /// A variable that a controller sets.
    Injected(Arc<str>),
    /// Several objects may be meant, and their values differ.
    Ambiguous(Arc<str>),
    /// Different in different orders of presets, and their order is not defined (A3).
    PresetOrder,
    /// A variable that something outside this workspace may set.
    External(Arc<str>),
    /// A parameter of a template without a value.
    Parameter(Arc<str>),
    /// A parameter of a template that gets a random value.
    Generated(Arc<str>),
    /// The result of a Helm expression.
    Helm,
    /// Longer than the variables that a program can be started with.
    TooLong,
    /// An incomplete entry.
    Unfinished,
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show_placeholders(&ReasonWords(self).to_string()))
    }
}

/// The words of a reason, in which names may still have placeholders.
struct ReasonWords<'r>(&'r UnknownReason);

impl fmt::Display for ReasonWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            UnknownReason::ClusterIp(service) => write!(f, "cluster IP of {service}"),
            UnknownReason::ServicePort(service) => write!(f, "port of {service}"),
            UnknownReason::ServiceVariable(name) => write!(f, "service variable {name}"),
            UnknownReason::ConfigMapKey(name, key) => write!(f, "config map key {name}/{key}"),
            UnknownReason::SecretKey(name, key) => write!(f, "secret key {name}/{key}"),
            UnknownReason::MissingKey(key) => write!(f, "missing key {key}"),
            UnknownReason::Field(path) => write!(f, "field {path}"),
            UnknownReason::Resource(resource) => write!(f, "resource {resource}"),
            UnknownReason::EnvFileKey { key, path, volume } => {
                write!(f, "key {key} of env file {path} in volume {volume}")
            }
            UnknownReason::MissingFile { path, volume } => write!(f, "missing env file {path} in volume {volume}"),
            UnknownReason::RefusedFile { path, volume } => write!(f, "invalid env file {path} in volume {volume}"),
            UnknownReason::LateFile { path, volume } => {
                write!(f, "env file {path} in volume {volume}, written at the same time")
            }
            UnknownReason::UnreadableFile { path, volume } => {
                write!(f, "unreadable env file {path} in volume {volume}")
            }
            UnknownReason::MissingContainer(name) => write!(f, "resource of missing container {name}"),
            UnknownReason::Unserved { field, release } => write!(f, "{field}, not served by Kubernetes {release}"),
            UnknownReason::Injected(what) => write!(f, "{what}"),
            UnknownReason::Ambiguous(name) => write!(f, "one of several {name}"),
            UnknownReason::PresetOrder => f.write_str("depends on the order of presets"),
            UnknownReason::External(name) => write!(f, "variable {name}, set elsewhere"),
            UnknownReason::Parameter(name) => write!(f, "parameter {name}, not set"),
            UnknownReason::Generated(name) => write!(f, "parameter {name}, generated"),
            UnknownReason::Helm => f.write_str("Helm expression"),
            UnknownReason::TooLong => f.write_str("value too long"),
            UnknownReason::Unfinished => f.write_str("incomplete entry"),
        }
    }
}

/// How much of a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueState {
    /// All of it.
    Known,
    /// Known text and unknown parts.
    Partial,
    /// Only unknown parts.
    Unknown,
    /// Part of it comes from a Secret.
    Secret,
}

impl ValueState {
    /// The name in the JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Partial => "partial",
            Self::Unknown => "unknown",
            Self::Secret => "secret",
        }
    }
}

impl ResolvedValue {
    /// Known text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        let mut value = Self::default();
        value.push(ValuePart::Text(text.into()));
        value
    }

    /// A text of an object; its placeholders are unknown parts.
    pub fn written(text: Arc<str>) -> Self {
        if !has_placeholder(&text) {
            return Self::text(text);
        }
        let mut value = Self::default();
        for part in split_placeholders(&text) {
            value.push(match part {
                TextPart::Text(text) => ValuePart::Text(text.into()),
                TextPart::Helm => ValuePart::Unknown(UnknownReason::Helm),
                TextPart::Parameter(name) => ValuePart::Unknown(UnknownReason::Parameter(name.into())),
                TextPart::Generated(name) => ValuePart::Unknown(UnknownReason::Generated(name.into())),
            });
        }
        value
    }

    /// An unknown value, for this reason.
    pub fn unknown(reason: UnknownReason) -> Self {
        Self { parts: vec![ValuePart::Unknown(reason)] }
    }

    /// Known text from a key of a Secret.
    pub fn secret(text: impl Into<Arc<str>>, of: impl Into<Arc<str>>) -> Self {
        Self { parts: vec![ValuePart::Secret { text: text.into(), of: of.into() }] }
    }

    /// The same value with its text marked as coming from a key of a Secret.
    pub fn marked_secret(self, of: &Arc<str>) -> Self {
        if self.parts.is_empty() {
            return Self::secret("", Arc::clone(of));
        }
        let mark = |part| match part {
            ValuePart::Text(text) => ValuePart::Secret { text, of: Arc::clone(of) },
            other => other,
        };
        Self { parts: self.parts.into_iter().map(mark).collect() }
    }

    /// Its parts, in order.
    pub fn parts(&self) -> &[ValuePart] {
        &self.parts
    }

    /// Appends a part.
    pub fn push(&mut self, part: ValuePart) {
        if !matches!(&part, ValuePart::Text(text) if text.is_empty()) {
            self.parts.push(part);
        }
    }

    /// Appends another value.
    pub fn append(&mut self, other: &ResolvedValue) {
        self.parts.extend(other.parts.iter().cloned());
    }

    /// The same value with adjacent texts joined.
    pub fn with_joined_text(self) -> Self {
        let mut result = Self::default();
        let mut text = String::new();
        for part in self.parts {
            match part {
                ValuePart::Text(it) => text.push_str(&it),
                other => {
                    result.push(ValuePart::Text(std::mem::take(&mut text).into()));
                    result.push(other);
                }
            }
        }
        result.push(ValuePart::Text(text.into()));
        result
    }

    /// How much of it is known.
    pub fn state(&self) -> ValueState {
        let unknown = self.parts.iter().filter(|it| matches!(it, ValuePart::Unknown(_))).count();
        if self.parts.iter().any(|it| matches!(it, ValuePart::Secret { .. })) {
            ValueState::Secret
        } else if unknown == 0 {
            ValueState::Known
        } else if unknown == self.parts.len() {
            ValueState::Unknown
        } else {
            ValueState::Partial
        }
    }

    /// Whether it is certainly the empty string.
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|it| match it {
            ValuePart::Text(text) | ValuePart::Secret { text, .. } => text.is_empty(),
            ValuePart::Unknown(_) => false,
        })
    }

    /// The text, if all of it is known and none of it is secret.
    pub fn known(&self) -> Option<String> {
        (self.state() == ValueState::Known).then(|| self.to_string())
    }

    /// The text including secrets: only for users who asked for it.
    pub fn revealed(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                ValuePart::Text(it) | ValuePart::Secret { text: it, .. } => text.push_str(it),
                ValuePart::Unknown(reason) => {
                    let _ = write!(text, "<{reason}>");
                }
            }
        }
        text
    }

    /// Whether both have the same text and state.
    pub fn same_text(&self, other: &ResolvedValue) -> bool {
        self.state() == other.state() && self.revealed() == other.revealed()
    }
}

/// Unknown parts are written as `<reason>`, secrets as a name: a length is a hint to the value.
impl fmt::Display for ResolvedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            ValuePart::Text(text) => f.write_str(text),
            ValuePart::Secret { of, .. } => write!(f, "<secret {}>", show_placeholders(of)),
            ValuePart::Unknown(reason) => write!(f, "<{reason}>"),
        })
    }
}

impl fmt::Debug for ValuePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Secret { of, .. } => write!(f, "<secret {of}>"),
            Self::Unknown(reason) => write!(f, "<{reason}>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_only_a_name() {
        let mut value = ResolvedValue::text("user:");
        value.append(&ResolvedValue::secret("hunter2", "db/password"));
        assert_eq!(value.to_string(), "user:<secret db/password>");
        let debug = format!("{value:?}");
        assert!(!debug.contains("hunter2") && !debug.contains('7'), "{debug}");
        assert_eq!(value.state(), ValueState::Secret);
    }

    #[test]
    fn unknown_parts_have_reasons() {
        let mut value = ResolvedValue::text("http://");
        value.append(&ResolvedValue::unknown(UnknownReason::ClusterIp("redis".into())));
        assert_eq!(value.to_string(), "http://<cluster IP of redis>");
        assert_eq!(value.state(), ValueState::Partial);
        assert_eq!(ResolvedValue::unknown(UnknownReason::Unfinished).state(), ValueState::Unknown);
        assert_eq!(ResolvedValue::text("").state(), ValueState::Known);
    }
}
