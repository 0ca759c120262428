//! Asking the kernel which program a process runs, within a limit of time.
//!
//! A thread reads the files in `/proc`: a process can delay whoever reads its command line for as long as it
//! wants, by keeping its own memory busy. The bus waits for the thread only a little.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use sys::credentials::PeerProcess;
use sys::{clock, process};
use trace::program::PART_LEN_MAX;
use trace::record::Party;
use trace::{Entry, Participant, TracedProgram};

/// What is known of a process.
#[derive(Debug, Default)]
pub(super) struct ProcessRecord {
    /// When it started, on the clock that runs while the machine sleeps too. Together with its
    /// number it tells the process from all others.
    pub(super) since_boot: Option<Duration>,
    /// The same in nanoseconds of the monotonic clock.
    pub(super) started: Option<i64>,
    /// The program, as [`TracedProgram::to_text`] writes it.
    pub(super) program: String,
}

/// Asks for one process after the other.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// Made when it is first needed.
    worker: Option<Worker>,
    /// Questions that are not answered.
    pending: usize,
    waits: Waits,
}

#[derive(Debug)]
struct Worker {
    questions: Sender<ProcessLookup>,
    answers: Receiver<LookupAnswer>,
}

/// A connection and its process, with a descriptor that stands for it if there is one.
#[derive(Debug)]
struct ProcessLookup {
    owner: ProcessOwner,
    pidfd: Option<OwnedFd>,
}

/// Whose process it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessOwner {
    /// The number in the unique name of the connection.
    pub(crate) peer: u64,
    /// 0 if that is not known.
    pub(crate) pid: u32,
    /// `u32::MAX` if that is not known.
    pub(crate) uid: u32,
}

/// What came of a question.
#[derive(Debug)]
pub(super) struct LookupAnswer {
    pub(super) owner: ProcessOwner,
    /// Absent if the process was gone.
    pub(super) process: Option<ProcessRecord>,
}

/// How long the bus may still wait in this second.
#[derive(Debug, Default)]
struct Waits {
    second: Duration,
    used: Duration,
}

impl Lookup {
    /// What the process at the other end of a connection is. If that takes too long, the answer is
    /// [`late`](Self::late); if there are too many questions already, there is none.
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

    /// Whether questions are not answered.
    pub(super) const fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// The next answer that nobody has waited for.
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
        // Without the thread nobody takes questions, and they have no answers.
        drop(thread.stack_size(STACK_LEN).spawn(work));
        Self { questions, answers }
    }
}

impl Waits {
    /// Waits as long as that is allowed.
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
        // While it runs, no other process has its number; so it was this one that was looked at.
        let has_exited = pidfd.is_some_and(|pidfd| process::has_exited(pidfd.as_fd()));
        LookupAnswer { owner, process: process.filter(|_| !has_exited) }
    }
}

impl ProcessRecord {
    /// How it is written.
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

/// A time of the clock that runs while the machine sleeps, in nanoseconds of the monotonic clock.
fn monotonic(since_boot: Duration) -> i64 {
    let age = clock::boottime().saturating_sub(since_boot);
    let nanos = clock::monotonic().as_nanos() as i128 - age.as_nanos() as i128;
    i64::try_from(nanos).unwrap_or_default()
}

/// How long the bus waits for what is known of a process. It usually takes 50 µs.
const WAIT_MAX: Duration = Duration::from_millis(5);

/// How long it waits in a second for all together.
const WAIT_MAX_PER_SECOND: Duration = Duration::from_millis(50);

const SECOND: Duration = Duration::from_secs(1);

/// Questions that may be without an answer. Each has a descriptor.
const PENDING_MAX: usize = 64;

/// Bytes that the thread needs, which reads small files.
const STACK_LEN: usize = 256 * 1024;
