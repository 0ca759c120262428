//! Authentication, before the first message ("Authentication Protocol").
//!
//! Both sides are state machines: they take bytes, in chunks of any size, and append bytes to send.
//! They do no input or output: the implementation of a trait provides user IDs, keyrings and random
//! bytes, and the time is an argument.
//!
//! - [`line`](mod@line): the lines of the protocol, and splitting the stream into lines.
//! - [`server`], [`client`]: the two state machines.
//! - [`cookie`]: the keyring file of `DBUS_COOKIE_SHA1`, its challenges and proofs.
//!
//! ```
//! use diligence_wire::guid::Guid;
//! use diligence_wire::sasl::client::{
//!     AuthenticationPlan, ClientConfig, ClientProgress, DirectAttempt, FdNegotiation, NoCookies,
//!     SaslClient,
//! };
//! use diligence_wire::sasl::server::{
//!     AuthenticatedIdentity, FdSupport, NoAuthority, PeerIdentity, SaslServer, ServerConfig,
//!     ServerProgress,
//! };
//! use diligence_wire::sasl::{FdPassing, Mechanisms};
//!
//! let mut server = SaslServer::new(ServerConfig {
//!     guid: Guid::from_bytes([7; 16]),
//!     mechanisms: Mechanisms::ALL,
//!     peer: PeerIdentity { uid: Some(1000) },
//!     fds: FdSupport::Available,
//!     cookie_context: Default::default(),
//! });
//! let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
//! let plan = AuthenticationPlan::Pipelined(DirectAttempt::External { uid: 1000 });
//! let config = ClientConfig { plan, fds: FdNegotiation::Requested };
//! let mut client = SaslClient::start(config, &mut to_server);
//!
//! let served = server.receive(&to_server, 0, &mut NoAuthority, &mut to_client)?;
//! let ServerProgress::Done { identity, fds, .. } = served else { panic!("BEGIN was sent") };
//! assert_eq!((identity, fds), (AuthenticatedIdentity::Uid(1000), FdPassing::Agreed));
//!
//! let connected = client.receive(&to_client, &mut NoCookies, &mut to_server)?;
//! assert!(matches!(connected, ClientProgress::Done { fds: FdPassing::Agreed, .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod client;
pub mod cookie;
pub mod line;
pub mod server;

use core::fmt;

pub use client::{ClientConfig, SaslClient};
pub use server::{SaslServer, ServerConfig};

/// An authentication mechanism ("Authentication mechanisms").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mechanism {
    /// The kernel reports the user at the other end of the socket.
    External,
    /// The client proves that it can read a file that only the user can read.
    DbusCookieSha1,
    /// The client does not identify itself.
    Anonymous,
}

impl Mechanism {
    /// All supported mechanisms, most preferred first.
    pub const ALL: [Self; 3] = [Self::External, Self::DbusCookieSha1, Self::Anonymous];

    /// The mechanism with this name; the comparison is case-sensitive.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mechanism| mechanism.name() == name)
    }

    /// The name of the mechanism in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::External => "EXTERNAL",
            Self::DbusCookieSha1 => "DBUS_COOKIE_SHA1",
            Self::Anonymous => "ANONYMOUS",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::External => 1,
            Self::DbusCookieSha1 => 2,
            Self::Anonymous => 4,
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of mechanisms; iteration starts with the most preferred one.
///
/// ```
/// use diligence_wire::sasl::{Mechanism, Mechanisms};
///
/// let both: Mechanisms = [Mechanism::Anonymous, Mechanism::External].into_iter().collect();
/// assert_eq!(both.to_string(), "EXTERNAL ANONYMOUS");
/// assert!(!both.contains(Mechanism::DbusCookieSha1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mechanisms(u8);

impl Mechanisms {
    /// The set without mechanisms.
    pub const NONE: Self = Self(0);

    /// The set of all supported mechanisms.
    pub const ALL: Self = Self::NONE
        .with(Mechanism::External)
        .with(Mechanism::DbusCookieSha1)
        .with(Mechanism::Anonymous);

    /// Adds `mechanism` to the set.
    #[must_use]
    pub const fn with(self, mechanism: Mechanism) -> Self {
        Self(self.0 | mechanism.bit())
    }

    /// True if `mechanism` is in the set.
    pub const fn contains(self, mechanism: Mechanism) -> bool {
        self.0 & mechanism.bit() != 0
    }

    /// The mechanisms in the set, most preferred first.
    pub fn iter(self) -> impl Iterator<Item = Mechanism> {
        Mechanism::ALL.into_iter().filter(move |&mechanism| self.contains(mechanism))
    }
}

impl FromIterator<Mechanism> for Mechanisms {
    fn from_iter<I: IntoIterator<Item = Mechanism>>(mechanisms: I) -> Self {
        mechanisms.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Display for Mechanisms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mechanism) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(f, "{separator}{mechanism}")?;
        }
        Ok(())
    }
}

/// Whether messages of a connection can carry file descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FdPassing {
    /// Both sides agreed to pass descriptors.
    Agreed,
    /// Descriptors are not passed: the client did not request it, or the server refused.
    Off,
}
