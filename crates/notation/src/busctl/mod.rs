//! As busctl has values: words behind their signature, lines, and JSON.
//!
//! In words a container says first how many elements it has, a variant what it holds, and structs and
//! entries of dictionaries say nothing: `a{sv} 1 "hint" u 7`.

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
