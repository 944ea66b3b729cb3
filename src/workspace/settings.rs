//! `podlens.yaml`: what it can say, and its mistakes with their places.
//!
//! Reading cannot fail: what is wrong is a [`SettingsError`], and the default stands in its place.

mod keys;

use std::borrow::Cow;
use std::sync::Arc;

use crate::diagnostic::Severity;
use crate::k8s::{DataEntry, KeyedData, Model, Object, ObjectData, Service, ServicePort, Text};
use crate::syntax::{self, Node, ScalarStyle, TypedScalar};
use crate::text::{LineIndex, Span};
use crate::workspace::globs::Globs;
use crate::workspace::version::KubernetesVersion;
use keys::SettingsKey;

pub use keys::schema;

/// The name of the settings file.
pub const SETTINGS_FILE: &str = "podlens.yaml";

/// The settings of a directory and what is below it.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The file they come from; empty for the defaults and for an editor's settings.
    pub file: Arc<str>,
    /// `kubernetes`: the release the manifests are for.
    pub kubernetes: KubernetesVersion,
    /// `proposals`: whether designs that no release serves are taken for granted.
    pub proposals: bool,
    /// `rules`: levels by rule, in order.
    pub rules: Vec<RuleLevel>,
    /// `exclude`: files that are not looked at.
    pub exclude: Globs,
    /// `externals`: what exists outside the workspace.
    pub externals: Externals,
    /// `unknown`: what to do with references that may or may not resolve.
    pub unknown: UnknownPolicy,
    /// `secrets.show`: whether the values of Secrets may be shown.
    pub show_secrets: bool,
    /// `overrides`: levels for some files only; later ones win.
    pub overrides: Vec<FileOverride>,
    /// What is wrong with them.
    pub errors: Vec<SettingsError>,
    /// The keys that are said; those of `externals` with it before them.
    said: Vec<&'static str>,
    /// What counts for keys that are not said.
    base: Option<Arc<Settings>>,
    /// The directory they are for: empty or ending with `/`.
    directory: Box<str>,
    /// The way from the settings down to the workspace, if they stand above it.
    above: Box<str>,
}

/// Something wrong in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// Where, in bytes of the settings file.
    pub span: Span,
    /// The path of that place, such as `overrides[0].rules.missing-key`; empty for the whole file.
    pub path: String,
    /// What, and what was expected.
    pub message: String,
}

/// The level of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLevel {
    /// The rule's name as written.
    pub rule: Text,
    /// Its level.
    pub level: LintLevel,
}

/// How loud a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintLevel {
    /// Says nothing.
    Off,
    /// A hint.
    Hint,
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Will not work.
    Error,
}

impl LintLevel {
    /// The severity of a finding at this level; none if the rule is off.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Hint => Some(Severity::Hint),
            Self::Info => Some(Severity::Info),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }

    /// The levels by the names they have in the settings.
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
    /// Say nothing, but remark on it in a hover.
    #[default]
    Auto,
    /// Report it as info.
    Always,
    /// Do not even remark on it.
    Never,
}

