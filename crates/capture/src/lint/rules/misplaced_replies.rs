//! L49: answers that belong to no call, or to one that has its answer.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(49),
    title: "answers that fit no call",
    rating: Rating::AtLeast(FindingSeverity::Med),
    needs: Needs::Messages,
    meaning: "A call was answered twice, or by somebody whom it was not addressed to, or before it \
              was made. Answers to calls from before the recording are not counted.",
    thresholds: &[Threshold::count("such answers of one program", 1)],
    seen: "xdg-desktop-portal-kde 5.27 answers Settings.ReadAll of xdg-desktop-portal twice.",
    advice: "Answer every call exactly once, from the connection that got it.",
    check,
};

/// What is wrong with an answer.
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
    // A serial that is used anew after it has run over says nothing.
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
        ReplyFault::FromAnother => "although it was addressed to somebody else",
        ReplyFault::Early => "before it was made",
    };
    Finding::new(lint.who(lint.sender(reply)))
        .about(call.full_member())
        .says(format!(
            "answers {} of {} {how}, {}",
            short_name(call),
            lint.sender_label(call),
            units::counted(replies.len() as u64, "time")
        ))
        .shown_by(&replies)
        .costs(Cost { wake_ups: replies.len() as u64, ..Cost::of_bytes(&replies) })
        .query(format!("{} type:method_return", queries::sent_by(lint, reply)))
}

/// Clocks and queues do not put an answer earlier than this before its call.
const EARLY_MAX: Duration = Duration::from_secs(1);
