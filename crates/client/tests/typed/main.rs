//! Typed proxies and served interfaces, which attribute macros make.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod asynchronous;
mod blocking;
mod lamp;
mod peers;
mod programs;
mod services;
#[path = "../support/mod.rs"]
mod support;
