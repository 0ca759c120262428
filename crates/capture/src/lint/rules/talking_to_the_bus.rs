//! L33: more talk with the bus than with each other.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(33),
    title: "too many calls of the bus itself",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "Of all calls a large part goes to the bus itself: match rules that come and go, \
              questions for owners. Everybody waits for the bus.",
    thresholds: &[
        Threshold::percent("of all calls go to the bus", SHARE_PERCENT as u64)
            .source("usual for desktops; well built systems have far fewer"),
        Threshold::count("such calls", CALLS_MIN),
    ],
    seen: "polkitd 122: 2,236 of the 4,070 calls of the bus itself, mostly \
           GetConnectionUnixProcessID.",
    advice: "Look who calls most: usually one library sets a match rule for each object, or asks \
             for owners that a signal would tell.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    // Of calls whose headers are cut more go to services, whose names are longer.
    let whole = lint.calls.iter().filter(|call| !lint.lacks_headers(call.bus()));
    let by_bus = grouped(whole, CapturedMessage::bus);
    by_bus.iter().filter_map(|calls| check_bus(lint, calls)).collect()
}

fn check_bus(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let to_bus: Vec<_> = calls.iter().filter(|call| call.is_driver_traffic()).copied().collect();
    if to_bus.len() < CALLS_MIN || to_bus.len() * 100 <= calls.len() * SHARE_PERCENT {
        return None;
    }
    let by_caller = grouped(&to_bus, CapturedMessage::sender_id);
    let most = by_caller.iter().max_by_key(|calls| calls.len())?;
    let methods = grouped(most, CapturedMessage::member_id);
    let method = methods.iter().max_by_key(|calls| calls.len())?;
    let finding = lint.of_calls(most).about("calls-of-the-bus").says(format!(
        "made {} of the {} calls of the bus itself, mostly {}; these are {} of all calls",
        most.len(),
        to_bus.len(),
        method[0].member(),
        units::share(to_bus.len(), calls.len())
    ));
    Some(finding.confidence(Confidence::Medium).query("to:org.freedesktop.DBus"))
}

const SHARE_PERCENT: usize = 33;
const CALLS_MIN: usize = 100;
