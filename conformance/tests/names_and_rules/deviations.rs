//! Where the two are known to differ, and how that is kept out of the comparison. Each entry is a
//! row of docs/deviations.md, or is left open by the specification.

use conformance::{BUS_NAME, PlainMessage, PlainValue, field, kind};

/// Flags of RequestName.
const REPLACE_EXISTING: u32 = 2;
const DO_NOT_QUEUE: u32 = 4;

/// The name whose owner a message asks to replace, when it would wait if it may not.
///
/// With others waiting the reference would put it before them, and the specification behind them; so
/// it asks not to wait then.
pub(crate) fn may_jump_the_queue(message: &PlainMessage) -> Option<&str> {
    match &message.body[..] {
        [PlainValue::Str(name), PlainValue::U32(flags)] if message.member() == "RequestName" => {
            (flags & (REPLACE_EXISTING | DO_NOT_QUEUE) == REPLACE_EXISTING).then_some(name)
        }
        _ => None,
    }
}

/// The same RequestName, which does not wait.
pub(crate) fn without_queueing(mut message: PlainMessage) -> PlainMessage {
    if let Some(PlainValue::U32(flags)) = message.body.last_mut() {
        *flags |= DO_NOT_QUEUE;
    }
    message
}

/// Whether a message removes a rule about what this connection sends or gets, which has gone.
///
/// The reference may have dropped such a rule then, here it waits for its owner.
pub(crate) fn removes_rule_about(message: &PlainMessage, gone: &str) -> bool {
    let rule = message.first_text().replace('\'', "");
    let is_about = rule.contains("sender") || rule.contains("destination");
    message.member() == "RemoveMatch" && is_about && rule.contains(gone)
}

/// Whether a message removes a rule about a part of the tree of paths.
///
/// The reference does not compare which part, and may remove a rule for another one.
pub(crate) fn removes_namespace(message: &PlainMessage) -> bool {
    message.member() == "RemoveMatch" && message.first_text().contains("path_namespace")
}

/// Whether the reference answers a message to whom its forged SENDER names: the calls to nobody that
/// it answers as any program would.
pub(crate) fn believes_sender(message: &PlainMessage) -> bool {
    message.kind == kind::CALL && message.get(field::DESTINATION).is_none()
}

/// Whether a rule of a monitor is about what the owner of a name gets.
///
/// For NameAcquired and NameLost that is here who has the name then, there still who had it before.
pub(crate) fn watches_owner(rule: &str) -> bool {
    let rule = rule.replace('\'', "");
    rule.match_indices("destination=")
        .any(|(at, key)| !rule[at + key.len()..].starts_with(['<', ':']))
}

/// Whether the two read a match rule differently: a backslash before anything but an apostrophe, an
/// empty key, a zero before the number of an argument.
pub(crate) fn rule_is_read_differently(rule: &str) -> bool {
    let bytes = rule.as_bytes();
    let pair = |test: fn(u8, u8) -> bool| bytes.windows(2).any(|pair| test(pair[0], pair[1]));
    let backslash = rule.ends_with('\\') || pair(|first, then| first == b'\\' && then != b'\'');
    let no_key = rule.trim_start().starts_with('=')
        || rule.split(',').any(|part| part.trim_start().starts_with('='));
    let zero = rule
        .match_indices("arg0")
        .any(|(at, _)| bytes.get(at + "arg0".len()).is_some_and(u8::is_ascii_digit));
    backslash || no_key || zero
}

/// What the client with this name has heard, as far as both must agree on it.
pub(crate) fn normalised(mut heard: Vec<PlainMessage>, name: &str) -> Vec<PlainMessage> {
    forget_who_follows_a_new_monitor(&mut heard, name);
    heard.retain(|message| !makes_monitor(message));
    heard.iter_mut().for_each(sort_names);
    heard.iter_mut().for_each(forget_what_is_wrong_with_a_rule);
    // Of a callee that leaves: here they come at once, the oldest call first; there a little later,
    // the latest first.
    heard.sort_by_cached_key(|message| is_no_reply(message).then(|| message.compared()));
    heard
}

/// Whether this is a call that makes its sender a monitor. Who has a rule about its sender does not
/// see it in the reference, which has dropped the rule by then; see [`removes_rule_about`].
pub(crate) fn makes_monitor(message: &PlainMessage) -> bool {
    message.kind == kind::CALL && message.member() == "BecomeMonitor"
}

fn is_no_reply(message: &PlainMessage) -> bool {
    message.kind == kind::ERROR && message.error_name() == "NoReply"
}

/// Here the text says at which byte, and what was expected.
fn forget_what_is_wrong_with_a_rule(message: &mut PlainMessage) {
    if message.error_name() == "MatchRuleInvalid" {
        message.body.clear();
    }
}

/// Of the names that it gives up, one that becomes a monitor of the reference sees who has them next
/// if there is another monitor.
fn forget_who_follows_a_new_monitor(heard: &mut Vec<PlainMessage>, name: &str) {
    let own = [PlainValue::text(name)];
    let is_own = |message: &PlainMessage| message.get(field::DESTINATION) == own.first();
    let gives_up = |message: &PlainMessage| message.member() == "NameLost" && message.body == own;
    if heard.iter().any(|message| is_own(message) && gives_up(message)) {
        heard.retain(|message| message.kind != kind::SIGNAL || is_own(message));
    }
}

/// ListNames has no order; it is known by the name that the others never give.
fn sort_names(message: &mut PlainMessage) {
    if let [PlainValue::Array(_, names)] = &mut message.body[..]
        && names.len() > 1
        && names.contains(&PlainValue::text(BUS_NAME))
    {
        names.sort_by_key(|name| name.as_str().map(str::to_owned));
    }
}
