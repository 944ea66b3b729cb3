//! The commands that plain scripts use, each as far as all shells agree on it.

use std::sync::Arc;

use crate::resolve::script_runner::echo_printf;
use crate::resolve::script_runner::file_system::FileState;
use crate::resolve::script_runner::interpreter::{ExitStatus, Followed, Interpreter, NotFollowed, ShellVariable};
use crate::resolve::script_runner::traced_text::TracedText;

/// Whose rules are followed where shells differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellVariant {
    /// `echo` reads escapes, and knows only `-n`.
    Dash,
    /// `echo` reads escapes with `-e`.
    Bash,
    /// BusyBox: as Bash here.
    Ash,
    /// `sh` of an image that is not known: only what all of them agree on.
    Any,
}

/// Commands that change no file and no variable.
const HARMLESS: [&str; 47] = [
    "[",
    "base64",
    "basename",
    "cal",
    "chgrp",
    "chown",
    "cmp",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "env",
    "expr",
    "fold",
    "free",
    "getent",
    "grep",
    "hash",
    "head",
    "hostname",
    "id",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "nslookup",
    "printenv",
    "ps",
    "realpath",
    "rev",
    "seq",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "sync",
    "tail",
    "test",
    "tr",
    "uname",
    "uniq",
    "wait",
    "wc",
    "which",
    "whoami",
];

/// Whether variables that are set before a command outlive it.
pub(super) fn keeps_assignments(name: &str) -> bool {
    ["export", "readonly", "set", "unset", ":", "eval", "exec", ".", "source", "trap", "exit", "cd"].contains(&name)
}

/// Runs a simple command; the first field is its name.
pub(super) fn run(
    machine: &mut Interpreter<'_>,
    fields: Vec<TracedText>,
    input: &TracedText,
    output: &mut TracedText,
) -> Followed {
    let Some(name) = fields[0].known() else {
        // It may be anything, a part of the shell too.
        return Err(NotFollowed);
    };
    let arguments = &fields[1..];
    // A program of the image; the shell has its own `echo` and `printf`.
    let base = name.rsplit('/').next().unwrap_or(&name);
    let base = if name.contains('/') && matches!(base, "echo" | "printf") { "" } else { base };
    let is_program = name.contains('/');
    machine.state.status = ExitStatus::Success;
    match base {
        "echo" => echo_printf::echo(machine.around.shell, &fields, output),
        "printf" => {
            let printed = echo_printf::printf(machine.around.shell, &fields, output);
            machine.state.status = if printed { ExitStatus::Success } else { ExitStatus::Unknown };
        }
        "cat" => cat(machine, arguments, input, output),
        "tee" => tee(machine, arguments, input, output),
        "mkdir" | "touch" | "rm" | "mv" | "cp" | "chmod" => files(machine, base, arguments),
        "true" => {}
        "false" => machine.state.status = ExitStatus::Failure,
        _ if HARMLESS.contains(&base) => {
            let writes = base == "env" && !arguments.is_empty()
                || base == "sort" && arguments.iter().any(|it| it.starts_with("-o") || it.is_open);
            if writes {
                machine.forget();
            }
            if !matches!(base, "sleep" | "sync" | "test" | "[" | "wait" | "hash" | "chown" | "chgrp") {
                output.append(&TracedText::open());
            }
            let surely = matches!(base, "sleep" | "sync" | "date" | "uname" | "whoami");
            machine.state.status = if surely { ExitStatus::Success } else { ExitStatus::Unknown };
        }
        _ if !is_program => return shell(machine, &name, fields, input, output),
        _ => unknown(machine, output),
    }
    Ok(())
}

