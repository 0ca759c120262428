//! Received messages, and the pool of their buffers.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::{fmt, mem};

use wire::body::{DecodeArgs, ReadError, Reader, UnixFd};
use wire::endian::Endian;
use wire::match_rule::MatchArgument;
use wire::message::{Builder, Flags, Message, MessageType};
use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use wire::signature::Signature;

use super::known_headers::KnownHeaderId;

/// A received message with its descriptors, independent of the connection's read buffer.
///
/// When it is dropped, the thread uses its buffer again for a later message.
pub struct Incoming<D> {
    bytes: PooledBytes,
    header: ParsedHeader,
    descriptors: Option<Arc<[D]>>,
    /// Number of interruptions of the connection before the message arrived.
    epoch: u32,
}

/// The parts of the header that are read often, kept so that the header is parsed only once.
#[derive(Clone, Copy)]
pub(super) struct ParsedHeader {
    kind: MessageType,
    endian: Endian,
    flags: Flags,
    serial: NonZeroU32,
    body_start: usize,
    signature: TextSpan,
    path: TextSpan,
    interface: TextSpan,
    member: TextSpan,
    sender: TextSpan,
    /// `None` if the header was not remembered.
    known: Option<KnownHeaderId>,
}

/// The position of a text in the bytes of a message; 0 to 0 if the text is absent.
#[derive(Clone, Copy, Default)]
struct TextSpan {
    start: u32,
    end: u32,
}

impl<D> Incoming<D> {
    pub(super) fn new(
        bytes: PooledBytes,
        header: ParsedHeader,
        descriptors: Vec<D>,
        epoch: u32,
    ) -> Self {
        let descriptors = (!descriptors.is_empty()).then(|| descriptors.into());
        Self { bytes, header, descriptors, epoch }
    }

    /// Number of interruptions of the connection before the message arrived.
    pub(crate) const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The header of the message, if the connection has remembered it.
    pub(crate) const fn known_header(&self) -> Option<KnownHeaderId> {
        self.header.known
    }

    /// Copies the message into another buffer; the descriptors are shared.
    pub(super) fn duplicate(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            header: self.header,
            descriptors: self.descriptors.clone(),
            epoch: self.epoch,
        }
    }

    /// A view of the whole message. Each call parses the header again: keep the view for several
    /// reads.
    pub fn message(&self) -> Message<'_> {
        Message::parse(self.bytes()).expect("the message was parsed when it was received")
    }

    /// The type of the message.
    pub const fn message_type(&self) -> MessageType {
        self.header.kind
    }

    /// The serial that the sender gave the message.
    pub const fn serial(&self) -> NonZeroU32 {
        self.header.serial
    }

    /// True for a method call without the flag `NO_REPLY_EXPECTED`.
    pub const fn expects_reply(&self) -> bool {
        self.header.expects_reply()
    }

    /// The path of the called or emitting object; a valid object path.
    pub fn path(&self) -> Option<&str> {
        self.header.path.text(self.bytes())
    }

    /// The interface of the member; a valid interface name.
    pub fn interface(&self) -> Option<&str> {
        self.header.interface.text(self.bytes())
    }

    /// The name of the method or signal; a valid member name.
    pub fn member(&self) -> Option<&str> {
        self.header.member.text(self.bytes())
    }

    /// The sender; a valid bus name. A bus always sets the unique name.
    pub fn sender(&self) -> Option<&str> {
        self.header.sender.text(self.bytes())
    }

    /// Starts the method return for this call, to be sent with the results as its body.
    pub fn reply(&self) -> Builder<'_> {
        self.to_sender(Builder::method_return(self.serial()))
    }

    /// Starts the error reply for this call, to be sent with an error text as its body.
    pub fn error_reply<'a>(&'a self, name: ErrorName<'a>) -> Builder<'a> {
        self.to_sender(Builder::error(name, self.serial()))
    }

    fn to_sender<'a>(&'a self, reply: Builder<'a>) -> Builder<'a> {
        match self.sender().and_then(|name| BusName::new(name).ok()) {
            Some(sender) => reply.destination(sender),
            None => reply,
        }
    }

    /// The name and text of an error reply; `None` for other messages. By convention the text is
    /// the first argument.
    #[inline]
    pub fn remote_error(&self) -> Option<RemoteError> {
        match self.header.kind {
            MessageType::Error => self.read_error(),
            _ => None,
        }
    }

    fn read_error(&self) -> Option<RemoteError> {
        let message = self.message();
        let name = message.error_name()?.as_str().into();
        let text = message.args().next().and_then(|argument| match argument {
            MatchArgument::String(text) => Some(text.into()),
            _ => None,
        });
        Some(RemoteError { name, message: text.unwrap_or_default() })
    }

    /// Decodes the body as a tuple `T`.
    ///
    /// # Errors
    ///
    /// If the signature of the message differs from the types in `T`, or a value is invalid.
    pub fn read<'a, T: DecodeArgs<'a>>(&'a self) -> Result<T, ReadError> {
        match T::fits(self.header.signature.bytes(self.bytes())) {
            true => T::decode_args(&mut self.reader()),
            false => {
                let (expected, found) = (T::signature(), self.signature().into());
                Err(ReadError::Signature { expected, found })
            }
        }
    }

    /// The signature of the body.
    pub fn signature(&self) -> Signature<'_> {
        self.header.signature(self.bytes())
    }

    /// A cursor at the first value of the body.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(self.bytes(), self.header.endian, self.header.body_start)
    }

    /// The bytes of the message as received.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// The descriptor for an `h` value in the body; `None` if the index is out of range.
    pub fn descriptor(&self, place: UnixFd) -> Option<&D> {
        self.descriptors().get(place.0 as usize)
    }

    /// All descriptors of the message, independent of it.
    pub(super) fn shared_descriptors(&self) -> Option<Arc<[D]>> {
        self.descriptors.clone()
    }

    /// All descriptors of the message, in the order of the `h` indexes.
    pub fn descriptors(&self) -> &[D] {
        self.descriptors.as_deref().unwrap_or_default()
    }
}

