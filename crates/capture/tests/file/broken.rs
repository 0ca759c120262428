//! Truncated, damaged and malicious files: readers do not panic, read as much as possible, and
//! report the rest.

use capture::Capture;
use capture::file::RecordingReader;
use capture::record::{GapCause, RecordedBus, RecordingRecord};
use testkit::random::Random;
use testkit::recording::TestRecording;

use crate::made::{Block, MadeContent, MadeMessage, MadeOrder};
use crate::made::{binary, gzip, of, pcap, read, sample, small, try_read, whole, zstd};

#[test]
fn files_truncated_at_any_byte_are_read() {
    let files = [
        ("pcap", pcap(&sample(), MadeOrder::Little, 1_000, 0, 231), Ends::Told),
        ("pcapng", small().pcapng(), Ends::Told),
        ("binary", binary(&whole()), Ends::Told),
        ("profile", PROFILE.to_vec(), Ends::Silent),
        ("text", TEXT.to_vec(), Ends::Silent),
    ];
    for (name, file, ends) in files {
        let all = read(&file).messages;
        let mut before = 0;
        for len in 0..=file.len() {
            let Some(content) = try_read(&file[..len]) else {
                assert_eq!(before, 0, "{name}: at {len} it is no longer a recording");
                continue;
            };
            let count = content.messages.len();
            let context = format!("{name} cut at {len}");
            if matches!(ends, Ends::Told) {
                assert_eq!(content.messages, all[..count], "{context}");
                assert!(before <= count && count <= before + 1, "{context}");
                check_end(&content, &context);
            }
            before = count;
        }
        assert_eq!(before, all.len(), "{name}");
    }
}

/// The visibility of a premature end in the format.
#[derive(Clone, Copy)]
enum Ends {
    Told,
    Silent,
}

/// Checks that the file ends after a complete item, or that the truncation is reported.
fn check_end(content: &MadeContent, context: &str) {
    let cuts = content.gaps().iter().filter(|gap| gap.cause == GapCause::CutFile).count();
    assert!(cuts <= 1, "{context}");
    assert!(content.damage().is_empty(), "{context}: {:?}", content.damage());
}

#[test]
fn truncation_is_reported_unless_between_blocks() {
    let sample = sample();
    let file = pcap(&sample, MadeOrder::Little, 1_000, 0, 231);
    let mut ends = vec![24];
    for message in &sample {
        ends.push(ends.last().expect("the first") + 16 + message.bytes.len());
    }
    for len in 4..=file.len() {
        let is_reported = read(&file[..len]).gaps().len() == 1;
        assert_eq!(is_reported, !ends.contains(&len), "cut at {len}");
    }
}

#[test]
fn garbage_between_messages_loses_no_message() {
    let whole = whole();
    let garbage = [
        b"\xFF".as_slice(),
        b"\xFF\xFF\xFF\xFF\xFF",
        &[0xFE; 99],
        b"l\x01\x00\x01 is how messages begin",
        b"\x06\0\0\0\x20\0\0\0 is how blocks begin, and then they go on",
        &[0; 50],
    ];
    for garbage in garbage {
        for order in [MadeOrder::Little, MadeOrder::Big] {
            check_garbage(&whole, garbage, |message| {
                let file = pcap(std::slice::from_ref(message), order, 1_000, 0, 231);
                let (head, packet) = file.split_at(24);
                (head.to_vec(), packet.to_vec())
            });
            check_garbage(&whole, garbage, |message| {
                let (mut head, mut block) = (Vec::new(), Vec::new());
                Block::section(order).end(&mut head);
                Block::interface(order, 231, 0).end(&mut head);
                Block::packet(order, 0, 1, &message.bytes).end(&mut block);
                (head, block)
            });
        }
        check_garbage(&whole, garbage, |message| (Vec::new(), message.bytes.clone()));
    }
}

