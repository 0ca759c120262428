//! Detection of messages that were read late.

use std::time::Duration;

use capture::Capture;
use capture::lint::{LintRule, LintRuleId, lint};
use capture::model::LateEvidence;
use capture::record::{CaptureMethod, Fact, Late, RecordedBus};
use capture::statistics::{Caveat, Summary};
use testkit::recording::TestRecording;

fn recorded_by(method: CaptureMethod) -> TestRecording {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus { name: "session".into(), method, ..RecordedBus::default() });
    recording
}

fn signal(recording: &mut TestRecording) {
    recording.signal(":1.5", "/clock org.example.Clock.Tick", &());
}

/// A call that takes this number of microseconds.
fn ask(recording: &mut TestRecording, micros: i64) {
    let call = recording.call(":1.5", ":1.6", "/mail org.example.Mail.Count", &());
    recording.wait_us(micros).reply(&call, ":1.6", &());
}

/// Repeats `each` every 10 ms for two seconds.
fn steady(recording: &mut TestRecording, mut each: impl FnMut(&mut TestRecording)) {
    for _ in 0..200 {
        each(recording.wait_ms(10));
    }
}

/// The number of messages read late, their delay in milliseconds, and the kind of evidence.
fn found(capture: &Capture) -> Vec<(u64, u128, LateEvidence)> {
    let found = capture.lateness().into_iter();
    found.map(|it| (it.late.messages, it.late.by().as_millis(), it.evidence)).collect()
}

/// Steady traffic, a silence, and the messages that are read after it.
fn paused(
    method: CaptureMethod,
    burst: impl Fn(&mut TestRecording),
    each: fn(&mut TestRecording),
) -> Capture {
    let mut recording = recorded_by(method);
    steady(&mut recording, each);
    recording.wait_ms(1000);
    burst(&mut recording);
    steady(&mut recording, each);
    recording.capture()
}

#[test]
fn bursts_after_a_silence_are_read_late() {
    let backlog =
        |count: i64| move |r: &mut TestRecording| (0..count).for_each(|_| signal(r.wait_us(5)));
    let capture = paused(CaptureMethod::Monitor, backlog(100), signal);
    let [(messages, by, evidence)] = found(&capture)[..] else { panic!("{:?}", found(&capture)) };
    assert!((95..=105).contains(&messages), "{messages}");
    assert_eq!((by, evidence), (1000, LateEvidence::Numbers));
    assert!(
        found(&paused(CaptureMethod::Trace, backlog(100), signal)).is_empty(),
        "times of the bus"
    );
    assert!(found(&paused(CaptureMethod::Monitor, backlog(0), signal)).is_empty(), "a pause");
    assert!(found(&paused(CaptureMethod::Monitor, backlog(400), signal)).is_empty(), "a burst");
    let mut idle = recorded_by(CaptureMethod::Monitor);
    signal(&mut idle);
    idle.wait_ms(5000);
    (0..40_000).for_each(|_| signal(idle.wait_us(5)));
    idle.wait_ms(5000);
    signal(&mut idle);
    assert!(found(&idle.capture()).is_empty(), "a burst on an idle bus");
}

#[test]
fn fast_replies_show_late_reading() {
    let asks =
        |micros: i64| move |r: &mut TestRecording| (0..100).for_each(|_| ask(r.wait_us(5), micros));
    let each: fn(&mut TestRecording) = |r| ask(r, 300);
    let capture = paused(CaptureMethod::Unknown, asks(5), each);
    let [(messages, _, evidence)] = found(&capture)[..] else { panic!("{:?}", found(&capture)) };
    assert!((190..=210).contains(&messages), "{messages}");
    assert_eq!(evidence, LateEvidence::FastReplies);
    assert!(
        found(&paused(CaptureMethod::Unknown, asks(300), each)).is_empty(),
        "the service made these calls"
    );
}

#[test]
fn durations_are_unknown_after_late_reading() {
    let mut recording = recorded_by(CaptureMethod::Monitor);
    ask(recording.wait_ms(1), 300);
    let long = recording.wait_ms(1).call(":1.5", ":1.6", "/mail org.example.Mail.Load", &());
    recording.wait_ms(30_000);
    let call = recording.call(":1.5", ":1.6", "/mail org.example.Mail.Count", &());
    recording.wait_ms(2000).reply(&call, ":1.6", &());
    recording.wait_us(10).reply(&long, ":1.6", &());
    let resumed = recording.capture().messages().nth(4).expect("the late reply").at();
    let late = Late {
        from: resumed.before(Duration::from_secs(2)),
        resumed,
        until: resumed.after(Duration::from_millis(3)),
        by_ns: 2_000_000_000,
        messages: 2,
    };
    recording.fact(Fact::Late(late));
    ask(recording.wait_ms(10), 300);
    let capture = recording.capture();
    let durations: Vec<_> =
        capture.messages().filter(|it| it.expects_reply()).map(|call| call.duration()).collect();
    let micros = Duration::from_micros(300);
    let load = Duration::from_micros(32_000_010);
    assert_eq!(durations, [Some(micros), Some(load), None, Some(micros)]);
    let caveats = Caveat::of(&capture, &Summary::default());
    let said: Vec<_> = caveats.iter().map(Caveat::to_string).collect();
    let said = said.iter().find(|said| said.contains("late")).expect("it is said");
    assert!(said.starts_with("session: 2 messages were read up to 2.00 s late"), "{said}");
    let found = lint(&capture, LintRule::all());
    let finding = found.iter().find(|it| it.rule == LintRuleId(50) && it.subject == "late");
    let finding = finding.unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(finding.evidence.count, 2, "{}", finding.says);
    assert!(
        finding.says.contains("up to 2 s late: 2 messages were read within 3 ms"),
        "{}",
        finding.says
    );
}
