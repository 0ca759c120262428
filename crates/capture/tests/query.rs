//! Queries match as documented on their page, and completions fit the position.

use std::collections::HashMap;

use capture::Capture;
use capture::query::{Query, complete};
use capture::record::{Fact, MessageContent, RecordedBus};
use testkit::recording::TestRecording;
use wire::body::{Value, Variant};
use wire::message::Flags;

/// The conversation that the page describes.
fn conversation() -> Capture {
    let mut recording = TestRecording::new();
    recording.process(":1.7", 701, "gnome-shell").owner("org.example.Mail", ":1.9");
    let mail = |member: &str| format!("/org/example/mail org.example.Mail.{member}");
    let to = "org.example.Mail";
    let call = recording.call(":1.7", to, &mail("GetCount"), &("Inbox",));
    recording.wait_ms(80).reply(&call, ":1.9", &(7_u32,));
    let entries = HashMap::from([("Foo bar", Value::Int32(1200))]);
    recording.wait_ms(10).signal(":1.9", &mail("Changed"), &(entries,));
    recording.wait_ms(5).call_with(Flags::NO_REPLY_EXPECTED, ":1.7", to, &mail("Delete"), &());
    let call = recording.wait_ms(1).call(":1.7", to, &mail("GetAll"), &());
    recording.wait_ms(1).error(&call, ":1.9", "org.example.Error.Busy", "not now");
    recording.wait_ms(1).call(":1.7", to, &mail("Wait"), &());
    recording.wait_ms(1).owner_changed(":1.12", "", ":1.12");
    recording.capture()
}

fn selected(capture: &Capture, query: &str) -> String {
    let query: Query = query.parse().unwrap_or_else(|error| panic!("{query}: {error}"));
    let mut matcher = query.matcher();
    let numbers = capture.messages().filter(|message| matcher.selects(message));
    let numbers: Vec<_> = numbers.map(|message| message.id().number().to_string()).collect();
    numbers.join(" ")
}

#[test]
fn queries_of_the_page_match_as_documented() {
    let capture = conversation();
    let page = include_str!("../../../docs/query.md");
    let (_, examples) = page.split_once("these queries select").expect("examples");
    let rows = examples.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() > 20, "{rows:?}");
    for (query, expected) in rows {
        assert_eq!(selected(&capture, query), expected.trim_end_matches(" |"), "{query}");
    }
}

#[test]
fn queries_accept_comparison_signs_of_other_tools() {
    let capture = conversation();
    for (query, expected) in [
        ("dur > 50ms", "1 2"),
        ("dur >50ms", "1 2"),
        ("dur> 50ms", "1 2"),
        ("member==GetAll", "5 6"),
        ("member == GetAll", "5 6"),
        ("member : GetAll", "5 6"),
        ("member: GetAll type = call", "5"),
        ("size > 10 number <= 2", "1 2"),
        ("GetAll :1.7", "5 6"),
        ("path_namespace='/org/example'", "1 3 4 5 7"),
        ("path_namespace=/org/example", "1 3 4 5 7"),
        ("path_namespace:/org/example type:signal", "3"),
        ("path_namespace = /org/example !type:call", "3"),
        ("path_namespace!=/org/example type:call", ""),
        ("arg0namespace=Inbox", "1"),
        ("arg0path:Inbox or arg0namespace:Inbox", "1"),
    ] {
        assert_eq!(selected(&capture, query), expected, "{query}");
    }
}

#[test]
fn queries_accept_short_forms_of_names_and_values() {
    let capture = conversation();
    for (query, expected) in [
        ("dur>50 ms", "1 2"),
        ("dur > 50 MS member:GetCount", "1 2"),
        ("(dur>50 ms) size<1 kB", "1 2"),
        ("number<3 ms", ""),
        ("error:Busy", "5 6"),
        ("error='Busy' type:ERROR", "6"),
        ("error!=Busy type:error", ""),
        ("interface:Mail type:signal", "3"),
        ("interface:DBus", "8"),
        ("type:Method_Call is:Unanswered", "7"),
        ("flags:no_reply_expected type:call", "4"),
        ("path:* type:signal", "3 8"),
        ("path:*/mail type:signal", "3"),
        ("path:/", ""),
        ("contains or in", "1"),
    ] {
        assert_eq!(selected(&capture, query), expected, "{query}");
    }
}

