//! Findings as rules report them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::build::{self, View};
use crate::diagnostic::{Diagnostic, Edit, Fix, Label, Location, Severity};
use crate::k8s::Derived;
use crate::rules::engine::rule::Rule;
use crate::rules::engine::{FileContext, ObjectContext};
use crate::syntax::{Tree, has_placeholder, show_placeholders};
use crate::workspace::is_for_show;

/// Collects the findings of a rule.
pub struct Findings<'f> {
    pub(in crate::rules) rule: &'static Rule,
    pub(in crate::rules) severity: Severity,
    /// Whether the rule reports only evident findings: it is off by default.
    pub(in crate::rules) only_evident: bool,
    pub(in crate::rules) object: Option<&'f ObjectContext<'f>>,
    pub(in crate::rules) found: &'f mut Vec<RawFinding>,
}

impl Findings<'_> {
    /// Reports a finding.
    pub fn push(&mut self, finding: Finding) {
        self.found.push(RawFinding {
            rule: self.rule,
            severity: finding.highest.map_or(self.severity, |it| it.min(self.severity)),
            object: self.object.map(|it| build::title(&it.object.source.model)),
            built_object: self.object.filter(|it| it.object.view != View::Plain).map(|it| it.object.title()),
            view: self.object.and_then(|it| it.object.view_name()),
            finding,
        });
    }
}

/// A finding as a rule reports it. The engine adds rule, object and path.
#[derive(Clone, Debug)]
pub struct Finding {
    location: Location,
    name: String,
    message: String,
    highest: Option<Severity>,
    help: Option<String>,
    related: Vec<Label>,
    fixes: Vec<Fix>,
    choices: Vec<Fix>,
    unnecessary: bool,
}

impl Finding {
    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What it is about.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A finding at a location. `name` is the name of the item it is about, `message` says what is wrong.
    ///
    /// The name identifies the finding from run to run, together with its rule and path: that of the variable, parameter,
    /// key, object, service, volume or field, or a fixed word where there is none. Two findings at one location have
    /// different names. It is never a value, which may be secret, nor a part of the message, whose wording may change.
    pub fn new(location: Location, name: impl AsRef<str>, message: impl Into<String>) -> Self {
        Self {
            location,
            name: name.as_ref().to_owned(),
            message: message.into(),
            highest: None,
            help: None,
            related: Vec::new(),
            fixes: Vec::new(),
            choices: Vec::new(),
            unnecessary: false,
        }
    }

    /// Sets the advice what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the highest severity of this finding, if that of the rule is higher: a hint where the author may have meant it.
    pub fn at_most(mut self, severity: Severity) -> Self {
        self.highest = Some(severity);
        self
    }

    /// Adds a related location.
    pub fn related(mut self, location: Location, message: impl Into<String>) -> Self {
        self.related.push(Label { location, message: message.into() });
        self
    }

    /// Adds a fix, if there is one.
    pub fn fix(mut self, fix: Option<Fix>) -> Self {
        self.fixes.extend(fix);
        self
    }

    /// Adds a change that only a person can choose, if there is one. Commands do not apply it.
    pub fn choice(mut self, fix: Option<Fix>) -> Self {
        self.choices.extend(fix.map(|it| Fix { safe: false, ..it }));
        self
    }

    /// Joins the findings in a preset about workloads that it applies to. Those at one location with one name become one
    /// finding, which names the workloads.
    pub(in crate::rules) fn for_workloads(found: Vec<(String, Finding)>) -> Vec<Finding> {
        let mut joined: BTreeMap<(Location, String), (Finding, Vec<String>)> = BTreeMap::new();
        for (title, finding) in found {
            let key = (finding.location.clone(), finding.name.clone());
            let (_, titles) = joined.entry(key).or_insert_with(|| (finding, Vec::new()));
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        let named = joined.into_values().map(|(finding, titles)| {
            let more = if titles.len() > 1 { format!(" and {} more", titles.len() - 1) } else { String::new() };
            let message = format!("in {}{more}, {}", titles[0], finding.message);
            Finding { message, ..finding }
        });
        named.collect()
    }

    /// Marks the text as without effect, so that editors show it faded.
    pub fn unnecessary(mut self) -> Self {
        self.unnecessary = true;
        self
    }
}

/// A replacement of the text at a location.
pub(in crate::rules) fn edit(location: Location, text: impl Into<String>) -> Edit {
    Edit { location, text: text.into() }
}

/// A finding with its rule and its object.
#[derive(Clone, Debug)]
pub(in crate::rules) struct RawFinding {
    pub(in crate::rules) rule: &'static Rule,
    pub(in crate::rules) severity: Severity,
    pub(in crate::rules) object: Option<String>,
    /// The object after the build.
    pub(in crate::rules) built_object: Option<String>,
    /// The view of the object.
    pub(in crate::rules) view: Option<Arc<str>>,
    pub(in crate::rules) finding: Finding,
}

impl RawFinding {
    /// The finding without its fixes.
    pub(in crate::rules) fn without_fixes(mut self) -> Self {
        self.finding.fixes.clear();
        self.finding.choices.clear();
        self
    }

