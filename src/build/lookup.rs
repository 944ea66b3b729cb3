//! Looking up other objects by name, from a built object.
//!
//! The objects of its own template come first: they are created together, and their names may depend on parameters without
//! a value. Otherwise the lookup of the workspace decides, and each object it finds is the one that its view makes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::build::built;
use crate::build::object::BuiltObject;
use crate::build::view::View;
use crate::diagnostic::Location;
use crate::k8s::{KeyedData, ObjectData, ObjectSpan, service_prefix};
use crate::syntax::{has_placeholder, may_be_replaced};
use crate::workspace::{LookupSite, ObjectMatch};

/// An object that a name may refer to.
#[derive(Clone, Copy, Debug)]
pub struct BuiltMatch<'s> {
    /// The object.
    pub object: BuiltObject<'s>,
    /// Whether it may have keys that its text does not show: its data is incomplete, or a patch or generator adds to it.
    pub may_have_more_keys: bool,
}

impl<'s> BuiltMatch<'s> {
    /// The keys and values of a ConfigMap or Secret.
    pub fn keyed_data(&self) -> Option<&'s KeyedData> {
        match &self.object.model.data {
            ObjectData::ConfigMap(source) | ObjectData::Secret(source) => Some(source),
            _ => None,
        }
    }

    /// The place of a span in a file.
    pub fn location(&self, span: ObjectSpan) -> Location {
        self.object.location(span)
    }
}

/// Where an object has the name, although it is not the one that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// In another namespace.
    Namespace {
        /// The namespace of the object with the name.
        theirs: Arc<str>,
        /// The namespace of the object that refers to it.
        ours: Arc<str>,
    },
    /// In a file that does not belong to the object that refers to it.
    File(Arc<str>),
}

/// The place as a clause about the object with the name.
impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace { theirs, ours } => write!(f, "in namespace {theirs}, this pod is in {ours}"),
            Self::File(file) => write!(f, "only in {file}, which is not part of this application"),
        }
    }
}

/// The kinds of objects that are looked up by name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LookupKind {
    ConfigMap,
    Secret,
    Service,
    Preset,
}

impl LookupKind {
    fn fits(self, data: &ObjectData) -> bool {
        match self {
            Self::ConfigMap => matches!(data, ObjectData::ConfigMap(_)),
            Self::Secret => matches!(data, ObjectData::Secret(_)),
            Self::Service => matches!(data, ObjectData::Service(_)),
            Self::Preset => matches!(data, ObjectData::Preset(_)),
        }
    }
}

