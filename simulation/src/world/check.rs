//! What is checked, and how a failure is shown.

use kernel::machine;
use wire::Message;
use wire::message::MessageType;

use super::message::shown;
use super::{SimulatedWorld, WorldPlan};
use crate::oracle::{Expected, id_of};
use crate::peer::{ArrivedMessage, SimulatedPeer, Stage};
use crate::setting::{Feature, UNREAD_DESCRIPTORS_MAX};

impl SimulatedWorld {
    /// Compares what was said with what was routed, and what came with what had to come, up to the
    /// message with this number.
    pub(super) fn compare(&mut self, end: u64) {
        let mut wrong = None;
        let has_shortages = self.setting.has(Feature::KernelShortages);
        for peer in self.peers.iter_mut().chain(&mut self.former) {
            learn_name(peer);
            let Stage::Named(id) = peer.stage else { continue };
            let mut missing = Vec::new();
            let Some(account) = self.oracle.known(id) else { continue };
            while let Some(heard) = account.heard.pop_front() {
                while peer.sent.front().is_some_and(|sent| account.take_refused(sent)) {
                    peer.sent.pop_front();
                }
                match peer.sent.pop_front() {
                    Some(sent) if is_forwarded(&sent, &heard, id) => {}
                    sent => {
                        let sent = sent.map(|sent| shown(&sent));
                        wrong = Some(format!(":1.{id} said {sent:?}, and not {}", shown(&heard)));
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
                    // It is asked later whether the bus says so, too.
                    peer.lost.push(expected.bytes);
                    self.tally.borrow_mut().lost += 1;
                } else if has_shortages && has_descriptors(&expected.bytes) {
                    missing.push(expected.bytes);
                } else {
                    let (came, expected) = (&peer.received[0], shown(&expected.bytes));
                    let (came, how) = match came {
                        ArrivedMessage::Received(bytes) => (shown(bytes), "got"),
                        ArrivedMessage::Dropped(bytes) => (shown(bytes), "was to get"),
                    };
                    wrong = Some(format!(":1.{id} {how} {came}, and not {expected}"));
                    break;
                }
            }
            for bytes in missing {
                self.oracle.missing(id, &bytes);
                self.tally.borrow_mut().lost += 1;
                peer.lost.push(bytes);
            }
        }
        if let Some(wrong) = wrong {
            self.fail(&wrong);
        }
        if has_shortages {
            self.check_unread_descriptors();
        }
        let oracle = &mut self.oracle;
        self.former.retain(|peer| match peer.stage {
            Stage::Named(id) => oracle.known(id).is_none_or(|account| !account.is_gone),
            // Nobody knows how the bus called it.
            Stage::Greeting { .. } | Stage::Nameless | Stage::TurnedAway => false,
        });
    }

    /// Nobody has to get anything more.
    pub(super) fn check_all(&mut self) {
        self.compare(u64::MAX);
        let mut wrong = None;
        let has_shortages = self.setting.has(Feature::KernelShortages);
        for peer in self.peers.iter_mut().filter(|peer| peer.is_welcome()) {
            let Stage::Named(id) = peer.stage else {
                wrong = Some(format!("one has no name: {:?}", peer.stage));
                continue;
            };
            let left = (peer.backlog(), peer.sent.len(), peer.received.len());
            if left != (0, 0, 0) {
                wrong = Some(format!(":1.{id} is not heard, or hears too much: {left:?}"));
            }
            let Some(account) = self.oracle.known(id) else {
                wrong = Some(format!(":1.{id} was never heard of"));
                continue;
            };
            // Behind the last that came some may be missing, too.
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
                wrong = Some(format!(":1.{id} did not get {}", shown(&missing.bytes)));
            }
            if account.is_gone {
                wrong = Some(format!(":1.{id} is there, and was said to be gone"));
            }
            for Expected { bytes, .. } in missing {
                self.oracle.missing(id, &bytes);
                self.tally.borrow_mut().lost += 1;
                peer.lost.push(bytes);
            }
        }
        wrong = wrong.or(self.oracle.settled().err());
        let has_few = self.setting.has(Feature::FewPlaces);
        let polite = self.peers.iter().find(|peer| {
            // For whom there is no place may not have been told before it said more.
            let may_be_full = has_few && !matches!(peer.stage, Stage::Named(_));
            peer.is_closed && !peer.is_rude && !may_be_full
        });
        if let Some(peer) = polite {
            wrong = Some(format!("one was sent away for nothing: {:?}", peer.stage));
        }
        if let Some(wrong) = wrong {
            self.fail(&wrong);
        }
    }

    /// From when somebody has a name, the kernel does not take everything that is written to it.
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

    /// No user has more than its share of unread descriptors.
    fn check_unread_descriptors(&self) {
        let users = machine::with(|machine| machine.unreceived_descriptors());
        if let Some((uid, count)) = users.iter().find(|(_, count)| **count > UNREAD_DESCRIPTORS_MAX)
        {
            self.fail(&format!(
                "user {uid} has {count} unread descriptors, {UNREAD_DESCRIPTORS_MAX} at most"
            ));
        }
    }

    /// Ends the run.
    pub(super) fn fail(&self, why: &str) -> ! {
        let WorldPlan { seed, steps, peers } = self.plan;
        let done = self.tally.borrow().steps;
        let journal = machine::with(|machine| {
            let lines = machine.journal().map(|entry| entry.lines().next().unwrap_or_default());
            lines.map(|line| format!("\n  {line}")).collect::<String>()
        });
        let latest: String = self.latest.iter().map(|one| format!("\n  {}", shown(one))).collect();
        panic!(
            "{why}\n\non a bus with {:?}\n\nrouted last:{latest}\n\nlogged last:{journal}\n\nat step {done}; to see it again: \
             DILIGENCE_WORLD={seed}:{steps}:{peers}",
            self.setting
        );
    }
}

/// The name that the first answer tells.
fn learn_name(peer: &mut SimulatedPeer) {
    if peer.stage != Stage::Nameless {
        return;
    }
    let Some(first) = peer.received.front() else { return };
    let message = Message::parse(first.bytes()).expect("it was checked");
    if message.message_type() == MessageType::Error {
        // What it has said already is not for the bus, which may end the connection.
        peer.is_rude = true;
        peer.stage = Stage::TurnedAway;
        return;
    }
    let id = message.destination().and_then(|name| id_of(name.as_str()));
    peer.stage = Stage::Named(id.expect("the first that comes is the answer to Hello"));
}

/// One in so many writes to a connection fails: each connection has one of these.
const FAILS_ONCE_IN: [usize; 4] = [3, 30, 300, 3000];

fn has_descriptors(message: &[u8]) -> bool {
    Message::parse(message).is_ok_and(|message| message.unix_fds() > 0)
}

/// Whether a message is what was sent, with the name of who sent it.
fn is_forwarded(sent: &[u8], heard: &[u8], id: u64) -> bool {
    let (Ok(sent), Ok(heard)) = (Message::parse(sent), Message::parse(heard)) else { return false };
    let what = |one: &Message<'_>| {
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
    let sender = heard.sender().map(|name| name.as_str().to_owned());
    what(&sent) == what(&heard) && sent.body() == heard.body() && sender == Some(format!(":1.{id}"))
}
