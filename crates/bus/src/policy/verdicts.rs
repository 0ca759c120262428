//! Where the bus asks its policy: about messages, names and those who say Hello.
//!
//! On a bus that restricts nothing a message costs one comparison here, and one for each recipient. On
//! others it costs one more for its sender and one for each recipient if it is of a kind that they all
//! may send and receive; only for the rest are the rules looked at.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::num::NonZeroU32;

use wire::Message;

use super::message_rules::{Letter, Ruling};
use super::party::Party;
use super::{Kind, Reply, Standing, Verdict, Way};
use crate::bus::Bus;
use crate::effects::{Barrier, Effects, Event, Span};
use crate::error::{BusError, ErrorKind};
use crate::history::{Missed, Trouble};
use crate::input::PeerId;
use crate::mediation::Objection;
use crate::peers::{DRIVER_NAME, Peer, Stage};
use crate::route::Forward;

/// A message on its way from one to another.
pub(crate) struct Passage<'m> {
    pub(crate) message: &'m Message<'m>,
    /// `None` is the bus itself.
    pub(crate) from: Option<PeerId>,
    /// `None` is the bus itself, or a service that is yet to be started.
    pub(crate) to: Option<PeerId>,
    pub(crate) reply: Reply,
    /// What it is to who sends it.
    pub(crate) sent: Way,
    /// What it is to who gets it.
    pub(crate) received: Way,
}

impl<'m> Passage<'m> {
    /// To the connection that it is addressed to.
    pub(crate) const fn to_addressee(forward: &Forward<'m>, to: PeerId, reply: Reply) -> Self {
        let (sent, received) = (Way::Addressed, Way::Addressed);
        Self {
            message: forward.message,
            from: Some(forward.from),
            to: Some(to),
            reply,
            sent,
            received,
        }
    }

    /// To somebody who listens.
    fn to_listener(forward: &Forward<'m>, to: PeerId) -> Self {
        let message = forward.message;
        let (sent, received) = match message.destination() {
            None => (Way::Broadcast, Way::Addressed),
            Some(_) => (Way::Addressed, Way::Overheard),
        };
        let reply = Reply::to_others(message);
        Self { message, from: Some(forward.from), to: Some(to), reply, sent, received }
    }

    /// To the bus itself, or to a service that is yet to be started.
    fn to_nobody(from: PeerId, message: &'m Message<'m>) -> Self {
        let reply = Reply::to_others(message);
        let (sent, received) = (Way::ToNobody, Way::ToNobody);
        Self { message, from: Some(from), to: None, reply, sent, received }
    }

    const fn kinds(&self) -> [Kind; 2] {
        let (message_type, reply) = (self.message.message_type(), self.reply);
        [Kind::new(message_type, reply, self.sent), Kind::new(message_type, reply, self.received)]
    }
}

/// Who says no.
#[derive(Clone, Debug)]
enum Refusal {
    /// The rules of the configuration.
    Rules {
        /// Whose.
        whose: Barrier,
        /// How many of them match.
        count: usize,
    },
    /// A security module.
    Module(Objection),
}

impl Refusal {
    const fn barrier(&self) -> Barrier {
        match self {
            Self::Rules { whose, .. } => *whose,
            Self::Module(objection) => objection.barrier(),
        }
    }
}

impl From<Objection> for Refusal {
    fn from(objection: Objection) -> Self {
        Self::Module(objection)
    }
}

/// A message that somebody does not get.
struct Withheld {
    barrier: Barrier,
    /// Why, if there is anybody to be told.
    why: Option<BusError>,
    sender: Option<PeerId>,
    serial: NonZeroU32,
}

