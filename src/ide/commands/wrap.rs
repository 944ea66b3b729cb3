//! Objects to a Template that gives them back: what `podlens wrap` prints and the editor's action writes.
//!
//! The text of the objects is kept as it is written, comments and quotes too, only moved under `objects`. What is made of
//! it is processed before anyone gets it: an object that would not come back is written anew, and told.

mod edits;
mod notes;
mod pieces;
mod values;

use std::collections::BTreeSet;

use crate::ide::commands::process::{self, Json, ProcessOptions, process_template, select_template};
use crate::k8s::is_parameter_name;
use crate::syntax::{self, Node, Tree, YamlValue, template_parameters};
use crate::text::{LineIndex, Span};
pub(crate) use edits::ParameterEdits;
use pieces::{ObjectText, OutputLayout};
pub use values::ParameterChoice;
pub(crate) use values::ValueReplacer;

/// A text with objects.
#[derive(Clone, Copy, Debug)]
pub struct WrapInput<'t> {
    /// Its text.
    pub text: &'t str,
}

/// What the template is called and which values become parameters.
#[derive(Clone, Debug, Default)]
pub struct WrapOptions {
    /// `metadata.name` of the template.
    pub name: String,
    /// The parameters with the values they take the place of, in the order they are declared.
    pub parameters: Vec<ParameterChoice>,
}

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// Its text.
    pub text: String,
    /// How many objects are in it.
    pub objects: usize,
    /// What a person should know about it, one line each.
    pub notices: Vec<String>,
}

/// Something that cannot be wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrapError {
    /// The text it is about.
    pub source: Option<usize>,
    /// Where it stands there.
    pub span: Option<Span>,
    /// What, in words for a person. Holds no values.
    pub message: String,
}

impl WrapOptions {
    /// What is wrong with the options themselves, before any text is looked at.
    pub fn mistake(&self) -> Option<String> {
        if !is_object_name(&self.name) {
            return Some(format!("`{}` cannot be the name of a template: use a-z, 0-9, `-` and `.`", self.name));
        }
        let mut names = BTreeSet::new();
        for (at, given) in self.parameters.iter().enumerate() {
            let name = &given.name;
            if !is_parameter_name(name) {
                return Some(format!("`{name}` cannot be a parameter: use letters, digits and `_`"));
            }
            if !names.insert(name) {
                return Some(format!("given more than once: {name}"));
            }
            if given.value.is_empty() {
                return Some(format!("the value of {name} is empty, which would stand everywhere"));
            }
            if let Some(other) = self.parameters[..at].iter().find(|it| it.value == given.value) {
                return Some(format!("{} and {name} have the same value, so nobody knows which to put in", other.name));
            }
        }
        // A value that is put in is looked at again by whatever stands behind it.
        self.parameters.iter().find_map(|given| {
            let inner =
                template_parameters(&given.value).map(|it| &given.value[it.name]).find(|it| is_given(self, it))?;
            Some(format!("the value of {} holds a reference to {inner}, which processing would replace", given.name))
        })
    }
}

fn is_given(options: &WrapOptions, name: &str) -> bool {
    options.parameters.iter().any(|it| it.name == name)
}

/// Whether a text can be the name of an object.
fn is_object_name(name: &str) -> bool {
    let is_end = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let bytes = name.as_bytes();
    name.len() <= 253
        && bytes.first().is_some_and(|it| is_end(*it))
        && bytes.last().is_some_and(|it| is_end(*it))
        && bytes.iter().all(|it| is_end(*it) || matches!(it, b'-' | b'.'))
}

/// A name for an object out of any text, such as that of a file.
pub(crate) fn object_name(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-' || it == '.';
    let mapped: String = lower.chars().map(|it| if fits(it) { it } else { '-' }).collect();
    let trimmed = mapped.trim_matches(['-', '.']);
    if is_object_name(trimmed) { trimmed.to_owned() } else { "template".to_owned() }
}

/// A document with the objects in it: itself, or the items of a List.
#[derive(Debug)]
struct InputDocument<'t> {
    source: usize,
    root: Node<'t>,
    objects: Vec<Node<'t>>,
    /// The documents before it that hold nothing but comments.
    before: Vec<Span>,
    /// And those behind it, if it is the last one.
    behind: Vec<Span>,
}

