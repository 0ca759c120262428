//! When the processes of buses have a processor, as far as the kernel lets us see.

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

/// Watches the processes that a recording tells of: those of connections, and those of buses.
#[derive(Debug)]
pub(crate) struct Scheduler {
    clock: RecordingClock,
    /// How each bus is recorded, by its number.
    methods: Vec<CaptureMethod>,
    watched: BTreeMap<u32, WatchedProcess>,
    /// How many were watched, those that have ended among them.
    started: u64,
    refused: BTreeSet<u32>,
    /// How many threads may be watched.
    threads_max: usize,
    /// When what the kernel has written is taken next.
    next: Duration,
    notices: Vec<SchedulerNotice>,
}

/// A process that is watched.
#[derive(Debug)]
struct WatchedProcess {
    trace: SwitchTrace,
    bus: BusId,
    /// Until when it was told.
    told: Duration,
    /// Threads that lost their processor although they had something to do, and when.
    held_up: HashMap<u32, Duration>,
}

/// How many processes were watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watching {
    /// Whose switches are in the recording.
    pub watched: u64,
    /// Whose are not.
    pub refused: u64,
}

/// Something about processes that is to be told at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchedulerNotice {
    /// The kernel does not let us see when this process has a processor; the first of them.
    Refused {
        /// The number of the process.
        pid: u32,
        /// Why.
        why: String,
    },
}

impl Scheduler {
    /// Nobody yet.
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

    /// Begins to watch the process that a record tells of. Says so if it cannot be.
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
            // It has ended before it could be watched, as short programs do.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            result => result.err()?.to_string(),
        };
        if self.refused.is_empty() {
            self.notices.push(SchedulerNotice::Refused { pid, why: why.clone() });
        }
        self.refused.insert(pid);
        Some(RecordingRecord::Fact { at: *at, bus: *bus, fact: Fact::Unwatched { pid, why } })
    }

    /// Our own process would not run so without the recording.
    fn is_known(&self, pid: u32) -> bool {
        pid == std::process::id()
            || self.watched.contains_key(&pid)
            || self.refused.contains(&pid)
            || self.refused.len() >= REFUSED_MAX
    }

    /// A bus of ours passes on all messages in its first thread; the others write files and provide memory.
    fn followed(&self, bus: BusId, fact: &Fact) -> Followed {
        let method = self.methods.get(usize::from(bus.0));
        match (fact, method) {
            (Fact::Bus { .. }, Some(CaptureMethod::Trace)) => Followed::First,
            _ => Followed::All,
        }
    }

    fn start(&mut self, pid: u32, followed: Followed, bus: BusId) -> io::Result<()> {
        if self.room() == 0 {
            return Err(io::Error::other("too many threads are watched already"));
        }
        let told = sys::clock::monotonic();
        let trace = SwitchTrace::start(pid, followed, SWITCHES_MAX)?;
        self.started += 1;
        self.watched.insert(pid, WatchedProcess { trace, bus, told, held_up: HashMap::new() });
        Ok(())
    }

    /// How many further threads may be watched.
    fn room(&self) -> usize {
        let watched: usize = self.watched.values().map(|watched| watched.trace.threads()).sum();
        self.threads_max.saturating_sub(watched)
    }

    /// Takes what the kernel has written, if it is time to.
    pub(crate) fn take(&mut self, now: Duration, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        if now >= self.next {
            self.next = now + EVERY;
            self.take_all(each);
        }
    }

    /// Takes all that the kernel has written.
    pub(crate) fn take_all(&mut self, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        let (clock, mut room) = (self.clock, self.room());
        self.watched.retain(|&pid, watched| {
            let before = watched.trace.threads();
            let Ok(switches) = watched.trace.take_and_follow(room) else { return false };
            room = (room + before).saturating_sub(watched.trace.threads());
            let ran = watched.tell(pid, &switches, clock);
            each(RecordingRecord::Fact { at: ran.until, bus: watched.bus, fact: Fact::Ran(ran) });
            !has_ended(pid, &switches)
        });
    }

    /// How long until it is to be taken.
    pub(crate) const fn rest(&self, now: Duration) -> Duration {
        self.next.saturating_sub(now)
    }

    /// What should be told at once.
    pub(crate) fn notices(&mut self) -> Vec<SchedulerNotice> {
        std::mem::take(&mut self.notices)
    }

    /// How many processes there are.
    pub(crate) fn watching(&self) -> Watching {
        Watching { watched: self.started, refused: self.refused.len() as u64 }
    }
}

