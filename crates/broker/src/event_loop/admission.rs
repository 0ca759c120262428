//! Who may connect, and what the policy has to know of who does.

use std::io;

use bus::policy::{Newcomer, Standing};
use bus::{Fault, Input, PeerId, Policy, Verdict};

use super::EventLoop;
use crate::connection::End;
use crate::report::described_in_line;
use crate::standing::{self, Label};

impl EventLoop {
    /// Lets somebody in who has authenticated, as this user or anonymously; or not.
    pub(super) fn admit(&mut self, peer: PeerId, uid: Option<u32>) -> Result<(), End> {
        let policy = &self.bus.configuration().policy;
        let standing = self.learn(peer, uid, policy).map_err(|_| End::StandingUnknown)?;
        let is_admitted = match uid {
            None => self.config.admits_anonymous(),
            Some(uid) => {
                let groups = standing.groups.as_deref().unwrap_or_default();
                let newcomer = Newcomer { uid, groups, bus_uid: self.authority.uid };
                policy.admits(&newcomer) == Verdict::Allow
            }
        };
        if !is_admitted {
            return Err(End::NotAdmitted);
        }
        if standing != Standing::default() {
            self.handle(Input::Vetted { peer, standing });
        }
        Ok(())
    }

    /// Learns what another policy asks of all who are there. Of whom it cannot be learnt, the bus is
    /// told nothing, and lets them do nothing.
    pub(super) fn describe_anew(&mut self, policy: &Policy) {
        let peers: Vec<PeerId> = self.table.iter_mut().map(|connection| connection.peer).collect();
        for peer in peers {
            let learnt = self.learn(peer, self.bus.user(peer), policy).inspect_err(|error| {
                let who = described_in_line(&self.bus, peer);
                let line = format!("Cannot tell what the policy asks of {who}: {error}");
                self.fault(Fault::UnknownStanding, line);
            });
            let standing = learnt.unwrap_or_default();
            self.handle(Input::Vetted { peer, standing });
        }
    }

    fn learn(&self, peer: PeerId, uid: Option<u32>, policy: &Policy) -> io::Result<Standing> {
        let connection = self.table.get(peer).ok_or(io::ErrorKind::NotConnected)?;
        let known = self.bus.credentials(peer).ok_or(io::ErrorKind::NotConnected)?;
        let label = if self.bus.asks_for_labels() { Label::Decides } else { Label::IsShown };
        match uid {
            Some(uid) => standing::learn(policy, &connection.socket, known, uid, label),
            None => standing::stranger(policy, &connection.socket, known, label),
        }
    }
}
