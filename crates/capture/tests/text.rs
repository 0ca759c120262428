//! Amounts, numbers with units, columns and escapes.

use std::time::Duration;

use capture::RecordedTime;
use capture::text::amount::{AmountError, Scale};
use capture::text::columns::{Fit, fit, folded};
use capture::text::nearest::{nearest, suggestion};
use capture::text::units::{
    bytes, bytes_aligned, clock_time, count, counted, date_and_time, duration, duration_aligned,
    elapsed, grouped, share, time_of_day,
};
use capture::text::visible::{lines, printable, styled_lines, value};
use wire::body::Value;

#[test]
fn numbers_are_formatted_short() {
    for (number, expected) in [
        (0.0, "0"),
        (0.04, "0"),
        (0.05, "0.1"),
        (1.0, "1.0"),
        (9.94, "9.9"),
        (9.96, "10"),
        (999.6, "1000"),
        (9_999.4, "9999"),
        (9_999.6, "10.0k"),
        (12_345.0, "12.3k"),
        (99_960.0, "100k"),
        (999_400.0, "999k"),
        (999_600.0, "1.0M"),
        (12_345_678.0, "12.3M"),
    ] {
        assert_eq!(count(number), expected, "{number}");
    }
}

#[test]
fn thousands_are_separated() {
    for (number, expected) in
        [(0, "0"), (12, "12"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")]
    {
        assert_eq!(grouped(number), expected);
    }
}

#[test]
fn bytes_have_a_unit_and_at_most_three_digits() {
    for (number, expected) in [
        (0.0, "0 B"),
        (999.0, "999 B"),
        (1_000.0, "1.0 KiB"),
        (1_536.0, "1.5 KiB"),
        (10_240.0, "10 KiB"),
        (1_022_976.0, "999 KiB"),
        (1_024_000.0, "1.0 MiB"),
        (5e9, "4.7 GiB"),
        (5e15, "4547 TiB"),
    ] {
        assert_eq!(bytes(number), expected, "{number}");
    }
    assert_eq!(bytes_aligned(7.0), "7 B  ");
    assert_eq!(bytes_aligned(2048.0), "2.0 KiB");
}

#[test]
fn durations_have_three_digits() {
    for (nanos, expected) in [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.00 \u{b5}s"),
        (9_996, "10.0 \u{b5}s"),
        (999_400, "999 \u{b5}s"),
        (999_600, "1.00 ms"),
        (41_000_000, "41.0 ms"),
        (25_000_000_000, "25.0 s"),
        (99_000_000_000, "99.0 s"),
        (120_000_000_000, "120 s"),
        (7_200_000_000_000, "7,200 s"),
    ] {
        assert_eq!(duration(Duration::from_nanos(nanos)), expected, "{nanos}");
    }
    assert_eq!(duration_aligned(Duration::from_secs(1)), "1.00 s ");
}

#[test]
fn shares_are_percent() {
    for (number, expected) in
        [(0.0, "0.0 %"), (0.000_1, "<0.1 %"), (0.123_4, "12.3 %"), (1.0, "100.0 %")]
    {
        assert_eq!(share(number), expected);
    }
}

#[test]
fn times_of_day_are_formatted() {
    assert_eq!(elapsed(Duration::from_secs(83)), "0:01:23");
    assert_eq!(elapsed(Duration::from_secs(360_000)), "100:00:00");
    assert_eq!(time_of_day(Duration::from_secs(1_700_000_000)), "22:13:20Z");
}

#[test]
fn dates_are_formatted() {
    for (nanos, expected) in [
        (0, "Thu 1970-01-01 00:00:00.000000 UTC"),
        (1_795_267_168_184_651_999, "Sat 2026-11-21 13:19:28.184651 UTC"),
        (951_782_400_000_000_000, "Tue 2000-02-29 00:00:00.000000 UTC"),
        (-1, "Wed 1969-12-31 23:59:59.999999 UTC"),
        (i64::MIN, "Tue 1677-09-21 00:12:43.145224 UTC"),
    ] {
        assert_eq!(date_and_time(RecordedTime(nanos)), expected);
    }
    assert_eq!(clock_time(RecordedTime(1_795_267_168_184_651_999)), "13:19:28.184651999");
}

#[test]
fn nouns_follow_their_numbers() {
    assert_eq!(counted(0, "name", "names"), "0 names");
    assert_eq!(counted(1, "name", "names"), "1 name");
    assert_eq!(counted(1234, "name", "names"), "1,234 names");
}

fn check(scale: Scale, cases: &[(&str, Result<u64, AmountError>)]) {
    for (text, expected) in cases {
        assert_eq!(scale.read(text), *expected, "{text:?}");
    }
}

#[test]
fn amounts_of_bytes_are_parsed() {
    let wrong_unit = Err(AmountError::WrongUnit(Scale::BYTES));
    check(
        Scale::BYTES,
        &[
            ("0", Ok(0)),
            ("4096", Ok(4096)),
            ("512B", Ok(512)),
            ("4kB", Ok(4000)),
            ("4KB", Ok(4000)),
            ("4KiB", Ok(4096)),
            ("4k", Ok(4096)),
            ("4K", Ok(4096)),
            ("1.5KiB", Ok(1536)),
            ("0.99999999999999999999999k", Ok(1023)),
            (".5k", Ok(512)),
            ("2.", Ok(2)),
            ("1MB", Ok(1_000_000)),
            ("64M", Ok(64 << 20)),
            ("16 MiB", Ok(16 << 20)),
            ("2 GB", Ok(2_000_000_000)),
            ("1g", Ok(1 << 30)),
            ("1TB", Ok(1_000_000_000_000)),
            ("1TiB", Ok(1 << 40)),
            ("1ms", wrong_unit),
            ("1x", wrong_unit),
            ("-1", Err(AmountError::NotANumber(Scale::BYTES))),
            ("", Err(AmountError::NotANumber(Scale::BYTES))),
            (".", Err(AmountError::NotANumber(Scale::BYTES))),
            ("1.2.3", Err(AmountError::NotANumber(Scale::BYTES))),
            ("MiB", Err(AmountError::NotANumber(Scale::BYTES))),
            ("99999999999999999TiB", Err(AmountError::TooMuch)),
            ("99999999999999999999", Err(AmountError::TooMuch)),
        ],
    );
}

#[test]
fn amounts_of_time_are_parsed() {
    let wrong_unit = Err(AmountError::WrongUnit(Scale::TIME));
    check(
        Scale::TIME,
        &[
            ("50ms", Ok(50_000_000)),
            ("5 ms", Ok(5_000_000)),
            ("1.5s", Ok(1_500_000_000)),
            (".5us", Ok(500)),
            ("2\u{b5}s", Ok(2000)),
            ("2\u{3bc}s", Ok(2000)),
            ("10min", Ok(600_000_000_000)),
            ("10m", Ok(600_000_000_000)),
            ("1h", Ok(3_600_000_000_000)),
            ("50", wrong_unit),
            ("1d", wrong_unit),
            ("ms", Err(AmountError::NotANumber(Scale::TIME))),
            ("99999999999h", Err(AmountError::TooMuch)),
        ],
    );
    check(Scale::SECONDS, &[("30", Ok(30_000_000_000)), ("500ms", Ok(500_000_000))]);
}

#[test]
fn amount_errors_name_what_was_expected() {
    let said = |scale: Scale, text| scale.read(text).expect_err("a mistake").to_string();
    let bytes =
        "expected a number of bytes, or one with a unit: B, kB, KiB, MB, MiB, GB, GiB, TB or TiB";
    assert_eq!(said(Scale::BYTES, "1x"), bytes);
    let time = "expected a number with a unit: ms, us, ns, s, min or h";
    assert_eq!(said(Scale::TIME, "1"), time);
    let bytes = "expected a number of bytes, or one with a unit, such as 64KiB";
    assert_eq!(said(Scale::BYTES, "x"), bytes);
    let seconds = "expected a number of seconds, or one with a unit, such as 500ms";
    assert_eq!(said(Scale::SECONDS, "abc"), seconds);
    assert_eq!(said(Scale::TIME, ""), "expected a number with a unit, such as 50ms");
    assert_eq!(said(Scale::BYTES, "1234567890TiB"), "the amount is too large");
}

#[test]
fn texts_are_fitted_to_their_columns() {
    for (text, width, how, expected) in [
        ("name", 6, Fit::Start, "name  "),
        ("name", 6, Fit::End, "name  "),
        ("12", 4, Fit::Number, "  12"),
        ("name", 4, Fit::Start, "name"),
        ("a.long.name", 6, Fit::Start, "a.lon\u{2026}"),
        ("a.long.name", 6, Fit::End, "\u{2026}name "),
        ("a.long.name", 5, Fit::End, "\u{2026}name"),
        ("a.long.name", 4, Fit::End, "\u{2026}ame"),
        ("a.long.name", 10, Fit::End, "\u{2026}long.name"),
        ("a.longer.name", 11, Fit::End, "\u{2026}name      "),
        ("/org/x/Mail/7", 8, Fit::End, "\u{2026}Mail/7 "),
        ("program (:1.9)", 8, Fit::End, "\u{2026} (:1.9)"),
        ("program (:1.9)", 12, Fit::End, "prog\u{2026} (:1.9)"),
        ("exited with status 3", 12, Fit::End, "exited with\u{2026}"),
        ("12345", 3, Fit::Number, "12\u{2026}"),
        ("name", 1, Fit::End, "\u{2026}"),
        ("name", 0, Fit::Start, ""),
        ("", 0, Fit::Start, ""),
        // Characters that are two cells wide, one of which does not fit.
        ("\u{7535}\u{6c60}", 5, Fit::Start, "\u{7535}\u{6c60} "),
        ("\u{7535}\u{6c60}\u{7535}", 5, Fit::Start, "\u{7535}\u{6c60}\u{2026}"),
        ("\u{7535}\u{6c60}\u{7535}", 4, Fit::End, "\u{2026}\u{7535} "),
    ] {
        assert_eq!(fit(text, width, how), expected, "{text:?} in {width}");
    }
}

#[test]
fn texts_are_folded_between_words() {
    assert_eq!(folded("one two three", 7), ["one two", "three"]);
    assert_eq!(folded("a-very-long-word x", 5), ["a-very-long-word", "x"]);
    assert_eq!(folded("", 5), [""]);
}

#[test]
fn similar_names_are_suggested() {
    let names = ["org.example.Mail", "org.example.Mixer", "com.example.Battery1"];
    let check = |wanted: &str, expected: &[&str]| {
        assert_eq!(nearest(wanted, names), expected, "{wanted}");
    };
    check("org.example.Mial", &["org.example.Mail", "org.example.Mixer"]);
    check("battery", &["com.example.Battery1"]);
    check("com.example.battery2", &["com.example.Battery1"]);
    check("net.hadess.Switcher", &[]);
    check("", &[]);
}

#[test]
fn suggestions_are_sentences() {
    assert_eq!(suggestion(&[]), "");
    assert_eq!(suggestion(&["a"]), "; did you mean a?");
    assert_eq!(suggestion(&["a", "b", "c"]), "; did you mean a, b or c?");
}

#[test]
fn unsafe_characters_are_escaped() {
    for (text, on_one_line, as_lines) in [
        ("größer \\ 漢字 🙂", "größer \\ 漢字 🙂", "größer \\ 漢字 🙂"),
        ("a\nb\tc\r", "a\\nb\\tc\\r", "a\nb\tc\\r"),
        ("\x1b]0;t\x07", "\\u001b]0;t\\u0007", "\\u001b]0;t\\u0007"),
        ("\0\x7f\u{9b}31m", "\\u0000\\u007f\\u009b31m", "\\u0000\\u007f\\u009b31m"),
        ("\u{2028}\u{2029}", "\\u2028\\u2029", "\\u2028\\u2029"),
        (
            "\u{fffe}\u{1ffff}\u{fdd0}",
            "\\ufffe\\ud83f\\udfff\\ufdd0",
            "\\ufffe\\ud83f\\udfff\\ufdd0",
        ),
        ("a\u{feff}b\u{200b}\u{2060}", "a\\ufeffb\\u200b\\u2060", "a\\ufeffb\\u200b\\u2060"),
        ("\u{e0041}\u{e007f}", "\\udb40\\udc41\\udb40\\udc7f", "\\udb40\\udc41\\udb40\\udc7f"),
        ("\u{e0000}\u{e0100}", "\\udb40\\udc00\u{e0100}", "\\udb40\\udc00\u{e0100}"),
        ("\u{645}\u{200c}\u{200d}", "\u{645}\u{200c}\u{200d}", "\u{645}\u{200c}\u{200d}"),
        (
            "\u{202e}\u{2066}\u{200f}\u{61c}",
            "\\u202e\\u2066\\u200f\\u061c",
            "\\u202e\\u2066\\u200f\\u061c",
        ),
    ] {
        assert_eq!(printable(text), on_one_line);
        assert_eq!(lines(text), as_lines);
    }
}

#[test]
fn escaped_json_has_the_same_values() {
    let value = serde_json::json!(["a\u{feff}\u{e0041}\u{202e}", {"\u{7f}": "\u{9b}"}]);
    let document = value.to_string();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&printable(&document)).unwrap(), value);
}

