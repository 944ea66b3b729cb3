//! The commands of simple scripts, as far as their behaviour is the same in all shells.

use std::sync::Arc;

use crate::resolve::script_runner::echo_printf;
use crate::resolve::script_runner::file_modes;
use crate::resolve::script_runner::file_system::FileState;
use crate::resolve::script_runner::interpreter::{ExitStatus, Followed, Interpreter, NotFollowed, ShellVariable};
use crate::resolve::script_runner::traced_text::TracedText;

/// The shell whose behaviour is followed where shells differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellVariant {
    /// `echo` interprets escapes, and has only the option `-n`.
    Dash,
    /// `echo` interprets escapes with `-e`.
    Bash,
    /// BusyBox; like Bash here.
    Ash,
    /// `sh` of an unknown image: only behaviour that is common to all.
    Any,
}

/// Commands that change no files and no variables.
const HARMLESS: [&str; 46] = [
    "[",
    "base64",
    "basename",
    "cal",
    "chgrp",
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

/// Whether variables assigned before a command are kept after it.
pub(super) fn keeps_assignments(name: &str) -> bool {
    ["export", "readonly", "set", "unset", ":", "eval", "exec", ".", "source", "trap", "exit", "cd"].contains(&name)
}

/// Runs a simple command; the first field is its name.
pub(super) fn run(
    interpreter: &mut Interpreter<'_>,
    fields: Vec<TracedText>,
    input: &TracedText,
    output: &mut TracedText,
) -> Followed {
    let Some(name) = fields[0].known() else {
        // It may be any command, including a builtin.
        return Err(NotFollowed);
    };
    let arguments = &fields[1..];
    // A path runs a program of the image, whose `echo` and `printf` may differ from the builtins.
    let base = name.rsplit('/').next().unwrap_or(&name);
    let base = if name.contains('/') && matches!(base, "echo" | "printf") { "" } else { base };
    let is_program = name.contains('/');
    interpreter.state.status = ExitStatus::Success;
    match base {
        "echo" => echo_printf::echo(interpreter.context.shell, &fields, output),
        "printf" => {
            let printed = echo_printf::printf(interpreter.context.shell, &fields, output);
            interpreter.state.status = if printed { ExitStatus::Success } else { ExitStatus::Unknown };
        }
        "cat" => cat(interpreter, arguments, input, output),
        "tee" => tee(interpreter, arguments, input, output),
        "mkdir" | "touch" | "rm" | "mv" | "cp" => run_file_command(interpreter, base, arguments),
        "chmod" => file_modes::chmod(interpreter, arguments),
        "chown" => file_modes::chown(interpreter, arguments),
        "true" => {}
        "false" => interpreter.state.status = ExitStatus::Failure,
        _ if HARMLESS.contains(&base) => {
            let writes = base == "env" && !arguments.is_empty()
                || base == "sort" && arguments.iter().any(|it| it.starts_with("-o") || it.is_open);
            if writes {
                interpreter.make_unknown();
            }
            if !matches!(base, "sleep" | "sync" | "test" | "[" | "wait" | "hash" | "chgrp") {
                output.append(&TracedText::open());
            }
            let succeeds = matches!(base, "sleep" | "sync" | "date" | "uname" | "whoami");
            interpreter.state.status = if succeeds { ExitStatus::Success } else { ExitStatus::Unknown };
        }
        _ if !is_program => return run_builtin(interpreter, &name, fields, input, output),
        _ => run_unknown(interpreter, output),
    }
    Ok(())
}

/// Runs a shell builtin, or a program that is not known.
fn run_builtin(
    interpreter: &mut Interpreter<'_>,
    name: &str,
    fields: Vec<TracedText>,
    input: &TracedText,
    output: &mut TracedText,
) -> Followed {
    let arguments = &fields[1..];
    match name {
        ":" | "ulimit" | "times" => {}
        "umask" => file_modes::umask(interpreter, arguments, output),
        "command" if arguments.first().is_some_and(|it| !it.is_open && !it.starts_with("-")) => {
            return run(interpreter, fields[1..].to_vec(), input, output);
        }
        "exit" => {
            let status = match arguments.first().map(TracedText::known) {
                None => ExitStatus::Success,
                Some(Some(code)) if code == "0" => ExitStatus::Success,
                Some(Some(code)) if code.bytes().all(|it| it.is_ascii_digit()) => ExitStatus::Failure,
                Some(_) => return Err(NotFollowed),
            };
            interpreter.exit(status);
        }
        "exec" if arguments.first().is_some_and(|it| !it.is_open && !it.starts_with("-")) => {
            run(interpreter, fields[1..].to_vec(), input, output)?;
            interpreter.exit(ExitStatus::Success);
        }
        "cd" => {
            let path = arguments.first().filter(|_| arguments.len() == 1).and_then(TracedText::known);
            interpreter.state.directory = match path {
                Some(path) if path.starts_with('/') => Some(path),
                Some(path) if !path.starts_with('-') && !path.is_empty() => {
                    interpreter.state.directory.take().map(|directory| format!("{directory}/{path}"))
                }
                _ => None,
            };
        }
        "pwd" => output.append(&TracedText::open()),
        "set" => set(interpreter, arguments)?,
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
                    // Some shells split the result of an expansion here, others do not.
                    let is_split = characters.iter().any(|it| !it.is_literal && it.place.span().len() > 1);
                    let value = match is_split || argument.is_open {
                        true => ShellVariable::Unknown,
                        false => ShellVariable::Set(TracedText { characters, is_open: false }),
                    };
                    interpreter.set_variable(&name, value)?;
                }
            }
        }
        "unset" | "read" => {
            let value = if name == "unset" { ShellVariable::Unset } else { ShellVariable::Unknown };
            for argument in arguments {
                match argument.known() {
                    Some(flag) if flag == "-r" || flag == "-v" => {}
                    Some(name) if !name.starts_with('-') => interpreter.set_variable(&name, value.clone())?,
                    _ => return Err(NotFollowed),
                }
            }
            interpreter.state.status = if name == "unset" { ExitStatus::Success } else { ExitStatus::Unknown };
        }
        _ if SHELL_CHANGING.contains(&name) => return Err(NotFollowed),
        _ => run_unknown(interpreter, output),
    }
    Ok(())
}

