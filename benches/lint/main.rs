//! Measures `podlens lint`: its growth with what was written, relative to ripgrep, and its memory: `cargo bench --bench lint`.
//!
//! `-- --quick` has fewer rounds and smaller inputs, `-- --only NAME` measures one of them, `-- --binary PATH` another build
//! of podlens. `-- --write-tree DIRECTORY --files 10000` and `-- --write-input NAME DIRECTORY --size 1000` only write the
//! generated files. The exit code is 1 if a budget is exceeded.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its results")]

mod growth;
#[path = "../../tests/support/large_inputs.rs"]
mod large_inputs;
mod mixed_tree;
#[path = "../../tests/support/monorepo.rs"]
mod monorepo;
mod program;
mod read_tree;
mod write;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Parser)]
struct Arguments {
    /// Fewer rounds and smaller inputs
    #[arg(long)]
    quick: bool,
    /// Measure only this tree or input, such as `namespaces` or `undefined`
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Another build of podlens to measure
    #[arg(long, value_name = "PATH", default_value = env!("CARGO_BIN_EXE_podlens"))]
    binary: PathBuf,
    #[command(flatten)]
    write: write::WriteArguments,
    /// Check this directory once, and print the number of findings and the peak memory
    #[arg(long, hide = true, value_name = "DIRECTORY")]
    check: Option<PathBuf>,
    /// What `cargo bench` passes
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.check {
        Some(tree) => {
            read_tree::check_once(tree);
            Ok(true)
        }
        None if arguments.write.is_given() => arguments.write.run().map(|()| true),
        None => measure(arguments),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and prints everything. Returns whether all budgets are met.
fn measure(arguments: Arguments) -> Result<bool> {
    let Arguments { quick, only, binary, .. } = arguments;
    growth::print_unit();
    let all = only.is_none();
    let mut exceeded = growth::measure(&growth::Options { quick, only, binary })?;
    if all {
        println!();
        exceeded.extend(read_tree::report()?);
    }
    println!("\nbudgets exceeded: {}", exceeded.len());
    for exceeded in &exceeded {
        println!("  {exceeded}");
    }
    Ok(exceeded.is_empty())
}
