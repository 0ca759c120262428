//! The GVariant text format, which gdbus and GSettings read and print.

mod infer;
mod node;
mod parse;
mod read;
mod write;

pub use read::{read_arguments, read_list, read_untyped, read_value};
pub use write::{push, tuple, untyped, value};
