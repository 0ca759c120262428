//! Records when a process gets and loses a processor, as the kernel reports it (perf_event_open(2)).
//!
//! The kernel writes a record of 16 bytes for each switch into shared memory, so the recorded process
//! is hardly disturbed, and the recording process need not run meanwhile. Recording processes of the
//! same user requires no privilege if `/proc/sys/kernel/perf_event_paranoid` is 2 or less. Requires
//! Linux 6.0.
//!
//! ```
//! use sys::switches::{Followed, SwitchTrace};
//! use std::time::Duration;
//!
//! # fn main() -> std::io::Result<()> {
//! # if SwitchTrace::start(std::process::id(), Followed::All, 0).is_err() {
//! #     return Ok(()); // The kernel forbids it here.
//! # }
//! let mut trace = SwitchTrace::start(std::process::id(), Followed::All, 1000)?;
//! std::thread::sleep(Duration::from_millis(1));
//! let switches = trace.take()?;
//! for span in &switches.running {
//!     println!("had a processor from {:?} to {:?}", span.start, span.end);
//! }
//! # Ok(())
//! # }
//! ```

use crate::process::{threads, to_pid};
use crate::raw::{EventAttributes, EventRing};
use crate::{clock, scheduling};
use rustix::process::Pid;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A running recording of the context switches of one process. Dropping it ends the recording.
#[derive(Debug)]
pub struct SwitchTrace {
    pid: u32,
    capacity: usize,
    followed: Followed,
    threads: Vec<ThreadTrace>,
    /// Existing threads that cannot be recorded.
    refused: BTreeSet<u32>,
}

/// The threads of a process that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// All threads, including threads that start later.
    All,
    /// Only the first thread, for a process whose other threads do not matter.
    First,
}

/// The switches since the start, or since the previous call of `take`. Times are on the clock of
/// [`clock::monotonic`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// All known switches, in chronological order.
    pub switches: Vec<Switch>,
    /// The intervals in which at least one thread had a processor: ascending, with gaps between
    /// them. Near lost records, spans with an unknown start or end are omitted.
    pub running: Vec<Range<Duration>>,
    /// The number of records that were lost because the ring was full.
    pub lost: u64,
    /// The number of threads without records: they ended before they could be recorded, or cannot
    /// be recorded.
    pub unfollowed: u64,
}

/// A thread got or lost a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The time on the clock of [`clock::monotonic`].
    pub time: Duration,
    /// The thread id; the first thread has the process id.
    pub thread: u32,
    /// The kind of the switch, with its reason.
    pub kind: SwitchKind,
}

/// The kind of a context switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwitchKind {
    /// The thread got a processor.
    Resumed,
    /// The thread was preempted although it was runnable.
    Preempted,
    /// The thread gave up the processor to wait.
    Waited,
    /// The thread has ended.
    Ended,
}

