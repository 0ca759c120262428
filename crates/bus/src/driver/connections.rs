//! Methods about connections, and about the bus itself.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;

use wire::body::Value;
use wire::message::Builder;
use wire::names::BusName;
use wire::signature::Signature;

use super::{Call, no_such_name};
use crate::activation::ServiceManager;
use crate::bus::Bus;
use crate::config::ServiceHelper;
use crate::effects::{Effect, Effects, Fds};
use crate::error::{BusError, ErrorKind};
use crate::history::Trouble;
use crate::input::{Asker, Details, FdPassing, PeerId, PidFd};
use crate::mediation::Module;
use crate::own::reply_too_long;
use crate::peers::{DRIVER_NAME, Peer};
use crate::reached::LimitName;
use crate::reloads::{Privilege, TooManyWaiting, Turn, WAITING_MAX};

pub(super) fn hello(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    if bus.peers[call.from].is_complete() {
        return Err(ErrorKind::Failed.because("Already handled an Hello message"));
    }
    let admitted = check_room(bus, call).map(|()| bus.admit(call.from));
    if admitted.is_ok() {
        bus.trace_arrival(call.from, fx);
    }
    if let Err(error) = &admitted {
        bus.history.count(Trouble::TurnedAway, error.cause());
    }
    bus.show_driver_call(call.from, call.message, fx);
    admitted?;
    let name = bus.peers[call.from].name().as_str().to_owned();
    bus.reply(call, &(&*name,), fx)?;
    bus.announce_owner(&name, None, Some(call.from), fx);
    Ok(())
}

/// The limits on connections that have said Hello.
fn check_room(bus: &Bus, call: &Call<'_>) -> Result<(), BusError> {
    let limits = &bus.config.limits;
    if bus.peers.complete as u64 >= limits.max_completed_connections {
        return Err(ErrorKind::LimitsExceeded
            .because(format!(
                "The maximum number of active connections has been reached \
             (max_completed_connections={})",
                limits.max_completed_connections
            ))
            .at_limit(
                LimitName::CompletedConnections,
                limits.max_completed_connections,
                bus.peers.complete as u64,
            ));
    }
    let uid = bus.peers[call.from].uid;
    let max = bus.config.limits_of(uid).max_connections_per_user;
    match uid {
        Some(uid) if bus.peers.complete_of(uid) as u64 >= max => Err(ErrorKind::LimitsExceeded
            .because(format!(
                "The maximum number of active connections for UID {uid} has been reached \
                 (max_connections_per_user={max})"
            ))
            .at_limit(LimitName::ConnectionsPerUser, max, bus.peers.complete_of(uid) as u64)),
        _ => Ok(()),
    }
}

pub(super) fn unix_user(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let uid = match find(bus, call, "UID")? {
        Subject::Bus => Some(bus.identity.uid),
        Subject::Peer(peer) => peer.uid,
    };
    let (name,) = call.args::<(&str,)>()?;
    let unknown = || ErrorKind::Failed.because(format!("Could not determine UID for '{name}'"));
    let uid = uid.ok_or_else(unknown)?;
    bus.reply(call, &(uid,), fx)
}

pub(super) fn process_id(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let pid = match find(bus, call, "PID")? {
        Subject::Bus => Some(bus.identity.pid),
        Subject::Peer(peer) => peer.credentials.pid,
    };
    let (name,) = call.args::<(&str,)>()?;
    let text = || format!("Could not determine PID for '{name}'");
    let pid = pid.ok_or_else(|| ErrorKind::UnixProcessIdUnknown.because(text()))?;
    bus.reply(call, &(pid,), fx)
}

pub(super) fn credentials(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    match find(bus, call, "credentials")? {
        Subject::Bus => {
            let mut dict = BTreeMap::<&str, Value>::new();
            dict.insert("ProcessID", bus.identity.pid.into());
            dict.insert("UnixUserID", bus.identity.uid.into());
            let label = bus.identity.security_label.as_deref();
            dict.extend(label.map(|label| ("LinuxSecurityLabel", terminated(label))));
            bus.reply(call, &(dict,), fx)
        }
        Subject::Peer(peer) => {
            if call.message.expects_reply() {
                let asker = Asker { peer: call.from, serial: call.message.serial() };
                fx.push(Effect::Identify { peer: peer.id, asker });
            }
            Ok(())
        }
    }
}

impl Bus {
    /// Answers who asked for the credentials of a connection.
    pub(crate) fn identified(
        &mut self,
        peer: PeerId,
        details: Details,
        asker: Asker,
        fx: &mut Effects,
    ) {
        let (Some(peer), Some(caller)) = (self.peers.get(peer), self.peers.get(asker.peer)) else {
            return; // It cannot have ended since, but then nobody waits for an answer.
        };
        let mut dict = credentials_of(peer, &details);
        let mut fds = Fds::None;
        if caller.fds == FdPassing::Agreed && details.pidfd == PidFd::Held {
            dict.insert("ProcessFD", Value::UnixFd(0));
            fds = Fds::OfProcess(peer.id);
        }
        let builder = Builder::method_return(asker.serial);
        let sent = self.send_own(asker.peer, builder, &(dict,), fds, fx);
        if let Err(error) = sent.map_err(reply_too_long) {
            self.send_error(asker.peer, asker.serial, &error, fx);
        }
    }
}

