//! Messages that came.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use wire::body::{DecodeArgs, ReadError, Reader, UnixFd};
use wire::endian::Endian;
use wire::match_rule::MatchArgument;
use wire::message::{Builder, Flags, Message, MessageType};
use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use wire::signature::Signature;

/// A message that came, out of the connection's buffer, with its descriptors.
///
/// Its memory goes back to the connection when it is dropped, and serves for a later message.
pub struct Incoming<D> {
    bytes: PooledBytes,
    facts: Facts,
    descriptors: Option<Arc<[D]>>,
}

/// What is known of a message since its header was parsed, so that it need not be again.
#[derive(Clone)]
pub(super) struct Facts {
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
}

/// Where a text stands in the bytes of a message; nowhere, if it is absent.
#[derive(Clone, Copy, Default)]
struct TextSpan {
    start: u32,
    end: u32,
}

impl<D> Incoming<D> {
    pub(super) fn new(bytes: PooledBytes, facts: Facts, descriptors: Vec<D>) -> Self {
        let descriptors = (!descriptors.is_empty()).then(|| descriptors.into());
        Self { bytes, facts, descriptors }
    }

    /// The same message once more, in memory of its own.
    pub(super) fn duplicate(&self, pool: &BufferPool) -> Self {
        Self {
            bytes: pool.copy_of(self.bytes.as_slice()),
            facts: self.facts.clone(),
            descriptors: self.descriptors.clone(),
        }
    }

    /// The view of the whole message. It parses the header anew: keep it to ask it more than once.
    pub fn message(&self) -> Message<'_> {
        Message::parse(self.bytes()).expect("it was parsed when it came")
    }

    /// What the message is for.
    pub const fn message_type(&self) -> MessageType {
        self.facts.kind
    }

    /// The sender's number for the message.
    pub const fn serial(&self) -> NonZeroU32 {
        self.facts.serial
    }

    /// Whether it is a call that shall be answered.
    pub const fn expects_reply(&self) -> bool {
        matches!(self.facts.kind, MessageType::MethodCall)
            && !self.facts.flags.contains(Flags::NO_REPLY_EXPECTED)
    }

    /// The object called, or that emits; a valid object path.
    pub fn path(&self) -> Option<&str> {
        self.facts.path.text(self.bytes())
    }

    /// The interface of the member; a valid interface name.
    pub fn interface(&self) -> Option<&str> {
        self.facts.interface.text(self.bytes())
    }

    /// The method or signal; a valid member name.
    pub fn member(&self) -> Option<&str> {
        self.facts.member.text(self.bytes())
    }

    /// Who sent it; a valid bus name, behind a bus the unique one.
    pub fn sender(&self) -> Option<&str> {
        self.facts.sender.text(self.bytes())
    }

    /// The reply to this call, to be sent with the results as its body.
    pub fn reply(&self) -> Builder<'_> {
        self.to_sender(Builder::method_return(self.serial()))
    }

    /// The reply to this call that says what went wrong, to be sent with a text as its body.
    pub fn error_reply<'a>(&'a self, name: ErrorName<'a>) -> Builder<'a> {
        self.to_sender(Builder::error(name, self.serial()))
    }

    fn to_sender<'a>(&'a self, reply: Builder<'a>) -> Builder<'a> {
        match self.sender().and_then(|name| BusName::new(name).ok()) {
            Some(sender) => reply.destination(sender),
            None => reply,
        }
    }

    /// The error that this message is, with the text that is its first argument by convention.
    pub fn remote_error(&self) -> Option<RemoteError> {
        if self.facts.kind != MessageType::Error {
            return None;
        }
        let message = self.message();
        let name = message.error_name()?.as_str().into();
        let text = message.args().next().and_then(|argument| match argument {
            MatchArgument::String(text) => Some(text.into()),
            _ => None,
        });
        Some(RemoteError { name, message: text.unwrap_or_default() })
    }

    /// Reads the body as the types of `T`, a tuple, which must be those of the signature.
    pub fn read<'a, T: DecodeArgs<'a>>(&'a self) -> Result<T, ReadError> {
        T::decode_body(self.signature(), &mut self.reader())
    }

    /// The types of the body.
    pub fn signature(&self) -> Signature<'_> {
        let text = self.facts.signature.text(self.bytes()).unwrap_or_default();
        Signature::new(text).expect("it was checked when the message came")
    }

    /// A cursor at the first value of the body.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(self.bytes(), self.facts.endian, self.facts.body_start)
    }

    /// The whole message as it came.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// The descriptor that an `h` of the body stands for; `None` if it stands for none.
    pub fn descriptor(&self, place: UnixFd) -> Option<&D> {
        self.descriptors().get(place.0 as usize)
    }

    /// All descriptors that came with the message, in the order in which `h` counts them.
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

impl Facts {
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
        }
    }
}

impl TextSpan {
    /// Where `text`, which is a part of `message`, stands in it.
    fn of(text: &str, message: &Message<'_>) -> Self {
        let start = text.as_ptr().addr() - message.bytes().as_ptr().addr();
        // A message has less than 2^32 bytes.
        Self { start: start as u32, end: (start + text.len()) as u32 }
    }

    fn text(self, bytes: &[u8]) -> Option<&str> {
        if self.end == 0 {
            return None;
        }
        let text = &bytes[self.start as usize..self.end as usize];
        Some(str::from_utf8(text).expect("it was checked when the message came"))
    }
}

/// An error that the other side answered a call with.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", remote_text(.name, .message))]
pub struct RemoteError {
    /// Which error: `org.freedesktop.DBus.Error.UnknownMethod`.
    pub name: String,
    /// The text for people; empty if there is none.
    pub message: String,
}

/// The name of an error and its text, if it has one.
pub(crate) fn remote_text(name: &str, message: &str) -> String {
    if message.is_empty() { name.to_owned() } else { format!("{name}: {message}") }
}

/// Memory for messages that comes back when it is done with, so that steady traffic allocates
/// nothing.
#[derive(Clone, Default)]
pub(super) struct BufferPool {
    /// Shared with every message that is alive; held for a push or a pop and no longer.
    free: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl BufferPool {
    pub(super) fn copy_of(&self, bytes: &[u8]) -> PooledBytes {
        let mut copy = self.lock().pop().unwrap_or_default();
        copy.extend_from_slice(bytes);
        self.own(copy)
    }

    /// Takes memory that was allocated elsewhere.
    pub(super) fn own(&self, bytes: Vec<u8>) -> PooledBytes {
        PooledBytes { bytes, home: self.clone() }
    }

    fn take_back(&self, mut bytes: Vec<u8>) {
        let mut free = self.lock();
        if bytes.capacity() <= BUFFER_LEN_MAX && free.len() < BUFFERS_MAX {
            bytes.clear();
            free.push(bytes);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        // A list of free memory is never half changed.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of one message.
pub(super) struct PooledBytes {
    bytes: Vec<u8>,
    home: BufferPool,
}

impl PooledBytes {
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for PooledBytes {
    fn drop(&mut self) {
        self.home.take_back(std::mem::take(&mut self.bytes));
    }
}

/// Buffers that wait to be used again, at most: a burst of messages may leave that many.
const BUFFERS_MAX: usize = 64;

/// The longest buffer that is worth keeping.
const BUFFER_LEN_MAX: usize = 16 * 1024;
