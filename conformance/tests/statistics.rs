//! The statistics of the bus agree with the messages that were sent. These tests run only with
//! Diligence.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::process::ExitCode;

use conformance::statistics::{STATISTICS, StatisticsDict, dicts, number, scrape, scraper, totals};
use conformance::{
    BUS_NAME, BUS_PATH, BusUnderTest, ExternalProgram, PlainMessage, PlainValue, RunAs,
    ScratchFolder, TestConfig, diligence, root, run_tests, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(connections_and_members_are_counted).requires(diligence()),
        test_case!(copies_and_validations_are_counted).requires(diligence()),
        test_case!(queued_and_dropped_messages_are_reported).requires(diligence()),
        test_case!(the_history_lists_refused_and_disconnected_peers).requires(diligence()),
        test_case!(statistics_are_refused_to_unprivileged_callers)
            .requires(root())
            .requires(diligence()),
        test_case!(scrapers_get_open_metrics).requires(diligence()),
        test_case!(idle_clients_of_the_metrics_socket_are_disconnected).requires(diligence()),
        test_case!(services_that_do_not_start_are_in_the_history).requires(diligence()),
    ])
}

fn find<'d>(dicts: &'d [StatisticsDict], key: &str, value: &str) -> &'d StatisticsDict {
    let found = dicts.iter().find(|dict| dict.get(key) == Some(&PlainValue::text(value)));
    found.unwrap_or_else(|| panic!("no {key}={value} in {dicts:?}"))
}

fn numbers<const N: usize>(dict: &StatisticsDict, keys: [&str; N]) -> [u64; N] {
    keys.map(|key| number(dict, key))
}

/// A dictionary with one count.
fn count_of(cause: &str, count: u64) -> PlainValue {
    let entry =
        PlainValue::Entry(Box::new(PlainValue::text(cause)), Box::new(PlainValue::U64(count)));
    PlainValue::Array("{st}".into(), vec![entry])
}

/// The size in bytes of a message as the client sends it.
fn len(message: &PlainMessage) -> u64 {
    message.encode().len() as u64
}

fn connections_and_members_are_counted() {
    let bus = BusUnderTest::session();
    let [mut watcher, mut caller, mut callee] = [(); 3].map(|()| bus.peer());
    // The bus counts members from the first call of GetMembers on.
    assert_eq!(dicts(&mut watcher, "GetMembers").len(), 0);
    callee.add_match("member='Sent'");
    let before = dicts(&mut watcher, "GetConnections");

    let call = PlainMessage::call(callee.name(), "/", "com.example.Counted", "Asked");
    let call = call.arg(PlainValue::text("a question"));
    let mut bytes = 0;
    for round in 0..5 {
        let numbered = caller.numbered(call.clone());
        bytes += len(&numbered);
        caller.send_bytes(&numbered.encode());
        let asked = callee.receive().expect("the call");
        let answer = match round {
            0 => PlainMessage::error(&asked, "com.example.Error.No"),
            _ => PlainMessage::reply(&asked),
        };
        callee.send(answer);
        caller.receive().expect("the answer");
    }
    let mut second = bus.peer();
    second.add_match("member='Sent'");
    let mut monitor = bus.peer();
    let monitoring =
        PlainMessage::call(BUS_NAME, BUS_PATH, "org.freedesktop.DBus.Monitoring", "BecomeMonitor");
    monitor.call(monitoring.arg(PlainValue::Array("s".into(), Vec::new())).arg(PlainValue::U32(0)));
    let mut largest = 0;
    for text in ["a long text", "short"] {
        let sent =
            PlainMessage::signal("/", "com.example.Counted", "Sent").arg(PlainValue::text(text));
        let sent = caller.numbered(sent);
        largest = largest.max(len(&sent));
        caller.send_bytes(&sent.encode());
        callee.receive().expect("the signal");
        second.receive().expect("the signal");
    }

    let members = dicts(&mut watcher, "GetMembers");
    let asked = find(&members, "Member", "Asked");
    assert_eq!(asked["Interface"], PlainValue::text("com.example.Counted"));
    let keys = ["Messages", "Bytes", "Deliveries", "Returns", "Errors"];
    assert_eq!(numbers(asked, keys), [5, bytes, 5, 4, 1]);
    let [total, longest] = numbers(asked, ["ReplyTime", "LongestReplyTime"]);
    assert!(0 < longest && longest <= total, "{longest} of {total} ns");
    let sent = find(&members, "Member", "Sent");
    assert_eq!(numbers(sent, ["Messages", "Deliveries", "Returns"]), [2, 6, 0]);
    assert_eq!(numbers(sent, ["LargestMessage", "MostRecipients"]), [largest, 2]);
    assert_eq!(numbers(asked, ["LargestMessage", "MostRecipients"]), [bytes / 5, 1]);

    let after = dicts(&mut watcher, "GetConnections");
    let grown = |name: &str, key| {
        let [before, after] = [&before, &after].map(|dicts| find(dicts, "UniqueName", name));
        numbers(after, [key])[0] - numbers(before, [key])[0]
    };
    assert_eq!(grown(caller.name(), "SentMessages"), 7);
    assert_eq!(grown(caller.name(), "ReceivedMessages"), 5);
    assert_eq!(grown(callee.name(), "SentMessages"), 5);
    assert_eq!(grown(callee.name(), "ReceivedMessages"), 7);
    assert!(grown(callee.name(), "ReceivedBytes") > bytes, "headers grow by the sender's name");
    let own = find(&after, "UniqueName", caller.name());
    assert_eq!(own["ProcessID"], PlainValue::U32(std::process::id()));
    bus.stop();
}

