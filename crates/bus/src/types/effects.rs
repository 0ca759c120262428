//! Effects: the actions that the bus requests from the daemon.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use serde::{Deserialize, Serialize};
use wire::Message;
use wire::message::{Flags, SenderField, append_with_path_field};
use wire::names::ObjectPath;

use super::{
    CallId, ContainerDescriptors, ContainerId, DisconnectReason, LaneEnds, LaneId, LaneRequest,
    LogEvent, MatchingTime, PeerId, StartId, TraceRequest, Traced,
};

/// The effects of one input, in order.
///
/// The daemon owns the list and reuses it, so that handling a message does not allocate. One buffer
/// holds the bytes that the bus wrote: its own messages, and the changed headers of messages of
/// peers. Effects refer to this buffer.
#[derive(Debug, Default)]
pub struct Effects {
    list: Vec<Effect>,
    traced: Vec<Traced>,
    bytes: Vec<u8>,
    /// Boxed because labels are rare, and an empty list would have to be dropped for each message.
    labels: Option<Box<HeadLabels>>,
}

/// All copies of heads with labels.
#[derive(Debug, Default)]
struct HeadLabels(Vec<LabeledHead>);

/// A copy of a head with a label, for recipients that have called RequestHeader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LabeledHead {
    original: Span,
    labeled: Span,
}

impl Effects {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self { list: Vec::new(), traced: Vec::new(), bytes: Vec::new(), labels: None }
    }

    /// Removes all effects and keeps the memory that most inputs need.
    pub fn clear(&mut self) {
        self.list.clear();
        self.traced.clear();
        self.bytes.clear();
        self.labels = None;
        if self.bytes.capacity() > BYTES_KEPT_MAX {
            self.bytes = Vec::new();
        }
    }

    /// The effects, in the order in which the daemon must apply them.
    pub fn list(&self) -> &[Effect] {
        &self.list
    }

    /// The records for traces, in the order in which the messages were routed.
    pub fn traced(&self) -> &[Traced] {
        &self.traced
    }

    /// The bytes that `span` refers to.
    #[inline]
    pub fn bytes(&self, span: Span) -> &[u8] {
        &self.bytes[span.range()]
    }

    /// Adds flags to a message whose header is `head`.
    pub(crate) fn add_flags(&mut self, head: Span, flags: Flags) {
        self.bytes[head.start + FLAGS_AT] |= flags.bits();
    }

    /// The head of a message as it was routed, of which `head` may be a copy with a label.
    #[inline]
    pub fn unlabeled(&self, head: Span) -> Span {
        match &self.labels {
            None => head,
            Some(labels) => labels.original_of(head).unwrap_or(head),
        }
    }

    /// True if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.traced.is_empty()
    }

    /// Bytes of messages in the buffer: headers of forwarded messages, and messages of the bus
    /// itself.
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

    /// Sets the search time of the traced message with this head. The message is one of the last.
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

    /// Replaces the heads of the messages to send. `new_head` gets the recipient and the head.
    pub(crate) fn map_heads(&mut self, mut new_head: impl FnMut(&mut Self, PeerId, Span) -> Span) {
        let mut list = mem::take(&mut self.list);
        for effect in &mut list {
            if let Effect::Send(Delivery { to, head, .. }) = effect {
                *head = new_head(self, *to, *head);
            }
        }
        self.list = list;
    }

    /// True if a head is a copy with a label.
    pub(crate) fn is_labeled(&self, head: Span) -> bool {
        self.labels.as_ref().is_some_and(|labels| labels.original_of(head).is_some())
    }

    /// The copy of a head with a label, if there is one.
    pub(crate) fn label_of(&self, head: Span) -> Option<Span> {
        let copies = self.labels.iter().flat_map(|labels| &labels.0);
        copies.into_iter().find(|copy| copy.original == head).map(|copy| copy.labeled)
    }

    /// Makes a copy of a head with a label: the object path of the container of its sender.
    pub(crate) fn label(&mut self, head: Span, container: ObjectPath<'_>) -> Span {
        let (start, original) = (self.bytes.len(), self.bytes(head).to_vec());
        append_with_path_field(&original, CONTAINER_INSTANCE, container, &mut self.bytes);
        let labeled = Span { start, end: self.bytes.len() };
        let labels = self.labels.get_or_insert_default();
        labels.0.push(LabeledHead { original: head, labeled });
        labeled
    }

    /// Log events are boxed because they are rare and would make every effect larger.
    pub(crate) fn log(&mut self, event: LogEvent) {
        self.list.push(Effect::Log(event.into()));
    }

    /// Writes the header of `message` with the name of its sender.
    #[inline]
    pub(crate) fn stamp(&mut self, message: &Message<'_>, sender: &SenderField) -> Span {
        let start = self.bytes.len();
        message.stamp(sender, &mut self.bytes);
        Span { start, end: self.bytes.len() }
    }

    /// Writes the whole `message` with the name of its sender.
    pub(crate) fn stamp_whole(&mut self, message: &Message<'_>, sender: &SenderField) -> Span {
        let Span { start, .. } = self.stamp(message, sender);
        self.bytes.extend_from_slice(message.body());
        Span { start, end: self.bytes.len() }
    }

    /// Appends the bytes that `write` writes.
    pub(crate) fn written<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Span, E> {
        let start = self.bytes.len();
        write(&mut self.bytes)?;
        Ok(Span { start, end: self.bytes.len() })
    }
}

