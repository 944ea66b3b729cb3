//! The rule `invalid-preset`.

use crate::build::{OPERATORS_HELP, PRESET_EXCLUDE_ANNOTATION, SELECTOR_HELP, preset_name_problem, preset_problems};
use crate::diagnostic::{Fix, Severity};
use crate::k8s::{Model, ObjectData, ObjectSpan, PodPreset, Text};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::item_removal::{remove_item_around, remove_list_around};
use crate::text::nearest_name;

declare_rule! {
    /// Reports a PodPreset that the API server rejects.
    ///
    /// ## What it does
    /// A preset has a `spec` with at least one of `env`, `envFrom`, `volumes` and `volumeMounts`, and mounts only its
    /// own volumes. A volume has a name, a mount has a name and a path, and no two volumes have one name and no two mounts
    /// one path. Its selector has `matchLabels` and `matchExpressions`, with the operators In, NotIn, Exists and
    /// DoesNotExist. With `proposals: true` the selector must exist and must not be empty, and volumes need mounts. The
    /// finding covers the invalid part, or the name of the preset.
    ///
    /// The annotation that excludes pods from presets has to be in the pod template. In the metadata of a Deployment or
    /// another workload it has no effect, and is reported as a hint.
    ///
    /// ## Why it matters
    /// The API server rejects the preset, so it applies to no pod. A pod whose annotation is in the wrong place is not
    /// excluded.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: settings.k8s.io/v1alpha1
    /// kind: PodPreset
    /// metadata: {name: cache}
    /// spec:
    ///   selector:
    ///     matchExpressions:
    ///       - {key: role, operator: Equals, values: [web]}
    ///   volumeMounts:
    ///     - {name: cache, mountPath: /cache}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: settings.k8s.io/v1alpha1
    /// kind: PodPreset
    /// metadata: {name: cache}
    /// spec:
    ///   selector:
    ///     matchExpressions:
    ///       - {key: role, operator: In, values: [web]}
    ///   volumeMounts:
    ///     - {name: cache, mountPath: /cache}
    ///   volumes:
    ///     - {name: cache, emptyDir: {}}
    /// ```
    ///
    /// ## Fix
    /// For the annotation: adds it to the pod template. Unsafe, because the pods then get nothing of any preset. For
    /// a preset, editors offer to correct words of the selector, and to remove a repeated entry or `values` that are
    /// not allowed.
    name: "invalid-preset",
    level: Error,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    // The object that a patch changes may have the missing part.
    if object.file.snapshot.is_patch(object.file.path) {
        return;
    }
    let model = &object.object.model;
    match &model.data {
        ObjectData::Preset(preset) => check_preset(object, model, preset, findings),
        _ => check_annotation(object, model, findings),
    }
}

fn check_preset(object: &ObjectContext<'_>, model: &Model, preset: &PodPreset, findings: &mut Findings<'_>) {
    let whole = model.name.as_ref().or(model.kind.as_ref()).map_or(model.span, |it| it.span);
    for flaw in preset_problems(preset, object.file.snapshot.settings(object.file.path).proposals) {
        let place = flaw.span.unwrap_or(whole);
        let finding = Finding::new(object.at(place), &flaw.name, flaw.message).help(flaw.help);
        findings.push(match flaw.help {
            "remove one of the two" => {
                finding.choice(remove_item_around(object, place, format!("Remove this entry of `{}`", flaw.name)))
            }
            "remove `values`" => finding.choice(remove_list_around(object, place, "Remove `values`".into())),
            OPERATORS_HELP => finding.choice(word_fix(object, place, &["In", "NotIn", "Exists", "DoesNotExist"])),
            SELECTOR_HELP => finding.choice(word_fix(object, place, &["matchLabels", "matchExpressions"])),
            _ => finding,
        });
    }
    if let Some((name, message)) = model.name.as_ref().and_then(|it| Some((it, preset_name_problem(it, preset)?))) {
        findings.push(
            Finding::new(object.at(name.span), &name.value, message)
                .help("a name has lower-case letters, digits, `-` and `.`"),
        );
    }
}

/// Writes the word that is most similar to the one at a span.
fn word_fix(object: &ObjectContext<'_>, span: ObjectSpan, words: &[&str]) -> Option<Fix> {
    let source = object.file.parsed_text()?;
    let at = object.at(span);
    let written = source.text.get(at.span.range()).filter(|_| at.file == *object.file.path)?.trim_matches(['"', '\'']);
    let near = nearest_name(written, words.iter().copied())?;
    Some(Fix { title: format!("Write `{near}`"), safe: false, edits: vec![edit(at, near)] })
}

/// A1: the annotation of the pod counts, which is that of the template.
fn check_annotation(object: &ObjectContext<'_>, model: &Model, findings: &mut Findings<'_>) {
    let is_it = |key: &str, value: &str| key == PRESET_EXCLUDE_ANNOTATION && value == "true";
    let Some((key, _)) = model.annotations.iter().find(|(key, value)| is_it(&key.value, &value.value)) else { return };
    let excludes = |(key, value): &(Text, Text)| is_it(&key.value, &value.value);
    // The pod of a Pod has the metadata of the object.
    for pod in model.pods.iter().filter(|it| it.path.contains('.') && !it.annotations.iter().any(excludes)) {
        let kind = model.kind.as_ref().map_or("object", |it| &it.value);
        let message = format!("the annotation has no effect here: presets look at the pods, not at the {kind}");
        let finding = Finding::new(object.at(key.span), &key.value, message)
            .at_most(Severity::Hint)
            .help("move it to the `metadata` of the pod template")
            .fix(object.exclude_presets_fix(pod));
        findings.push(finding.unnecessary());
    }
}
