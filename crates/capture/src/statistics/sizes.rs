//! The distribution of message sizes.

use super::Sweep;
use crate::model::CapturedMessage;
use crate::table::{Cell, Column, ColumnUnit, DataTable};
use crate::text::units::counted;

/// Creates a table of the number of messages by size on the wire, in half decades: up to 1, 3, 10,
/// 31, 100 bytes and so on. With a sweep, the table includes the time to send them to one recipient
/// each, according to the sweep. This estimate is low, because a busy bus has more rules and colder
/// caches.
pub fn sizes<'c>(
    messages: impl Iterator<Item = CapturedMessage<'c>>,
    sweep: Option<&Sweep>,
) -> DataTable {
    let mut buckets = [Bucket::default(); BOUNDS.len()];
    let mut too_large = 0;
    for message in messages {
        let len = message.len();
        let bucket = &mut buckets[BOUNDS.partition_point(|&bound| bound < len)];
        bucket.messages += 1;
        bucket.bytes += u64::from(len);
        bucket.time_ns += sweep.map_or(0.0, |sweep| sweep.message_ns(len.into()));
        too_large += u64::from(sweep.is_some_and(|sweep| f64::from(len) > sweep.largest()));
    }
    let mut columns = COLUMNS.to_vec();
    columns.extend(sweep.map(|_| TIME_COLUMNS).into_iter().flatten());
    let mut table = DataTable::new(columns);
    let whole = buckets.iter().fold(Bucket::default(), Bucket::with);
    for (index, bucket) in buckets.iter().enumerate().filter(|(_, bucket)| bucket.messages > 0) {
        let from = index.checked_sub(1).map_or(0, |before| u64::from(BOUNDS[before]) + 1);
        let mut row = vec![
            Cell::Count(from),
            Cell::Count(BOUNDS[index].into()),
            Cell::Count(bucket.messages),
            Cell::share(bucket.messages, whole.messages),
            Cell::Bytes(bucket.bytes),
            Cell::share(bucket.bytes, whole.bytes),
        ];
        if sweep.is_some() {
            row.push(Cell::nanos(bucket.time_ns as u64));
            row.push(Cell::Share(bucket.time_ns / whole.time_ns));
        }
        table.push(row);
    }
    if let Some(sweep) = sweep {
        table.add_note(sweep.to_string());
    }
    if too_large > 0 {
        let messages = counted(too_large, "message is", "messages are");
        table.add_note(format!("{messages} larger than any measured size"));
    }
    table
}

#[derive(Clone, Copy, Default)]
struct Bucket {
    messages: u64,
    bytes: u64,
    time_ns: f64,
}

impl Bucket {
    fn with(self, other: &Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            time_ns: self.time_ns + other.time_ns,
        }
    }
}

const COLUMNS: [Column; 6] = [
    Column::number("from", ColumnUnit::Count),
    Column::number("to", ColumnUnit::Count),
    Column::number("messages", ColumnUnit::Count),
    Column::number("share", ColumnUnit::Share),
    Column::number("bytes", ColumnUnit::Bytes),
    Column::number("of bytes", ColumnUnit::Share),
];

const TIME_COLUMNS: [Column; 2] =
    [Column::number("time", ColumnUnit::Time), Column::number("of time", ColumnUnit::Share)];

/// The inclusive upper bounds of the buckets. No message is longer than the last.
const BOUNDS: [u32; 18] = [
    1,
    3,
    10,
    31,
    100,
    316,
    1_000,
    3_162,
    10_000,
    31_622,
    100_000,
    316_227,
    1_000_000,
    3_162_277,
    10_000_000,
    31_622_776,
    100_000_000,
    u32::MAX,
];
