//! Names of connections, interfaces, members, errors and objects ("Valid Names", "Valid Object
//! Paths").
//!
//! Each kind is a separate type that borrows its text and can be created only from valid text, so a
//! value needs no further checks.
//!
//! ```
//! use diligence_wire::names::{BusName, NameErrorKind, ObjectPath};
//!
//! let name = BusName::new("org.freedesktop.DBus")?;
//! assert!(!name.is_unique());
//! assert_eq!(BusName::new("org.2d").unwrap_err().kind, NameErrorKind::LeadingDigit);
//! assert_eq!(ObjectPath::new("/org//x").unwrap_err().at, 5);
//! # Ok::<(), diligence_wire::names::NameError>(())
//! ```

mod grammar;
mod rows;

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use grammar::{
    check_bus_name, check_interface_name, check_member_name, check_object_path,
    check_well_known_name,
};

#[cfg(doc)]
use crate::limits::NAME_LEN_MAX;

/// The reason why a text is not a valid name, and the byte at which it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameError {
    /// The rule that the text violates.
    pub kind: NameErrorKind,
    /// Offset in bytes from the start of the text.
    pub at: usize,
}

/// The rules that a name can violate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum NameErrorKind {
    /// The text is empty.
    Empty,
    /// The text is longer than [`NAME_LEN_MAX`] bytes.
    TooLong,
    /// The name has one element, but its kind requires at least two, separated by dots.
    SingleElement,
    /// Two separators are adjacent, or a separator is the first or last character.
    EmptyElement,
    /// An element begins with a digit, which is not allowed in this kind of name.
    LeadingDigit,
    /// A byte is not allowed in this kind of name.
    InvalidByte,
    /// An object path that does not begin with a slash.
    NotAbsolute,
    /// An object path other than the root ends with a slash.
    TrailingSlash,
}

impl fmt::Display for NameErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the name is empty",
            Self::TooLong => "the name is longer than 255 bytes",
            Self::SingleElement => "the name has one element, but needs at least two",
            Self::EmptyElement => "an element of the name is empty",
            Self::LeadingDigit => "an element begins with a digit",
            Self::InvalidByte => "a byte is not allowed in this kind of name",
            Self::NotAbsolute => "the object path does not begin with '/'",
            Self::TrailingSlash => "the object path ends in '/'",
        })
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.at)
    }
}

impl core::error::Error for NameError {}

/// The constructors that all kinds of names have.
pub(crate) trait CheckedName<'a>: Sized {
    fn new(text: &'a str) -> Result<Self, NameError>;

    fn from_bytes(bytes: &'a [u8]) -> Result<Self, NameError>;
}

/// Declares a borrowed name type with its check.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name<'a>(&'a str);

        impl<'a> $name<'a> {
            /// Checks `text` against the grammar of this kind of name.
            ///
            /// # Errors
            ///
            /// If the text is not a valid name of this kind.
            #[inline]
            pub fn new(text: &'a str) -> Result<Self, NameError> {
                $check(text.as_bytes())?;
                Ok(Self(text))
            }

            /// Like [`new`](Self::new), for bytes from the wire. The grammar allows only ASCII, so
            /// bytes that are not UTF-8 violate the same rules.
            ///
            /// # Errors
            ///
            /// If the bytes are not a valid name of this kind.
            #[inline]
            pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, NameError> {
                $check(bytes)?;
                match core::str::from_utf8(bytes) {
                    Ok(text) => Ok(Self(text)),
                    Err(error) => Err(NameErrorKind::InvalidByte.at(error.valid_up_to())),
                }
            }

            /// The name as text.
            #[inline]
            pub const fn as_str(self) -> &'a str {
                self.0
            }
        }

        impl<'a> CheckedName<'a> for $name<'a> {
            #[inline]
            fn new(text: &'a str) -> Result<Self, NameError> {
                Self::new(text)
            }

            #[inline]
            fn from_bytes(bytes: &'a [u8]) -> Result<Self, NameError> {
                Self::from_bytes(bytes)
            }
        }

        impl fmt::Display for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0)
            }
        }

        impl PartialEq<str> for $name<'_> {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name<'_> {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }
    };
}

name! {
    /// The name of a connection: unique (`:1.42`) or well-known (`org.example.A`).
    ///
    /// Like dbus-daemon, this also accepts unique names with one element (`:1`) or none (`:`),
    /// which never have an owner. Unlike dbus-daemon, it rejects an empty first element (`:.1`).
    BusName, check_bus_name
}

name! {
    /// A name that a connection can request, such as `org.example.Player`, but not `:1.42`.
    WellKnownName, check_well_known_name
}

name! {
    /// The name of an interface, such as `org.freedesktop.DBus.Properties`.
    InterfaceName, check_interface_name
}

name! {
    /// The name of a method, signal or property, such as `NameOwnerChanged`.
    MemberName, check_member_name
}

name! {
    /// The name of an error, such as `org.freedesktop.DBus.Error.Failed`. It has the grammar of an
    /// interface name.
    ErrorName, check_interface_name
}

name! {
    /// The path of an object, such as `/` or `/org/example/Player`. Its length is limited only by
    /// the message.
    ObjectPath, check_object_path
}

impl BusName<'_> {
    /// True for a unique name, which the bus assigned (`:1.42`).
    #[inline]
    pub fn is_unique(self) -> bool {
        self.0.starts_with(':')
    }
}

impl<'a> From<WellKnownName<'a>> for BusName<'a> {
    fn from(name: WellKnownName<'a>) -> Self {
        Self(name.0)
    }
}

