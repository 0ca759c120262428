//! Records in a ring are read again, or counted as missed.

use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use sys::shared::Writable;
use testkit::random::Random;
use trace::layout::{MAGIC, RING_MIN, SEGMENTS, VERSION, at};
use trace::record::{FirstRecipient, MessageRecord, Parts, Party, Recipients, Stages};
use trace::{Delivered, Entry, Follower, Participant, RingWriter, Step};

const KEPT: u32 = u32::MAX;

#[test]
fn every_kind_of_record_comes_back() {
    let (mut writer, descriptor) = RingWriter::new(RING_MIN, -5, 8).expect("a ring");
    let copies = [Delivered { to: 3, end: 900 }, Delivered { to: u64::MAX, end: 1 }];
    let entries = [
        message(12, b"head", b"body", &copies),
        message(0, b"", b"", &[]),
        message(1, b"", b"", &[]),
        message(2, b"", b"", &[]),
        Entry::Written { to: 3, total: 900 },
        Entry::Joined { peer: 9, pid: 77, uid: u32::MAX },
        Entry::Left { peer: 9, why: "it has sent something invalid" },
        Entry::Starting { name: "org.example.Name", by: Party::Peer(0) },
        Entry::Starting { name: "org.example.Name", by: Party::Bus },
        Entry::Started { name: "org.example.Name", failure: "exit status 1" },
        Entry::Started { name: "org.example.Name", failure: "" },
        Entry::Dropped { to: 5, count: 8, why: "it does not read" },
        Entry::Owned { name: "org.example.Name", peer: 9 },
        Entry::OwnerChanged { name: "org.example.Name", old: None, new: Some(9) },
        Entry::OwnerChanged { name: "org.example.Name", old: Some(9), new: None },
        Entry::Replaced { old: "0.1.0", new: "0.2.0", paused: Duration::from_millis(8) },
        participant(Party::Peer(9), Some(-7), "comm\0\0\0\0word\0\0"),
        participant(Party::Bus, None, ""),
    ];
    for (index, entry) in entries.iter().enumerate() {
        writer.write(Duration::from_micros(index as u64), *entry);
    }
    writer.stop();
    let mut follower = Follower::new(descriptor.as_fd()).expect("the ring");
    assert_eq!((follower.clock(), follower.kept()), (-5, 8));
    for (index, entry) in entries.iter().enumerate() {
        let Step::Record(record) = follower.step() else { panic!("record {index} is missing") };
        assert_eq!(record.entry, *entry);
        assert_eq!(record.number, index as u32);
        assert_eq!(record.at, Duration::from_micros(index as u64));
    }
    assert!(matches!(follower.step(), Step::Stopped));
}

fn participant(who: Party, started: Option<i64>, program: &str) -> Entry<'_> {
    Entry::Participant(Participant { who, pid: 77, uid: u32::MAX, started, program })
}

#[test]
fn late_readers_start_at_the_oldest_record() {
    let (mut writer, descriptor) = RingWriter::new(RING_MIN, 0, KEPT).expect("a ring");
    let mut early = Follower::new(descriptor.as_fd()).expect("the ring");
    let count = 10_000;
    for number in 0..count {
        writer.write(Duration::ZERO, message(number, b"0123456789", b"", &[]));
    }
    writer.stop();
    let mut late = Follower::new(descriptor.as_fd()).expect("the ring");
    let (read, missed) = drain(&mut late, count);
    assert!(read > 500, "only {read} of what fits into the ring");
    assert_eq!(missed, 0, "nothing that it had a right to");
    let (read, missed) = drain(&mut early, count);
    assert!(read > 500);
    assert_eq!(read + missed, count, "it was there from the start");
}

#[test]
fn at_most_the_kept_bytes_of_a_message_are_written() {
    for (kept, expected) in
        [(0, &b""[..]), (3, b"hea"), (4, b"head"), (6, b"headbo"), (9, b"headbody")]
    {
        let (mut writer, descriptor) = RingWriter::new(RING_MIN, 0, kept).expect("a ring");
        writer.write(Duration::ZERO, message(1, b"head", b"body", &[]));
        let mut follower = Follower::new(descriptor.as_fd()).expect("the ring");
        let Step::Record(record) = follower.step() else { panic!("there is one") };
        let Entry::Message(read) = record.entry else { panic!("it is a message") };
        assert_eq!((read.len, read.bytes), (8, Parts(expected, b"")));
    }
}

#[test]
fn long_records_are_cut() {
    let (mut writer, descriptor) = RingWriter::new(RING_MIN, 0, KEPT).expect("a ring");
    let body = vec![7; 100_000];
    let copies: Vec<_> = (0..10_000).map(|to| Delivered { to, end: to }).collect();
    writer.write(Duration::ZERO, message(1, b"head", &body, &[]));
    writer.write(Duration::ZERO, message(2, b"head", &body, &copies));
    let mut follower = Follower::new(descriptor.as_fd()).expect("the ring");
    let Step::Record(record) = follower.step() else { panic!("a record") };
    let Entry::Message(long) = record.entry else { panic!("a message") };
    assert_eq!(long.len, 100_004);
    assert!((15_000..16_384).contains(&long.bytes.len()), "{}", long.bytes.len());
    let Step::Record(record) = follower.step() else { panic!("a record") };
    let Entry::Message(many) = record.entry else { panic!("a message") };
    assert_eq!(many.bytes.len() / 16, 0, "the recipients come first");
    assert!(many.recipients.len() > 900);
}

