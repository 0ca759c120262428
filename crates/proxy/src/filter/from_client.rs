//! Decisions about messages of the client.

use sandbox::AccessLevel;
use wire::Message;
use wire::message::{Flags, MessageType};
use wire::names::ErrorName;

use super::driver_calls::{DriverCall, first_string, may_eavesdrop};
use super::made_up::{MadeUpReply, ping};
use super::pending::ExpectedReply;
use super::well_known::{
    ACCESS_DENIED, BUS_INTERFACE, BUS_NAME, INTROSPECTABLE, NAME_HAS_NO_OWNER, SERVICE_UNKNOWN,
};
use super::{ConnectionFilter, FilterFault, Verdict, answered_call};

/// A decision about a message of the client.
#[derive(Clone, PartialEq, Eq, Debug)]
enum ClientDecision {
    /// The message is forwarded. Its reply, if it has one, is handled like this.
    Pass(ExpectedReply),
    /// The recipient is visible, but the message is not allowed.
    Deny,
    /// The recipient or the name is not visible.
    Hide,
    /// The bus gets a Ping instead, and the client gets this reply.
    Answer(MadeUpReply),
    /// The client is disconnected.
    Disconnect(FilterFault),
}

impl ConnectionFilter {
    /// Decides about a message of the client.
    pub(crate) fn client_message(&mut self, message: &Message<'_>) -> Verdict {
        if matches!(message.message_type(), MessageType::Unknown(_)) {
            return Verdict::Disconnect(FilterFault::UnknownType);
        }
        if message.has_unknown_fields() {
            return Verdict::Disconnect(FilterFault::UnknownField);
        }
        self.log.client_message(message);
        match self.decide(message) {
            ClientDecision::Pass(reply) => {
                let is_hello = reply == ExpectedReply::Hello;
                if message.expects_reply() {
                    self.client_calls.expect(message.serial(), reply);
                }
                if is_hello {
                    let Self { options, own_calls, client_calls, log, .. } = self;
                    own_calls.start(message.serial(), &options.rules, client_calls, log);
                }
                Verdict::Forward
            }
            ClientDecision::Deny => self.refuse(message, "DENIED", ACCESS_DENIED),
            ClientDecision::Hide => self.refuse(message, "HIDDEN", absence_error(message)),
            ClientDecision::Answer(reply) => self.answer(message, reply),
            ClientDecision::Disconnect(fault) => Verdict::Disconnect(fault),
        }
    }

    fn decide(&mut self, message: &Message<'_>) -> ClientDecision {
        let destination = message.destination();
        if let Some(call) = answered_call(message) {
            let is_expected =
                destination.is_some_and(|caller| self.peer_calls.take(caller.as_str(), call));
            return pass_if(is_expected);
        }
        let access = self.names.access(destination, &self.options.rules);
        match access.level() {
            None => return ClientDecision::Hide,
            Some(AccessLevel::See) => return ClientDecision::Deny,
            Some(AccessLevel::Talk | AccessLevel::Own) => {}
        }
        if destination.is_none_or(|name| name != BUS_NAME) {
            return pass_if(access.may_send(message));
        }
        if message.message_type() != MessageType::MethodCall {
            return ClientDecision::Deny;
        }
        match message.interface() {
            Some(interface) if interface == INTROSPECTABLE => pass_if(true),
            Some(BUS_INTERFACE) => self.decide_driver_call(message),
            _ => ClientDecision::Deny,
        }
    }

    fn decide_driver_call(&mut self, message: &Message<'_>) -> ClientDecision {
        let member = message.member().map_or("", |name| name.as_str());
        let Some(call) = DriverCall::of(member) else {
            self.log.line(format_args!("Unknown bus method {member}"));
            return ClientDecision::Deny;
        };
        // The bus disconnects a client with an invalid body. The filter must not read one in
        // another way than the bus.
        if message.validate_body().is_err() {
            return ClientDecision::Disconnect(FilterFault::InvalidBody);
        }
        match call {
            DriverCall::Forwarded if member == "Hello" => {
                ClientDecision::Pass(ExpectedReply::Hello)
            }
            DriverCall::Forwarded => pass_if(true),
            DriverCall::Refused => ClientDecision::Deny,
            DriverCall::MatchRule => pass_if(!first_string(message).is_some_and(may_eavesdrop)),
            DriverCall::NameList => ClientDecision::Pass(ExpectedReply::NameList),
            DriverCall::Name(required) => match self.level_of_argument(message, required) {
                level if level >= Some(required) => pass_if(true),
                None => ClientDecision::Hide,
                Some(_) => ClientDecision::Deny,
            },
            DriverCall::NameOwner | DriverCall::NameHasOwner => {
                if self.level_of_argument(message, AccessLevel::See).is_some() {
                    pass_if(true)
                } else if call == DriverCall::NameOwner {
                    ClientDecision::Answer(MadeUpReply::Error(NAME_HAS_NO_OWNER))
                } else {
                    ClientDecision::Answer(MadeUpReply::False)
                }
            }
        }
    }

    /// Returns the level of access to the name in the first argument.
    fn level_of_argument(
        &mut self,
        message: &Message<'_>,
        required: AccessLevel,
    ) -> Option<AccessLevel> {
        let name = first_string(message)?;
        let level = self.names.level_of(name, &self.options.rules);
        if level < Some(required) {
            self.log.refused_name(name, level, required);
        }
        level
    }

    fn refuse(&mut self, message: &Message<'_>, word: &str, error: ErrorName<'static>) -> Verdict {
        let how = if message.expects_reply() { " (ping)" } else { "" };
        self.log.line(format_args!("*{word}*{how}"));
        self.answer(message, MadeUpReply::Error(error))
    }

    fn answer(&mut self, message: &Message<'_>, reply: MadeUpReply) -> Verdict {
        if !message.expects_reply() {
            return Verdict::Drop;
        }
        self.client_calls.expect(message.serial(), ExpectedReply::MadeUp(reply));
        Verdict::Replace(ping(message))
    }
}

const fn pass_if(passes: bool) -> ClientDecision {
    if passes { ClientDecision::Pass(ExpectedReply::Forwarded) } else { ClientDecision::Deny }
}

/// Returns the error that the bus has for a destination without an owner.
fn absence_error(message: &Message<'_>) -> ErrorName<'static> {
    let is_unique = message.destination().is_some_and(|name| name.is_unique());
    if is_unique || message.flags().contains(Flags::NO_AUTO_START) {
        NAME_HAS_NO_OWNER
    } else {
        SERVICE_UNKNOWN
    }
}
