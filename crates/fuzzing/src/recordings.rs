//! Fuzzing targets for recordings in all supported formats.

use capture::file::{PcapngWriter, RecordingReader};
use capture::lint::LintRule;
use capture::model::MessageBuffer;
use capture::record::{
    BusId, CaptureMethod, Fact, GapCause, RawMessage, RecordedBus, RecordingGap, RecordingOrigin,
    RecordingRecord,
};
use capture::show::{Controls, MessageFormat};
use capture::statistics::{GroupKeyKind, GroupedTraffic};
use capture::{Capture, lint, timeline};
use testkit::recording::TestRecording;

use crate::seed::Seed;

/// Reads a file to its end. The size of the file limits the size of its messages, and a written
/// copy has the same number of messages.
pub fn reader(file: &[u8]) {
    // Compressed files are skipped: they would only test zlib and zstd, and expand to large sizes.
    if COMPRESSED_MAGIC.iter().any(|magic| file.starts_with(magic)) {
        return;
    }
    let Some((written, counts)) = rewrite(file) else { return };
    assert!(counts.bytes <= EXPANSION_MAX * file.len(), "{counts:?} of {}", file.len());
    assert!(counts.other_records <= file.len(), "{counts:?} of {}", file.len());
    let (_, again) = rewrite(&written).expect("the written file is a recording");
    assert_eq!(counts.messages, again.messages);
}

/// Counts of the content of a file.
#[derive(Default, Debug)]
struct ParsedCounts {
    messages: usize,
    /// Number of message bytes that were kept.
    bytes: usize,
    /// Number of records other than messages.
    other_records: usize,
}

/// Reads a file; if it is a recording, writes its records to a new one.
fn rewrite(file: &[u8]) -> Option<(Vec<u8>, ParsedCounts)> {
    let mut counts = ParsedCounts::default();
    let mut reader = RecordingReader::new(file).ok()??;
    let mut writer = PcapngWriter::new(Vec::new(), &RecordingOrigin::default())
        .expect("writes to memory succeed");
    while let Ok(Some(record)) = reader.next_record() {
        match &record {
            RecordingRecord::Message(raw) => {
                counts.messages += 1;
                counts.bytes += raw.bytes.len();
                assert!(
                    raw.bytes.len() <= raw.len as usize,
                    "the kept part is not longer than the message"
                );
            }
            _ => counts.other_records += 1,
        }
        writer.write(&record).expect("writes to memory succeed");
    }
    Some((writer.finish().expect("writes to memory succeed"), counts))
}

/// First bytes of files compressed with gzip and zstd.
const COMPRESSED_MAGIC: [&[u8]; 2] = [&[0x1F, 0x8B], &[0x28, 0xB5, 0x2F, 0xFD]];

/// Maximum ratio of message bytes to file bytes; the shortest line of a table expands the most.
const EXPANSION_MAX: usize = 8;

/// Reads a file, and runs all analyses on it.
pub fn analyses(file: &[u8]) {
    let Ok(Some(mut reader)) = RecordingReader::new(file) else { return };
    let mut capture = Capture::default();
    while let Ok(Some(record)) = reader.next_record() {
        if capture.len() == MESSAGES_MAX {
            break;
        }
        capture.push(match record {
            RecordingRecord::Message(raw) => {
                // A file in memory has no position from which a message could be read again.
                RecordingRecord::Message(RawMessage { place: None, ..raw })
            }
            other => other,
        });
    }
    let report =
        lint::Report::new(lint::ReportSource::Recording("a".to_owned()), &capture, LintRule::all());
    drop(lint::report::to_json(&report));
    show(&capture);
    count(&capture);
    follow(&capture);
}

fn show(capture: &Capture) {
    let (mut text, mut buffer) = (String::new(), MessageBuffer::default());
    for message in capture.messages() {
        for format in [
            MessageFormat::Busctl,
            MessageFormat::Gdbus,
            MessageFormat::DbusSend,
            MessageFormat::Json,
        ] {
            text.clear();
            format
                .push(&mut text, &message, &mut buffer, Controls::Escaped)
                .expect("memory can be read");
        }
    }
}

