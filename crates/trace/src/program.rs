//! The program of a connection, as records describe it.

use crate::record::Party;

/// A connection, its process, and the program that the process runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Participant<'a> {
    /// The connection, or the bus itself.
    pub who: Party,
    /// The process id, or 0 if it is unknown.
    pub pid: u32,
    /// The user id, or `u32::MAX` if it is unknown.
    pub uid: u32,
    /// When the process started, in nanoseconds of the monotonic clock, or `None` if it is unknown. Negative if the machine
    /// has slept since then for longer than the clock shows: the clock stops while the machine sleeps.
    pub started: Option<i64>,
    /// The program as [`TracedProgram::to_text`] writes it, or an empty text if it is unknown.
    pub program: &'a str,
}

/// How a process describes itself, to be shown to people. Most of it was chosen by the process, so no decision may
/// depend on it. Unknown parts are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TracedProgram<'a> {
    /// The name of the process, at most 15 bytes.
    pub comm: &'a str,
    /// The path of the file that the process executes.
    pub executable: &'a str,
    /// The systemd unit of the process.
    pub unit: &'a str,
    /// The control group of the process.
    pub control_group: &'a str,
    /// The words of the command line, separated by zeros.
    pub command: &'a str,
}

impl<'a> TracedProgram<'a> {
    /// Writes all parts into one text, in their order, separated by zeros. A part that is longer than [`PART_LEN_MAX`] is
    /// cut, and ends with [`CUT`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { comm, executable, unit, control_group, command } = *self;
        let mut text = String::new();
        for part in [comm, executable, unit, control_group, command] {
            // Only the command line, which is the last part, can contain zeros.
            text.push_str(start_of(part, PART_LEN_MAX));
            text.push_str(if part.len() > PART_LEN_MAX { CUT } else { "" });
            text.push('\0');
        }
        text.pop();
        text
    }

    /// Reads a text that [`to_text`](Self::to_text) has written. Missing parts are empty.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let mut parts = text.splitn(5, '\0');
        let mut next = || parts.next().unwrap_or_default();
        let (comm, executable, unit, control_group) = (next(), next(), next(), next());
        Self { comm, executable, unit, control_group, command: next() }
    }
}

/// The start of a text: at most `len` bytes, without splitting a character.
pub(crate) fn start_of(text: &str, len: usize) -> &str {
    let end = (0..=text.len().min(len)).rfind(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// The maximum length in bytes of each part of a [`TracedProgram`] in a record.
pub const PART_LEN_MAX: usize = 1024;

/// The end of a part that was cut.
pub const CUT: &str = "…";

/// The length of the longest text in bytes.
#[cfg(not(target_family = "wasm"))]
pub(crate) const TEXT_LEN_MAX: usize = 5 * (PART_LEN_MAX + CUT.len() + 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_round_trip() {
        for command in ["", "a", "a\0", "a\0\0b c\0ü", "\0"] {
            let program = TracedProgram {
                comm: "(a b",
                executable: "/usr/bin/a",
                unit: "",
                control_group: "/system.slice/a.service",
                command,
            };
            assert_eq!(TracedProgram::parse(&program.to_text()), program, "{command:?}");
        }
        assert_eq!(TracedProgram::parse(""), TracedProgram::default());
    }

    #[test]
    fn long_parts_are_cut_and_say_so() {
        let long = "ü".repeat(PART_LEN_MAX);
        let program = TracedProgram {
            comm: &long,
            executable: &long,
            unit: &long,
            control_group: &long,
            command: &long,
        };
        let text = program.to_text();
        assert!(text.len() <= TEXT_LEN_MAX, "{}", text.len());
        let expected = format!("{}…", "ü".repeat(PART_LEN_MAX / 2));
        let TracedProgram { comm, command, .. } = TracedProgram::parse(&text);
        assert_eq!((comm, command), (&*expected, &*expected));
    }
}
