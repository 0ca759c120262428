//! Who may connect, and what the policy has to know of who does.

use std::io;

use bus::policy::{ConnectQuery, PeerAttributes};
use bus::{Input, PeerId, Policy, Verdict};

use super::EventLoop;
use crate::connection::End;
use crate::fault::Fault;
use crate::peer_attributes::{self, Label};
use crate::report::described_in_line;

impl EventLoop {
    /// Lets somebody in who has authenticated, as this user or anonymously; or not.
    pub(super) fn admit(&mut self, peer: PeerId, uid: Option<u32>) -> Result<(), End> {
        let policy = &self.bus.configuration().policy;
        let attributes =
            self.read_attributes(peer, uid, policy).map_err(|_| End::AttributesUnknown)?;
        let is_admitted = match uid {
            None => self.config.admits_anonymous(),
            Some(uid) => {
                let groups = attributes.groups.as_deref().unwrap_or_default();
                let query = ConnectQuery { uid, groups, bus_uid: self.authority.uid };
                policy.admits(&query) == Verdict::Allow
            }
        };
        if !is_admitted {
            return Err(End::NotAdmitted);
        }
        if attributes != PeerAttributes::default() {
            self.handle(Input::AttributesRead { peer, attributes });
        }
        Ok(())
    }

    /// Learns what another policy asks of all who are there. Of whom it cannot be learnt, the bus is
    /// told nothing, and lets them do nothing.
    pub(super) fn describe_anew(&mut self, policy: &Policy) {
        let peers: Vec<PeerId> = self.table.iter_mut().map(|connection| connection.peer).collect();
        for peer in peers {
            let read = self.read_attributes(peer, self.bus.user(peer), policy);
            let attributes = read.unwrap_or_else(|error| {
                let described = described_in_line(&self.bus, peer);
                self.fault(Fault::UnknownAttributes { peer: described, error });
                PeerAttributes::default()
            });
            self.answer(Input::AttributesRead { peer, attributes }, None);
        }
    }

    fn read_attributes(
        &self,
        peer: PeerId,
        uid: Option<u32>,
        policy: &Policy,
    ) -> io::Result<PeerAttributes> {
        let connection = self.table.get(peer).ok_or(io::ErrorKind::NotConnected)?;
        let known = self.bus.credentials(peer).ok_or(io::ErrorKind::NotConnected)?;
        let label = if self.bus.asks_for_labels() { Label::Decides } else { Label::IsShown };
        match uid {
            Some(uid) => peer_attributes::read(policy, &connection.socket, known, uid, label),
            None => peer_attributes::read_anonymous(policy, &connection.socket, known, label),
        }
    }
}
