//! The rule `invalid-secret-data`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::diagnostic::{Fix, Location};
use crate::k8s::{ObjectData, RefusedValue, ValueFlaw};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};
use crate::syntax::may_be_replaced;
use crate::text::Span;

declare_rule! {
    /// Reports a value in `data` of a Secret that is not base64.
    ///
    /// ## What it does
    /// Decodes the values in `data` of Secrets as the API server does: the standard alphabet with padding; line breaks
    /// are skipped, spaces are not. A text that a tool replaces is not reported. The finding covers the value, and never
    /// shows it.
    ///
    /// ## Why it matters
    /// The API server refuses the object: `illegal base64 data at input byte 4`.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata: {name: login}
    /// data:
    ///   user: shop-user
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata: {name: login}
    /// stringData:
    ///   user: shop-user
    /// ```
    ///
    /// ## Fix
    /// Editors offer to encode the value. Commands do not, because their reports would show the value.
    name: "invalid-secret-data",
    level: Error,
    checks: [Object(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let ObjectData::Secret(data) = &object.object.model.data else { return };
    let is_other_template = object.file.is_template() && !object.file.facts.is_helm_template();
    if data.refused_values.is_empty() || is_other_template || !object.has_certain_structure() {
        return;
    }
    for value in data.refused_values.iter().filter(|it| it.flaw == ValueFlaw::Encoding) {
        let key = &value.key.value;
        let message = format!("the value of `{key}` is not base64");
        let finding = Finding::new(object.at(value.span), key, message);
        let finding = finding.help("encode it in base64, or write it in `stringData`");
        findings.push(finding.choice(encode_fix(object, value)));
    }
}

/// Encodes the text of a value. The title does not show it.
fn encode_fix(object: &ObjectContext<'_>, value: &RefusedValue) -> Option<Fix> {
    let at = object.at(value.span);
    let source = object.file.parsed_text().filter(|_| at.file == *object.file.path)?;
    let path = source.tree.document_at(at.span.start)?.root()?.path_to(at.span.start);
    let node = path.last().filter(|it| it.span() == at.span && it.alias().is_none() && it.anchor().is_none())?;
    // The value of a parameter is not known here.
    let text = node.text().filter(|it| !it.contains("${") && !may_be_replaced(it))?;
    // The span of a block ends after its last line break.
    let end = at.span.start + source.text.get(at.span.range())?.trim_end().len();
    let at = Location { span: Span::new(at.span.start, end), ..at };
    let edits = vec![edit(at, STANDARD.encode(text))];
    Some(Fix { title: format!("Encode the value of `{}` in base64", value.key.value), safe: false, edits })
}
