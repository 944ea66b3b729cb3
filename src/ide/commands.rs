//! The implementations of `podlens render` and of the excerpts in reports. They do not use `features`.

pub(super) mod excerpts;
pub(super) mod render;