/// An object with the text it stands in and what it says.
struct InputObject<'t> {
    source: usize,
    node: Node<'t>,
    said: Json<'t>,
}

/// Wraps the objects of some texts, in their order. The options are without a mistake.
pub fn wrap_in_template(sources: &[WrapInput<'_>], options: &WrapOptions) -> Result<Wrapped, Vec<WrapError>> {
    let trees: Vec<Tree> = sources.iter().map(|it| syntax::parse(it.text)).collect();
    let replacer = ValueReplacer::new(&options.parameters);
    let mut problems = WrapChecker { options, all: Vec::new() };
    let found = problems.documents(sources, &trees);
    let wanted = problems.objects(&found);
    problems.check_literals(&wanted);
    if problems.all.is_empty() && !wanted.is_empty() {
        problems.check_uses(&wanted, &replacer);
    }
    if !problems.all.is_empty() {
        return Err(problems.all);
    }
    if wanted.is_empty() {
        return Ok(Wrapped { text: String::new(), objects: 0, notices: Vec::new() });
    }
    let layout = OutputLayout::of(sources, &trees);
    let mut pieces: Vec<ObjectText<'_>> = Vec::new();
    for it in &found {
        let text = sources[it.source].text;
        let mut edits = ParameterEdits::new(text, &replacer, layout.is_json());
        for object in &it.objects {
            edits.object(*object);
        }
        pieces.push(ObjectText::cut(text, &trees[it.source], it, &edits, layout));
    }
    let made = assembled(options, &replacer, &mut pieces, &wanted, layout)?;
    let mut notices = notes::notices(options, &wanted, &made.keeps_namespace);
    if !made.anew.is_empty() {
        notices.push(notes::line("written anew, without comments, since the text cannot be moved", &made.anew));
    }
    Ok(Wrapped { text: made.text, objects: wanted.len(), notices })
}

struct WrapChecker<'w> {
    options: &'w WrapOptions,
    all: Vec<WrapError>,
}

