//! `fixtures/ide`: the suite of each editor feature. The `text` block is the answer of the feature at the cursor, or for
//! the whole file.
//!
//! In `rename.md` the new name is in the heading after `→`, in `workspace_symbols.md` the heading is the query.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use libtest_mimic::Trial;
use podlens::diagnostic::Location;
use podlens::ide::{
    CompletionKind, DocumentSymbol, EditorCommand, PreviewKind, code_actions, code_lenses, completion, definition,
    diagnostics, document_links, document_symbols, environment_at, highlights, hover, inlay_hints, prepare_rename,
    preview, references, rename, resolve_code_lens, resolve_completion, semantic_tokens, workspace_symbols,
};
use podlens::text::Span;

use crate::command::project;
use crate::fixture::{self, Case};
use crate::memory_project::MemoryProject;
use crate::runner::Folder;

pub(crate) const FOLDER: Folder =
    Folder { name: "ide", results: &["text"], has_labels: false, has_cursors: true, check };

/// The answer of a feature, as text.
type Feature = fn(&MemoryProject) -> String;

/// The features, by the names of their suites.
const FEATURES: [(&str, Feature); 9] = [
    ("hover", hovers),
    ("completion", completions),
    ("definition", definitions),
    ("references", uses),
    ("rename", renames),
    ("code_actions", actions),
    ("decorations", decorations),
    ("views", views),
    ("workspace_symbols", names_in_the_workspace),
];

/// Every feature has a suite.
pub(crate) fn trials() -> Vec<Trial> {
    let exists = |feature: &str| match project().join(format!("fixtures/ide/{feature}.md")).exists() {
        true => Ok(()),
        false => Err(format!("fixtures/ide/{feature}.md is missing").into()),
    };
    FEATURES.map(|(name, _)| Trial::test(format!("ide::{name}: the feature has a suite"), move || exists(name))).into()
}

fn check(suite: &str, case: &Case) -> Result<Case, String> {
    let Some((_, answer)) = FEATURES.iter().find(|(name, _)| *name == suite) else {
        return Err(format!("there is no feature `{suite}`: add it to tests/suites/ide.rs"));
    };
    let files: Vec<fixture::File> = case.files().cloned().collect();
    let answer = answer(&MemoryProject::new(&case.title, &files)).replace('\r', "␍");
    let answer = if answer.is_empty() { "nothing\n".to_owned() } else { format!("{}\n", answer.trim_end()) };
    let mut actual = case.clone();
    actual.set_result("text", answer);
    Ok(actual)
}

fn hovers(project: &MemoryProject) -> String {
    let found = project.analysis(|it| hover(it, &project.file, project.offset()));
    let Some(hover) = found else { return String::new() };
    let uri = |location: &Location| Some(project.place(location).replace(' ', "#"));
    assert!(!hover.contents.plain().is_empty(), "{}: no plain text", project.title);
    format!("{}\n\n{}\n", project.here(hover.span), hover.contents.markdown(&uri))
}

/// The first 12 items, then the line after accepting the first item, with its other edits, and the same for the last
/// item.
fn completions(project: &MemoryProject) -> String {
    project.analysis(|it| {
        let offset = project.offset();
        let Some(found) = completion(it, &project.file, offset) else { return String::new() };
        let text = project.text();
        let mut answer = String::new();
        // The list of all rules is shortened, so that a new rule does not change the expected results.
        let are_rules = found.items[0].kind == CompletionKind::Value && found.items.len() > 12;
        for item in found.items.iter().take(if are_rules { 1 } else { 12 }) {
            assert!(item.replace.touches(offset), "{}: the cursor is in what is replaced", project.title);
            assert!(!text[item.replace.range()].contains('\n'), "{}: one line", project.title);
            let detail = item.detail.as_deref().unwrap_or_default();
            let _ = writeln!(answer, "{:?} {} · {detail}", item.kind, item.label);
        }
        if found.items.len() > 12 && !are_rules {
            let _ = writeln!(answer, "… {} in all", found.items.len());
        }
        let last = found.items.last().expect("an item");
        for item in [&found.items[0], last] {
            let mut after = text.to_owned();
            after.replace_range(item.replace.range(), &item.text);
            let details = resolve_completion(it, &project.file, offset, &item.label).expect("it is known");
            assert_eq!(item.has_edits, !details.additional_edits.is_empty(), "{}: {}", project.title, item.label);
            let start = after[..item.replace.start].rfind('\n').map_or(0, |end| end + 1);
            let _ = writeln!(answer, "\n{}: {}", item.label, after[start..].lines().next().unwrap_or_default());
            let _ = write!(answer, "{}", project.diff(&details.additional_edits));
            if are_rules || std::ptr::eq(last, &found.items[0]) {
                break;
            }
        }
        answer
    })
}

