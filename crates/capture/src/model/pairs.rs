//! Pairs calls with their replies.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::TextId;
use crate::record::BusId;

/// Calls without a reply so far, by bus, caller and serial.
///
/// If a serial is used again, because a name was reused or the counter wrapped, the new call
/// replaces the older one, which then has no reply.
#[derive(Debug, Default)]
pub(super) struct UnansweredCalls {
    calls: HashMap<(BusId, TextId, u32), u32, RandomState>,
}

impl UnansweredCalls {
    pub(super) fn called(&mut self, bus: BusId, caller: TextId, serial: u32, call: u32) {
        self.calls.insert((bus, caller, serial), call);
    }

    pub(super) fn find(&self, bus: BusId, caller: TextId, serial: u32) -> Option<u32> {
        self.calls.get(&(bus, caller, serial)).copied()
    }

    pub(super) fn answered(&mut self, bus: BusId, caller: TextId, serial: u32) {
        self.calls.remove(&(bus, caller, serial));
    }
}