/// What is part of the shell, and programs that are not known.
fn shell(
    machine: &mut Interpreter<'_>,
    name: &str,
    fields: Vec<TracedText>,
    input: &TracedText,
    output: &mut TracedText,
) -> Followed {
    let arguments = &fields[1..];
    match name {
        ":" | "umask" | "ulimit" | "times" => {}
        "command" if arguments.first().is_some_and(|it| !it.is_open && !it.starts_with("-")) => {
            return run(machine, fields[1..].to_vec(), input, output);
        }
        "exit" => {
            let status = match arguments.first().map(TracedText::known) {
                None => ExitStatus::Success,
                Some(Some(code)) if code == "0" => ExitStatus::Success,
                Some(Some(code)) if code.bytes().all(|it| it.is_ascii_digit()) => ExitStatus::Failure,
                Some(_) => return Err(NotFollowed),
            };
            machine.exit(status);
        }
        "exec" if arguments.first().is_some_and(|it| !it.is_open && !it.starts_with("-")) => {
            run(machine, fields[1..].to_vec(), input, output)?;
            machine.exit(ExitStatus::Success);
        }
        "cd" => {
            let path = arguments.first().filter(|_| arguments.len() == 1).and_then(TracedText::known);
            machine.state.directory = match path {
                Some(path) if path.starts_with('/') => Some(path),
                Some(path) if !path.starts_with('-') && !path.is_empty() => {
                    machine.state.directory.take().map(|directory| format!("{directory}/{path}"))
                }
                _ => None,
            };
        }
        "pwd" => output.append(&TracedText::open()),
        "set" => set(machine, arguments)?,
        "export" | "readonly" => {
            for argument in arguments {
                let equals = argument.characters.iter().position(|it| it.value == '=');
                let name: String =
                    argument.characters.iter().take(equals.unwrap_or(usize::MAX)).map(|it| it.value).collect();
                if name.starts_with('-') || argument.is_open && equals.is_none() {
                    return Err(NotFollowed);
                }
                if let Some(equals) = equals {
                    let characters = argument.characters[equals + 1..].to_vec();
                    // Some shells split what an expansion gives here, and some do not.
                    let is_split = characters.iter().any(|it| !it.is_literal && it.place.span().len() > 1);
                    let value = match is_split || argument.is_open {
                        true => ShellVariable::Unknown,
                        false => ShellVariable::Set(TracedText { characters, is_open: false }),
                    };
                    machine.set_variable(&name, value)?;
                }
            }
        }
        "unset" | "read" => {
            let value = if name == "unset" { ShellVariable::Unset } else { ShellVariable::Unknown };
            for argument in arguments {
                match argument.known() {
                    Some(flag) if flag == "-r" || flag == "-v" => {}
                    Some(name) if !name.starts_with('-') => machine.set_variable(&name, value.clone())?,
                    _ => return Err(NotFollowed),
                }
            }
            machine.state.status = if name == "unset" { ExitStatus::Success } else { ExitStatus::Unknown };
        }
        _ if CHANGES_THE_SHELL.contains(&name) => return Err(NotFollowed),
        _ => unknown(machine, output),
    }
    Ok(())
}

/// What may change anything about the commands that follow.
const CHANGES_THE_SHELL: [&str; 24] = [
    ".",
    "alias",
    "bind",
    "break",
    "builtin",
    "command",
    "continue",
    "declare",
    "enable",
    "eval",
    "exec",
    "getopts",
    "let",
    "local",
    "mapfile",
    "readarray",
    "return",
    "shift",
    "shopt",
    "source",
    "trap",
    "typeset",
    "unalias",
    "bg",
];

/// A program that may do anything to files.
fn unknown(machine: &mut Interpreter<'_>, output: &mut TracedText) {
    machine.forget();
    output.append(&TracedText::open());
    machine.state.status = ExitStatus::Unknown;
}

fn set(machine: &mut Interpreter<'_>, arguments: &[TracedText]) -> Followed {
    let mut arguments = arguments.iter().map(|it| it.known().ok_or(NotFollowed));
    while let Some(argument) = arguments.next() {
        let argument = argument?;
        let Some((sign, flags)) = argument.split_at_checked(1) else { return Err(NotFollowed) };
        if flags.is_empty() || !matches!(sign, "-" | "+") {
            return Err(NotFollowed);
        }
        for flag in flags.chars() {
            let is_failing = match flag {
                'e' => true,
                'u' | 'x' | 'v' => false,
                'o' => match arguments.next().ok_or(NotFollowed)??.as_str() {
                    "errexit" => true,
                    "nounset" | "xtrace" | "verbose" | "pipefail" => false,
                    _ => return Err(NotFollowed),
                },
                _ => return Err(NotFollowed),
            };
            if is_failing {
                machine.state.stops_at_failure = sign == "-";
            }
        }
    }
    Ok(())
}

fn cat(machine: &mut Interpreter<'_>, arguments: &[TracedText], input: &TracedText, output: &mut TracedText) {
    if arguments.is_empty() {
        output.append(input);
        return;
    }
    for argument in arguments {
        if argument.is("-") {
            output.append(input);
            continue;
        }
        let state = match argument.known() {
            Some(path) if !path.starts_with('-') => machine.file_place(argument).map(|it| machine.state.disk.get(&it)),
            _ => None,
        };
        match state {
            Some(FileState::Known(text)) => output.append(&text),
            Some(FileState::Absent) => machine.state.status = ExitStatus::Failure,
            Some(FileState::Unknown) | None => {
                output.append(&TracedText::open());
                machine.state.status = ExitStatus::Unknown;
            }
        }
    }
}

