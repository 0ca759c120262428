//! All formats are read correctly, from files that are created here byte by byte.

use std::time::Duration;

use capture::record::{
    BusId, CaptureMethod, Excerpt, Fact, GapCause, MessageContent, RecordedBus, RecordedClock,
    RecordedProcess, RecordedTime, RecordingGap, RecordingOrigin, RecordingRecord,
};
use capture::{Capture, file};
use testkit::recording::TestRecording;

use crate::made::{Block, MadeOrder, binary, gzip, pcap, read, rich, sample, whole, zstd};

#[test]
fn pcap_is_read_with_any_byte_order_unit_and_snap_length() {
    let sample = sample();
    for order in [MadeOrder::Little, MadeOrder::Big] {
        for nanos_per_unit in [1, 1_000] {
            for snap_len in [0, 4096, 65_535, 262_144, 1 << 27, u32::MAX] {
                for link_type in [231, 0] {
                    let file = pcap(&sample, order, nanos_per_unit, snap_len, link_type);
                    let read = read(&file);
                    let context = format!("{order:?} {nanos_per_unit} {snap_len} {link_type}");
                    assert_eq!(read.messages, sample, "{context}");
                    assert_eq!(read.rest.len(), 1, "{context}: {:?}", read.rest);
                    let kept_max = Some(snap_len).filter(|max| (1..1 << 27).contains(max));
                    assert_eq!(
                        read.bus(0),
                        RecordedBus { kept_max, ..RecordedBus::default() },
                        "{context}"
                    );
                }
            }
        }
    }
}

#[test]
fn packets_of_other_link_types_are_not_messages() {
    let file = pcap(&sample(), MadeOrder::Little, 1_000, 0, 1);
    let read = read(&file);
    assert!(read.messages.is_empty());
    assert_eq!(read.damage(), ["packets of link type 1, which is not D-Bus"]);
}

#[test]
fn written_records_are_read_again() {
    let recording = rich();
    let mut expected = Vec::new();
    recording.each(|record| expected.push(format!("{:?}", without_place(record))));
    let file = recording.pcapng();
    let mut reader =
        file::RecordingReader::new(file.as_slice()).expect("memory").expect("a recording");
    let mut found = Vec::new();
    while let Some(record) = reader.next_record().expect("memory") {
        found.push(format!("{:?}", without_place(record)));
    }
    let origin =
        RecordingOrigin { program: Some("a test".to_owned()), ..RecordingOrigin::default() };
    expected.insert(0, format!("{:?}", RecordingRecord::Origin(origin)));
    assert_eq!(found, expected);
}

