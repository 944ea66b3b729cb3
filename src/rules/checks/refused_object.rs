//! The rule `refused-object`.

use crate::k8s::{Template, Text};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::syntax::Node;
use crate::text::Span;

declare_rule! {
    /// Reports an object because of which a template cannot be processed.
    ///
    /// ## What it does
    /// Processes each object of a template with the values in the template, and reports what `oc process` refuses: an
    /// object without `kind`, parameters among the objects, an `apiVersion` with more than one `/`, `items` that are not a list of objects, labels of
    /// the template for a list, and a reference that makes a key or a list item of another type. The finding covers the
    /// `apiVersion` if that is refused or `kind` is missing, the `kind` of a list, otherwise the name of the object.
    ///
    /// ## Why it matters
    /// One such object is enough: the template gives no objects at all.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: apps/v1/Deployment
    ///     kind: Deployment
    ///     metadata: {name: web}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: apps/v1
    ///     kind: Deployment
    ///     metadata: {name: web}
    /// ```
    ///
    /// ## Fix
    /// None.
    name: "refused-object",
    level: Error,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    if let Some(template) = object.template() {
        for (span, name, error) in refused_items(object, template) {
            findings.push(Finding::new(object.file.at(span), name, message(error)));
        }
        if let [first, more @ ..] = &template.misplaced_parameters[..] {
            let name = &first.value;
            let error = match more.len() {
                0 => format!("`{name}` is a parameter among the objects: it belongs to `parameters`"),
                more => {
                    format!("`{name}` and {more} more are parameters among the objects: they belong to `parameters`")
                }
            };
            findings.push(Finding::new(object.at(first.span), name, message(&error)));
        }
    }
    let model = &object.object.model;
    for error in object.object.errors() {
        let version = model.api_version.as_ref().filter(|_| error.starts_with("the `apiVersion`"));
        let place = version.or(model.name.as_ref());
        let name = place.map_or("", |it| &it.value);
        let location = object.at(place.map_or(model.span, |it| it.span));
        findings.push(Finding::new(location, name, message(error)));
    }
}

fn message(error: &str) -> String {
    format!("the template cannot be processed: {error}")
}

/// The refused entries of `objects` that are not read as objects themselves: those without `kind`, and lists.
fn refused_items(object: &ObjectContext<'_>, template: &Template) -> Vec<(Span, &'static str, &'static str)> {
    let Some(list) = template.objects_span.map(|it| object.at(it).span) else { return Vec::new() };
    let Some(source) = object.file.parsed_text().filter(|_| !object.file.is_template()) else { return Vec::new() };
    let document = source.tree.document_at(list.start);
    let path = document.and_then(|it| it.root()).map(|it| it.path_to(list.start)).unwrap_or_default();
    let Some(list) = path.iter().find(|it| it.is_sequence() && it.span() == list) else { return Vec::new() };
    let refusal = |item: Node<'_>| {
        let place = |keys: [&str; 2]| keys.iter().find_map(|it| item.get(it)).map_or(item.span(), |it| it.span());
        let is_parameter = |it: &Text| item.get("name").is_some_and(|name| name.span() == object.at(it.span).span);
        if template.misplaced_parameters.iter().any(is_parameter) {
            return None;
        }
        let has_kind = item.get("kind").and_then(Node::string).is_some_and(|it| !it.is_empty());
        if !has_kind {
            return Some((place(["kind", "apiVersion"]), "kind", "the object has no `kind`"));
        }
        let is_list = item.get("items").is_some_and(|it| it.is_sequence());
        let error = "the labels of the template cannot be added to a list";
        (is_list && !template.labels.is_empty()).then(|| (place(["kind", "apiVersion"]), "labels", error))
    };
    // A merge key may bring any field.
    list.items().filter(|it| it.is_mapping() && it.get("<<").is_none()).filter_map(refusal).collect()
}
