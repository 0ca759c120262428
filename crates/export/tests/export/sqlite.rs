//! Databases, tested with SQL queries.

use std::fs;

use capture::Capture;
use capture::statistics::{GroupKeyKind, GroupedTraffic};
use export::{ExportError, write_sqlite};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::ExportedFile;
use crate::scene::office;

/// Exports a capture, and loads the database into memory.
pub(crate) fn database(capture: &Capture) -> Connection {
    selected(capture, "")
}

fn selected(capture: &Capture, kind: &str) -> Connection {
    let file = ExportedFile::new();
    let is_wanted = |found: &str| kind.is_empty() || found == kind;
    write_sqlite(capture, |message| is_wanted(message.kind().as_str()), file.path())
        .expect("the folder is writable");
    Connection::open(file.path()).expect("a database")
}

/// The rows of a query result, as texts.
pub(crate) fn rows(database: &Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = database.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at).map(shown)).collect();
    let rows = statement.query_map([], row).expect("a query");
    rows.collect::<Result<_, _>>().expect("rows")
}

fn shown(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{bytes:?}"),
    }
}

fn check(database: &Connection, sql: &str, expected: &[&str]) {
    let lines: Vec<_> = rows(database, sql).iter().map(|row| row.join("|")).collect();
    assert_eq!(lines, expected, "{sql}");
}

