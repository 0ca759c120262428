//! All there is to know of a message.

use std::time::Duration;

use capture::Capture;
use capture::model::{Health, Message, PeerId};
use capture::record::nanos;
use capture::show::Command;
use capture::timeline::{BusPhase, BusTime, Phase, Processors, Way};
use serde_json::{Value as Json, json};
use wire::body::Value;
use wire::message::{Flags, Message as WireMessage};

use super::value::Values;
use crate::question::Refusal;
use crate::selection::start;

/// Everything about the message in this place.
pub(crate) fn message(capture: &Capture, id: u32) -> Result<Json, Refusal> {
    let found = capture.messages_from(id as usize).next().ok_or(Refusal::NoMessage(id))?;
    let mut buffer = Vec::new();
    Ok(json!({
        "id": id,
        "kind": found.kind().to_string(),
        "serial": found.serial(),
        "reply_serial": found.reply_serial(),
        "flags": flags(found.flags()),
        "at": { "wall_ns": found.at().0.to_string(), "since_start_ns": found.at().0 - start(capture).0 },
        "bus": capture.bus_label(found.bus()),
        "sender": party(&found, found.sender(), found.from()),
        "destination": party(&found, found.destination(), found.to()),
        "path": found.path(),
        "interface": found.interface(),
        "member": found.member(),
        "signature": found.signature(),
        "size": found.len(),
        "kept": found.kept(),
        "unix_fds": found.unix_fds(),
        "problem": problem(&found),
        "arguments": arguments(&found, &mut buffer)?,
        "partner": found.partner().map(|partner| partner.id().index()),
        "duration_ns": found.duration().map(nanos),
        "phases": phases(&found),
        "in_bus": in_bus(&found),
        "deliveries": deliveries(&found),
        "commands": commands(&found, &mut buffer),
    }))
}

/// A name as it stands in the message, and the place of the connection that it stood for.
fn party(message: &Message<'_>, name: &str, peer: Option<PeerId>) -> Json {
    let label = peer.map(|peer| message.capture().label(peer));
    json!({"name": name, "peer": peer.map(PeerId::index), "label": label})
}

fn flags(flags: Flags) -> Vec<&'static str> {
    let known = [
        (Flags::NO_REPLY_EXPECTED, "no reply expected"),
        (Flags::NO_AUTO_START, "no auto start"),
        (Flags::ALLOW_INTERACTIVE_AUTHORIZATION, "allow interactive authorization"),
    ];
    known.iter().filter(|(flag, _)| flags.contains(*flag)).map(|&(_, words)| words).collect()
}

/// Why what it says is not known, or not to be believed.
fn problem(message: &Message<'_>) -> Option<String> {
    let rule = || {
        let broken = message.capture().invalid().iter().find(|(id, _)| *id == message.id());
        broken.map_or_else(String::new, |(_, rule)| format!(": {rule}"))
    };
    match message.health() {
        Health::Whole => None,
        Health::BodyRedacted => Some("What it says was crossed out.".into()),
        Health::BodyCut | Health::HeaderCut => {
            Some(format!("Only {} of its {} bytes were kept.", message.kept(), message.len()))
        }
        Health::BodyInvalid => Some(format!("Its body is not valid{}.", rule())),
        Health::HeaderInvalid => Some(format!("Its header is not valid{}.", rule())),
    }
}

/// Its arguments with their names, if they are known; none if they cannot be read.
fn arguments(message: &Message<'_>, buffer: &mut Vec<u8>) -> Result<Vec<Json>, Refusal> {
    let names = message.argument_names().map(Iterator::collect::<Vec<_>>).unwrap_or_default();
    let mut names = names.into_iter().chain(std::iter::repeat(None));
    let mut values = Values::new();
    let told = read(message, buffer)?.into_iter().map(|value| {
        let mut told = values.tell(&value);
        if let Some(name) = names.next().flatten() {
            told["name"] = name.into();
        }
        told
    });
    Ok(told.collect())
}

fn read(message: &Message<'_>, buffer: &mut Vec<u8>) -> Result<Vec<Value>, Refusal> {
    if !matches!(message.health(), Health::Whole | Health::BodyRedacted) {
        return Ok(Vec::new());
    }
    message.capture().read_bytes(message.id(), buffer)?;
    let whole = WireMessage::parse(buffer).ok();
    Ok(whole.and_then(|whole| Value::read_args(&whole).ok()).unwrap_or_default())
}

/// The way of the call through the bus and back, if the bus has recorded it.
fn phases(message: &Message<'_>) -> Option<Vec<Json>> {
    let way = Way::of(&message.call()?, &Processors::of(message.capture()))?;
    let phase = |phase: Phase| json!({"phase": phase.as_str(), "ns": nanos(way.time(phase))});
    let passed = |phase: &Phase| !phase.is_rare() || !way.time(*phase).is_zero();
    Some(Phase::ALL.into_iter().filter(passed).map(phase).collect())
}

/// In which phases the bus had the message, if it has recorded that: the phases add up to `total_ns`, which
/// is null if not all copies were written. `routed_after_ns` is when the copies were queued.
fn in_bus(message: &Message<'_>) -> Option<Json> {
    let time = BusTime::of(message)?;
    let phase =
        |(phase, time): (BusPhase, Duration)| json!({"phase": phase.as_str(), "ns": nanos(time)});
    Some(json!({
        "phases": time.phases().map(phase).collect::<Vec<_>>(),
        "routed_after_ns": nanos(time.routed()),
        "total_ns": time.total().map(nanos),
    }))
}

/// Who got a copy, when its first and its last bytes had left, if the bus has recorded it.
fn deliveries(message: &Message<'_>) -> Option<Vec<Json>> {
    let copies = message.copies()?.map(|copy| {
        json!({
            "recipient": format!(":1.{}", copy.recipient),
            "begun_after_ns": copy.begun_after.map(nanos),
            "written_after_ns": copy.written_after.map(nanos),
            "rules": copy.rules,
        })
    });
    Some(copies.collect())
}

/// What sends the like of it, in the words of several programs; of each the text, or why there is none.
fn commands(message: &Message<'_>, buffer: &mut Vec<u8>) -> Vec<Json> {
    let told = COMMANDS.iter().map(|&(command, name)| match command.of(message, buffer) {
        Ok(text) => json!({"name": name, "text": text}),
        Err(why) => json!({"name": name, "why": why.to_string()}),
    });
    told.collect()
}

const COMMANDS: [(Command, &str); 5] = [
    (Command::Busctl, "busctl"),
    (Command::Gdbus, "gdbus"),
    (Command::DbusSend, "dbus-send"),
    (Command::Python, "Python"),
    (Command::MatchRule, "match rule"),
];
