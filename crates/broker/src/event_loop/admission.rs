//! Whether a connection is admitted, and the attributes that the policy needs.

use std::io;

use bus::policy::{ConnectQuery, PeerAttributes};
use bus::{Input, PeerId, Policy, PolicyVerdict};

use super::loop_state::LoopState;
use super::switchboard::Switchboard;
use crate::busconfig::Config;
use crate::connection::End;
use crate::fault::Fault;
use crate::peer_attributes::{self, Label};
use crate::report::described_in_line;

/// Admits or rejects a connection that has authenticated, as this user or anonymously.
pub(super) fn admit(
    switchboard: &mut Switchboard,
    config: &Config,
    bus_uid: u32,
    peer: PeerId,
    uid: Option<u32>,
) -> Result<(), End> {
    let policy = &switchboard.state.bus.configuration().policy;
    let attributes = read_attributes(&switchboard.state, peer, uid, policy)
        .map_err(|_| End::AttributesUnknown)?;
    let is_admitted = match uid {
        None => config.admits_anonymous(),
        Some(uid) => {
            let groups = attributes.groups.as_deref().unwrap_or_default();
            policy.admits(&ConnectQuery { uid, groups, bus_uid }) == PolicyVerdict::Allow
        }
    };
    let container_user = switchboard.state.bus.container_user(peer);
    if !is_admitted || container_user.is_some_and(|user| uid != Some(user)) {
        return Err(End::NotAdmitted);
    }
    if attributes != PeerAttributes::default() {
        switchboard.handle(Input::AttributesRead { peer, attributes });
    }
    Ok(())
}

/// Reads the attributes that a new policy needs for all connections. If the attributes of a
/// connection cannot be read, it is denied everything.
pub(super) fn describe_anew(switchboard: &mut Switchboard, policy: &Policy) {
    let connections = switchboard.state.table.iter_mut();
    let peers: Vec<PeerId> = connections.map(|connection| connection.peer).collect();
    for peer in peers {
        let state = &mut switchboard.state;
        let read = read_attributes(state, peer, state.bus.user(peer), policy);
        let attributes = read.unwrap_or_else(|error| {
            let described = described_in_line(&state.bus, peer);
            state.fault(Fault::UnknownAttributes { peer: described, error });
            PeerAttributes::default()
        });
        switchboard.answer(Input::AttributesRead { peer, attributes }, None);
    }
}

fn read_attributes(
    state: &LoopState,
    peer: PeerId,
    uid: Option<u32>,
    policy: &Policy,
) -> io::Result<PeerAttributes> {
    let LoopState { bus, table, .. } = state;
    let connection = table.get(peer).ok_or(io::ErrorKind::NotConnected)?;
    let known = bus.credentials(peer).ok_or(io::ErrorKind::NotConnected)?;
    let label = if bus.asks_for_labels() { Label::Decides } else { Label::IsShown };
    match uid {
        Some(uid) => peer_attributes::read(policy, &connection.socket, known, uid, label),
        None => peer_attributes::read_anonymous(policy, &connection.socket, known, label),
    }
}
