//! Messages.
//!
//! A message keeps its header as a list of fields in the order in which they were set, and its
//! body as marshaled bytes. The bytes of the header are written when the message is sent.

mod create;
mod custom;
mod fields;
mod flags;
mod iter;
mod marshal;
mod parse;
mod read;
mod slots;
mod stack;
mod swap;
mod write;

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_int};
use std::fmt;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wire::Endian;

use crate::c::Handle;
use crate::checks::given;
use crate::slots::SlotData;
use stack::OpenContainer;

pub(crate) use create::{error_of, error_reply, failure_reply, method_call, method_return, signal};
pub(crate) use fields::is;

/// A message of the C interface, with its references.
#[derive(Debug)]
pub(crate) struct DBusMessage {
    references: AtomicUsize,
    content: UnsafeCell<DBusMessageContent>,
}

/// The content of a message.
pub(crate) struct DBusMessageContent {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) serial: u32,
    /// The byte order of the body and of unknown fields.
    pub(crate) endian: Endian,
    pub(crate) fields: Vec<HeaderField>,
    pub(crate) body: Vec<u8>,
    pub(crate) fds: Vec<OwnedFd>,
    /// Set when the message was sent. Then it must not change.
    pub(crate) locked: bool,
    /// The containers that append iterators have opened and not closed, from the outside.
    open: Vec<OpenContainer>,
    slots: SlotData,
    /// What the message occupies in the queue of its connection, until it is freed.
    pub(crate) received: Option<ReceivedSize>,
}

/// A field of a header.
#[derive(Clone, Debug)]
pub(crate) struct HeaderField {
    pub(crate) code: u8,
    pub(crate) value: HeaderValue,
}

/// The value of a header field.
#[derive(Clone, Debug)]
pub(crate) enum HeaderValue {
    /// A name, a path or the signature.
    Text(CString),
    /// The number in REPLY_SERIAL or UNIX_FDS.
    Number(u32),
    /// The whole field as it was received, because the specification does not define it.
    Unknown(Vec<u8>),
}

/// The codes of header fields.
pub(crate) mod code {
    pub(crate) const PATH: u8 = 1;
    pub(crate) const INTERFACE: u8 = 2;
    pub(crate) const MEMBER: u8 = 3;
    pub(crate) const ERROR_NAME: u8 = 4;
    pub(crate) const REPLY_SERIAL: u8 = 5;
    pub(crate) const DESTINATION: u8 = 6;
    pub(crate) const SENDER: u8 = 7;
    pub(crate) const SIGNATURE: u8 = 8;
    pub(crate) const UNIX_FDS: u8 = 9;
    /// The path of the container of the sender. dbus-daemon does not send it yet.
    pub(crate) const CONTAINER_INSTANCE: u8 = 10;
}

/// The types of messages.
pub(crate) mod kind {
    pub(crate) const METHOD_CALL: u8 = 1;
    pub(crate) const METHOD_RETURN: u8 = 2;
    pub(crate) const ERROR: u8 = 3;
    pub(crate) const SIGNAL: u8 = 4;
}

/// The size of a received message, which its connection counts until the message is freed.
pub(crate) struct ReceivedSize {
    pub(crate) bytes: usize,
    pub(crate) fds: usize,
    /// Called with the size when the message is freed.
    pub(crate) counter: Arc<dyn Fn(usize, usize) + Send + Sync>,
}

impl Drop for ReceivedSize {
    fn drop(&mut self) {
        (self.counter)(self.bytes, self.fds);
    }
}

impl HeaderField {
    /// The text of the field, if it has one that is UTF-8.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            HeaderValue::Text(text) => text.to_str().ok(),
            _ => None,
        }
    }
}

impl DBusMessageContent {
    pub(crate) const fn new(kind: u8) -> Self {
        Self {
            kind,
            flags: 0,
            serial: 0,
            endian: Endian::NATIVE,
            fields: Vec::new(),
            body: Vec::new(),
            fds: Vec::new(),
            locked: false,
            open: Vec::new(),
            slots: SlotData::EMPTY,
            received: None,
        }
    }

    fn field(&self, code: u8) -> Option<&HeaderValue> {
        self.fields.iter().find(|field| field.code == code).map(|field| &field.value)
    }

