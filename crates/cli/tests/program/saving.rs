//! Messages that are saved as recordings. Diligence and the programs of Wireshark must read the
//! same from them.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use testkit::golden;

use crate::recorder::{CALL, DbusDaemon, OurBus, end_after, send, start};
use crate::scene::{check_refused, golden_file, office, run, session};
use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};

/// Runs a program of Wireshark.
fn output(program: &str, words: &[&str], file: &Path) -> String {
    let mut command = Command::new(program);
    let output = command.args(words).arg(file).output();
    let output = output.expect("installed by scripts/debian-packages");
    let errors = text(&output.stderr);
    let mut complaints = errors.lines().filter(|line| !line.starts_with("Running as user"));
    assert!(output.status.success() && complaints.next().is_none(), "{program}: {errors}");
    text(&output.stdout)
}

/// Returns the time, type, serial and sender of each message, and the member of calls and signals,
/// as tshark prints them.
fn by_tshark(file: &Path) -> Vec<String> {
    let fields = [
        "-T",
        "fields",
        "-E",
        "separator=|",
        "-e",
        "frame.time_epoch",
        "-e",
        "dbus.message_type",
        "-e",
        "dbus.serial",
        "-e",
        "dbus.sender",
        "-e",
        "dbus.member",
        "-r",
    ];
    output("tshark", &fields, file).lines().map(str::to_owned).collect()
}

/// Returns the same columns from `export --format csv`. No value up to the last of these columns
/// has a comma in these recordings.
fn by_us(folder: &ProgramFolder, file: &Path, query: &str) -> Vec<String> {
    let table = csv(folder, file, query);
    let row = |line: &str| {
        let columns: Vec<_> = line.split(',').collect();
        let (seconds, nanos) = columns[1].split_at(columns[1].len() - 9);
        let (kind, member) = match columns[3] {
            "method_call" => ("1", columns[17]),
            "method_return" => ("2", ""),
            "error" => ("3", ""),
            _ => ("4", columns[17]),
        };
        format!("{seconds}.{nanos}|{kind}|{}|{}|{member}", columns[21], columns[4])
    };
    table.lines().skip(1).map(row).collect()
}

fn csv(folder: &ProgramFolder, file: &Path, query: &str) -> String {
    let printed = run(folder, &format!("export {} {query} --format csv", file.display()));
    assert_eq!(printed.status, Some(0), "{}", printed.stderr);
    printed.stdout
}

/// A query for all messages, including the recorder's own.
const ALL: &str = "is:recorder_or_!is:recorder";

/// A query for all messages except the recorder's own.
const TRAFFIC: &str = "!is:recorder";

/// Exports a recording, and checks that all programs read the same from the exported file.
fn check(folder: &ProgramFolder, source: &Path) {
    for (format, query) in [("pcapng", ALL), ("pcap", TRAFFIC)] {
        let expected = by_us(folder, source, query);
        assert!(expected.len() > 5, "{expected:?}");
        let file = folder.join(&format!("out.{format}"));
        let (from, to) = (source.display(), file.display());
        let printed = run(folder, &format!("export {from} --format {format} -o {to}"));
        assert_eq!((printed.status, printed.stdout.as_str()), (Some(0), ""), "{}", printed.stderr);
        assert_eq!(by_tshark(&file), expected, "{from} {format}");
        assert_eq!(by_us(folder, &file, ALL), expected, "{from} {format}");
        let counted = output("capinfos", &["-c", "-M", "-T", "-r"], &file);
        assert!(counted.trim_end().ends_with(&format!("\t{}", expected.len())), "{counted}");
        let edited = folder.join("edited.pcapng");
        let status = Command::new("editcap").arg(&file).arg(&edited).stderr(Stdio::null()).status();
        assert!(status.expect("installed by scripts/debian-packages").success());
        assert_eq!(by_us(folder, &edited, ALL), expected, "{from} {format} by editcap");
    }
    // The columns include names, processes, phases and recipients.
    assert_eq!(csv(folder, &folder.join("out.pcapng"), ALL), csv(folder, source, ALL));
    let again = |from: &str, to: &str| {
        let printed = run(folder, &format!("export {from} --format pcapng -o {to}"));
        assert_eq!((printed.status, printed.stderr.as_str()), (Some(0), ""));
        fs::read(folder.join(to)).expect("the file was written")
    };
    assert_eq!(again("out.pcapng", "second.pcapng"), again("second.pcapng", "third.pcapng"));
}

