//! Methods about well-known names.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use sandbox::AccessLevel;
use wire::names::{BusName, WellKnownName};

use super::call::{Call, Driver};
use super::ownership::announce_change;
use crate::activation::{StartReply, activation_method};
use crate::containers::FilteredLevel;
use crate::registry::{Registry, Released, RequestFlags};
use crate::routing::Router;
use crate::types::{ConnectionFact, Effects, NameMethod, OwningDeniedBy, PeerId, RefusalReason};
use crate::well_known::DRIVER_NAME;

pub(super) fn request(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (text, flags) = call.args::<(&str, u32)>()?;
    let Router { access, registry, containers, config, .. } = &mut *driver.router;
    check_requested(registry, call, text)?;
    if !containers.level_of(call.from, text, registry).is_at_least(AccessLevel::Own) {
        return Err(RefusalReason::OwningDenied {
            owner: registry[call.from].name().as_str().into(),
            name: text.into(),
            by: OwningDeniedBy::Container,
        });
    }
    access.mediate_owning(call.from, text, registry, config, fx)?;
    access.check_owning(call.from, text, registry)?;
    check_room(driver.router, call.from, text)?;
    let flags = RequestFlags::from_bits(flags);
    let (result, change) = driver.router.registry.request_name(call.from, text, flags);
    if let Some(change) = change {
        announce_change(&change, driver.router, fx);
        driver.activation.service_arrived(text, call.from, driver.router, fx);
    } else {
        driver.router.end_forbidden_lanes_of(call.from, fx);
    }
    driver.reply(call, &(result as u32,), fx)
}

/// Checks the limit on names, which includes the unique name and names that the caller is queued
/// for. A name that the caller already has is not counted again.
fn check_room(router: &Router, caller: PeerId, text: &str) -> Result<(), RefusalReason> {
    let peer = &router.registry[caller];
    let max = router.config.limits_of(peer.user).max_names_per_connection;
    let used = peer.name_count() as u64;
    if used < max || router.registry.is_in_queue(text, caller) {
        return Ok(());
    }
    Err(RefusalReason::TooManyNames { owner: peer.name().as_str().into(), max, used })
}

fn check_requested(registry: &Registry, call: &Call<'_>, text: &str) -> Result<(), RefusalReason> {
    if text == DRIVER_NAME.as_str() {
        let caller = registry[call.from].name().as_str().into();
        return Err(RefusalReason::BusNameRequested { caller });
    }
    check_well_known(NameMethod::Request, text)
}

pub(super) fn release(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (text,) = call.args::<(&str,)>()?;
    check_released(text)?;
    if driver.router.filtered_level(call.from, text) == FilteredLevel::Hidden {
        return driver.reply(call, &(Released::NonExistent as u32,), fx);
    }
    let (released, change) = driver.router.registry.release_name(call.from, text);
    match change {
        Some(change) => announce_change(&change, driver.router, fx),
        None => driver.router.end_forbidden_lanes_of(call.from, fx),
    }
    driver.reply(call, &(released as u32,), fx)
}

fn check_released(text: &str) -> Result<(), RefusalReason> {
    if text == DRIVER_NAME.as_str() {
        return Err(RefusalReason::BusNameReleased);
    }
    check_well_known(NameMethod::Release, text)
}

fn check_well_known(method: NameMethod, text: &str) -> Result<(), RefusalReason> {
    if text.starts_with(':') && BusName::new(text).is_ok() {
        return Err(RefusalReason::NameIsUnique { method, name: text.into() });
    }
    match WellKnownName::new(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(RefusalReason::NameInvalid { method, name: text.into() }),
    }
}

