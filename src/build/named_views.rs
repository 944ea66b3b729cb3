//! The views of the settings that give other values to templates.

use std::sync::Arc;

use crate::build::built::{self, BuiltFile};
use crate::build::view::BuiltView;
use crate::build::views::{ViewInputs, ViewKind, ViewSummary, views};
use crate::k8s::{ParameterValue, Parameters, TemplateMember};
use crate::workspace::Snapshot;

/// The views of the settings that build templates. Computed once for each state of the workspace.
#[derive(Debug, Default)]
struct TemplateViews {
    /// Those that give other values to a template.
    built: Vec<BuiltView>,
    /// The templates with their own values: file, offset and name.
    own: Vec<(Arc<str>, usize, Arc<str>)>,
}

/// The views of the settings that give values to templates.
pub fn named_views(snapshot: &Snapshot) -> &[BuiltView] {
    let all = template_views(snapshot).map_or(&[][..], |it| &it.built);
    for params in all.iter().filter_map(|it| it.params.as_ref()) {
        snapshot.depend_on_file(params);
    }
    all
}

/// The name of the view of a template with its own values, if there are views in the settings.
pub(super) fn own_view_name<'s>(snapshot: &'s Snapshot, file: &str, template: usize) -> Option<&'s Arc<str>> {
    let own = &template_views(snapshot)?.own;
    own.iter().find(|(path, offset, _)| **path == *file && *offset == template).map(|(_, _, name)| name)
}

fn template_views(snapshot: &Snapshot) -> Option<&TemplateViews> {
    if snapshot.all_settings().all(|it| it.views.is_empty()) {
        return None;
    }
    snapshot.derived(|| {
        let mut all = TemplateViews::default();
        for view in views(snapshot).into_iter().filter(|it| it.kind == ViewKind::Template) {
            let Some(template) = view.template else { continue };
            if view.inputs.params.is_some() || !view.inputs.set.is_empty() {
                all.built.extend(build(snapshot, &view, template));
            } else {
                all.own.push((view.root, template, view.name.into()));
            }
        }
        all
    })
}

/// Builds the objects of the template at an offset; those of other templates in the file are not in the view.
fn build(snapshot: &Snapshot, view: &ViewSummary, template: usize) -> Option<BuiltView> {
    let file = snapshot.file(&view.root)?;
    let values = values(snapshot, &view.inputs);
    let mut parameters: Vec<(Arc<Parameters>, Arc<Parameters>)> = Vec::new();
    let mut objects = Vec::with_capacity(file.objects.len());
    for object in &file.objects {
        let is_in_template = file.template_of(object).is_some_and(|(holder, _)| holder.offset == template);
        let member = object.template.as_ref().filter(|_| is_in_template).map(|it| {
            let known = parameters.iter().find(|(own, _)| Arc::ptr_eq(own, &it.parameters));
            let with_values = known.map(|(_, it)| Arc::clone(it)).unwrap_or_else(|| {
                let declared = values.iter().filter(|(name, _)| it.parameters.contains(name)).cloned();
                let new = Arc::new(it.parameters.with_values(declared));
                parameters.push((Arc::clone(&it.parameters), Arc::clone(&new)));
                new
            });
            TemplateMember { parameters: with_values, ..it.clone() }
        });
        objects.push(built::build(object, member.as_ref()));
    }
    Some(BuiltView {
        name: view.name.as_str().into(),
        params: view.inputs.params.clone(),
        files: vec![(Arc::clone(&view.root), BuiltFile(objects))],
        parameters,
    })
}

/// The values of a view: those of `set` win over those of the parameter file.
fn values(snapshot: &Snapshot, inputs: &ViewInputs) -> Vec<(Arc<str>, ParameterValue)> {
    let file = inputs.params.as_ref().and_then(|path| Some((path, snapshot.file(path)?)));
    let from_file = file.into_iter().flat_map(|(path, file)| {
        let given = |value| ParameterValue::Given { value, file: Some(Arc::clone(path)) };
        file.values.iter().map(move |(name, value)| (Arc::clone(name), given(value.shared())))
    });
    let set = inputs
        .set
        .iter()
        .map(|(name, value)| (Arc::clone(name), ParameterValue::Given { value: Arc::clone(value), file: None }));
    from_file.chain(set).collect()
}
