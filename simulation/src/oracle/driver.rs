//! Calls of the bus's own methods.

use sandbox::AccessLevel;
use testkit::model::ModelRule;
use testkit::world::element_of;
use wire::Message;
use wire::body::Value;

use super::activation::StartOutcome;
use super::bus_messages::{
    ACCESS_DENIED, BusMessage, LIMITS_EXCEEDED, NAME_HAS_NO_OWNER, RULE_NOT_FOUND,
};
use super::subscribers::Destination;
use super::{Deviation, Oracle, arguments, peer_id, unique};
use crate::setting::{Feature, NAMES_MAX, OWNER, RULES_MAX};

/// A call of the bus whose copies for eavesdroppers come after the messages that the call causes.
#[derive(Debug)]
pub(super) struct DeferredCopy {
    call: Vec<u8>,
    pub(super) awaited: Vec<BusMessage>,
}

/// The values of the reply, if they are known, or the name of the error.
pub(super) type DriverAnswer = Result<Option<Vec<Value>>, &'static str>;

impl Oracle {
    pub(super) fn bus_called(&mut self, from: u64, message: &Message<'_>) -> Result<(), Deviation> {
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
        let before = self.due.len();
        let answer = match member.as_str() {
            "Hello" => {
                let name = unique(from);
                let (old, new) = (String::new(), name.clone());
                self.due.push(BusMessage::OwnerChanged { name: name.clone(), old, new });
                self.due.push(BusMessage::Acquired { by: from, name: name.clone() });
                Ok(Some(vec![Value::from(name.as_str())]))
            }
            "AddServer" => self.add_container(from, message),
            "SetRules" | "StopListening" | "StopInstance" => {
                self.call_container(from, &member, message)
            }
            "ReloadConfig" if self.is_filtered(from) => Err(ACCESS_DENIED),
            "ReloadConfig" => {
                self.policy = self.policy.next(self.setting);
                Ok(Some(Vec::new()))
            }
            "StartServiceByName" => match self.start_service(from, message, text(0)) {
                StartOutcome::Done(values) => Ok(Some(values)),
                StartOutcome::Refused(name) => Err(name),
                StartOutcome::Waits => {
                    self.defer_copy(message, Vec::new());
                    return Ok(());
                }
            },
            "RequestName" => self.request_name(from, text(0), number),
            "ReleaseName" if self.level_of(from, text(0)).is_none() => {
                Ok(Some(vec![Value::Uint32(NAME_NON_EXISTENT)]))
            }
            "ReleaseName" => {
                let (result, change) = self.names.release(text(0), peer_id(from));
                self.expect_owner_change(change);
                Ok(Some(vec![Value::Uint32(result)]))
            }
            "AddMatch" => self.add_rule(from, text(0))?,
            "RemoveMatch" => self.remove_rule(from, text(0))?,
            "NameHasOwner" => {
                Ok(Some(vec![Value::Boolean(self.find_for(from, text(0)).is_some())]))
            }
            "GetNameOwner" => match self.find_for(from, text(0)) {
                Some(id) => Ok(Some(vec![Value::from(unique(id).as_str())])),
                None => Err(NAME_HAS_NO_OWNER),
            },
            "GetConnectionUnixUser" => match self.find_for(from, text(0)) {
                Some(id) => Ok(Some(vec![Value::Uint32(self.user(id).uid)])),
                None => Err(NAME_HAS_NO_OWNER),
            },
            "ListNames" => {
                let names: Vec<_> = self.names_for(from);
                let items = names.iter().map(|name| Value::from(name.as_str())).collect();
                Ok(Some(vec![Value::Array { element: element_of("as"), items }]))
            }
            _ => Ok(None),
        };
        let is_done = answer.is_ok();
        let (to, serial) = (from, message.serial().get());
        let answer = match answer {
            Ok(values) => {
                BusMessage::Reply { to, serial, body: values.map(|one| format!("{one:?}")) }
            }
            Err(name) => BusMessage::Error { to, serial, name },
        };
        if message.expects_reply() {
            self.due.push(answer);
        }
        if is_done {
            self.defer_copy(message, self.due[before..].to_vec());
        }
        Ok(())
    }

    /// Defers the copies of a call for eavesdroppers until the bus has sent all messages of
    /// `awaited`.
    fn defer_copy(&mut self, call: &Message<'_>, awaited: Vec<BusMessage>) {
        self.deferred_copy = Some(DeferredCopy { call: call.bytes().to_vec(), awaited });
        self.pass_deferred_copy();
    }

    /// Notes that the bus has sent a message that a deferred copy may wait for.
    pub(super) fn note_bus_message(&mut self, sent: &BusMessage) {
        if let Some(DeferredCopy { awaited, .. }) = &mut self.deferred_copy
            && let Some(place) = awaited.iter().position(|one| one == sent)
        {
            awaited.remove(place);
            self.pass_deferred_copy();
        }
    }

    fn pass_deferred_copy(&mut self) {
        if let Some(deferred) = self.deferred_copy.take_if(|deferred| deferred.awaited.is_empty()) {
            let call = Message::parse(&deferred.call).expect("the oracle has parsed it before");
            self.copy_to_subscribers(&call, Destination::Bus);
        }
    }

    fn request_name(&mut self, by: u64, name: &str, flags: u32) -> DriverAnswer {
        if self.level_of(by, name) < Some(AccessLevel::Own) || !self.may_own(by, name) {
            return Err(ACCESS_DENIED);
        }
        let is_queued = |name: &str| self.names.queue(name).contains(&peer_id(by));
        let count = 1 + self.names.all().into_iter().filter(|name| is_queued(name)).count();
        if self.setting.has(Feature::LowLimits) && count >= NAMES_MAX && !is_queued(name) {
            return Err(LIMITS_EXCEEDED);
        }
        let (result, change) = self.names.request(name, peer_id(by), flags);
        self.expect_owner_change(change);
        Ok(Some(vec![Value::Uint32(result)]))
    }

    fn add_rule(&mut self, by: u64, text: &str) -> Result<DriverAnswer, Deviation> {
        let rule = rule_by_text(text)?;
        let has_low_limits = self.setting.has(Feature::LowLimits);
        if has_low_limits && self.account(by).rules.len() >= RULES_MAX {
            return Ok(Err(LIMITS_EXCEEDED));
        }
        // Only the owner of the bus may eavesdrop.
        if rule.eavesdrops && (self.user(by).uid != OWNER || self.is_contained(by)) {
            return Ok(Err(ACCESS_DENIED));
        }
        self.account(by).rules.push(rule);
        Ok(Ok(Some(Vec::new())))
    }

    fn remove_rule(&mut self, by: u64, text: &str) -> Result<DriverAnswer, Deviation> {
        let rule = rule_by_text(text)?;
        let rules = &mut self.account(by).rules;
        let Some(place) = rules.iter().position(|known| *known == rule) else {
            return Ok(Err(RULE_NOT_FOUND));
        };
        rules.remove(place);
        Ok(Ok(Some(Vec::new())))
    }
}

/// Returns the rule with this text. Peers add only rules from a fixed list.
fn rule_by_text(text: &str) -> Result<ModelRule, Deviation> {
    crate::world::rules()
        .into_iter()
        .find(|rule| rule.text() == text)
        .ok_or_else(|| format!("unknown match rule: {text}"))
}

/// The reply to ReleaseName for a name without an owner.
const NAME_NON_EXISTENT: u32 = 2;