pub(super) fn start_service(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (name, _) = call.args::<(&str, u32)>()?;
    // Like with dbus-daemon, a name without a service is unknown even if it has an owner.
    match driver.router.filtered_level(call.from, name) {
        FilteredLevel::Hidden => {
            return Err(RefusalReason::NotActivatable { name: name.into() });
        }
        FilteredLevel::Level(AccessLevel::See) => {
            return Err(driver.contained_caller(call, "StartServiceByName"));
        }
        FilteredLevel::Unfiltered | FilteredLevel::Level(_) => {}
    }
    activation_method(name, &driver.router.config)?;
    if driver.router.registry.owner_of(name).is_none() {
        let waiting = call.message.expects_reply().then(|| call.id());
        let (activation, router) = (&mut *driver.activation, &mut *driver.router);
        return activation.start_for_call(call.from, name, waiting, router, fx);
    }
    driver.reply(call, &(StartReply::AlreadyRunning as u32,), fx)
}

pub(super) fn has_owner(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (text,) = call.args::<(&str,)>()?;
    let owned = text == DRIVER_NAME.as_str() || find(driver.router, call.from, text).is_some();
    driver.reply(call, &(owned,), fx)
}

pub(super) fn owner(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (text,) = call.args::<(&str,)>()?;
    let owner = if text == DRIVER_NAME.as_str() {
        text.to_owned()
    } else {
        let owner = find(driver.router, call.from, text).ok_or_else(|| {
            RefusalReason::NoSuchName { fact: ConnectionFact::Owner, name: text.into() }
        })?;
        driver.router.registry[owner].name().as_str().to_owned()
    };
    driver.reply(call, &(owner,), fx)
}

pub(super) fn queued_owners(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (text,) = call.args::<(&str,)>()?;
    let names: Vec<Box<str>> = if text == DRIVER_NAME.as_str() {
        alloc::vec![text.into()]
    } else {
        match driver.router.filtered_level(call.from, text) {
            FilteredLevel::Level(AccessLevel::See | AccessLevel::Talk) => {
                return Err(driver.contained_caller(call, "ListQueuedOwners"));
            }
            FilteredLevel::Hidden if !text.starts_with(':') => {
                return Err(RefusalReason::NoSuchName {
                    fact: ConnectionFact::Owners,
                    name: text.into(),
                });
            }
            _ => {}
        }
        let unique = find(driver.router, call.from, text).filter(|_| text.starts_with(':'));
        let Router { registry, containers, .. } = &mut *driver.router;
        let owners = unique.into_iter().chain(registry.queue_of(text));
        // A hidden connection that waits for a name of the caller stays hidden.
        let visible =
            owners.filter(|&id| containers.sees(call.from, registry[id].name(), id, registry));
        visible.map(|id| registry[id].name().as_str().into()).collect()
    };
    if names.is_empty() {
        return Err(RefusalReason::NoSuchName { fact: ConnectionFact::Owners, name: text.into() });
    }
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    driver.reply(call, &(names,), fx)
}

pub(super) fn list(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let Router { registry, containers, .. } = &mut *driver.router;
    let unique =
        registry.iter().filter(|peer| peer.is_active()).filter_map(|peer| peer.unique_name());
    let mut well_known: Vec<&str> = registry.well_known_names().collect();
    well_known.sort_unstable();
    let mut is_visible = |text: &&str| {
        let name = BusName::new(text).expect("a name on the bus");
        let owner = registry.resolve(name);
        owner.is_some_and(|owner| containers.sees(call.from, name, owner, registry))
    };
    let names = well_known.into_iter().chain(unique).filter(|name| is_visible(name));
    let names = core::iter::once(DRIVER_NAME.as_str()).chain(names);
    let names: Vec<String> = names.map(ToOwned::to_owned).collect();
    driver.reply(call, &(names,), fx)
}

pub(super) fn list_activatable(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let router = &*driver.router;
    let names = router.config.services.names();
    let names = names.filter(|name| router.has_access(call.from, name, AccessLevel::See));
    let names = core::iter::once(DRIVER_NAME.as_str()).chain(names);
    let names: Vec<String> = names.map(ToOwned::to_owned).collect();
    driver.reply(call, &(names,), fx)
}

fn find(router: &mut Router, caller: PeerId, text: &str) -> Option<PeerId> {
    BusName::new(text).ok().and_then(|name| router.resolve_for(caller, name))
}
