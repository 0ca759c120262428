//! A client connection to a D-Bus bus.
//!
//! The crate has two layers. [`core`](mod@core) is the state of a connection and does no input or
//! output. Around it are two front ends: the items on this page block the thread that waits, and
//! [`asynchronous`] has the same for the tasks of an async runtime. Nothing runs in the background.
//! A connection can be used by several threads at once: the calls of one do not wait for the
//! replies of another. A call costs two system calls on each side.
//!
//! # Calling
//!
//! Arguments and results are tuples of Rust types ([`wire::body`] lists them); structs and enums
//! become D-Bus types with [`derive`](derive@Encode). Error replies, a lost connection and type
//! mismatches are reported as a [`CallError`]; [`Connection::explain`] adds the process of the
//! callee.
//!
//! ```no_run
//! use diligence_client::{Connection, Encode, Typed};
//!
//! #[derive(Typed, Encode)]
//! #[dbus(dict, rename_all = "kebab-case")]
//! struct Hints<'a> {
//!     urgency: u8,
//!     desktop_entry: Option<&'a str>,
//! }
//!
//! let bus = Connection::session()?;
//! let notifications = bus.proxy(
//!     "org.freedesktop.Notifications",
//!     "/org/freedesktop/Notifications",
//!     "org.freedesktop.Notifications",
//! )?;
//! let hints = Hints { urgency: 1, desktop_entry: None };
//! let actions: [&str; 0] = [];
//! let arguments = ("example", 0_u32, "", "Arrived", "The mail is here.", actions, hints, -1);
//! let (id,): (u32,) = notifications.call("Notify", &arguments)?.read()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The attribute [`proxy`](macro@proxy) declares the members of an interface once, as a trait, and
//! makes a blocking and an asynchronous proxy with typed methods, properties and signals:
//!
//! ```no_run
//! use diligence_client::{CallError, Connection, proxy};
//!
//! #[proxy(interface = "org.example.Player", default_service = "org.example.Player")]
//! trait Player {
//!     fn play(&self, song: &str) -> Result<u32, CallError>;
//!     #[property]
//!     fn volume(&self) -> Result<f64, CallError>;
//! }
//!
//! let bus = Connection::session()?;
//! let player = PlayerProxy::new(&bus, "/org/example/Player")?;
//! println!("{} s at {}", player.play("a song")?, player.volume()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Connection::call`] needs no [`Proxy`]. [`Proxy::start_call`] and [`Connection::start_call`] run
//! several calls at once, pass descriptors, and set a timeout for one call:
//!
//! ```no_run
//! use diligence_client::{CallOptions, Connection};
//! use std::time::Duration;
//!
//! let bus = Connection::session()?;
//! let player = bus.proxy("org.example.Player", "/org/example/Player", "org.example.Player")?;
//! let options = || CallOptions { timeout: Duration::from_secs(2).into(), ..Default::default() };
//! let (first, second) = (
//!     player.start_call("Play", &("a song",), options())?,
//!     player.start_call("Play", &("another",), options())?,
//! );
//! let (length,): (u32,) = first.wait()?.read()?;
//! let (other_length,): (u32,) = second.wait()?.read()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`driver`] has the names of the bus itself, which is an object that can be called.
//!
//! # When messages leave
//!
//! A call is sent when it is started. Other messages (signals, replies, calls without a reply,
//! match rules of a [started subscription](Connection::start_subscription)) are queued, so that
//! several leave in one write: at once if another thread or task waits in the connection, and
//! otherwise with the next call, when the program next waits, before it serves the next call of a
//! peer, when 64 KiB are queued, at [`Connection::flush`], and when the connection is dropped. So a program that emits a signal and
//! then does something else for a while calls `flush` before.
//!
//! # Subscribing
//!
//! A subscription queues the signals that its match rule selects until the program takes them, and
//! ends when it is dropped. Subscriptions with the same rule share one rule at the bus.
//! [`Connection::start_subscription`] subscribes and calls in one write, so that no signal of an
//! object that the call creates is missed.
//!
//! ```no_run
//! use diligence_client::Connection;
//! use diligence_client::wire::body::Value;
//! use std::collections::BTreeMap;
//!
//! let bus = Connection::system()?;
//! let login = bus.proxy(
//!     "org.freedesktop.login1",
//!     "/org/freedesktop/login1",
//!     "org.freedesktop.login1.Manager",
//! )?;
//! let changes = login.property_changes()?;
//! while let Some(signal) = changes.next(None)? {
//!     type Changes<'a> = (&'a str, BTreeMap<&'a str, Value>, Vec<&'a str>);
//!     let (_, changed, _): Changes<'_> = signal.read()?;
//!     println!("{changed:?}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Serving
//!
//! The attribute [`interface`](macro@interface) makes the functions of an impl block the methods,
//! properties and signals of a type of object, and [`Connection::export`] serves an object of this
//! type. The library answers introspection, the standard properties interface (with change signals)
//! and `Peer`, and sends the usual errors. If a function panics, the caller gets an error, and the
//! panic ends the thread that serves.
//!
//! ```no_run
//! use diligence_client::{Connection, IncomingCall, MethodError, NameFlags, interface};
//!
//! struct Player {
//!     volume: f64,
//! }
//!
//! #[interface(name = "org.example.Player")]
//! impl Player {
//!     #[method(results("length"))]
//!     fn play(&self, song: &str, call: &IncomingCall) -> u32 {
//!         println!("{:?} asks for {song}", call.message().sender());
//!         215
//!     }
//!
//!     #[property]
//!     fn volume(&self) -> f64 {
//!         self.volume
//!     }
//!
//!     #[property]
//!     fn set_volume(&mut self, volume: f64) -> Result<(), MethodError> {
//!         if !(0.0..=1.0).contains(&volume) {
//!             return Err(MethodError::invalid_args("the volume must be between 0 and 1"));
//!         }
//!         self.volume = volume;
//!         Ok(())
//!     }
//!
//!     #[signal]
//!     fn ended(song: &str);
//! }
//!
//! let bus = Connection::session()?;
//! bus.export("/org/example/Player", Player { volume: 0.5 })?;
//! bus.request_name("org.example.Player", NameFlags::NONE)?;
//! let reason = bus.serve();
//! println!("{reason}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`ServedInterface`] is the same as a value, which a program builds without macros, and
//! [`Connection::add_object`] combines it with a state.
//!
//! A program that also works at intervals calls [`Connection::serve_for`] instead, and a program
//! that waits for several things calls [`Connection::process`]. A program with an event loop
//! watches the connection as a file descriptor. [`Connection::next_request`] and
//! [`Connection::next_message`] return calls, or all messages, without dispatching them to objects.
//!
//! # Without a bus
//!
//! A [`PeerListener`] lets other programs connect to this one, and [`Connection::open_peer`]
//! connects to such a program. Both ends call, serve and emit signals, with
//! [`peer_proxy`](Connection::peer_proxy), or `of_peer` of a [typed proxy](macro@proxy), in place of
//! a proxy with a name.
//!
//! # Restarts of the bus
//!
//! With [`Reconnect::WhenLost`] in the [`ConnectOptions`], a connection survives the end of the
//! bus. Methods that wait, and futures, connect again, within [`ReconnectLimits`]:
//!
//! - Calls that were in flight fail with [`CallError::Disconnected`], because it is unknown whether
//!   they were executed. Nothing is repeated. Calls that are queued while the bus is away are sent to
//!   the next one.
//! - The connection requests its names and adds its match rules again. Subscriptions report
//!   [`SubscriptionError::Reconnected`] once, where signals may be missing, and continue.
//! - [`Connection::next_reconnection`] and [`Processed::Reconnected`] report the new unique name, and
//!   the names that another connection owns now.
//! - Calls by peers that arrived before cannot be answered. Owners of names are looked up again.
//!
//! ```no_run
//! use diligence_client::{ConnectOptions, Connection, Reconnect, ReconnectLimits, StandardBus};
//!
//! let reconnect = Reconnect::WhenLost(ReconnectLimits::default());
//! let options = ConnectOptions { reconnect, ..ConnectOptions::default() };
//! let bus = Connection::open_with(&StandardBus::System.address()?, &options)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Examples
//!
//! The folder `examples` has complete programs, listed here in reading order. Most of them are also
//! the programs of `diligence up --demo`.
//!
//! | example | shows |
//! | --- | --- |
//! | `asynchronous` | calls and signals in async tasks |
//! | `typed_service` | an interface from an impl block, errors as an enum |
//! | `typed_proxy` | proxies from a trait, in threads and tasks, and changes of properties |
//! | `archive` | connecting, exporting an object, owning a name |
//! | `battery` | properties and their change signals, errors of methods |
//! | `poller` | waiting for a service, calls, timeouts, errors of calls |
//! | `chat_room` | emitting signals, subscribing, noticing that a client has left |
//! | `chat_member` | serving, listening and calling at once on one connection |
//! | `volumes` | many objects, and an object manager |
//! | `descriptors` | passing file descriptors in both directions |

