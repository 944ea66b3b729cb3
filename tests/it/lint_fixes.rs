//! `podlens lint --fix`: what is written, what is not, and what is only offered in editors.

use std::fs;
use std::path::Path;

use crate::command::{directory, run};
use crate::manifest::pod_for_commands;

/// A pod whose last entry is declared too late; the fix is safe.
const LATE: &str = pod_for_commands!(
    "        - {name: B, value: $(C)}
        - {name: C, value: c}
"
);

fn text(place: &Path, file: &str) -> String {
    fs::read_to_string(place.join(file)).expect("readable")
}

fn make_read_only(path: &Path) {
    let mut permissions = fs::metadata(path).expect("there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions).expect("changed");
}

#[test]
fn a_file_that_cannot_be_written_is_not_fixed() {
    let files = ["a.yaml", "b.yaml", "deep/c.yaml"];
    let place = directory(&files.map(|it| (it, LATE.as_bytes())));
    make_read_only(&place.path().join("a.yaml"));
    make_read_only(&place.path().join("deep/c.yaml"));
    let arguments = ["lint", "--fix", "--select", "forward-reference", "-o", "concise"];
    let (code, out, err) = run(place.path(), &arguments, "");
    assert_eq!(
        err,
        "podlens: a.yaml: cannot be written: it is read-only; 1 finding is not fixed\n\
         podlens: deep/c.yaml: cannot be written: it is read-only; 1 finding is not fixed\n\
         podlens: 1 finding fixed\n"
    );
    assert_eq!(code, 2, "{out}");
    assert!(out.starts_with("a.yaml:10:28: error[forward-reference]"), "{out}");
    assert!(out.contains("\ndeep/c.yaml:10:28: error[forward-reference]"), "{out}");
    assert!(out.contains("Found 2 errors in 3 files; 2 fixable with --fix\n") && !out.contains("b.yaml"), "{out}");
    assert_eq!((text(place.path(), "a.yaml"), text(place.path(), "deep/c.yaml")), (LATE.to_owned(), LATE.to_owned()));
    assert!(text(place.path(), "b.yaml").contains("- {name: C, value: c}\n        - {name: B, value: $(C)}"));
    let left: Vec<_> =
        fs::read_dir(place.path()).expect("a directory").map(|it| it.expect("a file").file_name()).collect();
    assert_eq!(left.len(), 4, "no other file is left: {left:?}");
}

/// Runs with all fixes; returns the texts of the files afterwards.
fn fix_all(files: &[(&str, &str)]) -> (String, Vec<String>) {
    let bytes: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let place = directory(&bytes);
    let arguments = ["lint", "--fix", "--unsafe-fixes", "-o", "concise"];
    let (_, out, _) = run(place.path(), &arguments, "");
    let texts: Vec<String> = files.iter().map(|(path, _)| text(place.path(), path)).collect();
    let (_, again, err) = run(place.path(), &arguments, "");
    assert_eq!((again.as_str(), err.as_str()), (out.as_str(), ""), "the second run changes nothing");
    (out, texts)
}

#[test]
fn no_command_escapes_a_reference_to_silence_it() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - name: main\n      image: app\n      \
               args: [$(NOPE), $(date +%s), 5 $$]\n";
    let (out, texts) = fix_all(&[("pod.yaml", pod)]);
    assert_eq!(texts, [pod]);
    for rule in ["undefined-variable", "command-substitution-outside-shell", "collapsed-dollar"] {
        assert!(out.contains(rule), "{out}");
    }
    assert!(!out.contains("fixable"), "{out}");
}

/// Each of the two is a fix of its own, but not both.
#[test]
fn fixes_that_contradict_each_other_are_not_applied() {
    let template = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: web}\nobjects:\n  - apiVersion: v1\n    \
                    kind: Service\n    metadata:\n      name: ${SERVCE_NAME}\nparameters:\n  - name: SERVICE_NAME\n    \
                    value: web\n";
    let (out, texts) = fix_all(&[("t.yaml", template)]);
    assert_eq!(texts, [template.replace("SERVCE_NAME", "SERVICE_NAME")]);
    assert!(out.starts_with("No findings."), "{out}");

    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {role: web}}\nspec:\n  containers:\n    - name: main\n      \
               image: app\n      env:\n        - {name: A, value: a}\n        - {name: B, value: b}\n";
    let preset = "apiVersion: settings.k8s.io/v1alpha1\nkind: PodPreset\nmetadata: {name: all}\nspec:\n  selector: {matchLabels: \
                  {role: web}}\n  env:\n    - {name: A, value: other}\n    - {name: C, value: c}\n    - {name: C, value: d}\n";
    let (out, texts) =
        fix_all(&[("pod.yaml", pod), ("preset.yaml", preset), ("podlens.yaml", "kubernetes: \"1.19\"\n")]);
    assert_eq!(texts[..2], [pod, preset]);
    assert!(out.contains("preset-conflict") && !out.contains("fixable"), "{out}");
}

#[test]
fn a_misspelled_suppression_keeps_its_reason() {
    let pod = |rule: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec:\n  containers:\n    - name: main\n      image: app\n      \
             args:\n        - $(NOPE) # podlens: {rule} set by the operator\n        # podlens: ignore[no-such] why\n        - x\n"
        )
    };
    for written in ["ignore[undefind-variable]", "disable[undefined-variable]", "ignore undefined-variable", "ignore"] {
        let place = directory(&[("pod.yaml", pod(written).as_bytes())]);
        let (code, out, err) = run(place.path(), &["lint", "--fix", "-o", "concise"], "");
        assert_eq!(text(place.path(), "pod.yaml"), pod("ignore[undefined-variable]"), "{written}");
        // The comment and the finding that it now suppresses.
        assert_eq!((code, err.as_str()), (1, "podlens: 2 findings fixed\n"), "{written}: {out}");
        assert!(out.contains("there is no rule `no-such`\nFound 1 warning in 1 file\n"), "{out}");
    }
}
