//! The configuration of a bus, read from `busconfig` files.
//!
//! A file goes through four steps. The type of each step excludes the errors that the previous step
//! has checked:
//!
//! ```text
//!   text ──▶ element       well-formed XML with known elements and attributes
//!        ──▶ directives    the content of one file, in order, with accounts looked up
//!        ──▶ Document      the merged content of all files: last values, and whole lists
//!        ──▶ Config        limits and policy for the bus core
//! ```
//!
//! [`load`] runs all four. A requirement that this bus cannot enforce is an error of the last step
//! ([`NotEnforced`]). [`Document::read`] stops before that step, for callers that only need the
//! content of the files.
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
mod saved;
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
pub(crate) use saved::SavedConfig;
pub use vocabulary::{
    AppArmor, AppArmorMode, Association, BusType, ForkMode, Listen, ServiceDir, Syslog, Umask,
};

/// A configuration document with the settings compiled from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The merged content of the files.
    pub document: Document,
    /// The settings of the bus core: limits, policy, and activation.
    pub configuration: Configuration,
}

impl Config {
    /// The addresses to listen at; see [`Document::addresses`].
    ///
    /// # Errors
    ///
    /// There is no address, or one cannot be parsed.
    pub fn addresses(&self) -> Result<Vec<AddressList>, ConfigError> {
        self.document.addresses()
    }

    /// The authentication mechanisms that clients may use.
    pub fn mechanisms(&self) -> Mechanisms {
        self.document.mechanisms()
    }

    /// Whether anonymous clients may connect.
    pub fn admits_anonymous(&self) -> bool {
        self.document.anonymous == PolicyVerdict::Allow
    }

    fn compile(document: Document, environment: &Environment<'_>) -> Result<Self, ConfigError> {
        let configuration = compile::compile(&document, environment)?;
        Ok(Self { document, configuration })
    }
}

/// Reads a configuration file and everything that it includes, and compiles it.
///
/// # Errors
///
/// The first error in the files, in the order in which they are read. If there is none, the first
/// requirement that this bus cannot enforce.
pub fn load(file: &Path, environment: &Environment<'_>) -> Result<Config, ConfigError> {
    Config::compile(Document::read(file, environment)?, environment)
}

/// Reads a configuration file whose content is given, and everything that it includes, and compiles
/// it.
///
/// # Errors
///
/// The same as for [`load`].
pub fn load_content(
    file: &Path,
    content: &[u8],
    environment: &Environment<'_>,
) -> Result<Config, ConfigError> {
    Config::compile(reader::read_content(file, content, environment)?, environment)
}

/// Reads the whole content of `file` if it is a pipe. A pipe can be read only once, but the
/// configuration can be reloaded.
///
/// # Errors
///
/// The file cannot be read, or is larger than [`FILE_LEN_MAX`].
pub fn drain_pipe(file: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    reader::drain_pipe(file)
}

/// The configuration of a session bus on a system without a file for it.
///
/// It equals the usual file, without includes for local changes.
pub fn built_in_session() -> Config {
    let environment = Environment::of_this_system();
    let document =
        reader::read_text(Path::new("built-in session.conf"), SESSION_CONF, &environment);
    let config = document.and_then(|document| Config::compile(document, &environment));
    config.expect("the text is part of the program, and tested")
}

const SESSION_CONF: &str = include_str!("session.conf");
