//! The rule `unresolved-sub-path`.

use crate::build::has_parent_element;
use crate::k8s::{ContainerRole, Mount, Text};
use crate::resolve::{ExpandedScalar, ExpansionStep, Lookup, SubPath, ValuePart, is_strict_variable_name};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::item_removal::remove_field;
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};

declare_rule! {
    /// Reports `subPathExpr` with `$(X)` that has no value, or with a path that is refused.
    ///
    /// ## What it does
    /// Looks at the references in `subPathExpr` of volume mounts, and reports names that nothing defines and variables
    /// whose value is empty. The finding covers the reference. Also reports a path that is absolute or has an element
    /// `..`, as written or after expansion, a mount with both `subPath` and `subPathExpr`, and `subPathExpr` in an
    /// ephemeral container. That finding covers the value of `subPathExpr`.
    ///
    /// ## Why it matters
    /// The container does not start: `missing value for X`. Paths that are refused as written keep the object from being
    /// created.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - name: POD_NAME
    ///           valueFrom: {fieldRef: {fieldPath: metadata.name}}
    ///       volumeMounts:
    ///         - {name: data, mountPath: /data, subPathExpr: $(POD)}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - name: POD_NAME
    ///           valueFrom: {fieldRef: {fieldPath: metadata.name}}
    ///       volumeMounts:
    ///         - {name: data, mountPath: /data, subPathExpr: $(POD_NAME)}
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar name in scope. Unsafe: only the author knows what was meant. Editors also offer to
    /// declare the variable, and to remove one of two paths.
    name: "unresolved-sub-path",
    level: Error,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::SubPath { empty } = verdict else { continue };
        let name = &step.name;
        let place = container.inside(text.text, step.range.clone());
        // X4.
        if name.is_empty() {
            let message = "the container does not start: `$()` in `subPathExpr` is a reference without a name";
            findings.push(Finding::new(place, "subPathExpr", message).help("write the name of a variable"));
            continue;
        }
        if empty {
            let message = format!("the container does not start: `subPathExpr` refers to `{name}`, which is empty");
            findings.push(Finding::new(place, name, message).help(format!("give `{name}` a value")));
            continue;
        }
        let message = format!("the container does not start: `subPathExpr` refers to `{name}`, which nothing defines");
        let finding = Finding::new(place, name, message);
        let otherwise = match is_strict_variable_name(name) {
            true => format!("declare `{name}` in `env`"),
            false => "write the name of a variable".to_owned(),
        };
        findings.push(reference_fixes::suggest(finding, container, &text, step, otherwise));
    }
    for sub_path in container.own_sub_paths() {
        let Some(flaw) = path_flaw(container, sub_path) else { continue };
        let finding = Finding::new(container.at(sub_path.item.text.span), "subPathExpr", flaw.message());
        let other = mount(container, sub_path).and_then(|it| it.sub_path.as_ref());
        findings.push(match (flaw, other) {
            (PathFlaw::Both, Some(other)) => {
                let own = container.at(sub_path.item.text.span);
                let file = container.object.file;
                finding
                    .related(container.at(other.span), "the other path")
                    .help("remove one of the two")
                    .choice(remove_field(file, &container.at(other.span), "Remove `subPath`".into()))
                    .choice(remove_field(file, &own, "Remove `subPathExpr`".into()))
            }
            (PathFlaw::Ephemeral, _) => finding.help("mount the whole volume"),
            _ => finding.help("write a path inside the volume"),
        });
    }
}

/// Why a path is refused (P4, X4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum PathFlaw {
    /// There is a `subPath` too.
    Both,
    /// The container is an ephemeral one.
    Ephemeral,
    /// It starts with `/`.
    Absolute,
    /// It has an element `..`.
    Parent,
    /// A value makes it start with `/`.
    BecomesAbsolute,
    /// A value adds an element `..`.
    BecomesParent,
}

impl PathFlaw {
    /// What is wrong.
    pub(in crate::rules) fn message(self) -> &'static str {
        match self {
            Self::Both => "a mount cannot have both `subPath` and `subPathExpr`",
            Self::Ephemeral => "an ephemeral container cannot have `subPathExpr`",
            Self::Absolute => "`subPathExpr` must not start with `/`",
            Self::Parent => "`subPathExpr` must not contain an element `..`",
            Self::BecomesAbsolute => "`subPathExpr` becomes an absolute path",
            Self::BecomesParent => "`subPathExpr` becomes a path with an element `..`",
        }
    }
}

/// What is wrong with the path of a mount of the container, apart from variables that are missing or empty.
pub(in crate::rules) fn path_flaw(container: &ContainerContext<'_>, sub_path: &SubPath) -> Option<PathFlaw> {
    let ExpandedScalar { text, expansion, .. } = &sub_path.item;
    let is_set = |text: &&Text| !text.value.is_empty();
    if mount(container, sub_path)?.sub_path.as_ref().is_some_and(|it| is_set(&it)) && is_set(&text) {
        return Some(PathFlaw::Both);
    }
    // P4.
    if container.container.role == ContainerRole::Ephemeral && is_set(&text) {
        return Some(PathFlaw::Ephemeral);
    }
    if text.value.starts_with('/') {
        return Some(PathFlaw::Absolute);
    }
    if has_parent_element(&text.value) {
        return Some(PathFlaw::Parent);
    }
    // A variable that is missing or empty is the first error.
    let has_value = |it: &ExpansionStep| match &it.outcome {
        Lookup::Bound(binding) => !binding.value.is_empty(),
        Lookup::Maybe(_) => true,
        Lookup::Later(_) | Lookup::Unbound => false,
    };
    if !expansion.steps.iter().all(has_value) {
        return None;
    }
    let is_absolute = match expansion.value.parts().first()? {
        ValuePart::Text(text) | ValuePart::Secret { text, .. } => text.starts_with('/'),
        ValuePart::Unknown(_) => false,
    };
    if is_absolute {
        return Some(PathFlaw::BecomesAbsolute);
    }
    expansion.value.known().is_some_and(|it| has_parent_element(&it)).then_some(PathFlaw::BecomesParent)
}

/// The mount of a sub path.
fn mount<'a>(container: &ContainerContext<'a>, sub_path: &SubPath) -> Option<&'a Mount> {
    let span = sub_path.item.text.span;
    container.container.mounts.iter().find(|it| it.sub_path_expr.as_ref().is_some_and(|it| it.span == span))
}
