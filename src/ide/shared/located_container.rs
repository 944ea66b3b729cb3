//! Containers with their file, object and pod; the texts in them; and the text of a file with its tree.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::k8s::{Container, ContainerField, EnvVar, Object, ObjectData, Pod, PodPreset, Text, VariableScope};
use crate::resolve::{Environment, Lookup, is_script_item};
use crate::rules::{ContainerContext, FileContext, ObjectContext, PodContext};
use crate::syntax::{DollarTokenKind, EnvFileDialect, SourceMap, dollar_tokens, shell_variables};
use crate::text::Span;
use crate::workspace::ParsedText;
use crate::workspace::{File, LookupSite};

/// A container with its file, object and pod.
#[derive(Clone, Debug)]
pub(crate) struct LocatedContainer<'s> {
    /// The file.
    pub(crate) file: Arc<str>,
    /// The parsed file.
    pub(crate) facts: &'s File,
    /// The object.
    pub(crate) object: &'s Object,
    /// The pod.
    pub(crate) pod: &'s Pod,
    /// The container.
    pub(crate) container: &'s Container,
}

impl<'s> LocatedContainer<'s> {
    /// Every container of a file.
    pub(crate) fn all(file: &Arc<str>, facts: &'s File) -> impl Iterator<Item = LocatedContainer<'s>> {
        facts.objects.iter().flat_map(move |object| Self::of_object(file, facts, object))
    }

    /// The containers of an object.
    pub(crate) fn of_object(
        file: &Arc<str>,
        facts: &'s File,
        object: &'s Object,
    ) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        let file = Arc::clone(file);
        object.model.pods.iter().flat_map(move |pod| {
            let file = Arc::clone(&file);
            pod.containers.iter().map(move |container| LocatedContainer {
                file: Arc::clone(&file),
                facts,
                object,
                pod,
                container,
            })
        })
    }

    /// The containers of an object; for a PodPreset its entries as one container. The environment of that container is
    /// not the environment in a pod: see [`preset_reach`](crate::ide::shared::preset_reach).
    pub(crate) fn of_object_or_preset(
        file: &Arc<str>,
        facts: &'s File,
        object: &'s Object,
    ) -> impl Iterator<Item = LocatedContainer<'s>> + use<'s> {
        let file_ = Arc::clone(file);
        let preset = preset_of(object).and_then(|preset| Some((preset, preset.container()?)));
        let preset = preset.map(|(preset, container)| LocatedContainer {
            file: file_,
            facts,
            object,
            pod: &preset.pod,
            container,
        });
        Self::of_object(file, facts, object).chain(preset)
    }

    /// The containers of a file, with its PodPresets as containers.
    pub(crate) fn all_with_presets(file: &Arc<str>, facts: &'s File) -> impl Iterator<Item = LocatedContainer<'s>> {
        facts.objects.iter().flat_map(move |object| Self::of_object_or_preset(file, facts, object))
    }

    /// Whether it holds the entries of a PodPreset.
    pub(crate) fn is_preset(&self) -> bool {
        preset_of(self.object).is_some_and(|it| std::ptr::eq(&it.pod, self.pod))
    }

    /// Its environment.
    pub(crate) fn environment(&self, analysis: &Analysis<'_>) -> Environment {
        analysis.resolver.environment(&self.file, self.object, self.pod, self.container)
    }

    /// Whether it covers an offset.
    pub(crate) fn touches(&self, offset: usize) -> bool {
        self.object.file_span(self.container.span).touches(offset)
    }

    /// A span of the object as a location.
    pub(crate) fn at(&self, span: Span) -> Location {
        Location { file: Arc::clone(&self.file), span: self.object.file_span(span) }
    }

    /// Whether a shell reads the text of a field.
    pub(crate) fn is_script(&self, environment: &Environment, field: ContainerField) -> bool {
        let item = match field {
            ContainerField::Command(at) => environment.command.get(at),
            ContainerField::Args(at) => environment.args.get(at),
            ContainerField::ProbeCommand(probe, at) => environment.probes.get(probe).and_then(|it| it.command.get(at)),
            // The command of a hook.
            ContainerField::Unexpanded(at) => return is_script_item(&self.container.unexpanded, at),
            ContainerField::EnvValue(_) | ContainerField::SubPathExpr(_) => None,
        };
        item.is_some_and(|it| it.is_script)
    }

    /// The variables that a shell reads in the text of a field, `$NAME` and `${NAME}`. A `${NAME}` of a template parameter is
    /// left out, because it is replaced before.
    pub(crate) fn shell_reads(
        &self,
        environment: &Environment,
        field: ContainerField,
        text: &'s Text,
    ) -> Vec<ShellRead<'s>> {
        if !text.value.contains('$') || !self.is_script(environment, field) {
            return Vec::new();
        }
        let script = match field.variable_scope() {
            Some(site) => Cow::Owned(script_after_expansion(environment, site, &text.value)),
            None => Cow::Borrowed(&*text.value),
        };
        let parameters = self.object.parameters.as_ref();
        let names = shell_variables(&script).into_iter().filter_map(|it| {
            let name = text.value.get(it.range.clone())?;
            let is_parameter =
                text.value[..it.range.start].ends_with('{') && parameters.is_some_and(|it| it.contains(name));
            let doubt = match it.is_literal {
                true => Some(ShellDoubt::Quoted),
                false => assigns(&text.value, name).then_some(ShellDoubt::Assigned),
            };
            (!is_parameter).then_some(ShellRead { range: it.range, name, doubt })
        });
        names.collect()
    }

