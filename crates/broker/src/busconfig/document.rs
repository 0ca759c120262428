//! What a configuration says, put together from all of its files and not yet judged.

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

/// Everything that a configuration says.
///
/// Of what can only be said once, the last word counts; lists have everything, in the order of the
/// files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Document {
    /// The file that includes all others.
    pub file: PathBuf,
    /// What the bus is for (`type`).
    pub bus_type: Option<BusType>,
    /// The user to become, by name or number (`user`).
    pub user: Option<String>,
    /// Whether to go into the background (`fork`).
    pub fork: ForkMode,
    /// What to do with the file mode mask when doing so (`keep_umask`).
    pub umask: Umask,
    /// Whether to write to the system's log (`syslog`).
    pub syslog: Syslog,
    /// Where to write the number of the process (`pidfile`). If relative, to where the bus runs.
    pub pidfile: Option<PathBuf>,
    /// Where to listen (`listen`).
    pub listen: Vec<Listen>,
    /// How a client may authenticate (`auth`); `None` when nothing is said.
    pub auth: Option<Mechanisms>,
    /// Whether a client that does not say who it is may connect (`allow_anonymous`).
    pub anonymous: PolicyVerdict,
    /// The program that starts services as other users (`servicehelper`).
    pub service_helper: Option<PathBuf>,
    /// Where services are described (`servicedir` and the like); the first one wins.
    pub service_dirs: Vec<ServiceDir>,
    /// The limits, those that are not set included (`limit`).
    pub limits: BusLimits,
    /// What is said to this bus alone (`<?diligence ?>`).
    pub own: OwnSettings,
    /// Who may do what (`policy`).
    pub policy: PolicyDocument,
    /// Which names SELinux watches over (`selinux`).
    pub associations: Vec<Association>,
    /// Whether AppArmor has a say (`apparmor`). It has one if nothing is said, where it is there.
    pub app_armor: Option<AppArmor>,
    /// What was odd, but no reason to give up.
    pub warnings: Vec<ConfigWarning>,
    /// Every file and directory that was read. When one changes, so may the configuration.
    pub sources: BTreeSet<PathBuf>,
    /// The directories of which every file is included (`includedir`), whether they are there or
    /// not; absolute.
    pub include_dirs: BTreeSet<PathBuf>,
}

impl Document {
    /// Reads a configuration file and all that it includes, and does not ask whether this bus can
    /// do what they say.
    ///
    /// # Errors
    ///
    /// The first mistake in the files, in the order in which they are read.
    pub fn read(file: &Path, environment: &Environment<'_>) -> Result<Self, ConfigError> {
        reader::read(file, environment)
    }

    /// What holds when nothing is said.
    pub(super) fn of(file: &Path) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// The addresses to listen on, in the order in which they are written.
    ///
    /// They are only checked here, because a bus that is told on its command line where to listen
    /// does not look at them.
    ///
    /// # Errors
    ///
    /// There is none, or one is no address.
    pub fn addresses(&self) -> Result<Vec<AddressList>, ConfigError> {
        if self.listen.is_empty() {
            let kind = ConfigErrorKind::NoListen;
            return Err(ConfigError { file: self.file.clone(), position: None, kind });
        }
        self.listen.iter().map(Listen::address).collect()
    }

    /// The ways in which a client may authenticate.
    pub fn mechanisms(&self) -> Mechanisms {
        self.auth.unwrap_or(Mechanisms::ALL)
    }

    /// All limits of those users for whom some are others than for everybody.
    pub fn user_limits(&self) -> BTreeMap<u32, BusLimits> {
        self.own.limits_by_user(&self.limits)
    }

    /// Takes over what an element says.
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
