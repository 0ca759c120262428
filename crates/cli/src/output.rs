//! Printing for people and for pipes.

use std::borrow::Cow;
use std::fs;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;

use capture::Capture;
use capture::show::Controls;
use capture::text::{columns, visible};
use sys::replace::{self, ReplacedFile};

use crate::style;

/// Prints a text that is all the command has to do. A reader that has seen enough and left is fine.
pub(crate) fn print(text: &str) -> ExitCode {
    let outcome = write_text(text);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("cannot write to standard output: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a text to standard output. On a terminal, what a peer has put into it does nothing but stand
/// there.
pub(crate) fn write_text(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let text = match stdout.is_terminal() {
        true => visible::styled_lines(text),
        false => text.into(),
    };
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
}

/// Prints lines to standard error, with control characters that a peer has put into them escaped, and
/// folded between words as a terminal needs it. If that fails there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let text = visible::lines(text);
    let text = match style::width_of_stderr() {
        Some(width) => folded_lines(&text, width).into(),
        None => text,
    };
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Lines that begin with a blank are aligned with others, and stay as they are.
fn folded_lines(text: &str, width: usize) -> String {
    let mut folded = String::new();
    for line in text.lines() {
        match columns::cells(line) <= width || line.starts_with(' ') {
            true => folded += line,
            false => folded += &columns::folded(line, width).join("\n"),
        }
        folded.push('\n');
    }
    folded
}

/// Writes a line over the last one on standard error.
pub(crate) fn redraw_line(text: &str) {
    let _ = io::stderr().write_all(format!("\r\x1b[K{}", visible::printable(text)).as_bytes());
}

/// Whether control characters in messages are printed as escapes: on a terminal they would be commands.
/// A program that reads the output gets them as they are, in the forms of tools that print them so.
pub(crate) fn controls() -> Controls {
    if io::stdout().is_terminal() { Controls::Escaped } else { Controls::Raw }
}

/// A text of a peer within a line, as [`controls`] has it.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    match controls() {
        Controls::Escaped => visible::printable(text),
        Controls::Raw => Cow::Borrowed(text),
    }
}

/// Where a document goes: standard output, or a file that is there when it is complete and that only its
/// owner can read.
#[derive(Debug)]
pub(crate) enum DocumentOutput {
    Stdout(BufWriter<io::Stdout>),
    Terminal(TerminalLines),
    File(BufWriter<ReplacedFile>),
}

impl DocumentOutput {
    /// Begins a document; `-` and no path are standard output.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Self> {
        Ok(match path.filter(|path| *path != Path::new("-")) {
            None if io::stdout().is_terminal() => Self::Terminal(TerminalLines::default()),
            None => Self::Stdout(BufWriter::new(io::stdout())),
            Some(path) => {
                replace::check_not_held(path)?;
                Self::File(BufWriter::new(ReplacedFile::create(path)?))
            }
        })
    }

    /// Checks that the document does not take the place of a file of the recording that it is made of.
    pub(crate) fn check_inputs(target: Option<&Path>, capture: &Capture) -> io::Result<()> {
        let identity =
            |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        let Some(target) = target.and_then(identity) else { return Ok(()) };
        match capture.files_read().any(|input| identity(input) == Some(target)) {
            true => Err(io::Error::other("the recording is read from it; choose another name")),
            false => Ok(()),
        }
    }

    pub(crate) const fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The path of the unfinished file; `None` if there is none, since what is written goes to a pipe or
    /// a device.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout(_) | Self::Terminal(_) => None,
            Self::File(file) => file.get_ref().path(),
        }
    }

    /// Ends the document. A file is there from now on.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut stdout) => stdout.flush(),
            Self::Terminal(mut lines) => lines.end(),
            Self::File(file) => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.commit().map(drop)
            }
        }
    }
}

impl Write for DocumentOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::Terminal(lines) => lines.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Terminal(lines) => lines.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// Lines for a terminal, with everything in them that it would obey escaped.
#[derive(Debug, Default)]
pub(crate) struct TerminalLines {
    /// The beginning of a line.
    partial: Vec<u8>,
}

impl TerminalLines {
    fn end(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.partial);
        let text = String::from_utf8_lossy(&text);
        io::stdout().write_all(visible::lines(&text).as_bytes())?;
        io::stdout().flush()
    }
}

impl Write for TerminalLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(end) => {
                self.partial.extend_from_slice(&bytes[..=end]);
                self.end()?;
                self.partial.extend_from_slice(&bytes[end + 1..]);
            }
            None => self.partial.extend_from_slice(bytes),
        }
        Ok(bytes.len())
    }

    /// Does nothing: a line is written when it is complete.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::folded_lines;

    #[test]
    fn lines_are_folded_that_are_too_long_and_not_aligned() {
        let text = "one two three\n  one two three\none two\n";
        assert_eq!(folded_lines(text, 7), "one two\nthree\n  one two three\none two\n");
    }
}
