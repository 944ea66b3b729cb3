//! The views of the settings that give other values to templates.

use std::sync::Arc;

use crate::build::built::{self, BuiltFile};
use crate::build::view::BuiltView;
use crate::build::views::{ViewInputs, ViewKind, ViewSummary, views};
use crate::k8s::{ParameterValue, Parameters, TemplateMember};
use crate::workspace::Snapshot;

/// The views of the settings that give values to templates. Computed once for each state of the workspace.
pub fn named_views(snapshot: &Snapshot) -> &[BuiltView] {
    if snapshot.all_settings().all(|it| it.views.is_empty()) {
        return &[];
    }
    let compute = || {
        let gives_values = |it: &ViewInputs| it.params.is_some() || !it.set.is_empty();
        let templates =
            views(snapshot).into_iter().filter(|it| it.kind == ViewKind::Template && gives_values(&it.inputs));
        templates.filter_map(|it| build(snapshot, &it)).collect::<Vec<_>>()
    };
    let all: &[BuiltView] = snapshot.derived(compute).map_or(&[], Vec::as_slice);
    for params in all.iter().filter_map(|it| it.params.as_ref()) {
        snapshot.depend_on_file(params);
    }
    all
}

fn build(snapshot: &Snapshot, view: &ViewSummary) -> Option<BuiltView> {
    let file = snapshot.file(&view.root)?;
    let values = values(snapshot, &view.inputs);
    let mut parameters: Vec<(Arc<Parameters>, Arc<Parameters>)> = Vec::new();
    let mut objects = Vec::with_capacity(file.objects.len());
    for object in &file.objects {
        let member = object.template.as_ref().map(|it| {
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
