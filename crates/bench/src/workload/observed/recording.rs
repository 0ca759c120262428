//! The totals of a recording, from the statistics at its end.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// The totals of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RecordingTotals {
    pub(super) received: u64,
    /// The number of messages that are missing in the file.
    pub(super) lost: u64,
}

impl RecordingTotals {
    /// Reads the statistics at the end of a pcapng file; other formats have none. It reads only the
    /// headers of all other blocks.
    pub(super) fn of_file(path: &Path) -> io::Result<Self> {
        Self::read(BufReader::with_capacity(BUFFER_LEN, File::open(path)?))
    }

    fn read(mut file: impl Read) -> io::Result<Self> {
        let mut totals = Self::default();
        let mut head = [0; BLOCK_HEAD];
        let mut has_next = file.read_exact(&mut head).is_ok() && word(&head, 0) == SECTION;
        while has_next {
            let body = u64::from(word(&head, 4)).saturating_sub(BLOCK_HEAD as u64);
            let mut body = file.by_ref().take(body);
            if word(&head, 0) == STATISTICS {
                let mut statistics = Vec::new();
                body.read_to_end(&mut statistics)?;
                totals.add(statistics.get(OPTIONS_START..).unwrap_or_default());
            } else {
                io::copy(&mut body, &mut io::sink())?;
            }
            has_next = file.read_exact(&mut head).is_ok();
        }
        Ok(totals)
    }

    fn add(&mut self, mut options: &[u8]) {
        while options.len() >= OPTION_HEAD {
            let (code, len) = (half(options, 0), usize::from(half(options, 2)));
            let count =
                options[OPTION_HEAD..].first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
            match code {
                RECEIVED => self.received += count,
                DROPPED => self.lost += count,
                _ => {}
            }
            options = options.get(OPTION_HEAD + len.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    bytes[at..].first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// Size of a block header in bytes: type and length.
const BLOCK_HEAD: usize = 8;

/// The type of the first block.
const SECTION: u32 = 0x0A0D_0D0A;

/// The type of a block with the statistics of an interface.
const STATISTICS: u32 = 5;

const OPTIONS_START: usize = 12;

/// Size of an option header in bytes: code and length.
const OPTION_HEAD: usize = 4;

/// The code of the option with the number of packets.
const RECEIVED: u16 = 4;

/// The code of the option with the number of lost packets.
const DROPPED: u16 = 5;

/// The number of bytes that are read at once.
const BUFFER_LEN: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: u32, body: &[u8]) -> Vec<u8> {
        let len = (body.len() + 12) as u32;
        [&kind.to_le_bytes(), &len.to_le_bytes(), body, &len.to_le_bytes()].concat()
    }

    #[test]
    fn statistics_of_all_interfaces_are_added_up() {
        let option = |code: u16, count: u64| {
            [&code.to_le_bytes()[..], &8_u16.to_le_bytes(), &count.to_le_bytes()].concat()
        };
        let comment = [&1_u16.to_le_bytes()[..], &3_u16.to_le_bytes(), b"any\0"].concat();
        let statistics = |received, lost| {
            let end = [0; 4];
            [&[0; 12][..], &comment, &option(4, received), &option(5, lost), &end].concat()
        };
        let blocks =
            [block(6, &[7; 40]), block(5, &statistics(10, 2)), block(5, &statistics(5, 0))];
        let file = [block(SECTION, &[0; 16]), blocks.concat()].concat();
        assert_eq!(
            RecordingTotals::read(&*file).unwrap(),
            RecordingTotals { received: 15, lost: 2 }
        );
        assert_eq!(
            RecordingTotals::read(&*blocks.concat()).unwrap(),
            RecordingTotals::default(),
            "another format"
        );
        assert_eq!(RecordingTotals::read(&b"cut"[..]).unwrap(), RecordingTotals::default());
    }
}
