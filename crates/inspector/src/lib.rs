//! Asks a live bus what is there, and calls it.
//!
//! An [`Inspector`] asks over a connection of its own and waits for the answers. What it finds can be
//! serialised, since a page or another program will read it; values keep their types ([`json`]).
//!
//! ```no_run
//! use inspector::{ObjectCall, Connection, Inspector, Manner, TreeOptions};
//!
//! let inspector = Inspector::new(Connection::session()?);
//! for name in inspector.names()? {
//!     println!("{} {:?}", name.name, name.owner);
//! }
//! let tree = inspector.tree("org.example.Player", &TreeOptions::default())?;
//! let object = inspector.object("org.example.Player", &tree.nodes[0].path)?;
//! let mut call = ObjectCall::new("org.example.Player", "/org/example/Player", "Play");
//! call.arguments = vec!["a song".into()];
//! println!("{}", serde_json::to_string(&inspector.call(&call, &Manner::default())?)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Looking starts nothing: what would have the bus start a service says so in its options
//! ([`Starting`]). Everything ends in time: each answer is waited for so long, and all of them
//! together so long ([`InspectorPatience`]); what a hostile service can cost is bounded.
//!
//! The modules, in the order of reading:
//!
//! - [`failure`]: why there is no answer, as a sentence.
//! - `asking`: many questions at once.
//! - [`credentials`], [`names`]: who is on the bus.
//! - [`tree`], [`object`], `survey`: what they have.
//! - [`call`], [`property`], [`watch`], [`emission`]: what can be done with it.

#![forbid(unsafe_code)]

mod asking;
pub mod call;
pub mod credentials;
pub mod emission;
pub mod failure;
pub mod names;
pub mod object;
pub mod property;
mod survey;
pub mod tree;
pub mod watch;

pub use asking::{InspectorPatience, MESSAGE_MAX, Starting, start_introspect};
pub use call::{
    Authorization, CallAnswer, CallPayload, Descriptor, Manner, MethodName, ObjectCall,
    ObjectCallOutcome, ReplyExpectation, ReplyHeading,
};
pub use capture::introspection;
pub use client::Connection;
pub use credentials::BusCredentials;
pub use emission::{Emission, SignalName};
pub use failure::{InspectionBound, InspectorFailure};
pub use names::{Name, NameOwner};
pub use notation::ArgumentError;
pub use notation::json::{self, TypedValue};
pub use object::{InspectedObject, ObjectInterface, ObjectProperty, PropertyReading};
pub use property::PropertyName;
pub use tree::{NodeContent, Tree, TreeNode, TreeOptions};
pub use watch::{Carried, Heard, HeardSignal, ObjectWatch};

/// Asks a bus, one question after the other as far as its user can tell.
#[derive(Clone, Debug)]
pub struct Inspector {
    connection: Connection,
    patience: InspectorPatience,
}

impl Inspector {
    /// One that asks over `connection`, which nobody else should read from meanwhile.
    pub fn new(connection: Connection) -> Self {
        Self::with_patience(connection, InspectorPatience::default())
    }

    /// The same with other limits on how long it waits.
    pub fn with_patience(connection: Connection, patience: InspectorPatience) -> Self {
        connection.set_call_timeout(Some(patience.answer));
        Self { connection, patience }
    }

    /// The connection.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }
}
