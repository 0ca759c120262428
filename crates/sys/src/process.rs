//! What the kernel tells about a process, for logs, statistics and measurements (proc(5)).
//!
//! Each function is `None` when the process is gone, when we may not look, or when there is
//! nothing to tell. The texts are chosen by the process itself: treat them as hostile, escape them
//! where they are shown, and decide nothing by them. A process number may meanwhile belong to
//! another process; who must be sure asks while the process cannot have ended, or compares a
//! pidfd.

use std::fs;
use std::path::PathBuf;

/// The name of the program, as ps(1) shows it: at most 15 bytes.
#[must_use]
pub fn comm(pid: u32) -> Option<String> {
    let mut name = read(pid, "comm")?;
    name.pop_if(|byte| *byte == b'\n');
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// The program and its arguments. `None` for a kernel thread or a zombie, which have none.
#[must_use]
pub fn command_line(pid: u32) -> Option<Vec<String>> {
    let line = read(pid, "cmdline")?;
    let line = line.strip_suffix(&[0]).unwrap_or(&line);
    if line.is_empty() {
        return None;
    }
    let arguments = line.split(|&byte| byte == 0);
    Some(arguments.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect())
}

/// The file that the process executes. Ends in ` (deleted)` when the file was removed since.
#[must_use]
pub fn executable(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The systemd unit that the process runs in, a service or a scope.
#[must_use]
pub fn unit(pid: u32) -> Option<String> {
    unit_of_cgroup(&String::from_utf8_lossy(&read(pid, "cgroup")?))
}

/// What a process has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Context switches because it waited for something.
    pub voluntary_switches: u64,
    /// Context switches because another was to run.
    pub involuntary_switches: u64,
    /// Memory that it occupies now, in bytes.
    pub resident_bytes: u64,
}

/// What the process has used so far; of its threads, the first one.
#[must_use]
pub fn usage(pid: u32) -> Option<Usage> {
    Some(usage_of_status(&String::from_utf8_lossy(&read(pid, "status")?)))
}

fn read(pid: u32, file: &str) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/{file}")).ok()
}

/// The innermost unit of the unified hierarchy, whose line begins with `0::` (cgroups(7)). Units
/// of a user's own manager lie below the unit of that manager.
fn unit_of_cgroup(text: &str) -> Option<String> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    let is_unit = |name: &&str| name.ends_with(".service") || name.ends_with(".scope");
    path.rsplit('/').find(is_unit).map(str::to_owned)
}

/// A kernel thread has no line for its memory, so what is missing counts as zero.
fn usage_of_status(text: &str) -> Usage {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0u64)
    };
    Usage {
        voluntary_switches: value("voluntary_ctxt_switches"),
        involuntary_switches: value("nonvoluntary_ctxt_switches"),
        resident_bytes: value("VmRSS") * 1024,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_unit_of_the_unified_hierarchy_counts() {
        let check = |text: &str, unit: Option<&str>| {
            assert_eq!(unit_of_cgroup(text).as_deref(), unit, "{text:?}");
        };
        check("0::/system.slice/dbus.service\n", Some("dbus.service"));
        check("0::/system.slice/getty.service/child\n", Some("getty.service"));
        check("0::/user.slice/user-7.slice/session-2.scope\n", Some("session-2.scope"));
        check(
            "0::/user.slice/user-7.slice/user@7.service/app.slice/app-x.scope\n",
            Some("app-x.scope"),
        );
        check("1:name=systemd:/a.service\n0::/init.scope\n", Some("init.scope"));
        check("1:name=systemd:/a.service\n0::/\n", None);
        check("0::/system.slice\n", None);
        check("", None);
    }

    #[test]
    fn usage_is_read_by_exact_key() {
        let check = |text: &str, voluntary_switches, involuntary_switches, resident_bytes| {
            let expected = Usage { voluntary_switches, involuntary_switches, resident_bytes };
            assert_eq!(usage_of_status(text), expected, "{text:?}");
        };
        let switches = "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n";
        check(switches, 5, 7, 0);
        check(&format!("VmRSS:\t      12 kB\n{switches}"), 5, 7, 12 * 1024);
        check("VmRSS2:\t1 kB\nvoluntary_ctxt_switches:\tmany\n", 0, 0, 0);
    }
}
