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
//! use bench::library::{Cache, CallReport, Library, ProgramMode, RunningProgram};
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
//! println!("{} {}: {} ns", library.library, library.version, report.p50_ns);
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

pub use cache::Cache;
use clap::ValueEnum;
pub use find::{BuiltLibrary, FoundLibrary, MissingLibrary};
pub use mode::{ModeError, ProgramMode};
pub use report::{CallReport, EmitReport, ListenReport};
pub use running::{LibraryRunError, RunningProgram};

/// A client library: the one of this project first, then from the lowest level to the highest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, ValueEnum)]
pub enum Library {
    /// The library of this project, for Rust
    Diligence,
    /// The asynchronous front end of the library of this project, with its own runtime
    DiligenceAsync,
    /// The reference implementation, for C
    Libdbus,
    /// The library of systemd, for C
    SdBus,
    /// The library of GLib, for C
    #[value(name = "gdbus")]
    GDBus,
    /// A layer above libdbus, for Python
    DbusPython,
    /// An implementation for Python's asyncio
    DbusFast,
    /// An implementation for asynchronous Rust
    Zbus,
}

/// The name on the command line and in results.
impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

const PATH: &str = "/org/diligence/Bench";
const INTERFACE: &str = "org.diligence.Bench1";
/// The method that returns its argument, a string.
const METHOD: &str = "Echo";
/// The environment variable with which programs of this project's libraries use lanes, if it is 1.
pub(crate) const LANES_VARIABLE: &str = "DILIGENCE_LANES";
/// The signal, with its emission time and a payload.
const SIGNAL: &str = "Sample";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_have_the_names_of_their_projects() {
        let names: Vec<_> = Library::value_variants().iter().map(Library::to_string).collect();
        let expected = [
            "diligence",
            "diligence-async",
            "libdbus",
            "sd-bus",
            "gdbus",
            "dbus-python",
            "dbus-fast",
            "zbus",
        ];
        assert_eq!(names, expected);
    }
}