impl<'a> InterfaceName<'a> {
    /// Checks a literal at compile time; an invalid interface name fails the build.
    ///
    /// ```
    /// use diligence_wire::names::InterfaceName;
    /// const PEER: InterfaceName<'static> = InterfaceName::literal("org.freedesktop.DBus.Peer");
    /// ```
    pub const fn literal(text: &'a str) -> Self {
        assert!(check_interface_name(text.as_bytes()).is_ok(), "not an interface name");
        Self(text)
    }
}

impl<'a> ErrorName<'a> {
    /// Checks a literal at compile time; an invalid error name fails the build.
    pub const fn literal(text: &'a str) -> Self {
        assert!(check_interface_name(text.as_bytes()).is_ok(), "not an error name");
        Self(text)
    }
}

impl<'a> MemberName<'a> {
    /// Checks a literal at compile time; an invalid member name fails the build.
    pub const fn literal(text: &'a str) -> Self {
        assert!(check_member_name(text.as_bytes()).is_ok(), "not a member name");
        Self(text)
    }
}

impl<'a> WellKnownName<'a> {
    /// Checks a literal at compile time; an invalid well-known name fails the build.
    pub const fn literal(text: &'a str) -> Self {
        assert!(check_well_known_name(text.as_bytes()).is_ok(), "not a well-known name");
        Self(text)
    }
}

impl<'a> ObjectPath<'a> {
    /// The root path, `/`.
    pub const ROOT: ObjectPath<'static> = ObjectPath("/");

    /// Checks a literal at compile time; an invalid object path fails the build.
    pub const fn literal(text: &'a str) -> Self {
        assert!(check_object_path(text.as_bytes()).is_ok(), "not an object path");
        Self(text)
    }
}

/// The name of a connection that owns its text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BusNameBuf(Box<str>);

impl BusNameBuf {
    /// The name as a borrowed [`BusName`].
    pub fn as_name(&self) -> BusName<'_> {
        BusName(&self.0)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<BusName<'_>> for BusNameBuf {
    fn from(name: BusName<'_>) -> Self {
        Self(name.0.into())
    }
}

impl fmt::Display for BusNameBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An object path that owns its text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectPathBuf(Box<str>);

impl ObjectPathBuf {
    /// The path as a borrowed [`ObjectPath`].
    pub fn as_path(&self) -> ObjectPath<'_> {
        ObjectPath(&self.0)
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<ObjectPath<'_>> for ObjectPathBuf {
    fn from(path: ObjectPath<'_>) -> Self {
        Self(path.0.into())
    }
}

/// Checks a text without copying it.
impl TryFrom<String> for ObjectPathBuf {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        check_object_path(text.as_bytes())?;
        Ok(Self(text.into()))
    }
}

impl fmt::Display for ObjectPathBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl NameErrorKind {
    const fn at(self, at: usize) -> NameError {
        NameError { kind: self, at }
    }
}

#[cfg(test)]
mod tests {
    use super::NameErrorKind::*;
    use super::*;

    type GrammarCase = (&'static str, Result<(), (NameErrorKind, usize)>);

    fn check(rows: &[GrammarCase], error: impl Fn(&'static str) -> Option<NameError>) {
        for &(text, expected) in rows {
            let found = error(text).map_or(Ok(()), |e| Err((e.kind, e.at)));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn bus_names_are_checked_against_the_grammar() {
        check(
            &[
                (":1.0", Ok(())),
                (":1.2-x.4", Ok(())),
                (":", Ok(())),
                (":1", Ok(())),
                ("org.example", Ok(())),
                ("org.ex-ample._7", Ok(())),
                ("", Err((Empty, 0))),
                ("org", Err((SingleElement, 3))),
                (".org", Err((EmptyElement, 0))),
                ("org.", Err((EmptyElement, 4))),
                ("org..x", Err((EmptyElement, 4))),
                (":1.", Err((EmptyElement, 3))),
                ("org.7", Err((LeadingDigit, 4))),
                ("org.a b", Err((InvalidByte, 5))),
                ("a.é", Err((InvalidByte, 2))),
            ],
            |text| BusName::new(text).err(),
        );
        assert_eq!(WellKnownName::new(":1.0").unwrap_err().kind, InvalidByte);
    }

    #[test]
    fn interface_and_member_names_are_checked_against_the_grammar() {
        check(
            &[
                ("a.b", Ok(())),
                ("a.b-c", Err((InvalidByte, 3))),
                ("a", Err((SingleElement, 1))),
                ("a.1", Err((LeadingDigit, 2))),
            ],
            |text| InterfaceName::new(text).err(),
        );
        check(
            &[
                ("Get", Ok(())),
                ("_1", Ok(())),
                ("", Err((Empty, 0))),
                ("1a", Err((LeadingDigit, 0))),
                ("a.b", Err((InvalidByte, 1))),
            ],
            |text| MemberName::new(text).err(),
        );
    }

    #[test]
    fn object_paths_are_checked_against_the_grammar() {
        check(
            &[
                ("/", Ok(())),
                ("/a/_0", Ok(())),
                ("", Err((Empty, 0))),
                ("a", Err((NotAbsolute, 0))),
                ("/a/", Err((TrailingSlash, 2))),
                ("//", Err((EmptyElement, 1))),
                ("/a-b", Err((InvalidByte, 2))),
            ],
            |text| ObjectPath::new(text).err(),
        );
    }

    #[test]
    fn names_except_paths_are_limited_to_255_bytes() {
        let text = |len: usize| alloc::format!("/{}", "a".repeat(len - 1));
        assert!(ObjectPath::new(&text(5000)).is_ok());
        assert!(MemberName::new(&text(256)[1..]).is_ok());
        assert_eq!(MemberName::new(&text(257)[1..]).unwrap_err().kind, TooLong);
    }
}