#[test]
fn flight_recorder_files_are_opened_by_wireshark() {
    let folder = ProgramFolder::new();
    let mut command = folder.diligence();
    command.args(["bus", "--nofork", "--print-address=1", "--flight-recorder=1MiB"]);
    command.arg("--config-file").arg(folder.config("")).env("XDG_RUNTIME_DIR", folder.join(""));
    let mut bus = SpawnedProgram::start(&mut command);
    let address = bus.line();
    send(&address, &CALL);
    send(&address, &["--type=signal", "/org/example", "org.example.Mail.Came", "string:hello"]);
    bus.signal(Signal::USR2);
    let written = || {
        let names = fs::read_dir(folder.join("")).expect("a writable folder").flatten();
        let mut paths = names.map(|entry| entry.path());
        paths.find(|path| path.extension().is_some_and(|it| it == "trace"))
    };
    let trace: PathBuf = eventually("the file of the flight recorder", written);
    bus.end(Signal::TERM);
    check(&folder, &trace);
    assert!(by_us(&folder, &trace, ALL).iter().any(|line| line.ends_with("|Came")));
}

#[test]
fn recordings_of_dbus_daemon_are_exported_to_pcapng_and_pcap() {
    let folder = ProgramFolder::new();
    let bus = DbusDaemon::start(&folder, "");
    let ours = folder.join("ours.pcapng");
    let recorder = start(&folder, &bus.address, &ours, &[]);
    let theirs = folder.join("theirs.pcap");
    let file = fs::File::create(&theirs).expect("a writable folder");
    let mut monitor = Command::new("dbus-monitor");
    monitor.args(["--address", &bus.address, "--pcap"]).stdout(file).stdin(Stdio::null());
    let mut monitor = monitor.spawn().expect("installed by scripts/debian-packages");
    eventually("dbus-monitor", || (fs::metadata(&theirs).ok()?.len() > 24).then_some(()));
    for _ in 0..5 {
        bus.send(&CALL);
        bus.send(&["--type=signal", "/org/example", "org.example.Mail.Came", "string:hello"]);
    }
    let seen = || {
        let printed = run(&folder, "stats theirs.pcap member:Came --json");
        printed.stdout.contains("\"messages\": 5").then_some(())
    };
    eventually("all messages", seen);
    monitor.kill().expect("a child process");
    monitor.wait().expect("a child process");
    assert!(end_after(recorder, &ours, "Came", 5).status.success());
    check(&folder, &ours);
    check(&folder, &theirs);
    let packed = Command::new("gzip").arg("-k").arg(&theirs).status().expect("every Debian has it");
    assert!(packed.success());
    check(&folder, &folder.join("theirs.pcap.gz"));
}

#[test]
fn excerpts_have_calls_with_replies_and_describe_themselves() {
    let folder = office();
    let printed = run(&folder, "export office.pcapng type:return --format pcapng -o part.pcapng");
    let message = "note: saved 10 messages: 5 of them do not match the query, but are calls or replies of \
                messages that do\n";
    assert_eq!((printed.status, printed.stderr.as_str()), (Some(0), message));
    assert_eq!(by_tshark(&folder.join("part.pcapng")).len(), 10);
    let comment = output("capinfos", &["-k", "-r"], &folder.join("part.pcapng"));
    assert!(comment.contains("excerpt: 10 of 19 messages, selected by type:return"), "{comment}");
    let stats = run(&folder, "stats part.pcapng").stdout;
    assert!(stats.contains("session: an excerpt with 10 of 19 messages"), "{stats}");
    let lint = run(&folder, "lint part.pcapng").stdout;
    assert!(lint.contains("L50") && !lint.contains("unanswered"), "{lint}");
}