    /// The variables of [`Self::shell_reads`] without those that may mean something else.
    pub(crate) fn shell_names(
        &self,
        environment: &Environment,
        field: ContainerField,
        text: &'s Text,
    ) -> impl Iterator<Item = (Range<usize>, &'s str)> {
        let all = self.shell_reads(environment, field, text).into_iter();
        all.filter(|it| it.doubt.is_none()).map(|it| (it.range, it.name))
    }

    /// The entry of `env` whose name is at a location.
    pub(crate) fn entry_at(&self, location: &Location) -> Option<(usize, &'s EnvVar)> {
        let is_it = |it: &&'s EnvVar| it.name.as_ref().is_some_and(|it| self.at(it.span) == *location);
        let index = self.container.env.iter().position(|it| is_it(&it))?;
        Some((index, &self.container.env[index]))
    }

    /// Calls a function of `rules` with the context of the container.
    pub(crate) fn with_context<T>(
        &self,
        analysis: &Analysis<'_>,
        environment: &Environment,
        call: impl FnOnce(&ContainerContext<'_>) -> T,
    ) -> T {
        let Analysis { snapshot, resolver, sources } = *analysis;
        let file = FileContext { snapshot, resolver, path: &self.file, facts: self.facts, texts: sources };
        let object = ObjectContext { file: &file, object: self.object };
        let pod = PodContext { object: &object, pod: self.pod };
        call(&ContainerContext { pod: &pod, container: self.container, environment })
    }
}

/// A variable that a shell reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellRead<'s> {
    /// The range of its name in the value of the text.
    pub(crate) range: Range<usize>,
    /// Its name.
    pub(crate) name: &'s str,
    /// Why it may not be the variable of the container.
    pub(crate) doubt: Option<ShellDoubt>,
}

/// Why a name in a script may not be the variable of the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellDoubt {
    /// The script assigns it.
    Assigned,
    /// It is in single quotes, which the shell does not expand; a program that gets the text may.
    Quoted,
}

/// The script as the shell gets it, with the same offsets: the first `$` of `$$` and all replaced references are filled
/// with `x`.
fn script_after_expansion(environment: &Environment, site: VariableScope, text: &str) -> String {
    let mut script = text.to_owned();
    for token in dollar_tokens(text) {
        let range = match (token.kind, token.name(text)) {
            (DollarTokenKind::Escape, _) => token.range.start..token.range.start + 1,
            (DollarTokenKind::Reference, Some(name)) if matches!(environment.lookup(site, name), Lookup::Bound(_)) => {
                token.range.clone()
            }
            _ => continue,
        };
        let filler = "x".repeat(range.len());
        script.replace_range(range, &filler);
    }
    script
}

