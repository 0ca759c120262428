//! L31: a program introspects too much.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(31),
    title: "repeated introspection",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A program introspects many objects, or the same objects repeatedly. For each call, \
              the service writes an XML document and the program parses it.",
    thresholds: &[
        Threshold::count("Introspect calls of one caller, more than", CALLS_MIN),
        Threshold::span("within", WITHIN),
        Threshold::percent("or share of all its calls", SHARE_PERCENT as u64),
    ],
    example: "plasmashell 5.27 introspects 3 objects of UPower 39 times in two minutes of a \
              session.",
    advice: "Compile known interfaces into the program, cache introspection data, and find objects \
             with GetManagedObjects.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.callers().iter().filter_map(|calls| check_caller(lint, calls)).collect()
}

fn check_caller(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let asks = |call: &&CapturedMessage<'_>| {
        call.member() == "Introspect" && call.interface() == INTROSPECTABLE
    };
    let asked: Vec<_> = calls.iter().filter(asks).copied().collect();
    let is_storm = busiest(&asked, WITHIN).len() > CALLS_MIN;
    let is_large_part = asked.len() > CALLS_MIN && asked.len() * 100 > calls.len() * SHARE_PERCENT;
    if !is_storm && !is_large_part {
        return None;
    }
    let first = &asked[0];
    let objects: HashSet<_> = asked.iter().map(|it| (it.destination_id(), it.path_id())).collect();
    let finding = lint.of_calls(&asked).about("Introspect").says(format!(
        "introspects {} {} times, first {} of {}",
        units::counted(objects.len() as u64, "object"),
        asked.len(),
        first.path(),
        lint.callee_label(first)
    ));
    Some(finding.query(format!("{} member:Introspect", queries::sent_by(lint, first))))
}

const CALLS_MIN: usize = 20;
const WITHIN: Duration = Duration::from_secs(10);
const SHARE_PERCENT: usize = 10;
