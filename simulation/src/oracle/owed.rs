//! What the bus itself has to say, and says.

use wire::Message;
use wire::body::Value;
use wire::message::MessageType;

use super::listening::To;
use super::undelivered::{COULD_NOT_BE_DELIVERED, FDS_NOT_RECEIVED};
use super::{Oracle, Wrong, arguments, id_of};
use crate::setting::Feature;

/// What the bus has to say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Owed {
    /// An answer to a call, with these contents if they are known.
    Reply { to: u64, serial: u32, body: Option<String> },
    /// An error as the answer to what was sent.
    Error { to: u64, serial: u32, name: &'static str },
    /// An error that monitors alone see: that somebody does not get a signal which it wants.
    Withheld { from: u64, serial: u32 },
    /// That a name is owned by another.
    OwnerChanged { name: String, old: String, new: String },
    /// That a name was acquired.
    Acquired { by: u64, name: String },
    /// That a name was lost.
    Lost { by: u64, name: String },
}

impl Owed {
    /// Whether the bus counts it as something that it has refused.
    fn is_refusal(&self) -> bool {
        matches!(self, Self::Error { name, .. } if *name != NO_REPLY && !STARTING.contains(name))
    }
}

impl Oracle {
    pub(super) fn driver_said(&mut self, message: &Message<'_>) -> Result<(), Wrong> {
        let to = message.destination().and_then(|name| id_of(name.as_str()));
        if to.is_none() && message.message_type() == MessageType::Error {
            // To one who has no name.
            self.told.refused += 1;
            return Ok(());
        }
        let said = self.meaning(message, to)?;
        if let Owed::Error { to, serial, name } = said
            && !self.owed.contains(&said)
        {
            self.foresee(to, serial, name, &explanation(message))?;
        }
        let serial = message.reply_serial().map_or(0, core::num::NonZero::get);
        let mut number = self.take_place(to.unwrap_or_default(), serial);
        match said {
            Owed::Error { to, serial, name: LIMITS_EXCEEDED }
                if explanation(message).starts_with(COULD_NOT_BE_DELIVERED) =>
            {
                self.said_undelivered(to, serial)?;
            }
            Owed::Error { to, serial, name: LIMITS_EXCEEDED }
                if explanation(message).starts_with(FDS_NOT_RECEIVED)
                    && self.setting.has(Feature::KernelShortages) =>
            {
                self.told.refused += 1;
                self.account(to).refused_fds.push(serial);
            }
            Owed::Error { to, serial, name: LIMITS_EXCEEDED } if !self.owed.contains(&said) => {
                self.told.refused += 1;
                number = self.refused(to, serial)?;
            }
            Owed::Error { to: from, serial, name: ACCESS_DENIED }
                if self.owed.contains(&Owed::Withheld { from, serial }) =>
            {
                self.told.withheld += 1;
                return self.pay(&Owed::Withheld { from, serial });
            }
            ref said => {
                self.told.refused += u64::from(said.is_refusal());
                self.pay(said)?;
            }
        }
        match to {
            None => {
                self.pass_to_observers(message, To::All);
            }
            Some(id) => self.expect_behind(number, id, message, true),
        }
        self.show_behind(&said);
        match said {
            Owed::Acquired { by, name } => self.give_held(by, &name),
            _ => Ok(()),
        }
    }

    /// Where an answer comes: if it is nowhere else, behind everything.
    pub(super) fn take_place(&mut self, to: u64, serial: u32) -> u64 {
        let place = self.placed.iter().position(|(by, said, _)| (*by, *said) == (to, serial));
        place.map_or(self.routed, |place| self.placed.remove(place).2)
    }

    /// What follows from errors that come by themselves, when time has passed or a process has ended.
    fn foresee(
        &mut self,
        to: u64,
        serial: u32,
        name: &'static str,
        explanation: &str,
    ) -> Result<(), Wrong> {
        if STARTING.contains(&name) {
            self.give_up(explanation, name);
        } else if name == NO_REPLY && explanation.contains("timeout") {
            let mut pending = self.pending.iter();
            let place = pending.position(|(caller, call, _)| (*caller, *call) == (to, serial));
            let place = place.filter(|_| self.setting.has(Feature::Deadlines));
            self.pending.remove(place.ok_or("a call that nobody has made has waited enough")?);
            self.owed.push(Owed::Error { to, serial, name });
        }
        Ok(())
    }

