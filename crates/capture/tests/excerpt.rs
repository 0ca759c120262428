//! Excerpts contain all facts about the chosen messages.

use capture::Capture;
use capture::bodies::Bodies;
use capture::file::RecordingReader;
use capture::lint::LintRule;
use capture::model::{CallOutcome, CapturedMessage, MessageSelection};
use capture::model::{UnpairedReply, UnpairedReplyKind, unpaired_replies};
use capture::query::Query;
use capture::record::{
    BusId, Excerpt, Fact, MessageContent, ProcessorUse, RecordedBus, RecordedClock,
    RecordedProcess, RecordingRecord,
};
use capture::save::{FileFormat, PcapLoss, save};
use capture::show::CallDetails;
use capture::statistics::{Caveat, Summary};
use capture::text::Style;
use testkit::recording::{DRIVER, TestRecording};

const MAIL: &str = "org.example.Mail";
const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";

/// Names that change owners, calls with all outcomes, and two buses.
fn office() -> TestRecording {
    let mut recording = TestRecording::traced_and_monitored();
    for (unique, pid, program) in
        [(":1.5", 42, "reader"), (":1.6", 50, "maild"), (":1.7", 51, "new")]
    {
        recording.process(unique, pid, program).rule(unique, "type='signal'");
    }
    recording.fact(Fact::Bus {
        process: RecordedProcess { pid: Some(1), ..RecordedProcess::default() },
    });
    recording.fact(Fact::Activatable { name: MAIL.into() });
    let start = recording.now();
    for pid in [1, 42, 50, 51] {
        let spans = vec![(10_000, 20_000), (600_000, 5_000)];
        let until = start.after(std::time::Duration::from_secs(9));
        recording.fact(Fact::Ran(ProcessorUse {
            pid,
            from: start,
            until,
            spans,
            ..ProcessorUse::default()
        }));
    }
    recording.owner_changed(":1.6", "", ":1.6").wait_ms(1).owner_changed(MAIL, "", ":1.6");
    let call = recording.wait_ms(1).call(":1.5", MAIL, "/m org.example.Mail.Count", &("Inbox",));
    recording.delivered(10, &[(6, 30, 0)]).wait_ms(1).reply(&call, ":1.6", &(7_u32,));
    recording.delivered(9, &[(5, 70, 0)]);
    recording.wait_ms(1).owner_changed(MAIL, ":1.6", ":1.7").wait_ms(1);
    recording.signal(":1.7", "/m org.example.Mail.Changed", &(3_u32,));
    recording.delivered(5, &[(5, 20, 1), (6, 25, 1)]);
    let slow = recording.wait_ms(1).call(":1.5", MAIL, "/m org.example.Mail.Find", &("x",));
    recording.wait_ms(900).error(&slow, DRIVER, NO_REPLY, "no answer: timed out");
    recording.wait_ms(5).reply(&slow, ":1.7", &("late",));
    // The bus reports that it could not deliver the message.
    recording.reply_refused(":1.7", "org.freedesktop.DBus.Error.AccessDenied");
    recording.call(":1.6", MAIL, "/m org.example.Mail.Count", &("gone",));
    recording.wait_ms(3).owner_changed(":1.6", ":1.6", "");
    recording.call(":1.5", MAIL, "/m org.example.Mail.Wait", &());
    recording.on(BusId(1));
    let call = recording.call(":1.3", "org.example.Old", "/o org.example.Old.Get", &());
    recording.wait_ms(2).reply(&call, ":1.4", &()).wait_ms(1);
    recording.signal(":1.4", "/o org.example.Old.Changed", &());
    recording.on(BusId(0)).wait_ms(50).signal(":1.9", "/z org.example.Other.Last", &());
    recording
}

