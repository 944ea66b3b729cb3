//! `echo` and `printf`, which differ most between shells.

use crate::resolve::script_runner::commands::ShellVariant;
use crate::resolve::script_runner::interpreter::character;
use crate::resolve::script_runner::traced_text::{ScriptPosition, TracedCharacter, TracedText};

/// Prints the fields after the first. For an unknown shell, prints only the common start of the outputs.
pub(super) fn echo(shell: ShellVariant, fields: &[TracedText], output: &mut TracedText) {
    let place = last_position(fields);
    let of = |shell| echo_in(shell, &fields[1..], place);
    let printed = match shell {
        ShellVariant::Any => of(ShellVariant::Dash).common_start(&of(ShellVariant::Bash)),
        shell => of(shell),
    };
    output.append(&printed);
}

/// The position of characters that the command itself adds: its last word.
fn last_position(fields: &[TracedText]) -> ScriptPosition {
    let last = fields.iter().rev().find_map(|it| it.characters.last()).map(|it| it.place);
    last.unwrap_or(ScriptPosition::new(0, crate::text::Span::default(), crate::syntax::ShellQuote::Bare))
}

fn echo_in(shell: ShellVariant, fields: &[TracedText], place: ScriptPosition) -> TracedText {
    let (mut first, mut ends_line, mut reads_escapes) = (0, true, shell == ShellVariant::Dash);
    while let Some(field) = fields.get(first) {
        let options = field.known().filter(|it| it.len() > 1 && it.starts_with('-')).unwrap_or_default();
        let is_option = match shell {
            ShellVariant::Dash => options == "-n" && first == 0,
            _ => !options.is_empty() && options[1..].chars().all(|it| "neE".contains(it)),
        };
        if !is_option {
            break;
        }
        ends_line &= !options.contains('n');
        if shell != ShellVariant::Dash {
            for it in options.chars() {
                reads_escapes = if it == 'e' { true } else { reads_escapes && it != 'E' };
            }
        }
        first += 1;
    }
    let mut text = TracedText::default();
    for (at, field) in fields[first..].iter().enumerate() {
        // It may be an option, or expand to no word.
        let is_uncertain = field.is_open && (field.characters.is_empty() || at == 0 && field.starts_with("-"));
        let is_literal = field.characters.first().is_some_and(|it| it.is_literal);
        if is_uncertain && !is_literal {
            text.is_open = true;
        }
        if at > 0 {
            text.push(character(' ', place));
        }
        text.append(field);
    }
    if !reads_escapes {
        if ends_line {
            text.push(character('\n', place));
        }
        return text;
    }
    let (mut read, goes_on) = interpret_escapes(&text);
    if goes_on && ends_line {
        read.push(character('\n', place));
    }
    read
}

/// Interprets escapes as `echo` and `%b` do, and returns whether more is printed after the text (`\c` ends the output).
fn interpret_escapes(text: &TracedText) -> (TracedText, bool) {
    let mut result = TracedText::default();
    let characters = &text.characters;
    let mut at = 0;
    while let Some(it) = characters.get(at) {
        at += 1;
        if it.value != '\\' {
            result.push(it.clone());
            continue;
        }
        let Some(next) = characters.get(at) else {
            // The unknown next character decides.
            if !text.is_open {
                result.push(it.clone());
            }
            break;
        };
        at += 1;
        match next.value {
            'c' => return (result, false),
            '0' => {
                let digits = characters[at..].iter().take(3).take_while(|it| it.value.is_digit(8)).count();
                let value =
                    characters[at..at + digits].iter().fold(0, |sum, it| sum * 8 + it.value as u32 - '0' as u32);
                at += digits;
                match char::from_u32(value).filter(|it| it.is_ascii() && *it != '\0') {
                    Some(value) => result.push(TracedCharacter { value, ..joined(it, next) }),
                    None => result.is_open = true,
                }
            }
            other => match simple_escape(other) {
                Some(value) => result.push(TracedCharacter { value, ..joined(it, next) }),
                // Shells differ.
                None if other.is_ascii_alphanumeric() => result.is_open = true,
                None => {
                    result.push(it.clone());
                    result.push(next.clone());
                }
            },
        }
    }
    result.is_open |= text.is_open;
    (result, true)
}

