//! Errors and warnings of a configuration, with their positions.
//!
//! Where dbus-daemon has a text for an error, this text is used after the position, so that users
//! can search for it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bus::PolicyVerdict;
use wire::address::AddressError;
use wire::sasl::Mechanisms;

use super::not_enforced::NotEnforced;
use super::rule::RuleError;
use crate::os_error::OsError;

/// Why a configuration cannot be used, with the position of the error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The file with the error.
    pub file: PathBuf,
    /// The position in the file; `None` if the error concerns the whole file.
    pub position: Option<Position>,
    /// The kind of the error.
    pub kind: ConfigErrorKind,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, position, kind } = self;
        match position {
            Some(position) => write!(f, "{}:{position}: {kind}", file.display()),
            None => write!(f, "{}: {kind}", file.display()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A position in a file. Both numbers start at 1; columns are counted in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The number of the line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl Position {
    /// The start of a file.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The position after `text`, if the text starts at this position.
    pub(super) fn after(self, text: &[u8]) -> Self {
        let mut lines = text.split(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let (new_lines, start, last) = match lines.next_back() {
            None => (0, self.column, first),
            Some(last) => (1 + lines.count(), 1, last),
        };
        // All bytes except UTF-8 continuation bytes.
        let columns = last.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        Self { line: advance(self.line, new_lines), column: advance(start, columns) }
    }
}

fn advance(number: u32, by: usize) -> u32 {
    u32::try_from(by).map_or(u32::MAX, |by| number.saturating_add(by))
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The position of an element of the configuration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ElementOrigin {
    /// The file with the element.
    pub file: Arc<Path>,
    /// The position of the element in the file.
    pub position: Position,
}

impl ElementOrigin {
    pub(super) fn error(&self, kind: impl Into<ConfigErrorKind>) -> ConfigError {
        let kind = kind.into();
        ConfigError { file: self.file.to_path_buf(), position: Some(self.position), kind }
    }
}

impl fmt::Display for ElementOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.position)
    }
}

/// The kind of a configuration error.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// A file or directory cannot be read.
    Read(ConfigReadError),
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The text is not well-formed XML.
    Xml(XmlError),
    /// An element, attribute or text is unknown or missing.
    Shape(ShapeError),

    /// `<auth>` names an unknown mechanism.
    UnknownMechanism(String),
    /// `<listen>` has an invalid address.
    Address(AddressError),
    /// There is no address to listen at.
    NoListen,
    /// `<apparmor mode=…>` has an unknown mode.
    AppArmorMode(String),
    /// A `<limit>` is invalid.
    Limit {
        /// The name of the limit.
        name: String,
        /// The problem with the limit.
        error: LimitError,
    },

    /// `<policy>` has none, or several, of the attributes that define its scope.
    PolicyScope,
    /// `<policy context=…>` is neither `default` nor `mandatory`.
    PolicyContext(String),
    /// `<policy at_console=…>` is neither `true` nor `false`.
    PolicyConsole(String),
    /// An `<allow>` or `<deny>` is invalid.
    Rule {
        /// Which of the two elements it is.
        verdict: PolicyVerdict,
        /// The problem with the rule.
        error: RuleError,
    },

    /// The configuration is valid, but has a requirement that this bus cannot enforce.
    NotEnforced(NotEnforced),
}

