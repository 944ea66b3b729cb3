//! Variable names after `$(` and `${`: variables with a value first, variables that are declared later last.

use std::sync::Arc;

use similar::{DiffTag, TextDiff};

use crate::diagnostic::{Edit, Fix, Location};
use crate::ide::Analysis;
use crate::ide::features::completion::context::TypedReference;
use crate::ide::features::completion::{Completion, CompletionDetails, CompletionItem, CompletionKind};
use crate::ide::features::hover;
use crate::ide::shared::describe::{kind_words, short_binding};
use crate::ide::shared::located_container::LocatedContainer;
use crate::k8s::{ContainerField, ContainerRole, VariableScope};
use crate::resolve::{Binding, Environment, Lookup, OriginKind};
use crate::rules;
use crate::syntax::{CollectionStyle, Node, NodeKind, Tree, has_placeholder};
use crate::text::Span;

/// The maximum length of a value in a detail, in characters.
const LONGEST: usize = 60;
/// The maximum number of service variables in one list: a large project has tens of thousands.
pub(super) const MOST_SERVICE_VARIABLES: usize = 200;

/// The variables for a reference.
pub(super) fn items(analysis: &Analysis<'_>, reference: &TypedReference<'_>) -> Completion {
    let mut completion = Completion::default();
    let at = &reference.at;
    let environment = at.environment(analysis);
    let Some(site) = site(reference, &environment) else { return completion };
    let is_script = at.is_script(&environment, reference.field);
    let reveal = analysis.reveals(&at.file);
    let typed = analysis.file_text(&at.file).map(|it| it.text()[reference.name.range()].to_owned()).unwrap_or_default();
    let can_move =
        matches!(site, VariableScope::EarlierEntries(_)) && !reference.brace && env_style(analysis, at).is_some();
    let is_usable = |name: &str| !(is_script && reference.brace) || is_shell_name(name);
    let mut offer = |name: &str, kind, detail: String, group: u8| {
        if !is_usable(name) {
            return;
        }
        completion.items.push(item(reference, is_script, name, kind, detail, group, can_move));
    };
    for binding in environment.own_bindings().into_iter().filter(|it| !has_placeholder(&it.name)) {
        match environment.lookup(site, &binding.name) {
            // P3: in a probe some variables are empty.
            Lookup::Bound(bound) if site == VariableScope::ProbeValues && bound.value.is_empty() => {}
            Lookup::Bound(bound) => {
                let group = if bound.origin.kind == OriginKind::Injected { 1 } else { 0 };
                offer(&binding.name, CompletionKind::Variable, binding_detail(&bound, reveal), group);
            }
            Lookup::Later(_) | Lookup::Maybe(_) if is_declared_later(at, site, &binding.name) => {
                let detail = format!("{} · declared later", short_binding(binding, reveal, LONGEST));
                offer(&binding.name, CompletionKind::Forward, detail, 4);
            }
            Lookup::Maybe(_) if !is_own(at, site, &binding.name) => {
                offer(&binding.name, CompletionKind::Variable, binding_detail(binding, reveal), 1);
            }
            Lookup::Later(_) | Lookup::Maybe(_) | Lookup::Unbound => {}
        }
    }
    let (services, is_incomplete) = service_variables(&environment, &typed);
    for binding in services {
        if matches!(environment.lookup(site, &binding.name), Lookup::Bound(it) if it.origin.kind == OriginKind::Service)
        {
            // The variables of the service `kubernetes` are in every container and rarely used.
            let group = if binding.origin.location.is_some() { 2 } else { 3 };
            offer(&binding.name, CompletionKind::Variable, binding_detail(binding, reveal), group);
        }
    }
    completion.is_incomplete = is_incomplete;
    completion.items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
    completion
}

/// Whether a shell can read a variable of this name.
fn is_shell_name(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') && !name.starts_with(|it: char| it.is_ascii_digit())
}

