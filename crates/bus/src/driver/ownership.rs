//! The signals about names: NameLost, NameOwnerChanged, NameAcquired and ActivatableServicesChanged.

use alloc::borrow::ToOwned;
use alloc::string::String;

use wire::message::Builder;
use wire::names::{BusName, MemberName};

use crate::registry::OwnerChange;
use crate::routing::{Router, SignalSubject};
use crate::types::{Effects, Fds, PeerId};
use crate::well_known::{DRIVER_INTERFACE, DRIVER_PATH};

/// Announces that the owner of a well-known name has changed.
pub(super) fn announce_change(change: &OwnerChange, router: &mut Router, fx: &mut Effects) {
    router.tracing.record_owner(change, &router.registry, fx);
    router.containers.owner_changed(&change.name, change.old, change.new);
    for peer in [change.old, change.new].into_iter().flatten() {
        router.note_name_change(peer, fx);
    }
    announce_owner(&change.name, change.old, change.new, router, fx);
}

/// Informs the old owner of a name, then all subscribers, then the new owner.
pub(super) fn announce_owner(
    name: &str,
    old: Option<PeerId>,
    new: Option<PeerId>,
    router: &mut Router,
    fx: &mut Effects,
) {
    router.registry.owner_changed();
    if let Some(old) = old {
        send_signal(old, NAME_LOST, name, router, fx);
    }
    let unique = |peer: Option<PeerId>| {
        peer.map_or_else(String::new, |peer| router.registry[peer].name().as_str().to_owned())
    };
    let (old_name, new_name) = (unique(old), unique(new));
    let changed = Builder::signal(DRIVER_PATH, DRIVER_INTERFACE, NAME_OWNER_CHANGED);
    let subject = BusName::new(name).expect("a name with an owner");
    let subject = SignalSubject::Name { name: subject, old, new };
    router.broadcast_own(changed, &(name, &*old_name, &*new_name), subject, fx);
    if let Some(new) = new {
        send_signal(new, NAME_ACQUIRED, name, router, fx);
    }
}

/// Announces that the set of activatable services has changed.
pub(crate) fn announce_services(router: &mut Router, fx: &mut Effects) {
    let changed = Builder::signal(DRIVER_PATH, DRIVER_INTERFACE, SERVICES_CHANGED);
    router.broadcast_own(changed, &(), SignalSubject::Bus, fx);
}

fn send_signal(
    to: PeerId,
    member: MemberName<'_>,
    name: &str,
    router: &mut Router,
    fx: &mut Effects,
) {
    let builder = Builder::signal(DRIVER_PATH, DRIVER_INTERFACE, member);
    router.send_own(to, builder, &(name,), Fds::None, fx).expect("names are short");
}

/// Removes all names from a connection that has ended: the most recently requested first, and its
/// unique name last.
pub(crate) fn release_all_names(id: PeerId, router: &mut Router, fx: &mut Effects) {
    while let Some(change) = router.registry.take_last_name(id) {
        announce_if_any(change, router, fx);
    }
    release_unique_name(id, router, fx);
}

/// Removes all names from a connection that becomes a monitor: first its unique name, then the
/// others in the order in which it requested them.
pub(super) fn give_up_names(id: PeerId, router: &mut Router, fx: &mut Effects) {
    release_unique_name(id, router, fx);
    while let Some(change) = router.registry.take_first_name(id) {
        announce_if_any(change, router, fx);
    }
}

fn announce_if_any(change: Option<OwnerChange>, router: &mut Router, fx: &mut Effects) {
    if let Some(change) = change {
        announce_change(&change, router, fx);
    }
}

fn release_unique_name(id: PeerId, router: &mut Router, fx: &mut Effects) {
    router.registry.uncount_unique_name();
    let unique = router.registry[id].name().as_str().to_owned();
    announce_owner(&unique, Some(id), None, router, fx);
}

const NAME_LOST: MemberName<'static> = MemberName::literal("NameLost");
const NAME_ACQUIRED: MemberName<'static> = MemberName::literal("NameAcquired");
const NAME_OWNER_CHANGED: MemberName<'static> = MemberName::literal("NameOwnerChanged");
const SERVICES_CHANGED: MemberName<'static> = MemberName::literal("ActivatableServicesChanged");
