//! The engine of `podlens wrap` and of the editor's action: turns objects into a Template that processes to the same
//! objects.
//!
//! The text of the objects is moved under `objects` with its comments and quotes. The result is processed as a check: an
//! object that would change is rewritten from its data, with a notice.

mod notices;
mod object_text;
mod parameter_edits;
mod value_replacer;

use std::collections::BTreeSet;

use crate::build::process::{self, Json, ProcessOptions, process_template, select_template};
use crate::k8s::is_parameter_name;
use crate::syntax::{self, Node, Tree, YamlValue, template_parameters};
use crate::text::{LineIndex, Span};
use object_text::{ObjectText, OutputLayout};
pub(crate) use parameter_edits::ParameterEdits;
pub use value_replacer::ParameterChoice;
pub(crate) use value_replacer::ValueReplacer;

/// An input text with objects.
#[derive(Clone, Copy, Debug)]
pub struct WrapInput<'t> {
    /// The text.
    pub text: &'t str,
}

/// The name of the template, and the values that become parameters.
#[derive(Clone, Debug, Default)]
pub struct WrapOptions {
    /// `metadata.name` of the template.
    pub name: String,
    /// The parameters with the values they replace, in the order of declaration.
    pub parameters: Vec<ParameterChoice>,
}

/// The result of wrapping: a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// Its text.
    pub text: String,
    /// The number of objects in it.
    pub objects: usize,
    /// Notices for the user, one line each.
    pub notices: Vec<String>,
}

/// Why a text cannot be wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrapError {
    /// The index of the input.
    pub input: Option<usize>,
    /// The span in the input.
    pub span: Option<Span>,
    /// The message. It contains no values.
    pub message: String,
}

impl WrapOptions {
    /// The first error in the options themselves.
    pub fn error(&self) -> Option<String> {
        if !is_object_name(&self.name) {
            return Some(format!("`{}` is not a valid template name: use a-z, 0-9, `-` and `.`", self.name));
        }
        let mut names = BTreeSet::new();
        for (at, given) in self.parameters.iter().enumerate() {
            let name = &given.name;
            if !is_parameter_name(name) {
                return Some(format!("`{name}` is not a valid parameter name: use letters, digits and `_`"));
            }
            if !names.insert(name) {
                return Some(format!("parameter `{name}` is given more than once"));
            }
            if given.value.is_empty() {
                return Some(format!("the value of `{name}` is empty"));
            }
            if let Some(other) = self.parameters[..at].iter().find(|it| it.value == given.value) {
                return Some(format!("`{}` and `{name}` have the same value; use one parameter for it", other.name));
            }
        }
        // Processing may replace a reference inside an inserted value.
        self.parameters.iter().find_map(|given| {
            let inner =
                template_parameters(&given.value).map(|it| &given.value[it.name]).find(|it| is_given(self, it))?;
            Some(format!(
                "the value of `{}` contains a reference to `{inner}`, which processing would replace",
                given.name
            ))
        })
    }
}

fn is_given(options: &WrapOptions, name: &str) -> bool {
    options.parameters.iter().any(|it| it.name == name)
}

/// Whether a text is a valid name of an object.
fn is_object_name(name: &str) -> bool {
    let is_end = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let bytes = name.as_bytes();
    name.len() <= 253
        && bytes.first().is_some_and(|it| is_end(*it))
        && bytes.last().is_some_and(|it| is_end(*it))
        && bytes.iter().all(|it| is_end(*it) || matches!(it, b'-' | b'.'))
}

/// A valid name for an object, made from any text such as a file name.
pub(crate) fn object_name(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-' || it == '.';
    let mapped: String = lower.chars().map(|it| if fits(it) { it } else { '-' }).collect();
    let trimmed = mapped.trim_matches(['-', '.']);
    if is_object_name(trimmed) { trimmed.to_owned() } else { "template".to_owned() }
}

/// A document with its objects: the document itself, or the items of a List.
#[derive(Debug)]
struct InputDocument<'t> {
    input: usize,
    root: Node<'t>,
    objects: Vec<Node<'t>>,
    /// The spans of documents before it that contain only comments.
    before: Vec<Span>,
    /// The spans of such documents after it, if it is the last one.
    after: Vec<Span>,
}

