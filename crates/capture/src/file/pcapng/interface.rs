//! The description of an interface, which is a bus if its link type is D-Bus.

use super::blocks::{BlockOptions, words};
use super::{FILTER_TEXT, note, option};
use crate::file::number::{ByteOrder, LINK_TYPE_DBUS, NANOS, SNAP_LEN_ALL, TimeUnit};
use crate::record::{BusId, RecordedBus, RecordedTime};

/// An interface of the current section.
#[derive(Debug)]
pub(super) struct PcapngInterface {
    pub(super) kind: InterfaceKind,
    /// The maximum number of bytes kept of each packet; 0 if packets are whole.
    pub(super) kept_max: u32,
    unit: TimeUnit,
    /// The number of nanoseconds to add to each time.
    offset: i64,
    /// The time of the last packet of the interface.
    pub(super) last: RecordedTime,
    /// The number of lost packets that were already reported.
    pub(super) lost: u64,
}

/// The kind of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InterfaceKind {
    Bus(BusId),
    /// A different interface, with its link type.
    Other(u16),
}

impl PcapngInterface {
    /// Parses an interface description. A bus gets the id `next`, if there is one. `None` if the
    /// body is too short.
    pub(super) fn parse(
        body: &[u8],
        order: ByteOrder,
        next: Option<BusId>,
    ) -> Option<(Self, Option<RecordedBus>)> {
        let [_, kept_max] = words(body, order)?;
        let link_type = order.u16_at(body, 0)?;
        let options = BlockOptions::new(body, 8, order);
        let resolution = options.get(option::INTERFACE_RESOLUTION).and_then(<[u8]>::first);
        let seconds = options.number(option::INTERFACE_OFFSET).unwrap_or_default() as i64;
        let is_bus = u32::from(link_type) == LINK_TYPE_DBUS;
        let id = next.filter(|_| is_bus);
        let interface = Self {
            kind: id.map_or(InterfaceKind::Other(link_type), InterfaceKind::Bus),
            kept_max,
            unit: resolution.map_or(TimeUnit::MICROSECOND, |&resolution| unit(resolution)),
            offset: seconds.saturating_mul(NANOS as i64),
            last: RecordedTime::default(),
            lost: 0,
        };
        Some((interface, id.map(|_| bus(&options, kept_max))))
    }

    /// Converts the time of a packet of the interface.
    #[inline]
    pub(super) fn time(&self, count: u64) -> RecordedTime {
        RecordedTime(self.unit.nanos(count).saturating_add(self.offset))
    }
}

/// The description of the bus: complete if Diligence wrote the file.
fn bus(options: &BlockOptions<'_>, kept_max: u32) -> RecordedBus {
    let ours = options.get(note::BUS_OPTION).and_then(note::content);
    ours.and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_else(|| {
        let filter = options.get(option::INTERFACE_FILTER).and_then(<[u8]>::split_first);
        let filter = filter.filter(|(kind, _)| **kind == FILTER_TEXT).map(|(_, text)| text);
        RecordedBus {
            name: options.text(option::INTERFACE_NAME).unwrap_or_default(),
            kept_max: Some(kept_max).filter(|&max| max > 0 && max < SNAP_LEN_ALL),
            filters: filter.map(|text| String::from_utf8_lossy(text).into()).into_iter().collect(),
            ..RecordedBus::default()
        }
    })
}

/// The unit for a resolution: a negative power of 10, or of 2 if the highest bit is set.
fn unit(resolution: u8) -> TimeUnit {
    let power = u32::from(resolution & 0x7F);
    let per_second = match resolution & 0x80 {
        0 => 10_u64.checked_pow(power),
        _ => 2_u64.checked_pow(power),
    };
    TimeUnit::of(per_second.unwrap_or(u64::MAX))
}
