//! The time of calls and starts in recordings with known content.

use std::time::Duration;

use capture::Capture;
use capture::query::Query;
use capture::record::{Fact, ProcessorUse, RecordedProcess};
use capture::statistics::{UnknownReason, dispatch};
use capture::text::Style;
use capture::timeline::{
    BusPhase, BusTime, CallPhase, CallTimes, ProcessorRecord, blocked, blocked_table, bus_shares,
    chrome_trace, shares, slowest, slowest_table, start_ups,
};
use serde_json::Value;
use testkit::recording::{DRIVER, TestRecording};

/// A shell that waits for a file service, and a mailer that does not wait.
fn desktop() -> TestRecording {
    let mut recording = TestRecording::new();
    recording
        .process(":1.5", 42, "shell")
        .process(":1.6", 50, "mailer")
        .process(":1.9", 60, "vfsd");
    recording.owner("org.x.Files", ":1.9");
    for micros in [2_000, 41_000] {
        let call = recording.call(":1.5", "org.x.Files", "/f org.x.Files.List", &());
        recording.wait_us(micros).reply(&call, ":1.9", &());
    }
    // Two calls at once, and a signal meanwhile: no caller is blocked.
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

/// A call and its reply with the times that the bus measured.
fn traced() -> TestRecording {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", ":1.9", "/f org.x.Files.List", &());
    recording.delivered(10, &[(9, 30, 0)]);
    recording.wait_us(100).reply(&call, ":1.9", &());
    recording.delivered(20, &[(5, 70, 0)]);
    recording.ask_bus(":1.5", "GetId", &(), &("abc",));
    recording
}

/// A service that is started for a call, reads settings from another service, and replies.
fn start() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.process(":1.5", 42, "shell").owner("org.x.Settings", ":1.2");
    let first = recording.call(":1.5", "org.x.Tray", "/t org.x.Tray.Show", &());
    recording.wait_ms(20);
    let started = Some(recording.now());
    recording.wait_ms(30).owner_changed(":1.7", "", ":1.7");
    let comm = Some(String::from("tray"));
    let process =
        Some(RecordedProcess { pid: Some(70), comm, started, ..RecordedProcess::default() });
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

fn all(_: &capture::model::CapturedMessage<'_>) -> bool {
    true
}

#[test]
fn callers_without_other_messages_are_blocked() {
    let capture = desktop().capture();
    let table = |query: &str| {
        let query: Query = query.parse().unwrap();
        let mut matcher = query.matcher();
        blocked_table(&blocked(&capture, |call| matcher.selects(call))).to_csv()
    };
    let keys = "caller,blocked_on,of,calls,total_ns,longest_ns,number\n";
    let list = "shell,org.x.Files.List,org.x.Files,2,43000000,41000000,3\n";
    let open = "shell,org.x.Files.Open,org.x.Files,1,7000000,7000000,12\n";
    // Its caller waits when the recording ends, which is immediately.
    let never = "mailer,org.x.Files.Never,org.x.Files,1,0,0,14\n";
    assert_eq!(table(""), [keys, list, open, never].concat());
    assert_eq!(table("member:Open"), [keys, open].concat());
    assert_eq!(table("member:Stat"), keys);
}

#[test]
fn the_slowest_calls_have_the_longest_bars() {
    let capture = desktop().capture();
    let table = slowest_table(&slowest(&capture, all, 3)).to_csv();
    assert_eq!(
        table,
        "number,caller,call,of,time_ns,bus_ns,woken_ns,on_cpu_ns,answer,bar\n\
         5,mailer,org.x.Files.List,org.x.Files,90000000,,,,,████████████████\n\
         6,mailer,org.x.Files.Stat,org.x.Files,90000000,,,,,████████████████\n\
         3,shell,org.x.Files.List,org.x.Files,41000000,,,,,███████\n"
    );
    assert_eq!(slowest(&capture, all, 100).len(), 7);
}

/// Lines have the outcome of a call and mark its duration at the widths of usual terminals.
#[test]
fn narrow_lines_keep_outcomes_of_slow_calls() {
    let capture = desktop().capture();
    let table = slowest_table(&slowest(&capture, all, 10));
    let shown = |width| ["answer", "bar"].map(|name| table.shows(name, Style::plain(width)));
    assert_eq!((shown(80), shown(70)), ([true, true], [true, false]));
    let text = table.to_text(Style::plain(70));
    assert!(text.lines().all(|line| line.chars().count() <= 70), "{text}");
}

#[test]
fn call_phases_follow_from_traced_times() {
    let capture = traced().capture();
    let mut ways =
        capture.messages().map(|message| CallTimes::of(&message, &ProcessorRecord::default()));
    let way = ways.next().flatten().expect("a call whose way is known");
    let duration = capture.messages().next().and_then(|call| call.duration());
    assert_eq!(duration, Some(way.total()), "until the bus had written the reply");
    let micros = CallPhase::ALL.map(|phase| way.time(phase).as_micros());
    assert_eq!(micros, [0, 10, 20, 70, 0, 20, 50]);
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

/// The bus records that it has written a call only when it has a processor again, which may be
/// after it has received the reply.
#[test]
fn call_phases_add_up_to_the_duration() {
    let mut recording = traced();
    let call = recording.call(":1.5", ":1.9", "/f org.x.Files.List", &());
    recording.delivered(10, &[(9, 300, 0)]);
    recording.wait_us(100).reply(&call, ":1.9", &()).delivered(20, &[(5, 70, 0)]);
    let capture = recording.capture();
    let ways: Vec<_> = capture
        .messages()
        .filter_map(|call| {
            Some((CallTimes::of(&call, &ProcessorRecord::default())?.total(), call.duration()?))
        })
        .collect();
    let micros = Duration::from_micros;
    assert_eq!(ways, [170, 170].map(|time| (micros(time), micros(time))));
    let table = slowest_table(&slowest(&capture, all, 9)).to_csv();
    for row in table.lines().skip(1).filter(|row| row.contains("List")) {
        let cell = |at: usize| row.split(',').nth(at).unwrap().parse::<u64>().unwrap();
        assert!(cell(5) <= cell(4), "the bus part is larger than the whole: {row}");
    }
}

#[test]
fn calls_held_for_a_start_do_not_count_as_time_of_the_bus() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
    recording.delivered(30_010, &[(7, 30_020, 0)]);
    recording.wait_ms(30).owner_changed("org.x.Late", "", ":1.7").wait_ms(1);
    recording.reply(&call, ":1.7", &()).delivered(1, &[(5, 2, 0)]);
    let capture = recording.capture();
    let call = capture.messages().next().expect("a call");
    let way = CallTimes::of(&call, &ProcessorRecord::default()).expect("all of it was recorded");
    let micros = CallPhase::ALL.map(|phase| way.time(phase).as_micros());
    assert_eq!(micros, [30_000, 10, 10, 980, 0, 1, 1]);
    assert_eq!(way.in_bus(), Duration::from_micros(22));
}

/// The recorder queries the bus on another connection, so its result may precede the signal.
#[test]
fn starts_are_found_if_the_recorder_reports_the_owner_first() {
    for since_is_reported in [false, true] {
        let mut recording = TestRecording::new();
        let start = recording.now();
        let unique = Some(String::from(":1.7"));
        recording.wait_ms(31);
        let since = since_is_reported.then(|| recording.now());
        recording.fact(Fact::Owner { name: String::from("org.x.Late"), unique, since });
        recording.at_ms(0);
        assert_eq!(recording.now(), start);
        let call = recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
        recording.delivered(30_010, &[(7, 30_020, 0)]);
        recording.wait_ms(30).owner_changed("org.x.Late", "", ":1.7").wait_ms(1);
        recording.reply(&call, ":1.7", &()).delivered(1, &[(5, 2, 0)]);
        let capture = recording.capture();
        let call = capture.messages().next().expect("a call");
        let way =
            CallTimes::of(&call, &ProcessorRecord::default()).expect("all of it was recorded");
        assert_eq!(way.time(CallPhase::Start), Duration::from_millis(30));
    }
}

#[test]
fn starts_may_exceed_32_bits_of_microseconds() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
    recording.delivered(6_000_010, &[(7, 6_000_020, 0)]);
    recording.wait_ms(6000).owner_changed("org.x.Late", "", ":1.7").wait_ms(1);
    recording.reply(&call, ":1.7", &()).delivered(1, &[(5, 2, 0)]);
    let capture = recording.capture();
    let call = capture.messages().next().expect("a call");
    assert_eq!(call.routed_after(), Some(Duration::from_micros(6_000_010)));
    let way = CallTimes::of(&call, &ProcessorRecord::default()).expect("all of it was recorded");
    let micros = CallPhase::ALL.map(|phase| way.time(phase).as_micros());
    assert_eq!(micros, [6_000_000, 10, 10, 980, 0, 1, 1]);
}

