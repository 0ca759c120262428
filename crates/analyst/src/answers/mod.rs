//! What is answered, a module for each part of the page.

mod compare;
mod details;
mod findings;
mod numbers;
mod select;
mod switches;
mod table;
mod timeline;
mod value;

pub(crate) use compare::compare;
pub(crate) use details::message;
pub(crate) use findings::findings;
pub(crate) use numbers::{statistics, summary};
pub(crate) use select::{complete, no_match, select};
pub(crate) use switches::switches;
pub(crate) use timeline::timeline;