fn credentials_of(peer: &Peer, details: &Details) -> BTreeMap<&'static str, Value> {
    let known = &peer.credentials;
    let mut dict = BTreeMap::new();
    dict.extend(known.pid.map(|pid| ("ProcessID", pid.into())));
    dict.extend(peer.uid.map(|uid| ("UnixUserID", uid.into())));
    // Groups are the process's; they say nothing of somebody who authenticated as another user.
    let groups = details.groups.as_deref().filter(|_| peer.uid == known.uid);
    dict.extend(groups.map(|groups| ("UnixGroupIDs", unsigned_array(groups))));
    let label = details.security_label.as_deref();
    dict.extend(label.map(|label| ("LinuxSecurityLabel", terminated(label))));
    dict
}

fn unsigned_array(numbers: &[u32]) -> Value {
    let element = Signature::new("u").expect("a valid signature").into();
    Value::Array { element, items: numbers.iter().map(|&n| Value::Uint32(n)).collect() }
}

fn terminated(label: &[u8]) -> Value {
    Value::Bytes([label, b"\0"].concat())
}

pub(super) fn audit_session_data(
    bus: &mut Bus,
    call: &Call<'_>,
    _: &mut Effects,
) -> Result<(), BusError> {
    find(bus, call, "audit session data")?;
    let (name,) = call.args::<(&str,)>()?;
    let text = format!("Could not determine audit session data for '{name}'");
    Err(ErrorKind::AdtAuditDataUnknown.because(text))
}

pub(super) fn selinux_context(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let subject = find(bus, call, "security context")?;
    // The context is known only to a bus that mediates by it.
    if bus.asks(Module::Selinux)
        && let Some(context) = match subject {
            Subject::Bus => bus.identity.security_label.as_deref(),
            Subject::Peer(peer) => peer.security_label(),
        }
    {
        let context = context.to_owned();
        return bus.reply(call, &(context,), fx);
    }
    let (name,) = call.args::<(&str,)>()?;
    let text = format!("Could not determine security context for '{name}'");
    Err(ErrorKind::SELinuxSecurityContextUnknown.because(text))
}

pub(super) fn id(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let id = format!("{}", bus.identity.id);
    bus.reply(call, &(id,), fx)
}

pub(super) fn machine_id(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let unknown = || ErrorKind::Failed.because("The machine has no id: /etc/machine-id is missing");
    let id = bus.identity.machine_id.clone().ok_or_else(unknown)?;
    bus.reply(call, &(id,), fx)
}

pub(super) fn ping(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    bus.reply(call, &(), fx)
}

pub(super) fn reload_config(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let caller = call.from;
    let privilege = if bus.is_privileged(caller) { Privilege::Any } else { Privilege::None };
    let serial = call.message.expects_reply().then(|| call.message.serial());
    match bus.reloads.add(caller, serial, privilege, bus.now) {
        Ok(Turn::Now) => fx.push(Effect::Reload { caller }),
        Ok(Turn::Later) => {}
        Err(TooManyWaiting) => {
            return Err(ErrorKind::LimitsExceeded.because(format!(
                "{WAITING_MAX} calls of ReloadConfig of this connection wait for a reload, \
                 which is the maximum"
            )));
        }
    }
    Ok(())
}

pub(super) fn update_activation_environment(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    if bus.config.service_helper == ServiceHelper::Present {
        return Err(ErrorKind::AccessDenied
            .because("Cannot change activation environment on a system bus."));
    }
    let (changes,) = call.args::<(BTreeMap<&str, &str>,)>()?;
    if bus.config.services.manager == ServiceManager::Systemd {
        let variables = changes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        bus.pass_environment_on(variables, call.from, fx);
    }
    bus.environment.extend(changes.into_iter().map(|(key, value)| (key.into(), value.into())));
    bus.reply(call, &(), fx)
}

/// Whom a method asks about.
pub(super) enum Subject<'b> {
    Bus,
    Peer(&'b Peer),
}

/// Finds the connection that the first argument of a call names.
pub(super) fn find<'b>(bus: &'b Bus, call: &Call<'_>, what: &str) -> Result<Subject<'b>, BusError> {
    let (name,) = call.args::<(&str,)>()?;
    if name == DRIVER_NAME.as_str() {
        return Ok(Subject::Bus);
    }
    let peer = BusName::new(name).ok().and_then(|name| bus.resolve(name));
    let peer = peer.ok_or_else(|| no_such_name(what, name))?;
    Ok(Subject::Peer(&bus.peers[peer]))
}
