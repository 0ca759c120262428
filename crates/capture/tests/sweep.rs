//! The cost of messages by size, from the results of a benchmark.

use capture::statistics::{Sweep, SweepChoice};

/// A sample whose reply is 40 bytes smaller than its call, so that their mean is `size`.
fn sample(subject: &str, buffer: &str, size: u64, micros: f64) -> String {
    let (call, reply) = (size + 20, size - 20);
    let at = format!(r#"{{"size":{},"read_buffer":"{buffer}","reply":"echo"}}"#, size - 20);
    let figures =
        format!(r#"{{"round_trip_us":{micros},"call_bytes":{call},"reply_bytes":{reply}}}"#);
    format!(
        r#"{{"record":"sample","scenario":"ping-pong","case":{{"label":"x","at":{at}}},"subject":"{subject}","round":1,"figures":{figures},"disturbance":0.0}}"#
    ) + "\n"
}

fn file() -> String {
    let lines = [
        "{\"record\":\"run\",\"format\":2}\n".to_owned(),
        sample("direct", "ours", 100, 5.0),
        sample("dbus-daemon", "2048", 100, 400.0),
        sample("dbus-daemon", "2048", 1100, 500.0),
        sample("dbus-daemon", "ours", 100, 40.0),
        sample("dbus-daemon", "ours", 1100, 50.0),
        sample("dbus-daemon", "ours", 1100, 60.0),
        sample("dbus-daemon", "ours", 1100, 70.0),
        sample("dbus-daemon", "ours", 3100, 100.0),
        sample("dbus-daemon", "ours", 5100, 120.0),
        sample("busd", "2048", 100, 30.0),
    ];
    lines.concat()
}

fn read(subject: Option<&str>, read_buffer: Option<&str>) -> Result<Sweep, String> {
    let choice = SweepChoice { subject, read_buffer };
    Sweep::read(file().as_bytes(), choice).map_err(|error| error.to_string())
}

#[test]
fn sweeps_count_half_of_a_round_trip_for_each_message() {
    let sweep = read(None, None).expect("a sweep");
    assert_eq!((&*sweep.subject, &*sweep.read_buffer), ("dbus-daemon", "ours"));
    for (size, micros) in [
        (0, 20.0),
        (100, 20.0),
        // Halfway between 100 and 1100 bytes, so halfway between 20 and 30 µs.
        (600, 25.0),
        (1100, 30.0),
        (2100, 40.0),
        (3100, 50.0),
        // 10 µs for each 2000 bytes, as between the last two sizes.
        (7100, 70.0),
    ] {
        assert_eq!(sweep.message_ns(size), micros * 1e3, "{size}");
    }
}

#[test]
fn sweeps_use_the_results_of_one_read_buffer() {
    let sweep = read(None, Some("2048")).expect("a sweep");
    assert_eq!(sweep.message_ns(600), 225_000.0);
    // Only one read buffer was measured on this bus.
    let sweep = read(Some("busd"), None).expect("a sweep");
    assert_eq!((&*sweep.read_buffer, sweep.message_ns(100_000)), ("2048", 15_000.0));
}

#[test]
fn sweep_errors_are_measured_by_leaving_sizes_out() {
    let found = read(None, None).expect("a sweep").leave_one_out().expect("four sizes");
    // 1100 bytes from 100 and 3100: 20 + 30 * 1000 / 3000 = 30 µs, as measured.
    // 3100 bytes from 1100 and 5100: (30 + 60) / 2 = 45 µs, and 50 µs were measured.
    assert!((found.worst - 0.1).abs() < 1e-9, "{found:?}");
    assert!((found.median - 0.05).abs() < 1e-9, "{found:?}");
    assert_eq!(found.worst_size, 3100.0);
    assert_eq!(read(None, Some("2048")).expect("a sweep").leave_one_out(), None);
}

#[test]
fn unusable_sweeps_are_reported_with_the_reason() {
    let expected = "`x` was not measured; expected one of direct, dbus-daemon, busd";
    assert_eq!(read(Some("x"), None).expect_err("no such bus"), expected);
    let expected = "a read buffer of `64` was not measured; expected one of 2048, ours";
    assert_eq!(read(None, Some("64")).expect_err("no such buffer"), expected);
    let without_sizes = file().replace("call_bytes", "other");
    let empty_replies = file().replace("\"echo\"", "\"empty\"");
    for (file, expected) in [
        (&*sample("direct", "ours", 100, 5.0), "expected round trips, found none"),
        (&without_sizes, "the round trips lack the sizes"),
        (&empty_replies, "the round trips lack the sizes"),
        ("nonsense\n", "line 1 is not a result"),
    ] {
        let error = Sweep::read(file.as_bytes(), SweepChoice::default()).expect_err(expected);
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
