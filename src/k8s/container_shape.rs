//! Mistakes in the shape of a container: a list that is written as a mapping, an entry that is a text, a key that is not a
//! field (V16, V17).
//!
//! Only mistakes are collected here, so a container without any costs one look at its keys. A value that a tool fills in
//! is not judged.

use std::sync::Arc;

use crate::k8s::model::Text;
use crate::k8s::node_reader::{DEPTH, NodeReader};
use crate::k8s::object_span::ObjectSpan;
use crate::syntax::{Node, TypedScalar, has_placeholder, may_be_replaced};
use crate::text::nearest_name;

/// A mistake in the shape of a container.
#[derive(Clone, Debug)]
pub struct ShapeMistake {
    /// The scalar that is wrong. Of a list or a mapping it is the key that the list or mapping is the value of.
    pub span: ObjectSpan,
    /// The value that is wrong.
    pub value: ObjectSpan,
    /// The entry that contains it.
    pub entry: ShapeEntry,
    /// What is wrong.
    pub kind: ShapeMistakeKind,
}

/// The entry of a list that a mistake is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeEntry {
    /// None: a field of the container itself.
    Container,
    /// The entry of `env` with this index.
    Env(usize),
    /// The entry of `envFrom` with this index.
    EnvFrom(usize),
}

/// What is wrong.
#[derive(Clone, Debug)]
pub enum ShapeMistakeKind {
    /// The value of a field has another type than the field.
    Field {
        /// The field.
        field: &'static str,
        /// The type of the value.
        found: JsonType,
        /// What the field needs.
        wanted: &'static str,
    },
    /// An item of a list has another type than the items of the list.
    Item {
        /// The list.
        list: &'static str,
        /// The type of the item.
        found: JsonType,
        /// The name that the item seems to give a variable, as in `FOO=bar`.
        name: Option<Arc<str>>,
    },
    /// An entry of a list without fields: `{}`.
    EmptyEntry {
        /// The list.
        list: &'static str,
    },
    /// An entry of `env` without fields of a variable: `HOST: x`. Contains its first key.
    KeyAsName(Text),
    /// The only source of an entry of `envFrom` is null.
    NullSource(&'static str),
    /// A key that is not a field, and is similar to a field.
    Misspelled {
        /// The key.
        key: Text,
        /// The field.
        field: &'static str,
        /// Whether the mapping has no such field yet.
        is_free: bool,
    },
    /// A key that is a field of another mapping.
    Misplaced {
        /// The key.
        key: Text,
        /// Where it is a field.
        place: &'static str,
    },
}

/// A field of a container that is written beside the containers.
#[derive(Clone, Debug)]
pub struct MisplacedField {
    /// The key.
    pub key: Text,
    /// Texts in its value that may be names of variables.
    pub possible_names: Vec<Arc<str>>,
}

/// The type of a value in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    /// A string.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list.
    List,
    /// A mapping.
    Mapping,
}

impl JsonType {
    /// The type of a node; `None` if it is null or not known.
    pub(super) fn of(node: Node<'_>) -> Option<Self> {
        if node.is_mapping() {
            return (!is_assertion(node)).then_some(Self::Mapping);
        }
        if node.is_sequence() {
            return Some(Self::List);
        }
        match node.typed()? {
            TypedScalar::Null | TypedScalar::Misfit => None,
            TypedScalar::Bool(_) => Some(Self::Boolean),
            TypedScalar::Int(_) | TypedScalar::Float(_) => Some(Self::Number),
            TypedScalar::Str(text) => (!may_become_other_type(text)).then_some(Self::Text),
        }
    }

    /// Whether it is a list or a mapping.
    pub fn is_collection(self) -> bool {
        matches!(self, Self::List | Self::Mapping)
    }

    /// The type with its article, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::List => "a list",
            Self::Mapping => "a mapping",
        }
    }
}

/// The mistakes in the shape of a container, and what they hide.
#[derive(Clone, Debug, Default)]
pub struct ContainerShape {
    /// The mistakes.
    pub mistakes: Vec<ShapeMistake>,
    /// Names that may be those of variables, in parts of `env` that are not entries.
    pub possible_names: Vec<Arc<str>>,
    /// Whether the container has variables that cannot be read: those of a misspelled `envFrom`.
    pub hides_variables: bool,
    /// Whether the command line cannot be read.
    pub hides_command: bool,
}

