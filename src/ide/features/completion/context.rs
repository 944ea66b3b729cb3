//! Finds what is being typed at the cursor.
//!
//! It looks at the line of the cursor first, because the tree may not contain an incomplete reference yet; then the tree
//! gives the field that the line belongs to.

mod typed_value;

use std::sync::Arc;

use crate::build::BuiltObject;
use crate::ide::Analysis;
use crate::ide::features::completion::parameters::{TypedEntry, TypedParameter};
use crate::ide::shared::file_text::{FileText, floor};
use crate::ide::shared::located_container::{LocatedContainer, objects_at};
use crate::ide::shared::param_file_text::ParamFileText;
use crate::ide::shared::template_parameters::{LocatedParameter, enclosing_template};
use crate::k8s::ContainerField;
use crate::syntax::ReferenceForm;
use crate::text::Span;
use crate::workspace::File;
pub(super) use typed_value::{TypedValue, ValueKind};

/// The kind of text that is being typed.
#[derive(Debug)]
pub(super) enum CompletionContext<'s> {
    /// A variable after `$(` or `${`.
    Reference(TypedReference<'s>),
    /// A template parameter after `${` or `${{`.
    Parameter(TypedParameter<'s>),
    /// A variable or a parameter after `$(`, in a template of the proposed dialect.
    Both(TypedReference<'s>, TypedParameter<'s>),
    /// The value of a key.
    Value(TypedValue<'s>),
    /// A name in a parameter file.
    ParamFile(TypedEntry<'s>),
    /// The name of a rule in a suppression comment.
    Rule(Span),
}

/// A reference that is being typed.
#[derive(Clone, Debug)]
pub(super) struct TypedReference<'s> {
    pub(super) at: LocatedContainer<'s>,
    pub(super) field: ContainerField,
    /// The offset of the dollar sign.
    pub(super) start: usize,
    /// The name typed so far.
    pub(super) name: Span,
    /// The offset after the closing parenthesis or brace, if there is one.
    pub(super) closed_end: Option<usize>,
    /// Whether it is `${`.
    pub(super) brace: bool,
}

impl TypedReference<'_> {
    /// The reference as typed so far, with its closing parenthesis or brace.
    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.closed_end.unwrap_or(self.name.end))
    }
}

/// What is being typed at an offset.
pub(super) fn completion_context<'s>(
    analysis: &Analysis<'s>,
    file: &Arc<str>,
    offset: usize,
) -> Option<CompletionContext<'s>> {
    let facts: &'s File = analysis.snapshot.file(file)?;
    let file_text = analysis.file_text(file)?;
    let offset = floor(file_text.text(), offset);
    let finder = ContextFinder { analysis, file, facts, file_text: &file_text, offset, line: file_text.line(offset) };
    if let Some(rule) = finder.rule() {
        return Some(CompletionContext::Rule(rule));
    }
    if facts.is_env_format() {
        return finder.param_file_entry(analysis).map(CompletionContext::ParamFile);
    }
    match (finder.reference(), finder.parameter()) {
        (Some(reference), Some(parameter)) if parameter.form == ReferenceForm::Proposed => {
            return Some(CompletionContext::Both(reference, parameter));
        }
        (_, Some(parameter)) => return Some(CompletionContext::Parameter(parameter)),
        (Some(reference), None) => return Some(CompletionContext::Reference(reference)),
        (None, None) => {}
    }
    finder.value().map(CompletionContext::Value)
}

struct ContextFinder<'l, 's> {
    analysis: &'l Analysis<'s>,
    file: &'l Arc<str>,
    facts: &'s File,
    file_text: &'l FileText,
    offset: usize,
    line: Span,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

impl<'s> ContextFinder<'_, 's> {
    fn head(&self) -> &str {
        &self.file_text.text()[self.line.start..self.offset.max(self.line.start)]
    }

    fn tail(&self) -> &str {
        &self.file_text.text()[self.offset..self.line.end.max(self.offset)]
    }

    /// `# podlens: ignore[rule, …`
    fn rule(&self) -> Option<Span> {
        let head = self.head();
        let directive = head.rfind("podlens:").filter(|at| head[..*at].trim_end().ends_with('#'))?;
        let list = directive + head[directive..].rfind('[')?;
        let word = head[directive + "podlens:".len()..list].trim();
        if !matches!(word, "ignore" | "ignore-file") || head[list..].contains(']') {
            return None;
        }
        let start = self.offset - head.bytes().rev().take_while(|it| is_name(*it)).count();
        let end = self.offset + self.tail().bytes().take_while(|it| is_name(*it)).count();
        Some(Span::new(start, end))
    }

    /// A name at the start of a line of a parameter file.
    fn param_file_entry(&self, analysis: &Analysis<'s>) -> Option<TypedEntry<'s>> {
        let (head, tail) = (self.head(), self.tail());
        let name = head.trim_start();
        let name = name.strip_prefix("export ").map_or(name, str::trim_start);
        let is_name = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
        if !name.bytes().all(is_name) {
            return None;
        }
        let rest = tail.bytes().take_while(|it| is_name(*it)).count();
        let replace = Span::new(self.offset - name.len(), self.offset + rest);
        let has_separator = tail[rest..].trim_start().starts_with(['=', ':']);
        let file = ParamFileText::of(analysis, self.file, self.file_text);
        Some(TypedEntry { file, replace, has_separator })
    }

    fn reference(&self) -> Option<TypedReference<'s>> {
        let head = self.head();
        let typed = head.bytes().rev().take_while(|it| is_name(*it)).count();
        let before = &head[..head.len() - typed];
        let brace = before.ends_with("${");
        if !brace && !before.ends_with("$(") {
            return None;
        }
        // E3: in an even number of dollar signs each second one is escaped.
        let dollars = before[..before.len() - 1].bytes().rev().take_while(|it| *it == b'$').count();
        if dollars % 2 == 0 {
            return None;
        }
        let name = Span::new(self.offset - typed, self.offset);
        let rest = self.tail().bytes().take_while(|it| is_name(*it)).count();
        let close = if brace { '}' } else { ')' };
        let closed_end = self.tail()[rest..].starts_with(close).then_some(self.offset + rest + 1);
        let (at, field) = self.by_text().or_else(|| self.by_path())?;
        Some(TypedReference { at, field, start: name.start - 2, name, closed_end, brace })
    }

