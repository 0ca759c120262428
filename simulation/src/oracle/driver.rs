//! What the bus itself is asked.

use diligence_testkit::model::Rule;
use wire::Message;
use wire::body::Value;

use super::owed::{ACCESS_DENIED, LIMITS_EXCEEDED, NAME_HAS_NO_OWNER, Owed, RULE_NOT_FOUND};
use super::starting::Starting;
use super::{Oracle, Wrong, arguments, peer_id, unique};
use crate::setting::{Feature, NAMES_MAX, OWNER, RULES_MAX};

/// What is answered: values, if they are known, or an error.
type Answer = Result<Option<Vec<Value>>, &'static str>;

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
            "StartServiceByName" => match self.start(from, message, text(0)) {
                Starting::Done(values) => Ok(Some(values)),
                Starting::Refused(name) => Err(name),
                Starting::Waits => return Ok(()),
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

    fn request_name(&mut self, by: u64, name: &str, flags: u32) -> Answer {
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

    fn add_rule(&mut self, by: u64, text: &str) -> Result<Answer, Wrong> {
        let rule = rule_by_text(text)?;
        let has_few = self.setting.has(Feature::FewPlaces);
        if has_few && self.account(by).rules.len() >= RULES_MAX {
            return Ok(Err(LIMITS_EXCEEDED));
        }
        // To hear what others are told is for the user of the bus.
        if rule.eavesdrops && self.uid(by) != OWNER {
            return Ok(Err(ACCESS_DENIED));
        }
        self.account(by).rules.push(rule);
        Ok(Ok(Some(Vec::new())))
    }

    fn remove_rule(&mut self, by: u64, text: &str) -> Result<Answer, Wrong> {
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
fn rule_by_text(text: &str) -> Result<Rule, Wrong> {
    crate::world::rules()
        .into_iter()
        .find(|rule| rule.text() == text)
        .ok_or_else(|| format!("nobody has such a rule: {text}"))
}
