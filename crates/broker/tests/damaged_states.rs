//! States with changed values, thousands of them: each is rejected, or a bus continues it. Reading a
//! state never needs much more memory than the state itself.
//!
//! `DILIGENCE_CASES` is the number of states, `DILIGENCE_SEED` the seed of the random numbers.
//! `DILIGENCE_FIRST_STATE` is the number of the first state; with it, `DILIGENCE_SEED` is the seed
//! that a failure prints.
//!
//! A counting allocator needs unsafe code, so this test is a separate program.

#![expect(unsafe_code, reason = "a global allocator is unsafe by its nature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::{self, Command};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use broker::busconfig::{self, ConfigError};
use broker::event_loop::{
    EventLoop, Loaded, LoopExit, ReadPurpose, Reload, RestoreParts, RestoredLoop,
};
use broker::log::{Log, LogTarget};
use broker::startup::read_state;
use bus::Replacement;
use rustix::process::{Signal, getpid, kill_process};
use sys::rlimit::OpenFiles;
use sys::signals::{ProcessSignal, SignalSource};
use testkit::damaged;
use testkit::random::Random;

/// Counts the allocated bytes.
struct CountingAllocator;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The memory that reading the last state needed.
static NEEDED: AtomicUsize = AtomicUsize::new(0);

fn allocated(len: usize) {
    let allocated = ALLOCATED.fetch_add(len, Ordering::Relaxed) + len;
    PEAK.fetch_max(allocated, Ordering::Relaxed);
}

// SAFETY: all operations are forwarded to the system's allocator; apart from that only counters
// change.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller guarantees the contract of this method, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller guarantees the contract of this method, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller guarantees the contract of this method, which is the same.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        allocated(len);
        // SAFETY: the caller guarantees the contract of this method, which is the same.
        unsafe { System.realloc(place, layout, len) }
    }
}

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

/// The message of the last panic, with its place.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// The number of the state that a bus continues now.
static SERVED: AtomicUsize = AtomicUsize::new(NONE);

/// The value of [`SERVED`] while no state is continued.
const NONE: usize = usize::MAX;

fn main() {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let states = golden_states();
    let cases = number("DILIGENCE_CASES").map_or(CASES, |cases| cases as usize);
    let first = number(FIRST_VARIABLE).map_or(0, |first| first as usize);
    // Each state has a seed of its own, so that it can be repeated alone.
    let seed = match first {
        0 => Random::from_env().number() >> 16,
        _ => number("DILIGENCE_SEED").expect("the first process has set it"),
    };
    panic::set_hook(Box::new(move |panic| on_panic(&panic.to_string(), seed)));
    let mut counts = OutcomeCounts::default();
    for case in first..cases {
        let mut state = states[case % states.len()].clone();
        if case >= states.len() {
            damaged::state(&mut state, &mut Random::from_seed(seed + case as u64));
        }
        let began = Instant::now();
        let outcome = guarded(|| check(&state, case));
        let took = began.elapsed();
        let failure = match outcome {
            Ok(outcome) => {
                counts.add(outcome);
                (took > CASE_TIME_MAX).then(|| format!("it took {took:?}"))
            }
            Err(panic) => Some(panic),
        };
        if let Some(failure) = failure {
            eprintln!("state {case} of seed {seed}: {failure}");
            process::exit(1);
        }
    }
    println!("states {first} to {cases} of seed {seed}: {counts:?}");
    assert!(first > 0 || (counts.continued > 0 && counts.rejected > 0), "{counts:?}");
}

/// Stores the message of a panic that is caught. A panic of a bus that continues a state ends the
/// process without unwinding.
fn on_panic(panic: &str, seed: u64) {
    let served = SERVED.load(Ordering::Relaxed);
    if served == NONE {
        panic.clone_into(&mut LAST_PANIC.lock().expect("nothing panics with the lock"));
        return;
    }
    if panic.contains("with overflow") {
        // A counter near its maximum. Optimized programs do not check counters for overflow.
        let program = std::env::current_exe().expect("a test knows its own path");
        let mut next = Command::new(program);
        next.env("DILIGENCE_SEED", seed.to_string()).env(FIRST_VARIABLE, (served + 1).to_string());
        let error = next.exec();
        eprintln!("the test cannot be executed again: {error}");
    }
    eprintln!("state {served} of seed {seed}: {panic}\n{}", Backtrace::capture());
    process::exit(1);
}

/// The number of states with each outcome.
#[derive(Debug, Default)]
struct OutcomeCounts {
    rejected: usize,
    violations: usize,
    continued: usize,
    /// The most memory that reading a state needed.
    memory: usize,
}