impl fmt::Display for ConfigErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::NotUtf8 => f.write_str("this byte is not UTF-8, which the file must be"),
            Self::Xml(error) => error.fmt(f),
            Self::Shape(error) => error.fmt(f),
            Self::UnknownMechanism(name) => write!(
                f,
                "Unsupported auth mechanism \"{name}\" in bus config file detected. Supported \
                 mechanisms are \"{}\".",
                Mechanisms::ALL.to_string().replace(' ', ", ")
            ),
            Self::Address(error) => write!(f, "<listen> must have an address: {error}"),
            Self::NoListen => f.write_str(
                "Configuration file needs one or more <listen> elements giving addresses",
            ),
            Self::AppArmorMode(mode) => write!(
                f,
                "Mode attribute on <apparmor> must have value \"required\", \"enabled\" or \
                 \"disabled\", not \"{mode}\""
            ),
            Self::Limit { name, error } => error.fmt_for(name, f),
            Self::PolicyScope => f.write_str(
                "<policy> element must have exactly one of (context|user|group|at_console) \
                 attributes",
            ),
            Self::PolicyContext(context) => write!(
                f,
                "context attribute on <policy> must have the value \"default\" or \"mandatory\", \
                 not \"{context}\""
            ),
            Self::PolicyConsole(value) => write!(
                f,
                "Unknown value \"{value}\" for at_console in message bus configuration file, \
                 expected \"true\" or \"false\""
            ),
            Self::Rule { verdict, error } => error.fmt_on(element_of(*verdict), f),
            Self::NotEnforced(what) => what.fmt(f),
        }
    }
}

impl From<ConfigReadError> for ConfigErrorKind {
    fn from(error: ConfigReadError) -> Self {
        Self::Read(error)
    }
}

impl From<ShapeError> for ConfigErrorKind {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

impl From<NotEnforced> for ConfigErrorKind {
    fn from(what: NotEnforced) -> Self {
        Self::NotEnforced(what)
    }
}

/// Why a file or directory cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigReadError {
    /// The file cannot be opened or read.
    Open {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: OsError,
    },
    /// The path is a directory or a special file.
    NotAFile(PathBuf),
    /// The file has more than [`FILE_LEN_MAX`] bytes.
    TooLarge(PathBuf),
    /// The file includes itself, directly or through others.
    Circular(PathBuf),
    /// The directory cannot be read.
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The error of the system.
        error: OsError,
    },
}

impl ConfigReadError {
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Open { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for ConfigReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { path, error } => {
                write!(f, "Failed to open \"{}\": {error}", path.display())
            }
            Self::NotAFile(path) => write!(f, "\"{}\" is not a regular file", path.display()),
            Self::TooLarge(path) => {
                let path = path.display();
                write!(f, "\"{path}\" is too large: more than {FILE_LEN_MAX} bytes")
            }
            Self::Circular(path) => write!(f, "Circular inclusion of file '{}'", path.display()),
            Self::Directory { path, error } => {
                write!(f, "Failed to read directory \"{}\": {error}", path.display())
            }
        }
    }
}

/// The maximum length of a configuration file in bytes.
pub const FILE_LEN_MAX: u64 = 1 << 20;

/// Why a text is not well-formed XML.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XmlError(pub(super) roxmltree::Error);

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The caller shows the position already.
        let place = format!(" at {}", self.0.pos());
        write!(f, "not well-formed XML: {}", self.0.to_string().replace(&place, ""))
    }
}

/// Which element, attribute or text is misplaced or missing.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ShapeError {
    /// The root of the document is not `<busconfig>`.
    UnknownRoot(String),
    /// An element is not allowed in its parent.
    UnknownElement {
        /// The name of the element.
        element: String,
        /// The name of its parent.
        parent: &'static str,
    },
    /// An element in a parent that allows no elements.
    NestedElement(String),
    /// An attribute is not allowed on its element.
    UnknownAttribute {
        /// The name of the attribute.
        attribute: String,
        /// The name of its element.
        element: &'static str,
    },
    /// Text in an element that allows none.
    UnexpectedText(&'static str),
    /// An element that needs text has none.
    MissingText(&'static str),
    /// A `yes`/`no` attribute has another value.
    NotYesNo(&'static str),
    /// `<limit>` has no `name` attribute.
    LimitWithoutName,
    /// `<?diligence ?>` is not directly in `<busconfig>`.
    MisplacedInstruction,
    /// `<associate>` lacks one of its two attributes.
    AssociateIncomplete,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownRoot(element) => write!(
                f,
                "Unknown element <{element}> at root of configuration file, expected <busconfig>"
            ),
            Self::UnknownElement { element, parent } => {
                write!(f, "Element <{element}> not allowed inside <{parent}> in configuration file")
            }
            Self::NestedElement(element) => {
                write!(f, "Element <{element}> is not allowed in this context")
            }
            Self::UnknownAttribute { attribute, element } => write!(
                f,
                "Attribute \"{attribute}\" is invalid on <{element}> element in this context"
            ),
            Self::UnexpectedText(element) => write!(
                f,
                "No text content expected inside XML element {element} in configuration file"
            ),
            Self::MissingText(element) => {
                write!(f, "XML element <{element}> was expected to have content inside it")
            }
            Self::NotYesNo(attribute) => {
                write!(f, "{attribute} attribute must have value \"yes\" or \"no\"")
            }
            Self::LimitWithoutName => f.write_str("<limit> element must have a \"name\" attribute"),
            Self::MisplacedInstruction => {
                f.write_str("<?diligence ?> is only allowed in <busconfig> itself")
            }
            Self::AssociateIncomplete => f.write_str(
                "Element <associate> must have attributes own=\"<servicename>\" and \
                 context=\"<selinux context>\"",
            ),
        }
    }
}

