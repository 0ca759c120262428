#![doc = include_str!("../../clients/README.md")]
//!
//! # Running them
//!
//! The sources are part of this program. A [`Library`] is [found](Library::find) in the system,
//! its program is [prepared](FoundLibrary::prepare) in a [`Cache`], and then [run](RunningProgram),
//! while this process sleeps:
//!
//! ```no_run
//! use std::time::Duration;
//! use diligence_bench::library::{Cache, CallReport, Library, ProgramMode, RunningProgram};
//!
//! let cache = Cache::of_user()?;
//! let library = Library::SdBus.find(&cache)?.prepare(&cache)?;
//! let address = "unix:path=/run/example/bus".to_owned();
//! let service = RunningProgram::start(library.command(&ProgramMode::Serve { address: address.clone() }))?;
//! let destination = service.name().to_owned();
//! let call = ProgramMode::Call { address, destination, count: 10_000, length: 11 };
//! let mut caller = RunningProgram::start(library.command(&call))?;
//! caller.begin();
//! let report: CallReport = caller.report(Duration::from_secs(60))?;
//! println!("{} {}: {} ns", library.library(), library.version(), report.p50_ns);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod find;
mod mode;
pub mod ours;
mod report;
mod running;
mod source;

use std::fmt;
use std::str::FromStr;

pub use cache::Cache;
pub use find::{BuiltLibrary, FoundLibrary, MissingLibrary};
pub use mode::{ModeError, ProgramMode};
pub use report::{CallReport, EmitReport, ListenReport};
pub use running::{RunError, RunningProgram};

/// A library by which programs use a bus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Library {
    /// Ours, for Rust.
    Diligence,
    /// The reference, for C.
    Libdbus,
    /// That of systemd, for C.
    SdBus,
    /// That of GLib, for C.
    GDBus,
    /// A layer above libdbus, for Python.
    DbusPython,
    /// An implementation for Python's asyncio.
    DbusFast,
    /// An implementation for asynchronous Rust.
    Zbus,
}

impl Library {
    /// All of them, ours first, then from the lowest level to the highest.
    pub const ALL: [Self; 7] = [
        Self::Diligence,
        Self::Libdbus,
        Self::SdBus,
        Self::GDBus,
        Self::DbusPython,
        Self::DbusFast,
        Self::Zbus,
    ];
}

impl fmt::Display for Library {
    /// Its name as it is written on the command line and in results.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Diligence => "diligence",
            Self::Libdbus => "libdbus",
            Self::SdBus => "sd-bus",
            Self::GDBus => "gdbus",
            Self::DbusPython => "dbus-python",
            Self::DbusFast => "dbus-fast",
            Self::Zbus => "zbus",
        })
    }
}

impl FromStr for Library {
    type Err = UnknownLibrary;

    fn from_str(word: &str) -> Result<Self, UnknownLibrary> {
        let found = Self::ALL.into_iter().find(|library| library.to_string() == word);
        found.ok_or_else(|| UnknownLibrary(word.to_owned()))
    }
}

/// A word that is the name of no [`Library`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownLibrary(pub String);

impl fmt::Display for UnknownLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is none of the libraries:", self.0)?;
        Library::ALL.iter().try_for_each(|library| write!(f, " {library}"))
    }
}

impl std::error::Error for UnknownLibrary {}

const PATH: &str = "/org/diligence/Bench";
const INTERFACE: &str = "org.diligence.Bench1";
/// The method that returns its argument, a string.
const METHOD: &str = "Echo";
/// The signal, with the time of its emission and a payload.
const SIGNAL: &str = "Sample";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_libraries() {
        for library in Library::ALL {
            assert_eq!(library.to_string().parse(), Ok(library));
        }
        let error = "d-feet".parse::<Library>().unwrap_err();
        let text = "\"d-feet\" is none of the libraries: diligence libdbus sd-bus gdbus \
                    dbus-python dbus-fast zbus";
        assert_eq!(error.to_string(), text);
    }
}
