//! Services as processes: their programs, their environment and their end.
//!
//! ```text
//!  catalog    service files of all directories -> activatable services
//!  units      how services are started, and units for services that name none
//!  launcher   a name -> a program with its arguments and its environment
//!  children   running processes: their end, and their output on standard error
//!  tail       the last output of a service, for the log
//! ```

mod catalog;
mod children;
mod launcher;
mod tail;
mod units;

pub(crate) use catalog::service_folders;
pub use catalog::{Catalog, read};
pub(crate) use children::{ChildKey, Children, OutputRead, SavedChild};
pub(crate) use launcher::Launcher;
pub use units::{UnitActivation, UnitTemplate};