/// Builtins that may change the behaviour of later commands.
const SHELL_CHANGING: [&str; 24] = [
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

/// Runs a program that may change any file.
fn run_unknown(interpreter: &mut Interpreter<'_>, output: &mut TracedText) {
    interpreter.make_unknown();
    output.append(&TracedText::open());
    interpreter.state.status = ExitStatus::Unknown;
}

fn set(interpreter: &mut Interpreter<'_>, arguments: &[TracedText]) -> Followed {
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
                interpreter.state.stops_at_failure = sign == "-";
            }
        }
    }
    Ok(())
}

fn cat(interpreter: &mut Interpreter<'_>, arguments: &[TracedText], input: &TracedText, output: &mut TracedText) {
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
            Some(path) if !path.starts_with('-') => {
                interpreter.locate(argument).map(|it| interpreter.state.file_system.get(&it))
            }
            _ => None,
        };
        match state {
            Some(FileState::Known(text)) => output.append(&text),
            Some(FileState::Absent) => interpreter.state.status = ExitStatus::Failure,
            Some(FileState::Unknown) | None => {
                output.append(&TracedText::open());
                interpreter.state.status = ExitStatus::Unknown;
            }
        }
    }
}

fn tee(interpreter: &mut Interpreter<'_>, arguments: &[TracedText], input: &TracedText, output: &mut TracedText) {
    let mut appends = false;
    for argument in arguments {
        match argument.known().as_deref() {
            Some("-a" | "--append") => appends = true,
            Some("-i") => {}
            Some("/dev/null" | "/dev/stdout" | "/dev/stderr") => {}
            Some(path) if !path.starts_with('-') => match interpreter.locate(argument) {
                Some(place) => {
                    if !interpreter.state.file_system.has_directory(&place) {
                        interpreter.state.status = ExitStatus::Unknown;
                    }
                    match appends {
                        true => interpreter.append(&place, input),
                        false => interpreter.write(&place, FileState::Known(Arc::new(input.clone()))),
                    }
                }
                None => interpreter.make_unknown(),
            },
            _ => interpreter.make_unknown(),
        }
    }
    output.append(input);
}

