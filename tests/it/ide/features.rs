//! How the answer of each feature is written in its suite.

use std::fmt::Write as _;

use podlens::diagnostic::Location;
use podlens::ide::code_actions;
use podlens::ide::definition;
use podlens::ide::diagnostics;
use podlens::ide::document_links;
use podlens::ide::environment_at;
use podlens::ide::highlights;
use podlens::ide::hover;
use podlens::ide::inlay_hints;
use podlens::ide::references;
use podlens::ide::semantic_tokens;
use podlens::ide::{CompletionKind, completion, resolve_completion};
use podlens::ide::{DocumentSymbol, document_symbols, workspace_symbols};
use podlens::ide::{EditorCommand, code_lenses, resolve_code_lens};
use podlens::ide::{PreviewKind, preview};
use podlens::ide::{prepare_rename, rename};
use podlens::text::Span;

use super::{Fixture, check};

#[test]
fn hovers() {
    check("hover", |fixture| {
        let found = fixture.analysis(|it| hover(it, &fixture.file, fixture.offset()));
        let Some(hover) = found else { return String::new() };
        let uri = |location: &Location| Some(fixture.place(location).replace(' ', "#"));
        assert!(!hover.contents.plain().is_empty(), "{}: no plain text", fixture.title);
        format!("{}\n\n{}\n", fixture.here(hover.span), hover.contents.markdown(&uri))
    });
}

/// Each item with what it replaces and writes; the line after the best one; its documentation and edits.
#[test]
fn completions() {
    check("completion", |fixture| {
        fixture.analysis(|it| {
            let offset = fixture.offset();
            let Some(found) = completion(it, &fixture.file, offset) else { return String::new() };
            let text = fixture.text();
            let mut answer = String::new();
            // There is a rule more every now and then.
            let are_rules = found.items[0].kind == CompletionKind::Value && found.items.len() > 12;
            for item in found.items.iter().take(if are_rules { 1 } else { 12 }) {
                assert!(item.replace.touches(offset), "{}: the cursor is in what is replaced", fixture.title);
                assert!(!text[item.replace.range()].contains('\n'), "{}: one line", fixture.title);
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
                let details = resolve_completion(it, &fixture.file, offset, &item.label).expect("it is known");
                assert_eq!(item.has_edits, !details.additional_edits.is_empty(), "{}: {}", fixture.title, item.label);
                let start = after[..item.replace.start].rfind('\n').map_or(0, |end| end + 1);
                let _ = writeln!(answer, "\n{}: {}", item.label, after[start..].lines().next().unwrap_or_default());
                let _ = write!(answer, "{}", fixture.diff(&details.additional_edits));
                if are_rules || std::ptr::eq(last, &found.items[0]) {
                    break;
                }
            }
            answer
        })
    });
}

#[test]
fn definitions() {
    check("definition", |fixture| {
        let found = fixture.analysis(|it| definition(it, &fixture.file, fixture.offset()));
        let Some(found) = found else { return String::new() };
        let mut answer = format!("{}\n", fixture.here(found.origin));
        for target in &found.targets {
            let inside =
                target.full.span.start <= target.focus.span.start && target.focus.span.end <= target.full.span.end;
            assert!(inside, "{}: the focus is inside", fixture.title);
            let _ = writeln!(answer, "→ {} in {}", fixture.place(&target.focus), fixture.place(&target.full));
        }
        answer
    });
}

/// References, and the same in this file as highlights.
#[test]
fn uses() {
    check("references", |fixture| {
        fixture.analysis(|it| {
            let all = references(it, &fixture.file, fixture.offset(), true);
            let uses = references(it, &fixture.file, fixture.offset(), false);
            let marks = highlights(it, &fixture.file, fixture.offset());
            let here: Vec<Span> = all.iter().filter(|it| it.file == fixture.file).map(|it| it.span).collect();
            assert_eq!(marks.iter().map(|it| it.span).collect::<Vec<_>>(), here, "{}", fixture.title);
            let word = |it| if uses.contains(it) { "uses" } else { "declares" };
            all.iter().fold(String::new(), |answer, it| answer + &format!("{} {}\n", word(it), fixture.place(it)))
        })
    });
}

/// Renames to what the title says behind `→`.
#[test]
fn renames() {
    check("rename", |fixture| {
        fixture.analysis(|it| {
            let new = fixture.title.rsplit("→").next().unwrap_or_default().trim().trim_matches('`');
            let prepared = prepare_rename(it, &fixture.file, fixture.offset());
            let changed = rename(it, &fixture.file, fixture.offset(), new);
            match (prepared, changed) {
                (Ok(Some(what)), Ok(edits)) => {
                    assert_eq!(&fixture.text()[what.span.range()], what.name, "{}", fixture.title);
                    format!("{}\n{}", fixture.here(what.span), fixture.diff(&edits))
                }
                (Ok(Some(_)), Err(refusal)) => format!("refused: {refusal}\n"),
                (Ok(None), Err(refusal)) => format!("nothing to rename: {refusal}\n"),
                (Err(refusal), again) => {
                    assert_eq!(again, Err(refusal.clone()), "{}", fixture.title);
                    format!("not to be renamed: {refusal}\n")
                }
                (Ok(None), Ok(edits)) => panic!("{}: {edits:?}", fixture.title),
            }
        })
    });
}