/// Whether a script assigns a variable: `NAME=`, `for NAME`, `read NAME`, `local NAME`, `unset NAME`.
fn assigns(script: &str, name: &str) -> bool {
    script.match_indices(name).any(|(at, _)| {
        let (before, after) = (&script[..at], &script[at + name.len()..]);
        let is_word = !before.ends_with(|it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '{'));
        let word = before.trim_end().rsplit(|it: char| it.is_whitespace() || it == ';').next().unwrap_or_default();
        let follows_keyword =
            matches!(word, "for" | "read" | "-r" | "local" | "declare" | "unset") && before.ends_with(' ');
        is_word && (follows_keyword || after.starts_with('=') || after.starts_with("+="))
    })
}

/// The PodPreset data of an object.
pub(crate) fn preset_of(object: &Object) -> Option<&PodPreset> {
    match &object.model.data {
        ObjectData::Preset(preset) => Some(preset),
        _ => None,
    }
}

/// The pods of an object; for a PodPreset its entries as a pod.
pub(crate) fn pods_of(object: &Object) -> impl Iterator<Item = &Pod> {
    object.model.pods.iter().chain(preset_of(object).map(|it| &it.pod))
}

/// The site that names in an object are looked up from.
pub(crate) fn lookup_site<'a>(file: &'a str, object: &'a Object) -> LookupSite<'a> {
    LookupSite { file, namespace: object.namespace() }
}

/// The objects around an offset, the innermost first.
pub(crate) fn objects_at(facts: &File, offset: usize) -> Vec<&Object> {
    let mut found: Vec<&Object> =
        facts.objects.iter().filter(|it| it.file_span(it.model.span).touches(offset)).collect();
    found.sort_by_key(|it| it.model.span.len());
    found
}

/// The container at an offset.
pub(crate) fn container_at<'s>(file: &Arc<str>, facts: &'s File, offset: usize) -> Option<LocatedContainer<'s>> {
    objects_at(facts, offset)
        .into_iter()
        .flat_map(|object| LocatedContainer::of_object(file, facts, object))
        .find(|it| it.touches(offset))
}

/// A file's text and tree.
#[derive(Clone, Debug)]
pub(crate) struct FileText {
    /// The text and its tree.
    pub(crate) source: Arc<ParsedText>,
}

impl FileText {
    /// The text as parsed, with the same offsets as the file.
    pub(crate) fn text(&self) -> &str {
        self.source.masked_text()
    }

    /// The source map of the scalar at a span of the file.
    pub(crate) fn map(&self, span: Span, text: &Text) -> Option<SourceMap> {
        Some(SourceMap::new(self.text().get(span.range())?, text.style, &text.value))
    }

    /// The span in the file of a range in a scalar's value.
    pub(crate) fn inside(&self, span: Span, text: &Text, range: Range<usize>) -> Span {
        self.map(span, text).map_or(span, |map| map.source_span(range).shifted(span.start))
    }

    /// The line at an offset, without its line break.
    pub(crate) fn line(&self, offset: usize) -> Span {
        let text = self.text();
        let offset = floor(text, offset);
        let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |len| offset + len);
        Span::new(start, start + text[start..end].trim_end_matches('\r').len())
    }
}

/// The last character boundary at or before an offset.
pub(crate) fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl Analysis<'_> {
    /// The text and tree of a file.
    pub(crate) fn file_text(&self, file: &str) -> Option<FileText> {
        Some(FileText { source: self.sources.parsed_text(file)? })
    }

    /// The dialect of an env file; `None` for other files.
    pub(crate) fn dialect(&self, file: &str) -> Option<EnvFileDialect> {
        let is_env_file = self.snapshot.file(file).is_some_and(|it| it.is_env_format());
        is_env_file.then(|| self.resolver.env_file_syntax(file).dialect)
    }

    /// Whether values of Secrets may be shown in a file.
    pub(crate) fn reveals(&self, file: &str) -> bool {
        self.snapshot.settings(file).show_secrets
    }
}
