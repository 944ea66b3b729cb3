//! Parameters of templates: their declarations, references and hover text.

use std::ops::Range;
use std::sync::Arc;

use crate::build::{BuiltObject, RangeEnds, generate_value, parse_generator};
use crate::ide::Analysis;
use crate::ide::shared::describe::one_line;
use crate::ide::shared::located_container::views_of;
use crate::ide::shared::markup::{Block, Inline, Markup};
use crate::k8s::{Object, ObjectData, Parameter, ParameterValue, Template, Text};
use crate::syntax::parameter_references;
use crate::workspace::File;

/// A parameter of a template in a file.
#[derive(Clone, Debug)]
pub(crate) struct LocatedParameter<'s> {
    /// The file.
    pub(crate) file: &'s Arc<str>,
    /// The parsed file.
    pub(crate) facts: &'s File,
    /// The template as an object.
    pub(crate) object: &'s Object,
    /// The template.
    pub(crate) template: &'s Template,
    /// The parameter's name.
    pub(crate) name: &'s str,
}

/// A reference to a parameter: the object that its spans are relative to, the scalar, and the range of the name.
pub(crate) type ParameterUse<'s> = (&'s Object, &'s Text, Range<usize>);

/// The template that contains an object, or that is the object.
pub(crate) fn enclosing_template<'s>(facts: &'s File, object: &Object) -> Option<(&'s Object, &'s Template)> {
    let offset = object.offset;
    facts.objects.iter().filter(|it| it.offset <= offset).rev().find_map(|it| match &it.model.data {
        ObjectData::Template(template) if it.file_span(it.model.span).touches(offset) => Some((it, &**template)),
        _ => None,
    })
}