#![forbid(unsafe_code)]
#![warn(clippy::missing_errors_doc)]

// The code that the derives generate refers to this crate by name, also inside the crate.
extern crate self as diligence_client;

pub mod asynchronous;
mod blocking;
mod connect;
pub mod core;
pub mod driver;
mod explanation;
mod link;
#[doc(hidden)]
pub mod macro_support;
mod macros;
mod name;

pub use blocking::{
    ArgTypes, CALL_TIMEOUT, CallError, CallOptions, Connection, DeferredReply, EmitError,
    EmitsChange, Flushed, IncomingCall, InterfaceBuilder, InterfaceError, IntoRule, MethodError,
    NameFlags, Object, Processed, PropertyChanges, PropertyFunctions, PropertyGetter,
    PropertySetter, Proxy, ReleaseReply, RequestReply, ServeError, ServedInterface, ServedObject,
    SignalEmitter, SignalError, SignalSubscription, StartedCall, StartedSubscription, StateGuard,
    SubscribeError, Subscription, SubscriptionError, Timeout, error_name,
};
pub use connect::{
    AllowedPeers, Anonymous, AttemptError, BindError, ConnectError, ConnectOptions, FailedAttempt,
    HANDSHAKE_TIME, IncomingPeer, ListenOptions, PeerListener, StandardBus, WelcomeError,
};
pub use derive::{Decode, Encode, Typed};
pub use explanation::{CalleeDescription, CalleeOwner, CalleeProcess, ErrorExplanation};
pub use link::{
    ATTEMPT_TIME, FIRST_DELAY, GIVE_UP_AFTER, LONGEST_DELAY, ReceivedMessage, Reconnect,
    ReconnectLimits,
};
pub use macros::{ErrorReply, interface, proxy};
pub use name::{IntoName, InvalidName, NameKind};
pub use wire;
pub use wire::body::{Decode, Encode, Typed};

pub use crate::core::{
    CalledMethod, ConnectionCounters, Ended, LaneUse, MessageBody, NoReply, Reconnection,
    RemoteError, SendError, SystemError, Values,
};

/// Compiles the example on the front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ClientFrontPage;
