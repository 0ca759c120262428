//! Records when the processes of buses and connections run on a processor, as reported by the
//! kernel.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::time::Duration;

use capture::record::{
    BusId, CaptureMethod, Fact, ProcessorUse, RecordedProcess, RecordingRecord, nanos,
};
use sys::rlimit::OpenFiles;
use sys::switches::{Followed, Switch, SwitchKind, SwitchTrace, Switches};

use crate::clock::RecordingClock;

/// Follows the processes of the connections and buses in a recording.
#[derive(Debug)]
pub(crate) struct Scheduler {
    clock: RecordingClock,
    /// The capture method of each bus, by id.
    methods: Vec<CaptureMethod>,
    watched: BTreeMap<u32, WatchedProcess>,
    /// The number of processes followed so far, including exited ones.
    started: u64,
    refused: BTreeSet<u32>,
    /// The maximum number of threads that are followed.
    threads_max: usize,
    /// The time when the data of the kernel is read next.
    next: Duration,
    notices: Vec<SchedulerNotice>,
}

/// A process that is followed.
#[derive(Debug)]
struct WatchedProcess {
    trace: SwitchTrace,
    bus: BusId,
    /// The end of the last reported period.
    reported_until: Duration,
    /// Preempted threads that have not run since, with the times of preemption.
    held_up: HashMap<u32, Duration>,
}

/// The numbers of processes that were followed or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FollowedProcesses {
    /// The number of processes whose context switches are recorded.
    pub watched: u64,
    /// The number of processes whose context switches cannot be recorded.
    pub refused: u64,
}

/// An event about processes that the user should see immediately.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchedulerNotice {
    /// The kernel does not allow following this process. Reported for the first such process.
    Refused {
        /// The process ID of the process.
        pid: u32,
        /// The reason, as the system reported it.
        why: String,
    },
}

impl Scheduler {
    /// Creates a scheduler that follows no process.
    pub(crate) fn new(clock: RecordingClock) -> Self {
        Self {
            clock,
            methods: Vec::new(),
            watched: BTreeMap::new(),
            started: 0,
            refused: BTreeSet::new(),
            threads_max: threads_max(OpenFiles::current().soft()),
            next: Duration::ZERO,
            notices: Vec::new(),
        }
    }