impl SwitchTrace {
    /// Starts to record the switches of the current threads of the process `pid`; threads that
    /// start later are recorded, if `followed` says so, from the next [`take`](Self::take) on. Each
    /// thread has space for at least `capacity` records; a thread that gets and loses a processor
    /// makes two. Records that do not fit are lost and counted.
    ///
    /// # Errors
    ///
    /// - [`io::ErrorKind::NotFound`]: the process does not exist.
    /// - [`io::ErrorKind::PermissionDenied`]: it belongs to another user, the kernel forbids such
    ///   recordings, or all of them together would lock more memory than allowed
    ///   (`/proc/sys/kernel/perf_event_mlock_kb` for each processor, and the limit
    ///   `RLIMIT_MEMLOCK`).
    /// - [`io::ErrorKind::InvalidInput`]: the kernel is too old.
    /// - [`io::ErrorKind::Unsupported`]: the kernel was built without such recordings.
    pub fn start(pid: u32, followed: Followed, capacity: usize) -> io::Result<Self> {
        let first = to_pid(pid)?;
        let mut traces = Vec::new();
        let found = match followed {
            Followed::All => threads(pid)?,
            Followed::First => vec![first],
        };
        for thread in found {
            match ThreadTrace::start(thread, capacity) {
                Ok(trace) => traces.push(trace),
                // The thread has ended since the listing.
                Err(error) if scheduling::is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if traces.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Self { pid, capacity, followed, threads: traces, refused: BTreeSet::new() })
    }

    /// The number of recorded threads; each uses a descriptor and the memory of its records.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Takes the records so far; the recording continues, including all threads that have started
    /// meanwhile. Records remain readable after the process has ended.
    ///
    /// # Errors
    ///
    /// Fails only if the trace is misused by its caller.
    pub fn take(&mut self) -> io::Result<Switches> {
        self.take_and_follow(usize::MAX)
    }

    /// Like [`take`](Self::take), with at most `further` additional threads.
    ///
    /// # Errors
    ///
    /// Fails only if the trace is misused by its caller.
    pub fn take_and_follow(&mut self, further: usize) -> io::Result<Switches> {
        let (mut all, mut began) = (Switches::default(), BTreeSet::new());
        for thread in &mut self.threads {
            thread.take(&mut all, &mut began)?;
        }
        self.threads.retain(|thread| !thread.tracker.has_ended());
        let has_news = !began.is_empty() || !self.refused.is_empty();
        if has_news && self.followed == Followed::All {
            all.unfollowed = self.follow(began, further);
        }
        all.switches.sort_by_key(|switch| switch.time);
        all.running = united(all.running);
        Ok(all)
    }

    /// Starts to record all unrecorded threads; returns how many cannot be recorded, including
    /// ended ones. A thread does not inherit the memory shared with this process, so each needs its
    /// own event.
    fn follow(&mut self, mut began: BTreeSet<u32>, further: usize) -> u64 {
        let most = self.threads.len().saturating_add(further);
        self.refused.clear();
        // A thread may have started others before its recording began, so this repeats until no
        // unrecorded thread is left.
        while let Some(new) = self.unknown_threads().filter(|new| !new.is_empty()) {
            for thread in new {
                let has_room = self.threads.len() < most;
                match has_room.then(|| ThreadTrace::start(thread, self.capacity)) {
                    Some(Ok(trace)) => self.threads.push(trace),
                    Some(Err(_)) | None => drop(self.refused.insert(number(thread))),
                }
            }
        }
        began.extend(&self.refused);
        let is_followed = |began: &&u32| self.threads.iter().any(|it| number(it.thread) == **began);
        began.iter().filter(|began| !is_followed(began)).count() as u64
    }

    /// Returns the unrecorded threads; `None` if the process has ended.
    fn unknown_threads(&self) -> Option<Vec<Pid>> {
        let is_known = |thread: &Pid| {
            self.refused.contains(&number(*thread))
                || self.threads.iter().any(|known| known.thread == *thread)
        };
        let mut found = threads(self.pid).ok()?;
        found.retain(|thread| !is_known(thread));
        Some(found)
    }
}

/// Returns the thread id as a number.
fn number(thread: Pid) -> u32 {
    thread.as_raw_nonzero().get().cast_unsigned()
}

/// The recording of one thread.
#[derive(Debug)]
struct ThreadTrace {
    thread: Pid,
    ring: EventRing,
    tracker: Tracker,
    counted: SwitchCounters,
    /// The total processor time of the thread in all spans so far.
    known_running: Duration,
}

impl ThreadTrace {
    fn start(thread: Pid, capacity: usize) -> io::Result<Self> {
        let start = clock::monotonic();
        let room = capacity.saturating_mul(SWITCH_BYTES);
        let ring = EventRing::open(attributes(), thread, room)?;
        let (counted, known_running) = Default::default();
        Ok(Self { thread, ring, tracker: Tracker::new(start), counted, known_running })
    }

