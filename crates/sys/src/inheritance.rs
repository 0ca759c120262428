//! Resets what a process inherited from its caller, for a set-user-ID program that continues as a
//! program of another user.
//!
//! Such a program inherits more than its environment and its descriptors: execve(2) keeps the file
//! mode mask, the working directory, resource limits, ignored and blocked signals, timers, the
//! session, and scheduling parameters. This module resets each of them to the state of a process
//! that the system starts; if that differs between systems, process 1 is the model.

use std::io;
use std::process;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, chdir, getrlimit, setrlimit};
use rustix::thread::gettid;

use crate::daemonize::{StandardStream, set_file_mode_mask, silence, start_session};
use crate::raw;
use crate::scheduling::{processors, reset_slice, set_own_processors};

/// Resets all of it, except standard output and standard error, which report to the caller.
///
/// Call this in a process with one thread.
///
/// # Errors
///
/// Fails if the system does not permit a step, or if `/proc` cannot be read. Some steps are done by
/// then.
pub fn shed() -> io::Result<()> {
    set_file_mode_mask(USUAL_MASK);
    chdir("/")?;
    silence(StandardStream::Input)?;
    // The leader of a process group keeps its session.
    let _ = start_session();
    reset_limits()?;
    raw::reset_signals()?;
    raw::stop_timers()?;
    reset_scheduling()?;
    // If the value may not be lowered, the system has set it.
    let _ = std::fs::write("/proc/self/oom_score_adj", "0");
    Ok(())
}

/// Sets all resource limits to the limits of process 1, as pam_limits(8) does.
fn reset_limits() -> io::Result<()> {
    let table = std::fs::read_to_string("/proc/1/limits")?;
    for (label, resource) in RESOURCES {
        let Some(mut limit) = table.lines().find_map(|line| parse(line.strip_prefix(label)?))
        else {
            continue;
        };
        if resource == Resource::Nofile {
            // A service manager raises its own limit far beyond what select(2) supports.
            limit.current = limit.current.map(|current| current.min(SELECT_MAX));
        }
        set_limit(resource, limit)?;
    }
    Ok(())
}

/// Sets a limit, or the closest value that this process may set: in a container, root may lack
/// `CAP_SYS_RESOURCE`.
fn set_limit(resource: Resource, limit: Rlimit) -> io::Result<()> {
    match setrlimit(resource, limit) {
        Err(Errno::PERM) => {
            let highest = getrlimit(resource).maximum;
            let lower = |value: Option<u64>| match (value, highest) {
                (Some(value), Some(highest)) => Some(value.min(highest)),
                (value, highest) => value.or(highest),
            };
            let limit = Rlimit { current: lower(limit.current), maximum: highest };
            Ok(setrlimit(resource, limit)?)
        }
        outcome => Ok(outcome?),
    }
}

/// Parses two numbers, or `unlimited`, as in proc(5).
fn parse(columns: &str) -> Option<Rlimit> {
    let mut columns = columns.split_whitespace();
    let mut next = || match columns.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some(Rlimit { current: next()?, maximum: next()? })
}

fn reset_scheduling() -> io::Result<()> {
    let own = gettid();
    let found = raw::scheduling_attributes(own)?;
    let usual = libc::sched_attr {
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
        ..found
    };
    let is_usual = |attributes: &libc::sched_attr| {
        (attributes.sched_policy, attributes.sched_flags, attributes.sched_nice) == (0, 0, 0)
    };
    // A container may lack the right to set even the current value.
    if !is_usual(&found) {
        raw::set_scheduling_attributes(own, &usual)?;
    }
    reset_slice(process::id())?;
    raw::reset_io_priority()?;
    raw::reset_timer_slack()?;
    set_own_processors(&processors(1)?)
}

/// Resources by their names in `/proc/PID/limits`.
const RESOURCES: [(&str, Resource); 16] = [
    ("Max cpu time", Resource::Cpu),
    ("Max file size", Resource::Fsize),
    ("Max data size", Resource::Data),
    ("Max stack size", Resource::Stack),
    ("Max core file size", Resource::Core),
    ("Max resident set", Resource::Rss),
    ("Max processes", Resource::Nproc),
    ("Max open files", Resource::Nofile),
    ("Max locked memory", Resource::Memlock),
    ("Max address space", Resource::As),
    ("Max file locks", Resource::Locks),
    ("Max pending signals", Resource::Sigpending),
    ("Max msgqueue size", Resource::Msgqueue),
    ("Max nice priority", Resource::Nice),
    ("Max realtime priority", Resource::Rtprio),
    ("Max realtime timeout", Resource::Rttime),
];

/// Other users may read the files that a service creates; only its user may write them.
const USUAL_MASK: u32 = 0o022;

/// The number of descriptors that select(2) supports (`FD_SETSIZE`).
const SELECT_MAX: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_the_kernel_writes_them() {
        let check = |columns: &str, expected: Option<(Option<u64>, Option<u64>)>| {
            let found = parse(columns).map(|limit| (limit.current, limit.maximum));
            assert_eq!(found, expected, "{columns}");
        };
        check("  1024      524288      files     ", Some((Some(1024), Some(524_288))));
        check("  unlimited      unlimited      seconds   ", Some((None, None)));
        check("  0    unlimited    bytes", Some((Some(0), None)));
        check("  x    0    bytes", None);
        check("  1", None);
    }
}
