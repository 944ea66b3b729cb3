//! The key `views`: kustomizations, charts and templates that are built with given values; and the key `kustomize`.

use globset::{GlobBuilder, GlobMatcher};

use crate::k8s::Text;
use crate::syntax::{Node, TypedScalar};
use crate::workspace::settings::{Settings, SettingsReader, keys, text};

/// A view that the settings name.
#[derive(Clone, Debug)]
pub struct NamedView {
    /// `name`. It is unique in the settings.
    pub name: Text,
    /// `path`: a kustomization, a chart or a template, or a glob for several, relative to the settings file.
    pub path: Text,
    /// `values`: values files of a chart, in order.
    pub values: Vec<Text>,
    /// `set`: values of a chart, or parameters of a template.
    pub set: Vec<(Text, Text)>,
    /// `params`: a parameter file of a template.
    pub params: Option<Text>,
    /// `release`: the name of the release of a chart.
    pub release: Option<Text>,
    /// `namespace`: the namespace of the release of a chart.
    pub namespace: Option<Text>,
    /// Matches paths relative to the settings file.
    pattern: GlobMatcher,
}

impl NamedView {
    /// Whether `path` is a glob.
    pub fn is_glob(&self) -> bool {
        self.path.value.contains(['*', '?', '[', '{'])
    }

    /// Whether it only names what its path builds, without values of its own.
    pub fn has_no_values(&self) -> bool {
        self.values.is_empty()
            && self.set.is_empty()
            && self.params.is_none()
            && self.release.is_none()
            && self.namespace.is_none()
    }
}

/// Which files a kustomization may include: the flag `--load-restrictor` of kustomize.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRestrictor {
    /// Files in its directory and below.
    #[default]
    RootOnly,
    /// All files.
    None,
}

impl LoadRestrictor {
    /// The names in the settings, with their values.
    pub const NAMES: [(&'static str, LoadRestrictor); 2] =
        [("rootOnly", LoadRestrictor::RootOnly), ("none", LoadRestrictor::None)];
}

impl Settings {
    /// The views, and the settings that have them: these, or those below them.
    pub fn named_views(&self) -> (&Settings, &[NamedView]) {
        (self.settings_for("views"), &self.views)
    }

    /// Whether the `path` of a view of these settings matches a path of the workspace. The root is empty.
    pub fn matches_view(&self, view: &NamedView, path: &str) -> bool {
        let whole = format!("{}{path}/", self.above);
        match whole.strip_prefix(&*self.directory).map(|it| it.trim_matches('/')) {
            // The directory of the settings file itself.
            Some("") => view.pattern.is_match("."),
            Some(relative) => view.pattern.is_match(relative),
            None => false,
        }
    }

    /// The path from the root of the workspace of a path that is written in these settings. `None` if it is outside.
    pub fn resolve_path(&self, written: &str) -> Option<String> {
        let mut parts: Vec<&str> = self.directory.split('/').filter(|it| !it.is_empty()).collect();
        for part in written.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        let path = parts.join("/");
        match &*self.above {
            "" => Some(path),
            above => path.strip_prefix(above).map(str::to_owned),
        }
    }
}

impl SettingsReader {
    pub(super) fn views(&mut self, list: Node<'_>) {
        for item in self.items(list, "a list of mappings with `name` and `path`") {
            if let Some(view) = self.view(item) {
                if self.settings.views.iter().any(|it| it.name.value == view.name.value) {
                    self.error(
                        view.name.span.to_relative(),
                        format!("there is already a view `{}`; names are unique", view.name.value),
                    );
                } else {
                    self.settings.views.push(view);
                }
            }
        }
    }

    fn view(&mut self, item: Node<'_>) -> Option<NamedView> {
        let (mut name, mut path, mut params, mut release, mut namespace) = (None, None, None, None, None);
        let (mut values, mut set) = (Vec::new(), Vec::new());
        let mut has = (false, false);
        for (key, value, _) in self.entries(item, keys::VIEW, "a view") {
            match key {
                "name" => (has.0, name) = (true, self.filled(value, "a name")),
                "path" => {
                    has.1 = true;
                    path = self.filled(value, "a path or a glob").and_then(|path| self.with_pattern(path));
                }
                "values" => {
                    for item in self.items(value, "a list of values files") {
                        values.extend(self.filled(item, "the path of a values file"));
                    }
                }
                "set" => set = self.assignments(value),
                "params" => params = self.filled(value, "the path of a parameter file"),
                "release" => release = self.filled(value, "the name of a release"),
                _ => namespace = self.filled(value, "the name of a namespace"),
            }
        }
        if item.is_mapping() {
            for (is_there, key) in [(has.0, "name"), (has.1, "path")] {
                if !is_there {
                    self.error(item.span(), format!("this view has no `{key}`; add one"));
                }
            }
        }
        let (name, (path, pattern)) = (name?, path?);
        Some(NamedView { name, path, values, set, params, release, namespace, pattern })
    }

    /// A text that is not empty.
    fn filled(&mut self, value: Node<'_>, expected: &str) -> Option<Text> {
        let found = text(value).filter(|it| !it.value.is_empty() && value.typed() != Some(TypedScalar::Null));
        if found.is_none() {
            self.error(value.span(), format!("expected {expected}"));
        }
        found
    }

    fn with_pattern(&mut self, path: Text) -> Option<(Text, GlobMatcher)> {
        let parts: Vec<&str> = path.value.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
        if path.value.starts_with('/') || parts.contains(&"..") {
            self.error(
                path.span.to_relative(),
                "expected a path in or below the directory of the settings file".into(),
            );
            return None;
        }
        let glob = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
        match GlobBuilder::new(&glob).literal_separator(true).build() {
            Ok(glob) => Some((path, glob.compile_matcher())),
            Err(error) => {
                self.error(path.span.to_relative(), format!("invalid glob: {}", error.kind()));
                None
            }
        }
    }

    fn assignments(&mut self, map: Node<'_>) -> Vec<(Text, Text)> {
        if !map.is_mapping() {
            self.error(map.span(), "expected a mapping of names to values, such as `image.tag: \"1.2\"`".into());
        }
        let mut found = Vec::new();
        for (key, value) in map.entries() {
            match (text(key), value.and_then(text)) {
                (Some(name), Some(value)) => found.push((name, value)),
                (None, _) => self.error(key.span(), "expected a name".into()),
                (_, None) => {
                    let span = value.map_or(key.span(), Node::span);
                    self.error(span, "expected a text, a number, true or false".into());
                }
            }
        }
        found
    }
}
