//! The log lines of the bus, and of programs that were started with it.

use std::collections::VecDeque;
use std::io::{self, PipeReader, Read};
use std::time::Duration;

use capture::text::visible::printable;
use sys::poll::{Events, Interest, Poller};

/// The read end of the pipe to which the processes write their logs, split into lines.
#[derive(Debug)]
pub(crate) struct Logs {
    pipe: PipeReader,
    lines: LogLines,
}

/// The state of the pipe after a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogStream {
    /// More lines may follow.
    Open,
    /// All writers have closed the pipe.
    Ended,
}

impl Logs {
    /// Reads lines from this pipe.
    pub(crate) fn new(pipe: PipeReader) -> Self {
        Self { pipe, lines: LogLines::default() }
    }

    /// The pipe, whose descriptor can be polled.
    pub(crate) const fn pipe(&self) -> &PipeReader {
        &self.pipe
    }

    /// Reads once and passes each complete line to `each`. Blocks if the pipe is empty.
    pub(crate) fn read(&mut self, each: impl FnMut(&str)) -> io::Result<LogStream> {
        let mut space = [0; 4096];
        let count = self.pipe.read(&mut space)?;
        self.lines.push(&space[..count], each);
        Ok(if count == 0 { LogStream::Ended } else { LogStream::Open })
    }

    /// Reads what is left in the pipe, and returns the last lines in order. They often explain why
    /// a bus ended.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        // Other child processes can still hold the write end, so the end of the stream may never
        // come.
        let mut read = || -> io::Result<()> {
            let poller = Poller::new()?;
            poller.add(&self.pipe, 0, Interest::Read)?;
            let mut events = Events::with_capacity(1);
            loop {
                poller.wait(&mut events, Some(Duration::ZERO))?;
                if events.is_empty() || self.read(|_| {})? == LogStream::Ended {
                    return Ok(());
                }
            }
        };
        // Without these lines the end of the bus is still reported.
        let _ = read();
        self.lines.last.iter().cloned().collect()
    }
}

/// A buffer that splits bytes into lines and keeps the last lines.
#[derive(Debug, Default)]
struct LogLines {
    partial: Vec<u8>,
    last: VecDeque<String>,
}

impl LogLines {
    fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for &byte in bytes {
            match byte {
                b'\n' => self.end(&mut each),
                // Long lines are truncated; the start of a line is the most important part.
                _ if self.partial.len() < LINE_LEN_MAX => self.partial.push(byte),
                _ => {}
            }
        }
    }

    fn end(&mut self, each: &mut impl FnMut(&str)) {
        let bytes = std::mem::take(&mut self.partial);
        let text = String::from_utf8_lossy(&bytes);
        let line = printable(without_prefix(&text));
        if line.is_empty() {
            return;
        }
        each(&line);
        self.last.truncate(LINES_KEPT);
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line.into_owned());
    }
}

/// Removes the program and the bus from a log line: `dbus-daemon[12]: [session uid=0 pid=12] `.
fn without_prefix(line: &str) -> &str {
    let Some((program, rest)) = line.split_once("]: ") else { return line };
    let Some((_, pid)) = program.rsplit_once('[') else { return line };
    if pid.is_empty() || !pid.bytes().all(|byte| byte.is_ascii_digit()) {
        return line;
    }
    match rest.split_once("] ") {
        Some((bus, rest)) if bus.starts_with('[') && bus.contains(" pid=") => rest,
        _ => rest,
    }
}

/// The maximum number of bytes that are kept of a line.
const LINE_LEN_MAX: usize = 2048;

/// The number of lines that are kept to explain an unexpected end.
const LINES_KEPT: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_are_complete_and_without_prefix() {
        let mut lines = LogLines::default();
        let mut seen = Vec::new();
        for part in ["dbus-daemon[12]: [session uid=0 ", "pid=12] one\n\ntwo", "\nx[y]: [three] \n"]
        {
            lines.push(part.as_bytes(), |line| seen.push(line.to_owned()));
        }
        lines.push(b"a\x1b[1m\nnot yet", |line| seen.push(line.to_owned()));
        assert_eq!(seen, ["one", "two", "x[y]: [three] ", "a\\u001b[1m"]);
        assert_eq!(without_prefix("diligence[7]: [1] of 2"), "[1] of 2");
    }

    #[test]
    fn log_lines_and_their_number_are_limited() {
        let mut lines = LogLines::default();
        lines.push("x".repeat(LINE_LEN_MAX + 5).as_bytes(), |_| {});
        lines.push(b"\n", |line| assert_eq!(line.len(), LINE_LEN_MAX));
        (0..20).for_each(|number| lines.push(format!("{number}\n").as_bytes(), |_| {}));
        assert_eq!(lines.last, ["15", "16", "17", "18", "19"]);
    }
}