/// The bytes that the bus copies in memory: the header when it is written, then once for all
/// recipients the whole of a small message, and the header of a large one.
fn copies_and_validations_are_counted() {
    let bus = BusUnderTest::session();
    let [mut watcher, mut sender] = [(); 2].map(|()| bus.peer());
    let mut listeners = [(); 3].map(|()| bus.peer());
    listeners.iter_mut().for_each(|listener| listener.add_match("member='Copied'"));
    let keys = ["Bytes", "WrittenBytes", "CopiedBytes", "ValidatedMessages", "ValidatedBytes"];
    for (body_len, is_shared) in [(100, false), (50_000, true)] {
        let before = numbers(&totals(&mut watcher), keys);
        let mut received = 0;
        for _ in 0..10 {
            let body = PlainValue::text(&"x".repeat(body_len));
            sender.send(PlainMessage::signal("/", "com.example.I", "Copied").arg(body));
            for listener in &mut listeners {
                received += len(&listener.receive().expect("the signal"));
            }
        }
        let after = numbers(&totals(&mut watcher), keys);
        let grown: Vec<u64> =
            after.iter().zip(before).map(|(after, before)| after - before).collect();
        let [read, written, copied, validated, validated_bytes] = grown[..] else { unreachable!() };
        // The two calls and the first reply are counted too.
        let rest = 4_000;
        assert!((received..received + rest).contains(&written), "{written} of {received}");
        assert!((received / 3 - 1_000..received / 3 + rest).contains(&read), "{read}");
        let bodies = 10 * (body_len as u64 + 5);
        assert!((bodies..bodies + 100).contains(&validated_bytes), "{validated_bytes}");
        assert_eq!(validated, 11, "and one question");
        let headers = received - 3 * bodies;
        let staged = if is_shared { headers } else { received };
        let expected = (staged + headers) / 3;
        assert!((expected..expected + rest).contains(&copied), "{copied}, not {expected}");
    }
    bus.stop();
}

fn queued_and_dropped_messages_are_reported() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("max_outgoing_bytes", 50_000));
    let [mut watcher, mut sender, mut sleeper] = [(); 3].map(|()| bus.peer());
    sleeper.add_match("member='Signal'");
    let body = PlainValue::text(&"x".repeat(10_000));
    for _ in 0..100 {
        sender.send(PlainMessage::signal("/", "com.example.I", "Signal").arg(body.clone()));
        assert!(sender.is_alive());
    }
    let connections = dicts(&mut watcher, "GetConnections");
    let sleeping = find(&connections, "UniqueName", sleeper.name());
    let [queued, peak, lost] =
        numbers(sleeping, ["QueuedBytes", "PeakQueuedBytes", "LostMessages"]);
    assert!(queued > 50_000 && peak >= queued, "{queued} and {peak} bytes");
    assert_eq!(sleeping["Losing"], PlainValue::Bool(true));
    let read = sleeper.drain().len() as u64;
    assert_eq!(read + lost, 100, "each is read or counted as lost");
    assert!(sleeper.is_alive());

    let totals = totals(&mut watcher);
    assert_eq!(numbers(&totals, ["LostMessages", "LosingConnections"]), [lost, 0]);
    assert_eq!(totals["LossCauses"], count_of("max_outgoing_bytes", lost));
    let history = dicts(&mut watcher, "GetHistory");
    let incident = find(&history, "Kind", "lost");
    assert_eq!(incident["UniqueName"], PlainValue::text(sleeper.name()));
    assert_eq!(numbers(incident, ["Count", "LimitValue"]), [lost, 50_000]);
    bus.stop();
}

