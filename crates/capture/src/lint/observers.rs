//! Instruments: connections that only watch the bus. Rules do not check them.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use crate::model::{Capture, CapturedMessage, PeerRole, RecordedPeer, RecordedPeerId};

/// Returns the connections of monitors, recorders and readers of statistics, and all other
/// connections of their processes.
pub(super) fn find(capture: &Capture) -> HashSet<RecordedPeerId, RandomState> {
    let calls = capture.messages().filter(|message| message.kind() == MessageType::MethodCall);
    let mut found: HashSet<_, _> = calls.filter(watches_the_bus).filter_map(|m| m.from()).collect();
    let pid = |peer: &RecordedPeer| peer.process.as_ref().and_then(|process| process.pid);
    let directory = capture.directory();
    found.extend(directory.peers().filter(|(_, peer)| is_recorder(peer)).map(|(id, _)| id));
    let pids: HashSet<_> = found.iter().filter_map(|&peer| pid(directory.peer(peer))).collect();
    let alike = directory
        .peers()
        .filter(|(_, peer)| pid(peer).is_some_and(|number| pids.contains(&number)));
    found.extend(alike.map(|(id, _)| id));
    found
}

fn watches_the_bus(call: &CapturedMessage<'_>) -> bool {
    call.is_driver_traffic()
        && (call.member() == "BecomeMonitor" || call.interface().starts_with(INSTRUMENTS))
}

fn is_recorder(peer: &RecordedPeer) -> bool {
    let comm = peer.process.as_ref().and_then(|process| process.comm.as_deref());
    peer.role == PeerRole::Recorder || comm.is_some_and(|comm| RECORDERS.contains(&comm))
}

/// The prefix of the interfaces in which Diligence describes its traffic.
const INSTRUMENTS: &str = "org.diligence.";

/// Programs that only listen, by their kernel names (`comm`).
const RECORDERS: [&str; 3] = ["dbus-monitor", "bustle", "bustle-pcap"];
