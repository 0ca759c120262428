//! The parts of the system that affect the meaning of a configuration.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mediation;

/// Facts about the system that the configuration reader needs, apart from the files themselves.
pub struct Environment<'a> {
    /// Converts names of accounts into numbers.
    pub accounts: &'a dyn Accounts,
    /// Whether SELinux is enabled, for `if_selinux_enabled`.
    pub selinux: SecurityModule,
    /// The directory that `selinux_root_relative` paths are relative to.
    pub selinux_root: PathBuf,
    /// Whether `<apparmor>` has an effect: AppArmor without support for D-Bus counts as inactive.
    pub app_armor: SecurityModule,
}

impl Environment<'static> {
    /// Reads the current state of the system that this process runs on.
    pub fn of_this_system() -> Self {
        Self {
            accounts: &SystemAccounts,
            selinux: SecurityModule::new(mediation::Selinux::is_active()),
            selinux_root: selinux_root(),
            app_armor: SecurityModule::new(mediation::AppArmorClient::is_active()),
        }
    }
}

/// Whether the kernel has a security module enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecurityModule {
    /// The security module is enabled.
    Active,
    /// The security module is not enabled.
    Inactive,
}

impl SecurityModule {
    const fn new(is_active: bool) -> Self {
        if is_active { Self::Active } else { Self::Inactive }
    }
}

/// Access to the user and group database.
pub trait Accounts {
    /// The number of the user with this name, or with this number in digits; `None` if there is no
    /// such user.
    fn user_id(&self, user: &str) -> Option<u32>;

    /// The number of the group with this name, or with this number in digits.
    fn group_id(&self, group: &str) -> Option<u32>;
}

/// The accounts of this system. An account that cannot be looked up counts as missing.
#[derive(Clone, Copy, Debug)]
pub struct SystemAccounts;

impl Accounts for SystemAccounts {
    fn user_id(&self, user: &str) -> Option<u32> {
        use sys::users::UserAccount;
        let found = match number(user) {
            Some(uid) => UserAccount::by_id(uid),
            None => UserAccount::by_name(user),
        };
        found.ok().flatten().map(|user| user.uid())
    }

    fn group_id(&self, group: &str) -> Option<u32> {
        match number(group) {
            // Unlike a user, a group needs no entry to have members: processes carry group numbers.
            Some(gid) => Some(gid),
            None => sys::users::group_id(group).ok().flatten(),
        }
    }
}

/// Accepts only digits, so that a sign or a base prefix does not turn a name into a number.
fn number(account: &str) -> Option<u32> {
    account.bytes().all(|byte| byte.is_ascii_digit()).then(|| account.parse().ok()).flatten()
}

/// The directory of the SELinux policy, as named in selinux_config(5).
fn selinux_root() -> PathBuf {
    let config = fs::read_to_string("/etc/selinux/config").unwrap_or_default();
    let policy = config.lines().find_map(|line| line.trim().strip_prefix("SELINUXTYPE="));
    Path::new("/etc/selinux").join(policy.map_or("targeted", str::trim))
}