    pub(in crate::rules) fn location(&self) -> &Location {
        &self.finding.location
    }

    /// Whether both are the same finding, from different points of view.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.rule.name == other.rule.name
            && self.finding.location == other.finding.location
            && self.finding.name == other.finding.name
    }

    /// Keeps the fixes that another finding has too.
    pub(super) fn keep_common_fixes(&mut self, other: &Self) {
        self.finding.fixes.retain(|it| other.finding.fixes.contains(it));
        self.finding.choices.retain(|it| other.finding.choices.contains(it));
    }

    /// The finding about a preset, if it holds only in some pods: their names, and the locations of the names.
    pub(super) fn only_in(mut self, names: &[String], pods: Vec<Location>) -> Self {
        let more = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
        let first = names.first().map_or("?", String::as_str);
        self.finding.message = format!("in {first}{more}, {}", self.finding.message);
        let labels = pods.into_iter().take(3).map(|location| Label { location, message: "in this pod".into() });
        self.finding.related.extend(labels);
        self.without_fixes()
    }

    /// The finding with its path in the object.
    pub(in crate::rules) fn locate(self, file: &FileContext<'_>) -> ViewedFinding {
        let Finding { location, name, message, help, mut related, mut fixes, mut choices, unnecessary, .. } =
            self.finding;
        // Names may have placeholders. People see the references instead, and no edit writes one.
        let shown = |text: &mut String| {
            if has_placeholder(text) {
                *text = show_placeholders(text).into_owned();
            }
        };
        let (mut message, mut help) = (message, help);
        [Some(&mut message), help.as_mut()].into_iter().flatten().for_each(shown);
        related.iter_mut().for_each(|it| shown(&mut it.message));
        for fixes in [&mut fixes, &mut choices] {
            fixes.retain(|it| it.edits.iter().all(|it| !has_placeholder(&it.text)));
            fixes.iter_mut().for_each(|it| shown(&mut it.title));
        }
        let path = file.parsed_text().and_then(|source| path(&source.tree, file, location.span.start));
        let diagnostic = Diagnostic {
            rule: self.rule.name,
            // Files for tests are often wrong on purpose, and nobody corrects an old copy.
            severity: if is_for_show(file.path) { self.severity.min(Severity::Info) } else { self.severity },
            name,
            message,
            help,
            location,
            related,
            fixes,
            choices,
            built_object: self.built_object.filter(|it| Some(it) != self.object.as_ref()),
            object: self.object,
            views: Vec::new(),
            path,
            unnecessary,
        };
        ViewedFinding { view: self.view, finding: Arc::new(diagnostic.into()) }
    }
}

/// A finding of a file. The findings of a document that is being edited are shared with their cache: an edit elsewhere
/// changes only their locations.
#[derive(Clone, Debug)]
pub struct SharedFinding {
    /// The finding.
    pub diagnostic: Diagnostic,
    /// Results derived from the finding without its locations. They are kept when these move.
    pub derived: Derived,
}

impl From<Diagnostic> for SharedFinding {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, derived: Derived::default() }
    }
}

/// A finding in one view of its object. It has no views of its own yet: those of all equal findings are joined.
#[derive(Clone, Debug)]
pub(in crate::rules) struct ViewedFinding {
    pub(in crate::rules) view: Option<Arc<str>>,
    pub(in crate::rules) finding: Arc<SharedFinding>,
}

impl ViewedFinding {
    pub(in crate::rules) fn diagnostic(&self) -> &Diagnostic {
        &self.finding.diagnostic
    }
}

/// The path of an offset in its object: `spec.containers[0].env[1].value`.
fn path(tree: &Tree, file: &FileContext<'_>, offset: usize) -> Option<String> {
    let objects = &file.facts.objects;
    let before = &objects[..objects.partition_point(|it| it.offset <= offset)];
    let around = before.iter().rfind(|it| it.file_span(it.model.span).touches(offset));
    let start = around.map_or(0, |it| it.offset);
    let root = tree.document_at(offset)?.root()?;
    Some(root.field_path(offset, start)).filter(|path| !path.is_empty())
}