    fn take(&mut self, all: &mut Switches, began: &mut BTreeSet<u32>) -> io::Result<()> {
        // In this order, if the counters show processor time but there are no records, the thread
        // ran all the time: an earlier switch would have a record.
        let end = clock::monotonic();
        let counters = SwitchCounters::read(self.ring.event())?;
        let mut bytes = Vec::new();
        self.ring.drain(&mut bytes);

        let thread = number(self.thread);
        for record in records(&bytes) {
            self.tracker.record(record);
            match record.event {
                SwitchEvent::Switch(kind) => {
                    all.switches.push(Switch { time: record.time, thread, kind });
                }
                SwitchEvent::Began { thread } => drop(began.insert(thread)),
                SwitchEvent::Lost => {}
            }
        }
        let lost = counters.lost - self.counted.lost;
        let has_run = counters.running > self.counted.running;
        self.counted = counters;
        self.tracker.finish(end, has_run, lost);
        self.known_running += self.tracker.length();
        // The counter was read after the end of all spans, so it is at least their sum, unless the
        // kernel has dropped a record.
        let excess = self.known_running.saturating_sub(Duration::from_nanos(counters.running));
        if excess > COUNTER_NOISE {
            self.known_running -= self.tracker.shorten(excess, end);
        }
        all.running.append(&mut self.tracker.spans);
        self.tracker.is_first_guessed = false;
        all.lost += lost;
        Ok(())
    }
}

/// The counters of an event since it was opened, in the format that [`attributes`] requests.
#[derive(Clone, Copy, Debug, Default)]
struct SwitchCounters {
    /// The processor time of the thread in nanoseconds.
    running: u64,
    /// The number of records that were lost because the ring was full.
    lost: u64,
}

impl SwitchCounters {
    fn read(event: &OwnedFd) -> io::Result<Self> {
        let mut bytes = [0; 24];
        rustix::io::read(event, &mut bytes)?;
        let [_value, running, lost] = [0, 8, 16].map(|at| u64_at(&bytes, at).unwrap_or(0));
        Ok(Self { running, lost })
    }
}

/// The known state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessorState {
    /// Unknown since this time; the next record determines the state.
    Unknown { since: Duration },
    /// It has had a processor since this time.
    Running { since: Duration },
    /// It has no processor, or has one since an unknown time.
    Off,
    /// The thread has ended.
    Ended,
}

/// Computes spans from records.
#[derive(Debug)]
struct Tracker {
    state: ProcessorState,
    spans: Vec<Range<Duration>>,
    /// True if the first span started while the state was unknown.
    is_first_guessed: bool,
}

impl Tracker {
    /// Creates a tracker whose state is unknown before `since`.
    fn new(since: Duration) -> Self {
        let state = ProcessorState::Unknown { since };
        Self { state, spans: Vec::new(), is_first_guessed: false }
    }

    /// Returns the total length of all spans.
    fn length(&self) -> Duration {
        self.spans.iter().map(|span| span.end - span.start).sum()
    }

    /// Shortens spans that may be too long, by `excess` in total if possible; returns by how much.
    /// The thread may have lost its processor before `end` without a record, or got it only after
    /// its recording began.
    fn shorten(&mut self, excess: Duration, end: Duration) -> Duration {
        let mut left = excess;
        let is_open = self.state == ProcessorState::Running { since: end };
        if let Some(last) = self.spans.last_mut().filter(|last| is_open && last.end == end) {
            let cut = left.min(last.end - last.start);
            last.end -= cut;
            left -= cut;
            self.state = ProcessorState::Off;
        }
        if let (true, Some(first)) = (self.is_first_guessed, self.spans.first_mut()) {
            let cut = left.min(first.end - first.start);
            first.start += cut;
            left -= cut;
        }
        self.spans.retain(|span| !span.is_empty());
        excess - left
    }

    fn record(&mut self, record: SwitchRecord) {
        match record.event {
            SwitchEvent::Switch(SwitchKind::Resumed) => {
                self.state = ProcessorState::Running { since: record.time };
            }
            SwitchEvent::Switch(kind) => {
                self.close(record.time);
                self.state = if kind == SwitchKind::Ended {
                    ProcessorState::Ended
                } else {
                    ProcessorState::Off
                };
            }
            SwitchEvent::Lost => self.state = ProcessorState::Off,
            SwitchEvent::Began { .. } => {}
        }
    }

    fn has_ended(&self) -> bool {
        self.state == ProcessorState::Ended
    }

    /// Completes the part that ends at `end`. It may already contain later records.
    fn finish(&mut self, end: Duration, has_run: bool, lost: u64) {
        self.state = match self.state {
            ProcessorState::Ended => ProcessorState::Ended,
            // Lost records are always the latest ones.
            _ if lost > 0 => ProcessorState::Off,
            ProcessorState::Unknown { .. } if !has_run => ProcessorState::Off,
            ProcessorState::Running { since } if since >= end => self.state,
            ProcessorState::Unknown { .. } | ProcessorState::Running { .. } => {
                self.close(end);
                ProcessorState::Running { since: end }
            }
            ProcessorState::Off => ProcessorState::Off,
        };
    }

