//! The reader of what is written to the journal.
//!
//! dbus-broker and its launcher write to the journal's socket. They do not start if no process reads
//! there, and end when they have something to write and the reader is gone. So where no journal
//! runs, this process stands in for it as long as it has a dbus-broker.

use std::fs;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use super::log_tail::tail;

/// The reader of what is written to the journal.
#[derive(Debug)]
pub(super) enum JournalReader {
    /// The journal, or another process that stands in for it.
    Others,
    /// This process, as long as this is held.
    Ours(StandInShare),
}

impl JournalReader {
    /// Whether a process reads there now.
    pub(super) fn is_read() -> bool {
        is_read_at(Path::new(SOCKET))
    }

    /// Makes sure that a process does; only root can stand in for the journal.
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

    /// What was written there lately, if this process has read it.
    pub(super) fn last_words(&self) -> String {
        match self {
            Self::Ours(StandInShare(Some(stand_in))) => stand_in.inbox.words().clone(),
            Self::Ours(_) | Self::Others => String::new(),
        }
    }

    /// Forgets what was written there until now.
    pub(super) fn forget(&self) {
        if let Self::Ours(StandInShare(Some(stand_in))) = self {
            stand_in.inbox.words().clear();
        }
    }
}

/// A share in the one stand-in of this process; the last to go ends it.
#[derive(Debug)]
pub(super) struct StandInShare(Option<Arc<StandIn>>);

impl Drop for StandInShare {
    fn drop(&mut self) {
        // Under the lock, so that nobody takes a socket that is about to close for the journal.
        let _lock = lock();
        self.0.take();
    }
}

fn lock() -> MutexGuard<'static, Weak<StandIn>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// There is one socket on the machine, so there is one reader of it in the process.
static SHARED: Mutex<Weak<StandIn>> = Mutex::new(Weak::new());

/// The socket, and a thread that empties it.
#[derive(Debug)]
pub(super) struct StandIn {
    path: PathBuf,
    /// The directories that were not there before, the deepest first.
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
        // What cannot be removed stays: the next to stand in takes it for what it is.
        let _ = fs::remove_file(&self.path);
        for directory in &self.directories {
            let _ = fs::remove_dir(directory);
        }
        self.inbox.closing.store(true, Ordering::Release);
        let closed = self.inbox.socket.shutdown(Shutdown::Both).is_ok();
        if let (true, Some(thread)) = (closed, self.thread.take()) {
            // It has nothing to say.
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

/// Binds to a path at which no process reads; replaces a stale socket file.
fn bind(path: &Path) -> io::Result<UnixDatagram> {
    match UnixDatagram::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            fs::remove_file(path)?;
            UnixDatagram::bind(path)
        }
        bound => bound,
    }
}

/// What a datagram in the journal's format says, as `program: message` and a newline.
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

/// The first field, and what follows it: `NAME=value` and a newline, or, for values that have
/// newlines, `NAME`, a newline, eight bytes with the length, the value and a newline.
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

/// Where programs write to the journal (systemd's native protocol).
pub(super) const SOCKET: &str = "/run/systemd/journal/socket";

/// Bytes of the largest message that is kept; what is longer is cut.
const DATAGRAM_LEN_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::directory::private_directory;
    use super::*;

    #[test]
    fn messages_are_found_among_the_fields() {
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
    fn a_stand_in_reads_and_leaves_no_trace() {
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
            while *stand_in.inbox.words() != "a: b\n" {
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
