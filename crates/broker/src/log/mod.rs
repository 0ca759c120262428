//! The log of the bus: one line per event, on standard error, in the system log, or both. If one of
//! these is the systemd journal, it also gets the facts of the line as fields, once.
//!
//! Writing never fails and never blocks. Peers choose much of what is logged, so control characters
//! are escaped: a peer cannot forge a line or send control sequences to a terminal.
//!
//! ```
//! use broker::log::{Log, LogChoice, LogTarget, Severity};
//!
//! let target = LogTarget::choose(LogChoice::AsConfigured, LogTarget::Stderr);
//! let log = Log::new("dbus-daemon", target);
//! log.write(Severity::Info, "Reloaded configuration"); // dbus-daemon[1234]: Reloaded ...
//! ```

use std::fmt::Display;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

mod journal;
mod record;
mod stderr;

use journal::{Journal, JournalEntry};
pub use record::{Field, LogRecord, MessageId};
use stderr::{Stderr, StderrKind};

/// The severity of a log record, which decides its syslog level and facility.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// A routine event, logged at level info.
    Info,
    /// A rare event that needs no action, logged at level notice.
    Notice,
    /// A problem that an administrator should look at.
    Warning,
    /// An error that stops the bus or keeps it from working.
    Error,
    /// An action that the policy or a limit denied, logged to the auth facility at level notice.
    Security,
}

impl Severity {
    /// The level of syslog(3), without the facility.
    const fn level(self) -> u8 {
        match self {
            Self::Error => 3,
            Self::Warning => 4,
            Self::Notice | Self::Security => 5,
            Self::Info => 6,
        }
    }

    /// The facility of syslog(3), already shifted left by three bits.
    const fn facility(self) -> u8 {
        match self {
            Self::Security => FACILITY_AUTH,
            Self::Info | Self::Notice | Self::Warning | Self::Error => FACILITY_DAEMON,
        }
    }
}

/// The destination of log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LogTarget {
    /// Write to standard error only.
    Stderr,
    /// Write to the system log only.
    Syslog,
    /// Write to standard error and the system log.
    Both,
}

impl LogTarget {
    /// Combines the `choice` of the command line with the `configured` target.
    #[must_use]
    pub const fn choose(choice: LogChoice, configured: Self) -> Self {
        match choice {
            LogChoice::AsConfigured => configured,
            LogChoice::Always(target) => target,
        }
    }
}

/// The log target according to the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LogChoice {
    /// The command line names no target, so the configuration decides.
    #[default]
    AsConfigured,
    /// This target, whatever the configuration says.
    Always(LogTarget),
}

/// The log of one program. Clones write to the same destinations.
#[derive(Clone, Debug)]
pub struct Log {
    program: String,
    bus: Option<BusLabel>,
    target: LogTarget,
    stderr: Rc<Stderr>,
    /// `None` if the target does not include the system log, or if its socket could not be created.
    syslog: Option<Rc<SyslogSocket>>,
    /// `None` if neither standard error nor the system log can be the journal.
    journal: Option<Rc<Journal>>,
}

/// Paths of the sockets of the system log and the journal.
#[derive(Clone, Copy, Debug)]
struct Sockets<'p> {
    syslog: &'p Path,
    journal: &'p Path,
}

impl Log {
    /// Creates a log whose lines begin with `program`, the name by which the program was called.
    #[must_use]
    pub fn new(program: &str, target: LogTarget) -> Self {
        let (syslog, journal) = (Path::new(SYSLOG_SOCKET), Path::new(JOURNAL_SOCKET));
        Self::with_sockets(Sockets { syslog, journal }, Stderr::detect(), program, target)
    }

    /// The same log, with the type of the bus and its user id in each line.
    #[must_use]
    pub fn of_bus(self, bus_type: &str, uid: u32) -> Self {
        Self { bus: Some(BusLabel { bus_type: bus_type.to_owned(), uid }), ..self }
    }

    /// Writes one line. A line that cannot be sent to the system log goes to standard error.
    pub fn write(&self, severity: Severity, message: impl Display) {
        self.record(&LogRecord::line(severity, message));
    }

    /// Writes one line, and its fields to the journal. A line that cannot be sent to the system log
    /// goes to standard error.
    pub fn record(&self, record: &LogRecord) {
        let is_in_journal = self.journal(record).is_ok();
        let text = || format!("{}[{}]: {}", self.program, process::id(), self.text(&record.text));
        let is_logged = is_in_journal || self.syslog(record.severity, text).is_ok();
        let is_wanted = match self.target {
            LogTarget::Syslog => !is_logged,
            // Otherwise the journal would store the line twice.
            LogTarget::Stderr | LogTarget::Both => {
                !(is_in_journal && self.stderr.kind() == StderrKind::Journal)
            }
        };
        if is_wanted {
            self.stderr.write(record.severity.level(), &text());
        }
    }

