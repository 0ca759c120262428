//! What a bus wants done.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use wire::Message;
use wire::message::SenderField;

use super::{
    CallId, DisconnectReason, LogEvent, MatchingTime, PeerId, StartId, TraceRequest, Traced,
};

/// What the bus wants done after one input, in order.
///
/// The caller owns the list and hands it in again, so that handling a message allocates nothing.
/// Bytes that the bus wrote itself, whole messages and the changed headers of others', stand in
/// one buffer; effects point into it.
#[derive(Debug, Default)]
pub struct Effects {
    list: Vec<Effect>,
    traced: Vec<Traced>,
    bytes: Vec<u8>,
}

impl Effects {
    /// An empty list.
    pub const fn new() -> Self {
        Self { list: Vec::new(), traced: Vec::new(), bytes: Vec::new() }
    }

    /// Forgets all effects and keeps the memory, as far as most inputs need it.
    pub fn clear(&mut self) {
        self.list.clear();
        self.traced.clear();
        self.bytes.clear();
        if self.bytes.capacity() > BYTES_KEPT_MAX {
            self.bytes = Vec::new();
        }
    }

    /// The effects, in the order in which they must be carried out.
    pub fn list(&self) -> &[Effect] {
        &self.list
    }

    /// What is to be written down, messages in the order in which they were routed.
    pub fn traced(&self) -> &[Traced] {
        &self.traced
    }

    /// The bytes that `span` points to.
    #[inline]
    pub fn bytes(&self, span: Span) -> &[u8] {
        &self.bytes[span.range()]
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.traced.is_empty()
    }

    /// How many bytes of messages were written into the memory of these effects: headers that are
    /// passed on, and messages of the bus itself.
    pub const fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, effect: Effect) {
        self.list.push(effect);
    }

    pub(crate) fn extend(&mut self, effects: impl IntoIterator<Item = Effect>) {
        self.list.extend(effects);
    }

    pub(crate) fn trace(&mut self, traced: Traced) {
        self.traced.push(traced);
    }

    /// Notes of the traced message with this head when its listeners were searched. It is one of the
    /// last.
    #[cold]
    pub(crate) fn note_matching(&mut self, head: Span, matching: MatchingTime) {
        for traced in self.traced.iter_mut().rev() {
            match traced {
                Traced::Message(message) if message.head == head => {
                    message.matching = Some(matching);
                }
                _ => break,
            }
        }
    }

    /// Events are rare, and would make every effect larger.
    pub(crate) fn log(&mut self, event: LogEvent) {
        self.list.push(Effect::Log(event.into()));
    }

    /// Writes the header of `message` as `sender` sends it.
    #[inline]
    pub(crate) fn stamp(&mut self, message: &Message<'_>, sender: &SenderField) -> Span {
        let start = self.bytes.len();
        message.stamp(sender, &mut self.bytes);
        Span { start, end: self.bytes.len() }
    }

    /// Writes the whole of `message` as `sender` sends it.
    pub(crate) fn stamp_whole(&mut self, message: &Message<'_>, sender: &SenderField) -> Span {
        let Span { start, .. } = self.stamp(message, sender);
        self.bytes.extend_from_slice(message.body());
        Span { start, end: self.bytes.len() }
    }

    /// Appends what `write` writes.
    pub(crate) fn written<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Span, E> {
        let start = self.bytes.len();
        write(&mut self.bytes)?;
        Ok(Span { start, end: self.bytes.len() })
    }
}

/// Bytes of memory that are kept from input to input. Only long replies of the bus and messages that
/// have waited for their recipient need more.
const BYTES_KEPT_MAX: usize = 1 << 20;

/// A part of the bytes that the effects own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// Bytes in it.
    #[inline]
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Where it begins, by which messages are told apart.
    pub const fn start(self) -> usize {
        self.start
    }

    /// Whether it is empty.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    #[inline]
    pub(crate) const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// One thing to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Put a message at the end of a connection's queue.
    Send(Delivery),
    /// Take no more messages from a connection, write what its queue holds, as far as that goes
    /// without waiting, and end it. [`Input::Disconnected`](crate::Input::Disconnected) follows.
    Disconnect {
        /// The connection.
        peer: PeerId,
        /// Why.
        reason: DisconnectReason,
    },
    /// Read the configuration again and report by
    /// [`Input::Reconfigured`](crate::Input::Reconfigured).
    Reload {
        /// The connection whose call of ReloadConfig causes this.
        caller: PeerId,
    },
    /// Read all that the kernel knows of the process of a connection, and report it by
    /// [`Input::DetailsRead`](crate::Input::DetailsRead).
    ReadDetails {
        /// The connection.
        peer: PeerId,
        /// The call that asks for it.
        call: CallId,
    },
    /// Create or hand out the ring of a trace, and report it by
    /// [`Input::RingOpened`](crate::Input::RingOpened).
    OpenRing {
        /// The call that asks for it.
        call: CallId,
        /// The ring that is wanted.
        request: Box<TraceRequest>,
    },
    /// The trace of a connection is over.
    CloseRing {
        /// The connection.
        peer: PeerId,
    },
    /// Start a service, and report by [`Input::StartFailed`](crate::Input::StartFailed) if that goes
    /// wrong.
    Start {
        /// What to call this start.
        start: StartId,
        /// The service.
        name: Box<str>,
    },
    /// End what was started, as far as it still runs: the service has not come in time.
    Abandon {
        /// Which start.
        start: StartId,
    },
    /// Keep the descriptors that came with the message that is being handled. This effect comes before the
    /// `Start` for the message, since a start that fails at once releases them.
    HoldFds(HeldFds),
    /// Close the descriptors that were kept, as far as no message that is queued needs them.
    ReleaseFds(HeldFds),
    /// Tell the administrator.
    Log(Box<LogEvent>),
}

/// Descriptors that wait with their message. None are called as others were before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HeldFds(u32);

impl HeldFds {
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }
}

/// A message for one connection: a head, then a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Whose queue.
    pub to: PeerId,
    /// The header, or the whole of a message that the bus wrote.
    pub head: Span,
    /// What comes behind.
    pub body: Body,
    /// Descriptors that go with the message.
    pub fds: Fds,
    /// Whether somebody waits for it.
    pub urgency: Urgency,
}

/// The body of a message that is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// The head is everything.
    InHead,
    /// The body of the message that is being handled.
    OfInput,
}

/// The descriptors of a message that is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fds {
    /// None.
    None,
    /// Those that came with the message that is being handled.
    OfInput,
    /// The one that the daemon holds of this connection's process.
    OfProcess(PeerId),
    /// The one of the ring that was just opened.
    OfRing,
    /// Those of the flight recorder: its ring, and that of its participants.
    OfRecorder,
    /// Those that were kept under this name.
    Held(HeldFds),
}

/// In which order queues are written: first those with a message that somebody waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Urgency {
    /// A call, a reply, or what the bus says to one connection: somebody may be blocked.
    Awaited,
    /// A signal of a connection, or a copy for a monitor.
    Passing,
}
