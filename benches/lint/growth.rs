//! How `lint` and `env` grow: generated monorepos of several sizes, and inputs in which one thing is repeated.
//!
//! Ten times the input may cost eleven times the work. In every tree exactly the seeded mistakes must be found.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Result;
use crate::large_inputs::{LARGE_INPUTS, LargeInput};
use crate::monorepo::Monorepo;
use crate::program::{Cost, least_cost, output_and_memory, unit_of_work};
use crate::write::{write_input, write_monorepo};

/// The work for an input, relative to that for a smaller one with proportionally more.
const GROWTH: f64 = 1.1;
/// The time of `lint` relative to ripgrep, in trees of some size: starting both takes longer than searching small ones.
const RIPGREP: f64 = 8.0;
const LARGE_TREE: usize = 10_000;
/// The memory of `lint` in the largest tree, in MB.
const MEMORY: f64 = 150.0;

/// What is measured.
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) only: Option<String>,
    pub(crate) binary: PathBuf,
}

struct Bench<'o> {
    options: &'o Options,
    directory: tempfile::TempDir,
    rounds: usize,
    has_ripgrep: bool,
    exceeded: Vec<String>,
}

/// Measures everything that is asked for, and prints a row for each. Returns the budgets that are exceeded.
pub(crate) fn measure(options: &Options) -> Result<Vec<String>> {
    let has_ripgrep = output_and_memory(Path::new("rg"), &["--version"]).is_ok();
    let mut bench = Bench {
        options,
        directory: tempfile::tempdir()?,
        rounds: if options.quick { 2 } else { 3 },
        has_ripgrep,
        exceeded: Vec::new(),
    };
    bench.trees()?;
    bench.inputs()?;
    Ok(bench.exceeded)
}

