//! Lanes, as their ends see them: which messages travel on a lane, and the order in which an end
//! processes what it receives from the bus and from its lanes.
//!
//! A bus delivers messages in one order to all connections: if a program sends a message because it
//! has received another one, nobody sees them in reverse. Lanes keep this order:
//!
//! - An end sends on a lane only while the bus has routed everything that it sent to the bus
//!   ([`Progress::routed`]). Otherwise the message goes to the bus, which never delays it more than
//!   the bus without lanes would.
//! - Each message on a lane carries the number of messages that the bus had queued for its
//!   recipient when it was sent ([`FrameStamp::behind`]). The recipient processes it behind these
//!   messages, and before the next one.
//! - It also carries the time at which it was sent ([`FrameStamp::sent_at`]), by which messages of
//!   several lanes are ordered.
//! - Whenever a recipient has read from the bus or from a lane, it reads from its (other) lanes
//!   before it processes a message. So everything that could have caused the message is there.
//!
//! ```text
//!   frame   one D-Bus message, at most MESSAGE_LEN_MAX bytes   FrameStamp (16 bytes)
//! ```
//!
//! A frame is one packet of a `SOCK_SEQPACKET` socket, so it is sent completely or not at all. If
//! the socket is full, the message goes to the bus. Messages with descriptors always do, so that an
//! end reads without asking for any, and the limits of the bus apply.
//!
//! This crate does no I/O, except that it reads the counters that the bus shares, writes the
//! counters of the traffic on lanes ([`TrafficCounters`]), and tries whether descriptors are free
//! before an end asks for a lane. [`BusyPoll`] waits with functions of its caller.

#![warn(clippy::missing_errors_doc)]

mod awaited_replies;
mod busy_poll;
mod frame;
mod inbox;
mod messages;
mod partners;
mod progress;
mod set;
mod traffic;

pub use busy_poll::{BUSY_POLL_MAX, BusyPoll};
pub use frame::{FRAME_LEN_MAX, FrameStamp, MESSAGE_LEN_MAX, STAMP_LEN};
pub use inbox::{LaneFrame, LaneInbox, LaneKey};
pub use messages::{CheckedMessage, is_bus, is_opening, opened_partner, release, request, resume};
pub use progress::Progress;
pub use set::{CALLS_MAX, CallRoute, EndedLane, LaneCounters, LaneSet, RequestOutcome};
pub use traffic::TrafficCounters;
