//! Reads the records of a file ahead, on a separate thread.
//!
//! Reading a file and decoding its container does not depend on earlier records, so it is done in
//! parallel to adding them to the capture: with two processors, a large file opens in a third less
//! time.

use std::io::{self, Read};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::vec;

use crate::file::RecordingReader;
use crate::record::{RawMessage, RecordedTime, RecordingRecord, Routing, Trace, TracedDelivery};

/// Records that have been read ahead.
#[derive(Debug)]
pub(super) struct ReadAhead {
    batches: Receiver<Batch>,
    thread: Option<JoinHandle<()>>,
    current: CurrentBatch,
}

impl ReadAhead {
    /// Starts the reading thread.
    pub(super) fn start<R: Read + Send + 'static>(reader: RecordingReader<R>) -> io::Result<Self> {
        let (sender, batches) = sync_channel(BATCHES);
        let thread = thread::Builder::new().name("read".to_owned());
        let thread = thread.spawn(move || read(reader, &sender))?;
        Ok(Self { batches, thread: Some(thread), current: Batch::default().into() })
    }

    /// The time of the next record; the earliest possible time if it has none, `None` at the end.
    pub(super) fn due(&mut self) -> io::Result<Option<RecordedTime>> {
        self.look_ahead()?;
        Ok(self.current.items.as_slice().first().map(BatchItem::at))
    }

    /// Returns the next record; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        self.look_ahead()?;
        Ok(self.current.next())
    }

    /// Receives batches until there is a next record, or the file has ended.
    fn look_ahead(&mut self) -> io::Result<()> {
        while self.current.items.as_slice().is_empty() {
            if let Some(error) = self.current.failure.take() {
                return Err(error);
            }
            let Ok(batch) = self.batches.recv() else {
                self.join();
                return Ok(());
            };
            self.current = batch.into();
        }
        Ok(())
    }

    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            resume_unwind(panic);
        }
    }
}

/// Reads until the end of the file, or until the receiver is dropped.
fn read<R: Read>(mut reader: RecordingReader<R>, batches: &SyncSender<Batch>) {
    let mut supply = BatchSupply::More;
    while supply == BatchSupply::More {
        let mut batch = Batch::default();
        supply = batch.fill(&mut reader);
        if batches.send(batch).is_err() {
            return;
        }
    }
}

/// Records that are passed between the threads together.
#[derive(Debug, Default)]
struct Batch {
    items: Vec<BatchItem>,
    /// The bytes of all messages, concatenated.
    bytes: Vec<u8>,
    /// The copies of traced messages, concatenated.
    deliveries: Vec<TracedDelivery>,
    /// The error that ended reading, if any.
    failure: Option<io::Error>,
}

#[derive(Debug)]
enum BatchItem {
    Message {
        /// The message without its bytes and trace, which are stored in the batch.
        raw: RawMessage<'static>,
        kept: usize,
        trace: Option<TraceLen>,
    },
    Other(Box<RecordingRecord<'static>>),
}

/// The part of a trace that is not stored in the batch.
#[derive(Clone, Copy, Debug)]
struct TraceLen {
    routing: Routing,
    deliveries: usize,
}

/// The state of the source after reading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BatchSupply {
    More,
    Over,
}

impl Batch {
    fn fill<R: Read>(&mut self, reader: &mut RecordingReader<R>) -> BatchSupply {
        self.bytes.reserve(BATCH_LEN);
        while self.bytes.len() < BATCH_LEN && self.items.len() < BATCH_ITEMS {
            match reader.next_record() {
                Ok(Some(record)) => self.push(record),
                Ok(None) => return BatchSupply::Over,
                Err(error) => {
                    self.failure = Some(error);
                    return BatchSupply::Over;
                }
            }
        }
        BatchSupply::More
    }

    fn push(&mut self, record: RecordingRecord<'_>) {
        let other = match record {
            RecordingRecord::Message(raw) => return self.push_message(raw),
            RecordingRecord::Origin(origin) => RecordingRecord::Origin(origin),
            RecordingRecord::Bus(bus) => RecordingRecord::Bus(bus),
            RecordingRecord::Fact { at, bus, fact } => RecordingRecord::Fact { at, bus, fact },
            RecordingRecord::Gap(gap) => RecordingRecord::Gap(gap),
            RecordingRecord::Damage(damage) => RecordingRecord::Damage(damage),
        };
        self.items.push(BatchItem::Other(Box::new(other)));
    }

    fn push_message(&mut self, raw: RawMessage<'_>) {
        self.bytes.extend_from_slice(raw.bytes);
        let trace = raw.trace.map(|trace| {
            self.deliveries.extend_from_slice(trace.deliveries);
            TraceLen { routing: trace.routing, deliveries: trace.deliveries.len() }
        });
        let kept = raw.bytes.len();
        let raw = RawMessage { bytes: &[], trace: None, ..raw };
        self.items.push(BatchItem::Message { raw, kept, trace });
    }
}

impl BatchItem {
    fn at(&self) -> RecordedTime {
        match self {
            Self::Message { raw, .. } => raw.at,
            Self::Other(record) => match **record {
                RecordingRecord::Fact { at, .. } => at,
                _ => RecordedTime(i64::MIN),
            },
        }
    }
}

/// A batch whose records are taken one by one.
#[derive(Debug)]
struct CurrentBatch {
    items: vec::IntoIter<BatchItem>,
    bytes: Vec<u8>,
    bytes_used: usize,
    deliveries: Vec<TracedDelivery>,
    deliveries_used: usize,
    failure: Option<io::Error>,
}

impl From<Batch> for CurrentBatch {
    fn from(batch: Batch) -> Self {
        let Batch { items, bytes, deliveries, failure } = batch;
        let items = items.into_iter();
        Self { items, bytes, bytes_used: 0, deliveries, deliveries_used: 0, failure }
    }
}

impl CurrentBatch {
    fn next(&mut self) -> Option<RecordingRecord<'_>> {
        Some(match self.items.next()? {
            BatchItem::Other(record) => *record,
            BatchItem::Message { raw, kept, trace } => {
                let bytes = &self.bytes[self.bytes_used..][..kept];
                self.bytes_used += kept;
                let trace = trace.map(|TraceLen { routing, deliveries: count }| {
                    let deliveries = &self.deliveries[self.deliveries_used..][..count];
                    self.deliveries_used += count;
                    Trace { routing, deliveries }
                });
                RecordingRecord::Message(RawMessage { bytes, trace, ..raw })
            }
        })
    }
}

/// The maximum number of batches that wait.
const BATCHES: usize = 2;

/// The number of message bytes at which a batch is full. Passing on a batch may wake a thread,
/// which costs as much as reading tens of messages.
const BATCH_LEN: usize = 1 << 20;

/// The number of records at which a batch is full.
const BATCH_ITEMS: usize = 1 << 13;