impl Bench<'_> {
    fn is_chosen(&self, name: &str) -> bool {
        self.options.only.as_deref().is_none_or(|it| it == name)
    }

    fn trees(&mut self) -> Result<()> {
        let sizes: &[usize] = if self.options.quick { &[500, 5_000] } else { &[1_000, 10_000, 40_000] };
        let two = &sizes[..2];
        let plain = |files| Monorepo::of_files(files, true, true);
        self.tree("namespaces", sizes, &plain)?;
        self.tree("no-namespaces", sizes, &|files| Monorepo::of_files(files, false, true))?;
        self.tree("no-services", sizes, &|files| Monorepo::of_files(files, true, false))?;
        self.tree("many-services", two, &|files| Monorepo { more_services: files / 2, ..plain(files) })?;
        self.tree("many-presets", two, &|files| Monorepo { presets: files / 10, ..plain(files) })
    }

    /// Measures a tree at several sizes.
    fn tree(&mut self, name: &str, sizes: &[usize], of: &dyn Fn(usize) -> Monorepo) -> Result<()> {
        if !self.is_chosen(name) {
            return Ok(());
        }
        println!(
            "\n{name:<22}{:>8}{:>9}{:>11}{:>10}{:>8}{:>11}{:>9}  found",
            "files", "MB", "lint ms", "rg ms", "ratio", "memory MB", "growth"
        );
        let mut before: Option<(usize, Cost)> = None;
        for &size in sizes {
            let tree = self.directory.path().join(name);
            let (mut files, mut bytes) = (0, 0);
            let mut mistakes = Vec::new();
            write_monorepo(&tree, of(size), |text, of_file| {
                files += 1;
                bytes += text.len();
                mistakes.extend(of_file);
            })?;
            let path = tree.to_string_lossy().into_owned();
            let measured = self.lint(&path);
            fs::remove_dir_all(&tree)?;
            let Measured { cost, ripgrep, memory, mut found } = match measured {
                Ok(measured) => measured,
                Err(error) => {
                    println!("{:<22}{files:>8}{:>9.1}  {error}", "", bytes as f64 / 1e6);
                    self.exceeded.push(format!("{name}, {size} files: {error}"));
                    break;
                }
            };
            // Services of a large namespace are many for every pod: right, but not a seeded mistake.
            found.retain(|(rule, ..)| rule != "crowded-environment");
            found.sort();
            let mut expected: Vec<_> =
                mistakes.into_iter().map(|(rule, file, line)| (rule.to_owned(), file, line)).collect();
            expected.sort();
            let is_exact = found == expected;
            let ratio = ripgrep.map(|it| cost.time.as_secs_f64() / it.time.as_secs_f64());
            let growth = before.map(|(files_before, it)| (cost.work / it.work, files as f64 / files_before as f64));
            println!(
                "{:<22}{files:>8}{:>9.1}{:>11.0}{:>10}{:>8}{memory:>11.0}{:>9}  {}",
                "",
                bytes as f64 / 1e6,
                millis(cost),
                ripgrep.map_or_else(String::new, |it| format!("{:.0}", millis(it))),
                ratio.map_or_else(String::new, |it| format!("{it:.1}")),
                growth.map_or_else(String::new, |(growth, _)| format!("{growth:.1}x")),
                if is_exact {
                    format!("all {}", expected.len())
                } else {
                    format!("{} of {}", found.len(), expected.len())
                },
            );
            if !is_exact {
                self.exceeded.push(format!("{name}, {size} files: other findings than the seeded mistakes"));
            }
            if let Some((growth, files)) = growth {
                self.limit(format!("{name}, growth to {size} files"), growth, GROWTH * files);
            }
            if let Some(ratio) = ratio.filter(|_| size >= LARGE_TREE) {
                self.limit(format!("{name}, {size} files relative to ripgrep"), ratio, RIPGREP);
            }
            self.limit(format!("{name}, {size} files, memory in MB"), memory, MEMORY);
            before = Some((files, cost));
        }
        Ok(())
    }

    fn lint(&self, path: &str) -> Result<Measured> {
        let binary = &*self.options.binary;
        let (output, memory) = output_and_memory(binary, &["lint", "--format", "json", "--root", path, path])?;
        let found = findings(&output, path)?;
        let arguments = ["lint", "--format", "concise", "--root", path, path];
        let cost = least_cost(self.rounds, binary, &arguments).ok_or("takes too long")?;
        let ripgrep = match self.has_ripgrep {
            true => least_cost(self.rounds + 2, Path::new("rg"), &["-c", r"\$\(", path]),
            false => None,
        };
        Ok(Measured { cost, ripgrep, memory, found })
    }

    fn inputs(&mut self) -> Result<()> {
        let chosen: Vec<_> = LARGE_INPUTS.iter().filter(|it| self.is_chosen(it.name)).collect();
        if !chosen.is_empty() {
            println!("\n{:<22}{:>8}{:>9}{:>11}{:>11}{:>9}  found", "input", "size", "MB", "ms", "memory MB", "growth");
        }
        for input in chosen {
            self.input(input, input.name, &["lint", "--format", "json"])?;
        }
        if let Some(services) = LARGE_INPUTS.iter().find(|it| it.name == "services")
            && self.is_chosen("services")
        {
            self.input(services, "services: env", &["env", "--format", "json"])?;
        }
        Ok(())
    }

    /// Measures an input at two sizes.
    fn input(&mut self, input: &LargeInput, name: &str, command: &[&str]) -> Result<()> {
        let size = if self.options.quick { input.size / 4 } else { input.size };
        let mut before: Option<Cost> = None;
        for size in [size / 10, size] {
            let directory = self.directory.path().join(input.name);
            let bytes = write_input(&directory, input, size)?;
            let path = directory.to_string_lossy().into_owned();
            let arguments = [command, &["--root", &path, &path]].concat();
            let measured = output_and_memory(&self.options.binary, &arguments).and_then(|(output, memory)| {
                let cost = least_cost(self.rounds, &self.options.binary, &arguments).ok_or("takes too long")?;
                Ok((output, memory, cost))
            });
            fs::remove_dir_all(&directory)?;
            let (output, memory, cost) = match measured {
                Ok(measured) => measured,
                Err(error) => {
                    println!("{name:<22}{size:>8}{:>9.2}  {error}", bytes as f64 / 1e6);
                    self.exceeded.push(format!("{name}, {size} {}: {error}", input.unit));
                    return Ok(());
                }
            };
            let growth = before.map(|it| cost.work / it.work);
            let (found, expected) = match command[0] {
                "lint" => (counted(findings(&output, &path)?), (input.findings)(size)),
                _ => (BTreeMap::new(), Vec::new()),
            };
            let expected: BTreeMap<_, _> = expected.into_iter().map(|(rule, count)| (rule.to_owned(), count)).collect();
            println!(
                "{name:<22}{size:>8}{:>9.2}{:>11.0}{memory:>11.0}{:>9}  {}",
                bytes as f64 / 1e6,
                millis(cost),
                growth.map_or_else(String::new, |it| format!("{it:.1}x")),
                if found == expected { format!("all {}", found.values().sum::<usize>()) } else { format!("{found:?}") },
            );
            if found != expected {
                self.exceeded.push(format!("{name}, {size}: found {found:?} instead of {expected:?}"));
            }
            if let Some(growth) = growth {
                self.limit(format!("{name}: growth to {size} {}", input.unit), growth, GROWTH * 10.0);
            }
            before = Some(cost);
        }
        Ok(())
    }

    fn limit(&mut self, what: String, is: f64, limit: f64) {
        if is > limit {
            self.exceeded.push(format!("{what}: {is:.1}, at most {limit:.1}"));
        }
    }
}

/// What a tree cost, and the rule, file and line of each finding.
struct Measured {
    cost: Cost,
    ripgrep: Option<Cost>,
    memory: f64,
    found: Vec<(String, String, usize)>,
}

fn findings(json: &str, directory: &str) -> Result<Vec<(String, String, usize)>> {
    let report: Value = serde_json::from_str(json)?;
    let all = report["findings"].as_array().ok_or("no findings in the output")?;
    let found = all.iter().filter_map(|it| {
        let file = it["file"].as_str()?;
        // Files are shown relative to the working directory, which is not above the tree.
        let below = Path::new(directory).file_name()?.to_str()?;
        let file = file.split_once(&format!("/{below}/"))?.1;
        let line = usize::try_from(it["range"]["start"]["line"].as_u64()?).ok()?;
        Some((it["rule"].as_str()?.to_owned(), file.to_owned(), line))
    });
    Ok(found.collect())
}

fn counted(found: Vec<(String, String, usize)>) -> BTreeMap<String, usize> {
    found.into_iter().fold(BTreeMap::new(), |mut counts, (rule, ..)| {
        *counts.entry(rule).or_default() += 1;
        counts
    })
}

fn millis(cost: Cost) -> f64 {
    cost.time.as_secs_f64() * 1e3
}

/// Says how growth is measured.
pub(crate) fn print_unit() {
    println!("growth is the {} relative to the row above; at most 1.1 times as much for each file", unit_of_work());
}
