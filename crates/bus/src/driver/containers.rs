//! Methods and signals of `org.freedesktop.DBus.Containers1`.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use sandbox::AccessLevel;
use wire::body::Value;
use wire::message::Builder;
use wire::names::{InterfaceName, MemberName, ObjectPath, ObjectPathBuf};

use super::call::{Call, Driver};
use super::connections::{Subject, credentials_dict, find};
use super::container_arguments::{parse_rules, read_descriptors, read_representation, read_rules};
use super::ownership::announce_change;
use crate::access::describe_process;
use crate::containers::{
    Container, ContainerLifetime, ContainerMetadata, CreatorFacts, DescriptorInMetadata,
    NewContainer, Remaining, SocketOrigin, TooManyContainers,
};
use crate::registry::Peer;
use crate::routing::{Router, SignalSubject, reply_too_long};
use crate::types::{
    CallId, ConnectionFact, ContainerDescription, ContainerId, ContainerRefusal, ContainerSocket,
    DisconnectReason, Effect, Effects, Fds, ForeignError, PeerId, RefusalReason,
};
use crate::well_known::{CONTAINERS_INTERFACE, DRIVER_PATH};

/// Creates a container. The reply follows when the daemon listens on its socket.
pub(super) fn add_server(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    type ServerArguments<'m> =
        (&'m str, &'m str, BTreeMap<String, Value>, BTreeMap<&'m str, Value>);
    let may_listen = driver.router.is_privileged(call.from);
    let Router { registry, config, containers, .. } = &mut *driver.router;
    let creator = &registry[call.from];
    let uid = creator.user.ok_or(ContainerRefusal::UnknownUser)?;
    let (kind, name, metadata, arguments) = call.args::<ServerArguments<'_>>()?;
    if InterfaceName::new(kind).is_err() {
        return Err(ContainerRefusal::InvalidType.into());
    }
    let metadata = ContainerMetadata::new(metadata)
        .map_err(|DescriptorInMetadata| ContainerRefusal::DescriptorInMetadata)?;
    let limits = config.limits_of(Some(uid));
    let max = limits.max_container_metadata_bytes;
    let used = metadata.len() + (kind.len() + name.len()) as u64;
    if used > max {
        let (caller, process) = (creator.name().as_str().into(), describe_process(creator));
        return Err(ContainerRefusal::MetadataTooLong { caller, process, max, used }.into());
    }
    let rules = read_rules(&arguments)?;
    let descriptors = read_descriptors(&arguments, call.message.unix_fds())?;
    if descriptors.socket.is_some() && !may_listen {
        return Err(ContainerRefusal::SocketOfOtherUser.into());
    }
    let origin = match descriptors.socket {
        None => SocketOrigin::Bus,
        Some(_) => SocketOrigin::Creator,
    };
    let room = containers.check_room(uid, origin, limits);
    room.map_err(|reason| too_many(reason, creator, uid))?;
    let creator_pid = creator.credentials.pid;
    let represented_by = read_representation(&arguments)?;
    let lifetime = match descriptors.lifetime {
        None => ContainerLifetime::Creator,
        Some(_) => ContainerLifetime::Pipe,
    };
    let new = NewContainer {
        kind,
        name,
        metadata,
        creator: call.from,
        creator_pid,
        uid,
        rules,
        lifetime,
        origin,
        represented_by,
    };
    let container = containers.add(new);
    driver.router.filters_changed();
    let waiting = call.message.expects_reply().then(|| call.id());
    let (creator, descriptors) = (call.from, Box::new(descriptors));
    fx.push(Effect::OpenContainer { container, creator, call: waiting, descriptors });
    Ok(())
}

fn too_many(reason: TooManyContainers, creator: &Peer, uid: u32) -> RefusalReason {
    let (caller, process) = (creator.name().as_str().into(), describe_process(creator));
    let refusal = match reason {
        TooManyContainers::OfBus { max, used } => {
            ContainerRefusal::TooMany { caller, process, max, used }
        }
        TooManyContainers::OfUser { max, used } => {
            ContainerRefusal::TooManyOfUser { caller, process, uid, max, used }
        }
        TooManyContainers::NoIdsLeft => ContainerRefusal::NoIdsLeft,
    };
    refusal.into()
}

/// Answers AddServer after the daemon has opened the socket, or could not open it.
pub(crate) fn container_opened(
    container: ContainerId,
    call: Option<CallId>,
    outcome: Result<ContainerSocket, ForeignError>,
    router: &mut Router,
    fx: &mut Effects,
) {
    let refusal = match outcome {
        Ok(ContainerSocket { path, address, creator }) => {
            router.containers.opened(container, creator);
            let Some(call) = call else { return };
            let object = container.path();
            let object = ObjectPath::new(&object).expect("a valid path");
            let path = [&*path, b"\0"].concat();
            let builder = Builder::method_return(call.serial);
            let args = (object, path, &*address);
            match router.send_own(call.peer, builder, &args, Fds::None, fx) {
                Ok(()) => return,
                Err(error) => (call, reply_too_long(error)),
            }
        }
        Err(error) => {
            router.containers.remove_unopened(container);
            router.filters_changed();
            let Some(call) = call else { return };
            (call, ContainerRefusal::NotOpened(error).into())
        }
    };
    let (call, reason) = refusal;
    router.send_error(call.peer, call.serial, &reason, fx);
}

/// Closes the socket of a container, and all its connections.
pub(super) fn stop_instance(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (path,) = call.args::<(ObjectPath<'_>,)>()?;
    let id = own_container(driver.router, call, path)?.description.id;
    stop_container(id, driver.router, fx);
    driver.reply(call, &(), fx)
}

/// Closes the socket of a container, and all its connections.
pub(crate) fn stop_container(id: ContainerId, router: &mut Router, fx: &mut Effects) {
    let Some(container) = router.containers.get(id) else { return };
    let reason = DisconnectReason::ContainerStopped;
    fx.extend(container.connections().iter().map(|&peer| Effect::Disconnect { peer, reason }));
    close_container(id, router, fx);
}

/// Closes the socket of a container. Its connections stay.
pub(super) fn stop_listening(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (path,) = call.args::<(ObjectPath<'_>,)>()?;
    let id = own_container(driver.router, call, path)?.description.id;
    close_container(id, driver.router, fx);
    driver.reply(call, &(), fx)
}

/// Returns the container with this path, if its creator has the same user as the caller.
fn own_container<'r>(
    router: &'r Router,
    call: &Call<'_>,
    path: ObjectPath<'_>,
) -> Result<&'r Container, RefusalReason> {
    let container = find_container(router, path)?;
    let uid = router.registry[call.from].user.ok_or(ContainerRefusal::UnknownUser)?;
    match container.uid {
        owner if owner == uid => Ok(container),
        owner => Err(ContainerRefusal::OfOtherUser { uid, owner }.into()),
    }
}

fn find_container<'r>(
    router: &'r Router,
    path: ObjectPath<'_>,
) -> Result<&'r Container, RefusalReason> {
    let found = router.containers.find(path.as_str());
    found.ok_or_else(|| ContainerRefusal::NoSuchContainer { path: path.as_str().into() }.into())
}