/// The documentation of a variable, and for a variable declared later the edits that move its declaration up.
pub(super) fn details(
    analysis: &Analysis<'_>,
    reference: &TypedReference<'_>,
    label: &str,
) -> Option<CompletionDetails> {
    let at = &reference.at;
    let environment = at.environment(analysis);
    let site = site(reference, &environment)?;
    let documentation = hover::variable_markup(analysis, at, &environment, site, label);
    let is_forward = !matches!(environment.lookup(site, label), Lookup::Bound(_)) && is_declared_later(at, site, label);
    let additional_edits = match (reference.field, is_forward && !reference.brace) {
        (ContainerField::EnvValue(index), true) => {
            move_declaration(analysis, reference, &environment, index, label).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    Some(CompletionDetails { documentation, additional_edits })
}

/// The site that names are looked up at. Kubernetes does not expand the command of a hook, but its shell has the
/// variables of the container.
fn site(reference: &TypedReference<'_>, environment: &Environment<'_>) -> Option<VariableScope> {
    let is_hook = || reference.brace && reference.at.is_script(environment, reference.field);
    reference.field.variable_scope().or_else(|| is_hook().then_some(VariableScope::All))
}

/// The service variables that match the typed prefix, and whether there may be more.
pub(super) fn service_variables<'e>(environment: &'e Environment<'e>, typed: &str) -> (Vec<&'e Arc<Binding>>, bool) {
    let all = environment.service_bindings();
    if all.len() <= MOST_SERVICE_VARIABLES {
        return (all.values().collect(), false);
    }
    // Their names are in upper case.
    let prefix: Arc<str> = typed.to_ascii_uppercase().into();
    let matching = all.range(Arc::clone(&prefix)..).take_while(|(name, _)| name.starts_with(&*prefix));
    (matching.map(|(_, it)| it).take(MOST_SERVICE_VARIABLES).collect(), true)
}

/// `value · config map app`.
pub(super) fn binding_detail(binding: &Binding, reveal: bool) -> String {
    let value = short_binding(binding, reveal, LONGEST);
    match (binding.origin.kind, &binding.origin.object) {
        (OriginKind::Env, _) => value,
        (kind, Some(object)) => format!("{value} · {} {object}", kind_words(kind)),
        (kind, None) => format!("{value} · {}", kind_words(kind)),
    }
}

/// Whether a name is declared below an entry of `env` and not above it.
fn is_declared_later(at: &LocatedContainer<'_>, site: VariableScope, name: &str) -> bool {
    let VariableScope::EarlierEntries(index) = site else { return false };
    let mut named = at.container.env.iter().enumerate().filter(|(_, it)| {
        let it = it.name.as_ref();
        it.is_some_and(|it| &*it.value == name)
    });
    // The order of a hook's variables is not defined.
    at.container.role != ContainerRole::Hook && named.next().is_some_and(|(at, _)| at > index)
}

fn is_own(at: &LocatedContainer<'_>, site: VariableScope, name: &str) -> bool {
    let VariableScope::EarlierEntries(index) = site else { return false };
    let own = at.container.env.get(index).and_then(|it| it.name.as_ref());
    own.is_some_and(|it| &*it.value == name)
}

pub(super) fn item(
    reference: &TypedReference<'_>,
    is_script: bool,
    name: &str,
    kind: CompletionKind,
    detail: String,
    group: u8,
    can_move: bool,
) -> CompletionItem {
    let Span { start, end } = reference.span();
    // Outside of a shell `${X}` is plain text, so it is replaced by `$(X)`.
    let (replace, text, filter_text) = match (reference.brace, is_script) {
        (true, true) => (Span::new(reference.name.start, end), format!("{name}}}"), name.to_owned()),
        (true, false) => (Span::new(start, end), format!("$({name})"), format!("${{{name}")),
        (false, _) => (Span::new(reference.name.start, end), format!("{name})"), name.to_owned()),
    };
    CompletionItem {
        label: name.into(),
        kind,
        detail: Some(detail),
        replace,
        text,
        filter_text,
        sort_text: format!("{group}{name}"),
        has_edits: kind == CompletionKind::Forward && can_move,
    }
}

/// The style of `env`, if its entries can be moved: a flow list only without comments.
fn env_style(analysis: &Analysis<'_>, at: &LocatedContainer<'_>) -> Option<CollectionStyle> {
    let source = analysis.texts.parsed_text(&at.file)?;
    let list = env_list(&source.tree, at)?;
    match list.kind() {
        NodeKind::Sequence(CollectionStyle::Flow) if !source.tree.comments(&source.text, list.span()).is_empty() => {
            None
        }
        NodeKind::Sequence(style) => Some(style),
        _ => None,
    }
}

/// The list `env` of a container.
fn env_list<'t>(tree: &'t Tree, at: &LocatedContainer<'_>) -> Option<Node<'t>> {
    let span = at.object.file_span(at.container.env_span?);
    let root = tree.document_at(span.start)?.root()?;
    root.path_to(span.start).into_iter().find(|it| it.span() == span && it.is_sequence())
}

/// Edits that move the declaration of a name above the entry that is being typed, without touching that entry.
fn move_declaration(
    analysis: &Analysis<'_>,
    reference: &TypedReference<'_>,
    environment: &Environment<'_>,
    index: usize,
    name: &str,
) -> Option<Vec<Edit>> {
    let at = &reference.at;
    if env_style(analysis, at) == Some(CollectionStyle::Block) {
        let fix = at.with_context(analysis, environment, |it| rules::move_declaration_above(it, index, name))?;
        move_lines(analysis, reference, &fix)
    } else {
        let order =
            at.with_context(analysis, environment, |it| rules::env_order_with_declaration_above(it, index, name))?;
        move_flow_entries(analysis, reference, index, &order)
    }
}

/// The edits of a fix that reorders the lines of a block list.
fn move_lines(analysis: &Analysis<'_>, reference: &TypedReference<'_>, fix: &Fix) -> Option<Vec<Edit>> {
    let at = &reference.at;
    let source = analysis.texts.parsed_text(&at.file)?;
    let typed = reference.span();
    let mut edits = Vec::new();
    for edit in &fix.edits {
        let start = edit.location.span.start;
        // Compare whole lines; the last line of the file may have no line break.
        let rest = &source.text[edit.location.span.end..];
        let end = if rest.starts_with("\r\n") { "\r\n" } else { "\n" };
        let old = format!("{}{end}", source.text.get(edit.location.span.range())?);
        let new = format!("{}{end}", edit.text);
        let diff = TextDiff::from_lines(&old, &new);
        let (old_lines, new_lines) = (offsets(diff.iter_old_slices()), offsets(diff.iter_new_slices()));
        for step in diff.ops() {
            if step.tag() == DiffTag::Equal {
                continue;
            }
            let (from, to) = (step.old_range(), step.new_range());
            let begin = |line: usize| (start + old_lines[line]).min(source.text.len());
            let span = Span::new(begin(from.start), begin(from.end));
            let new = new.get(new_lines[to.start]..new_lines[to.end])?;
            if span.start < typed.end && typed.start < span.end || (span.is_empty() && typed.touches(span.start)) {
                return None;
            }
            edits.push(Edit { location: Location { file: Arc::clone(&at.file), span }, text: new.to_owned() });
        }
    }
    Some(edits)
}

/// The edits that move the entries of a flow list above the entry at an index, each with the comma before it.
fn move_flow_entries(
    analysis: &Analysis<'_>,
    reference: &TypedReference<'_>,
    index: usize,
    order: &[usize],
) -> Option<Vec<Edit>> {
    let at = &reference.at;
    let source = analysis.texts.parsed_text(&at.file)?;
    let list = env_list(&source.tree, at)?;
    let items: Vec<Span> = list.items().map(|it| it.span()).collect();
    let typed = reference.span();
    let user = *items.get(index)?;
    if items.len() != order.len() || typed.start < user.start || user.end < typed.end || list.alias().is_some() {
        return None;
    }
    let edit = |span, text| Edit { location: Location { file: Arc::clone(&at.file), span }, text };
    let mut inserted = String::new();
    let mut edits = Vec::new();
    for moving in order[index..].iter().copied().take_while(|it| *it != index) {
        let (before, item) = (items[moving - 1], items[moving]);
        let gap = source.text.get(before.end..item.start)?;
        // With a comment between the entries it is unclear which one it belongs to.
        if gap.trim() != "," {
            return None;
        }
        inserted.push_str(&source.text[item.range()]);
        inserted.push_str(gap);
        edits.push(edit(Span::new(before.end, item.end), String::new()));
    }
    edits.insert(0, edit(Span::new(user.start, user.start), inserted));
    Some(edits)
}

/// The offsets of the lines, and the end of the last one.
fn offsets<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<usize> {
    let mut at = 0;
    let ends = lines.map(|line| {
        at += line.len();
        at
    });
    std::iter::once(0).chain(ends).collect()
}
