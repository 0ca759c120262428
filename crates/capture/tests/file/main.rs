//! Reading and writing files in all formats, including damaged ones.

mod broken;
mod formats;
mod made;
mod tools;
mod write;
