//! Bytes to JSON-RPC messages and back.

pub(crate) mod framing;
pub(crate) mod message;
pub(crate) mod outbox;
