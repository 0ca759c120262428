//! The service manager, systemd: the requests of the bus to it, and its reports.
//!
//! The bus requests units with signals that are addressed to the name of the manager. The manager
//! answers with a signal only if a unit could not be started. While the manager is not on the bus,
//! requests are held for it like messages for any service, but the bus does not start the manager.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use wire::Message;
use wire::message::{Builder, MessageType};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use super::starts::StartWaiter;
use super::{Activation, give_up};
use crate::policy::MessageClass;
use crate::routing::Router;
use crate::types::{ActivationMethod, Effects, Fds, PeerId, Span, StartProblem, Urgency};
use crate::well_known::{DRIVER_PATH, SYSTEMD};

/// A request of the bus to the service manager.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum ManagerRequest {
    /// Start a systemd unit.
    StartUnit(Box<str>),
    /// Pass these variables to the processes that the manager starts, each as `NAME=value`.
    SetEnvironment(Vec<String>),
}

impl Activation {
    /// Sends a request to the service manager, or holds it until the manager connects. Monitors see
    /// the request immediately.
    pub(super) fn ask_manager(
        &mut self,
        request: ManagerRequest,
        requester: PeerId,
        router: &mut Router,
        fx: &mut Effects,
    ) {
        let manager = router.registry.owner_of(SYSTEMD);
        let unique = manager.and_then(|manager| router.registry[manager].sender_field().cloned());
        // Like dbus-daemon, address calls to the connection that owns the name.
        let to = match (&request, &unique) {
            (ManagerRequest::SetEnvironment(_), Some(unique)) => unique.name(),
            _ => SYSTEMD,
        };
        let head = write(to, &request, router, fx);
        router.show_monitors_own(head, Fds::None, manager, fx);
        match manager {
            Some(manager) => deliver(manager, head, &request, router, fx),
            None => {
                let start = self.start(SYSTEMD, ActivationMethod::ByItself, requester, router, fx);
                self.starts.wait(start, StartWaiter::Request(request));
            }
        }
    }

    /// Passes changed variables to the service manager.
    pub(crate) fn pass_environment_on(
        &mut self,
        variables: Vec<String>,
        requester: PeerId,
        router: &mut Router,
        fx: &mut Effects,
    ) {
        self.ask_manager(ManagerRequest::SetEnvironment(variables), requester, router, fx);
    }

    /// Handles a signal that is addressed to the bus: the report of the service manager that a unit
    /// could not be started. Signals of other connections, and of a manager without the permission
    /// to report, are ignored.
    pub(crate) fn handle_signal(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        router: &mut Router,
        fx: &mut Effects,
    ) {
        let is_failure = message.message_type() == MessageType::Signal
            && message.interface() == Some(ACTIVATOR)
            && message.member() == Some(ACTIVATION_FAILURE);
        if !is_failure
            || router.registry.owner_of(SYSTEMD) != Some(from)
            || !router.is_privileged(from)
        {
            return;
        }
        let Ok((unit, error, text)) = message.read::<(&str, &str, &str)>() else { return };
        for start in self.starts.by_unit(unit) {
            if let Some(start) = self.starts.take(start) {
                let (unit, error, text) = (unit.into(), error.into(), text.into());
                give_up(start, StartProblem::Unit { unit, error, text }, router, fx);
            }
        }
    }
}

/// Sends a request to the service manager that was held until the manager connected.
pub(super) fn send_held(
    manager: PeerId,
    request: &ManagerRequest,
    router: &mut Router,
    fx: &mut Effects,
) {
    let head = write(SYSTEMD, request, router, fx);
    router.tracing.record_own(head, Some(manager), &router.registry, fx);
    deliver(manager, head, request, router, fx);
}

/// Queues a request for the manager if the policy allows it.
fn deliver(
    manager: PeerId,
    head: Span,
    request: &ManagerRequest,
    router: &mut Router,
    fx: &mut Effects,
) {
    let class = MessageClass::of_bus(match request {
        ManagerRequest::StartUnit(_) => MessageType::Signal,
        ManagerRequest::SetEnvironment(_) => MessageType::MethodCall,
    });
    if router.may_receive_own(manager, head, class, fx) {
        router.deliver_own(manager, head, Fds::None, Urgency::Awaited, fx);
    }
}

fn write(to: &str, request: &ManagerRequest, router: &mut Router, fx: &mut Effects) -> Span {
    let to = BusName::new(to).expect("the name of a connection");
    let written = match request {
        ManagerRequest::StartUnit(unit) => {
            let request = Builder::signal(DRIVER_PATH, ACTIVATOR, ACTIVATION_REQUEST);
            router.write_own(request.destination(to), &(&**unit,), fx)
        }
        ManagerRequest::SetEnvironment(variables) => {
            let variables: Vec<&str> = variables.iter().map(|text| &**text).collect();
            let call = Builder::method_call(MANAGER_PATH, SET_ENVIRONMENT).interface(MANAGER);
            router.write_own(call.destination(to), &(variables,), fx)
        }
    };
    written.expect("not longer than the message or the file that it was made from")
}

const ACTIVATOR: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.systemd1.Activator");
const ACTIVATION_REQUEST: MemberName<'static> = MemberName::literal("ActivationRequest");
const ACTIVATION_FAILURE: MemberName<'static> = MemberName::literal("ActivationFailure");
const MANAGER_PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/systemd1");
const MANAGER: InterfaceName<'static> = InterfaceName::literal("org.freedesktop.systemd1.Manager");
const SET_ENVIRONMENT: MemberName<'static> = MemberName::literal("SetEnvironment");
