//! Runs a simple shell script on known files and variables.
//!
//! All branches are followed, and the state is unknown where two branches differ. A script that uses other features of
//! the shell, or takes too many steps, is not followed at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::resolve::container_user::ContainerUser;
use crate::resolve::script_runner::commands;
use crate::resolve::script_runner::file_modes::FilePermissions;
use crate::resolve::script_runner::file_system::{FileLocation, FileState, FileSystem, MountPoint};
use crate::resolve::script_runner::traced_text::{ScriptPosition, TracedCharacter, TracedText};
use crate::resolve::value::{ResolvedValue, ValuePart};
use crate::syntax::{
    ShellCommand, ShellCommandKind, ShellCommandList, ShellOperator, ShellQuote, ShellRedirect, ShellRedirectKind,
    ShellScript, ShellWord, ShellWordPart, ShellWordPartKind,
};
use crate::text::Span;

/// The maximum number of commands.
const MAX_STEPS: usize = 10_000;
/// The maximum number of copied characters.
const MAX_CHARACTERS: usize = 2_000_000;
/// The maximum number of rounds of a `for` loop.
const MAX_ROUNDS: usize = 64;
/// The maximum number of conditions of an `if`, which are nested for the interpreter.
const MAX_BRANCHES: usize = 32;

/// Looks up an environment variable of the container.
pub(super) type VariableLookup<'a> = dyn Fn(&str) -> Option<ResolvedValue> + 'a;

/// The container that runs a script.
pub(super) struct ScriptContext<'a> {
    /// The index of the script, for the positions of its output.
    pub(super) script: u32,
    /// Ranges of the script that come from a secret or unknown value.
    pub(super) origins: &'a [(Span, Arc<ValuePart>)],
    pub(super) shell: commands::ShellVariant,
    pub(super) mounts: &'a [MountPoint],
    pub(super) lookup: &'a VariableLookup<'a>,
    /// Whether later containers only run if the script succeeds.
    pub(super) must_succeed: bool,
    /// Whether it runs with `sh -e`.
    pub(super) stops_at_failure: bool,
    /// The user that runs it, who owns the files that it makes.
    pub(super) user: ContainerUser,
}

/// The value of a shell variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ShellVariable {
    Set(TracedText),
    Unset,
    Unknown,
}

/// The exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitStatus {
    Success,
    Failure,
    Unknown,
}

/// The state that commands change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShellState {
    pub(super) file_system: FileSystem,
    pub(super) variables: BTreeMap<String, ShellVariable>,
    /// The working directory, if it is known.
    pub(super) directory: Option<String>,
    /// The permissions of new files, by `umask`.
    pub(super) new_file: FilePermissions,
    /// The permissions of new directories, by `umask`.
    pub(super) new_directory: FilePermissions,
    pub(super) status: ExitStatus,
    pub(super) stops_at_failure: bool,
    /// Whether the shell or subshell has exited.
    pub(super) has_ended: bool,
}

/// The script cannot be followed.
pub(super) struct NotFollowed;
pub(super) type Followed<T = ()> = Result<T, NotFollowed>;

pub(super) struct Interpreter<'a> {
    pub(super) context: &'a ScriptContext<'a>,
    script: &'a ShellScript,
    pub(super) state: ShellState,
    /// For each shell and subshell, the states in which it may have exited.
    ends: Vec<Vec<ShellState>>,
    /// Files that the surrounding commands are writing to.
    open_files: Vec<FileLocation>,
    steps: usize,
    characters: usize,
}

