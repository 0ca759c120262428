//! Tests of `diligence stats`: its tables, notes and exit status.

use testkit::golden;

use crate::scene::{check_refused, golden_file, office, run, session};

/// The values of `--by`.
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
fn the_overview_shows_busy_connections_and_slow_calls() {
    let folder = office();
    let lines = ["stats office.pcapng", "stats office.pcapng member:Find --top=1"];
    golden::check(golden_file("stats.txt"), &session(&folder, &lines.map(str::to_owned)));
    let printed = run(&folder, "stats office.pcapng --json");
    let json: serde_json::Value = serde_json::from_str(&printed.stdout).expect("JSON");
    assert_eq!(json["summary"]["messages"], 19);
    assert_eq!(json["summary"]["unanswered"], 1);
    assert_eq!(json["members"][0]["member"], "org.example.Mail.Count");
}

#[test]
fn tables_are_printed_as_text_csv_and_json() {
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
fn rows_are_sorted_and_limited_by_options() {
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

/// Returns a result of `bench ping-pong` whose replies echo the payload.
fn round_trip(read_buffer: &str, wire_bytes: u64, micros: f64) -> String {
    let at = serde_json::json!({"read_buffer": read_buffer, "reply": "echo"});
    let figures = serde_json::json!({
        "round_trip_us": micros,
        "call_bytes": wire_bytes,
        "reply_bytes": wire_bytes,
    });
    let sample = serde_json::json!({
        "record": "sample",
        "scenario": "ping-pong",
        "case": {"label": "", "at": at},
        "subject": "dbus-daemon",
        "figures": figures,
    });
    format!("{sample}\n")
}

#[test]
fn size_times_match_manual_interpolation() {
    let folder = office();
    let results = [
        round_trip("ours", 50, 40.0),
        round_trip("ours", 150, 50.0),
        round_trip("ours", 350, 90.0),
        round_trip("2048", 50, 400.0),
        round_trip("2048", 350, 400.0),
    ];
    std::fs::write(folder.join("results.jsonl"), results.concat()).expect("a writable folder");
    let line = "stats office.pcapng --sweep results.jsonl --json";
    let printed = run(&folder, line);
    let rows: serde_json::Value = serde_json::from_str(&printed.stdout).expect("JSON");
    let found: f64 =
        rows.as_array().expect("rows").iter().filter_map(|row| row["time_ns"].as_f64()).sum();

    // Half a round trip takes 20 µs at 50 bytes, 25 µs at 150, and 45 µs at 350, with linear
    // interpolation between them.
    let interpolated = |size: f64| match size {
        ..50.0 => 20_000.0,
        ..150.0 => 20_000.0 + (size - 50.0) * 50.0,
        _ => 25_000.0 + (size - 150.0) * 100.0,
    };
    let capture = crate::recorder::read(&folder.join("office.pcapng"));
    let messages = capture.messages().filter(|message| !message.is_of_recorder());
    let expected: f64 = messages.map(|message| interpolated(f64::from(message.len()))).sum();
    assert!((found - expected).abs() < 5.0, "{found} {expected}");
    // Leaving out 150 bytes gives 20 + 25 * 100 / 300 = 28.33 µs there, 13.3 % more than 25 µs.
    let error = "median 13.3 %, worst 13.3 % (at 150 B)";
    assert!(printed.stderr.contains(error), "{}", printed.stderr);
    assert!(printed.stderr.contains("with read buffer ours"), "{}", printed.stderr);

    let printed = run(&folder, &format!("{line} --sweep-read-buffer 2048"));
    let rows: serde_json::Value = serde_json::from_str(&printed.stdout).expect("JSON");
    let found: f64 =
        rows.as_array().expect("rows").iter().filter_map(|row| row["time_ns"].as_f64()).sum();
    assert_eq!(
        found,
        200_000.0 * capture.messages().filter(|it| !it.is_of_recorder()).count() as f64
    );
}

#[test]
fn queries_for_unknown_recipients_print_one_note() {
    let folder = office();
    let mut recording = testkit::recording::TestRecording::new();
    recording.process(":1.5", 42, "reader");
    recording.signal(":1.6", "/ org.example.Mail.Changed", &());
    std::fs::write(folder.join("dark.pcapng"), recording.pcapng()).expect("a writable folder");
    for line in [
        "show dark.pcapng recipients>3",
        "stats dark.pcapng recipients>3",
        "timeline dark.pcapng recipients>3",
        "export --format json dark.pcapng recipients>3",
        "diff dark.pcapng dark.pcapng recipients>3",
    ] {
        let printed = run(&folder, line);
        let note = "note: recipients are unknown in this recording";
        assert_eq!(printed.stderr.matches(note).count(), 1, "{line}: {}", printed.stderr);
    }
    let printed = run(&folder, "stats dark.pcapng --by member");
    let note = "note: the recipients of signals are unknown: the bus did not record the recipients";
    assert!(printed.stderr.starts_with(note), "{}", printed.stderr);
}

#[test]
fn invalid_stats_options_are_rejected() {
    check_refused(
        &office(),
        &[
            ("stats gone.pcap", 1, "diligence stats: cannot read gone.pcap: "),
            ("stats office.pcapng color:red", 2, "the query: "),
            ("stats office.pcapng --by color", 2, "possible values: member, service, "),
            ("stats office.pcapng --by member --sort color", 2, "color"),
            ("stats office.pcapng --sort calls", 2, "--by"),
            ("stats office.pcapng --csv", 2, "--by"),
            ("stats office.pcapng --by rules from:reader", 2, "match rules belong to connections"),
            ("stats office.pcapng --sweep gone", 1, "gone: "),
            ("stats", 2, "FILE... [QUERY]"),
        ],
    );
}
