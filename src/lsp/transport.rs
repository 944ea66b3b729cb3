//! JSON-RPC over byte streams: bytes to messages ([`read_messages`]) and messages to bytes ([`Outbox`]).

mod framing;
mod lenient_params;
mod message;
mod outbox;
mod writer;

pub(crate) use framing::read_messages;
pub(crate) use message::Message;
pub(crate) use outbox::Outbox;
