//! Reading Templates: their parameters, and the texts of objects that may refer to parameters.
//!
//! The objects of a template share its [`Parameters`].

use std::sync::Arc;

use crate::k8s::identity::Identity;
use crate::k8s::model::Text;
use crate::k8s::node_reader::{DEPTH, NodeReader};
use crate::k8s::object_span::ObjectSpan;
use crate::k8s::parameters::Parameters;
use crate::syntax::{Node, ReferenceForm, TypedScalar};

/// Kinds that are a Template or hold one.
pub(super) const KINDS: [&str; 4] = ["Template", "TemplateConfig", "ProcessedTemplate", INSTANCE];

const INSTANCE: &str = "TemplateInstance";

/// A Template, or the one inside a TemplateInstance.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// The dialect.
    pub dialect: Dialect,
    /// The mapping that holds `parameters` and `objects`.
    pub span: ObjectSpan,
    /// The parameters, in list order.
    pub parameters: Vec<Parameter>,
    /// The `parameters` list.
    pub parameters_span: Option<ObjectSpan>,
    /// The `objects` list.
    pub objects_span: Option<ObjectSpan>,
    /// The names of parameters that are among the objects by mistake.
    pub misplaced_parameters: Vec<Text>,
    /// Whether `objects` is absent or empty.
    pub is_empty: bool,
    /// Whether there is a key `objects`.
    pub has_objects_key: bool,
    /// `message`.
    pub message: Option<Text>,
    /// `labels`, which every object gets.
    pub labels: Vec<(Text, Text)>,
    /// Texts with a `$` in which no parameters are substituted, each with its path: metadata, apiVersion, the
    /// parameters.
    pub unsubstituted_texts: Vec<(String, Text)>,
    /// Whether a Secret provides values of parameters. They are unknown.
    pub has_secret: bool,
    /// The parameters as its objects use them.
    pub exported: Arc<Parameters>,
}

/// The forms of references that a template has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `${P}` and `${{P}}`: `template.openshift.io/v1`.
    #[default]
    OpenShift,
    /// `$(P)` and `type` as well: plain `v1`.
    Proposal,
}

impl Dialect {
    /// Whether `$(P)` is a reference.
    pub fn is_proposal(self) -> bool {
        self == Self::Proposal
    }
}

/// A parameter.
#[derive(Clone, Debug, Default)]
pub struct Parameter {
    /// The whole entry.
    pub span: ObjectSpan,
    /// `name`
    pub name: Option<Text>,
    /// `displayName`
    pub display_name: Option<Text>,
    /// `description`
    pub description: Option<Text>,
    /// `value`
    pub value: Option<Text>,
    /// `generate`
    pub generate: Option<Text>,
    /// `from`
    pub from: Option<Text>,
    /// `type`, of the proposal (PT2).
    pub type_: Option<Text>,
    /// `required`
    pub required: bool,
    /// Fields with a value of the wrong type.
    pub mistyped_fields: Vec<MistypedField>,
}

impl Parameter {
    /// The text of a field; empty if it is absent.
    pub fn text(field: &Option<Text>) -> &str {
        field.as_ref().map_or("", |it| &it.value)
    }
}

/// A field of a parameter with a value of the wrong type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MistypedField {
    /// The field.
    pub field: &'static str,
    /// The span of the value.
    pub span: ObjectSpan,
    /// The expected type, for messages.
    pub wanted: &'static str,
    /// The value, if it is a scalar.
    pub text: Option<Text>,
}

/// A text of an object that contains a `$`.
#[derive(Clone, Debug)]
pub struct ParameterizedText {
    /// The path in the object; for a key that of its entry.
    pub path: Box<str>,
    /// The scalar.
    pub text: Text,
    /// Whether it is the key of a mapping.
    pub is_key: bool,
}

/// The mapping that is a Template: the object itself, or the one inside a TemplateInstance.
pub(super) fn node<'t>(root: Node<'t>, identity: Identity<'t>) -> Option<Node<'t>> {
    let kind = identity.kind?;
    if !matches!(identity.group(), "" | "template.openshift.io") {
        return None;
    }
    match kind {
        INSTANCE => root.at(&["spec", "template"]).filter(|it| it.is_mapping()),
        _ => KINDS.contains(&kind).then_some(root),
    }
}