    fn journal(&self, record: &LogRecord) -> io::Result<()> {
        let journal = self.journal.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut entry = JournalEntry::default();
        entry.push("MESSAGE", &self.text(&record.text));
        entry.push_severity(record.severity);
        entry.push("SYSLOG_IDENTIFIER", &self.program);
        entry.push("SYSLOG_PID", &process::id().to_string());
        if let Some(MessageId(id)) = record.id {
            entry.push("MESSAGE_ID", id);
        }
        if let Some(BusLabel { bus_type, .. }) = &self.bus {
            entry.push("DBUS_BUS_TYPE", bus_type);
        }
        entry.extend(&record.fields);
        journal.send(&entry)
    }

    fn syslog(&self, severity: Severity, text: impl Fn() -> String) -> io::Result<()> {
        let syslog = self.syslog.as_ref().ok_or(io::ErrorKind::NotFound)?;
        syslog.send(severity, &text())
    }

    fn with_sockets(
        sockets: Sockets<'_>,
        stderr: Stderr,
        program: &str,
        target: LogTarget,
    ) -> Self {
        let is_syslog = target != LogTarget::Stderr;
        let may_be_journal = is_syslog || stderr.kind() == StderrKind::Journal;
        let syslog = is_syslog.then(|| SyslogSocket::new(sockets.syslog).ok()).flatten();
        let journal = may_be_journal.then(|| Journal::new(sockets.journal).ok()).flatten();
        let (syslog, journal) = (syslog.map(Rc::new), journal.map(Rc::new));
        let (program, stderr) = (program.to_owned(), Rc::new(stderr));
        Self { program, bus: None, target, stderr, syslog, journal }
    }

    /// The text of a line after the name of the program: the label of the bus, and the message.
    fn text(&self, message: &str) -> String {
        let mut text = String::new();
        if let Some(BusLabel { bus_type, uid }) = &self.bus {
            text.push_str(&format!("[{bus_type} uid={uid} pid={}] ", process::id()));
        }
        push_single_line(&mut text, message);
        text
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct BusLabel {
    bus_type: String,
    uid: u32,
}

/// The datagram socket of the system log.
#[derive(Debug)]
struct SyslogSocket {
    socket: UnixDatagram,
    path: PathBuf,
}

impl SyslogSocket {
    fn new(path: &Path) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path: path.to_owned() })
    }

    /// Looks up the path for each line, so that a restarted system log is found.
    fn send(&self, severity: Severity, text: &str) -> io::Result<()> {
        let priority = severity.facility() | severity.level();
        self.socket.send_to(format!("<{priority}>{text}").as_bytes(), &self.path)?;
        Ok(())
    }
}

/// Appends text with every control character escaped.
fn push_single_line(line: &mut String, text: &str) {
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
}

const SYSLOG_SOCKET: &str = "/dev/log";

const JOURNAL_SOCKET: &str = "/run/systemd/journal/socket";

