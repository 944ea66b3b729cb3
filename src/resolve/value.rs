//! Values with holes: what is known of a text whose parts may be decided outside the manifests.
//!
//! Text that came from a Secret is kept apart from other text for good: it is never printed by accident, `Debug`
//! included.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use crate::syntax::{has_helm_placeholder, split_helm_placeholders};

/// A text that may have unknown parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedValue {
    pieces: Vec<ValuePart>,
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
    /// The address that the cluster gives to a service.
    ClusterIp(Arc<str>),
    /// A port that the manifest of a service does not say.
    ServicePort(Arc<str>),
    /// A service variable whose service is not in this workspace.
    ServiceVariable(Arc<str>),
    /// A key of a ConfigMap that is not in this workspace, or not in its text.
    ConfigMapKey(Arc<str>, Arc<str>),
    /// A key of a Secret that is not in this workspace, or not in its text.
    SecretKey(Arc<str>, Arc<str>),
    /// A key that its object lacks: the container does not start.
    MissingKey(Arc<str>),
    /// A field that the cluster fills in.
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
    /// An env file that nobody writes: the container does not start.
    MissingFile {
        /// The file's path in the volume.
        path: Arc<str>,
        /// The volume.
        volume: Arc<str>,
    },
    /// An env file that the kubelet cannot read: the container does not start.
    RefusedFile {
        /// The file's path in the volume.
        path: Arc<str>,
        /// The volume.
        volume: Arc<str>,
    },
    /// A variable that a controller sets.
    Injected(Arc<str>),
    /// Several objects may be meant, with different values.
    Ambiguous(Arc<str>),
    /// A variable that something outside this workspace may set.
    External(Arc<str>),
    /// A parameter of a template that has no value yet.
    Parameter(Arc<str>),
    /// A parameter of a template that gets a random value.
    Generated(Arc<str>),
    /// What a Helm expression gives.
    Helm,
    /// Longer than any program can be started with.
    TooLong,
    /// A half-typed entry.
    Unfinished,
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClusterIp(service) => write!(f, "cluster IP of {service}"),
            Self::ServicePort(service) => write!(f, "port of {service}"),
            Self::ServiceVariable(name) => write!(f, "service variable {name}"),
            Self::ConfigMapKey(name, key) => write!(f, "config map key {name}/{key}"),
            Self::SecretKey(name, key) => write!(f, "secret key {name}/{key}"),
            Self::MissingKey(key) => write!(f, "missing key {key}"),
            Self::Field(path) => write!(f, "field {path}"),
            Self::Resource(resource) => write!(f, "resource {resource}"),
            Self::EnvFileKey { key, path, volume } => write!(f, "key {key} of env file {path} in volume {volume}"),
            Self::MissingFile { path, volume } => write!(f, "missing env file {path} in volume {volume}"),
            Self::RefusedFile { path, volume } => write!(f, "unreadable env file {path} in volume {volume}"),
            Self::Injected(what) => write!(f, "{what}"),
            Self::Ambiguous(name) => write!(f, "one of several {name}"),
            Self::External(name) => write!(f, "{name} from outside"),
            Self::Parameter(name) => write!(f, "parameter {name}, not set"),
            Self::Generated(name) => write!(f, "parameter {name}, generated"),
            Self::Helm => f.write_str("Helm expression"),
            Self::TooLong => f.write_str("too long"),
            Self::Unfinished => f.write_str("unfinished"),
        }
    }
}

/// How much of a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueState {
    /// All of it.
    Known,
    /// There are holes between known text.
    Partial,
    /// Nothing but holes.
    Unknown,
    /// Part of it came from a Secret.
    Secret,
}

impl ValueState {
    /// As the JSON output writes it.
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

    /// A text of a manifest: known but for the places of masked Helm expressions.
    pub fn written(text: Arc<str>) -> Self {
        if !has_helm_placeholder(&text) {
            return Self::text(text);
        }
        let mut value = Self::default();
        for part in split_helm_placeholders(&text) {
            value.push(part.map_or(ValuePart::Unknown(UnknownReason::Helm), |text| ValuePart::Text(text.into())));
        }
        value
    }

    /// Nothing known, for this reason.
    pub fn unknown(reason: UnknownReason) -> Self {
        Self { pieces: vec![ValuePart::Unknown(reason)] }
    }

