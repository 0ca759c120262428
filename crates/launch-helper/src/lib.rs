//! Starts a service of the system bus as the user that its service file names.
//!
//! The bus runs as an unprivileged user. To start a service as another user it executes this
//! program, which is installed set-user-ID root, with the name of the service as the only argument.
//! The exit status reports what went wrong ([`LaunchFailure::exit_status`], the same numbers as in
//! dbus-daemon's helper).
//!
//! This program runs as root, and any user may try to execute it. So it does as little as possible
//! and trusts no input:
//!
//! - It reads one configuration file, whose path is compiled in, and uses only the user of the bus
//!   and the directories of service files. It does not read included files.
//! - It works only for that user and for root. The service manager executes it as root for a bus
//!   that may not execute programs.
//! - The service inherits no environment variable of the caller. The address of the system bus is
//!   fixed.
//! - The service inherits only standard output and standard error; its standard input is
//!   `/dev/null`.
//! - All other inherited attributes are those that the system gives its first process, not the
//!   caller's: the umask, the working directory, resource limits, signals, timers and priorities
//!   ([`sys::inheritance`]).
//!
//! ```text
//!   argument ──▶ a valid name ──▶ configuration ──▶ may this user ask? ──▶ service file
//!            ──▶ switch to its user ──▶ execute its program
//! ```

#![forbid(unsafe_code)]

mod config;
mod failure;
mod service;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use sys::privileges::{PrivilegeIdentity, effective_user, real_user, switch_to};
use sys::users::UserAccount;
use wire::names::WellKnownName;

pub use config::{HelperConfig, HelperConfigError};
pub use failure::LaunchFailure;
pub use service::{Startable, find};

/// The configuration file of the system bus.
pub const CONFIG_FILE: &str = "/usr/share/dbus-1/system.conf";

/// The address of the system bus.
pub const SYSTEM_BUS: &str = "unix:path=/run/dbus/system_bus_socket";

/// Replaces this process by the service that the arguments name; returns only on failure.
#[must_use]
pub fn run(arguments: &[OsString], config_file: &Path) -> LaunchFailure {
    match prepare(arguments, config_file) {
        Ok(service) => execute(&service),
        Err(failure) => failure,
    }
}

/// Runs all checks and lookups that come before privileges change.
fn prepare(arguments: &[OsString], config_file: &Path) -> Result<Startable, LaunchFailure> {
    let [_, name] = arguments else { return Err(LaunchFailure::Usage) };
    let name = name.to_str().filter(|name| WellKnownName::new(name).is_ok());
    let name = name.ok_or(LaunchFailure::NameInvalid)?;
    let config = HelperConfig::read(config_file).map_err(LaunchFailure::Config)?;
    check_caller(&config)?;
    let service = find(name, &config.folders)?;
    sys::daemonize::set_all_close_on_exec().map_err(LaunchFailure::Setup)?;
    sys::inheritance::shed().map_err(LaunchFailure::Setup)?;
    become_user(&service.user)?;
    Ok(service)
}

/// Checks that the caller is the user of the bus or root, and that this process has root
/// privileges.
fn check_caller(config: &HelperConfig) -> Result<(), LaunchFailure> {
    let bus_user =
        find_user(&config.user)?.ok_or(LaunchFailure::Config(HelperConfigError::UnknownUser))?;
    if ![bus_user.uid(), ROOT].contains(&real_user()) {
        return Err(LaunchFailure::WrongCaller);
    }
    if effective_user() == ROOT { Ok(()) } else { Err(LaunchFailure::NotPrivileged) }
}

fn become_user(name: &str) -> Result<(), LaunchFailure> {
    let user = find_user(name)?.ok_or_else(|| LaunchFailure::UnknownUser(name.to_owned()))?;
    let groups = user.groups().map_err(LaunchFailure::Setup)?;
    let identity = PrivilegeIdentity { uid: user.uid(), gid: user.gid(), groups: &groups };
    switch_to(identity).map_err(LaunchFailure::Setup)
}

/// Finds a user by name, or by number in digits.
fn find_user(user: &str) -> Result<Option<UserAccount>, LaunchFailure> {
    let found = match user.parse() {
        Ok(uid) => UserAccount::by_id(uid),
        Err(_) => UserAccount::by_name(user),
    };
    found.map_err(LaunchFailure::Setup)
}

fn execute(service: &Startable) -> LaunchFailure {
    let mut command = Command::new(&service.program);
    command.args(&service.arguments).env_clear();
    command.env("DBUS_STARTER_ADDRESS", SYSTEM_BUS).env("DBUS_STARTER_BUS_TYPE", "system");
    LaunchFailure::Exec(command.exec())
}

const ROOT: u32 = 0;