impl<D> fmt::Debug for Incoming<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Incoming");
        debug.field("message", &self.message());
        debug.field("descriptors", &self.descriptors().len()).finish()
    }
}

impl ParsedHeader {
    pub(super) fn of(message: &Message<'_>) -> Self {
        let span =
            |text: Option<&str>| text.map_or_else(TextSpan::default, |t| TextSpan::of(t, message));
        Self {
            kind: message.message_type(),
            endian: message.endian(),
            flags: message.flags(),
            serial: message.serial(),
            body_start: message.header_bytes().len(),
            signature: span(Some(message.signature().as_str()).filter(|text| !text.is_empty())),
            path: span(message.path().map(ObjectPath::as_str)),
            interface: span(message.interface().map(InterfaceName::as_str)),
            member: span(message.member().map(MemberName::as_str)),
            sender: span(message.sender().map(BusName::as_str)),
            known: None,
        }
    }

    /// The same header with another serial.
    pub(super) const fn with_serial(self, serial: NonZeroU32) -> Self {
        Self { serial, ..self }
    }

    /// The same header with an identifier.
    pub(super) const fn with_known(self, known: Option<KnownHeaderId>) -> Self {
        Self { known, ..self }
    }

    /// The serial of the message.
    pub(super) const fn serial(&self) -> NonZeroU32 {
        self.serial
    }

    /// True for a method call without the flag `NO_REPLY_EXPECTED`.
    pub(super) const fn expects_reply(&self) -> bool {
        matches!(self.kind, MessageType::MethodCall)
            && !self.flags.contains(Flags::NO_REPLY_EXPECTED)
    }

    /// The signature of the body of the message in `bytes`, which has this header.
    fn signature<'a>(&self, bytes: &'a [u8]) -> Signature<'a> {
        Signature::from_bytes(self.signature.bytes(bytes))
            .expect("the header was checked when the message was received")
    }

    /// The sender of the message in `bytes`, which has this header.
    pub(super) fn sender<'a>(&self, bytes: &'a [u8]) -> Option<&'a str> {
        self.sender.text(bytes)
    }

    /// The same as bytes; empty if there is none.
    pub(super) fn sender_bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.sender.bytes(bytes)
    }
}

impl TextSpan {
    /// The position in `message` of `text`, which must be a part of it.
    fn of(text: &str, message: &Message<'_>) -> Self {
        let start = text.as_ptr().addr() - message.bytes().as_ptr().addr();
        // A message is shorter than 2^32 bytes.
        Self { start: start as u32, end: (start + text.len()) as u32 }
    }

    fn bytes(self, message: &[u8]) -> &[u8] {
        &message[self.start as usize..self.end as usize]
    }

    fn text(self, message: &[u8]) -> Option<&str> {
        if self.end == 0 {
            return None;
        }
        let text = str::from_utf8(self.bytes(message));
        Some(text.expect("the header was checked when the message was received"))
    }
}

/// An error reply from the other side.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", remote_text(.name, .message))]
pub struct RemoteError {
    /// The error name, such as `org.freedesktop.DBus.Error.UnknownMethod`.
    pub name: String,
    /// The error text for people; empty if the reply has none.
    pub message: String,
}

/// Formats the name of an error, and its text if it is not empty.
pub(crate) fn remote_text(name: &str, message: &str) -> String {
    if message.is_empty() { name.to_owned() } else { format!("{name}: {message}") }
}

thread_local! {
    /// The unused buffers of this thread, so that steady traffic allocates nothing.
    static UNUSED: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of one message, or of names, in a buffer that the thread that drops it uses again.
#[derive(PartialEq, Eq)]
pub(super) struct PooledBytes(Vec<u8>);

impl PooledBytes {
    pub(super) fn copy_of(bytes: &[u8]) -> Self {
        Self::joined([bytes])
    }

    pub(super) fn joined<const PARTS: usize>(parts: [&[u8]; PARTS]) -> Self {
        let mut joined = Self::empty();
        parts.into_iter().for_each(|part| joined.0.extend_from_slice(part));
        joined
    }

    /// An unused buffer, for bytes that are written one after the other.
    pub(super) fn empty() -> Self {
        // A thread that ends has no unused buffers any more.
        let unused = UNUSED.try_with(|unused| unused.borrow_mut().pop());
        Self(unused.ok().flatten().unwrap_or_default())
    }

    pub(super) const fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// Wraps a buffer that was allocated elsewhere.
    pub(super) const fn own(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl Clone for PooledBytes {
    fn clone(&self) -> Self {
        Self::copy_of(self.as_slice())
    }
}

impl Drop for PooledBytes {
    fn drop(&mut self) {
        let Self(bytes) = self;
        if bytes.capacity() > BUFFER_LEN_MAX {
            return;
        }
        bytes.clear();
        // At the end of the thread, it is freed.
        let _ = UNUSED.try_with(|unused| {
            let mut unused = unused.borrow_mut();
            if unused.len() < BUFFERS_MAX {
                unused.push(mem::take(bytes));
            }
        });
    }
}

/// Maximum number of unused buffers of a thread; a burst of messages may leave that many.
const BUFFERS_MAX: usize = 64;

/// Capacity in bytes above which a buffer is freed instead of kept.
const BUFFER_LEN_MAX: usize = 16 * 1024;
