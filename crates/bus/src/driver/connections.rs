//! Methods about connections, and about the bus itself.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;

use wire::body::Value;
use wire::message::Builder;
use wire::names::BusName;
use wire::signature::Signature;

use super::call::{Call, Driver, no_such_name};
use super::ownership::announce_owner;
use crate::access::mediation::Module;
use crate::accounting::IncidentKind;
use crate::registry::Peer;
use crate::reloads::{Privilege, TooManyWaiting, Turn, WAITING_MAX};
use crate::routing::{Router, reply_too_long};
use crate::types::{
    BusError, CallId, Details, Effect, Effects, ErrorKind, FdPassing, Fds, LimitName, PeerId,
    PidFd, ServiceHelper, ServiceManager,
};
use crate::well_known::DRIVER_NAME;

pub(super) fn hello(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let router = &mut *driver.router;
    if router.registry[call.from].is_registered() {
        return Err(ErrorKind::Failed.because("Already handled an Hello message"));
    }
    let admitted = check_room(router, call);
    match &admitted {
        Ok(()) => {
            let Router { access, registry, config, tracing, .. } = router;
            let policy = access.policy_for(call.from, registry, config);
            registry.register(call.from, policy);
            tracing.record_arrival(call.from, fx);
        }
        Err(error) => router.accounting.count(IncidentKind::TurnedAway, error.cause()),
    }
    driver.show_call(call.from, call.message, fx);
    admitted?;
    let name = driver.router.registry[call.from].name().as_str().to_owned();
    driver.reply(call, &(&*name,), fx)?;
    announce_owner(&name, None, Some(call.from), driver.router, fx);
    Ok(())
}

/// The limits on connections that have called Hello.
fn check_room(router: &Router, call: &Call<'_>) -> Result<(), BusError> {
    let Router { config, registry, .. } = router;
    let max = config.limits.max_completed_connections;
    let used = registry.registered() as u64;
    if used >= max {
        return Err(ErrorKind::LimitsExceeded
            .because(format!(
                "The maximum number of active connections has been reached \
             (max_completed_connections={max})"
            ))
            .at_limit(LimitName::CompletedConnections, max, used));
    }
    let Some(uid) = registry[call.from].user else { return Ok(()) };
    let max = config.limits_of(Some(uid)).max_connections_per_user;
    let used = registry.registered_of(uid) as u64;
    if used < max {
        return Ok(());
    }
    Err(ErrorKind::LimitsExceeded
        .because(format!(
            "The maximum number of active connections for UID {uid} has been reached \
             (max_connections_per_user={max})"
        ))
        .at_limit(LimitName::ConnectionsPerUser, max, used))
}

pub(super) fn unix_user(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let uid = match find(driver.router, call, "UID")? {
        Subject::Bus => Some(driver.router.identity.uid),
        Subject::Peer(peer) => peer.user,
    };
    let (name,) = call.args::<(&str,)>()?;
    let unknown = || ErrorKind::Failed.because(format!("Could not determine UID for '{name}'"));
    let uid = uid.ok_or_else(unknown)?;
    driver.reply(call, &(uid,), fx)
}

pub(super) fn process_id(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let pid = match find(driver.router, call, "PID")? {
        Subject::Bus => Some(driver.router.identity.pid),
        Subject::Peer(peer) => peer.credentials.pid,
    };
    let (name,) = call.args::<(&str,)>()?;
    let text = || format!("Could not determine PID for '{name}'");
    let pid = pid.ok_or_else(|| ErrorKind::UnixProcessIdUnknown.because(text()))?;
    driver.reply(call, &(pid,), fx)
}

pub(super) fn credentials(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    match find(driver.router, call, "credentials")? {
        Subject::Bus => {
            let mut dict = BTreeMap::<&str, Value>::new();
            dict.insert("ProcessID", driver.router.identity.pid.into());
            dict.insert("UnixUserID", driver.router.identity.uid.into());
            let label = driver.router.identity.security_label.as_deref();
            dict.extend(label.map(|label| ("LinuxSecurityLabel", terminated(label))));
            driver.reply(call, &(dict,), fx)
        }
        Subject::Peer(peer) => {
            if call.message.expects_reply() {
                fx.push(Effect::ReadDetails { peer: peer.id, call: call.id() });
            }
            Ok(())
        }
    }
}