/// Everything known about a message, except its position.
fn known(message: &CapturedMessage<'_>) -> String {
    let capture = message.capture();
    let mut buffer = capture::model::MessageBuffer::default();
    let bytes = capture.read_bytes(message.id(), &mut buffer).expect("it is in memory");
    let peer = |peer| {
        let peer = capture.directory().peer(peer);
        let names: Vec<_> = peer.names.iter().map(|&name| capture.strings().get(name)).collect();
        let unique = capture.strings().get(peer.unique);
        format!("{unique} {names:?} {:?} {:?} {:?}", peer.process, peer.arrived, peer.left)
    };
    let owners = capture.directory().ownerships(message.bus(), message.destination_id()).iter();
    let unique = |id| capture.strings().get(capture.directory().peer(id).unique);
    let owners: Vec<_> = owners.map(|one| (unique(one.owner), one.since, one.until)).collect();
    format!(
        "{:?} {:?} {:?} {bytes:?} {:?} {:?} {owners:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        message.at(),
        message.bus(),
        message.health(),
        message.from().map(peer),
        message.to().map(peer),
        message.outcome(),
        message.waited(),
        message.duration(),
        message.partner().map(|partner| partner.at()),
        message.routed_after(),
        message.deliveries()
    )
}

fn excerpt(
    capture: &Capture,
    query: &str,
    selects: impl FnMut(&CapturedMessage<'_>) -> bool,
) -> (MessageSelection, Vec<u8>) {
    let chosen = MessageSelection::find(capture, query, selects);
    let mut file = Vec::new();
    save(capture, &chosen, FileFormat::Pcapng, &mut file).expect("memory takes all");
    (chosen, file)
}

fn of_query(capture: &Capture, query: &str) -> Capture {
    let parsed: Query = query.parse().expect("a query");
    let mut matcher = parsed.matcher();
    read(excerpt(capture, query, |message| matcher.selects(message)).1)
}

fn read(file: Vec<u8>) -> Capture {
    Capture::from_bytes(file).expect("a recording")
}

fn facts(capture: &Capture, is_wanted: impl Fn(&Fact) -> bool) -> usize {
    capture.facts().iter().filter(|(_, _, fact)| is_wanted(fact)).count()
}

#[test]
fn excerpts_keep_all_facts_about_chosen_messages() {
    let capture = office().capture();
    let mut state = 7_u64;
    for round in 0..300 {
        let mut choose = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) % 4 == round % 4
        };
        let (chosen, file) = excerpt(&capture, "some", |_| choose());
        let found = read(file);
        let expected: Vec<_> =
            capture.messages().filter(|it| chosen.has(it.id())).map(|it| known(&it)).collect();
        let found_known: Vec<_> = found.messages().map(|message| known(&message)).collect();
        assert_eq!(found_known, expected, "round {round}");
        // An excerpt of an excerpt that leaves out nothing more is the same file.
        let copies = [1, 2].map(|_| excerpt(&found, "", |_| true).1);
        assert_eq!(copies[0], copies[1]);
        assert_eq!(read(copies[0].clone()).len(), found.len());
    }
}

#[test]
fn excerpts_keep_calls_and_replies_together() {
    let capture = office().capture();
    for (query, expected) in [
        ("type:return member:Count", vec!["Count", ""]),
        ("type:call member:Find", vec!["Find", NO_REPLY]),
        // The late reply, with its call, and the error that the caller got instead.
        ("type:return from::1.7", vec!["Find", NO_REPLY, ""]),
        (
            "error:AccessDenied",
            vec!["Find", NO_REPLY, "", "org.freedesktop.DBus.Error.AccessDenied"],
        ),
        ("member:Changed bus:session", vec!["Changed"]),
        ("member:nothing", vec![]),
    ] {
        let found = of_query(&capture, query);
        let members: Vec<_> = found.messages().map(|message| message.member()).collect();
        assert_eq!(members, expected, "{query}");
        let orphan = |one: &UnpairedReply| one.kind == UnpairedReplyKind::Orphan;
        assert!(!unpaired_replies(&found).iter().any(orphan), "{query}");
    }
}

