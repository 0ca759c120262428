//! The scene of all cases: a bus with a client, a service and another program.

use std::collections::BTreeMap;

use capture::record::{CaptureMethod, RecordedBus};
use testkit::recording::{DRIVER, RecordedCall, TestRecording};
use wire::body::{EncodeArgs, Value};

/// Traffic that must raise a rule, and similar traffic that must not.
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

/// The unique name of the program that calls the service.
pub(crate) const CLIENT: &str = ":1.1";
/// The unique name of the program that owns [`MAIL`].
pub(crate) const SERVICE: &str = ":1.2";
/// The unique name of another program.
pub(crate) const OTHER: &str = ":1.3";
/// The well-known name of the service.
pub(crate) const MAIL: &str = "org.example.Mail";
/// The object path of the service.
pub(crate) const BOX: &str = "/org/example/Mail";
/// The interface of the service.
pub(crate) const IFACE: &str = "org.example.Mail1";

/// A bus with three known programs.
pub(crate) fn scene() -> TestRecording {
    recorded(RecordedBus { method: CaptureMethod::Monitor, ..RecordedBus::default() })
}

/// Like [`scene`], but recorded as `bus` says.
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

/// A minute of traffic without any problem.
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

/// A method of the service, as [`TestRecording::call`] takes it.
pub(crate) fn method(member: &str) -> String {
    format!("{BOX} {IFACE}.{member}")
}

/// A signal of the service, as [`TestRecording::signal`] takes it.
pub(crate) fn signal(member: &str) -> String {
    method(member)
}

/// A precise match rule for a signal of the service.
pub(crate) fn rule(member: &str) -> String {
    format!("type='signal',sender='{MAIL}',interface='{IFACE}',member='{member}'")
}

/// The client calls the service, which replies with a number after some time.
pub(crate) fn ask(recording: &mut TestRecording, member: &str, micros: i64, answer: u32) {
    ask_by(recording, CLIENT, member, micros, answer);
}

/// Another program calls the service, which replies with a number after some time.
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

/// The client calls a method of a standard interface on an object of the service.
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

/// The client calls the service, which replies with an error.
pub(crate) fn fail(recording: &mut TestRecording, member: &str, error: &str) {
    let call = recording.call(CLIENT, MAIL, &method(member), &());
    recording.wait_us(300).error(&call, SERVICE, error, "no");
}

/// The service emits a signal repeatedly, each time with another number.
pub(crate) fn stream(recording: &mut TestRecording, member: &str, count: u32, apart_ms: i64) {
    for turn in 0..count {
        recording.wait_ms(apart_ms).signal(SERVICE, &signal(member), &(turn,));
    }
}

/// Adds `count` processes that run the same program, and returns their unique names.
pub(crate) fn more_peers(recording: &mut TestRecording, count: u32, program: &str) -> Vec<String> {
    let numbers = (0..count).map(|number| {
        let unique = format!(":1.{}", 20 + number);
        recording.process(&unique, 200 + number, program);
        unique
    });
    numbers.collect()
}

/// The service announces changed and invalidated properties.
pub(crate) fn changed(recording: &mut TestRecording, values: &[(&str, u32)], invalidated: &[&str]) {
    let values: BTreeMap<_, _> =
        values.iter().map(|(name, value)| (*name, Value::Uint32(*value))).collect();
    let what = format!("{BOX} {DRIVER}.Properties.PropertiesChanged");
    recording.signal(SERVICE, &what, &(IFACE, values, invalidated.to_vec()));
}

/// A call without a reply so far.
pub(crate) fn pending(
    recording: &mut TestRecording,
    from: &str,
    to: &str,
    member: &str,
) -> RecordedCall {
    recording.call(from, to, &method(member), &())
}

/// Waits for a time that differs for each `turn`, so that the intervals are irregular.
pub(crate) fn uneven(recording: &mut TestRecording, turn: i64) {
    recording.wait_ms(50 + turn * turn * 20);
}