/// The fields of a container (V17).
const CONTAINER: &[&str] = &[
    "name",
    "image",
    "command",
    "args",
    "workingDir",
    "ports",
    "envFrom",
    "env",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "volumeMounts",
    "volumeDevices",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "securityContext",
    "stdin",
    "stdinOnce",
    "tty",
    "targetContainerName",
];

/// Fields of a container that a pod spec does not have.
const OWN_FIELDS: &[&str] = &["env", "envFrom", "command", "args", "image", "volumeMounts"];

/// What other tools call a field of a container, in lower case: Docker and its Compose files, and programming languages.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("environment", "env"),
    ("environmentvariables", "env"),
    ("envvars", "env"),
    ("variables", "env"),
    ("entrypoint", "command"),
    ("cmd", "command"),
    ("arguments", "args"),
];

const VARIABLE: &[&str] = &["name", "value", "valueFrom"];

/// The fields of a mapping by name, each with what it needs.
type Fields = &'static [(&'static str, Wanted)];

/// What a field needs.
#[derive(Clone, Copy)]
enum Wanted {
    /// A string. A number or boolean in its place is a mistake of another rule.
    Text,
    /// A string or a number.
    Scalar,
    /// `true` or `false`.
    Flag,
    /// A mapping with these fields.
    Mapping(Fields),
}

const KEY_REF: Fields = &[("name", Wanted::Text), ("key", Wanted::Text), ("optional", Wanted::Flag)];

const VALUE_FROM: Fields = &[
    ("fieldRef", Wanted::Mapping(&[("apiVersion", Wanted::Text), ("fieldPath", Wanted::Text)])),
    (
        "resourceFieldRef",
        Wanted::Mapping(&[("containerName", Wanted::Text), ("resource", Wanted::Text), ("divisor", Wanted::Scalar)]),
    ),
    ("configMapKeyRef", Wanted::Mapping(KEY_REF)),
    ("secretKeyRef", Wanted::Mapping(KEY_REF)),
    (
        "fileKeyRef",
        Wanted::Mapping(&[
            ("volumeName", Wanted::Text),
            ("path", Wanted::Text),
            ("key", Wanted::Text),
            ("optional", Wanted::Flag),
        ]),
    ),
];

const OBJECT_REF: Fields = &[("name", Wanted::Text), ("optional", Wanted::Flag)];

const ENV_FROM: Fields = &[
    ("prefix", Wanted::Text),
    ("configMapRef", Wanted::Mapping(OBJECT_REF)),
    ("secretRef", Wanted::Mapping(OBJECT_REF)),
    // PS1.
    ("service", Wanted::Mapping(&[("name", Wanted::Text)])),
];

/// The keys of an entry.
#[derive(Default)]
struct EntryKeys {
    /// Whether a key is a directive of a patch, a merge key or filled in by a tool: there may be other fields.
    is_open: bool,
    /// Whether a key is similar to a field.
    is_misspelled: bool,
    /// The fields that are set.
    set: Vec<&'static str>,
    /// The first field that is null.
    null: Option<&'static str>,
    /// The first key that is not a field.
    unknown: Option<Text>,
}

impl EntryKeys {
    /// Whether it is certain that no key of the entry has a meaning.
    fn has_nothing(&self) -> bool {
        !self.is_open && !self.is_misspelled && self.set.is_empty() && self.unknown.is_none()
    }
}

/// Reads the shape of a container.
pub(super) fn container(reader: NodeReader<'_>, node: Node<'_>) -> ContainerShape {
    let mut checker = ShapeChecker { reader, shape: ContainerShape::default() };
    for (key, value) in node.own_entries() {
        let (Some(name), Some(value)) = (key.key_text(), value) else { continue };
        match &*name {
            "env" => checker.env(key, value),
            "envFrom" => checker.env_from(key, value),
            "command" => checker.strings(key, value, "command"),
            "args" => checker.strings(key, value, "args"),
            "livenessProbe" | "readinessProbe" | "startupProbe" => checker.handler(value),
            "lifecycle" => value.own_entries().filter_map(|(_, hook)| hook).for_each(|hook| checker.handler(hook)),
            name if CONTAINER.contains(&name) => {}
            _ => checker.unknown_field(node, key, value),
        }
    }
    checker.shape
}

