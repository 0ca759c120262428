//! Inspects the names and objects of a live bus, and calls them.
//!
//! An [`Inspector`] sends requests over its own connection and waits for the replies. Its results
//! serialize to JSON for the web page and for other programs; D-Bus values keep their types
//! ([`json`]).
//!
//! ```no_run
//! use inspector::{ObjectCall, Connection, Inspector, CallSettings, TreeOptions};
//!
//! let inspector = Inspector::new(Connection::session()?);
//! for name in inspector.names()? {
//!     println!("{} {:?}", name.name, name.owner);
//! }
//! let tree = inspector.tree("org.example.Player", &TreeOptions::default())?;
//! let object = inspector.object("org.example.Player", &tree.nodes[0].path)?;
//! let mut call = ObjectCall::new("org.example.Player", "/org/example/Player", "Play");
//! call.arguments = vec!["a song".into()];
//! println!("{}", serde_json::to_string(&inspector.call(&call, &CallSettings::default())?)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Inspection does not start services. A request that may cause the bus to start one says so in its
//! options ([`Starting`]). Each reply has a timeout, and a whole inspection has one too
//! ([`InspectorTimeouts`]). The size of a reply and the memory for all replies are limited, so a
//! hostile service cannot exhaust this process.
//!
//! The modules, in the order of reading:
//!
//! - [`failure`]: why a request failed, as a sentence.
//! - `requests`: many requests at the same time.
//! - [`credentials`], [`names`]: the peers on the bus.
//! - [`tree`], [`object`], `survey`: the objects of a service.
//! - [`call`], [`property`], [`watch`], [`emission`]: method calls, properties and signals.

#![forbid(unsafe_code)]

pub mod call;
pub mod credentials;
pub mod emission;
pub mod failure;
pub mod names;
pub mod object;
pub mod property;
mod requests;
mod survey;
pub mod tree;
pub mod watch;

pub use call::{
    Authorization, CallAnswer, CallPayload, CallSettings, Descriptor, MethodName, ObjectCall,
    ObjectCallOutcome, ReplyExpectation, ReplyHeading,
};
pub use capture::introspection;
pub use client::Connection;
pub use credentials::BusCredentials;
pub use emission::{Emission, SignalName};
pub use failure::{InspectionBound, InspectorFailure};
pub use names::{Name, NameOwner, OwnerContainer};
pub use notation::ArgumentError;
pub use notation::json::{self, TypedValue};
pub use object::{InspectedObject, ObjectInterface, ObjectProperty, PropertyReading};
pub use property::PropertyName;
pub use requests::{InspectorTimeouts, MESSAGE_MAX, Starting, start_introspect};
pub use tree::{NodeContent, Tree, TreeNode, TreeOptions};
pub use watch::{ObjectWatch, SignalBody, SignalEvent, WatchedSignal};

/// Sends requests to a bus and its peers, and waits for the replies.
#[derive(Clone, Debug)]
pub struct Inspector {
    connection: Connection,
    timeouts: InspectorTimeouts,
}

impl Inspector {
    /// Creates an inspector with the default timeouts. Nothing else should read from `connection`
    /// while a request waits for its reply.
    pub fn new(connection: Connection) -> Self {
        Self::with_timeouts(connection, InspectorTimeouts::default())
    }

    /// Creates an inspector with the given timeouts.
    pub fn with_timeouts(connection: Connection, timeouts: InspectorTimeouts) -> Self {
        connection.set_call_timeout(Some(timeouts.reply));
        Self { connection, timeouts }
    }

    /// Returns the connection of the inspector.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }
}
