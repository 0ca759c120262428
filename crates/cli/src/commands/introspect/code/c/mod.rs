//! A C header with functions for sd-bus, from the template `header.j2`.
//!
//! ```text
//! static inline int player1_play(
//!         const struct player1_proxy *proxy, const char *song, uint32_t *length,
//!         sd_bus_message **ret_reply, sd_bus_error *error)
//! ```
//!
//! For types that C cannot express, the caller passes a function that appends or reads the value.

mod rules;
mod values;

use super::model::{InterfaceModel, ProxySource};
use super::names::snake;
use super::template::{environment, fill};
use super::text;

pub(super) use rules::RULES;

/// Renders the header for these interfaces.
pub(super) fn file(source: &ProxySource<'_>, proxies: &[InterfaceModel<'_>]) -> String {
    let mut environment = environment();
    environment.add_filter("snake", |name: &str| snake(name, "unnamed"));
    environment.add_filter("comment_safe", |line: &str| comment_safe(line));
    environment.add_filter("send_parameter", values::send_parameter);
    environment.add_filter("receive_parameter", values::receive_parameter);
    environment.add_filter("borrow", values::borrow);
    environment.add_filter("append", values::append);
    environment.add_filter("read", values::read);
    fill(&environment, include_str!("header.j2"), source, proxies)
}

/// Escapes a line so that it neither ends a comment nor starts one.
fn comment_safe(line: &str) -> String {
    text::clean(line).replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
}
