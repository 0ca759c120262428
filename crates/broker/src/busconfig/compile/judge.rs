//! Whether a list of rules amounts to what the bus can enforce.
//!
//! What can happen on a bus is divided into [`Case`]s, the coarsest that rules can tell apart
//! without naming anything: a unicast signal is sent, an unrequested error is received, a user that
//! is not the bus's connects. A rule covers a case as a [`Whole`](Coverage::Whole), in
//! [`Part`](Coverage::Part) or not at all.
//!
//! The rules are gone through in the order in which the last one that matches decides. One that
//! covers the whole of a case settles it anew; one that covers a part, and says the opposite of
//! what was settled, leaves it [mixed](Outcome::Mixed). What is mixed in the end cannot be
//! enforced. When in doubt, a rule covers a part: that may refuse a policy that could be enforced,
//! but never lets pass more than it says.

use bus::{Policy, Verdict};
use wire::message::MessageType;

use super::Admission;
use crate::busconfig::policy::{
    Audience, MessageMatch, Names, PolicyDocument, ReceiveMatch, Recipient, Replies, Right, Rule,
    SendMatch, Subject, Who,
};

/// What a policy amounts to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Judgement {
    pub(super) admission: Admission,
    pub(super) policy: Policy,
}

/// Why a policy cannot be enforced. The least one is the one to show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Refusal {
    /// Because of this rule, by its place in the document.
    Rule(usize),
    /// Because no rule allows this.
    NoRule(Right),
}

impl Judgement {
    /// Judges all cases, and gathers them into what the bus has switches for.
    pub(super) fn on(policy: &PolicyDocument) -> Result<Self, Refusal> {
        let rules = Rules::of(policy);
        let mut refusals = Vec::new();
        let mut verdict = |result: Result<Verdict, Refusal>| {
            result.unwrap_or_else(|refusal| {
                refusals.push(refusal);
                Verdict::Deny
            })
        };
        verdict(rules.require(Right::Connect, &[Case::Connect(Peer::OwnUser)]));
        verdict(rules.require(Right::Own, &[Case::Own]));
        verdict(rules.require(Right::Send, &sending()));
        verdict(rules.require(Right::Receive, &receiving(Recipient::Addressee)));
        let strangers = verdict(rules.agree_on(&[Case::Connect(Peer::Stranger)]));
        let unrequested_replies = verdict(rules.unrequested_replies());
        let eavesdropping = verdict(rules.eavesdropping(unrequested_replies));
        if let Some(first) = refusals.into_iter().min() {
            return Err(first);
        }
        let admission = match strangers {
            Verdict::Allow => Admission::Everybody,
            Verdict::Deny => Admission::OwnUser,
        };
        Ok(Self { admission, policy: Policy { unrequested_replies, eavesdropping } })
    }
}

/// Rules with their places in the document, in the order in which they are judged.
struct Rules<'a>(Vec<(usize, &'a Rule)>);

impl<'a> Rules<'a> {
    fn of(policy: &'a PolicyDocument) -> Self {
        let mut rules: Vec<_> = policy.rules.iter().enumerate().collect();
        rules.sort_by_key(|(_, rule)| rule.scope.rank());
        Self(rules)
    }

    /// All of these cases must be allowed.
    fn require(&self, right: Right, cases: &[Case]) -> Result<Verdict, Refusal> {
        let decisions: Vec<_> = cases.iter().map(|case| self.decide(case)).collect();
        match agreement(&decisions)? {
            Verdict::Allow => Ok(Verdict::Allow),
            Verdict::Deny => {
                let first = decisions.iter().filter_map(|decision| decision.by).min();
                Err(first.map_or(Refusal::NoRule(right), Refusal::Rule))
            }
        }
    }

    /// All of these cases must have the same verdict.
    fn agree_on(&self, cases: &[Case]) -> Result<Verdict, Refusal> {
        agreement(&cases.iter().map(|case| self.decide(case)).collect::<Vec<_>>())
    }

