//! Routing: determines the recipients of a message ("Message Bus Message Routing").
//!
//! ```text
//!   a message with a destination ──▶ unicast    ─┬─▶ its recipient
//!   a signal without one         ──▶ broadcast  ─┼─▶ subscribers
//!   a message of the bus itself  ──▶ replying   ─┤
//!                                    observers  ─┴─▶ traces, monitors, eavesdroppers
//! ```
//!
//! The [`Router`] owns the components that every message passes. It does not start services: a
//! message to a name without an owner is returned to the caller of the function.

mod broadcast;
mod delivery;
mod filters;
mod labels;
mod lanes;
mod observers;
mod refusal;
mod replying;
mod router;
mod status;
mod undelivered;
mod unicast;

pub(crate) use filters::SignalSubject;
pub(crate) use replying::reply_too_long;
pub(crate) use router::{Router, RouterWithoutRules};
pub(crate) use unicast::NoOwner;
