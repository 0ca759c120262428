//! The identity and rights of a process, as reported by the kernel (proc(5)).
//!
//! As in [`process`](crate::process), a process id may have been reused.

use std::fs;

/// The identity and rights of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The parent process: the one that started it, or adopted it.
    pub parent: u32,
    /// The four user ids.
    pub users: IdSet,
    /// The four group ids.
    pub groups: IdSet,
    /// The ids of its supplementary groups.
    pub supplementary: Vec<u32>,
    /// The capability sets of the process.
    pub capabilities: Capabilities,
    /// Its controlling terminal: `pts/0`.
    pub terminal: Option<String>,
    /// The id of the user who logged in.
    pub login_user: Option<u32>,
    /// The id of the audit session.
    pub audit_session: Option<u32>,
    /// Its label in the security module of the kernel.
    pub label: Option<String>,
}

/// The four user or group ids of a process (credentials(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdSet {
    /// The id of the user or group that started it.
    pub real: u32,
    /// The id that determines its rights.
    pub effective: u32,
    /// The id that it can switch to.
    pub saved: u32,
    /// The id that determines its rights to files.
    pub filesystem: u32,
}

/// Sets of capabilities (capabilities(7)), one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Capabilities that are in effect.
    pub effective: u64,
    /// Capabilities that the process can put into effect.
    pub permitted: u64,
    /// Capabilities that it can pass on through execve(2).
    pub inheritable: u64,
    /// Capabilities that it can ever acquire.
    pub bounding: u64,
}

impl ProcessIdentity {
    /// Reads the identity of a process; `None` if it has ended.
    #[must_use]
    pub fn of_process(pid: u32) -> Option<Self> {
        let status = IdentityStatus(read(pid, "status")?);
        Some(Self {
            parent: status.field("PPid")?.parse().ok()?,
            users: status.four("Uid")?,
            groups: status.four("Gid")?,
            supplementary: status.numbers("Groups").collect(),
            capabilities: status.capabilities()?,
            terminal: read(pid, "stat").and_then(|stat| terminal(&stat)),
            login_user: read(pid, "loginuid").and_then(|number| known(&number)),
            audit_session: read(pid, "sessionid").and_then(|number| known(&number)),
            label: read(pid, "attr/current").and_then(|label| known_label(&label)),
        })
    }
}

/// Returns the names of the capabilities of a set, in the order of their bits; capabilities unknown
/// to this program appear as numbers.
pub fn capability_names(set: u64) -> impl Iterator<Item = String> {
    let is_in = move |bit: &usize| set >> bit & 1 == 1;
    let name = |bit: usize| match CAPABILITIES.get(bit) {
        Some(name) => format!("cap_{name}"),
        None => bit.to_string(),
    };
    (0..64).filter(is_in).map(name)
}

fn read(pid: u32, file: &str) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Lines of a key and values.
struct IdentityStatus(String);

impl IdentityStatus {
    fn field(&self, key: &str) -> Option<&str> {
        let value = self.0.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        value.map(str::trim)
    }

    fn numbers(&self, key: &str) -> impl Iterator<Item = u32> {
        let words = self.field(key).unwrap_or_default().split_whitespace();
        words.filter_map(|number| number.parse().ok())
    }

    fn four(&self, key: &str) -> Option<IdSet> {
        let numbers: Vec<_> = self.numbers(key).collect();
        let [real, effective, saved, filesystem] = *numbers.as_slice() else { return None };
        Some(IdSet { real, effective, saved, filesystem })
    }

    fn capabilities(&self) -> Option<Capabilities> {
        let set = |key| u64::from_str_radix(self.field(key)?, 16).ok();
        Some(Capabilities {
            effective: set("CapEff")?,
            permitted: set("CapPrm")?,
            inheritable: set("CapInh")?,
            bounding: set("CapBnd")?,
        })
    }
}

/// Parses an id of the audit system, which has a special value for "unset".
fn known(number: &str) -> Option<u32> {
    number.trim().parse().ok().filter(|number| *number != u32::MAX)
}

fn known_label(label: &str) -> Option<String> {
    let label = label.trim_end_matches(['\0', '\n']);
    (!label.is_empty()).then(|| label.to_owned())
}

/// Returns the name of the device whose number is the fifth field after the name of the process,
/// which may contain any characters.
fn terminal(stat: &str) -> Option<String> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let device: u32 = behind_name.split_whitespace().nth(4)?.parse().ok().filter(|it| *it != 0)?;
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xf_ff00);
    if (PTS_FIRST..=PTS_LAST).contains(&major) {
        return Some(format!("pts/{}", minor + (major - PTS_FIRST) * MINORS));
    }
    let device = fs::canonicalize(format!("/dev/char/{major}:{minor}")).ok()?;
    Some(device.strip_prefix("/dev").ok()?.to_string_lossy().into_owned())
}

/// The first major number of pseudoterminals (devices.txt of the kernel).
const PTS_FIRST: u32 = 136;
const PTS_LAST: u32 = 143;

/// The number of minor numbers per major number.
const MINORS: u32 = 1 << 20;

/// Capability names, indexed by number.
const CAPABILITIES: [&str; 41] = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_status_contains_the_identity() {
        let status = IdentityStatus(
            "Name:\tcat\nPPid:\t7\nUid:\t1\t2\t3\t4\nGid:\t5\t6\nGroups:\t8 9 \n\
             CapInh:\t0000000000000000\nCapPrm:\t0000000000000003\nCapEff:\t1\n\
             CapBnd:\t000001ffffffffff\n"
                .into(),
        );
        let users = IdSet { real: 1, effective: 2, saved: 3, filesystem: 4 };
        assert_eq!(status.four("Uid"), Some(users));
        assert_eq!(status.four("Gid"), None);
        assert_eq!(status.numbers("Groups").collect::<Vec<_>>(), [8, 9]);
        let bounding = (1 << 41) - 1;
        let capabilities = Capabilities { effective: 1, permitted: 3, inheritable: 0, bounding };
        assert_eq!(status.capabilities(), Some(capabilities));
    }

    #[test]
    fn capability_sets_have_names() {
        let names: Vec<_> = capability_names(1 << 40 | 1 << 24 | 1 | 1 << 63).collect();
        assert_eq!(names, ["cap_chown", "cap_sys_resource", "cap_checkpoint_restore", "63"]);
        assert_eq!(capability_names(0).count(), 0);
    }

    #[test]
    fn unset_audit_ids_are_none() {
        assert_eq!(known("4294967295"), None);
        assert_eq!(known("1000\n"), Some(1000));
        assert_eq!(known_label("\0"), None);
        assert_eq!(known_label("unconfined\n"), Some("unconfined".into()));
    }

    #[test]
    fn terminals_have_names() {
        assert_eq!(terminal("7 (a) b) S 1 2 3 34817 -1"), Some("pts/1".into()));
        assert_eq!(terminal("7 (cat) S 1 2 3 0 -1"), None);
        assert_eq!(terminal("7 (cat) S"), None);
    }

    #[test]
    fn identity_of_this_process_is_read() {
        let own = ProcessIdentity::of_process(std::process::id()).expect("we run");
        assert_eq!(own.users.effective, rustix::process::geteuid().as_raw());
        assert_eq!(ProcessIdentity::of_process(u32::MAX), None);
    }
}
