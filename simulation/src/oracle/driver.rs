//! What the bus itself is asked, and says.

use wire::Message;
use wire::body::Value;
use wire::message::MessageType;

use super::{Oracle, Owed, Wrong, arguments, id_of, peer_id, unique};
use crate::setting::{Policy, UNOWNED};
use diligence_testkit::model::Rule;

impl Oracle {
    pub(super) fn driver_called(&mut self, from: u64, message: &Message<'_>) -> Result<(), Wrong> {
        let args = arguments(message);
        let text = |place: usize| match args.get(place) {
            Some(Value::String(text)) => text.as_str(),
            _ => "",
        };
        let number = match args.get(1) {
            Some(Value::Uint32(number)) => *number,
            _ => 0,
        };
        let member = message.member().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let answer = match member.as_str() {
            "Hello" => {
                let name = unique(from);
                let (old, new) = (String::new(), name.clone());
                self.owed.push(Owed::OwnerChanged { name: name.clone(), old, new });
                self.owed.push(Owed::Acquired { by: from, name: name.clone() });
                Ok(Some(vec![Value::from(name.as_str())]))
            }
            "ReloadConfig" => {
                self.policy = self.policy.next(self.setting);
                Ok(Some(Vec::new()))
            }
            "RequestName" if self.policy == Policy::Strict && text(0) == UNOWNED => {
                Err(super::ACCESS_DENIED)
            }
            "RequestName" => {
                let (result, change) = self.names.request(text(0), peer_id(from), number);
                self.owe_change(change);
                Ok(Some(vec![Value::Uint32(result)]))
            }
            "ReleaseName" => {
                let (result, change) = self.names.release(text(0), peer_id(from));
                self.owe_change(change);
                Ok(Some(vec![Value::Uint32(result)]))
            }
            "AddMatch" => {
                let rule = self.rules_by_text(text(0))?;
                self.account(from).rules.push(rule);
                Ok(Some(Vec::new()))
            }
            "RemoveMatch" => {
                let rule = self.rules_by_text(text(0))?;
                let rules = &mut self.account(from).rules;
                match rules.iter().position(|known| *known == rule) {
                    Some(place) => {
                        rules.remove(place);
                        Ok(Some(Vec::new()))
                    }
                    None => Err("org.freedesktop.DBus.Error.MatchRuleNotFound"),
                }
            }
            "NameHasOwner" => Ok(Some(vec![Value::Boolean(self.find(text(0)).is_some())])),
            "GetNameOwner" => match self.find(text(0)) {
                Some(id) => Ok(Some(vec![Value::from(unique(id).as_str())])),
                None => Err("org.freedesktop.DBus.Error.NameHasNoOwner"),
            },
            _ => Ok(None),
        };
        if !message.expects_reply() {
            return Ok(());
        }
        let (to, serial) = (from, message.serial().get());
        self.owed.push(match answer {
            Ok(values) => Owed::Reply { to, serial, body: values.map(|one| format!("{one:?}")) },
            Err(name) => Owed::Error { to, serial, name },
        });
        Ok(())
    }

    pub(super) fn driver_said(&mut self, message: &Message<'_>) -> Result<(), Wrong> {
        let to = message.destination().and_then(|name| id_of(name.as_str()));
        let said = self.meaning(message, to)?;
        if let Owed::Error { name, .. } = said
            && STARTING.contains(&name)
            && !self.owed.contains(&said)
            && let Some(Value::String(explanation)) = arguments(message).first()
        {
            self.give_up(explanation, name);
        }
        match said {
            Owed::Error { to, serial, name: LIMITS_EXCEEDED } => self.refused(to, serial)?,
            Owed::Error { to: from, serial, name: super::ACCESS_DENIED }
                if self.owed.contains(&Owed::Withheld { from, serial }) =>
            {
                return self.pay(&Owed::Withheld { from, serial });
            }
            ref said => self.pay(said)?,
        }
        match to {
            None => self.broadcast(message),
            Some(id) => self.account(id).expected.push_back(message.bytes().to_vec()),
        }
        match said {
            Owed::Acquired { by, name } => self.give_held(by, &name),
            _ => Ok(()),
        }
    }

    /// Somebody was told that it has a name: what has waited for that comes next.
    fn give_held(&mut self, to: u64, name: &str) -> Result<(), Wrong> {
        let held: Vec<_> = self.held.extract_if(.., |held| held.0 == name).collect();
        for (_, from, bytes) in held {
            let message = Message::parse(&bytes).map_err(|error| error.to_string())?;
            self.pass_on(from, to, &message);
        }
        Ok(())
    }

    /// A service does not come: all that wait for it are told.
    fn give_up(&mut self, explanation: &str, why: &'static str) {
        let named = |held: &mut (String, u64, Vec<u8>)| explanation.contains(held.0.as_str());
        for (_, to, bytes) in self.held.extract_if(.., named) {
            if let Ok(message) = Message::parse(&bytes) {
                self.owed.push(Owed::Error { to, serial: message.serial().get(), name: why });
            }
        }
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
            Owed::Error { to, serial, .. } => {
                let mut pending = self.pending.iter();
                pending.find(|(caller, call, _)| (caller, call) == (to, serial))?.2
            }
            Owed::Lost { by, .. } => *by,
            Owed::Reply { .. } | Owed::Withheld { .. } => return None,
        };
        self.accounts.get(&id).filter(|account| !account.is_gone).map(|_| id)
    }

    /// What a rule asks for: those that are added are known by their texts.
    fn rules_by_text(&self, text: &str) -> Result<Rule, Wrong> {
        crate::world::rules()
            .into_iter()
            .find(|rule| rule.text() == text)
            .ok_or_else(|| format!("nobody has such a rule: {text}"))
    }
}

const LIMITS_EXCEEDED: &str = "org.freedesktop.DBus.Error.LimitsExceeded";

/// Why a service does not come.
const STARTING: [&str; 2] =
    ["org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.TimedOut"];

/// What can be answered with.
const ERRORS: [&str; 8] = [
    STARTING[0],
    STARTING[1],
    LIMITS_EXCEEDED,
    super::ACCESS_DENIED,
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NoReply",
    "org.freedesktop.DBus.Error.NameHasNoOwner",
    "org.freedesktop.DBus.Error.MatchRuleNotFound",
];
