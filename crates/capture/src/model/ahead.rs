//! The records of a file, read by a thread of their own.
//!
//! Reading a file and taking its container apart needs nothing of what earlier records have said,
//! so it is done beside that: on two processors a large file is open a third sooner.

use std::io::{self, Read};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::vec;

use crate::file::RecordingReader;
use crate::record::{RawMessage, RecordedTime, RecordingRecord, Routing, Trace, TracedDelivery};

/// Records that have been read and wait for their turn.
#[derive(Debug)]
pub(super) struct Ahead {
    batches: Receiver<Batch>,
    thread: Option<JoinHandle<()>>,
    current: Current,
}

impl Ahead {
    /// Begins to read.
    pub(super) fn start<R: Read + Send + 'static>(reader: RecordingReader<R>) -> io::Result<Self> {
        let (sender, batches) = sync_channel(BATCHES);
        let thread = thread::Builder::new().name("read".to_owned());
        let thread = thread.spawn(move || read(reader, &sender))?;
        Ok(Self { batches, thread: Some(thread), current: Batch::default().into() })
    }

    /// When the next record is due, which is at once for one that has no time; `None` at the end.
    pub(super) fn due(&mut self) -> io::Result<Option<RecordedTime>> {
        self.look_ahead()?;
        Ok(self.current.items.as_slice().first().map(BatchItem::at))
    }

    /// The next record; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        self.look_ahead()?;
        Ok(self.current.next())
    }

    /// Has the next record at hand, unless there is none.
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

/// Reads until the end, or until nobody wants to know any more.
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

/// Records that go from thread to thread together.
#[derive(Debug, Default)]
struct Batch {
    items: Vec<BatchItem>,
    /// The bytes of the messages, one behind the other.
    bytes: Vec<u8>,
    /// The copies of traced messages, likewise.
    deliveries: Vec<TracedDelivery>,
    /// Why nothing follows, if the file could not be read on.
    failure: Option<io::Error>,
}

#[derive(Debug)]
enum BatchItem {
    Message {
        /// Without its bytes and its trace, which stand in the batch.
        raw: RawMessage<'static>,
        kept: usize,
        trace: Option<TraceLen>,
    },
    Other(Box<RecordingRecord<'static>>),
}

/// Of a trace, what does not stand in the batch.
#[derive(Clone, Copy, Debug)]
struct TraceLen {
    routing: Routing,
    deliveries: usize,
}

/// Whether there is more to read.
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

/// A batch that is taken record by record.
#[derive(Debug)]
struct Current {
    items: vec::IntoIter<BatchItem>,
    bytes: Vec<u8>,
    bytes_used: usize,
    deliveries: Vec<TracedDelivery>,
    deliveries_used: usize,
    failure: Option<io::Error>,
}

impl From<Batch> for Current {
    fn from(batch: Batch) -> Self {
        let Batch { items, bytes, deliveries, failure } = batch;
        let items = items.into_iter();
        Self { items, bytes, bytes_used: 0, deliveries, deliveries_used: 0, failure }
    }
}

impl Current {
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

/// Batches that wait.
const BATCHES: usize = 2;

/// Bytes of messages from which on a batch is full. Handing one over may wake a thread, which costs as
/// much as reading tens of messages.
const BATCH_LEN: usize = 1 << 20;

/// Records of which a batch is full.
const BATCH_ITEMS: usize = 1 << 13;
