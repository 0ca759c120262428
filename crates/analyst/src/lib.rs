//! What the page of the viewer asks of a recording, and what it is told.
//!
//! The page has columns of all messages, to draw from, and asks for everything else. The same code
//! answers in the server and, compiled for the browser, in a page that was saved, so that each
//! number is found in one place only. `docs/view-format.md` describes what goes between.
//!
//! The modules, in the order of reading:
//!
//! - [`frame`]: how answers travel: JSON, and columns of numbers behind it.
//! - [`feed`]: a recording told from its beginning, and on while it grows.
//! - [`selection`]: which of its messages are meant.
//! - [`question`]: what can be asked.
//! - `answers`: what is answered, a module for each part of the page.
//! - `exports`: what a page calls that has this crate in it.

#![cfg_attr(not(target_family = "wasm"), forbid(unsafe_code))]

mod answers;
#[cfg(target_family = "wasm")]
mod exports;
pub mod feed;
pub mod frame;
pub mod question;
pub mod selection;

pub use feed::Feed;
pub use frame::Frame;
pub use question::{Question, answer};
