//! The web page that shows a recording or a live bus, and the HTTP server for it.
//!
//! The page itself is a TypeScript program in the folder `web`, which the build script embeds once
//! it is built. This crate is the server. The modules, in the order of reading:
//!
//! - [`subject`]: the recording or live bus that a page shows.
//! - `missing`: counts of messages that were not captured.
//! - `assets`: the embedded files of the page.
//! - `peers`: rejects connections of other users.
//! - `guard`: rejects requests of other sites.
//! - `session`: authenticates the user's browser.
//! - `browser`: opens the page in the user's browser.
//! - `stream`: sends the recording, and later additions, to the page.
//! - [`bus`]: serves requests of the page to a running bus.
//! - `watch`: sends events of a running bus to the page.
//! - `arguments`: parses and writes the arguments of a call in one text.
//! - [`mod@export`]: saves the page and its recording in one file.
//! - [`server`]: the HTTP server.

#![forbid(unsafe_code)]

mod arguments;
mod assets;
mod browser;
pub mod bus;
pub mod export;
mod guard;
mod gzip;
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
