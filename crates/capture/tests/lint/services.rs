//! Cases for rules about slow services, blocked programs and short-lived connections.

use std::time::Duration;

use capture::lint::{Confidence, LintRule, LintRuleId, lint};
use capture::record::{Fact, ProcessorUse, RecordedProcess};
use capture::statistics::Percentiles;
use testkit::recording::{RecordedCall, TestRecording};

use crate::scene::*;

pub(crate) const CASES: &[LintCase] = &[
    LintCase {
        rule: 19,
        name: "a slow method",
        raises: |r| thrice(r, 150_000),
        misses: |r| thrice(r, 90_000),
    },
    LintCase {
        rule: 20,
        name: "a client that blocks during its call",
        raises: |r| stall(r, 81),
        misses: |r| stall(r, 20),
    },
    LintCase {
        rule: 21,
        name: "two programs that wait for each other",
        raises: |r| mutual(r, 2000),
        misses: |r| mutual(r, 500),
    },
    LintCase {
        rule: 36,
        name: "a connection for each call",
        raises: |r| churn(r, 20),
        misses: |r| churn(r, 19),
    },
    LintCase {
        rule: 36,
        name: "a process without a name that connects for each call",
        raises: |r| churn_of(r, 20, |_| process(Some(7), None)),
        misses: |r| churn_of(r, 20, |number| process(Some(1000 + number), None)),
    },
    LintCase {
        rule: 37,
        name: "a tool for each call",
        raises: |r| tools(r, 3),
        misses: |r| tools(r, 2),
    },
    LintCase {
        rule: 38,
        name: "a service that starts slowly",
        raises: |r| start(r, 300, 10),
        misses: |r| start(r, 100, 10),
    },
    LintCase {
        rule: 39,
        name: "a name acquired late",
        raises: |r| start(r, 50, 600),
        misses: |r| start(r, 50, 250),
    },
    LintCase {
        rule: 39,
        name: "a name acquired late by the last of a chain of services",
        raises: |r| chain(r, 901),
        misses: |r| chain(r, 400),
    },
    LintCase {
        rule: 40,
        name: "four queued callers",
        raises: |r| line(r, 4),
        misses: |r| line(r, 3),
    },
    LintCase {
        rule: 51,
        name: "a bus that lacks processor time",
        raises: |r| held_up(r, 6),
        misses: |r| held_up(r, 4),
    },
];

#[test]
fn slow_methods_are_reported_with_the_percentiles_of_the_statistics() {
    let durations = [300, 300, 300, 300, 601, 901].map(Duration::from_millis);
    let mut recording = scene();
    for (turn, duration) in (0..).zip(durations) {
        ask(recording.wait_ms(400), "Load", duration.as_micros() as i64, turn);
    }
    let capture = recording.capture();
    let mut nanos = durations.map(|duration| duration.as_nanos() as u64);
    let p95 = Percentiles::of(&mut nanos).expect("there are durations").p95;
    assert_eq!(p95, Duration::from_millis(901));
    let found = lint(&capture, LintRule::find(LintRuleId(19)));
    let says: Vec<_> = found.iter().map(|finding| finding.says.as_str()).collect();
    assert_eq!(says, ["takes up to 901 ms for Mail1.Load; 6 of 6 calls took 100 ms or more"]);
}

fn thrice(r: &mut TestRecording, micros: i64) {
    for turn in 0..3 {
        ask(r.wait_ms(400), "Load", micros, turn);
    }
}

/// The client makes a call of 80 ms. Meanwhile another program calls the client, which replies
/// after `answered_ms`.
fn stall(r: &mut TestRecording, answered_ms: i64) {
    let own = pending(r.at_ms(1000), CLIENT, MAIL, "Load");
    let other =
        r.at_ms(1010).call(OTHER, CLIENT, "/org/example/Client org.example.Client.Show", &());
    if answered_ms < 80 {
        r.at_ms(1000 + answered_ms).reply(&other, CLIENT, &());
    }
    r.at_ms(1080).reply(&own, SERVICE, &(1_u32,));
    if answered_ms > 80 {
        r.at_ms(1000 + answered_ms).reply(&other, CLIENT, &());
    }
}

fn mutual(r: &mut TestRecording, millis: i64) {
    let one = pending(r, CLIENT, SERVICE, "Load");
    let other = pending(r.wait_ms(100), SERVICE, CLIENT, "Show");
    r.wait_ms(millis).reply(&other, CLIENT, &()).wait_ms(1).reply(&one, SERVICE, &());
}

fn churn(r: &mut TestRecording, count: u32) {
    churn_of(r, count, |number| process(Some(1000 + number), Some("worker")));
}

fn process(pid: Option<u32>, comm: Option<&str>) -> RecordedProcess {
    RecordedProcess { pid, comm: comm.map(str::to_owned), ..RecordedProcess::default() }
}

