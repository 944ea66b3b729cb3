//! The `podlens` command.

fn main() {}
