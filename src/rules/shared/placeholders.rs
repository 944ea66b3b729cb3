//! Texts that a tool replaces before Kubernetes reads them.

use crate::syntax::has_placeholder;

/// Whether a tool replaces a part of the text before Kubernetes reads it: `${P}`, `{{ x }}`, Kustomize's `$(X)`.
pub(in crate::rules) fn is_placeholder(text: &str) -> bool {
    has_placeholder(text) || ["${", "{{", "$("].into_iter().any(|it| text.contains(it))
}
