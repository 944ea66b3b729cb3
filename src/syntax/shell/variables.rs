//! Finds the variables that any script refers to, from its quotes alone and without a tree.

use std::ops::Range;

/// A reference to a variable in a script: `$NAME` or `${NAME…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellVariable {
    /// The bytes of the name.
    pub range: Range<usize>,
    /// Whether the shell does not expand it: in single quotes, or in a here-document with a quoted delimiter. Another
    /// program may expand it there.
    pub is_literal: bool,
}

/// The construct around the current position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptContext {
    /// Commands, up to this character or the end.
    Commands(Option<u8>),
    /// `"…"`
    Double,
    /// `${…}`
    Braces,
}

/// The variables that a script refers to, from left to right.
pub fn shell_variables(script: &str) -> Vec<ShellVariable> {
    let mut scanner = VariableScanner {
        bytes: script.as_bytes(),
        at: 0,
        found: Vec::new(),
        stack: Vec::new(),
        documents: Vec::new(),
    };
    scanner.run();
    let mut found = scanner.found;
    found.sort_by_key(|it| it.range.start);
    found
}

struct VariableScanner<'t> {
    bytes: &'t [u8],
    at: usize,
    found: Vec<ShellVariable>,
    stack: Vec<ScriptContext>,
    /// Here-documents that begin after this line: delimiter, whether it is quoted, whether leading tabs are removed.
    documents: Vec<(&'t [u8], bool, bool)>,
}

/// Deeper constructs are scanned as if they were at this depth.
const MAX_DEPTH: usize = 1_000;

impl<'t> VariableScanner<'t> {
    fn run(&mut self) {
        while let Some(byte) = self.bytes.get(self.at).copied() {
            let context = self.stack.last().copied().unwrap_or(ScriptContext::Commands(None));
            let is_double = context == ScriptContext::Double;
            match byte {
                b'\\' => self.at += 2,
                b'$' => self.dollar(false),
                b'"' if is_double => self.leave(),
                b'"' => self.enter(ScriptContext::Double, 1),
                b'`' if context == ScriptContext::Commands(Some(b'`')) => self.leave(),
                b'`' => self.enter(ScriptContext::Commands(Some(b'`')), 1),
                _ if is_double => self.at += 1,
                b'\'' => self.single(),
                b'}' if context == ScriptContext::Braces => self.leave(),
                b')' if context == ScriptContext::Commands(Some(b')')) => self.leave(),
                b'(' => self.enter(ScriptContext::Commands(Some(b')')), 1),
                b'#' if context != ScriptContext::Braces && self.begins_word() => self.skip_line(),
                b'<' if self.bytes[self.at..].starts_with(b"<<") => self.document(),
                b'\n' => self.end_line(),
                _ => self.at += 1,
            }
        }
    }

    fn enter(&mut self, context: ScriptContext, length: usize) {
        if self.stack.len() < MAX_DEPTH {
            self.stack.push(context);
        }
        self.at += length;
    }

    fn leave(&mut self) {
        self.stack.pop();
        self.at += 1;
    }

    /// Scans a dollar sign. `is_literal` says that the shell does not expand it.
    fn dollar(&mut self, is_literal: bool) {
        let rest = &self.bytes[self.at + 1..];
        let (skipped, is_brace) = match rest.first() {
            Some(b'{') => (2 + usize::from(rest.get(1).is_some_and(|it| matches!(it, b'#' | b'!'))), true),
            Some(b'(') if !is_literal => return self.enter(ScriptContext::Commands(Some(b')')), 2),
            // The process id.
            Some(b'$') => {
                self.at += 2;
                return;
            }
            _ => (1, false),
        };
        let start = self.at + skipped;
        let name = self.bytes.get(start..).unwrap_or_default();
        let length = name.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
        if name.first().is_some_and(|it| it.is_ascii_alphabetic() || *it == b'_') {
            self.found.push(ShellVariable { range: start..start + length, is_literal });
            self.at = start + length;
        } else {
            self.at += skipped;
        }
        if is_brace && !is_literal {
            self.enter(ScriptContext::Braces, 0);
        }
    }

    /// `'…'`
    fn single(&mut self) {
        let start = self.at + 1;
        let end = self.bytes[start..].iter().position(|it| *it == b'\'').map_or(self.bytes.len(), |len| start + len);
        self.literal(start, end);
        self.at = end + 1;
    }

