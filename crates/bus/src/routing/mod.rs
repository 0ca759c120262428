//! Routing: which connections get a message ("Message Bus Message Routing").
//!
//! ```text
//!   a message with a destination ──▶ unicast    ─┬─▶ its recipient
//!   a signal without             ──▶ broadcast  ─┼─▶ subscribers
//!   a message of the bus itself  ──▶ replying   ─┤
//!                                    observers  ─┴─▶ traces, monitors, eavesdroppers
//! ```
//!
//! The [`Router`] owns the components that every message passes. It starts no service: a message to
//! a name without an owner is returned to its caller.

mod broadcast;
mod delivery;
mod observers;
mod refusal;
mod replying;
mod router;
mod status;
mod undelivered;
mod unicast;

pub(crate) use replying::reply_too_long;
pub(crate) use router::Router;
pub(crate) use unicast::NoOwner;
