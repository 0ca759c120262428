//! Files of ours and of others with messages in them.

use capture::file::{PcapngWriter, RecordingReader};
use capture::lint::LintRule;
use capture::record::{
    BusId, CaptureMethod, Fact, GapCause, RawMessage, RecordedBus, RecordingGap, RecordingOrigin,
    RecordingRecord,
};
use capture::show::{Controls, MessageFormat};
use capture::statistics::{GroupKeyKind, GroupedTraffic};
use capture::{Capture, lint, timeline};
use testkit::recording::TestRecording;

use crate::seed::Seed;

/// Any bytes as a file: they are read to their end, nothing comes out that was not in them, and what was
/// read can be written and read again.
pub fn reader(file: &[u8]) {
    // What is packed grows when it is read; that is zlib's and zstd's, and would only take time.
    if PACKED.iter().any(|magic| file.starts_with(magic)) {
        return;
    }
    let Some((written, counts)) = rewritten(file) else { return };
    assert!(counts.bytes <= EXPANSION_MAX * file.len(), "{counts:?} of {}", file.len());
    assert!(counts.others <= file.len(), "{counts:?} of {}", file.len());
    let (_, again) = rewritten(&written).expect("what was written is a recording");
    assert_eq!(counts.messages, again.messages);
}

/// What was read of a file.
#[derive(Default, Debug)]
struct ParsedCounts {
    messages: usize,
    /// Bytes kept of messages.
    bytes: usize,
    /// Records that are no messages.
    others: usize,
}

/// Reads a file, if it is a recording, and writes what it says.
fn rewritten(file: &[u8]) -> Option<(Vec<u8>, ParsedCounts)> {
    let mut counts = ParsedCounts::default();
    let mut reader = RecordingReader::new(file).ok()??;
    let mut writer =
        PcapngWriter::new(Vec::new(), &RecordingOrigin::default()).expect("memory takes all");
    while let Ok(Some(record)) = reader.next_record() {
        match &record {
            RecordingRecord::Message(raw) => {
                counts.messages += 1;
                counts.bytes += raw.bytes.len();
                assert!(raw.bytes.len() <= raw.len as usize, "more is kept than there was");
            }
            _ => counts.others += 1,
        }
        writer.write(&record).expect("memory takes all");
    }
    Some((writer.finish().expect("memory takes all"), counts))
}

/// How files begin that are compressed: with gzip, with zstd.
const PACKED: [&[u8]; 2] = [&[0x1F, 0x8B], &[0x28, 0xB5, 0x2F, 0xFD]];

/// Messages made from the shortest line of a table are so much longer than it.
const EXPANSION_MAX: usize = 8;

/// Any bytes as a file, and everything that can be asked of a recording.
pub fn analyses(file: &[u8]) {
    let Ok(Some(mut reader)) = RecordingReader::new(file) else { return };
    let mut capture = Capture::default();
    while let Ok(Some(record)) = reader.next_record() {
        if capture.len() == MESSAGES_MAX {
            break;
        }
        capture.push(match record {
            RecordingRecord::Message(raw) => {
                // The file is memory, where nothing can be found again.
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
    let (mut text, mut buffer) = (String::new(), Vec::new());
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
    timeline::chrome_trace(capture, |_| true, std::io::sink()).expect("it takes all");
    drop(timeline::blocked_table(&timeline::blocked(capture, |_| true)));
    for start_up in timeline::start_ups(capture) {
        drop(start_up.table(capture, usize::MAX));
    }
}

/// Rules compare messages with each other, and what many of the same show a few do too.
const MESSAGES_MAX: usize = 2_000;

/// A recording in each format.
pub fn files() -> Vec<Seed> {
    let (talk, trace) = (talk(), trace());
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

/// Messages of every kind.
fn talk() -> TestRecording {
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

/// Everything that our recorder writes beside messages.
fn trace() -> TestRecording {
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

/// Messages one behind the other.
fn bytes(recording: &TestRecording) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording.each(|record| {
        if let RecordingRecord::Message(raw) = record {
            bytes.extend_from_slice(raw.bytes);
        }
    });
    bytes
}

/// As `dbus-monitor --profile` prints it.
const TABLE: &str = "#type\ttimestamp\tserial\tsender\tdestination\tpath\tinterface\tmember\n\
    mc\t12.000001\t7\t:1.1\torg.example.Mail\t/a\torg.example.Mail\tCount\n\
    mr\t12.5\t3\t:1.2\t:1.1\t7\n\
    sig\t14\t5\t:1.2\t<none>\t/\torg.example.Mail\tNew\n";

/// As `dbus-monitor` prints it.
const TEXT: &str = "signal time=14.0 sender=:1.2 -> destination=(null destination) serial=5 \
    path=/; interface=org.example.Mail; member=New\n   string \"text\"\n   uint64 77\n";
