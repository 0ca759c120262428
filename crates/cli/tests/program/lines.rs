//! Tests of output that differs on a terminal: lines for messages, colors and progress.

use std::fs;
use std::io::Write as _;
use std::process::{ChildStdin, Stdio};
use std::thread;
use std::time::Duration;

use client::{CallOptions, Connection, NameFlags, StartedCall};
use rustix::process::Signal;
use testkit::golden;

use crate::recorder::OurBus;
use crate::scene::{OFFICE, golden_file, office, session};
use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};
use crate::terminal::OnTerminal;

/// Returns what `show` prints on a terminal with this width.
fn shown(folder: &ProgramFolder, words: &[&str], columns: u16) -> String {
    let mut command = folder.diligence();
    command.args(["show", OFFICE]).args(words);
    OnTerminal::start(&mut command, columns).ended()
}

/// Removes the color sequences from a text.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn show_prints_lines_on_a_terminal_and_blocks_in_a_pipe() {
    let folder = office();
    for columns in [60, 80, 160] {
        let lines = plain(&shown(&folder, &[], columns));
        golden::check(golden_file(&format!("show-line-{columns}.txt")), &lines);
        let widest = lines.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns.into()), "{lines}");
    }
    let mut command = folder.diligence();
    let output = command.args(["show", OFFICE]).output().expect("the program exists");
    assert!(text(&output.stdout).starts_with("\u{2023} Type=method_call"), "{output:?}");
    let lines = ["show office.pcapng --format line", "show office.pcapng type:error --format line"];
    let lines = lines.map(str::to_owned);
    golden::check(golden_file("show-line-pipe.txt"), &session(&folder, &lines));
}

#[test]
fn colors_are_for_terminals_unless_an_option_overrides() {
    let folder = office();
    for (words, has_colors) in [(&[][..], true), (&["--color", "never"], false)] {
        assert_eq!(shown(&folder, words, 80).contains('\x1b'), has_colors, "{words:?}");
    }
    let mut command = folder.diligence();
    let text_without = OnTerminal::start_without_color(command.args(["show", OFFICE]), 80).ended();
    assert_eq!(text_without, plain(&shown(&folder, &[], 80)));
    for (words, has_colors) in
        [(&["--format=line"][..], false), (&["--format=line", "--color=always"], true)]
    {
        let output = folder.diligence().args(["show", OFFICE]).args(words).output();
        let printed = text(&output.expect("the program exists").stdout);
        assert_eq!(printed.contains('\x1b'), has_colors, "{words:?}: {printed}");
    }
}

/// Starts a call to a service that does not reply.
fn start_unanswered_call(connection: &Connection) -> StartedCall {
    let clock = connection.proxy("org.example.Clock", "/", "org.example.Clock1").expect("names");
    let call =
        clock.start_call("Never", &(7_u32,), CallOptions::default()).expect("a valid message");
    connection.flush().expect("the bus is there");
    call
}

#[test]
fn monitor_prints_call_outcomes_once_they_are_known() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let service = Connection::open(&bus.address).expect("the bus is there");
    service.request_name("org.example.Clock", NameFlags::NONE).expect("the name is free");
    let mut command = folder.diligence();
    command.args(["monitor", "--address", &bus.address, "--format", "line"]);
    command.args(["interface:org.example.*", "or", "member:GetId"]);
    let out = folder.join("lines.txt");
    let file = fs::File::create(&out).expect("a writable folder");
    let monitor = SpawnedProgram::start_into(&mut command, file);
    let so_far = || fs::read_to_string(&out).expect("valid UTF-8");
    let driver = "org.freedesktop.DBus";
    let caller = Connection::open(&bus.address).expect("the bus is there");
    eventually("the monitor listens", || {
        caller.call(driver, "/", driver, "GetId", &()).expect("the bus replies");
        so_far().contains("GetId").then_some(())
    });
    let leaving = Connection::open(&bus.address).expect("the bus is there");
    let (abandoned, _waiting) = (start_unanswered_call(&leaving), start_unanswered_call(&caller));
    eventually("both calls", || {
        (so_far().matches("Clock1.Never(uint32 7)").count() == 2).then_some(())
    });
    // The call holds a reference to the connection, too.
    drop((leaving, abandoned));
    eventually("the first caller has left", || so_far().contains("caller left").then_some(()));
    assert!(!so_far().contains("still waiting"), "{}", so_far());
    monitor.end(Signal::TERM);
    let lines = so_far();
    let line = |part: &str| {
        let found: Vec<_> = lines.lines().filter(|line| line.contains(part)).collect();
        assert!(!found.is_empty(), "{part}: {lines}");
        found
    };
    // The monitor prints a call when it is made, and its outcome in another line.
    assert_eq!(line("caller left").len(), 1, "{lines}");
    assert_eq!(line("still waiting").len(), 1, "{lines}");
    for end in [line("caller left")[0], line("still waiting")[0]] {
        assert!(
            end.contains(" \u{b7} org.example.Clock ") && end.contains("Clock1.Never"),
            "{end}"
        );
        assert!(
            end.contains(" ms  ") || end.contains(" s   ") || end.contains(" \u{b5}s  "),
            "{end}"
        );
    }
    assert!(line("returned")[0].contains("org.freedesktop.DBus.GetId"), "{lines}");
}