    /// Starts to follow the process that a record mentions. Returns a fact if that fails.
    pub(crate) fn learn(
        &mut self,
        record: &RecordingRecord<'_>,
    ) -> Option<RecordingRecord<'static>> {
        let (at, bus, fact) = match record {
            RecordingRecord::Bus(bus) => {
                self.methods.push(bus.method);
                return None;
            }
            RecordingRecord::Fact { at, bus, fact } => (at, bus, fact),
            _ => return None,
        };
        let (Fact::Bus { process } | Fact::Peer { process: Some(process), .. }) = fact else {
            return None;
        };
        let RecordedProcess { pid: Some(pid), .. } = *process else { return None };
        if self.is_known(pid) {
            return None;
        }
        let why = match self.start(pid, self.followed(*bus, fact), *bus) {
            // The process exited before it could be followed, like short-lived programs.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            result => result.err()?.to_string(),
        };
        if self.refused.is_empty() {
            self.notices.push(SchedulerNotice::Refused { pid, why: why.clone() });
        }
        self.refused.insert(pid);
        Some(RecordingRecord::Fact { at: *at, bus: *bus, fact: Fact::Unwatched { pid, why } })
    }

    /// Returns true if a process needs no further attention. The recorder itself is never followed,
    /// as it runs only because of the recording.
    fn is_known(&self, pid: u32) -> bool {
        pid == std::process::id()
            || self.watched.contains_key(&pid)
            || self.refused.contains(&pid)
            || self.refused.len() >= REFUSED_MAX
    }

    /// The Diligence bus passes on all messages in its first thread; its other threads write files
    /// and provide memory.
    fn followed(&self, bus: BusId, fact: &Fact) -> Followed {
        let method = self.methods.get(usize::from(bus.0));
        match (fact, method) {
            (Fact::Bus { .. }, Some(CaptureMethod::Trace)) => Followed::First,
            _ => Followed::All,
        }
    }

    fn start(&mut self, pid: u32, followed: Followed, bus: BusId) -> io::Result<()> {
        if self.remaining_threads() == 0 {
            return Err(io::Error::other("too many threads are already followed"));
        }
        let reported_until = sys::clock::monotonic();
        let trace = SwitchTrace::start(pid, followed, SWITCHES_MAX)?;
        self.started += 1;
        self.watched
            .insert(pid, WatchedProcess { trace, bus, reported_until, held_up: HashMap::new() });
        Ok(())
    }

    /// The number of further threads that may be followed.
    fn remaining_threads(&self) -> usize {
        let watched: usize = self.watched.values().map(|watched| watched.trace.threads()).sum();
        self.threads_max.saturating_sub(watched)
    }

    /// Reads the data of the kernel if it is due.
    pub(crate) fn take(&mut self, now: Duration, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        if now >= self.next {
            self.next = now + EVERY;
            self.take_all(each);
        }
    }

    /// Reads all data of the kernel.
    pub(crate) fn take_all(&mut self, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        let (clock, mut remaining) = (self.clock, self.remaining_threads());
        self.watched.retain(|&pid, watched| {
            let before = watched.trace.threads();
            let Ok(switches) = watched.trace.take_and_follow(remaining) else { return false };
            remaining = (remaining + before).saturating_sub(watched.trace.threads());
            let ran = watched.report(pid, &switches, clock);
            each(RecordingRecord::Fact { at: ran.until, bus: watched.bus, fact: Fact::Ran(ran) });
            !has_ended(pid, &switches)
        });
    }

    /// The time until the data of the kernel is due to be read.
    pub(crate) const fn rest(&self, now: Duration) -> Duration {
        self.next.saturating_sub(now)
    }

    /// Returns the events that the user should see immediately.
    pub(crate) fn notices(&mut self) -> Vec<SchedulerNotice> {
        std::mem::take(&mut self.notices)
    }

    /// The numbers of processes.
    pub(crate) fn watching(&self) -> FollowedProcesses {
        FollowedProcesses { watched: self.started, refused: self.refused.len() as u64 }
    }
}

impl WatchedProcess {
    /// The processor use of the process since the last report.
    fn report(&mut self, pid: u32, switches: &Switches, clock: RecordingClock) -> ProcessorUse {
        let ends = switches.running.last().map(|span| span.end);
        let from = self.reported_until;
        let until = ends.unwrap_or(from).max(sys::clock::monotonic());
        self.reported_until = until;
        let spans = switches.running.iter().filter(|span| span.end > from).map(|span| {
            let start = span.start.max(from);
            (nanos(start - from), nanos(span.end - start))
        });
        let count = |kind| switches.switches.iter().filter(|switch| switch.kind == kind).count();
        ProcessorUse {
            pid,
            from: clock.at(from),
            until: clock.at(until),
            spans: spans.collect(),
            resumed: count(SwitchKind::Resumed) as u64,
            preempted: count(SwitchKind::Preempted) as u64,
            held_up_ns: switches.switches.iter().map(|switch| nanos(self.held_up(switch))).sum(),
            lost: switches.lost,
            unfollowed: switches.unfollowed,
        }
    }

    /// The time since a preempted thread was runnable until it ran again.
    fn held_up(&mut self, switch: &Switch) -> Duration {
        match switch.kind {
            SwitchKind::Preempted => {
                self.held_up.insert(switch.thread, switch.time);
                Duration::ZERO
            }
            SwitchKind::Resumed | SwitchKind::Waited | SwitchKind::Ended => {
                let since = self.held_up.remove(&switch.thread);
                since.map_or(Duration::ZERO, |since| switch.time.saturating_sub(since))
            }
        }
    }
}

fn has_ended(pid: u32, switches: &Switches) -> bool {
    let is_end = |switch: &Switch| switch.kind == SwitchKind::Ended && switch.thread == pid;
    switches.switches.iter().any(is_end)
}

impl fmt::Display for SchedulerNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Refused { pid, why } = self;
        write!(
            f,
            "cannot record the processor use of process {pid}: {why}; permissions depend on \
             /proc/sys/kernel/perf_event_paranoid. Messages are recorded nevertheless"
        )
    }
}