fn churn_of(r: &mut TestRecording, count: u32, process: impl Fn(u32) -> RecordedProcess) {
    for number in 0..count {
        let unique = format!(":1.{}", 100 + number);
        r.wait_ms(300).owner_changed(&unique, "", &unique);
        let process =
            Some(process(number)).filter(|process| *process != RecordedProcess::default());
        r.fact(Fact::Peer { unique: unique.clone(), process }).wait_ms(2);
        ask_by(r, &unique, "Count", 300, number);
        r.wait_ms(1).owner_changed(&unique, &unique, "");
    }
}

fn tools(r: &mut TestRecording, count: u32) {
    for unique in more_peers(r, count, "gdbus") {
        ask_by(r.wait_ms(4000), &unique, "Count", 300, 1);
    }
}

/// A call to a service that connects after `connects_ms` and acquires its name `named_ms` later.
fn start(r: &mut TestRecording, connects_ms: i64, named_ms: i64) {
    let call = pending(r, CLIENT, "org.example.Late", "Count");
    r.wait_ms(connects_ms).owner_changed(":1.9", "", ":1.9").process(":1.9", 109, "late");
    r.wait_ms(named_ms).owner_changed("org.example.Late", "", ":1.9");
    r.wait_ms(1).reply(&call, ":1.9", &(1_u32,));
}

/// A call starts A, which needs B before it acquires its name. B needs C, which acquires its name
/// after `millis`.
fn chain(r: &mut TestRecording, millis: i64) {
    let come = |r: &mut TestRecording, unique: &str, pid: u32| {
        r.wait_ms(30).owner_changed(unique, "", unique).process(unique, pid, "service");
        r.wait_ms(1);
    };
    let take = |r: &mut TestRecording, name: &str, unique: &str, call: &RecordedCall| {
        r.wait_ms(1).owner_changed(name, "", unique);
        r.wait_ms(1).reply(call, unique, &(1_u32,));
    };
    let of_a = pending(r, CLIENT, "org.example.A", "Go");
    come(r, ":1.11", 111);
    let of_b = pending(r, ":1.11", "org.example.B", "Go");
    come(r, ":1.12", 112);
    let of_c = pending(r, ":1.12", "org.example.C", "Go");
    come(r, ":1.13", 113);
    r.wait_ms(millis);
    take(r, "org.example.C", ":1.13", &of_c);
    take(r, "org.example.B", ":1.12", &of_b);
    take(r, "org.example.A", ":1.11", &of_a);
}

#[test]
fn only_the_slow_service_of_a_chain_is_reported() {
    let mut recording = scene();
    chain(&mut recording, 901);
    let found = lint(&recording.capture(), LintRule::all());
    let found: Vec<_> =
        found.iter().map(|it| (it.rule.to_string(), it.party.label.as_str())).collect();
    assert_eq!(found, [(String::from("L39"), "org.example.C")]);
}

fn line(r: &mut TestRecording, count: u32) {
    for number in 0..200 {
        ask(r.wait_ms(3), "Count", 300, number);
    }
    let callers = [CLIENT, OTHER].into_iter().cycle().take(count as usize);
    let calls: Vec<_> = callers.map(|from| pending(r.wait_ms(1), from, MAIL, "Count")).collect();
    r.wait_ms(150);
    for call in calls {
        r.wait_us(100).reply(&call, SERVICE, &(1_u32,));
    }
}

/// The bus runs for 15 ms ten times, and each time waits for a processor for `millis`.
fn held_up(r: &mut TestRecording, millis: u64) {
    let bus = 42;
    r.fact(Fact::Bus { process: RecordedProcess { pid: Some(bus), ..RecordedProcess::default() } });
    for turn in 0..10_u32 {
        let from = r.now();
        uneven(r, turn.into());
        ask(r, "Count", 300, turn);
        r.fact(Fact::Ran(ProcessorUse {
            pid: bus,
            from,
            until: r.now(),
            spans: vec![(0, 10_000_000), (20_000_000, 5_000_000)],
            resumed: 2,
            preempted: 1,
            held_up_ns: millis * 1_000_000,
            ..ProcessorUse::default()
        }));
    }
}

#[test]
fn connections_of_unknown_programs_are_reported_with_low_confidence() {
    let mut recording = scene();
    churn_of(&mut recording, 20, |_| RecordedProcess::default());
    let findings = lint(&recording.capture(), LintRule::all());
    let churn = findings.iter().find(|finding| finding.rule == LintRuleId(36)).expect("a finding");
    assert_eq!(
        (churn.party.label.as_str(), churn.confidence),
        ("unknown programs", Confidence::Low)
    );
    assert!(churn.says.contains("their processes were not recorded"), "{}", churn.says);
}