impl WrapChecker<'_> {
    fn add(&mut self, source: usize, span: Span, message: impl Into<String>) {
        self.all.push(WrapError { source: Some(source), span: Some(span), message: message.into() });
    }

    /// The documents with objects.
    fn documents<'t>(&mut self, sources: &[WrapInput<'_>], trees: &'t [Tree]) -> Vec<InputDocument<'t>> {
        let mut found = Vec::new();
        for (source, tree) in trees.iter().enumerate() {
            for error in tree.errors() {
                self.add(source, error.span, error.message(&LineIndex::new(sources[source].text)));
            }
            let mut before = Vec::new();
            for document in tree.documents() {
                let Some(root) = document.root() else {
                    before.push(document.span());
                    continue;
                };
                let kind = root.get("kind").and_then(Node::string).unwrap_or_default();
                if !root.is_mapping() || kind.is_empty() {
                    self.add(source, root.span(), "this is no object: it has no `kind`");
                } else if matches!(kind, "Template" | "TemplateConfig" | "ProcessedTemplate" | "TemplateList") {
                    self.add(source, root.span(), format!("this is a {kind} already"));
                } else if let Some(objects) = pieces::items_of(root) {
                    for item in &objects {
                        if item.get("kind").and_then(Node::string).is_none_or(str::is_empty) {
                            self.add(source, item.span(), "this item of a list has no `kind`");
                        }
                    }
                    found.push(InputDocument {
                        source,
                        root,
                        objects,
                        before: std::mem::take(&mut before),
                        behind: Vec::new(),
                    });
                } else {
                    let objects = vec![root];
                    found.push(InputDocument {
                        source,
                        root,
                        objects,
                        before: std::mem::take(&mut before),
                        behind: Vec::new(),
                    });
                }
            }
            if let Some(last) = found.last_mut().filter(|it| it.source == source) {
                last.behind = before;
            }
        }
        found
    }

    /// What every object says, in order.
    fn objects<'t>(&mut self, found: &[InputDocument<'t>]) -> Vec<InputObject<'t>> {
        let mut wanted = Vec::new();
        for (source, node) in found.iter().flat_map(|it| it.objects.iter().map(|node| (it.source, *node))) {
            match process::as_it_is(node) {
                Ok(said) => wanted.push(InputObject { source, node, said }),
                Err(message) => self.add(source, node.span(), message),
            }
        }
        wanted
    }

    /// A text that reads like a reference to one of the new parameters would be replaced, and nothing escapes it.
    fn check_literals(&mut self, wanted: &[InputObject<'_>]) {
        for it in wanted {
            for (text, span) in values::texts(it.node) {
                if let Some(name) =
                    template_parameters(&text).map(|it| &text[it.name]).find(|it| is_given(self.options, it))
                {
                    let message = format!(
                        "this text holds `${{{name}}}` already, which would become a reference; call the parameter something else"
                    );
                    self.add(it.source, span, message);
                }
            }
        }
    }

    /// A value that stands nowhere is a mistake in the value.
    fn check_uses(&mut self, wanted: &[InputObject<'_>], replacer: &ValueReplacer<'_>) {
        let mut used = BTreeSet::new();
        for it in wanted {
            replacer.uses(&it.said, "", &mut used);
        }
        for (_, given) in self.options.parameters.iter().enumerate().filter(|(at, _)| !used.contains(at)) {
            let message = format!("the value of {} occurs nowhere in these objects", given.name);
            self.all.push(WrapError { source: None, span: None, message });
        }
    }
}

/// A template that gives its objects back.
struct CheckedTemplate {
    text: String,
    /// Which objects keep their namespace.
    keeps_namespace: Vec<bool>,
    /// The objects that had to be written anew.
    anew: Vec<String>,
}

fn assembled(
    options: &WrapOptions,
    replacer: &ValueReplacer<'_>,
    pieces: &mut [ObjectText<'_>],
    wanted: &[InputObject<'_>],
    layout: OutputLayout,
) -> Result<CheckedTemplate, Vec<WrapError>> {
    let text = layout.assemble(options, pieces);
    if let Some(keeps_namespace) = given_back(&text, wanted) {
        return Ok(CheckedTemplate { text, keeps_namespace, anew: Vec::new() });
    }
    let mut anew = Vec::new();
    let mut at = 0;
    for piece in &mut *pieces {
        let own = &wanted[at..at + piece.objects.len()];
        at += own.len();
        let alone = layout.assemble(options, std::slice::from_ref(piece));
        if given_back(&alone, own).is_none() {
            anew.extend(own.iter().map(|it| notes::title(&it.said)));
            piece.write_anew(replacer, layout);
        }
    }
    let text = layout.assemble(options, pieces);
    match given_back(&text, wanted) {
        Some(keeps_namespace) => Ok(CheckedTemplate { text, keeps_namespace, anew }),
        None => {
            let message = "these objects cannot be written as a template that gives them back".to_owned();
            Err(vec![WrapError { source: None, span: None, message }])
        }
    }
}

/// Processes a text. Nothing if that does not give these objects; else whether each keeps its namespace, which goes where
/// no reference stands in it.
fn given_back(text: &str, wanted: &[InputObject<'_>]) -> Option<Vec<bool>> {
    let tree = syntax::parse(text);
    let selected = select_template(&tree).ok()?;
    let outcome = process_template(&selected, &ProcessOptions::default(), &mut |_| 0);
    if !outcome.problems.is_empty() || outcome.objects.len() != wanted.len() {
        return None;
    }
    let keeps = |(it, made): (&InputObject<'_>, &Json<'_>)| {
        let keeps = notes::namespace(made).is_some();
        let mut said = it.said.clone();
        if !keeps
            && let Some(metadata) = said.as_map_mut().and_then(|it| it.get_mut("metadata")).and_then(Json::as_map_mut)
        {
            metadata.remove("namespace");
        }
        (said == *made).then_some(keeps)
    };
    wanted.iter().zip(&outcome.objects).map(keeps).collect()
}

/// A value as a node of YAML that is written in double quotes.
fn quoted(text: &str) -> String {
    YamlValue::Quoted(text.to_owned()).to_flow().unwrap_or_default()
}

#[cfg(test)]
mod tests;
