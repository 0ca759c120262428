//! Very many match rules of one connection.

use std::time::{Duration, Instant};

use conformance::differential::start_reference;
use conformance::{BusUnderTest, PlainMessage, TestConfig, TestPeer, flag, kind};

use crate::form::TestDuration;
use crate::gauge::{Gauge, GaugeTotals, Rest};
use crate::latency::LatencyCost;

/// Memory in bytes that the bus may need for each rule.
const BYTES_EACH: u64 = 600;

/// With many rules, a signal may take twice the processor time as without rules, and a little more.
/// Checking all rules one by one takes longer than that.
const SLOWER: u32 = 2;
const NOISE: Duration = Duration::from_micros(100);

/// The number of signals in a measurement.
const SIGNALS: u32 = 300;

/// Kinds of rules, each with `{}` for a number.
const KINDS: [(&str, &str); 2] = [
    ("members", "type='signal',interface='com.example.Rules',member='M{}'"),
    ("arguments", "type='signal',interface='com.example.Rules',member='Changed',arg0='M{}'"),
];

pub(crate) fn many_rules_cost_little_per_signal() {
    let form = TestDuration::requested();
    let count = form.pick(50_000, 1_000_000);
    let config = TestConfig::session().limit("max_match_rules_per_connection", 2_000_000);
    for (kind, rule) in KINDS {
        let mut bus = BusUnderTest::start(&config);
        let gauge = Gauge::of(&mut bus);
        let mut requester = bus.peer();
        let rest = Rest::of(gauge, &mut requester);
        let mut few = RulePair::of(&bus, rule);
        few.change("AddMatch", 0..2);
        let [alone, unmatched_alone] = few.signals(gauge, 1);
        few.change("RemoveMatch", 0..2);

        let mut many = RulePair::of(&bus, rule);
        let added_in = many.change("AddMatch", 0..count);
        let each = (gauge.memory() - rest.memory) * 1024 / u64::from(count);
        assert!(each < BYTES_EACH, "{each} bytes for each");
        let [matched, unmatched] = many.signals(gauge, count / 2);
        for (with, without) in [(&matched, &alone), (&unmatched, &unmatched_alone)] {
            assert!(with.processor < without.processor * SLOWER + NOISE, "{without}, {with}");
        }
        let removed_in = many.change("RemoveMatch", 0..count);
        assert_eq!(GaugeTotals::ask(&mut requester).get("MatchRules"), 0);
        drop((few, many));
        let memory = rest.is_back(&mut requester);
        form.report(&format!(
            "rules for {kind}: {count} added in {added_in:?}, {each} bytes each; a signal that matches \
             one {matched}, without the rules {alone}; one that matches none {unmatched}, without \
             {unmatched_alone}; removed in {removed_in:?}; memory {} to {memory} KiB",
            rest.memory
        ));
        bus.stop();
    }
    compare(form, &config);
}

/// dbus-daemon checks rules one by one, so it gets fewer.
fn compare(form: TestDuration, config: &TestConfig) {
    let count = form.pick(5_000, 50_000);
    let mut reference = start_reference(config);
    let gauge = Gauge::of(&mut reference);
    for (kind, rule) in KINDS {
        let mut many = RulePair::of(&reference, rule);
        let added_in = many.change("AddMatch", 0..count);
        let [matched, unmatched] = many.signals(gauge, count / 2);
        form.report(&format!(
            "rules for {kind}, dbus-daemon: {count} added in {added_in:?}; a signal that matches one \
             {matched}, one that matches none {unmatched}"
        ));
    }
    reference.stop();
}

/// A peer that sends signals, and a peer that owns the rules.
struct RulePair {
    sender: TestPeer,
    owner: TestPeer,
    rule: &'static str,
}

impl RulePair {
    fn of(bus: &BusUnderTest, rule: &'static str) -> Self {
        Self { sender: bus.peer(), owner: bus.peer(), rule }
    }

    /// Adds or removes rules with these numbers, in batches, and waits for the last reply.
    fn change(&mut self, method: &str, numbers: std::ops::Range<u32>) -> Duration {
        let started = Instant::now();
        let mut bytes = Vec::new();
        let last = numbers.end - 1;
        for number in numbers.start..last {
            let call = PlainMessage::asking(method, &self.rule_of(number));
            let call = self.owner.numbered(call.flags(flag::NO_REPLY_EXPECTED));
            bytes.extend(call.encode());
            if bytes.len() > 60_000 {
                self.owner.send_bytes(&bytes);
                bytes.clear();
            }
        }
        self.owner.send_bytes(&bytes);
        let (answer, before) =
            self.owner.call_and_collect(PlainMessage::asking(method, &self.rule_of(last)));
        assert_eq!(answer.kind, kind::RETURN, "{}", answer.summary());
        assert_eq!(before.len(), 0, "no error");
        started.elapsed()
    }

    fn rule_of(&self, number: u32) -> String {
        self.rule.replace("{}", &number.to_string())
    }

    /// The cost of signals: of one that matches the rule with a number, until it arrives; of one
    /// that matches no rule, until the bus replies to a call that follows it.
    fn signals(&mut self, gauge: Gauge, number: u32) -> [LatencyCost; 2] {
        let signal = |name: &str| {
            let member = if self.rule.contains("arg0") { "Changed" } else { name };
            let signal = PlainMessage::signal("/com/example/Rules", "com.example.Rules", member);
            signal.arg(conformance::PlainValue::text(name))
        };
        let matched = signal(&format!("M{number}"));
        let other = signal("Other");
        let matched = LatencyCost::of(gauge, SIGNALS, || {
            let started = Instant::now();
            self.sender.send(matched.clone());
            let found = self.owner.receive().expect("open");
            assert_eq!(found.body, matched.body);
            started.elapsed()
        });
        let unmatched = LatencyCost::of(gauge, SIGNALS, || {
            let started = Instant::now();
            self.sender.send(other.clone());
            assert!(self.sender.is_alive());
            started.elapsed()
        });
        assert_eq!(self.owner.collect().len(), 0, "nothing else matches");
        [matched, unmatched]
    }
}
