//! The rule `parameter-variable-clash`.

use crate::diagnostic::Severity;
use crate::k8s::VariableScope;
use crate::resolve::Lookup;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::syntax::{ReferenceForm, parameter_references};

declare_rule! {
    /// Reports `$(X)` where `X` is both a parameter of the template and a variable of the container.
    ///
    /// ## What it does
    /// Templates of `apiVersion: v1` may use `$(P)` for a parameter, which is also the syntax of a variable. Looks at
    /// env values, `command`, `args`, exec probes and `subPathExpr`, and reports a name that is both. The finding
    /// covers the reference.
    ///
    /// ## Why it matters
    /// By the proposal the template is processed first, so the parameter wins: the variable of the container is never
    /// used there. Released clusters know no `$(P)` for parameters, so the variable wins; the finding is an info unless
    /// the settings have `proposals: true`.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Pod
    ///     metadata: {name: web}
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: web
    ///           env:
    ///             - {name: PORT, value: "9090"}
    ///           args: ["--port=$(PORT)"]
    /// parameters:
    ///   - {name: PORT, value: "8080"}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Pod
    ///     metadata: {name: web}
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: web
    ///           env:
    ///             - {name: PORT, value: "9090"}
    ///           args: ["--port=$(PORT)"]
    /// parameters:
    ///   - {name: WEB_PORT, value: "8080"}
    /// ```
    ///
    /// ## Fix
    /// Editors offer to write `${P}` for the parameter. Only the author knows which of the two is meant.
    name: "parameter-variable-clash",
    level: Warning,
    checks: [Container(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let template = container.object.object.source.template.as_ref();
    let parameters = template.map(|it| &it.parameters).filter(|it| it.dialect.is_proposal());
    let Some(parameters) = parameters else { return };
    // In released clusters the reference is the variable's.
    let file = container.object.file;
    let is_proposed = file.snapshot.settings(file.path).proposals;
    let it = container.container;
    let values = it.env.iter().filter_map(|it| it.value.as_ref());
    let commands = it.command.iter().chain(&it.args).chain(it.probes.iter().flat_map(|it| &it.command));
    let sub_paths = it.mounts.iter().filter_map(|it| it.sub_path_expr.as_ref());
    for text in values.chain(commands).chain(sub_paths) {
        for reference in parameter_references(&text.value, true) {
            let name = &text.value[reference.name.clone()];
            if reference.form != ReferenceForm::Proposed || !parameters.contains(name) {
                continue;
            }
            let Lookup::Bound(variable) = container.lookup(name, VariableScope::All) else {
                continue;
            };
            let clash = format!("`$({name})` is both a parameter of the template and a variable of the container");
            let message = match is_proposed {
                true => format!("{clash}: the parameter wins"),
                false => format!("{clash}: the variable wins in released clusters, the parameter by the proposal"),
            };
            let mut finding = Finding::new(container.inside(text, reference.range.clone()), name, message);
            if let Some(place) = variable.entry.clone().or_else(|| variable.origin.location.clone()) {
                finding = finding.related(place, "the variable");
            }
            let new = format!("${{{name}}}");
            let title = format!("Write `{new}`");
            let rewrite = container.object.rewrite_fix(text, reference.range.clone(), &new, title, false);
            let finding = finding.help(format!("write `{new}` for the parameter, or rename one of the two"));
            let finding = finding.choice(rewrite);
            findings.push(if is_proposed { finding } else { finding.at_most(Severity::Info) });
        }
    }
}
