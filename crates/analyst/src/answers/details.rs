//! Everything that is known about one message.

use std::time::Duration;

use capture::Capture;
use capture::model::{CapturedMessage, Health, MessageBuffer, RecordedPeerId};
use capture::record::nanos;
use capture::show::SendCommand;
use capture::timeline::{BusPhase, BusTime, CallPhase, CallTimes, ProcessorRecord};
use serde::Serialize;
use wire::body::Value;
use wire::message::{Flags, Message as WireMessage};

use super::value::{ValueNode, ValueTreeBuilder};
use crate::question::QuestionRefusal;
use crate::selection::start;
use crate::value_type::TypeTable;

/// Everything that is known about one message. Absent texts are empty.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageDetails {
    /// The row of the message.
    pub id: u32,
    /// The type of the message, in words.
    pub kind: String,
    /// The serial number of the message.
    pub serial: u32,
    /// The serial number of the call that it replies to; 0 if it is not a reply.
    pub reply_serial: u32,
    /// The flags of the message, in words.
    pub flags: Vec<&'static str>,
    /// The time when the message was captured.
    pub at: MessageTime,
    /// The bus of the message.
    pub bus: String,
    /// The sender of the message.
    pub sender: NamedPeer,
    /// The destination of the message.
    pub destination: NamedPeer,
    /// The path of the object.
    pub path: String,
    /// The interface of the member.
    pub interface: String,
    /// The method or the signal; for an error, the name of the error.
    pub member: String,
    /// The types of the arguments, as a signature.
    pub signature: String,
    /// The size on the wire, in bytes.
    pub size: u32,
    /// The number of bytes that the recording contains.
    pub kept: u32,
    /// The number of file descriptors that the message carried.
    pub unix_fds: u8,
    /// The reason why the content is unknown or unreliable.
    pub problem: Option<String>,
    /// The arguments; empty if they cannot be decoded.
    pub arguments: Vec<ValueNode>,
    /// All types in the arguments.
    pub types: TypeTable,
    /// The row of the reply to this call, or of the call that this message replies to.
    pub partner: Option<usize>,
    /// Nanoseconds from the call to the reply.
    pub duration_ns: Option<u64>,
    /// The phases of the call and its reply, if the bus recorded them.
    pub phases: Option<Vec<PhaseTime>>,
    /// The phases of the message inside the bus, if the bus recorded them.
    pub in_bus: Option<InBus>,
    /// The copies of the message, if the bus recorded them.
    pub deliveries: Option<Vec<CopyEntry>>,
    /// Commands that send a message like this one.
    pub commands: Vec<CommandText>,
}

/// The time when a message was captured.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageTime {
    /// Nanoseconds since 1970, as digits.
    pub wall_ns: String,
    /// Nanoseconds since the first message of the recording.
    pub since_start_ns: i64,
}

/// A name in a message, and the connection that had it at that time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedPeer {
    /// The name as it appears in the message.
    pub name: String,
    /// The index of the connection.
    pub peer: Option<usize>,
    /// The label of the connection on the page.
    pub label: Option<String>,
}

/// The duration of one phase.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseTime {
    /// The phase, in words.
    pub phase: &'static str,
    /// The duration in nanoseconds.
    pub ns: u64,
}

/// The time that a message spent inside the bus.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InBus {
    /// The phases; their durations add up to `total_ns`.
    pub phases: Vec<PhaseTime>,
    /// Nanoseconds until all copies were queued.
    pub routed_after_ns: u64,
    /// Nanoseconds until the last copy was written; `None` if a copy was not written.
    pub total_ns: Option<u64>,
}

/// A copy of a message for one recipient.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopyEntry {
    /// The unique name of the recipient.
    pub recipient: String,
    /// Nanoseconds until the first bytes of the copy were written.
    pub begun_after_ns: Option<u64>,
    /// Nanoseconds until all bytes of the copy were written.
    pub written_after_ns: Option<u64>,
    /// The number of match rules of the recipient that match; 0 if the message is addressed to it.
    pub rules: u32,
}

/// A command that sends a message like another one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CommandText {
    /// A command that sends the message.
    Text {
        /// The program of the command.
        name: &'static str,
        /// The text of the command.
        text: String,
    },
    /// The program cannot send the message.
    Why {
        /// The program of the command.
        name: &'static str,
        /// The reason, in words.
        why: String,
    },
}

/// Returns everything that is known about the message in this row.
pub(crate) fn message(capture: &Capture, id: u32) -> Result<MessageDetails, QuestionRefusal> {
    let found = capture.messages_from(id as usize).next().ok_or(QuestionRefusal::NoMessage(id))?;
    let mut buffer = MessageBuffer::default();
    let values = read(&found, &mut buffer)?;
    let mut types = TypeTable::default();
    values.iter().for_each(|value| types.add_value(value));
    Ok(MessageDetails {
        id,
        kind: found.kind().to_string(),
        serial: found.serial(),
        reply_serial: found.reply_serial(),
        flags: flags(found.flags()),
        at: MessageTime {
            wall_ns: found.at().0.to_string(),
            since_start_ns: found.at().0 - start(capture).0,
        },
        bus: capture.bus_label(found.bus()).into(),
        sender: named_peer(&found, found.sender(), found.from()),
        destination: named_peer(&found, found.destination(), found.to()),
        path: found.path().to_owned(),
        interface: found.interface().to_owned(),
        member: found.member().to_owned(),
        signature: found.signature().to_owned(),
        size: found.len(),
        kept: found.kept(),
        unix_fds: found.unix_fds(),
        problem: problem(&found),
        arguments: arguments(&found, &values),
        types,
        partner: found.partner().map(|partner| partner.id().index()),
        duration_ns: found.duration().map(nanos),
        phases: phases(&found),
        in_bus: in_bus(&found),
        deliveries: copies(&found),
        commands: commands(&found, &mut buffer),
    })
}