/// Runs a script on a file system, and returns the resulting file system.
pub(super) fn run(
    context: &ScriptContext<'_>,
    script: &ShellScript,
    file_system: FileSystem,
    directory: Option<String>,
) -> Result<FileSystem, NotFollowed> {
    let state = ShellState {
        file_system,
        variables: BTreeMap::new(),
        directory,
        new_file: FilePermissions::of_user(context.user.id()),
        new_directory: FilePermissions::of_user(context.user.id()),
        status: ExitStatus::Success,
        stops_at_failure: context.stops_at_failure,
        has_ended: false,
    };
    let mut interpreter =
        Interpreter { context, script, state, ends: vec![Vec::new()], open_files: Vec::new(), steps: 0, characters: 0 };
    interpreter.run_list(&script.list, &TracedText::open(), &mut TracedText::default(), context.must_succeed)?;
    let ends = interpreter.ends.pop().unwrap_or_default();
    let last = Some(interpreter.state).filter(|state| !state.has_ended);
    // The script never succeeds, so no later container runs.
    last.into_iter()
        .chain(ends)
        .map(|state| state.file_system)
        .reduce(|one, other| one.merged(&other))
        .ok_or(NotFollowed)
}

impl ShellState {
    fn merged(self, other: ShellState) -> ShellState {
        if self.has_ended {
            return other;
        }
        if other.has_ended {
            return self;
        }
        let mut variables = BTreeMap::new();
        for name in self.variables.keys().chain(other.variables.keys()) {
            let (one, two) = (self.variables.get(name), other.variables.get(name));
            let both = one.filter(|_| one == two).cloned().unwrap_or(ShellVariable::Unknown);
            variables.insert(name.clone(), both);
        }
        ShellState {
            file_system: self.file_system.merged(&other.file_system),
            variables,
            directory: self.directory.filter(|it| other.directory.as_ref() == Some(it)),
            new_file: self.new_file.common(other.new_file),
            new_directory: self.new_directory.common(other.new_directory),
            status: if self.status == other.status { self.status } else { ExitStatus::Unknown },
            stops_at_failure: self.stops_at_failure && other.stops_at_failure,
            has_ended: false,
        }
    }
}

