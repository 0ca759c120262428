//! Standard error as a target of the log.
//!
//! Standard error may be a pipe that no process reads, or a stopped terminal, and the bus must not
//! block on either. It cannot be made non-blocking, because that would affect every other program
//! that shares the open file. So each line is written only while poll(2) reports space. Lines
//! without space are dropped and counted, and the count is written before the next line.

use std::cell::RefCell;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::mem;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use sys::poll::has_room;

/// Standard error of this process, with the output that is still pending.
#[derive(Debug)]
pub(super) struct Stderr {
    kind: StderrKind,
    backlog: RefCell<StderrBacklog>,
}

/// The kind of standard error, which decides the prefix of its lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StderrKind {
    /// A file, a pipe or a terminal.
    Plain,
    /// The journal, which reads the level from the line (sd-daemon(3)).
    Journal,
}

/// Output that standard error had no space for.
#[derive(Debug, Default)]
struct StderrBacklog {
    /// The unwritten rest of a line.
    rest: Vec<u8>,
    /// Number of lines that were dropped completely.
    lost: u64,
}

impl Stderr {
    pub(super) fn detect() -> Self {
        let announced = std::env::var("JOURNAL_STREAM").ok();
        Self::of(match announced.zip(metadata().ok()) {
            Some((announced, found)) if is_stream(&announced, &found) => StderrKind::Journal,
            Some(_) | None => StderrKind::Plain,
        })
    }

    pub(super) const fn of(kind: StderrKind) -> Self {
        let backlog = StderrBacklog { rest: Vec::new(), lost: 0 };
        Self { kind, backlog: RefCell::new(backlog) }
    }

    pub(super) const fn kind(&self) -> StderrKind {
        self.kind
    }

    /// Writes a line at this syslog level, as far as possible without blocking.
    pub(super) fn write(&self, level: u8, text: &str) {
        let mut stderr = io::stderr().lock();
        self.backlog.borrow_mut().write(&mut stderr, &|text| self.line(level, text), text);
    }

    fn line(&self, level: u8, text: &str) -> Vec<u8> {
        let line = match self.kind {
            StderrKind::Plain => format!("{text}\n"),
            StderrKind::Journal => format!("<{level}>{text}\n"),
        };
        line.into_bytes()
    }
}

impl StderrBacklog {
    /// Writes the pending output and the count of dropped lines, then `text`. `line` adds the
    /// prefix and the line break.
    fn write(
        &mut self,
        sink: &mut (impl Write + AsFd),
        line: &dyn Fn(&str) -> Vec<u8>,
        text: &str,
    ) {
        self.write_rest(sink);
        if self.rest.is_empty() && self.lost > 0 && has_room(&*sink).unwrap_or(true) {
            let lost = mem::take(&mut self.lost);
            self.rest = line(&format!("{lost} log lines were lost: standard error was not read"));
            self.write_rest(sink);
        }
        if !self.rest.is_empty() || !has_room(&*sink).unwrap_or(true) {
            self.lost += 1;
            return;
        }
        self.rest = line(text);
        self.write_rest(sink);
    }

    /// Writes the rest of an incomplete line, as far as possible without blocking.
    fn write_rest(&mut self, sink: &mut (impl Write + AsFd)) {
        while !self.rest.is_empty() && has_room(&*sink).unwrap_or(true) {
            let part = &self.rest[..self.rest.len().min(PIPE_BUF)];
            match sink.write(part) {
                Ok(count) => drop(self.rest.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // An error on standard error cannot be reported anywhere else.
                Err(_) => self.rest.clear(),
            }
        }
    }
}

fn metadata() -> io::Result<Metadata> {
    File::from(io::stderr().as_fd().try_clone_to_owned()?).metadata()
}

/// Whether `found` is the file that `JOURNAL_STREAM` names: device and inode, both decimal
/// (systemd.exec(5)). The variable may be inherited from a program with another standard error.
fn is_stream(announced: &str, found: &Metadata) -> bool {
    announced == format!("{}:{}", found.dev(), found.ino())
}

/// Number of bytes that a pipe with any free space accepts in one write (pipe(7)).
const PIPE_BUF: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn the_journal_is_known_by_device_and_inode() {
        let found = std::fs::metadata("/").unwrap();
        let announced = format!("{}:{}", found.dev(), found.ino());
        assert!(is_stream(&announced, &found));
        assert!(!is_stream("0:0", &found));
    }

    #[test]
    fn lines_for_a_full_pipe_are_counted_and_the_count_is_written_later() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        let mut backlog = StderrBacklog::default();
        let line = |text: &str| format!("{text}\n").into_bytes();
        let text = "x".repeat(5_000);
        let mut written = 0;
        while backlog.lost == 0 {
            backlog.write(&mut writer, &line, &text);
            written += 1;
        }
        (0..9).for_each(|_| backlog.write(&mut writer, &line, &text));
        assert_eq!(backlog.lost, 10);
        let complete = written - 1;

        let mut buffer = vec![0; 1 << 20];
        let mut found = reader.read(&mut buffer).unwrap();
        backlog.write(&mut writer, &line, "again");
        found += reader.read(&mut buffer[found..]).unwrap();
        let expected = format!("{text}\n").repeat(complete)
            + "10 log lines were lost: standard error was not read\nagain\n";
        assert_eq!(String::from_utf8_lossy(&buffer[..found]), expected);
    }
}