fn named_peer(
    message: &CapturedMessage<'_>,
    name: &str,
    peer: Option<RecordedPeerId>,
) -> NamedPeer {
    let label = peer.map(|peer| message.capture().label(peer).into());
    NamedPeer { name: name.to_owned(), peer: peer.map(RecordedPeerId::index), label }
}

fn flags(flags: Flags) -> Vec<&'static str> {
    let known = [
        (Flags::NO_REPLY_EXPECTED, "no reply expected"),
        (Flags::NO_AUTO_START, "no auto start"),
        (Flags::ALLOW_INTERACTIVE_AUTHORIZATION, "allow interactive authorization"),
    ];
    known.iter().filter(|(flag, _)| flags.contains(*flag)).map(|&(_, words)| words).collect()
}

/// The reason why the content is unknown or unreliable.
fn problem(message: &CapturedMessage<'_>) -> Option<String> {
    let rule = || {
        let broken = message.capture().invalid().iter().find(|(id, _)| *id == message.id());
        broken.map_or_else(String::new, |(_, rule)| format!(": {rule}"))
    };
    match message.health() {
        Health::Whole => None,
        Health::BodyRedacted => Some("Its body was redacted.".into()),
        Health::BodyCut | Health::HeaderCut => {
            Some(format!("Only {} of its {} bytes were kept.", message.kept(), message.len()))
        }
        Health::BodyInvalid => Some(format!("Its body is not valid{}.", rule())),
        Health::HeaderInvalid => Some(format!("Its header is not valid{}.", rule())),
    }
}

/// The arguments with their names, if known.
fn arguments(message: &CapturedMessage<'_>, values: &[Value]) -> Vec<ValueNode> {
    let names = message.argument_names().map(Iterator::collect::<Vec<_>>).unwrap_or_default();
    let mut names = names.into_iter().chain(std::iter::repeat(None));
    let mut nodes = ValueTreeBuilder::new();
    let node =
        |value| ValueNode { name: names.next().flatten().map(Into::into), ..nodes.node(value) };
    values.iter().map(node).collect()
}

/// The values of the arguments; empty if they cannot be decoded.
fn read(
    message: &CapturedMessage<'_>,
    buffer: &mut MessageBuffer,
) -> Result<Vec<Value>, QuestionRefusal> {
    if !matches!(message.health(), Health::Whole | Health::BodyRedacted) {
        return Ok(Vec::new());
    }
    let bytes = message.capture().read_bytes(message.id(), buffer)?;
    let whole = WireMessage::parse(bytes).ok();
    Ok(whole.and_then(|whole| Value::read_args(&whole).ok()).unwrap_or_default())
}

/// The phases of a call and its reply, if the bus recorded them.
fn phases(message: &CapturedMessage<'_>) -> Option<Vec<PhaseTime>> {
    let way = CallTimes::of(&message.call()?, &ProcessorRecord::of(message.capture()))?;
    let phase = |phase: CallPhase| PhaseTime { phase: phase.as_str(), ns: nanos(way.time(phase)) };
    let passed = |phase: &CallPhase| !phase.is_rare() || !way.time(*phase).is_zero();
    Some(CallPhase::ALL.into_iter().filter(passed).map(phase).collect())
}

/// The phases of a message inside the bus, if the bus recorded them.
fn in_bus(message: &CapturedMessage<'_>) -> Option<InBus> {
    let time = BusTime::of(message)?;
    let phase =
        |(phase, time): (BusPhase, Duration)| PhaseTime { phase: phase.as_str(), ns: nanos(time) };
    Some(InBus {
        phases: time.phases().map(phase).collect(),
        routed_after_ns: nanos(time.routed()),
        total_ns: time.total().map(nanos),
    })
}

/// The copies of a message, if the bus recorded them.
fn copies(message: &CapturedMessage<'_>) -> Option<Vec<CopyEntry>> {
    let copies = message.copies()?.map(|copy| CopyEntry {
        recipient: format!(":1.{}", copy.recipient),
        begun_after_ns: copy.begun_after.map(nanos),
        written_after_ns: copy.written_after.map(nanos),
        rules: copy.rules,
    });
    Some(copies.collect())
}

/// For each program, the command that sends a message like this one, or the reason why there is
/// none.
fn commands(message: &CapturedMessage<'_>, buffer: &mut MessageBuffer) -> Vec<CommandText> {
    let texts = COMMANDS.iter().map(|&(command, name)| match command.of(message, buffer) {
        Ok(text) => CommandText::Text { name, text },
        Err(why) => CommandText::Why { name, why: why.to_string() },
    });
    texts.collect()
}

const COMMANDS: [(SendCommand, &str); 5] = [
    (SendCommand::Busctl, "busctl"),
    (SendCommand::Gdbus, "gdbus"),
    (SendCommand::DbusSend, "dbus-send"),
    (SendCommand::Python, "Python"),
    (SendCommand::MatchRule, "match rule"),
];
