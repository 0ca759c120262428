//! Interfaces of objects, independent of the type of their state.

use wire::body::Writer;
use wire::introspection::{self, EmitsChange, PropertyAccess};

use super::error::MethodError;
use crate::blocking::request::IncomingCall;

/// An interface of an object, without the type of its state.
pub(super) trait DynInterface: Send + Sync {
    /// The name of the interface.
    fn name(&self) -> &str;

    /// True if the interface has a method of this name.
    fn has_method(&self, member: &str) -> bool;

    /// Runs one of the interface's methods for a call. The method must exist.
    fn invoke(&self, request: IncomingCall);

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
