//! L35: many descriptors at once.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(35),
    title: "many descriptors in one message",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A message carries many file descriptors. A bus and each recipient must hold all of \
              them at once, and both have low limits.",
    thresholds: &[Threshold::count("descriptors in a message", DESCRIPTORS_MIN as usize)
        .source("a bus may refuse more than 16 by its configuration")],
    advice: "Pass one descriptor for all of it, a memfd or a socket, or hand them out in batches.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let many: Vec<_> = lint.messages().filter(|it| it.unix_fds() >= DESCRIPTORS_MIN).collect();
    let by_sender = grouped(&many, |message| lint.sender(message));
    by_sender.iter().map(|messages| report(lint, messages)).collect()
}

fn report(lint: &Context<'_>, messages: &[Message<'_>]) -> Finding {
    let first = &messages[0];
    let named = first.call().unwrap_or(*first);
    let most = messages.iter().map(Message::unix_fds).max().unwrap_or(0);
    let more = if most == u8::MAX { " or more" } else { "" };
    Finding::new(&RULE, lint.who(lint.sender(first)))
        .about(named.full_member())
        .says(format!(
            "passes {most}{more} descriptors in one message, first with {}",
            short_name(&named)
        ))
        .shown_by(messages)
        .costs(Cost::of_bytes(messages))
        .query(queries::term("from", &lint.who(lint.sender(first))))
}

const DESCRIPTORS_MIN: u8 = 16;
