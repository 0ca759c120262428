//! Reads from the kernel which program a process runs, within a time limit.
//!
//! A thread reads the files in `/proc`: a process can delay every reader of its command line for as
//! long as it wants, by keeping its own memory busy. The bus waits only briefly for the thread.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use sys::credentials::PeerProcess;
use sys::{clock, process};
use trace::program::PART_LEN_MAX;
use trace::record::Party;
use trace::{Entry, Participant, TracedProgram};

/// The known facts about a process.
#[derive(Debug, Default)]
pub(super) struct ProcessRecord {
    /// The start time on the clock that includes suspend (`CLOCK_BOOTTIME`). Together with the
    /// process id it identifies the process.
    pub(super) since_boot: Option<Duration>,
    /// The start time in nanoseconds of the monotonic clock.
    pub(super) started: Option<i64>,
    /// The program, as [`TracedProgram::to_text`] writes it.
    pub(super) program: String,
}

/// Looks up one process at a time.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// The thread, started on first use.
    worker: Option<Worker>,
    /// The number of unanswered requests.
    pending: usize,
    waits: Waits,
}

#[derive(Debug)]
struct Worker {
    questions: Sender<ProcessLookup>,
    answers: Receiver<LookupAnswer>,
}

/// A connection and its process, with a pidfd if there is one.
#[derive(Debug)]
struct ProcessLookup {
    owner: ProcessOwner,
    pidfd: Option<OwnedFd>,
}

/// The connection that a process belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessOwner {
    /// The number in the unique name of the connection.
    pub(crate) peer: u64,
    /// The process id, or 0 if unknown.
    pub(crate) pid: u32,
    /// The user id, or `u32::MAX` if unknown.
    pub(crate) uid: u32,
}

/// The answer to a request.
#[derive(Debug)]
pub(super) struct LookupAnswer {
    pub(super) owner: ProcessOwner,
    /// `None` if the process no longer exists.
    pub(super) process: Option<ProcessRecord>,
}

/// The time that the bus may still wait in this second.
#[derive(Debug, Default)]
struct Waits {
    second: Duration,
    used: Duration,
}

impl Lookup {
    /// Looks up the process at the other end of a connection. If that takes too long, the answer is
    /// [`late`](Self::late); if too many requests are pending, there is none.
    pub(super) fn ask(&mut self, owner: ProcessOwner, socket: &OwnedFd) -> Option<ProcessRecord> {
        if self.pending >= PENDING_MAX {
            return None;
        }
        let pidfd = match sys::credentials::peer_process(socket).ok()? {
            PeerProcess::Held(pidfd) => Some(pidfd),
            PeerProcess::Gone => return None,
            PeerProcess::Unknown => None,
        };
        let worker = self.worker.get_or_insert_with(Worker::start);
        worker.questions.send(ProcessLookup { owner, pidfd }).ok()?;
        self.pending += 1;
        if self.pending > 1 {
            return None;
        }
        let answer = self.waits.wait(|time| worker.answers.recv_timeout(time).ok())?;
        self.pending -= 1;
        answer.process
    }

    /// Whether requests are unanswered.
    pub(super) const fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// The next answer that arrived after the wait.
    pub(super) fn late(&mut self) -> Option<LookupAnswer> {
        if self.pending == 0 {
            return None;
        }
        let answer = self.worker.as_ref()?.answers.try_recv().ok()?;
        self.pending -= 1;
        Some(answer)
    }
}

impl Worker {
    fn start() -> Self {
        let (questions, received) = channel::<ProcessLookup>();
        let (answer, answers) = channel();
        let work = move || {
            for question in received {
                if answer.send(question.answer()).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("trace-programs".to_owned());
        // If the thread cannot be started, requests are not answered.
        drop(thread.stack_size(STACK_LEN).spawn(work));
        Self { questions, answers }
    }
}

impl Waits {
    /// Waits for as long as the limits allow.
    fn wait<T>(&mut self, wait: impl FnOnce(Duration) -> T) -> T {
        let start = clock::monotonic();
        if start >= self.second + SECOND {
            (self.second, self.used) = (start, Duration::ZERO);
        }
        let waited = wait(WAIT_MAX.min(WAIT_MAX_PER_SECOND.saturating_sub(self.used)));
        self.used += clock::monotonic().saturating_sub(start);
        waited
    }
}

impl ProcessLookup {
    fn answer(self) -> LookupAnswer {
        let Self { owner, pidfd } = self;
        let process = ProcessRecord::read(owner.pid);
        // While the process exists, no other process has its id, so the files belong to it.
        let has_exited = pidfd.is_some_and(|pidfd| process::has_exited(pidfd.as_fd()));
        LookupAnswer { owner, process: process.filter(|_| !has_exited) }
    }
}

impl ProcessRecord {
    /// The trace entry for this process.
    pub(super) fn entry(&self, who: Party, owner: ProcessOwner) -> Entry<'_> {
        let ProcessOwner { pid, uid, .. } = owner;
        let Self { started, ref program, .. } = *self;
        Entry::Participant(Participant { who, pid, uid, started, program })
    }

    pub(super) fn read(pid: u32) -> Option<Self> {
        let comm = process::comm(pid)?;
        let since_boot = process::started(pid);
        let executable = process::executable(pid).unwrap_or_default();
        let control_group = process::control_group(pid).unwrap_or_default();
        let command = process::command_line_bytes(pid, PART_LEN_MAX as u64 + 1).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        let program = TracedProgram {
            comm: &comm,
            executable: &executable.to_string_lossy(),
            unit: process::unit_of_control_group(&control_group).unwrap_or_default(),
            control_group: &control_group,
            command: command.strip_suffix('\0').unwrap_or(&command),
        };
        let started = since_boot.map(monotonic);
        Some(Self { since_boot, started, program: program.to_text() })
    }
}

/// Converts a `CLOCK_BOOTTIME` time to nanoseconds of the monotonic clock.
fn monotonic(since_boot: Duration) -> i64 {
    let age = clock::boottime().saturating_sub(since_boot);
    let nanos = clock::monotonic().as_nanos() as i128 - age.as_nanos() as i128;
    i64::try_from(nanos).unwrap_or_default()
}

/// The maximum wait for the facts about one process. A look-up usually takes 50 µs.
const WAIT_MAX: Duration = Duration::from_millis(5);

/// The maximum total wait in a second.
const WAIT_MAX_PER_SECOND: Duration = Duration::from_millis(50);

const SECOND: Duration = Duration::from_secs(1);

/// The maximum number of unanswered requests. Each has a descriptor.
const PENDING_MAX: usize = 64;

/// The stack size of the thread, which only reads small files, in bytes.
const STACK_LEN: usize = 256 * 1024;