/// Reads a Template.
pub(super) fn template(reader: NodeReader<'_>, root: Node<'_>, identity: Identity<'_>) -> Option<Template> {
    let node = node(root, identity)?;
    // An inline template without a version has that of the instance.
    let version = node.get("apiVersion").and_then(Node::string).or(identity.api_version);
    let dialect = if version == Some("v1") { Dialect::Proposal } else { Dialect::OpenShift };
    let list = node.get("parameters");
    let parameters: Vec<Parameter> = list
        .into_iter()
        .flat_map(|list| list.items().collect::<Vec<_>>())
        .take_while(|_| reader.budget.take())
        .map(|item| parameter(reader, item))
        .collect();
    let labels = reader.string_pairs_at(node, &["labels"]);
    let shared = |(key, value): &(Text, Text)| (Arc::clone(&key.value), Arc::clone(&value.value));
    let has_labels = node.get("labels").is_some_and(Node::is_mapping);
    let shared_labels = has_labels.then(|| labels.iter().map(shared).collect());
    let exported = Arc::new(Parameters::new(dialect, &parameters, shared_labels));
    let mut template = Template {
        dialect,
        span: reader.span(node),
        parameters_span: list.filter(|it| it.is_sequence()).map(|it| reader.span(it)),
        objects_span: node.get("objects").filter(|it| it.is_sequence()).map(|it| reader.span(it)),
        misplaced_parameters: misplaced_parameters(reader, node),
        has_objects_key: node.entry("objects").is_some(),
        is_empty: node.get("objects").is_none_or(|it| match it.is_sequence() {
            true => it.items().next().is_none(),
            false => it.typed() == Some(TypedScalar::Null),
        }),
        message: reader.text_at(node, "message"),
        labels,
        has_secret: identity.kind == Some(INSTANCE) && root.at(&["spec", "secret", "name"]).is_some(),
        exported,
        parameters,
        unsubstituted_texts: Vec::new(),
    };
    for key in ["apiVersion", "kind", "metadata", "parameters"] {
        if let Some(value) = node.get(key) {
            let mut found = Vec::new();
            walk(reader, value, key.to_owned(), DEPTH, &mut found);
            template.unsubstituted_texts.extend(found.into_iter().map(|it| (it.path.into(), it.text)));
        }
    }
    Some(template)
}

/// The names of the items of `objects` that are parameters: they have no `apiVersion`, no `kind` and no other field that
/// parameters do not have.
fn misplaced_parameters(reader: NodeReader<'_>, node: Node<'_>) -> Vec<Text> {
    const FIELDS: [&str; 8] = ["name", "displayName", "description", "value", "generate", "from", "type", "required"];
    let is_field = |key: Node<'_>| key.key_text().is_some_and(|it| FIELDS.contains(&&*it));
    let is_parameter = |item: &Node<'_>| item.is_mapping() && item.own_entries().all(|(key, _)| is_field(key));
    let items = node.get("objects").into_iter().flat_map(Node::items).filter(is_parameter);
    items.filter_map(|it| reader.text_at(it, "name")).collect()
}

fn parameter(reader: NodeReader<'_>, node: Node<'_>) -> Parameter {
    let mut it = Parameter { span: reader.span(node), ..Parameter::default() };
    if !node.is_mapping() {
        it.mistyped_fields.push(MistypedField {
            field: "",
            span: it.span,
            wanted: "a mapping with a name",
            text: reader.text(node),
        });
        return it;
    }
    for (key, value) in node.entries() {
        let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
        let (field, target) = match &*key {
            "name" => ("name", &mut it.name),
            "displayName" => ("displayName", &mut it.display_name),
            "description" => ("description", &mut it.description),
            "value" => ("value", &mut it.value),
            "generate" => ("generate", &mut it.generate),
            "from" => ("from", &mut it.from),
            "type" => ("type", &mut it.type_),
            "required" => {
                match value.typed() {
                    Some(TypedScalar::Bool(flag)) => it.required = flag,
                    Some(TypedScalar::Null) => {}
                    _ => it.mistyped_fields.push(mistyped(reader, value, "required", "`true` or `false`")),
                }
                continue;
            }
            _ => continue,
        };
        *target = reader.text(value);
        if !matches!(value.typed(), Some(TypedScalar::Null | TypedScalar::Str(_))) {
            it.mistyped_fields.push(mistyped(reader, value, field, "a string"));
        }
    }
    it
}

