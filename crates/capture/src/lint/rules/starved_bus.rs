//! L51: the bus waits for processor time.

use super::prelude::*;
use crate::lint::finding::FindingParty;
use crate::record::Fact;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(51),
    title: "a bus that lacks processor time",
    rating: Rating::BY_COST,
    needs: Needs::Switches,
    meaning: "The kernel gave the processor to other processes while the bus had messages to \
              deliver. Every program that waits for a reply waits longer because of it.",
    thresholds: &[
        Threshold::percent(
            "share of the time in which the bus needed a processor and had none",
            HELD_UP_PERCENT,
        ),
        Threshold::span("total time without a processor", HELD_UP_MIN),
    ],
    example: "dbus-daemon 1.14.10 with six busy clients on two processors, all at the same \
              priority, lost its processor 38,715 times in 7 s, for 74 % of the time that it \
              needed one.",
    advice: "Give the bus a higher priority than the busy processes: set Nice=-5 or CPUWeight= in \
             its unit. stats --by switches lists the busy processes that are connected to the bus.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let buses = lint.capture.facts().iter().filter_map(|(_, bus, fact)| match fact {
        Fact::Bus { process } => Some((process.pid?, *bus)),
        _ => None,
    });
    collected(buses).iter().filter_map(|(pid, buses)| check_bus(lint, *pid, buses[0])).collect()
}

fn check_bus(lint: &LintContext<'_>, pid: u32, bus: BusId) -> Option<Finding> {
    let facts = lint.capture.facts().iter();
    let stretches = facts.filter_map(|(_, _, fact)| match fact {
        Fact::Ran(ran) if ran.pid == pid => Some(ran),
        _ => None,
    });
    let (mut times, mut held_up, mut had) = (0, 0, 0_u64);
    for ran in stretches {
        times += ran.preempted;
        held_up += ran.held_up_ns;
        had += ran.spans.iter().map(|(_, length)| length).sum::<u64>();
    }
    let is_much = held_up.saturating_mul(100) >= (held_up + had).saturating_mul(HELD_UP_PERCENT);
    let waited = Duration::from_nanos(held_up);
    if !is_much || waited < HELD_UP_MIN {
        return None;
    }
    let process = Some(format!("process {pid}"));
    let bus_process = FindingParty { process, ..lint.named("the bus") };
    let says = format!(
        "lacked a processor {} while it had work to do: {} in total, {} of the time that it needed \
         one",
        units::counted(times, "time"),
        units::span(waited),
        units::share(held_up as usize, (held_up + had) as usize)
    );
    let messages = lint.capture.messages().filter(|message| message.bus() == bus).count() as u64;
    let evidence = Evidence { first: Vec::new(), count: messages };
    let cost = Cost { waited, waits: times, ..Cost::default() };
    Some(Finding::new(bus_process).about("processor").says(says).costs(cost).evidence(evidence))
}

/// A process that the bus wakes often takes the bus's processor for a moment. Such short waits are
/// not reported.
const HELD_UP_PERCENT: u64 = 25;
const HELD_UP_MIN: Duration = Duration::from_millis(20);