/// Inserts garbage before the third message of a file. `make` creates the start of the file and the
/// bytes of a message.
fn check_garbage(
    whole: &[MadeMessage],
    garbage: &[u8],
    make: impl Fn(&MadeMessage) -> (Vec<u8>, Vec<u8>),
) {
    let (mut file, _) = make(&whole[0]);
    for (number, message) in whole.iter().enumerate() {
        if number == 2 {
            file.extend(garbage);
        }
        file.extend(make(message).1);
    }
    let content = read(&file);
    let found: Vec<_> = content.messages.iter().map(|message| &message.bytes).collect();
    let rest: Vec<_> = whole.iter().map(|message| &message.bytes).collect();
    // Garbage that looks like a packet hides the bytes it claims.
    assert!(found.len() + 2 >= rest.len(), "{garbage:?}: {} of {}", found.len(), rest.len());
    assert!(found.starts_with(&rest[..2]) && found.ends_with(&rest[4..]), "{garbage:?}");
    assert!(!content.damage().is_empty() || found.len() > rest.len(), "{garbage:?}");
}

#[test]
fn wrong_lengths_take_no_memory_and_lose_few_messages() {
    let sample = sample();
    let (mut file, end) = (Vec::new(), Block::packet(MadeOrder::Little, 0, 2, &sample[1].bytes));
    Block::section(MadeOrder::Little).end(&mut file);
    Block::interface(MadeOrder::Little, 231, 0).end(&mut file);
    let at = file.len();
    Block::packet(MadeOrder::Little, 0, 1, &sample[0].bytes).end(&mut file);
    end.end(&mut file);
    for lie in [0, 3, 11, 13, 0x0FFF_FFFC, 0x7FFF_FFFC, u32::MAX] {
        // First the length of the block, then of the packet, then of the message.
        for offset in [4, 20, 28 + 4, 28 + 12] {
            let mut file = file.clone();
            file[at + offset..at + offset + 4].copy_from_slice(&u32::to_le_bytes(lie));
            let content = read(&file);
            let last = content.messages.last().expect("the second message can be read");
            assert_eq!(last.bytes, sample[1].bytes, "{lie} at {offset}");
            content.capture();
        }
    }
}

#[test]
fn mutations_are_read_without_a_panic() {
    let mut random = Random::from_env();
    let mut big_endian = Vec::new();
    Block::section(MadeOrder::Big).end(&mut big_endian);
    Block::interface(MadeOrder::Big, 231, 0).end(&mut big_endian);
    for message in sample() {
        Block::packet(MadeOrder::Big, 0, 1, &message.bytes).end(&mut big_endian);
    }
    let files = [
        pcap(&sample(), MadeOrder::Little, 1_000, 4096, 231),
        pcap(&sample(), MadeOrder::Big, 1, 0, 231),
        small().pcapng(),
        big_endian,
        binary(&sample()),
        PROFILE.to_vec(),
        TEXT.to_vec(),
    ];
    let rounds = std::env::var("DILIGENCE_MUTATIONS")
        .map_or(3_000, |text| text.parse().expect("DILIGENCE_MUTATIONS is a number"));
    for _ in 0..rounds {
        for file in &files {
            let mut file = file.clone();
            for _ in 0..=random.below(4) {
                mutate(&mut file, &mut random);
            }
            if let Some(content) = try_read(&file) {
                check_sizes(&content, file.len());
                content.capture();
            }
        }
    }
}

/// Checks that the reader returns no more bytes than the file has.
fn check_sizes(content: &MadeContent, len: usize) {
    let bytes: usize = content.messages.iter().map(|message| message.bytes.len()).sum();
    assert!(bytes <= 8 * len, "{bytes} bytes of messages from a file of {len}");
    assert!(content.rest.len() <= len, "{} records from a file of {len}", content.rest.len());
}

