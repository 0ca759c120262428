//! `diligence export`: what it writes, and how it ends.

use std::fs;

use crate::scene::{check_refused, office, run};
use crate::support::Folder;

/// All formats, with how a file begins and a text that one has with the calls of `Find`.
const FORMATS: [(&str, &[u8], &[u8]); 6] = [
    ("json", b"{\"type\":\"method_call\"", b"\"member\":\"Find\""),
    ("csv", b"number,time_ns,bus,type,", b",Find,"),
    ("sqlite", b"SQLite format 3\0", b"Find"),
    ("parquet", b"PAR1", b"Find"),
    ("chrome-trace", b"{\"displayTimeUnit\"", b"org.example.Mail.Find"),
    ("dot", b"digraph diligence {\n", b"8 calls, "),
];

fn exported(folder: &Folder, line: &str) -> Vec<u8> {
    let printed = run(folder, &format!("export office.pcapng {line} -o out"));
    let said = (printed.status, printed.stdout.as_str(), printed.stderr.as_str());
    assert_eq!(said, (Some(0), "", ""), "{line}");
    fs::read(folder.join("out")).expect("it was written")
}

fn has(file: &[u8], part: &[u8]) -> bool {
    file.windows(part.len()).any(|window| window == part)
}

#[test]
fn each_format_is_written_for_what_a_query_selects() {
    let folder = office();
    for (format, start, part) in FORMATS {
        let all = exported(&folder, &format!("--format {format}"));
        assert!(all.starts_with(start) && has(&all, part), "{format}");
        let some = exported(&folder, &format!("member:Count_or_member:Changed --format {format}"));
        assert!(some.starts_with(start) && !has(&some, part), "{format}");
    }
}

#[test]
fn the_standard_output_is_the_default() {
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
fn recordings_are_put_together() {
    let printed = run(&office(), "export office.pcapng office.pcapng type:error --format csv");
    assert_eq!(printed.stdout.lines().count(), 1 + 2 * 2, "{}", printed.stdout);
}

#[test]
fn what_cannot_be_written_is_explained() {
    let folder = office();
    check_refused(
        &folder,
        &[
            ("export gone.pcap --format csv", 1, "diligence export: cannot read gone.pcap: "),
            ("export office.pcapng colour:red --format csv", 2, "the query: "),
            ("export office.pcapng", 2, "--format <FORMAT>"),
            (
                "export office.pcapng --format xml",
                2,
                "possible values: json, csv, sqlite, parquet, ",
            ),
            ("export gone.pcap --format sqlite", 2, "a database is a file: say which with -o FILE"),
            ("export office.pcapng --format sqlite -o gone/x", 1, "cannot write gone/x: "),
            ("export office.pcapng --format csv -o gone/x", 1, "cannot write gone/x: No such file"),
        ],
    );
}
