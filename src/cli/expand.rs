//! `podlens expand`: expands `$(NAME)` in texts as Kubernetes does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::cli::{Exit, assignment, notice, read_text, working_directory};
use crate::load;
use crate::resolve::{Binding, DollarCopying, EnvFileSyntax, Lookup, expand};
use crate::rules;
use crate::syntax::find_env_file_entry;
use crate::text::{LineColumn, LineIndex};
use crate::workspace::{KubernetesVersion, Settings};

/// Expand $(NAME) in texts, as Kubernetes does
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A variable; the last one with a name wins
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// A file with variables, read as the kubelet of the release reads it; --set takes precedence
    #[arg(long = "env-file", value_name = "FILE")]
    env_files: Vec<PathBuf>,
    /// The Kubernetes release to behave like, such as 1.34, instead of the one in the settings
    #[arg(long, value_name = "VERSION")]
    kubernetes: Option<KubernetesVersion>,
    /// Texts to expand [default: each line of stdin]
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,
}

const EXAMPLES: &str = "With `proposals: true` in the settings, env files are read as the env file proposal says.

Examples:
  podlens expand --set HOST=db --set PORT=5432 'postgres://$(HOST):$(PORT)/$$(HOST)'
  podlens expand --env-file app.env --kubernetes 1.35 '$(GREETING)'
  podlens expand --set A=1 < texts.txt";

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(directory) = working_directory() else { return Ok(Exit::Failure) };
    let mut exit = Exit::Clean;
    let settings = match load::settings_of(&directory) {
        Some(Ok((file, text))) => {
            let settings = Settings::parse(&text);
            let lines = LineIndex::new(&text);
            for mistake in rules::settings_errors(&settings) {
                let LineColumn { line, column } = lines.line_column(mistake.span.start);
                notice(format_args!("{file}:{line}:{column}: {}", mistake.message));
                exit = Exit::Failure;
            }
            settings
        }
        Some(Err(problem)) => {
            notice(problem);
            exit = Exit::Failure;
            Settings::default()
        }
        None => Settings::default(),
    };
    let release = arguments.kubernetes.unwrap_or(settings.kubernetes);
    let mut files = Vec::new();
    for path in &arguments.env_files {
        match load::read(path) {
            Ok(text) => files.push((path.display().to_string(), text)),
            Err(error) => {
                let problem = error.in_file(path.display().to_string());
                notice(&problem);
                return Ok(Exit::for_problem(&problem));
            }
        }
    }
    let names = Names {
        set: arguments.set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        files: &files,
        reading: EnvFileSyntax::for_release(release, settings.proposals),
        refused: RefCell::new(None),
    };
    let mut piped = String::new();
    let reads_stdin = arguments.texts.is_empty() || arguments.texts == ["-"];
    if reads_stdin {
        match read_text(Path::new("-")) {
            Ok(text) => piped = text,
            Err(problem) => {
                notice(problem);
                return Ok(Exit::Failure);
            }
        }
    }
    let texts: Vec<&str> = if reads_stdin {
        piped.split_terminator('\n').collect()
    } else {
        arguments.texts.iter().map(String::as_str).collect()
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    for text in texts {
        let expansion = expand(&text.into(), DollarCopying::for_release(release), |name| names.lookup(name));
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

/// The variables that texts can refer to.
struct Names<'a> {
    set: BTreeMap<&'a str, &'a str>,
    files: &'a [(String, String)],
    reading: EnvFileSyntax,
    /// The first error for which the kubelet would refuse the container.
    refused: RefCell<Option<String>>,
}

impl Names<'_> {
    fn lookup(&self, name: &str) -> Lookup {
        let bound = |value: &str| Lookup::Bound(Arc::new(Binding::literal(name, value)));
        if let Some(value) = self.set.get(name) {
            return bound(value);
        }
        for (file, text) in self.files {
            match find_env_file_entry(text, name, self.reading.dialect, self.reading.is_name) {
                Ok(Some(entry)) => return bound(&entry.value),
                Ok(None) => {}
                Err(error) => {
                    // The content of the line may be a secret, so only its number is shown.
                    let message = format!("{file}:{}: {}", error.line, error.problem);
                    self.refused.borrow_mut().get_or_insert(message);
                    return Lookup::Unbound;
                }
            }
        }
        Lookup::Unbound
    }
}