/// An object with its input and its data.
struct InputObject<'t> {
    input: usize,
    node: Node<'t>,
    data: Json<'t>,
}

/// Wraps the objects of the inputs, in their order. The options have no [`error`](WrapOptions::error).
pub fn wrap_in_template(inputs: &[WrapInput<'_>], options: &WrapOptions) -> Result<Wrapped, Vec<WrapError>> {
    let trees: Vec<Tree> = inputs.iter().map(|it| syntax::parse(it.text)).collect();
    let replacer = ValueReplacer::new(&options.parameters);
    let mut checker = WrapChecker { options, errors: Vec::new() };
    let found = checker.documents(inputs, &trees);
    let objects = checker.objects(&found);
    checker.check_literals(&objects);
    if checker.errors.is_empty() && !objects.is_empty() {
        checker.check_uses(&objects, &replacer);
    }
    if !checker.errors.is_empty() {
        return Err(checker.errors);
    }
    if objects.is_empty() {
        return Ok(Wrapped { text: String::new(), objects: 0, notices: Vec::new() });
    }
    let layout = OutputLayout::of(inputs, &trees);
    let mut pieces: Vec<ObjectText<'_>> = Vec::new();
    for it in &found {
        let text = inputs[it.input].text;
        let mut edits = ParameterEdits::new(text, &replacer, layout.is_json());
        for object in &it.objects {
            edits.object(*object);
        }
        pieces.push(ObjectText::cut(text, &trees[it.input], it, &edits, layout));
    }
    let made = checked_template(options, &replacer, &mut pieces, &objects, layout)?;
    let mut notices = notices::notices(options, &objects, &made.keeps_namespace);
    if !made.rewritten.is_empty() {
        notices.push(notices::line("rewritten without comments, because the text cannot be moved", &made.rewritten));
    }
    Ok(Wrapped { text: made.text, objects: objects.len(), notices })
}

struct WrapChecker<'w> {
    options: &'w WrapOptions,
    errors: Vec<WrapError>,
}

