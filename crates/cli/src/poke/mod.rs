//! Shared parts of the commands that call methods, and read and set properties.
//!
//! ```text
//!  words ─▶ member ─▶ arguments ─▶ (the inspector) ─▶ shown
//!                                        └─▶ suggestions, if the request failed
//! ```

pub(crate) mod arguments;
pub(crate) mod call_options;
mod descriptors;
pub(crate) mod error;
pub(crate) mod member;
mod pretty;
pub(crate) mod shown;