/// Facilities of syslog(3), shifted left by three bits.
const FACILITY_DAEMON: u8 = 3 << 3;
const FACILITY_AUTH: u8 = 4 << 3;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_message_is_one_line_whatever_a_peer_put_into_it() {
        let check = |message: &str, expected: &str| {
            let mut line = String::new();
            push_single_line(&mut line, message);
            assert_eq!(line, expected);
        };
        check("plain, größer, \"quoted\", back\\slash", "plain, größer, \"quoted\", back\\slash");
        check("two\nlines\r\tand more", "two\\nlines\\r\\tand more");
        check("\u{1b}[31mred\u{7f}\u{9b}", "\\u{1b}[31mred\\u{7f}\\u{9b}");
    }

    #[test]
    fn log_lines_begin_with_program_and_bus() {
        let pid = process::id();
        let log = Log::new("some-bus", LogTarget::Stderr);
        assert_eq!(log.text("text"), "text");
        let log = log.of_bus("system", 7);
        assert_eq!(log.text("text"), format!("[system uid=7 pid={pid}] text"));
    }

    #[test]
    fn log_target_of_the_command_line_overrides_the_configuration() {
        let check = |choice, configured, expected| {
            assert_eq!(LogTarget::choose(choice, configured), expected);
        };
        check(LogChoice::AsConfigured, LogTarget::Both, LogTarget::Both);
        check(LogChoice::AsConfigured, LogTarget::Stderr, LogTarget::Stderr);
        check(LogChoice::Always(LogTarget::Stderr), LogTarget::Both, LogTarget::Stderr);
        check(LogChoice::Always(LogTarget::Syslog), LogTarget::Stderr, LogTarget::Syslog);
    }

    /// A log whose sockets are in the temporary directory, under names that begin with `name`.
    fn log(name: &str, stderr: StderrKind, target: LogTarget) -> (Log, [PathBuf; 2]) {
        let path = |kind: &str| {
            std::env::temp_dir().join(format!("diligence-{name}-{kind}-{}", process::id()))
        };
        let [syslog, journal] = ["syslog", "journal"].map(path);
        let sockets = Sockets { syslog: &syslog, journal: &journal };
        (Log::with_sockets(sockets, Stderr::of(stderr), "some-bus", target), [syslog, journal])
    }

    #[test]
    fn the_system_log_gets_priority_and_text_and_may_restart() {
        let (log, [path, _]) = log("priority", StderrKind::Plain, LogTarget::Syslog);
        log.write(Severity::Info, "to standard error, because no log daemon listens");
        for (severity, priority) in [
            (Severity::Info, 30),
            (Severity::Notice, 29),
            (Severity::Warning, 28),
            (Severity::Error, 27),
            (Severity::Security, 37),
        ] {
            let receiver = UnixDatagram::bind(&path).unwrap();
            log.write(severity, "hello");
            let mut buffer = [0; 100];
            let length = receiver.recv(&mut buffer).unwrap();
            let expected = format!("<{priority}>some-bus[{}]: hello", process::id());
            assert_eq!(String::from_utf8_lossy(&buffer[..length]), expected);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn writing_to_a_full_system_log_does_not_block() {
        let path = std::env::temp_dir().join(format!("diligence-full-syslog-{}", process::id()));
        let receiver = UnixDatagram::bind(&path).unwrap();
        let syslog = SyslogSocket::new(&path).unwrap();
        let result = (0..100_000).try_for_each(|_| syslog.send(Severity::Info, "again"));
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(receiver);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn the_journal_gets_fields_and_the_line_only_once() {
        let check = |name: &str, stderr, target| {
            let (log, [syslog, journal]) = log(name, stderr, target);
            let log = log.of_bus("system", 7);
            let syslog_receiver = UnixDatagram::bind(&syslog).unwrap();
            syslog_receiver.set_nonblocking(true).unwrap();
            let receiver = UnixDatagram::bind(&journal).unwrap();
            let mut record = LogRecord::line(Severity::Warning, "text").of(MessageId("0123"));
            record.field("DBUS_LIMIT", "max_x");
            record.field("DBUS_COMM", "two\nlines");
            log.record(&record);
            let mut buffer = [0; 500];
            let len = receiver.recv(&mut buffer).unwrap();
            let pid = process::id();
            let expected = format!(
                "MESSAGE=[system uid=7 pid={pid}] text\nPRIORITY=4\nSYSLOG_FACILITY=3\n\
                 SYSLOG_IDENTIFIER=some-bus\nSYSLOG_PID={pid}\nMESSAGE_ID=0123\n\
                 DBUS_BUS_TYPE=system\nDBUS_LIMIT=max_x\n\
                 DBUS_COMM\n\u{9}\0\0\0\0\0\0\0two\nlines\n"
            );
            assert_eq!(String::from_utf8_lossy(&buffer[..len]), expected);
            assert!(syslog_receiver.recv(&mut buffer).is_err(), "it is there already");
            for path in [syslog, journal] {
                std::fs::remove_file(path).unwrap();
            }
        };
        check("as-syslog", StderrKind::Plain, LogTarget::Syslog);
        check("as-both", StderrKind::Journal, LogTarget::Both);
        check("as-stderr", StderrKind::Journal, LogTarget::Stderr);
    }

    #[test]
    fn an_entry_too_long_for_a_datagram_arrives_too() {
        let (log, [_, journal]) = log("long", StderrKind::Journal, LogTarget::Stderr);
        let receiver = UnixDatagram::bind(&journal).unwrap();
        let text = "x".repeat(16 << 20);
        log.write(Severity::Info, &text);
        let mut fds = Vec::new();
        let wait = sys::transfer::TransferWait::Never;
        let received = sys::transfer::receive(&receiver, &mut [0; 1], &mut fds, wait).unwrap();
        assert_eq!((received.bytes, fds.len()), (0, 1));
        let mut file = File::from(fds.remove(0));
        let mut content = String::new();
        io::Seek::rewind(&mut file).unwrap();
        io::Read::read_to_string(&mut file, &mut content).unwrap();
        assert!(content.starts_with(&format!("MESSAGE={text}\nPRIORITY=6\n")));
        std::fs::remove_file(&journal).unwrap();
    }
}