impl Bus {
    pub(crate) fn vetted(&mut self, id: PeerId, standing: Standing) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.standing = Some(standing).filter(|it| *it != Standing::default()).map(Box::new);
        }
    }

    /// Compiles the rules for a connection, or finds them compiled.
    pub(crate) fn choose_policy(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        let standing = peer.standing.as_deref();
        let policy = self.policies.of(&self.config.policy, peer.uid, standing);
        peer.policy = Some(policy);
    }

    /// Does so for all, since the rules have changed.
    pub(crate) fn choose_policies(&mut self) {
        self.policies.clear();
        let named = self.peers.iter().filter(|peer| peer.is_complete()).map(|peer| peer.id);
        for id in named.collect::<alloc::vec::Vec<_>>() {
            self.choose_policy(id);
        }
    }

    /// Whether a message may go to the connection that it is addressed to.
    #[inline]
    pub(crate) fn check_policy(
        &mut self,
        passage: &Passage<'_>,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        if !self.restricts() {
            return Ok(());
        }
        self.ask(passage, fx).map_err(|refusal| self.explain(&refusal, passage))
    }

    /// Whether a message may go to the bus itself, or to a service that is yet to be started and of
    /// which nothing is known but the name that the message is addressed to.
    pub(crate) fn check_policy_to_nobody(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        self.check_policy(&Passage::to_nobody(from, message), fx)
    }

    /// Whether somebody who listens may have a copy of a message. If not, only monitors hear of it.
    /// Need not be asked on a bus that restricts nothing.
    #[inline(never)]
    pub(crate) fn may_listen(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        fx: &mut Effects,
    ) -> bool {
        let passage = Passage::to_listener(forward, to);
        let Err(refusal) = self.ask(&passage, fx) else { return true };
        let why = self.explain_withheld(&refusal, &passage, to);
        let (sender, serial) = (passage.from, passage.message.serial());
        self.note_withheld(Withheld { barrier: refusal.barrier(), why, sender, serial }, to, fx);
        false
    }

    /// Whether a connection may have a message that the bus itself has written to `head`.
    /// Need not be asked on a bus that restricts nothing.
    #[inline(never)]
    pub(crate) fn may_hear_bus(
        &mut self,
        to: PeerId,
        head: Span,
        kind: Kind,
        fx: &mut Effects,
    ) -> bool {
        if self.peers.get(to).is_none_or(|peer| peer.receives_all(kind)) {
            return true;
        }
        let message = Message::parse(fx.bytes(head)).expect("the bus wrote it");
        let Kind { reply, way, .. } = kind;
        let passage = Passage {
            message: &message,
            from: None,
            to: Some(to),
            reply,
            sent: way,
            received: way,
        };
        let Err(refusal) = self.check_receiving(&passage) else { return true };
        let why = self.explain_withheld(&refusal, &passage, to);
        let (sender, serial) = (None, message.serial());
        self.note_withheld(Withheld { barrier: refusal.barrier(), why, sender, serial }, to, fx);
        false
    }

    /// Whether a connection may own a name.
    pub(crate) fn check_owning(&self, owner: PeerId, name: &str) -> Result<(), BusError> {
        let peer = &self.peers[owner];
        let policy = peer.policy.as_deref();
        if policy.is_some_and(|policy| policy.may_own(name) == Verdict::Allow) {
            return Ok(());
        }
        Err(ErrorKind::AccessDenied.because(format!(
            "Connection \"{}\" is not allowed to own the service \"{name}\" due to security \
             policies in the configuration file",
            peer.name()
        )))
    }

    /// Whether the security modules let the Hello of a connection pass, which has no rules yet.
    pub(crate) fn check_greeting(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        let passage = Passage::to_nobody(from, message);
        self.mediate(&passage, fx).map_err(|objection| self.explain(&objection.into(), &passage))
    }

    #[inline(never)]
    fn ask(&mut self, passage: &Passage<'_>, fx: &mut Effects) -> Result<(), Refusal> {
        self.mediate(passage, fx)?;
        self.ask_rules(passage, fx)
    }

    fn ask_rules(&mut self, passage: &Passage<'_>, fx: &mut Effects) -> Result<(), Refusal> {
        let [sent, received] = passage.kinds();
        if passage.from.is_some_and(|from| !self.peers[from].sends_all(sent))
            && let Some(log) = self.check_sending(passage)?
        {
            fx.log(log);
        }
        match passage.to.is_some_and(|to| !self.peers[to].receives_all(received)) {
            true => self.check_receiving(passage),
            false => Ok(()),
        }
    }

    /// What the sender's rules say; an event if they want it told that they allow.
    fn check_sending(&self, passage: &Passage<'_>) -> Result<Option<Event>, Refusal> {
        let Some(from) = passage.from else { return Ok(None) };
        let Some(policy) = self.peers[from].policy.as_deref() else { return Ok(None) };
        let Passage { message, reply, sent: way, .. } = *passage;
        let party = match (passage.to, message.destination()) {
            (Some(to), _) => self.party(to),
            (None, name) => Party::Name(name.map_or("", |name| name.as_str())),
        };
        match policy.send.judge(&Letter { message, reply, way, party }) {
            Ruling::Pass => Ok(None),
            Ruling::PassLogged(count) => {
                let what = counted("Would reject message", count);
                let what = self.describe(&what, passage);
                Ok(Some(Event::Allowed { peer: from, what }))
            }
            Ruling::Refuse(count) => Err(Refusal::Rules { whose: Barrier::SendPolicy, count }),
        }
    }

    /// What the recipient's rules say.
    fn check_receiving(&self, passage: &Passage<'_>) -> Result<(), Refusal> {
        let Some(to) = passage.to else { return Ok(()) };
        let Some(policy) = self.peers[to].policy.as_deref() else { return Ok(()) };
        let Passage { message, reply, received: way, .. } = *passage;
        let party = match passage.from {
            Some(from) => self.party(from),
            None => Party::Name(DRIVER_NAME.as_str()),
        };
        match policy.receive.judge(&Letter { message, reply, way, party }) {
            Ruling::Pass | Ruling::PassLogged(_) => Ok(()),
            Ruling::Refuse(count) => Err(Refusal::Rules { whose: Barrier::ReceivePolicy, count }),
        }
    }

    fn party(&self, id: PeerId) -> Party<'_> {
        Party::Peer { peer: &self.peers[id], names: &self.names }
    }

    /// Why a connection does not get a message, if there is anybody to be told.
    fn explain_withheld(
        &self,
        refusal: &Refusal,
        passage: &Passage<'_>,
        to: PeerId,
    ) -> Option<BusError> {
        let is_first = self.peers.get(to).is_some_and(|peer| peer.withheld.messages == 0);
        let is_told = is_first || !self.monitoring_rules.is_empty();
        is_told.then(|| self.explain(refusal, passage))
    }

    /// Counts a message that the policy keeps from a connection. Only monitors hear of each.
    fn note_withheld(&mut self, withheld: Withheld, to: PeerId, fx: &mut Effects) {
        let Withheld { barrier, why, sender, serial } = withheld;
        self.counters.withheld[barrier as usize] += 1;
        let Some(peer) = self.peers.get_mut(to) else { return };
        let is_first = peer.withheld.messages == 0 && peer.stage != Stage::Gone;
        match peer.withheld.messages {
            0 => peer.withheld = Missed::first(self.now),
            _ => peer.withheld.another(self.now),
        }
        let Some(why) = why else { return };
        if !self.monitoring_rules.is_empty() {
            self.show_monitors_refusal(sender, serial, &why, fx);
        }
        if is_first {
            self.note(Trouble::Withheld, barrier.word(), to, &why.text, None);
            fx.log(Event::Withheld { sender, peer: to, barrier, why: why.text });
        }
    }

    fn explain(&self, refusal: &Refusal, passage: &Passage<'_>) -> BusError {
        let why = match refusal {
            Refusal::Rules { whose, count } => counted(words(*whose), *count),
            Refusal::Module(objection) => objection.about_message(),
        };
        ErrorKind::AccessDenied.because(self.describe(&why, passage))
    }

    /// The reference's sentence about a message that may not pass, or only just.
    pub(crate) fn describe(&self, what: &str, passage: &Passage<'_>) -> String {
        let message = passage.message;
        let peer = |id: Option<PeerId>| id.and_then(|id| self.peers.get(id));
        let sender = peer(passage.from);
        format!(
            "{what}; type=\"{}\", sender=\"{}\" ({}) interface=\"{}\" \
             member=\"{}\" error name=\"{}\" requested_reply=\"{}\" destination=\"{}\" ({})",
            message.message_type(),
            sender.map_or(UNSET, |sender| sender.unique_name().unwrap_or(NAMELESS)),
            match sender {
                None => String::from("(bus)"),
                Some(sender) if !sender.is_complete() => String::from("inactive"),
                Some(sender) => who(sender),
            },
            message.interface().map_or(UNSET, |name| name.as_str()),
            message.member().map_or(UNSET, |name| name.as_str()),
            message.error_name().map_or(UNSET, |name| name.as_str()),
            u8::from(passage.reply == Reply::Requested),
            message.destination().map_or(DRIVER_NAME.as_str(), |name| name.as_str()),
            peer(passage.to).map_or_else(|| String::from("bus"), who),
        )
    }
}

