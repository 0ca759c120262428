//! One thread that serves all programs.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use std::{fmt, mem};

use sys::filesystem::{SocketFile, StaleSocket, remove_stale_socket};
use sys::inherited::{self, InheritError};
use sys::poll::{Events, Interest, Poller};
use sys::rlimit::OpenFiles;
use sys::socket::{self, Accepted, UnixAddress};
use wire::framer::SCRATCH_LEN_MIN;

use crate::bus_connection;
use crate::command_line::{FilterOptions, ProxyOptions, ProxySettings};
use crate::filter::with_bus_rule;
use crate::registration::{BusRegistration, RegistrationState};
use crate::session::{ProxySession, SessionSide, SessionState};

/// The reason why the proxies do not start.
#[derive(Debug)]
pub(crate) enum ProxyError {
    /// A socket does not listen.
    Listen {
        /// The address of the bus.
        address: String,
        /// The path of the socket.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The system has no descriptors for the event loop.
    Poll(io::Error),
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, path, error } => {
                let path = path.display();
                write!(f, "Failed to start proxy for {address}: cannot listen at {path}: {error}")
            }
            Self::Poll(error) => write!(f, "Failed to wait for clients: {error}"),
        }
    }
}

impl std::error::Error for ProxyError {}

/// Reads the arguments in an inherited descriptor.
pub(crate) fn read_arguments(fd: RawFd) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(inherit(fd)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Takes an inherited descriptor. The standard streams are duplicated.
fn inherit(fd: RawFd) -> io::Result<OwnedFd> {
    match fd {
        0 => io::stdin().as_fd().try_clone_to_owned(),
        1 => io::stdout().as_fd().try_clone_to_owned(),
        2 => io::stderr().as_fd().try_clone_to_owned(),
        _ => inherited::take(fd).map_err(|error: InheritError| io::Error::other(error)),
    }
}

/// Runs proxies until the other end of the descriptor `--fd` is closed.
pub(crate) fn serve(settings: ProxySettings) -> Result<(), ProxyError> {
    // Each program needs two descriptors.
    if let Err(error) = OpenFiles::raise() {
        crate::warn(&format!("cannot raise the limit of open files: {error}"));
    }
    let mut listeners = Vec::new();
    for options in settings.proxies {
        let address = options.address.to_string_lossy().into_owned();
        let path = options.path.clone();
        let listener = ProxyListener::start(options);
        listeners.push(listener.map_err(|error| ProxyError::Listen { address, path, error })?);
    }
    let poller = Poller::new().map_err(ProxyError::Poll)?;
    let first_registration = FIRST_LISTENER + listeners.len() as u64;
    for (listener, index) in listeners.iter().zip(0..) {
        let watched = match &listener.socket {
            ProxySocket::OfBus { registration, .. } => {
                poller.add(registration, first_registration + index, Interest::Read)
            }
            ProxySocket::OfProxy { socket, .. } => {
                poller.add(socket, FIRST_LISTENER + index, Interest::Read)
            }
            ProxySocket::Closed => Ok(()),
        };
        watched.map_err(ProxyError::Poll)?;
    }
    let sync = settings.sync_fd.and_then(|fd| announce(fd, &poller));
    let mut event_loop = ProxyLoop {
        poller,
        first_registration,
        first_session: first_registration + listeners.len() as u64,
        listeners,
        next_session: 0,
        sessions: HashMap::new(),
        waiting: Vec::new(),
        exhausted: Vec::new(),
        scratch: vec![0; SCRATCH_LEN_MIN],
    };
    event_loop.run().map_err(ProxyError::Poll)?;
    drop(sync);
    Ok(())
}

/// Writes the byte that says that all sockets listen, and watches for the end of the reader.
fn announce(fd: RawFd, poller: &Poller) -> Option<OwnedFd> {
    let announced = inherit(fd).and_then(|sync| {
        let mut file = File::from(sync);
        file.write_all(b"x")?;
        Ok(OwnedFd::from(file))
    });
    match announced {
        Ok(sync) => match poller.add(&sync, SYNC, Interest::Hangup) {
            Ok(()) => Some(sync),
            // A plain file is never closed by another process.
            Err(_) => None,
        },
        Err(error) => {
            crate::warn(&format!("cannot write to the descriptor --fd={fd}: {error}"));
            None
        }
    }
}

/// A socket at which programs connect.
#[derive(Debug)]
struct ProxyListener {
    socket: ProxySocket,
    address: std::ffi::OsString,
    options: Rc<FilterOptions>,
}

/// The one who accepts connections at a socket.
#[derive(Debug)]
enum ProxySocket {
    /// The bus. If it ends, the proxy accepts connections.
    OfBus { registration: BusRegistration, socket: OwnedFd, file: SocketFile },
    /// The proxy itself, as on any other bus.
    OfProxy { socket: OwnedFd, _file: SocketFile },
    /// Nobody, because a program of this user has stopped the container of the bus.
    Closed,
}

impl ProxyListener {
    fn start(options: ProxyOptions) -> io::Result<Self> {
        make_room(&options.path)?;
        let socket = socket::listen_unix(UnixAddress::Path(&options.path))?;
        let file = SocketFile::of(&options.path)?;
        let socket = match BusRegistration::try_new(&options, &socket) {
            Some(registration) => ProxySocket::OfBus { registration, socket, file },
            None => ProxySocket::OfProxy { socket, _file: file },
        };
        let ProxyOptions { address, path: _, filter } = options;
        Ok(Self { socket, address, options: Rc::new(with_bus_rule(filter)) })
    }
}

/// Removes what is at the path of a socket: an earlier socket, or the empty file with which
/// programs reserve a name. Other files stay.
fn make_room(path: &Path) -> io::Result<()> {
    match remove_stale_socket(path)? {
        StaleSocket::Absent | StaleSocket::Removed => Ok(()),
        StaleSocket::NotASocket if fs::symlink_metadata(path)?.len() == 0 => fs::remove_file(path),
        StaleSocket::NotASocket => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

impl ProxySocket {
    /// The socket, if the proxy accepts connections.
    fn of_proxy(&self) -> Option<&OwnedFd> {
        match self {
            Self::OfProxy { socket, .. } => Some(socket),
            Self::OfBus { .. } | Self::Closed => None,
        }
    }
}

/// A program for which the bus has not accepted a connection yet.
#[derive(Debug)]
struct WaitingClient {
    socket: OwnedFd,
    listener: usize,
}

/// The state of the event loop.
struct ProxyLoop {
    poller: Poller,
    listeners: Vec<ProxyListener>,
    sessions: HashMap<u64, ProxySession>,
    /// The number of the next session. Numbers are not used again, so late events do not reach
    /// another session.
    next_session: u64,
    /// The token of the registration of the first listener.
    first_registration: u64,
    /// The token of the first socket of session 0.
    first_session: u64,
    waiting: Vec<WaitingClient>,
    /// Listeners that are not watched, because no descriptor was free.
    exhausted: Vec<usize>,
    scratch: Vec<u8>,
}

impl ProxyLoop {
    /// Serves until the sync descriptor hangs up, or all sockets are closed.
    fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(64);
        // The end of a container may have arrived together with the reply that created it.
        (0..self.listeners.len()).try_for_each(|index| self.check_registration(index))?;
        while !self.is_closed() {
            let has_retries = !self.waiting.is_empty() || !self.exhausted.is_empty();
            self.poller.wait(&mut events, has_retries.then_some(RETRY))?;
            for event in events.iter() {
                match event.token() {
                    SYNC => return Ok(()),
                    token if token < self.first_registration => {
                        self.accept((token - FIRST_LISTENER) as usize)?;
                    }
                    token if token < self.first_session => {
                        self.check_registration((token - self.first_registration) as usize)?;
                    }
                    token => self.handle(token - self.first_session),
                }
            }
            if has_retries {
                self.retry()?;
            }
        }
        Ok(())
    }

    /// True if no program is connected, and none can connect.
    fn is_closed(&self) -> bool {
        let is_closed = |it: &ProxyListener| matches!(it.socket, ProxySocket::Closed);
        self.sessions.is_empty() && self.listeners.iter().all(is_closed)
    }

    /// Accepts connections itself from now on if the bus has ended. Closes the socket if the
    /// container was stopped.
    fn check_registration(&mut self, index: usize) -> io::Result<()> {
        let listener = &mut self.listeners[index].socket;
        *listener = match mem::replace(listener, ProxySocket::Closed) {
            ProxySocket::OfBus { registration, socket, file } => match registration.process() {
                RegistrationState::Serving => ProxySocket::OfBus { registration, socket, file },
                RegistrationState::Stopped => {
                    self.poller.remove(&registration)?;
                    ProxySocket::Closed
                }
                RegistrationState::Ended => {
                    self.poller.remove(&registration)?;
                    self.poller.add(&socket, FIRST_LISTENER + index as u64, Interest::Read)?;
                    ProxySocket::OfProxy { socket, _file: file }
                }
            },
            other => other,
        };
        Ok(())
    }

    /// Accepts one connection of a program.
    fn accept(&mut self, listener: usize) -> io::Result<()> {
        let Some(socket) = self.listeners[listener].socket.of_proxy() else { return Ok(()) };
        match socket::accept(socket) {
            Ok(Accepted::Connection(socket)) => self.connect(WaitingClient { socket, listener }),
            Ok(Accepted::NoneWaiting) => {}
            Ok(Accepted::OutOfRoom(error)) => {
                crate::warn(&format!("cannot accept a connection: {error}"));
                self.poller.remove(socket)?;
                self.exhausted.push(listener);
            }
            Err(error) => crate::warn(&format!("cannot accept a connection: {error}")),
        }
        Ok(())
    }

    /// Connects to the bus for a client.
    fn connect(&mut self, client: WaitingClient) {
        let listener = &self.listeners[client.listener];
        match bus_connection::connect(OsStr::new(&listener.address)) {
            Ok(bus) => {
                let id = self.next_session;
                let token = self.first_session + 2 * id;
                let tokens = [token, token + 1];
                let mut session = ProxySession::new(client.socket, bus, tokens, &listener.options);
                if let Err(error) = session.watch(&self.poller) {
                    return crate::warn(&format!("cannot watch a connection: {error}"));
                }
                self.next_session += 1;
                self.sessions.insert(id, session);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.waiting.push(client),
            Err(error) => crate::warn(&format!("Failed to connect to bus: {error}")),
        }
    }

    /// Tries again what was not possible before.
    fn retry(&mut self) -> io::Result<()> {
        for client in mem::take(&mut self.waiting) {
            self.connect(client);
        }
        for index in mem::take(&mut self.exhausted) {
            let Some(socket) = self.listeners[index].socket.of_proxy() else { continue };
            self.poller.add(socket, FIRST_LISTENER + index as u64, Interest::Read)?;
        }
        Ok(())
    }

    fn handle(&mut self, socket: u64) {
        let id = socket / 2;
        let side = if socket.is_multiple_of(2) { SessionSide::Client } else { SessionSide::Bus };
        // The session may have ended with an earlier event.
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.handle(side, &mut self.scratch, &self.poller) == SessionState::Ended {
            self.sessions.remove(&id);
        }
    }
}

/// The token of the descriptor that ends the program.
const SYNC: u64 = 0;

/// The token of the first listener.
const FIRST_LISTENER: u64 = 1;

/// The time after which a connection is tried again.
const RETRY: Duration = Duration::from_millis(20);
