//! Services as processes: which program, with which environment, and what becomes of it.
//!
//! ```text
//!  catalog    service files of all folders -> what can be started, and what the bus is told of it
//!  units      who starts services, and the units of those that name none
//!  launcher   a name -> a program with its arguments and its environment
//!  children   processes that run: how they end, and what they write to standard error
//!  tail       the last of what one of them wrote, for the log
//! ```

mod catalog;
mod children;
mod launcher;
mod tail;
mod units;

pub(crate) use catalog::service_folders;
pub use catalog::{Catalog, read};
pub(crate) use children::{ChildKey, Children, Spoken};
pub(crate) use launcher::Launcher;
pub use units::{UnitActivation, UnitTemplate};
