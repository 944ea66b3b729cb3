//! Runs a plain script on what is known: its files, its variables, its output.
//!
//! Every path it may take is followed, and where two paths differ the answer is unknown. A script that leaves the plain
//! language, or takes too long, is lost as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::resolve::script_runner::commands;
use crate::resolve::script_runner::file_system::{FileLocation, FileState, FileSystem, MountPoint};
use crate::resolve::script_runner::traced_text::{ScriptPosition, TracedCharacter, TracedText};
use crate::resolve::value::{ResolvedValue, ValuePart};
use crate::syntax::{
    ShellCommand, ShellCommandKind, ShellCommandList, ShellQuote, ShellRedirect, ShellRedirectKind, ShellScript,
    ShellWord, ShellWordPart, ShellWordPartKind,
};
use crate::text::Span;

/// How many commands are followed.
const MOST_STEPS: usize = 10_000;
/// How many characters are moved.
const MOST_CHARACTERS: usize = 2_000_000;
/// How often a `for` is unrolled.
const MOST_ROUNDS: usize = 64;

/// What is meant by a name in the container.
pub(super) type VariableLookup<'a> = dyn Fn(&str) -> Option<ResolvedValue> + 'a;

/// What surrounds a script.
pub(super) struct ScriptContext<'a> {
    /// The number of the script, for the places of what it writes.
    pub(super) script: u32,
    /// Parts of the script that are not simply its text.
    pub(super) origins: &'a [(Span, Arc<ValuePart>)],
    pub(super) shell: commands::ShellVariant,
    pub(super) mounts: &'a [MountPoint],
    pub(super) lookup: &'a VariableLookup<'a>,
    /// Whether what follows only happens if the script succeeds.
    pub(super) must_succeed: bool,
    /// `sh -e`.
    pub(super) stops_at_failure: bool,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ShellVariable {
    Set(TracedText),
    Unset,
    Unknown,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitStatus {
    Success,
    Failure,
    Unknown,
}

/// Everything that commands change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShellState {
    pub(super) disk: FileSystem,
    pub(super) variables: BTreeMap<String, ShellVariable>,
    /// The working directory, where it is known.
    pub(super) directory: Option<String>,
    pub(super) status: ExitStatus,
    pub(super) stops_at_failure: bool,
    /// Whether the (sub)shell has come to its end.
    pub(super) has_ended: bool,
}

/// Lost: the script cannot be followed.
pub(super) struct NotFollowed;
pub(super) type Followed<T = ()> = Result<T, NotFollowed>;

pub(super) struct Interpreter<'a> {
    pub(super) around: &'a ScriptContext<'a>,
    script: &'a ShellScript,
    pub(super) state: ShellState,
    /// For each (sub)shell the states in which `exit` may have ended it.
    ends: Vec<Vec<ShellState>>,
    /// Files that a command around this one writes to.
    open_files: Vec<FileLocation>,
    steps: usize,
    characters: usize,
}

/// Runs a script in a file system; what it leaves behind, if it can be followed.
pub(super) fn run(
    around: &ScriptContext<'_>,
    script: &ShellScript,
    disk: FileSystem,
    directory: Option<String>,
) -> Result<FileSystem, NotFollowed> {
    let state = ShellState {
        disk,
        variables: BTreeMap::new(),
        directory,
        status: ExitStatus::Success,
        stops_at_failure: around.stops_at_failure,
        has_ended: false,
    };
    let mut machine =
        Interpreter { around, script, state, ends: vec![Vec::new()], open_files: Vec::new(), steps: 0, characters: 0 };
    machine.list(&script.list, &TracedText::open(), &mut TracedText::default(), around.must_succeed)?;
    let ends = machine.ends.pop().unwrap_or_default();
    let last = Some(machine.state).filter(|state| !state.has_ended);
    // No way leads to the end: nothing that waits for it ever runs.
    last.into_iter().chain(ends).map(|state| state.disk).reduce(|one, other| one.merged(&other)).ok_or(NotFollowed)
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
            disk: self.disk.merged(&other.disk),
            variables,
            directory: self.directory.filter(|it| other.directory.as_ref() == Some(it)),
            status: if self.status == other.status { self.status } else { ExitStatus::Unknown },
            stops_at_failure: self.stops_at_failure && other.stops_at_failure,
            has_ended: false,
        }
    }
}