/// The service is done after 100 µs, and the bus gets a processor only 5 ms later.
#[test]
fn replies_waiting_for_the_bus_do_not_count_as_time_of_the_service() {
    let mut recording = TestRecording::new();
    recording.process(":1.9", 60, "vfsd").process(":1.5", 42, "shell");
    let start = recording.now();
    let call = recording.call(":1.5", ":1.9", "/f org.x.Files.List", &());
    recording.delivered(10, &[(9, 20, 0)]);
    recording.wait_us(5_120).reply(&call, ":1.9", &()).delivered(10, &[(5, 20, 0)]).wait_ms(1);
    let (until, spans) = (recording.now(), vec![(30_000, 90_000), (5_900_000, 1_000)]);
    recording.fact(Fact::Ran(ProcessorUse {
        pid: 60,
        from: start,
        until,
        spans,
        ..ProcessorUse::default()
    }));
    let capture = recording.capture();
    let call = capture.messages().next().expect("a call");
    let processors = ProcessorRecord::of(&capture);
    let way = CallTimes::of(&call, &processors).expect("all of it was recorded");
    let micros = CallPhase::ALL.map(|phase| way.time(phase).as_micros());
    assert_eq!(micros, [0, 10, 10, 100, 5_000, 10, 10]);
    assert_eq!(Some(way.total()), call.duration());
    let keys = shares(&capture, all).expect("one call").to_csv();
    assert!(keys.lines().next().is_some_and(|keys| keys.contains(",bus_wait,")), "{keys}");
}

