//! Benchmarks of parsing, editing, resolving and loading: `cargo bench --bench engine`, with `-- --quick` for fewer rounds,
//! or with the names of parts (`parsing`, `editing`, `resolving`, `loading`) to run only those.
//!
//! Times depend on the machine and its load, so a budget limits the ratio of two times that are measured alternately in one
//! run; each is the best of several rounds. The exit code is 1 if a budget is exceeded.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod editing;
mod measure;
mod texts;

use std::fs;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use granit_parser::Parser;
use podlens::build::{self, BuiltObject};
use podlens::load::{self, Request};
use podlens::resolve::Resolver;
use podlens::syntax;
use podlens::workspace::{File, Workspace};

use crate::measure::{Budgets, best, millis, timed};

const MEGABYTE: usize = 1_000_000;

/// The time to build a tree, relative to the time to parse its events.
const TREE_BUDGET: f64 = 2.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = if arguments.iter().any(|it| it == "--quick") { 5 } else { 25 };
    // `cargo bench` itself passes `--bench`.
    let selected: Vec<&String> = arguments.iter().filter(|it| !it.starts_with("--")).collect();
    let is_selected = |part: &str| selected.is_empty() || selected.iter().any(|it| *it == part);
    let mut budgets = Budgets::default();
    if is_selected("parsing") {
        parsing(rounds, &mut budgets);
    }
    if is_selected("editing") {
        editing::editing(rounds, &mut budgets);
    }
    if is_selected("resolving") {
        resolving(rounds.div_ceil(5));
    }
    if is_selected("loading")
        && let Err(error) = loading(rounds.div_ceil(5))
    {
        println!("loading failed: {error}");
        return ExitCode::FAILURE;
    }
    budgets.report()
}

/// Measures the parse throughput, relative to the events of the parser alone.
fn parsing(rounds: usize, budgets: &mut Budgets) {
    println!("{:<34}{:>12}{:>12}{:>10}", "parsing", "events", "tree", "ratio");
    let kinds: [(&str, Vec<String>); 5] = [
        ("700 small manifests", (0..700).map(texts::manifest).collect()),
        ("a Deployment of 1 MB", vec![texts::deployment(MEGABYTE)]),
        ("a List of 1 MB", vec![texts::list(MEGABYTE)]),
        ("a resource definition of 1 MB", vec![texts::definition(MEGABYTE)]),
        ("JSON of 1 MB", vec![texts::json(MEGABYTE)]),
    ];
    for (name, files) in &kinds {
        let bytes: usize = files.iter().map(String::len).sum();
        let [events, tree] = best(
            rounds,
            [&mut || timed(|| files.iter().map(|text| events(text)).sum::<usize>()), &mut || {
                timed(|| files.iter().map(|text| syntax::parse(text)).collect::<Vec<_>>())
            }],
        );
        let ratio = tree.as_secs_f64() / events.as_secs_f64();
        let speed = |time: Duration| format!("{:.0} MB/s", bytes as f64 / 1e6 / time.as_secs_f64());
        println!("  {name:<32}{:>12}{:>12}{ratio:>10.2}", speed(events), speed(tree));
        budgets.add(format!("tree of {name}, relative to its events"), ratio, TREE_BUDGET);
    }
}

/// Runs the parser alone, with the options that the tree is built with.
fn events(text: &str) -> usize {
    let options = granit_parser::options! {
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
    };
    Parser::new_from_str_with_options(text, options).filter(|event| black_box(event).is_ok()).count()
}

/// Measures the resolution of the environments of 10,000 containers in one workspace.
fn resolving(rounds: usize) {
    const FILES: usize = 5_000;
    println!("\nresolving");
    let texts: Vec<String> = (0..FILES).map(texts::manifest).collect();
    let path = |number: usize| format!("team-{}/app-{number}.yaml", number % 100);
    let start = Instant::now();
    let mut workspace = Workspace::default();
    for (number, text) in texts.iter().enumerate() {
        let path = path(number);
        workspace.set_disk(&path, File::read(&path, text));
    }
    println!("  {FILES} files added to a workspace, one core {:>12.1} ms", millis(start.elapsed()));
    let snapshot = workspace.snapshot();
    let mut containers = 0;
    let [time] = best(
        rounds,
        [&mut || {
            containers = 0;
            timed(|| {
                let resolver = Resolver::new(&snapshot, None);
                for (path, file) in snapshot.files() {
                    for container in build::objects(&snapshot, path, file).flat_map(BuiltObject::containers) {
                        black_box(resolver.environment(container));
                        containers += 1;
                    }
                }
            })
        }],
    );
    let each = time.as_secs_f64() * 1e6 / f64::from(containers.max(1));
    println!("  {containers} containers, one core {:>20.1} ms, {each:.1} µs each", millis(time));
}

/// Measures loading 1,000 files into a workspace, relative to reading their bytes.
fn loading(rounds: usize) -> std::io::Result<()> {
    const FILES: usize = 1_000;
    println!("\nloading");
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("podlens.yaml"), "")?;
    let mut paths = Vec::new();
    for number in 0..FILES {
        let team = directory.path().join(format!("team-{}", number % 50));
        fs::create_dir_all(&team)?;
        let path = team.join(format!("app-{number}.yaml"));
        fs::write(&path, texts::manifest(number))?;
        paths.push(path);
    }
    let arguments = [directory.path().to_owned()];
    let [reading, loading] = best(
        rounds,
        [
            &mut || timed(|| paths.iter().map(|path| fs::read(path).map_or(0, |bytes| bytes.len())).sum::<usize>()),
            &mut || {
                timed(|| {
                    load::load(Request {
                        directory: directory.path(),
                        paths: &arguments,
                        root: None,
                        stdin_name: None,
                        stdin: None,
                    })
                })
            },
        ],
    );
    let ratio = loading.as_secs_f64() / reading.as_secs_f64();
    println!("  {FILES} files: read {:.1} ms, loaded {:.1} ms, {ratio:.1}x", millis(reading), millis(loading));
    Ok(())
}
