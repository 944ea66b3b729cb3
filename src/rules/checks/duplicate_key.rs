//! The rule `duplicate-key`.

use std::collections::HashSet;

use crate::diagnostic::Fix;
use crate::rules::engine::{FileContext, Finding, Findings, declare_rule, edit};
use crate::rules::shared::item_removal::remove_field;
use crate::syntax::{CollectionStyle, HelmMask, Node, NodeKind, has_placeholder};
use crate::text::Span;
use crate::workspace::ParsedText;

declare_rule! {
    /// Reports a key that appears twice in one mapping.
    ///
    /// ## What it does
    /// Looks at every mapping of a Kubernetes object and reports a key that the mapping already has. Keys of a merge
    /// (`<<`) may be repeated. In Helm templates it reports two keys only if no line between them consists of
    /// actions; templates of other engines are not checked. The finding covers the later key. Where `apiVersion` and `kind` are repeated, the `---` between two objects is missing, and only that is
    /// reported.
    ///
    /// ## Why it matters
    /// Only the last one is used, and there is no warning; `kubectl apply` rejects the object or drops the first.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data:
    ///   LOG_LEVEL: info
    ///   LOG_LEVEL: debug
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data:
    ///   LOG_LEVEL: debug
    /// ```
    ///
    /// ## Fix
    /// Editors offer to remove the earlier or the later key. Only the author knows which of the two is meant. A missing
    /// `---` is inserted (unsafe).
    name: "duplicate-key",
    level: Error,
    checks: [File(check)],
    sees: Source,
    helm: AnyScalar,
}

fn check(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    if file.facts.duplicate_keys.is_empty() || file.is_template() && !file.facts.is_helm_template() {
        return;
    }
    let Some(source) = file.parsed_text() else { return };
    let mut separated: Vec<Span> = Vec::new();
    let roots = source.tree.documents().filter(|_| source.mask.is_none()).filter_map(|it| it.root());
    for root in roots {
        let starts = starts_of_objects(root);
        if !starts.is_empty() {
            separated.extend(root.own_entries().map(|(key, _)| key.span()));
        }
        for start in starts {
            let line = Span::new(start.start, start.start);
            let fix = Fix {
                title: "Write `---` above this line".to_owned(),
                safe: false,
                edits: vec![edit(file.at(line), "---\n".to_owned())],
            };
            let key = &source.text[start.range()];
            findings.push(
                Finding::new(
                    file.at(start),
                    key,
                    "another object begins here without `---` before it: only the last one is used",
                )
                .help("write `---` above this line")
                .fix(Some(fix)),
            );
        }
    }
    let is_separated = |key: &Span| separated.binary_search_by_key(&key.start, |it| it.start).is_ok();
    let outcome =
        if file.is_built_by_kustomization() { "kustomize refuses the file" } else { "only the last one is used" };
    let mut seen = HashSet::new();
    for (before, again) in file.facts.duplicate_keys.iter().filter(|(_, again)| !is_separated(again)) {
        if !source.mask.as_ref().is_none_or(|mask| are_in_one_branch(mask, *before, *again)) {
            continue;
        }
        // Several keys of an item again, one after the other: the dash of the next item is missing, which is one mistake.
        let name_of = |key: Span| source.text[key.range()].trim_matches(['"', '\'']);
        let previous = key_before(&source, again).filter(|it| name_of(*it) != name_of(*again));
        seen.insert(again.start);
        if previous.is_some_and(|it| seen.contains(&it.start)) {
            continue;
        }
        let key = source.text.get(again.range()).unwrap_or_default().trim_matches(['"', '\'']);
        findings.push(
            Finding::new(file.at(*again), key, format!("the key `{key}` appears twice in this mapping: {outcome}"))
                .related(file.at(*before), "the earlier key")
                .help("remove one of the two")
                .choice(remove_field(file, &file.at(*before), format!("Remove the earlier `{key}`")))
                .choice(remove_field(file, &file.at(*again), format!("Remove this `{key}`"))),
        );
    }
}

/// Whether every output of a Helm template that has one of two keys has the other one too: no line between them consists of
/// actions, which may be branches or print other keys and items.
fn are_in_one_branch(mask: &HelmMask, before: Span, again: Span) -> bool {
    let is_outside = |it: &Span| it.end <= before.start || again.end <= it.start;
    !has_placeholder(&mask.text[again.range()]) && mask.lines.iter().all(is_outside)
}

/// The key before another one in the same mapping.
fn key_before(source: &ParsedText, key: &Span) -> Option<Span> {
    let path = source.tree.document_at(key.start)?.root()?.path_to(key.start);
    let mapping = path.iter().rev().find(|it| it.is_mapping() && it.span().start < key.start)?;
    mapping.own_entries().map(|(it, _)| it.span()).take_while(|it| it.start < key.start).last()
}

/// The first keys of the objects after the first one, if several were written without `---` between them: `apiVersion` and
/// `kind` are there more than once.
fn starts_of_objects(root: Node<'_>) -> Vec<Span> {
    let count = |name: &str| root.own_entries().filter(|(key, _)| key.text() == Some(name)).take(2).count();
    if root.kind() != NodeKind::Mapping(CollectionStyle::Block) || count("apiVersion") < 2 || count("kind") < 2 {
        return Vec::new();
    }
    let mut starts = Vec::new();
    let mut seen = HashSet::new();
    for (key, _) in root.own_entries() {
        let Some(name) = key.text() else { continue };
        if !seen.insert(name) {
            starts.push(key.span());
            seen = HashSet::from([name]);
        }
    }
    starts
}