impl<'a> Interpreter<'a> {
    /// Runs commands; `is_last` tells that nothing comes behind them, and that all depends on their success.
    fn list(
        &mut self,
        list: &'a ShellCommandList,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        for (at, command) in list.iter().enumerate() {
            self.command(command, input, output, is_last && at + 1 == list.len())?;
            if self.state.stops_at_failure && self.state.status == ExitStatus::Failure {
                self.exit(ExitStatus::Failure);
            }
            if self.state.has_ended {
                break;
            }
        }
        Ok(())
    }

    fn command(
        &mut self,
        command: &'a ShellCommand,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        if command.redirects.is_empty() {
            return self.kind(&command.kind, input, output, is_last);
        }
        let mut input = input.clone();
        let mut target = OutputTarget::Inherited;
        let opened = self.open_files.len();
        let mut is_certain = true;
        for redirect in &command.redirects {
            is_certain &= self.redirect(redirect, &mut input, &mut target)?;
        }
        let mut written = TracedText::default();
        if is_certain {
            self.kind(&command.kind, &input, &mut written, is_last)?;
        } else {
            // Where a file cannot be opened the command does not run at all.
            self.maybe(&mut written, |machine, written| machine.kind(&command.kind, &input, written, false))?;
            self.state.status = ExitStatus::Unknown;
        }
        self.spend(written.characters.len())?;
        self.open_files.truncate(opened);
        match target {
            OutputTarget::Inherited => output.append(&written),
            OutputTarget::Nowhere => {}
            OutputTarget::File(place) => self.append(&place, &written),
        }
        Ok(())
    }

    /// Opens what a redirection names, and tells whether that surely works.
    fn redirect(
        &mut self,
        redirect: &'a ShellRedirect,
        input: &mut TracedText,
        target: &mut OutputTarget,
    ) -> Followed<bool> {
        let mut is_certain = true;
        match redirect.kind {
            ShellRedirectKind::Document(number) => {
                let word = self.script.documents.get(number).ok_or(NotFollowed)?;
                *input = self.joined(word)?;
            }
            ShellRedirectKind::Text if self.around.shell == commands::ShellVariant::Bash => {
                *input = self.joined(&redirect.target)?;
                input.push(character('\n', self.place(redirect.target.span, ShellQuote::Bare)));
            }
            ShellRedirectKind::Text => return Err(NotFollowed),
            ShellRedirectKind::Read => {
                let path = self.joined(&redirect.target)?;
                let state = self.file_place(&path).map(|place| self.state.disk.get(&place));
                *input = match state {
                    Some(FileState::Known(text)) => (*text).clone(),
                    _ => TracedText::open(),
                };
                is_certain = !input.is_open || path.is("/dev/null");
            }
            ShellRedirectKind::DuplicateOutput => {
                let to = self.joined(&redirect.target)?;
                match (redirect.descriptor.unwrap_or(1), to.known().as_deref()) {
                    (1, Some("2")) => *target = OutputTarget::Nowhere,
                    (2, Some("1")) => {}
                    _ => return Err(NotFollowed),
                }
            }
            ShellRedirectKind::Write | ShellRedirectKind::Append => {
                let path = self.joined(&redirect.target)?;
                let is_output = match redirect.descriptor.unwrap_or(1) {
                    1 => true,
                    2 => false,
                    _ => return Err(NotFollowed),
                };
                let opened = match path.known().as_deref() {
                    Some("/dev/null" | "/dev/stderr") => OutputTarget::Nowhere,
                    Some("/dev/stdout") => return Ok(true),
                    _ => match self.file_place(&path) {
                        Some(place) => OutputTarget::File(place),
                        None => {
                            self.forget();
                            is_certain = false;
                            OutputTarget::Nowhere
                        }
                    },
                };
                if let OutputTarget::File(place) = &opened {
                    is_certain = self.state.disk.has_directory(place);
                    let is_new = self.state.disk.get(place) == FileState::Absent;
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

    fn kind(
        &mut self,
        kind: &'a ShellCommandKind,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(NotFollowed);
        }
        match kind {
            ShellCommandKind::Simple { assignments, words } => self.simple(assignments, words, input, output),
            ShellCommandKind::Group(list) => self.list(list, input, output, is_last),
            ShellCommandKind::Subshell(list) => {
                self.subshell(input, output, |machine, input, output| machine.list(list, input, output, is_last))
            }
            ShellCommandKind::Pipeline(stages) => {
                let mut input = input.clone();
                for (at, stage) in stages.iter().enumerate() {
                    let mut between = TracedText::default();
                    self.subshell(&input, &mut between, |machine, input, output| {
                        machine.command(stage, input, output, false)
                    })?;
                    if at + 1 == stages.len() {
                        output.append(&between);
                    }
                    input = between;
                }
                Ok(())
            }
            ShellCommandKind::Not(inner) => {
                self.condition(|machine| machine.command(inner, input, output, false))?;
                self.state.status = match self.state.status {
                    ExitStatus::Success => ExitStatus::Failure,
                    ExitStatus::Failure => ExitStatus::Success,
                    ExitStatus::Unknown => ExitStatus::Unknown,
                };
                // `set -e` does not look at it.
                if self.state.stops_at_failure && self.state.status == ExitStatus::Failure {
                    self.state.status = ExitStatus::Unknown;
                }
                Ok(())
            }
            ShellCommandKind::And(one, other) => self.both(one, other, ExitStatus::Success, input, output, is_last),
            ShellCommandKind::Or(one, other) => self.both(one, other, ExitStatus::Failure, input, output, is_last),
            ShellCommandKind::If { branches, otherwise } => self.branches(branches, otherwise, input, output, is_last),
            ShellCommandKind::Loop { condition, body } => self.repeat(output, |machine, output| {
                machine.condition(|machine| machine.list(condition, input, output, false))?;
                machine.list(body, input, output, false)
            }),
            ShellCommandKind::For { name, words, body } => {
                let fields = self.fields(words)?;
                if fields.len() > MOST_ROUNDS || fields.iter().any(|it| it.is_open) {
                    self.state.variables.insert(name.clone(), ShellVariable::Unknown);
                    return self.repeat(output, |machine, output| machine.list(body, input, output, false));
                }
                self.state.status = ExitStatus::Success;
                for field in fields {
                    self.state.variables.insert(name.clone(), ShellVariable::Set(field));
                    self.list(body, input, output, false)?;
                    if self.state.has_ended {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// `&&` and `||`: the second runs if the first ends with `wanted`.
    fn both(
        &mut self,
        one: &'a ShellCommand,
        other: &'a ShellCommand,
        wanted: ExitStatus,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        self.condition(|machine| machine.command(one, input, output, is_last && wanted == ExitStatus::Success))?;
        if self.state.has_ended {
            return Ok(());
        }
        match self.state.status {
            status if status == wanted => self.command(other, input, output, is_last),
            // Without it the script would have failed, and nobody would read what it wrote.
            ExitStatus::Unknown if wanted == ExitStatus::Success && is_last => {
                self.command(other, input, output, is_last)
            }
            ExitStatus::Unknown => self.maybe(output, |machine, output| machine.command(other, input, output, false)),
            // `set -e` looks only at the last command of a chain.
            _ if self.state.stops_at_failure => {
                self.state.status = ExitStatus::Unknown;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn branches(
        &mut self,
        branches: &'a [(ShellCommandList, ShellCommandList)],
        otherwise: &'a ShellCommandList,
        input: &TracedText,
        output: &mut TracedText,
        is_last: bool,
    ) -> Followed {
        let Some(((condition, body), rest)) = branches.split_first() else {
            self.state.status = ExitStatus::Success;
            return self.list(otherwise, input, output, is_last);
        };
        self.condition(|machine| machine.list(condition, input, output, false))?;
        if self.state.has_ended {
            return Ok(());
        }
        match self.state.status {
            ExitStatus::Success => self.list(body, input, output, is_last),
            ExitStatus::Failure => self.branches(rest, otherwise, input, output, is_last),
            ExitStatus::Unknown => {
                let before = self.state.clone();
                let mut one = TracedText::default();
                self.list(body, input, &mut one, false)?;
                let after = std::mem::replace(&mut self.state, before);
                let mut two = TracedText::default();
                self.branches(rest, otherwise, input, &mut two, false)?;
                let other = std::mem::replace(&mut self.state, after);
                self.join(other);
                output.append(&one.common(&two));
                Ok(())
            }
        }
    }

    /// Something that runs or does not.
    fn maybe(&mut self, output: &mut TracedText, run: impl FnOnce(&mut Self, &mut TracedText) -> Followed) -> Followed {
        let before = self.state.clone();
        let mut written = TracedText::default();
        run(self, &mut written)?;
        self.join(before);
        if written != TracedText::default() {
            output.append(&TracedText::open());
        }
        Ok(())
    }

    /// Something that runs any number of times.
    fn repeat(
        &mut self,
        output: &mut TracedText,
        mut run: impl FnMut(&mut Self, &mut TracedText) -> Followed,
    ) -> Followed {
        for _ in 0..4 {
            let before = self.state.clone();
            self.maybe(output, &mut run)?;
            self.state.status = ExitStatus::Unknown;
            if self.state == (ShellState { status: ExitStatus::Unknown, ..before }) {
                return Ok(());
            }
        }
        Err(NotFollowed)
    }

    /// Another state that this one may be instead.
    fn join(&mut self, other: ShellState) {
        let own = std::mem::replace(&mut self.state, other.clone());
        self.state = own.merged(other);
    }

    /// Runs what is looked at by its status: a failure in it ends nothing.
    fn condition(&mut self, run: impl FnOnce(&mut Self) -> Followed) -> Followed {
        let stops = std::mem::replace(&mut self.state.stops_at_failure, false);
        run(self)?;
        self.state.stops_at_failure = stops;
        Ok(())
    }

    /// Runs something whose variables and directory end with it.
    fn subshell(
        &mut self,
        input: &TracedText,
        output: &mut TracedText,
        run: impl FnOnce(&mut Self, &TracedText, &mut TracedText) -> Followed,
    ) -> Followed {
        let (variables, directory) = (self.state.variables.clone(), self.state.directory.clone());
        self.ends.push(Vec::new());
        run(self, input, output)?;
        for end in self.ends.pop().unwrap_or_default() {
            self.join(ShellState { has_ended: false, ..end });
        }
        self.state.has_ended = false;
        self.state.variables = variables;
        self.state.directory = directory;
        Ok(())
    }

    /// The (sub)shell ends here.
    pub(super) fn exit(&mut self, status: ExitStatus) {
        let is_inner = self.ends.len() > 1;
        self.state.status = status;
        // A script that fails is run again until it does not.
        if (is_inner || status != ExitStatus::Failure)
            && let Some(ends) = self.ends.last_mut()
        {
            ends.push(self.state.clone());
        }
        self.state.has_ended = true;
    }

    fn simple(
        &mut self,
        assignments: &'a [(String, ShellWord)],
        words: &'a [ShellWord],
        input: &TracedText,
        output: &mut TracedText,
    ) -> Followed {
        let mut values = Vec::new();
        let fields = self.fields(words)?;
        for (name, word) in assignments {
            values.push((name, self.joined(word)?));
        }
        if !fields.is_empty() {
            // What is set for one command is not seen by its own words, but by some that are part of the shell.
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
        // It changes how words are split.
        if name == "IFS" {
            return Err(NotFollowed);
        }
        self.state.variables.insert(name.to_owned(), value);
        Ok(())
    }

    /// Words as arguments: expanded and split.
    fn fields(&mut self, words: &'a [ShellWord]) -> Followed<Vec<TracedText>> {
        let mut fields = Vec::new();
        for word in words {
            let mut current: Option<TracedText> = None;
            for part in &word.parts {
                let text = self.part(part)?;
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
        self.spend(fields.iter().map(|it| it.characters.len()).sum())?;
        Ok(fields)
    }

    /// A word as one text: a value, a path, a here-document.
    pub(super) fn joined(&mut self, word: &'a ShellWord) -> Followed<TracedText> {
        let mut text = TracedText::default();
        for part in &word.parts {
            let part = self.part(part)?;
            text.append(&part);
        }
        self.spend(text.characters.len())?;
        Ok(text)
    }

    fn part(&mut self, part: &'a ShellWordPart) -> Followed<TracedText> {
        let is_literal = part.quote != ShellQuote::Bare;
        let place = self.place(part.span, part.quote);
        Ok(match &part.kind {
            ShellWordPartKind::Text(text) => self.text(text, part),
            ShellWordPartKind::Parameter { name, otherwise, also_for_empty } => {
                let value = match self.state.variables.get(name) {
                    Some(ShellVariable::Set(text)) => Some(moved(text, place, is_literal)),
                    Some(ShellVariable::Unset) => None,
                    Some(ShellVariable::Unknown) => Some(TracedText::open()),
                    // What the container does not declare its image may.
                    None => Some(
                        (self.around.lookup)(name)
                            .map_or_else(TracedText::open, |value| TracedText::of_value(&value, place, is_literal)),
                    ),
                };
                let is_missing = match &value {
                    None => true,
                    Some(text) => *also_for_empty && *text == TracedText::default(),
                };
                match (otherwise, value) {
                    (Some(word), _) if is_missing => self.joined(word)?,
                    (_, value) => value.unwrap_or_default(),
                }
            }
            ShellWordPartKind::Command(list) => {
                let mut written = TracedText::default();
                self.subshell(&TracedText::open(), &mut written, |machine, input, output| {
                    machine.list(list, input, output, false)
                })?;
                moved(&written.without_last_lines(), place, is_literal)
            }
            ShellWordPartKind::Unknown => TracedText::open(),
        })
    }

    /// Text of the script itself.
    fn text(&self, text: &str, part: &ShellWordPart) -> TracedText {
        let is_escape = text.len() != part.span.len();
        let mut result = TracedText::default();
        for (at, value) in text.char_indices() {
            let span = match is_escape {
                true => part.span,
                false => Span::new(part.span.start + at, part.span.start + at + value.len_utf8()),
            };
            let holds = |origin: &&(Span, Arc<ValuePart>)| origin.0.start <= span.start && span.end <= origin.0.end;
            let origin = self.around.origins.iter().find(holds).map(|(_, piece)| Arc::clone(piece));
            let is_literal = part.quote != ShellQuote::Bare || is_escape;
            result.push(TracedCharacter { value, place: self.place(span, part.quote), is_literal, origin });
        }
        result
    }

    pub(super) fn place(&self, span: Span, quote: ShellQuote) -> ScriptPosition {
        ScriptPosition::new(self.around.script, span, quote)
    }

    /// Where a path leads; nothing if that cannot be told.
    pub(super) fn file_place(&self, path: &TracedText) -> Option<FileLocation> {
        self.place_of(&path.known()?)
    }

    pub(super) fn place_of(&self, path: &str) -> Option<FileLocation> {
        let path = match path.chars().next()? {
            '/' => path.to_owned(),
            _ => format!("{}/{path}", self.state.directory.as_deref()?),
        };
        Some(FileSystem::place(self.around.mounts, &path))
    }

    /// Puts a file in its place.
    pub(super) fn write(&mut self, place: &FileLocation, state: FileState) {
        // Two that write to one file at the same time give what nobody can foresee.
        let is_open = self.open_files.contains(place);
        self.state.disk.set(place, if is_open { FileState::Unknown } else { state });
    }

    /// Takes a file away. What is still written to it goes where nobody sees it.
    pub(super) fn remove(&mut self, place: &FileLocation) {
        self.state.disk.remove(place);
        for open in self.open_files.clone() {
            if self.state.disk.get(&open) == FileState::Absent {
                self.state.disk.set(&open, FileState::Unknown);
            }
        }
    }

    /// Whether a command around this one still writes to a file.
    pub(super) fn is_open(&self, place: &FileLocation) -> bool {
        self.open_files.contains(place)
    }

    /// Adds to the end of a file.
    pub(super) fn append(&mut self, place: &FileLocation, text: &TracedText) {
        let state = match self.state.disk.get(place) {
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

    /// Something ran that may have changed any file.
    pub(super) fn forget(&mut self) {
        self.state.disk.forget(self.around.mounts);
    }

    pub(super) fn spend(&mut self, characters: usize) -> Followed {
        self.characters += characters;
        if self.characters > MOST_CHARACTERS { Err(NotFollowed) } else { Ok(()) }
    }
}

/// Where the output of a command goes.
enum OutputTarget {
    Inherited,
    Nowhere,
    File(FileLocation),
}

/// A character that nothing but the shell itself writes.
pub(super) fn character(value: char, place: ScriptPosition) -> TracedCharacter {
    TracedCharacter { value, place, is_literal: true, origin: None }
}

/// A text that arrives at another place.
fn moved(text: &TracedText, place: ScriptPosition, is_literal: bool) -> TracedText {
    let at = |it: &TracedCharacter| TracedCharacter { place, is_literal, ..it.clone() };
    TracedText { characters: text.characters.iter().map(at).collect(), is_open: text.is_open }
}

/// Whether the shell would look for files of this name.
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
