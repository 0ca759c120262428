//! L43: replies to calls with NO_REPLY_EXPECTED.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(43),
    title: "unwanted replies",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A service replies to calls that have the flag NO_REPLY_EXPECTED. The bus delivers \
              the reply, and the caller discards it.",
    thresholds: &[Threshold::count("unwanted replies to calls of one method", REPLIES_MIN)],
    example: "QtDBus 5.15 calls RemoveMatch with NO_REPLY_EXPECTED for a rule that it has not \
              added. The bus replies with MatchRuleNotFound, as dbus-daemon does, 22 times in a \
              Plasma session.",
    advice: "Check the flag before you reply. Libraries do that themselves.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let answered = lint.calls.iter().filter(|it| !it.expects_reply() && it.partner().is_some());
    let by_method = lint.by_method(answered);
    let often = by_method.iter().filter(|calls| calls.len() >= REPLIES_MIN);
    often.map(|calls| report(lint, calls)).collect()
}

fn report(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Finding {
    let first = &calls[0];
    let replies: Vec<_> = calls.iter().filter_map(CapturedMessage::partner).collect();
    let callee = queries::term("from", &lint.party(lint.callee(first)));
    lint.of_callee(calls)
        .says(format!(
            "replies to {} of {} that expect no reply",
            units::counted(calls.len() as u64, "call"),
            short_name(first)
        ))
        .shown_by(&replies)
        .costs(Cost { wake_ups: replies.len() as u64, ..Cost::of_bytes(&replies) })
        .query(format!("{callee} member:{}", first.member()))
}

const REPLIES_MIN: usize = 10;