#[test]
fn only_styles_pass_in_styled_lines() {
    for (text, expected) in [
        ("\x1b[1mbold\x1b[0m\n", "\x1b[1mbold\x1b[0m\n"),
        ("\x1b[38;5;1mred\x1b[m", "\x1b[38;5;1mred\x1b[m"),
        ("\x1b[2J\x1b[1m", "\\u001b[2J\x1b[1m"),
        ("\x1b]52;c;eA==\x07", "\\u001b]52;c;eA==\\u0007"),
        ("\x1b\x1b[0m\x1b", "\\u001b\x1b[0m\\u001b"),
        ("\x1b[1", "\\u001b[1"),
        ("\u{202e}\x1b[1m\r", "\\u202e\x1b[1m\\r"),
    ] {
        assert_eq!(styled_lines(text), expected);
    }
}

#[test]
fn texts_inside_values_are_escaped() {
    let text = |text: &str| Value::String(text.to_owned());
    let nested = |inside| {
        let pair = Value::DictEntry(Box::new((text("k"), Value::Variant(Box::new(inside)))));
        Value::Struct(vec![Value::Uint32(7), pair])
    };
    assert_eq!(value(nested(text("\n")), printable), nested(text("\\n")));
    assert_eq!(value(nested(text("\n\r")), lines), nested(text("\n\\r")));
}
