//! JSON for programs, one value and a line end.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::Value;

/// Writes a value.
pub fn write(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
    writeln!(out)
}

/// A list that is written item by item, so that only one of its values is in memory.
pub(super) struct Streamed<'r, T> {
    pub(super) items: &'r [T],
    pub(super) value: fn(&T) -> Value,
}

impl<T> Serialize for Streamed<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.items.iter().map(self.value))
    }
}
