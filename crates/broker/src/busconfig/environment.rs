//! What a configuration means on one system and not on another.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mediation;

/// What the reader of a configuration asks of the system, apart from the files themselves.
pub struct Environment<'a> {
    /// Turns the names of accounts into numbers.
    pub accounts: &'a dyn Accounts,
    /// Whether `if_selinux_enabled` holds.
    pub selinux: SecurityModule,
    /// What `selinux_root_relative` paths are relative to.
    pub selinux_root: PathBuf,
    /// Whether `<apparmor>` means something: AppArmor that knows nothing of D-Bus does not count.
    pub app_armor: SecurityModule,
}

impl Environment<'static> {
    /// The system that this process runs on, as it is now.
    pub fn of_this_system() -> Self {
        Self {
            accounts: &SystemAccounts,
            selinux: SecurityModule::new(mediation::Selinux::is_active()),
            selinux_root: selinux_root(),
            app_armor: SecurityModule::new(mediation::AppArmorAsker::is_active()),
        }
    }
}

/// Whether the kernel runs a security module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecurityModule {
    /// It does.
    Active,
    /// It does not.
    Inactive,
}

impl SecurityModule {
    const fn new(is_active: bool) -> Self {
        if is_active { Self::Active } else { Self::Inactive }
    }
}

/// The user and group database.
pub trait Accounts {
    /// The number of the user with this name, or with this number in digits; `None` when there is
    /// no such user.
    fn user_id(&self, user: &str) -> Option<u32>;

    /// The same for a group.
    fn group_id(&self, group: &str) -> Option<u32>;
}

/// The accounts of this system. One that cannot be looked up counts as one that is not there.
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
            // Unlike a user, a group needs no entry to have members: processes carry numbers.
            Some(gid) => Some(gid),
            None => sys::users::group_id(group).ok().flatten(),
        }
    }
}

/// Only digits make a number, so that no sign or base turns a name into one.
fn number(account: &str) -> Option<u32> {
    account.bytes().all(|byte| byte.is_ascii_digit()).then(|| account.parse().ok()).flatten()
}

/// The directory of the SELinux policy, which is named in one file (selinux_config(5)).
fn selinux_root() -> PathBuf {
    let config = fs::read_to_string("/etc/selinux/config").unwrap_or_default();
    let policy = config.lines().find_map(|line| line.trim().strip_prefix("SELINUXTYPE="));
    Path::new("/etc/selinux").join(policy.map_or("targeted", str::trim))
}
