//! What a record says about the program of a connection.

use crate::record::Party;

/// A connection, its process, and the program that the process runs. What is not known is 0 or
/// `u32::MAX` as in [`Joined`](crate::Entry::Joined), `None`, or empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Participant<'a> {
    /// The connection; the bus itself is one too.
    pub who: Party,
    /// The process; 0 if it is not known.
    pub pid: u32,
    /// The user; `u32::MAX` if it is not known.
    pub uid: u32,
    /// When the process started, in nanoseconds of the monotonic clock. Negative if that was before
    /// the clock began, since the clock stops while the machine sleeps.
    pub started: Option<i64>,
    /// The program, as [`Program::to_text`] writes it; empty if nothing is known of it.
    pub program: &'a str,
}

/// What a process says about itself, for people. It chose most of that, so nothing is decided by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Program<'a> {
    /// The name of the process, at most 15 bytes.
    pub comm: &'a str,
    /// The file that it executes.
    pub executable: &'a str,
    /// The systemd unit.
    pub unit: &'a str,
    /// The control group.
    pub control_group: &'a str,
    /// The words of the command line, with zeros between them.
    pub command: &'a str,
}

impl<'a> Program<'a> {
    /// All of it as one text: the parts in their order, with zeros between them. Of each part only
    /// [`PART_LEN_MAX`] bytes are written; a part that is longer ends with [`CUT`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { comm, executable, unit, control_group, command } = *self;
        let mut text = String::new();
        for part in [comm, executable, unit, control_group, command] {
            // Only the command line, which is the last, can have zeros of its own.
            text.push_str(start_of(part, PART_LEN_MAX));
            text.push_str(if part.len() > PART_LEN_MAX { CUT } else { "" });
            text.push('\0');
        }
        text.pop();
        text
    }

    /// Reads the text; what is missing in it is empty.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let mut parts = text.splitn(5, '\0');
        let mut next = || parts.next().unwrap_or_default();
        let (comm, executable, unit, control_group) = (next(), next(), next(), next());
        Self { comm, executable, unit, control_group, command: next() }
    }
}

/// The first `len` bytes of a text, or a little less, so that no character is split.
pub(crate) fn start_of(text: &str, len: usize) -> &str {
    let end = (0..=text.len().min(len)).rfind(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Bytes that are written of an executable, a unit, a control group, and of a whole command line.
pub const PART_LEN_MAX: usize = 1024;

/// What stands at the end of a part that is longer.
pub const CUT: &str = "…";

/// Bytes of the longest text.
#[cfg(not(target_family = "wasm"))]
pub(crate) const TEXT_LEN_MAX: usize = 5 * (PART_LEN_MAX + CUT.len() + 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_as_it_was_written() {
        for command in ["", "a", "a\0", "a\0\0b c\0ü", "\0"] {
            let program = Program {
                comm: "(a b",
                executable: "/usr/bin/a",
                unit: "",
                control_group: "/system.slice/a.service",
                command,
            };
            assert_eq!(Program::parse(&program.to_text()), program, "{command:?}");
        }
        assert_eq!(Program::parse(""), Program::default());
    }

    #[test]
    fn long_parts_are_cut_and_say_so() {
        let long = "ü".repeat(PART_LEN_MAX);
        let program = Program {
            comm: &long,
            executable: &long,
            unit: &long,
            control_group: &long,
            command: &long,
        };
        let text = program.to_text();
        assert!(text.len() <= TEXT_LEN_MAX, "{}", text.len());
        let expected = format!("{}…", "ü".repeat(PART_LEN_MAX / 2));
        let Program { comm, command, .. } = Program::parse(&text);
        assert_eq!((comm, command), (&*expected, &*expected));
    }
}
