//! Addresses of the standard buses, from the environment ("Well-known Message Bus Instances").

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use unix::privileges::has_more_rights_than_caller;
use wire::address::{Address, AddressList, Transport, UnixTransport};

use super::ConnectError;

/// A bus with a well-known address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StandardBus {
    /// The session bus of the user.
    Session,
    /// The system bus of the machine.
    System,
    /// The bus that started this program by activation.
    Starter,
}

impl StandardBus {
    /// The address of the bus. A program with more rights than its caller, such as a set-user-ID
    /// program, ignores the environment.
    ///
    /// # Errors
    ///
    /// [`ConnectError::NoAddress`] if the environment has no address for the bus;
    /// [`ConnectError::Address`] if it is malformed.
    pub fn address(self) -> Result<AddressList, ConnectError> {
        match self {
            Self::Session => session(),
            Self::System => match text("DBUS_SYSTEM_BUS_ADDRESS") {
                Some(address) => Ok(address.parse()?),
                None => Ok(unix(SYSTEM_BUS.into())),
            },
            Self::Starter => starter(),
        }
    }
}

fn session() -> Result<AddressList, ConnectError> {
    if let Some(address) = text("DBUS_SESSION_BUS_ADDRESS") {
        return Ok(address.parse()?);
    }
    let socket = runtime_directory().map(|directory| directory.join("bus"));
    let socket = socket.filter(|socket| socket.exists());
    socket.map(unix).ok_or(ConnectError::NoAddress(StandardBus::Session))
}

fn starter() -> Result<AddressList, ConnectError> {
    if let Some(address) = text("DBUS_STARTER_ADDRESS") {
        return Ok(address.parse()?);
    }
    match text("DBUS_STARTER_BUS_TYPE").as_deref() {
        Some("session") => StandardBus::Session.address(),
        Some("system") => StandardBus::System.address(),
        _ => Err(ConnectError::NoAddress(StandardBus::Starter)),
    }
}

/// The directory for the user's sockets (`XDG_RUNTIME_DIR`).
pub(super) fn runtime_directory() -> Option<PathBuf> {
    variable("XDG_RUNTIME_DIR").map(PathBuf::from)
}

fn text(name: &str) -> Option<String> {
    // A value that is not UTF-8 cannot be an address.
    variable(name)?.into_string().ok()
}

/// An environment variable; `None` if it is unset or empty. In a program with more rights than its
/// caller, such as a set-user-ID program, all are `None`: an address can name a program to execute.
pub(super) fn variable(name: &str) -> Option<OsString> {
    if has_more_rights_than_caller() {
        return None;
    }
    env::var_os(name).filter(|value| !value.is_empty())
}

fn unix(path: PathBuf) -> AddressList {
    let path = OsString::from(path).into_vec();
    Address::from(Transport::Unix(UnixTransport::Path(path))).into()
}

const SYSTEM_BUS: &str = "/var/run/dbus/system_bus_socket";