#[test]
fn excerpts_have_only_facts_about_their_messages() {
    let capture = office().capture();
    let found = of_query(&capture, "bus:system");
    assert_eq!(facts(&found, |fact| matches!(fact, Fact::Rule { .. })), 0);
    assert_eq!(facts(&found, |fact| matches!(fact, Fact::Ran(ran) if ran.pid != 1)), 0);
    assert_eq!(facts(&found, |fact| matches!(fact, Fact::Activatable { .. })), 0);
    assert!(
        found
            .directory()
            .peers()
            .all(|(_, peer)| peer.process.as_ref().is_none_or(|it| it.pid == Some(1)))
    );
    let mail = of_query(&capture, "type:call member:Count arg0:Inbox");
    assert_eq!(facts(&mail, |fact| matches!(fact, Fact::Rule { .. })), 2);
    assert_eq!(facts(&mail, |fact| matches!(fact, Fact::Ran(_))), 3);
    assert_eq!(facts(&mail, |fact| matches!(fact, Fact::Activatable { .. })), 1);
}

#[test]
fn excerpts_are_marked_as_excerpts() {
    let capture = office().capture();
    assert!(!of_query(&capture, "type:signal or !type:signal").is_excerpt());
    let found = of_query(&capture, "bus:system");
    let excerpts: Vec<_> = found.excerpts().collect();
    let of_session = Excerpt { query: "bus:system".into(), of: 14, ..Excerpt::default() };
    assert_eq!(excerpts, [(BusId(0), &of_session)]);
    assert_eq!(found.origins()[0].comments, ["excerpt: 3 of 17 messages, selected by bus:system"]);
    let caveats: Vec<_> =
        Caveat::of(&found, &Summary::default()).iter().map(Caveat::to_string).collect();
    let expected = "session: an excerpt with 0 of 14 messages, selected by bus:system";
    assert!(caveats.iter().any(|caveat| caveat == expected), "{caveats:?}");
    let again = of_query(&found, "type:signal");
    let queries: Vec<_> = again.excerpts().map(|(_, one)| (one.query.as_str(), one.of)).collect();
    assert_eq!(queries, [("bus:system", 14), ("type:signal", 3)]);
}

#[test]
fn excerpts_leave_recipients_unknown_without_match_rules() {
    let mut recording = TestRecording::new();
    recording.rule(":1.5", "type='signal',member='Never'").owner_changed(":1.5", "", ":1.5");
    for _ in 0..300 {
        recording.wait_ms(40).signal(":1.6", "/m org.example.Mail.Changed", &());
    }
    recording.signal(":1.6", "/m org.example.Mail.Last", &());
    recording.call(":1.5", ":1.6", "/m org.example.Mail.Get", &());
    let found = |capture: &Capture| {
        let findings = capture::lint::lint(capture, LintRule::all());
        findings.iter().map(|finding| finding.rule.to_string()).collect::<Vec<_>>()
    };
    let capture = recording.capture();
    assert!(
        ["L05", "L28"].iter().any(|rule| found(&capture).iter().any(|it| it == rule)),
        "{:?}",
        found(&capture)
    );
    let excerpt = of_query(&capture, "!member:Last");
    let said = found(&excerpt);
    assert!(said.contains(&"L50".to_owned()), "{said:?}");
    for rule in ["L01", "L02", "L03", "L04", "L05", "L06", "L28", "L29", "L30"] {
        assert!(!said.contains(&rule.to_owned()), "{said:?}");
    }
    let query: Query = "recipients>0".parse().expect("a query");
    assert!(query.unknown_recipients(&excerpt).is_some());
}

#[test]
fn excerpts_keep_outcomes_unknown_if_headers_are_cut() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", ":1.6", "/m org.example.Mail.Get", &());
    recording.wait_ms(1).reply(&call, ":1.6", &()).cut(20);
    let capture = recording.capture();
    let outcome = |capture: &Capture| capture.messages().next().and_then(|it| it.outcome());
    assert_eq!(outcome(&capture), Some(CallOutcome::Unknown));
    let found = of_query(&capture, "type:call");
    assert_eq!((found.len(), outcome(&found)), (1, Some(CallOutcome::Unknown)));
}

