//! Measures the share of processor time that other processes take during a measurement, so that a
//! report can warn about a noisy machine.

use std::io;
use std::time::Duration;

use sys::scheduling::ProcessorSet;
use sys::{clock, load, process};

/// A running measurement of the processor time that other processes take.
///
/// Others are programs unrelated to the measurement, and other virtual machines on the same
/// hardware. All processor time that was neither idle nor used by our processes counts as theirs.
/// That includes kernel threads and interrupts that work for us, which use little time.
///
/// # Resolution
///
/// The time of our processes has a resolution of microseconds, but the kernel reports idle time in
/// ticks, usually of 10 ms. So with `n` processors the result may be wrong by one tick in `n`
/// processors over the length of the measurement: by 0.1 for a tenth of a second, by 0.01 for a
/// second.
#[derive(Debug)]
pub(crate) struct Disturbance {
    processors: ProcessorSet,
    pids: Vec<u32>,
    before: ProcessorReading,
}

impl Disturbance {
    /// Starts to measure the use of `processors`. Our processes are this process, the processes in
    /// `pids`, and children of this process that start and end during the measurement. `pids`
    /// should include existing children: if an existing child is missing and ends during the
    /// measurement, all processor time of its life counts as used now. If a process is not a child
    /// of this process, its time is unknown after its end and counts as used by others.
    pub(crate) fn begin(processors: ProcessorSet, pids: &[u32]) -> io::Result<Self> {
        let mut pids = pids.to_vec();
        pids.push(std::process::id());
        pids.sort_unstable();
        pids.dedup();
        let before = ProcessorReading::take(&processors, &pids)?;
        Ok(Self { processors, pids, before })
    }

    /// Returns the share of processor time that others took since the start, from 0 to 1.
    pub(crate) fn end(self) -> io::Result<f64> {
        let after = ProcessorReading::take(&self.processors, &self.pids)?;
        Ok(share(&self.before, &after))
    }
}

/// Processor times at one moment.
#[derive(Clone, Debug, Default)]
struct ProcessorReading {
    now: Duration,
    /// Idle time of all measured processors together.
    idle: Duration,
    stolen: Duration,
    processors: u32,
    /// Processor time of each of our processes, in the order of `pids`; `None` for a process that
    /// has ended.
    ours: Vec<Option<Duration>>,
    /// Processor time of all children that have ended.
    ended: Duration,
}

impl ProcessorReading {
    fn take(processors: &ProcessorSet, pids: &[u32]) -> io::Result<Self> {
        let loads = load::processors()?;
        let now = clock::monotonic();
        let loads = loads.into_iter().filter(|(number, _)| processors.contains(*number));
        let mut reading = Self { now, ..Self::default() };
        for (_, load) in loads {
            reading.idle += load.idle;
            reading.stolen += load.stolen;
            reading.processors += 1;
        }
        reading.ours = pids.iter().map(|&pid| process::processor_time(pid)).collect();
        reading.ended = process::processor_time_of_ended_children();
        Ok(reading)
    }

    /// Returns the total time of our processes that existed at `before`.
    fn ours(&self) -> Duration {
        self.ours.iter().flatten().sum::<Duration>() + self.ended
    }
}

fn share(before: &ProcessorReading, after: &ProcessorReading) -> f64 {
    let all = after.now.saturating_sub(before.now) * after.processors;
    if all.is_zero() {
        return 0.0;
    }
    let idle = after.idle.saturating_sub(before.idle);
    // The time of a process that ended in between is part of the time of ended children, including
    // the time before the measurement, which is in the earlier sum, too.
    let ours = after.ours().saturating_sub(before.ours());
    let others = all.saturating_sub(idle).saturating_sub(ours);
    // Some kernels count stolen time as used by our processes.
    let others = others.max(after.stolen.saturating_sub(before.stolen));
    (others.as_secs_f64() / all.as_secs_f64()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reading of two processors, with times in milliseconds.
    fn reading(
        now: u64,
        idle: u64,
        stolen: u64,
        ours: &[Option<u64>],
        ended: u64,
    ) -> ProcessorReading {
        let ours = ours.iter().map(|time| time.map(Duration::from_millis)).collect();
        let [now, idle, stolen, ended] = [now, idle, stolen, ended].map(Duration::from_millis);
        ProcessorReading { now, idle, stolen, processors: 2, ours, ended }
    }

    #[test]
    fn disturbance_is_time_neither_idle_nor_used_by_own_processes() {
        let before = reading(1000, 500, 50, &[Some(100), Some(20)], 30);
        let check = |after: ProcessorReading, expected: f64| {
            let found = share(&before, &after);
            assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}: {after:?}");
        };
        // No time passed, and time passed without activity.
        check(before.clone(), 0.0);
        check(reading(2000, 2500, 50, &[Some(100), Some(20)], 30), 0.0);
        // Our processes kept both processors busy; then others did.
        check(reading(2000, 500, 50, &[Some(1100), Some(1020)], 30), 0.0);
        check(reading(2000, 500, 50, &[Some(1100), Some(20)], 30), 0.5);
        check(reading(2000, 1500, 50, &[Some(100), Some(20)], 30), 0.5);
        // One of our processes ended, after 980 ms more processor time.
        check(reading(2000, 1500, 50, &[Some(120), None], 1030), 0.0);
        // Stolen time that is counted separately, or as ours.
        check(reading(2000, 1500, 550, &[Some(600), Some(20)], 30), 0.25);
        check(reading(2000, 1500, 550, &[Some(1100), Some(20)], 30), 0.25);
        // Ticks are coarse, and processes may have run on other processors.
        check(reading(2000, 2510, 50, &[Some(100), Some(20)], 30), 0.0);
        check(reading(2000, 500, 50, &[Some(9100), Some(20)], 30), 0.0);
        check(reading(2000, 500, 9050, &[Some(100), Some(20)], 30), 1.0);
    }

    #[test]
    fn disturbance_by_another_process_is_measured() {
        let processor = sys::scheduling::own_processors().unwrap().iter().last().unwrap();
        let processor = ProcessorSet::one(processor).unwrap();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "while :; do :; done"]);
        sys::spawn::ChildSetup::new().processors(processor).install(&mut command);
        let mut child = command.spawn().unwrap();

        let as_stranger = Disturbance::begin(processor, &[]).unwrap();
        let as_ours = Disturbance::begin(processor, &[child.id()]).unwrap();
        // The time of the measurement.
        std::thread::sleep(Duration::from_millis(400));
        let (as_stranger, as_ours) = (as_stranger.end().unwrap(), as_ours.end().unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        // Other processes on this machine leave a part of the processor to the busy one, and the
        // rest counts as disturbance anyway.
        assert!(as_stranger > 0.7, "{as_stranger}");
        assert!(as_ours < as_stranger, "{as_ours} {as_stranger}");
    }
}
