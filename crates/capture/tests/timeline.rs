//! Where time went in recordings whose truth is known.

use std::time::Duration;

use diligence_capture::Capture;
use diligence_capture::query::Query;
use diligence_capture::record::{Fact, Process};
use diligence_capture::timeline::{
    Phase, Way, blocked, blocked_table, chrome_trace, shares, slowest, slowest_table, start_ups,
};
use diligence_testkit::recording::{DRIVER, Recording};
use serde_json::Value;

/// A shell that waits for a file service, and a mailer that does not wait.
fn desktop() -> Recording {
    let mut recording = Recording::new();
    recording
        .process(":1.5", 42, "shell")
        .process(":1.6", 50, "mailer")
        .process(":1.9", 60, "vfsd");
    recording.owner("org.x.Files", ":1.9");
    for micros in [2_000, 41_000] {
        let call = recording.call(":1.5", "org.x.Files", "/f org.x.Files.List", &());
        recording.wait_us(micros).reply(&call, ":1.9", &());
    }
    // Two calls at once, and a signal meanwhile: nobody waits.
    let one = recording.call(":1.6", "org.x.Files", "/f org.x.Files.List", &());
    let other = recording.call(":1.6", "org.x.Files", "/f org.x.Files.Stat", &());
    recording.wait_ms(90).reply(&one, ":1.9", &()).reply(&other, ":1.9", &());
    let call = recording.call(":1.6", "org.x.Files", "/f org.x.Files.Stat", &());
    recording.wait_ms(5).signal(":1.6", "/m org.x.Mail.Changed", &());
    recording.wait_ms(5).reply(&call, ":1.9", &());
    let call = recording.call(":1.5", ":1.9", "/f org.x.Files.Open", &());
    recording.wait_ms(7).error(&call, ":1.9", "org.x.Error.Gone", "no");
    recording.call(":1.6", "org.x.Files", "/f org.x.Files.Never", &());
    recording
}

/// What the bus of a call and its reply has stamped.
fn traced() -> Recording {
    let mut recording = Recording::new();
    let call = recording.call(":1.5", ":1.9", "/f org.x.Files.List", &());
    recording.delivered(10, &[(9, 30, 0)]);
    recording.wait_us(100).reply(&call, ":1.9", &());
    recording.delivered(20, &[(5, 70, 0)]);
    recording.ask_bus(":1.5", "GetId", &(), &("abc",));
    recording
}

/// A service that is started for a call, asks another for its settings, and answers.
fn start() -> Recording {
    let mut recording = Recording::new();
    recording.process(":1.5", 42, "shell").owner("org.x.Settings", ":1.2");
    let first = recording.call(":1.5", "org.x.Tray", "/t org.x.Tray.Show", &());
    recording.wait_ms(20);
    let started = Some(recording.now());
    recording.wait_ms(30).owner_changed(":1.7", "", ":1.7");
    let comm = Some(String::from("tray"));
    let process = Some(Process { pid: Some(70), comm, started, ..Process::default() });
    recording.fact(Fact::Peer { unique: String::from(":1.7"), process });
    let call = recording.call(":1.7", "org.x.Settings", "/s org.x.Settings.All", &());
    recording.wait_ms(10);
    let inner = recording.call(":1.2", ":1.3", "/d org.x.Disk.Read", &());
    recording.wait_ms(60).reply(&inner, ":1.3", &());
    recording.wait_ms(10).reply(&call, ":1.2", &());
    recording.wait_ms(5).owner_changed("org.x.Tray", "", ":1.7");
    recording.wait_ms(15).reply(&first, ":1.7", &());
    recording
}

fn all(_: &diligence_capture::model::Message<'_>) -> bool {
    true
}

#[test]
fn those_are_blocked_who_send_nothing_else() {
    let capture = desktop().capture();
    let table = |query: &str| {
        let query: Query = query.parse().unwrap();
        let mut matcher = query.matcher();
        blocked_table(&blocked(&capture, |call| matcher.selects(call))).to_csv()
    };
    let keys = "caller,blocked_on,of,calls,total_ns,longest_ns,number\n";
    let list = "shell,org.x.Files.List,org.x.Files,2,43000000,41000000,3\n";
    let open = "shell,org.x.Files.Open,org.x.Files,1,7000000,7000000,12\n";
    assert_eq!(table(""), [keys, list, open].concat());
    assert_eq!(table("member:Open"), [keys, open].concat());
    assert_eq!(table("member:Stat"), keys);
}

#[test]
fn the_slowest_calls_have_the_longest_bars() {
    let capture = desktop().capture();
    let table = slowest_table(&slowest(&capture, all, 3)).to_csv();
    assert_eq!(
        table,
        "number,caller,call,of,time_ns,bus_ns,woken_ns,on_cpu_ns,bar,answer\n\
         5,mailer,org.x.Files.List,org.x.Files,90000000,,,,████████████████,\n\
         6,mailer,org.x.Files.Stat,org.x.Files,90000000,,,,████████████████,\n\
         3,shell,org.x.Files.List,org.x.Files,41000000,,,,███████,\n"
    );
    assert_eq!(slowest(&capture, all, 100).len(), 6);
}

