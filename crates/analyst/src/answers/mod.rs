//! What is answered, a module for each part of the page.

mod compare;
mod details;
mod findings;
mod numbers;
mod save;
mod select;
mod switches;
mod table;
mod timeline;
mod value;

pub(crate) use compare::compare;
pub(crate) use details::message;
pub(crate) use findings::{ending, findings};
pub(crate) use numbers::{statistics, summary};
pub(crate) use save::save;
pub(crate) use select::{complete, note, select, without};
pub(crate) use switches::switches;
pub(crate) use timeline::timeline;
