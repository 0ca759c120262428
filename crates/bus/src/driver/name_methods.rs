//! Methods about names.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, WellKnownName};

use super::{Call, DRIVER_PATH, no_such_name};
use crate::activation::Started;
use crate::bus::Bus;
use crate::effects::{Effects, Fds};
use crate::error::{BusError, ErrorKind};
use crate::input::{Asker, PeerId};
use crate::names::{Leave, NameId, OwnerChange, Released, RequestFlags, Ticket};
use crate::peers::DRIVER_NAME;
use crate::reached::LimitName;

pub(super) fn request(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let (text, flags) = call.args::<(&str, u32)>()?;
    check_requested(bus, call, text)?;
    bus.mediate_owning(call.from, text, fx)?;
    bus.check_owning(call.from, text)?;
    check_name_room(bus, call.from, text)?;
    let request = bus.names.request(text, call.from, RequestFlags::from_bits(flags));
    if let Some(ticket) = request.joined {
        bus.peers[call.from].names.insert(ticket, request.id);
        bus.note_new_name(call.from);
    }
    if let Some((peer, ticket)) = request.left {
        bus.forget_name(peer, ticket);
    }
    if let Some(change) = request.change {
        bus.announce(&change, fx);
        bus.service_arrived(text, call.from, fx);
    }
    bus.reply(call, &(request.result as u32,), fx)
}

/// The limit on names, which counts the unique name, and those that are waited for. What is the
/// caller's already needs no room.
fn check_name_room(bus: &Bus, caller: PeerId, text: &str) -> Result<(), BusError> {
    let peer = &bus.peers[caller];
    let limit = bus.config.limits_of(peer.uid).max_names_per_connection;
    if (peer.name_count() as u64) < limit
        || bus.names.find(text).is_some_and(|id| bus.names.is_in_queue(id, caller))
    {
        return Ok(());
    }
    Err(ErrorKind::LimitsExceeded
        .because(format!(
            "Connection \"{}\" is not allowed to own more services \
         (increase limits in configuration file if required; max_names_per_connection={limit})",
            peer.name()
        ))
        .at_limit(LimitName::NamesPerConnection, limit, peer.name_count() as u64))
}

fn check_requested(bus: &Bus, call: &Call<'_>, text: &str) -> Result<(), BusError> {
    let invalid = |why: String| Err(ErrorKind::InvalidArgs.because(why));
    if text.starts_with(':') && BusName::new(text).is_ok() {
        return invalid(format!("Cannot acquire a service starting with ':' such as \"{text}\""));
    }
    if text == DRIVER_NAME.as_str() {
        // No blank before "because": the text is that of the reference.
        return invalid(format!(
            "Connection \"{}\" is not allowed to own the service \"{text}\"\
             because it is reserved for D-Bus' use only",
            bus.peers[call.from].name()
        ));
    }
    if WellKnownName::new(text).is_err() {
        return invalid(format!("Requested bus name \"{text}\" is not valid"));
    }
    Ok(())
}

pub(super) fn release(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let (text,) = call.args::<(&str,)>()?;
    check_released(text)?;
    let result = match bus.names.find(text).map(|id| bus.names.leave(id, call.from)) {
        None => Released::NonExistent,
        Some(None) => Released::NotOwner,
        Some(Some(Leave { ticket, change })) => {
            bus.forget_name(call.from, ticket);
            if let Some(change) = change {
                bus.announce(&change, fx);
            }
            Released::Done
        }
    };
    bus.reply(call, &(result as u32,), fx)
}

fn check_released(text: &str) -> Result<(), BusError> {
    let invalid = |why: String| Err(ErrorKind::InvalidArgs.because(why));
    if text.starts_with(':') && BusName::new(text).is_ok() {
        return invalid(format!("Cannot release a service starting with ':' such as \"{text}\""));
    }
    if text == DRIVER_NAME.as_str() {
        return invalid(format!(
            "Cannot release the {text} service because it is owned by the bus"
        ));
    }
    if WellKnownName::new(text).is_err() {
        return invalid(format!("Given bus name \"{text}\" is not valid"));
    }
    Ok(())
}

pub(super) fn start_service(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let (name, _) = call.args::<(&str, u32)>()?;
    // As in the reference, a name without a service is unknown even if it has an owner.
    bus.check_startable(name)?;
    if bus.names.find(name).is_none() {
        let asker = Asker { peer: call.from, serial: call.message.serial() };
        let asker = call.message.expects_reply().then_some(asker);
        return bus.start_for(call.from, name, asker, fx);
    }
    bus.reply(call, &(Started::AlreadyRunning as u32,), fx)
}

pub(super) fn has_owner(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let (text,) = call.args::<(&str,)>()?;
    let owned = text == DRIVER_NAME.as_str() || find(bus, text).is_some();
    bus.reply(call, &(owned,), fx)
}

pub(super) fn owner(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let (text,) = call.args::<(&str,)>()?;
    let owner = if text == DRIVER_NAME.as_str() {
        text.to_owned()
    } else {
        let owner = find(bus, text).ok_or_else(|| {
            let text = format!("Could not get owner of name '{text}': no such name");
            ErrorKind::NameHasNoOwner.because(text)
        })?;
        bus.peers[owner].name().as_str().to_owned()
    };
    bus.reply(call, &(owner,), fx)
}

