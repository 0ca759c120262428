//! When connections are accepted, and when not.
//!
//! A process may have so many descriptors and no more. Before the last of them are gone the bus
//! stops to accept: those who are connected send descriptors too, and files have to be read again.
//! Whoever wants to connect waits then, in the queue of the kernel, until somebody leaves.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use sys::poll::Interest;
use sys::rlimit::open_files_max;
use sys::socket::Accepted;

use super::source::EventSource;
use super::station::Station;
use crate::fault::{DescriptorShortage, Fault};
use crate::listen::Listener;
use crate::os_error::OsError;

/// Whether the poller watches the listeners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Listening {
    Watched,
    /// The loop has not begun.
    NotYet,
    /// There is no descriptor for one more. When a connection ends there may be one, and it is
    /// looked at now and then whether somebody else has given one back.
    OutOfRoom {
        retry_at: Duration,
    },
}

/// How many descriptors there are, and whether they are short.
#[derive(Debug)]
struct DescriptorReserve {
    /// The number from which on they are kept for others than new connections.
    reserved: u64,
    /// When they were short last, while the log has not said that it is over.
    short: Option<Duration>,
}

impl DescriptorReserve {
    /// Those that this process may have.
    fn of_this_process() -> Self {
        let max = open_files_max();
        Self { reserved: max - RESERVE.min(max / 4), short: None }
    }

    /// Whether more are left than are kept. The kernel gives each the lowest number that is free.
    fn are_left(&self, latest: impl AsFd) -> bool {
        let number = latest.as_fd().as_raw_fd();
        u64::try_from(number).is_ok_and(|number| number < self.reserved)
    }
}

/// The sockets that connections come from, and when they are watched.
#[derive(Debug)]
pub(super) struct ListenerWatch {
    listeners: Vec<Listener>,
    listening: Listening,
    descriptors: DescriptorReserve,
}

impl ListenerWatch {
    pub(super) fn new(listeners: Vec<Listener>) -> Self {
        let descriptors = DescriptorReserve::of_this_process();
        Self { listeners, listening: Listening::NotYet, descriptors }
    }

    pub(super) fn listener(&self, index: usize) -> &Listener {
        &self.listeners[index]
    }

    /// Takes one connection, if there is room for more. If others wait, the next turn says so, and
    /// one that comes alone costs no look for a second.
    pub(super) fn accept(
        &mut self,
        station: &mut Station,
        index: usize,
        socket: usize,
    ) -> io::Result<Option<OwnedFd>> {
        if self.listening != Listening::Watched {
            return Ok(None);
        }
        match sys::socket::accept(&self.listeners[index].sockets[socket])? {
            Accepted::Connection(socket) => {
                self.note_accepted(station, &socket)?;
                Ok(Some(socket))
            }
            Accepted::NoneWaiting => Ok(None),
            Accepted::OutOfRoom(error) => {
                let shortage = DescriptorShortage::System(OsError::from(error));
                self.out_of_room(station, shortage)?;
                Ok(None)
            }
        }
    }

    /// Watches the listeners, unless there is no room for more connections.
    pub(super) fn update(&mut self, station: &mut Station) -> io::Result<()> {
        match self.listening {
            Listening::Watched => Ok(()),
            Listening::NotYet => self.start_listening(station),
            Listening::OutOfRoom { retry_at } if retry_at <= station.now => self.retry(station),
            Listening::OutOfRoom { retry_at } => {
                station.alarm.no_later_than(retry_at);
                Ok(())
            }
        }
    }

    /// A connection was accepted, of which `descriptor` is the latest descriptor.
    fn note_accepted(&mut self, station: &mut Station, descriptor: impl AsFd) -> io::Result<()> {
        if !self.descriptors.are_left(descriptor) {
            return self.out_of_room(station, DescriptorShortage::Reserved);
        }
        if let Some(short) = self.descriptors.short
            && station.now.saturating_sub(short) > SHORTAGE_OVER
        {
            self.descriptors.short = None;
            station.reporter.accepting_again(&station.log);
        }
        Ok(())
    }

    /// There is no room for one more connection.
    fn out_of_room(
        &mut self,
        station: &mut Station,
        shortage: DescriptorShortage,
    ) -> io::Result<()> {
        let earlier = self.descriptors.short.replace(station.now);
        // Where one leaves and another takes the place, it is still the same shortage.
        if earlier.is_none_or(|earlier| station.now.saturating_sub(earlier) > SHORTAGE_OVER) {
            station.fault(Fault::NoDescriptors(shortage));
        }
        self.stop_listening(station, Listening::OutOfRoom { retry_at: station.now + RETRY_AFTER })
    }

    /// A connection has ended, so that a descriptor is free, perhaps the one that others wait for.
    pub(super) fn note_closed(&mut self, now: Duration) {
        if let Listening::OutOfRoom { retry_at } = &mut self.listening {
            *retry_at = now;
        }
    }

    fn retry(&mut self, station: &mut Station) -> io::Result<()> {
        match station.poller.as_fd().try_clone_to_owned() {
            Ok(next) if self.descriptors.are_left(&next) => self.start_listening(station),
            _ => {
                // It goes on, however long it is since somebody has come.
                self.descriptors.short = Some(station.now);
                let retry_at = station.now + RETRY_AFTER;
                station.alarm.no_later_than(retry_at);
                self.listening = Listening::OutOfRoom { retry_at };
                Ok(())
            }
        }
    }

    fn start_listening(&mut self, station: &mut Station) -> io::Result<()> {
        for (index, listener) in self.listeners.iter().enumerate() {
            for (socket, listening) in listener.sockets.iter().enumerate() {
                let token = EventSource::Listener { index, socket }.token();
                station.poller.add(listening, token, Interest::Read)?;
            }
        }
        self.listening = Listening::Watched;
        Ok(())
    }

    fn stop_listening(&mut self, station: &mut Station, listening: Listening) -> io::Result<()> {
        if self.listening == Listening::Watched {
            for socket in self.listeners.iter().flat_map(|listener| &listener.sockets) {
                station.poller.remove(socket)?;
            }
        }
        self.listening = listening;
        Ok(())
    }
}

/// Descriptors that are kept, where the process may have four times as many.
const RESERVE: u64 = 64;

/// How often it is looked at whether there are descriptors again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How long descriptors must not have been short for the shortage to be over.
const SHORTAGE_OVER: Duration = Duration::from_secs(5);
