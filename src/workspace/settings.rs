//! Reading `podlens.yaml`.
//!
//! Reading always returns settings. Each wrong value is a [`SettingsError`], and its key keeps the default.

mod keys;
mod views;

use std::borrow::Cow;
use std::sync::Arc;

use crate::diagnostic::Severity;
use crate::k8s::{DataEntry, KeyedData, Model, Object, ObjectData, ObjectSpan, Service, ServicePort, Text};
use crate::syntax::{self, Node, ScalarStyle, TypedScalar};
use crate::text::{LineIndex, Span};
use crate::workspace::globs::Globs;
use crate::workspace::version::KubernetesVersion;
use keys::SettingsKey;

pub use keys::schema;
pub use views::{LoadRestrictor, NamedView};

/// The name of the settings file.
pub const SETTINGS_FILE: &str = "podlens.yaml";

/// The settings of a directory and its subdirectories.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The settings file. Empty for the defaults and for the settings of an editor.
    pub file: Arc<str>,
    /// `kubernetes`: the release the manifests are for.
    pub kubernetes: KubernetesVersion,
    /// `proposals`: whether designs apply that no release implements.
    pub proposals: bool,
    /// `rules`: the levels of rules, as written.
    pub rules: Vec<RuleLevel>,
    /// `exclude`: files that are not checked.
    pub exclude: Globs,
    /// `externals`: variables and objects that exist outside the workspace.
    pub externals: Externals,
    /// `unknown`: what to do with a reference that may or may not resolve.
    pub unknown: UnknownPolicy,
    /// `secrets.show`: whether the values of Secrets are shown.
    pub show_secrets: bool,
    /// `overrides`: the levels of rules for some files. Later entries win.
    pub overrides: Vec<FileOverride>,
    /// `views`: kustomizations, charts and templates that are built with given values.
    pub views: Vec<NamedView>,
    /// `kustomize.loadRestrictor`: which files a kustomization may include.
    pub load_restrictor: LoadRestrictor,
    /// Errors in the settings, in text order.
    pub errors: Vec<SettingsError>,
    /// The keys that are set. Keys below `externals` have the form `externals.services`.
    set_keys: Vec<&'static str>,
    /// The settings for keys that are not set.
    base: Option<Arc<Settings>>,
    /// The directory that globs are relative to: empty or ending with `/`.
    directory: Box<str>,
    /// The path from the settings file to the workspace, if it is above the workspace: empty or ending with `/`.
    above: Box<str>,
}

/// An error in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The span in the settings file.
    pub span: Span,
    /// The path of that place, such as `overrides[0].rules.missing-key`; empty for the whole file.
    pub path: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// The word that is probably meant at the span.
    pub meant: Option<&'static str>,
}

/// A rule with its level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLevel {
    /// The rule's name as written.
    pub rule: Text,
    /// The level.
    pub level: LintLevel,
}

/// The level of a rule: a severity, or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintLevel {
    /// The rule is disabled.
    Off,
    /// Findings are hints.
    Hint,
    /// Findings are infos.
    Info,
    /// Findings are warnings.
    Warning,
    /// Findings are errors.
    Error,
}

impl LintLevel {
    /// The severity of findings. `None` if the rule is off.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Hint => Some(Severity::Hint),
            Self::Info => Some(Severity::Info),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }

    /// The names in the settings, with their levels.
    pub const NAMES: [(&'static str, LintLevel); 5] = [
        ("error", LintLevel::Error),
        ("warning", LintLevel::Warning),
        ("info", LintLevel::Info),
        ("hint", LintLevel::Hint),
        ("off", LintLevel::Off),
    ];

    /// The name it has in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Hint => "hint",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What to do with a reference that may or may not resolve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownPolicy {
    /// Mention it in hovers only.
    #[default]
    Auto,
    /// Report it as info.
    Always,
    /// Do not mention it.
    Never,
}

