//! The number of times that messages are copied and validated on their way.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::model::{Capture, CapturedMessage};
use crate::query::{Query, QueryMatches};
use crate::recipients::{SignalRecipients, is_broadcast};
use crate::record::{BusId, Fact, RecordedTotals};
use crate::text::units::counted;

/// The number of times that messages were copied and validated on their way from sender to
/// recipients.
///
/// With libdbus and dbus-daemon, a message with r recipients is copied 4+2r times and validated
/// 1+2r times. A message that the bus itself sends is copied 1+2r times and validated 2r times.
/// This is the [model](Self::model). Diligence [measures](Self::measured) its own copies.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CopyStatistics {
    /// The number of messages with known recipients.
    messages: u64,
    /// The number of recipients of these messages.
    deliveries: u64,
    /// The number of messages with unknown recipients.
    unknown: u64,
    /// The numbers according to the model of libdbus.
    model: Option<Model>,
    /// The numbers that all buses counted during the recording.
    measured: Option<MeasuredCopies>,
    /// True if the counts of the buses do not apply, because only some messages are selected.
    #[serde(skip)]
    is_part_of_measured: bool,
}

/// Copies and validations according to the model of libdbus.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Model {
    /// The average number of copies of a message.
    pub copies_per_message: f64,
    /// The average number of copies for each delivery; `None` without deliveries.
    pub copies_per_delivery: Option<f64>,
    /// The average number of validations of a message.
    pub validations_per_message: f64,
    /// The average number of validations for each delivery; `None` without deliveries.
    pub validations_per_delivery: Option<f64>,
}

/// Copies and validations that Diligence counted during the recording, on the whole bus.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct MeasuredCopies {
    /// The counters of the buses.
    #[serde(flatten)]
    pub totals: RecordedTotals,
    /// The bytes of messages that the buses themselves sent, which they do not receive.
    pub own_bytes: u64,
    /// The average number of copies of a byte that was sent: one when the sender assembles the
    /// message, two in the kernel on the way to the bus and to each recipient, and those within the
    /// bus.
    pub copies_per_message: f64,
    /// The average number of copies of a byte that was delivered; `None` without deliveries.
    pub copies_per_delivery: Option<f64>,
    /// `copies_per_message` according to the model, for the same bytes.
    pub model_copies_per_message: f64,
    /// The average number of validations of a message by the bus.
    pub validations_per_message: f64,
}

impl CopyStatistics {
    /// Counts the copies of the messages that a query selects, which are `matches`. Buses count all messages together,
    /// so no measurement is available if the query selects only some.
    pub fn of(capture: &Capture, query: &Query, matches: &QueryMatches) -> Self {
        let mut recipients = SignalRecipients::find(capture).ok();
        let mut counts = Counts::default();
        let mut unknown = 0;
        for message in matches.messages(capture) {
            match count(&message, recipients.as_mut()) {
                Some(deliveries) => counts.add(&message, deliveries),
                None => unknown += 1,
            }
        }
        let measured = MeasuredCopies::of(capture);
        let is_part_of_measured = query.expression().is_some() && measured.is_some();
        Self {
            messages: counts.messages,
            deliveries: counts.deliveries,
            unknown,
            model: counts.model(),
            measured: measured.filter(|_| !is_part_of_measured),
            is_part_of_measured,
        }
    }

    /// The numbers according to the model; `None` if the recipients of no message are known.
    pub const fn model(&self) -> Option<Model> {
        self.model
    }

    /// The numbers that the buses counted; `None` unless each bus of the recording is Diligence and
    /// reported its counters at the start and at the end.
    pub const fn measured(&self) -> Option<MeasuredCopies> {
        self.measured
    }
}

/// The number of recipients of a message, if known.
fn count(message: &CapturedMessage<'_>, recipients: Option<&mut SignalRecipients>) -> Option<u64> {
    if let Some(copies) = message.deliveries() {
        return Some(copies.len() as u64);
    }
    if is_broadcast(message) {
        return recipients?.of(message).ok().flatten();
    }
    let is_for_bus = message.destination_id() == message.capture().driver();
    Some(u64::from(message.to().is_some() && !is_for_bus))
}

