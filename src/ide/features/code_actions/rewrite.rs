//! Rewrites that keep the result: explicit service links instead of automatic ones, and a pod without the entries that
//! a preset adds anyway.

use std::sync::Arc;

use crate::diagnostic::Fix;
use crate::ide::Analysis;
use crate::rules::{FileContext, ObjectContext, limit_service_links, remove_preset_duplicate};

/// The rewrites for the pods at an offset.
pub(super) fn rewrites(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Vec<Fix> {
    let Analysis { snapshot, resolver, texts } = *analysis;
    let Some(facts) = snapshot.file(file).filter(|it| !it.is_helm_template() && !snapshot.is_patch(file)) else {
        return Vec::new();
    };
    let context = FileContext { snapshot, resolver, path: file, facts, texts };
    let mut all = Vec::new();
    for object in analysis.objects_at(file, offset) {
        let object = ObjectContext { file: &context, object };
        for pod in object.object.model.pods.iter().filter(|it| object.at(it.span).span.touches(offset)) {
            all.extend(remove_preset_duplicate(&object, pod, offset));
            all.extend(limit_service_links(&object, pod));
        }
    }
    all
}
