//! Types that can be written as the body of a message.

use std::num::NonZeroU32;

use wire::body::{EncodeArgs, Value, Writer};
use wire::endian::Endian;
use wire::message::{Builder, WriteError};
use wire::signature::Signature;

use super::incoming::PooledBytes;

/// The arguments of a message: a tuple of Rust types, or [`Values`].
pub trait MessageBody {
    /// Appends `message` with `self` as its body to `out`.
    ///
    /// # Errors
    ///
    /// If an argument cannot be represented in D-Bus, or the message would be too long. `out` is
    /// unchanged then.
    fn write(
        &self,
        message: &Builder<'_>,
        out: &mut Vec<u8>,
        serial: NonZeroU32,
    ) -> Result<(), WriteError>;
}

impl<A: EncodeArgs> MessageBody for A {
    fn write(
        &self,
        message: &Builder<'_>,
        out: &mut Vec<u8>,
        serial: NonZeroU32,
    ) -> Result<(), WriteError> {
        message.write(out, serial, self)
    }
}

/// Arguments with types that are known only at run time; each value is one argument.
///
/// ```
/// use diligence_client::Values;
/// use diligence_client::wire::body::Value;
///
/// let arguments = Values(&[Value::from("text"), Value::from(7_u32)]);
/// assert_eq!(arguments.signature()?.as_str(), "su");
/// # Ok::<(), diligence_client::wire::message::WriteError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Values<'a>(pub &'a [Value]);

impl Values<'_> {
    /// The signature of the arguments.
    ///
    /// # Errors
    ///
    /// If the types together are not a valid signature, because it is too long or nested too
    /// deeply.
    pub fn signature(&self) -> Result<wire::signature::SignatureBuf, WriteError> {
        let text = self.signature_text();
        match Signature::new(&text) {
            Ok(signature) => Ok(signature.into()),
            Err(error) => Err(WriteError::Signature(error.kind)),
        }
    }

    fn signature_text(&self) -> String {
        let mut text = String::new();
        self.0.iter().for_each(|value| value.push_signature(&mut text));
        text
    }
}

impl MessageBody for Values<'_> {
    fn write(
        &self,
        message: &Builder<'_>,
        out: &mut Vec<u8>,
        serial: NonZeroU32,
    ) -> Result<(), WriteError> {
        let signature = self.signature()?;
        let values = |writer: &mut Writer<'_>| self.0.iter().for_each(|value| value.write(writer));
        message.write_with(out, serial, signature.as_signature(), values)
    }
}

/// A body that was encoded before the connection is locked. Values that code of the program writes,
/// such as properties, must not be written later: that code can wait for other threads, and use the
/// connection.
pub(crate) struct EncodedBody<'s> {
    signature: Signature<'s>,
    values: Result<PooledBytes, WriteError>,
}

impl<'s> EncodedBody<'s> {
    /// Encodes the values that `write` writes, which must have the types `signature`.
    pub(crate) fn new(signature: Signature<'s>, write: impl FnOnce(&mut Writer<'_>)) -> Self {
        let mut values = PooledBytes::empty();
        let mut writer = Writer::new(values.buffer(), Endian::NATIVE);
        write(&mut writer);
        let finished = writer.finish();
        Self { signature, values: finished.map(|()| values) }
    }
}

impl MessageBody for EncodedBody<'_> {
    fn write(
        &self,
        message: &Builder<'_>,
        out: &mut Vec<u8>,
        serial: NonZeroU32,
    ) -> Result<(), WriteError> {
        let values = self.values.as_ref().map_err(|error| *error)?;
        message.write_with(out, serial, self.signature, |writer| writer.encoded(values.as_slice()))
    }
}
