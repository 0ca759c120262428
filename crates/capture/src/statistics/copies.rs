//! How often messages are copied and validated on their way.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::model::{Capture, Message};
use crate::recipients::{Recipients, is_broadcast};
use crate::record::{BusId, Fact, Totals};
use crate::text::units::counted;

/// How often messages were copied and validated on their way from sender to recipients.
///
/// A program that uses libdbus, and dbus-daemon, copy each message 4+2r times and validate it 1+2r
/// times, if it has r recipients: this is the [model](Self::model). What a bus of ours did is
/// [measured](Self::measured) by the bus.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Copies {
    /// Messages whose recipients are known.
    messages: u64,
    /// Their recipients.
    deliveries: u64,
    /// Messages whose recipients are not known.
    unknown: u64,
    /// By the model.
    model: Option<Model>,
    /// By what all buses of the recording counted while it was made.
    measured: Option<Measured>,
}

/// Copies and validations by the model of libdbus.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Model {
    /// Copies of each message.
    pub copies_per_message: f64,
    /// Copies of all messages, for each delivery; `None` without deliveries.
    pub copies_per_delivery: Option<f64>,
    /// Validations of each message.
    pub validations_per_message: f64,
    /// Validations of all messages, for each delivery; `None` without deliveries.
    pub validations_per_delivery: Option<f64>,
}

/// Copies and validations as buses of ours counted them, on the whole bus, while the recording was made.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Measured {
    /// What the buses counted.
    #[serde(flatten)]
    pub totals: Totals,
    /// Bytes of messages that the buses themselves sent, which they do not receive.
    pub own_bytes: u64,
    /// How often the bytes of a message were copied: once when the sender put the message together,
    /// twice by the kernel on the way to the bus and for each recipient, and within the bus.
    pub copies_per_message: f64,
    /// The same for each byte that was delivered; `None` without deliveries.
    pub copies_per_delivery: Option<f64>,
    /// How often the bus validated a message.
    pub validations_per_message: f64,
}

impl Copies {
    /// The copies of the messages that are selected.
    pub fn of<'c>(capture: &'c Capture, mut selects: impl FnMut(&Message<'c>) -> bool) -> Self {
        let mut recipients = Recipients::find(capture).ok();
        let (mut messages, mut deliveries, mut unknown) = (0, 0, 0);
        for message in capture.messages().filter(|message| selects(message)) {
            match count(&message, recipients.as_mut()) {
                Some(count) => {
                    messages += 1;
                    deliveries += count;
                }
                None => unknown += 1,
            }
        }
        let model = Model::of(messages, deliveries);
        Self { messages, deliveries, unknown, model, measured: Measured::of(capture) }
    }

    /// By the model; `None` if the recipients of no message are known.
    pub const fn model(&self) -> Option<Model> {
        self.model
    }

    /// As the buses counted; `None` unless all buses of the recording are ours and were asked at its
    /// start and at its end.
    pub const fn measured(&self) -> Option<Measured> {
        self.measured
    }
}

/// The recipients of a message, as far as they are known.
fn count(message: &Message<'_>, recipients: Option<&mut Recipients>) -> Option<u64> {
    if let Some(copies) = message.deliveries() {
        return Some(copies.len() as u64);
    }
    if is_broadcast(message) {
        return recipients?.of(message).ok().flatten();
    }
    let is_for_bus = message.destination_id() == message.capture().driver();
    Some(u64::from(message.to().is_some() && !is_for_bus))
}

impl Model {
    fn of(messages: u64, deliveries: u64) -> Option<Self> {
        let (copies, validations) = (4 * messages + 2 * deliveries, messages + 2 * deliveries);
        let per = |count: u64, of: u64| (of > 0).then(|| count as f64 / of as f64);
        Some(Self {
            copies_per_message: per(copies, messages)?,
            copies_per_delivery: per(copies, deliveries),
            validations_per_message: per(validations, messages)?,
            validations_per_delivery: per(validations, deliveries),
        })
    }
}

impl Measured {
    fn of(capture: &Capture) -> Option<Self> {
        if capture.buses().iter().any(|bus| !bus.filters.is_empty()) {
            return None;
        }
        let mut counted: BTreeMap<BusId, Vec<&Totals>> = BTreeMap::new();
        for (_, bus, fact) in capture.facts() {
            if let Fact::Totals(totals) = fact {
                counted.entry(*bus).or_default().push(totals);
            }
        }
        let mut all = Totals::default();
        for number in 0..capture.buses().len() {
            match counted.get(&BusId(u16::try_from(number).ok()?))?.as_slice() {
                [first, .., last] => all.add(&last.since(first)?),
                _ => return None,
            }
        }
        let driver = capture.driver();
        let of_bus = capture.messages().filter(|message| message.sender_id() == driver);
        let own_bytes = of_bus.map(|message| u64::from(message.len())).sum();
        let marshalled = all.bytes + own_bytes;
        let copied = marshalled + 2 * (all.bytes + all.written_bytes) + all.copied_bytes;
        let per = |of: u64| (of > 0).then(|| copied as f64 / of as f64);
        Some(Self {
            own_bytes,
            copies_per_message: per(marshalled)?,
            copies_per_delivery: per(all.written_bytes),
            validations_per_message: all.validated_messages as f64 / all.messages as f64,
            totals: all,
        })
    }
}

/// A line for people; empty if nothing is known.
impl fmt::Display for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model =
            self.model.map(|model| (model.copies_per_message, model.validations_per_message));
        match (self.measured, model) {
            (Some(measured), _) => {
                write!(
                    f,
                    "copies of each message: {:.1}; validations by the bus: {:.1} (counted by the bus",
                    measured.copies_per_message, measured.validations_per_message
                )?;
                if let Some((copies, validations)) = model {
                    write!(f, "; model of libdbus: {copies:.1} and {validations:.1}")?;
                }
            }
            (None, Some((copies, validations))) => write!(
                f,
                "copies of each message: {copies:.1}; validations: {validations:.1} (model of libdbus: \
                 4+2r and 1+2r for r recipients"
            )?,
            (None, None) => return Ok(()),
        }
        if model.is_some() && self.unknown > 0 {
            let unknown = counted(self.unknown, "message", "messages");
            write!(f, "; without {unknown} whose recipients are unknown")?;
        }
        f.write_str(")")
    }
}
