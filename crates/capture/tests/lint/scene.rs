//! A bus with a client, a service and somebody else, on which cases play.

use std::collections::BTreeMap;

use capture::record::{CaptureMethod, RecordedBus};
use testkit::recording::{DRIVER, RecordedCall, TestRecording};
use wire::body::{EncodeArgs, Value};

/// What must raise a rule, and what must not although it comes near.
pub(crate) struct LintCase {
    pub(crate) rule: u8,
    pub(crate) name: &'static str,
    pub(crate) raises: fn(&mut TestRecording),
    pub(crate) misses: fn(&mut TestRecording),
}

impl LintCase {
    pub(crate) fn recording(&self, play: fn(&mut TestRecording)) -> TestRecording {
        let mut recording = scene();
        play(&mut recording);
        recording
    }
}

/// A program that calls.
pub(crate) const CLIENT: &str = ":1.1";
/// A program that owns [`MAIL`].
pub(crate) const SERVICE: &str = ":1.2";
/// Another program.
pub(crate) const OTHER: &str = ":1.3";
/// The name of the service.
pub(crate) const MAIL: &str = "org.example.Mail";
/// Its object.
pub(crate) const BOX: &str = "/org/example/Mail";
/// Its interface.
pub(crate) const IFACE: &str = "org.example.Mail1";

/// A bus on which everybody is known.
pub(crate) fn scene() -> TestRecording {
    recorded(RecordedBus { method: CaptureMethod::Monitor, ..RecordedBus::default() })
}

/// The same, recorded otherwise.
pub(crate) fn recorded(bus: RecordedBus) -> TestRecording {
    let mut recording = TestRecording::new();
    recording
        .bus(bus)
        .process(CLIENT, 101, "client")
        .process(SERVICE, 102, "service")
        .process(OTHER, 103, "other")
        .owner(MAIL, SERVICE);
    recording
}

/// Programs that talk as they should for a minute.
pub(crate) fn quiet() -> TestRecording {
    let mut recording = scene();
    recording.ask_bus(CLIENT, "AddMatch", &(rule("New"),), &());
    recording.wait_ms(3);
    ask(&mut recording, "GetAll", 400, 1);
    for minute in 1..=30_u32 {
        recording.wait_ms(2000 + i64::from(minute % 7) * 300);
        recording.signal(SERVICE, &signal("New"), &(minute,));
        recording.wait_ms(40);
        ask(&mut recording, "Read", 900, minute);
        recording.wait_ms(20);
        changed(&mut recording, &[("Count", minute)], &[]);
        recording.wait_ms(300);
        ask(&mut recording, "Delete", 2000, minute);
    }
    recording
}

/// A method of the service as the builder wants it.
pub(crate) fn method(member: &str) -> String {
    format!("{BOX} {IFACE}.{member}")
}

/// A signal of the service as the builder wants it.
pub(crate) fn signal(member: &str) -> String {
    method(member)
}

/// A rule for a signal of the service, as careful programs write it.
pub(crate) fn rule(member: &str) -> String {
    format!("type='signal',sender='{MAIL}',interface='{IFACE}',member='{member}'")
}

/// The client calls the service, which answers with a number after a while.
pub(crate) fn ask(recording: &mut TestRecording, member: &str, micros: i64, answer: u32) {
    ask_by(recording, CLIENT, member, micros, answer);
}

/// The same, by somebody else.
pub(crate) fn ask_by(
    recording: &mut TestRecording,
    from: &str,
    member: &str,
    micros: i64,
    answer: u32,
) {
    let call = recording.call(from, MAIL, &method(member), &());
    recording.wait_us(micros).reply(&call, SERVICE, &(answer,));
}

/// The client calls a method of the standard interfaces, on an object of the service.
pub(crate) fn ask_standard(
    recording: &mut TestRecording,
    path: &str,
    what: &str,
    args: &impl EncodeArgs,
    answer: u32,
) {
    let what = format!("{path} {DRIVER}.{what}");
    let call = recording.call(CLIENT, MAIL, &what, args);
    recording.wait_us(200).reply(&call, SERVICE, &(answer,));
}

/// The client calls the service, which fails.
pub(crate) fn fail(recording: &mut TestRecording, member: &str, error: &str) {
    let call = recording.call(CLIENT, MAIL, &method(member), &());
    recording.wait_us(300).error(&call, SERVICE, error, "no");
}

/// The service emits a signal again and again, each time with another number.
pub(crate) fn stream(recording: &mut TestRecording, member: &str, count: u32, apart_ms: i64) {
    for turn in 0..count {
        recording.wait_ms(apart_ms).signal(SERVICE, &signal(member), &(turn,));
    }
}

/// The unique names of so many more processes that run the same program.
pub(crate) fn newcomers(recording: &mut TestRecording, count: u32, program: &str) -> Vec<String> {
    let numbers = (0..count).map(|number| {
        let unique = format!(":1.{}", 20 + number);
        recording.process(&unique, 200 + number, program);
        unique
    });
    numbers.collect()
}

/// The service says that properties have changed.
pub(crate) fn changed(recording: &mut TestRecording, values: &[(&str, u32)], invalidated: &[&str]) {
    let values: BTreeMap<_, _> =
        values.iter().map(|(name, value)| (*name, Value::Uint32(*value))).collect();
    let what = format!("{BOX} {DRIVER}.Properties.PropertiesChanged");
    recording.signal(SERVICE, &what, &(IFACE, values, invalidated.to_vec()));
}

/// A call of the client that nobody has answered yet.
pub(crate) fn pending(
    recording: &mut TestRecording,
    from: &str,
    to: &str,
    member: &str,
) -> RecordedCall {
    recording.call(from, to, &method(member), &())
}

/// Lets an uneven time pass, another one for each `turn`, so that nothing looks steady.
pub(crate) fn uneven(recording: &mut TestRecording, turn: i64) {
    recording.wait_ms(50 + turn * turn * 20);
}
