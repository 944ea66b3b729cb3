//! `--output`: writes the result of a command to a file instead of stdout.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use clap::Args;

use crate::cli::{Color, Exit, is_stdin, notice};

#[derive(Debug, Args)]
pub(super) struct OutputFlag {
    /// The file to write; `-` is stdout [default: -]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl OutputFlag {
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|it| !is_stdin(it))
    }

    /// Writes a result. The exit code is that of the command, or `Failure` if the file cannot be written.
    pub(super) fn write(&self, exit: Exit, result: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Exit> {
        let Some(path) = self.file() else {
            let mut out = io::BufWriter::new(io::stdout().lock());
            result(&mut out)?;
            out.flush()?;
            return Ok(exit);
        };
        let mut text = Vec::new();
        result(&mut text)?;
        Ok(if write_file(path, &text) { exit } else { exit.max(Exit::Failure) })
    }

    /// Whether colors are used. A file has none unless they are asked for.
    pub(super) fn color(&self, color: Color) -> ColorChoice {
        match color {
            Color::Auto if self.file().is_some() => ColorChoice::Never,
            color => color.choice(),
        }
    }

    /// The width of the terminal that is written to, in columns.
    pub(super) fn width(&self) -> Option<usize> {
        let is_terminal = self.file().is_none() && io::stdout().is_terminal();
        is_terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| width.0.into())
    }
}

/// Writes a file. Prints a notice and returns `false` if that fails.
pub(super) fn write_file(path: &Path, text: impl AsRef<[u8]>) -> bool {
    let failed = |error: &io::Error| notice(format_args!("{}: cannot be written: {error}", path.display()));
    fs::write(path, text).inspect_err(failed).is_ok()
}
