//! Tests of `diligence lint`: its output and exit status.

use std::fs;
use std::process::Output;

use testkit::recording::TestRecording;

use crate::support::ProgramFolder;

/// Returns a recording of a program that polls every second, ten times.
fn polling() -> Vec<u8> {
    let mut recording = TestRecording::new();
    for turn in 0..10_u32 {
        let call = recording.call(":1.1", "org.example.Mail", "/m org.example.Mail.GetCount", &());
        recording.wait_us(300).reply(&call, ":1.2", &(turn,)).wait_ms(1000);
    }
    recording.pcap()
}

fn lint(folder: &ProgramFolder, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = folder.diligence();
    let Output { status, stdout, stderr } =
        command.arg("lint").args(words).output().expect("the program exists");
    let text = |bytes| String::from_utf8(bytes).expect("valid UTF-8");
    (status.code(), text(stdout), text(stderr))
}

fn folder() -> ProgramFolder {
    let folder = ProgramFolder::new();
    fs::write(folder.join("run.pcap"), polling()).expect("a writable folder");
    folder
}

#[test]
fn findings_set_the_exit_status_with_fail_on() {
    let folder = folder();
    for (words, status, expected) in [
        (&["run.pcap"][..], 0, "calls Mail.GetCount of org.example.Mail every 1 s, 10 times"),
        (&["run.pcap", "--fail-on", "med"], 0, "L12"),
        (&["run.pcap", "--fail-on", "low"], 1, "L12"),
        (&["run.pcap", "--fail-on", "low", "--rule", "L19"], 0, "0 findings"),
        (&["run.pcap", "--json"], 0, "\"rule\":\"L12\""),
        (&["--explain", "L12"], 0, "L12 polling"),
    ] {
        let (code, stdout, stderr) = lint(&folder, words);
        assert_eq!((code, stderr.as_str()), (Some(status), ""), "{words:?}");
        assert!(stdout.contains(expected), "{words:?}: {stdout}");
    }
}

#[test]
fn findings_in_the_baseline_are_omitted() {
    let folder = folder();
    let (code, ..) = lint(&folder, &["run.pcap", "--baseline", "known", "--update-baseline"]);
    assert_eq!(code, Some(0));
    let known = fs::read_to_string(folder.join("known")).expect("the file was written");
    let line = "L12 - org.example.Mail org.example.Mail.GetCount\n";
    assert!(known.contains(line), "{known}");
    fs::write(folder.join("known"), known + "L19 * *\n").expect("a writable folder");
    let words = ["run.pcap", "--baseline", "known", "--fail-on", "low"];
    let (code, stdout, stderr) = lint(&folder, &words);
    assert_eq!((code, stderr.as_str()), (Some(0), "known: not found: L19 * *\n"));
    assert!(stdout.contains("0 findings") && stdout.contains("known"), "{stdout}");
}

#[test]
fn unreadable_recordings_and_baselines_are_named() {
    let folder = folder();
    fs::write(folder.join("bad"), "polling * *\n").expect("a writable folder");
    for (words, status, expected) in [
        (&["gone.pcap"][..], 1, "cannot read gone.pcap: "),
        (&["run.pcap", "--baseline", "gone"], 1, "cannot read the baseline gone: "),
        (&["run.pcap", "--baseline", "bad"], 1, "bad, line 1: \"polling\" is not the id"),
        (&["run.pcap", "--rule", "L99"], 2, "there is no rule L99"),
        (&[], 2, "<FILE>"),
    ] {
        let (code, stdout, stderr) = lint(&folder, words);
        assert_eq!((code, stdout.as_str()), (Some(status), ""), "{words:?}");
        assert!(stderr.contains(expected), "{words:?}: {stderr}");
    }
}