/// Why a limit is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitError {
    /// There is no limit of this name.
    Unknown,
    /// The value is not an integer.
    NotANumber,
    /// The value is negative.
    Negative,
    /// The value is larger than the maximum of this limit.
    TooLarge,
    /// The limit applies to the whole bus or to each message, so it cannot be set per user.
    OfNoUser,
    /// A limit inside `<?diligence ?>` names no user, so it belongs outside.
    WithoutUser,
}

impl LimitError {
    fn fmt_for(self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(f, "There is no limit called \"{name}\""),
            Self::NotANumber => write!(
                f,
                "<limit name=\"{name}\"> element has invalid value (could not parse as integer)"
            ),
            Self::Negative => write!(f, "<limit name=\"{name}\"> must be a positive number"),
            Self::TooLarge => write!(f, "<limit name=\"{name}\"> value is too large"),
            Self::OfNoUser => {
                write!(
                    f,
                    "<limit name=\"{name}\"> cannot be set per user, so it is not allowed in <?diligence ?>"
                )
            }
            Self::WithoutUser => write!(
                f,
                "<limit name=\"{name}\"> in <?diligence ?> must have a \"user\" attribute; the \
                 limit for all users is set outside"
            ),
        }
    }
}

/// A problem that does not prevent the use of the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigWarning {
    /// The position of the cause.
    pub origin: ElementOrigin,
    /// The kind of the warning.
    pub kind: ConfigWarningKind,
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.kind)
    }
}

/// The kind of a configuration warning.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigWarningKind {
    /// A policy is for an account that does not exist, so it is ignored.
    PolicyForNobody(AccountKind),
    /// A rule is for an account that does not exist, so it is ignored.
    RuleForNobody {
        /// Which element the rule is.
        verdict: PolicyVerdict,
        /// The account that does not exist.
        account: AccountKind,
    },
    /// A limit is for a user that does not exist, so it is ignored.
    LimitForNobody(AccountKind),
    /// A file of an included directory has an error, so it is ignored as a whole.
    FileSkipped(Box<ConfigError>),
}

impl fmt::Display for ConfigWarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PolicyForNobody(account) => {
                write!(f, "Unknown {account} in message bus configuration file")
            }
            Self::RuleForNobody { verdict, account } => {
                write!(f, "Unknown {account} on element <{}>", element_of(*verdict))
            }
            Self::LimitForNobody(account) => write!(f, "Unknown {account} on element <limit>"),
            Self::FileSkipped(error) => {
                write!(f, "Encountered error '{error}' while parsing, so the file is ignored")
            }
        }
    }
}

/// An account that a configuration names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccountKind {
    /// A user, by name or number.
    User(String),
    /// A group, by name or number.
    Group(String),
}

impl fmt::Display for AccountKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "username \"{name}\""),
            Self::Group(name) => write!(f, "group \"{name}\""),
        }
    }
}

/// The name of the element for this verdict: `allow` or `deny`.
pub(super) const fn element_of(verdict: PolicyVerdict) -> &'static str {
    match verdict {
        PolicyVerdict::Allow => "allow",
        PolicyVerdict::Deny => "deny",
    }
}