/// The fields of a container in a pod spec itself.
pub(super) fn misplaced_fields(reader: NodeReader<'_>, spec: Node<'_>) -> Vec<MisplacedField> {
    let mut found = Vec::new();
    for (key, value) in spec.own_entries() {
        let Some(value) = value.filter(|_| key.key_text().is_some_and(|it| OWN_FIELDS.contains(&&*it))) else {
            continue;
        };
        let mut checker = ShapeChecker { reader, shape: ContainerShape::default() };
        checker.add_possible_names(value, DEPTH);
        let possible_names = checker.shape.possible_names;
        found.extend(reader.key(key).map(|key| MisplacedField { key, possible_names }));
    }
    found
}

/// Reads the shape of `env`, `envFrom` and `command` in a mapping that is not a container.
pub(super) fn fields(reader: NodeReader<'_>, node: Node<'_>, env: &str) -> ContainerShape {
    let mut checker = ShapeChecker { reader, shape: ContainerShape::default() };
    for (key, value) in node.own_entries() {
        let (Some(name), Some(value)) = (key.key_text(), value) else { continue };
        match &*name {
            name if name == env => checker.env(key, value),
            "envFrom" => checker.env_from(key, value),
            "command" => checker.strings(key, value, "command"),
            _ => {}
        }
    }
    checker.shape
}

struct ShapeChecker<'b> {
    reader: NodeReader<'b>,
    shape: ContainerShape,
}

