//! Checks of the statistics that the bus reports.

use std::collections::HashMap;

use kernel::machine;
use testkit::world::{build, interface, member, name, path};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;

use super::message::{call_bus, hello, shown};
use super::{ROOT_PEER, SimulatedWorld};
use crate::oracle::{DRIVER, NotificationCounts};
use crate::peer::{SimulatedPeer, Stage};

impl SimulatedWorld {
    /// Lets each connected peer ask for the statistics of its own connection.
    pub(super) fn request_statistics(&mut self) {
        for peer in self.peers.iter_mut().filter(|peer| may_ask(peer)) {
            if let Stage::Named(id) = peer.stage {
                let serial = peer.next_serial();
                let args = [Value::from(format!(":1.{id}").as_str())];
                peer.take_unhandled();
                peer.send(call_bus("Debug.Stats.GetConnectionStats", serial, &args));
            }
        }
    }

    /// Checks that the bus reports exactly the lost messages of each peer, and no peak above a
    /// limit.
    pub(super) fn check_statistics(&mut self) {
        let mut failure = None;
        for peer in self.peers.iter_mut().filter(|peer| peer.is_admitted() && may_ask(peer)) {
            let replies = peer.take_unhandled();
            let reported =
                |key| replies.iter().find_map(|one| number(&Message::parse(one).ok()?, key));
            let lost = reported("org.diligence.LostMessages");
            if lost != Some(peer.lost.len() as u64) {
                let all: String =
                    peer.lost.iter().map(|one| format!("\n  {}", shown(one))).collect();
                failure = Some(format!(
                    "the bus reports {lost:?} lost messages of {:?}, which lost:{all}",
                    peer.stage
                ));
            }
            for (key, most) in self.setting.peaks() {
                let peak = reported(key);
                if peak.is_none_or(|peak| peak > most) {
                    failure = Some(format!("{:?} has {key} {peak:?}, limit {most}", peer.stage));
                }
            }
        }
        if let Some(failure) = failure {
            self.fail(&failure);
        }
    }

    /// Checks that the bus has announced the disconnect of every peer and closed all its
    /// descriptors.
    pub(super) fn check_gone(&mut self) {
        self.compare(u64::MAX);
        if let Err(failure) = self.oracle.settled().and(self.oracle.containers_removed()) {
            self.fail(&failure);
        }
        if let Some(path) =
            machine::with(|machine| machine.socket_files().next().map(str::to_owned))
        {
            self.fail(&format!("the bus did not remove {path}"));
        }
        let named = self.peers.iter().chain(&self.departed).filter_map(|peer| match peer.stage {
            Stage::Named(id) => Some(id),
            _ => None,
        });
        for id in named.collect::<Vec<_>>() {
            if self.oracle.known(id).is_some_and(|account| !account.is_gone) {
                self.fail(&format!(":1.{id} disconnected, but the bus did not announce it"));
            }
        }
        let connections = machine::with(|machine| machine.connection_count());
        if connections > 1 {
            self.fail(&format!("{connections} connections are still open"));
        }
        let open = machine::with(machine::SimulatedMachine::open_count);
        if open != self.open_before {
            self.fail(&format!(
                "the daemon had {} descriptors open at first, and now {open}",
                self.open_before
            ));
        }
    }

    /// Connects a new peer, which asks the bus for its totals.
    pub(super) fn request_totals(&mut self) {
        let mut peer = SimulatedPeer::connect(3, ROOT_PEER, TOTALS_CAPACITY);
        let serial = peer.next_serial();
        peer.send(hello(serial));
        let call = Builder::method_call(path("/org/freedesktop/DBus"), member("GetTotals"));
        let call = call.interface(interface("org.diligence.Statistics1")).destination(name(DRIVER));
        let serial = peer.next_serial();
        peer.send(build(call, serial, &[]));
        self.peers.push(peer);
    }

    /// Checks that only the monitor and the new peer are left, and that the counters match the
    /// notifications.
    pub(super) fn check_totals(&mut self) {
        let requester = self.peers.last_mut().expect("a peer was added for the totals");
        let replies = requester.take_unhandled();
        let NotificationCounts { refused, withheld } = self.oracle.notifications();
        let expected = [
            ("Connections", 2),
            ("IncompleteConnections", 0),
            ("Monitors", 1),
            // The rule of the monitor.
            ("MatchRules", 1),
            ("PendingReplies", 0),
            ("LosingConnections", 0),
            ("RefusedMessages", refused),
            ("WithheldMessages", withheld),
        ];
        for (key, expected) in expected {
            let reported =
                replies.iter().find_map(|bytes| number(&Message::parse(bytes).ok()?, key));
            if reported != Some(expected) {
                self.fail(&format!("{key} is {expected}, but the bus reports {reported:?}"));
            }
        }
    }
}

/// True if the bus answers questions of a peer about statistics, which it does not in containers.
fn may_ask(peer: &SimulatedPeer) -> bool {
    peer.is_connected() && peer.user.container.is_none()
}

/// Returns a number from a reply that is a dictionary.
fn number(message: &Message<'_>, key: &str) -> Option<u64> {
    let (all,): (HashMap<&str, Value>,) = message.read().ok()?;
    match all.get(key)? {
        Value::Uint64(number) => Some(*number),
        Value::Uint32(number) => Some((*number).into()),
        _ => None,
    }
}

/// The capacity of the new peer's connection, in bytes.
const TOTALS_CAPACITY: usize = 1 << 20;
