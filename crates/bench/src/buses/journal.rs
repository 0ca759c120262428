//! A reader for the journal socket.
//!
//! dbus-broker and its launcher write to the journal socket. They do not start if no process reads
//! from it, and end when they write after the reader has gone. So if no journal runs, this process
//! reads from the socket as long as it uses dbus-broker.

use std::fs;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use super::log_tail::tail;

/// The reader of the journal socket.
#[derive(Debug)]
pub(super) enum JournalReader {
    /// The journal, or another process in its place.
    Others,
    /// This process, as long as the value exists.
    Ours(StandInShare),
}

impl JournalReader {
    /// True if a process reads from the journal socket now.
    pub(super) fn is_read() -> bool {
        is_read_at(Path::new(SOCKET))
    }

    /// Ensures that a process reads from the socket; only root can replace the journal.
    pub(super) fn ensure() -> io::Result<Self> {
        let mut shared = lock();
        if let Some(stand_in) = shared.upgrade() {
            return Ok(Self::Ours(StandInShare(Some(stand_in))));
        }
        if Self::is_read() {
            return Ok(Self::Others);
        }
        let stand_in = Arc::new(StandIn::at(Path::new(SOCKET))?);
        *shared = Arc::downgrade(&stand_in);
        Ok(Self::Ours(StandInShare(Some(stand_in))))
    }

    /// Returns the recent messages, if this process reads them.
    pub(super) fn last_words(&self) -> String {
        match self {
            Self::Ours(StandInShare(Some(stand_in))) => stand_in.inbox.words().clone(),
            Self::Ours(_) | Self::Others => String::new(),
        }
    }

    /// Discards the messages read so far.
    pub(super) fn forget(&self) {
        if let Self::Ours(StandInShare(Some(stand_in))) = self {
            stand_in.inbox.words().clear();
        }
    }
}

/// A reference to the only stand-in of this process; dropping the last reference ends it.
#[derive(Debug)]
pub(super) struct StandInShare(Option<Arc<StandIn>>);

impl Drop for StandInShare {
    fn drop(&mut self) {
        // Holds the lock, so that no other thread mistakes a socket that is about to close for the
        // journal.
        let _lock = lock();
        self.0.take();
    }
}

fn lock() -> MutexGuard<'static, Weak<StandIn>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The machine has one journal socket, so this process has at most one reader of it.
static SHARED: Mutex<Weak<StandIn>> = Mutex::new(Weak::new());

/// The socket, and a thread that reads from it.
#[derive(Debug)]
pub(super) struct StandIn {
    path: PathBuf,
    /// The directories that did not exist before, deepest first.
    directories: Vec<PathBuf>,
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Inbox {
    socket: UnixDatagram,
    closing: AtomicBool,
    words: Mutex<String>,
}

impl StandIn {
    fn at(path: &Path) -> io::Result<Self> {
        let parents = path.ancestors().skip(1);
        let directories = parents.take_while(|parent| !parent.exists()).map(Path::to_owned);
        let directories = directories.collect();
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        let inbox = Inbox {
            socket: bind(path)?,
            closing: AtomicBool::new(false),
            words: Mutex::new(String::new()),
        };
        let inbox = Arc::new(inbox);
        let thread = thread::Builder::new().name("journal".to_owned()).spawn({
            let inbox = Arc::clone(&inbox);
            move || inbox.empty()
        })?;
        Ok(Self { path: path.to_owned(), directories, inbox, thread: Some(thread) })
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // A file that cannot be removed stays; the next stand-in recognizes it as stale.
        let _ = fs::remove_file(&self.path);
        for directory in &self.directories {
            let _ = fs::remove_dir(directory);
        }
        self.inbox.closing.store(true, Ordering::Release);
        let closed = self.inbox.socket.shutdown(Shutdown::Both).is_ok();
        if let (true, Some(thread)) = (closed, self.thread.take()) {
            // The thread returns no value.
            let _ = thread.join();
        }
    }
}

impl Inbox {
    fn empty(&self) {
        let mut space = vec![0; DATAGRAM_LEN_MAX];
        while let Ok(len) = self.socket.recv(&mut space) {
            if let Some(line) = line_of(&space[..len]) {
                let mut words = self.words();
                words.push_str(&line);
                *words = tail(&words).to_owned();
            } else if self.closing.load(Ordering::Acquire) {
                return;
            }
        }
    }

