//! The notation of dbus-send: words that begin with the type, and lines.

mod read;
mod tree;
mod word;

pub(crate) use read::type_mismatch;
pub use read::{is_word, read_arguments};
pub use tree::{TextStyle, push_tree};
pub use word::word;
