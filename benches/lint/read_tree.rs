//! Measures reading and checking a tree of 2,000 files in the process, relative to ripgrep and to parsing all files.
//!
//! The budgets: at most 8 times as long as ripgrep, faster than parsing all files on one core, at most 60 MB of memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

use podlens::load::{self, Loaded, Request};
use podlens::resolve::Resolver;
use podlens::rules::{self, SettingsLevels, TextProvider};
use podlens::workspace::ParsedText;
use rayon::prelude::*;

use crate::Result;
use crate::mixed_tree::{FILES, generate};

const ROUNDS: usize = 7;

/// Checks a tree, and prints the number of findings and the peak memory.
pub(crate) fn check_once(tree: &Path) {
    println!("{} {}", check(tree), peak_memory());
}

/// Prints the measurements. Returns the budgets that are exceeded.
pub(crate) fn report() -> Result<Vec<String>> {
    let directory = tempfile::tempdir()?;
    let tree = directory.path();
    let bytes = generate(tree)?;
    println!("{FILES} files, {:.1} MB, {} cores", bytes as f64 / 1e6, rayon::current_num_threads());
    let (child_found, memory) = child(tree)?;
    // Alternately, so that other load on the machine affects both.
    let rg = || run(Command::new("rg").args(["-c", r"\$\("]).arg(tree));
    let has_rg = Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok();
    let (mut ours, mut other) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        ours = ours.min(best_of(1, || _ = check(tree)));
        other = other.min(best_of(1, || _ = if has_rg { usize::from(rg()) } else { scan_all(tree) }));
    }
    let parsing = best_of(2, || parse_all(tree));
    println!("load and check   {:>8.1} ms   {child_found} findings", millis(ours));
    println!(
        "parse only       {:>8.1} ms   one core; load and check takes {:.2} of it",
        millis(parsing),
        ratio(ours, parsing)
    );
    let mut exceeded = Vec::new();
    if ours >= parsing {
        exceeded.push("load and check takes longer than parsing".to_owned());
    }
    let name = if has_rg { "rg -c '\\$\\('" } else { "memchr scan" };
    if !has_rg {
        println!("ripgrep is not installed: compared with a memchr scan on all cores instead");
    }
    println!(
        "{name:<16} {:>8.1} ms   load and check takes {:.1} times as long (budget 8)",
        millis(other),
        ratio(ours, other)
    );
    println!("peak memory      {:>8.1} MB   (budget 60 MB)", memory as f64 / 1024.0);
    if ratio(ours, other) > 8.0 {
        exceeded.push(format!("load and check, relative to {name}: {:.1}, at most 8", ratio(ours, other)));
    }
    if memory > 60 * 1024 {
        exceeded.push(format!("peak memory: {} MB, at most 60", memory / 1024));
    }
    Ok(exceeded)
}

/// Does the work of `podlens lint` without printing; returns the number of findings.
fn check(tree: &Path) -> usize {
    let loaded = load::load(Request { directory: tree, paths: &[], root: Some(tree), stdin_name: None, stdin: None });
    let snapshot = loaded.workspace.snapshot();
    let resolver = Resolver::new(&snapshot, None);
    let sources = Texts { loaded: &loaded, snapshot: &snapshot };
    let levels = SettingsLevels(&snapshot);
    let found =
        loaded.reported.par_iter().map(|path| rules::check(&snapshot, &resolver, path, &sources, &levels).len());
    found.sum()
}

struct Texts<'l> {
    loaded: &'l Loaded,
    snapshot: &'l podlens::workspace::Snapshot,
}

impl TextProvider for Texts<'_> {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        Some(Arc::new(ParsedText::new(self.snapshot.file(path)?, self.loaded.text(path)?)))
    }
}

fn child(tree: &Path) -> Result<(usize, u64)> {
    let output = Command::new(env::current_exe()?).arg("--check").arg(tree).output()?;
    let printed = String::from_utf8(output.stdout)?;
    let (found, memory) = printed.trim().split_once(' ').ok_or("the child process printed nothing")?;
    Ok((found.parse()?, memory.parse()?))
}

/// The peak memory of this process in KiB; 0 on systems without `/proc`.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

fn parse_all(tree: &Path) {
    for path in files(tree) {
        let text = fs::read_to_string(path).unwrap_or_default();
        granit_parser::Parser::new_from_str(&text).for_each(drop);
    }
}

fn scan_all(tree: &Path) -> usize {
    let counts = files(tree).into_par_iter().map(|path| {
        let bytes = fs::read(path).unwrap_or_default();
        memchr::memmem::find_iter(&bytes, b"$(").count()
    });
    counts.sum()
}

fn files(tree: &Path) -> Vec<PathBuf> {
    ignore::Walk::new(tree).flatten().map(ignore::DirEntry::into_path).filter(|path| path.is_file()).collect()
}

fn run(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.code() != Some(2))
}

fn best_of(rounds: usize, mut work: impl FnMut()) -> Duration {
    let mut once = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..rounds).map(|_| once()).min().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
