//! The commands that plain scripts use, each as far as all shells agree on it.

use std::sync::Arc;

use crate::resolve::producer::disk::FileState;
use crate::resolve::producer::printing;
use crate::resolve::producer::run::{Followed, Lost, Machine, Status, Variable};
use crate::resolve::producer::traced::Traced;

/// Whose rules are followed where shells differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shell {
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
pub(super) fn run(machine: &mut Machine<'_>, fields: Vec<Traced>, input: &Traced, output: &mut Traced) -> Followed {
    let Some(name) = fields[0].known() else {
        // It may be anything, a part of the shell too.
        return Err(Lost);
    };
    let arguments = &fields[1..];
    // A program of the image; the shell has its own `echo` and `printf`.
    let base = name.rsplit('/').next().unwrap_or(&name);
    let base = if name.contains('/') && matches!(base, "echo" | "printf") { "" } else { base };
    let is_program = name.contains('/');
    machine.state.status = Status::Success;
    match base {
        "echo" => printing::echo(machine.around.shell, &fields, output),
        "printf" => {
            let printed = printing::printf(machine.around.shell, &fields, output);
            machine.state.status = if printed { Status::Success } else { Status::Unknown };
        }
        "cat" => cat(machine, arguments, input, output),
        "tee" => tee(machine, arguments, input, output),
        "mkdir" | "touch" | "rm" | "mv" | "cp" | "chmod" => files(machine, base, arguments),
        "true" => {}
        "false" => machine.state.status = Status::Failure,
        _ if HARMLESS.contains(&base) => {
            let writes = base == "env" && !arguments.is_empty()
                || base == "sort" && arguments.iter().any(|it| it.starts_with("-o") || it.is_open);
            if writes {
                machine.forget();
            }
            if !matches!(base, "sleep" | "sync" | "test" | "[" | "wait" | "hash" | "chown" | "chgrp") {
                output.append(&Traced::open());
            }
            let surely = matches!(base, "sleep" | "sync" | "date" | "uname" | "whoami");
            machine.state.status = if surely { Status::Success } else { Status::Unknown };
        }
        _ if !is_program => return shell(machine, &name, fields, input, output),
        _ => unknown(machine, output),
    }
    Ok(())
}

