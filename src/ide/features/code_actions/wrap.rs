//! Wraps the objects of a file in a Template.

use std::sync::Arc;

use crate::build::{WrapInput, WrapOptions, object_name, wrap_in_template};
use crate::diagnostic::{Edit, Location};
use crate::ide::Analysis;
use crate::k8s::ObjectData;
use crate::text::Span;

/// The action that turns the file into a Template: its title and edit. Offered on `apiVersion`, `kind` and `metadata`.
pub(super) fn wrap_file(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Option<(String, Vec<Edit>)> {
    let facts = analysis.snapshot.file(file)?;
    let is_other = |data: &ObjectData| matches!(data, ObjectData::Template(_) | ObjectData::Kustomization(_));
    let is_manifest =
        !facts.is_helm_template() && !facts.is_env_format() && facts.settings.is_none() && facts.errors.is_empty();
    if !is_manifest || facts.objects.is_empty() || facts.objects.iter().any(|it| is_other(&it.model.data)) {
        return None;
    }
    let file_text = analysis.file_text(file)?;
    let root = file_text.source.tree.document_at(offset)?.root()?;
    let is_head = |name: Option<&str>| matches!(name, Some("apiVersion" | "kind" | "metadata"));
    let mut heads = root.own_entries().filter(|(key, _)| is_head(key.text()));
    let line = file_text.line(offset);
    let is_here = |span: Span| line.start <= span.end && span.start <= line.end.max(line.start);
    heads.find(|(key, value)| is_here(Span::new(key.span().start, value.map_or(key.span(), |it| it.span()).end)))?;
    let text = file_text.text();
    let stem = file.rsplit('/').next().and_then(|it| it.split('.').next()).unwrap_or_default();
    let options = WrapOptions { name: object_name(stem), parameters: Vec::new() };
    let wrapped = wrap_in_template(&[WrapInput { text }], &options).ok()?;
    let location = Location { file: Arc::clone(file), span: Span::new(0, text.len()) };
    Some((format!("Wrap in a Template `{}`", options.name), vec![Edit { location, text: wrapped.text }]))
}
