//! The picture of a bus: a page, and the server that shows it.
//!
//! The page is a program of its own, in TypeScript, in the folder `web`; it is part of this program once
//! it is built. Here is what it talks to. The modules, in the order of reading:
//!
//! - [`subject`]: what is looked at: recordings, or a bus.
//! - `missing`: what went over a bus and was not heard.
//! - `assets`: the files of the page.
//! - `peers`: which connections are answered.
//! - `guard`: which requests are answered.
//! - `session`: how a browser proves that it belongs to the user.
//! - `browser`: starting the user's browser.
//! - `stream`: the recording as it is told to the page, and on while it grows.
//! - [`bus`]: what it asks of a running bus.
//! - `arguments`: the arguments of a call as one text.
//! - [`mod@export`]: all of it in one file.
//! - [`server`]: all of it behind an address.

#![forbid(unsafe_code)]

mod arguments;
mod assets;
mod browser;
pub mod bus;
pub mod export;
mod guard;
mod missing;
mod peers;
#[cfg(test)]
mod protocol;
pub mod server;
mod session;
mod stream;
pub mod subject;
mod watch;

pub use bus::CallPermission;
pub use export::{PageExportError, export};
pub use server::PageServer;
pub use subject::ViewerSubject;
