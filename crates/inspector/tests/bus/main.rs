//! The inspector on a real bus, with services of every kind.

mod hostile;
mod objects;
mod support;
mod who;
