//! Comparison with the oracle, and the report of a failure.

use kernel::machine;
use wire::Message;
use wire::message::MessageType;

use super::SimulatedWorld;
use super::message::shown;
use crate::oracle::{Expected, id_of};
use crate::peer::{ArrivedMessage, SimulatedPeer, Stage};
use crate::setting::{Feature, UNREAD_DESCRIPTORS_MAX};

impl SimulatedWorld {
    /// Compares the messages that peers sent with the routed ones, and the messages that arrived
    /// with the expected ones, up to the message with number `end`.
    pub(super) fn compare(&mut self, end: u64) {
        let mut failure = None;
        let has_shortages = self.setting.has(Feature::KernelShortages);
        for peer in self.peers.iter_mut().chain(&mut self.departed) {
            learn_name(peer);
            let Stage::Named(id) = peer.stage else { continue };
            let mut missing = Vec::new();
            let Some(account) = self.oracle.known(id) else { continue };
            while let Some(routed) = account.sent.pop_front() {
                while peer.sent.front().is_some_and(|sent| account.take_refused(sent)) {
                    peer.sent.pop_front();
                }
                match peer.sent.pop_front() {
                    Some(sent) if is_forwarded(&sent, &routed, id) => {}
                    sent => {
                        let sent = sent.map(|sent| shown(&sent));
                        failure = Some(format!(
                            ":1.{id} sent {sent:?}, but the bus routed {}",
                            shown(&routed)
                        ));
                    }
                }
            }
            while peer.sent.front().is_some_and(|sent| account.take_refused(sent)) {
                peer.sent.pop_front();
            }
            while !peer.received.is_empty()
                && account.expected.front().is_some_and(|next| next.number < end)
                && let Some(expected) = account.expected.pop_front()
            {
                let is_next = peer.received[0].bytes() == expected.bytes;
                if is_next && let Some(arrival) = peer.received.pop_front() {
                    match arrival {
                        ArrivedMessage::Received(_) => self.tally.borrow_mut().delivered += 1,
                        ArrivedMessage::Dropped(bytes) => {
                            peer.lost.push(bytes);
                            self.tally.borrow_mut().lost += 1;
                        }
                    }
                } else if self.setting.has(Feature::TightQueues) && expected.may_be_lost {
                    // Later checked against the number of lost messages that the bus reports.
                    peer.lost.push(expected.bytes);
                    self.tally.borrow_mut().lost += 1;
                } else if has_shortages && has_descriptors(&expected.bytes) {
                    missing.push(expected.bytes);
                } else {
                    let (came, expected) = (&peer.received[0], shown(&expected.bytes));
                    let (came, outcome) = match came {
                        ArrivedMessage::Received(bytes) => (shown(bytes), "received"),
                        ArrivedMessage::Dropped(bytes) => (shown(bytes), "should have received"),
                    };
                    failure =
                        Some(format!(":1.{id} {outcome} {came}, but {expected} was expected"));
                    break;
                }
            }
            for bytes in missing {
                self.oracle.missing(id, &bytes);
                self.tally.borrow_mut().lost += 1;
                peer.lost.push(bytes);
            }
        }
        if let Some(failure) = failure {
            self.fail(&failure);
        }
        if has_shortages {
            self.check_unread_descriptors();
        }
        let oracle = &mut self.oracle;
        self.departed.retain(|peer| match peer.stage {
            Stage::Named(id) => oracle.known(id).is_none_or(|account| !account.is_gone),
            // Its unique name is unknown, so there is nothing to compare.
            Stage::Handshake { .. } | Stage::Unnamed | Stage::Refused => false,
        });
    }

    /// Checks that each peer has received everything, once all queues are empty.
    pub(super) fn check_all(&mut self) {
        self.compare(u64::MAX);
        let mut failure = None;
        let has_shortages = self.setting.has(Feature::KernelShortages);
        for peer in self.peers.iter_mut().filter(|peer| peer.is_admitted()) {
            let Stage::Named(id) = peer.stage else {
                failure = Some(format!("a peer has no unique name: {:?}", peer.stage));
                continue;
            };
            let left = (peer.backlog(), peer.sent.len(), peer.received.len());
            if left != (0, 0, 0) {
                failure = Some(format!(
                    ":1.{id} has messages left (unsent, not routed, unexpected): {left:?}"
                ));
            }
            let Some(account) = self.oracle.known(id) else {
                failure = Some(format!("the oracle does not know :1.{id}"));
                continue;
            };
            // Messages after the last one that arrived may be lost, too.
            if self.setting.has(Feature::TightQueues) {
                let all = std::mem::take(&mut account.expected).into_iter();
                let (lost, rest): (Vec<_>, Vec<_>) = all.partition(|expected| expected.may_be_lost);
                account.expected = rest.into();
                self.tally.borrow_mut().lost += lost.len();
                peer.lost.extend(lost.into_iter().map(|expected| expected.bytes));
            }
            let all = std::mem::take(&mut account.expected).into_iter();
            let is_missing =
                |expected: &Expected| has_shortages && has_descriptors(&expected.bytes);
            let (missing, rest): (Vec<_>, Vec<_>) = all.partition(is_missing);
            account.expected = rest.into();
            if let Some(missing) = account.expected.front() {
                failure = Some(format!(":1.{id} did not receive {}", shown(&missing.bytes)));
            }
            if account.is_gone {
                failure =
                    Some(format!(":1.{id} is connected, but the bus announced its disconnect"));
            }
            for Expected { bytes, .. } in missing {
                self.oracle.missing(id, &bytes);
                self.tally.borrow_mut().lost += 1;
                peer.lost.push(bytes);
            }
        }
        failure = failure.or(self.oracle.settled().err()).or(self.check_stopped().err());
        let has_low_limits = self.setting.has(Feature::LowLimits);
        let well_behaved = self.peers.iter().find(|peer| {
            // A peer that is over a limit may have sent more messages before it received the error, for which
            // the bus closes the connection.
            let is_named = matches!(peer.stage, Stage::Named(_));
            let may_be_full = has_low_limits && !is_named;
            let may_be_stopped = peer.user.container.is_some_and(|container| {
                self.oracle.is_stopped(container) || !is_named && self.oracle.is_closed(container)
            });
            peer.is_closed && !peer.is_misbehaving && !may_be_full && !may_be_stopped
        });
        if let Some(peer) = well_behaved {
            failure =
                Some(format!("the bus closed a connection without a reason: {:?}", peer.stage));
        }
        if let Some(failure) = failure {
            self.fail(&failure);
        }
    }

