//! What the bus itself is asked.

use testkit::model::ModelRule;
use wire::Message;
use wire::body::Value;

use super::listening::To;
use super::owed::{ACCESS_DENIED, LIMITS_EXCEEDED, NAME_HAS_NO_OWNER, Owed, RULE_NOT_FOUND};
use super::starting::ExpectedStart;
use super::{Oracle, Wrong, arguments, peer_id, unique};
use crate::setting::{Feature, NAMES_MAX, OWNER, RULES_MAX};

/// A call of the bus that is shown when all this was said.
#[derive(Debug)]
pub(super) struct ShownLater {
    call: Vec<u8>,
    pub(super) behind: Vec<Owed>,
}

/// What is answered: values, if they are known, or an error.
type DriverAnswer = Result<Option<Vec<Value>>, &'static str>;

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
        let before = self.owed.len();
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
            "StartServiceByName" => match self.start(from, message, text(0)) {
                ExpectedStart::Done(values) => Ok(Some(values)),
                ExpectedStart::Refused(name) => Err(name),
                ExpectedStart::Waits => {
                    self.show(message, Vec::new());
                    return Ok(());
                }
            },
            "RequestName" => self.request_name(from, text(0), number),
            "ReleaseName" => {
                let (result, change) = self.names.release(text(0), peer_id(from));
                self.owe_change(change);
                Ok(Some(vec![Value::Uint32(result)]))
            }
            "AddMatch" => self.add_rule(from, text(0))?,
            "RemoveMatch" => self.remove_rule(from, text(0))?,
            "NameHasOwner" => Ok(Some(vec![Value::Boolean(self.find(text(0)).is_some())])),
            "GetNameOwner" => match self.find(text(0)) {
                Some(id) => Ok(Some(vec![Value::from(unique(id).as_str())])),
                None => Err(NAME_HAS_NO_OWNER),
            },
            _ => Ok(None),
        };
        let is_done = answer.is_ok();
        let (to, serial) = (from, message.serial().get());
        let answer = match answer {
            Ok(values) => Owed::Reply { to, serial, body: values.map(|one| format!("{one:?}")) },
            Err(name) => Owed::Error { to, serial, name },
        };
        if message.expects_reply() {
            self.owed.push(answer);
        }
        if is_done {
            self.show(message, self.owed[before..].to_vec());
        }
        Ok(())
    }

    /// A call of the bus is shown to those who ask for that, behind what the bus says to it.
    fn show(&mut self, call: &Message<'_>, behind: Vec<Owed>) {
        self.shown_later = Some(ShownLater { call: call.bytes().to_vec(), behind });
        self.show_if_all_is_said();
    }

    /// The bus has said something.
    pub(super) fn show_behind(&mut self, said: &Owed) {
        if let Some(ShownLater { behind, .. }) = &mut self.shown_later
            && let Some(place) = behind.iter().position(|one| one == said)
        {
            behind.remove(place);
            self.show_if_all_is_said();
        }
    }

    fn show_if_all_is_said(&mut self) {
        if let Some(shown) = self.shown_later.take_if(|shown| shown.behind.is_empty()) {
            let call = Message::parse(&shown.call).expect("it was read before");
            self.pass_to_observers(&call, To::Bus);
        }
    }

    fn request_name(&mut self, by: u64, name: &str, flags: u32) -> DriverAnswer {
        if !self.may_own(by, name) {
            return Err(ACCESS_DENIED);
        }
        let waits = |name: &str| self.names.queue(name).contains(&peer_id(by));
        let count = 1 + self.names.all().into_iter().filter(|name| waits(name)).count();
        if self.setting.has(Feature::FewPlaces) && count >= NAMES_MAX && !waits(name) {
            return Err(LIMITS_EXCEEDED);
        }
        let (result, change) = self.names.request(name, peer_id(by), flags);
        self.owe_change(change);
        Ok(Some(vec![Value::Uint32(result)]))
    }

    fn add_rule(&mut self, by: u64, text: &str) -> Result<DriverAnswer, Wrong> {
        let rule = rule_by_text(text)?;
        let has_few = self.setting.has(Feature::FewPlaces);
        if has_few && self.account(by).rules.len() >= RULES_MAX {
            return Ok(Err(LIMITS_EXCEEDED));
        }
        // To hear what others are told is for the user of the bus.
        if rule.eavesdrops && self.who(by).uid != OWNER {
            return Ok(Err(ACCESS_DENIED));
        }
        self.account(by).rules.push(rule);
        Ok(Ok(Some(Vec::new())))
    }

    fn remove_rule(&mut self, by: u64, text: &str) -> Result<DriverAnswer, Wrong> {
        let rule = rule_by_text(text)?;
        let rules = &mut self.account(by).rules;
        let Some(place) = rules.iter().position(|known| *known == rule) else {
            return Ok(Err(RULE_NOT_FOUND));
        };
        rules.remove(place);
        Ok(Ok(Some(Vec::new())))
    }
}

/// What a rule asks for: those that are added are known by their texts.
fn rule_by_text(text: &str) -> Result<ModelRule, Wrong> {
    crate::world::rules()
        .into_iter()
        .find(|rule| rule.text() == text)
        .ok_or_else(|| format!("nobody has such a rule: {text}"))
}
