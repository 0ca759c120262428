//! Starts a service of the system bus as the user that its service file names.
//!
//! The bus runs as a user without rights. To start a service as another user it executes this
//! program, which is installed set-user-ID root, with one argument, the name of the service; and
//! reads from its exit status what went wrong ([`LaunchFailure::exit_status`], the numbers of the
//! reference).
//!
//! Since it runs as root and anybody may try to execute it, it does as little as it can and
//! believes nobody:
//!
//! - It reads one configuration file, at a place that is part of the program, and of that only who
//!   the bus runs as and where services are described. What that file includes is not read.
//! - It works for that user alone, and for root, as whom the service manager executes it for a bus
//!   that may execute nothing.
//! - The service gets no variable of the caller's. It finds the system bus where that always is.
//! - No descriptor but standard output and standard error reaches the service; its standard input is
//!   `/dev/null`.
//! - The rest of what a process inherits is what the system gives its first process, not what the
//!   caller has: the file mode mask, the working directory, resource limits, signals, timers and
//!   priorities ([`sys::inheritance`]).
//!
//! ```text
//!   argument ──▶ a valid name ──▶ configuration ──▶ may this user ask? ──▶ service file
//!            ──▶ become its user ──▶ execute its program
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

/// The configuration of the system bus.
pub const CONFIG_FILE: &str = "/usr/share/dbus-1/system.conf";

/// Where the system bus is.
pub const SYSTEM_BUS: &str = "unix:path=/run/dbus/system_bus_socket";

/// Goes on as the service that the arguments name; returns only if that fails.
#[must_use]
pub fn run(arguments: &[OsString], config_file: &Path) -> LaunchFailure {
    match prepare(arguments, config_file) {
        Ok(service) => execute(&service),
        Err(failure) => failure,
    }
}

/// Everything up to the point of no return.
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

/// Only the user that the bus runs as may ask, or root; and only root can do what is asked for.
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