    /// A reference to a parameter of the template around the cursor.
    fn parameter(&self) -> Option<TypedParameter<'s>> {
        let head = self.head();
        let is_name = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
        let typed = head.bytes().rev().take_while(is_name).count();
        let before = &head[..head.len() - typed];
        let forms =
            [("${{", "}}", ReferenceForm::Raw), ("${", "}", ReferenceForm::Text), ("$(", ")", ReferenceForm::Proposed)];
        let (open, close, form) = forms.into_iter().find(|(open, ..)| before.ends_with(open))?;
        let object = objects_at(self.facts, self.offset).into_iter().next()?;
        let (outer, template) = enclosing_template(self.facts, object)?;
        if form == ReferenceForm::Proposed && (!template.dialect.is_proposal() || before.ends_with("$$(")) {
            return None;
        }
        let tail = self.tail();
        let rest = tail.bytes().take_while(is_name).count();
        // Editors insert closing brackets, but may insert only some of them.
        let closing = (0..=close.len()).rev().find(|it| tail[rest..].starts_with(&close[..*it])).unwrap_or(0);
        let start = self.offset - typed - open.len();
        let replace = Span::new(start, self.offset + rest + closing);
        let (file, _) = self.analysis.snapshot.entry(self.file)?;
        let parameter = LocatedParameter { file, facts: self.facts, object: outer, template, name: "" };
        Some(TypedParameter { parameter, replace, form })
    }

    /// The container and field of the text at the cursor; the text may be used through an alias.
    fn by_text(&self) -> Option<(LocatedContainer<'s>, ContainerField)> {
        let document = self.file_text.source.tree.document_at(self.offset)?;
        let has_aliases = document.root()?.contains_alias();
        let document = document.span();
        let objects = || self.analysis.objects(self.file).filter(|it| document.touches(it.source.offset));
        let containers = || objects().flat_map(LocatedContainer::of_object_or_preset);
        let field_in = |at: LocatedContainer<'s>| {
            let touches = |text: &crate::k8s::Text| at.object.file_span(text.span).touches(self.offset);
            let (field, _) = at.container.texts().find(|(_, text)| touches(text))?;
            Some((at, field))
        };
        let is_around = |at: &LocatedContainer<'_>| at.object.file_span(at.container.span).touches(self.offset);
        // The text of an alias may be outside of the container that uses it.
        let elsewhere = || if has_aliases { containers().find_map(field_in) } else { None };
        containers().filter(is_around).find_map(field_in).or_else(elsewhere)
    }

    /// The container and field by path in the tree, for texts that are incomplete.
    fn by_path(&self) -> Option<(LocatedContainer<'s>, ContainerField)> {
        let key = self.key().map_or(self.offset, |it| it.key.start);
        [self.offset, key].into_iter().find_map(|offset| {
            let (object, path) = self.path(offset)?;
            let (at, rest) = self.container(object, &path)?;
            let field = field_of(&rest, &at)?;
            Some((at, field))
        })
    }

    /// The innermost object around an offset, and the path from it to the offset.
    fn path(&self, offset: usize) -> Option<(BuiltObject<'s>, String)> {
        let object = self.analysis.objects_at(self.file, offset).into_iter().next()?;
        let root = self.file_text.source.tree.document_at(offset)?.root()?;
        Some((object, root.field_path(offset, object.source.offset)))
    }

    /// The container that contains a path, and the rest of the path.
    fn container(&self, object: BuiltObject<'s>, path: &str) -> Option<(LocatedContainer<'s>, String)> {
        LocatedContainer::of_object_or_preset(object).find_map(|at| {
            let rest = path.strip_prefix(&*at.container.path)?.strip_prefix('.')?.to_owned();
            Some((at, rest))
        })
    }
}

/// The field at a path in a container.
fn field_of(rest: &str, at: &LocatedContainer<'_>) -> Option<ContainerField> {
    let (plain, indices) = without_indices(rest);
    let index = indices.last().copied();
    match &*plain {
        "env[].value" | "environment[].value" => Some(ContainerField::EnvValue(index?)),
        "command[]" => Some(ContainerField::Command(index?)),
        "args[]" => Some(ContainerField::Args(index?)),
        "volumeMounts[].subPathExpr" => Some(ContainerField::SubPathExpr(index?)),
        _ => {
            let probe = plain.strip_suffix(".exec.command[]")?;
            let at = at.container.probes.iter().position(|it| it.probe == probe)?;
            Some(ContainerField::ProbeCommand(at, index?))
        }
    }
}

/// A path without its indices, and the indices.
fn without_indices(path: &str) -> (String, Vec<usize>) {
    let (mut plain, mut indices) = (String::with_capacity(path.len()), Vec::new());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        plain.push('[');
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(index) = after[..digits].parse() {
            indices.push(index);
            rest = &after[digits..];
        } else {
            rest = after;
        }
    }
    plain.push_str(rest);
    (plain, indices)
}