impl WrapChecker<'_> {
    fn add(&mut self, input: usize, span: Span, message: impl Into<String>) {
        self.errors.push(WrapError { input: Some(input), span: Some(span), message: message.into() });
    }

    /// The documents with objects.
    fn documents<'t>(&mut self, inputs: &[WrapInput<'_>], trees: &'t [Tree]) -> Vec<InputDocument<'t>> {
        let mut found = Vec::new();
        for (input, tree) in trees.iter().enumerate() {
            for error in tree.errors() {
                self.add(input, error.span, error.message(&LineIndex::new(inputs[input].text)));
            }
            let mut before = Vec::new();
            for document in tree.documents() {
                let Some(root) = document.root() else {
                    before.push(document.span());
                    continue;
                };
                let kind = root.get("kind").and_then(Node::string).unwrap_or_default();
                if !root.is_mapping() || kind.is_empty() {
                    self.add(input, root.span(), "this is not an object: it has no `kind`");
                } else if matches!(kind, "Template" | "TemplateConfig" | "ProcessedTemplate" | "TemplateList") {
                    self.add(input, root.span(), format!("this is already a {kind}"));
                } else if let Some(objects) = object_text::items_of(root) {
                    for item in &objects {
                        if item.get("kind").and_then(Node::string).is_none_or(str::is_empty) {
                            self.add(input, item.span(), "this list item has no `kind`");
                        }
                    }
                    found.push(InputDocument {
                        input,
                        root,
                        objects,
                        before: std::mem::take(&mut before),
                        after: Vec::new(),
                    });
                } else {
                    let objects = vec![root];
                    found.push(InputDocument {
                        input,
                        root,
                        objects,
                        before: std::mem::take(&mut before),
                        after: Vec::new(),
                    });
                }
            }
            if let Some(last) = found.last_mut().filter(|it| it.input == input) {
                last.after = before;
            }
        }
        found
    }

    /// The data of every object, in order.
    fn objects<'t>(&mut self, found: &[InputDocument<'t>]) -> Vec<InputObject<'t>> {
        let mut objects = Vec::new();
        for (input, node) in found.iter().flat_map(|it| it.objects.iter().map(|node| (it.input, *node))) {
            match process::unprocessed_object(node) {
                Ok(data) => objects.push(InputObject { input, node, data }),
                Err(problem) => self.add(input, node.span(), problem.message()),
            }
        }
        objects
    }

    /// A text that looks like a reference to a new parameter would be replaced, and there is no escape.
    fn check_literals(&mut self, objects: &[InputObject<'_>]) {
        for it in objects {
            for (text, span) in value_replacer::texts(it.node) {
                if let Some(name) =
                    template_parameters(&text).map(|it| &text[it.name]).find(|it| is_given(self.options, it))
                {
                    let message = format!(
                        "this text already contains `${{{name}}}`, which would become a reference; choose another parameter name"
                    );
                    self.add(it.input, span, message);
                }
            }
        }
    }

    /// A value that does not occur is an error.
    fn check_uses(&mut self, objects: &[InputObject<'_>], replacer: &ValueReplacer<'_>) {
        let mut used = BTreeSet::new();
        for it in objects {
            replacer.uses(&it.data, "", &mut used);
        }
        for (_, given) in self.options.parameters.iter().enumerate().filter(|(at, _)| !used.contains(at)) {
            let message = format!("the value of `{}` does not occur in these objects", given.name);
            self.errors.push(WrapError { input: None, span: None, message });
        }
    }
}

/// A template that was processed as a check: the result is the same objects.
struct CheckedTemplate {
    text: String,
    /// Which objects keep their namespace.
    keeps_namespace: Vec<bool>,
    /// The objects that were rewritten.
    rewritten: Vec<String>,
}

fn checked_template(
    options: &WrapOptions,
    replacer: &ValueReplacer<'_>,
    pieces: &mut [ObjectText<'_>],
    objects: &[InputObject<'_>],
    layout: OutputLayout,
) -> Result<CheckedTemplate, Vec<WrapError>> {
    let text = layout.assemble(options, pieces);
    if let Some(keeps_namespace) = processes_to(&text, objects) {
        return Ok(CheckedTemplate { text, keeps_namespace, rewritten: Vec::new() });
    }
    let mut rewritten = Vec::new();
    let mut at = 0;
    for piece in &mut *pieces {
        let own = &objects[at..at + piece.objects.len()];
        at += own.len();
        let alone = layout.assemble(options, std::slice::from_ref(piece));
        if processes_to(&alone, own).is_none() {
            rewritten.extend(own.iter().map(|it| notices::title(&it.data)));
            piece.rewrite(replacer, layout);
        }
    }
    let text = layout.assemble(options, pieces);
    match processes_to(&text, objects) {
        Some(keeps_namespace) => Ok(CheckedTemplate { text, keeps_namespace, rewritten }),
        None => {
            let message = "these objects cannot be wrapped: processing the template would change them".to_owned();
            Err(vec![WrapError { input: None, span: None, message }])
        }
    }
}

/// Processes a text. `None` if the result is not these objects; otherwise whether each object keeps its namespace, which
/// is removed if it contains no reference.
fn processes_to(text: &str, objects: &[InputObject<'_>]) -> Option<Vec<bool>> {
    let tree = syntax::parse(text);
    let selected = select_template(&tree).ok()?;
    let processed_template = process_template(&selected, &ProcessOptions::default(), &mut |_| 0);
    if !processed_template.errors.is_empty() || processed_template.objects.len() != objects.len() {
        return None;
    }
    let keeps = |(it, processed): (&InputObject<'_>, &Json<'_>)| {
        let keeps = notices::namespace(processed).is_some();
        let mut data = it.data.clone();
        if !keeps
            && let Some(metadata) = data.as_map_mut().and_then(|it| it.get_mut("metadata")).and_then(Json::as_map_mut)
        {
            metadata.remove("namespace");
        }
        (data == *processed).then_some(keeps)
    };
    objects.iter().zip(&processed_template.objects).map(keeps).collect()
}

/// A value as YAML in double quotes.
fn quoted(text: &str) -> String {
    YamlValue::Quoted(text.to_owned()).to_flow().unwrap_or_default()
}

#[cfg(test)]
mod tests;