fn simple_escape(it: char) -> Option<char> {
    Some(match it {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        '\\' => '\\',
        _ => return None,
    })
}

/// The value of an escape of two characters.
fn joined(first: &TracedCharacter, second: &TracedCharacter) -> TracedCharacter {
    let mut place = first.place;
    if place.script == second.place.script && place.quote == second.place.quote {
        place.end = second.place.end.max(place.end);
    }
    TracedCharacter { place, ..first.clone() }
}

/// Prints with a format, repeated until all arguments are used. Returns whether it certainly succeeds.
pub(super) fn printf(shell: ShellVariant, fields: &[TracedText], output: &mut TracedText) -> bool {
    let mut fields = &fields[1..];
    if fields.first().is_some_and(|it| it.is("--")) {
        fields = &fields[1..];
    }
    let Some((format, mut arguments)) = fields.split_first() else { return false };
    if format.starts_with("-") || format.characters.is_empty() {
        output.is_open |= format.is_open || format.starts_with("-");
        return format.characters.is_empty() && !format.is_open;
    }
    loop {
        let before = arguments.len();
        match format_once(shell, format, &mut arguments, output) {
            Some(()) if output.is_open => return false,
            Some(()) if arguments.is_empty() || arguments.len() == before => return true,
            Some(()) => {}
            None => {
                output.is_open = true;
                return false;
            }
        }
    }
}

/// Prints the format once; `None` where shells differ.
fn format_once(
    shell: ShellVariant,
    format: &TracedText,
    arguments: &mut &[TracedText],
    output: &mut TracedText,
) -> Option<()> {
    let characters = &format.characters;
    let mut at = 0;
    while let Some(it) = characters.get(at) {
        at += 1;
        match it.value {
            '%' => {
                let conversion = characters.get(at)?;
                at += 1;
                let argument = match conversion.value {
                    '%' => None,
                    _ => arguments.split_first().map(|(first, rest)| {
                        *arguments = rest;
                        first
                    }),
                };
                // It may expand to no word or to several.
                if argument.is_some_and(|it| it.is_open && !it.characters.first().is_some_and(|it| it.is_literal)) {
                    argument.into_iter().for_each(|it| output.append(it));
                    return None;
                }
                match conversion.value {
                    '%' => output.push(joined(it, conversion)),
                    's' => argument.into_iter().for_each(|it| output.append(it)),
                    'b' => {
                        let (text, goes_on) = interpret_escapes(argument.unwrap_or(&TracedText::default()));
                        output.append(&text);
                        if !goes_on {
                            return None;
                        }
                    }
                    'd' | 'i' => {
                        let number = argument.map_or(Some("0".to_owned()), TracedText::known)?;
                        let digits = number.strip_prefix('-').unwrap_or(&number);
                        let is_plain = !digits.is_empty()
                            && digits.len() < 18
                            && digits.bytes().all(|it| it.is_ascii_digit())
                            && (digits == "0" && number == "0" || !digits.starts_with('0'));
                        if !is_plain {
                            return None;
                        }
                        match argument {
                            Some(argument) => output.append(argument),
                            None => output.push(TracedCharacter { value: '0', ..joined(it, conversion) }),
                        }
                    }
                    _ => return None,
                }
            }
            '\\' => {
                let next = characters.get(at)?;
                at += 1;
                let digits = characters[at - 1..].iter().take(3).take_while(|it| it.value.is_digit(8)).count();
                if digits > 0 {
                    let octal = &characters[at - 1..at - 1 + digits];
                    let value = octal.iter().fold(0, |sum, it| sum * 8 + it.value as u32 - '0' as u32);
                    let value = char::from_u32(value).filter(|it| it.is_ascii() && *it != '\0')?;
                    output.push(TracedCharacter { value, ..joined(it, octal.last()?) });
                    at += digits - 1;
                    continue;
                }
                let value = match next.value {
                    '"' if shell == ShellVariant::Bash => '"',
                    '\'' if shell == ShellVariant::Bash => '\'',
                    other => simple_escape(other)?,
                };
                output.push(TracedCharacter { value, ..joined(it, next) });
            }
            _ => output.push(it.clone()),
        }
        if output.is_open {
            return Some(());
        }
    }
    output.is_open |= format.is_open;
    Some(())
}