/// Returns the container of a connection. A connection in a container with a filter sees no other
/// containers.
pub(super) fn connection_instance(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let peer = match find(driver.router, call, ConnectionFact::Container)? {
        Subject::Bus => return Err(ContainerRefusal::BusNotContained.into()),
        Subject::Peer(peer) => peer,
    };
    let router = &*driver.router;
    let Router { registry, containers, .. } = router;
    let container = registry[peer].container.as_deref().map(|it| it.id);
    let container = container.filter(|&id| containers.shows(id, call.from, registry));
    let Some(container) = container.and_then(|id| containers.get(id)) else {
        let (name,) = call.args::<(&str,)>()?;
        return Err(ContainerRefusal::NotContained { name: name.into() }.into());
    };
    let (path, facts) = (container.description.id.path(), ContainerFacts::of(container));
    let ContainerFacts { creator, kind, name, metadata } = facts;
    let path = ObjectPath::new(&path).expect("a valid path");
    driver.reply(call, &(path, creator, kind, name, metadata), fx)
}

/// Returns facts about a container, unless it is hidden like in [`connection_instance`].
pub(super) fn instance_info(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let Router { registry, containers, .. } = &*driver.router;
    let (path,) = call.args::<(ObjectPath<'_>,)>()?;
    let container = find_container(driver.router, path)?;
    let id = container.description.id;
    if !containers.shows(id, call.from, registry) {
        return Err(ContainerRefusal::NoSuchContainer { path: id.path().into() }.into());
    }
    let facts = ContainerFacts::of(container);
    let ContainerFacts { creator, kind, name, metadata } = facts;
    driver.reply(call, &(creator, kind, name, metadata), fx)
}

/// Replaces the rules of a container. Its connections lose names that they may not own any more.
pub(super) fn set_rules(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (path, texts) = call.args::<(ObjectPath<'_>, Vec<&str>)>()?;
    let id = own_container(driver.router, call, path)?.description.id;
    let Router { containers, registry, .. } = &mut *driver.router;
    if !containers.set_rules(id, parse_rules(texts)?, registry) {
        return Err(ContainerRefusal::NoRules.into());
    }
    release_forbidden_names(id, driver.router, fx);
    driver.reply(call, &(), fx)
}

/// Releases the names, and the places in queues, that the rules of a container do not allow.
fn release_forbidden_names(id: ContainerId, router: &mut Router, fx: &mut Effects) {
    let Router { registry, containers, .. } = &*router;
    let peers = containers.get(id).into_iter().flat_map(Container::connections);
    let names = peers.flat_map(|&peer| {
        let requested = registry.requested_names(peer).map(move |name| (peer, name));
        requested.filter(|(peer, name)| !router.has_access(*peer, name, AccessLevel::Own))
    });
    let (owned, queued): (Vec<_>, Vec<_>) = names
        .map(|(peer, name)| (peer, name.to_owned()))
        .partition(|(peer, name)| registry.owner_of(name) == Some(*peer));
    // The owners last: otherwise a connection in a queue would get the name for a moment.
    for (peer, name) in queued.into_iter().chain(owned) {
        if let (_, Some(change)) = router.registry.release_name(peer, &name) {
            announce_change(&change, router, fx);
        }
    }
}

/// Returns the rules of a container.
pub(super) fn rules(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (path,) = call.args::<(ObjectPath<'_>,)>()?;
    let container = own_container(driver.router, call, path)?;
    let rules = container.rules().ok_or(ContainerRefusal::NoRules)?;
    let texts: Vec<String> = rules.iter().map(ToString::to_string).collect();
    driver.reply(call, &(texts,), fx)
}

/// Lists the containers of the caller's user, or all for a privileged caller: object path, type,
/// name, and number of connections.
pub(super) fn list(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let router = &*driver.router;
    let is_privileged = router.is_privileged(call.from);
    let user = router.registry[call.from].user;
    let is_listed = |container: &&Container| is_privileged || user == Some(container.uid);
    let describe = |container: &Container| {
        let ContainerDescription { id, kind, name } = &container.description;
        let path = ObjectPath::new(&id.path()).expect("a valid path").into();
        let connections = container.connections().len() as u32;
        (path, (**kind).to_owned(), (**name).to_owned(), connections)
    };
    let all: Vec<(ObjectPathBuf, String, String, u32)> =
        router.containers.iter().filter(is_listed).map(describe).collect();
    driver.reply(call, &(all,), fx)
}

/// The facts about a container that methods return.
struct ContainerFacts {
    /// Credentials of the process that created it.
    creator: BTreeMap<&'static str, Value>,
    kind: String,
    name: String,
    metadata: BTreeMap<String, Value>,
}

impl ContainerFacts {
    fn of(container: &Container) -> Self {
        let CreatorFacts { pid, groups, security_label } = &container.creator_facts;
        let user = Some(container.uid);
        Self {
            creator: credentials_dict(*pid, user, groups.as_deref(), security_label.as_deref()),
            kind: (*container.description.kind).to_owned(),
            name: (*container.description.name).to_owned(),
            metadata: container.metadata.entries().clone(),
        }
    }
}

/// Makes the bus name the container of the sender in all messages to the caller from now on.
pub(super) fn request_header(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    driver.reply(call, &(), fx)?;
    driver.router.containers.label_messages_to(call.from);
    Ok(())
}

/// Ends the containers that a connection has created, and its place in its own container, because
/// the connection has ended.
pub(crate) fn leave_containers(peer: PeerId, router: &mut Router, fx: &mut Effects) {
    let bound: Vec<ContainerId> = router.containers.bound_to(peer).collect();
    for container in bound {
        close_container(container, router, fx);
    }
    let own = router.registry.get(peer).and_then(|peer| peer.container.as_deref()).map(|it| it.id);
    if let Some(container) = own {
        router.containers.disconnect(container, peer);
        remove_if_unused(container, router, fx);
    }
}

/// Closes the socket of a container, if it is open.
fn close_container(container: ContainerId, router: &mut Router, fx: &mut Effects) {
    if router.containers.stop_listening(container) {
        fx.push(Effect::CloseContainer { container });
        remove_if_unused(container, router, fx);
    }
}

/// Removes a container that has neither a socket nor connections, and informs subscribers.
fn remove_if_unused(container: ContainerId, router: &mut Router, fx: &mut Effects) {
    if router.containers.remove_if_unused(container) == Remaining::Removed {
        let builder = Builder::signal(DRIVER_PATH, CONTAINERS_INTERFACE, INSTANCE_REMOVED);
        let path = container.path();
        let path = ObjectPath::new(&path).expect("a valid path");
        router.broadcast_own(builder, &(path,), SignalSubject::Container(container), fx);
        router.filters_changed();
        fx.push(Effect::RemoveContainer { container });
    }
}

const INSTANCE_REMOVED: MemberName<'static> = MemberName::literal("InstanceRemoved");
