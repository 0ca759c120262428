//! The configuration of a bus: files in the format `busconfig`, read into what the bus is to do.
//!
//! A file goes through four steps, each with a type that can no longer have what the step before
//! could have wrong:
//!
//! ```text
//!   text ──▶ element       well-formed XML, of which no element or attribute is unknown
//!        ──▶ directives    what one file says, in order; rules with their accounts looked up
//!        ──▶ Document      what all files say together: the last word, and whole lists
//!        ──▶ Config        limits and policy in the words of the bus
//! ```
//!
//! [`load`] takes all four. What this bus cannot enforce is an error of the last step
//! ([`NotEnforced`]), never silently wider. [`Document::read`] stops before it, for who only wants
//! to know what the files say.
//!
//! ```
//! use broker::busconfig::{self, BusType};
//!
//! let config = busconfig::built_in_session();
//! assert_eq!(config.document.bus_type, Some(BusType::Session));
//! assert_eq!(config.addresses()?[0].to_string(), "unix:tmpdir=/tmp");
//! # Ok::<(), busconfig::ConfigError>(())
//! ```

mod compile;
mod directives;
mod document;
mod element;
mod environment;
mod error;
mod limits;
mod not_enforced;
mod own;
mod paths;
mod policy;
mod policy_reader;
mod reader;
mod rule;
mod vocabulary;

use std::path::Path;

use bus::{Configuration, PolicyVerdict};
use wire::address::AddressList;
use wire::sasl::Mechanisms;

pub use document::Document;
pub use environment::{Accounts, Environment, SecurityModule, SystemAccounts};
pub use error::{
    AccountKind, ConfigError, ConfigErrorKind, ConfigReadError, ConfigWarning, ConfigWarningKind,
    ElementOrigin, FILE_LEN_MAX, LimitError, Position, ShapeError, XmlError,
};
pub use not_enforced::NotEnforced;
pub use own::{OwnSettings, RateSetting};
pub use policy::{DocumentRule, PolicyDocument};
pub use rule::RuleError;
pub use vocabulary::{
    AppArmor, AppArmorMode, Association, BusType, ForkMode, Listen, ServiceDir, Syslog, Umask,
};

/// What a bus is to do, and what its configuration says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// What the files say.
    pub document: Document,
    /// What the bus itself is told: limits, policy, and how services are started.
    pub configuration: Configuration,
}

impl Config {
    /// Where to listen; see [`Document::addresses`].
    ///
    /// # Errors
    ///
    /// There is no address, or one that is wrong.
    pub fn addresses(&self) -> Result<Vec<AddressList>, ConfigError> {
        self.document.addresses()
    }

    /// The ways in which a client may authenticate.
    pub fn mechanisms(&self) -> Mechanisms {
        self.document.mechanisms()
    }

    /// Whether a client that did not say who it is may connect.
    pub fn admits_anonymous(&self) -> bool {
        self.document.anonymous == PolicyVerdict::Allow
    }

    fn compile(document: Document, environment: &Environment<'_>) -> Result<Self, ConfigError> {
        let configuration = compile::compile(&document, environment)?;
        Ok(Self { document, configuration })
    }
}

/// Reads a configuration file and all that it includes.
///
/// # Errors
///
/// The first mistake in the files, in the order in which they are read; or, if there is none, the
/// first thing that they ask for and this bus cannot do.
pub fn load(file: &Path, environment: &Environment<'_>) -> Result<Config, ConfigError> {
    Config::compile(Document::read(file, environment)?, environment)
}

/// Reads a configuration file whose content is known, and all that it includes, and compiles what they
/// say.
///
/// # Errors
///
/// As [`load`].
pub fn load_content(
    file: &Path,
    content: &[u8],
    environment: &Environment<'_>,
) -> Result<Config, ConfigError> {
    Config::compile(reader::read_content(file, content, environment)?, environment)
}

/// Reads all that comes out of `file`, if it is a pipe: it can be read only once, and a configuration
/// is read again.
///
/// # Errors
///
/// It cannot be read, or is larger than [`FILE_LEN_MAX`].
pub fn drain_pipe(file: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    reader::drain_pipe(file)
}

/// The configuration of a session bus on a system that has no file for it.
///
/// It is what such files say everywhere, without the places for changes of one's own.
pub fn built_in_session() -> Config {
    let environment = Environment::of_this_system();
    let document =
        reader::read_text(Path::new("built-in session.conf"), SESSION_CONF, &environment);
    let config = document.and_then(|document| Config::compile(document, &environment));
    config.expect("the text is part of the program, and tested")
}

const SESSION_CONF: &str = include_str!("session.conf");
