//! The load of the processors of the machine (proc(5), `/proc/stat`).

use rustix::param::clock_ticks_per_second;
use std::collections::BTreeMap;
use std::time::Duration;
use std::{fs, io};

/// The time that one processor has spent in each state since boot.
///
/// The kernel reports it in ticks of usually 10 ms. It measures idle time, but estimates busy time:
/// the process that runs at the tick is charged for the whole tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorLoad {
    /// Time in which it ran processes, the kernel, or virtual machines.
    pub busy: Duration,
    /// Time in which it was idle, or waited only for a disk.
    pub idle: Duration,
    /// Time in which it had work, but the hypervisor ran another virtual machine (steal).
    pub stolen: Duration,
}

/// Returns the load of every online processor, by its number.
///
/// # Errors
///
/// Fails if `/proc/stat` cannot be read.
pub fn processors() -> io::Result<BTreeMap<usize, ProcessorLoad>> {
    let text = fs::read_to_string("/proc/stat")?;
    let tick = Duration::from_secs(1) / clock_ticks_per_second().try_into().unwrap_or(u32::MAX);
    Ok(text.lines().filter_map(|line| parse_line(line, tick)).collect())
}

/// Parses a line like `cpu0 373181 0 100630 710220 1358 0 104 1679 0 0`. The last fields, for
/// virtual machines, are included in earlier fields.
fn parse_line(line: &str, tick: Duration) -> Option<(usize, ProcessorLoad)> {
    let mut words = line.strip_prefix("cpu")?.split(' ');
    let number = words.next()?.parse().ok()?;
    let mut times = words.map_while(|word| word.parse().ok()).map(|ticks: u64| times(tick, ticks));
    let [user, nice, system, idle, disk, interrupts, soft_interrupts, stolen] =
        std::array::from_fn(|_| times.next().unwrap_or_default());
    let busy = user + nice + system + interrupts + soft_interrupts;
    Some((number, ProcessorLoad { busy, idle: idle + disk, stolen }))
}

fn times(tick: Duration, ticks: u64) -> Duration {
    let nanoseconds = u128::from(ticks) * tick.as_nanos();
    Duration::from_nanos(nanoseconds.try_into().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_load_lines_are_parsed() {
        let check = |line: &str, expected: Option<(usize, [u64; 3])>| {
            let read = parse_line(line, Duration::from_millis(10));
            let expected = expected.map(|(number, times)| {
                let [busy, idle, stolen] = times.map(|ticks| Duration::from_millis(ticks * 10));
                (number, ProcessorLoad { busy, idle, stolen })
            });
            assert_eq!(read, expected, "{line:?}");
        };
        check("cpu0 1 2 4 100 200 8 16 7 1000 1000", Some((0, [31, 300, 7])));
        check("cpu127 1 2 4 100", Some((127, [7, 100, 0])));
        check("cpu  1 2 4 100 200 8 16 7 0 0", None);
        check("ctxt 1990473", None);
        check("", None);
    }
}
