//! What the processors of the machine did, whoever they did it for (proc(5), `/proc/stat`).

use rustix::param::clock_ticks_per_second;
use std::collections::BTreeMap;
use std::time::Duration;
use std::{fs, io};

/// How one processor has spent its time since the machine was started.
///
/// The kernel tells it in ticks of usually 10 ms. It measures how long a processor was idle, but
/// estimates how long it was busy: whoever runs when the clock ticks is charged the whole tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorLoad {
    /// It worked: for processes, for the kernel, or for virtual machines.
    pub busy: Duration,
    /// It had nothing to do, or nothing but to wait for a disk.
    pub idle: Duration,
    /// It had something to do, but the hypervisor let another machine run on it (steal).
    pub stolen: Duration,
}

/// The load of every processor that is switched on, by its number.
///
/// # Errors
///
/// Those of reading `/proc/stat`.
pub fn processors() -> io::Result<BTreeMap<usize, ProcessorLoad>> {
    let text = fs::read_to_string("/proc/stat")?;
    let tick = Duration::from_secs(1) / clock_ticks_per_second().try_into().unwrap_or(u32::MAX);
    Ok(text.lines().filter_map(|line| parse_line(line, tick)).collect())
}

/// Reads a line like `cpu0 373181 0 100630 710220 1358 0 104 1679 0 0`. The times that stand
/// behind those for virtual machines are contained in those before them.
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
    fn lines_of_processors_are_read() {
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
