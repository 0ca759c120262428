//! Counts the system calls by which a process reads from sockets and writes to them.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sys::signals::ProcessSignal::Terminate;
use sys::spawn::ChildSetup;

use super::WorkloadOutcome;
use super::observed::CountedWorkload;
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// Counts all system calls of a process, and the calls that read from or write to sockets, with
/// strace(1), which slows the process down. Dropping it ends strace.
#[derive(Debug)]
pub(super) struct SystemCalls {
    strace: Child,
    stderr: BufReader<ChildStderr>,
    table: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SystemCallCounts {
    pub(super) sends: u64,
    pub(super) receives: u64,
    pub(super) all: u64,
}

impl SystemCalls {
    /// Counts the system calls of a process per unit of work. Runs the workload twice, with
    /// different numbers of units.
    pub(super) fn of_a_unit<W: CountedWorkload>(
        workload: &W,
        stage: &MeasurementStage<'_>,
        pid: u32,
    ) -> Result<WorkloadOutcome, MeasureError> {
        let mut counts = [0; 2];
        let works = INSPECTED_UNITS.map(|units| workload.of_units(units));
        for (work, count) in works.iter().zip(&mut counts) {
            let calls = match Self::begin(stage, pid)? {
                Ok(calls) => calls,
                Err(note) => {
                    return Ok(WorkloadOutcome { notes: vec![note], ..WorkloadOutcome::default() });
                }
            };
            work.measure(stage)?;
            *count = calls.end(stage)?.all;
        }
        // Both counts include the work of connecting.
        let [fewer, more] = works.map(|work| work.units());
        let each = counts[1].saturating_sub(counts[0]) as f64 / (more - fewer) as f64;
        Ok(Figures::from([(Metric::BusSystemCalls, each)]).into())
    }

    /// Starts to count. `Err` is a sentence with the reason of a failure.
    pub(super) fn begin(
        stage: &MeasurementStage<'_>,
        pid: u32,
    ) -> Result<Result<Self, String>, MeasureError> {
        let table = stage.site.new_file("calls");
        let mut command = Command::new("strace");
        command.args(["-f", "-c", "-o"]);
        command.arg(&table).args(["-p", &pid.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // Unblocks the signal that ends strace, because this process may block it.
        ChildSetup::new().end_with_parent(Terminate).install(&mut command);
        let mut strace = match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let remedy = "strace is not installed; get it with: apt install strace";
                return Ok(Err(remedy.to_owned()));
            }
            started => started?,
        };
        let stderr = BufReader::new(strace.stderr.take().expect("the pipe was requested"));
        let mut calls = Self { strace, stderr, table };
        stage.stop.wait_for(calls.stderr.get_ref())?;
        let mut line = String::new();
        calls.stderr.read_line(&mut line)?;
        let is_attached = line.contains("attached");
        if !is_attached {
            return Ok(Err(line.trim().to_owned()));
        }
        // strace reports the attachment shortly before it counts, without a way to observe that.
        thread::sleep(SETTLING_TIME);
        Ok(Ok(calls))
    }

    /// Stops counting, and returns the counts.
    pub(super) fn end(
        mut self,
        stage: &MeasurementStage<'_>,
    ) -> Result<SystemCallCounts, MeasureError> {
        kill_process(Pid::from_child(&self.strace), Signal::INT).map_err(io::Error::from)?;
        let mut line = String::new();
        loop {
            stage.stop.wait_for(self.stderr.get_ref())?;
            if self.stderr.read_line(&mut line)? == 0 {
                break;
            }
        }
        self.strace.wait()?;
        Ok(counts(&fs::read_to_string(&self.table)?))
    }
}

impl Drop for SystemCalls {
    fn drop(&mut self) {
        // Fails if strace has ended already.
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}

/// Parses the table of `strace -c`: the fourth column is the count, the last the name.
fn counts(table: &str) -> SystemCallCounts {
    let mut counts = SystemCallCounts::default();
    for line in table.lines() {
        let mut words = line.split_whitespace();
        let count = words.nth(3).and_then(|word| word.parse::<u64>().ok());
        let (Some(count), Some(name)) = (count, words.last()) else { continue };
        let is_in = |names: &str| names.split(',').any(|known| known == name);
        counts.sends += if is_in(SENDS) { count } else { 0 };
        counts.receives += if is_in(RECEIVES) { count } else { 0 };
        counts.all += if name == TOTAL { 0 } else { count };
    }
    counts
}

/// The two numbers of units; the result is the difference of their system calls.
const INSPECTED_UNITS: [u64; 2] = [200, 600];

/// The maximum time that strace takes until it counts.
const SETTLING_TIME: Duration = Duration::from_millis(100);

/// The name in the last line of the table.
const TOTAL: &str = "total";

/// The system calls by which buses write to sockets.
const SENDS: &str = "sendmsg,sendmmsg,sendto";

/// The system calls by which buses read from sockets.
const RECEIVES: &str = "recvmsg,recvmmsg,recvfrom";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strace_tables_are_parsed() {
        let table = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 80.00    0.000400           4       100           sendmsg
 20.00    0.000100           2        50         7 recvmsg
  0.00    0.000000           0         1           recvfrom
------ ----------- ----------- --------- --------- ----------------
100.00    0.000500           3       151         7 total
";
        assert_eq!(counts(table), SystemCallCounts { sends: 100, receives: 51, all: 151 });
        assert_eq!(counts(""), SystemCallCounts::default());
    }
}
