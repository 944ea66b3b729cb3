//! Who may read a file: `chmod`, `chown`, `umask`, and the permissions that a file or its directories certainly lack (PF7).
//!
//! A file needs the permission to read, each of its directories that to search. Only certain denials are recorded. The
//! default of `umask` is that of the image, so a new file denies nothing for certain.

use crate::resolve::container_user::ContainerUser;
use crate::resolve::script_runner::file_system::{FileLocation, FileState};
use crate::resolve::script_runner::interpreter::{ExitStatus, Interpreter};
use crate::resolve::script_runner::traced_text::{ScriptPosition, TracedText};

const OWNER: u8 = 4;
const GROUP: u8 = 2;
const OTHERS: u8 = 1;
const ALL: u8 = OWNER | GROUP | OTHERS;

/// The permission that a reader of a file needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needed {
    /// Of the file: `r`.
    Read,
    /// Of a directory: `x`.
    Search,
}

/// What is known about the permissions of a file or directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::resolve) struct FilePermissions {
    /// The classes of users that certainly may not read the file or search the directory.
    denied: u8,
    /// The number of the user who owns it, if it is known.
    owner: Option<u64>,
    /// The text of the script that denies it.
    place: Option<ScriptPosition>,
}

impl FilePermissions {
    /// The permissions of a new file before any `umask`.
    pub(super) fn of_user(owner: Option<u64>) -> Self {
        Self { owner, ..Self::default() }
    }

    /// Whether a user certainly may not read the file or search the directory.
    pub(in crate::resolve) fn denies(self, user: ContainerUser) -> bool {
        let others = GROUP | OTHERS;
        let denies_others = self.denied & others == others;
        match (user, self.owner) {
            // Root may read every file.
            (ContainerUser::Unknown | ContainerUser::Id(0), _) => false,
            (ContainerUser::NonRoot, Some(0)) => denies_others,
            (ContainerUser::Id(user), Some(owner)) if user == owner => self.denied & OWNER != 0,
            (ContainerUser::Id(_), Some(_)) => denies_others,
            (ContainerUser::NonRoot | ContainerUser::Id(_), _) => self.denied == ALL,
        }
    }

    /// The text of the script that denies it.
    pub(in crate::resolve) fn place(self) -> Option<ScriptPosition> {
        self.place
    }

    /// What holds in both cases.
    pub(super) fn common(self, other: Self) -> Self {
        Self {
            denied: self.denied & other.denied,
            owner: self.owner.filter(|_| self.owner == other.owner),
            place: self.place.or(other.place),
        }
    }

    /// The permissions of a copy of the file that gets these permissions as a new file.
    pub(super) fn of_copy(self, new: Self) -> Self {
        Self { denied: self.denied | new.denied, owner: new.owner, place: self.place.or(new.place) }
    }
}

/// `chmod`
pub(super) fn chmod(interpreter: &mut Interpreter<'_>, arguments: &[TracedText]) {
    let Some((mode, files)) = operands(interpreter, arguments) else { return forget(interpreter) };
    for file in files {
        let file_system = &mut interpreter.state.file_system;
        let before = file_system.permissions(&file);
        let is_directory = file_system.is_directory(&file);
        let needed = if is_directory { Needed::Search } else { Needed::Read };
        let denied = mode.known().and_then(|it| changed_mode(&it, before.denied, needed));
        match file_system.get(&file) {
            _ if is_directory => {
                let place = position(mode).filter(|_| denied.is_some());
                file_system.set_permissions(&file, FilePermissions { denied: denied.unwrap_or(0), place, ..before });
            }
            FileState::Known(_) => {
                let place = position(mode).filter(|_| denied.is_some());
                let after = FilePermissions { denied: denied.unwrap_or(0), place, ..before };
                file_system.set_permissions(&file, after);
            }
            FileState::Absent => interpreter.state.status = ExitStatus::Failure,
            FileState::Unknown => file_system.set_permissions(&file, FilePermissions::default()),
        }
    }
}

