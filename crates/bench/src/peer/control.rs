//! The peer's side of the control protocol with the measuring process.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use sys::poll::{Events, Interest, Poller};
use sys::socket::{Accepted, UnixAddress, accept, listen_unix};

use crate::raw::{Endpoint, HubOrSpoke, RawConnection, RawError};

/// What a peer asks of a bus before it is ready. Other carriers need nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BusSetup<'a> {
    /// The match rules to add.
    pub(crate) rules: &'a [String],
    /// The well-known name to request.
    pub(crate) name: Option<&'a str>,
}

/// The peer's side of the control protocol with the measuring process.
#[derive(Debug)]
pub(crate) struct Control {
    _private: (),
}

impl Control {
    pub(super) const fn new() -> Self {
        Self { _private: () }
    }

    /// Connects to the carrier of the messages, does the setup if that is a bus, and reports
    /// readiness with the unique name.
    pub(crate) fn join(
        &mut self,
        endpoint: &Endpoint,
        end: HubOrSpoke,
        setup: BusSetup<'_>,
    ) -> Result<RawConnection, RawError> {
        match (endpoint, end) {
            (Endpoint::Bus(address), _) => {
                let (mut connection, name) = RawConnection::to_bus(address)?;
                setup.rules.iter().try_for_each(|rule| connection.add_match(rule))?;
                setup.name.map_or(Ok(()), |name| connection.request_name(name))?;
                self.ready(&name)?;
                Ok(connection)
            }
            (Endpoint::Floor(path), _) => {
                let connection = RawConnection::to_floor(path, end)?;
                self.ready("")?;
                Ok(connection)
            }
            (Endpoint::Direct(path), HubOrSpoke::Hub) => {
                let connection = RawConnection::to_file(path)?;
                self.ready("")?;
                Ok(connection)
            }
            (Endpoint::Direct(path), HubOrSpoke::Spoke) => self.wait_for_hub(path),
        }
    }

    /// Reports that this peer is ready, with its unique name.
    pub(crate) fn ready(&mut self, name: &str) -> Result<(), RawError> {
        say(&json!({ "ready": name })).map_err(RawError::system)
    }

    /// Waits until the measuring process starts the work.
    pub(crate) fn wait(&mut self) -> Result<(), RawError> {
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) => Err(RawError::Closed),
            Ok(_) => Ok(()),
            Err(error) => Err(RawError::system(error)),
        }
    }

    pub(super) fn report(&mut self, report: &impl Serialize) -> io::Result<()> {
        say(&json!({ "report": report }))
    }

    fn wait_for_hub(&mut self, path: &Path) -> Result<RawConnection, RawError> {
        let listener = listen_unix(UnixAddress::Path(path)).map_err(RawError::system)?;
        self.ready("")?;
        let poller = Poller::new().map_err(RawError::system)?;
        poller.add(&listener, 0, Interest::Read).map_err(RawError::system)?;
        let mut events = Events::with_capacity(1);
        poller.wait(&mut events, Some(TIMEOUT)).map_err(RawError::system)?;
        let Accepted::Connection(socket) = accept(&listener).map_err(RawError::system)? else {
            return Err(RawError::Silence);
        };
        // Allows the next round to use the same path.
        fs::remove_file(path).map_err(RawError::system)?;
        RawConnection::blocking(socket)
    }
}

fn say(line: &serde_json::Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// Time for which one peer waits for another.
const TIMEOUT: Duration = Duration::from_secs(30);
