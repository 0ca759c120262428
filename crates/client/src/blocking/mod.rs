//! The blocking front end: a connection for any number of threads.
//!
//! A [`Connection`] is a handle; its clones refer to the same connection. Nothing runs in the
//! background: bytes move only while the program calls a method that waits. Signals and calls that
//! arrive meanwhile are queued until the program takes them.
//!
//! A call takes two system calls: one to send, and one to wait for the reply. Serving a call takes
//! two as well. Messages that expect no answer are queued, and sent when the program next waits,
//! when 64 KiB are queued, at [`flush`](Connection::flush), and when the connection is dropped.

mod call;
mod connecting;
mod connection;
mod error;
mod explaining;
mod object;
mod ownership;
mod proxy;
mod request;
mod subscription;
mod typed;
mod waiting;

pub use call::{CallOptions, StartedCall, Timeout};
pub(crate) use connection::UNSENT_LEN_MAX;
pub use connection::{CALL_TIMEOUT, Connection, Flushed};
pub use error::{CallError, EmitError};
pub(crate) use explaining::StartedQuestion;
pub use object::{
    ArgTypes, DeferredReply, EmitsChange, InterfaceBuilder, InterfaceError, MethodError, Object,
    PropertyFunctions, PropertyGetter, PropertySetter, ServeError, ServedInterface, ServedObject,
    SignalEmitter, StateGuard, error_name,
};
pub(crate) use ownership::owner_rule;
pub use ownership::{NameFlags, ReleaseReply, RequestReply};
pub use proxy::Proxy;
pub use request::IncomingCall;
pub(crate) use subscription::signal_rule;
pub use subscription::{
    IntoRule, StartedSubscription, SubscribeError, Subscription, SubscriptionError,
};
pub(crate) use typed::signal_arguments;
pub use typed::{PropertyChanges, SignalError, SignalSubscription};
pub use waiting::Processed;
