//! Recordings, files created from them byte by byte, and the content read from files.

use std::io::{self, Write as _};

use capture::Capture;
use capture::file::RecordingReader;
use capture::record::{
    BusId, CaptureMethod, Fact, GapCause, RawMessage, RecordedBus, RecordedTime, RecordingGap,
    RecordingOrigin, RecordingRecord,
};
use testkit::recording::TestRecording;

/// A message in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MadeMessage {
    pub(crate) at: RecordedTime,
    pub(crate) bus: BusId,
    pub(crate) bytes: Vec<u8>,
    pub(crate) len: u32,
}

/// The content of a file.
#[derive(Debug, Default)]
pub(crate) struct MadeContent {
    pub(crate) messages: Vec<MadeMessage>,
    /// All other records, in order.
    pub(crate) rest: Vec<RecordingRecord<'static>>,
}

impl MadeContent {
    pub(crate) fn bus(&self, index: usize) -> RecordedBus {
        let buses = self.rest.iter().filter_map(|record| match record {
            RecordingRecord::Bus(bus) => Some(bus.clone()),
            _ => None,
        });
        buses.into_iter().nth(index).expect("the number of buses fits")
    }

    pub(crate) fn damage(&self) -> Vec<&str> {
        let damage = self.rest.iter().filter_map(|record| match record {
            RecordingRecord::Damage(damage) => Some(damage.what.as_str()),
            _ => None,
        });
        damage.collect()
    }

    pub(crate) fn gaps(&self) -> Vec<RecordingGap> {
        let gaps = self.rest.iter().filter_map(|record| match record {
            RecordingRecord::Gap(gap) => Some(gap.clone()),
            _ => None,
        });
        gaps.collect()
    }

    pub(crate) fn origins(&self) -> Vec<RecordingOrigin> {
        let origins = self.rest.iter().filter_map(|record| match record {
            RecordingRecord::Origin(origin) => Some(origin.clone()),
            _ => None,
        });
        origins.collect()
    }

    /// The capture that a program reads from the file.
    pub(crate) fn capture(&self) -> Capture {
        let mut capture = Capture::default();
        for message in &self.messages {
            capture.push(RecordingRecord::Message(RawMessage {
                at: message.at,
                bus: message.bus,
                bytes: &message.bytes,
                len: message.len,
                place: None,
                trace: None,
            }));
        }
        capture
    }
}

/// Reads a file, which must be a recording.
pub(crate) fn read(file: &[u8]) -> MadeContent {
    try_read(file).expect("a recording")
}

/// Reads a file; `None` if it is not a recording.
pub(crate) fn try_read(file: &[u8]) -> Option<MadeContent> {
    let mut content = MadeContent::default();
    let mut reader = unpacked(RecordingReader::new(file))??;
    while let Some(record) = unpacked(reader.next_record()).flatten() {
        content.take(record, file);
    }
    Some(content)
}

/// The result of reading from memory, which can only fail if the bytes look compressed.
fn unpacked<T>(read: io::Result<T>) -> Option<T> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
        read => Some(read.expect("memory can be read")),
    }
}

impl MadeContent {
    fn take(&mut self, record: RecordingRecord<'_>, file: &[u8]) {
        self.rest.push(match record {
            RecordingRecord::Message(raw) => {
                if let Some(place) = raw.place {
                    assert!(file[place as usize..].starts_with(raw.bytes), "the place is wrong");
                }
                let RawMessage { at, bus, len, .. } = raw;
                return self.messages.push(MadeMessage { at, bus, bytes: raw.bytes.to_vec(), len });
            }
            RecordingRecord::Origin(origin) => RecordingRecord::Origin(origin),
            RecordingRecord::Bus(bus) => RecordingRecord::Bus(bus),
            RecordingRecord::Fact { at, bus, fact } => RecordingRecord::Fact { at, bus, fact },
            RecordingRecord::Gap(gap) => RecordingRecord::Gap(gap),
            RecordingRecord::Damage(damage) => RecordingRecord::Damage(damage),
        });
    }
}

/// Calls, replies, errors and signals, some of them cut. Times are whole microseconds.
pub(crate) fn sample() -> Vec<MadeMessage> {
    let mut recording = TestRecording::new();
    for round in 0..4_u32 {
        let call = recording.call(":1.1", "org.example.Mail", "/ org.example.Mail.Count", &());
        recording.wait_us(7).reply(&call, ":1.2", &(round, "some text"));
        let call = recording.call(":1.1", ":1.2", "/a/b Odd", &("x",));
        recording.wait_us(1_000_003).error(&call, ":1.2", "org.example.No", "no");
        recording
            .signal(":1.2", "/ org.example.Mail.New", &("a longer text for a signal",))
            .cut(90);
    }
    of(&recording)
}

/// The messages of [`sample`] that are not cut.
pub(crate) fn whole() -> Vec<MadeMessage> {
    let mut sample = sample();
    sample.retain(|message| message.bytes.len() == message.len as usize);
    sample
}

/// The bytes of all messages, concatenated.
pub(crate) fn binary(sample: &[MadeMessage]) -> Vec<u8> {
    sample.iter().flat_map(|message| message.bytes.clone()).collect()
}

/// All messages of a recording.
pub(crate) fn of(recording: &TestRecording) -> Vec<MadeMessage> {
    let mut content = MadeContent::default();
    recording.each(|record| content.take(record, &[]));
    content.messages
}

