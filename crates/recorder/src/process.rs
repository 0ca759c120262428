//! What the system tells about a process that has a connection.

use capture::record::{Process, Time};
use sys::process;

use crate::clock::Clock;

/// All that can be learnt about a process. Of one that has ended it is only what the bus knew.
pub(crate) fn look(pid: Option<u32>, uid: Option<u32>, clock: Clock) -> Process {
    let Some(number) = pid else { return Process { uid, ..Process::default() } };
    Process {
        pid,
        uid,
        comm: process::comm(number),
        exe: process::executable(number).map(|path| path.to_string_lossy().into_owned()),
        command: process::command_line(number).unwrap_or_default(),
        unit: process::unit(number),
        cgroup: process::control_group(number),
        started: started(number, clock),
    }
}

/// When it was started. The kernel counts from the start of the machine, in steps of 10 ms.
fn started(pid: u32, clock: Clock) -> Option<Time> {
    let since_boot = process::started(pid)?;
    let age = sys::clock::boottime().saturating_sub(since_boot);
    let age = i64::try_from(age.as_nanos()).ok()?;
    Some(Time(clock.now().0 - age))
}