#[test]
fn outputs_never_replace_the_recording_they_are_made_from() {
    let folder = office();
    let (input, link) = (folder.join("office.pcapng"), folder.join("link.pcapng"));
    symlink(&input, &link).expect("a writable folder");
    fs::copy(&input, folder.join("part.pcapng.1")).expect("a writable folder");
    fs::copy(&input, folder.join("part.pcapng")).expect("a writable folder");
    let before = fs::read(&input).expect("the file exists");
    let message = "the recording is read from it; choose another name";
    for (line, status) in [
        ("show office.pcapng member:Find -o office.pcapng", 1),
        ("show office.pcapng member:Find -o ./office.pcapng", 1),
        ("show office.pcapng member:Find -o link.pcapng", 1),
        ("show link.pcapng member:Find -o office.pcapng", 1),
        ("show part.pcapng member:Find -o part.pcapng.1.pcapng", 0),
        ("export office.pcapng --format pcapng -o office.pcapng", 1),
        ("export office.pcapng --format json -o office.pcapng", 1),
        ("export office.pcapng --format sqlite -o office.pcapng", 1),
        ("export part.pcapng --format pcapng -o part.pcapng.1", 1),
        ("timeline office.pcapng --perfetto office.pcapng", 1),
        ("view office.pcapng --export office.pcapng", 1),
    ] {
        let printed = run(&folder, line);
        assert_eq!(printed.status, Some(status), "{line}: {}", printed.stderr);
        assert_eq!(printed.stderr.contains(message), status == 1, "{line}: {}", printed.stderr);
        for name in ["office.pcapng", "part.pcapng", "part.pcapng.1"] {
            assert!(
                fs::read(folder.join(name)).expect("the file exists") == before,
                "{line}: {name}"
            );
        }
    }
    assert!(link.is_symlink());
}

/// A signal that ends the program leaves no unfinished file behind. strace(1) delays the return of
/// each open(2), so that the signal comes while the file is created.
#[test]
fn an_unfinished_file_is_removed_if_a_signal_ends_the_program() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let folder = ProgramFolder::new();
        fs::write(folder.join("out.pcapng"), "old").expect("a writable folder");
        let files = || {
            let entries = fs::read_dir(folder.join("")).expect("a writable folder").flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.filter(|name| name != "core").collect::<Vec<_>>()
        };
        let mut show = folder.diligence();
        show.args(["show", "-o", "out.pcapng", "-"]);
        let delayed = "exec strace -D -o /dev/null -e inject=openat:delay_exit=20ms \"$0\" \"$@\"";
        let mut show = folder.with_usual_signals(&folder.shell(delayed, &show));
        // The program waits for a recording on standard input, which never arrives.
        let show = SpawnedProgram::start(show.stdin(Stdio::piped()));
        eventually("an unfinished file", || (files().len() == 2).then_some(()));
        let output = show.end(signal);
        assert_eq!(output.status.signal(), Some(signal.as_raw()), "{output:?}");
        assert_eq!(files(), ["out.pcapng"], "{signal:?}");
        assert_eq!(fs::read(folder.join("out.pcapng")).expect("the file exists"), b"old");
    }
}

/// A process that exceeds its file size limit gets SIGXFSZ.
#[test]
fn an_unfinished_file_that_grows_too_large_is_removed() {
    let folder = office();
    let mut export = folder.diligence();
    export.args(["export", "office.pcapng", "--format", "sqlite", "-o", "out.db"]);
    let mut export = folder.shell("ulimit -c 0; ulimit -f 1; exec \"$0\" \"$@\"", &export);
    let output = SpawnedProgram::start(&mut export).ended();
    assert!(!output.status.success(), "{output:?}");
    let entries = fs::read_dir(folder.join("")).expect("a writable folder").flatten();
    let names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["office.pcapng"], "{output:?}");
}