    /// Returns the text of a field, if the message has it.
    pub(crate) fn text(&self, code: u8) -> Option<&CStr> {
        match self.field(code)? {
            HeaderValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a field without its 0 byte; names are always valid UTF-8.
    pub(crate) fn str(&self, code: u8) -> Option<&str> {
        self.text(code)?.to_str().ok()
    }

    /// Returns the number in a field, if the message has it.
    pub(crate) fn number(&self, code: u8) -> Option<u32> {
        match self.field(code)? {
            HeaderValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Replaces the value of a field in its place, or adds the field as the last one.
    pub(crate) fn set(&mut self, code: u8, value: HeaderValue) {
        match self.fields.iter_mut().find(|field| field.code == code) {
            Some(field) => field.value = value,
            None => self.fields.push(HeaderField { code, value }),
        }
    }

    /// Sets the text of a field, or removes the field.
    pub(crate) fn set_text(&mut self, code: u8, text: Option<&CStr>) {
        match text {
            Some(text) => self.set(code, HeaderValue::Text(text.to_owned())),
            None => self.fields.retain(|field| field.code != code),
        }
    }

    /// The signature of the body.
    pub(crate) fn signature(&self) -> &CStr {
        self.text(code::SIGNATURE).unwrap_or_default()
    }

    /// The serial of the call to which this message replies; 0 if it is not a reply.
    pub(crate) fn reply_serial(&self) -> u32 {
        self.number(code::REPLY_SERIAL).unwrap_or_default()
    }

    /// Returns true if the message is a reply to a call.
    pub(crate) fn is_reply(&self) -> bool {
        matches!(self.kind, kind::METHOD_RETURN | kind::ERROR)
    }
}

impl fmt::Debug for DBusMessageContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DBusMessageContent")
            .field("kind", &self.kind)
            .field("serial", &self.serial)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

// SAFETY: a program uses a message in one thread at a time, as the documentation of libdbus
// requires. Only the counter of references is used in several threads at once, and it is atomic.
unsafe impl Send for DBusMessage {}
// SAFETY: as above.
unsafe impl Sync for DBusMessage {}

impl DBusMessage {
    /// The content of the message, to read it.
    pub(crate) fn view(&self) -> &DBusMessageContent {
        // SAFETY: no thread changes the message now, because a program uses it in one thread at a
        // time, and `edit` does not call functions of the program.
        unsafe { &*self.content.get() }
    }

    /// Changes the content of the message.
    pub(crate) fn edit<R>(&self, change: impl FnOnce(&mut DBusMessageContent) -> R) -> R {
        // SAFETY: as for `view`; no reference from `view` is used during the change.
        change(unsafe { &mut *self.content.get() })
    }
}

/// A counted reference to a message.
#[derive(Debug)]
pub(crate) struct MessageRef(*const DBusMessage);

// SAFETY: the counter of references is atomic; for the content see `DBusMessage`.
unsafe impl Send for MessageRef {}
// SAFETY: as above.
unsafe impl Sync for MessageRef {}

impl MessageRef {
    pub(crate) fn new(content: DBusMessageContent) -> Self {
        let references = AtomicUsize::new(1);
        Self(Box::into_raw(Box::new(DBusMessage { references, content: UnsafeCell::new(content) })))
    }

    /// Counts one more reference to a message.
    pub(crate) fn to(message: &DBusMessage) -> Self {
        message.references.fetch_add(1, Ordering::Relaxed);
        Self(message)
    }

    /// Gives the reference to the program, or to nobody for `None`.
    pub(crate) fn give(message: Option<Self>) -> *const DBusMessage {
        message.map_or(std::ptr::null(), |message| {
            let pointer = message.0;
            std::mem::forget(message);
            pointer
        })
    }

    /// Takes over a reference of the program.
    pub(crate) const fn take(message: &DBusMessage) -> Self {
        Self(message)
    }

    pub(crate) const fn as_ptr(&self) -> *const DBusMessage {
        self.0
    }
}

impl Deref for MessageRef {
    type Target = DBusMessage;

    fn deref(&self) -> &DBusMessage {
        // SAFETY: the reference keeps the message alive.
        unsafe { &*self.0 }
    }
}

impl Clone for MessageRef {
    fn clone(&self) -> Self {
        Self::to(self)
    }
}

impl Drop for MessageRef {
    fn drop(&mut self) {
        if self.references.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: this was the last reference to a message of `new`.
            drop(unsafe { Box::from_raw(self.0.cast_mut()) });
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_ref(message: Handle<DBusMessage>) -> *const DBusMessage {
    let message = given!("dbus_message_ref", message, std::ptr::null());
    MessageRef::give(Some(MessageRef::to(message)))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_unref(message: Handle<DBusMessage>) {
    let message = given!("dbus_message_unref", message);
    drop(MessageRef::take(message));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_type(message: Handle<DBusMessage>) -> c_int {
    let message = given!("dbus_message_get_type", message, 0);
    message.view().kind.into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_lock(message: Handle<DBusMessage>) {
    if let Some(message) = message.get() {
        message.edit(|content| content.locked = true);
    }
}
