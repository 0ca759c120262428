//! Tests of `diligence export`: its output and exit status.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::scene::{OFFICE, check_refused, office, run};
use crate::support::ProgramFolder;

/// All formats, each with the start of a file, and a text that a file has if it includes the calls
/// of `Find`.
const FORMATS: [(&str, &[u8], &[u8]); 7] = [
    ("json", b"{\"type\":\"method_call\"", b"\"member\":\"Find\""),
    ("csv", b"number,time_ns,bus,type,", b",Find,"),
    ("sqlite", b"SQLite format 3\0", b"Find"),
    ("parquet", b"PAR1", b"Find"),
    ("chrome-trace", b"{\"displayTimeUnit\"", b"org.example.Mail.Find"),
    ("dot", b"digraph diligence {\n", b"8 calls, "),
    ("pcapng", b"\x0A\x0D\x0D\x0A", b"Find\0"),
];

fn exported(folder: &ProgramFolder, line: &str) -> Vec<u8> {
    let printed = run(folder, &format!("export office.pcapng {line} -o out"));
    let result = (printed.status, printed.stdout.as_str(), printed.stderr.as_str());
    assert_eq!(result, (Some(0), "", ""), "{line}");
    fs::read(folder.join("out")).expect("the file was written")
}

fn has(file: &[u8], part: &[u8]) -> bool {
    file.windows(part.len()).any(|window| window == part)
}

#[test]
fn every_format_contains_only_messages_that_match_the_query() {
    let folder = office();
    for (format, start, part) in FORMATS {
        let all = exported(&folder, &format!("--format {format}"));
        assert!(all.starts_with(start) && has(&all, part), "{format}");
        let some = exported(&folder, &format!("member:Count_or_member:Changed --format {format}"));
        assert!(some.starts_with(start) && !has(&some, part), "{format}");
    }
}

#[test]
fn exports_are_written_to_standard_output_by_default() {
    let folder = office();
    for line in ["csv", "dot", "json -o -", "chrome-trace"] {
        let printed = run(&folder, &format!("export office.pcapng --format {line}"));
        assert_eq!((printed.status, printed.stderr.as_str()), (Some(0), ""), "{line}");
        assert!(printed.stdout.contains("org.example.Mail"), "{line}: {}", printed.stdout);
    }
    let mut parquet = folder.diligence();
    parquet.args(["export", "office.pcapng", "--format", "parquet"]);
    let output = parquet.output().expect("the program exists");
    assert!(output.status.success() && output.stdout.ends_with(b"PAR1"), "{output:?}");
}

#[test]
fn exports_combine_several_recordings() {
    let folder = office();
    fs::copy(folder.join(OFFICE), folder.join("other.pcapng")).expect("a writable folder");
    let printed = run(&folder, "export office.pcapng other.pcapng type:error --format csv");
    assert_eq!(printed.stdout.lines().count(), 1 + 2 * 2, "{}", printed.stdout);
}

#[test]
fn invalid_exports_are_rejected() {
    let folder = office();
    check_refused(
        &folder,
        &[
            ("export gone.pcap --format csv", 1, "diligence export: cannot read gone.pcap: "),
            ("export office.pcapng color:red --format csv", 2, "the query: "),
            ("export office.pcapng", 2, "--format <FORMAT>"),
            (
                "export office.pcapng --format xml",
                2,
                "possible values: json, csv, sqlite, parquet, ",
            ),
            ("export gone.pcap --format sqlite", 2, "--format sqlite needs -o FILE"),
            ("export office.pcapng --format sqlite -o gone/x", 1, "cannot write gone/x: "),
            ("export office.pcapng --format csv -o gone/x", 1, "cannot write gone/x: No such file"),
        ],
    );
}