/// A file of an earlier ring that is next to an excerpt is not a part of the excerpt.
#[test]
fn ring_files_of_another_recording_are_ignored_with_a_note() {
    let folder = office();
    fs::copy(folder.join("office.pcapng"), folder.join("part.pcapng.1"))
        .expect("a writable folder");
    let saved = run(&folder, "show office.pcapng member:Find -o part.pcapng");
    assert_eq!(saved.status, Some(0), "{}", saved.stderr);
    let note = "note: part.pcapng.1 was not read: it belongs to another recording\n";
    for line in ["stats part.pcapng", "lint part.pcapng", "export part.pcapng --format csv"] {
        let printed = run(&folder, line);
        assert!(printed.stderr.contains(note), "{line}: {}", printed.stderr);
        assert!(!printed.stdout.contains("part.pcapng.1"), "{line}: {}", printed.stdout);
    }
    let rows = |file: &str| csv(&folder, &folder.join(file), "").lines().count() - 1;
    fs::rename(folder.join("part.pcapng.1"), folder.join("away")).expect("a writable folder");
    let alone = rows("part.pcapng");
    fs::rename(folder.join("away"), folder.join("part.pcapng.1")).expect("a writable folder");
    assert_eq!(rows("part.pcapng"), alone);
    assert!(alone > 0 && alone < rows("office.pcapng"));
}

#[test]
fn recordings_in_progress_are_not_replaced() {
    let folder = office();
    let bus = OurBus::start(&folder);
    let file = folder.join("live.pcapng");
    let recorder = start(&folder, &bus.address, &file, &[]);
    for line in [
        format!("record --address {} -o live.pcapng --max-time 1s", bus.address),
        "show office.pcapng member:Find -o live.pcapng".to_owned(),
        "export office.pcapng --format json -o live.pcapng".to_owned(),
    ] {
        let printed = run(&folder, &line);
        assert_eq!(printed.status, Some(1), "{line}: {}", printed.stderr);
        let message = "another program is still writing it";
        assert!(printed.stderr.contains(message), "{line}: {}", printed.stderr);
    }
    send(&bus.address, &CALL);
    let output = end_after(recorder, &file, "GetId", 1);
    assert!(output.status.success(), "{output:?}");
    assert!(run(&folder, "show live.pcapng member:GetId").stdout.contains("GetId"));
    let printed = run(&folder, "show office.pcapng member:Find -o live.pcapng");
    assert_eq!(printed.status, Some(0), "{}", printed.stderr);
}

#[test]
fn files_saved_by_show_and_export_are_equal() {
    let folder = office();
    let query = "member:Count_or_member:Find";
    for format in ["pcapng", "pcap"] {
        let exported = format!("export office.pcapng {query} --format {format} -o exported");
        let shown = format!("show office.pcapng {query} --save shown.{format}");
        let printed = [exported, shown].map(|line| run(&folder, &line));
        assert_eq!(printed[0].stderr, printed[1].stderr);
        assert_eq!((printed[1].status, printed[1].stdout.as_str()), (Some(0), ""));
        let files =
            ["exported", &format!("shown.{format}")].map(|name| fs::read(folder.join(name)));
        let [exported, shown] = files.map(|file| file.expect("the file was written"));
        assert_eq!(exported, shown);
    }
    let lost = "note: pcap cannot store: the names and processes of connections; the times inside the bus \
                and the recipients of copies; match rules, services and other notes of the recorder; the fact that \
                it is an excerpt; pcapng can\n";
    assert_eq!(
        run(&folder, "show office.pcapng #1 -o x.pcap").stderr.lines().last(),
        lost.lines().last()
    );
    check_refused(
        &folder,
        &[
            ("show office.pcapng -o x.csv", 2, "a name that ends in .pcapng or .pcap"),
            ("show office.pcapng -o gone/x.pcap", 1, "cannot write gone/x.pcap: No such file"),
            ("show office.pcapng -o x.pcap --format json", 2, "cannot be used with"),
        ],
    );
}

#[test]
fn message_numbers_are_shown_in_detail_and_ranges_as_blocks() {
    let folder = office();
    let lines = ["#1", "#10", "#15", "#13..#14 --format details"]
        .map(|query| format!("show office.pcapng {query}"));
    golden::check(golden_file("show-details.txt"), &session(&folder, &lines));
    let by_default = run(&folder, "show office.pcapng #1..#2").stdout;
    assert_eq!(by_default, run(&folder, "show office.pcapng #1..#2 --format busctl").stdout);
    assert!(by_default.starts_with('\u{2023}'), "{by_default}");
    let forced = run(&folder, "show office.pcapng #1 --format gdbus").stdout;
    assert_eq!(forced.lines().count(), 1, "{forced}");
}