    /// A reply passes if it may be sent and also received.
    fn unrequested_replies(&self) -> Result<Verdict, Refusal> {
        let decisions = UNREQUESTED.map(|reply| {
            let sent = self.decide(&Case::Send(reply, Audience::Unicast));
            sent.and(self.decide(&Case::Receive(reply, Recipient::Addressee)))
        });
        agreement(&decisions)
    }

    /// An unrequested reply that does not pass is not there to be overheard.
    fn eavesdropping(&self, unrequested_replies: Verdict) -> Result<Verdict, Refusal> {
        let mut cases = receiving(Recipient::Eavesdropper).to_vec();
        if unrequested_replies == Verdict::Allow {
            cases.extend(UNREQUESTED.map(|reply| Case::Receive(reply, Recipient::Eavesdropper)));
        }
        self.agree_on(&cases)
    }

    fn decide(&self, case: &Case) -> Decision {
        let initial = match case {
            Case::Connect(Peer::OwnUser) => Outcome::Allowed,
            _ => Outcome::Denied,
        };
        let start = Decision { outcome: initial, by: None };
        self.0.iter().fold(start, |decision, &(index, rule)| {
            decision.after(index, rule.verdict, Coverage::of(rule, case))
        })
    }
}

/// What the rules so far say of a case.
#[derive(Clone, Copy)]
struct Decision {
    outcome: Outcome,
    /// The rule that brought it about; `None` if none has.
    by: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Allowed,
    Denied,
    /// Some of it is allowed and some is denied.
    Mixed,
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allowed,
            Verdict::Deny => Self::Denied,
        }
    }
}

impl Decision {
    fn after(self, index: usize, verdict: Verdict, coverage: Coverage) -> Self {
        let outcome = Outcome::from(verdict);
        match (coverage, self.outcome) {
            (Coverage::Whole, _) => Self { outcome, by: Some(index) },
            (Coverage::Part, Outcome::Allowed) if verdict == Verdict::Deny => {
                Self { outcome: Outcome::Mixed, by: Some(index) }
            }
            // What is denied only in part is denied first of all: that rule is the one to name.
            (Coverage::Part, Outcome::Denied) if verdict == Verdict::Allow => {
                Self { outcome: Outcome::Mixed, by: self.by.or(Some(index)) }
            }
            _ => self,
        }
    }

    /// What two decisions say together of what needs both.
    fn and(self, other: Self) -> Self {
        let rank = |decision: &Self| match decision.outcome {
            Outcome::Denied => 0,
            Outcome::Mixed => 1,
            Outcome::Allowed => 2,
        };
        if rank(&other) < rank(&self) { other } else { self }
    }
}

/// The verdict that all decisions have in common. If they have none, the rule to blame: one that
/// denies before one that allows.
fn agreement(decisions: &[Decision]) -> Result<Verdict, Refusal> {
    let by = |outcome| {
        let of_outcome = decisions.iter().filter(move |decision| decision.outcome == outcome);
        of_outcome.filter_map(|decision| decision.by)
    };
    let is_all = |outcome| decisions.iter().all(|decision| decision.outcome == outcome);
    if is_all(Outcome::Allowed) {
        return Ok(Verdict::Allow);
    }
    if is_all(Outcome::Denied) {
        return Ok(Verdict::Deny);
    }
    let blamed = by(Outcome::Mixed).min().or(by(Outcome::Denied).min());
    let blamed = blamed.or(by(Outcome::Allowed).max());
    Err(Refusal::Rule(blamed.expect("without any rule, all decisions are the same")))
}

/// Something that may happen on a bus.
#[derive(Clone, Copy)]
enum Case {
    Connect(Peer),
    Own,
    Send(Traffic, Audience),
    Receive(Traffic, Recipient),
}

#[derive(Clone, Copy)]
enum Peer {
    OwnUser,
    Stranger,
}

