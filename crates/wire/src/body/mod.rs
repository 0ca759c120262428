//! Bodies: validating, reading and writing them ("Marshaling (Wire Format)").
//!
//! - [`Validator`] checks a body against its signature, and reports the position of an error.
//! - [`Reader`] and [`Writer`] are cursors that read and write one value after the other.
//! - [`Typed`], [`Encode`] and [`Decode`] map Rust types to D-Bus types and use the cursors;
//!   [`EncodeArgs`] and [`DecodeArgs`] do so for whole bodies, as tuples of arguments.
//! - [`Value`] holds any value whose type is known only at run time.

mod args;
mod inline_signature;
mod read;
mod shape;
mod types;
mod validate;
mod value;
mod write;

pub use args::{DecodeArgs, EncodeArgs};
pub(crate) use inline_signature::body_signature;
pub use read::{ArrayEnd, ReadError, Reader};
pub use shape::Shape;
pub use types::{Decode, Encode, Typed, UnixFd, Variant, signature_of};
pub use validate::Validator;
pub use value::Value;
pub use write::Writer;