impl UnknownPolicy {
    /// The choices by the names they have in the settings.
    pub const NAMES: [(&'static str, UnknownPolicy); 3] =
        [("auto", UnknownPolicy::Auto), ("always", UnknownPolicy::Always), ("never", UnknownPolicy::Never)];
}

/// Levels for some files.
#[derive(Clone, Debug, Default)]
pub struct FileOverride {
    /// The files.
    pub files: Globs,
    /// The levels.
    pub rules: Vec<RuleLevel>,
}

/// What exists outside the workspace. The objects stand in the settings file.
#[derive(Clone, Debug, Default)]
pub struct Externals {
    /// Names of variables.
    pub variables: Globs,
    /// ConfigMaps: their keys exist, with values we do not know.
    pub config_maps: Vec<Object>,
    /// Secrets, likewise.
    pub secrets: Vec<Object>,
    /// Services.
    pub services: Vec<Object>,
}

impl Settings {
    /// Reads the settings of `file`, whose path decides which files its globs are about.
    pub fn read(file: &str, text: &str) -> Self {
        let mut settings = Self::parse(text);
        settings.file = file.into();
        settings.directory = file[..file.rfind('/').map_or(0, |slash| slash + 1)].into();
        settings
    }

    /// Reads settings that belong to no file.
    pub fn parse(text: &str) -> Self {
        let tree = syntax::parse(text);
        let mut reading = SettingsReader { settings: Self::default() };
        for error in tree.errors() {
            reading.mistake(error.span, error.message(&LineIndex::new(text)));
        }
        let mut roots = tree.documents().filter_map(|document| document.root());
        if let Some(root) = roots.next() {
            reading.root(root);
        }
        if let Some(second) = roots.next() {
            reading.mistake(second.span(), "settings are one document; this one is not read".into());
        }
        for mistake in &mut reading.settings.errors {
            let document = tree.document_at(mistake.span.start).and_then(|it| it.root());
            mistake.path = document.map_or_else(String::new, |it| it.field_path(mistake.span.start, 0));
        }
        reading.settings.errors.sort_by_key(|mistake| mistake.span);
        reading.settings
    }

    /// The keys that settings may have.
    pub fn keys() -> Vec<&'static str> {
        keys::names(keys::ROOT)
    }

    /// These settings over others, which count for every key that these do not say: of `rules` for every rule, of
    /// `externals` and `secrets` for every key below.
    pub fn layered_over(&self, base: &Arc<Settings>) -> Self {
        let mut settings = Self { base: Some(Arc::clone(base)), ..self.clone() };
        settings.kubernetes = settings.saying("kubernetes").kubernetes;
        settings.proposals = settings.saying("proposals").proposals;
        settings.exclude = settings.saying("exclude").exclude.clone();
        settings.unknown = settings.saying("unknown").unknown;
        settings.show_secrets = settings.saying("secrets").show_secrets;
        settings.externals = Externals {
            variables: settings.saying("externals.variables").externals.variables.clone(),
            config_maps: settings.saying("externals.configMaps").externals.config_maps.clone(),
            secrets: settings.saying("externals.secrets").externals.secrets.clone(),
            services: settings.saying("externals.services").externals.services.clone(),
        };
        settings
    }

    /// The settings that count for a key: these, or those below them.
    fn saying(&self, key: &'static str) -> &Self {
        match &self.base {
            Some(base) if !self.said.contains(&key) => base,
            _ => self,
        }
    }

    /// ConfigMaps outside the workspace, and the settings file that names them.
    pub fn external_config_maps(&self) -> (&Arc<str>, &[Object]) {
        (&self.saying("externals.configMaps").file, &self.externals.config_maps)
    }

    /// Secrets outside the workspace, likewise.
    pub fn external_secrets(&self) -> (&Arc<str>, &[Object]) {
        (&self.saying("externals.secrets").file, &self.externals.secrets)
    }

    /// Services outside the workspace, likewise.
    pub fn external_services(&self) -> (&Arc<str>, &[Object]) {
        (&self.saying("externals.services").file, &self.externals.services)
    }

    /// Whether a file is not looked at.
    pub fn excludes(&self, file: &str) -> bool {
        self.exclude.matches(&self.saying("exclude").relative(file))
    }

    /// Whether a variable is said to exist outside the workspace.
    pub fn is_external_variable(&self, name: &str) -> bool {
        self.externals.variables.matches(name)
    }

    /// The level of a rule in a file, if the settings say one: the last override that does, else `rules`.
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

    /// The same settings for a workspace below their directory, with the way down to it.
    pub fn for_subdirectory(mut self, between: &str) -> Self {
        self.directory = "".into();
        self.above = if between.is_empty() { "".into() } else { format!("{between}/").into() };
        self
    }

    /// A path as the globs see it: from the directory of the settings.
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
    fn mistake(&mut self, span: Span, message: String) {
        self.settings.errors.push(SettingsError { span, path: String::new(), message });
    }

    fn root(&mut self, root: Node<'_>) {
        for (key, value, span) in self.entries(root, keys::ROOT, "the settings") {
            self.settings.said.push(key);
            match key {
                "kubernetes" => match value.text().and_then(|text| text.parse::<KubernetesVersion>().ok()) {
                    Some(version) => self.settings.kubernetes = version,
                    None => self.mistake(span, "expected a Kubernetes release such as \"1.34\" or \"1.34.4\"".into()),
                },
                "proposals" => self.settings.proposals = self.flag(value),
                "rules" => self.settings.rules = self.rules(value),
                "exclude" => self.settings.exclude = self.globs(value, Globs::for_paths),
                "externals" => self.externals(value),
                "unknown" => self.settings.unknown = self.word(value, &UnknownPolicy::NAMES).unwrap_or_default(),
                "secrets" => {
                    for (_, show, _) in self.entries(value, keys::SECRETS, "`secrets`") {
                        self.settings.show_secrets = self.flag(show);
                    }
                }
                _ => self.overrides(value),
            }
        }
    }

    fn overrides(&mut self, list: Node<'_>) {
        for item in self.items(list, "a list of `files` and `rules`") {
            let mut it = FileOverride::default();
            for (key, value, _) in self.entries(item, keys::OVERRIDE, "an override") {
                match key {
                    "files" => it.files = self.globs(value, Globs::for_paths),
                    _ => it.rules = self.rules(value),
                }
            }
            if item.is_mapping() && item.get("files").is_none() {
                self.mistake(item.span(), "an override needs `files`: a list of globs".into());
            }
            self.settings.overrides.push(it);
        }
    }

    fn rules(&mut self, map: Node<'_>) -> Vec<RuleLevel> {
        if !map.is_mapping() {
            self.mistake(map.span(), "expected rule names with levels, such as `forward-reference: warning`".into());
        }
        let mut levels = Vec::new();
        for (key, value) in map.entries() {
            let Some(value) = value else {
                self.mistake(key.span(), "expected a level: error, warning, info, hint or off".into());
                continue;
            };
            // YAML reads `off` as false, which is what it says.
            let level = match value.typed() {
                Some(TypedScalar::Bool(false)) => Some(LintLevel::Off),
                _ => self.word(value, &LintLevel::NAMES),
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
                    self.settings.said.push("externals.variables");
                    self.settings.externals.variables = self.globs(value, Globs::for_names);
                }
                "configMaps" => {
                    self.settings.said.push("externals.configMaps");
                    self.settings.externals.config_maps = self.objects(value, ObjectData::ConfigMap, Self::source);
                }
                "secrets" => {
                    self.settings.said.push("externals.secrets");
                    self.settings.externals.secrets = self.objects(value, ObjectData::Secret, Self::source);
                }
                _ => {
                    self.settings.said.push("externals.services");
                    self.settings.externals.services = self.objects(value, ObjectData::Service, Self::service);
                }
            }
        }
    }

