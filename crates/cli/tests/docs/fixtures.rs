//! The files that the commands of the documentation read. All are made here, so every run finds the same.
//!
//! - `mail.pcapng`: the conversation of docs/query.md.
//! - `session.pcapng`: a desktop with a backup program that starts slowly, an indexer that answers slowly, and sensors
//!   that emit many signals.
//! - `traced.pcapng`: searches and signals with the phases that the bus measured.
//! - `before.pcapng`, `after.pcapng`: the same searches, six times as slow after an update.
//! - `run-tests`: a test suite that calls a service on the bus which it finds in its environment.
//! - `bus.conf`: a bus with low limits, which serves its metrics.
//! - `recorder.conf`: a bus with a flight recorder.
//! - `typo.conf`: a configuration with an unknown limit.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::{fs, io};

use capture::record::{CaptureMethod, EndCause, Fact, RecordedBus};
use testkit::recording::TestRecording;
use wire::body::{Value, Variant};
use wire::message::Flags;

const MAIL: &str = "org.example.Mail";
const BACKUP: &str = "org.example.Backup";
const INDEXER: &str = "org.example.Indexer";
const SENSORS: &str = "org.example.Sensors";

/// Writes all files into a folder.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    for (name, recording) in [
        ("mail.pcapng", mail()),
        ("session.pcapng", session()),
        ("traced.pcapng", traced()),
        ("before.pcapng", searches(20)),
        ("after.pcapng", searches(120)),
    ] {
        fs::write(folder.join(name), recording.pcapng())?;
    }
    for (name, elements) in [
        ("bus.conf", LIMITS),
        ("recorder.conf", FLIGHT_RECORDER),
        ("typo.conf", "<?diligence <limit name=\"max_foo\">1</limit> ?>"),
    ] {
        fs::write(folder.join(name), format!("<busconfig>\n{elements}\n{SESSION}</busconfig>\n"))?;
    }
    let tests = folder.join("run-tests");
    fs::write(&tests, RUN_TESTS)?;
    fs::set_permissions(&tests, fs::Permissions::from_mode(0o755))
}

/// The test suite: a service that echoes, and calls of its method.
const RUN_TESTS: &str = "#!/bin/sh
diligence own --echo org.example.Indexer > /dev/null &
diligence wait org.example.Indexer > /dev/null
diligence call --repeat 100 org.example.Indexer / org.example.Indexer Search s word > /dev/null 2>&1
kill $!
";

/// The part that all configurations have.
const SESSION: &str = r#"  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
"#;

const LIMITS: &str = r#"  <limit name="max_match_rules_per_connection">1</limit>
  <?diligence
    <limit name="max_connections_per_second_per_user">1</limit>
    <limit name="max_connection_burst_per_user">4</limit>
    <metrics_socket>metrics</metrics_socket>
  ?>"#;

const FLIGHT_RECORDER: &str = "  <?diligence <flight_recorder>1048576</flight_recorder> ?>";

/// A recording of a session bus that recorded itself.
fn recorded() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus {
        name: "session".into(),
        method: CaptureMethod::Trace,
        ..RecordedBus::default()
    });
    recording
}

fn ended(mut recording: TestRecording) -> TestRecording {
    recording.fact(Fact::Ended { cause: EndCause::Asked });
    recording
}

fn mail() -> TestRecording {
    let mut recording = recorded();
    recording.process(":1.7", 701, "gnome-shell").process(":1.9", 702, "maild").owner(MAIL, ":1.9");
    let mail = |member: &str| format!("/org/example/mail org.example.Mail.{member}");
    let call = recording.call(":1.7", MAIL, &mail("GetCount"), &("Inbox",));
    recording.wait_ms(80).reply(&call, ":1.9", &(7_u32,));
    let entries = HashMap::from([("Foo bar", Value::Int32(1200))]);
    recording.wait_ms(10).signal(":1.9", &mail("Changed"), &(entries,));
    recording.wait_ms(5).call_with(Flags::NO_REPLY_EXPECTED, ":1.7", MAIL, &mail("Delete"), &());
    let call = recording.wait_ms(1).call(":1.7", MAIL, &mail("GetAll"), &());
    recording.wait_ms(1).error(&call, ":1.9", "org.example.Error.Busy", "not now");
    recording.wait_ms(1).call(":1.7", MAIL, &mail("Wait"), &());
    recording.wait_ms(1).owner_changed(":1.12", "", ":1.12");
    ended(recording)
}

