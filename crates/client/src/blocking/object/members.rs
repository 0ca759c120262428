//! The members of an interface that is served.

use wire::body::{Typed, Writer, signature_of};
use wire::introspection::{self, Argument};
use wire::message::WriteError;
use wire::signature::SignatureBuf;

use super::error::MethodError;
use crate::blocking::request::Request;

/// A method and the function that runs it.
pub(super) struct Method<S> {
    pub(super) description: introspection::Method,
    pub(super) run: Run<S>,
}

/// Runs a method and answers the call.
type Run<S> = Box<dyn Fn(&mut S, Request)>;

impl<S> Method<S> {
    pub(super) fn new(
        name: &str,
        arguments: Vec<Argument>,
        results: Vec<Argument>,
        run: Run<S>,
    ) -> Self {
        let name = name.to_owned();
        let description = introspection::Method { name, arguments, results, ..<_>::default() };
        Self { description, run }
    }
}

/// A property and the functions that read and set it.
pub(super) struct Property<S> {
    pub(super) description: introspection::Property,
    pub(super) get: Option<Get<S>>,
    pub(super) set: Option<Set<S>>,
}

/// Writes the value of a property, as a variant.
type Get<S> = Box<dyn Fn(&S, &mut Writer<'_>)>;

/// Sets a property to the value in a call of `Set`.
type Set<S> = Box<dyn Fn(&mut S, &Request) -> Result<(), MethodError>>;

/// The D-Bus types of arguments or results: implemented for tuples, and `()` for none.
pub trait ArgTypes {
    /// Each type as text.
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
