//! Where the two are known to differ, and how that is kept out of the comparison. Each entry is a
//! row of docs/deviations.md, or is left open by the specification.

use conformance::{BUS_NAME, PlainMessage, PlainValue, field, kind};

/// Flags of the method RequestName.
const REPLACE_EXISTING: u32 = 2;
const DO_NOT_QUEUE: u32 = 4;

/// The name that a RequestName asks to replace, with permission to wait in the queue.
///
/// If other peers wait, dbus-daemon puts the caller before them, and the specification behind them;
/// the test then sends the call without that permission.
pub(crate) fn may_jump_the_queue(message: &PlainMessage) -> Option<&str> {
    match &message.body[..] {
        [PlainValue::Str(name), PlainValue::U32(flags)] if message.member() == "RequestName" => {
            (flags & (REPLACE_EXISTING | DO_NOT_QUEUE) == REPLACE_EXISTING).then_some(name)
        }
        _ => None,
    }
}

/// The same RequestName, with DO_NOT_QUEUE.
pub(crate) fn without_queueing(mut message: PlainMessage) -> PlainMessage {
    if let Some(PlainValue::U32(flags)) = message.body.last_mut() {
        *flags |= DO_NOT_QUEUE;
    }
    message
}

/// Returns true if a message removes a rule about messages to or from a disconnected peer.
///
/// dbus-daemon may have removed such a rule already; Diligence keeps it until its owner removes it.
pub(crate) fn removes_rule_about(message: &PlainMessage, gone: &str) -> bool {
    let rule = message.first_text().replace('\'', "");
    let is_about = rule.contains("sender") || rule.contains("destination");
    message.member() == "RemoveMatch" && is_about && rule.contains(gone)
}

/// Returns true if a message removes a rule with a path namespace.
///
/// dbus-daemon does not compare the namespace, and may remove another rule.
pub(crate) fn removes_namespace(message: &PlainMessage) -> bool {
    message.member() == "RemoveMatch" && message.first_text().contains("path_namespace")
}

/// Returns true if dbus-daemon sends its reply to the name in a forged SENDER: calls to names
/// without an owner that it answers like any program.
pub(crate) fn believes_sender(message: &PlainMessage) -> bool {
    message.kind == kind::CALL && message.get(field::DESTINATION).is_none()
}

/// Returns true if a rule of a monitor selects messages to the owner of a name.
///
/// For NameAcquired and NameLost, Diligence uses the owner after the change, and dbus-daemon the
/// owner before it.
pub(crate) fn watches_owner(rule: &str) -> bool {
    let rule = rule.replace('\'', "");
    rule.match_indices("destination=")
        .any(|(at, key)| !rule[at + key.len()..].starts_with(['<', ':']))
}

/// Returns true if the two buses parse a match rule differently: a backslash before a character
/// other than an apostrophe, an empty key, or a leading zero in the number of an argument.
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

/// The messages that the client with this name received, reduced to the parts that both buses must
/// agree on.
pub(crate) fn normalized(mut received: Vec<PlainMessage>, name: &str) -> Vec<PlainMessage> {
    drop_owners_after_a_new_monitor(&mut received, name);
    drop_names_after_the_unique_name(&mut received, name);
    received.retain(|message| !makes_monitor(message));
    received.iter_mut().for_each(sort_names);
    received.iter_mut().for_each(forget_what_is_wrong_with_a_rule);
    // Errors for calls to a callee that disconnects: Diligence sends them immediately, the oldest
    // call first; dbus-daemon sends them a little later, the latest first.
    received.sort_by_cached_key(|message| is_no_reply(message).then(|| message.compared()));
    received
}

/// Returns true if this is a call that makes its sender a monitor. A monitor with a rule about this
/// sender does not see the call in dbus-daemon, which has removed the rule by then; see
/// [`removes_rule_about`].
pub(crate) fn makes_monitor(message: &PlainMessage) -> bool {
    message.kind == kind::CALL && message.member() == "BecomeMonitor"
}

fn is_no_reply(message: &PlainMessage) -> bool {
    message.kind == kind::ERROR && message.error_name() == "NoReply"
}

/// In Diligence the error text contains the byte position, and the expected text.
fn forget_what_is_wrong_with_a_rule(message: &mut PlainMessage) {
    if message.error_name() == "MatchRuleInvalid" {
        message.body.clear();
    }
}

/// If a client becomes a monitor in dbus-daemon and another monitor exists, it sees the next owners
/// of the names that it gives up.
fn drop_owners_after_a_new_monitor(received: &mut Vec<PlainMessage>, name: &str) {
    let own = [PlainValue::text(name)];
    let is_own = |message: &PlainMessage| message.get(field::DESTINATION) == own.first();
    let gives_up = |message: &PlainMessage| message.member() == "NameLost" && message.body == own;
    if received.iter().any(|message| is_own(message) && gives_up(message)) {
        received.retain(|message| message.kind != kind::SIGNAL || is_own(message));
    }
}

/// A client that becomes a monitor loses its unique name first, then its other names. If another
/// monitor has a rule with `destination=` the unique name, Diligence shows it all these signals, and
/// dbus-daemon only the first.
fn drop_names_after_the_unique_name(received: &mut Vec<PlainMessage>, name: &str) {
    let own = PlainValue::text(name);
    let mut without_names: Vec<PlainValue> = Vec::new();
    received.retain(|message| {
        let destination = message.get(field::DESTINATION);
        let Some(destination) =
            destination.filter(|to| message.member() == "NameLost" && **to != own)
        else {
            return true;
        };
        if message.body.first() == Some(destination) {
            without_names.push(destination.clone());
            return true;
        }
        !without_names.contains(destination)
    });
}

/// ListNames has no order; its reply is recognized by a name that other replies never contain.
fn sort_names(message: &mut PlainMessage) {
    if let [PlainValue::Array(_, names)] = &mut message.body[..]
        && names.len() > 1
        && names.contains(&PlainValue::text(BUS_NAME))
    {
        names.sort_by_key(|name| name.as_str().map(str::to_owned));
    }
}
