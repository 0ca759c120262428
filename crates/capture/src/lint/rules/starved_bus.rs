//! L51: the bus waits for a processor.

use super::prelude::*;
use crate::lint::finding::FindingParty;
use crate::record::Fact;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(51),
    title: "a bus that waits for a processor",
    rating: Rating::BY_COST,
    needs: Needs::Switches,
    meaning: "The kernel took the processor from the bus while it had messages to pass on, and gave \
              it to others first. All who wait for an answer wait for that too.",
    thresholds: &[
        Threshold::percent(
            "of the time that the bus wanted a processor it had none",
            HELD_UP_PERCENT,
        ),
        Threshold::span("without a processor, all together", HELD_UP_MIN),
    ],
    seen: "dbus-daemon 1.14.10 with six busy clients on two processors, all at the same \
           priority, lost its processor 38,715 times in 7 s, for 74 % of the time that it \
           wanted one.",
    advice: "Give the bus a higher priority than what keeps the processors busy: Nice=-5 or \
             CPUWeight= in its unit. Who keeps them busy is in stats --by switches, if it is on the \
             bus.",
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
    let who = FindingParty { process: Some(format!("process {pid}")), ..lint.named("the bus") };
    let says = format!(
        "was without a processor {} while it had something to do: {} in all, {} of the \
         time that it wanted one",
        units::counted(times, "time"),
        units::span(waited),
        units::share(held_up as usize, (held_up + had) as usize)
    );
    let messages = lint.capture.messages().filter(|message| message.bus() == bus).count() as u64;
    let evidence = Evidence { first: Vec::new(), count: messages };
    let cost = Cost { waited, waits: times, ..Cost::default() };
    Some(Finding::new(who).about("processor").says(says).costs(cost).evidence(evidence))
}

/// Who is woken by the bus often takes its processor for a moment; that is no fault.
const HELD_UP_PERCENT: u64 = 25;
const HELD_UP_MIN: Duration = Duration::from_millis(20);
