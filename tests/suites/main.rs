//! The suites in `fixtures`: each heading is a test called `folder::suite::heading`.
//!
//! `cargo test forward-reference` runs the suite of that rule, `UPDATE=1` writes the actual results into the fixtures.
//! The format is described in `tests/support/fixture.rs`.

#[path = "../support/command.rs"]
mod command;
#[path = "../support/findings.rs"]
mod findings;
#[path = "../support/fixture.rs"]
#[expect(dead_code, reason = "some of it is for tests that are not suites")]
mod fixture;
#[path = "../support/memory_project.rs"]
mod memory_project;

mod docs;
mod expand;
mod ide;
mod labels;
mod recovery;
mod rules;
mod runner;
mod silence;
mod terminal;

use std::process::ExitCode;

use libtest_mimic::Arguments;
use runner::{Folder, Update};

/// All folders of suites.
const FOLDERS: [Folder; 7] = [
    rules::FOLDER,
    silence::FOLDER,
    recovery::FOLDER,
    expand::FOLDER,
    ide::FOLDER,
    terminal::COMMANDS,
    terminal::DESIGNS,
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if Update::requested() == Some(Update::Labels) && !arguments.exact {
        runner::announce("UPDATE=labels is for one test: UPDATE=labels cargo test --test suites -- --exact 'NAME'");
        return ExitCode::FAILURE;
    }
    let mut trials: Vec<_> = FOLDERS.into_iter().flat_map(runner::trials).collect();
    trials.extend(rules::trials());
    trials.extend(ide::trials());
    trials.extend(docs::trials());
    trials.extend(labels::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