/// What the reference says of a message that does not pass.
const fn words(barrier: Barrier) -> &'static str {
    match barrier {
        Barrier::ReceivePolicy => "Rejected receive message",
        _ => "Rejected send message",
    }
}

/// What the reference says first of a message that rules refuse, or would.
fn counted(what: &str, rules: usize) -> String {
    format!("{what}, {rules} matched rules")
}

/// A process, as error texts name it.
pub(crate) fn who(peer: &Peer) -> String {
    let number = |n: Option<u32>| n.map_or_else(|| String::from("?"), |n| format!("{n}"));
    let mut text = format!("uid={} pid={}", number(peer.uid), number(peer.credentials.pid));
    let standing = peer.standing.as_deref();
    let command = standing.and_then(|standing| standing.command.as_deref()).map(str::as_bytes);
    let label = standing.and_then(|standing| standing.label.as_deref());
    for (what, value) in [("comm", command), ("label", label)] {
        if let Some(value) = value {
            text.push_str(&format!(" {what}=\"{}\"", printable(value)));
        }
    }
    text
}

/// What somebody else has chosen, without anything that would break a line.
fn printable(text: &[u8]) -> String {
    let replace = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    String::from_utf8_lossy(text).chars().map(replace).collect()
}

/// What texts say for the name of who has not said Hello.
const NAMELESS: &str = "(null)";

/// What texts say of a field that a message does not have.
const UNSET: &str = "(unset)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_chosen_stays_on_one_line() {
        assert_eq!(printable(b"a\nb\x1b[0m\xff"), "a\u{fffd}b\u{fffd}[0m\u{fffd}");
    }
}