#[test]
fn concurrent_readers_get_every_record_or_the_number_of_missed_ones() {
    let mut random = Random::from_env();
    let (mut writer, descriptor) = RingWriter::new(RING_MIN, 0, KEPT).expect("a ring");
    let mut follower = Follower::new(descriptor.as_fd()).expect("the ring");
    let count = 300_000_u64;
    let reader = thread::spawn(move || drain(&mut follower, count));
    let body: Vec<u8> = (0..4096_u32).map(|n| n as u8).collect();
    for number in 0..count {
        let longest = if random.once_in(50) { body.len() } else { 200 };
        let len = random.below(longest);
        let head = number.to_ne_bytes();
        writer.write(Duration::from_nanos(number), message(number, &head, &body[..len], &[]));
        if random.once_in(3000) {
            // A pause in which the reader may catch up.
            thread::sleep(Duration::from_micros(random.below(300) as u64));
        }
    }
    writer.stop();
    let (read, missed) = reader.join().expect("the reader found no fault");
    println!("read {read}, missed {missed}");
    assert_eq!(read + missed, count);
}

#[test]
fn memory_that_is_not_a_ring_ends_the_reading() {
    let position = [0, 1, 8, 4095, 1 << 40, (1 << 40) + 1, i64::MAX as u64, u64::MAX - 7, u64::MAX];
    for (reserved, committed) in position.into_iter().flat_map(|r| position.map(|c| (r, c))) {
        for segment in position {
            for record in [0, 8, 7, u64::MAX, 24 | 1 << 32] {
                let (mut memory, descriptor) =
                    Writable::new("test", at::RING + RING_MIN).expect("memory");
                memory.write(0, [&MAGIC]);
                memory.store(at::VERSION, VERSION);
                memory.store(at::RING_LEN, RING_MIN as u64);
                memory.store(at::RESERVED, reserved);
                memory.store(at::COMMITTED, committed);
                (0..SEGMENTS).for_each(|n| memory.store(at::SEGMENT_TABLE + 8 * n, segment));
                for place in (at::RING..at::RING + RING_MIN).step_by(24) {
                    memory.store(place, record);
                }
                let mut follower = Follower::new(descriptor.as_fd()).expect("the header of a ring");
                let steps = (0..RING_MIN)
                    .take_while(|_| matches!(follower.step(), Step::Record(_) | Step::Missed(_)));
                let count = steps.count();
                assert!(count < RING_MIN, "{reserved} {committed} {segment} {record}");
            }
        }
    }
}

/// Reads to the end, and checks each message against the number that it carries.
fn drain(follower: &mut Follower, count: u64) -> (u64, u64) {
    let (mut read, mut missed, mut last) = (0, 0, None);
    loop {
        match follower.step() {
            Step::Record(record) => {
                let Entry::Message(message) = record.entry else { panic!("a message") };
                assert_eq!(message.from, Party::Peer(record.number.into()));
                assert_eq!(message.stages, stages(record.number.into()));
                assert_eq!(message.len as usize, message.bytes.len());
                assert!(last.is_none_or(|last| last < record.number));
                check_bytes(&message);
                last = Some(record.number);
                read += 1;
            }
            Step::Missed(all) => {
                assert_eq!(all.messages, all.records);
                missed += u64::from(all.messages);
            }
            Step::Nothing => thread::yield_now(),
            Step::Stopped => break,
        }
    }
    assert_eq!(last.map(u64::from), Some(count - 1), "the newest record is always there");
    (read, missed)
}

fn check_bytes(message: &MessageRecord<'_>) {
    let bytes = message.bytes.0;
    if let Some((head, body)) = bytes.split_first_chunk::<8>()
        && Party::Peer(u64::from_ne_bytes(*head)) == message.from
    {
        let wrong = body.iter().enumerate().find(|&(n, &byte)| n as u8 != byte);
        assert_eq!(wrong, None, "record {:?} is a mixture", message.from);
    }
}

/// Stages of one of three kinds: not measured, without a search of match rules, with one.
fn stages(from: u64) -> Option<Stages> {
    let nanos = |nanos: u64| Duration::from_nanos(nanos);
    let stages = Stages::new(nanos(from), nanos(from + 3));
    match from % 3 {
        0 => None,
        1 => Some(stages),
        _ => Some(stages.with_matching(nanos(from + 4), nanos(7))),
    }
}

fn message<'a>(from: u64, head: &'a [u8], body: &'a [u8], copies: &'a [Delivered]) -> Entry<'a> {
    Entry::Message(MessageRecord {
        routed_after: Duration::from_nanos(from),
        stages: stages(from),
        from: Party::Peer(from),
        len: (head.len() + body.len()) as u32,
        bytes: Parts(head, body),
        recipients: Recipients::List(copies),
        first: if copies.len() == 2 { FirstRecipient::Addressee } else { FirstRecipient::Listener },
    })
}
