//! `diligence stats`: what it prints, and how it ends.

use diligence_testkit::golden;

use crate::scene::{check_refused, golden_file, office, run, session};

/// What `--by` takes.
const SUBJECTS: [&str; 15] = [
    "member",
    "service",
    "interface",
    "path",
    "sender",
    "process",
    "unit",
    "pair",
    "type",
    "error",
    "bus",
    "size",
    "recipients",
    "rules",
    "replies",
];

#[test]
fn the_first_screen_tells_who_talks_and_what_is_slow() {
    let folder = office();
    let lines = ["stats office.pcapng", "stats office.pcapng member:Find --top=1"];
    golden::check(golden_file("stats.txt"), &session(&folder, &lines.map(str::to_owned)));
    let printed = run(&folder, "stats office.pcapng --json");
    let json: serde_json::Value = serde_json::from_str(&printed.stdout).expect("it is JSON");
    assert_eq!(json["summary"]["messages"], 19);
    assert_eq!(json["summary"]["unanswered"], 1);
    assert_eq!(json["members"][0]["member"], "org.example.Mail.Count");
}

#[test]
fn each_table_is_for_people_and_for_programs() {
    let folder = office();
    let lines = SUBJECTS.map(|subject| format!("stats office.pcapng --by {subject}"));
    golden::check(golden_file("stats-by.txt"), &session(&folder, &lines));
    let lines = SUBJECTS.map(|subject| format!("stats office.pcapng --by {subject} --csv"));
    golden::check(golden_file("stats-by-csv.txt"), &session(&folder, &lines));
    for subject in SUBJECTS {
        let line = format!("stats office.pcapng --by {subject}");
        let csv = run(&folder, &format!("{line} --csv")).stdout;
        let json = run(&folder, &format!("{line} --json")).stdout;
        let rows: Vec<serde_json::Map<_, _>> =
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("{subject}: {error}"));
        assert_eq!(rows.len(), csv.lines().count() - 1, "{subject}");
        let keys = csv.lines().next().expect("a line of keys").split(',');
        let missing: Vec<_> = keys.filter(|key| !rows[0].contains_key(*key)).collect();
        assert!(missing.is_empty(), "{subject}: {missing:?}");
    }
}

#[test]
fn rows_are_sorted_and_left_out_as_asked() {
    let folder = office();
    for (line, expected) in [
        ("--by member --sort total --csv", "org.example.Mail.Count,org.example.Mail,call,8,"),
        ("--by member --sort errors --csv", "org.example.Mail.Find,org.example.Mail,call,5,"),
        (
            "--by member from:reader --top=1 --csv",
            "org.example.Mail.Count,org.example.Mail,call,4,",
        ),
        ("--by type type:signal --csv", "signal,3,1,"),
    ] {
        let printed = run(&folder, &format!("stats office.pcapng {line}"));
        let row = printed.stdout.lines().nth(1).unwrap_or_default();
        assert!(row.starts_with(expected), "{line}: {}", printed.stdout);
    }
    let printed = run(&folder, "stats office.pcapng --by member --top=2");
    assert!(printed.stdout.ends_with("and 3 more; --top=0 shows all\n"), "{}", printed.stdout);
}

#[test]
fn what_cannot_be_told_is_explained() {
    check_refused(
        &office(),
        &[
            ("stats gone.pcap", 1, "diligence stats: cannot read gone.pcap: "),
            ("stats office.pcapng colour:red", 2, "the query: "),
            ("stats office.pcapng --by colour", 2, "possible values: member, service, "),
            ("stats office.pcapng --by member --sort colour", 2, "colour"),
            ("stats office.pcapng --sort calls", 2, "--by"),
            ("stats office.pcapng --csv", 2, "--by"),
            ("stats office.pcapng --by rules from:reader", 2, "match rules are of connections"),
            ("stats office.pcapng --sweep gone", 1, "gone: "),
            ("stats", 2, "FILE... [QUERY]"),
        ],
    );
}
