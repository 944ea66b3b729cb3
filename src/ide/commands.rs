//! The implementations of `podlens process`, `render` and `wrap`, and of the excerpts in reports. They do not use
//! `features`.

pub(super) mod excerpts;
pub(super) mod process;
pub(super) mod render;
pub(super) mod wrap;