/// `chown`
pub(super) fn chown(interpreter: &mut Interpreter<'_>, arguments: &[TracedText]) {
    interpreter.state.status = ExitStatus::Unknown;
    let Some((owner, files)) = operands(interpreter, arguments) else { return forget(interpreter) };
    let Some(owner) = owner.known() else { return forget(interpreter) };
    let name = owner.split([':', '.']).next().unwrap_or_default();
    if name.is_empty() {
        return;
    }
    // Only root may give a file away.
    let id = name.parse().ok().filter(|_| interpreter.context.user.id() == Some(0));
    for file in files {
        let before = interpreter.state.file_system.permissions(&file);
        interpreter.state.file_system.set_permissions(&file, FilePermissions { owner: id, ..before });
    }
}

/// `mkdir -m MODE`, after the directory is made.
pub(super) fn set_directory_mode(interpreter: &mut Interpreter<'_>, mode: &TracedText, directory: &FileLocation) {
    let file_system = &mut interpreter.state.file_system;
    let before = file_system.permissions(directory);
    let denied = mode.known().and_then(|it| changed_mode(&it, 0, Needed::Search));
    let after = FilePermissions { denied: denied.unwrap_or(0), place: position(mode), ..before };
    file_system.set_permissions(directory, after);
}

/// `umask`
pub(super) fn umask(interpreter: &mut Interpreter<'_>, arguments: &[TracedText], output: &mut TracedText) {
    let [mask] = arguments else { return output.append(&TracedText::open()) };
    let text = mask.known();
    if text.as_ref().is_some_and(|it| it.starts_with('-')) {
        return output.append(&TracedText::open());
    }
    let state = &mut interpreter.state;
    for (new, needed) in [(&mut state.new_file, Needed::Read), (&mut state.new_directory, Needed::Search)] {
        // The mask in octal has the bits that are removed, the symbolic form those that are kept.
        let changed = |text: &str| {
            octal(text).map(|it| classes_with(it, needed)).or_else(|| changed_mode(text, new.denied, needed))
        };
        (new.denied, new.place) = (text.as_deref().and_then(changed).unwrap_or(0), position(mask));
    }
}

/// The first operand, and the files that the others name. `None` if one of them is not known.
fn operands<'t>(
    interpreter: &Interpreter<'_>,
    arguments: &'t [TracedText],
) -> Option<(&'t TracedText, Vec<FileLocation>)> {
    let (mut first, mut files, mut is_recursive) = (None, Vec::new(), false);
    for argument in arguments {
        let text = argument.known()?;
        match text.strip_prefix('-') {
            Some(flags) if flags == "-recursive" || flags.chars().all(|it| "Rvfch".contains(it)) => {
                is_recursive |= flags.contains(['R', 'r']);
            }
            Some(_) => return None,
            None if first.is_none() => first = Some(argument),
            None => files.push(interpreter.locate(argument)?),
        }
    }
    if is_recursive {
        files = files.iter().flat_map(|it| interpreter.state.file_system.files_below(it)).collect();
    }
    Some((first?, files))
}

/// Forgets all permissions, after a command that may have changed any.
fn forget(interpreter: &mut Interpreter<'_>) {
    interpreter.state.file_system.forget_permissions();
}

/// The range of an argument in the script.
fn position(argument: &TracedText) -> Option<ScriptPosition> {
    let (first, last) = (argument.characters.first()?.place, argument.characters.last()?.place);
    let end = if first.script == last.script { last.end.max(first.end) } else { first.end };
    Some(ScriptPosition { end, ..first })
}