/// Messages that rules do not tell apart without names.
#[derive(Clone, Copy)]
struct Traffic {
    message_type: MessageType,
    /// Whether it is requested; [`Replies::Any`] for what is no reply.
    reply: Replies,
}

impl Traffic {
    const fn plain(message_type: MessageType) -> Self {
        Self { message_type, reply: Replies::Any }
    }

    const fn reply(message_type: MessageType, reply: Replies) -> Self {
        Self { message_type, reply }
    }
}

const SIGNAL: Traffic = Traffic::plain(MessageType::Signal);

/// Everything but unrequested replies. Messages of types to come are only covered by rules that
/// name no type.
const ORDINARY: [Traffic; 5] = [
    Traffic::plain(MessageType::MethodCall),
    SIGNAL,
    Traffic::reply(MessageType::MethodReturn, Replies::Requested),
    Traffic::reply(MessageType::Error, Replies::Requested),
    Traffic::plain(MessageType::Unknown(u8::MAX)),
];

const UNREQUESTED: [Traffic; 2] = [
    Traffic::reply(MessageType::MethodReturn, Replies::Unrequested),
    Traffic::reply(MessageType::Error, Replies::Unrequested),
];

fn sending() -> Vec<Case> {
    let unicast = ORDINARY.map(|traffic| Case::Send(traffic, Audience::Unicast));
    unicast.into_iter().chain([Case::Send(SIGNAL, Audience::Broadcast)]).collect()
}

fn receiving(recipient: Recipient) -> [Case; 5] {
    ORDINARY.map(|traffic| Case::Receive(traffic, recipient))
}

/// How much of a case a rule matches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coverage {
    Nothing,
    Part,
    Whole,
}

impl Coverage {
    fn of(rule: &Rule, case: &Case) -> Self {
        let coverage = match (&rule.subject, case) {
            (Subject::Connect(who), Case::Connect(_)) => Self::of_connecting(*who),
            (Subject::Own(names), Case::Own) => Self::of_names(names),
            (Subject::Send(wanted), Case::Send(traffic, audience)) => {
                Self::of_sending(wanted, *traffic, *audience)
            }
            (Subject::Receive(wanted), Case::Receive(traffic, recipient)) => {
                Self::of_receiving(wanted, *traffic, *recipient)
            }
            _ => Self::Nothing,
        };
        if rule.scope.is_for_all() {
            return coverage;
        }
        match rule.subject {
            // Who connects is not asked in the policies of consoles.
            Subject::Connect(_) => Self::Nothing,
            _ => coverage.min(Self::Part),
        }
    }

    fn of_connecting(who: Who) -> Self {
        if who == Who::Anybody { Self::Whole } else { Self::Part }
    }

    fn of_names(names: &Names) -> Self {
        if *names == Names::Any { Self::Whole } else { Self::Part }
    }

    fn of_sending(wanted: &SendMatch, traffic: Traffic, audience: Audience) -> Self {
        if wanted.audience != Audience::Any && wanted.audience != audience {
            return Self::Nothing;
        }
        Self::of_message(&wanted.message, traffic).min(Self::of_names(&wanted.destination))
    }

    fn of_receiving(wanted: &ReceiveMatch, traffic: Traffic, recipient: Recipient) -> Self {
        if wanted.recipient != Recipient::Any && wanted.recipient != recipient {
            return Self::Nothing;
        }
        let sender = if wanted.sender.is_none() { Self::Whole } else { Self::Part };
        Self::of_message(&wanted.message, traffic).min(sender)
    }

    fn of_message(wanted: &MessageMatch, traffic: Traffic) -> Self {
        let other_type = wanted.message_type.is_some_and(|wanted| wanted != traffic.message_type);
        let other_reply = traffic.reply != Replies::Any
            && wanted.replies != Replies::Any
            && wanted.replies != traffic.reply;
        if other_type || other_reply || wanted.is_impossible() {
            Self::Nothing
        } else if wanted.is_broad() {
            Self::Whole
        } else {
            Self::Part
        }
    }
}
