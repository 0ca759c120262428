//! Tests of compressed recordings whose content is much larger than the file.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write};
use std::process::{Command, Stdio};

use testkit::recording::TestRecording;

use crate::support::{ProgramFolder, text};

/// Length of the header of a pcap file, in bytes.
const HEADER_LEN: usize = 24;

/// Memory limit of the program, in KiB, the unit of `ulimit -v`.
const MEMORY_MAX: &str = "700000";

/// Returns a pcap file with one message that contains 1 MiB of zeros.
fn file_of_zeros() -> Vec<u8> {
    let mut recording = TestRecording::new();
    recording.signal(":1.1", "/ org.example.Zeros.Sent", &(vec![0_u8; 1 << 20],));
    recording.pcap()
}

/// Writes a pcap file with this many MiB of zeros.
fn write_zeros(mut out: impl Write, mebibytes: usize) {
    let file = file_of_zeros();
    out.write_all(&file[..HEADER_LEN]).expect("the file accepts bytes");
    (0..mebibytes)
        .for_each(|_| out.write_all(&file[HEADER_LEN..]).expect("the file accepts bytes"));
}

/// Writes the same file, but with holes instead of zeros, which need no disk space.
fn write_holes(mut out: File, mebibytes: usize) {
    let file = file_of_zeros();
    let zeros = file.iter().rev().take_while(|&&byte| byte == 0).count();
    let content = &file[HEADER_LEN..file.len() - zeros];
    out.write_all(&file[..HEADER_LEN]).expect("the file accepts bytes");
    for _ in 0..mebibytes {
        out.write_all(content).expect("the file accepts bytes");
        out.seek(SeekFrom::Current(zeros as i64)).expect("the file system supports holes");
    }
    let len = out.stream_position().expect("a file has a position");
    out.set_len(len).expect("the file system supports holes");
}

#[test]
fn a_small_file_with_large_content_is_refused_before_it_takes_much_memory() {
    let folder = ProgramFolder::new();
    let packed = folder.join("zeros.pcap.gz");
    let mut gzip = Command::new("gzip");
    gzip.arg("-1").stdin(Stdio::piped()).stdout(File::create(&packed).expect("a writable folder"));
    let mut gzip = gzip.spawn().expect("gzip is installed");
    write_zeros(gzip.stdin.take().expect("a pipe"), 1000);
    assert!(gzip.wait().expect("a child process").success());
    write_holes(File::create(folder.join("zeros.pcap")).expect("a writable folder"), 300);
    let stats = |file: &str| {
        let mut program = folder.diligence();
        program.args(["stats", file]);
        let limited = format!("ulimit -v {MEMORY_MAX}; exec \"$0\" \"$@\"");
        folder.shell(&limited, &program).output().expect("the program exists")
    };
    let refused = stats("zeros.pcap.gz");
    let stderr = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("cannot read zeros.pcap.gz: it unpacks to more than 100 times its size"),
        "{stderr}"
    );
    assert!(stderr.contains("gzip -d"), "{stderr}");
    let taken = stats("zeros.pcap");
    assert!(taken.status.success(), "{}", text(&taken.stderr));
}
