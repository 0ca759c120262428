//! The notation of busctl: words after a signature, lines, trees, and JSON.
//!
//! In words, an array begins with the number of its elements, and a variant with its signature.
//! Structs and dictionary entries have no prefix: `a{sv} 1 "hint" u 7`.

mod json;
mod line;
mod read;
mod tree;
mod words;

pub use json::{json_list, push_json, push_json_list};
pub use line::line;
pub use read::read_arguments;
pub use tree::{message_tree, push_tree};
pub use words::words;