#[test]
fn actions() {
    check("code_actions", |fixture| {
        fixture.analysis(|it| {
            let found = diagnostics(it, &fixture.file);
            let range = Span::new(fixture.offset(), *fixture.cursors.last().expect("a cursor"));
            let mut answer = String::new();
            for action in code_actions(it, &fixture.file, range, &found) {
                let rules: Vec<&str> = action.diagnostics.iter().map(|it| found[*it].rule).collect();
                let preferred = if action.is_preferred { " (preferred)" } else { "" };
                let _ = writeln!(answer, "{:?} {}{preferred} {}", action.kind, action.title, rules.join(" "));
                let _ =
                    writeln!(answer, "{}{}", command(fixture, action.command.as_ref()), fixture.diff(&action.edits));
            }
            answer
        })
    });
}

fn command(fixture: &Fixture, command: Option<&EditorCommand>) -> String {
    match command {
        None => String::new(),
        Some(EditorCommand::ShowEnvironment(at)) => format!("environment at {}", fixture.place(at)),
        Some(EditorCommand::ShowPreview(at, kind)) => format!("{kind:?} at {}", fixture.place(at)),
        Some(EditorCommand::ShowLocations(at, all)) => format!("{} places from {}", all.len(), fixture.place(at)),
    }
}

/// What an editor draws over a whole file: hints, tokens, lenses, links and the outline.
#[test]
fn decorations() {
    check("decorations", |fixture| {
        fixture.analysis(|it| {
            let whole = Span::new(0, fixture.text().len());
            let mut answer = String::from("hints\n");
            for hint in inlay_hints(it, &fixture.file, whole) {
                let more = if hint.tooltip.is_some() { " (more)" } else { "" };
                let at = fixture.here(Span::new(hint.offset, hint.offset));
                let _ = writeln!(answer, "  {at} {}{more}", hint.label);
            }
            answer.push_str("tokens\n");
            let tokens = semantic_tokens(it, &fixture.file, None);
            for token in &tokens {
                let _ = writeln!(answer, "  {} {:?}", fixture.here(token.span), token.kind);
            }
            if let Some(middle) = tokens.get(tokens.len() / 2) {
                let range = Span::new(middle.span.start, whole.end);
                let behind = &tokens[tokens.len() / 2..];
                assert_eq!(semantic_tokens(it, &fixture.file, Some(range)), behind, "{}", fixture.title);
            }
            answer.push_str("lenses\n");
            for lens in code_lenses(it, &fixture.file) {
                let said = resolve_code_lens(it, &fixture.file, &lens).expect("it is still there");
                let _ = writeln!(answer, "  {} [{}]", fixture.here(lens.span), said.title);
            }
            answer.push_str("links\n");
            for link in document_links(it, &fixture.file) {
                let target = fixture.place(&link.target);
                let _ = writeln!(answer, "  {} → {target} ({})", fixture.here(link.span), link.tooltip);
            }
            answer.push_str("symbols\n");
            outline(fixture, &document_symbols(it, &fixture.file), 1, &mut answer);
            answer
        })
    });
}

fn outline(fixture: &Fixture, symbols: &[DocumentSymbol], depth: usize, answer: &mut String) {
    for symbol in symbols {
        let detail = symbol.detail.as_deref().unwrap_or_default();
        let indent = "  ".repeat(depth);
        let focus = fixture.here(symbol.focus);
        let _ = writeln!(answer, "{indent}{:?} {} · {detail} at {focus}", symbol.kind, symbol.name);
        outline(fixture, &symbol.children, depth + 1, answer);
    }
}

/// The environment of the container at the cursor, and the object as the cluster would run it.
#[test]
fn views() {
    check("views", |fixture| {
        fixture.analysis(|it| {
            let view = environment_at(it, &fixture.file, fixture.offset(), &str::to_owned);
            let view = view.map(|it| serde_json::to_string_pretty(&it).expect("JSON")).unwrap_or_default();
            let offset = Some(fixture.offset());
            let text = preview(it, &fixture.file, offset, PreviewKind::Render, &std::collections::BTreeMap::new());
            let values = [("NAME".to_owned(), "given".to_owned())].into();
            let processed = preview(it, &fixture.file, offset, PreviewKind::Process, &values);
            let processed = processed.map(|it| serde_json::to_string_pretty(&it).expect("JSON")).unwrap_or_default();
            format!("{view}\n{}{processed}", text.map(|it| it.text).unwrap_or_default())
        })
    });
}

/// Finds what the title says.
#[test]
fn names_in_the_workspace() {
    check("workspace_symbols", |fixture| {
        let found = fixture.analysis(|it| workspace_symbols(it, &fixture.title, 8));
        found.iter().fold(String::new(), |answer, it| {
            let holder = it.container.as_deref().unwrap_or("nothing");
            answer + &format!("{:?} {} in {holder} at {}\n", it.kind, it.name, fixture.place(&it.location))
        })
    });
}