/// The counts that the model needs.
#[derive(Default)]
struct Counts {
    messages: u64,
    deliveries: u64,
    /// The number of messages that the bus itself sent.
    of_bus: u64,
}

impl Counts {
    fn add(&mut self, message: &CapturedMessage<'_>, deliveries: u64) {
        self.messages += 1;
        self.deliveries += deliveries;
        self.of_bus += u64::from(message.sender_id() == message.capture().driver());
    }

    /// Applies the model; `None` without messages.
    fn model(&self) -> Option<Model> {
        let received = self.messages - self.of_bus;
        let copies = MODEL_RECEIVED * received + MODEL_OF_BUS * self.of_bus + 2 * self.deliveries;
        let validations = received + 2 * self.deliveries;
        let per = |count: u64, of: u64| (of > 0).then(|| count as f64 / of as f64);
        Some(Model {
            copies_per_message: per(copies, self.messages)?,
            copies_per_delivery: per(copies, self.deliveries),
            validations_per_message: per(validations, self.messages)?,
            validations_per_delivery: per(validations, self.deliveries),
        })
    }
}

/// The copies of a message that the bus receives, without the copies for its delivery: the sender
/// assembles it and writes it to the socket, the bus reads it and parses it.
const MODEL_RECEIVED: u64 = 4;

/// The copies of a message that the bus itself sends, without the copies for its delivery: the bus
/// assembles it.
const MODEL_OF_BUS: u64 = 1;

impl MeasuredCopies {
    fn of(capture: &Capture) -> Option<Self> {
        if capture.buses().iter().any(|bus| !bus.filters.is_empty()) {
            return None;
        }
        let mut counted: BTreeMap<BusId, Vec<&RecordedTotals>> = BTreeMap::new();
        for (_, bus, fact) in capture.facts() {
            if let Fact::Totals(totals) = fact {
                counted.entry(*bus).or_default().push(totals);
            }
        }
        let mut all = RecordedTotals::default();
        for number in 0..capture.buses().len() {
            match counted.get(&BusId(u16::try_from(number).ok()?))?.as_slice() {
                [first, .., last] => all = all.plus(&last.since(first)?)?,
                _ => return None,
            }
        }
        let driver = capture.driver();
        let of_bus = capture.messages().filter(|message| message.sender_id() == driver);
        let own_bytes = of_bus.map(|message| u64::from(message.len())).sum();
        let marshalled = all.bytes + own_bytes;
        let copied = marshalled + 2 * (all.bytes + all.written_bytes) + all.copied_bytes;
        let by_model =
            MODEL_RECEIVED * all.bytes + MODEL_OF_BUS * own_bytes + 2 * all.written_bytes;
        let per = |of: u64| (of > 0).then(|| copied as f64 / of as f64);
        Some(Self {
            own_bytes,
            model_copies_per_message: by_model as f64 / marshalled.max(1) as f64,
            copies_per_message: per(marshalled)?,
            copies_per_delivery: per(all.written_bytes),
            validations_per_message: all.validated_messages as f64 / all.messages as f64,
            totals: all,
        })
    }
}

/// Prints one line; nothing if no numbers are known.
impl fmt::Display for CopyStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(measured) = self.measured {
            return write!(
                f,
                "copies of each byte: {:.1} (counted by the bus, including copies for the recorder; model of libdbus: \
                 {:.1}); validations by the bus: {:.1} of each message",
                measured.copies_per_message,
                measured.model_copies_per_message,
                measured.validations_per_message
            );
        }
        let Some(model) = self.model else { return Ok(()) };
        write!(
            f,
            "copies of each message: {:.1}; validations: {:.1} (model of libdbus: 4+2r and 1+2r for r \
             recipients",
            model.copies_per_message, model.validations_per_message
        )?;
        if self.unknown > 0 {
            let unknown = counted(self.unknown, "message", "messages");
            write!(f, "; without {unknown} whose recipients are unknown")?;
        }
        if self.is_part_of_measured {
            f.write_str("; the bus counted all messages together: see `stats` without a query")?;
        }
        f.write_str(")")
    }
}