    fn literal(&mut self, start: usize, end: usize) {
        self.at = start;
        while self.at < end {
            if self.bytes[self.at] == b'$' { self.dollar(true) } else { self.at += 1 }
        }
    }

    fn begins_word(&self) -> bool {
        self.at == 0 || matches!(self.bytes[self.at - 1], b' ' | b'\t' | b'\n' | b';' | b'(' | b'|' | b'&')
    }

    fn skip_line(&mut self) {
        self.at = self.line_end(self.at);
    }

    fn line_end(&self, from: usize) -> usize {
        self.bytes[from..].iter().position(|it| *it == b'\n').map_or(self.bytes.len(), |len| from + len)
    }

    /// Scans `<<END` or `<<-'END'`. `<<<` is not a here-document.
    fn document(&mut self) {
        self.at += 2;
        let rest = &self.bytes[self.at..];
        if rest.first() == Some(&b'<') {
            self.at += 1;
            return;
        }
        let strips_tabs = rest.first() == Some(&b'-');
        self.at += usize::from(strips_tabs);
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let quote = self.bytes.get(self.at).copied().filter(|it| matches!(it, b'\'' | b'"' | b'\\'));
        self.at += usize::from(quote.is_some());
        let is_word = |it: &&u8| it.is_ascii_alphanumeric() || matches!(**it, b'_' | b'-' | b'.' | b'!');
        let length = self.bytes.get(self.at..).unwrap_or_default().iter().take_while(is_word).count();
        if length > 0 {
            self.documents.push((&self.bytes[self.at..self.at + length], quote.is_some(), strips_tabs));
        }
        self.at += length + usize::from(quote.is_some_and(|it| self.bytes.get(self.at + length) == Some(&it)));
    }

    /// Scans a line break and the bodies of here-documents after it.
    fn end_line(&mut self) {
        self.at += 1;
        for (end, is_literal, strips_tabs) in std::mem::take(&mut self.documents) {
            while self.at < self.bytes.len() {
                let (start, stop) = (self.at, self.line_end(self.at));
                let mut line = &self.bytes[start..stop];
                while strips_tabs && line.first() == Some(&b'\t') {
                    line = &line[1..];
                }
                if line == end {
                    self.at = stop;
                    break;
                }
                if is_literal {
                    self.literal(start, stop)
                } else {
                    self.expanded_line(stop)
                }
                self.at = self.at.max(stop) + 1;
            }
        }
    }

    /// Scans a line of a here-document, in which quotes are text but references are expanded.
    fn expanded_line(&mut self, stop: usize) {
        while self.at < stop {
            match self.bytes[self.at] {
                b'\\' => self.at += 2,
                b'$' => {
                    let depth = self.stack.len();
                    self.dollar(false);
                    self.stack.truncate(depth);
                }
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> String {
        let all = shell_variables(script);
        let word =
            |it: &ShellVariable| format!("{}{}", &script[it.range.clone()], if it.is_literal { "'" } else { "" });
        all.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn variables_are_found_wherever_a_shell_expands_them() {
        assert_eq!(shown("echo $A ${B:-$C} \"$D\" $1 ${#E} $é $F_2 ${!G} $$H $"), "A B C D E F_2 G");
        assert_eq!(shown("x=$(cat $A \"$(echo \"$B\")\") `echo $C` $((D + $E))"), "A B C E");
        assert_eq!(shown("echo \\$A \"\\$B\" # $C don't\necho $D#$E"), "D E");
        assert_eq!(shown("echo '$A ${B}' \"it's $C\" $D"), "A' B' C D");
        assert_eq!(shown("a=${X:-\"}\"}; echo '}' $B"), "X B");
    }

    #[test]
    fn here_documents_have_their_own_rules() {
        assert_eq!(shown("cat <<END $A\nit's $B \\$C \"${D}\"\nEND\necho '$E' $F"), "A B D E' F");
        assert_eq!(shown("cat <<'END'\n$A\nEND\necho $B"), "A' B");
        assert_eq!(shown("cat <<-\"END\" <<X\n\t$A\n\tEND\n$B\nX\n$C"), "A' B C");
        assert_eq!(shown("cat <<< $A; cat <<END\n$B"), "A B");
    }

    #[test]
    fn any_text_is_scanned() {
        for text in ["'", "\"", "$(", "${", "`", "<<", "<<'", "$", "\\", "<<-", "${#", "$'", "\"${'", "#", "<<A\n"] {
            for times in [1, 3, 70_000] {
                let _ = shell_variables(&text.repeat(times));
            }
        }
    }
}
