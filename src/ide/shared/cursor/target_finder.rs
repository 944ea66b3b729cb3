//! Finds the item at an offset of a manifest.

use std::ops::Range;
use std::sync::Arc;

use super::{CursorTarget, TargetAt};
use crate::build::BuiltObject;
use crate::ide::Analysis;
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::{LocatedContainer, pods_of};
use crate::ide::shared::template_parameters::{LocatedParameter, enclosing_template, own_texts};
use crate::ide::shared::volume_sources::{has_volume_sources, volume_sources};
use crate::k8s::{
    ContainerField, DataEntry, EnvFromSource, KeyRef, Object, ObjectData, Pod, Text, ValueSource, VariableScope,
};
use crate::resolve::{Lookup, OriginKind};
use crate::syntax::{DollarToken, DollarTokenKind, dollar_tokens, parameter_references};
use crate::workspace::File;

/// Looks for an item at one offset.
pub(super) struct TargetFinder<'f, 's> {
    pub(super) analysis: &'f Analysis<'s>,
    pub(super) file: &'f Arc<str>,
    /// The same path as the snapshot stores it.
    pub(super) path: &'s Arc<str>,
    pub(super) facts: &'s File,
    pub(super) file_text: &'f FileText,
    pub(super) offset: usize,
}

impl<'s> TargetFinder<'_, 's> {
    /// A template parameter: its declaration, or a reference in an object or in a text of the template.
    pub(super) fn parameter(&self, object: &'s Object) -> Option<TargetAt<'s>> {
        let (outer, template) = enclosing_template(self.facts, object)?;
        let parameter = |name| {
            let file = self.path;
            CursorTarget::Parameter(LocatedParameter { file, facts: self.facts, object: outer, template, name })
        };
        let mut names = template.parameters.iter().filter_map(|it| it.name.as_ref());
        let written = |object: &'s Object| BuiltObject::as_written(self.analysis.snapshot, self.path, object);
        if let Some(name) = names.find(|it| self.touches(written(outer), it)) {
            return Some(self.at_text(written(outer), name, parameter(&name.value)));
        }
        let inner = object.model.parameterized_texts.iter().map(|it| (object, &it.text));
        let own = own_texts(template).map(|it| (outer, it));
        let (object, text) = inner.chain(own).find(|(object, text)| self.touches(written(object), text))?;
        let map = self.file_text.map(written(object), text)?;
        let value = map.value_offset(self.offset);
        let mut references = parameter_references(&text.value, template.dialect.is_proposal()).into_iter();
        let found = references.rfind(|it| it.range.start <= value && value <= it.range.end)?;
        let name = &text.value[found.name.clone()];
        let span = map.source_span(found.range);
        (template.exported.contains(name) && span.touches(self.offset))
            .then(|| TargetAt { span, target: parameter(name) })
    }

    pub(super) fn in_object(&self, object: BuiltObject<'s>) -> Option<TargetAt<'s>> {
        let containers = LocatedContainer::of_object_or_preset(object).filter(|it| it.touches(self.offset));
        for at in containers {
            if let Some(found) = self.in_texts(&at).or_else(|| self.in_names(&at)) {
                return Some(found);
            }
        }
        for pod in pods_of(object) {
            let dependencies = pod.service_dependencies.iter().flat_map(|it| &it.services);
            let mut names = dependencies.filter_map(|it| it.name.as_ref());
            if let Some(name) = names.find(|it| self.touches(object, it)) {
                let target = CursorTarget::Dependency { object, name };
                return Some(self.at_text(object, name, target));
            }
            let mut names = pod.volumes.iter().filter_map(|it| it.name.as_ref());
            if let Some(name) = names.find(|it| self.touches(object, it)) {
                let target = CursorTarget::Volume { object, pod, name };
                return Some(self.at_text(object, name, target));
            }
        }
        pods_of(object).find_map(|pod| self.in_volumes(object, pod)).or_else(|| self.in_data(object))
    }

    /// A ConfigMap or Secret in a volume, or a key of it.
    fn in_volumes(&self, object: BuiltObject<'s>, pod: &'s Pod) -> Option<TargetAt<'s>> {
        if !has_volume_sources(pod) || !pod.volumes.iter().any(|it| object.file_span(it.span).touches(self.offset)) {
            return None;
        }
        volume_sources(self.file_text, object, pod).into_iter().find_map(|source| {
            let key = source.keys.iter().find(|it| self.touches(object, it)).cloned();
            let (kind, name) = (source.kind, source.name);
            match &key {
                Some(text) => {
                    let text = text.clone();
                    Some(self.at_text(object, &text, CursorTarget::VolumeSource { object, kind, name, key }))
                }
                None if self.touches(object, &name) => {
                    let text = name.clone();
                    Some(self.at_text(object, &text, CursorTarget::VolumeSource { object, kind, name, key }))
                }
                None => None,
            }
        })
    }

    /// A text that a container uses through an alias; it may be anywhere in the document.
    pub(super) fn by_alias(&self, around: &[BuiltObject<'s>]) -> Option<TargetAt<'s>> {
        let document = self.file_text.source.tree.document_at(self.offset)?;
        if !document.root()?.contains_alias() {
            return None;
        }
        let document = document.span();
        let is_near = |it: &BuiltObject<'s>| {
            document.touches(it.source.offset) && !around.iter().any(|near| near.source.offset == it.source.offset)
        };
        let others = self.analysis.objects(self.file).filter(is_near);
        let objects = around.iter().copied().chain(others);
        let mut containers = objects.flat_map(LocatedContainer::of_object_or_preset);
        containers.find_map(|at| self.in_texts(&at).or_else(|| self.in_names(&at)))
    }

    fn touches(&self, object: BuiltObject<'_>, text: &Text) -> bool {
        let location = object.location(text.span);
        location.file == *self.file && location.span.touches(self.offset)
    }

    fn at_text(&self, object: BuiltObject<'_>, text: &Text, target: CursorTarget<'s>) -> TargetAt<'s> {
        let span = object.file_span(text.span);
        let inner = self.file_text.inside(object, text, 0..text.value.len());
        // Prefer the name without its quotes.
        TargetAt { span: if inner.touches(self.offset) { inner } else { span }, target }
    }

    fn in_texts(&self, at: &LocatedContainer<'s>) -> Option<TargetAt<'s>> {
        let (field, text) =
            at.container.texts().find(|(_, text)| self.touches(at.object, text) && text.value.contains('$'))?;
        let map = self.file_text.map(at.object, text)?;
        let value = map.value_offset(self.offset);
        // A variable of the shell may be inside of `$(…)`.
        if let Some(found) = self.in_script(at, field, text) {
            return Some(found);
        }
        // Between two tokens the one that starts here. An escape includes the text that it keeps from being a reference.
        let touching =
            dollar_tokens(&text.value).filter(|it| it.range.start <= value && value <= token_end(it, &text.value));
        let token = touching.last()?;
        let span = map.source_span(token.range.start..token_end(&token, &text.value));
        let range = token.range.clone();
        let target = match token.kind {
            DollarTokenKind::Reference => {
                let name = token.name(&text.value)?;
                CursorTarget::Reference { at: at.clone(), field, name }
            }
            DollarTokenKind::Escape if field.variable_scope().is_some() => CursorTarget::Escape { text, range },
            _ => return None,
        };
        span.touches(self.offset).then_some(TargetAt { span, target })
    }

    fn in_script(&self, at: &LocatedContainer<'s>, field: ContainerField, text: &'s Text) -> Option<TargetAt<'s>> {
        // These fields are never scripts: skip computing the environment.
        if !text.value.contains("$") || matches!(field, ContainerField::EnvValue(_) | ContainerField::SubPathExpr(_)) {
            return None;
        }
        let environment = at.environment(self.analysis);
        let map = self.file_text.map(at.object, text)?;
        let file_span = |range: &Range<usize>| map.source_span(range.clone());
        let mut names = at.shell_names(&environment, field, text);
        let (range, name) = names.find(|(range, _)| file_span(range).touches(self.offset))?;
        let is_known = !matches!(environment.lookup(VariableScope::All, name), Lookup::Unbound | Lookup::Maybe(_));
        let target = CursorTarget::ShellReference { at: at.clone(), name };
        is_known.then(|| TargetAt { span: file_span(&range), target })
    }

    fn in_names(&self, at: &LocatedContainer<'s>) -> Option<TargetAt<'s>> {
        let touches = |text: &Option<Text>| text.as_ref().is_some_and(|it| self.touches(at.object, it));
        let found = |text: &'s Option<Text>, target| Some(self.at_text(at.object, text.as_ref()?, target));
        let volume = |name: &'s Option<Text>| {
            found(name, CursorTarget::Volume { object: at.object, pod: at.pod, name: name.as_ref()? })
        };
        for (index, entry) in at.container.env.iter().enumerate() {
            if touches(&entry.name) {
                return found(&entry.name, CursorTarget::Variable { at: at.clone(), index });
            }
            for source in entry.from.iter().flat_map(|it| &it.sources) {
                let here = CursorTarget::Source { at: at.clone(), index };
                match source {
                    ValueSource::ConfigMap(it) if touches(&it.name) || touches(&it.key) => {
                        return self.in_key(at, OriginKind::ConfigMap, it);
                    }
                    ValueSource::Secret(it) if touches(&it.name) || touches(&it.key) => {
                        return self.in_key(at, OriginKind::Secret, it);
                    }
                    ValueSource::Field { path, .. } if touches(path) => return found(path, here),
                    ValueSource::Resource { resource, .. } if touches(resource) => return found(resource, here),
                    ValueSource::Resource { container, .. } if touches(container) => {
                        return found(container, CursorTarget::Container { at: at.clone(), name: container.as_ref()? });
                    }
                    ValueSource::File { volume: name, .. } if touches(name) => return volume(name),
                    ValueSource::File { path, .. } if touches(path) => return found(path, here),
                    ValueSource::File { key, .. } if touches(key) => {
                        return found(key, CursorTarget::EnvFileKey { at: at.clone(), index });
                    }
                    _ => {}
                }
            }
        }
        for (index, entry) in at.container.env_from.iter().enumerate() {
            let (kind, name) = match &entry.source {
                Some(EnvFromSource::ConfigMap { name, .. }) => (OriginKind::ConfigMap, name),
                Some(EnvFromSource::Secret { name, .. }) => (OriginKind::Secret, name),
                Some(EnvFromSource::Service { name, .. }) => (OriginKind::Service, name),
                None => continue,
            };
            let object = |name| CursorTarget::Object { at: at.clone(), kind, name, env_from: Some(index) };
            if touches(name) {
                return found(name, object(name.as_ref()?));
            }
            if touches(&entry.prefix) {
                return found(&entry.prefix, object(name.as_ref()?));
            }
        }
        at.container.mounts.iter().find(|it| touches(&it.name)).and_then(|it| volume(&it.name))
    }

    fn in_key(&self, at: &LocatedContainer<'s>, kind: OriginKind, reference: &'s KeyRef) -> Option<TargetAt<'s>> {
        let name = reference.name.as_ref()?;
        if self.touches(at.object, name) {
            let target = CursorTarget::Object { at: at.clone(), kind, name, env_from: None };
            return Some(self.at_text(at.object, name, target));
        }
        let key = reference.key.as_ref()?;
        Some(self.at_text(at.object, key, CursorTarget::KeyUse { at: at.clone(), kind, name, key }))
    }

    fn in_data(&self, object: BuiltObject<'s>) -> Option<TargetAt<'s>> {
        let (kind, keys): (OriginKind, &'s [DataEntry]) = match &object.model.data {
            ObjectData::ConfigMap(source) => (OriginKind::ConfigMap, &source.keys),
            ObjectData::Secret(source) => (OriginKind::Secret, &source.keys),
            ObjectData::Service(_) => (OriginKind::Service, &[]),
            ObjectData::Preset(preset) => {
                let selector = preset.selector.as_ref().map(|it| object.file_span(it.span));
                if let Some(span) = selector.filter(|it| it.touches(self.offset)) {
                    return Some(TargetAt { span, target: CursorTarget::Selector { object } });
                }
                (OriginKind::Preset, &[])
            }
            _ if !object.model.pods.is_empty() => {
                let name = object.model.reference_name_text().filter(|it| self.touches(object, it))?;
                return Some(self.at_text(object, name, CursorTarget::Workload { object }));
            }
            _ => return None,
        };
        if let Some(name) = object.model.reference_name_text().filter(|it| self.touches(object, it)) {
            return Some(self.at_text(object, name, CursorTarget::ObjectName { object, kind, name }));
        }
        let key = keys.iter().find(|it| self.touches(object, &it.key))?;
        let span = self.file_text.key(object, key)?;
        span.touches(self.offset).then_some(TargetAt { span, target: CursorTarget::Key { object, kind, key } })
    }
}

/// The end of a token; for an escape the end of the text that would be a reference without it.
fn token_end(token: &DollarToken, text: &str) -> usize {
    let rest = &text[token.range.end..];
    let is_escape = token.kind == DollarTokenKind::Escape && rest.starts_with('(');
    let close = is_escape.then(|| rest.find([')', '\n'])).flatten().filter(|it| rest[*it..].starts_with(')'));
    close.map_or(token.range.end, |it| token.range.end + it + 1)
}