impl WatchedProcess {
    /// What the process has done since it was told last.
    fn tell(&mut self, pid: u32, switches: &Switches, clock: RecordingClock) -> ProcessorUse {
        let ends = switches.running.last().map(|span| span.end);
        let from = self.told;
        let until = ends.unwrap_or(from).max(sys::clock::monotonic());
        self.told = until;
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

    /// How long a thread that gets a processor again was without one although it had something to
    /// do.
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
            "when process {pid} has a processor cannot be seen: {why}; who may see it is set in \
             /proc/sys/kernel/perf_event_paranoid. Messages are recorded all the same"
        )
    }
}

/// How often what the kernel has written is taken.
const EVERY: Duration = Duration::from_millis(50);

/// Switches of one thread for which there is room until then: 64 KiB.
const SWITCHES_MAX: usize = 4096;

/// Processes that cannot be watched of which it is told; a limit that no machine reaches.
const REFUSED_MAX: usize = 1 << 16;

/// How many threads are watched at once: each takes a descriptor, of which some are left for all else.
fn threads_max(files_max: Option<u64>) -> usize {
    let files_max = files_max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
    THREADS_MAX.min(files_max / 2)
}

/// Threads that are watched at once, at most: 64 MiB of memory, and one in 50 of a processor.
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
    fn who_cannot_be_watched_is_told_once() {
        let mut scheduler = Scheduler::new(RecordingClock::start());
        scheduler.threads_max = 1;
        // What it watches does not matter here, if the kernel lets us watch anything.
        let Ok(trace) = SwitchTrace::start(std::process::id(), Followed::All, 1) else { return };
        let (bus, told, held_up) = (BusId(0), Duration::ZERO, HashMap::new());
        // Linux numbers no process so.
        scheduler.watched.insert(u32::MAX, WatchedProcess { trace, bus, told, held_up });
        let told = learn(&mut scheduler, 1);
        let is_told = |fact: &Fact| matches!(fact, Fact::Unwatched { pid: 1, .. });
        assert!(matches!(told, Some(RecordingRecord::Fact { fact, .. }) if is_told(&fact)));
        assert!(learn(&mut scheduler, 1).is_none(), "that is known");
        assert!(learn(&mut scheduler, 2).is_some());
        assert_eq!(scheduler.notices().len(), 1);
        assert_eq!(scheduler.watching().refused, 2);
    }

    #[test]
    fn some_descriptors_are_left_for_all_else() {
        for (files_max, expected) in [(None, 1024), (Some(u64::MAX), 1024), (Some(1024), 512)] {
            assert_eq!(threads_max(files_max), expected);
        }
    }

    #[test]
    fn who_is_gone_and_who_records_is_not_told() {
        let mut scheduler = Scheduler::new(RecordingClock::start());
        assert!(learn(&mut scheduler, std::process::id()).is_none());
        assert!(learn(&mut scheduler, i32::MAX as u32).is_none(), "there is none");
        assert_eq!(scheduler.watching(), Watching::default());
    }

    #[test]
    fn threads_that_could_go_on_are_held_up_until_they_do() {
        let Ok(trace) = SwitchTrace::start(std::process::id(), Followed::All, 1) else { return };
        let (bus, told, held_up) = (BusId(0), Duration::ZERO, HashMap::new());
        let mut watched = WatchedProcess { trace, bus, told, held_up };
        let mut tell = |history: &[(u64, u32, SwitchKind)]| {
            let switches = history.iter().map(|&(micros, thread, kind)| {
                let time = Duration::from_micros(micros);
                Switch { time, thread, kind }
            });
            let switches = Switches { switches: switches.collect(), ..Switches::default() };
            let ran = watched.tell(7, &switches, RecordingClock::start());
            (ran.resumed, ran.preempted, ran.held_up_ns)
        };
        use SwitchKind::{Ended, Preempted, Resumed, Waited};
        let first = [(10, 7, Preempted), (15, 8, Waited), (30, 7, Resumed), (40, 7, Preempted)];
        assert_eq!(tell(&first), (1, 2, 20_000));
        assert_eq!(tell(&[(70, 7, Resumed), (75, 8, Resumed), (80, 8, Ended)]), (2, 0, 30_000));
    }
}
