//! The formats of recordings.

mod pcap;
mod pcapng;
mod window;

use std::io::{self, Read};

pub use pcapng::{Writer, Written};

use crate::record::Record;
use pcap::Pcap;
use window::Window;

/// Reads a recording, whichever format it has.
#[derive(Debug)]
pub struct Reader<R> {
    format: Format<R>,
}

#[derive(Debug)]
enum Format<R> {
    Pcap(Pcap<R>),
}

impl<R: Read> Reader<R> {
    /// Finds out which format a file has, by its first bytes.
    pub fn new(source: R) -> io::Result<Option<Self>> {
        let mut window = Window::new(source);
        let format = match window.peek(4)?.first_chunk() {
            Some(start) if pcap::magic(start).is_some() => Format::Pcap(Pcap::new(window)),
            _ => return Ok(None),
        };
        Ok(Some(Self { format }))
    }

    /// The next thing that the recording says; `None` at its end.
    pub fn next_record(&mut self) -> io::Result<Option<Record<'_>>> {
        match &mut self.format {
            Format::Pcap(pcap) => pcap.next(),
        }
    }
}

/// The order of the bytes of a container's numbers. Each message in it has its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Little,
    Big,
}

impl Order {
    const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

/// Nanoseconds in `count` units, of which a second has `per_second`.
fn nanos(count: u64, per_second: u64) -> i64 {
    let nanos = u128::from(count) * 1_000_000_000 / u128::from(per_second.max(1));
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

/// The link type of D-Bus in the registry of tcpdump.org.
const LINK_TYPE_DBUS: u32 = 231;
