//! Messages with numbers, of which each has to come once and in order.

use conformance::{PlainMessage, PlainValue, field};

/// A signal with a number, and bytes that make it longer.
pub(crate) fn signal(member: &str, number: u32, len: usize) -> PlainMessage {
    let signal = PlainMessage::signal("/com/example/Numbered", INTERFACE, member);
    signal.arg(PlainValue::U32(number)).arg(PlainValue::text(&"x".repeat(len)))
}

/// A call with a number.
pub(crate) fn call(to: &str, number: u32) -> PlainMessage {
    PlainMessage::call(to, "/com/example/Numbered", INTERFACE, "Ask").arg(PlainValue::U32(number))
}

/// The answer to it: the same number.
pub(crate) fn answer(call: &PlainMessage) -> PlainMessage {
    call.body.iter().cloned().fold(PlainMessage::reply(call), PlainMessage::arg)
}

/// What it takes to hear signals of a member, from whomever.
pub(crate) fn rule(member: &str) -> String {
    format!("type='signal',interface='{INTERFACE}',member='{member}'")
}

/// Whether a message is one of these.
pub(crate) fn is_numbered(message: &PlainMessage) -> bool {
    message.get(field::INTERFACE).and_then(PlainValue::as_str) == Some(INTERFACE)
}

/// Watches the numbers of one sender.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    next: u32,
}

impl Sequence {
    /// Takes the next message.
    ///
    /// # Panics
    ///
    /// When it is not the next.
    pub(crate) fn take(&mut self, message: &PlainMessage) {
        let number = message.first_u32().unwrap_or_else(|| panic!("{}", message.summary()));
        assert_eq!(number, self.next, "{} of {}", message.member(), message.sender());
        self.next += 1;
    }

    /// How many have come.
    pub(crate) fn count(&self) -> u32 {
        self.next
    }
}

const INTERFACE: &str = "com.example.Numbered";