/// The interval at which the data of the kernel is read.
const EVERY: Duration = Duration::from_millis(50);

/// The maximum number of context switches of a thread in an interval, which takes 64 KiB.
const SWITCHES_MAX: usize = 4096;

/// The maximum number of processes for which a failure is reported. No machine reaches it.
const REFUSED_MAX: usize = 1 << 16;

/// The maximum number of threads that are followed. Each takes a file descriptor, and half of the
/// descriptors are left for other purposes.
fn threads_max(files_max: Option<u64>) -> usize {
    let files_max = files_max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
    THREADS_MAX.min(files_max / 2)
}

/// The upper limit of threads that are followed. It takes 64 MiB of memory, and 2 % of a processor.
const THREADS_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use capture::record::RecordedTime;

    use super::*;

    fn learn(scheduler: &mut Scheduler, pid: u32) -> Option<RecordingRecord<'static>> {
        let process = Some(RecordedProcess { pid: Some(pid), ..RecordedProcess::default() });
        let fact = Fact::Peer { unique: ":1.7".into(), process };
        scheduler.learn(&RecordingRecord::Fact { at: RecordedTime(1), bus: BusId(0), fact })
    }

    #[test]
    fn processes_that_cannot_be_followed_are_reported_once() {
        let mut scheduler = Scheduler::new(RecordingClock::start());
        scheduler.threads_max = 1;
        // Any followed process serves here, if the kernel allows following processes.
        let Ok(trace) = SwitchTrace::start(std::process::id(), Followed::All, 1) else { return };
        let (bus, reported_until, held_up) = (BusId(0), Duration::ZERO, HashMap::new());
        // Linux never assigns this process ID.
        scheduler.watched.insert(u32::MAX, WatchedProcess { trace, bus, reported_until, held_up });
        let found = learn(&mut scheduler, 1);
        let is_unwatched = |fact: &Fact| matches!(fact, Fact::Unwatched { pid: 1, .. });
        assert!(matches!(found, Some(RecordingRecord::Fact { fact, .. }) if is_unwatched(&fact)));
        assert!(learn(&mut scheduler, 1).is_none(), "that is known");
        assert!(learn(&mut scheduler, 2).is_some());
        assert_eq!(scheduler.notices().len(), 1);
        assert_eq!(scheduler.watching().refused, 2);
    }

    #[test]
    fn followed_threads_use_at_most_half_of_the_descriptors() {
        for (files_max, expected) in [(None, 1024), (Some(u64::MAX), 1024), (Some(1024), 512)] {
            assert_eq!(threads_max(files_max), expected);
        }
    }

    #[test]
    fn exited_processes_and_the_recorder_are_not_followed() {
        let mut scheduler = Scheduler::new(RecordingClock::start());
        assert!(learn(&mut scheduler, std::process::id()).is_none());
        assert!(learn(&mut scheduler, i32::MAX as u32).is_none(), "no such process");
        assert_eq!(scheduler.watching(), FollowedProcesses::default());
    }

    #[test]
    fn preempted_threads_are_held_up_until_they_run_again() {
        let Ok(trace) = SwitchTrace::start(std::process::id(), Followed::All, 1) else { return };
        let (bus, reported_until, held_up) = (BusId(0), Duration::ZERO, HashMap::new());
        let mut watched = WatchedProcess { trace, bus, reported_until, held_up };
        let mut report = |history: &[(u64, u32, SwitchKind)]| {
            let switches = history.iter().map(|&(micros, thread, kind)| {
                let time = Duration::from_micros(micros);
                Switch { time, thread, kind }
            });
            let switches = Switches { switches: switches.collect(), ..Switches::default() };
            let ran = watched.report(7, &switches, RecordingClock::start());
            (ran.resumed, ran.preempted, ran.held_up_ns)
        };
        use SwitchKind::{Ended, Preempted, Resumed, Waited};
        let first = [(10, 7, Preempted), (15, 8, Waited), (30, 7, Resumed), (40, 7, Preempted)];
        assert_eq!(report(&first), (1, 2, 20_000));
        assert_eq!(report(&[(70, 7, Resumed), (75, 8, Resumed), (80, 8, Ended)]), (2, 0, 30_000));
    }
}
