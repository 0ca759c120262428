//! Parses one configuration file into a list of directives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wire::sasl::Mechanism;

use super::element::{Element, FoundElement, Xml};
use super::environment::Accounts;
use super::error::{
    ConfigError, ConfigErrorKind, ConfigWarning, ConfigWarningKind, ElementOrigin, ShapeError,
};
use super::limits::Limit;
use super::own::{INSTRUCTION, OwnSetting};
use super::paths::absolute;
use super::policy::DocumentRule;
use super::policy_reader::PolicyReader;
use super::vocabulary::{AppArmor, AppArmorMode, Association, BusType, Listen, ServiceDir};

/// The directives of one file, in order.
pub(super) struct Directives {
    pub(super) list: Vec<Directive>,
    pub(super) warnings: Vec<ConfigWarning>,
}

/// The meaning of one element.
pub(super) enum Directive {
    Set(Setting),
    Include(Include),
    IncludeDir(IncludeDir),
}

/// The meaning of an element that includes no files.
pub(super) enum Setting {
    Type(BusType),
    User(String),
    Fork,
    KeepUmask,
    Syslog,
    PidFile(PathBuf),
    Listen(Listen),
    Auth(Mechanism),
    AllowAnonymous,
    ServiceHelper(PathBuf),
    ServiceDir(ServiceDir),
    Limit(Limit),
    Policy(Vec<DocumentRule>),
    Associate(Vec<Association>),
    AppArmor(AppArmor),
    Own(OwnSetting),
}

/// An `<include>` element with its condition.
pub(super) struct Include {
    pub(super) origin: ElementOrigin,
    pub(super) path: IncludePath,
    pub(super) condition: IncludeCondition,
    pub(super) missing: Missing,
}

/// The location of an included file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum IncludePath {
    /// A complete path, resolved against the including file.
    Complete(PathBuf),
    /// A path relative to the directory of the SELinux policy.
    InSelinuxPolicy(String),
}

/// When a file is included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IncludeCondition {
    Always,
    IfSelinux,
}

/// What happens if the file is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Missing {
    Refused,
    Ignored,
}

/// An `<includedir>` element with its directory.
pub(super) struct IncludeDir {
    pub(super) origin: ElementOrigin,
    pub(super) path: PathBuf,
}

impl Directives {
    /// Parses the text of `file`.
    pub(super) fn parse(
        file: &Arc<Path>,
        text: &str,
        accounts: &dyn Accounts,
    ) -> Result<Self, ConfigError> {
        let xml = Xml::parse(file, text)?;
        let root = xml.root();
        if root.name() != ROOT {
            return Err(root.unknown_root());
        }
        let mut policies = PolicyReader::new(accounts);
        let children = root.open(ROOT, &[])?.elements()?;
        let mut list = children
            .map(|child| Directive::parse(child, &mut policies))
            .collect::<Result<Vec<_>, _>>()?;
        let mut warnings = policies.warnings;
        for instruction in xml.instructions(INSTRUCTION)? {
            list.extend(own_settings(file, &instruction, accounts, &mut warnings)?);
        }
        Ok(Self { list, warnings })
    }
}

/// Parses the settings of one processing instruction, given as an element at the same position.
fn own_settings(
    file: &Arc<Path>,
    text: &str,
    accounts: &dyn Accounts,
    warnings: &mut Vec<ConfigWarning>,
) -> Result<Vec<Directive>, ConfigError> {
    let xml = Xml::parse(file, text)?;
    let mut list = Vec::new();
    for child in xml.root().open(INSTRUCTION, &[])?.elements()? {
        match OwnSetting::parse(child, accounts)? {
            Ok(setting) => list.push(Directive::Set(Setting::Own(setting))),
            Err(account) => {
                let kind = ConfigWarningKind::LimitForNobody(account);
                warnings.push(ConfigWarning { origin: child.origin(), kind });
            }
        }
    }
    Ok(list)
}

impl Directive {
    fn parse(
        found: FoundElement<'_>,
        policies: &mut PolicyReader<'_>,
    ) -> Result<Self, ConfigError> {
        match found.name() {
            "include" => include(found.open("include", &INCLUDE_ATTRIBUTES)?).map(Self::Include),
            "includedir" => {
                let element = found.open("includedir", &[])?;
                let path = element.resolved_path()?;
                Ok(Self::IncludeDir(IncludeDir { origin: element.origin(), path }))
            }
            _ => Setting::parse(found, policies).map(Self::Set),
        }
    }
}

