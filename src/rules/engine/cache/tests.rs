//! Cached findings equal those of a new check, after any edit.

use std::collections::BTreeMap;

use super::*;
use crate::rules::{SettingsLevels, check};
use crate::syntax::{Random, edit_count};
use crate::workspace::{Document, ParsedText, Workspace};
use crate::workspace::{TestProject, random_edit, test_projects};

/// The texts of the files, for a new check.
struct Texts<'t>(&'t Snapshot, &'t BTreeMap<Arc<str>, String>);

impl TextProvider for Texts<'_> {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        Some(Arc::new(ParsedText::new(self.0.file(path)?, self.1.get(path)?.as_str().into())))
    }
}

/// Documents that an editor has open.
struct Open<'d>(&'d Snapshot, &'d BTreeMap<Arc<str>, (Document, FindingsCache)>);

impl TextProvider for Open<'_> {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        Some(self.1.get(path)?.0.parsed_text_of(self.0.file(path)?))
    }
}

/// An editor with every file of a project open.
struct Editor {
    workspace: Workspace,
    documents: BTreeMap<Arc<str>, (Document, FindingsCache)>,
    shown: BTreeMap<Arc<str>, Vec<Diagnostic>>,
}

impl Editor {
    fn new(project: &TestProject) -> Self {
        let mut workspace = Workspace::default();
        let mut documents = BTreeMap::new();
        for (path, text) in project {
            let document = Document::new(path, text, 0);
            workspace.set_editor(path, document.file());
            documents.insert(Arc::from(path.as_str()), (document, FindingsCache::default()));
        }
        let mut editor = Self { workspace, documents, shown: BTreeMap::new() };
        editor.refresh();
        editor
    }

    fn edit(&mut self, path: &str, edit: impl FnOnce(&mut Document)) -> Vec<Arc<str>> {
        let (document, _) = self.documents.get_mut(path).expect("an open document");
        edit(document);
        let file = document.file();
        self.workspace.set_editor(path, file);
        self.refresh()
    }

    /// Checks the files whose findings may have changed, and returns their names.
    fn refresh(&mut self) -> Vec<Arc<str>> {
        let snapshot = self.workspace.snapshot();
        let is_stale = |(_, (_, kept)): &(&Arc<str>, &(Document, FindingsCache))| !kept.is_current(&snapshot);
        let stale: Vec<Arc<str>> = self.documents.iter().filter(is_stale).map(|(path, _)| Arc::clone(path)).collect();
        for path in &stale {
            let (_, kept) = self.documents.get_mut(path).expect("an open document");
            let mut kept = std::mem::take(kept);
            let sources = Open(&snapshot, &self.documents);
            let found = kept.check(&snapshot, None, path, &sources, &SettingsLevels(&snapshot));
            self.shown.insert(Arc::clone(path), found.iter().map(|it| it.diagnostic.clone()).collect());
            self.documents.get_mut(path).expect("an open document").1 = kept;
        }
        stale
    }

    fn assert_fresh(&self, what: &str) {
        let texts: BTreeMap<Arc<str>, String> = self
            .documents
            .iter()
            .map(|(path, (document, _))| (Arc::clone(path), document.buffer().to_string()))
            .collect();
        let mut workspace = Workspace::default();
        for (path, text) in &texts {
            workspace.set_disk(path, File::read_whole(path, text));
        }
        let snapshot = workspace.snapshot();
        let resolver = Resolver::new(&snapshot, None);
        for path in texts.keys() {
            let sources = Texts(&snapshot, &texts);
            let fresh = check(&snapshot, &resolver, path, &sources, &SettingsLevels(&snapshot));
            let shown = &self.shown[path];
            for (is, should) in shown.iter().zip(&fresh) {
                assert_eq!(is, should, "{what}: {path}\n{}", texts[path]);
            }
            assert_eq!(shown.len(), fresh.len(), "{what}: {path}\n{shown:#?}\n{fresh:#?}\n{}", texts[path]);
        }
    }
}