fn the_history_lists_refused_and_disconnected_peers() {
    let bus =
        BusUnderTest::start(&TestConfig::session().limit("max_match_rules_per_connection", 1));
    let [mut watcher, mut greedy, mut broken] = [(); 3].map(|()| bus.peer());
    greedy.request_name("com.example.Greedy", 0);
    let rule = || PlainMessage::to_bus("AddMatch").arg(PlainValue::text("member='M'"));
    for _ in 0..6 {
        greedy.call(rule());
    }
    broken.send_bytes(b"these bytes are not a message");
    broken.until_closed();

    let history = dicts(&mut watcher, "GetHistory");
    let [ended, refused] = &history[..] else { panic!("two incidents, not {history:?}") };
    assert_eq!(ended["Kind"], PlainValue::text("disconnected"));
    assert_eq!(ended["Cause"], PlainValue::text("invalid-message"));
    assert_eq!(ended["UniqueName"], PlainValue::text(broken.name()));
    assert_eq!(refused["Kind"], PlainValue::text("refused"));
    assert_eq!(refused["Limit"], PlainValue::text("max_match_rules_per_connection"));
    assert_eq!(refused["Names"], PlainValue::texts(&["com.example.Greedy"]));
    assert_eq!(numbers(refused, ["Count", "LimitValue", "LimitUsage"]), [5, 1, 1]);
    for incident in [ended, refused] {
        assert_eq!(incident["ProcessID"], PlainValue::U32(std::process::id()));
        let comm = std::fs::read_to_string("/proc/self/comm").expect("it has a name");
        assert_eq!(incident["Program"], PlainValue::text(comm.trim_end()));
        let [first, last] = numbers(incident, ["First", "Last"]);
        assert!(first >= last, "the first is longer ago than the last");
    }
    let totals = totals(&mut watcher);
    assert_eq!(numbers(&totals, ["RefusedMessages", "Disconnected"]), [5, 1]);
    let PlainValue::Array(_, causes) = &totals["DisconnectCauses"] else { panic!("{totals:?}") };
    let PlainValue::Array(_, expected) = count_of("invalid-message", 1) else { unreachable!() };
    assert!(causes.contains(&expected[0]), "{causes:?}");
    assert_eq!(totals["RefusalCauses"], count_of("max_match_rules_per_connection", 5));
    bus.stop();
}

/// The statistics describe the traffic of other peers, so only privileged callers get them.
fn statistics_are_refused_to_unprivileged_callers() {
    let bus = BusUnderTest::start(
        &TestConfig::session().policy("context='default'", "<allow user='*'/>"),
    );
    for (method, args) in [
        ("GetTotals", &[][..]),
        ("GetConnections", &["uint32:0"]),
        ("GetMembers", &["uint32:0"]),
        ("GetHistory", &[]),
    ] {
        let ran = ExternalProgram::named("dbus-send", "dbus-bin")
            .arg(format!("--bus={}", bus.address()))
            .args(["--print-reply", "--dest=org.freedesktop.DBus", BUS_PATH])
            .arg(format!("{STATISTICS}.{method}"))
            .args(args)
            .user(RunAs::NOBODY)
            .run();
        assert!(ran.stderr.contains("AccessDenied"), "{method}: {ran}");
    }
    bus.stop();
}

/// Starts a bus with a metrics socket; returns its path too.
fn bus_with_metrics() -> (BusUnderTest, std::path::PathBuf, ScratchFolder) {
    let scratch = ScratchFolder::new();
    let path = scratch.join("metrics");
    let option = format!("--metrics-socket={}", path.display());
    let bus = BusUnderTest::start_with(&TestConfig::session(), |program| program.arg(option));
    (bus, path, scratch)
}

