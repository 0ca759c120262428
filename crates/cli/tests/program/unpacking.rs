//! Compressed recordings whose content is much larger than they are.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write};
use std::process::{Command, Stdio};

use testkit::recording::TestRecording;

use crate::support::{ProgramFolder, text};

/// Bytes before the first message of a pcap file.
const HEADER_LEN: usize = 24;

/// Memory that the program may have, in the unit of `ulimit -v`: KiB.
const MEMORY_MAX: &str = "700000";

/// A pcap file with one message of a MiB of zeros.
fn file_of_zeros() -> Vec<u8> {
    let mut recording = TestRecording::new();
    recording.signal(":1.1", "/ org.example.Zeros.Told", &(vec![0_u8; 1 << 20],));
    recording.pcap()
}

/// Writes a recording of so many MiB of zeros.
fn write_zeros(mut out: impl Write, mebibytes: usize) {
    let file = file_of_zeros();
    out.write_all(&file[..HEADER_LEN]).expect("it takes bytes");
    (0..mebibytes).for_each(|_| out.write_all(&file[HEADER_LEN..]).expect("it takes bytes"));
}

/// The same in a file whose zeros are holes, so that they take no place on the disk.
fn write_holes(mut out: File, mebibytes: usize) {
    let file = file_of_zeros();
    let zeros = file.iter().rev().take_while(|&&byte| byte == 0).count();
    let content = &file[HEADER_LEN..file.len() - zeros];
    out.write_all(&file[..HEADER_LEN]).expect("it takes bytes");
    for _ in 0..mebibytes {
        out.write_all(content).expect("it takes bytes");
        out.seek(SeekFrom::Current(zeros as i64)).expect("files have holes");
    }
    let len = out.stream_position().expect("a file has a position");
    out.set_len(len).expect("files have holes");
}

#[test]
fn a_small_file_with_large_content_is_refused_before_it_takes_much_memory() {
    let folder = ProgramFolder::new();
    let packed = folder.join("zeros.pcap.gz");
    let mut gzip = Command::new("gzip");
    gzip.arg("-1").stdin(Stdio::piped()).stdout(File::create(&packed).expect("the folder is ours"));
    let mut gzip = gzip.spawn().expect("gzip is there");
    write_zeros(gzip.stdin.take().expect("a pipe"), 1000);
    assert!(gzip.wait().expect("it is our child").success());
    write_holes(File::create(folder.join("zeros.pcap")).expect("the folder is ours"), 300);
    let stats = |file: &str| {
        let mut program = folder.diligence();
        program.args(["stats", file]);
        let limited = format!("ulimit -v {MEMORY_MAX}; exec \"$0\" \"$@\"");
        folder.shell(&limited, &program).output().expect("the program exists")
    };
    let refused = stats("zeros.pcap.gz");
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("cannot read zeros.pcap.gz: it unpacks to more than 100 times its size"),
        "{said}"
    );
    assert!(said.contains("gzip -d"), "{said}");
    let taken = stats("zeros.pcap");
    assert!(taken.status.success(), "{}", text(&taken.stderr));
}
