//! The members of a served interface.

use wire::body::{Typed, Writer, signature_of};
use wire::introspection::{self, Argument};
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
    pub(super) get: Option<PropertyGetter<S>>,
    pub(super) set: Option<PropertySetter<S>>,
}

/// Writes the value of a property, as a variant.
type PropertyGetter<S> = Box<dyn Fn(&S, &mut Writer<'_>) + Send + Sync>;

/// Sets a property to the value in a call of `Set`.
type PropertySetter<S> =
    Box<dyn Fn(&mut S, &IncomingCall) -> Result<(), MethodError> + Send + Sync>;

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