fn scrapers_get_open_metrics() {
    let (bus, path, _scratch) = bus_with_metrics();
    let [mut sender, mut listener] = [bus.peer(), bus.peer()];
    listener.add_match("member='Sent'");
    for _ in 0..7 {
        sender.send(PlainMessage::signal("/", "com.example.Counted", "Sent"));
        listener.receive().expect("the signal");
    }
    listener.call(PlainMessage::to_bus("AddMatch").arg(PlainValue::text("nonsense")));

    let (header, document) = scrape(&path);
    assert!(header.starts_with("HTTP/1.1 200 OK\r\n"), "{header}");
    assert!(header.contains("\r\nContent-Type: application/openmetrics-text;"), "{header}");
    assert!(header.contains(&format!("\r\nContent-Length: {}\r\n", document.len())), "{header}");
    let samples = parse_open_metrics(&document);
    let sent = "{interface=\"com.example.Counted\",member=\"Sent\"}";
    for (sample, expected) in [
        ("diligence_bus_accepted_connections_total", 3.0),
        ("diligence_bus_active_connections", 2.0),
        ("diligence_bus_match_rules", 1.0),
        ("diligence_bus_refused_messages_total{cause=\"MatchRuleInvalid\"}", 1.0),
        (&format!("diligence_bus_member_messages_total{sent}"), 7.0),
        (&format!("diligence_bus_member_delivered_messages_total{sent}"), 7.0),
    ] {
        assert_eq!(samples.get(sample), Some(&expected), "{sample} in\n{document}");
    }
    let by_curl = ExternalProgram::named("curl", "curl")
        .args(["--silent", "--fail", "http://bus/metrics", "--unix-socket"])
        .arg(&path)
        .run()
        .success();
    assert_eq!(parse_open_metrics(&by_curl.stdout).len(), samples.len());
    bus.stop();
    assert!(!path.exists(), "the socket goes with the bus");
}

/// Parses a document by the rules of OpenMetrics 1.0. Returns the samples by name and labels.
fn parse_open_metrics(document: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut families = BTreeMap::new();
    let mut family = "";
    let text = document.strip_suffix("# EOF\n").expect("the end of a document is marked");
    for line in text.lines() {
        if let Some(description) = line.strip_prefix("# ") {
            let [what, name, rest] = words(description);
            if what == "TYPE" {
                assert!(families.insert(name, (rest, BTreeSet::new())).is_none(), "{name} twice");
                family = name;
            }
            assert_eq!(name, family, "descriptions stand together: {line}");
            assert!(
                families.get_mut(family).is_some_and(|(_, descriptions)| descriptions.insert(what)),
                "{line}"
            );
            assert!(what != "UNIT" || name.ends_with(&format!("_{rest}")), "{line}");
        } else {
            let (sample, value) = line.rsplit_once(' ').expect("a name and a value");
            let suffix = match families[family].0 {
                "counter" => "_total",
                "info" => "_info",
                "gauge" => "",
                other => panic!("{other} is not a type"),
            };
            let name = sample.split('{').next().unwrap_or_default();
            assert_eq!(name, format!("{family}{suffix}"), "{line}");
            let value = value.parse().expect("a number");
            assert!(samples.insert(sample.to_owned(), value).is_none(), "{sample} twice");
        }
    }
    for (name, (kind, descriptions)) in families {
        assert!(descriptions.contains("HELP"), "{name}");
        assert!(kind == "info" || descriptions.contains("UNIT"), "{name}");
    }
    samples
}

fn words(line: &str) -> [&str; 3] {
    let mut words = line.splitn(3, ' ');
    [(); 3].map(|()| words.next().expect("three words"))
}

/// A client of the metrics socket that sends nothing, or does not read, blocks neither others nor
/// the bus.
fn idle_clients_of_the_metrics_socket_are_disconnected() {
    let (bus, path, _scratch) = bus_with_metrics();
    let mut idle: Vec<_> = (0..20).map(|_| scraper(&path)).collect();
    assert!(bus.peer().is_alive());
    let (header, _) = scrape(&path);
    assert!(header.starts_with("HTTP/1.1 200 OK"), "{header}");
    for stream in &mut idle {
        assert_eq!(stream.read(&mut [0]).map_err(|error| error.kind()), Ok(0), "it is closed");
    }
    bus.stop();
}

fn services_that_do_not_start_are_in_the_history() {
    let folder = ScratchFolder::new();
    let service = "[D-BUS Service]\nName=com.example.Fails\nExec=/bin/false\n";
    folder.file("com.example.Fails.service", service);
    let element = format!("<servicedir>{}</servicedir>", folder.path().display());
    let bus = BusUnderTest::start(&TestConfig::session().element(&element));
    let mut peer = bus.peer();
    for _ in 0..2 {
        let call = PlainMessage::call("com.example.Fails", "/", "com.example.I", "Method");
        assert_eq!(peer.call(call).error_name(), "Spawn.ChildExited");
    }
    let history = dicts(&mut peer, "GetHistory");
    let [failed] = &history[..] else { panic!("one incident, not {history:?}") };
    assert_eq!(failed["Kind"], PlainValue::text("start-failed"));
    assert_eq!(failed["Cause"], PlainValue::text("process"));
    assert_eq!(failed["Names"], PlainValue::texts(&["com.example.Fails"]));
    assert_eq!(failed["Count"], PlainValue::U64(2));
    let totals = totals(&mut peer);
    assert_eq!(totals["FailedStartCauses"], count_of("process", 2));
    bus.stop();
}