impl Setting {
    fn parse(
        found: FoundElement<'_>,
        policies: &mut PolicyReader<'_>,
    ) -> Result<Self, ConfigError> {
        let text = |name| found.open(name, &[])?.text();
        let empty = |name, setting| found.open(name, &[])?.expect_empty().and(Ok(setting));
        match found.name() {
            "type" => text("type").map(|name| Self::Type(name.into())),
            "user" => text("user").map(Self::User),
            "fork" => empty("fork", Self::Fork),
            "keep_umask" => empty("keep_umask", Self::KeepUmask),
            "syslog" => empty("syslog", Self::Syslog),
            "pidfile" => text("pidfile").map(|path| Self::PidFile(path.into())),
            "listen" => listen(found.open("listen", &[])?).map(Self::Listen),
            "auth" => mechanism(found.open("auth", &[])?).map(Self::Auth),
            "allow_anonymous" => empty("allow_anonymous", Self::AllowAnonymous),
            "servicehelper" => text("servicehelper").map(|path| Self::ServiceHelper(path.into())),
            "servicedir" => {
                let path = found.open("servicedir", &[])?.resolved_path();
                path.map(|path| Self::ServiceDir(ServiceDir::Path(absolute(&path))))
            }
            SESSION_DIRS => empty(SESSION_DIRS, Self::ServiceDir(ServiceDir::StandardSession)),
            SYSTEM_DIRS => empty(SYSTEM_DIRS, Self::ServiceDir(ServiceDir::StandardSystem)),
            "limit" => limit(found.open("limit", &["name"])?).map(Self::Limit),
            "policy" => policies.policy(found).map(Self::Policy),
            "selinux" => associations(found.open("selinux", &[])?).map(Self::Associate),
            "apparmor" => app_armor(found.open("apparmor", &["mode"])?).map(Self::AppArmor),
            _ => Err(found.unknown_in(ROOT)),
        }
    }
}

fn listen(element: Element<'_>) -> Result<Listen, ConfigError> {
    Ok(Listen { origin: element.origin(), text: element.text()? })
}

fn mechanism(element: Element<'_>) -> Result<Mechanism, ConfigError> {
    let name = element.text()?;
    Mechanism::from_name(&name)
        .ok_or_else(|| element.refuse(ConfigErrorKind::UnknownMechanism(name)))
}

fn limit(element: Element<'_>) -> Result<Limit, ConfigError> {
    let Some(name) = element.attribute("name") else {
        return Err(element.refuse(ShapeError::LimitWithoutName));
    };
    let value = element.text()?;
    Limit::parse(name, &value)
        .map_err(|error| element.refuse(ConfigErrorKind::Limit { name: name.into(), error }))
}

fn associations(selinux: Element<'_>) -> Result<Vec<Association>, ConfigError> {
    selinux.elements()?.map(association).collect()
}

fn association(found: FoundElement<'_>) -> Result<Association, ConfigError> {
    if found.name() != "associate" {
        return Err(found.unknown_in("selinux"));
    }
    let element = found.open("associate", &["own", "context"])?.expect_empty()?;
    match (element.attribute("own"), element.attribute("context")) {
        (Some(name), Some(context)) => {
            Ok(Association { origin: element.origin(), name: name.into(), context: context.into() })
        }
        _ => Err(element.refuse(ShapeError::AssociateIncomplete)),
    }
}

fn app_armor(element: Element<'_>) -> Result<AppArmor, ConfigError> {
    let mode = match element.expect_empty()?.attribute("mode") {
        None | Some("enabled") => AppArmorMode::Enabled,
        Some("disabled") => AppArmorMode::Disabled,
        Some("required") => AppArmorMode::Required,
        Some(mode) => {
            let kind = ConfigErrorKind::AppArmorMode(mode.into());
            return Err(element.origin_of("mode").error(kind));
        }
    };
    Ok(AppArmor { origin: element.origin(), mode })
}

fn include(element: Element<'_>) -> Result<Include, ConfigError> {
    let missing =
        if element.is_yes("ignore_missing")? { Missing::Ignored } else { Missing::Refused };
    let condition = if element.is_yes("if_selinux_enabled")? {
        IncludeCondition::IfSelinux
    } else {
        IncludeCondition::Always
    };
    let path = if element.is_yes("selinux_root_relative")? {
        IncludePath::InSelinuxPolicy(element.text()?)
    } else {
        IncludePath::Complete(element.resolved_path()?)
    };
    Ok(Include { origin: element.origin(), path, condition, missing })
}

const ROOT: &str = "busconfig";
const SESSION_DIRS: &str = "standard_session_servicedirs";
const SYSTEM_DIRS: &str = "standard_system_servicedirs";

const INCLUDE_ATTRIBUTES: [&str; 3] =
    ["ignore_missing", "if_selinux_enabled", "selinux_root_relative"];
