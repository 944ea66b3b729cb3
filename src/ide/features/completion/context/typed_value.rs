//! The value that is being typed: its kind, and the span to replace.

use super::{ContextFinder, without_indices};
use crate::build::BuiltObject;
use crate::ide::shared::located_container::LocatedContainer;
use crate::k8s::{ObjectData, Pod};
use crate::resolve::OriginKind;
use crate::syntax::{CollectionStyle, Node, NodeKind};
use crate::text::Span;

/// The value of a key that is being typed.
#[derive(Clone, Debug)]
pub(in crate::ide::features::completion) struct TypedValue<'s> {
    pub(in crate::ide::features::completion) kind: ValueKind<'s>,
    /// The text typed so far, without quotes.
    pub(in crate::ide::features::completion) replace: Span,
    /// Texts to insert before and after the value.
    pub(in crate::ide::features::completion) before: &'static str,
    pub(in crate::ide::features::completion) after: &'static str,
    /// Whether it is in quotes.
    pub(in crate::ide::features::completion) is_quoted: bool,
    /// Whether it is in a flow collection, where commas and brackets are not plain text.
    pub(in crate::ide::features::completion) is_flow: bool,
}

/// The kind of value that a key takes.
#[derive(Clone, Debug)]
pub(in crate::ide::features::completion) enum ValueKind<'s> {
    /// The name of a ConfigMap, Secret or Service.
    Object { object: BuiltObject<'s>, kind: OriginKind },
    /// A key of a ConfigMap or Secret.
    Key { object: BuiltObject<'s>, kind: OriginKind, name: String },
    /// `fieldPath`
    FieldPath { at: LocatedContainer<'s> },
    /// `resource`
    Resource { at: LocatedContainer<'s> },
    /// The name of another container.
    ContainerName { pod: &'s Pod },
    /// The name of a volume.
    Volume { pod: &'s Pod },
    /// The name of a volume that can hold an env file.
    EnvFileVolume { at: LocatedContainer<'s> },
    /// The path of an env file in a volume.
    FilePath { at: LocatedContainer<'s>, volume: String },
    /// A key of an env file.
    EnvFileKey { at: LocatedContainer<'s>, volume: String, path: String },
    /// The operator of a selector.
    Operator,
    /// The `type` of a parameter.
    ParameterType,
    /// The `generate` of a parameter.
    Generator,
    /// The key of a label in a preset's selector.
    LabelKey { object: BuiltObject<'s> },
    /// A value of a label in a preset's selector.
    LabelValue { object: BuiltObject<'s>, key: String },
    /// The name of an entry of `env`.
    Variable { at: LocatedContainer<'s>, index: usize },
}

impl<'s> ContextFinder<'_, 's> {
    /// The value that is being typed.
    pub(super) fn value(&self) -> Option<TypedValue<'s>> {
        let found = self.key()?;
        let root = self.file_text.source.tree.document_at(found.key.start)?.root()?;
        let ancestors = root.path_to(found.key.start);
        let (key, mapping) = (ancestors.last()?, ancestors.iter().rev().find(|it| it.is_mapping())?);
        if !mapping.own_entries().any(|(it, _)| it.span() == key.span()) {
            return None;
        }
        let around = ancestors.iter().rev().filter(|it| it.is_mapping()).nth(1).copied();
        let kind = self.value_kind(found.key.start, *mapping, around)?;
        let is_flow = mapping.kind() == NodeKind::Mapping(CollectionStyle::Flow);
        self.replacement(&found, is_flow).map(|(replace, before, after, is_quoted)| TypedValue {
            kind,
            replace,
            before,
            after,
            is_quoted,
            is_flow,
        })
    }

    /// The kind of value that the key at an offset takes.
    fn value_kind(&self, key: usize, mapping: Node<'_>, around: Option<Node<'_>>) -> Option<ValueKind<'s>> {
        let (object, path) = self.path(key)?;
        let (plain, indices) = without_indices(&path);
        let name = |key: &str| mapping.get(key).and_then(Node::text).map(str::to_owned);
        let outer = |key: &str| around.and_then(|it| it.get(key)).and_then(Node::text).map(str::to_owned);
        let of = |kind| ValueKind::Object { object, kind };
        let key_in = |kind, name: Option<String>| Some(ValueKind::Key { object, kind, name: name? });
        if let ObjectData::Template(template) = &object.model.data {
            return match plain.strip_prefix("spec.template.").unwrap_or(&plain) {
                "parameters[].type" if template.dialect.is_proposal() => Some(ValueKind::ParameterType),
                "parameters[].generate" => Some(ValueKind::Generator),
                _ => None,
            };
        }
        if let Some(kind) = object.preset().and_then(|_| selector_value_kind(object, &path)) {
            return Some(kind);
        }
        let volumes = |rest: &str| match rest {
            "volumes[].configMap.name" | "volumes[].projected.sources[].configMap.name" => {
                Some(of(OriginKind::ConfigMap))
            }
            "volumes[].secret.secretName" | "volumes[].projected.sources[].secret.name" => Some(of(OriginKind::Secret)),
            "volumes[].configMap.items[].key" | "volumes[].projected.sources[].configMap.items[].key" => {
                key_in(OriginKind::ConfigMap, outer("name"))
            }
            "volumes[].secret.items[].key" => key_in(OriginKind::Secret, outer("secretName")),
            "volumes[].projected.sources[].secret.items[].key" => key_in(OriginKind::Secret, outer("name")),
            "serviceDependencies[].name" => Some(of(OriginKind::Service)),
            _ => None,
        };
        if let Some((at, rest)) = self.container(object, &path) {
            let (rest, _) = without_indices(&rest);
            return match &*rest {
                "env[].name" | "environment[].name" => {
                    Some(ValueKind::Variable { at, index: indices.last().copied()? })
                }
                "env[].valueFrom.configMapKeyRef.name" | "envFrom[].configMapRef.name" => {
                    Some(of(OriginKind::ConfigMap))
                }
                "env[].valueFrom.secretKeyRef.name" | "envFrom[].secretRef.name" => Some(of(OriginKind::Secret)),
                "envFrom[].service.name" => Some(of(OriginKind::Service)),
                "env[].valueFrom.configMapKeyRef.key" => key_in(OriginKind::ConfigMap, name("name")),
                "env[].valueFrom.secretKeyRef.key" => key_in(OriginKind::Secret, name("name")),
                "env[].valueFrom.fieldRef.fieldPath" => Some(ValueKind::FieldPath { at }),
                "env[].valueFrom.resourceFieldRef.resource" => Some(ValueKind::Resource { at }),
                "env[].valueFrom.resourceFieldRef.containerName" => Some(ValueKind::ContainerName { pod: at.pod }),
                "env[].valueFrom.fileKeyRef.volumeName" => Some(ValueKind::EnvFileVolume { at }),
                "env[].valueFrom.fileKeyRef.path" => Some(ValueKind::FilePath { at, volume: name("volumeName")? }),
                "env[].valueFrom.fileKeyRef.key" => {
                    Some(ValueKind::EnvFileKey { at, volume: name("volumeName")?, path: name("path")? })
                }
                "volumeMounts[].name" => Some(ValueKind::Volume { pod: at.pod }),
                // The volumes of a preset are next to its lists for containers.
                other if at.is_preset() => volumes(other),
                _ => None,
            };
        }
        let pod = object.model.pods.iter().find(|it| path.starts_with(&*it.path))?;
        volumes(plain.strip_prefix(&*without_indices(&pod.path).0)?.trim_start_matches('.'))
    }

    /// The span to replace and the texts around the value: `replace, before, after, is_quoted`.
    fn replacement(&self, found: &KeyOnLine, is_flow: bool) -> Option<(Span, &'static str, &'static str, bool)> {
        let text = self.file_text.text();
        let typed = &text[found.value..self.offset];
        if let Some(quote) = typed.chars().next().filter(|it| matches!(it, '"' | '\'')) {
            let inner = &typed[1..];
            if inner.contains(quote) {
                return None;
            }
            let end = self.tail().find(quote);
            let replace = Span::new(found.value + 1, end.map_or(self.offset, |len| self.offset + len));
            let after = match (end, quote) {
                (Some(_), _) => "",
                (None, '"') => "\"",
                (None, _) => "'",
            };
            return Some((replace, "", after, true));
        }
        if typed.ends_with([' ', '\t']) && !typed.trim().is_empty()
            || typed.starts_with(['{', '[', '|', '>', '&', '*', '!', '#'])
        {
            return None;
        }
        let stops: &[char] = if is_flow { &[',', '}', ']', '#', ' '] } else { &[' ', '#'] };
        let rest = self.tail();
        let end = self.offset + rest.find(stops).unwrap_or(rest.len());
        let start = if typed.trim().is_empty() { self.offset } else { found.value };
        let has_space = text[..self.offset].ends_with([' ', '\t']) || start < self.offset;
        Some((Span::new(start, end), if has_space { "" } else { " " }, "", false))
    }

    /// The key whose value contains the cursor, by the line alone.
    pub(super) fn key(&self) -> Option<KeyOnLine> {
        let head = self.head();
        let bytes = head.as_bytes();
        let mut start = head.len() - head.trim_start_matches([' ', '\t']).len();
        while bytes[start..].starts_with(b"- ") {
            start += 2 + (head[start + 2..].len() - head[start + 2..].trim_start_matches(' ').len());
        }
        let (mut found, mut at) = (None, start);
        let mut quote: Option<u8> = None;
        while at < bytes.len() {
            match (quote, bytes[at]) {
                (Some(open), byte) if byte == open => quote = None,
                (Some(_), _) => {}
                (None, byte @ (b'"' | b'\'')) if head[start..at].trim().is_empty() || found.is_some() => {
                    quote = Some(byte);
                }
                (None, b'{' | b',' | b'[') => {
                    start = at + 1;
                    found = None;
                }
                (None, b':') if found.is_none() => {
                    let word = head[start..at].trim();
                    let from = start + (head[start..at].len() - head[start..at].trim_start().len());
                    let is_key = matches!(bytes.get(at + 1), None | Some(b' ' | b'\t' | b'"'));
                    if !word.is_empty() && is_key {
                        let spaces = head[at + 1..].len() - head[at + 1..].trim_start_matches([' ', '\t']).len();
                        let key = Span::new(self.line.start + from, self.line.start + from + word.len());
                        found = Some(KeyOnLine { key, value: self.line.start + at + 1 + spaces });
                    }
                }
                _ => {}
            }
            at += 1;
        }
        found
    }
}

/// The kind of value at a path in the selector of a preset.
fn selector_value_kind<'s>(object: BuiltObject<'s>, path: &str) -> Option<ValueKind<'s>> {
    let rest = path.strip_prefix("spec.selector.")?;
    if let Some(key) = rest.strip_prefix("matchLabels.") {
        return Some(ValueKind::LabelValue { object, key: key.trim_matches('"').to_owned() });
    }
    match &*without_indices(rest).0 {
        "matchExpressions[].key" => Some(ValueKind::LabelKey { object }),
        "matchExpressions[].operator" => Some(ValueKind::Operator),
        _ => None,
    }
}

/// A key and the offset of its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyOnLine {
    pub(super) key: Span,
    value: usize,
}