fn mutate(file: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(file.len().max(1)).min(file.len());
    let len = random.below(40).min(file.len() - at);
    match random.below(6) {
        0 => file.truncate(at),
        1 => drop(file.drain(at..at + len)),
        2 => drop(file.splice(at..at, (0..len).map(|_| random.number() as u8))),
        3 => file.extend_from_within(at..at + len),
        4 => {
            let word = random.pick(&[0, 1, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 28, 12_u32]);
            let word = word.to_le_bytes();
            let count = word.len().min(file.len() - at);
            file[at..at + count].copy_from_slice(&word[..count]);
        }
        _ => {
            if let Some(byte) = file.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
    }
}

#[test]
fn corrupt_compression_is_reported_and_truncated_compression_is_truncation() {
    // Enough messages for several compressed blocks.
    let many = |messages: Vec<MadeMessage>| vec![messages; 400].concat();
    let (sample, mut recording) = (many(sample()), TestRecording::new());
    recording.bus(RecordedBus::default());
    for message in &sample {
        recording.raw(&message.bytes);
    }
    let files = [
        ("pcap", pcap(&sample, MadeOrder::Little, 1_000, 0, 231)),
        ("pcapng", recording.pcapng()),
        ("binary", binary(&many(whole()))),
    ];
    for (name, file) in files {
        let all = read(&file).messages.len();
        for (program, packed) in [("gzip", gzip(&file)), ("zstd", zstd(&file))] {
            let context = format!("{name}, {program}");
            let cut = read(&packed[..packed.len() * 9 / 10]);
            assert_eq!((cut.gaps().len(), cut.damage().len()), (1, 0), "{context}");
            let mut corrupt = packed;
            let at = corrupt.len() * 9 / 10;
            corrupt[at..at + 40].fill(0xFF);
            check_corrupt(&read(&corrupt), all, file.len() as u64, &context);
        }
    }
}

fn check_corrupt(content: &MadeContent, all: usize, len: u64, context: &str) {
    assert!((1..all).contains(&content.messages.len()), "{context}");
    assert!(content.gaps().is_empty(), "{context}: {:?}", content.gaps());
    let Some(RecordingRecord::Damage(last)) = content.rest.last() else {
        panic!("{context}: the end is not reported")
    };
    assert!(last.what.starts_with("the compression is corrupt"), "{context}: {last:?}");
    assert!(0 < last.at && last.at <= len, "{context}: {last:?}");
}

#[test]
fn unreadable_compressed_files_are_errors() {
    let mut packed = gzip(&pcap(&sample(), MadeOrder::Little, 1_000, 0, 231));
    packed[10..].fill(0xFF);
    let error = RecordingReader::new(packed.as_slice()).expect_err("nothing can be read");
    assert!(error.to_string().starts_with("the compression is corrupt: "), "{error}");
}

#[test]
fn damaged_places_beyond_a_limit_are_only_counted() {
    let mut file = Vec::new();
    Block::section(MadeOrder::Little).end(&mut file);
    for _ in 0..12_000 {
        file.push(0xFF);
        Block::new(MadeOrder::Little, 4).end(&mut file);
    }
    let mut capture = Capture::default();
    for record in read(&file).rest {
        capture.push(record);
    }
    assert_eq!((capture.damage().len(), capture.damage_count()), (10_000, 12_000));
}

#[test]
fn files_of_killed_writers_have_the_flushed_messages() {
    let file = small().pcapng();
    let expected = of(&small());
    for len in (0..file.len()).step_by(3) {
        let Some(content) = try_read(&file[..len]) else { continue };
        let last = content.rest.last();
        assert!(content.messages.len() <= expected.len());
        assert!(!matches!(last, Some(RecordingRecord::Damage(_))), "cut at {len}: {last:?}");
    }
}

const PROFILE: &[u8] = b"#type\ttimestamp\tserial\tsender\tdestination\tpath\tinterface\tmember\n\
    mc\t12.000001\t7\t:1.1\torg.example.Mail\t/a\torg.example.Mail\tCount\n\
    mr\t12.5\t3\t:1.2\t:1.1\t7\n\
    err\t13.25\t4\t:1.2\t:1.1\t8\n\
    sig\t14\t5\t:1.2\t<none>\t/\torg.example.Mail\tNew\n";

const TEXT: &[u8] = b"signal time=14.0 sender=:1.2 -> destination=(null destination) serial=5 \
    path=/; interface=org.example.Mail; member=New\n   string \"a\nb\"\n   uint64 77\n   array [\n\
    ]\nerror time=13 sender=:1.2 -> destination=:1.1 error_name=org.example.No reply_serial=8\n   \
    string \"no\"\n";
