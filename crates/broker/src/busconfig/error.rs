//! Everything that can be wrong with a configuration, and where.
//!
//! Where the reference implementation has a text for a mistake, that text is used after the place,
//! so that what people know and search for is still found.

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

/// Why a configuration cannot be used, and where that stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The file at fault.
    pub file: PathBuf,
    /// The place in it; `None` when it is the file as a whole.
    pub position: Option<Position>,
    /// What is wrong.
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

/// A place in a file. Both numbers start at 1; columns are counted in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Position {
    /// Where a file starts.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The place after `text`, which starts here.
    pub(super) fn after(self, text: &[u8]) -> Self {
        let mut lines = text.split(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let (new_lines, start, last) = match lines.next_back() {
            None => (0, self.column, first),
            Some(last) => (1 + lines.count(), 1, last),
        };
        // Every byte but those that continue a character.
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

/// Where something of a configuration was written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ElementOrigin {
    /// The file.
    pub file: Arc<Path>,
    /// The place in it.
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

/// What is wrong with a configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// A file or directory cannot be read.
    Read(ConfigReadError),
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The text is not well-formed XML.
    Xml(XmlError),
    /// The XML is not made of the elements and attributes that a configuration is made of.
    Shape(ShapeError),

    /// `<auth>` with a mechanism that is not known.
    UnknownMechanism(String),
    /// `<listen>` with a text that is no address.
    Address(AddressError),
    /// There is nothing to listen on.
    NoListen,
    /// `<apparmor mode=…>` with a mode that is not known.
    AppArmorMode(String),
    /// A `<limit>` that cannot be set.
    Limit {
        /// The name of the limit.
        name: String,
        /// What is wrong with it.
        error: LimitError,
    },

    /// `<policy>` without any, or with several, of the attributes that say for whom it is.
    PolicyScope,
    /// `<policy context=…>` with another value than `default` and `mandatory`.
    PolicyContext(String),
    /// `<policy at_console=…>` with another value than `true` and `false`.
    PolicyConsole(String),
    /// An `<allow>` or `<deny>` that cannot be obeyed.
    Rule {
        /// Which of the two elements it is.
        verdict: PolicyVerdict,
        /// What is wrong with it.
        error: RuleError,
    },

    /// The configuration is in order, but asks for what this bus cannot do.
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
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: OsError,
    },
    /// A directory, or something stranger, stands where a file is expected.
    NotAFile(PathBuf),
    /// The file has more than [`FILE_LEN_MAX`] bytes.
    TooLarge(PathBuf),
    /// The file includes itself, at once or through others.
    Circular(PathBuf),
    /// The directory cannot be read.
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
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

/// How long a configuration file can be, in bytes.
pub const FILE_LEN_MAX: u64 = 1 << 20;

/// Why a text is not well-formed XML.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XmlError(pub(super) roxmltree::Error);

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The place is shown by whoever shows this.
        let place = format!(" at {}", self.0.pos());
        write!(f, "not well-formed XML: {}", self.0.to_string().replace(&place, ""))
    }
}

/// Which element, attribute or text is where it should not be, or missing where it should.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ShapeError {
    /// The root of the document is not `<busconfig>`.
    UnknownRoot(String),
    /// An element that has no meaning where it stands.
    UnknownElement {
        /// The element.
        element: String,
        /// The element that it stands in.
        parent: &'static str,
    },
    /// An element in another that takes none.
    NestedElement(String),
    /// An attribute that has no meaning where it stands.
    UnknownAttribute {
        /// The attribute.
        attribute: String,
        /// The element that it stands on.
        element: &'static str,
    },
    /// Text in an element that takes none.
    UnexpectedText(&'static str),
    /// No text in an element that needs some.
    MissingText(&'static str),
    /// An attribute that takes `yes` and `no` has another value.
    NotYesNo(&'static str),
    /// `<limit>` without `name`.
    LimitWithoutName,
    /// `<?diligence ?>` that does not stand in `<busconfig>` itself.
    MisplacedInstruction,
    /// `<associate>` without one of its two attributes.
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

/// Why a limit cannot be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitError {
    /// There is no limit of this name.
    Unknown,
    /// The value is no number.
    NotANumber,
    /// The value is negative.
    Negative,
    /// The value is more than this limit can be.
    TooLarge,
    /// The limit is one of the bus as a whole, or of each message, and not of a user.
    OfNoUser,
    /// It can be set for a user, and no user is named. Without one it belongs outside.
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
                    "<limit name=\"{name}\"> cannot be set for a user, so not in <?diligence ?>"
                )
            }
            Self::WithoutUser => write!(
                f,
                "<limit name=\"{name}\"> in <?diligence ?> must have a \"user\" attribute; for \
                 everybody it is set outside"
            ),
        }
    }
}

/// Something that an administrator should know, though the configuration can be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigWarning {
    /// Where the cause stands.
    pub origin: ElementOrigin,
    /// What it is.
    pub kind: ConfigWarningKind,
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.kind)
    }
}

/// What an administrator should know.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigWarningKind {
    /// A policy is for an account that does not exist, so it is left out.
    PolicyForNobody(AccountKind),
    /// A rule is for an account that does not exist, so it is left out.
    RuleForNobody {
        /// Which element the rule is.
        verdict: PolicyVerdict,
        /// The account.
        account: AccountKind,
    },
    /// A limit is for a user who does not exist, so it is left out.
    LimitForNobody(AccountKind),
    /// A file of an included directory cannot be used, so it is left out as a whole.
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
                write!(f, "Encountered error '{error}' while parsing, so the file is left out")
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

/// The element that says `verdict`.
pub(super) const fn element_of(verdict: PolicyVerdict) -> &'static str {
    match verdict {
        PolicyVerdict::Allow => "allow",
        PolicyVerdict::Deny => "deny",
    }
}
