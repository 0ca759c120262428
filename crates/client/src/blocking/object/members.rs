//! The members of a served interface.

use std::fmt;

use wire::body::{Typed, Writer, signature_of};
use wire::introspection::{self, Argument, PropertyAccess};
use wire::message::WriteError;
use wire::signature::SignatureBuf;

use super::error::MethodError;
use crate::blocking::request::IncomingCall;

/// A method and the function that runs it.
pub(super) struct MethodHandler<S> {
    pub(super) description: introspection::Method,
    pub(super) run: RunMethod<S>,
}

/// Runs a method and answers the call.
type RunMethod<S> = Box<dyn Fn(&mut S, IncomingCall) + Send + Sync>;

impl<S> MethodHandler<S> {
    pub(super) fn new(
        name: &str,
        arguments: Vec<Argument>,
        results: Vec<Argument>,
        run: RunMethod<S>,
    ) -> Self {
        let name = name.to_owned();
        let description = introspection::Method { name, arguments, results, ..<_>::default() };
        Self { description, run }
    }
}

/// A property and the functions that read and set it.
pub(super) struct PropertyHandler<S> {
    pub(super) description: introspection::Property,
    pub(super) functions: PropertyFunctions<S>,
}

/// The functions of a property, by how it can be accessed.
pub enum PropertyFunctions<S> {
    /// The property can be read.
    Read(PropertyGetter<S>),
    /// The property can be written, but not read.
    Write(PropertySetter<S>),
    /// The property can be read and written.
    ReadWrite(PropertyGetter<S>, PropertySetter<S>),
}

/// Writes the value of a property, as a variant.
pub type PropertyGetter<S> = Box<dyn Fn(&S, &mut Writer<'_>) + Send + Sync>;

/// Sets a property to the value in a call of `Set`, whose arguments are the names of the interface
/// and the property, and the value as a variant.
pub type PropertySetter<S> =
    Box<dyn Fn(&mut S, &IncomingCall) -> Result<(), MethodError> + Send + Sync>;

impl<S> PropertyFunctions<S> {
    pub(super) const fn access(&self) -> PropertyAccess {
        match self {
            Self::Read(_) => PropertyAccess::Read,
            Self::Write(_) => PropertyAccess::Write,
            Self::ReadWrite(..) => PropertyAccess::ReadWrite,
        }
    }

    pub(super) const fn getter(&self) -> Option<&PropertyGetter<S>> {
        match self {
            Self::Read(get) | Self::ReadWrite(get, _) => Some(get),
            Self::Write(_) => None,
        }
    }

    pub(super) const fn setter(&self) -> Option<&PropertySetter<S>> {
        match self {
            Self::Write(set) | Self::ReadWrite(_, set) => Some(set),
            Self::Read(_) => None,
        }
    }
}

impl<S> fmt::Debug for PropertyFunctions<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PropertyFunctions({})", self.access().as_str())
    }
}

/// The D-Bus types of arguments or results: a tuple, or `()` for none.
pub trait ArgTypes {
    /// The signature of each argument.
    ///
    /// # Errors
    ///
    /// If a type cannot be represented in D-Bus, because its signature is too long or nested too
    /// deeply.
    fn signatures() -> Result<Vec<SignatureBuf>, WriteError>;
}

impl ArgTypes for () {
    fn signatures() -> Result<Vec<SignatureBuf>, WriteError> {
        Ok(Vec::new())
    }
}

macro_rules! arg_types {
    ($($($name:ident)+;)*) => {
        $(
            impl<$($name: Typed),+> ArgTypes for ($($name,)+) {
                fn signatures() -> Result<Vec<SignatureBuf>, WriteError> {
                    Ok(vec![$(signature_of::<$name>()?),+])
                }
            }
        )*
    };
}

arg_types! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}