    fn words(&self) -> MutexGuard<'_, String> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_read_at(path: &Path) -> bool {
    UnixDatagram::unbound().and_then(|socket| socket.connect(path)).is_ok()
}

/// Binds to a path that no process reads from; replaces a stale socket file.
fn bind(path: &Path) -> io::Result<UnixDatagram> {
    match UnixDatagram::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            fs::remove_file(path)?;
            UnixDatagram::bind(path)
        }
        bound => bound,
    }
}

/// Formats a datagram in the journal's format as `program: message` and a newline.
fn line_of(datagram: &[u8]) -> Option<String> {
    let (mut program, mut message) = (None, None);
    let mut rest = datagram;
    while let Some((name, value, after)) = field(rest) {
        match name {
            b"SYSLOG_IDENTIFIER" => program = Some(value),
            b"MESSAGE" => message = Some(value),
            _ => {}
        }
        rest = after;
    }
    let text = |bytes| String::from_utf8_lossy(bytes).trim_end().to_owned();
    Some(format!("{}: {}\n", text(program?), text(message?)))
}

/// Splits off the first field: `NAME=value` and a newline or, for values with newlines, `NAME`, a
/// newline, the length as eight bytes, the value and a newline.
fn field(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
    if let Some(equals) = line.iter().position(|&byte| byte == b'=') {
        return Some((&line[..equals], &line[equals + 1..], rest));
    }
    let (len, rest) = rest.split_first_chunk()?;
    let (value, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    Some((line, value, rest.get(1..)?))
}

/// The socket of the journal (systemd's native protocol).
pub(super) const SOCKET: &str = "/run/systemd/journal/socket";

/// Size of the largest message that is kept, in bytes; longer messages are truncated.
const DATAGRAM_LEN_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::directory::private_directory;
    use super::*;

    #[test]
    fn journal_messages_are_extracted_from_their_fields() {
        let check = |datagram: &[u8], expected: Option<&str>| {
            assert_eq!(line_of(datagram).as_deref(), expected, "{datagram:?}");
        };
        check(b"", None);
        check(b"MESSAGE=nobody says this\n", None);
        check(b"PRIORITY=6\nSYSLOG_IDENTIFIER=a\nMESSAGE=b=c\n", Some("a: b=c\n"));
        check(b"MESSAGE\n\x04\0\0\0\0\0\0\0b\nc\n\nSYSLOG_IDENTIFIER=a\n\n", Some("a: b\nc\n"));
        check(b"SYSLOG_IDENTIFIER=a\nMESSAGE\n\x04\0\0\0\0\0\0\0b", None);
        check(b"SYSLOG_IDENTIFIER=a\nMESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xffb\n", None);
    }

    #[test]
    fn journal_stand_in_reads_messages_and_removes_its_files() {
        let directory = private_directory().unwrap();
        let parent = directory.path().join("log");
        let path = parent.join("journal/socket");
        for _ in 0..2 {
            assert!(!is_read_at(&path));
            let stand_in = StandIn::at(&path).unwrap();
            assert!(is_read_at(&path));
            let sender = UnixDatagram::unbound().unwrap();
            sender.send_to(b"", &path).unwrap();
            sender.send_to(b"SYSLOG_IDENTIFIER=a\nMESSAGE=b\n", &path).unwrap();
            let deadline = Instant::now() + Duration::from_secs(30);
            while *stand_in.inbox.words() != "a: b\n" {
                assert!(Instant::now() < deadline, "the entry does not arrive");
                thread::sleep(Duration::from_millis(1));
            }
            drop(stand_in);
            assert!(!parent.exists());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            drop(UnixDatagram::bind(&path).unwrap());
            drop(StandIn::at(&path).unwrap());
            fs::remove_dir_all(&parent).unwrap();
        }
    }
}