    /// Lets some writes to a peer fail, once it has a unique name.
    pub(super) fn begin_shortages(&mut self, place: usize) {
        let peer = &mut self.peers[place];
        learn_name(peer);
        if self.setting.has(Feature::KernelShortages)
            && let Stage::Named(id) = peer.stage
            && self.failing.insert(peer.socket, id).is_none()
        {
            let once_in = FAILS_ONCE_IN[id as usize % FAILS_ONCE_IN.len()];
            machine::with(|machine| machine.fail_writes(peer.socket, once_in));
        }
    }

    /// Checks that no user exceeds its limit of unread descriptors.
    fn check_unread_descriptors(&self) {
        let users = machine::with(|machine| machine.unreceived_descriptors());
        if let Some((uid, count)) = users.iter().find(|(_, count)| **count > UNREAD_DESCRIPTORS_MAX)
        {
            self.fail(&format!(
                "user {uid} has {count} unread descriptors, limit {UNREAD_DESCRIPTORS_MAX}"
            ));
        }
    }

    /// Fails the run with a report that shows how to repeat it.
    pub(super) fn fail(&self, reason: &str) -> ! {
        let done = self.tally.borrow().steps;
        let journal = machine::with(|machine| {
            let lines = machine.journal().map(|entry| entry.lines().next().unwrap_or_default());
            lines.map(|line| format!("\n  {line}")).collect::<String>()
        });
        let latest: String = self.latest.iter().map(|one| format!("\n  {}", shown(one))).collect();
        panic!(
            "{reason}\n\nfeatures of the bus: {:?}\n\nlast routed messages:{latest}\n\nlast log entries:{journal}\n\nfailed at step {done}; to repeat: \
             DILIGENCE_WORLD={}",
            self.setting, self.plan
        );
    }
}

/// Learns the unique name of a peer from the reply to Hello.
fn learn_name(peer: &mut SimulatedPeer) {
    if peer.stage != Stage::Unnamed {
        return;
    }
    let Some(first) = peer.received.front() else { return };
    let message = Message::parse(first.bytes()).expect("received messages are valid");
    if message.message_type() == MessageType::Error {
        // The bus may close the connection because of messages that the peer has already sent.
        peer.is_misbehaving = true;
        peer.stage = Stage::Refused;
        return;
    }
    let id = message.destination().and_then(|name| id_of(name.as_str()));
    peer.stage = Stage::Named(id.expect("the first message is the reply to Hello"));
}

/// 1 in this many writes to a connection fails. Each connection has one of these rates.
const FAILS_ONCE_IN: [usize; 4] = [3, 30, 300, 3000];

fn has_descriptors(message: &[u8]) -> bool {
    Message::parse(message).is_ok_and(|message| message.unix_fds() > 0)
}

/// True if the routed message equals the sent one, with the sender's unique name added.
fn is_forwarded(sent: &[u8], routed: &[u8], id: u64) -> bool {
    let (Ok(sent), Ok(routed)) = (Message::parse(sent), Message::parse(routed)) else {
        return false;
    };
    let fields = |one: &Message<'_>| {
        let text = |text: Option<&str>| text.map(str::to_owned);
        (
            (one.message_type(), one.serial(), one.flags().bits(), one.reply_serial()),
            text(one.path().map(|path| path.as_str())),
            text(one.interface().map(|name| name.as_str())),
            text(one.member().map(|name| name.as_str())),
            text(one.destination().map(|name| name.as_str())),
            text(one.error_name().map(|name| name.as_str())),
            (one.unix_fds(), one.signature().as_str().to_owned()),
        )
    };
    let sender = routed.sender().map(|name| name.as_str().to_owned());
    fields(&sent) == fields(&routed)
        && sent.body() == routed.body()
        && sender == Some(format!(":1.{id}"))
}