/// What is part of the shell, and programs that are not known.
fn shell(machine: &mut Machine<'_>, name: &str, fields: Vec<Traced>, input: &Traced, output: &mut Traced) -> Followed {
    let arguments = &fields[1..];
    match name {
        ":" | "umask" | "ulimit" | "times" => {}
        "command" if arguments.first().is_some_and(|it| !it.is_open && !it.starts_with("-")) => {
            return run(machine, fields[1..].to_vec(), input, output);
        }
        "exit" => {
            let status = match arguments.first().map(Traced::known) {
                None => Status::Success,
                Some(Some(code)) if code == "0" => Status::Success,
                Some(Some(code)) if code.bytes().all(|it| it.is_ascii_digit()) => Status::Failure,
                Some(_) => return Err(Lost),
            };
            machine.exit(status);
        }
        "exec" if arguments.first().is_some_and(|it| !it.is_open && !it.starts_with("-")) => {
            run(machine, fields[1..].to_vec(), input, output)?;
            machine.exit(Status::Success);
        }
        "cd" => {
            let path = arguments.first().filter(|_| arguments.len() == 1).and_then(Traced::known);
            machine.state.directory = match path {
                Some(path) if path.starts_with('/') => Some(path),
                Some(path) if !path.starts_with('-') && !path.is_empty() => {
                    machine.state.directory.take().map(|directory| format!("{directory}/{path}"))
                }
                _ => None,
            };
        }
        "pwd" => output.append(&Traced::open()),
        "set" => set(machine, arguments)?,
        "export" | "readonly" => {
            for argument in arguments {
                let equals = argument.characters.iter().position(|it| it.value == '=');
                let name: String =
                    argument.characters.iter().take(equals.unwrap_or(usize::MAX)).map(|it| it.value).collect();
                if name.starts_with('-') || argument.is_open && equals.is_none() {
                    return Err(Lost);
                }
                if let Some(equals) = equals {
                    let characters = argument.characters[equals + 1..].to_vec();
                    // Some shells split what an expansion gives here, and some do not.
                    let is_split = characters.iter().any(|it| !it.is_literal && it.place.span().len() > 1);
                    let value = match is_split || argument.is_open {
                        true => Variable::Unknown,
                        false => Variable::Set(Traced { characters, is_open: false }),
                    };
                    machine.set_variable(&name, value)?;
                }
            }
        }
        "unset" | "read" => {
            let value = if name == "unset" { Variable::Unset } else { Variable::Unknown };
            for argument in arguments {
                match argument.known() {
                    Some(flag) if flag == "-r" || flag == "-v" => {}
                    Some(name) if !name.starts_with('-') => machine.set_variable(&name, value.clone())?,
                    _ => return Err(Lost),
                }
            }
            machine.state.status = if name == "unset" { Status::Success } else { Status::Unknown };
        }
        _ if CHANGES_THE_SHELL.contains(&name) => return Err(Lost),
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
fn unknown(machine: &mut Machine<'_>, output: &mut Traced) {
    machine.forget();
    output.append(&Traced::open());
    machine.state.status = Status::Unknown;
}

fn set(machine: &mut Machine<'_>, arguments: &[Traced]) -> Followed {
    let mut arguments = arguments.iter().map(|it| it.known().ok_or(Lost));
    while let Some(argument) = arguments.next() {
        let argument = argument?;
        let Some((sign, flags)) = argument.split_at_checked(1) else { return Err(Lost) };
        if flags.is_empty() || !matches!(sign, "-" | "+") {
            return Err(Lost);
        }
        for flag in flags.chars() {
            let is_failing = match flag {
                'e' => true,
                'u' | 'x' | 'v' => false,
                'o' => match arguments.next().ok_or(Lost)??.as_str() {
                    "errexit" => true,
                    "nounset" | "xtrace" | "verbose" | "pipefail" => false,
                    _ => return Err(Lost),
                },
                _ => return Err(Lost),
            };
            if is_failing {
                machine.state.stops_at_failure = sign == "-";
            }
        }
    }
    Ok(())
}

fn cat(machine: &mut Machine<'_>, arguments: &[Traced], input: &Traced, output: &mut Traced) {
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
            Some(FileState::Absent) => machine.state.status = Status::Failure,
            Some(FileState::Unknown) | None => {
                output.append(&Traced::open());
                machine.state.status = Status::Unknown;
            }
        }
    }
}

fn tee(machine: &mut Machine<'_>, arguments: &[Traced], input: &Traced, output: &mut Traced) {
    let mut appends = false;
    for argument in arguments {
        match argument.known().as_deref() {
            Some("-a" | "--append") => appends = true,
            Some("-i") => {}
            Some("/dev/null" | "/dev/stdout" | "/dev/stderr") => {}
            Some(path) if !path.starts_with('-') => match machine.file_place(argument) {
                Some(place) => {
                    if !machine.state.disk.has_directory(&place) {
                        machine.state.status = Status::Unknown;
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
fn files(machine: &mut Machine<'_>, name: &str, arguments: &[Traced]) {
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
        machine.state.status = Status::Unknown;
        return;
    }
    match (name, operands.as_slice()) {
        ("mkdir", places) => {
            for (_, place) in places {
                let is_file = matches!(machine.state.disk.get(place), FileState::Known(_));
                if is_file || !flags.contains('p') && !machine.state.disk.has_directory(place) {
                    machine.state.status = Status::Unknown;
                } else {
                    machine.state.disk.make_directory(place);
                }
            }
        }
        ("touch", places) => {
            for (_, place) in places {
                if !machine.state.disk.has_directory(place) {
                    machine.state.status = Status::Unknown;
                }
                if machine.state.disk.get(place) == FileState::Absent {
                    machine.write(place, FileState::Known(Arc::default()));
                }
            }
        }
        ("rm", places) => {
            for (_, place) in places {
                if !flags.contains('f') && !matches!(machine.state.disk.get(place), FileState::Known(_)) {
                    machine.state.status = Status::Unknown;
                }
                machine.remove(place);
            }
        }
        (_, [(_, from), (_, to)]) if from == to => machine.state.status = Status::Unknown,
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
                    machine.state.status = Status::Failure;
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
                    machine.state.status = Status::Unknown;
                }
            }
        }
        _ => {
            machine.forget();
            machine.state.status = Status::Unknown;
        }
    }
}
