//! Answers the questions of the viewer's page about a recording.
//!
//! The page gets columns of all messages, which it draws, and asks for everything else. The same
//! code answers in the server and, as WebAssembly, in a saved page, so each number has one
//! definition. `docs/view-format.md` describes the format.
//!
//! The types of frames, questions and answers define the format. With the feature `schema` they
//! describe themselves, and `diligence-viewer` generates the page's types and run-time checks from
//! that.
//!
//! The modules, in reading order:
//!
//! - [`frame`]: the format of frames: JSON, followed by columns of numbers.
//! - [`feed`]: a recording as frames, from its first message on.
//! - [`selection`]: selections of messages.
//! - [`question`]: the questions.
//! - [`answers`]: the answers, one module for each part of the page.
//! - [`value_type`]: types of values, parsed and in words.
//! - `exports`: functions for a page that contains this crate.

#![cfg_attr(not(target_family = "wasm"), forbid(unsafe_code))]

pub mod answers;
#[cfg(target_family = "wasm")]
mod exports;
pub mod feed;
pub mod frame;
pub mod question;
pub mod selection;
pub mod value_type;

pub use feed::Feed;
pub use frame::{FrameHead, PageFrame};
pub use question::{PageQuestion, answer};