    /// What the bus says by a message.
    fn meaning(&self, message: &Message<'_>, to: Option<u64>) -> Result<Owed, Wrong> {
        let args = arguments(message);
        let serial = message.reply_serial().map_or(0, core::num::NonZero::get);
        let member = message.member().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let text = |place: usize| match args.get(place) {
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        Ok(match (message.message_type(), to, member.as_str()) {
            (MessageType::MethodReturn, Some(to), _) => {
                let body = Some(format!("{args:?}"));
                let known = Owed::Reply { to, serial, body };
                let unknown = Owed::Reply { to, serial, body: None };
                if self.owed.contains(&unknown) { unknown } else { known }
            }
            (MessageType::Error, Some(to), _) => {
                let name = message.error_name().map(|name| name.as_str().to_owned());
                let name = ERRORS.into_iter().find(|known| Some(*known) == name.as_deref());
                let name = name.ok_or_else(|| format!("an error that nobody expects: {args:?}"))?;
                Owed::Error { to, serial, name }
            }
            (MessageType::Signal, None, "NameOwnerChanged") => {
                Owed::OwnerChanged { name: text(0), old: text(1), new: text(2) }
            }
            (MessageType::Signal, Some(by), "NameAcquired") => Owed::Acquired { by, name: text(0) },
            (MessageType::Signal, Some(by), "NameLost") => Owed::Lost { by, name: text(0) },
            other => return Err(format!("the bus says what nobody expects: {other:?} {args:?}")),
        })
    }

    /// What is said is what was owed, or tells that somebody has left.
    fn pay(&mut self, said: &Owed) -> Result<(), Wrong> {
        if !self.owed.contains(said)
            && let Some(id) = self.who_has_left(said)
        {
            self.depart(id);
        }
        let place = self.owed.iter().position(|owed| owed == said);
        let place =
            place.ok_or_else(|| format!("{said:?} was not owed; what is: {:?}", self.owed))?;
        self.owed.remove(place);
        Ok(())
    }

    fn who_has_left(&self, said: &Owed) -> Option<u64> {
        let id = match said {
            Owed::OwnerChanged { old, .. } => id_of(old)?,
            Owed::Acquired { name, .. } => u64::from(self.names.owner(name)?.index() as u32),
            Owed::Error { to, serial, name: NO_REPLY } => {
                let mut pending = self.pending.iter();
                pending.find(|(caller, call, _)| (caller, call) == (to, serial))?.2
            }
            Owed::Lost { by, .. } => *by,
            Owed::Error { .. } | Owed::Reply { .. } | Owed::Withheld { .. } => return None,
        };
        self.accounts.get(&id).filter(|account| !account.is_gone).map(|_| id)
    }

    /// Everything that the bus owes was said, and what can wait for ever does not.
    ///
    /// # Errors
    ///
    /// If it was not.
    pub fn settled(&self) -> Result<(), Wrong> {
        if !self.owed.is_empty() {
            return Err(format!("the bus still has to say {:?}", self.owed));
        }
        if !self.held.is_empty() {
            return Err(format!("something waits for services for ever: {:?}", self.awaited()));
        }
        if self.setting.has(Feature::Deadlines) && !self.pending.is_empty() {
            return Err(format!("calls wait for ever: {:?}", self.pending));
        }
        self.undelivered_settled()
    }
}

/// The text of an error.
fn explanation(message: &Message<'_>) -> String {
    match arguments(message).first() {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

pub(super) const ACCESS_DENIED: &str = "org.freedesktop.DBus.Error.AccessDenied";
pub(super) const LIMITS_EXCEEDED: &str = "org.freedesktop.DBus.Error.LimitsExceeded";
pub(super) const NAME_HAS_NO_OWNER: &str = "org.freedesktop.DBus.Error.NameHasNoOwner";
pub(super) const NOT_SUPPORTED: &str = "org.freedesktop.DBus.Error.NotSupported";
pub(super) const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";
pub(super) const RULE_NOT_FOUND: &str = "org.freedesktop.DBus.Error.MatchRuleNotFound";
pub(super) const SERVICE_UNKNOWN: &str = "org.freedesktop.DBus.Error.ServiceUnknown";

/// Why a service does not come.
const STARTING: [&str; 2] =
    ["org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.TimedOut"];

/// What can be answered with.
const ERRORS: [&str; 9] = [
    STARTING[0],
    STARTING[1],
    ACCESS_DENIED,
    LIMITS_EXCEEDED,
    NAME_HAS_NO_OWNER,
    NOT_SUPPORTED,
    NO_REPLY,
    RULE_NOT_FOUND,
    SERVICE_UNKNOWN,
];