impl<'s> BuiltObject<'s> {
    /// The place that names in this object are looked up from.
    pub fn lookup_site(self) -> LookupSite<'s> {
        LookupSite { file: self.file, namespace: self.namespace().map(|it| &**it) }
    }

    /// The ConfigMaps that a name may refer to.
    pub fn config_maps(self, name: &str) -> Vec<BuiltMatch<'s>> {
        self.named(LookupKind::ConfigMap, name, |site| self.snapshot.config_maps(name, site))
    }

    /// The Secrets that a name may refer to.
    pub fn secrets(self, name: &str) -> Vec<BuiltMatch<'s>> {
        self.named(LookupKind::Secret, name, |site| self.snapshot.secrets(name, site))
    }

    /// The objects whose containers take variables from an object of this kind and name.
    pub fn users(self) -> Vec<BuiltObject<'s>> {
        self.users_with_positions().into_iter().map(|(user, _)| user).collect()
    }

    /// The same, each with its position in its file.
    pub fn users_with_positions(self) -> Vec<(BuiltObject<'s>, usize)> {
        let Some(name) = self.model.reference_name() else { return Vec::new() };
        let found = match &self.model.data {
            ObjectData::ConfigMap(_) => self.snapshot.config_map_users(name),
            ObjectData::Secret(_) => self.snapshot.secret_users(name),
            _ => return Vec::new(),
        };
        let built = found.into_iter().map(|(file, at)| Some((built::built_object(self.snapshot, file, at)?, at)));
        built.flatten().collect()
    }

    /// The Services that a name may refer to.
    pub fn services_named(self, name: &str) -> Vec<BuiltMatch<'s>> {
        self.services_named_in(name, self.lookup_site().namespace)
    }

    /// The Services of a namespace that a name may refer to.
    pub fn services_named_in(self, name: &str, namespace: Option<&str>) -> Vec<BuiltMatch<'s>> {
        self.named(LookupKind::Service, name, |site| {
            self.snapshot.services_named(name, LookupSite { namespace, ..site })
        })
    }

    /// Where a ConfigMap of a name is that is not meant.
    pub fn config_map_elsewhere(self, name: &str) -> Option<Elsewhere> {
        let file = || self.snapshot.config_map_out_of_scope(name, self.lookup_site());
        self.other_namespace(|site| self.snapshot.config_maps(name, site))
            .or_else(|| file().cloned().map(Elsewhere::File))
    }

    /// Where a Secret of a name is that is not meant.
    pub fn secret_elsewhere(self, name: &str) -> Option<Elsewhere> {
        let file = || self.snapshot.secret_out_of_scope(name, self.lookup_site());
        self.other_namespace(|site| self.snapshot.secrets(name, site)).or_else(|| file().cloned().map(Elsewhere::File))
    }

    /// The other namespace that has a Service of a name.
    pub fn service_elsewhere(self, name: &str) -> Option<Elsewhere> {
        self.other_namespace(|site| self.snapshot.services_named(name, site))
    }

    /// The namespace of the nearest object that a lookup finds in any namespace; `None` if one may be meant.
    fn other_namespace(self, lookup: impl FnOnce(LookupSite<'s>) -> Vec<ObjectMatch<'s>>) -> Option<Elsewhere> {
        let ours = self.namespace().filter(|it| !has_placeholder(it))?;
        let found = lookup(LookupSite { namespace: None, ..self.lookup_site() });
        let mut namespaces: Vec<Arc<str>> = found.iter().filter_map(|it| it.object.namespace()).collect();
        namespaces.sort();
        let is_other = |it: &Arc<str>| it != ours && !has_placeholder(it);
        let is_complete = namespaces.len() == found.len() && namespaces.iter().all(is_other);
        let theirs = namespaces.into_iter().next().filter(|_| is_complete)?;
        Some(Elsewhere::Namespace { theirs, ours: Arc::clone(ours) })
    }

    /// The ConfigMaps that a name probably means, although it is not theirs: they have a name that it is a slip of.
    pub fn meant_config_maps(self, name: &str) -> Vec<BuiltMatch<'s>> {
        let near = self.snapshot.config_map_slip(name, self.lookup_site()).filter(|_| !may_be_replaced(name));
        near.map(|near| self.config_maps(&near)).unwrap_or_default()
    }

    /// The same for Secrets.
    pub fn meant_secrets(self, name: &str) -> Vec<BuiltMatch<'s>> {
        let near = self.snapshot.secret_slip(name, self.lookup_site()).filter(|_| !may_be_replaced(name));
        near.map(|near| self.secrets(&near)).unwrap_or_default()
    }

    /// Every Service that its pods may see, sorted by name. Of equal names only the nearest are included.
    pub fn services(self) -> Vec<BuiltMatch<'s>> {
        self.all(LookupKind::Service, self.snapshot.services(self.lookup_site()))
    }

    /// The same, only those whose variables have one of these prefixes.
    pub fn services_with_prefixes(self, prefixes: &BTreeSet<&str>) -> Vec<BuiltMatch<'s>> {
        let found = self.snapshot.services_with_prefixes(prefixes, self.lookup_site());
        let mut found = self.all(LookupKind::Service, found);
        // What a view makes of a service may have another name.
        found.retain(|it| it.object.model.reference_name().is_some_and(|it| prefixes.contains(&*service_prefix(it))));
        found
    }

    /// Every PodPreset of the namespace, sorted by name. Of equal names only the nearest are included.
    pub fn presets(self) -> Vec<BuiltMatch<'s>> {
        self.all(LookupKind::Preset, self.snapshot.presets(self.lookup_site()))
    }

    /// The same, only those that may select pods with these labels, of which some have no known value; with `is_open` the
    /// pods may have others. The search ends when `is_enough` says so after an object.
    pub(super) fn presets_for<'l>(
        self,
        labels: &[(&'l str, Option<&'l str>)],
        is_open: bool,
        mut is_enough: impl FnMut(&BuiltMatch<'s>) -> bool,
    ) -> Vec<BuiltMatch<'s>> {
        let mut found = Vec::new();
        for it in self.snapshot.presets_for(labels, is_open, self.lookup_site()) {
            found.push(it);
            if is_enough(&self.built_match(it)) {
                break;
            }
        }
        let mut found = self.all(LookupKind::Preset, found);
        found.sort_by_key(|it| it.object.model.reference_name());
        found
    }

    fn named(
        self,
        kind: LookupKind,
        name: &str,
        lookup: impl FnOnce(LookupSite<'s>) -> Vec<ObjectMatch<'s>>,
    ) -> Vec<BuiltMatch<'s>> {
        // Always looked up, so that the dependency is recorded.
        let found = lookup(self.lookup_site());
        let is_named = |it: &BuiltMatch<'s>| it.object.model.reference_name() == Some(name);
        let own: Vec<BuiltMatch<'s>> = self.named_view_objects(kind).into_iter().filter(is_named).collect();
        if !own.is_empty() {
            return own;
        }
        let mut found: Vec<BuiltMatch<'s>> = found.into_iter().map(|it| self.built_match(it)).collect();
        if self.source.template.is_some() {
            let is_here = |it: &BuiltMatch<'s>| self.is_of_same_template(it.object);
            if has_placeholder(name) || matches!(self.view, View::Template) && found.iter().any(is_here) {
                found.retain(is_here);
            } else if matches!(self.view, View::Named(_)) {
                // The view has another object instead.
                found.retain(|it| !is_here(it));
            }
        } else if has_placeholder(name) {
            found.clear();
        }
        found
    }

    fn all(self, kind: LookupKind, found: Vec<ObjectMatch<'s>>) -> Vec<BuiltMatch<'s>> {
        let mut found: Vec<BuiltMatch<'s>> = found.into_iter().map(|it| self.built_match(it)).collect();
        if matches!(self.view, View::Named(_)) {
            let own = self.named_view_objects(kind);
            let has_name = |it: &BuiltMatch<'s>| {
                own.iter().any(|own| own.object.model.reference_name() == it.object.model.reference_name())
            };
            found.retain(|it| !self.is_of_same_template(it.object) && !has_name(it));
            found.extend(own);
            found.sort_by_key(|it| it.object.model.reference_name());
        }
        // An object whose name is not known outside its template.
        found.retain(|it| {
            self.is_of_same_template(it.object)
                || it.object.model.reference_name().is_some_and(|it| !has_placeholder(it))
        });
        found
    }

    /// The objects of a kind in its named view.
    fn named_view_objects(self, kind: LookupKind) -> Vec<BuiltMatch<'s>> {
        let View::Named(view) = self.view else { return Vec::new() };
        let Some(facts) = self.snapshot.file(self.file) else { return Vec::new() };
        let objects = (0..facts.objects.len()).filter_map(|at| view.object(self.snapshot, self.file, facts, at));
        let fits = |it: &BuiltObject<'s>| {
            let same = match (it.namespace(), self.namespace()) {
                (Some(one), Some(other)) => one == other,
                _ => true,
            };
            same && kind.fits(&it.model.data) && self.is_of_same_template(*it)
        };
        objects
            .filter(fits)
            .map(|object| BuiltMatch { object, may_have_more_keys: may_have_more_keys(object) })
            .collect()
    }

    /// Whether both are made by the same template.
    pub fn is_of_same_template(self, other: BuiltObject<'_>) -> bool {
        match (&self.source.template, &other.source.template) {
            (Some(one), Some(other_template)) => {
                self.file == other.file && Arc::ptr_eq(&one.parameters, &other_template.parameters)
            }
            _ => false,
        }
    }

    fn built_match(self, found: ObjectMatch<'s>) -> BuiltMatch<'s> {
        let built = found.position.and_then(|it| built::built_object(self.snapshot, found.file, it));
        let object = built.unwrap_or_else(|| BuiltObject::as_written(self.snapshot, found.file, found.object));
        // Additions were found by the name; the data itself may be known only after the build.
        let may_have_more_keys = found.may_have_more_keys || may_have_more_keys(object);
        BuiltMatch { object, may_have_more_keys }
    }
}

fn may_have_more_keys(object: BuiltObject<'_>) -> bool {
    matches!(&object.model.data, ObjectData::ConfigMap(data) | ObjectData::Secret(data) if data.may_have_more_keys)
}
