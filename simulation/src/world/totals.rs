//! What the bus says of itself, in the end.

use std::collections::HashMap;

use kernel::machine;
use testkit::world::{build, interface, member, name, path};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;

use super::message::{call_bus, hello, shown};
use super::{SUPERVISOR, SimulatedWorld};
use crate::oracle::{DRIVER, NotificationCounts};
use crate::peer::{SimulatedPeer, Stage};

impl SimulatedWorld {
    /// Everybody who is there asks what the bus knows of it.
    pub(super) fn ask_for_accounts(&mut self) {
        for peer in self.peers.iter_mut().filter(|peer| peer.is_there()) {
            if let Stage::Named(id) = peer.stage {
                let serial = peer.next_serial();
                let args = [Value::from(format!(":1.{id}").as_str())];
                peer.take_unseen();
                peer.send(call_bus("Debug.Stats.GetConnectionStats", serial, &args));
            }
        }
    }

    /// What the bus says that somebody has lost is what did not come, and nobody ever had more than
    /// he may.
    pub(super) fn check_accounts(&mut self) {
        let mut wrong = None;
        for peer in self.peers.iter_mut().filter(|peer| peer.is_welcome()) {
            let answers = peer.take_unseen();
            let said = |key| answers.iter().find_map(|one| number(&Message::parse(one).ok()?, key));
            let lost = said("org.diligence.LostMessages");
            if lost != Some(peer.lost.len() as u64) {
                let all: String =
                    peer.lost.iter().map(|one| format!("\n  {}", shown(one))).collect();
                wrong = Some(format!("the bus says that {:?} lost {lost:?}, of:{all}", peer.stage));
            }
            for (key, most) in self.setting.peaks() {
                let peak = said(key);
                if peak.is_none_or(|peak| peak > most) {
                    wrong = Some(format!("{:?} had {peak:?} of {key}, {most} at most", peer.stage));
                }
            }
        }
        if let Some(wrong) = wrong {
            self.fail(&wrong);
        }
    }

    /// All have left, and it was told of all.
    pub(super) fn check_gone(&mut self) {
        self.compare(u64::MAX);
        if let Err(wrong) = self.oracle.settled() {
            self.fail(&wrong);
        }
        let named = self.peers.iter().chain(&self.former).filter_map(|peer| match peer.stage {
            Stage::Named(id) => Some(id),
            _ => None,
        });
        for id in named.collect::<Vec<_>>() {
            if self.oracle.known(id).is_some_and(|account| !account.is_gone) {
                self.fail(&format!(":1.{id} has left, and nobody was told"));
            }
        }
        let connections = machine::with(|machine| machine.connection_count());
        if connections > 1 {
            self.fail(&format!("{connections} connections are left"));
        }
        let open = machine::with(machine::SimulatedMachine::open_count);
        if open != self.open_before {
            self.fail(&format!("{} descriptors were open, and now {open}", self.open_before));
        }
    }

    /// One comes who asks what is left of the others.
    pub(super) fn ask_for_totals(&mut self) {
        let mut peer = SimulatedPeer::connect(3, SUPERVISOR, TOTALS_CAPACITY);
        let serial = peer.next_serial();
        peer.send(hello(serial));
        let call = Builder::method_call(path("/org/freedesktop/DBus"), member("GetTotals"));
        let call = call.interface(interface("org.diligence.Statistics1")).destination(name(DRIVER));
        let serial = peer.next_serial();
        peer.send(build(call, serial, &[]));
        self.peers.push(peer);
    }

    /// There is nothing but the monitor, and who asks; and as much was refused as was said.
    pub(super) fn check_totals(&mut self) {
        let asker = self.peers.last_mut().expect("it was there last");
        let answers = asker.take_unseen();
        let NotificationCounts { refused, withheld } = self.oracle.told();
        let expected = [
            ("Connections", 2),
            ("IncompleteConnections", 0),
            ("Monitors", 1),
            // That of the monitor.
            ("MatchRules", 1),
            ("PendingReplies", 0),
            ("LosingConnections", 0),
            ("RefusedMessages", refused),
            ("WithheldMessages", withheld),
        ];
        for (key, expected) in expected {
            let told = answers.iter().find_map(|bytes| number(&Message::parse(bytes).ok()?, key));
            if told != Some(expected) {
                self.fail(&format!("of {key} there are {expected}, and the bus says {told:?}"));
            }
        }
    }
}

/// A number in the answer to a question for many.
fn number(message: &Message<'_>, key: &str) -> Option<u64> {
    let (all,): (HashMap<&str, Value>,) = message.read().ok()?;
    match all.get(key)? {
        Value::Uint64(number) => Some(*number),
        Value::Uint32(number) => Some((*number).into()),
        _ => None,
    }
}

/// Bytes that may be under way to who asks in the end.
const TOTALS_CAPACITY: usize = 1 << 20;