#[test]
fn queries_without_matches_are_explained() {
    let capture = conversation();
    for (query, expected) in [
        (
            "member:getall",
            "no message has the member getall (names are case-sensitive); GetAll occurs 2 times; did you \
             mean member:GetAll?",
        ),
        (
            "member:get*",
            "no message has the member get* (names are case-sensitive); GetAll occurs 2 times, GetCount \
             occurs 2 times; did you mean member:Get*?",
        ),
        ("member:*ALL", "did you mean member:*All?"),
        ("interface:org.*.mail", "did you mean interface:org.*.Mail?"),
        ("type:call member:Get", "no message has the member Get; GetAll occurs 2 times, GetCount"),
        ("member:Delte", "no message has the member Delte; Delete occurs once"),
        ("from:gnome", "no message has the sender gnome; gnome-shell occurs 4 times"),
        ("to:org.example.mail", "org.example.mail (names are case-sensitive); org.example.Mail"),
        ("member~xyz", "no message has a member with xyz in it"),
        ("member~/^Z/", "no message has a member that /^Z/ matches"),
        ("error:Bsy", "no message has the error *.Bsy"),
        ("path:/Org/Example/Mail", "/org/example/mail occurs 7 times"),
        ("dur>1h", "no message has dur > 3,600 s; the values are 1.00 ms to 80.0 ms"),
        ("is:timed-out", "no message is timed-out"),
        ("flags:interactive", "no message has the flag interactive"),
        ("type:error member:GetCount", "each of the 2 terms matches messages, but no message"),
        ("member:A or member:B", "no message has the member A; no message has the member B"),
        ("!(member:* or path:*)", "every message matches a term that is negated"),
        ("arg0:nothing", "no message has such an argument"),
        ("zzz", "no text in the messages is like zzz"),
        ("305", "no text in the messages is like 305; #305 selects message 305"),
        ("type='signal',member='X'", "no message matches the match rule"),
    ] {
        assert_eq!(selected(&capture, query), "", "{query}");
        let query: Query = query.parse().expect(query);
        let reason = query.no_match(&capture, &mut |_| true);
        assert!(reason.contains(expected), "{query:?}: {reason}");
    }
    let query: Query = "x".parse().expect("a query");
    assert_eq!(query.no_match(&Capture::default(), &mut |_| true), "the recording has no messages");
    assert_eq!(query.no_match(&capture, &mut |_| false), "none of the messages counts here");
}

#[test]
fn queries_without_terms_match_all_messages() {
    assert_eq!(selected(&conversation(), " "), "1 2 3 4 5 6 7 8");
}

#[test]
fn cut_or_invalid_messages_match_queries_but_have_no_arguments() {
    let mut recording = TestRecording::new();
    let variant = Variant("x");
    recording.signal(":1.1", "/ org.x.Y.Cut", &("Inbox", "x".repeat(100))).cut(150);
    recording.raw(b"not a message of any bus");
    recording.signal(":1.1", "/ org.x.Y.Whole", &(variant, 5_i64, false));
    let capture = recording.capture();
    for (query, expected) in [
        ("is:cut", "1"),
        ("arg0:Inbox", ""),
        ("arg0:Inbox or Cut", "1"),
        ("is:invalid", "2"),
        ("arg0:x arg1:5 arg2:false", "3"),
        ("arg1:x", ""),
        ("arg3:x", ""),
        ("arg0='x'", ""),
    ] {
        assert_eq!(selected(&capture, query), expected, "{query}");
    }
}

#[test]
fn redacted_messages_match_queries_but_show_no_arguments() {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus { content: MessageContent::Redacted, ..RecordedBus::default() });
    recording.signal(":1.1", "/ org.x.Y.Updated", &("xxxxx", 0_u32));
    recording.signal(":1.1", "/ org.x.Y.Empty", &());
    let capture = recording.capture();
    for (query, expected) in
        [("is:redacted", "1"), ("arg0:xxxxx", ""), ("arg1=0", ""), ("xxxxx", ""), ("is:cut", "")]
    {
        assert_eq!(selected(&capture, query), expected, "{query}");
    }
}

