//! Lines for messages, and for calls that end without a reply.

use std::collections::HashMap;
use std::io;

use capture::Capture;
use capture::model::{CallOutcome, CapturedMessage, MessageBuffer};
use capture::record::{BusId, RecordedTime};
use capture::show::{Knowledge, MessageLineEntry, MessageLines};

/// The line formatter, and the printed calls that have no reply yet.
#[derive(Debug)]
pub(super) struct LinePrinter {
    lines: MessageLines,
    waiting: HashMap<CallKey, MessageLineEntry>,
}

/// The key of a call, which its reply contains too.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct CallKey {
    bus: BusId,
    /// The unique name of the caller.
    caller: String,
    serial: u32,
}

impl LinePrinter {
    pub(super) fn new(lines: MessageLines) -> Self {
        Self { lines, waiting: HashMap::new() }
    }

    /// Appends the line of a message. If it is a call, remembers it until its reply arrives.
    pub(super) fn push(
        &mut self,
        text: &mut String,
        message: &CapturedMessage<'_>,
        buffer: &mut MessageBuffer,
    ) -> io::Result<()> {
        if message.expects_reply() && self.waiting.len() < WAITING_MAX {
            let caller = message.sender().to_owned();
            let key = CallKey { bus: message.bus(), caller, serial: message.serial() };
            self.waiting.insert(key, MessageLineEntry::of_waiting(message));
        }
        self.lines.push(text, message, Knowledge::SoFar, buffer)
    }

    /// Forgets the call of a reply, even if the reply is not printed.
    pub(super) fn forget_answered(&mut self, message: &CapturedMessage<'_>) {
        if message.reply_serial() != 0 && !self.waiting.is_empty() {
            let caller = message.destination().to_owned();
            let serial = message.reply_serial();
            self.waiting.remove(&CallKey { bus: message.bus(), caller, serial });
        }
    }

    /// Appends a line for each call whose caller has disconnected.
    pub(super) fn push_abandoned(&mut self, text: &mut String, capture: &Capture) {
        let left = |key: &CallKey| {
            let unique = capture.strings().find(&key.caller)?;
            let directory = capture.directory();
            directory.peer(directory.by_unique(key.bus, unique)?).left
        };
        let ended = self.waiting.extract_if(|key, _| left(key).is_some());
        let mut ended: Vec<_> =
            ended.filter_map(|(key, entry)| Some((left(&key)?, entry))).collect();
        ended.sort_by_key(|(at, entry)| (*at, entry.at()));
        for (at, entry) in ended {
            self.lines.push_entry(text, &entry.ended(at, CallOutcome::CallerLeft));
        }
    }

    /// Appends a line for each call that is pending at the time `now`, the oldest first.
    pub(super) fn push_waiting(&mut self, text: &mut String, now: RecordedTime) {
        let mut waiting: Vec<_> = self.waiting.drain().map(|(_, entry)| entry).collect();
        waiting.sort_by_key(MessageLineEntry::at);
        for entry in waiting {
            self.lines.push_entry(text, &entry.ended(now, CallOutcome::Waiting));
        }
    }
}

/// The maximum number of pending calls that are remembered. Calls beyond it can end without a line.
const WAITING_MAX: usize = 4096;
