//! Interfaces of objects, independent of the type of their state.

use wire::body::Writer;
use wire::introspection::{self, EmitsChange, PropertyAccess};

use super::error::MethodError;
use crate::blocking::request::IncomingCall;

/// The place of a method in its interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MethodIndex(pub(super) usize);

/// An interface of an object, without the type of its state.
pub(super) trait DynInterface: Send + Sync {
    /// The name of the interface.
    fn name(&self) -> &str;

    /// The method of this name, if the interface has it.
    fn method(&self, member: &str) -> Option<MethodIndex>;

    /// Runs one of the interface's methods for a call.
    fn invoke(&self, method: MethodIndex, request: IncomingCall);

    /// How a property can be accessed and how its changes are announced.
    fn property(&self, name: &str) -> Option<(PropertyAccess, EmitsChange)>;

    /// Checks that the state can be read: this thread runs no method of the object.
    fn check_free(&self) -> Result<(), MethodError>;

    /// True if no thread runs a method of the object.
    fn is_free(&self) -> bool;

    /// Writes the value of a readable property, as a variant.
    fn write_property(&self, name: &str, writer: &mut Writer<'_>);

    /// Writes all readable properties, as entries of `a{sv}`.
    fn write_properties(&self, writer: &mut Writer<'_>);

    /// Sets a property to the value in a call of `Set`.
    fn set(&self, name: &str, request: &IncomingCall) -> Result<(), MethodError>;

    /// The description of the interface for introspection.
    fn describe(&self) -> introspection::Interface;
}
