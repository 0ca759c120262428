//! Connects to an endpoint.

use std::ffi::OsStr;
use std::io::Write;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::geteuid;
use sys::socket::{UnixAddress as SocketAddress, connect_unix};
use wire::address::{AddressList, Transport, UnixTransport};
use wire::message::{Message, MessageType};

use super::{HubOrSpoke, RawConnection, RawError, Template};

impl RawConnection {
    /// Connects to the bus at `address`, and returns the connection with its unique name.
    pub(crate) fn to_bus(address: &str) -> Result<(Self, String), RawError> {
        let mut connection = Self::new(dial(address)?);
        let user = geteuid().as_raw().to_string();
        let user: String = user.bytes().map(|digit| format!("{digit:02x}")).collect();
        connection.send(format!("\0AUTH EXTERNAL {user}\r\nNEGOTIATE_UNIX_FD\r\n").as_bytes())?;
        let line = connection.receive_line()?;
        if !line.starts_with("OK ") {
            return Err(RawError::Refused(line));
        }
        // The workloads send no descriptors, but every real client negotiates this.
        connection.receive_line()?;
        connection.send(b"BEGIN\r\n")?;
        let name = connection.ask(&mut Template::driver("Hello", &())?)?;
        Ok((connection, name.unwrap_or_default()))
    }

    /// Adds a match rule, and waits until it is active.
    pub(crate) fn add_match(&mut self, rule: &str) -> Result<(), RawError> {
        self.ask(&mut Template::driver("AddMatch", &(rule,))?).map(drop)
    }

    /// Requests a well-known name that no other client has.
    pub(crate) fn request_name(&mut self, name: &str) -> Result<(), RawError> {
        self.ask(&mut Template::driver("RequestName", &(name, DO_NOT_QUEUE))?).map(drop)
    }

    /// Calls a method of the bus, and returns the string in the reply, if there is one.
    pub(crate) fn ask(&mut self, call: &mut Template) -> Result<Option<String>, RawError> {
        call.continue_from(self.last_serial);
        let serial = call.next_serial();
        self.last_serial = serial;
        self.send(call.bytes())?;
        loop {
            let message = Message::parse(self.receive()?)?;
            if message.reply_serial().is_none_or(|reply| reply.get() != serial) {
                continue; // NameAcquired and similar signals of the bus
            }
            let text = message.read::<(&str,)>().ok().map(|(text,)| text.to_owned());
            if message.message_type() == MessageType::Error {
                return Err(RawError::Answer(text.unwrap_or_default()));
            }
            return Ok(text);
        }
    }

    /// Connects to the process that only reads and writes, as hub or spoke.
    pub(crate) fn to_floor(path: &Path, end: HubOrSpoke) -> Result<Self, RawError> {
        let mut connection = Self::to_file(path)?;
        connection.send(match end {
            HubOrSpoke::Hub => HUB,
            HubOrSpoke::Spoke => SPOKE,
        })?;
        Ok(connection)
    }

    /// Connects to a socket file, without a handshake.
    pub(crate) fn to_file(path: &Path) -> Result<Self, RawError> {
        Ok(Self::new(connect_unix(SocketAddress::Path(path)).map_err(RawError::system)?))
    }
}

fn dial(addresses: &str) -> Result<OwnedFd, RawError> {
    let addresses = AddressList::parse(addresses)?;
    let mut last = RawError::Transport;
    for address in addresses.entries() {
        match dial_one(&address.transport) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn dial_one(transport: &Transport) -> Result<OwnedFd, RawError> {
    match transport {
        Transport::Unix(UnixTransport::Path(path)) => {
            connect_unix(SocketAddress::Path(Path::new(OsStr::from_bytes(path))))
                .map_err(RawError::system)
        }
        Transport::Unix(UnixTransport::Abstract(name)) => {
            connect_unix(SocketAddress::Abstract(name)).map_err(RawError::system)
        }
        Transport::Tcp(tcp) => {
            let port = tcp.port.ok_or(RawError::Transport)?.get();
            let mut stream =
                TcpStream::connect((tcp.host_or_default(), port)).map_err(RawError::system)?;
            stream.set_nodelay(true).map_err(RawError::system)?;
            stream.flush().map_err(RawError::system)?;
            Ok(stream.into())
        }
        _ => Err(RawError::Transport),
    }
}

/// The flag of RequestName with which a client does not wait for a name of another client.
const DO_NOT_QUEUE: u32 = 4;

/// The first byte that the hub sends to the process that only reads and writes.
pub(crate) const HUB: &[u8; 1] = b"h";
/// The first byte that a spoke sends to it.
pub(crate) const SPOKE: &[u8; 1] = b"s";
