//! Writes recordings in each format into the corpora, so that fuzzing begins behind their first
//! bytes: `cargo run --bin seeds`.

use std::fs;
use std::io;
use std::path::Path;

use capture::record::{Bus, BusId, Fact, Gap, GapCause, Method, Record};
use diligence_testkit::recording::Recording;

fn main() -> io::Result<()> {
    for target in ["reader", "analyses"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in seeds() {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let (talk, trace) = (talk(), trace());
    vec![
        ("talk.pcap", talk.pcap()),
        ("talk.pcapng", talk.pcapng()),
        ("talk.binary", bytes(&talk)),
        ("trace.pcapng", trace.pcapng()),
        ("table", TABLE.into()),
        ("text", TEXT.into()),
    ]
}

/// Messages of every kind.
fn talk() -> Recording {
    let mut recording = Recording::new();
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
fn trace() -> Recording {
    let mut recording = Recording::new();
    recording.bus(Bus {
        name: "session".to_owned(),
        method: Method::Trace,
        filters: vec!["type='signal'".to_owned()],
        ..Bus::default()
    });
    recording.process(":1.2", 77, "mail").owner("org.example.Mail", ":1.2");
    recording.rule(":1.1", "type='signal'");
    recording.fact(Fact::Starting { name: "org.example.Mail".to_owned(), by: None });
    recording.fact(Fact::Recorder { unique: ":1.9".to_owned() });
    let call = recording.call(":1.1", "org.example.Mail", "/m org.example.Mail.Get", &());
    recording.delivered(3, &[(2, 9, 0)]).wait_us(50).reply(&call, ":1.2", &());
    recording.signal(":1.2", "/m org.example.Mail.New", &()).delivered(1, &[(1, 9, 2), (3, 4, 1)]);
    let (at, bus) = (Some(recording.now()), BusId(0));
    recording.gap(Gap { at, bus, cause: GapCause::Overrun, lost: Some(9) });
    recording.fact(Fact::Left { unique: ":1.2".to_owned(), why: Some("slow".to_owned()) });
    recording
}

/// Messages one behind the other.
fn bytes(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording.each(|record| {
        if let Record::Message(raw) = record {
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
