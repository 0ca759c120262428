//! Tests of `diligence show`: its output and exit status.

use std::fs;

use capture::file::PcapngWriter;
use capture::record::{EndCause, Fact, RecordingOrigin};
use testkit::golden;
use testkit::recording::TestRecording;

use crate::scene::{check_refused, golden_file, office, run, session};

#[test]
fn messages_are_printed_in_the_formats_of_the_tools() {
    let forms = ["busctl", "gdbus", "dbus-send", "json"];
    let lines =
        forms.map(|form| format!("show office.pcapng number<=2_or_type:error --format {form}"));
    golden::check(golden_file("show.txt"), &session(&office(), &lines));
}

#[test]
fn commands_of_every_tool_are_printed() {
    let programs = ["busctl", "gdbus", "dbus-send", "python", "match-rule"];
    let query = "number=2_or_number=9";
    let lines =
        programs.map(|program| format!("show office.pcapng {query} --as-command {program}"));
    golden::check(golden_file("show-as-command.txt"), &session(&office(), &lines));
}

#[test]
fn messages_without_a_command_are_reported_and_the_rest_printed() {
    let folder = office();
    let mut recording = TestRecording::new();
    recording.signal(":1.6", "/mail org.example.Mail.Changed", &("x".repeat(99),)).cut(150);
    recording.signal(":1.6", "/mail org.example.Mail.Sent", &());
    fs::write(folder.join("cut.pcap"), recording.pcap()).expect("a writable folder");
    let printed = run(&folder, "show cut.pcap --as-command busctl");
    assert_eq!(printed.stdout, "busctl --user emit /mail org.example.Mail Sent\n");
    assert_eq!(printed.status, Some(1));
    let errors = "message 1: it is cut, redacted or invalid, so its arguments are unknown\n\
                diligence show: 1 message cannot be expressed as a command\n";
    assert_eq!(printed.stderr, errors);
}

#[test]
fn invalid_show_options_are_rejected() {
    check_refused(
        &office(),
        &[
            ("show gone.pcap", 1, "diligence show: cannot read gone.pcap: "),
            ("show office.pcapng color:red", 2, "the query: "),
            (
                "show office.pcapng --format xml",
                2,
                "possible values: line, busctl, gdbus, dbus-send, json",
            ),
            ("show office.pcapng --as-command perl", 2, "possible values: busctl, gdbus, "),
            ("show office.pcapng --format json --as-command gdbus", 2, "cannot be used with"),
            ("show", 2, "<FILE>"),
        ],
    );
}

/// Returns a recording by our recorder, which ends with this fact if one is given.
fn recorded(end: Option<Fact>) -> Vec<u8> {
    let mut recording = TestRecording::new();
    recording.fact(Fact::Recorder { unique: ":1.2".into() });
    recording.signal(":1.6", "/mail org.example.Mail.Sent", &());
    if let Some(end) = end {
        recording.fact(end);
    }
    let origin =
        RecordingOrigin { program: Some("diligence 0.1.0".into()), ..RecordingOrigin::default() };
    let mut writer = PcapngWriter::new(Vec::new(), &origin).expect("writing to memory succeeds");
    recording.each(|record| writer.write(&record).expect("writing to memory succeeds"));
    writer.finish().expect("writing to memory succeeds")
}

#[test]
fn recordings_without_an_end_are_reported_as_incomplete() {
    let folder = office();
    let cases = [
        (None, "the recorder was killed or is still recording"),
        (Some(EndCause::NoBus), "ended early: the last bus disconnected"),
        (Some(EndCause::Asked), ""),
    ];
    for (cause, words) in cases {
        let file = recorded(cause.map(|cause| Fact::Ended { cause }));
        fs::write(folder.join("it.pcapng"), file).expect("a writable folder");
        let shown = run(&folder, "show it.pcapng");
        let is_reported = |text: &str| text.replace("\n", " ").contains(words);
        assert_eq!(shown.stderr.is_empty(), words.is_empty(), "{}", shown.stderr);
        assert!(is_reported(&shown.stderr), "{}", shown.stderr);
        let found = run(&folder, "lint it.pcapng --json");
        assert!(is_reported(&found.stdout), "{}", found.stdout);
    }
}
