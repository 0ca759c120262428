//! Numbered messages, each of which must arrive once and in order.

use conformance::{PlainMessage, PlainValue, field};

/// A signal with a number, and bytes that make it longer.
pub(crate) fn signal(member: &str, number: u32, len: usize) -> PlainMessage {
    let signal = PlainMessage::signal("/com/example/Numbered", INTERFACE, member);
    signal.arg(PlainValue::U32(number)).arg(PlainValue::text(&"x".repeat(len)))
}

/// A call with a number as its argument.
pub(crate) fn call(to: &str, number: u32) -> PlainMessage {
    PlainMessage::call(to, "/com/example/Numbered", INTERFACE, "Ask").arg(PlainValue::U32(number))
}

/// The reply to a numbered call, with the same number.
pub(crate) fn answer(call: &PlainMessage) -> PlainMessage {
    call.body.iter().cloned().fold(PlainMessage::reply(call), PlainMessage::arg)
}

/// The match rule for signals of a member, from any sender.
pub(crate) fn rule(member: &str) -> String {
    format!("type='signal',interface='{INTERFACE}',member='{member}'")
}

/// Returns true if a message is a numbered one.
pub(crate) fn is_numbered(message: &PlainMessage) -> bool {
    message.get(field::INTERFACE).and_then(PlainValue::as_str) == Some(INTERFACE)
}

/// Checks the numbers of one sender.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    next: u32,
}

impl Sequence {
    /// Checks the number of the next message.
    ///
    /// # Panics
    ///
    /// If it is not the expected one.
    pub(crate) fn take(&mut self, message: &PlainMessage) {
        let number = message.first_u32().unwrap_or_else(|| panic!("{}", message.summary()));
        assert_eq!(number, self.next, "{} of {}", message.member(), message.sender());
        self.next += 1;
    }

    /// The number of messages so far.
    pub(crate) fn count(&self) -> u32 {
        self.next
    }
}

const INTERFACE: &str = "com.example.Numbered";