#[test]
fn the_way_of_a_call_is_what_the_bus_has_stamped() {
    let capture = traced().capture();
    let mut ways = capture.messages().map(|message| Way::of(&message));
    let way = ways.next().flatten().expect("a call whose way is known");
    let micros = Phase::ALL.map(|phase| way.time(phase).as_micros());
    assert_eq!(micros, [10, 20, 70, 20, 50]);
    assert_eq!(way.total(), Duration::from_micros(170));
    assert_eq!(way.in_bus(), Duration::from_micros(100));
    assert!(ways.all(|way| way.is_none()), "the calls of which there is no trace");

    let shares = shares(&capture, all).expect("one call").to_csv();
    let row = "1,170000,170000,0.0588,0.1176,0.4117,0.1176,0.2941";
    let cells = |line: &str| -> Vec<String> {
        line.split(',').skip(1).map(|cell| cell[..cell.len().min(6)].to_owned()).collect()
    };
    for line in shares.lines().skip(1) {
        assert_eq!(cells(line).join(","), row, "{shares}");
    }
    assert!(shares_of_a_monitor().is_none());
}

fn shares_of_a_monitor() -> Option<diligence_capture::table::Table> {
    shares(&desktop().capture(), all)
}

#[test]
fn a_start_up_is_walked_back_from_its_first_reply() {
    let capture = start().capture();
    let found = start_ups(&capture);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].length(), Duration::from_millis(150));
    assert_eq!(
        found[0].table(&capture, 100).to_csv(),
        "after_ns,what,took_ns,number\n\
         0,shell wants the name,,1\n\
         20000000,the process is started,,\n\
         50000000,it is on the bus,,\n\
         50000000,  waits for org.x.Settings.All of org.x.Settings,80000000,3\n\
         50000000,    org.x.Settings works,10000000,\n\
         60000000,    waits for org.x.Disk.Read of :1.3,60000000,4\n\
         120000000,    org.x.Settings works,10000000,\n\
         130000000,  org.x.Tray works,20000000,\n\
         135000000,it owns the name,,\n\
         150000000,its first reply,,8\n"
    );
    let short = found[0].table(&capture, 2).to_csv();
    assert!(!short.contains("org.x.Settings works"), "{short}");
}

#[test]
fn services_that_were_there_before_have_no_start_up() {
    assert!(start_ups(&desktop().capture()).is_empty());
    assert!(start_ups(&Capture::default()).is_empty());
}

fn trace(capture: &Capture) -> Vec<Value> {
    let mut bytes = Vec::new();
    chrome_trace(capture, all, &mut bytes).expect("memory takes all");
    let mut trace: Value = serde_json::from_slice(&bytes).expect("JSON");
    let Value::Array(events) = trace["traceEvents"].take() else { panic!("no events") };
    events
}

/// The events of a phase, each as name, start and length in microseconds.
fn events(events: &[Value], phase: &str) -> Vec<(String, f64, f64)> {
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let of_phase = events.iter().filter(|event| event["ph"] == phase);
    of_phase
        .map(|event| {
            let name = event["name"].as_str().unwrap_or_default().to_owned();
            (name, number(&event["ts"]), number(&event["dur"]))
        })
        .collect()
}

#[test]
fn a_trace_has_both_sides_of_a_call_and_what_the_bus_did() {
    let mut recording = traced();
    recording.signal(DRIVER, "/org/freedesktop/DBus org.freedesktop.DBus.X", &());
    let events_of = trace(&recording.capture());
    let span = |name: &str, from: f64, length: f64| (name.to_owned(), from, length);
    let spans = events(&events_of, "X");
    for expected in [
        span("org.x.Files.List", 0.0, 170.0),
        span("org.x.Files.List", 30.0, 70.0),
        span("route org.x.Files.List", 0.0, 10.0),
        span("send org.x.Files.List", 10.0, 20.0),
        span("route org.x.Files.List", 100.0, 20.0),
        span("send org.x.Files.List", 120.0, 50.0),
        span("org.freedesktop.DBus.GetId", 100.0, 50.0),
    ] {
        assert!(spans.contains(&expected), "{expected:?} of {spans:?}");
    }
    assert_eq!(spans.len(), 8, "{spans:?}");
    assert_eq!(events(&events_of, "s").len(), 2);
    assert_eq!(events(&events_of, "f")[0], span("call", 30.0, 0.0));
    assert_eq!(events(&events_of, "i").len(), 1);
    assert_eq!(events(&events_of, "C").len(), 4);
}

#[test]
fn every_span_of_a_track_ends_before_the_next_begins() {
    let events = trace(&desktop().capture());
    let mut ends = std::collections::HashMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let track = (event["pid"].as_u64(), event["tid"].as_u64());
        let start = event["ts"].as_f64().expect("a start");
        let end = start + event["dur"].as_f64().expect("a length");
        let before = ends.insert(track, end).unwrap_or(start);
        assert!(before <= start, "{track:?}: {before} {start}");
    }
    let names: Vec<_> = events
        .iter()
        .filter(|event| event["name"] == "process_name")
        .map(|event| &event["args"]["name"])
        .collect();
    for process in ["shell", "mailer", "org.x.Files"] {
        assert!(names.iter().any(|name| **name == process), "{process} in {names:?}");
    }
}

#[test]
fn a_start_up_is_a_span_of_the_trace() {
    let events_of = trace(&start().capture());
    let found = events(&events_of, "X");
    assert!(found.contains(&(String::from("org.x.Tray starts"), 0.0, 150_000.0)), "{found:?}");
}
