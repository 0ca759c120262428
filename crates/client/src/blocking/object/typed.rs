//! Objects whose type defines their interface.

use wire::names::{MemberName, ObjectPath};

use super::interface::{InterfaceError, ServedInterface};
use super::{Object, ServeError};
use crate::blocking::connection::Connection;
use crate::blocking::error::EmitError;
use crate::blocking::request::IncomingCall;
use crate::core::MessageBody;
use crate::name::IntoName;

/// A type that defines the interface of its objects. The attribute
/// [`interface`](macro@crate::interface) implements it.
pub trait ServedObject: Sized + Send + 'static {
    /// The interface of objects of this type.
    ///
    /// # Errors
    ///
    /// If the definition is invalid. It does not depend on the state of the program, so a test can
    /// check it.
    fn served_interface() -> Result<ServedInterface<Self>, InterfaceError>;
}

impl Connection {
    /// Serves an object whose type defines its interface; see
    /// [`add_object`](Self::add_object).
    ///
    /// # Errors
    ///
    /// As for [`add_object`](Self::add_object), and [`ServeError::Interface`] if the definition of
    /// the interface is invalid.
    pub fn export<'p, S: ServedObject>(
        &self,
        path: impl IntoName<ObjectPath<'p>>,
        state: S,
    ) -> Result<Object<S>, ServeError> {
        self.add_object(path, &S::served_interface()?, state)
    }
}

/// A value that can emit the signals of an object with the state `S`: the [`Object`], or a call to
/// it while a method runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot emit the signals of an object with the state `{S}`",
    note = "pass the `Object<{S}>` that `export` returned, or the `IncomingCall` of a method of it"
)]
pub trait SignalEmitter<S> {
    /// Queues a signal of the interface; see [when messages leave](crate#when-messages-leave).
    ///
    /// # Errors
    ///
    /// If the arguments cannot be encoded, or the connection ended.
    fn emit_signal(
        &self,
        member: MemberName<'_>,
        arguments: &impl MessageBody,
    ) -> Result<(), EmitError>;

    /// Announces that properties of the interface changed, as configured with
    /// [`EmitsChange`](super::EmitsChange).
    fn announce_changes(&self, properties: &[&str]);
}

impl<S: Send + 'static> SignalEmitter<S> for Object<S> {
    fn emit_signal(
        &self,
        member: MemberName<'_>,
        arguments: &impl MessageBody,
    ) -> Result<(), EmitError> {
        self.emit(member, arguments)
    }

    fn announce_changes(&self, properties: &[&str]) {
        self.properties_changed(properties);
    }
}

/// The call must be to an object with the state `S`.
impl<S> SignalEmitter<S> for IncomingCall {
    fn emit_signal(
        &self,
        member: MemberName<'_>,
        arguments: &impl MessageBody,
    ) -> Result<(), EmitError> {
        self.emit(member, arguments)
    }

    fn announce_changes(&self, properties: &[&str]) {
        self.properties_changed(properties);
    }
}
