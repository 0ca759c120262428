//! A recording with messages of all kinds, and helpers that run diligence on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use capture::record::{CaptureMethod, RecordedBus};
use testkit::recording::{DRIVER, TestRecording};
use wire::message::Flags;

use crate::support::ProgramFolder;

/// The name of the recording that [`office`] writes.
pub(crate) const OFFICE: &str = "office.pcapng";

/// Returns a folder with a recording of a program that calls a mail service, which is slow at
/// times.
pub(crate) fn office() -> ProgramFolder {
    let mut recording = TestRecording::new();
    let bus = RecordedBus {
        name: "session".into(),
        method: CaptureMethod::Trace,
        ..RecordedBus::default()
    };
    recording.bus(bus).owner("org.example.Mail", ":1.6");
    recording.process(":1.5", 42, "reader").process(":1.6", 50, "maild");
    recording.rule(":1.5", "type='signal',member='Changed'");
    let (to, mail) = ("org.example.Mail", |member| format!("/mail org.example.Mail.{member}"));
    for millis in [1, 2, 3, 40] {
        let call = recording.call(":1.5", to, &mail("Count"), &("Inbox",));
        recording.wait_ms(millis).reply(&call, ":1.6", &(7_u32,));
    }
    let call = recording.call(":1.5", ":1.6", &mail("Find"), &("a \"b\", c",));
    recording.wait_ms(9).error(&call, ":1.6", "org.example.Error.Busy", "not now");
    let call = recording.call(":1.5", to, &mail("Find"), &("z",));
    let no_reply = "org.freedesktop.DBus.Error.NoReply";
    recording.wait_ms(900).error(&call, DRIVER, no_reply, "too late");
    recording.call(":1.5", to, &mail("Find"), &("never",));
    recording.call_with(Flags::NO_REPLY_EXPECTED, ":1.5", to, &mail("Go"), &());
    for copies in [&[(5, 30, 1)][..], &[(5, 30, 1), (7, 40, 1)], &[]] {
        recording.wait_ms(5).signal(":1.6", &mail("Changed"), &(3_u32,)).delivered(9, copies);
    }
    recording.ask_bus(":1.5", "AddMatch", &("member='Changed',type='signal'",), &());
    let folder = ProgramFolder::new();
    fs::write(folder.join(OFFICE), recording.pcapng()).expect("a writable folder");
    folder
}

/// The exit status and the output of the program.
pub(crate) struct SceneOutput {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a line of words, in which `_` stands for a space.
pub(crate) fn run(folder: &ProgramFolder, line: &str) -> SceneOutput {
    let words = line.split(' ').map(|word| word.replace('_', " "));
    let output = folder.diligence().args(words).output();
    let Output { status, stdout, stderr } = output.expect("the program exists");
    let text = |bytes| String::from_utf8(bytes).expect("valid UTF-8");
    SceneOutput { status: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// Returns the output of several lines, each below its line. All must succeed, and print only notes
/// on standard error.
pub(crate) fn session(folder: &ProgramFolder, lines: &[String]) -> String {
    let shown = |line: &String| {
        let printed = run(folder, line);
        assert_eq!(printed.status, Some(0), "{line}: {}", printed.stderr);
        let notes = printed.stderr;
        assert!(notes.lines().all(|line| line.starts_with("note: ")), "{line}: {notes}");
        format!("$ diligence {line}\n{notes}{}\n", printed.stdout)
    };
    lines.iter().map(shown).collect()
}

/// Checks lines that must fail, each with its exit status and a part of its error.
pub(crate) fn check_refused(folder: &ProgramFolder, lines: &[(&str, i32, &str)]) {
    for (line, status, expected) in lines {
        let printed = run(folder, line);
        assert_eq!((printed.status, printed.stdout.as_str()), (Some(*status), ""), "{line}");
        assert!(printed.stderr.contains(expected), "{line}: {}", printed.stderr);
    }
}

/// Returns the path of a golden file of these tests.
pub(crate) fn golden_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/golden").join(name)
}
