//! Fixes that change which service variables a pod has: one more link, explicit links only, or none.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::build::{BuiltContainer, BuiltPod};
use crate::diagnostic::Fix;
use crate::k8s::{Container, ContainerRole, ObjectSpan, Pod};
use crate::resolve::{Lookup, OriginKind, ServiceLinks, service_variable_references};
use crate::rules::engine::{ObjectContext, edit};
use crate::syntax::{InsertPosition, Node, TextEdit, YamlValue, add_entry, add_items};

/// Pods with more containers are generated, and checking all of them after every keystroke would be slow.
const LARGEST: usize = 64;

/// Replaces the automatic links of a pod by explicit links to the services it uses, if the settings enable proposals;
/// disables links if it uses none. `None` if no services are visible to the pod.
pub fn limit_service_links<'a>(object: &ObjectContext<'a>, pod: &'a Pod) -> Option<Fix> {
    let file = object.file;
    if file.resolver.service_links(object.pod(pod)) != ServiceLinks::All
        || pod.containers.iter().all(|it| it.image.is_none())
        || pod.containers.len() > LARGEST
        || file.resolver.service_variable_totals(object.object).services == 0
    {
        return None;
    }
    let used = object.used_services(pod);
    if used.iter().all(BTreeSet::is_empty) {
        return object.disable_links_fix(pod);
    }
    file.snapshot.settings(file.path).proposals.then(|| object.explicit_links_fix(pod, &used)).flatten()
}

impl<'a> ObjectContext<'a> {
    /// A pod of the object.
    pub(in crate::rules) fn pod(&self, pod: &'a Pod) -> BuiltPod<'a> {
        BuiltPod { object: self.object, pod }
    }

    /// Changes the collection at a span of the object. `None` if it is shared through an anchor.
    pub(in crate::rules) fn change(
        &self,
        span: ObjectSpan,
        change: impl Fn(&str, Node<'_>) -> Option<TextEdit>,
    ) -> Option<TextEdit> {
        let source = self.file.parsed_text()?;
        let span = self.object.file_span(span);
        let path = source.tree.document_at(span.start)?.root()?.path_to(span.start);
        let at = path.iter().position(|it| it.span() == span && !it.span().is_empty())?;
        let shared = path[at].alias().is_some() || path[..=at].iter().any(|it| it.anchor().is_some());
        if shared { None } else { change(&source.text, path[at]) }
    }

    /// The services whose variables each container of a pod uses.
    fn used_services(&self, pod: &'a Pod) -> Vec<BTreeSet<Arc<str>>> {
        let used = |container: &Container| {
            let handle = BuiltContainer { object: self.object, pod, container };
            let environment = self.file.resolver.environment(handle);
            let usages = service_variable_references(&environment, container);
            let own = usages.iter().map(|it| Arc::clone(&it.binding));
            // Variables that a preset adds may refer to service variables too.
            let added = environment.own_bindings().into_iter().filter(|it| it.preset.is_some());
            let added = added.flat_map(|it| &it.steps).filter_map(|it| match &it.outcome {
                Lookup::Bound(binding) if binding.origin.kind == OriginKind::Service => Some(Arc::clone(binding)),
                _ => None,
            });
            let services = own.chain(added).filter_map(|it| it.origin.object.clone());
            // The variables of the cluster's own API exist without links.
            services.filter(|it| &**it != "kubernetes").collect()
        };
        self.file.snapshot.depend_on_siblings();
        pod.containers.iter().map(|it| used(it)).collect()
    }

    /// Replaces the automatic links of a pod by explicit links to the services it uses, or disables links if it uses
    /// none. Unsafe, because a program may read variables that the manifest does not mention.
    pub(in crate::rules) fn replace_automatic_links_fix(&self, pod: &'a Pod) -> Option<Fix> {
        let is_large = pod.containers.len() > LARGEST;
        if is_large || self.file.resolver.service_links(self.pod(pod)) != ServiceLinks::All {
            return None;
        }
        let used = self.used_services(pod);
        if used.iter().all(BTreeSet::is_empty) {
            self.disable_links_fix(pod)
        } else {
            self.explicit_links_fix(pod, &used)
        }
    }

    fn disable_links_fix(&self, pod: &Pod) -> Option<Fix> {
        let change = match pod.service_links {
            Some((_, span)) => TextEdit { span: self.object.file_span(span), text: "false".into() },
            None => self
                .change(pod.span, |text, spec| add_entry(text, spec, "enableServiceLinks", &YamlValue::Bool(false)))?,
        };
        let edits = vec![edit(self.file.at(change.span), change.text)];
        Some(Fix { title: "Set `enableServiceLinks: false`: no service variable is used".into(), safe: false, edits })
    }

    fn explicit_links_fix(&self, pod: &Pod, used: &[BTreeSet<Arc<str>>]) -> Option<Fix> {
        let mut edits = Vec::new();
        for (container, services) in pod.containers.iter().zip(used).filter(|(_, used)| !used.is_empty()) {
            let names: Vec<&str> = services.iter().map(|it| &**it).collect();
            let change = self.link_edit(container, &names)?;
            edits.push(edit(self.file.at(change.span), change.text));
        }
        let all: BTreeSet<&str> = used.iter().flatten().map(|it| &**it).collect();
        let names: Vec<String> = all.iter().map(|it| format!("`{it}`")).collect();
        let title = format!("Link only {} in `envFrom`", names.join(", "));
        Some(Fix { title, safe: false, edits })
    }

    /// The fix that links one more service in a container.
    pub(in crate::rules) fn link_service_fix(&self, container: &Container, service: &str) -> Option<Fix> {
        let change = self.link_edit(container, &[service])?;
        let edits = vec![edit(self.file.at(change.span), change.text)];
        Some(Fix { title: format!("Link service `{service}` in `envFrom`"), safe: false, edits })
    }

    fn link_edit(&self, container: &Container, services: &[&str]) -> Option<TextEdit> {
        if matches!(container.role, ContainerRole::Hook) {
            return None;
        }
        let entry = |name: &&str| YamlValue::map([("service", YamlValue::map([("name", YamlValue::text(*name))]))]);
        let entries: Vec<YamlValue> = services.iter().map(entry).collect();
        self.change(container.span, |text, node| match node.get("envFrom") {
            // B5: links are inserted first, because later entries win and service variables have the lowest precedence.
            Some(list) if list.is_sequence() => add_items(text, list, &entries, InsertPosition::First),
            Some(_) => None,
            None => add_entry(text, node, "envFrom", &YamlValue::List(entries.clone())),
        })
    }
}