#[test]
fn cached_findings_equal_those_of_a_new_check() {
    let mut findings = 0;
    for (number, project) in test_projects().iter().enumerate() {
        for round in 0..edit_count(1, 40) {
            let mut random = Random::new((number * 1_000 + round + 1) as u64);
            let mut editor = Editor::new(project);
            editor.assert_fresh("before any edit");
            for step in 0..8 {
                let (path, _) = &project[random.below(project.len())];
                for _ in 0..=random.below(2) {
                    editor.edit(path, |document| {
                        for _ in 0..=random.below(2) {
                            let (span, typed) = random_edit(&mut random, document.buffer());
                            document.edit(span, &typed);
                        }
                    });
                }
                editor.assert_fresh(&format!("project {number}, round {round}, step {step}, edit of {path}"));
            }
            findings += editor.shown.values().map(Vec::len).sum::<usize>();
        }
    }
    assert!(findings > 100, "there was little to keep: {findings}");
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - name: c\n      image: c\n      \
                   args: [$(NOPE)]\n      env:\n        - name: A\n          valueFrom: {configMapKeyRef: {name: app, key: B}}\n";
const OTHER: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec:\n  containers:\n    - {name: c, image: c, args: [$(NOPE)]}\n";
const APP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata:\n  A: a\n";

/// Files that depend on an edit are checked again, and no others.
#[test]
fn exactly_the_files_that_depend_on_a_change_are_checked_again() {
    let files = [("app.yaml", APP), ("other.yaml", OTHER), ("pod.yaml", POD)];
    let project: TestProject = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
    let mut editor = Editor::new(&project);
    let rules = |editor: &Editor, path: &str| editor.shown[path].iter().map(|it| it.rule).collect::<Vec<_>>().join(" ");
    assert_eq!(rules(&editor, "pod.yaml"), "undefined-variable missing-key");
    let at = |text: &str, what: &str| text.find(what).expect("in the text");
    // No other file depends on an edit in a pod.
    let place = at(OTHER, "NOPE");
    assert_eq!(
        editor.edit("other.yaml", |it| {
            it.edit(Span::new(place, place), "X");
        }),
        [Arc::from("other.yaml")]
    );
    // One of the pods looks up the changed key.
    let place = at(APP, "A: a");
    let both = [Arc::from("app.yaml"), Arc::from("pod.yaml")];
    assert_eq!(
        editor.edit("app.yaml", |it| {
            it.edit(Span::new(place, place + 1), "B");
        }),
        both
    );
    assert_eq!(rules(&editor, "pod.yaml"), "undefined-variable");
    // The findings of the pod no longer contain a location in the config map, so moving it does not affect them.
    assert_eq!(
        editor.edit("app.yaml", |it| {
            it.edit(Span::new(0, 0), "# moved\n");
        }),
        [Arc::from("app.yaml")]
    );
    assert_eq!(
        editor.edit("app.yaml", |it| {
            it.edit(Span::new(place + 8, place + 9), "A");
        }),
        both
    );
    // A finding with a location in the config map is updated when the config map moves.
    assert_eq!(
        editor.edit("app.yaml", |it| {
            it.edit(Span::new(0, 0), "#\n");
        }),
        both
    );
    editor.assert_fresh("in the end");
}

/// After an edit in one object of a template with many objects, only this object is read and checked again.
#[test]
fn an_edit_in_one_object_of_a_template_leaves_the_others_alone() {
    const OBJECTS: usize = 40;
    let mut text = String::from("apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n");
    for number in 0..OBJECTS {
        text += &format!(
            "- apiVersion: v1\n  kind: Pod\n  metadata: {{name: 'p{number}-${{NAME}}'}}\n  spec:\n    containers:\n    - name: c\n      image: c\n      args: [$(NOPE{number})]\n"
        );
    }
    text += "parameters:\n- {name: NAME, value: a}\n";
    let path: Arc<str> = "t.yaml".into();
    let mut editor = Editor::new(&[("t.yaml".to_owned(), text.clone())].into());
    // A reused list has the same address, a new one has not.
    type Seen = (Arc<Model>, Vec<*const ViewedFinding>);
    let state = |editor: &Editor| -> Vec<Seen> {
        let last = editor.documents[&path].1.last.as_ref().expect("it was checked");
        let found = |it: &CachedObject| it.containers.iter().map(|(_, part)| part.found.as_ptr()).collect();
        last.objects.iter().map(|it| (Arc::clone(&it.model), found(it))).collect()
    };
    let before = state(&editor);
    assert_eq!(before.len(), 1 + OBJECTS);
    assert_eq!(editor.shown[&path].len(), OBJECTS);
    let at = text.find("$(NOPE17)").expect("in the text");
    editor.edit("t.yaml", |it| {
        it.edit(Span::new(at + 2, at + 2), "X");
    });
    let after = state(&editor);
    let is_other = |old: &Seen, new: &Seen| !Arc::ptr_eq(&old.0, &new.0) || old.1 != new.1;
    let touched: Vec<usize> = (0..before.len()).filter(|at| is_other(&before[*at], &after[*at])).collect();
    // The template contains the edited object, so it has changed too.
    assert_eq!(touched, [0, 18]);
    editor.assert_fresh("after an edit in one object");
    // All objects depend on a parameter.
    let at = text.find("value: a").expect("in the text") + 1;
    editor.edit("t.yaml", |it| {
        it.edit(Span::new(at + 7, at + 8), "b");
    });
    editor.assert_fresh("after an edit of a parameter");
}
