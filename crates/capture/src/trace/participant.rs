//! Converts participants, as the flight recorder writes them, to facts.

use ::trace::record::Party;
use ::trace::{Participant, TracedProgram};

use super::unique;
use crate::record::{Fact, RecordedProcess, RecordedTime};

/// The fact that a recorder would have written if it had queried the bus. `clock` is the clock of
/// the ring.
pub(super) fn fact(participant: &Participant<'_>, clock: i64) -> Option<Fact> {
    let Participant { who, pid, uid, started, program } = *participant;
    let TracedProgram { comm, executable, unit, control_group, command } =
        TracedProgram::parse(program);
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let process = RecordedProcess {
        pid: (pid != 0).then_some(pid),
        uid: (uid != u32::MAX).then_some(uid),
        comm: known(comm),
        exe: known(executable),
        command: known(command)
            .map(|words| words.split('\0').map(str::to_owned).collect())
            .unwrap_or_default(),
        unit: known(unit),
        cgroup: known(control_group),
        started: started.map(|at| RecordedTime(clock.saturating_add(at))),
    };
    match who {
        Party::Bus => Some(Fact::Bus { process }),
        Party::Peer(number) => Some(Fact::Peer { unique: unique(number), process: Some(process) }),
        Party::Nameless => None,
    }
}
