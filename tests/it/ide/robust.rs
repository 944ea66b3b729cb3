//! No editor feature panics, in any file and at any cursor position, and the spans in its answer are in the text.

use podlens::diagnostic::Edit;
use podlens::ide::Analysis;
use podlens::ide::code_actions;
use podlens::ide::definition;
use podlens::ide::diagnostics;
use podlens::ide::document_symbols;
use podlens::ide::environment_at;
use podlens::ide::highlights;
use podlens::ide::hover;
use podlens::ide::inlay_hints;
use podlens::ide::references;
use podlens::ide::semantic_tokens;
use podlens::ide::{completion, resolve_completion};
use podlens::ide::{prepare_rename, rename};
use podlens::text::Span;

use crate::fixture::{File, broken_manifests};
use crate::fixtures::manifests;
use crate::memory_project::MemoryProject;

/// The files of a directory of fixtures, or the broken manifests.
fn files(directory: &str) -> Vec<File> {
    let texts = if directory == "recovery" { broken_manifests() } else { manifests(directory).into_iter().collect() };
    texts.iter().map(|(path, text)| File::with_cursors(path, text)).collect()
}

/// The same files with the one at this index first.
fn around(all: &[File], at: usize) -> Vec<File> {
    let mut files = all.to_vec();
    files.swap(0, at);
    files
}

#[test]
fn features_work_at_every_position_of_every_fixture() {
    let stride = if std::env::var_os("PODLENS_SLOW").is_some() { 1 } else { 13 };
    for directory in ["shop", "shop-broken", "shop-legacy", "recovery"] {
        let all = files(directory);
        for at in 0..all.len() {
            let project = MemoryProject::new(directory, &around(&all, at));
            project.analysis(|it| {
                let found = diagnostics(it, &project.file);
                for offset in (0..=project.text().len()).step_by(stride) {
                    ask(it, &project, offset, &found);
                }
                whole(it, &project);
            });
        }
    }
}

fn ask(it: &Analysis<'_>, project: &MemoryProject, offset: usize, found: &[podlens::diagnostic::Diagnostic]) {
    let (file, text) = (&project.file, project.text());
    let fits = |span: Span| assert!(text.get(span.range()).is_some(), "{file}:{offset}: {span:?}");
    if let Some(hover) = hover(it, file, offset) {
        fits(hover.span);
        assert!(!hover.contents.plain().contains("not-a-real"), "{file}:{offset}: a secret");
    }
    if let Some(found) = completion(it, file, offset) {
        for item in &found.items {
            fits(item.replace);
            assert!(item.replace.touches(offset), "{file}:{offset}: {item:?}");
            assert!(!item.detail.as_deref().unwrap_or_default().contains("not-a-real"), "{file}:{offset}: a secret");
        }
        for item in [found.items.first(), found.items.last()].into_iter().flatten() {
            let details = resolve_completion(it, file, offset, &item.label).expect("what was offered is known");
            let own = Edit {
                location: podlens::diagnostic::Location { file: file.clone(), span: item.replace },
                text: item.text.clone(),
            };
            apart(project, details.additional_edits.into_iter().chain([own]).collect());
        }
    }
    if let Some(definition) = definition(it, file, offset) {
        fits(definition.origin);
        assert!(!definition.targets.is_empty());
    }
    highlights(it, file, offset).iter().for_each(|it| fits(it.span));
    references(it, file, offset, true).iter().for_each(|it| drop(project.place(it)));
    if let Ok(Some(what)) = prepare_rename(it, file, offset) {
        fits(what.span);
        if let Ok(edits) = rename(it, file, offset, "ANOTHER_NAME") {
            assert!(!edits.is_empty(), "{file}:{offset}: nothing is renamed");
            apart(project, edits);
        }
    }
    for action in code_actions(it, file, Span::new(offset, offset), found) {
        apart(project, action.edits);
    }
    environment_at(it, file, offset, &str::to_owned);
}

/// Asserts that edits are inside of their files and do not overlap.
fn apart(project: &MemoryProject, mut edits: Vec<Edit>) {
    edits.sort_by(|a, b| a.location.cmp(&b.location));
    for edit in &edits {
        let text = &project.files[&*edit.location.file];
        assert!(text.get(edit.location.span.range()).is_some(), "{edit:?}");
    }
    for pair in edits.windows(2) {
        let (a, b) = (&pair[0].location, &pair[1].location);
        assert!(a.file != b.file || a.span.end <= b.span.start, "{pair:?}");
    }
}

fn whole(it: &Analysis<'_>, project: &MemoryProject) {
    let (file, text) = (&project.file, project.text());
    let span = Span::new(0, text.len());
    let mut end = 0;
    for token in semantic_tokens(it, file, None) {
        assert!(token.span.start >= end && text.get(token.span.range()).is_some(), "{file}: {token:?}");
        end = token.span.end;
    }
    inlay_hints(it, file, span).iter().for_each(|it| assert!(text.is_char_boundary(it.offset)));
    let mut open = document_symbols(it, file);
    while let Some(symbol) = open.pop() {
        let within = symbol.span.start <= symbol.focus.start && symbol.focus.end <= symbol.span.end;
        assert!(within && !symbol.name.is_empty(), "{file}: {symbol:?}");
        open.extend(symbol.children);
    }
}

/// While a file is typed from its beginning, the name after each `$(` is offered if it has a value there.
#[test]
fn names_are_offered_while_a_file_is_typed() {
    let all = files("shop");
    let mut asked = 0;
    for at in 0..all.len() {
        let File { path: name, text, .. } = &all[at];
        // Incomplete JSON has few complete objects.
        for (start, _) in text.match_indices("$(").filter(|_| name.ends_with(".yaml") && name != "podlens.yaml") {
            let Some(length) = text[start..].find(')') else { continue };
            let wanted = &text[start + 2..start + length];
            let whole = MemoryProject::new(name, &around(&all, at));
            let is_bound = whole.analysis(|it| {
                let hover = hover(it, &whole.file, start + 2)?;
                Some(hover.contents.plain().starts_with(&format!("{wanted}=")))
            });
            if is_bound != Some(true) {
                continue;
            }
            for typed in 0..=wanted.len().min(3) {
                let mut files = around(&all, at);
                files[0] = File::with_cursors(name, &text[..start + 2 + typed]);
                let half = MemoryProject::new(name, &files);
                let found = half.analysis(|it| completion(it, &half.file, half.text().len()));
                let labels: Vec<String> = found.into_iter().flat_map(|it| it.items).map(|it| it.label).collect();
                // Variables that a controller adds, or that are declared below, are not known yet.
                let is_later = !text[..start].contains(&format!("name: {wanted}\n")) && labels.is_empty();
                assert!(labels.iter().any(|it| it == wanted) || is_later, "{name}:{start}: {wanted} in {labels:?}");
                asked += usize::from(!is_later);
            }
        }
    }
    assert!(asked > 40, "only {asked} completions were requested");
}
