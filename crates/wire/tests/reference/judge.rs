//! Compiles the program `judge.c`, which queries libdbus, and talks to it.

use std::io::{BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// The kind of a case; its value is the letter in the protocol of the judge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum JudgedText {
    Message = b'm',
    Address = b'a',
    /// An address whose content is compared, too.
    AddressToRead = b'A',
    Rule = b'r',
    ObjectPath = b'o',
    Interface = b'i',
    Member = b'n',
    ErrorName = b'e',
    BusName = b'b',
    Signature = b'g',
    SingleType = b's',
}

/// A verdict of either implementation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ReferenceVerdict {
    /// The case is valid. The number is a hash of its content, or 0 if the content is not compared.
    Valid(u64),
    /// More bytes are needed for a verdict.
    Incomplete,
    /// The case is invalid, for this reason.
    Invalid(String),
}

/// A running judge process.
pub(crate) struct Judge {
    process: Child,
    cases: Option<ChildStdin>,
    verdicts: BufReader<ChildStdout>,
}

impl Judge {
    /// Starts a judge that queries only libdbus.
    pub(crate) fn new() -> Self {
        Self::start(&mut Command::new(program()))
    }

    /// Starts a judge that also sends match rules to the bus at this address.
    pub(crate) fn at_bus(address: &str) -> Self {
        Self::start(Command::new(program()).arg(address))
    }

    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the judge was compiled");
        let cases = process.stdin.take();
        let verdicts = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, cases, verdicts }
    }

    /// Sends a batch of cases. The judge starts at once; its verdicts wait in the pipe.
    pub(crate) fn ask<'c>(
        &mut self,
        kind: JudgedText,
        cases: impl ExactSizeIterator<Item = &'c [u8]>,
    ) {
        let mut batch = (cases.len() as u32).to_ne_bytes().to_vec();
        for case in cases {
            batch.push(kind as u8);
            batch.extend_from_slice(&(case.len() as u32).to_ne_bytes());
            batch.extend_from_slice(case);
        }
        let pipe = self.cases.as_mut().expect("the pipe is open until drop");
        pipe.write_all(&batch).expect("the judge reads");
    }

    /// The verdict on the next case.
    pub(crate) fn verdict(&mut self) -> ReferenceVerdict {
        let mut len = [0; 4];
        self.verdicts.read_exact(&mut len).expect("a verdict for each case");
        let mut text = vec![0; u32::from_ne_bytes(len) as usize];
        self.verdicts.read_exact(&mut text).expect("a whole verdict");
        let rest = String::from_utf8_lossy(&text[1..]);
        match text[0] {
            b'V' if rest.is_empty() => ReferenceVerdict::Valid(0),
            b'V' => ReferenceVerdict::Valid(u64::from_str_radix(&rest, 16).expect("a hash")),
            b'I' => ReferenceVerdict::Incomplete,
            _ => ReferenceVerdict::Invalid(rest.into_owned()),
        }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // The judge exits at the end of its input.
        self.cases = None;
        let _ = self.process.wait();
    }
}

/// The path of the judge, which is compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/judge.c");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("judge");
        let flags = output(Command::new("pkg-config").args(["--cflags", "--libs", "dbus-1"]));
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]);
        output(compiler.arg(&program).arg(source).args(flags.split_whitespace()));
        program
    })
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\nIs the package libdbus-1-dev installed?");
    String::from_utf8(output.stdout).expect("text")
}
