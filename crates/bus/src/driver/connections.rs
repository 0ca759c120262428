//! Methods about connections, and about the bus itself.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;

use wire::body::Value;
use wire::message::Builder;
use wire::names::{BusName, ObjectPath};
use wire::signature::Signature;

use super::call::{Call, Driver};
use super::ownership::announce_owner;
use crate::access::mediation::MediatorKind;
use crate::accounting::IncidentKind;
use crate::registry::Peer;
use crate::reloads::{ReloadPrivilege, ReloadTurn, TooManyWaiting, WAITING_MAX};
use crate::routing::{Router, reply_too_long};
use crate::types::{
    CallId, ConnectionFact, DescriptorPassing, Details, Effect, Effects, Fds, PeerId, PidFd,
    RefusalReason, ServiceHelper, ServiceManager,
};
use crate::well_known::DRIVER_NAME;

pub(super) fn hello(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let router = &mut *driver.router;
    if router.registry[call.from].is_registered() {
        return Err(RefusalReason::AlreadyRegistered);
    }
    let admitted = check_room(router, call);
    match &admitted {
        Ok(()) => {
            let Router { access, registry, config, tracing, .. } = router;
            let policy = access.policy_for(call.from, registry, config);
            registry.register(call.from, policy);
            tracing.record_arrival(call.from, fx);
        }
        Err(error) => router.accounting.count(IncidentKind::Rejected, error.cause()),
    }
    driver.show_call(call.from, call.message, fx);
    admitted?;
    let name = driver.router.registry[call.from].name().as_str().to_owned();
    driver.reply(call, &(&*name,), fx)?;
    announce_owner(&name, None, Some(call.from), driver.router, fx);
    Ok(())
}

/// Checks the limits on connections that have called Hello.
fn check_room(router: &Router, call: &Call<'_>) -> Result<(), RefusalReason> {
    let Router { config, registry, .. } = router;
    let max = config.limits.max_completed_connections;
    let used = registry.registered() as u64;
    if used >= max {
        return Err(RefusalReason::TooManyConnections { max, used });
    }
    let Some(uid) = registry[call.from].user else { return Ok(()) };
    let max = config.limits_of(Some(uid)).max_connections_per_user;
    let used = registry.registered_of(uid) as u64;
    if used < max {
        return Ok(());
    }
    Err(RefusalReason::TooManyConnectionsOfUser { uid, max, used })
}

pub(super) fn unix_user(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let uid = match find(driver.router, call, ConnectionFact::User)? {
        Subject::Bus => Some(driver.router.identity.uid),
        Subject::Peer(peer) => driver.router.registry[peer].user,
    };
    match uid {
        Some(uid) => driver.reply(call, &(uid,), fx),
        None => Err(fact_unknown(call, ConnectionFact::User)),
    }
}

pub(super) fn process_id(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let pid = match find(driver.router, call, ConnectionFact::Process)? {
        Subject::Bus => Some(driver.router.identity.pid),
        Subject::Peer(peer) => {
            driver.router.representative_of(peer).and_then(|process| process.credentials.pid)
        }
    };
    match pid {
        Some(pid) => driver.reply(call, &(pid,), fx),
        None => Err(fact_unknown(call, ConnectionFact::Process)),
    }
}

pub(super) fn credentials(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    match find(driver.router, call, ConnectionFact::Credentials)? {
        Subject::Bus => {
            let mut dict = BTreeMap::<&str, Value>::new();
            dict.insert("ProcessID", driver.router.identity.pid.into());
            dict.insert("UnixUserID", driver.router.identity.uid.into());
            let label = driver.router.identity.security_label.as_deref();
            dict.extend(label.map(|label| ("LinuxSecurityLabel", terminated(label))));
            driver.reply(call, &(dict,), fx)
        }
        Subject::Peer(subject) => {
            if !call.message.expects_reply() {
                return Ok(());
            }
            let process = driver.router.representative_of(subject).map(|process| process.id);
            let call = call.id();
            match process {
                Some(peer) => fx.push(Effect::ReadDetails { subject, peer, call }),
                None => {
                    let described = CredentialSubject { subject, process };
                    details_read(described, &Details::default(), call, driver.router, fx);
                }
            }
            Ok(())
        }
    }
}

/// A connection whose credentials are described.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CredentialSubject {
    /// The connection that the call names.
    pub(crate) subject: PeerId,
    /// The connection whose process represents it; `None` if that has ended.
    pub(crate) process: Option<PeerId>,
}

/// Answers GetConnectionCredentials with the facts that the daemon has read.
pub(crate) fn details_read(
    described: CredentialSubject,
    details: &Details,
    call: CallId,
    router: &mut Router,
    fx: &mut Effects,
) {
    let CredentialSubject { subject, process } = described;
    // If the peer or the caller has disconnected, no answer is needed.
    let (Some(subject), Some(caller)) =
        (router.registry.get(subject), router.registry.get(call.peer))
    else {
        return;
    };
    let process = process.and_then(|process| router.registry.get(process));
    let mut dict = credentials_of(subject, process, details);
    let mut fds = Fds::None;
    // A process can take descriptors out of another one by its pidfd (pidfd_getfd(2)), which could
    // lead out of a sandbox.
    if caller.fds == DescriptorPassing::Agreed
        && caller.container.is_none()
        && details.pidfd == PidFd::Held
        && let Some(process) = process
    {
        dict.insert("ProcessFD", Value::UnixFd(0));
        fds = Fds::OfProcess(process.id);
    }
    let builder = Builder::method_return(call.serial);
    let sent = router.send_own(call.peer, builder, &(dict,), fds, fx);
    if let Err(error) = sent.map_err(reply_too_long) {
        router.send_error(call.peer, call.serial, &error, fx);
    }
}

