//! The program and the unit of a process, for logs and error texts (proc(5)).
//!
//! Each function returns `None` if the process has ended, if access is denied, or if there is no
//! value. The process itself controls the texts: treat them as hostile, escape them in output, and
//! base no decision on them. A process id may have been reused; to be certain, ask while the
//! process cannot have ended, or compare a pidfd.

use std::fs;
use std::path::PathBuf;

/// Returns the name of the program, as ps(1) shows it: at most 15 bytes.
#[must_use]
pub fn comm(pid: u32) -> Option<String> {
    let mut name = read(pid, "comm")?;
    name.pop_if(|byte| *byte == b'\n');
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// Returns the file that the process executes. Ends in ` (deleted)` if the file was removed since.
#[must_use]
pub fn executable(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Returns the systemd unit of the process, a service or a scope.
#[must_use]
pub fn unit(pid: u32) -> Option<String> {
    control_group(pid).as_deref().and_then(unit_of_control_group).map(str::to_owned)
}

/// Returns the innermost unit in the path of a control group. Units of a user's own manager are
/// below the unit of that manager.
#[must_use]
pub fn unit_of_control_group(path: &str) -> Option<&str> {
    let is_unit = |name: &&str| name.ends_with(".service") || name.ends_with(".scope");
    path.rsplit('/').find(is_unit)
}

/// Returns the control group of the process, as a path from the root of the unified hierarchy.
#[must_use]
pub fn control_group(pid: u32) -> Option<String> {
    let text = String::from_utf8_lossy(&read(pid, "cgroup")?).into_owned();
    path_of_cgroup(&text).map(str::to_owned)
}

fn read(pid: u32, file: &str) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/{file}")).ok()
}

/// Returns the path in the unified hierarchy, whose line begins with `0::` (cgroups(7)).
fn path_of_cgroup(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_unit_of_the_unified_hierarchy_counts() {
        let check = |text: &str, unit: Option<&str>| {
            assert_eq!(path_of_cgroup(text).and_then(unit_of_control_group), unit, "{text:?}");
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
}
