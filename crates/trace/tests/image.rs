//! A ring in a file has what a reader of the ring itself gets, whatever was done to the file.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::time::Duration;

use diligence_testkit::random::Random;
use diligence_trace::layout::RING_MIN;
use diligence_trace::{Entry, Image, Piece, Writer};

#[test]
fn a_ring_that_has_gone_round_is_read_from_its_oldest_record_on() {
    for (count, oldest_max) in [(10, 0), (1000, 0), (5000, 4000), (50_000, 49_000)] {
        let numbers = numbers(&ring(count));
        let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
        assert!(first <= oldest_max, "{count}: {first}");
        assert_eq!(last, count - 1, "{count}");
        assert!(numbers.is_sorted() && numbers.len() as u64 == count - first, "{count}");
    }
}

#[test]
fn a_file_that_is_cut_has_what_stands_before_the_cut() {
    let bytes = ring(1000);
    let all = numbers(&bytes);
    for kept in [4096, 5000, 20_000, 60_000] {
        let cut = numbers(&bytes[..kept]);
        assert!(all.starts_with(&cut), "{kept}");
        assert!(cut.len() >= (kept - 4096) / 60, "{kept}: {}", cut.len());
    }
    assert!(Image::read(&bytes[..4095]).is_err());
    assert!(Image::read(&b"DLGTRACE"[..]).is_err());
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

/// The bytes of a ring with so many records.
fn ring(count: u64) -> Vec<u8> {
    let (mut writer, descriptor) = Writer::new(RING_MIN, 7, 8).expect("a ring");
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
    let mut image = Image::read(bytes).expect("a ring");
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

/// Offsets in the header.
const COMMITTED: usize = 72;
const SEGMENT_TABLE: usize = 512;
