//! What an interface has.

use wire::body::{Typed, Writer, signature_of};
use wire::message::WriteError;
use wire::signature::SignatureBuf;

use super::MethodError;
use crate::blocking::Request;

/// A method: what it takes, what it gives, what it does.
pub(super) struct Method<S> {
    pub(super) arguments: Vec<Arg>,
    pub(super) results: Vec<Arg>,
    pub(super) annotations: Vec<Annotation>,
    pub(super) run: Run<S>,
}

/// Runs a method and answers the call.
type Run<S> = Box<dyn Fn(&mut S, Request)>;

impl<S> Method<S> {
    pub(super) const fn new(arguments: Vec<Arg>, results: Vec<Arg>, run: Run<S>) -> Self {
        Self { arguments, results, annotations: Vec::new(), run }
    }
}

/// A property: its type, and how it is read and written.
pub(super) struct Property<S> {
    pub(super) kind: SignatureBuf,
    pub(super) get: Option<Get<S>>,
    pub(super) set: Option<Set<S>>,
    pub(super) emits: EmitsChange,
    pub(super) annotations: Vec<Annotation>,
}

/// Writes the value of a property, as a variant.
type Get<S> = Box<dyn Fn(&S, &mut Writer<'_>)>;

/// Reads the value of a property out of a call of `Set`.
type Set<S> = Box<dyn Fn(&mut S, &Request) -> Result<(), MethodError>>;

impl<S> Property<S> {
    pub(super) const fn access(&self) -> Access {
        match (&self.get, &self.set) {
            (Some(_), None) => Access::Read,
            (None, _) => Access::Write,
            (Some(_), Some(_)) => Access::ReadWrite,
        }
    }
}

/// A signal.
pub(super) struct SignalMember {
    pub(super) arguments: Vec<Arg>,
    pub(super) annotations: Vec<Annotation>,
}

/// An argument or a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Arg {
    pub(super) name: Box<str>,
    pub(super) kind: SignatureBuf,
}

/// A note about a member, for those who read the introspection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Annotation {
    pub(super) name: Box<str>,
    pub(super) value: Box<str>,
}

/// What can be done with a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Read,
    Write,
    ReadWrite,
}

impl Access {
    /// The word for it in the introspection.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "readwrite",
        }
    }
}

/// How a change of a property is told
/// (`org.freedesktop.DBus.Property.EmitsChangedSignal`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum EmitsChange {
    /// `PropertiesChanged` has the new value: `true`.
    #[default]
    WithValue,
    /// `PropertiesChanged` has the name, and not the value: `invalidates`.
    Invalidates,
    /// It never changes: `const`.
    Const,
    /// A change is not told: `false`.
    No,
}

impl EmitsChange {
    /// The value of the annotation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WithValue => "true",
            Self::Invalidates => "invalidates",
            Self::Const => "const",
            Self::No => "false",
        }
    }
}

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
