//! The files that the pcapng writer produces, also after errors.

use std::fmt::Write as _;
use std::io::{self, Write};

use capture::file::PcapngWriter;
use capture::record::{Fact, GapCause, RecordingGap, RecordingOrigin};
use testkit::golden;
use testkit::recording::TestRecording;

use crate::made::small;

#[test]
fn blocks_refused_by_a_full_disk_are_written_later() {
    let recording = recording();
    let mut smooth =
        PcapngWriter::new(Vec::new(), &RecordingOrigin::default()).expect("memory takes all");
    let mut writer = PcapngWriter::new(Stubborn::default(), &RecordingOrigin::default())
        .expect("no bytes were written");
    recording.each(|record| {
        smooth.write(&record).expect("memory takes all");
        while writer.write(&record).is_err() {}
        while writer.flush().is_err() {}
    });
    smooth.flush().expect("memory takes all");
    assert!(writer.out().refused > 100);
    assert!(writer.out().taken == *smooth.out());
}

#[test]
fn written_bytes_and_messages_are_counted() {
    let mut writer =
        PcapngWriter::new(Vec::new(), &RecordingOrigin::default()).expect("memory takes all");
    recording().each(|record| writer.write(&record).expect("memory takes all"));
    let written = writer.written();
    assert_eq!(written.messages, 20);
    writer.flush().expect("memory takes all");
    assert_eq!(writer.out().len() as u64, written.bytes);
}

/// An output that accepts a few bytes in every other call.
#[derive(Default)]
struct Stubborn {
    taken: Vec<u8>,
    refused: usize,
    is_willing: bool,
}

impl Write for Stubborn {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_willing = !self.is_willing;
        if !self.is_willing {
            self.refused += 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(7);
        self.taken.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn recording() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.fact(Fact::Activatable { name: "org.example.Mail".to_owned() });
    for number in 0..20_u32 {
        recording.wait_us(3).signal(":1.1", "/ org.example.Mail.New", &(number,));
    }
    let gap =
        RecordingGap { at: None, bus: Default::default(), cause: GapCause::Overrun, lost: Some(7) };
    recording.gap(gap);
    recording
}

/// A change of the golden file is a change of the format: `docs/capture-format.md` defines when
/// that requires a new version.
#[test]
fn the_pcapng_format_matches_its_description() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/file/small.hex");
    let mut text = String::new();
    for line in small().pcapng().chunks(16) {
        let hex: Vec<_> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let is_text = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
        let shown = line.iter().map(|byte| if is_text(byte) { *byte as char } else { '.' });
        writeln!(text, "{:47}  {}", hex.join(" "), shown.collect::<String>()).expect("memory");
    }
    golden::check(path, &text);
}
