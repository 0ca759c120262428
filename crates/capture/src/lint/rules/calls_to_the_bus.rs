//! L33: too large a share of all calls goes to the bus itself.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(33),
    title: "too many calls to the bus itself",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A large part of all calls goes to the bus itself, for example to add and remove \
              match rules or to look up owners of names. These calls delay the messages of all \
              programs.",
    thresholds: &[
        Threshold::percent("share of all calls that go to the bus", SHARE_PERCENT as u64)
            .source("common on desktops; well-designed systems have far fewer"),
        Threshold::count("such calls", CALLS_MIN),
    ],
    example: "polkitd 122: it makes 2,236 of the 4,070 calls to the bus itself, mostly \
              GetConnectionUnixProcessID.",
    advice: "Find the program that makes most of these calls. Usually one library adds a match \
             rule for each object, or looks up owners that a signal would report.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    // Cut headers would distort the share: they belong more often to calls of services, whose names
    // are longer than the name of the bus.
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
        "made {} of the {} calls to the bus itself, mostly {}; calls to the bus are {} of all calls",
        most.len(),
        to_bus.len(),
        method[0].member(),
        units::share(to_bus.len(), calls.len())
    ));
    Some(finding.confidence(Confidence::Medium).query("to:org.freedesktop.DBus"))
}

const SHARE_PERCENT: usize = 33;
const CALLS_MIN: usize = 100;
