//! Starts a service of the system bus as the user that its service file names.
//!
//! The bus runs as a user without rights. To start a service as another user it executes this
//! program, which is installed set-user-ID root, with one argument, the name of the service; and
//! reads from its exit status what went wrong ([`Failure::exit_status`], the numbers of the
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
//! - No descriptor but the standard streams reaches the service.
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
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use sys::privileges::{Identity, effective_user, real_user, switch_to};
use sys::users::User;
use wire::names::WellKnownName;

pub use config::{Config, ConfigError};
pub use failure::Failure;
pub use service::{Startable, find};

/// The configuration of the system bus.
pub const CONFIG_FILE: &str = "/usr/share/dbus-1/system.conf";

/// Where the system bus is.
pub const SYSTEM_BUS: &str = "unix:path=/run/dbus/system_bus_socket";

/// Goes on as the service that the arguments name; returns only if that fails.
#[must_use]
pub fn run(arguments: &[OsString], config_file: &Path) -> Failure {
    match prepare(arguments, config_file) {
        Ok(service) => execute(&service),
        Err(failure) => failure,
    }
}

/// Everything up to the point of no return.
fn prepare(arguments: &[OsString], config_file: &Path) -> Result<Startable, Failure> {
    let [_, name] = arguments else { return Err(Failure::Usage) };
    let name = name.to_str().filter(|name| WellKnownName::new(name).is_ok());
    let name = name.ok_or(Failure::NameInvalid)?;
    let config = Config::read(config_file).map_err(Failure::Config)?;
    check_caller(&config)?;
    let service = find(name, &config.folders)?;
    sys::daemonize::set_all_close_on_exec().map_err(Failure::Setup)?;
    expose_to_memory_killer();
    become_user(&service.user)?;
    Ok(service)
}

/// Only the user that the bus runs as may ask, or root; and only root can do what is asked for.
fn check_caller(config: &Config) -> Result<(), Failure> {
    let bus_user = find_user(&config.user)?.ok_or(Failure::Config(ConfigError::UnknownUser))?;
    if ![bus_user.uid(), ROOT].contains(&real_user()) {
        return Err(Failure::WrongCaller);
    }
    if effective_user() == ROOT { Ok(()) } else { Err(Failure::NotPrivileged) }
}

fn become_user(name: &str) -> Result<(), Failure> {
    let user = find_user(name)?.ok_or_else(|| Failure::UnknownUser(name.to_owned()))?;
    let groups = user.groups().map_err(Failure::Setup)?;
    let identity = Identity { uid: user.uid(), gid: user.gid(), groups: &groups };
    switch_to(identity).map_err(Failure::Setup)
}

/// Finds a user by name, or by number in digits.
fn find_user(user: &str) -> Result<Option<User>, Failure> {
    let found = match user.parse() {
        Ok(uid) => User::by_id(uid),
        Err(_) => User::by_name(user),
    };
    found.map_err(Failure::Setup)
}

/// The bus may be protected from being killed when memory runs out; that is not passed on.
fn expose_to_memory_killer() {
    const FILE: &str = "/proc/self/oom_score_adj";
    let is_protected = fs::read_to_string(FILE).is_ok_and(|score| score.starts_with('-'));
    if is_protected {
        // Without it the service runs as well.
        let _ = fs::write(FILE, "0");
    }
}

fn execute(service: &Startable) -> Failure {
    let mut command = Command::new(&service.program);
    command.args(&service.arguments).env_clear();
    command.env("DBUS_STARTER_ADDRESS", SYSTEM_BUS).env("DBUS_STARTER_BUS_TYPE", "system");
    Failure::Exec(command.exec())
}

const ROOT: u32 = 0;