/// A recording with every kind of record.
pub(crate) fn rich() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus {
        name: "session".to_owned(),
        address: Some("unix:path=/tmp/bus".to_owned()),
        method: CaptureMethod::Trace,
        kept_max: Some(70_000),
        filters: vec!["type='signal'".to_owned(), "member='Get'".to_owned()],
        ..RecordedBus::default()
    });
    recording.bus(RecordedBus { method: CaptureMethod::Monitor, ..RecordedBus::default() });
    recording.process(":1.1", 77, "mail").owner("org.example.Mail", ":1.1");
    let many: Vec<_> = (0..7_000).map(|number| (number, number + 3, 1)).collect();
    for round in 0..6_u32 {
        recording.on(BusId((round % 2) as u16));
        let call = recording.wait_us(5).call(":1.1", ":1.2", "/a org.example.Mail.Get", &(round,));
        recording.delivered(3, &[(2, 9, 0)]);
        recording.wait_us(100).reply(&call, ":1.2", &("text",));
        recording
            .signal(":1.2", "/ org.example.Mail.New", &("a longer text for a signal",))
            .cut(90);
    }
    recording.signal(":1.2", "/ org.example.Mail.New", &()).delivered(1, &many);
    let bus = BusId(1);
    recording.gap(RecordingGap {
        at: Some(recording.now()),
        bus,
        cause: GapCause::Overrun,
        lost: Some(9),
    });
    recording.gap(RecordingGap {
        at: None,
        bus: BusId(0),
        cause: GapCause::Disconnected,
        lost: None,
    });
    recording.fact(Fact::Left { unique: ":1.1".to_owned(), why: Some("ä \"why\"".to_owned()) });
    recording
}

/// A small recording with every kind of block and option.
pub(crate) fn small() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus {
        name: "session".to_owned(),
        address: Some("unix:path=/tmp/bus".to_owned()),
        method: CaptureMethod::Trace,
        filters: vec!["type='signal'".to_owned()],
        ..RecordedBus::default()
    });
    recording.process(":1.2", 77, "mail");
    for number in 0..3_u32 {
        recording.wait_us(5).signal(":1.2", "/ org.example.Mail.New", &(number,));
        recording.delivered(1, &[(2, 9, 0), (3, 4, 5)]);
    }
    let bus = BusId(0);
    recording.gap(RecordingGap {
        at: Some(recording.now()),
        bus,
        cause: GapCause::Overrun,
        lost: Some(9),
    });
    recording
}

/// A pcap file whose unit of time is this number of nanoseconds.
pub(crate) fn pcap(
    sample: &[MadeMessage],
    order: MadeOrder,
    nanos_per_unit: i64,
    snap_len: u32,
    link_type: u32,
) -> Vec<u8> {
    let magic = if nanos_per_unit == 1 { 0xA1B2_3C4D_u32 } else { 0xA1B2_C3D4 };
    let mut file = order.u32(magic).to_vec();
    file.extend([order.u16(2), order.u16(4)].concat());
    file.extend([0, 0, snap_len, link_type].map(|word| order.u32(word)).concat());
    for message in sample {
        let (seconds, nanos) = (message.at.0 / 1_000_000_000, message.at.0 % 1_000_000_000);
        let words = [seconds as u32, (nanos / nanos_per_unit) as u32];
        let lens = [message.bytes.len() as u32, message.len];
        file.extend([words, lens].concat().into_iter().flat_map(|word| order.u32(word)));
        file.extend(&message.bytes);
    }
    file
}

/// The bytes compressed with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// The bytes compressed with Zstandard.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// The byte order of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MadeOrder {
    Little,
    Big,
}

impl MadeOrder {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Little => Self::Big,
            Self::Big => Self::Little,
        }
    }

    pub(crate) const fn u16(self, number: u16) -> [u8; 2] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    pub(crate) const fn u32(self, number: u32) -> [u8; 4] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    pub(crate) const fn u64(self, number: u64) -> [u8; 8] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }
}

/// A pcapng block under construction.
#[derive(Debug)]
pub(crate) struct Block {
    order: MadeOrder,
    kind: u32,
    body: Vec<u8>,
}

impl Block {
    pub(crate) const fn new(order: MadeOrder, kind: u32) -> Self {
        Self { order, kind, body: Vec::new() }
    }

    pub(crate) fn section(order: MadeOrder) -> Self {
        Self::new(order, 0x0A0D_0D0A).word(0x1A2B_3C4D).half(1).half(0).words(&[u32::MAX; 2])
    }

    pub(crate) fn interface(order: MadeOrder, link_type: u16, snap_len: u32) -> Self {
        Self::new(order, 1).half(link_type).half(0).word(snap_len)
    }

    /// An enhanced packet block with a 32-bit time.
    pub(crate) fn packet(order: MadeOrder, interface: u32, time: u32, bytes: &[u8]) -> Self {
        let len = bytes.len() as u32;
        Self::new(order, 6).words(&[interface, 0, time, len, len]).padded(bytes)
    }

    pub(crate) fn half(mut self, half: u16) -> Self {
        self.body.extend(self.order.u16(half));
        self
    }

    pub(crate) fn word(self, word: u32) -> Self {
        self.words(&[word])
    }

    pub(crate) fn words(mut self, words: &[u32]) -> Self {
        self.body.extend(words.iter().flat_map(|&word| self.order.u32(word)));
        self
    }

    pub(crate) fn padded(mut self, bytes: &[u8]) -> Self {
        self.body.extend(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
        self
    }

    pub(crate) fn options(mut self, options: &[(u16, Vec<u8>)]) -> Self {
        for (code, value) in options {
            self = self.half(*code).half(value.len() as u16).padded(value);
        }
        self.word(0)
    }

    pub(crate) fn end(self, file: &mut Vec<u8>) {
        let len = self.order.u32(self.body.len() as u32 + 12);
        file.extend([&self.order.u32(self.kind), &len, self.body.as_slice(), &len].concat());
    }
}