#[test]
fn completions_fit_the_text_before_the_cursor() {
    let capture = conversation();
    for (text, replaced, offers) in [
        ("", "", &["type:", "from:", "to:"][..]),
        ("me", "me", &["member:"]),
        ("a or (du", "du", &["dur>"]),
        ("no", "no", &["not"]),
        ("is:un", "un", &["unanswered"]),
        ("!member:Get", "Get", &["GetAll", "GetCount"]),
        ("from:", "", &[":1.7", "org.example.Mail", "org.freedesktop.DBus"]),
        ("error:", "", &["org.example.Error.Busy"]),
        ("dur>50", "50", &["50ms", "50us"]),
        ("dur>50m", "50m", &["50ms", "50min"]),
        ("dur > 50m", "50m", &["50ms", "50min"]),
        ("a member = Get", "Get", &["GetAll", "GetCount"]),
        ("member: ", "", &["Changed"]),
        ("nonsense:", "", &[]),
    ] {
        let found = complete(text, text.len(), &capture);
        assert_eq!(&text[found.replaces.clone()], replaced, "{text}");
        let found: Vec<_> = found.offers.into_iter().map(|offer| offer.text).collect();
        assert!(found.len() >= offers.len(), "{text}: {found:?}");
        assert_eq!(found[..offers.len()], *offers, "{text}: {found:?}");
    }
}

/// A program, and a recorder that has sent calls itself.
fn with_recorder() -> Capture {
    let mut recording = TestRecording::new();
    recording.fact(Fact::Recorder { unique: ":1.20".into() });
    recording.call(":1.7", "org.example.Mail", "/ org.example.Mail.Get", &());
    let call = recording.call(":1.20", "org.freedesktop.DBus", "/ org.x.Y.Get", &());
    recording.reply(&call, "org.freedesktop.DBus", &());
    recording.signal(":1.7", "/ org.example.Mail.Changed", &());
    recording.capture()
}

#[test]
fn queries_skip_messages_of_the_recorder_unless_requested() {
    let capture = with_recorder();
    for (query, expected, hidden) in [
        ("", "1 4", 2),
        ("member:Get", "1", 2),
        ("member:Changed", "4", 0),
        ("is:recorder", "2 3", 0),
        ("is:recorder or !is:recorder", "1 2 3 4", 0),
        ("type:call and not is:recorder", "1", 0),
        ("#2", "2", 0),
        ("#1..#3", "1", 2),
    ] {
        assert_eq!(selected(&capture, query), expected, "{query}");
        let query: Query = query.parse().expect(query);
        let of_recorder = query.of_recorder(&capture);
        assert_eq!(of_recorder.messages(), hidden, "{query:?}");
        assert_eq!(of_recorder.sentence().is_some(), hidden > 0, "{query:?}");
    }
    let sentence = Query::default().of_recorder(&capture).to_string();
    assert_eq!(sentence, "2 messages from or to the recorder are hidden; is:recorder shows them");
}

#[test]
fn queries_being_typed_are_unfinished() {
    for (text, is_unfinished) in [
        ("member:", true),
        ("member: ", true),
        ("dur>", true),
        ("dur>5", true),
        ("dur>1.5m or dur>1", true),
        ("dur>50u", true),
        ("type:ca", true),
        ("type:signal and", true),
        ("type:signal or !", true),
        ("(member:Get", true),
        ("member:\"Ge", true),
        ("path_namespace:", true),
        ("dur>50x", false),
        ("dur>ms", false),
        ("dur> member:Get", false),
        ("dur>5 member:Get", false),
        ("type:foo", false),
        ("membr:Get", false),
        ("or member:Get", false),
        ("member:Get)", false),
        ("#5..#1", false),
    ] {
        let error = text.parse::<Query>().expect_err(text);
        assert_eq!(error.is_unfinished(text), is_unfinished, "{text}: {error}");
    }
}

#[test]
fn query_errors_suggest_what_was_meant() {
    for (text, expected) in [
        ("dur>50mss", "50mss is not a duration; use for example 50ms"),
        ("size>many", "many is not a size; use for example 512 or 4kB"),
        ("is:unansword", "did you mean unanswered?"),
        ("membr:Get", "unknown field membr; did you mean member?"),
    ] {
        let error = text.parse::<Query>().expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn many_messages_are_evaluated_in_parallel_like_single_ones() {
    let mut recording = TestRecording::new();
    for number in 0..40_000_u32 {
        recording.signal(":1.5", "/ org.example.Mail.Changed", &(number,));
    }
    let capture = recording.capture();
    for text in ["", "arg0:77", "arg0~/7{3}$/", "serial<100 | arg0>=32768", "none"] {
        let query: Query = text.parse().expect("a valid query");
        let mut matcher = query.matcher();
        let expected: Vec<_> = capture
            .messages()
            .filter(|message| matcher.selects(message))
            .map(|it| it.id())
            .collect();
        let matches = query.matches(&capture);
        let found: Vec<_> = matches.messages(&capture).map(|message| message.id()).collect();
        assert!(found == expected, "{text}: {} of {}", found.len(), expected.len());
        assert!(capture.messages().filter(|message| matches.has(message)).count() == found.len());
    }
}
