//! Signals of served objects, and the change signals of the standard interfaces.

use wire::body::Writer;
use wire::introspection::EmitsChange;
use wire::message::Builder;
use wire::names::{InterfaceName, MemberName, ObjectPath};
use wire::signature::Signature;

use super::served::DynInterface;
use super::standard::{OBJECT_MANAGER, PROPERTIES};
use super::tree::{CallTarget, ChangedProperties};
use crate::blocking::connection::Connection;
use crate::blocking::error::EmitError;
use crate::blocking::request::IncomingCall;
use crate::core::{EncodedBody, MessageBody, SendError};
use crate::name::IntoName;

impl IncomingCall {
    /// Announces, after the method has run, that properties of the called interface changed; see
    /// [`Object::properties_changed`](super::Object::properties_changed).
    pub fn properties_changed(&self, properties: &[&str]) {
        let (connection, message) = (self.connection(), self.message());
        let Ok(CallTarget::Served(served)) = connection.objects().find(message) else { return };
        let path = message.path().unwrap_or("/");
        announce(connection, ChangedProperties::new(path, served.interface, properties));
    }

    /// Queues a signal of the called interface, from the called object. If the call has no
    /// interface field, the interface in which the method was found is used.
    ///
    /// # Errors
    ///
    /// [`EmitError::Name`] if `signal` is not a member name; [`EmitError::Send`] if the arguments
    /// cannot be encoded, or if the connection ended.
    pub fn emit<'m>(
        &self,
        signal: impl IntoName<MemberName<'m>>,
        arguments: &impl MessageBody,
    ) -> Result<(), EmitError> {
        let signal = signal.into_name()?;
        let (connection, message) = (self.connection(), self.message());
        let served = match connection.objects().find(message) {
            Ok(CallTarget::Served(served)) => Some(served.interface),
            _ => None,
        };
        let interface = served.as_deref().map(DynInterface::name).or(message.interface());
        let path = message.path().unwrap_or_default();
        connection.emit(path, interface.unwrap_or_default(), signal, arguments)
    }
}

/// Sends the signals for the pending changes of objects that are free. Code that leaves an object
/// must call this.
pub(in crate::blocking) fn emit_pending_changes(connection: &Connection) {
    while let Some(change) = connection.pending_changes().take_free() {
        emit_change(connection, &change);
    }
}

/// Like [`emit_pending_changes`], for changes of an object whose method has panicked. Code that has
/// not left an object can call this.
pub(in crate::blocking) fn emit_late_changes(connection: &Connection) {
    if connection.pending_changes().has_any() {
        emit_pending_changes(connection);
    }
}

/// Sends the signal for a change, now or as soon as the object is free. Waiting for another thread
/// here could be for ever: it may wait for this one.
pub(super) fn announce(connection: &Connection, change: ChangedProperties) {
    connection.pending_changes().add(change);
    emit_pending_changes(connection);
}

/// Sends the signal for a change.
fn emit_change(connection: &Connection, change: &ChangedProperties) {
    let served = &*change.served;
    let changed = change.emitting(EmitsChange::Value);
    let invalidated = change.emitting(EmitsChange::Invalidates);
    if changed.is_empty() && invalidated.is_empty() {
        return;
    }
    let write = |writer: &mut Writer<'_>| {
        writer.string(served.name());
        writer.array(8, |writer| {
            for name in &changed {
                writer.structure(|writer| {
                    writer.string(name);
                    served.write_property(name, writer);
                });
            }
        });
        writer.array(4, |writer| invalidated.iter().for_each(|name| writer.string(name)));
    };
    let body = EncodedBody::new(signature("sa{sv}as"), write);
    // If the signal cannot be sent, the connection ended.
    let _ = emit_standard(connection, &change.path, PROPERTIES_CHANGED, &body);
}

impl ChangedProperties {
    /// The properties whose changes are announced in this way.
    fn emitting(&self, emits: EmitsChange) -> Vec<&str> {
        let is_announced = |name: &&str| {
            let found = self.served.property(name);
            found.is_some_and(|(access, way)| way == emits && access.is_readable())
        };
        self.properties.iter().map(|name| &**name).filter(is_announced).collect()
    }
}

/// Queues a signal of a standard interface.
pub(super) fn emit_standard(
    connection: &Connection,
    path: &str,
    (interface, member): (&'static str, &'static str),
    body: &impl MessageBody,
) -> Result<(), SendError> {
    let names = (ObjectPath::new(path), InterfaceName::new(interface), MemberName::new(member));
    let (Ok(path), Ok(interface), Ok(member)) = names else {
        unreachable!("served paths are checked, and the others are literals")
    };
    connection.send(&Builder::signal(path, interface, member), body, Vec::new()).map(|_| ())
}

pub(super) fn signature(text: &'static str) -> Signature<'static> {
    Signature::new(text).expect("a literal that is one")
}

const PROPERTIES_CHANGED: (&str, &str) = (PROPERTIES, "PropertiesChanged");
pub(super) const INTERFACES_ADDED: (&str, &str) = (OBJECT_MANAGER, "InterfacesAdded");
pub(super) const INTERFACES_REMOVED: (&str, &str) = (OBJECT_MANAGER, "InterfacesRemoved");