    fn close(&mut self, end: Duration) {
        match self.state {
            ProcessorState::Unknown { since } | ProcessorState::Running { since }
                if since < end =>
            {
                self.is_first_guessed |= matches!(self.state, ProcessorState::Unknown { .. });
                self.spans.push(since..end);
            }
            ProcessorState::Unknown { .. }
            | ProcessorState::Running { .. }
            | ProcessorState::Off
            | ProcessorState::Ended => {}
        }
    }
}

/// The relevant content of one kernel record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SwitchRecord {
    time: Duration,
    event: SwitchEvent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SwitchEvent {
    Switch(SwitchKind),
    /// The thread started another thread of its process.
    Began {
        /// The id of the new thread.
        thread: u32,
    },
    /// Records before this one were lost.
    Lost,
}

/// Returns the records in `bytes` of known types. Each begins with `struct perf_event_header` and,
/// as the attributes request, ends with its time.
fn records(mut bytes: &[u8]) -> impl Iterator<Item = SwitchRecord> {
    std::iter::from_fn(move || {
        let header = bytes.first_chunk::<8>()?;
        let [k0, k1, k2, k3, m0, m1, s0, s1] = *header;
        let size = usize::from(u16::from_ne_bytes([s0, s1]));
        // A record shorter than a header and a time is malformed.
        let record = bytes.get(..size).filter(|record| record.len() >= SWITCH_BYTES)?;
        bytes = &bytes[size..];
        let kind = u32::from_ne_bytes([k0, k1, k2, k3]);
        let event = match kind {
            PERF_RECORD_FORK => thread_begun(record),
            _ => event(kind, u16::from_ne_bytes([m0, m1])),
        };
        Some((u64_at(record, size - 8)?, event))
    })
    .filter_map(|(time, event)| {
        Some(SwitchRecord { time: Duration::from_nanos(time), event: event? })
    })
}

/// Parses a fork record, if it is for a thread and not for a process. It has the process ids of the
/// child and the parent, then the thread ids of both.
fn thread_begun(record: &[u8]) -> Option<SwitchEvent> {
    let [process, maker, thread] = [8, 12, 16].map(|at| u32_at(record, at));
    (process? == maker?).then_some(SwitchEvent::Began { thread: thread? })
}

fn event(kind: u32, misc: u16) -> Option<SwitchEvent> {
    match kind {
        PERF_RECORD_LOST => Some(SwitchEvent::Lost),
        PERF_RECORD_EXIT => Some(SwitchEvent::Switch(SwitchKind::Ended)),
        PERF_RECORD_SWITCH if misc & PERF_RECORD_MISC_SWITCH_OUT == 0 => {
            Some(SwitchEvent::Switch(SwitchKind::Resumed))
        }
        PERF_RECORD_SWITCH if misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0 => {
            Some(SwitchEvent::Switch(SwitchKind::Preempted))
        }
        PERF_RECORD_SWITCH => Some(SwitchEvent::Switch(SwitchKind::Waited)),
        _ => None,
    }
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

/// Requests an event that never occurs by itself, so that all records are switches. It excludes the
/// kernel, whose observation requires privileges; the switches of the process are recorded
/// nevertheless.
fn attributes() -> EventAttributes {
    EventAttributes {
        kind: PERF_TYPE_SOFTWARE,
        config: PERF_COUNT_SW_DUMMY,
        sample_type: PERF_SAMPLE_TIME,
        read_format: PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST,
        flags: EXCLUDE_KERNEL | EXCLUDE_HV | TASK | SAMPLE_ID_ALL | USE_CLOCKID | CONTEXT_SWITCH,
        clock: libc::CLOCK_MONOTONIC,
        ..EventAttributes::default()
    }
}

/// Returns the union of spans, ascending and without overlap.
fn united(mut spans: Vec<Range<Duration>>) -> Vec<Range<Duration>> {
    spans.sort_by_key(|span| span.start);
    let mut union: Vec<Range<Duration>> = Vec::with_capacity(spans.len());
    for span in spans {
        match union.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => union.push(span),
        }
    }
    union
}

