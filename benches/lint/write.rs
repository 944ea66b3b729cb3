//! Writes generated trees, to measure them or to try them by hand.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::Result;
use crate::large_inputs::{LARGE_INPUTS, LargeInput};
use crate::monorepo::Monorepo;

#[derive(Args)]
pub(crate) struct WriteArguments {
    /// Write a monorepo of applications to this directory, and measure nothing
    #[arg(long, value_name = "DIRECTORY")]
    write_tree: Option<PathBuf>,
    /// How many files it has
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    files: usize,
    /// Without a namespace in the objects
    #[arg(long)]
    no_namespaces: bool,
    /// Without Services
    #[arg(long)]
    no_services: bool,
    /// As many more Services in the first namespace
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    more_services: usize,
    /// As many PodPresets in the first namespace
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    presets: usize,
    /// Write one of the inputs in which one thing is repeated, and measure nothing; `all` writes each
    #[arg(long, num_args = 2, value_names = ["NAME", "DIRECTORY"])]
    write_input: Option<Vec<String>>,
    /// How often that is repeated [default: as in the benchmark]
    #[arg(long, value_name = "NUMBER")]
    size: Option<usize>,
}

impl WriteArguments {
    pub(crate) fn is_given(&self) -> bool {
        self.write_tree.is_some() || self.write_input.is_some()
    }

    pub(crate) fn run(&self) -> Result<()> {
        if let Some(directory) = &self.write_tree {
            let tree = Monorepo {
                more_services: self.more_services,
                presets: self.presets,
                ..Monorepo::of_files(self.files, !self.no_namespaces, !self.no_services)
            };
            let mut mistakes = 0;
            let mut files = 0;
            let mut bytes = 0;
            write_monorepo(directory, tree, |file, of_file| {
                files += 1;
                bytes += file.len();
                mistakes += of_file.len();
            })?;
            println!("{}: {files} files, {:.1} MB, {mistakes} mistakes", directory.display(), bytes as f64 / 1e6);
        }
        if let Some([name, directory]) = self.write_input.as_deref() {
            let chosen = || LARGE_INPUTS.iter().filter(|it| it.name == name || name == "all");
            if chosen().next().is_none() {
                let names: Vec<_> = LARGE_INPUTS.iter().map(|it| it.name).collect();
                return Err(format!("no input is named {name}; there are: all, {}", names.join(", ")).into());
            }
            for input in chosen() {
                let directory = Path::new(directory).join(input.name);
                let size = self.size.unwrap_or(input.size);
                let bytes = write_input(&directory, input, size)?;
                let mistakes: usize = (input.findings)(size).iter().map(|(_, number)| number).sum();
                let shown = directory.display();
                println!("{shown}: {size} {}, {:.2} MB, {mistakes} mistakes", input.unit, bytes as f64 / 1e6);
            }
        }
        Ok(())
    }
}

/// Writes a monorepo. Calls `each` with the text of each file and its mistakes.
pub(crate) fn write_monorepo(
    directory: &Path,
    tree: Monorepo,
    mut each: impl FnMut(&str, Vec<(&'static str, String, usize)>),
) -> Result<()> {
    make_project(directory)?;
    for file in tree.files() {
        write_file(directory, &file.path, &file.text)?;
        each(&file.text, file.mistakes.iter().map(|(rule, line)| (*rule, file.path.clone(), *line)).collect());
    }
    Ok(())
}

/// Writes an input. Returns its size in bytes.
pub(crate) fn write_input(directory: &Path, input: &LargeInput, size: usize) -> Result<usize> {
    make_project(directory)?;
    let mut bytes = 0;
    for (path, text) in (input.files)(size) {
        write_file(directory, &path, &text)?;
        bytes += text.len();
    }
    Ok(bytes)
}

/// Makes a directory that is a project of its own wherever it is.
fn make_project(directory: &Path) -> Result<()> {
    Ok(fs::create_dir_all(directory.join(".git"))?)
}

fn write_file(directory: &Path, path: &str, text: &str) -> Result<()> {
    let path = directory.join(path);
    fs::create_dir_all(path.parent().unwrap_or(directory))?;
    Ok(fs::write(path, text)?)
}