/// The record without the position of its message, for comparison as text.
fn without_place(mut record: RecordingRecord<'_>) -> RecordingRecord<'_> {
    if let RecordingRecord::Message(raw) = &mut record {
        raw.place = None;
    }
    record
}

#[test]
fn messages_are_found_again_in_the_file() {
    let recording = rich();
    let path = std::env::temp_dir().join(format!("diligence-formats-{}", std::process::id()));
    std::fs::write(&path, recording.pcapng()).expect("a file");
    let capture = Capture::open(&path).expect("a recording");
    std::fs::remove_file(&path).expect("the file is there");
    let mut buffer = capture::model::MessageBuffer::default();
    let kept = recording.capture();
    for (one, other) in capture.messages().zip(kept.messages()) {
        let bytes = capture.read_bytes(one.id(), &mut buffer).expect("the file is open");
        let mut no_buffer = capture::model::MessageBuffer::default();
        let expected = kept.read_bytes(other.id(), &mut no_buffer).expect("in memory");
        assert_eq!(bytes, expected);
        assert_eq!(one.deliveries(), other.deliveries());
    }
    assert_eq!(capture.len(), kept.len());
}

#[test]
fn every_pcapng_block_is_read_or_skipped() {
    let sample = sample();
    let [one, two, three, ..] = sample.as_slice() else { panic!("three messages") };
    for order in [MadeOrder::Little, MadeOrder::Big] {
        let mut file = Vec::new();
        let section = [(2, b"a machine".to_vec()), (3, b"a system".to_vec())];
        let section = [&section[..], &[(1, b"one".to_vec()), (1, b"two".to_vec())]].concat();
        Block::section(order).options(&section).end(&mut file);
        let name = (2, b"system".to_vec());
        let tenths_of_millis = (9, vec![4]);
        Block::interface(order, 231, 4096).options(&[name, tenths_of_millis]).end(&mut file);
        Block::interface(order, 1, 0).end(&mut file);
        let offset = (14, order.u64(1_000_000).to_vec());
        let powers_of_two = (9, vec![0x80 | 10]);
        let filter = (11, b"\0type='signal'".to_vec());
        Block::interface(order, 231, 0).options(&[powers_of_two, offset, filter]).end(&mut file);
        Block::new(order, 4).word(0).end(&mut file);
        Block::packet(order, 0, 15_000, &one.bytes).end(&mut file);
        Block::packet(order, 1, 15_000, b"ethernet").end(&mut file);
        Block::packet(order, 7, 15_000, &one.bytes).end(&mut file);
        let drops = (4, order.u64(3).to_vec());
        Block::packet(order, 2, 512, &two.bytes).options(&[drops]).end(&mut file);
        Block::new(order, 2)
            .half(0)
            .half(2)
            .words(&[0, 25_000, three.bytes.len() as u32, 5_000])
            .padded(&three.bytes)
            .end(&mut file);
        let drops_unknown = 0xFFFF;
        Block::new(order, 2)
            .half(0)
            .half(drops_unknown)
            .words(&[0, 26_000, three.bytes.len() as u32, 5_000])
            .padded(&three.bytes)
            .end(&mut file);
        Block::new(order, 3).word(one.bytes.len() as u32).padded(&one.bytes).end(&mut file);
        for kind in [10, 0xBAD, 0x4000_0BAD, 0x8044_4C47, 0x1234] {
            Block::new(order, kind).words(&[1, 2, 3, 4]).end(&mut file);
        }
        let dropped = [(5, order.u64(6).to_vec()), (7, order.u64(1).to_vec())];
        Block::new(order, 5).words(&[0, 0, 0]).options(&dropped).end(&mut file);
        Block::new(order, 5).words(&[0, 0, 0]).options(&dropped).end(&mut file);
        // A section in the other byte order, with different interfaces.
        Block::section(order.other()).end(&mut file);
        Block::interface(order.other(), 231, 0).end(&mut file);
        Block::packet(order.other(), 0, 7, &one.bytes).end(&mut file);

        let read = read(&file);
        let found: Vec<_> = read
            .messages
            .iter()
            .map(|message| (message.bus.0, message.at.0, message.len))
            .collect();
        let lens = [one, two, three].map(|message| message.bytes.len() as u32);
        let expected = [
            (0, 1_500_000_000, lens[0]),
            (1, 1_000_000_500_000_000, lens[1]),
            (0, 2_500_000_000, 5_000),
            (0, 2_600_000_000, 5_000),
            (0, 2_600_000_000, lens[0]),
            (2, 7_000, lens[0]),
        ];
        assert_eq!(found, expected, "{order:?}");
        assert_eq!(read.bus(0).name, "system");
        assert_eq!(read.bus(0).kept_max, Some(4096));
        assert_eq!(read.bus(1).filters, ["type='signal'"]);
        assert_eq!(read.origins()[0].comments, ["one", "two"]);
        assert_eq!(read.origins()[0].hardware.as_deref(), Some("a machine"));
        let lost: Vec<_> = read.gaps().iter().map(|gap| (gap.bus.0, gap.lost)).collect();
        assert_eq!(lost, [(1, Some(3)), (0, Some(2)), (0, Some(5))]);
        let expected = [
            "1 packets of link type 1, which is not D-Bus",
            "1 blocks of an interface that the file does not describe",
            "1 packets without a time; they get the time of the packet before",
        ];
        assert_eq!(read.damage(), expected);
    }
}

#[test]
fn notes_of_later_versions_are_counted() {
    let mut file = rich().pcapng();
    let notes: Vec<_> = file.windows(4).enumerate().filter(|(_, four)| four == b"DLGC").collect();
    let places: Vec<_> = notes.into_iter().map(|(at, _)| at).collect();
    for at in &places {
        file[at + 4] = 2;
    }
    let read = read(&file);
    assert_eq!(read.messages.len(), rich().capture().len());
    assert_eq!(read.damage(), ["5 notes of version 2 of the format, which is not supported"]);
    assert_eq!(read.bus(0).method, CaptureMethod::Unknown);
}

#[test]
fn messages_without_a_container_have_no_times() {
    let sample = whole();
    let file = binary(&sample);
    let read = read(&file);
    assert_eq!(read.bus(0).clock, RecordedClock::Absent);
    let expected: Vec<_> = sample.iter().map(|message| message.bytes.as_slice()).collect();
    let found: Vec<_> = read.messages.iter().map(|message| message.bytes.as_slice()).collect();
    assert_eq!(found, expected);
}

#[test]
fn compressed_files_are_read_like_uncompressed_ones() {
    let plain = rich().pcapng();
    let (one, other) = plain.split_at(plain.len() / 2);
    let gzip = [gzip(one), gzip(other)].concat();
    let zstd = [zstd(one), zstd(other)].concat();
    let expected = read(&plain).messages;
    for file in [gzip, zstd] {
        assert_eq!(read(&file).messages, expected);
        let cut = read(&file[..file.len() - 5]);
        assert!(!cut.rest.is_empty() && cut.messages.len() < expected.len() + 1);
        let last = cut.rest.last();
        assert!(
            matches!(last, Some(RecordingRecord::Gap(_) | RecordingRecord::Damage(_))),
            "{last:?}"
        );
    }
}

#[test]
fn profile_texts_give_headers() {
    let file = b"#type\ttimestamp\tserial\tsender\tdestination\tpath\tinterface\tmember\n\
        #\t\t\t\t\tin_reply_to\n\
        mc\t12.000001\t7\t:1.1\torg.example.Mail\t/a\torg.example.Mail\tCount\n\
        mr\t12.5\t3\t:1.2\t:1.1\t7\n\
        err\t13.25\t4\t:1.2\t:1.1\t8\n\
        sig\t14\t5\t:1.2\t<none>\t/\torg.example.Mail\tNew\n\
        what is this\n\
        sig\t15.000000\t0\t<none>\t<none>\t/org/freedesktop/DBus/Local\t\
        org.freedesktop.DBus.Local\tDisconnected\n";
    let read = read(file);
    assert_eq!(read.bus(0).content, MessageContent::Headers);
    assert_eq!(read.damage(), ["1 line that is not a message"]);
    assert!(matches!(read.gaps()[..], [RecordingGap { cause: GapCause::Disconnected, .. }]));
    let capture = read.capture();
    let texts: Vec<_> =
        capture.messages().map(|m| (m.sender(), m.destination(), m.member())).collect();
    let expected = [
        (":1.1", "org.example.Mail", "Count"),
        (":1.2", ":1.1", ""),
        (":1.2", ":1.1", "not.recorded"),
        (":1.2", "", "New"),
    ];
    assert_eq!(texts, expected);
    let reply = capture.messages().nth(1).expect("four messages");
    assert_eq!(reply.duration(), Some(Duration::from_nanos(499_999_000)));
    assert!(capture.invalid().is_empty());
}

#[test]
fn monitor_texts_give_headers_and_basic_arguments() {
    let file = b"some program said this\n\
        method call time=12.000001 sender=:1.1 -> destination=org.example.Mail serial=7 \
        path=/a; interface=org.example.Mail; member=Count\n   \
        string \"two\nlines and a \"quote\" inside\"\n   int32 -5\n   boolean true\n   double 1.5\n\
        method return time=12.5 sender=:1.2 -> destination=:1.1 serial=3 reply_serial=7\n   \
        array [\n      string \"a\"\n   ]\n\
        error time=13 sender=:1.2 -> destination=:1.1 error_name=org.example.No reply_serial=8\n   \
        string \"no\"\n\
        signal time=14.0 sender=:1.2 -> destination=(null destination) serial=5 path=/; \
        interface=org.example.Mail; member=New\n   object path \"/a/b\"\n   uint64 77\n";
    let read = read(file);
    assert_eq!(
        (read.bus(0).clock, read.bus(0).content),
        (RecordedClock::Wall, MessageContent::Texts)
    );
    assert!(read.damage().is_empty(), "{:?}", read.damage());
    let capture = read.capture();
    let signatures: Vec<_> = capture.messages().map(|message| message.signature()).collect();
    assert_eq!(signatures, ["sibd", "", "s", "ot"]);
    let first = capture.messages().next().expect("four messages");
    let mut buffer = capture::model::MessageBuffer::default();
    let first = capture.read_message(first.id(), &mut buffer).expect("memory").expect("valid");
    let args: (&str, i32, bool, f64) = first.read().expect("these types");
    assert_eq!(args, ("two\nlines and a \"quote\" inside", -5, true, 1.5));
}

#[test]
fn monitor_texts_without_times_have_no_clock() {
    let file = b"signal sender=:1.2 -> dest=(null destination) serial=5 path=/; \
        interface=org.example.Mail; member=New\n";
    let read = read(file);
    assert_eq!((read.bus(0).clock, read.messages.len()), (RecordedClock::Absent, 1));
    assert_eq!(read.messages[0].at, RecordedTime(0));
}

#[test]
fn other_files_are_not_recordings() {
    let cases: [&[u8]; 6] =
        [b"", b"hello", b"signal fire\n", b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", b"lB", b"mc "];
    for bytes in cases {
        assert!(file::RecordingReader::new(bytes).expect("memory").is_none(), "{bytes:?}");
    }
}

#[test]
fn several_files_are_merged_by_time() {
    let folder = std::env::temp_dir().join(format!("diligence-several-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let mut parts: Vec<TestRecording> = (0..3).map(|_| TestRecording::new()).collect();
    for number in 0..30_u32 {
        let part = &mut parts[number as usize % 3];
        if number < 3 {
            part.bus(RecordedBus { name: "session".to_owned(), ..RecordedBus::default() });
        }
        part.at_ms(number.into()).signal(":1.1", "/ org.example.Mail.New", &(number,));
    }
    let write = |name: &str, content: Vec<u8>| {
        std::fs::write(folder.join(name), content).expect("a file");
    };
    write("a", parts[0].pcapng());
    write("a.1", parts[1].pcapng());
    write("a.2", b"this is not a part".to_vec());
    write("b", gzip(&parts[2].pcapng()));
    let capture = Capture::open_all(&[folder.join("a"), folder.join("b")]);
    let error = Capture::open_all(&[folder.join("a.2")]).expect_err("this is not a recording");
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    assert_eq!(error.path, folder.join("a.2"));
    let capture = capture.expect("two recordings");
    let mut buffer = capture::model::MessageBuffer::default();
    for (number, message) in capture.messages().enumerate() {
        assert_eq!(usize::from(message.bus().0), usize::from(number % 3 == 2));
        let message = capture.read_message(message.id(), &mut buffer).expect("the files are open");
        assert_eq!(message.expect("valid").read::<(u32,)>(), Ok((number as u32,)));
    }
    assert_eq!((capture.len(), capture.buses().len()), (30, 2));
    assert_eq!([BusId(0), BusId(1)].map(|bus| capture.file_of(bus)), [0, 1]);
    let files: Vec<_> = capture.files().map(|path| path.file_name().expect("a name")).collect();
    assert_eq!(files, ["a", "b"], "parts are of the file that they belong to");
    assert_eq!(capture.buses()[usize::from(BusId(1).0)].name, "session");
}

#[test]
fn parts_of_other_recordings_are_not_read() {
    let folder = std::env::temp_dir().join(format!("diligence-foreign-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let [file, part] = ["a", "a.1"].map(|name| folder.join(name));
    let made = |pid: Option<u32>, recorder: Option<&str>, excerpt: bool| {
        let mut recording = TestRecording::new();
        recording.bus(RecordedBus {
            address: Some("unix:path=/run/bus".to_owned()),
            ..RecordedBus::default()
        });
        if let Some(pid) = pid {
            let process = RecordedProcess { pid: Some(pid), ..RecordedProcess::default() };
            recording.fact(Fact::Bus { process });
        }
        if let Some(unique) = recorder {
            recording.fact(Fact::Recorder { unique: unique.to_owned() });
        }
        if excerpt {
            let excerpt = Excerpt { messages: 1, of: 9, ..Excerpt::default() };
            recording.fact(Fact::Excerpt(excerpt));
        }
        recording.signal(":1.1", "/ org.example.Mail.New", &(1_u32,));
        recording.pcapng()
    };
    let ring = || made(Some(42), Some(":1.7"), false);
    for (first, second, is_own) in [
        (ring(), ring(), true),
        (made(None, Some(":1.7"), false), ring(), true),
        (made(None, None, false), made(None, None, false), true),
        (ring(), made(Some(42), Some(":1.8"), false), false),
        (ring(), made(Some(43), Some(":1.7"), false), false),
        (ring(), made(None, None, false), false),
        (made(Some(42), Some(":1.7"), true), ring(), false),
        (ring(), made(Some(42), Some(":1.7"), true), false),
    ] {
        std::fs::write(&file, first).expect("a file");
        std::fs::write(&part, second).expect("a file");
        let capture = Capture::open(&file).expect("a recording");
        let read: Vec<_> = capture.files_read().collect();
        let foreign: Vec<_> = capture.foreign_parts().collect();
        let expected = match is_own {
            true => (vec![&*file, &*part], vec![]),
            false => (vec![&*file], vec![&*part]),
        };
        assert_eq!((read, foreign), expected);
        // A file that is named is always read.
        let both = Capture::open_all(&[&file, &part]).expect("recordings");
        assert_eq!((both.files_read().len(), both.foreign_parts().len()), (2, 0));
        assert_eq!(both.files().len(), if is_own { 1 } else { 2 });
    }
    let link = folder.join("link");
    std::fs::write(&part, ring()).expect("a file");
    std::fs::write(&file, ring()).expect("a file");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    assert_eq!(Capture::open(&link).expect("a recording").files_read().len(), 2);
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}

/// A recording of a bus: signals with these numbers, a millisecond apart.
fn numbered(address: &str, numbers: std::ops::Range<u32>) -> Vec<u8> {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus { address: Some(address.to_owned()), ..RecordedBus::default() });
    for number in numbers {
        recording.at_ms(number.into()).signal(":1.1", "/ org.example.Mail.New", &(number,));
    }
    recording.pcapng()
}

#[test]
fn files_and_messages_given_twice_are_counted_once() {
    let folder = std::env::temp_dir().join(format!("diligence-twice-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let write = |name: &str, content: Vec<u8>| {
        std::fs::write(folder.join(name), content).expect("a file");
    };
    write("ring", numbered("unix:path=/a", 10..20));
    write("ring.1", numbered("unix:path=/a", 0..10));
    write("copy", numbered("unix:path=/a", 0..5));
    write("other", numbered("unix:path=/b", 0..5));
    std::os::unix::fs::symlink(folder.join("ring"), folder.join("link")).expect("a link");
    let found: Vec<_> = [
        &["ring"][..],
        &["ring", "ring"],
        &["ring.1", "ring"],
        &["ring", "ring.1"],
        &["ring", "link"],
        &["link", "ring.1"],
        &["copy", "ring"],
        &["ring", "other"],
    ]
    .map(|names| {
        let paths: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
        let capture = Capture::open_all(&paths).expect("recordings");
        (names, capture.len(), capture.files_read().len(), capture.repeated_messages())
    })
    .into();
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    for ((names, messages, files, repeated), expected) in found.into_iter().zip([
        (20, 2, 0),
        (20, 2, 0),
        (20, 2, 0),
        (20, 2, 0),
        (20, 2, 0),
        (20, 2, 0),
        (20, 3, 5),
        (25, 3, 0),
    ]) {
        assert_eq!((messages, files, repeated), expected, "{names:?}");
    }
}
