//! JSON for programs, one value and a line end.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a value.
pub fn write(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
    writeln!(out)
}