impl ShapeChecker<'_> {
    fn env(&mut self, key: Node<'_>, value: Node<'_>) {
        if !self.is_list(key, value, "env", "a list of entries with `name` and `value`") {
            self.add_possible_names(value, DEPTH);
            return;
        }
        for (index, item) in value.items().enumerate() {
            self.variable(index, item);
        }
    }

    fn variable(&mut self, index: usize, item: Node<'_>) {
        let entry = ShapeEntry::Env(index);
        if !item.is_mapping() {
            self.not_an_entry(item, entry, "env");
            self.add_possible_names(item, DEPTH);
            return;
        }
        let keys = self.entry_keys(item, entry, VARIABLE, |checker, at, key, value| match VARIABLE[at] {
            "valueFrom" => checker.field(entry, key, value, "valueFrom", Wanted::Mapping(VALUE_FROM)),
            field => checker.field(entry, key, value, field, Wanted::Text),
        });
        if keys.has_nothing() {
            self.push(item, entry, ShapeMistakeKind::EmptyEntry { list: "env" });
        } else if !keys.is_open && !keys.set.contains(&"name") {
            // An entry with a value and without a name is not a mistake of its shape.
            if let Some(key) = keys.unknown.filter(|_| keys.set.is_empty() && !keys.is_misspelled) {
                let (span, value) = (key.span, key.span);
                self.shape.mistakes.push(ShapeMistake { span, value, entry, kind: ShapeMistakeKind::KeyAsName(key) });
            }
            self.add_possible_names(item, DEPTH);
        }
    }

    fn env_from(&mut self, key: Node<'_>, value: Node<'_>) {
        if !self.is_list(key, value, "envFrom", "a list of entries with `configMapRef` or `secretRef`") {
            self.shape.hides_variables = true;
            return;
        }
        const NAMES: &[&str] = &["prefix", "configMapRef", "secretRef", "service"];
        for (index, item) in value.items().enumerate() {
            let entry = ShapeEntry::EnvFrom(index);
            if !item.is_mapping() {
                self.not_an_entry(item, entry, "envFrom");
                continue;
            }
            let keys = self.entry_keys(item, entry, NAMES, |checker, at, key, value| {
                let (field, wanted) = ENV_FROM[at];
                checker.field(entry, key, value, field, wanted);
            });
            match keys.null {
                _ if !keys.has_nothing() => {}
                // `invalid-service-link` reports a link without a name.
                Some("service") => {}
                Some(field @ ("configMapRef" | "secretRef")) => {
                    let key = item.entry(field).map_or(item, |(key, _)| key);
                    self.push(key, entry, ShapeMistakeKind::NullSource(field));
                }
                _ => self.push(item, entry, ShapeMistakeKind::EmptyEntry { list: "envFrom" }),
            }
        }
    }

    /// Looks at the keys of an entry, and calls `check` for each field that is set, with its index in `known`.
    fn entry_keys(
        &mut self,
        item: Node<'_>,
        entry: ShapeEntry,
        known: &'static [&'static str],
        check: impl Fn(&mut Self, usize, Node<'_>, Node<'_>),
    ) -> EntryKeys {
        let mut keys = EntryKeys::default();
        for (key, value) in item.own_entries() {
            let Some(name) = key.key_text() else { continue };
            if is_other_key(&name) {
                keys.is_open = true;
            } else if let Some(at) = known.iter().position(|it| *it == name) {
                match value.filter(|it| it.typed() != Some(TypedScalar::Null)) {
                    Some(value) => {
                        keys.set.push(known[at]);
                        check(self, at, key, value);
                    }
                    None => keys.null = keys.null.or(Some(known[at])),
                }
            } else if self.is_misspelled(item, key, entry, known) {
                keys.is_misspelled = true;
            } else if keys.unknown.is_none() {
                keys.unknown = self.reader.key(key);
            }
        }
        keys
    }

    /// Checks the value of a field, and what is in it.
    fn field(&mut self, entry: ShapeEntry, key: Node<'_>, value: Node<'_>, field: &'static str, wanted: Wanted) {
        let Some(found) = JsonType::of(value) else { return };
        let (is_right, needs) = match wanted {
            Wanted::Text | Wanted::Scalar => (!found.is_collection(), "a string"),
            Wanted::Flag => (found == JsonType::Boolean, "`true` or `false`"),
            Wanted::Mapping(_) => (found == JsonType::Mapping, "a mapping"),
        };
        if !is_right {
            let kind = ShapeMistakeKind::Field { field, found, wanted: needs };
            self.push_at(if found.is_collection() { key } else { value }, value, entry, kind);
        } else if let Wanted::Mapping(fields) = wanted {
            for (key, inner) in value.own_entries() {
                let (Some(name), Some(inner)) = (key.key_text(), inner) else { continue };
                match fields.iter().find(|(field, _)| *field == name) {
                    Some((field, wanted)) => self.field(entry, key, inner, field, *wanted),
                    None if is_other_key(&name) => {}
                    None => {
                        let names: Vec<&'static str> = fields.iter().map(|(name, _)| *name).collect();
                        self.is_misspelled(value, key, entry, &names);
                    }
                }
            }
        }
    }

    /// Checks a list of strings.
    fn strings(&mut self, key: Node<'_>, value: Node<'_>, list: &'static str) {
        if !self.is_list(key, value, list, "a list of strings") {
            self.shape.hides_command = true;
            return;
        }
        for item in value.items() {
            if let Some(found) = JsonType::of(item).filter(|it| it.is_collection()) {
                let at = if found == JsonType::Mapping { item.own_entries().next().map(|(key, _)| key) } else { None };
                let kind = ShapeMistakeKind::Item { list, found, name: None };
                self.push_at(at.unwrap_or(item), item, ShapeEntry::Container, kind);
                self.shape.hides_command = true;
            }
        }
    }

    /// Checks the command of a probe or a hook.
    fn handler(&mut self, handler: Node<'_>) {
        if let Some((key, Some(command))) = handler.get("exec").and_then(|exec| exec.entry("command")) {
            self.strings(key, command, "command");
        }
    }

    /// Whether a value is a list, or nothing is known about it. Otherwise it is a mistake.
    fn is_list(&mut self, key: Node<'_>, value: Node<'_>, field: &'static str, wanted: &'static str) -> bool {
        match JsonType::of(value) {
            None | Some(JsonType::List) => true,
            Some(found) => {
                let kind = ShapeMistakeKind::Field { field, found, wanted };
                let at = if found.is_collection() { key } else { value };
                self.push_at(at, value, ShapeEntry::Container, kind);
                false
            }
        }
    }

    /// Reports an item that is not a mapping. One without text is not complete yet.
    fn not_an_entry(&mut self, item: Node<'_>, entry: ShapeEntry, list: &'static str) {
        let is_null = item.typed() == Some(TypedScalar::Null);
        if let Some(found) = JsonType::of(item) {
            let text = item.text().filter(|_| list == "env");
            let name = text.and_then(|it| it.split_once(['=', ':'])).map(|(name, _)| Arc::from(name.trim()));
            self.push(item, entry, ShapeMistakeKind::Item { list, found, name });
        } else if is_null && !item.span().is_empty() {
            self.push(item, entry, ShapeMistakeKind::EmptyEntry { list });
        }
    }

    fn unknown_field(&mut self, container: Node<'_>, key: Node<'_>, value: Node<'_>) {
        let name = key.key_text().unwrap_or_default();
        if is_other_key(&name) {
            return;
        }
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let other = OTHER_NAMES.iter().find(|(other, _)| plain.eq_ignore_ascii_case(other)).map(|(_, field)| *field);
        let meant = match other {
            Some(field) if container.entry(field).is_none() => {
                self.push_misspelled(container, key, ShapeEntry::Container, field);
                other
            }
            _ if self.is_misspelled(container, key, ShapeEntry::Container, CONTAINER) => {
                nearest_name(&name, CONTAINER.iter().copied())
            }
            _ => None,
        };
        match meant {
            Some("env") => self.add_possible_names(value, DEPTH),
            Some("envFrom") => self.shape.hides_variables = true,
            Some("command" | "args") => self.shape.hides_command = true,
            _ => {}
        }
    }

    /// Whether a key that is not a field is similar to one. That is a mistake.
    fn is_misspelled(&mut self, mapping: Node<'_>, key: Node<'_>, entry: ShapeEntry, known: &[&'static str]) -> bool {
        let Some(text) = self.reader.key(key) else { return false };
        let near = nearest_name(&text.value, known.iter().copied());
        let near = near.and_then(|near| known.iter().copied().find(|it| *it == near));
        // `secretName: x` in place of `name: x`.
        let names_object =
            || known.contains(&"name") && text.value.ends_with("Name") && mapping.entry("name").is_none();
        // `- key: HOST` in place of `- name: HOST`.
        let is_key = || known == VARIABLE && &*text.value == "key" && mapping.entry("name").is_none();
        let Some(field) =
            near.or_else(|| (is_key() || entry != ShapeEntry::Container && names_object()).then_some("name"))
        else {
            let is_source = known == VARIABLE && VALUE_FROM.iter().any(|(field, _)| **field == *text.value);
            if is_source {
                self.push(key, entry, ShapeMistakeKind::Misplaced { key: text, place: "valueFrom" });
            }
            return is_source;
        };
        self.push_misspelled(mapping, key, entry, field);
        true
    }

    fn push_misspelled(&mut self, mapping: Node<'_>, key: Node<'_>, entry: ShapeEntry, field: &'static str) {
        if let Some(text) = self.reader.key(key) {
            let is_free = mapping.entry(field).is_none();
            self.push(key, entry, ShapeMistakeKind::Misspelled { key: text, field, is_free });
        }
    }

    /// Adds every text under a node that may be the name of a variable.
    fn add_possible_names(&mut self, node: Node<'_>, depth: usize) {
        if depth == 0 || !self.reader.budget.take() {
            return;
        }
        if let Some(text) = node.text() {
            let name = text.split(['=', ':']).next().unwrap_or_default().trim();
            self.shape.possible_names.push(name.into());
        }
        for item in node.items() {
            self.add_possible_names(item, depth - 1);
        }
        for (key, value) in node.entries() {
            self.add_possible_names(key, depth - 1);
            if let Some(value) = value {
                self.add_possible_names(value, depth - 1);
            }
        }
    }

    fn push(&mut self, node: Node<'_>, entry: ShapeEntry, kind: ShapeMistakeKind) {
        self.push_at(node, node, entry, kind);
    }

    /// Adds a mistake of a value that is shown at a node: the value itself, or its key.
    fn push_at(&mut self, node: Node<'_>, value: Node<'_>, entry: ShapeEntry, kind: ShapeMistakeKind) {
        let span = |node: Node<'_>| self.reader.span(node.resolved());
        let mistake = ShapeMistake { span: span(node), value: span(value), entry, kind };
        self.shape.mistakes.push(mistake);
    }
}

/// Whether a tool may replace a text by a value of another type: it starts with an expression.
fn may_become_other_type(text: &str) -> bool {
    let start = text.trim_start();
    let is_placeholder = |it: char| has_placeholder(it.encode_utf8(&mut [0; 4]));
    is_assertion_key(start)
        || start.starts_with("${")
        || start.starts_with("{{")
        || start.len() > 3 && start.starts_with("***") && start.ends_with("***")
        || start.starts_with('<') && start.ends_with('>')
        || start.chars().next().is_some_and(is_placeholder)
}

/// Whether a mapping is an assertion of a test tool about the value that is expected: `(length(@)): 3`.
fn is_assertion(node: Node<'_>) -> bool {
    node.own_entries().next().and_then(|(key, _)| key.key_text()).is_some_and(|key| is_assertion_key(&key))
}

/// Whether a key or a text is an expression of a test tool.
pub(super) fn is_assertion_key(key: &str) -> bool {
    key.starts_with('(')
}

/// Whether a key is not meant as a field: a merge key, a directive of a patch, an assertion, or one that a tool fills in.
fn is_other_key(name: &str) -> bool {
    name == "<<" || name.starts_with('$') || is_assertion_key(name) || may_be_replaced(name)
}