/// The classes that lack a permission after `chmod`, if the mode is understood.
fn changed_mode(mode: &str, denied: u8, needed: Needed) -> Option<u8> {
    if let Some(bits) = octal(mode) {
        return Some(ALL & !classes_with(bits, needed));
    }
    let letters: &[char] = match needed {
        Needed::Read => &['r'],
        Needed::Search => &['x', 'X'],
    };
    mode.split(',').try_fold(denied, |denied, clause| {
        let operator = clause.find(['+', '-', '='])?;
        let (who, change) = clause.split_at(operator);
        let permissions = &change[1..];
        if permissions.contains(|it: char| !"rwxXst".contains(it)) {
            return None;
        }
        let classes = who.chars().try_fold(0, |all, it| {
            Some(
                all | match it {
                    'u' => OWNER,
                    'g' => GROUP,
                    'o' => OTHERS,
                    'a' => ALL,
                    _ => return None,
                },
            )
        })?;
        match (change.as_bytes()[0], permissions.contains(letters), classes) {
            // Without a class `umask` decides which classes are changed.
            (b'+', true, 0) => Some(0),
            (b'+', false, _) | (b'-', false, _) => Some(denied),
            (_, _, 0) => None,
            (b'+', true, _) | (b'=', true, _) => Some(denied & !classes),
            _ => Some(denied | classes),
        }
    })
}

fn octal(text: &str) -> Option<u32> {
    let is_octal = (1..=5).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit() && it < b'8');
    is_octal.then(|| u32::from_str_radix(text, 8).ok()).flatten()
}

/// The classes with a permission in the bits of a mode.
fn classes_with(bits: u32, needed: Needed) -> u8 {
    let bits = match needed {
        Needed::Read => bits,
        Needed::Search => bits << 2,
    };
    let class = |bit: u32, class: u8| if bits & bit == 0 { 0 } else { class };
    class(0o400, OWNER) | class(0o040, GROUP) | class(0o004, OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_deny_classes() {
        for (mode, before, after) in [
            ("000", 0, Some(ALL)),
            ("600", 0, Some(GROUP | OTHERS)),
            ("0644", ALL, Some(0)),
            ("go-rwx", 0, Some(GROUP | OTHERS)),
            ("go-w", OTHERS, Some(OTHERS)),
            ("u=rw,go=", OWNER, Some(GROUP | OTHERS)),
            ("a+r", ALL, Some(0)),
            ("o+r", ALL, Some(OWNER | GROUP)),
            ("+r", ALL, Some(0)),
            ("+x", GROUP, Some(GROUP)),
            ("-r", 0, None),
            ("g=u", 0, None),
            ("888", 0, None),
            ("u", 0, None),
        ] {
            assert_eq!(changed_mode(mode, before, Needed::Read), after, "{mode}");
        }
    }

    #[test]
    fn modes_of_directories_deny_classes() {
        for (mode, before, after) in [
            ("700", 0, Some(GROUP | OTHERS)),
            ("0755", ALL, Some(0)),
            ("644", 0, Some(ALL)),
            ("go-x", 0, Some(GROUP | OTHERS)),
            ("go-r", 0, Some(0)),
            ("a+X", ALL, Some(0)),
            ("u=rw", 0, Some(OWNER)),
        ] {
            assert_eq!(changed_mode(mode, before, Needed::Search), after, "{mode}");
        }
    }

    #[test]
    fn permissions_deny_users() {
        use ContainerUser::{Id, NonRoot, Unknown};
        let file = |denied, owner| FilePermissions { denied, owner, place: None };
        for (permissions, user, is_denied) in [
            (file(ALL, None), Id(0), false),
            (file(ALL, None), Unknown, false),
            (file(ALL, None), NonRoot, true),
            (file(ALL, None), Id(7), true),
            (file(GROUP | OTHERS, None), Id(7), false),
            (file(GROUP | OTHERS, Some(0)), NonRoot, true),
            (file(GROUP | OTHERS, Some(0)), Id(7), true),
            (file(GROUP | OTHERS, Some(7)), Id(7), false),
            (file(GROUP | OTHERS, Some(7)), NonRoot, false),
            (file(OWNER, Some(7)), Id(7), true),
            (file(OTHERS, Some(0)), Id(7), false),
        ] {
            assert_eq!(permissions.denies(user), is_denied, "{permissions:?} {user:?}");
        }
    }
}
