//! Conversion of text to checked names, with errors that state the text and the kind of name.

use std::fmt;

use wire::names::{
    BusName, ErrorName, InterfaceName, MemberName, NameError, ObjectPath, ObjectPathBuf,
    WellKnownName,
};

/// A value accepted where the name `N` is expected: text, which is checked, or the name itself.
///
/// ```
/// use diligence_client::IntoName;
/// use diligence_client::wire::names::BusName;
///
/// let name: BusName<'_> = "org.example".into_name()?;
/// let error = IntoName::<BusName<'_>>::into_name("org").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "\"org\" is not a valid bus name: the name has one element, but needs at least two \
///      (at byte 3)",
/// );
/// # Ok::<(), diligence_client::InvalidName>(())
/// ```
pub trait IntoName<N> {
    /// Checks the text and returns it as a name.
    ///
    /// # Errors
    ///
    /// If the text is not a valid name of this kind.
    fn into_name(self) -> Result<N, InvalidName>;
}

/// The error for a text that is not a valid name of the expected kind.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?} is not a valid {kind}: {error}")]
pub struct InvalidName {
    /// The kind of name that was expected.
    pub kind: NameKind,
    /// The text that is not a valid name.
    pub text: Box<str>,
    /// The rule that the text violates, and the position.
    pub error: NameError,
}

/// The kinds of names ("Valid Names", "Valid Object Paths").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NameKind {
    /// A bus name: a unique name or a well-known name.
    Bus,
    /// A well-known bus name, which a connection can request.
    WellKnown,
    /// The path of an object.
    ObjectPath,
    /// The name of an interface.
    Interface,
    /// The name of a method, signal or property.
    Member,
    /// The name of an error reply.
    Error,
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bus => "bus name",
            Self::WellKnown => "well-known bus name",
            Self::ObjectPath => "object path",
            Self::Interface => "interface name",
            Self::Member => "member name",
            Self::Error => "error name",
        })
    }
}

macro_rules! into_name {
    ($($name:ident $kind:ident;)*) => {
        $(
            impl<'a> IntoName<$name<'a>> for $name<'a> {
                fn into_name(self) -> Result<$name<'a>, InvalidName> {
                    Ok(self)
                }
            }

            impl<'a> IntoName<$name<'a>> for &'a str {
                fn into_name(self) -> Result<$name<'a>, InvalidName> {
                    $name::new(self).map_err(|error| InvalidName {
                        kind: NameKind::$kind,
                        text: self.into(),
                        error,
                    })
                }
            }

            impl<'a> IntoName<$name<'a>> for &'a String {
                fn into_name(self) -> Result<$name<'a>, InvalidName> {
                    self.as_str().into_name()
                }
            }
        )*
    };
}

into_name! {
    BusName Bus;
    WellKnownName WellKnown;
    ObjectPath ObjectPath;
    InterfaceName Interface;
    MemberName Member;
    ErrorName Error;
}

impl<'a> IntoName<BusName<'a>> for WellKnownName<'a> {
    fn into_name(self) -> Result<BusName<'a>, InvalidName> {
        Ok(self.into())
    }
}

impl<'a> IntoName<ObjectPath<'a>> for &'a ObjectPathBuf {
    fn into_name(self) -> Result<ObjectPath<'a>, InvalidName> {
        Ok(self.as_path())
    }
}
