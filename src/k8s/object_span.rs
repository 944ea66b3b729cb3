//! Spans inside an object. They are a type of their own, so that they cannot be mistaken for bytes of a file.

use crate::text::Span;

/// Bytes of an object, relative to its first byte. They do not change when the object moves in its file; only the object
/// converts them to bytes of a file ([`Object::file_span`](super::Object::file_span)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectSpan(Span);

impl ObjectSpan {
    /// A span relative to the first byte of an object.
    pub const fn relative(span: Span) -> Self {
        Self(span)
    }

    /// The bytes relative to the first byte of the object, or a mark: see `object_cache`.
    pub const fn to_relative(self) -> Span {
        self.0
    }

    /// The length in bytes.
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Whether it contains no byte.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}
