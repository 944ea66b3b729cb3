//! Tests of the whole project through its public interface, in one binary. The suites in `fixtures` are in `tests/suites`.

#[path = "../support/command.rs"]
mod command;
#[path = "../support/findings.rs"]
#[expect(dead_code, reason = "the suites use all of it")]
mod findings;
#[path = "../support/fixture.rs"]
#[expect(dead_code, reason = "the suites use all of it")]
mod fixture;
#[path = "../support/large_inputs.rs"]
#[expect(dead_code, reason = "the benchmark uses all of it")]
mod large_inputs;
#[path = "../support/memory_project.rs"]
#[expect(dead_code, reason = "the suites use all of it")]
mod memory_project;
#[path = "../support/message.rs"]
mod message;
#[path = "../support/monorepo.rs"]
mod monorepo;

mod abuse;
#[cfg(unix)]
mod ask;
mod built;
mod commands;
mod differential;
mod editors;
mod env_files;
mod env_view;
mod exit_codes;
mod fixes;
mod fixture_format;
mod fixtures;
mod growth;
mod ide;
mod lint;
mod lint_fixes;
mod lint_paths;
mod load;
mod lookups;
mod manifest;
mod metadata;
mod model;
mod positions;
mod producers;
mod protocol;
mod readme;
mod recovery;
mod render;
mod reparse;
mod rule_files;
mod rule_pages;
mod schema;
mod selection;
mod shop;
mod silence;
mod spec;
mod template_model;
mod templates;
mod tidy;
mod typing;
mod workloads;
mod wrap;

/// The number of generated cases for a property test: more if `tests/run` runs the slow tests.
fn cases(quick: u32, slow: u32) -> u32 {
    if std::env::var_os("PODLENS_SLOW").is_some() { slow } else { quick }
}
