//! Service files: which programs a bus can start, and how.
//!
//! A file in the syntax of desktop entries has a group `[D-BUS Service]` with the name of a
//! service and the command line that starts it. It goes through two steps, each with a type that
//! can no longer have what the step before could have wrong:
//!
//! ```text
//!   bytes ──▶ DesktopFile    groups of keys and values, with escapes resolved
//!         ──▶ ServiceFile    a valid name, a command, and what else there is to know
//! ```
//!
//! [`Table::read`] reads all files of all folders, of which the first that names a service counts.
//! What is accepted is what the reference accepts, except that a name that nobody could ever own is
//! none here.
//!
//! The bus reads service files with this crate, and so does the helper that starts services as
//! other users; that is why it is one: the helper runs as root, and must not be more than it needs.
//!
//! ```
//! use services::ServiceFile;
//!
//! let text = b"[D-BUS Service]\nName=com.example.Clock\nExec=/usr/bin/clock --zone 'Mid Sea'\n";
//! let service = ServiceFile::parse(text)?;
//! assert_eq!(service.name, "com.example.Clock");
//! assert_eq!(service.command.clone()?.words(), ["/usr/bin/clock", "--zone", "Mid Sea"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod command;
mod desktop_file;
mod folder;
mod service_file;
mod table;

pub use command::{Command, CommandError};
pub use desktop_file::{DesktopFile, SyntaxError, SyntaxErrorKind};
pub use folder::{Folder, Naming, SessionPlaces, session_folders, system_folders};
pub use service_file::{ServiceFile, ServiceFileError};
pub use table::{ServiceEntry, Table, Warning, WarningKind};
