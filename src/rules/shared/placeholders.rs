//! Texts that a tool replaces before Kubernetes reads them.

use crate::syntax::may_be_replaced;

/// Whether a tool replaces a part of the text before Kubernetes reads it: `${P}`, `{{ x }}`, Kustomize's `$(X)`.
pub(in crate::rules) fn is_placeholder(text: &str) -> bool {
    may_be_replaced(text)
}
