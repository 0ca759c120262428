//! The merged content of all configuration files, before it is checked against what the bus
//! supports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bus::{BusLimits, PolicyVerdict};
use wire::address::AddressList;
use wire::sasl::Mechanisms;

use super::directives::Setting;
use super::environment::Environment;
use super::error::{ConfigError, ConfigErrorKind, ConfigWarning};
use super::own::OwnSettings;
use super::policy::PolicyDocument;
use super::reader;
use super::vocabulary::{
    AppArmor, Association, BusType, ForkMode, Listen, ServiceDir, Syslog, Umask,
};

/// Everything that the configuration files say.
///
/// For settings with one value the last one counts; lists contain all values, in the order of the
/// files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Document {
    /// The file that includes all others.
    pub file: PathBuf,
    /// The kind of bus (`type`).
    pub bus_type: Option<BusType>,
    /// The user to switch to, by name or number (`user`).
    pub user: Option<String>,
    /// Whether to go to the background (`fork`).
    pub fork: ForkMode,
    /// Whether to reset the umask in the background (`keep_umask`).
    pub umask: Umask,
    /// Whether to write to the system log (`syslog`).
    pub syslog: Syslog,
    /// The path of the pid file (`pidfile`), relative to the working directory of the bus.
    pub pidfile: Option<PathBuf>,
    /// The addresses to listen at (`listen`).
    pub listen: Vec<Listen>,
    /// The authentication mechanisms that clients may use (`auth`); `None` if not configured.
    pub auth: Option<Mechanisms>,
    /// Whether anonymous clients may connect (`allow_anonymous`).
    pub anonymous: PolicyVerdict,
    /// The program that starts services as other users (`servicehelper`).
    pub service_helper: Option<PathBuf>,
    /// The directories of service files (`servicedir` and others); the first match wins.
    pub service_dirs: Vec<ServiceDir>,
    /// The limits, including those at their defaults (`limit`).
    pub limits: BusLimits,
    /// Settings of this implementation (`<?diligence ?>`).
    pub own: OwnSettings,
    /// The access control rules (`policy`).
    pub policy: PolicyDocument,
    /// The SELinux contexts of names (`selinux`).
    pub associations: Vec<Association>,
    /// Whether AppArmor mediates (`apparmor`). If not configured, it mediates where it is
    /// available.
    pub app_armor: Option<AppArmor>,
    /// Problems that do not prevent the use of the configuration.
    pub warnings: Vec<ConfigWarning>,
    /// Every file and directory that was read. If one changes, the configuration may change.
    pub sources: BTreeSet<PathBuf>,
    /// The included directories (`includedir`), whether they exist or not, as absolute paths.
    pub include_dirs: BTreeSet<PathBuf>,
}

impl Document {
    /// Reads a configuration file and everything that it includes. Does not check whether this bus
    /// supports what they say.
    ///
    /// # Errors
    ///
    /// The first error in the files, in the order in which they are read.
    pub fn read(file: &Path, environment: &Environment<'_>) -> Result<Self, ConfigError> {
        reader::read(file, environment)
    }

    /// The defaults of a configuration without settings.
    pub(super) fn of(file: &Path) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// The addresses to listen at, in the order in which they are written.
    ///
    /// They are parsed only here, because a bus with an address on its command line ignores them.
    ///
    /// # Errors
    ///
    /// There is no address, or one cannot be parsed.
    pub fn addresses(&self) -> Result<Vec<AddressList>, ConfigError> {
        if self.listen.is_empty() {
            let kind = ConfigErrorKind::NoListen;
            return Err(ConfigError { file: self.file.clone(), position: None, kind });
        }
        self.listen.iter().map(Listen::address).collect()
    }

    /// The authentication mechanisms that clients may use.
    pub fn mechanisms(&self) -> Mechanisms {
        self.auth.unwrap_or(Mechanisms::ALL)
    }

    /// All limits of each user that has its own limits.
    pub fn user_limits(&self) -> BTreeMap<u32, BusLimits> {
        self.own.limits_by_user(&self.limits)
    }

    /// Applies the setting of one element.
    pub(super) fn apply(&mut self, setting: Setting) {
        match setting {
            Setting::Type(bus_type) => self.bus_type = Some(bus_type),
            Setting::User(user) => self.user = Some(user),
            Setting::Fork => self.fork = ForkMode::Background,
            Setting::KeepUmask => self.umask = Umask::Keep,
            Setting::Syslog => self.syslog = Syslog::On,
            Setting::PidFile(path) => self.pidfile = Some(path),
            Setting::Listen(listen) => self.listen.push(listen),
            Setting::Auth(mechanism) => {
                self.auth = Some(self.auth.unwrap_or_default().with(mechanism));
            }
            Setting::AllowAnonymous => self.anonymous = PolicyVerdict::Allow,
            Setting::ServiceHelper(path) => self.service_helper = Some(path),
            Setting::ServiceDir(dir) => self.service_dirs.push(dir),
            Setting::Limit(limit) => limit.apply(&mut self.limits),
            Setting::Policy(rules) => self.policy.rules.extend(rules),
            Setting::Associate(associations) => self.associations.extend(associations),
            Setting::AppArmor(app_armor) => self.app_armor = Some(app_armor),
            Setting::Own(setting) => self.own.apply(setting),
        }
    }
}
