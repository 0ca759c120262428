//! Files: what is written into them, and what is read from them, whatever has happened to them.

mod broken;
mod formats;
mod made;
mod tools;
mod write;
