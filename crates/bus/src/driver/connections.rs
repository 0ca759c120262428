//! Methods about connections, and about the bus itself.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;

use wire::body::Value;
use wire::names::BusName;
use wire::signature::Signature;

use super::{Call, no_such_name};
use crate::bus::Bus;
use crate::config::ServiceHelper;
use crate::effects::{Effect, Effects, Fds};
use crate::error::{BusError, ErrorKind};
use crate::input::{Asker, FdPassing, PidFd};
use crate::peers::{DRIVER_NAME, Peer};

pub(super) fn hello(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    if bus.peers[call.from].is_complete() {
        return Err(ErrorKind::Failed.because("Already handled an Hello message"));
    }
    let admitted = check_room(bus, call).map(|()| bus.admit(call.from));
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
        return Err(ErrorKind::LimitsExceeded.because(format!(
            "The maximum number of active connections has been reached \
             (max_completed_connections={})",
            limits.max_completed_connections
        )));
    }
    let uid = bus.peers[call.from].uid;
    match uid {
        Some(uid) if bus.peers.complete_of(uid) as u64 >= limits.max_connections_per_user => {
            Err(ErrorKind::LimitsExceeded.because(format!(
                "The maximum number of active connections for UID {uid} has been reached \
                 (max_connections_per_user={})",
                limits.max_connections_per_user
            )))
        }
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
    let caller_takes_fds = bus.peers[call.from].fds == FdPassing::Agreed;
    let mut fds = Fds::None;
    let mut dict = BTreeMap::<&str, Value>::new();
    match find(bus, call, "credentials")? {
        Subject::Bus => {
            dict.insert("ProcessID", bus.identity.pid.into());
            dict.insert("UnixUserID", bus.identity.uid.into());
            let label = bus.identity.security_label.as_deref();
            dict.extend(label.map(|label| ("LinuxSecurityLabel", terminated(label))));
        }
        Subject::Peer(peer) => {
            add_credentials(peer, &mut dict);
            if caller_takes_fds && peer.credentials.pidfd == PidFd::Held {
                dict.insert("ProcessFD", Value::UnixFd(0));
                fds = Fds::OfProcess(peer.id);
            }
        }
    }
    bus.reply_with_fd(call, &(dict,), fds, fx)
}

fn add_credentials(peer: &Peer, dict: &mut BTreeMap<&str, Value>) {
    let known = &peer.credentials;
    dict.extend(known.pid.map(|pid| ("ProcessID", pid.into())));
    dict.extend(peer.uid.map(|uid| ("UnixUserID", uid.into())));
    // Groups are the process's; they say nothing of somebody who authenticated as another user.
    let groups = known.groups.as_deref().filter(|_| peer.uid == known.uid);
    dict.extend(groups.map(|groups| ("UnixGroupIDs", unsigned_array(groups))));
    let label = known.security_label.as_deref();
    dict.extend(label.map(|label| ("LinuxSecurityLabel", terminated(label))));
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
    _: &mut Effects,
) -> Result<(), BusError> {
    // The context is known only to a bus that mediates by it.
    find(bus, call, "security context")?;
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
    _: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let asker = Asker { peer: call.from, serial: call.message.serial() };
    fx.push(Effect::Reload { asker });
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