impl UnknownPolicy {
    /// The names in the settings, with their values.
    pub const NAMES: [(&'static str, UnknownPolicy); 3] =
        [("auto", UnknownPolicy::Auto), ("always", UnknownPolicy::Always), ("never", UnknownPolicy::Never)];
}

/// The levels of rules for some files.
#[derive(Clone, Debug, Default)]
pub struct FileOverride {
    /// The files.
    pub files: Globs,
    /// The levels.
    pub rules: Vec<RuleLevel>,
}

/// Variables and objects that exist outside the workspace. The spans of the objects are in the settings file.
#[derive(Clone, Debug, Default)]
pub struct Externals {
    /// Names of variables.
    pub variables: Globs,
    /// ConfigMaps. The values of their keys are unknown.
    pub config_maps: Vec<Object>,
    /// Secrets. The values of their keys are unknown.
    pub secrets: Vec<Object>,
    /// Services.
    pub services: Vec<Object>,
}

impl Settings {
    /// Reads the text of a settings file. Its globs are relative to its directory.
    pub fn read(file: &str, text: &str) -> Self {
        let mut settings = Self::parse(text);
        settings.file = file.into();
        settings.directory = file[..file.rfind('/').map_or(0, |slash| slash + 1)].into();
        settings
    }

    /// Reads settings that are not in a file.
    pub fn parse(text: &str) -> Self {
        let tree = syntax::parse(text);
        let mut reader = SettingsReader { settings: Self::default() };
        for error in tree.errors() {
            reader.error(error.span, error.message(&LineIndex::new(text)));
        }
        let mut roots = tree.documents().filter_map(|document| document.root());
        if let Some(root) = roots.next() {
            reader.root(root);
        }
        if let Some(second) = roots.next() {
            reader.error(second.span(), "a settings file has one document; this one is ignored".into());
        }
        for error in &mut reader.settings.errors {
            let document = tree.document_at(error.span.start).and_then(|it| it.root());
            error.path = document.map_or_else(String::new, |it| it.field_path(error.span.start, 0));
        }
        reader.settings.errors.sort_by_key(|error| error.span);
        reader.settings
    }

    /// The keys that settings may have.
    pub fn keys() -> Vec<&'static str> {
        keys::names(keys::ROOT)
    }

    /// These settings, with `base` for every key that they do not set. `rules` and `overrides` are combined rule by
    /// rule, `externals` key by key.
    pub fn layered_over(&self, base: &Arc<Settings>) -> Self {
        let mut settings = Self { base: Some(Arc::clone(base)), ..self.clone() };
        settings.kubernetes = settings.settings_for("kubernetes").kubernetes;
        settings.proposals = settings.settings_for("proposals").proposals;
        settings.exclude = settings.settings_for("exclude").exclude.clone();
        settings.unknown = settings.settings_for("unknown").unknown;
        settings.show_secrets = settings.settings_for("secrets").show_secrets;
        settings.views = settings.settings_for("views").views.clone();
        settings.load_restrictor = settings.settings_for("kustomize").load_restrictor;
        settings.externals = Externals {
            variables: settings.settings_for("externals.variables").externals.variables.clone(),
            config_maps: settings.settings_for("externals.configMaps").externals.config_maps.clone(),
            secrets: settings.settings_for("externals.secrets").externals.secrets.clone(),
            services: settings.settings_for("externals.services").externals.services.clone(),
        };
        settings
    }

    /// The settings that set a key: these, or the base.
    fn settings_for(&self, key: &'static str) -> &Self {
        match &self.base {
            Some(base) if !self.set_keys.contains(&key) => base,
            _ => self,
        }
    }

    /// ConfigMaps outside the workspace, and the settings file with them.
    pub fn external_config_maps(&self) -> (&Arc<str>, &[Object]) {
        (&self.settings_for("externals.configMaps").file, &self.externals.config_maps)
    }

    /// Secrets outside the workspace, and the settings file with them.
    pub fn external_secrets(&self) -> (&Arc<str>, &[Object]) {
        (&self.settings_for("externals.secrets").file, &self.externals.secrets)
    }

    /// Services outside the workspace, and the settings file with them.
    pub fn external_services(&self) -> (&Arc<str>, &[Object]) {
        (&self.settings_for("externals.services").file, &self.externals.services)
    }

    /// Whether a file is excluded.
    pub fn excludes(&self, file: &str) -> bool {
        self.exclude.matches(&self.settings_for("exclude").relative(file))
    }

    /// Whether `externals` has a variable of this name.
    pub fn is_external_variable(&self, name: &str) -> bool {
        self.externals.variables.matches(name)
    }

    /// The level of a rule in a file, if it is set: by the last matching override, else by `rules`.
    pub fn level(&self, rule: &str, file: &str) -> Option<LintLevel> {
        self.own_level(rule, file).or_else(|| self.base.as_ref()?.level(rule, file))
    }

    fn own_level(&self, rule: &str, file: &str) -> Option<LintLevel> {
        let file = self.relative(file);
        let of = |levels: &[RuleLevel]| levels.iter().rev().find(|it| &*it.rule.value == rule).map(|it| it.level);
        self.overrides
            .iter()
            .rev()
            .filter(|it| it.files.matches(&file))
            .find_map(|it| of(&it.rules))
            .or_else(|| of(&self.rules))
    }

    /// The same settings for a workspace in a subdirectory. `between` is the path of the subdirectory.
    pub fn for_subdirectory(mut self, between: &str) -> Self {
        self.directory = "".into();
        self.above = if between.is_empty() { "".into() } else { format!("{between}/").into() };
        self
    }

    /// A path relative to the directory of the settings file.
    fn relative<'f>(&self, file: &'f str) -> Cow<'f, str> {
        if self.above.is_empty() {
            file.strip_prefix(&*self.directory).unwrap_or(file).into()
        } else {
            format!("{}{file}", self.above).into()
        }
    }
}

