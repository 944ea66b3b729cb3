//! The view that a built object belongs to.

use std::sync::Arc;

use crate::build::built::BuiltFile;
use crate::build::named_views::own_view_name;
use crate::build::object::BuiltObject;
use crate::k8s::Parameters;
use crate::workspace::{File, Snapshot};

/// The view of a built object.
#[derive(Clone, Copy, Debug)]
pub enum View<'s> {
    /// Nothing builds the object.
    Plain,
    /// The template that contains the object, with its own values.
    Template,
    /// A view of the settings.
    Named(&'s BuiltView),
}

impl PartialEq for View<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plain, Self::Plain) | (Self::Template, Self::Template) => true,
            (Self::Named(one), Self::Named(other)) => one.name == other.name,
            _ => false,
        }
    }
}

/// A view of the settings: templates with other values.
#[derive(Debug)]
pub struct BuiltView {
    /// `name`.
    pub name: Arc<str>,
    /// The objects of each file, in the order of the file; sorted by file.
    pub(super) files: Vec<(Arc<str>, BuiltFile)>,
    /// The parameter file.
    pub(super) params: Option<Arc<str>>,
    /// The parameters of each template as written, and with the values of the view.
    pub(super) parameters: Vec<(Arc<Parameters>, Arc<Parameters>)>,
}

impl BuiltView {
    /// The parameters of the template that contains an object, with the values of the view.
    pub(super) fn parameters(&self, object: BuiltObject<'_>) -> Option<&Parameters> {
        let own = &object.source.template.as_ref()?.parameters;
        self.parameters.iter().find(|(it, _)| Arc::ptr_eq(it, own)).map(|(_, it)| &**it)
    }

    /// What the view makes of the objects of a file.
    pub(super) fn file(&self, path: &str) -> Option<&BuiltFile> {
        let at = self.files.binary_search_by(|(it, _)| (**it).cmp(path)).ok()?;
        Some(&self.files[at].1)
    }

    /// The object at a position of a file, as this view has it.
    pub(super) fn object<'s>(
        &'s self,
        snapshot: &'s Snapshot,
        path: &'s Arc<str>,
        facts: &'s File,
        position: usize,
    ) -> Option<BuiltObject<'s>> {
        let built = self.file(path)?.0.get(position)?.as_deref()?;
        let plain = BuiltObject::as_written(snapshot, path, facts.objects.get(position)?);
        Some(BuiltObject { model: &built.model, built: Some(built), view: View::Named(self), ..plain })
    }
}

/// The first names of some views, and the number of the others: `dev, test and 12 more`.
pub fn view_list(names: &[Arc<str>]) -> String {
    const MOST: usize = 2;
    let first = names.iter().take(MOST).map(|it| &**it).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

impl<'s> BuiltObject<'s> {
    /// The name of its view, if the settings name it.
    pub fn named_view(self) -> Option<&'s Arc<str>> {
        match self.view {
            View::Named(view) => Some(&view.name),
            View::Plain | View::Template => None,
        }
    }

    /// The name of its view: that of the settings, or the file of the template. `None` for a plain object.
    pub fn view_name(self) -> Option<Arc<str>> {
        match self.view {
            View::Plain => None,
            View::Named(view) => Some(Arc::clone(&view.name)),
            View::Template => {
                let facts = self.snapshot.file(self.file)?;
                let (template, _) = facts.template_of(self.source)?;
                if let Some(name) = own_view_name(self.snapshot, self.file, template.offset) {
                    return Some(Arc::clone(name));
                }
                Some(match &template.model.name {
                    Some(name) if facts.template_count() > 1 => format!("{}#{}", self.file, name.value).into(),
                    _ => Arc::clone(self.file),
                })
            }
        }
    }
}