fn mistyped(reader: NodeReader<'_>, value: Node<'_>, field: &'static str, wanted: &'static str) -> MistypedField {
    MistypedField { field, span: reader.span(value.resolved()), wanted, text: reader.text(value) }
}

/// Every string and key of an object that contains a `$`, in text order.
pub(super) fn parameterized_texts(reader: NodeReader<'_>, node: Node<'_>) -> Vec<ParameterizedText> {
    let mut found = Vec::new();
    walk(reader, node, String::new(), DEPTH, &mut found);
    found
}

/// A set of names. Many objects are searched for a name after each keystroke, so a bit mask excludes most of them.
#[derive(Clone, Debug, Default)]
pub struct ParameterNames {
    /// Without duplicates.
    sorted: Vec<Arc<str>>,
    /// The union of the bits of all names.
    bits: u128,
}

impl ParameterNames {
    /// The names in some texts that may refer to parameters.
    pub(super) fn from_texts(texts: &[ParameterizedText]) -> Self {
        let mut sorted: Vec<&str> = texts.iter().flat_map(|it| names_after_dollar(&it.text.value)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let bits = sorted.iter().fold(0, |bits, word| bits | bit(word));
        Self { sorted: sorted.into_iter().map(Arc::from).collect(), bits }
    }

    /// The names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.sorted.iter().map(|it| &**it)
    }

    /// Whether the set contains a name.
    pub fn contains(&self, name: &str) -> bool {
        self.bits & bit(name) != 0 && self.sorted.binary_search_by(|word| (**word).cmp(name)).is_ok()
    }
}

/// One bit for a name, chosen by a hash.
fn bit(name: &str) -> u128 {
    1 << (name.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())) % 128)
}

/// The names after `$` and an opening `{` or `(`, whether or not the reference is closed.
pub fn names_after_dollar(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).filter_map(|part| {
        let rest = part.trim_start_matches(['{', '(']);
        let length = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        (length > 0 && rest.len() < part.len()).then_some(&rest[..length])
    })
}

fn walk(reader: NodeReader<'_>, node: Node<'_>, path: String, depth: usize, found: &mut Vec<ParameterizedText>) {
    if depth == 0 || !reader.budget.take() {
        return;
    }
    if let Some(text) = node.text() {
        if text.contains('$')
            && let Some(text) = reader.text(node)
        {
            found.push(ParameterizedText { path: path.into(), text, is_key: false });
        }
    } else if node.is_sequence() {
        for (index, item) in node.items().enumerate() {
            walk(reader, item, format!("{path}[{index}]"), depth - 1, found);
        }
    } else if node.is_mapping() {
        for (key, value) in node.entries() {
            let Some(name) = key.key_text() else { continue };
            let below = if path.is_empty() { name.clone().into_owned() } else { format!("{path}.{name}") };
            if name.contains('$')
                && let Some(text) = reader.key(key)
            {
                found.push(ParameterizedText { path: below.clone().into(), text, is_key: true });
            }
            if let Some(value) = value {
                walk(reader, value, below, depth - 1, found);
            }
        }
    }
}

/// The text of a reference to a parameter.
pub fn format_parameter_reference(name: &str, form: ReferenceForm) -> String {
    match form {
        ReferenceForm::Text => format!("${{{name}}}"),
        ReferenceForm::Raw => format!("${{{{{name}}}}}"),
        ReferenceForm::Proposed => format!("$({name})"),
    }
}

/// Whether a text is valid as the name of a parameter.
pub fn is_parameter_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}