struct SettingsReader {
    settings: Settings,
}

impl SettingsReader {
    fn error(&mut self, span: Span, message: String) {
        self.misspelling(span, message, None);
    }

    fn misspelling(&mut self, span: Span, message: String, meant: Option<&'static str>) {
        self.settings.errors.push(SettingsError { span, path: String::new(), message, meant });
    }

    fn root(&mut self, root: Node<'_>) {
        for (key, value, span) in self.entries(root, keys::ROOT, "the settings") {
            self.settings.set_keys.push(key);
            match key {
                "kubernetes" => match value.text().and_then(|text| text.parse::<KubernetesVersion>().ok()) {
                    Some(version) => self.settings.kubernetes = version,
                    None => self.error(span, "expected a Kubernetes release such as \"1.34\" or \"1.34.4\"".into()),
                },
                "proposals" => self.settings.proposals = self.flag(value),
                "rules" => self.settings.rules = self.rules(value),
                "exclude" => self.settings.exclude = self.globs(value, Globs::for_paths),
                "externals" => self.externals(value),
                "unknown" => self.settings.unknown = self.choice(value, &UnknownPolicy::NAMES).unwrap_or_default(),
                "secrets" => {
                    for (_, show, _) in self.entries(value, keys::SECRETS, "`secrets`") {
                        self.settings.show_secrets = self.flag(show);
                    }
                }
                "views" => self.views(value),
                "kustomize" => {
                    for (_, restrictor, _) in self.entries(value, keys::KUSTOMIZE, "`kustomize`") {
                        let choice = self.choice(restrictor, &LoadRestrictor::NAMES);
                        self.settings.load_restrictor = choice.unwrap_or_default();
                    }
                }
                _ => self.overrides(value),
            }
        }
    }

    fn overrides(&mut self, list: Node<'_>) {
        for item in self.items(list, "a list of mappings with `files` and `rules`") {
            let mut it = FileOverride::default();
            for (key, value, _) in self.entries(item, keys::OVERRIDE, "an override") {
                match key {
                    "files" => it.files = self.globs(value, Globs::for_paths),
                    _ => it.rules = self.rules(value),
                }
            }
            if item.is_mapping() && item.get("files").is_none() {
                self.error(item.span(), "this override has no `files`; add a list of globs".into());
            }
            self.settings.overrides.push(it);
        }
    }

