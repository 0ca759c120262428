//! The blocking front end: a connection for one thread.
//!
//! A [`Connection`] is a handle; its clones are the same connection. Nothing runs in the
//! background: bytes move when the program calls something that waits. What comes for others
//! meanwhile, signals and calls, is kept until they are asked for.
//!
//! A call takes two system calls, one to send and one to wait for the reply; so does serving one.
//! What is sent without waiting for an answer is queued, and leaves when the program next waits,
//! when 64 KiB have gathered, at [`flush`](Connection::flush), and at the end of the connection.

mod call;
mod connect;
mod connection;
mod error;
mod link;
mod object;
mod ownership;
mod proxy;
mod request;
mod socket;
mod subscription;
mod waiting;

pub use call::{CallOptions, StartedCall, Timeout};
pub use connect::{
    Anonymous, AttemptError, ConnectError, ConnectOptions, FailedAttempt, StandardBus,
};
pub use connection::{CALL_TIMEOUT, Connection, Flushed};
pub use error::{CallError, EmitError};
pub use link::ReceivedMessage;
pub use object::{
    ArgTypes, EmitsChange, InterfaceBuilder, InterfaceError, MethodError, Object, ServeError,
    ServedInterface, error_name,
};
pub use ownership::{NameFlags, ReleaseReply, RequestReply};
pub use proxy::Proxy;
pub use request::IncomingCall;
pub use subscription::{IntoRule, SubscribeError, Subscription, SubscriptionError};
pub use waiting::Processed;