/// Answers GetConnectionCredentials with what the daemon has read.
pub(crate) fn details_read(
    peer: PeerId,
    details: &Details,
    call: CallId,
    router: &mut Router,
    fx: &mut Effects,
) {
    // If one of the two has ended in the meantime, nobody waits for the answer.
    let (Some(peer), Some(caller)) = (router.registry.get(peer), router.registry.get(call.peer))
    else {
        return;
    };
    let mut dict = credentials_of(peer, details);
    let mut fds = Fds::None;
    if caller.fds == FdPassing::Agreed && details.pidfd == PidFd::Held {
        dict.insert("ProcessFD", Value::UnixFd(0));
        fds = Fds::OfProcess(peer.id);
    }
    let builder = Builder::method_return(call.serial);
    let sent = router.send_own(call.peer, builder, &(dict,), fds, fx);
    if let Err(error) = sent.map_err(reply_too_long) {
        router.send_error(call.peer, call.serial, &error, fx);
    }
}

fn credentials_of(peer: &Peer, details: &Details) -> BTreeMap<&'static str, Value> {
    let known = &peer.credentials;
    let mut dict = BTreeMap::new();
    dict.extend(known.pid.map(|pid| ("ProcessID", pid.into())));
    dict.extend(peer.user.map(|uid| ("UnixUserID", uid.into())));
    // The groups of the process are not those of a user that it authenticated as.
    let groups = details.groups.as_deref().filter(|_| peer.user == known.uid);
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
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    _: &mut Effects,
) -> Result<(), BusError> {
    find(driver.router, call, "audit session data")?;
    let (name,) = call.args::<(&str,)>()?;
    let text = format!("Could not determine audit session data for '{name}'");
    Err(ErrorKind::AdtAuditDataUnknown.because(text))
}

pub(super) fn selinux_context(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let subject = find(driver.router, call, "security context")?;
    // The context is known only to a bus that mediates by it.
    if driver.router.access.modules().any(|module| module == Module::Selinux)
        && let Some(context) = match subject {
            Subject::Bus => driver.router.identity.security_label.as_deref(),
            Subject::Peer(peer) => peer.security_label(),
        }
    {
        let context = context.to_owned();
        return driver.reply(call, &(context,), fx);
    }
    let (name,) = call.args::<(&str,)>()?;
    let text = format!("Could not determine security context for '{name}'");
    Err(ErrorKind::SELinuxSecurityContextUnknown.because(text))
}

pub(super) fn id(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let id = format!("{}", driver.router.identity.id);
    driver.reply(call, &(id,), fx)
}

pub(super) fn machine_id(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let unknown = || ErrorKind::Failed.because("The machine has no id: /etc/machine-id is missing");
    let id = driver.router.identity.machine_id.clone().ok_or_else(unknown)?;
    driver.reply(call, &(id,), fx)
}

pub(super) fn ping(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    driver.reply(call, &(), fx)
}

pub(super) fn reload_config(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let caller = call.from;
    let privilege =
        if driver.router.is_privileged(caller) { Privilege::Any } else { Privilege::None };
    let serial = call.message.expects_reply().then(|| call.message.serial());
    match driver.reloads.add(caller, serial, privilege, driver.router.now) {
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
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    if driver.router.config.service_helper == ServiceHelper::Present {
        return Err(ErrorKind::AccessDenied
            .because("Cannot change activation environment on a system bus."));
    }
    let (changes,) = call.args::<(BTreeMap<&str, &str>,)>()?;
    if driver.router.config.services.manager == ServiceManager::Systemd {
        let variables = changes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (activation, router) = (&mut *driver.activation, &mut *driver.router);
        activation.pass_environment_on(variables, call.from, router, fx);
    }
    driver.activation.update_environment(changes);
    driver.reply(call, &(), fx)
}

/// The subject of a method that names a connection.
pub(super) enum Subject<'b> {
    Bus,
    Peer(&'b Peer),
}

/// Finds the connection that the first argument of a call names.
pub(super) fn find<'r>(
    router: &'r Router,
    call: &Call<'_>,
    what: &str,
) -> Result<Subject<'r>, BusError> {
    let (name,) = call.args::<(&str,)>()?;
    if name == DRIVER_NAME.as_str() {
        return Ok(Subject::Bus);
    }
    let peer = BusName::new(name).ok().and_then(|name| router.registry.resolve(name));
    let peer = peer.ok_or_else(|| no_such_name(what, name))?;
    Ok(Subject::Peer(&router.registry[peer]))
}
