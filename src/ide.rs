//! What is shown to people and programs: one file a feature over a snapshot.

#![warn(clippy::disallowed_methods)]

pub mod environment;
pub mod process;
pub mod render;
