//! Differences and budgets of recordings with known content.

use capture::Capture;
use capture::budget::{self, Budget, BudgetVerdict};
use capture::compare::{differences, members, table};
use capture::query::Query;
use capture::record::Fact;
use testkit::recording::TestRecording;

/// Calls of a method that take `millis` each; `failing` of them fail. Unique names are numbered
/// from `first`.
fn service(first: u32, calls: u32, millis: i64, failing: u32) -> TestRecording {
    let (server, client) = (format!(":1.{first}"), format!(":1.{}", first + 1));
    let mut recording = TestRecording::new();
    recording.process(&server, 50, "vfsd").process(&client, 42, "shell");
    for index in 0..calls {
        let call = recording.call(&client, &server, "/f org.x.Files.List", &());
        recording.wait_ms(millis);
        match index < failing {
            true => recording.error(&call, &server, "org.x.Error.Gone", "no"),
            false => recording.reply(&call, &server, &()),
        };
    }
    recording
}

fn compare(before: &Capture, after: &Capture) -> String {
    let members = |capture| members(capture, |_| true);
    let csv = table(&differences(&members(before), &members(after))).to_csv();
    csv.lines().skip(1).map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn services_are_compared_without_process_numbers() {
    let mounted = |numbers: &[u32]| {
        let mut recording = TestRecording::new();
        for number in numbers {
            let server = format!(":1.{number}");
            recording.owner_changed(&format!("org.gtk.vfs.mountpoint_{number}"), "", &server);
            let call = recording.call(":1.9", &server, "/f org.x.Mount.List", &());
            recording.wait_ms(10).reply(&call, &server, &());
        }
        recording.capture()
    };
    assert_eq!(compare(&mounted(&[100, 200]), &mounted(&[300, 400])), "");
    let gone = compare(&mounted(&[100, 200]), &TestRecording::new().capture());
    assert!(gone.contains("gone,org.x.Mount.List,org.gtk.vfs.mountpoint_*,2,0,"), "{gone}");
}

#[test]
fn differences_exceed_the_noise() {
    let before = service(5, 100, 10, 0).capture();
    for (after, expected) in [
        (service(7, 100, 10, 0), ""),
        (service(7, 105, 10, 1), ""),
        (
            service(7, 100, 20, 0),
            "slower,org.x.Files.List,vfsd,100,100,10000000,20000000,,,11300,11300\n",
        ),
        (
            service(7, 200, 10, 0),
            "more,org.x.Files.List,vfsd,100,200,10000000,10000000,,,11300,22600\n",
        ),
    ] {
        let found = compare(&before, &after.capture());
        let without_bytes = |text: &str| {
            text.lines()
                .map(|line| line.splitn(10, ',').take(9).collect::<Vec<_>>().join(","))
                .collect::<Vec<_>>()
        };
        assert_eq!(without_bytes(&found), without_bytes(expected));
    }
    let failing = compare(&before, &service(7, 100, 10, 50).capture());
    assert!(failing.starts_with("more errors,org.x.Files.List,vfsd,100,100,"), "{failing}");
}

#[test]
fn differences_include_new_and_removed_members() {
    let before = service(5, 3, 10, 0).capture();
    let mut after = TestRecording::new();
    after.process(":1.5", 50, "vfsd").signal(":1.5", "/f org.x.Files.Changed", &());
    let found = compare(&before, &after.capture());
    let starts: Vec<_> = found
        .lines()
        .map(|line| line.splitn(4, ',').take(3).collect::<Vec<_>>().join(","))
        .collect();
    assert_eq!(starts, ["new,org.x.Files.Changed,vfsd", "gone,org.x.Files.List,vfsd"]);
    assert_eq!(compare(&before, &before), "");
}

#[test]
fn budgets_are_kept_or_exceeded() {
    let capture = service(5, 40, 10, 2).capture();
    for (text, verdict, found) in [
        ("calls(*) <= 40", "ok", "40"),
        ("calls(org.x.Files.List) < 40", "FAILED", "40"),
        ("errors(*)==0", "FAILED", "2"),
        ("time-outs(*) == 0", "ok", "0"),
        ("p95(org.x.Files.*) < 20ms", "ok", "10000000"),
        ("max(org.x.Files.List) <= 9.5ms", "FAILED", "10000000"),
        ("p95(org.x.Fils.List) < 20ms", "FAILED: no such call", ""),
        ("calls(org.x.Fils.List) > 0", "FAILED", "0"),
        ("calls(org.x.Fils.List) == 0", "ok", "0"),
        ("errors(org.x.Fils.List) == 0", "FAILED: no such call", ""),
        ("bytes(org.x.Fils.List) < 1MiB", "FAILED: no such call", ""),
        ("errors(member:Fils) == 0", "ok", "0"),
        ("messages(member:Li* (from:shell or to:shell)) >= 80", "ok", "80"),
        ("signals(*) != 0", "FAILED", "0"),
        ("bytes(*) < 1MiB", "ok", ""),
    ] {
        let budget: Budget = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let csv = budget::table(&[budget.check(&capture, &Query::default())]).to_csv();
        let row = csv.lines().nth(1).expect("a row");
        assert!(row.starts_with(&format!("{verdict},{text},{found}")), "{text}: {row}");
    }
}

#[test]
fn budgets_measure_selected_messages_without_the_recorder() {
    let mut recording = service(5, 40, 10, 2);
    recording.fact(Fact::Recorder { unique: ":1.99".to_owned() });
    recording.call(":1.99", "org.x.Files", "/f org.x.Files.List", &());
    let capture = recording.capture();
    for (query, text) in [
        ("", "calls(*) == 40"),
        ("", "calls(member:List) == 40"),
        ("type:signal", "calls(*) == 0"),
        ("type:call from::1.6", "calls(*) == 40"),
        ("type:call from::1.99", "calls(*) == 0"),
    ] {
        let query: Query = query.parse().expect(query);
        let budget: Budget = text.parse().expect(text);
        assert_eq!(budget.check(&capture, &query).verdict, BudgetVerdict::Kept, "{query:?} {text}");
    }
}

#[test]
fn malformed_budgets_are_reported_with_column_and_reason() {
    for (text, expected) in [
        ("p96(*) < 1ms", "column 1: `p96` is not a measure; expected one of calls, signals, "),
        (" ", "column 2: `` is not a measure"),
        ("p95 < 1ms", "column 4: expected a member or a query in parentheses"),
        ("p95() < 1ms", "column 5: expected a member or a query"),
        ("p95(org.x < 1ms", "column 4: the parenthesis is not closed"),
        ("p95(color:red) < 1ms", "column 5: the query: "),
        ("p95(*) ~ 1ms", "column 8: expected <, <=, >, >=, == or !="),
        (
            "p95(*) < 20",
            "column 10: 20 is not a limit; expected a time with its unit, such as 20ms",
        ),
        ("p95(*)<", "column 8: the limit is missing; expected a time with its unit, such as 20ms"),
        ("bytes(*) <= ", "column 13: the limit is missing; expected a size, such as 512 or 4KiB"),
        ("calls(*) <= 1.5", "column 13: 1.5 is not a limit; expected a whole number"),
        ("bytes(*) <= 1ms", "column 13: 1ms is not a limit; expected a size"),
    ] {
        let error = text.parse::<Budget>().expect_err(text).to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}
