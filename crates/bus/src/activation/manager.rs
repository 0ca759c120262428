//! What the bus and the service manager, systemd, have to say to each other.
//!
//! The bus asks for units by signals that are addressed to the manager's name, and the manager
//! answers by a signal only if a unit could not be started. While it is not on the bus, what it is
//! to be told waits for it as for any service, except that nobody starts it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use wire::Message;
use wire::message::{Builder, MessageType};
use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};

use super::Failed;
use super::services::{Road, SYSTEMD};
use super::starts::Waiting;
use crate::bus::Bus;
use crate::driver::DRIVER_PATH;
use crate::effects::{Cause, Effects, Fds, Span, Urgency};
use crate::error::ErrorKind;
use crate::input::PeerId;
use crate::policy::Kind;

/// What the bus wants of the service manager.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// To start a unit.
    Start(Box<str>),
    /// To give these variables to what it starts, each as `NAME=value`.
    SetEnvironment(Vec<String>),
}

impl Bus {
    /// Has the service manager do something, now or when it comes. Monitors see it now.
    pub(super) fn tell_manager(&mut self, order: Order, asker: PeerId, fx: &mut Effects) {
        let manager = self.names.owner_of(SYSTEMD);
        let unique = manager.map(|manager| self.peers[manager].sender.clone());
        // As with the reference, calls are addressed to whoever has the name.
        let to = match (&order, &unique) {
            (Order::SetEnvironment(_), Some(unique)) => unique.name(),
            _ => SYSTEMD,
        };
        let head = self.write_order(to, &order, fx);
        self.show_monitors_own(head, Fds::None, manager, fx);
        match manager {
            Some(manager) => self.deliver_order(manager, head, &order, fx),
            None => {
                let start = self.start(SYSTEMD, Road::ByItself, asker, fx);
                self.starts.wait(start, Waiting::Order(order));
            }
        }
    }

    /// Has the service manager do what it was to do before it came.
    pub(super) fn send_late_order(&mut self, manager: PeerId, order: &Order, fx: &mut Effects) {
        let head = self.write_order(SYSTEMD, order, fx);
        self.trace_own(head, Some(manager), fx);
        self.deliver_order(manager, head, order, fx);
    }

    /// The manager's policy is asked too, as for all that the bus says.
    fn deliver_order(&mut self, manager: PeerId, head: Span, order: &Order, fx: &mut Effects) {
        let kind = Kind::of_bus(match order {
            Order::Start(_) => MessageType::Signal,
            Order::SetEnvironment(_) => MessageType::MethodCall,
        });
        if self.may_hear_bus(manager, head, kind, fx) {
            self.deliver_own(manager, head, Fds::None, Urgency::Awaited, fx);
        }
    }

    fn write_order(&mut self, to: &str, order: &Order, fx: &mut Effects) -> Span {
        let to = BusName::new(to).expect("the name of a connection");
        let written = match order {
            Order::Start(unit) => {
                let request = Builder::signal(DRIVER_PATH, ACTIVATOR, ACTIVATION_REQUEST);
                self.write_own(request.destination(to), &(&**unit,), fx)
            }
            Order::SetEnvironment(variables) => {
                let variables: Vec<&str> = variables.iter().map(|text| &**text).collect();
                let call = Builder::method_call(MANAGER_PATH, SET_ENVIRONMENT).interface(MANAGER);
                self.write_own(call.destination(to), &(variables,), fx)
            }
        };
        written.expect("no longer than the message or the file that it was made from")
    }

    /// Passes changed variables on to the service manager, if it starts services of this bus.
    pub(crate) fn pass_environment_on(
        &mut self,
        variables: Vec<String>,
        asker: PeerId,
        fx: &mut Effects,
    ) {
        self.tell_manager(Order::SetEnvironment(variables), asker, fx);
    }

    /// Hears a signal that is addressed to the bus. Only the service manager has something to say,
    /// and only if it has the rights to; what others say so is ignored.
    pub(crate) fn hear(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let is_failure = message.message_type() == MessageType::Signal
            && message.interface() == Some(ACTIVATOR)
            && message.member() == Some(ACTIVATION_FAILURE);
        if !is_failure || self.names.owner_of(SYSTEMD) != Some(from) || !self.is_privileged(from) {
            return;
        }
        let Ok((unit, name, text)) = message.read::<(&str, &str, &str)>() else { return };
        let error = ErrorName::new(name).unwrap_or(ErrorKind::Failed.name());
        for start in self.starts.by_unit(unit) {
            if let Some(start) = self.starts.take(start) {
                let failed = Failed { error, text, cause: Cause::Unit(unit.into()) };
                self.give_up(start, &failed, fx);
            }
        }
    }
}

const ACTIVATOR: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.systemd1.Activator");
const ACTIVATION_REQUEST: MemberName<'static> = MemberName::literal("ActivationRequest");
const ACTIVATION_FAILURE: MemberName<'static> = MemberName::literal("ActivationFailure");
const MANAGER_PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/systemd1");
const MANAGER: InterfaceName<'static> = InterfaceName::literal("org.freedesktop.systemd1.Manager");
const SET_ENVIRONMENT: MemberName<'static> = MemberName::literal("SetEnvironment");
