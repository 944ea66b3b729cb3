//! The engines of commands that are not editor features. They depend on the pure layers only, not on `features`.

pub(super) mod excerpts;
pub(super) mod process;
pub(super) mod render;
pub(super) mod wrap;
