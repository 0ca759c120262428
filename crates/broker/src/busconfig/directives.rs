//! One configuration file: its text, as a list of what it says.

use std::path::PathBuf;

use wire::sasl::Mechanism;

use super::document::{AppArmorMode, BusType, ServiceDir};
use super::element::{Element, Found, Xml};
use super::environment::Accounts;
use super::error::{ConfigErrorKind, Position, Problem, ShapeError, WarningKind};
use super::limits::Limit;
use super::policy_reader::{PolicyReader, ReadRule};

/// What one file says, in order.
pub(super) struct Directives {
    pub(super) list: Vec<(Position, Directive)>,
    pub(super) warnings: Vec<(Position, WarningKind)>,
}

/// What one element says.
pub(super) enum Directive {
    Type(BusType),
    User(String),
    Fork,
    KeepUmask,
    Syslog,
    PidFile(PathBuf),
    Listen(String),
    Auth(Mechanism),
    AllowAnonymous,
    ServiceHelper(PathBuf),
    /// A path is still relative to the file.
    ServiceDir(ServiceDir),
    Limit(Limit),
    Policy(Vec<ReadRule>),
    Associate(Vec<ReadAssociation>),
    AppArmor(AppArmorMode),
    Include(Include),
    IncludeDir(PathBuf),
}

/// An `<associate>`.
pub(super) struct ReadAssociation {
    pub(super) position: Position,
    pub(super) name: String,
    pub(super) context: String,
}

/// An `<include>`.
pub(super) struct Include {
    /// Relative to the file, or to the SELinux policy.
    pub(super) path: PathBuf,
    pub(super) base: IncludeBase,
    pub(super) condition: IncludeCondition,
    pub(super) missing: Missing,
}

/// What the path of an included file is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IncludeBase {
    File,
    SelinuxPolicy,
}

/// When a file is included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IncludeCondition {
    Always,
    IfSelinux,
}

/// What becomes of a file that is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Missing {
    Refused,
    Ignored,
}

impl Directives {
    pub(super) fn parse(text: &str, accounts: &dyn Accounts) -> Result<Self, Problem> {
        let xml = Xml::parse(text)?;
        let root = xml.root();
        if root.name() != ROOT {
            return Err(root.unknown_root());
        }
        let mut policies = PolicyReader::new(accounts);
        let children = root.open(ROOT, &[])?.elements()?;
        let list = children
            .map(|child| Ok((child.position(), Directive::parse(child, &mut policies)?)))
            .collect::<Result<_, Problem>>()?;
        Ok(Self { list, warnings: policies.warnings })
    }
}

impl Directive {
    fn parse(found: Found<'_>, policies: &mut PolicyReader<'_>) -> Result<Self, Problem> {
        let text = |name| found.open(name, &[])?.text();
        let path = |name| text(name).map(PathBuf::from);
        let empty = |name, directive| found.open(name, &[])?.expect_empty().and(Ok(directive));
        match found.name() {
            "type" => text("type").map(|name| Self::Type(BusType::from(name))),
            "user" => text("user").map(Self::User),
            "fork" => empty("fork", Self::Fork),
            "keep_umask" => empty("keep_umask", Self::KeepUmask),
            "syslog" => empty("syslog", Self::Syslog),
            "pidfile" => path("pidfile").map(Self::PidFile),
            "listen" => text("listen").map(Self::Listen),
            "auth" => mechanism(found.open("auth", &[])?).map(Self::Auth),
            "allow_anonymous" => empty("allow_anonymous", Self::AllowAnonymous),
            "servicehelper" => path("servicehelper").map(Self::ServiceHelper),
            "servicedir" => path("servicedir").map(|dir| Self::ServiceDir(ServiceDir::Path(dir))),
            "standard_session_servicedirs" => {
                empty("standard_session_servicedirs", Self::ServiceDir(ServiceDir::StandardSession))
            }
            "standard_system_servicedirs" => {
                empty("standard_system_servicedirs", Self::ServiceDir(ServiceDir::StandardSystem))
            }
            "limit" => limit(found.open("limit", &["name"])?).map(Self::Limit),
            "policy" => policies.policy(found).map(Self::Policy),
            "selinux" => associations(found.open("selinux", &[])?).map(Self::Associate),
            "apparmor" => app_armor(found.open("apparmor", &["mode"])?).map(Self::AppArmor),
            "include" => include(found.open("include", &INCLUDE_ATTRIBUTES)?).map(Self::Include),
            "includedir" => path("includedir").map(Self::IncludeDir),
            _ => Err(found.unknown_in(ROOT)),
        }
    }
}

fn mechanism(element: Element<'_>) -> Result<Mechanism, Problem> {
    let name = element.text()?;
    Mechanism::from_name(&name)
        .ok_or_else(|| element.refuse(ConfigErrorKind::UnknownMechanism(name)))
}

fn limit(element: Element<'_>) -> Result<Limit, Problem> {
    let Some(name) = element.attribute("name") else {
        return Err(element.refuse(ShapeError::LimitWithoutName));
    };
    let value = element.text()?;
    Limit::parse(name, &value)
        .map_err(|error| element.refuse(ConfigErrorKind::Limit { name: name.into(), error }))
}

fn associations(selinux: Element<'_>) -> Result<Vec<ReadAssociation>, Problem> {
    selinux.elements()?.map(association).collect()
}

fn association(found: Found<'_>) -> Result<ReadAssociation, Problem> {
    if found.name() != "associate" {
        return Err(found.unknown_in("selinux"));
    }
    let element = found.open("associate", &["own", "context"])?.expect_empty()?;
    match (element.attribute("own"), element.attribute("context")) {
        (Some(name), Some(context)) => Ok(ReadAssociation {
            position: element.position(),
            name: name.into(),
            context: context.into(),
        }),
        _ => Err(element.refuse(ShapeError::AssociateIncomplete)),
    }
}

fn app_armor(element: Element<'_>) -> Result<AppArmorMode, Problem> {
    match element.expect_empty()?.attribute("mode") {
        None | Some("enabled") => Ok(AppArmorMode::Enabled),
        Some("disabled") => Ok(AppArmorMode::Disabled),
        Some("required") => Ok(AppArmorMode::Required),
        Some(mode) => {
            let kind = ConfigErrorKind::AppArmorMode(mode.into());
            Err(kind.at(element.position_of("mode")))
        }
    }
}

fn include(element: Element<'_>) -> Result<Include, Problem> {
    let choose = |attribute| element.is_yes(attribute);
    Ok(Include {
        missing: if choose("ignore_missing")? { Missing::Ignored } else { Missing::Refused },
        condition: if choose("if_selinux_enabled")? {
            IncludeCondition::IfSelinux
        } else {
            IncludeCondition::Always
        },
        base: if choose("selinux_root_relative")? {
            IncludeBase::SelinuxPolicy
        } else {
            IncludeBase::File
        },
        path: element.text()?.into(),
    })
}

const ROOT: &str = "busconfig";

const INCLUDE_ATTRIBUTES: [&str; 3] =
    ["ignore_missing", "if_selinux_enabled", "selinux_root_relative"];
