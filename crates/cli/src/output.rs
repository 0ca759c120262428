//! Output to terminals, pipes and files.

use std::borrow::Cow;
use std::fmt::Display;
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

/// Prints the complete output of a command. It succeeds if the reader closes the pipe early.
pub(crate) fn print(text: &str) -> ExitCode {
    let outcome = write_text(text);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            print_to_stderr(&format!("cannot write to standard output: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a text to standard output. On a terminal, control characters from peers are escaped.
pub(crate) fn write_text(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let text = match stdout.is_terminal() {
        true => visible::styled_lines(text),
        false => text.into(),
    };
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
}

/// Prints lines to standard error, with control characters from peers escaped, and folded between
/// words to the width of a terminal. Errors are ignored, because there is no other place to report
/// them.
pub(crate) fn print_to_stderr(text: &str) {
    let text = visible::lines(text);
    let text = match style::width_of_stderr() {
        Some(width) => folded_lines(&text, width).into(),
        None => text,
    };
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints a message in a line of standard error, with line breaks from peers escaped. `source` is the
/// program, or the kind of the message.
pub(crate) fn print_message(source: &str, text: &dyn Display) {
    print_to_stderr(&format!("{source}: {}\n", visible::printable(&text.to_string())));
}

/// Folds long lines between words. A line that begins with a space belongs to a table and is not
/// folded.
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

/// Replaces the current line on standard error.
pub(crate) fn redraw_line(text: &str) {
    let _ = io::stderr().write_all(format!("\r\x1b[K{}", visible::printable(text)).as_bytes());
}

/// Selects how control characters in messages are printed. On a terminal they would act as
/// commands, so they are escaped. In a pipe they are raw, as the tools with the same formats print
/// them.
pub(crate) fn controls() -> Controls {
    if io::stdout().is_terminal() { Controls::Escaped } else { Controls::Raw }
}

/// Formats a text from a peer for one line of output, with control characters as in [`controls`].
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    match controls() {
        Controls::Escaped => visible::printable(text),
        Controls::Raw => Cow::Borrowed(text),
    }
}

/// The destination of a document: standard output, or a file that only its owner can read and that
/// appears when it is complete.
#[derive(Debug)]
pub(crate) enum DocumentOutput {
    Stdout(BufWriter<io::Stdout>),
    Terminal(TerminalLines),
    File(BufWriter<ReplacedFile>),
}

impl DocumentOutput {
    /// Opens the destination; `-` or no path means standard output.
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

    /// Checks that the document would not replace a file of the recording from which it is made.
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

    /// The path of the unfinished file; `None` if the output goes to a pipe or a device.
    #[cfg(feature = "sqlite")]
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout(_) | Self::Terminal(_) => None,
            Self::File(file) => file.get_ref().path(),
        }
    }

    /// Completes the document. A file appears at its path now.
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

/// Output to a terminal, line by line, with terminal control characters escaped.
#[derive(Debug, Default)]
pub(crate) struct TerminalLines {
    /// The bytes since the last newline.
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

    /// Does nothing, because only complete lines are written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::folded_lines;

    #[test]
    fn long_lines_are_folded_unless_they_are_indented() {
        let text = "one two three\n  one two three\none two\n";
        assert_eq!(folded_lines(text, 7), "one two\nthree\n  one two three\none two\n");
    }
}