fn definitions(project: &MemoryProject) -> String {
    let found = project.analysis(|it| definition(it, &project.file, project.offset()));
    let Some(found) = found else { return String::new() };
    let mut answer = format!("{}\n", project.here(found.origin));
    for target in &found.targets {
        let inside = target.full.span.start <= target.focus.span.start && target.focus.span.end <= target.full.span.end;
        assert!(inside, "{}: the focus is inside", project.title);
        let _ = writeln!(answer, "→ {} in {}", project.place(&target.focus), project.place(&target.full));
    }
    answer
}

/// References; the highlights must be the references in this file.
fn uses(project: &MemoryProject) -> String {
    project.analysis(|it| {
        let all = references(it, &project.file, project.offset(), true);
        let uses = references(it, &project.file, project.offset(), false);
        let marks = highlights(it, &project.file, project.offset());
        let here: Vec<Span> = all.iter().filter(|it| it.file == project.file).map(|it| it.span).collect();
        assert_eq!(marks.iter().map(|it| it.span).collect::<Vec<_>>(), here, "{}", project.title);
        let word = |it| if uses.contains(it) { "uses" } else { "declares" };
        all.iter().fold(String::new(), |answer, it| answer + &format!("{} {}\n", word(it), project.place(it)))
    })
}

/// Renames to the name after `→` in the title.
fn renames(project: &MemoryProject) -> String {
    project.analysis(|it| {
        let new = project.title.rsplit("→").next().unwrap_or_default().trim().trim_matches('`');
        let prepared = prepare_rename(it, &project.file, project.offset());
        let changed = rename(it, &project.file, project.offset(), new);
        match (prepared, changed) {
            (Ok(Some(what)), Ok(edits)) => {
                assert_eq!(&project.text()[what.span.range()], what.name, "{}", project.title);
                format!("{}\n{}", project.here(what.span), project.diff(&edits))
            }
            (Ok(Some(_)), Err(refusal)) => format!("refused: {refusal}\n"),
            (Ok(None), Err(refusal)) => format!("nothing to rename: {refusal}\n"),
            (Err(refusal), again) => {
                assert_eq!(again, Err(refusal.clone()), "{}", project.title);
                format!("not to be renamed: {refusal}\n")
            }
            (Ok(None), Ok(edits)) => panic!("{}: {edits:?}", project.title),
        }
    })
}

fn actions(project: &MemoryProject) -> String {
    project.analysis(|it| {
        let found = diagnostics(it, &project.file);
        let range = Span::new(project.offset(), *project.cursors.last().expect("a cursor"));
        let mut answer = String::new();
        for action in code_actions(it, &project.file, range, &found) {
            let rules: Vec<&str> = action.diagnostics.iter().map(|it| found[*it].rule).collect();
            let preferred = if action.is_preferred { " (preferred)" } else { "" };
            let _ = writeln!(answer, "{:?} {}{preferred} {}", action.kind, action.title, rules.join(" "));
            let _ = writeln!(answer, "{}{}", command(project, action.command.as_ref()), project.diff(&action.edits));
        }
        answer
    })
}