impl OutcomeCounts {
    fn add(&mut self, outcome: CaseOutcome) {
        match outcome {
            CaseOutcome::Rejected => self.rejected += 1,
            CaseOutcome::Violation => self.violations += 1,
            CaseOutcome::Continued => self.continued += 1,
        }
        self.memory = self.memory.max(NEEDED.load(Ordering::Relaxed));
    }
}

/// The outcome for one state.
enum CaseOutcome {
    /// The state cannot be read.
    Rejected,
    /// The check found a violated invariant, so the state is rejected.
    Violation,
    /// A bus continues the state.
    Continued,
}

fn check(state: &[u8], case: usize) -> CaseOutcome {
    let before = ALLOCATED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let read = read_state(state);
    let needed = PEAK.load(Ordering::Relaxed) - before;
    NEEDED.store(needed, Ordering::Relaxed);
    assert!(needed < MEMORY_MAX, "reading the state needs {needed} bytes of memory");
    let Ok(restored) = read else { return CaseOutcome::Rejected };
    if guarded(|| restored.check()).is_err() {
        return CaseOutcome::Violation;
    }
    drop(restored);
    let (event_loop, numbers) = parts(state);
    let mut others = Vec::new();
    let fds = (0..numbers).map(|_| {
        let (ours, theirs) = sys::socket::socket_pair().expect("descriptors");
        others.push(theirs);
        ours
    });
    let fds: Vec<OwnedFd> = fds.collect();
    let restored = RestoredLoop::read(event_loop, || Ok(fds), ReadPurpose::Continue)
        .expect("it was read before");
    let parts = RestoreParts {
        mediator: None,
        open_files: OpenFiles::current(),
        reload: Box::new(NoReload),
        log: Log::new("test", LogTarget::Syslog),
        signals: SignalSource::block(&[ProcessSignal::Terminate]).expect("signals"),
    };
    SERVED.store(case, Ordering::Relaxed);
    let mut event_loop = EventLoop::restore(restored, parts).expect("all descriptors are sockets");
    event_loop.replaced(Replacement {
        old_version: "0".into(),
        new_version: "1".into(),
        paused: Duration::ZERO,
    });
    // The loop ends after a turn, in which it reads and checks all deadlines.
    kill_process(getpid(), Signal::TERM).expect("this process exists");
    let exit = event_loop.run().expect("the descriptors are valid");
    assert_eq!(exit, LoopExit::Stopped);
    drop(event_loop);
    SERVED.store(NONE, Ordering::Relaxed);
    CaseOutcome::Continued
}

/// Calls a function and returns the message of its panic, if it panics.
fn guarded<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(function))
        .map_err(|_| LAST_PANIC.lock().expect("nothing panics with the lock").clone())
}

/// A configuration that is never reloaded.
struct NoReload;

impl Reload for NoReload {
    fn read(&mut self) -> Result<Loaded, ConfigError> {
        Ok(busconfig::built_in_session().into())
    }

    fn done(&mut self) {}
}

/// The parts of the event loop in an accepted state, and the number of its descriptors.
fn parts(state: &[u8]) -> (&[u8], usize) {
    let numbers = part(&state[HEADER_LEN..]);
    let process = part(&state[HEADER_LEN + 8 + numbers.len()..]);
    let event_loop = &state[HEADER_LEN + 16 + numbers.len() + process.len()..];
    let numbers: Vec<i32> = rmp_serde::from_slice(numbers).expect("it was read before");
    (event_loop, numbers.len())
}

/// The content of the part at the beginning of some bytes.
fn part(bytes: &[u8]) -> &[u8] {
    let (len, rest) = bytes.split_first_chunk().expect("it was read before");
    &rest[..u64::from_le_bytes(*len) as usize]
}

fn golden_states() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/states");
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("a folder of the tree");
        entries.map(|entry| entry.expect("a folder of the tree").path()).collect::<Vec<_>>()
    };
    let mut files: Vec<_> = entries(&root).iter().flat_map(|folder| entries(folder)).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "state"));
    files.sort();
    files.iter().map(|file| fs::read(file).expect("a file of the tree")).collect()
}

/// The length of the name and the number of the format.
const HEADER_LEN: usize = 17;

/// The number of states, if the environment does not set it.
const CASES: usize = 6_000;

/// The environment variable with the number of the first state, for a process that continues after
/// an overflow, and to repeat one state: DILIGENCE_FIRST_STATE=N DILIGENCE_CASES=N+1.
const FIRST_VARIABLE: &str = "DILIGENCE_FIRST_STATE";

/// Maximum time for one state, also on a busy machine.
const CASE_TIME_MAX: Duration = Duration::from_secs(2);

/// Maximum memory for reading a state: most of it is for tables whose length is the greatest index of
/// a connection.
const MEMORY_MAX: usize = 256 << 20;
