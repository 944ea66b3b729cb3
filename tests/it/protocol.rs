//! The language server as an editor uses it: the real binary over stdin and stdout.

mod abuse;
mod actions;
mod client;
mod completion;
mod diagnostics;
mod documents;
mod env_files;
mod examples;
mod expansion;
mod features;
mod fixture;
mod flood;
mod large;
mod lifecycle;
mod links;
mod ordering;
mod presets;
mod settings;
mod templates;
mod typing;
mod watching;

use client::Client;
use fixture::Fixture;
