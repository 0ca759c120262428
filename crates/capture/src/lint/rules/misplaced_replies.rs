//! L49: replies that match no call, or a call that already has a reply.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(49),
    title: "replies that match no call",
    rating: Rating::AtLeast(FindingSeverity::Med),
    needs: Needs::Messages,
    meaning: "A call got two replies, or a reply from a program other than its destination, or a \
              reply before it was sent. Replies to calls from before the recording are not \
              counted.",
    thresholds: &[Threshold::count("such replies of one program", 1)],
    example: "xdg-desktop-portal-kde 5.27 answers Settings.ReadAll of xdg-desktop-portal twice.",
    advice: "Reply to every call exactly once, on the connection that received it.",
    check,
};

/// How a reply fails to match its call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ReplyFault {
    Second,
    FromAnother,
    Early,
}

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let orphans: Vec<_> = lint
        .messages()
        .filter(|it| it.kind().is_reply() && it.partner().is_none() && !it.is_driver_traffic())
        .collect();
    let keys: HashSet<_> = orphans.iter().map(key_of_reply).collect();
    let calls =
        lint.calls.iter().map(|call| ((call.bus(), call.sender_id(), call.serial()), *call));
    let calls: HashMap<_, _> = calls.filter(|(key, _)| keys.contains(key)).collect();
    let faulty = orphans.iter().filter_map(|reply| {
        let call = calls.get(&key_of_reply(reply))?;
        Some(((lint.sender(reply), fault(lint, call, reply)?), (*reply, *call)))
    });
    collected(faulty).iter().map(|((_, fault), pairs)| report(lint, *fault, pairs)).collect()
}

fn key_of_reply(reply: &CapturedMessage<'_>) -> (BusId, TextId, u32) {
    (reply.bus(), reply.destination_id(), reply.reply_serial())
}

fn fault(
    lint: &LintContext<'_>,
    call: &CapturedMessage<'_>,
    reply: &CapturedMessage<'_>,
) -> Option<ReplyFault> {
    // A much earlier reply with this serial belongs to a call from before the serials wrapped
    // around.
    if reply.id() < call.id() {
        let soon = call.at().since(reply.at()).is_none_or(|gap| gap <= EARLY_MAX);
        return (soon && call.partner().is_none()).then_some(ReplyFault::Early);
    }
    match call.partner() {
        Some(first) if first.is_driver_traffic() => None,
        Some(first) if first.sender_id() == reply.sender_id() => Some(ReplyFault::Second),
        _ if lint.callee(call) != lint.sender(reply) => Some(ReplyFault::FromAnother),
        _ => None,
    }
}

fn report(
    lint: &LintContext<'_>,
    fault: ReplyFault,
    pairs: &[(CapturedMessage<'_>, CapturedMessage<'_>)],
) -> Finding {
    let (reply, call) = &pairs[0];
    let replies: Vec<_> = pairs.iter().map(|(reply, _)| *reply).collect();
    let how = match fault {
        ReplyFault::Second => "a second time",
        ReplyFault::FromAnother => "although another program was called",
        ReplyFault::Early => "before the call",
    };
    Finding::new(lint.party(lint.sender(reply)))
        .about(call.full_member())
        .says(format!(
            "replies to {} of {} {how}, {}",
            short_name(call),
            lint.sender_label(call),
            units::counted(replies.len() as u64, "time")
        ))
        .shown_by(&replies)
        .costs(Cost { wake_ups: replies.len() as u64, ..Cost::of_bytes(&replies) })
        .query(format!("{} type:method_return", queries::sent_by(lint, reply)))
}

/// The longest time by which clocks and queues can place a reply before its call.
const EARLY_MAX: Duration = Duration::from_secs(1);