/// Runs a command on files. With an unknown option it may change any file.
fn run_file_command(interpreter: &mut Interpreter<'_>, name: &str, arguments: &[TracedText]) {
    let allowed = match name {
        "mkdir" => "pvm",
        "rm" => "rRfv",
        "mv" => "fv",
        "cp" => "fpv",
        _ => "",
    };
    let mut operands = Vec::new();
    let mut mode = None;
    let mut flags = String::new();
    let mut is_understood = true;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.known() {
            Some(flag) if flag.len() > 1 && flag.starts_with('-') => {
                is_understood &= flag[1..].chars().all(|it| allowed.contains(it));
                if flag.contains('m') && name == "mkdir" {
                    mode = arguments.next();
                }
                flags.push_str(&flag);
            }
            Some(_) => match interpreter.locate(argument) {
                Some(place) => operands.push((argument, place)),
                None => is_understood = false,
            },
            None => is_understood = false,
        }
    }
    if !is_understood {
        interpreter.make_unknown();
        interpreter.state.status = ExitStatus::Unknown;
        return;
    }
    match (name, operands.as_slice()) {
        ("mkdir", places) => {
            for (_, place) in places {
                let is_file = matches!(interpreter.state.file_system.get(place), FileState::Known(_));
                if is_file || !flags.contains('p') && !interpreter.state.file_system.has_directory(place) {
                    interpreter.state.status = ExitStatus::Unknown;
                } else {
                    let is_new = !interpreter.state.file_system.is_directory(place);
                    let permissions = interpreter.state.new_directory;
                    interpreter.state.file_system.make_directory(place, permissions);
                    if let Some(mode) = mode.filter(|_| is_new) {
                        file_modes::set_directory_mode(interpreter, mode, place);
                    }
                }
            }
        }
        ("touch", places) => {
            for (_, place) in places {
                if !interpreter.state.file_system.has_directory(place) {
                    interpreter.state.status = ExitStatus::Unknown;
                }
                if interpreter.state.file_system.get(place) == FileState::Absent {
                    interpreter.write(place, FileState::Known(Arc::default()));
                }
            }
        }
        ("rm", places) => {
            for (_, place) in places {
                if !flags.contains('f') && !matches!(interpreter.state.file_system.get(place), FileState::Known(_)) {
                    interpreter.state.status = ExitStatus::Unknown;
                }
                interpreter.remove(place);
            }
        }
        (_, [(_, from), (_, to)]) if from == to => interpreter.state.status = ExitStatus::Unknown,
        (_, [(from_path, from), (to_path, to)]) => {
            let state = interpreter.state.file_system.get(from);
            let is_complete = matches!(state, FileState::Known(_));
            let target = match interpreter.state.file_system.is_directory(to) {
                true => {
                    let base = from_path.known().and_then(|it| Some(it.rsplit('/').next()?.to_owned()));
                    let inside = to_path.known().zip(base).map(|(to, base)| format!("{to}/{base}"));
                    inside.and_then(|path| interpreter.locate_path(&path))
                }
                false => Some(to.clone()),
            };
            match target {
                _ if state == FileState::Absent && !interpreter.state.file_system.is_directory(from) => {
                    interpreter.state.status = ExitStatus::Failure;
                }
                Some(target) if is_complete && interpreter.state.file_system.has_directory(&target) => {
                    let is_open = interpreter.is_open(from);
                    let is_new = interpreter.state.file_system.get(&target) == FileState::Absent;
                    interpreter.write(&target, if is_open { FileState::Unknown } else { state });
                    let permissions = interpreter.state.file_system.permissions(from);
                    if name == "mv" || flags.contains('p') {
                        interpreter.state.file_system.set_permissions(&target, permissions);
                    } else if is_new {
                        let copied = permissions.of_copy(interpreter.state.new_file);
                        interpreter.state.file_system.set_permissions(&target, copied);
                    }
                    if name == "mv" {
                        interpreter.remove(from);
                    }
                }
                // The source may be a directory, or may not exist.
                _ => {
                    interpreter.make_unknown();
                    interpreter.state.status = ExitStatus::Unknown;
                }
            }
        }
        _ => {
            interpreter.make_unknown();
            interpreter.state.status = ExitStatus::Unknown;
        }
    }
}