/// Commands that write a file from a recording, without the name of the file.
const WRITERS: [&str; 10] = [
    "export office.pcapng --format json -o",
    "export office.pcapng --format csv -o",
    "export office.pcapng --format sqlite -o",
    "export office.pcapng --format parquet -o",
    "export office.pcapng --format chrome-trace -o",
    "export office.pcapng --format dot -o",
    "export office.pcapng --format pcapng -o",
    "timeline office.pcapng --perfetto",
    "lint office.pcapng --update-baseline --baseline",
    "view office.pcapng --export",
];

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("the file exists").permissions().mode() & 0o7777
}

fn files(folder: &ProgramFolder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("")).expect("a writable folder").flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.file_name().into()).collect();
    files.sort();
    files
}

/// Writes to a file. Returns false if the program cannot save pages.
fn write(folder: &ProgramFolder, writer: &str, to: &str) -> bool {
    let printed = run(folder, &format!("{writer} {to}"));
    if printed.stderr.contains("cannot save pages") {
        return false;
    }
    assert_eq!((printed.status, printed.stderr.as_str()), (Some(0), ""), "{writer} {to}");
    true
}

#[test]
fn export_files_are_readable_by_their_owner_only() {
    for writer in WRITERS {
        let folder = office();
        if write(&folder, writer, "new") {
            assert_eq!(mode(&folder.join("new")), 0o600, "{writer}");
            assert_eq!(files(&folder), [Path::new("new"), Path::new("office.pcapng")], "{writer}");
        }
    }
}

#[test]
fn exports_follow_links_and_replace_files_instead_of_writing_to_them() {
    for writer in WRITERS {
        let folder = office();
        fs::write(folder.join("precious"), "precious").expect("a writable folder");
        fs::hard_link(folder.join("precious"), folder.join("same")).expect("a writable folder");
        symlink("behind", folder.join("link")).expect("a writable folder");
        fs::write(folder.join("behind"), "old").expect("a writable folder");
        for (to, file) in [("link", "behind"), ("same", "same")] {
            if write(&folder, writer, to) {
                assert!(folder.join(file).symlink_metadata().expect("the file exists").is_file());
                assert_eq!(mode(&folder.join(file)), 0o600, "{writer}");
                assert_ne!(
                    fs::read(folder.join(file)).expect("the file exists"),
                    b"old",
                    "{writer}"
                );
            }
        }
        assert!(folder.join("link").is_symlink(), "{writer}");
        assert_eq!(
            fs::read(folder.join("precious")).expect("the file exists"),
            b"precious",
            "{writer}"
        );
    }
}

#[test]
fn files_are_kept_if_their_replacement_cannot_be_made() {
    let folder = office();
    fs::write(folder.join("old"), "old").expect("a writable folder");
    fs::write(folder.join("text"), "no recording").expect("a writable folder");
    for writer in WRITERS {
        let printed = run(&folder, &format!("{} old", writer.replace("office.pcapng", "text")));
        assert_eq!(printed.status, Some(1), "{writer}: {}", printed.stderr);
        assert_eq!(fs::read(folder.join("old")).expect("the file exists"), b"old", "{writer}");
    }
    let expected = ["office.pcapng", "old", "text"].map(PathBuf::from);
    assert_eq!(files(&folder), expected, "unfinished files are removed");
}

#[test]
fn devices_pipes_and_descriptors_are_written_to() {
    let folder = office();
    for (line, is_refused) in [
        ("export office.pcapng --format csv -o /dev/null", false),
        ("export office.pcapng --format csv -o /dev/stdout", false),
        ("timeline office.pcapng --perfetto /dev/stdout", false),
        ("export office.pcapng --format sqlite -o /dev/null", true),
    ] {
        let printed = run(&folder, line);
        assert_eq!(printed.status != Some(0), is_refused, "{line}: {}", printed.stderr);
        let has_output = line.ends_with("/dev/stdout");
        assert_eq!(printed.stdout.contains("org.example.Mail"), has_output, "{line}");
    }
    assert!(!fs::symlink_metadata("/dev/null").expect("the file exists").is_file());
    assert!(fs::symlink_metadata("/dev/stdout").expect("the file exists").is_symlink());
}
