//! What the commands that call, read and set have in common.
//!
//! ```text
//!  words ─▶ member ─▶ arguments ─▶ (the inspector) ─▶ shown
//!                                        └─▶ nearest, where it failed
//! ```

pub(crate) mod arguments;
mod descriptors;
pub(crate) mod error;
pub(crate) mod manner;
pub(crate) mod member;
mod pretty;
pub(crate) mod shown;
