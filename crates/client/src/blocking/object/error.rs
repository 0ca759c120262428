//! Errors that a served method answers with.

use wire::body::ReadError;
use wire::names::ErrorName;

use crate::blocking::error::{CallError, EmitError};

/// Names of errors that every binding knows.
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
        /// Something failed, and no other name fits.
        FAILED = "Failed";
        /// The arguments have other types than the method has, or values that it refuses.
        INVALID_ARGS = "InvalidArgs";
        /// There is no object at the path.
        UNKNOWN_OBJECT = "UnknownObject";
        /// The object has not the interface.
        UNKNOWN_INTERFACE = "UnknownInterface";
        /// The interface has not the method.
        UNKNOWN_METHOD = "UnknownMethod";
        /// The interface has not the property.
        UNKNOWN_PROPERTY = "UnknownProperty";
        /// The property cannot be written.
        PROPERTY_READ_ONLY = "PropertyReadOnly";
        /// The caller may not do this.
        ACCESS_DENIED = "AccessDenied";
        /// A limit was reached.
        LIMITS_EXCEEDED = "LimitsExceeded";
        /// The method is not supported.
        NOT_SUPPORTED = "NotSupported";
        /// The bus knows no service of the name.
        SERVICE_UNKNOWN = "ServiceUnknown";
        /// Nobody owns the name.
        NAME_HAS_NO_OWNER = "NameHasNoOwner";
        /// The callee did not answer, or went before it did.
        NO_REPLY = "NoReply";
    }
}

/// What a served method answers with when it fails.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name}: {message}")]
pub struct MethodError {
    name: Box<str>,
    message: String,
}

impl MethodError {
    /// An error with a name, for programs, and a text, for people.
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

    /// The error for which no name fits: `org.freedesktop.DBus.Error.Failed`.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(error_name::FAILED, message)
    }

    /// The error for arguments that will not do: `org.freedesktop.DBus.Error.InvalidArgs`.
    pub fn invalid_args(message: impl Into<String>) -> Self {
        Self::new(error_name::INVALID_ARGS, message)
    }

    /// The name.
    pub fn name(&self) -> ErrorName<'_> {
        ErrorName::new(&self.name).expect("it was a name when the error was made")
    }

    /// The text.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<ReadError> for MethodError {
    fn from(error: ReadError) -> Self {
        Self::invalid_args(error.to_string())
    }
}

/// An error of a call that was made on behalf of the caller is passed on.
impl From<CallError> for MethodError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Remote { name, message } => Self { name: name.into(), message },
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