fn session() -> TestRecording {
    let mut recording = recorded();
    recording.process(":1.7", 5201, "panel").process(":1.10", 5210, "gdbus");
    recording.process(":1.20", 5230, "indexer").owner(INDEXER, ":1.20");
    recording.process(":1.21", 5231, "sensord").owner(SENSORS, ":1.21");
    for number in 0..4 {
        recording.process(
            &format!(":1.{}", 40 + number),
            5240 + number,
            &format!("client-{number}"),
        );
    }
    start_of_backup(&mut recording);
    for number in 0..12_i64 {
        let caller = format!(":1.{}", 40 + number % 4);
        let call =
            recording.call(&caller, INDEXER, "/index org.example.Indexer.Search", &("word",));
        let millis = if number < 8 { 1300 - 150 * number } else { 20 };
        recording.wait_ms(millis).reply(&call, ":1.20", &(3_u32,));
    }
    let none: Vec<String> = Vec::new();
    for value in 0..400_u32 {
        let changed = HashMap::from([("Value", Variant(value))]);
        let what = "/sensor org.freedesktop.DBus.Properties.PropertiesChanged";
        let signal =
            recording.wait_ms(2).signal(":1.21", what, &("org.example.Sensor", changed, &none[..]));
        signal.delivered(9, &[(7, 30, 1), (10, 35, 1), (20, 40, 1)]);
    }
    ended(recording)
}

/// Records messages for which the bus measured every phase.
fn traced() -> TestRecording {
    let mut recording = recorded();
    recording
        .process(":1.7", 5201, "panel")
        .process(":1.20", 5230, "indexer")
        .owner(INDEXER, ":1.20");
    recording.process(":1.21", 5231, "sensord").owner(SENSORS, ":1.21");
    for number in 0..20_u64 {
        let what = "/index org.example.Indexer.Search";
        let call = recording.call(":1.7", INDEXER, what, &("word",));
        recording.delivered(12 + number, &[(20, 20 + number, 0)]).staged(5, 8 + number, None);
        recording.wait_ms(30).reply(&call, ":1.20", &(3_u32,));
        recording.delivered(9, &[(7, 24, 0)]).staged(4, 5, None);
        recording.wait_ms(2).signal(":1.21", "/sensor org.example.Sensor.Changed", &(7_u32,));
        recording.delivered(14, &[(7, 30, 1), (20, 40, 1)]).staged(3, 4, Some((5, 6)));
    }
    ended(recording)
}

/// Records six callers that wait until the called service has started.
fn start_of_backup(recording: &mut TestRecording) {
    let start = Fact::Starting { name: BACKUP.into(), by: Some(":1.10".into()) };
    let what = "/org/example/Backup org.freedesktop.DBus.Introspectable.Introspect";
    let mut calls = Vec::new();
    for number in 0..6 {
        let caller =
            if number == 0 { ":1.10".to_owned() } else { format!(":1.{}", 39 + number.min(4)) };
        calls.push(recording.call(&caller, BACKUP, what, &()));
        if number == 0 {
            recording.fact(start.clone());
        }
        recording.wait_ms(100);
    }
    recording.wait_ms(2800);
    recording
        .owner_changed(":1.30", "", ":1.30")
        .delivered(4, &[(7, 20, 1), (20, 25, 1)])
        .process(":1.30", 5229, "peers.py");
    recording.owner_changed(BACKUP, "", ":1.30").owner(BACKUP, ":1.30");
    recording.fact(Fact::Started { name: BACKUP.into(), failure: None });
    for call in &calls {
        recording.wait_ms(1).reply(call, ":1.30", &("<node/>",));
    }
}

/// Records thirty searches that take `millis` each, plus up to 2 ms.
fn searches(millis: i64) -> TestRecording {
    let mut recording = recorded();
    recording
        .process(":1.7", 5201, "panel")
        .process(":1.20", 5230, "indexer")
        .owner(INDEXER, ":1.20");
    for number in 0..30 {
        let call = recording.wait_ms(5).call(
            ":1.7",
            INDEXER,
            "/index org.example.Indexer.Search",
            &("word",),
        );
        recording.wait_ms(millis + number % 3).reply(&call, ":1.20", &(3_u32,));
    }
    ended(recording)
}
