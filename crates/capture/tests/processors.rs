//! Processor use of processes, tested with known recordings.

use std::time::Duration;

use capture::Capture;
use capture::file::RecordingReader;
use capture::record::{BusId, Fact, ProcessorUse, RecordedProcess, RecordedTime, RecordingRecord};
use capture::statistics::{UnknownReason, switches};
use capture::timeline::{
    ProcessorRecord, ProcessorTurn, chrome_trace, parties, slowest, slowest_table,
};
use testkit::recording::TestRecording;

/// The processes of the bus, a caller and its service.
const BUS: u32 = 42;
const CALLER: u32 = 101;
const SERVICE: u32 = 102;

/// A service that is woken 100 µs after it got the call, runs for 200 µs, waits for 500 µs, runs
/// for another 150 µs and then replies; a bus that receives the reply 50 µs later; and a caller
/// that is woken 30 µs after that.
fn call() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.process(":1.5", CALLER, "shell").process(":1.6", SERVICE, "maild");
    recording.fact(Fact::Bus {
        process: RecordedProcess { pid: Some(BUS), ..RecordedProcess::default() },
    });
    let start = recording.now();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.delivered(0, &[(6, 5, 0)]);
    recording.wait_us(1000).reply(&call, ":1.6", &()).delivered(0, &[(5, 5, 0)]);
    ran(&mut recording, SERVICE, start, &[(100, 200), (800, 150)]);
    ran(&mut recording, CALLER, start, &[(0, 10), (1030, 40)]);
    ran(&mut recording, BUS, start, &[(0, 5), (995, 20)]);
    recording
}

/// The processor use of a process in 2 ms; spans are in microseconds.
fn ran(recording: &mut TestRecording, pid: u32, from: RecordedTime, spans: &[(u64, u64)]) {
    let spans: Vec<_> = spans.iter().map(|(after, length)| (after * 1000, length * 1000)).collect();
    let resumed = spans.len() as u64;
    let until = from.after(Duration::from_millis(2));
    recording.fact(Fact::Ran(ProcessorUse {
        pid,
        from,
        until,
        spans,
        resumed,
        ..ProcessorUse::default()
    }));
}

fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

#[test]
fn processor_use_of_caller_and_service_is_known() {
    let capture = call().capture();
    let processors = ProcessorRecord::of(&capture);
    let call = capture.messages().next().expect("a call");
    let turn = ProcessorTurn { wake_up: micros(100), on: micros(350), off: micros(500) };
    assert_eq!(processors.service(&call), Some(turn));
    assert_eq!(processors.return_wake_up(&call), Some(micros(30)));
    let table = parties(&capture, |_| true).expect("it is known").to_csv();
    assert_eq!(
        table,
        "part,calls,p50_ns,p99_ns,max_ns,total_ns\n\
         service is woken,1,100000,100000,100000,100000\n\
         service has a processor,1,350000,350000,350000,350000\n\
         service waits or has no processor,1,500000,500000,500000,500000\n\
         caller is woken for the reply,1,30000,30000,30000,30000\n"
    );
    let table = slowest_table(&slowest(&capture, |_| true, 1)).to_csv();
    assert!(table.contains(",100000,350000,"), "{table}");
}

/// Lost switches and other threads may be anywhere in the period.
#[test]
fn processor_use_is_unknown_in_incomplete_periods() {
    for lacks in
        [|ran: &mut ProcessorUse| ran.lost = 1, |ran: &mut ProcessorUse| ran.unfollowed = 1]
    {
        let mut capture = Capture::default();
        call().each(|record| match record {
            RecordingRecord::Fact { at, bus, fact: Fact::Ran(mut ran) } => {
                lacks(&mut ran);
                capture.push(RecordingRecord::Fact { at, bus, fact: Fact::Ran(ran) });
            }
            other => capture.push(other),
        });
        let call = capture.messages().next().expect("a call");
        assert_eq!(ProcessorRecord::of(&capture).service(&call), None);
    }
}

#[test]
fn processor_use_may_begin_before_the_recorded_write() {
    let mut recording = TestRecording::new();
    recording.process(":1.5", CALLER, "shell").process(":1.6", SERVICE, "maild");
    let start = recording.now();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.delivered(10, &[(6, 700, 0)]);
    recording.wait_us(1000).reply(&call, ":1.6", &()).delivered(20, &[(5, 90, 0)]);
    ran(&mut recording, SERVICE, start, &[(100, 200), (990, 20)]);
    ran(&mut recording, CALLER, start, &[(1060, 10)]);
    let capture = recording.capture();
    let processors = ProcessorRecord::of(&capture);
    let call = capture.messages().next().expect("a call");
    let turn = ProcessorTurn { wake_up: micros(90), on: micros(210), off: micros(690) };
    assert_eq!(processors.service(&call), Some(turn));
    assert_eq!(processors.return_wake_up(&call), Some(micros(40)));
}