fn shares_of_a_monitor() -> Option<capture::table::DataTable> {
    shares(&desktop().capture(), all)
}

#[test]
fn start_paths_are_traced_back_from_the_first_reply() {
    let capture = start().capture();
    let found = start_ups(&capture);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].length(), Duration::from_millis(150));
    assert_eq!(
        found[0].table(&capture, 100).to_csv(),
        "after_ns,what,took_ns,number\n\
         0,shell requests the name,,1\n\
         20000000,process started,,\n\
         50000000,connected,,\n\
         50000000,  waits for org.x.Settings.All of org.x.Settings,80000000,3\n\
         50000000,    org.x.Settings works,10000000,\n\
         60000000,    waits for org.x.Disk.Read of :1.3,60000000,4\n\
         120000000,    org.x.Settings works,10000000,\n\
         130000000,  org.x.Tray works,20000000,\n\
         135000000,name acquired,,\n\
         150000000,first reply,,8\n"
    );
    let short = found[0].table(&capture, 2).to_csv();
    assert!(!short.contains("org.x.Settings works"), "{short}");
}

#[test]
fn services_older_than_the_recording_have_no_start() {
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

/// The events of a phase, each with name and time in microseconds.
fn events(events: &[Value], phase: &str) -> Vec<(String, f64)> {
    let of_phase = events.iter().filter(|event| event["ph"] == phase);
    of_phase
        .map(|event| {
            let name = event["name"].as_str().unwrap_or_default().to_owned();
            (name, event["ts"].as_f64().unwrap_or_default())
        })
        .collect()
}

/// The spans with name, start and length in microseconds. Each begins and ends separately on its
/// track.
fn spans(events: &[Value]) -> Vec<(String, f64, f64)> {
    let (begins, ends) = (self::events(events, "B"), self::events(events, "E"));
    let spans = begins.into_iter().zip(ends).map(|((name, from), (end, to))| {
        assert_eq!(name, end, "a span ends before the next event of its kind");
        (name, from, to - from)
    });
    spans.collect()
}

/// The errors that speedscope 1.25 would report. It counts the times of a track from the first one,
/// splits each event with a length into a begin and an end, sorts begins and ends by time, and puts
/// the end first if both are at one time, unless that span begins there.
fn complaints_of_speedscope(events: &[Value]) -> Vec<String> {
    let mut tracks = std::collections::BTreeMap::<_, Vec<&Value>>::new();
    for event in events.iter().filter(|event| ["B", "E", "X"].iter().any(|ph| event["ph"] == *ph)) {
        tracks.entry((event["pid"].as_u64(), event["tid"].as_u64())).or_default().push(event);
    }
    tracks.into_values().flat_map(complaints_about_a_track).collect()
}

fn complaints_about_a_track(mut events: Vec<&Value>) -> Vec<String> {
    let number = |event: &Value, key: &str| event[key].as_f64().unwrap_or_default();
    events.sort_by(|a, b| {
        let times = number(a, "ts").total_cmp(&number(b, "ts"));
        times.then(number(b, "dur").total_cmp(&number(a, "dur")))
    });
    let start = events.first().map_or(0.0, |first| number(first, "ts"));
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    for event in events {
        let (at, key) =
            (number(event, "ts") - start, format!("{}{}", event["name"], event["args"]));
        match event["ph"].as_str() {
            Some("B") => begins.push((at, key)),
            Some("E") => ends.push((at, key)),
            _ => {
                begins.push((at, key.clone()));
                ends.push((at + number(event, "dur"), key));
            }
        }
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut begins, mut open, mut complaints) = (begins.into_iter().peekable(), vec![], vec![]);
    // Of two ends at one time, it takes the second one if its span has the name of the open one.
    let pairs = ends.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    complaints.extend(pairs.map(|pair| format!("{} ends together with the next one", pair[0].1)));
    for (end, end_key) in ends {
        let is_before = |(at, key): &(f64, String)| *at < end || *at == end && *key == end_key;
        open.extend(std::iter::from_fn(|| begins.next_if(is_before)));
        let top = open.pop().map(|(_, key)| key);
        if top.as_deref() != Some(&end_key) {
            complaints.push(format!("tried to end {end_key} while {top:?} was open"));
        }
    }
    complaints.extend(open.into_iter().chain(begins).map(|(_, key)| format!("{key} has no end")));
    complaints
}

/// Consecutive calls, at times that are not whole microseconds.
#[test]
fn chrome_traces_have_an_end_for_every_span_in_speedscope() {
    let mut recording = TestRecording::new();
    recording.call(":1.4", ":1.9", "/f org.x.Files.Never", &());
    for nanos in 0..200 {
        recording.wait_ns(101 + nanos);
        let call = recording.call(":1.5", ":1.9", "/f org.x.Files.List", &());
        recording.delivered(0, &[(9, 1, 0)]);
        recording.wait_ns(3_033 + nanos * 7).reply(&call, ":1.9", &());
        recording.delivered(0, &[(5, 0, 0)]).wait_ns(nanos % 2);
        // The next call is served at once: a span without a length.
        let call = recording.call(":1.5", ":1.9", "/f org.x.Files.Stat", &());
        recording.delivered(0, &[(9, 9, 0)]).reply(&call, ":1.9", &());
        recording.delivered(0, &[(5, 0, 0)]);
    }
    let events = trace(&recording.capture());
    assert!(events.len() > 400, "{}", events.len());
    assert_eq!(complaints_of_speedscope(&events), [""; 0]);
}

#[test]
fn chrome_traces_show_caller_service_and_bus() {
    let mut recording = traced();
    recording.signal(DRIVER, "/org/freedesktop/DBus org.freedesktop.DBus.X", &());
    let events_of = trace(&recording.capture());
    let span = |name: &str, from: f64, length: f64| (name.to_owned(), from, length);
    let spans = spans(&events_of);
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
    assert_eq!(events(&events_of, "f")[0], (String::from("call"), 30.0));
    assert_eq!(events(&events_of, "i").len(), 1);
    assert_eq!(events(&events_of, "C").len(), 4);
}

#[test]
fn chrome_trace_spans_of_a_track_do_not_overlap() {
    let events = trace(&desktop().capture());
    let mut ends = std::collections::HashMap::new();
    for event in &events {
        let track = (event["pid"].as_u64(), event["tid"].as_u64());
        let at = event["ts"].as_f64().unwrap_or_default();
        match event["ph"].as_str() {
            Some("B") => {
                let before = *ends.get(&track).unwrap_or(&at);
                assert!(before <= at, "{track:?}: {before} {at}");
            }
            Some("E") => assert!(ends.insert(track, at).is_none_or(|before| before <= at)),
            _ => {}
        }
    }
    assert!(!ends.is_empty());
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
fn chrome_traces_show_starts_as_spans() {
    let events_of = trace(&start().capture());
    let found = spans(&events_of);
    assert!(found.contains(&(String::from("org.x.Tray starts"), 0.0, 150_000.0)), "{found:?}");
}

/// A signal to three recipients, another signal that the bus read together with it, and a call,
/// with the times of a bus that measures the stages of routing.
fn staged() -> TestRecording {
    let mut recording = TestRecording::new();
    let changed = "/f org.x.Files.Changed";
    recording.signal(":1.9", changed, &("x".repeat(20_000),));
    recording.delivered(40, &[(5, 90, 1), (6, 50, 1), (7, 70, 1)]).staged(12, 12, Some((20, 8)));
    recording.begun(0, 60);
    recording.signal(":1.9", "/f org.x.Files.Removed", &());
    recording.delivered(60, &[(5, 100, 1)]).staged(12, 45, Some((48, 5)));
    recording.wait_us(200);
    let call = recording.call(":1.5", ":1.9", "/f org.x.Files.List", &());
    recording.delivered(10, &[(9, 30, 0)]).staged(4, 6, None);
    recording.wait_us(100).reply(&call, ":1.9", &()).delivered(20, &[(5, 70, 0)]);
    recording.staged(5, 9, None);
    recording
}

/// The phases of each message, in microseconds.
fn phases(capture: &Capture) -> Vec<Vec<(&'static str, u128)>> {
    let times = capture.messages().filter_map(|message| BusTime::of(&message));
    let micros = |(phase, time): (BusPhase, Duration)| (phase.as_str(), time.as_micros());
    times.map(|time| time.phases().map(micros).collect()).collect()
}

#[test]
fn bus_phases_add_up_to_the_time_in_the_bus() {
    let capture = staged().capture();
    let expected = [
        vec![("receive", 12), ("wait", 0), ("dispatch", 20), ("match", 8), ("send", 50)],
        vec![("receive", 12), ("wait", 33), ("dispatch", 10), ("match", 5), ("send", 40)],
        vec![("receive", 4), ("wait", 2), ("dispatch", 4), ("send", 20)],
        vec![("receive", 5), ("wait", 4), ("dispatch", 11), ("send", 50)],
    ];
    assert_eq!(phases(&capture), expected);
    let totals = [90, 100, 30, 70].map(|micros| Some(Duration::from_micros(micros)));
    let times = capture.messages().filter_map(|message| BusTime::of(&message));
    for (time, total) in times.zip(totals) {
        assert_eq!(
            (time.total(), time.phases().map(|(_, time)| time).sum()),
            (total, total.unwrap())
        );
    }
}

#[test]
fn bus_phases_without_stages_are_routing_and_sending() {
    let capture = traced().capture();
    let expected = [[("route", 10), ("send", 20)], [("route", 20), ("send", 50)]];
    assert_eq!(phases(&capture), expected);
    let shares = bus_shares(&capture, all).expect("two messages");
    assert!(!shares.has_stages);
    let keys = shares.table.to_csv();
    assert!(
        keys.starts_with("type,size,messages,recipients_mean,p50_ns,p99_ns,route,send\n"),
        "{keys}"
    );
    let held = {
        let mut recording = TestRecording::new();
        recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
        recording.delivered(30_010, &[(7, 30_020, 0)]);
        recording.wait_ms(30).owner_changed("org.x.Late", "", ":1.7");
        recording.capture()
    };
    assert_eq!(phases(&held), [[("start", 30_000), ("route", 10), ("send", 10)]]);
}

/// Unchecked times in a file, and a copy that was not written.
#[test]
fn bus_stages_do_not_begin_before_the_previous_one() {
    let mut recording = TestRecording::new();
    recording.signal(":1.9", "/f org.x.Files.Changed", &());
    recording.delivered(40, &[(5, 30, 1)]).staged(90, 30, Some((20, 500)));
    recording.signal(":1.9", "/f org.x.Files.Changed", &());
    recording.delivered(6_000_000, &[(5, 6_000_001, 1)]).staged(1, 5_000_000, None);
    let clamped = vec![("receive", 30), ("wait", 0), ("dispatch", 0), ("match", 10), ("send", 0)];
    let too_late = vec![("route", 6_000_000), ("send", 1)];
    assert_eq!(phases(&recording.capture()), [clamped, too_late]);
    assert!(phases(&desktop().capture()).is_empty(), "the recording of a monitor");
}

#[test]
fn bus_shares_are_grouped_by_type_and_size() {
    let mut recording = staged();
    // The first messages of a trace have no stages, and the bus does not receive its own messages.
    recording.signal(":1.9", "/f org.x.Files.Changed", &()).delivered(500, &[(5, 900, 1)]);
    recording.owner_changed("org.x.Late", "", ":1.7").delivered(0, &[(5, 9, 1)]);
    let capture = recording.capture();
    let shares = bus_shares(&capture, all).expect("four messages");
    assert_eq!((shares.has_stages, shares.omitted), (true, 1));
    let rows: Vec<_> = shares.table.to_csv().lines().map(str::to_owned).collect();
    let cells = |row: &str| -> Vec<String> {
        row.split(',').map(|cell| cell[..cell.len().min(14)].to_owned()).collect()
    };
    assert_eq!(
        rows[0],
        "type,size,messages,recipients_mean,p50_ns,p99_ns,receive,wait,dispatch,match,send"
    );
    let share = |part: f64, whole: f64| cells(&(part / whole).to_string()).remove(0);
    let expected = [
        ("signal", "up to 1 KiB", "1", 1.0, [100, 100], [12.0, 33.0, 10.0, 5.0, 40.0]),
        ("signal", "up to 256 KiB", "1", 3.0, [90, 90], [12.0, 0.0, 20.0, 8.0, 50.0]),
        ("signal", "all", "2", 2.0, [90, 100], [24.0, 33.0, 30.0, 13.0, 90.0]),
        ("call", "up to 1 KiB", "1", 1.0, [30, 30], [4.0, 2.0, 4.0, 0.0, 20.0]),
        ("reply", "up to 1 KiB", "1", 1.0, [70, 70], [5.0, 4.0, 11.0, 0.0, 50.0]),
    ];
    assert_eq!(rows.len(), 1 + expected.len(), "{rows:?}");
    for (row, (kind, size, messages, recipients, times, parts)) in rows[1..].iter().zip(expected) {
        let whole: f64 = parts.iter().sum();
        let shares = parts.iter().enumerate().map(|(place, part)| match (place, kind) {
            (3, "call" | "reply") => String::new(),
            _ => share(*part, whole),
        });
        let cells_before = [
            kind.to_owned(),
            size.chars().take(14).collect(),
            messages.into(),
            recipients.to_string(),
        ];
        let times = times.map(|micros| (micros * 1000).to_string());
        let expected: Vec<_> = cells_before.into_iter().chain(times).chain(shares).collect();
        assert_eq!(cells(row), expected);
    }
    assert_eq!(bus_shares(&desktop().capture(), all), None);
}

#[test]
fn dispatch_times_are_sorted_by_total_time_in_the_bus() {
    let table = dispatch(&staged().capture(), all).expect("the bus has recorded");
    assert_eq!(
        table.to_csv(),
        "member,service,type,total_ns,messages,recipients_mean,p50_ns,p99_ns,receive_ns,wait_ns,\
         dispatch_ns,match_ns,send_ns\n\
         (all),,,290000,4,1.5,70000,100000,8250,9750,11250,3250,40000\n\
         org.x.Files.Removed,:1.9,signal,100000,1,1,100000,100000,12000,33000,10000,5000,40000\n\
         org.x.Files.Changed,:1.9,signal,90000,1,3,90000,90000,12000,0,20000,8000,50000\n\
         org.x.Files.List,:1.9,return,70000,1,1,70000,70000,5000,4000,11000,,50000\n\
         org.x.Files.List,:1.9,call,30000,1,1,30000,30000,4000,2000,4000,,20000\n"
    );
    assert_eq!(dispatch(&desktop().capture(), all), Err(UnknownReason::BusTimes));
    assert!(dispatch(&staged().capture(), |_| false).expect("a table").rows().is_empty());
}

/// The begins and ends of the spans of each track, in the order of the file, in whole nanoseconds.
fn exact(events: &[Value]) -> Vec<((u64, u64), bool, i128, String)> {
    let of_spans = events.iter().filter(|event| event["ph"] == "B" || event["ph"] == "E");
    of_spans
        .map(|event| {
            let micros = event["ts"].to_string();
            let (whole, part) = micros.split_once('.').unwrap_or((&micros, ""));
            assert!(part.len() <= 3, "{micros} is not in nanoseconds");
            let nanos = format!("{whole}{part:0<3}").parse().expect("a decimal number");
            let track =
                (event["pid"].as_u64().expect("a value"), event["tid"].as_u64().expect("a value"));
            (track, event["ph"] == "B", nanos, event["name"].as_str().expect("a value").to_owned())
        })
        .collect()
}

#[test]
fn chrome_traces_show_match_rules_inside_of_dispatch() {
    let mut recording = staged();
    recording.owner_changed("org.x.Late", "", ":1.7");
    let events_of = trace(&recording.capture());
    let mut open = std::collections::HashMap::<_, Vec<(String, i128)>>::new();
    let (mut found, mut ends) = (Vec::new(), std::collections::HashMap::new());
    for (track, begins, at, name) in exact(&events_of) {
        let inside = open.entry(track).or_default();
        if begins {
            let earliest = inside.last().map_or(*ends.get(&track).unwrap_or(&0), |(_, from)| *from);
            assert!(earliest <= at, "{name} begins at {at}, before {earliest}");
            inside.push((name, at));
            continue;
        }
        let (begun, from) = inside.pop().expect("a span has begun");
        assert_eq!(begun, name);
        assert!(from <= at && ends.get(&track).is_none_or(|end| *end <= at), "{name}");
        ends.insert(track, at);
        let around = inside.last().map(|(around, _)| around.clone()).unwrap_or_default();
        found.push((name, from / 1000, at / 1000, around));
    }
    let span = |name: &str, from: i128, to: i128, around: &str| {
        (name.to_owned(), from, to, around.to_owned())
    };
    let [changed, removed, list] =
        ["Changed", "Removed", "List"].map(|member| format!("org.x.Files.{member}"));
    for expected in [
        span(&format!("receive {changed}"), 0, 12, ""),
        span(&format!("match {changed}"), 20, 28, &format!("dispatch {changed}")),
        span(&format!("dispatch {changed}"), 12, 40, ""),
        span(&format!("send {changed}"), 40, 90, ""),
        span(&format!("write {changed} to :1.5"), 60, 90, ""),
        span(&format!("match {removed}"), 48, 53, &format!("dispatch {removed}")),
        span(&format!("dispatch {removed}"), 45, 60, ""),
        span(&format!("receive {list}"), 200, 204, ""),
        span(&format!("dispatch {list}"), 206, 210, ""),
        span(&format!("send {list}"), 210, 230, ""),
        span(&format!("receive {list}"), 300, 305, ""),
    ] {
        assert!(found.contains(&expected), "{expected:?} of {found:#?}");
    }
    let receives = found.iter().filter(|(name, ..)| name.starts_with("receive "));
    assert_eq!(receives.count(), 3, "two signals were read together");
    let points = events(&events_of, "i");
    for (recipient, at) in [(":1.6", 50.0), (":1.7", 70.0)] {
        assert!(points.contains(&(format!("write {changed} to {recipient}"), at)), "{points:?}");
    }
    assert_eq!(complaints_of_speedscope(&events_of), [""; 0]);
}