pub(super) fn queued_owners(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let (text,) = call.args::<(&str,)>()?;
    let names: Vec<Box<str>> = if text == DRIVER_NAME.as_str() {
        alloc::vec![text.into()]
    } else {
        let unique = find(bus, text).filter(|_| text.starts_with(':'));
        let queue = bus.names.find(text).into_iter().flat_map(|id| bus.names.queue(id));
        unique.into_iter().chain(queue).map(|id| bus.peers[id].name().as_str().into()).collect()
    };
    if names.is_empty() {
        return Err(no_such_name("owners", text));
    }
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    bus.reply(call, &(names,), fx)
}

pub(super) fn list(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let unique =
        bus.peers.iter().filter(|peer| peer.is_active()).filter_map(|peer| peer.unique_name());
    let names = core::iter::once(DRIVER_NAME.as_str()).chain(bus.names.iter()).chain(unique);
    let names: Vec<String> = names.map(ToOwned::to_owned).collect();
    bus.reply(call, &(names,), fx)
}

pub(super) fn list_activatable(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let names = core::iter::once(DRIVER_NAME.as_str()).chain(bus.config.services.names());
    let names: Vec<String> = names.map(ToOwned::to_owned).collect();
    bus.reply(call, &(names,), fx)
}

fn find(bus: &Bus, text: &str) -> Option<PeerId> {
    BusName::new(text).ok().and_then(|name| bus.resolve(name))
}

impl Bus {
    /// Tells everybody that a well-known name has another owner.
    fn announce(&mut self, change: &OwnerChange, fx: &mut Effects) {
        self.trace_owner(change, fx);
        self.announce_owner(&change.name, change.old, change.new, fx);
    }

    /// Tells the old owner of a name, then everybody, then the new owner.
    pub(super) fn announce_owner(
        &mut self,
        name: &str,
        old: Option<PeerId>,
        new: Option<PeerId>,
        fx: &mut Effects,
    ) {
        self.owner_generation += 1;
        if let Some(old) = old {
            self.send_signal(old, NAME_LOST, name, fx);
        }
        let unique = |peer: Option<PeerId>| {
            peer.map_or_else(String::new, |peer| self.peers[peer].name().as_str().to_owned())
        };
        let (old_name, new_name) = (unique(old), unique(new));
        let changed = Builder::signal(DRIVER_PATH, DRIVER_INTERFACE, NAME_OWNER_CHANGED);
        self.broadcast_own(changed, &(name, &*old_name, &*new_name), fx);
        if let Some(new) = new {
            self.send_signal(new, NAME_ACQUIRED, name, fx);
        }
    }

    /// Tells everybody that other services can be started than before.
    pub(crate) fn announce_services(&mut self, fx: &mut Effects) {
        let changed = Builder::signal(DRIVER_PATH, DRIVER_INTERFACE, SERVICES_CHANGED);
        self.broadcast_own(changed, &(), fx);
    }

    fn send_signal(&mut self, to: PeerId, member: MemberName<'_>, name: &str, fx: &mut Effects) {
        let builder = Builder::signal(DRIVER_PATH, DRIVER_INTERFACE, member);
        self.send_own(to, builder, &(name,), Fds::None, fx).expect("names are short");
    }

    /// Takes all names from a connection that ends, the last first and its unique name at the end.
    pub(crate) fn drop_names(&mut self, id: PeerId, fx: &mut Effects) {
        while let Some((_, name)) = self.peers[id].names.pop_last() {
            self.drop_name(id, name, fx);
        }
        self.drop_unique_name(id, fx);
    }

    /// Takes all names from a connection that only watches from now on: its unique name, and then
    /// the others, the first first.
    pub(super) fn give_up_names(&mut self, id: PeerId, fx: &mut Effects) {
        self.drop_unique_name(id, fx);
        while let Some((_, name)) = self.peers[id].names.pop_first() {
            self.drop_name(id, name, fx);
        }
    }

    fn drop_name(&mut self, id: PeerId, name: NameId, fx: &mut Effects) {
        self.counters.names -= 1;
        if let Some(change) = self.names.leave(name, id).and_then(|leave| leave.change) {
            self.announce(&change, fx);
        }
    }

    fn drop_unique_name(&mut self, id: PeerId, fx: &mut Effects) {
        self.counters.names -= 1;
        let unique = self.peers[id].name().as_str().to_owned();
        self.announce_owner(&unique, Some(id), None, fx);
    }

    fn forget_name(&mut self, peer: PeerId, ticket: Ticket) {
        self.peers[peer].names.remove(&ticket);
        self.counters.names -= 1;
    }

    /// Counts a name that `peer` has got, its unique name or a place in the queue for another.
    pub(crate) fn note_new_name(&mut self, peer: PeerId) {
        let peer = &mut self.peers[peer];
        let count = peer.name_count();
        peer.peaks.names = peer.peaks.names.max(count);
        let counters = &mut self.counters;
        counters.names += 1;
        counters.peak_names = counters.peak_names.max(counters.names);
        counters.peak_names_per_peer = counters.peak_names_per_peer.max(count);
    }
}

const DRIVER_INTERFACE: InterfaceName<'static> = InterfaceName::literal("org.freedesktop.DBus");
const NAME_LOST: MemberName<'static> = MemberName::literal("NameLost");
const NAME_ACQUIRED: MemberName<'static> = MemberName::literal("NameAcquired");
const NAME_OWNER_CHANGED: MemberName<'static> = MemberName::literal("NameOwnerChanged");
const SERVICES_CHANGED: MemberName<'static> = MemberName::literal("ActivatableServicesChanged");