#[test]
fn pcap_excerpts_have_messages_and_times() {
    let capture = office().capture();
    let chosen = MessageSelection::all(&capture);
    let mut file = Vec::new();
    save(&capture, &chosen, FileFormat::Pcap, &mut file).expect("memory takes all");
    let found = read(file.clone());
    let facts = |capture: &Capture| {
        let message =
            |it: CapturedMessage<'_>| (it.at(), it.len(), it.serial(), it.member().to_owned());
        capture.messages().map(message).collect::<Vec<_>>()
    };
    assert_eq!(facts(&found), facts(&capture));
    assert!(found.messages().any(|it| it.at().0 % 1000 == 0), "times are whole here");
    let lost = PcapLoss::find(&capture, &chosen);
    assert_eq!(lost, [PcapLoss::Peers, PcapLoss::Phases, PcapLoss::Buses, PcapLoss::Facts]);
    // Saving a classic pcap file loses no data, and the file is written unchanged.
    let mut again = Vec::new();
    save(&found, &MessageSelection::all(&found), FileFormat::Pcap, &mut again)
        .expect("memory takes all");
    assert_eq!(again, file);
    let lost = PcapLoss::find(&found, &MessageSelection::all(&found));
    assert_eq!(lost, [PcapLoss::Peers], "names follow from messages in part");
}

#[test]
fn excerpts_keep_messages_without_times() {
    let mut recording = TestRecording::new();
    let bus = RecordedBus {
        clock: RecordedClock::Absent,
        content: MessageContent::Texts,
        ..RecordedBus::default()
    };
    recording.bus(bus).signal(":1.6", "/m org.example.Mail.Came", &());
    let capture = recording.capture();
    let lost = PcapLoss::find(&capture, &MessageSelection::all(&capture));
    assert_eq!(lost, [PcapLoss::Clock, PcapLoss::Content]);
    let signal = capture.messages().next().expect("a signal");
    let text = CallDetails::new(&capture, Style::plain(80)).of(&signal).expect("memory");
    assert!(text.contains("  time      not recorded\n"), "{text}");
}

#[test]
fn nanoseconds_and_lengths_are_kept_in_pcap() {
    let mut recording = TestRecording::new();
    recording.wait_ns(123_456_789).signal(":1.6", "/m org.example.Mail.Came", &("long",)).cut(90);
    let capture = recording.capture();
    let mut file = Vec::new();
    save(&capture, &MessageSelection::all(&capture), FileFormat::Pcap, &mut file)
        .expect("memory takes all");
    let found = read(file);
    let message = |capture: &Capture| {
        let first = capture.messages().next().expect("a message");
        (first.at(), first.kept(), first.len())
    };
    assert_eq!(message(&found), message(&capture));
    let mut early = TestRecording::new();
    early.at_ms(-2_000_000_000_000).signal(":1.6", "/m org.example.Mail.Came", &());
    let early = early.capture();
    let error = save(&early, &MessageSelection::all(&early), FileFormat::Pcap, Vec::new())
        .expect_err("1906");
    assert!(error.to_string().contains("before 1970"), "{error}");
}

#[test]
fn redacted_excerpts_omit_the_query() {
    let capture = office().capture();
    let chosen =
        MessageSelection::find(&capture, "arg0:Inbox", |message| message.member() == "Count");
    let mut file = Vec::new();
    capture.write_chosen(&mut file, &chosen, Bodies::Redacted).expect("memory takes all");
    assert!(!file.windows(5).any(|bytes| bytes == b"Inbox"));
    let mut reader = RecordingReader::new(file.as_slice()).expect("memory").expect("a recording");
    let mut excerpts = 0;
    while let Some(record) = reader.next_record().expect("memory") {
        if let RecordingRecord::Fact { fact: Fact::Excerpt(excerpt), .. } = record {
            assert_eq!(excerpt.query, "");
            excerpts += 1;
        }
    }
    assert_eq!(excerpts, 2, "one for each bus");
}