/// Bytes of memory that are kept between inputs. Only long replies of the bus, and messages that
/// were held for their recipient, need more.
const BYTES_KEPT_MAX: usize = 1 << 20;

/// The header field with the container of the sender, which dbus-daemon defines and the
/// specification does not.
const CONTAINER_INSTANCE: u8 = 10;

/// The offset of the flags in a header.
const FLAGS_AT: usize = 2;

/// A part of the buffer of the effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// Length of the part in bytes.
    #[inline]
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Offset of the part in the buffer. It identifies a message.
    pub const fn start(self) -> usize {
        self.start
    }

    /// True if the part is empty.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    #[inline]
    pub(crate) const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl HeadLabels {
    /// The head of which this head is a copy with a label.
    fn original_of(&self, labeled: Span) -> Option<Span> {
        self.0.iter().find(|copy| copy.labeled == labeled).map(|copy| copy.original)
    }
}

/// One action for the daemon.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Append a message to the queue of a connection.
    Send(Delivery),
    /// Stop reading from a connection, write its queue as far as that is possible without blocking,
    /// and close it. [`Input::Disconnected`](crate::Input::Disconnected) follows.
    Disconnect {
        /// The connection to close.
        peer: PeerId,
        /// The reason for the log.
        reason: DisconnectReason,
    },
    /// Read the configuration again and report the result with
    /// [`Input::Reconfigured`](crate::Input::Reconfigured).
    Reload {
        /// The connection whose call of ReloadConfig causes this.
        caller: PeerId,
    },
    /// Replace the daemon by the installed program, which continues the bus in the same process, and
    /// report the result with [`Input::Replaced`](crate::Input::Replaced). Several of these effects
    /// may ask for the same replacement.
    Replace {
        /// The connection whose call of Reexecute causes this.
        caller: PeerId,
    },
    /// Read all facts that the kernel reports about the process of a connection, and report them
    /// with [`Input::DetailsRead`](crate::Input::DetailsRead).
    ReadDetails {
        /// The connection that the call names.
        subject: PeerId,
        /// The connection whose process is described.
        peer: PeerId,
        /// The call that asks for the facts.
        call: CallId,
    },
    /// Create the ring of a trace, or open the ring of the flight recorder, and report it with
    /// [`Input::RingOpened`](crate::Input::RingOpened).
    OpenRing {
        /// The call that asks for the ring.
        call: CallId,
        /// The requested kind of ring.
        request: Box<TraceRequest>,
    },
    /// Close the ring of a trace that has ended.
    CloseRing {
        /// The connection whose trace has ended.
        peer: PeerId,
    },
    /// Listen on a socket for a container, and report the result with
    /// [`Input::ContainerOpened`](crate::Input::ContainerOpened).
    OpenContainer {
        /// The container that is being created.
        container: ContainerId,
        /// The connection that creates it.
        creator: PeerId,
        /// The call to answer, if its sender expects a reply.
        call: Option<CallId>,
        /// Descriptors of the message that is being handled.
        descriptors: Box<ContainerDescriptors>,
    },
    /// Close the socket of a container and remove its file.
    CloseContainer {
        /// The container that no longer accepts connections.
        container: ContainerId,
    },
    /// Close what else belongs to a container, which has neither a socket nor connections any more.
    RemoveContainer {
        /// The container that was removed.
        container: ContainerId,
    },
    /// Create the sockets of a lane and the counters of its ends, and report the result with
    /// [`Input::LaneOpened`](crate::Input::LaneOpened).
    OpenLane {
        /// The lane, which is new.
        lane: LaneId,
        /// The connections that get its ends.
        ends: LaneEnds,
        /// The call to answer.
        request: LaneRequest,
    },
    /// Shut down the sockets of a lane, so that nothing more can be sent on it.
    CloseLane {
        /// The lane that has ended.
        lane: LaneId,
    },
    /// Tell the partners of a connection that its names have changed.
    NoteNameChanges {
        /// The connection whose names have changed.
        peer: PeerId,
        /// How often they have changed.
        count: u64,
    },
    /// Start a service, and report a failure with
    /// [`Input::StartFailed`](crate::Input::StartFailed).
    Start {
        /// The id of this start.
        start: StartId,
        /// The well-known name of the service.
        name: Box<str>,
    },
    /// Terminate the service process if it still runs, because the start has timed out.
    Abandon {
        /// The id of the start.
        start: StartId,
    },
    /// Hold the descriptors of the message that is being handled. This effect precedes the `Start`
    /// for the message, because a start that fails immediately releases them.
    HoldFds(HeldFds),
    /// Close the descriptors that were held, unless a queued message needs them.
    ReleaseFds(HeldFds),
    /// Write a log record for the administrator.
    Log(Box<LogEvent>),
}