#[test]
fn long_work_shows_progress_on_a_terminal_only() {
    let folder = office();
    let recording = fs::read(folder.join(OFFICE)).expect("the file exists");
    let (start, rest) = recording.split_at(recording.len() / 2);
    let feed = |mut input: ChildStdin| {
        input.write_all(start).expect("the process reads its input");
        // Progress is shown only for work that takes longer than a second.
        thread::sleep(Duration::from_millis(1600));
        input.write_all(rest).expect("the process reads its input");
    };
    let mut command = folder.diligence();
    command.args(["stats", "-"]).stdin(Stdio::piped());
    let mut on_terminal = OnTerminal::start(&mut command, 80);
    feed(on_terminal.program().stdin.take().expect("a pipe"));
    let printed = on_terminal.ended();
    // The progress line is erased before any other output.
    assert!(printed.contains("\r\x1b[K0:00:01  reading -\r\x1b[K"), "{printed:?}");
    let mut command = folder.diligence();
    command
        .args(["stats", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut program = command.spawn().expect("the program exists");
    feed(program.stdin.take().expect("a pipe"));
    let output = program.wait_with_output().expect("a child process");
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn written_files_are_reported_on_a_terminal_only() {
    let folder = office();
    let written = |words: &[&str], out: &str| {
        let mut command = folder.diligence();
        command.args(words);
        let printed = OnTerminal::start(&mut command, 80).ended();
        let size = fs::metadata(folder.join(out)).expect("the file was written").len();
        assert!(printed.ends_with(&format!(": {out}\n")), "{words:?}: {printed}");
        (printed, size)
    };
    let formats = ["json", "csv", "chrome-trace", "dot", "pcapng", "pcap"];
    for format in formats.into_iter().chain(cfg!(feature = "sqlite").then_some("sqlite")) {
        let words = ["export", OFFICE, "type:error", "--format", format, "-o", "out"];
        let (printed, size) = written(&words, "out");
        // A recording also contains the calls that the errors reply to.
        let messages = if format.starts_with("pcap") { "4 messages, " } else { "2 messages, " };
        assert!(printed.contains(messages), "{format}: {printed}");
        assert!(size > 0, "{format}");
    }
    let (printed, _) = written(&["view", OFFICE, "--export", "page.html"], "page.html");
    assert!(printed.contains("19 messages, "), "{printed}");
    let words = ["export", OFFICE, "--format", "json", "-o", "again"];
    let output = folder.diligence().args(words).output().expect("the program exists");
    assert_eq!((text(&output.stdout), text(&output.stderr)), (String::new(), String::new()));
}

#[test]
fn errors_are_wrapped_at_the_width_of_the_terminal() {
    let folder = office();
    let command = || {
        let mut command = folder.diligence();
        command.args(["stats", OFFICE, "--by", "switches"]);
        command
    };
    let on_terminal = OnTerminal::start(&mut command(), 70).ended();
    let narrower = OnTerminal::start(command().env("COLUMNS", "60"), 70).ended();
    for (text, width) in [(&on_terminal, 70), (&narrower, 60)] {
        assert!(text.lines().count() > 1, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
    }
    assert_eq!(words(&on_terminal), words(&narrower));
    let output = command().output().expect("the program exists");
    let piped = String::from_utf8_lossy(&output.stderr);
    assert_eq!((piped.lines().count(), words(&piped)), (1, words(&on_terminal)));
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}