    fn rules(&mut self, map: Node<'_>) -> Vec<RuleLevel> {
        if !map.is_mapping() {
            self.error(
                map.span(),
                "expected a mapping of rules to levels, such as `forward-reference: warning`".into(),
            );
        }
        let mut levels = Vec::new();
        for (key, value) in map.entries() {
            let Some(value) = value else {
                self.error(key.span(), "expected a level: error, warning, info, hint or off".into());
                continue;
            };
            // YAML 1.1 reads `off` as false.
            let level = match value.typed() {
                Some(TypedScalar::Bool(false)) => Some(LintLevel::Off),
                _ => self.choice(value, &LintLevel::NAMES),
            };
            if let (Some(level), Some(rule)) = (level, text(key)) {
                levels.push(RuleLevel { rule, level });
            }
        }
        levels
    }

    fn externals(&mut self, map: Node<'_>) {
        for (key, value, _) in self.entries(map, keys::EXTERNALS, "`externals`") {
            match key {
                "variables" => {
                    self.settings.set_keys.push("externals.variables");
                    self.settings.externals.variables = self.globs(value, Globs::for_names);
                }
                "configMaps" => {
                    self.settings.set_keys.push("externals.configMaps");
                    self.settings.externals.config_maps = self.objects(value, ObjectData::ConfigMap, Self::keyed_data);
                }
                "secrets" => {
                    self.settings.set_keys.push("externals.secrets");
                    self.settings.externals.secrets = self.objects(value, ObjectData::Secret, Self::keyed_data);
                }
                _ => {
                    self.settings.set_keys.push("externals.services");
                    self.settings.externals.services = self.objects(value, ObjectData::Service, Self::service);
                }
            }
        }
    }