fn command(project: &MemoryProject, command: Option<&EditorCommand>) -> String {
    match command {
        None => String::new(),
        Some(EditorCommand::ShowEnvironment(at)) => format!("environment at {}", project.place(at)),
        Some(EditorCommand::ShowPreview(at, kind)) => format!("{kind:?} at {}", project.place(at)),
        Some(EditorCommand::ShowLocations(at, all)) => format!("{} places from {}", all.len(), project.place(at)),
    }
}

/// The features that an editor shows for a whole file: hints, tokens, lenses, links and the outline.
fn decorations(project: &MemoryProject) -> String {
    project.analysis(|it| {
        let whole = Span::new(0, project.text().len());
        let mut answer = String::from("hints\n");
        for hint in inlay_hints(it, &project.file, whole) {
            let more = if hint.tooltip.is_some() { " (more)" } else { "" };
            let at = project.here(Span::new(hint.offset, hint.offset));
            let _ = writeln!(answer, "  {at} {}{more}", hint.label);
        }
        answer.push_str("tokens\n");
        let tokens = semantic_tokens(it, &project.file, None);
        for token in &tokens {
            let _ = writeln!(answer, "  {} {:?}", project.here(token.span), token.kind);
        }
        if let Some(middle) = tokens.get(tokens.len() / 2) {
            let range = Span::new(middle.span.start, whole.end);
            let rest = &tokens[tokens.len() / 2..];
            assert_eq!(semantic_tokens(it, &project.file, Some(range)), rest, "{}", project.title);
        }
        answer.push_str("lenses\n");
        for lens in code_lenses(it, &project.file) {
            let said = resolve_code_lens(it, &project.file, &lens).expect("it is still there");
            let _ = writeln!(answer, "  {} [{}]", project.here(lens.span), said.title);
        }
        answer.push_str("links\n");
        for link in document_links(it, &project.file) {
            let target = project.place(&link.target);
            let _ = writeln!(answer, "  {} → {target} ({})", project.here(link.span), link.tooltip);
        }
        answer.push_str("symbols\n");
        outline(project, &document_symbols(it, &project.file), 1, &mut answer);
        answer
    })
}

fn outline(project: &MemoryProject, symbols: &[DocumentSymbol], depth: usize, answer: &mut String) {
    for symbol in symbols {
        let detail = symbol.detail.as_deref().unwrap_or_default();
        let indent = "  ".repeat(depth);
        let focus = project.here(symbol.focus);
        let _ = writeln!(answer, "{indent}{:?} {} · {detail} at {focus}", symbol.kind, symbol.name);
        outline(project, &symbol.children, depth + 1, answer);
    }
}

/// The environment of the container at the cursor, and the object as the cluster would run it.
fn views(project: &MemoryProject) -> String {
    project.analysis(|it| {
        let view = environment_at(it, &project.file, project.offset(), &str::to_owned);
        let view = view.map(|it| serde_json::to_string_pretty(&it).expect("JSON")).unwrap_or_default();
        let offset = Some(project.offset());
        let text = preview(it, &project.file, offset, PreviewKind::Render, &BTreeMap::new());
        let values = [("NAME".to_owned(), "given".to_owned())].into();
        let processed = preview(it, &project.file, offset, PreviewKind::Process, &values);
        let processed = processed.map(|it| serde_json::to_string_pretty(&it).expect("JSON")).unwrap_or_default();
        format!("{view}\n{}{processed}", text.map(|it| it.text).unwrap_or_default())
    })
}

/// Finds what the title says.
fn names_in_the_workspace(project: &MemoryProject) -> String {
    let found = project.analysis(|it| workspace_symbols(it, &project.title, 8));
    found.iter().fold(String::new(), |answer, it| {
        let holder = it.container.as_deref().unwrap_or("nothing");
        answer + &format!("{:?} {} in {holder} at {}\n", it.kind, it.name, project.place(&it.location))
    })
}
