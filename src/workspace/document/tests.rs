//! A document that was edited equals one that is read from its text.

use std::fmt::Write as _;

use super::*;
use crate::k8s::{Container, Object, ObjectSpan, Text};
use crate::syntax::{Random, edit_count};
use crate::workspace::test_projects;

/// The contents of a file, with every span converted to the file.
fn shown(file: &File) -> String {
    let mut out = format!(
        "{:?}\n{:?}\n{:?}\n{} {} {:?}\n{:?}\n",
        file.errors,
        file.duplicate_keys,
        file.lines,
        file.document_count,
        file.has_suppressions,
        file.kind,
        file.patches
    );
    for object in &file.objects {
        let model = &object.model;
        let _ = writeln!(
            out,
            "{} {}",
            object.offset,
            placed(object, &format!("{:?}", (&model.span, &model.kind, &model.data)))
        );
        let _ = writeln!(out, "{}", placed(object, &format!("{:?}", (&model.name, &model.labels, &model.annotations))));
        for pod in &model.pods {
            let _ = writeln!(
                out,
                " {} {}",
                pod.path,
                placed(object, &format!("{:?}", (&pod.span, &pod.volumes, &pod.labels)))
            );
            for container in &pod.containers {
                let _ = writeln!(out, "  {}", whole(object, container));
            }
        }
    }
    if let Some(in_chart) = &file.in_chart {
        out += &shown(in_chart);
    }
    out
}

/// The texts of a container, with marks converted to the file.
fn whole(object: &Object, container: &Container) -> String {
    let Container { path, span, role, name, image, env, env_span, env_from, command, args, probes, mounts, .. } =
        container;
    let _: &Option<Text> = name;
    let first = format!("{:?}", (path, span, role, name, image, env, env_span, env_from));
    let second = format!("{:?}", (command, args, probes, mounts, &container.limits, &container.unexpanded));
    placed(object, &(first + &second))
}

/// Replaces each `Span { start: a, end: b }` by the span in the file.
fn placed(object: &Object, debug: &str) -> String {
    let mut out = String::new();
    let mut rest = debug;
    while let Some(at) = rest.find("Span { start: ") {
        let (before, span) = (&rest[..at], &rest[at + "Span { start: ".len()..]);
        let (start, span) = span.split_once(", end: ").expect("a span");
        let (end, after) = span.split_once(" }").expect("a span");
        let span = Span::new(start.parse().expect("a number"), end.parse().expect("a number"));
        let _ = write!(out, "{before}{:?}", object.file_span(ObjectSpan::relative(span)).range());
        rest = after;
    }
    out + rest
}

#[test]
fn an_edited_document_equals_a_fresh_one() {
    let mut random = Random::new(7);
    let rounds = edit_count(1, 20);
    for (path, text) in test_projects::projects().into_iter().flatten() {
        for round in 0..rounds {
            let mut document = Document::new(&path, &text, 0);
            for step in 0..25 {
                for _ in 0..=random.below(2) {
                    let (span, typed) = test_projects::edit(&mut random, document.buffer());
                    document.edit(span, &typed);
                }
                let text = document.buffer().to_string();
                let (is, should) = (document.file(), File::read_whole(&path, &text));
                assert_eq!(shown(&is), shown(&should), "{path}, round {round}, step {step}:\n{text}");
                assert_eq!(&*document.parsed_text().text, text);
            }
        }
    }
}

#[test]
fn unchanged_objects_are_shared() {
    let known = ["app/list.yaml", "app/documents.yaml"];
    let texts: Vec<_> =
        test_projects::projects().into_iter().flatten().filter(|(path, _)| known.contains(&&**path)).collect();
    assert_eq!(texts.len(), known.len());
    for (path, text) in texts {
        let mut document = Document::new(&path, &text, 0);
        let before = document.file();
        let at = text.rfind("image: ").expect("a container") + "image: ".len();
        document.edit(Span::new(at, at), "long-");
        let after = document.file();
        let is_shared = |(old, new): (&Object, &Object)| Arc::ptr_eq(&old.model, &new.model);
        let shared = before.objects.iter().zip(&after.objects).filter(|it| is_shared(*it)).count();
        assert!(shared > 0 && shared < before.objects.len(), "{path}: {shared} of {}", before.objects.len());
    }
}

#[test]
fn unchanged_containers_of_a_large_object_are_shared() {
    let (path, text) = test_projects::projects().remove(0).remove(1);
    assert_eq!(path, "app/giant.yaml");
    let mut document = Document::new(&path, &text, 0);
    let before = document.file();
    let at = text.find("web:3").expect("the fourth container");
    document.edit(Span::new(at, at), "long-");
    let after = document.file();
    let (old, new) = (&before.objects[0].model.pods[0].containers, &after.objects[0].model.pods[0].containers);
    let shared: Vec<bool> = old.iter().zip(new).map(|(a, b)| Arc::ptr_eq(a, b)).collect();
    assert_eq!(shared, [true, true, true, false, true, true, true, true]);
    let text = document.buffer().to_string();
    for (number, container) in new.iter().enumerate() {
        let name = container.name.as_ref().expect("a name");
        assert_eq!(&text[after.objects[0].file_span(name.span).range()], format!("c{number}"));
    }
    assert_eq!(
        before.objects[0].model.surrounding_subtrees().map(<[_]>::len),
        after.objects[0].model.surrounding_subtrees().map(<[_]>::len)
    );
    assert!(
        before.objects[0].model.surrounding_subtrees().is_some()
            && before.objects[0].model.surrounding_subtrees() == after.objects[0].model.surrounding_subtrees()
    );
}

#[test]
fn edits_since_a_revision_are_known() {
    let mut document = Document::new("a.yaml", "abc", 0);
    let first = document.parsed_text().revision();
    document.edit(Span::new(1, 2), "xyz");
    let second = document.parsed_text().revision();
    document.edit(Span::new(0, 0), "-");
    let source = document.parsed_text();
    let lengths =
        |first: &TextRevision| source.changes_since(first).map(|it| it.iter().map(|it| it.new_len).collect::<Vec<_>>());
    assert_eq!(lengths(&first), Some(vec![3, 1]));
    assert_eq!(lengths(&second), Some(vec![1]));
    document.replace("other");
    assert!(document.parsed_text().changes_since(&second).is_none(), "another text has another history");
    for _ in 0..2 * HISTORY_LENGTH {
        document.edit(Span::new(0, 0), "-");
    }
    assert!(document.parsed_text().changes_since(&document.parsed_text().revision()).is_some_and(<[_]>::is_empty));
}