#[test]
fn tables_hold_the_recording() {
    let database = database(&office().capture());
    for (sql, expected) in [
        ("PRAGMA user_version", &["2"][..]),
        ("PRAGMA integrity_check", &["ok"]),
        ("PRAGMA foreign_key_check", &[]),
        (
            "SELECT type, count(*) FROM message GROUP BY type",
            &["error|2", "method_call|10", "method_return|6", "signal|5"],
        ),
        ("SELECT name, method FROM bus", &["session|unknown"]),
        (
            "SELECT unique_name, label, pid, comm, is_recorder FROM peer WHERE pid OR is_recorder",
            &[
                ":1.6|org.example.Mail|50|maild|0",
                ":1.5|reader (:1.5)|42|reader|0",
                ":1.9|:1.9|||1",
            ],
        ),
        (
            "SELECT name.name, peer.unique_name, since_ns FROM name JOIN peer ON peer.id = owner",
            &["org.example.Mail|:1.6|"],
        ),
        (
            "SELECT fact, content ->> 'unique', content ->> 'rule' FROM fact",
            &["rule|:1.5|type='signal',member='Changed'"],
        ),
        (
            "SELECT outcome, count(*), sum(duration_ns) FROM call GROUP BY outcome",
            &[
                "failed|1|9000000",
                "no reply expected|1|",
                "returned|6|46100000",
                "timed out|1|900000000",
                "waiting|1|",
            ],
        ),
        ("SELECT state, kept_bytes FROM message WHERE state <> 'whole'", &["body cut|150"]),
        (
            "SELECT body FROM message WHERE number IN (1, 2, 9)",
            &[r#"["In"]"#, "[7]", r#"["a \"b\", c"]"#],
        ),
        ("SELECT count(*) FROM message WHERE body = '[]' AND signature IS NULL", &["4"]),
        ("SELECT state FROM message WHERE body IS NULL", &["body cut"]),
    ] {
        check(&database, sql, expected);
    }
}

#[test]
fn views_answer_frequent_questions() {
    let database = database(&office().capture());
    for (sql, expected) in [
        (
            "SELECT after_s, sender, recipient, member, outcome, duration_ms FROM messages LIMIT 2",
            &[
                "0|reader (:1.5)|org.example.Mail|Count|returned|1",
                "0.001|org.example.Mail|reader (:1.5)|Count|returned|1",
            ][..],
        ),
        (
            "SELECT member, waited_ms, error FROM slowest_calls LIMIT 3",
            &["Find|900|org.freedesktop.DBus.Error.NoReply", "Count|40|", "Find|15.1|"],
        ),
        (
            "SELECT number, member, outcome FROM unanswered_calls",
            &["11|Find|timed out", "13|Find|waiting"],
        ),
        (
            "SELECT sender, messages, calls, signals FROM talkers",
            &["org.example.Mail|10|0|5", "reader (:1.5)|9|9|0", "org.freedesktop.DBus|2|0|0"],
        ),
        (
            "SELECT sender, interface, signal, signals FROM signals",
            &[
                "org.example.Mail|org.example.Mail|Changed|4",
                "org.example.Mail|org.example.Mail|Sent|1",
            ],
        ),
    ] {
        check(&database, sql, expected);
    }
}

/// The view and `stats --by member` give the same numbers.
#[test]
fn percentiles_are_those_of_the_statistics() {
    let capture = office().capture();
    let mut groups = GroupedTraffic::new(&capture, GroupKeyKind::Member);
    let messages = capture.messages().filter(|message| !message.is_of_recorder());
    messages.for_each(|message| groups.add(&message));
    let csv = groups.times().to_csv();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let keys = lines.next().expect("a line of keys");
    let at = |key: &str| keys.iter().position(|found| *found == key).expect("a column");
    let wanted = ["member", "calls", "p50_ns", "max_ns", "errors", "time_outs", "waiting"].map(at);
    let mut expected: Vec<Vec<_>> =
        lines.map(|row| wanted.iter().map(|&at| row[at].to_owned()).collect()).collect();
    let sql = "SELECT interface || '.' || member, calls, CAST(p50_ms * 1e6 AS INTEGER), \
               CAST(max_ms * 1e6 AS INTEGER), nullif(failed, 0), nullif(timed_out, 0), \
               nullif(waiting, 0) FROM members";
    let mut found = rows(&database(&capture), sql);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn sqlite_has_only_selected_messages() {
    let database = selected(&office().capture(), "method_call");
    check(&database, "SELECT DISTINCT type FROM message", &["method_call"]);
    // The outcome of a call is known with or without its reply.
    check(&database, "SELECT count(*) FROM call WHERE outcome = 'returned'", &["6"]);
    check(&database, "PRAGMA foreign_key_check", &[]);
}

#[test]
fn tables_hold_copies_of_a_bus_that_recorded_itself() {
    let mut recording = office();
    recording.signal(":1.6", "/m org.example.Mail.Changed", &()).delivered(3, &[(7, 9, 1)]);
    let sql = "SELECT recipient, begun_after_ns, written_after_ns, rules FROM delivery";
    check(&database(&recording.capture()), sql, &[":1.7|9000|9000|1"]);
}

#[test]
fn the_stages_of_routing_are_columns_of_messages() {
    let mut recording = office();
    let changed = "/m org.example.Mail.Changed";
    recording.signal(":1.6", changed, &()).delivered(30, &[(7, 90, 1), (8, 50, 1)]);
    recording.staged(3, 5, Some((6, 9))).begun(0, 40);
    recording.signal(":1.6", changed, &()).delivered(30, &[(7, 90, 1)]);
    let database = database(&recording.capture());
    let stages = "SELECT routed_after_ns, receive_ns, wait_ns, dispatch_ns, match_ns, send_ns \
                  FROM message WHERE routed_after_ns IS NOT NULL";
    check(&database, stages, &["30000|3000|2000|16000|9000|60000", "30000|||||60000"]);
    let copies = "SELECT recipient, begun_after_ns, written_after_ns FROM delivery";
    check(&database, copies, &[":1.7|40000|90000", ":1.8|50000|50000", ":1.7|90000|90000"]);
}

#[test]
fn databases_that_cannot_be_created_are_errors() {
    let file = ExportedFile::new();
    let failed = write_sqlite(&office().capture(), |_| true, &file.path().join("nowhere"));
    assert!(matches!(failed, Err(ExportError::Io(_) | ExportError::Sqlite(_))), "{failed:?}");
    fs::write(file.path(), "something else").expect("the folder is writable");
    let failed = write_sqlite(&office().capture(), |_| true, file.path());
    assert!(matches!(failed, Err(ExportError::Sqlite(_))), "{failed:?}");
}