/// The credentials of a connection that another one, or itself, represents by its process.
fn credentials_of(
    subject: &Peer,
    process: Option<&Peer>,
    details: &Details,
) -> BTreeMap<&'static str, Value> {
    let (pid, uid) = process.map_or((None, None), |it| (it.credentials.pid, it.credentials.uid));
    // The groups of the process differ from the groups of another user that it authenticated as.
    let groups = details.groups.as_deref().filter(|_| subject.user == uid);
    let label = details.security_label.as_deref();
    let mut dict = credentials_dict(pid, subject.user, groups, label);
    if process.is_none_or(|process| process.id != subject.id) {
        let own = subject.credentials.pid;
        dict.extend(own.map(|pid| (SANDBOXED_PROCESS_CREDENTIAL, pid.into())));
    }
    if let Some(container) = &subject.container {
        let path = container.id.path();
        let path = ObjectPath::new(&path).expect("a valid path");
        dict.insert(CONTAINER_CREDENTIAL, Value::ObjectPath(path.into()));
    }
    dict
}

/// The process of a connection in a container that its creator represents.
const SANDBOXED_PROCESS_CREDENTIAL: &str = "org.diligence.SandboxedProcessID";

/// The container of a connection, in its credentials.
const CONTAINER_CREDENTIAL: &str = "org.freedesktop.DBus.Containers1.Instance";

/// The credentials of a process that are known, by their names in the specification.
pub(super) fn credentials_dict(
    pid: Option<u32>,
    user: Option<u32>,
    groups: Option<&[u32]>,
    label: Option<&[u8]>,
) -> BTreeMap<&'static str, Value> {
    let mut dict = BTreeMap::new();
    dict.extend(pid.map(|pid| ("ProcessID", pid.into())));
    dict.extend(user.map(|uid| ("UnixUserID", uid.into())));
    dict.extend(groups.map(|groups| ("UnixGroupIDs", unsigned_array(groups))));
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
) -> Result<(), RefusalReason> {
    find(driver.router, call, ConnectionFact::AuditSession)?;
    Err(fact_unknown(call, ConnectionFact::AuditSession))
}

pub(super) fn selinux_context(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let subject = find(driver.router, call, ConnectionFact::SecurityContext)?;
    // Only a bus that mediates with SELinux knows the context.
    if driver.router.access.modules().any(|module| module == MediatorKind::Selinux)
        && let Some(context) = match subject {
            Subject::Bus => driver.router.identity.security_label.as_deref(),
            Subject::Peer(peer) => {
                driver.router.representative_of(peer).and_then(Peer::security_label)
            }
        }
    {
        let context = context.to_owned();
        return driver.reply(call, &(context,), fx);
    }
    Err(fact_unknown(call, ConnectionFact::SecurityContext))
}

pub(super) fn id(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let id = format!("{}", driver.router.identity.id);
    driver.reply(call, &(id,), fx)
}

pub(super) fn machine_id(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let id = driver.router.identity.machine_id.clone().ok_or(RefusalReason::NoMachineId)?;
    driver.reply(call, &(id,), fx)
}

pub(super) fn ping(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    driver.reply(call, &(), fx)
}

pub(super) fn reload_config(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let caller = call.from;
    if driver.router.containers.filters(caller, &driver.router.registry) {
        return Err(driver.contained_caller(call, "ReloadConfig"));
    }
    let privilege = if driver.router.is_privileged(caller) {
        ReloadPrivilege::Any
    } else {
        ReloadPrivilege::None
    };
    let serial = call.message.expects_reply().then(|| call.message.serial());
    match driver.reloads.add(caller, serial, privilege, driver.router.now) {
        Ok(ReloadTurn::Now) => fx.push(Effect::Reload { caller }),
        Ok(ReloadTurn::Later) => {}
        Err(TooManyWaiting) => {
            return Err(RefusalReason::TooManyReloads { max: WAITING_MAX });
        }
    }
    Ok(())
}

pub(super) fn update_activation_environment(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    if driver.router.config.service_helper == ServiceHelper::Present {
        return Err(RefusalReason::EnvironmentFixed);
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

/// The error for a fact that is unknown about the connection that the first argument names.
fn fact_unknown(call: &Call<'_>, fact: ConnectionFact) -> RefusalReason {
    match call.args::<(&str,)>() {
        Ok((name,)) => RefusalReason::FactUnknown { fact, name: name.into() },
        Err(invalid) => invalid,
    }
}

/// The subject of a method that names a connection.
#[derive(Clone, Copy)]
pub(super) enum Subject {
    Bus,
    Peer(PeerId),
}

/// Finds the connection that the first argument of a call names.
pub(super) fn find(
    router: &mut Router,
    call: &Call<'_>,
    fact: ConnectionFact,
) -> Result<Subject, RefusalReason> {
    let (name,) = call.args::<(&str,)>()?;
    if name == DRIVER_NAME.as_str() {
        return Ok(Subject::Bus);
    }
    let peer = BusName::new(name).ok().and_then(|name| router.resolve_for(call.from, name));
    let peer = peer.ok_or_else(|| RefusalReason::NoSuchName { fact, name: name.into() })?;
    Ok(Subject::Peer(peer))
}
