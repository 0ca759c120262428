//! Descriptions of connections for log lines: name, process, user, program and service.

use std::fmt::{self, Display, Write as _};

use bus::{Bus, ContainerDescription, PeerId, PeerSnapshot, Process};

use crate::log::LogRecord;

/// The facts about a connection in a log line. If the name of its process is not known yet, it is
/// read from the kernel.
pub(super) struct PeerDescription {
    pub(super) snapshot: PeerSnapshot,
    /// Where the process name came from.
    pub(super) source: DescriptionSource,
}

/// The source of a process name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DescriptionSource {
    /// The bus already knew it.
    Bus,
    /// It was read from the kernel for this line.
    Kernel,
}

impl PeerDescription {
    pub(super) fn look_up(bus: &Bus, peer: PeerId) -> Option<Self> {
        let mut snapshot = bus.snapshot(peer)?;
        let source = match (bus.process(peer), snapshot.pid) {
            (None, Some(pid)) => {
                snapshot.process = process(pid);
                DescriptionSource::Kernel
            }
            _ => DescriptionSource::Bus,
        };
        Some(Self { snapshot, source })
    }

    /// The unique name, or a placeholder before Hello.
    pub(super) fn name(&self) -> &str {
        self.snapshot.unique_name.as_deref().unwrap_or("(no name yet)")
    }

    /// Adds the known facts to the fields of a record.
    pub(super) fn add_to(&self, record: &mut LogRecord) {
        let PeerSnapshot { unique_name, names, pid, uid, process, container, .. } = &self.snapshot;
        let mut add = |name, value: Option<&dyn Display>| {
            if let Some(value) = value {
                record.field(name, value);
            }
        };
        add("DBUS_UNIQUE_NAME", unique_name.as_ref().map(|it| it as _));
        names.iter().for_each(|name| add("DBUS_NAME", Some(name)));
        add("DBUS_PID", pid.as_ref().map(|it| it as _));
        // The journal adds its own facts about this process, if the bus is privileged.
        add("OBJECT_PID", pid.as_ref().map(|it| it as _));
        add("DBUS_UID", uid.as_ref().map(|it| it as _));
        add("DBUS_COMM", process.comm.as_ref().map(|it| it as _));
        add("DBUS_UNIT", process.unit.as_ref().map(|it| it as _));
        add("DBUS_CGROUP", process.cgroup.as_ref().map(|it| it as _));
        if let Some(ContainerDescription { id, kind, name }) = container.as_deref() {
            add("DBUS_CONTAINER", Some(&id.path()));
            add("DBUS_CONTAINER_TYPE", Some(kind));
            add("DBUS_CONTAINER_NAME", Some(name));
        }
    }
}

impl Display for PeerDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), ProcessClause(self))?;
        self.snapshot.names.iter().try_for_each(|name| write!(f, " {name}"))
    }
}

/// The process of a connection in a log line: user, program and service.
pub(super) struct ProcessClause<'w>(pub(super) &'w PeerDescription);

impl Display for ProcessClause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PeerSnapshot { pid, uid, process, container, .. } = &self.0.snapshot;
        write_number(f, "uid", *uid)?;
        write_number(f, " pid", *pid)?;
        match (&process.comm, pid) {
            (Some(comm), _) => write!(f, " comm={}", Quoted(comm))?,
            (None, Some(_)) => write!(f, " comm=unknown")?,
            (None, None) => {}
        }
        if let Some(unit) = &process.unit {
            write!(f, " unit={}", Quoted(unit))?;
        } else if let Some(cgroup) = &process.cgroup {
            write!(f, " cgroup={}", Quoted(cgroup))?;
        }
        match container {
            Some(container) => write!(f, " {container}"),
            None => Ok(()),
        }
    }
}

/// A text that a process has chosen, in quotation marks. Quotation marks and backslashes in the
/// text are escaped, so that the text cannot imitate further fields.
struct Quoted<'t>(&'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            if matches!(character, '"' | '\\') {
                f.write_char('\\')?;
            }
            f.write_char(character)?;
        }
        f.write_char('"')
    }
}

/// Reads the names of a process, as far as it still exists.
pub(crate) fn process(pid: u32) -> Process {
    let unit = sys::process::unit(pid);
    let cgroup = match &unit {
        Some(_) => None,
        None => sys::process::control_group(pid).filter(|path| path != "/"),
    };
    Process {
        comm: sys::process::comm(pid).map(Into::into),
        unit: unit.map(Into::into),
        cgroup: cgroup.map(Into::into),
    }
}

fn write_number(f: &mut fmt::Formatter<'_>, what: &str, number: Option<u32>) -> fmt::Result {
    match number {
        Some(number) => write!(f, "{what}={number}"),
        None => write!(f, "{what}=?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_facts_of_a_peer_have_placeholders() {
        let check = |pid, process, expected: &str| {
            let snapshot = PeerSnapshot {
                id: Some(PeerId::new(0, 0)),
                unique_name: Some(":1.5".into()),
                names: vec!["com.example.A".into()],
                pid,
                uid: Some(7),
                process,
                container: None,
            };
            assert_eq!(
                PeerDescription { snapshot, source: DescriptionSource::Bus }.to_string(),
                expected
            );
        };
        let named = |comm: &str| Process { comm: Some(comm.into()), ..Process::default() };
        let nothing = Process::default();
        check(None, nothing.clone(), ":1.5 (uid=7 pid=?) com.example.A");
        check(Some(3), nothing, ":1.5 (uid=7 pid=3 comm=unknown) com.example.A");
        check(Some(3), named("prog"), ":1.5 (uid=7 pid=3 comm=\"prog\") com.example.A");
        let process = Process { cgroup: Some("/a/b".into()), ..named("prog") };
        check(Some(3), process, ":1.5 (uid=7 pid=3 comm=\"prog\" cgroup=\"/a/b\") com.example.A");
    }

    #[test]
    fn a_quotation_mark_in_the_name_of_a_process_does_not_end_the_field() {
        let comm = Some(r#"x" uid=0 \"#.into());
        let snapshot = PeerSnapshot {
            process: Process { comm, ..Process::default() },
            ..PeerSnapshot::default()
        };
        let shown = ProcessClause(&PeerDescription { snapshot, source: DescriptionSource::Bus })
            .to_string();
        assert_eq!(shown, r#"uid=? pid=? comm="x\" uid=0 \\""#);
    }
}