fn tee(machine: &mut Interpreter<'_>, arguments: &[TracedText], input: &TracedText, output: &mut TracedText) {
    let mut appends = false;
    for argument in arguments {
        match argument.known().as_deref() {
            Some("-a" | "--append") => appends = true,
            Some("-i") => {}
            Some("/dev/null" | "/dev/stdout" | "/dev/stderr") => {}
            Some(path) if !path.starts_with('-') => match machine.file_place(argument) {
                Some(place) => {
                    if !machine.state.disk.has_directory(&place) {
                        machine.state.status = ExitStatus::Unknown;
                    }
                    match appends {
                        true => machine.append(&place, input),
                        false => machine.write(&place, FileState::Known(Arc::new(input.clone()))),
                    }
                }
                None => machine.forget(),
            },
            _ => machine.forget(),
        }
    }
    output.append(input);
}

/// Commands on files. What they are told with options that are not known here may do anything.
fn files(machine: &mut Interpreter<'_>, name: &str, arguments: &[TracedText]) {
    let allowed = match name {
        "mkdir" => "pvm",
        "rm" => "rRfv",
        "mv" => "fv",
        "cp" => "fpv",
        _ => "",
    };
    let mut operands = Vec::new();
    let mut flags = String::new();
    let mut is_clear = true;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.known() {
            Some(_) if name == "chmod" => return,
            Some(flag) if flag.len() > 1 && flag.starts_with('-') => {
                is_clear &= flag[1..].chars().all(|it| allowed.contains(it));
                if flag.contains('m') && name == "mkdir" {
                    arguments.next();
                }
                flags.push_str(&flag);
            }
            Some(_) => match machine.file_place(argument) {
                Some(place) => operands.push((argument, place)),
                None => is_clear = false,
            },
            None => is_clear = false,
        }
    }
    if name == "chmod" {
        return;
    }
    if !is_clear {
        machine.forget();
        machine.state.status = ExitStatus::Unknown;
        return;
    }
    match (name, operands.as_slice()) {
        ("mkdir", places) => {
            for (_, place) in places {
                let is_file = matches!(machine.state.disk.get(place), FileState::Known(_));
                if is_file || !flags.contains('p') && !machine.state.disk.has_directory(place) {
                    machine.state.status = ExitStatus::Unknown;
                } else {
                    machine.state.disk.make_directory(place);
                }
            }
        }
        ("touch", places) => {
            for (_, place) in places {
                if !machine.state.disk.has_directory(place) {
                    machine.state.status = ExitStatus::Unknown;
                }
                if machine.state.disk.get(place) == FileState::Absent {
                    machine.write(place, FileState::Known(Arc::default()));
                }
            }
        }
        ("rm", places) => {
            for (_, place) in places {
                if !flags.contains('f') && !matches!(machine.state.disk.get(place), FileState::Known(_)) {
                    machine.state.status = ExitStatus::Unknown;
                }
                machine.remove(place);
            }
        }
        (_, [(_, from), (_, to)]) if from == to => machine.state.status = ExitStatus::Unknown,
        (_, [(from_path, from), (to_path, to)]) => {
            let state = machine.state.disk.get(from);
            let is_whole = matches!(state, FileState::Known(_));
            let target = match machine.state.disk.is_directory(to) {
                true => {
                    let base = from_path.known().and_then(|it| Some(it.rsplit('/').next()?.to_owned()));
                    let inside = to_path.known().zip(base).map(|(to, base)| format!("{to}/{base}"));
                    inside.and_then(|path| machine.place_of(&path))
                }
                false => Some(to.clone()),
            };
            match target {
                _ if state == FileState::Absent && !machine.state.disk.is_directory(from) => {
                    machine.state.status = ExitStatus::Failure;
                }
                Some(target) if is_whole && machine.state.disk.has_directory(&target) => {
                    let is_open = machine.is_open(from);
                    machine.write(&target, if is_open { FileState::Unknown } else { state });
                    if name == "mv" {
                        machine.remove(from);
                    }
                }
                // It may be a directory, or not be there.
                _ => {
                    machine.forget();
                    machine.state.status = ExitStatus::Unknown;
                }
            }
        }
        _ => {
            machine.forget();
            machine.state.status = ExitStatus::Unknown;
        }
    }
}