impl<'s> LocatedParameter<'s> {
    /// An object of the template as it is written, which is where parameters are.
    pub(crate) fn as_written(&self, analysis: &Analysis<'s>, object: &'s Object) -> BuiltObject<'s> {
        BuiltObject::as_written(analysis.snapshot, self.file, object)
    }

    /// Its declarations; the last one is used.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = (&'s Parameter, &'s Text)> + use<'s> {
        let name = self.name;
        let all = self.template.parameters.iter().filter_map(|it| Some((it, it.name.as_ref()?)));
        all.filter(move |(_, text)| &*text.value == name)
    }

    /// All references to it: in objects, `labels`, `message`, and in texts where references are not replaced.
    pub(crate) fn references(&self) -> Vec<ParameterUse<'s>> {
        let whole = self.object.file_span(self.object.model.span);
        let first = self.facts.objects.partition_point(|it| it.offset < whole.start);
        let inside = self.facts.objects[first..].iter().take_while(|it| it.offset < whole.end);
        let mut texts: Vec<(&'s Object, &'s Text)> =
            inside.flat_map(|it| it.model.parameterized_texts.iter().map(move |text| (it, &text.text))).collect();
        texts.extend(own_texts(self.template).map(|text| (self.object, text)));
        let proposed = self.template.dialect.is_proposal();
        let mut found = Vec::new();
        for (object, text) in texts {
            for reference in parameter_references(&text.value, proposed) {
                if text.value[reference.name.clone()] == *self.name {
                    found.push((object, text, reference.name));
                }
            }
        }
        found
    }

    /// Its hover text: the description, the value or generator with a sample, whether it is required.
    pub(crate) fn markup(&self) -> Option<Markup> {
        let (parameter, _) = self.declarations().last()?;
        let set = |field: &Option<Text>| field.as_ref().map(|it| it.value.to_string()).filter(|it| !it.is_empty());
        let text = |it: &str| Inline::Text(it.into());
        let mut title = vec![text("Parameter "), Inline::Strong(self.name.into())];
        if let Some(display) = set(&parameter.display_name) {
            title.push(Inline::Text(format!(" · {}", one_line(&display, LONGEST))));
        }
        let mut blocks = vec![Block::Paragraph(title)];
        if let Some(description) = set(&parameter.description) {
            blocks.push(Block::Paragraph(vec![Inline::Text(one_line(&description, 4 * LONGEST))]));
        }
        let mut lines: Vec<Vec<Inline>> = Vec::new();
        match (set(&parameter.value), set(&parameter.generate)) {
            (Some(value), _) => lines.push(vec![text("value "), Inline::Code(one_line(&value, LONGEST))]),
            (None, Some(_)) => {
                let from = set(&parameter.from).unwrap_or_default();
                lines.push(vec![text("generated from "), Inline::Code(from.clone())]);
                lines.push(match parse_generator(&from, RangeEnds::Exclusive) {
                    Ok(parts) => {
                        vec![text("for example "), Inline::Code(generate_value(&parts, &mut sample_numbers()))]
                    }
                    Err(error) => vec![text("invalid: "), Inline::Text(error.problem.to_string())],
                });
            }
            (None, None) => lines.push(vec![text("no value")]),
        }
        if let Some(type_) = set(&parameter.type_).filter(|_| self.template.dialect.is_proposal()) {
            lines.push(vec![text("type "), Inline::Code(type_)]);
        }
        if parameter.required {
            lines.push(vec![text("required")]);
        }
        let uses = self.references().len();
        lines.push(vec![Inline::Text(format!("{uses} {}", if uses == 1 { "reference" } else { "references" }))]);
        blocks.push(Block::List(lines));
        Some(Markup { blocks })
    }

    /// Its value in each view of the template.
    pub(crate) fn values_in_views(&self, analysis: &Analysis<'s>) -> Vec<(Arc<str>, Vec<Inline>)> {
        let whole = self.object.file_span(self.object.model.span);
        let is_inside = |it: &&Object| whole.start < it.offset && it.offset < whole.end && it.template.is_some();
        let Some(member) = self.facts.objects.iter().find(is_inside) else { return Vec::new() };
        let value = |object: BuiltObject<'_>| {
            let shown = match &object.parameter(self.name)?.value {
                ParameterValue::Default(value) | ParameterValue::Given { value, .. } => {
                    Inline::Code(one_line(value, LONGEST))
                }
                ParameterValue::Generated { .. } => Inline::Text("generated".into()),
                ParameterValue::Unset => Inline::Text("no value".into()),
            };
            Some((object.view_name()?, vec![shown]))
        };
        views_of(self.as_written(analysis, member)).filter_map(value).collect()
    }

    /// Whether processing fails unless it is given a value.
    pub(crate) fn needs_value(&self) -> bool {
        self.declarations().last().is_some_and(|(it, _)| {
            let is_empty = |field: &Option<Text>| Parameter::text(field).is_empty();
            it.required && is_empty(&it.value) && is_empty(&it.generate)
        })
    }

    /// Its value in one line, for completion lists.
    pub(crate) fn detail(&self) -> String {
        let Some((parameter, _)) = self.declarations().last() else { return String::new() };
        let value = Parameter::text(&parameter.value);
        if !value.is_empty() {
            return one_line(value, LONGEST);
        }
        if !Parameter::text(&parameter.generate).is_empty() {
            return format!("generated from {}", Parameter::text(&parameter.from));
        }
        if parameter.required { "required, not set".into() } else { "not set".into() }
    }
}

/// The maximum length of a value in a line, in characters.
const LONGEST: usize = 60;

/// The texts outside of `objects`: `message`, `labels`, and texts where references are not replaced.
pub(crate) fn own_texts(template: &Template) -> impl Iterator<Item = &Text> {
    let labels = template.labels.iter().flat_map(|(key, value)| [key, value]);
    template.message.iter().chain(labels).chain(template.unsubstituted_texts.iter().map(|(_, text)| text))
}

/// A fixed sequence of numbers for generated samples, so that they do not change while someone types.
pub(crate) fn sample_numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below.max(1)
    }
}