/// The id of descriptors that are held with their message. Ids are never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct HeldFds(u32);

impl HeldFds {
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }
}

/// A message for one connection: a head, then a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The connection whose queue gets the message.
    pub to: PeerId,
    /// The header, or the whole of a message that the bus wrote.
    pub head: Span,
    /// The body that follows the head.
    pub body: Body,
    /// Descriptors that are sent with the message.
    pub fds: Fds,
    /// Whether a peer may be blocked until it gets the message.
    pub urgency: Urgency,
}

/// The body of a message that is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// The head contains the whole message.
    InHead,
    /// The body of the message that is being handled.
    OfInput,
}

/// The descriptors of a message that is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fds {
    /// The message does not have descriptors.
    None,
    /// The descriptors of the message that is being handled.
    OfInput,
    /// The descriptor of this connection's process, which the daemon holds.
    OfProcess(PeerId),
    /// The descriptor of the ring that was just opened.
    OfRing,
    /// The descriptors of the flight recorder: its ring, and the ring of its participants.
    OfRecorder,
    /// The descriptors for the recipient, which is an end of this lane: its socket, the counters of
    /// the recipient, and the counters of its partner.
    OfLane(LaneId),
    /// The descriptors that are held with this id.
    Held(HeldFds),
}

/// The order in which queues are written: queues with an awaited message are written first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Urgency {
    /// A call, a reply, or a message of the bus to one connection: a peer may be blocked.
    Awaited,
    /// A signal of a connection, or a copy for a monitor.
    Passing,
}