impl<'a> Interpreter<'a> {
    /// Runs commands; `is_last` means that no command follows, and that the result only matters if they succeed.
    fn run_list(
        &mut self,
        list: &'a ShellCommandList,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        for (at, command) in list.iter().enumerate() {
            self.run_command(command, input, output, is_last && at + 1 == list.len())?;
            if self.state.stops_at_failure && self.state.status == ExitStatus::Failure {
                self.exit(ExitStatus::Failure);
            }
            if self.state.has_ended {
                break;
            }
        }
        Ok(())
    }

    fn run_command(
        &mut self,
        command: &'a ShellCommand,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        if command.redirects.is_empty() {
            return self.run_kind(&command.kind, input, output, is_last);
        }
        let mut input = input.clone();
        let mut target = OutputTarget::Inherited;
        let opened = self.open_files.len();
        let mut is_certain = true;
        for redirect in &command.redirects {
            is_certain &= self.apply_redirect(redirect, &mut input, &mut target)?;
        }
        let mut written = TracedText::default();
        if is_certain {
            self.run_kind(&command.kind, &input, &mut written, is_last)?;
        } else {
            // If a file cannot be opened, the command does not run.
            self.run_maybe(&mut written, |interpreter, written| {
                interpreter.run_kind(&command.kind, &input, written, false)
            })?;
            self.state.status = ExitStatus::Unknown;
        }
        self.count_characters(written.characters.len())?;
        self.open_files.truncate(opened);
        match target {
            OutputTarget::Inherited => output.append(&written),
            OutputTarget::Nowhere => {}
            OutputTarget::File(place) => self.append(&place, &written),
        }
        Ok(())
    }

    /// Applies a redirection, and returns whether it certainly succeeds.
    fn apply_redirect(
        &mut self,
        redirect: &'a ShellRedirect,
        input: &mut TracedText,
        target: &mut OutputTarget,
    ) -> Followed<bool> {
        let mut is_certain = true;
        match redirect.kind {
            ShellRedirectKind::Document(number) => {
                let word = self.script.documents.get(number).ok_or(NotFollowed)?;
                *input = self.expand_word(word)?;
            }
            ShellRedirectKind::Text if self.context.shell == commands::ShellVariant::Bash => {
                *input = self.expand_word(&redirect.target)?;
                input.push(character('\n', self.position(redirect.target.span, ShellQuote::Bare)));
            }
            ShellRedirectKind::Text => return Err(NotFollowed),
            ShellRedirectKind::Read => {
                let path = self.expand_word(&redirect.target)?;
                let state = self.locate(&path).map(|place| self.state.file_system.get(&place));
                *input = match state {
                    Some(FileState::Known(text)) => (*text).clone(),
                    _ => TracedText::open(),
                };
                is_certain = !input.is_open || path.is("/dev/null");
            }
            ShellRedirectKind::DuplicateOutput => {
                let to = self.expand_word(&redirect.target)?;
                match (redirect.descriptor.unwrap_or(1), to.known().as_deref()) {
                    (1, Some("2")) => *target = OutputTarget::Nowhere,
                    (2, Some("1")) => {}
                    _ => return Err(NotFollowed),
                }
            }
            ShellRedirectKind::Write | ShellRedirectKind::Append => {
                let path = self.expand_word(&redirect.target)?;
                let is_output = match redirect.descriptor.unwrap_or(1) {
                    1 => true,
                    2 => false,
                    _ => return Err(NotFollowed),
                };
                let opened = match path.known().as_deref() {
                    Some("/dev/null" | "/dev/stderr") => OutputTarget::Nowhere,
                    Some("/dev/stdout") => return Ok(true),
                    _ => match self.locate(&path) {
                        Some(place) => OutputTarget::File(place),
                        None => {
                            self.make_unknown();
                            is_certain = false;
                            OutputTarget::Nowhere
                        }
                    },
                };
                if let OutputTarget::File(place) = &opened {
                    is_certain = self.state.file_system.has_directory(place);
                    let is_new = self.state.file_system.get(place) == FileState::Absent;
                    if redirect.kind == ShellRedirectKind::Write || is_new {
                        self.write(place, FileState::Known(Arc::default()));
                    }
                    self.open_files.push(place.clone());
                }
                if is_output {
                    *target = opened;
                }
            }
        }
        Ok(is_certain)
    }

    fn run_kind(
        &mut self,
        kind: &'a ShellCommandKind,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(NotFollowed);
        }
        match kind {
            ShellCommandKind::Simple { assignments, words } => self.run_simple(assignments, words, input, output),
            ShellCommandKind::Group(list) => self.run_list(list, input, output, is_last),
            ShellCommandKind::Subshell(list) => self.run_subshell(input, output, |interpreter, input, output| {
                interpreter.run_list(list, input, output, is_last)
            }),
            ShellCommandKind::Pipeline(stages) => {
                let mut input = input.clone();
                for (at, stage) in stages.iter().enumerate() {
                    let mut between = TracedText::default();
                    self.run_subshell(&input, &mut between, |interpreter, input, output| {
                        interpreter.run_command(stage, input, output, false)
                    })?;
                    if at + 1 == stages.len() {
                        output.append(&between);
                    }
                    input = between;
                }
                Ok(())
            }
            ShellCommandKind::Not(inner) => {
                self.run_condition(|interpreter| interpreter.run_command(inner, input, output, false))?;
                self.state.status = match self.state.status {
                    ExitStatus::Success => ExitStatus::Failure,
                    ExitStatus::Failure => ExitStatus::Success,
                    ExitStatus::Unknown => ExitStatus::Unknown,
                };
                // `set -e` ignores its status.
                if self.state.stops_at_failure && self.state.status == ExitStatus::Failure {
                    self.state.status = ExitStatus::Unknown;
                }
                Ok(())
            }
            ShellCommandKind::Chain(first, rest) => self.run_chain(first, rest, input, output, is_last),
            ShellCommandKind::If { branches, otherwise } => {
                self.run_branches(branches, otherwise, input, output, is_last)
            }
            ShellCommandKind::Loop { condition, body } => self.run_repeatedly(output, |interpreter, output| {
                interpreter.run_condition(|interpreter| interpreter.run_list(condition, input, output, false))?;
                interpreter.run_list(body, input, output, false)
            }),
            ShellCommandKind::For { name, words, body } => {
                let fields = self.split_words(words)?;
                if fields.len() > MAX_ROUNDS || fields.iter().any(|it| it.is_open) {
                    self.state.variables.insert(name.clone(), ShellVariable::Unknown);
                    return self.run_repeatedly(output, |interpreter, output| {
                        interpreter.run_list(body, input, output, false)
                    });
                }
                self.state.status = ExitStatus::Success;
                for field in fields {
                    self.state.variables.insert(name.clone(), ShellVariable::Set(field));
                    self.run_list(body, input, output, false)?;
                    if self.state.has_ended {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// Runs a chain of `&&` and `||`.
    fn run_chain(
        &mut self,
        first: &'a ShellCommand,
        rest: &'a [(ShellOperator, ShellCommand)],
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        // After `||` a command also runs if the ones before it fail.
        let after_or = rest.iter().rposition(|(operator, _)| *operator == ShellOperator::Or).map_or(0, |at| at + 1);
        // `set -e` only checks the last command of a chain.
        let stops = std::mem::replace(&mut self.state.stops_at_failure, false);
        self.run_command(first, input, output, is_last && after_or == 0)?;
        for (at, (operator, command)) in rest.iter().enumerate() {
            if self.state.has_ended {
                break;
            }
            if at + 1 == rest.len() {
                self.state.stops_at_failure = stops;
            }
            self.run_link(*operator, command, input, output, is_last && at + 1 >= after_or)?;
        }
        Ok(())
    }

    /// Runs a command of a chain, if the status before it lets it run.
    fn run_link(
        &mut self,
        operator: ShellOperator,
        command: &'a ShellCommand,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        let wanted = match operator {
            ShellOperator::And => ExitStatus::Success,
            ShellOperator::Or => ExitStatus::Failure,
        };
        match self.state.status {
            status if status == wanted => self.run_command(command, input, output, is_last),
            // Otherwise the script would fail, and no container would read its files.
            ExitStatus::Unknown if wanted == ExitStatus::Success && is_last => {
                self.run_command(command, input, output, is_last)
            }
            ExitStatus::Unknown => {
                self.run_maybe(output, |interpreter, output| interpreter.run_command(command, input, output, false))
            }
            // The command that failed is not the last one, so `set -e` ignores it.
            _ if self.state.stops_at_failure => {
                self.state.status = ExitStatus::Unknown;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn run_branches(
        &mut self,
        branches: &'a [(ShellCommandList, ShellCommandList)],
        otherwise: &'a ShellCommandList,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        if branches.len() > MAX_BRANCHES {
            return Err(NotFollowed);
        }
        let Some(((condition, body), rest)) = branches.split_first() else {
            self.state.status = ExitStatus::Success;
            return self.run_list(otherwise, input, output, is_last);
        };
        self.run_condition(|interpreter| interpreter.run_list(condition, input, output, false))?;
        if self.state.has_ended {
            return Ok(());
        }
        match self.state.status {
            ExitStatus::Success => self.run_list(body, input, output, is_last),
            ExitStatus::Failure => self.run_branches(rest, otherwise, input, output, is_last),
            ExitStatus::Unknown => {
                let before = self.state.clone();
                let mut one = TracedText::default();
                self.run_list(body, input, &mut one, false)?;
                let after = std::mem::replace(&mut self.state, before);
                let mut two = TracedText::default();
                self.run_branches(rest, otherwise, input, &mut two, false)?;
                let other = std::mem::replace(&mut self.state, after);
                self.merge_state(other);
                output.append(&one.common_start(&two));
                Ok(())
            }
        }
    }

    /// Runs commands that may or may not run.
    fn run_maybe(
        &mut self,
        output: &mut TracedText,
        run: impl FnOnce(&mut Self, &mut TracedText) -> Followed,
    ) -> Followed {
        let before = self.state.clone();
        let mut written = TracedText::default();
        run(self, &mut written)?;
        self.merge_state(before);
        if written != TracedText::default() {
            output.append(&TracedText::open());
        }
        Ok(())
    }

    /// Runs commands that run any number of times.
    fn run_repeatedly(
        &mut self,
        output: &mut TracedText,
        mut run: impl FnMut(&mut Self, &mut TracedText) -> Followed,
    ) -> Followed {
        for _ in 0..4 {
            let before = self.state.clone();
            self.run_maybe(output, &mut run)?;
            self.state.status = ExitStatus::Unknown;
            if self.state == (ShellState { status: ExitStatus::Unknown, ..before }) {
                return Ok(());
            }
        }
        Err(NotFollowed)
    }

    /// Merges a state that the script may be in instead.
    fn merge_state(&mut self, other: ShellState) {
        let own = std::mem::replace(&mut self.state, other.clone());
        self.state = own.merged(other);
    }

    /// Runs a condition, in which a failure does not end the script.
    fn run_condition(&mut self, run: impl FnOnce(&mut Self) -> Followed) -> Followed {
        let stops = std::mem::replace(&mut self.state.stops_at_failure, false);
        run(self)?;
        self.state.stops_at_failure = stops;
        Ok(())
    }

    /// Runs commands in a subshell: their variables, directory and `umask` are discarded.
    fn run_subshell(
        &mut self,
        input: &TracedText,
        output: &mut TracedText,
        run: impl FnOnce(&mut Self, &TracedText, &mut TracedText) -> Followed,
    ) -> Followed {
        let (variables, directory) = (self.state.variables.clone(), self.state.directory.clone());
        let (new_file, new_directory) = (self.state.new_file, self.state.new_directory);
        self.ends.push(Vec::new());
        run(self, input, output)?;
        for end in self.ends.pop().unwrap_or_default() {
            self.merge_state(ShellState { has_ended: false, ..end });
        }
        self.state.has_ended = false;
        self.state.variables = variables;
        self.state.directory = directory;
        (self.state.new_file, self.state.new_directory) = (new_file, new_directory);
        Ok(())
    }

    /// Exits the shell or subshell.
    pub(super) fn exit(&mut self, status: ExitStatus) {
        let is_inner = self.ends.len() > 1;
        self.state.status = status;
        // A script that fails is restarted until it succeeds.
        if (is_inner || status != ExitStatus::Failure)
            && let Some(ends) = self.ends.last_mut()
        {
            ends.push(self.state.clone());
        }
        self.state.has_ended = true;
    }

    fn run_simple(
        &mut self,
        assignments: &'a [(String, ShellWord)],
        words: &'a [ShellWord],
        input: &TracedText,
        output: &mut TracedText,
    ) -> Followed {
        let mut values = Vec::new();
        let fields = self.split_words(words)?;
        for (name, word) in assignments {
            values.push((name, self.expand_word(word)?));
        }
        if !fields.is_empty() {
            // The words of a command do not see the assignments before it, but some builtins keep these.
            let is_seen = fields[0].known().is_none_or(|name| commands::keeps_assignments(&name));
            if !values.is_empty() && is_seen {
                return Err(NotFollowed);
            }
            return commands::run(self, fields, input, output);
        }
        let has_command =
            |word: &ShellWord| word.parts.iter().any(|it| matches!(it.kind, ShellWordPartKind::Command(_)));
        self.state.status = match assignments.iter().any(|(_, word)| has_command(word)) {
            true => ExitStatus::Unknown,
            false => ExitStatus::Success,
        };
        for (name, value) in values {
            self.set_variable(name, ShellVariable::Set(value))?;
        }
        Ok(())
    }

    pub(super) fn set_variable(&mut self, name: &str, value: ShellVariable) -> Followed {
        // `IFS` changes how words are split.
        if name == "IFS" {
            return Err(NotFollowed);
        }
        self.state.variables.insert(name.to_owned(), value);
        Ok(())
    }

    /// The arguments of a command: expanded and split words.
    fn split_words(&mut self, words: &'a [ShellWord]) -> Followed<Vec<TracedText>> {
        let mut fields = Vec::new();
        for word in words {
            let mut current: Option<TracedText> = None;
            for part in &word.parts {
                let text = self.expand_part(part)?;
                let is_split = part.quote == ShellQuote::Bare && !matches!(part.kind, ShellWordPartKind::Text(_));
                if !is_split {
                    current.get_or_insert_default().append(&text);
                    continue;
                }
                for it in text.characters {
                    if matches!(it.value, ' ' | '\t' | '\n') {
                        fields.extend(current.take());
                    } else {
                        current.get_or_insert_default().push(it);
                    }
                }
                if text.is_open {
                    current.get_or_insert_default().is_open = true;
                }
            }
            if let Some(field) = current {
                fields.push(if is_pattern(&field) { TracedText::open() } else { field });
            }
        }
        self.count_characters(fields.iter().map(|it| it.characters.len()).sum())?;
        Ok(fields)
    }

    /// Expands a word without splitting it: a value, a path, a here-document.
    pub(super) fn expand_word(&mut self, word: &'a ShellWord) -> Followed<TracedText> {
        let mut text = TracedText::default();
        for part in &word.parts {
            let part = self.expand_part(part)?;
            text.append(&part);
        }
        self.count_characters(text.characters.len())?;
        Ok(text)
    }

    fn expand_part(&mut self, part: &'a ShellWordPart) -> Followed<TracedText> {
        let is_literal = part.quote != ShellQuote::Bare;
        let place = self.position(part.span, part.quote);
        Ok(match &part.kind {
            ShellWordPartKind::Text(text) => self.literal_text(text, part),
            ShellWordPartKind::Parameter { name, otherwise, also_for_empty } => {
                let value = match self.state.variables.get(name) {
                    Some(ShellVariable::Set(text)) => Some(at_position(text, place, is_literal)),
                    Some(ShellVariable::Unset) => None,
                    Some(ShellVariable::Unknown) => Some(TracedText::open()),
                    // The image may define variables that the container does not declare.
                    None => Some(
                        (self.context.lookup)(name)
                            .map_or_else(TracedText::open, |value| TracedText::from_value(&value, place, is_literal)),
                    ),
                };
                let is_missing = match &value {
                    None => true,
                    Some(text) => *also_for_empty && *text == TracedText::default(),
                };
                match (otherwise, value) {
                    (Some(word), _) if is_missing => self.expand_word(word)?,
                    (_, value) => value.unwrap_or_default(),
                }
            }
            ShellWordPartKind::Command(list) => {
                let mut written = TracedText::default();
                self.run_subshell(&TracedText::open(), &mut written, |interpreter, input, output| {
                    interpreter.run_list(list, input, output, false)
                })?;
                at_position(&written.without_final_newlines(), place, is_literal)
            }
            ShellWordPartKind::Unknown => TracedText::open(),
        })
    }

    /// Literal text of the script.
    fn literal_text(&self, text: &str, part: &ShellWordPart) -> TracedText {
        let is_escape = text.len() != part.span.len();
        let mut result = TracedText::default();
        for (at, value) in text.char_indices() {
            let span = match is_escape {
                true => part.span,
                false => Span::new(part.span.start + at, part.span.start + at + value.len_utf8()),
            };
            let holds = |origin: &&(Span, Arc<ValuePart>)| origin.0.start <= span.start && span.end <= origin.0.end;
            let origin = self.context.origins.iter().find(holds).map(|(_, piece)| Arc::clone(piece));
            let is_literal = part.quote != ShellQuote::Bare || is_escape;
            result.push(TracedCharacter { value, place: self.position(span, part.quote), is_literal, origin });
        }
        result
    }

    pub(super) fn position(&self, span: Span, quote: ShellQuote) -> ScriptPosition {
        ScriptPosition::new(self.context.script, span, quote)
    }

    /// The file at a path; `None` if the path is unknown.
    pub(super) fn locate(&self, path: &TracedText) -> Option<FileLocation> {
        self.locate_path(&path.known()?)
    }

    pub(super) fn locate_path(&self, path: &str) -> Option<FileLocation> {
        let path = match path.chars().next()? {
            '/' => path.to_owned(),
            _ => format!("{}/{path}", self.state.directory.as_deref()?),
        };
        Some(FileSystem::locate(self.context.mounts, &path))
    }

    /// Writes a file.
    pub(super) fn write(&mut self, place: &FileLocation, state: FileState) {
        // The result of two commands that write to one file at the same time is unknown.
        let is_open = self.open_files.contains(place);
        let is_new = self.state.file_system.get(place) == FileState::Absent;
        self.state.file_system.set(place, if is_open { FileState::Unknown } else { state });
        if is_new {
            self.state.file_system.set_permissions(place, self.state.new_file);
        }
    }

    /// Removes a file. Files that are still open for writing become unknown.
    pub(super) fn remove(&mut self, place: &FileLocation) {
        self.state.file_system.remove(place);
        for open in self.open_files.clone() {
            if self.state.file_system.get(&open) == FileState::Absent {
                self.state.file_system.set(&open, FileState::Unknown);
            }
        }
    }

    /// Whether a surrounding command is writing to a file.
    pub(super) fn is_open(&self, place: &FileLocation) -> bool {
        self.open_files.contains(place)
    }

    /// Appends to a file.
    pub(super) fn append(&mut self, place: &FileLocation, text: &TracedText) {
        let state = match self.state.file_system.get(place) {
            FileState::Known(before) => {
                let mut whole = (*before).clone();
                whole.append(text);
                FileState::Known(Arc::new(whole))
            }
            FileState::Absent => FileState::Known(Arc::new(text.clone())),
            FileState::Unknown => FileState::Unknown,
        };
        self.write(place, state);
    }

    /// Makes all files unknown, after a command that may have changed any.
    pub(super) fn make_unknown(&mut self) {
        self.state.file_system.make_unknown(self.context.mounts);
    }

    pub(super) fn count_characters(&mut self, characters: usize) -> Followed {
        self.characters += characters;
        if self.characters > MAX_CHARACTERS { Err(NotFollowed) } else { Ok(()) }
    }
}

/// The target of a command's output.
enum OutputTarget {
    Inherited,
    Nowhere,
    File(FileLocation),
}

/// A character that the shell adds.
pub(super) fn character(value: char, place: ScriptPosition) -> TracedCharacter {
    TracedCharacter { value, place, is_literal: true, origin: None }
}

/// A text at another position in the script.
fn at_position(text: &TracedText, place: ScriptPosition, is_literal: bool) -> TracedText {
    let at = |it: &TracedCharacter| TracedCharacter { place, is_literal, ..it.clone() };
    TracedText { characters: text.characters.iter().map(at).collect(), is_open: text.is_open }
}

/// Whether the shell would expand the field to file names.
fn is_pattern(field: &TracedText) -> bool {
    let bare = |it: &&TracedCharacter| !it.is_literal;
    let mut opened = false;
    field.characters.iter().filter(bare).any(|it| match it.value {
        '*' | '?' => true,
        '[' => {
            opened = true;
            false
        }
        ']' => opened,
        _ => false,
    })
}