/// The monitor reads the call after it woke the service, so the service seems to be woken late.
#[test]
fn processor_use_is_unknown_with_times_of_a_monitor() {
    let mut recording = TestRecording::new();
    recording.process(":1.5", CALLER, "shell").process(":1.6", SERVICE, "maild");
    let start = recording.now();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.wait_us(1000).reply(&call, ":1.6", &());
    ran(&mut recording, SERVICE, start, &[(0, 5), (900, 10)]);
    ran(&mut recording, CALLER, start, &[(1500, 10)]);
    let capture = recording.capture();
    let processors = ProcessorRecord::of(&capture);
    let call = capture.messages().next().expect("a call");
    assert_eq!(processors.service(&call), None);
    assert_eq!(processors.return_wake_up(&call), None);
}

#[test]
fn processor_use_is_unknown_if_not_recorded() {
    let mut recording = call();
    let start = recording.now();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.wait_ms(5).reply(&call, ":1.6", &());
    let lossy = |lost| ProcessorUse {
        pid: SERVICE,
        from: start,
        until: start.after(Duration::from_millis(9)),
        lost,
        ..ProcessorUse::default()
    };
    for (lost, expected) in [(1, None), (0, None)] {
        recording.fact(Fact::Ran(lossy(lost)));
        let capture = recording.capture();
        let call = capture.messages().nth(2).expect("a second call");
        assert_eq!(
            ProcessorRecord::of(&capture).service(&call),
            expected,
            "{lost} lost, and never on"
        );
    }
    let nothing = TestRecording::new().capture();
    assert!(ProcessorRecord::of(&nothing).is_empty());
    assert!(parties(&nothing, |_| true).is_none());
    assert_eq!(switches(&nothing, |_| true), Err(UnknownReason::Switches));
}

#[test]
fn processor_use_continues_across_periods() {
    let mut recording = TestRecording::new();
    recording.process(":1.6", SERVICE, "maild");
    let start = recording.now();
    let next = start.after(Duration::from_millis(2));
    ran(&mut recording, SERVICE, start, &[(1500, 500)]);
    ran(&mut recording, SERVICE, next, &[(0, 300), (400, 100)]);
    let capture = recording.capture();
    let processors = ProcessorRecord::of(&capture);
    let (peer, _) = capture.directory().peers().next().expect("one");
    let turn = |from: u64, to: u64| {
        let [from, to] = [from, to].map(|after| start.after(micros(after)));
        let turn = processors.turn(&capture, peer, from, to)?;
        Some([turn.wake_up, turn.on, turn.off].map(|time| time.as_micros()))
    };
    for (from, to, expected) in [
        (1000, 3000, Some([500, 900, 600])),
        (1600, 2200, Some([0, 600, 0])),
        (2350, 2390, Some([40, 0, 0])),
        (3000, 3100, None),
        (3000, 5000, None),
    ] {
        assert_eq!(turn(from, to), expected, "{from} to {to}");
    }
}

#[test]
fn switches_are_counted_for_each_call() {
    let table = switches(&call().capture(), |_| true).expect("it is known").to_csv();
    let rows: Vec<_> = table.lines().skip(1).collect();
    assert_eq!(
        rows,
        [
            "the bus [42],1,2,200,25000,0.0125,0,0,0,0",
            "shell [101],1,2,200,50000,0.025,0,0,0,0",
            "maild [102],1,2,200,350000,0.175,0,0,0,0",
        ]
    );
}

#[test]
fn chrome_traces_show_processor_use() {
    let mut bytes = Vec::new();
    chrome_trace(&call().capture(), |_| true, &mut bytes).expect("memory takes all");
    let trace: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let runs = events.iter().filter(|event| event["name"] == "runs");
    let runs = runs.filter(|run| run["pid"].as_u64() == Some(SERVICE.into()));
    let runs: Vec<_> = runs.map(|run| (run["ph"].as_str(), run["ts"].as_f64())).collect();
    let expected = [("B", 100.0), ("E", 300.0), ("B", 800.0), ("E", 950.0)];
    assert_eq!(runs, expected.map(|(phase, at)| (Some(phase), Some(at))));
}

#[test]
fn files_keep_processor_use() {
    let mut recording = call();
    let why = "no".to_owned();
    recording.fact(Fact::Unwatched { pid: 7, why });
    let facts =
        |capture: &Capture| -> Vec<(RecordedTime, BusId, Fact)> { capture.facts().to_vec() };
    let mut read = Capture::default();
    let file = recording.pcapng();
    let mut reader = RecordingReader::new(file.as_slice()).expect("memory").expect("a recording");
    while let Some(record) = reader.next_record().expect("memory") {
        if !matches!(record, RecordingRecord::Message(_)) {
            read.push(record);
        }
    }
    assert_eq!(facts(&read), facts(&recording.capture()));
}
