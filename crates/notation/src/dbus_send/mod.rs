//! As dbus-send has values: words with the type in front, and lines.

mod read;
mod tree;
mod word;

pub(crate) use read::typed_otherwise;
pub use read::{is_word, read_arguments};
pub use tree::{TextStyle, push_tree};
pub use word::word;