    /// Reads a mapping of names to contents, or a list of names.
    fn objects<T>(
        &mut self,
        node: Node<'_>,
        data: fn(T) -> ObjectData,
        read: fn(&mut Self, Option<Node<'_>>) -> T,
    ) -> Vec<Object> {
        let named: Vec<_> = if node.is_mapping() {
            node.entries()
        } else {
            self.items(node, "a list of names, or a mapping of names to lists")
                .into_iter()
                .map(|name| (name, None))
                .collect()
        };
        let mut objects = Vec::new();
        for (name, content) in named {
            let data = data(read(self, content));
            match text(name) {
                Some(name) => {
                    let model = Model { span: name.span, name: Some(name), data, ..Model::default() };
                    objects.push(Object { offset: 0, model: Arc::new(model), template: None });
                }
                None => self.error(name.span(), "expected the name of an object".into()),
            }
        }
        objects
    }

    /// Reads a list of keys. Without a list, or with `*` in it, any key may exist.
    fn keyed_data(&mut self, keys: Option<Node<'_>>) -> KeyedData {
        let made_by = Some("the settings");
        let Some(keys) = keys.filter(|keys| keys.typed() != Some(TypedScalar::Null)) else {
            return KeyedData { may_have_more_keys: true, made_by, ..KeyedData::default() };
        };
        let mut source = KeyedData { made_by, ..KeyedData::default() };
        for item in self.items(keys, "a list of keys") {
            match text(item) {
                Some(key) if &*key.value == "*" => source.may_have_more_keys = true,
                Some(key) => source.keys.push(DataEntry { key, value: None, value_span: None }),
                None => self.error(item.span(), "expected the name of a key".into()),
            }
        }
        source
    }

    /// Reads a list of ports: numbers, or entries as in a Service.
    fn service(&mut self, ports: Option<Node<'_>>) -> Service {
        let mut service = Service::default();
        let Some(ports) = ports.filter(|ports| ports.typed() != Some(TypedScalar::Null)) else { return service };
        for item in self.items(ports, "a list of ports") {
            let number = if item.is_mapping() { item.get("port") } else { Some(item) };
            let port = match number.and_then(Node::typed) {
                Some(TypedScalar::Int(port @ 1..=65535)) => i64::try_from(port).ok(),
                _ => {
                    self.error(
                        item.span(),
                        "expected a port: a number from 1 to 65535, or a mapping with `port`".into(),
                    );
                    continue;
                }
            };
            service.ports.push(ServicePort {
                name: item.get("name").and_then(text),
                port,
                port_text: None,
                protocol: item.get("protocol").and_then(text),
                span: ObjectSpan::relative(item.span()),
            });
        }
        service
    }

    fn globs(&mut self, list: Node<'_>, build: fn(&[&str]) -> Result<Globs, globset::Error>) -> Globs {
        let mut patterns = Vec::new();
        for item in self.items(list, "a list of globs") {
            match item.text().map(|pattern| (pattern, build(&[pattern]))) {
                Some((pattern, Ok(_))) => patterns.push(pattern),
                Some((_, Err(error))) => {
                    self.error(item.span(), format!("invalid glob: {}", error.kind()));
                }
                None => self.error(item.span(), "expected a glob".into()),
            }
        }
        build(&patterns).unwrap_or_default()
    }

    fn flag(&mut self, value: Node<'_>) -> bool {
        match value.typed() {
            Some(TypedScalar::Bool(it)) => it,
            _ => {
                self.error(value.span(), "expected true or false".into());
                false
            }
        }
    }

    fn choice<T: Copy>(&mut self, value: Node<'_>, choices: &[(&'static str, T)]) -> Option<T> {
        let written = value.text().unwrap_or_default();
        let found = choices.iter().find(|(name, _)| *name == written).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<&'static str> = choices.iter().map(|(name, _)| *name).collect();
            let meant = similar(written, &names);
            let message = format!("expected one of {}{}", names.join(", "), did_you_mean(meant));
            self.misspelling(value.span(), message, meant);
        }
        found
    }

    fn items<'t>(&mut self, list: Node<'t>, expected: &str) -> Vec<Node<'t>> {
        if !list.is_sequence() {
            self.error(list.span(), format!("expected {expected}"));
        }
        list.items().collect()
    }

    /// The entries of a mapping with a known key and a value. Unknown keys are errors.
    fn entries<'t>(&mut self, map: Node<'t>, known: &[SettingsKey], what: &str) -> Vec<(&'static str, Node<'t>, Span)> {
        let known = &keys::names(known)[..];
        if !map.is_mapping() && map.typed() != Some(TypedScalar::Null) {
            self.error(map.span(), format!("expected {what} to be a mapping with the keys {}", known.join(", ")));
        }
        let mut found = Vec::new();
        for (key, value) in map.entries() {
            let written = key.text().unwrap_or_default();
            match (known.iter().find(|it| **it == written), value) {
                (Some(name), Some(value)) => found.push((*name, value, value.span())),
                // A key without a value is ignored: it may be incomplete.
                (Some(_), None) => {}
                (None, _) => {
                    let meant = similar(written, known);
                    let (hint, known) = (did_you_mean(meant), known.join(", "));
                    let message = format!("unknown key `{written}`{hint}; expected one of {known}");
                    self.misspelling(key.span(), message, meant);
                }
            }
        }
        found
    }
}

/// A scalar of the settings file.
fn text(node: Node<'_>) -> Option<Text> {
    let node = node.resolved();
    let value = node.text()?;
    let (span, is_string) = (ObjectSpan::relative(node.span()), node.string().is_some());
    Some(Text { value: value.into(), span, style: node.style().unwrap_or(ScalarStyle::Plain), is_string })
}

/// The most similar of the known words.
fn similar(written: &str, known: &[&'static str]) -> Option<&'static str> {
    let distances = known.iter().map(|it| (strsim::osa_distance(written, it), *it));
    distances.filter(|(distance, it)| *distance <= it.len() / 3).min().map(|(_, it)| it)
}

fn did_you_mean(meant: Option<&str>) -> String {
    meant.map_or_else(String::new, |it| format!(" (did you mean `{it}`?)"))
}