    /// Known text from a key of a Secret.
    pub fn secret(text: impl Into<Arc<str>>, of: impl Into<Arc<str>>) -> Self {
        Self { pieces: vec![ValuePart::Secret { text: text.into(), of: of.into() }] }
    }

    /// The same with its text known to come from a key of a Secret.
    pub fn hidden(self, of: &Arc<str>) -> Self {
        if self.pieces.is_empty() {
            return Self::secret("", Arc::clone(of));
        }
        let hide = |piece| match piece {
            ValuePart::Text(text) => ValuePart::Secret { text, of: Arc::clone(of) },
            other => other,
        };
        Self { pieces: self.pieces.into_iter().map(hide).collect() }
    }

    /// Its parts, in order.
    pub fn pieces(&self) -> &[ValuePart] {
        &self.pieces
    }

    /// Adds a part at the end.
    pub fn push(&mut self, piece: ValuePart) {
        if !matches!(&piece, ValuePart::Text(text) if text.is_empty()) {
            self.pieces.push(piece);
        }
    }

    /// Adds another value at the end.
    pub fn append(&mut self, other: &ResolvedValue) {
        self.pieces.extend(other.pieces.iter().cloned());
    }

    /// The same with neighbouring text in one piece.
    pub fn merged(self) -> Self {
        let mut result = Self::default();
        let mut text = String::new();
        for piece in self.pieces {
            match piece {
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
        let holes = self.pieces.iter().filter(|it| matches!(it, ValuePart::Unknown(_))).count();
        if self.pieces.iter().any(|it| matches!(it, ValuePart::Secret { .. })) {
            ValueState::Secret
        } else if holes == 0 {
            ValueState::Known
        } else if holes == self.pieces.len() {
            ValueState::Unknown
        } else {
            ValueState::Partial
        }
    }

    /// Whether it is certainly the empty string.
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|it| match it {
            ValuePart::Text(text) | ValuePart::Secret { text, .. } => text.is_empty(),
            ValuePart::Unknown(_) => false,
        })
    }

    /// The text, where all of it is known and none of it is secret.
    pub fn known(&self) -> Option<String> {
        (self.state() == ValueState::Known).then(|| self.to_string())
    }

    /// The text with what came from Secrets in it: only for a user who asked for it.
    pub fn revealed(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                ValuePart::Text(it) | ValuePart::Secret { text: it, .. } => text.push_str(it),
                ValuePart::Unknown(reason) => {
                    let _ = write!(text, "<{reason}>");
                }
            }
        }
        text
    }

    /// Whether both are the same text wherever they are used.
    pub fn same_text(&self, other: &ResolvedValue) -> bool {
        self.state() == other.state() && self.revealed() == other.revealed()
    }
}

/// Holes are written `<reason>`, secrets as a name and a length.
impl fmt::Display for ResolvedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            ValuePart::Text(text) => f.write_str(text),
            ValuePart::Secret { text, of } => write!(f, "<secret {of}, {} bytes>", text.len()),
            ValuePart::Unknown(reason) => write!(f, "<{reason}>"),
        })
    }
}

impl fmt::Debug for ValuePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Secret { text, of } => write!(f, "<secret {of}, {} bytes>", text.len()),
            Self::Unknown(reason) => write!(f, "<{reason}>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_a_name_and_a_length() {
        let mut value = ResolvedValue::text("user:");
        value.append(&ResolvedValue::secret("hunter2", "db/password"));
        assert_eq!(value.to_string(), "user:<secret db/password, 7 bytes>");
        assert!(!format!("{value:?}").contains("hunter2"));
        assert_eq!(value.state(), ValueState::Secret);
    }

    #[test]
    fn holes_say_why() {
        let mut value = ResolvedValue::text("http://");
        value.append(&ResolvedValue::unknown(UnknownReason::ClusterIp("redis".into())));
        assert_eq!(value.to_string(), "http://<cluster IP of redis>");
        assert_eq!(value.state(), ValueState::Partial);
        assert_eq!(ResolvedValue::unknown(UnknownReason::Unfinished).state(), ValueState::Unknown);
        assert_eq!(ResolvedValue::text("").state(), ValueState::Known);
    }
}