    /// Names with what is known of each, or a plain list of names.
    fn objects<T>(
        &mut self,
        node: Node<'_>,
        data: fn(T) -> ObjectData,
        read: fn(&mut Self, Option<Node<'_>>) -> T,
    ) -> Vec<Object> {
        let named: Vec<_> = if node.is_mapping() {
            node.entries()
        } else {
            self.items(node, "names, each with a list").into_iter().map(|name| (name, None)).collect()
        };
        let mut objects = Vec::new();
        for (name, content) in named {
            let data = data(read(self, content));
            match text(name) {
                Some(name) => {
                    let model = Model { span: name.span, name: Some(name), data, ..Model::default() };
                    objects.push(Object { offset: 0, model: Arc::new(model), parameters: None });
                }
                None => self.mistake(name.span(), "expected a name".into()),
            }
        }
        objects
    }

    /// Keys; no list, or one with `*` in it, means that any key may exist.
    fn source(&mut self, keys: Option<Node<'_>>) -> KeyedData {
        let made_by = Some("the settings");
        let Some(keys) = keys.filter(|keys| keys.typed() != Some(TypedScalar::Null)) else {
            return KeyedData { may_have_more_keys: true, made_by, ..KeyedData::default() };
        };
        let mut source = KeyedData { made_by, ..KeyedData::default() };
        for item in self.items(keys, "a list of keys") {
            match text(item) {
                Some(key) if &*key.value == "*" => source.may_have_more_keys = true,
                Some(key) => source.keys.push(DataEntry { key, value: None, value_span: None }),
                None => self.mistake(item.span(), "expected a key".into()),
            }
        }
        source
    }

    /// Ports: numbers, or entries as in a Service.
    fn service(&mut self, ports: Option<Node<'_>>) -> Service {
        let mut service = Service::default();
        let Some(ports) = ports.filter(|ports| ports.typed() != Some(TypedScalar::Null)) else { return service };
        for item in self.items(ports, "a list of ports") {
            let number = if item.is_mapping() { item.get("port") } else { Some(item) };
            let port = match number.and_then(Node::typed) {
                Some(TypedScalar::Int(port @ 1..=65535)) => i64::try_from(port).ok(),
                _ => {
                    self.mistake(item.span(), "expected a port: a number, or `name`, `port` and `protocol`".into());
                    continue;
                }
            };
            service.ports.push(ServicePort {
                name: item.get("name").and_then(text),
                port,
                port_text: None,
                protocol: item.get("protocol").and_then(text),
                span: item.span(),
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
                    self.mistake(item.span(), format!("this glob cannot be read: {}", error.kind()));
                }
                None => self.mistake(item.span(), "expected a glob".into()),
            }
        }
        build(&patterns).unwrap_or_default()
    }

    fn flag(&mut self, value: Node<'_>) -> bool {
        match value.typed() {
            Some(TypedScalar::Bool(it)) => it,
            _ => {
                self.mistake(value.span(), "expected true or false".into());
                false
            }
        }
    }

    fn word<T: Copy>(&mut self, value: Node<'_>, words: &[(&str, T)]) -> Option<T> {
        let written = value.text().unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == written).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let hint = did_you_mean(written, &names);
            self.mistake(value.span(), format!("expected one of {}{hint}", names.join(", ")));
        }
        found
    }

    fn items<'t>(&mut self, list: Node<'t>, expected: &str) -> Vec<Node<'t>> {
        if !list.is_sequence() {
            self.mistake(list.span(), format!("expected {expected}"));
        }
        list.items().collect()
    }

    /// The entries of a mapping that have one of the known keys and a value; every other one is a mistake.
    fn entries<'t>(&mut self, map: Node<'t>, known: &[SettingsKey], what: &str) -> Vec<(&'static str, Node<'t>, Span)> {
        let known = &keys::names(known)[..];
        if !map.is_mapping() && map.typed() != Some(TypedScalar::Null) {
            self.mistake(map.span(), format!("expected {what} to be keys with values: {}", known.join(", ")));
        }
        let mut found = Vec::new();
        for (key, value) in map.entries() {
            let written = key.text().unwrap_or_default();
            match (known.iter().find(|it| **it == written), value) {
                (Some(name), Some(value)) => found.push((*name, value, value.span())),
                // A key without a value says nothing, as one that is being typed.
                (Some(_), None) => {}
                (None, _) => {
                    let hint = did_you_mean(written, known);
                    let known = known.join(", ");
                    self.mistake(key.span(), format!("unknown key `{written}`{hint}; expected one of {known}"));
                }
            }
        }
        found
    }
}

/// A scalar of the settings file, with its place in it.
fn text(node: Node<'_>) -> Option<Text> {
    let node = node.resolved();
    let value = node.text()?;
    let is_string = node.string().is_some();
    Some(Text { value: value.into(), span: node.span(), style: node.style().unwrap_or(ScalarStyle::Plain), is_string })
}

fn did_you_mean(written: &str, known: &[&str]) -> String {
    known
        .iter()
        .map(|it| (strsim::osa_distance(written, it), it))
        .filter(|(distance, it)| *distance <= it.len() / 3)
        .min()
        .map_or_else(String::new, |(_, it)| format!(" (did you mean `{it}`?)"))
}
