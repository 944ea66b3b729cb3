//! The rule `unexpanded-field`.

use crate::diagnostic::Fix;
use crate::k8s::{Text, VariableScope};
use crate::resolve::{Lookup, ValuePart, is_script_item};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule, edit};
use crate::rules::shared::reference_fixes;
use crate::syntax::{DollarToken, DollarTokenKind, Node, dollar_tokens};

declare_rule! {
    /// Reports `$(X)` of a variable of the container in a field that Kubernetes does not expand.
    ///
    /// ## What it does
    /// Kubernetes expands only env values, `command`, `args`, exec probes and `subPathExpr`. Reports a reference to a
    /// variable of the container in any other field of it: lifecycle hooks, `httpGet` and `tcpSocket`, `workingDir`,
    /// `image`, `mountPath`, `subPath`, names and keys in `valueFrom` and so on. The finding covers the reference.
    ///
    /// ## Why it matters
    /// The field keeps the text `$(X)` without a warning: a hook runs with it, a volume is mounted at it.
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
    ///         - {name: ROOT, value: /srv}
    ///       workingDir: $(ROOT)/web
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
    ///         - {name: ROOT, value: /srv}
    ///       workingDir: /srv/web
    /// ```
    ///
    /// ## Fix
    /// In the script of a lifecycle hook, writes the shell's `${X}`. For `subPath`, writes `subPathExpr`. Both are
    /// unsafe: they change what the container does. Elsewhere editors offer to write the value itself, if it is
    /// known.
    name: "unexpanded-field",
    level: Warning,
    checks: [Container(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let texts = &container.container.unexpanded;
    for (at, (path, text)) in texts.iter().enumerate() {
        for token in dollar_tokens(&text.value).filter(|it| it.kind == DollarTokenKind::Reference) {
            let Some(name) = token.name(&text.value).filter(|it| is_declared(container, it)) else { continue };
            let is_script = is_script_item(texts, at);
            // In a script a lower-case word is probably a command.
            let is_command = is_script && name.bytes().any(|it| it.is_ascii_lowercase());
            if !is_command && !is_kustomize_var(container, name) {
                findings.push(finding(container, path, text, &token, name, is_script));
            }
        }
    }
}

fn is_declared(container: &ContainerContext<'_>, name: &str) -> bool {
    matches!(container.lookup(name, VariableScope::All), Lookup::Bound(_))
}

fn finding(
    container: &ContainerContext<'_>,
    path: &str,
    text: &Text,
    token: &DollarToken,
    name: &str,
    is_script: bool,
) -> Finding {
    let field = field_name(path);
    let message = format!("`$({name})` is not expanded: Kubernetes does not expand `{field}`");
    let finding = Finding::new(container.inside(text, token.range.clone()), name, message);
    if is_script {
        let new = format!("${{{name}}}");
        let title = format!("Write `{new}` for the shell");
        return finding
            .help(format!("write `{new}`: the shell has the container's environment"))
            .fix(reference_fixes::replace(container, text, token.range.clone(), &new, title));
    }
    if field == "volumeMounts.subPath" {
        return finding.help("write `subPathExpr`").fix(sub_path_expr_fix(container, text));
    }
    if path.contains(".exec.command") {
        return finding.help(format!("run the hook through a shell, and write `${name}` there"));
    }
    let finding = finding.help("write the value itself");
    let Lookup::Bound(binding) = container.lookup(name, VariableScope::All) else { return finding };
    // The value of a Secret stays in the Secret.
    let is_secret = binding.value.parts().iter().any(|it| matches!(it, ValuePart::Secret { .. }));
    let Some(value) = binding.value.known().filter(|_| !is_secret) else { return finding };
    let title = format!("Write `{value}`");
    finding.choice(reference_fixes::replace(container, text, token.range.clone(), &value, title))
}

/// A path without indexes: `lifecycle.preStop.exec.command`.
fn field_name(path: &str) -> String {
    let keys = path.split('.').map(|key| key.split('[').next().unwrap_or(key));
    keys.collect::<Vec<_>>().join(".")
}

/// The fix that renames `subPath` to `subPathExpr`.
fn sub_path_expr_fix(container: &ContainerContext<'_>, text: &Text) -> Option<Fix> {
    let object = container.object;
    let source = object.file.parsed_text()?;
    let span = object.object.file_span(text.span);
    let path = source.tree.document_at(span.start)?.root()?.path_to(span.start);
    let mount = path.iter().rev().find(|it| it.is_mapping())?;
    let is_it = |(_, value): &(Node<'_>, Option<Node<'_>>)| value.is_some_and(|it| it.span() == span);
    let (key, _) = mount.own_entries().find(is_it)?;
    if mount.entry("subPathExpr").is_some() || &source.text[key.span().range()] != "subPath" {
        return None;
    }
    let edits = vec![edit(object.file.at(key.span()), "subPathExpr")];
    Some(Fix { title: "Write `subPathExpr`".into(), safe: false, edits })
}

/// Whether Kustomize may replace the reference before Kubernetes reads it.
fn is_kustomize_var(container: &ContainerContext<'_>, name: &str) -> bool {
    container.object.file.snapshot.kustomize_vars().any(|it| &**it == name)
}
