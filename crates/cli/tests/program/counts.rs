//! All commands count the same messages of a recording, without the recorder's own.

use std::fs;

use capture::Capture;
use capture::record::Fact;
use testkit::recording::TestRecording;

use crate::scene::run;
use crate::support::ProgramFolder;

/// Messages of programs in the recording, and messages from and to the recorder.
const TRAFFIC: usize = 5;
const OF_RECORDER: usize = 4;

const NOTE: &str = "4 messages from or to the recorder are hidden; is:recorder shows them";

fn recorded() -> ProgramFolder {
    let mut recording = TestRecording::new();
    recording.fact(Fact::Recorder { unique: ":1.2".into() });
    for _ in 0..2 {
        let call = recording.call(":1.2", "org.freedesktop.DBus", "/ org.x.Y.Ask", &());
        recording.wait_ms(1).reply(&call, "org.freedesktop.DBus", &());
        let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &());
        recording.wait_ms(1).reply(&call, ":1.6", &());
    }
    recording.signal(":1.6", "/ org.example.Mail.Changed", &());
    let folder = ProgramFolder::new();
    fs::write(folder.join("it.pcapng"), recording.pcapng()).expect("a writable folder");
    let file = Capture::open(&folder.join("it.pcapng")).expect("a recording");
    assert_eq!(file.len(), TRAFFIC + OF_RECORDER);
    folder
}

#[test]
fn commands_agree_on_the_number_of_messages() {
    let folder = recorded();
    let json = |line: &str| -> serde_json::Value {
        serde_json::from_str(&run(&folder, line).stdout).expect("JSON")
    };
    let stats = json("stats it.pcapng --json");
    assert_eq!(stats["summary"]["messages"], TRAFFIC, "{stats}");
    assert_eq!(stats["recorder_messages"], OF_RECORDER, "{stats}");
    let lint = json("lint it.pcapng --json");
    assert_eq!((&lint["messages"], &lint["connections"]), (&TRAFFIC.into(), &3.into()), "{lint}");
    assert_eq!(lint["recorder_messages"], OF_RECORDER, "{lint}");
    for line in ["show it.pcapng --format json", "export it.pcapng --format json"] {
        let printed = run(&folder, line);
        assert_eq!(printed.stdout.lines().count(), TRAFFIC, "{line}");
        assert_eq!(printed.stderr, format!("note: {NOTE}\n"), "{line}");
    }
    let csv = run(&folder, "export it.pcapng --format csv").stdout;
    assert_eq!(csv.lines().count(), 1 + TRAFFIC, "{csv}");
    for line in ["stats it.pcapng", "lint it.pcapng"] {
        let text = run(&folder, line).stdout.replace("\n  ", " ").replace('\n', " ");
        assert!(text.contains(NOTE), "{line}: {text}");
    }
}

#[test]
fn messages_of_the_recorder_are_shown_by_a_query() {
    let folder = recorded();
    for (query, expected) in [
        ("is:recorder", OF_RECORDER),
        ("is:recorder_or_!is:recorder", TRAFFIC + OF_RECORDER),
        ("#1", 1),
    ] {
        let printed = run(&folder, &format!("show it.pcapng {query} --format json"));
        assert_eq!(printed.stdout.lines().count(), expected, "{query}");
        assert_eq!(printed.stderr, "", "{query}");
    }
}

#[test]
fn pcapng_exports_include_messages_of_the_recorder_and_pcap_exports_do_not() {
    let folder = recorded();
    for (line, file, messages) in [
        ("export it.pcapng --format pcapng -o all.pcapng", "all.pcapng", TRAFFIC + OF_RECORDER),
        ("export it.pcapng --format pcap -o all.pcap", "all.pcap", TRAFFIC),
        ("export it.pcapng member:* --format pcapng -o part.pcapng", "part.pcapng", TRAFFIC),
    ] {
        assert_eq!(run(&folder, line).status, Some(0), "{line}");
        let capture = Capture::open(&folder.join(file)).expect("a recording");
        assert_eq!(capture.len(), messages, "{line}");
    }
    let stats = run(&folder, "stats all.pcapng --json").stdout;
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!(stats["summary"]["messages"], TRAFFIC, "{stats}");
}
