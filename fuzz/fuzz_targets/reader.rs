//! Any bytes as a file: they are read to their end, nothing comes out that was not in them, and what
//! was read can be written and read again.

#![no_main]

use capture::file::{Reader, Writer};
use capture::record::{Origin, Record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    // What is packed grows when it is read; that is zlib's and zstd's, and would only take time.
    if PACKED.iter().any(|magic| file.starts_with(magic)) {
        return;
    }
    let Some((written, counts)) = rewritten(file) else { return };
    assert!(counts.bytes <= EXPANSION_MAX * file.len(), "{counts:?} of {}", file.len());
    assert!(counts.others <= file.len(), "{counts:?} of {}", file.len());
    let (_, again) = rewritten(&written).expect("what was written is a recording");
    assert_eq!(counts.messages, again.messages);
});

/// What was read of a file.
#[derive(Default, Debug)]
struct Counts {
    messages: usize,
    /// Bytes kept of messages.
    bytes: usize,
    /// Records that are no messages.
    others: usize,
}

/// Reads a file, if it is a recording, and writes what it says.
fn rewritten(file: &[u8]) -> Option<(Vec<u8>, Counts)> {
    let mut counts = Counts::default();
    let mut reader = Reader::new(file).ok()??;
    let mut writer = Writer::new(Vec::new(), &Origin::default()).expect("memory takes all");
    while let Ok(Some(record)) = reader.next_record() {
        match &record {
            Record::Message(raw) => {
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