// Constants of `linux/perf_event.h` that libc does not have.
const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_DUMMY: u64 = 9;
const PERF_SAMPLE_TIME: u64 = 1 << 2;
const PERF_FORMAT_TOTAL_TIME_RUNNING: u64 = 1 << 1;
const PERF_FORMAT_LOST: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const TASK: u64 = 1 << 13;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const USE_CLOCKID: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;
const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_EXIT: u32 = 4;
const PERF_RECORD_FORK: u32 = 7;
const PERF_RECORD_SWITCH: u32 = 14;
const PERF_RECORD_MISC_SWITCH_OUT: u16 = 1 << 13;
const PERF_RECORD_MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// The possible difference between the kernel's counter and the times of its records.
const COUNTER_NOISE: Duration = Duration::from_micros(100);

/// The size in bytes of the record of one switch: header and time.
const SWITCH_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use SwitchKind::{Ended, Preempted, Resumed, Waited};

    const OUT: u16 = PERF_RECORD_MISC_SWITCH_OUT;
    const PREEMPTED: u16 = OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

    /// Builds a record with `content` between header and time.
    fn bytes(kind: u32, misc: u16, content: &[u64], time: u64) -> Vec<u8> {
        let size = u16::try_from(16 + 8 * content.len()).unwrap();
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes().into_iter().chain(size.to_ne_bytes()));
        bytes.extend(content.iter().chain([&time]).flat_map(|number| number.to_ne_bytes()));
        bytes
    }

    fn nanoseconds(number: u64) -> Duration {
        Duration::from_nanos(number)
    }

    #[test]
    fn records_are_read() {
        let check = |bytes: &[u8], expected: &[(u64, SwitchEvent)]| {
            let read: Vec<SwitchRecord> = records(bytes).collect();
            let expected = expected.iter().map(|&(time, event)| (nanoseconds(time), event));
            let expected: Vec<_> =
                expected.map(|(time, event)| SwitchRecord { time, event }).collect();
            assert_eq!(read, expected, "{bytes:?}");
        };
        let switch = |misc, time| bytes(PERF_RECORD_SWITCH, misc, &[], time);
        check(&[], &[]);
        check(&switch(0, 7), &[(7, SwitchEvent::Switch(Resumed))]);
        check(&switch(OUT, 8), &[(8, SwitchEvent::Switch(Waited))]);
        check(&switch(PREEMPTED, 9), &[(9, SwitchEvent::Switch(Preempted))]);
        // Other bits have other meanings.
        check(&switch(0x1fff, 7), &[(7, SwitchEvent::Switch(Resumed))]);
        check(&bytes(PERF_RECORD_EXIT, 2, &[1, 2, 3], 4), &[(4, SwitchEvent::Switch(Ended))]);
        check(&bytes(PERF_RECORD_LOST, 0, &[1, 77], 5), &[(5, SwitchEvent::Lost)]);
        // Process 1 starts thread 3, and then a process.
        let pair = |low: u64, high: u64| {
            if cfg!(target_endian = "big") { low << 32 | high } else { high << 32 | low }
        };
        let fork = |process| bytes(PERF_RECORD_FORK, 0, &[pair(process, 1), pair(3, 1), 6], 6);
        check(&fork(1), &[(6, SwitchEvent::Began { thread: 3 })]);
        check(&[fork(2), switch(0, 5)].concat(), &[(5, SwitchEvent::Switch(Resumed))]);
        // A record of an unknown type is skipped.
        let unknown = bytes(99, 0, &[1, 2, 3], 4);
        check(&[unknown, switch(0, 5)].concat(), &[(5, SwitchEvent::Switch(Resumed))]);
        // Truncated and invalid records are ignored.
        check(&switch(0, 5)[..15], &[]);
        check(&[0; 64], &[]);
        check(&[switch(0, 5), vec![1; 7]].concat(), &[(5, SwitchEvent::Switch(Resumed))]);
    }

    /// Tracks a thread whose state is unknown at time 10, until time 100.
    fn follow(
        history: &[(u64, SwitchEvent)],
        has_run: bool,
        lost: u64,
    ) -> (ProcessorState, Vec<(u64, u64)>) {
        let since = nanoseconds(10);
        let mut tracker = Tracker::new(since);
        for &(time, event) in history {
            tracker.record(SwitchRecord { time: nanoseconds(time), event });
        }
        tracker.finish(nanoseconds(100), has_run, lost);
        (tracker.state, numbers(&tracker.spans))
    }

    fn numbers(spans: &[Range<Duration>]) -> Vec<(u64, u64)> {
        let number = |time: Duration| u64::try_from(time.as_nanos()).unwrap();
        spans.iter().map(|span| (number(span.start), number(span.end))).collect()
    }

    #[test]
    fn spans_are_made_of_records() {
        let check = |history: &[(u64, SwitchEvent)], state, spans: &[(u64, u64)]| {
            assert_eq!(follow(history, true, 0), (state, spans.to_vec()), "{history:?}");
        };
        let [on, off] = [Resumed, Waited].map(SwitchEvent::Switch);
        let running = |since| ProcessorState::Running { since: nanoseconds(since) };
        check(&[(20, on), (30, off)], ProcessorState::Off, &[(20, 30)]);
        check(&[(20, off)], ProcessorState::Off, &[(10, 20)]);
        check(&[(20, off), (30, on)], running(100), &[(10, 20), (30, 100)]);
        check(&[(20, on), (30, SwitchEvent::Switch(Ended))], ProcessorState::Ended, &[(20, 30)]);
        // Lost records hide when it got and lost the processor.
        check(&[(20, on), (40, SwitchEvent::Lost), (50, off)], ProcessorState::Off, &[]);
        check(&[(40, SwitchEvent::Lost), (50, on), (60, off)], ProcessorState::Off, &[(50, 60)]);
        // Records after the end of the part.
        check(&[(20, on), (110, off)], ProcessorState::Off, &[(20, 110)]);
        check(&[(110, on)], running(110), &[]);
    }

    #[test]
    fn counters_reveal_processor_time_without_records() {
        let on = [(20, SwitchEvent::Switch(Resumed))];
        let running = ProcessorState::Running { since: nanoseconds(100) };
        assert_eq!(follow(&[], true, 0), (running, vec![(10, 100)]));
        assert_eq!(follow(&[], false, 0), (ProcessorState::Off, vec![]));
        assert_eq!(follow(&on, true, 0), (running, vec![(20, 100)]));
        assert_eq!(follow(&on, true, 1), (ProcessorState::Off, vec![]));
    }

    #[test]
    fn spans_are_no_longer_than_the_counter() {
        let [on, off] = [Resumed, Waited].map(SwitchEvent::Switch);
        let check = |history: &[(u64, SwitchEvent)], excess, state, spans: &[(u64, u64)]| {
            let mut tracker = Tracker::new(nanoseconds(10));
            for &(time, event) in history {
                tracker.record(SwitchRecord { time: nanoseconds(time), event });
            }
            tracker.finish(nanoseconds(100), true, 0);
            let before = tracker.length();
            let cut = tracker.shorten(nanoseconds(excess), nanoseconds(100));
            assert_eq!(tracker.length() + cut, before);
            assert_eq!((tracker.state, numbers(&tracker.spans)), (state, spans.to_vec()));
        };
        // It has lost the processor without a record.
        check(&[(20, on)], 30, ProcessorState::Off, &[(20, 70)]);
        check(&[(20, on), (30, off), (40, on)], 100, ProcessorState::Off, &[(20, 30)]);
        // It got the processor only after its recording began.
        check(&[(50, off)], 30, ProcessorState::Off, &[(40, 50)]);
        check(&[(50, off), (60, on), (70, off)], 60, ProcessorState::Off, &[(60, 70)]);
        check(&[], 30, ProcessorState::Off, &[(10, 70)]);
        check(&[(50, off), (60, on)], 50, ProcessorState::Off, &[(20, 50)]);
        // Spans with records at both ends do not change.
        check(&[(20, on), (30, off)], 5, ProcessorState::Off, &[(20, 30)]);
    }

    #[test]
    fn spans_of_several_threads_are_united() {
        let check = |spans: &[(u64, u64)], expected: &[(u64, u64)]| {
            let spans = spans.iter().map(|&(start, end)| nanoseconds(start)..nanoseconds(end));
            assert_eq!(numbers(&united(spans.collect())), expected);
        };
        check(&[], &[]);
        check(&[(5, 7), (1, 2)], &[(1, 2), (5, 7)]);
        check(&[(1, 9), (2, 3), (8, 12), (12, 13), (20, 21)], &[(1, 13), (20, 21)]);
    }
}
