//! Errors that served methods reply with.

use wire::body::ReadError;
use wire::names::ErrorName;

use crate::blocking::error::{CallError, EmitError};

/// Error names that all bindings use.
pub mod error_name {
    use wire::names::ErrorName;

    macro_rules! names {
        ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
            $(
                $(#[$doc])*
                pub const $name: ErrorName<'static> =
                    ErrorName::literal(concat!("org.freedesktop.DBus.Error.", $text));
            )*
        };
    }

    names! {
        /// The method failed, and no other name fits.
        FAILED = "Failed";
        /// The arguments have the wrong types, or values that the method does not accept.
        INVALID_ARGS = "InvalidArgs";
        /// There is no object at the path.
        UNKNOWN_OBJECT = "UnknownObject";
        /// The object does not have the interface.
        UNKNOWN_INTERFACE = "UnknownInterface";
        /// The interface does not have the method.
        UNKNOWN_METHOD = "UnknownMethod";
        /// The interface does not have the property.
        UNKNOWN_PROPERTY = "UnknownProperty";
        /// The property cannot be written.
        PROPERTY_READ_ONLY = "PropertyReadOnly";
        /// The caller is not allowed to do this.
        ACCESS_DENIED = "AccessDenied";
        /// A limit was reached.
        LIMITS_EXCEEDED = "LimitsExceeded";
        /// The method is not supported.
        NOT_SUPPORTED = "NotSupported";
        /// The name has no owner, and no service can be started for it.
        SERVICE_UNKNOWN = "ServiceUnknown";
        /// The name has no owner.
        NAME_HAS_NO_OWNER = "NameHasNoOwner";
        /// The callee did not reply, or disconnected before it did.
        NO_REPLY = "NoReply";
    }
}

/// The error that a served method replies with.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name}: {message}")]
pub struct MethodError {
    name: Box<str>,
    message: String,
}

impl MethodError {
    /// Creates an error with a name, for programs, and a text, for people.
    ///
    /// ```
    /// use diligence_client::MethodError;
    /// use diligence_client::wire::names::ErrorName;
    ///
    /// const BUSY: ErrorName<'static> = ErrorName::literal("org.example.Error.Busy");
    /// let error = MethodError::new(BUSY, "a song is playing");
    /// assert_eq!(error.to_string(), "org.example.Error.Busy: a song is playing");
    /// ```
    pub fn new(name: ErrorName<'_>, message: impl Into<String>) -> Self {
        Self { name: name.as_str().into(), message: message.into() }
    }

    /// Creates the error for failures without a more specific name:
    /// `org.freedesktop.DBus.Error.Failed`.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(error_name::FAILED, message)
    }

    /// Creates the error for unacceptable arguments: `org.freedesktop.DBus.Error.InvalidArgs`.
    pub fn invalid_args(message: impl Into<String>) -> Self {
        Self::new(error_name::INVALID_ARGS, message)
    }

    /// The name of the error, for programs.
    pub fn name(&self) -> ErrorName<'_> {
        ErrorName::new(&self.name).expect("the constructor takes a valid name")
    }

    /// The text of the error, for people.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<ReadError> for MethodError {
    fn from(error: ReadError) -> Self {
        Self::invalid_args(error.to_string())
    }
}

/// An error reply that a method gets to its own call is forwarded to the caller.
impl From<CallError> for MethodError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Remote { name, message, .. } => Self { name: name.into(), message },
            other => Self::failed(other.to_string()),
        }
    }
}

/// A method that cannot emit its signal fails with the reason.
impl From<EmitError> for MethodError {
    fn from(error: EmitError) -> Self {
        Self::failed(error.to_string())
    }
}
