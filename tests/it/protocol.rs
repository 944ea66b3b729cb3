//! The language server, seen as an editor sees it: the real binary over stdin and stdout.

mod abuse;
mod client;
mod diagnostics;
mod documents;
mod env_files;
mod features;
mod fixture;
mod flood;
mod lifecycle;
mod ordering;
mod settings;
mod typing;
mod watching;

use client::Client;
use fixture::Fixture;
