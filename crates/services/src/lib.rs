//! Service files: the programs that a bus can start, and how to start them.
//!
//! A file in the syntax of desktop entries has a group `[D-BUS Service]` with the name of a service
//! and the command line that starts it. Parsing has two steps; the type of each step excludes the
//! errors of the step before:
//!
//! ```text
//!   bytes ──▶ DesktopFile    groups of keys and values, with escapes resolved
//!         ──▶ ServiceFile    a valid name, a command, and the other settings
//! ```
//!
//! [`Table::read`] reads all files of all folders; the first file for a service counts. The same
//! files are accepted as by the reference implementation, except that names which no peer could own
//! are rejected.
//!
//! The bus reads service files with this crate, and so does the helper that starts services as
//! other users. The crate is separate because the helper runs as root, and should contain as little
//! code as possible.
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
#[cfg(feature = "serde")]
pub mod saved_path;
mod service_file;
mod table;

pub use command::{Command, CommandError};
pub use desktop_file::{DesktopFile, SyntaxError, SyntaxErrorKind};
pub use folder::{Folder, Naming, SessionPlaces, session_folders, system_folders};
pub use service_file::{ServiceFile, ServiceFileError};
pub use table::{ServiceEntry, Table, Warning, WarningKind};
