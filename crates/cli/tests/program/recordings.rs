//! Tests of `diligence timeline`, `diff` and `stats --assert`: their output and exit status.

use std::fs;
use std::process::Output;

use testkit::recording::TestRecording;

use crate::support::ProgramFolder;

/// Returns a recording with 30 calls whose replies take this long.
fn calls_taking(millis: i64) -> Vec<u8> {
    let mut recording = TestRecording::new();
    for turn in 0..30_u32 {
        let call = recording.call(":1.1", "org.example.Mail", "/m org.example.Mail.GetCount", &());
        recording.wait_ms(millis).reply(&call, ":1.2", &(turn,)).wait_ms(100);
    }
    recording.pcap()
}

fn recordings_folder() -> ProgramFolder {
    let folder = ProgramFolder::new();
    for (name, millis) in [("fast.pcap", 5), ("slow.pcap", 40)] {
        fs::write(folder.join(name), calls_taking(millis)).expect("a writable folder");
    }
    folder
}

/// Runs a line of words, in which `_` stands for a space.
fn run(folder: &ProgramFolder, line: &str) -> (Option<i32>, String, String) {
    let mut command = folder.diligence();
    let words = line.split(' ').map(|word| word.replace('_', " "));
    let Output { status, stdout, stderr } =
        command.args(words).output().expect("the program exists");
    let text = |bytes| String::from_utf8(bytes).expect("valid UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn findings_and_assertions_set_the_exit_status() {
    let folder = recordings_folder();
    for (line, status, expected) in [
        ("timeline slow.pcap", 0, "org.example.Mail.GetCount  org.example.Mail     30  1.20 s"),
        ("timeline slow.pcap --json", 0, "\"blocked_on\": \"org.example.Mail.GetCount\""),
        ("timeline slow.pcap --perfetto -", 0, "\"name\":\"org.example.Mail.GetCount\""),
        ("diff fast.pcap fast.pcap", 0, "no difference beyond noise"),
        ("diff fast.pcap slow.pcap", 1, "slower  org.example.Mail.GetCount"),
        ("diff fast.pcap slow.pcap --json", 1, "\"p95_after_ns\": 40000000"),
        ("diff fast.pcap fast.pcap --assert calls(*)_<_9", 1, "FAILED   calls(*) < 9"),
        ("diff fast.pcap fast.pcap --assert calls(*)_<_99", 0, "ok       calls(*) < 99"),
        ("stats slow.pcap --assert p95(*)_<_20ms", 1, "FAILED   p95(*) < 20ms  40.0 ms"),
        ("stats fast.pcap --assert p95(*)_<_20ms", 0, "ok       p95(*) < 20ms  5.00 ms"),
    ] {
        let (code, stdout, stderr) = run(&folder, line);
        assert_eq!((code, stderr.as_str()), (Some(status), ""), "{line}");
        assert!(stdout.contains(expected), "{line}: {stdout}");
    }
}

#[test]
fn budgets_for_names_that_do_not_occur_suggest_others() {
    let folder = recordings_folder();
    for (budget, names) in [
        ("p95(org.example.Mail.GetCuont)_<_20ms", "org.example.Mail.GetCount"),
        ("calls(org.example.mail.*)_>_0", "org.example.Mail.GetCount"),
        ("errors(com.other.Name)_==_0", ""),
        // The name is right.
        ("max(*.GetCount)_<_1us", ""),
    ] {
        let (code, _, stderr) = run(&folder, &format!("stats fast.pcap --assert {budget}"));
        let text = budget.replace('_', " ");
        let expected = match names {
            "" => String::new(),
            names => format!("note: no such call: {text}; did you mean {names}?\n"),
        };
        assert_eq!((code, stderr), (Some(1), expected), "{text}");
    }
}

#[test]
fn files_are_listed_in_the_heading_and_counted_once() {
    let folder = recordings_folder();
    fs::copy(folder.join("fast.pcap"), folder.join("slow.pcap.1")).expect("a writable folder");
    for (line, heading, messages) in [
        ("stats fast.pcap fast.pcap", "fast.pcap\n", "60 messages"),
        ("stats fast.pcap ./fast.pcap", "fast.pcap\n", "60 messages"),
        ("stats slow.pcap", "slow.pcap, slow.pcap.1, merged into one recording\n", "120 messages"),
        ("stats slow.pcap.1 slow.pcap", "slow.pcap, slow.pcap.1, merged into one", "120 messages"),
        ("timeline slow.pcap.1 slow.pcap", "slow.pcap, slow.pcap.1, merged into one", ""),
    ] {
        let (code, stdout, stderr) = run(&folder, line);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{line}");
        assert!(stdout.starts_with(heading) && stdout.contains(messages), "{line}: {stdout}");
    }
    let (_, stdout, _) = run(&folder, "stats slow.pcap --json");
    let stats: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(stats["files"], serde_json::json!(["slow.pcap", "slow.pcap.1"]));
}

#[test]
fn queries_that_match_nothing_are_explained_on_standard_error() {
    let folder = recordings_folder();
    let reason = "no message matches the query: no message has the member getcount (names are \
                  case-sensitive); GetCount occurs 60 times; did you mean member:GetCount?\n";
    for (line, command) in [
        ("timeline slow.pcap member:getcount", "timeline"),
        ("stats slow.pcap member:getcount", "stats"),
        ("stats slow.pcap member:getcount --json", "stats"),
        ("show slow.pcap member:getcount", "show"),
        ("export slow.pcap member:getcount --format csv", "export"),
    ] {
        let (code, _, stderr) = run(&folder, line);
        assert_eq!((code, stderr), (Some(0), format!("diligence {command}: {reason}")), "{line}");
    }
    let (code, stdout, _) = run(&folder, "timeline slow.pcap member:Nothing");
    assert_eq!(code, Some(0));
    assert!(stdout.contains("no call got a reply"), "{stdout}");
    fs::write(folder.join("empty.pcap"), TestRecording::new().pcap()).expect("a writable folder");
    let (code, stdout, stderr) = run(&folder, "show empty.pcap");
    let expected = "diligence show: the recording has no messages\n";
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "", expected));
}

#[test]
fn invalid_commands_are_explained_on_standard_error() {
    let folder = recordings_folder();
    for (line, status, expected) in [
        ("timeline gone.pcap", 1, "cannot read gone.pcap: "),
        ("timeline fast.pcap color:red", 2, "the query: "),
        ("stats dur>5ms fast.pcap", 2, "there is no file dur>5ms; files come first, and the query"),
        ("show member:Get* fast.pcap", 2, "follows them: fast.pcap 'member:Get*'"),
        ("timeline fast.pcap --perfetto gone/trace", 1, "cannot write gone/trace: "),
        ("diff fast.pcap gone.pcap", 2, "cannot read gone.pcap: "),
        ("diff fast.pcap", 2, "<AFTER>"),
        ("stats fast.pcap --assert p96(*)_<_1ms", 2, "`p96` is not a measure"),
    ] {
        let (code, stdout, stderr) = run(&folder, line);
        assert_eq!((code, stdout.as_str()), (Some(status), ""), "{line}");
        assert!(stderr.contains(expected), "{line}: {stderr}");
    }
}
