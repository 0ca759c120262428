//! L34: messages that are too large for a bus.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(34),
    title: "large messages",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A message is too large to be sent efficiently over a bus: it is copied four times, \
              and the bus handles no other messages meanwhile. L09 reports replies to \
              GetManagedObjects.",
    thresholds: &[
        Threshold::bytes("size of a message", LARGE).source("throughput is best at 32 KiB")
    ],
    example: "tumblerd 4.18 answers Thumbnailer1.GetSupported with 148 KiB, twice.",
    advice: "Pass a file descriptor (a memfd or a pipe) that contains the data, or return the data \
             in pages.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let large: Vec<_> = lint.messages().filter(is_large).collect();
    let by_member = grouped(&large, |message| {
        let named = message.call().unwrap_or(*message);
        (lint.sender(message), message.kind().code(), named.interface_id(), named.member_id())
    });
    by_member.iter().map(|messages| report(lint, messages)).collect()
}

fn is_large(message: &CapturedMessage<'_>) -> bool {
    message.len() > LARGE && message.call().is_none_or(|call| call.member() != "GetManagedObjects")
}

fn report(lint: &LintContext<'_>, messages: &[CapturedMessage<'_>]) -> Finding {
    let first = &messages[0];
    let named = first.call().unwrap_or(*first);
    let largest = messages.iter().map(CapturedMessage::len).max().unwrap_or(0);
    let kind = match first.kind() {
        MessageType::MethodCall => "calls",
        MessageType::Signal => "signals",
        _ => "answers",
    };
    let sender = queries::sent_by(lint, first);
    // The call of a reply may not be in the recording.
    let (of, query) = match named.member() {
        "" => (String::new(), format!("{sender} size>64KiB")),
        member => {
            (format!(" of {}", short_name(&named)), format!("{sender} member:{member} size>64KiB"))
        }
    };
    Finding::new(lint.party(lint.sender(first)))
        .about(format!("{kind} {}", named.full_member()))
        .says(format!(
            "sends {kind}{of} with up to {}, {}",
            units::bytes(largest.into()),
            units::counted(messages.len() as u64, "time")
        ))
        .shown_by(messages)
        .costs(Cost::of_bytes(messages))
        .query(query)
}

const LARGE: u32 = 64 << 10;