fn count(capture: &Capture) {
    let mut groups = GroupedTraffic::new(capture, GroupKeyKind::Pair);
    capture.messages().for_each(|message| groups.add(&message));
    drop(groups.table());
}

fn follow(capture: &Capture) {
    timeline::chrome_trace(capture, |_| true, std::io::sink()).expect("writes to a sink succeed");
    drop(timeline::blocked_table(&timeline::blocked(capture, |_| true)));
    for start_up in timeline::start_ups(capture) {
        drop(start_up.table(capture, usize::MAX));
    }
}

/// Limits the cost of lint rules that compare messages with each other. More messages of the same
/// kind find no more errors.
const MESSAGES_MAX: usize = 2_000;

/// Seeds with a recording in each format.
pub fn files() -> Vec<Seed> {
    let (talk, trace) = (message_recording(), trace_recording());
    let files = [
        ("talk.pcap", talk.pcap()),
        ("talk.pcapng", talk.pcapng()),
        ("talk.binary", bytes(&talk)),
        ("trace.pcapng", trace.pcapng()),
        ("table", TABLE.into()),
        ("text", TEXT.into()),
    ];
    files.map(|(name, bytes)| (name.to_owned(), bytes)).into()
}

/// A recording with messages of every kind.
fn message_recording() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.ask_bus(":1.1", "AddMatch", &("type='signal',member='New'",), &());
    recording.owner_changed("org.example.Mail", "", ":1.2");
    for round in 0..4_u32 {
        let call = recording.call(":1.1", "org.example.Mail", "/m org.example.Mail.Get", &(round,));
        recording.wait_us(70).reply(&call, ":1.2", &("text", vec![("key", 7_u8)]));
        let call = recording.call(":1.1", ":1.2", "/m Odd", &());
        recording.wait_ms(3).error(&call, ":1.2", "org.example.No", "no");
        recording.signal(":1.2", "/m org.example.Mail.New", &("a longer text", true)).cut(90);
    }
    recording
}

/// A recording with every kind of record that the recorder writes in addition to messages.
fn trace_recording() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus {
        name: "session".to_owned(),
        method: CaptureMethod::Trace,
        filters: vec!["type='signal'".to_owned()],
        ..RecordedBus::default()
    });
    recording.process(":1.2", 77, "mail").owner("org.example.Mail", ":1.2");
    recording.rule(":1.1", "type='signal'");
    recording.fact(Fact::Starting { name: "org.example.Mail".to_owned(), by: None });
    recording.fact(Fact::Recorder { unique: ":1.9".to_owned() });
    let call = recording.call(":1.1", "org.example.Mail", "/m org.example.Mail.Get", &());
    recording.delivered(3, &[(2, 9, 0)]).wait_us(50).reply(&call, ":1.2", &());
    recording.signal(":1.2", "/m org.example.Mail.New", &()).delivered(1, &[(1, 9, 2), (3, 4, 1)]);
    let (at, bus) = (Some(recording.now()), BusId(0));
    recording.gap(RecordingGap { at, bus, cause: GapCause::Overrun, lost: Some(9) });
    recording.fact(Fact::Left { unique: ":1.2".to_owned(), why: Some("slow".to_owned()) });
    recording
}

/// The messages of a recording, concatenated.
fn bytes(recording: &TestRecording) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording.each(|record| {
        if let RecordingRecord::Message(raw) = record {
            bytes.extend_from_slice(raw.bytes);
        }
    });
    bytes
}

/// Output of `dbus-monitor --profile`.
const TABLE: &str = "#type\ttimestamp\tserial\tsender\tdestination\tpath\tinterface\tmember\n\
    mc\t12.000001\t7\t:1.1\torg.example.Mail\t/a\torg.example.Mail\tCount\n\
    mr\t12.5\t3\t:1.2\t:1.1\t7\n\
    sig\t14\t5\t:1.2\t<none>\t/\torg.example.Mail\tNew\n";

/// Output of `dbus-monitor` for one signal.
const TEXT: &str = "signal time=14.0 sender=:1.2 -> destination=(null destination) serial=5 \
    path=/; interface=org.example.Mail; member=New\n   string \"text\"\n   uint64 77\n";
