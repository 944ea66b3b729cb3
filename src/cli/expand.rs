//! `podlens expand`: texts with `$(NAME)` replaced as Kubernetes does it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::cli::{Exit, notice};
use crate::load;
use crate::resolve::{Binding, Lookup, Reading, copying, expand};
use crate::rules;
use crate::syntax::env_file;
use crate::text::Lines;
use crate::workspace::{Settings, Version};

/// Expand $(NAME) in texts, as Kubernetes does
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A variable; the last one of a name counts
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// A file with variables, read as the kubelet of the release reads it; what --set says comes first
    #[arg(long = "env-file", value_name = "FILE")]
    env_files: Vec<PathBuf>,
    /// The Kubernetes release to behave like, such as 1.34, instead of the settings' one
    #[arg(long, value_name = "VERSION")]
    kubernetes: Option<Version>,
    /// Texts to expand [default: each line of stdin]
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,
}

const EXAMPLES: &str = "With `proposals: true` in the settings env files are read as the proposal has it.

Examples:
  podlens expand --set HOST=db --set PORT=5432 'postgres://$(HOST):$(PORT)/$$(HOST)'
  podlens expand --env-file app.env --kubernetes 1.35 '$(GREETING)'
  podlens expand --set A=1 < texts.txt";

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("a name stands before `=`".into()),
        Some((name, value)) => Ok((name.into(), value.into())),
        None => Err("write it as NAME=VALUE".into()),
    }
}

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let mut exit = Exit::Clean;
    let settings = match load::settings_of(&std::env::current_dir()?) {
        Some((path, text)) => {
            let settings = Settings::parse(&text);
            let lines = Lines::new(&text);
            for mistake in rules::mistakes(&settings) {
                let line = lines.place(mistake.span.start).line;
                notice(format_args!("{}:{line}: {}", path.display(), mistake.message));
                exit = Exit::Trouble;
            }
            settings
        }
        None => Settings::default(),
    };
    let release = arguments.kubernetes.unwrap_or(settings.kubernetes);
    let mut files = Vec::new();
    for path in &arguments.env_files {
        match load::read(path) {
            Ok(text) => files.push((path.display().to_string(), text)),
            Err(message) => {
                notice(format_args!("{}: {message}", path.display()));
                return Ok(Exit::Trouble);
            }
        }
    }
    let names = Names {
        set: arguments.set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        files: &files,
        reading: Reading::of(release, settings.proposals),
        refused: RefCell::new(None),
    };
    let mut piped = String::new();
    let texts: Vec<&str> = match arguments.texts.as_slice() {
        [] => stdin_lines(&mut piped)?,
        [text] if text == "-" => stdin_lines(&mut piped)?,
        texts => texts.iter().map(String::as_str).collect(),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    for text in texts {
        let expansion = expand(&text.into(), copying(release), |name| names.lookup(name));
        if let Some(message) = names.refused.take() {
            out.flush()?;
            notice(message);
            return Ok(Exit::Findings);
        }
        writeln!(out, "{}", expansion.value)?;
    }
    out.flush()?;
    Ok(exit)
}

fn stdin_lines(text: &mut String) -> io::Result<Vec<&str>> {
    io::stdin().lock().read_to_string(text)?;
    Ok(text.split_terminator('\n').collect())
}

/// Where names come from.
struct Names<'a> {
    set: BTreeMap<&'a str, &'a str>,
    files: &'a [(String, String)],
    reading: Reading,
    /// What the kubelet would refuse.
    refused: RefCell<Option<String>>,
}

impl Names<'_> {
    fn lookup(&self, name: &str) -> Lookup {
        let bound = |value: &str| Lookup::Bound(Arc::new(Binding::literal(name, value)));
        if let Some(value) = self.set.get(name) {
            return bound(value);
        }
        for (file, text) in self.files {
            match env_file::find(text, name, self.reading.dialect, self.reading.is_name) {
                Ok(Some(entry)) => return bound(&entry.value),
                Ok(None) => {}
                Err(error) => {
                    // The line's content may be a secret.
                    let message = format!("{file}:{}: {}", error.line, error.problem);
                    self.refused.borrow_mut().get_or_insert(message);
                    return Lookup::Unbound;
                }
            }
        }
        Lookup::Unbound
    }
}
