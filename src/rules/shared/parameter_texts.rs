//! Parameters of templates for the rules: every reference with its location, and the edits that several rules make.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Edit, Fix};
use crate::k8s::{Object, ObjectData, Parameter, Parameters, Template, Text};
use crate::rules::engine::{ObjectContext, edit};
use crate::syntax::{
    InsertPosition, Node, ParameterReference, ReferenceForm, SourceMap, YamlValue, add_entry, add_items,
    parameter_references,
};
use crate::text::nearest_name;

/// A text that may contain references to parameters.
#[derive(Clone, Copy, Debug)]
pub(in crate::rules) struct ParameterText<'a> {
    pub(in crate::rules) text: &'a Text,
    /// Its path in the object, or the name of the field of the template.
    pub(in crate::rules) path: &'a str,
    pub(in crate::rules) is_key: bool,
    pub(in crate::rules) parameters: &'a Parameters,
}

impl<'a> ParameterText<'a> {
    /// The references to parameters in the text.
    pub(in crate::rules) fn references(&self) -> Vec<ParameterReference> {
        parameter_references(&self.text.value, self.parameters.dialect.is_proposal())
    }

    /// The name of a reference.
    pub(in crate::rules) fn name(&self, reference: &ParameterReference) -> &'a str {
        &self.text.value[reference.name.clone()]
    }

    /// The reference as written.
    pub(in crate::rules) fn written(&self, reference: &ParameterReference) -> &'a str {
        &self.text.value[reference.range.clone()]
    }
}

impl<'a> ObjectContext<'a> {
    /// The template, if the object is one.
    pub(in crate::rules) fn template(&self) -> Option<&'a Template> {
        match &self.object.model.data {
            ObjectData::Template(template) => Some(template),
            _ => None,
        }
    }

    /// The texts that may contain references to parameters: those of an object in a template, or the `message` and
    /// `labels` of a template itself.
    pub(in crate::rules) fn parameter_texts(&self) -> Vec<ParameterText<'a>> {
        let mut all = Vec::new();
        if let Some(parameters) = self.object.source.template.as_ref().map(|it| &*it.parameters) {
            let place = |it: &'a crate::k8s::ParameterizedText| ParameterText {
                text: &it.text,
                path: &it.path,
                is_key: it.is_key,
                parameters,
            };
            all.extend(self.object.source.model.parameterized_texts.iter().map(place));
        }
        if let Some(template) = self.template() {
            all.extend(own_parameter_texts(template));
        }
        all
    }

    /// The template around the object, or the object itself if it is a template.
    pub(in crate::rules) fn enclosing_template(&self) -> Option<(&'a Object, &'a Template)> {
        let offset = self.object.source.offset;
        let mut around = self.file.facts.objects.iter().filter(|it| it.offset <= offset).rev();
        around.find_map(|it| match &it.model.data {
            ObjectData::Template(template) if it.file_span(it.model.span).touches(offset) => Some((it, &**template)),
            _ => None,
        })
    }

    /// Adds a parameter to the template around the object.
    pub(in crate::rules) fn declare_parameter_fix(&self, name: &str) -> Option<Fix> {
        let edits =
            vec![self.declare_parameter_edit(&[("name", YamlValue::text(name)), ("required", YamlValue::Bool(true))])?];
        Some(Fix { title: format!("Declare the parameter `{name}`"), safe: false, edits })
    }

    /// Adds an entry with these fields to the parameters of the template around the object.
    pub fn declare_parameter_edit(&self, fields: &[(&str, YamlValue)]) -> Option<Edit> {
        let (object, template) = self.enclosing_template()?;
        let source = self.file.parsed_text()?;
        let root = source.tree.document_at(object.offset)?.root()?;
        let span = object.file_span(template.span);
        let node = root.path_to(span.start).into_iter().find(|it| it.is_mapping() && it.span() == span)?;
        let entry = YamlValue::Map(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect());
        let change = match node.get("parameters").filter(|it| Node::is_sequence(*it)) {
            Some(list) => add_items(&source.text, list, &[entry], InsertPosition::Last)?,
            None => add_entry(&source.text, node, "parameters", &YamlValue::List(vec![entry]))?,
        };
        Some(edit(self.file.at(change.span), change.text))
    }

    /// Gives a parameter of the template around the object a type.
    pub(in crate::rules) fn set_parameter_type_fix(&self, name: &str, type_: &str) -> Option<Fix> {
        let (object, template) = self.enclosing_template()?;
        let is_it = |it: &&Parameter| it.name.as_ref().is_some_and(|it| &*it.value == name);
        let parameter = template.parameters.iter().rfind(is_it)?;
        let change = match &parameter.type_ {
            Some(written) => edit(self.file.at(object.file_span(written.span)), type_),
            None => {
                let source = self.file.parsed_text()?;
                let root = source.tree.document_at(object.offset)?.root()?;
                let span = object.file_span(parameter.span);
                let node = root.path_to(span.start).into_iter().find(|it| it.is_mapping() && it.span() == span)?;
                let added = add_entry(&source.text, node, "type", &YamlValue::text(type_))?;
                edit(self.file.at(added.span), added.text)
            }
        };
        Some(Fix { title: format!("Give `{name}` the type `{type_}`"), safe: false, edits: vec![change] })
    }

    /// Replaces a part of a scalar: a reference, or a part of one.
    pub(in crate::rules) fn rewrite_fix(
        &self,
        text: &Text,
        range: Range<usize>,
        new: &str,
        title: String,
        safe: bool,
    ) -> Option<Fix> {
        let source = self.file.parsed_text()?;
        let span = self.object.file_span(text.span);
        let written = source.text.get(span.range())?;
        let map = SourceMap::new(written, text.style, &text.value);
        let inner = map.source_span(range);
        // References are written the same in every style, so the rest of the scalar is not changed.
        let plain = new.bytes().all(|it| it.is_ascii_alphanumeric() || b"${}()_".contains(&it));
        if !map.is_exact() || !plain || written.get(inner.range())?.contains('\n') {
            return None;
        }
        let edits = vec![edit(self.file.at(inner.shifted(span.start)), new)];
        Some(Fix { title, safe, edits })
    }
}

/// `message` and `labels`.
pub(in crate::rules) fn own_parameter_texts(template: &Template) -> impl Iterator<Item = ParameterText<'_>> {
    let parameters = &*template.exported;
    let place = move |text, path, is_key| ParameterText { text, path, is_key, parameters };
    let message = template.message.iter().map(move |it| place(it, "message", false));
    let labels = template.labels.iter();
    message.chain(labels.flat_map(move |(key, value)| [place(key, "labels", true), place(value, "labels", false)]))
}

/// The parameter with the most similar name.
pub(in crate::rules) fn near<'p>(parameters: &'p Parameters, name: &str) -> Option<&'p str> {
    let names = parameters.names().map(|it| &**it);
    nearest_name(name, names)
}

/// A reference to another parameter in the form of this one.
pub(in crate::rules) fn write_reference(name: &str, form: ReferenceForm) -> String {
    crate::k8s::format_parameter_reference(name, form)
}

/// The value of a parameter if the user gives none.
pub(in crate::rules) fn default<'p>(parameters: &'p Parameters, name: &str) -> Option<&'p Arc<str>> {
    parameters.get(name)?.value.known()
}
