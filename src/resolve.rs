//! What a container really gets: every variable with its value, where it comes from and how it came about.
//!
//! One resolution serves hover, diagnostics and every command. Nothing here reads files or knows a tree: it works on
//! the facts of a snapshot.

mod binding;
mod expand;
mod fields;
mod quantity;
mod services;
mod value;

pub use binding::{Binding, Kind, Lookup, Origin, Place};
pub use expand::{Copying, Expansion, Step, expand};
pub use quantity::Quantity;
pub use services::{ServiceVariables, is_service_shaped};
pub use value::{Hole, Piece, State, Value};
