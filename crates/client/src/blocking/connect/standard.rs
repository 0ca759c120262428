//! Where the standard buses are, by the environment ("Well-known Message Bus Instances").

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use sys::privileges::has_more_rights_than_caller;
use wire::address::{Address, AddressList, Transport, UnixTransport};

use super::ConnectError;

/// A bus whose place is agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StandardBus {
    /// The bus of a user's session.
    Session,
    /// The bus of the machine.
    System,
    /// The bus that started this program, to serve a name.
    Starter,
}

impl StandardBus {
    /// Where the bus is, as the environment says. A program with more rights than its caller, such
    /// as a set-user-ID program, ignores the environment.
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

/// The directory for the user's sockets.
pub(super) fn runtime_directory() -> Option<PathBuf> {
    variable("XDG_RUNTIME_DIR").map(PathBuf::from)
}

fn text(name: &str) -> Option<String> {
    // A value that is not text is no address.
    variable(name)?.into_string().ok()
}

/// A variable of the environment. A program with more rights than its caller, such as a set-user-ID
/// program, sees none: an address can name a program to execute.
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
