//! A ring in a file has what a reader of the ring itself gets, whatever was done to the file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::time::Duration;

use testkit::random::Random;
use trace::layout::RING_MIN;
use trace::record::Party;
use trace::{Delivered, Entry, Image, Piece, RingWriter};

#[test]
fn a_wrapped_ring_is_read_from_its_oldest_record() {
    for (count, oldest_max) in [(10, 0), (1000, 0), (5000, 4000), (50_000, 49_000)] {
        let numbers = numbers(&ring(count));
        let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
        assert!(first <= oldest_max, "{count}: {first}");
        assert_eq!(last, count - 1, "{count}");
        assert!(numbers.is_sorted() && numbers.len() as u64 == count - first, "{count}");
    }
}

#[test]
fn a_truncated_file_keeps_the_records_before_the_cut() {
    let bytes = ring(1000);
    let all = numbers(&bytes);
    for kept in [4096, 5000, 20_000, 60_000] {
        let cut = numbers(&bytes[..kept]);
        assert!(all.starts_with(&cut), "{kept}");
        assert!(cut.len() >= (kept - 4096) / 60, "{kept}: {}", cut.len());
    }
    for cut in [&bytes[..4095], &bytes[..8], &bytes[..1]] {
        assert_eq!(Image::read(cut).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
    for other in [&b""[..], b"DLGTRACK", b"another file"] {
        assert_eq!(Image::read(other).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}

#[test]
fn a_cut_file_reports_where_records_are_missing_and_how_many() {
    let mut counted = 0;
    for count in [1000, 5000] {
        let bytes = ring(count);
        let all = numbers(&bytes);
        for kept in (4096..bytes.len()).step_by(997) {
            let mut image = Image::read(&bytes[..kept]).expect("a ring");
            assert!(image.is_short(), "{kept}");
            let (mut read, mut cuts) = (Vec::new(), Vec::new());
            while let Some(piece) = image.step() {
                match piece {
                    Piece::Record(record) => read.push(u64::from(record.number)),
                    Piece::Cut(missed) => cuts.push((read.len(), missed)),
                    Piece::Missed(_) | Piece::Damage(_) => panic!("{count}, {kept}: {piece:?}"),
                }
            }
            assert_eq!(image.is_cut(), read != all, "{count}, {kept}");
            assert_eq!(cuts.is_empty(), read == all, "{count}, {kept}");
            for (place, missed) in cuts {
                // Records that are missing at the start or at the end cannot be counted.
                let is_between = (1..read.len()).contains(&place);
                let missing = is_between.then(|| read[place] - read[place - 1] - 1);
                let counts = missed.map(|missed| u64::from(missed.records));
                assert_eq!(counts, missing, "{count}, {kept}");
                counted += u64::from(is_between);
            }
            let first = all.iter().position(|number| Some(number) == read.first());
            let gaps = read.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
            assert!(gaps <= 1 && (read.is_empty() || first.is_some()), "{count}, {kept}");
        }
    }
    assert!(counted > 10, "{counted}");
}

#[test]
fn a_file_can_contain_several_rings() {
    let bytes = [ring(10), ring(5000), ring(1)].concat();
    let mut source = &*bytes;
    for (index, last) in [9, 4999, 0].into_iter().enumerate() {
        let before = source.len();
        let mut image = Image::read(&mut source).expect("a ring");
        assert_eq!(image.file_len(), (before - source.len()) as u64);
        let numbers = numbers_of(&mut image);
        assert_eq!(numbers.last(), Some(&last), "{index}");
    }
    assert!(Image::read(source).is_err(), "there are no more");
}

#[test]
fn a_file_that_was_changed_is_read_to_an_end() {
    let mut random = Random::from_env();
    let bytes = ring(5000);
    for _ in 0..500 {
        let mut changed = bytes.clone();
        for _ in 0..=random.below(20) {
            let most = if random.once_in(2) { 1100 } else { changed.len() - 64 };
            let place = 40 + random.below(most);
            changed[place] = random.below(256) as u8;
        }
        // Only one that claims to have no end is refused.
        let Ok(mut image) = Image::read(&*changed) else { continue };
        let steps = (0..bytes.len()).take_while(|_| image.step().is_some()).count();
        assert!(steps < bytes.len(), "it comes to an end");
    }
}

#[test]
fn a_file_that_claims_to_have_no_end_is_refused() {
    let mut bytes = ring(10);
    let padding = [8_u32.to_ne_bytes(), 0_u32.to_ne_bytes()];
    let len = bytes.len();
    bytes[len - 8..].copy_from_slice(padding.as_flattened());
    bytes[SEGMENT_TABLE..][..8].copy_from_slice(&0xFFFF_FFFF_FFFF_FFF8_u64.to_ne_bytes());
    bytes[COMMITTED..][..8].copy_from_slice(&u64::MAX.to_ne_bytes());
    assert!(Image::read(&*bytes).is_err());
}

#[test]
fn messages_of_the_first_version_are_read_without_stages() {
    let (mut writer, descriptor) = RingWriter::new(RING_MIN, 7, 8).expect("a ring");
    writer.stop();
    let mut bytes = file_bytes(descriptor);
    let lens = 4 | 4 << 32;
    let copies = 1 | 1 << 32;
    let body = [5, 2_000, lens, copies, 7, 120, u64::from(u32::from_ne_bytes(*b"mail"))];
    let len = 8 * (3 + body.len() as u64);
    let record = [len | 1 << 32, 0, 10_000].into_iter().chain(body);
    let record: Vec<u8> = record.flat_map(u64::to_ne_bytes).collect();
    bytes[RING..][..record.len()].copy_from_slice(&record);
    bytes[VERSION..][..8].copy_from_slice(&1_u64.to_ne_bytes());
    bytes[COMMITTED..][..8].copy_from_slice(&len.to_ne_bytes());
    let mut image = Image::read(&*bytes).expect("a ring");
    let Some(Piece::Record(record)) = image.step() else { panic!("a record") };
    let Entry::Message(message) = record.entry else { panic!("{record:?}") };
    assert_eq!(record.at, Duration::from_micros(10));
    assert_eq!((message.routed_after, message.stages), (Duration::from_micros(2), None));
    assert_eq!((message.from, message.bytes.0), (Party::Peer(5), &b"mail"[..]));
    let copies: Vec<_> = message.recipients.iter().collect();
    assert_eq!(copies, [Delivered { to: 7, end: 120 }]);
    assert!(image.step().is_none());
    bytes[VERSION..][..8].copy_from_slice(&3_u64.to_ne_bytes());
    assert!(Image::read(&*bytes).is_err(), "a version that is not known");
}

/// The bytes of a ring with this number of records.
fn ring(count: u64) -> Vec<u8> {
    let (mut writer, descriptor) = RingWriter::new(RING_MIN, 7, 8).expect("a ring");
    for number in 0..count {
        writer.write(Duration::ZERO, Entry::Written { to: number, total: number });
    }
    writer.stop();
    file_bytes(descriptor)
}

fn file_bytes(descriptor: OwnedFd) -> Vec<u8> {
    let mut bytes = Vec::new();
    File::from(descriptor).read_to_end(&mut bytes).expect("memory can be read");
    bytes
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    numbers_of(&mut Image::read(bytes).expect("a ring"))
}

fn numbers_of(image: &mut Image) -> Vec<u64> {
    assert_eq!((image.clock(), image.kept()), (7, 8));
    let mut numbers = Vec::new();
    while let Some(piece) = image.step() {
        if let Piece::Record(record) = piece {
            let number = u64::from(record.number);
            assert_eq!(record.entry, Entry::Written { to: number, total: number });
            numbers.push(number);
        }
    }
    numbers
}

/// Offsets in the header, and the offset of the ring.
const RING: usize = 4096;
const VERSION: usize = 8;
const COMMITTED: usize = 72;
const SEGMENT_TABLE: usize = 512;
