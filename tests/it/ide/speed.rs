//! The time of editor features in a large document of a large workspace.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use podlens::ide::completion;
use podlens::ide::definition;
use podlens::ide::highlights;
use podlens::ide::hover;

use crate::fixture::File;
use crate::memory_project::MemoryProject;

/// A file of about a megabyte with many objects, as documents or as one List.
fn large(as_list: bool) -> String {
    let mut text = String::new();
    if as_list {
        text.push_str("apiVersion: v1\nkind: List\nitems:\n");
    }
    for at in 0..2_000 {
        let (first, indent) = if as_list { ("  - ", "    ") } else { ("---\n", "") };
        let body = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: pod-{at}}}\nspec:\n  containers:\n    - name: main\n      \
             image: main\n      envFrom: [{{configMapRef: {{name: settings-{at}}}}}]\n      env:\n        - name: HOST\n          \
             value: host-{at}\n        - name: URL\n          value: http://$(HOST):$(PORT)/{at}\n        - name: LAST\n          \
             value: $(URL)-$(HOST)\n      args: [--url=$(URL), --last=$(LAST)]\n"
        );
        for (line, row) in body.lines().enumerate() {
            let _ = writeln!(text, "{}{row}", if line == 0 { first } else { indent });
        }
    }
    text
}

fn workspace(files: usize, as_list: bool) -> MemoryProject {
    let mut all = vec![File::with_cursors("web.yaml", &large(as_list))];
    for at in 0..files {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings-{at}}}\ndata: {{PORT: \"{at}\"}}\n---\n\
             apiVersion: v1\nkind: Service\nmetadata: {{name: service-{at}}}\nspec: {{ports: [{{port: 80}}]}}\n"
        );
        all.push(File::with_cursors(&format!("d{}/f{at}.yaml", at % 50), &text));
    }
    MemoryProject::new("large", &all)
}

/// The longest time of some requests, without the first one, which fills the caches.
fn slowest(project: &MemoryProject, mut answer: impl FnMut(&podlens::ide::Analysis<'_>, usize)) -> Duration {
    let places: Vec<usize> = project.text().match_indices("$(HOST)").map(|(at, _)| at + 4).step_by(97).collect();
    let mut slowest = Duration::ZERO;
    for (at, offset) in places.into_iter().enumerate() {
        // Like the server: a new analysis for each request.
        let started = Instant::now();
        project.analysis(|it| answer(it, offset));
        if at > 0 {
            slowest = slowest.max(started.elapsed());
        }
    }
    slowest
}

#[test]
fn answers_are_quick() {
    if std::env::var_os("PODLENS_SLOW").is_none() {
        return;
    }
    let mut report = String::new();
    for as_list in [false, true] {
        for files in [10, 5_000] {
            let project = workspace(files, as_list);
            let file = project.file.clone();
            let mut check = |what: &str, took: Duration| {
                let _ = writeln!(report, "list: {as_list}, {files} files, {what}: {took:?}");
                // The budget is five milliseconds; this is not a release build, and the machine may be busy.
                assert!(took < Duration::from_millis(60), "{report}");
            };
            check("hover", slowest(&project, |it, offset| assert!(hover(it, &file, offset).is_some())));
            check("completion", slowest(&project, |it, offset| assert!(completion(it, &file, offset).is_some())));
            check("definition", slowest(&project, |it, offset| assert!(definition(it, &file, offset).is_some())));
            check("highlight", slowest(&project, |it, offset| assert!(!highlights(it, &file, offset).is_empty())));
        }
    }
}
