//! Parses the path of a control group: the unit, slice and session of a process.
//!
//! The service manager names groups after its units (systemd.unit(5)): the slices come first, then
//! the unit. Below the unit of a user's own manager, the same structure repeats.
//!
//! ```
//! use sys::control_group::Belonging;
//!
//! let path = "/user.slice/user-7.slice/user@7.service/app.slice/mail.service";
//! let belonging = Belonging::of_path(path);
//! assert_eq!(belonging.unit.as_deref(), Some("user@7.service"));
//! assert_eq!(belonging.user_unit.as_deref(), Some("mail.service"));
//! assert_eq!(belonging.owner, Some(7));
//! ```

use crate::process;

/// The units, slices, session and owner of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Belonging {
    /// The unit of the system manager.
    pub unit: Option<String>,
    /// The slice of the system unit; the root slice is `-.slice`.
    pub slice: Option<String>,
    /// The unit of the user's own manager.
    pub user_unit: Option<String>,
    /// The slice of the user unit.
    pub user_slice: Option<String>,
    /// The login session of the user.
    pub session: Option<String>,
    /// The user id of the owner of the slice.
    pub owner: Option<u32>,
}

impl Belonging {
    /// Reads the control group of a process; `None` if the process has ended.
    #[must_use]
    pub fn of_process(pid: u32) -> Option<Self> {
        let path = process::control_group(pid)?;
        let root = process::control_group(INIT).unwrap_or_default();
        Some(Self::of_path(below(&path, &root)))
    }

    /// Parses a path relative to the group of the manager.
    #[must_use]
    pub fn of_path(path: &str) -> Self {
        let (slices, rest) = split_slices(path);
        let unit = first_unit(rest);
        let below_manager = unit.and_then(|unit| below_user_manager(unit, rest));
        let (user_slices, user_rest) = below_manager.map(split_slices).unwrap_or_default();
        Self {
            unit: unit.map(str::to_owned),
            slice: Some(last_slice(&slices)),
            user_unit: first_unit(user_rest).map(str::to_owned),
            user_slice: below_manager.map(|_| last_slice(&user_slices)),
            session: unit.and_then(session).map(str::to_owned),
            owner: slices.iter().find_map(|slice| owner(slice)),
        }
    }
}

/// Returns the path relative to the group of the manager. In a container that group is not the
/// root; it is the group of process 1 without the unit of process 1.
fn below<'p>(path: &'p str, init: &str) -> &'p str {
    let root = init.strip_suffix("/init.scope").unwrap_or_default();
    match path.strip_prefix(root) {
        Some(rest) if rest.starts_with('/') => rest,
        _ => path,
    }
}

/// Splits a path into the leading slices and the rest.
fn split_slices(path: &str) -> (Vec<&str>, &str) {
    let (mut slices, mut rest) = (Vec::new(), path.trim_start_matches('/'));
    loop {
        let (name, behind) = rest.split_once('/').unwrap_or((rest, ""));
        if !name.ends_with(".slice") {
            return (slices, rest);
        }
        slices.push(unescaped(name));
        rest = behind;
    }
}

fn last_slice(slices: &[&str]) -> String {
    slices.last().copied().unwrap_or(ROOT_SLICE).to_owned()
}

/// Returns the unit at the start of a path.
fn first_unit(path: &str) -> Option<&str> {
    let name = unescaped(path.split('/').next()?);
    let (stem, kind) = name.rsplit_once('.')?;
    (!stem.is_empty() && UNITS.contains(&kind)).then_some(name)
}

/// Removes the `_` before a name that could be a file of the kernel.
fn unescaped(name: &str) -> &str {
    name.strip_prefix('_').unwrap_or(name)
}

/// Returns the path after the unit of a user's own manager, or after a session, in which a manager
/// may run.
fn below_user_manager<'p>(unit: &str, path: &'p str) -> Option<&'p str> {
    let is_manager = unit.starts_with("user@") && unit.ends_with(".service");
    let below = path.split_once('/').map(|(_, below)| below).filter(|below| !below.is_empty())?;
    (is_manager || session(unit).is_some()).then_some(below)
}

fn session(unit: &str) -> Option<&str> {
    unit.strip_prefix("session-")?.strip_suffix(".scope").filter(|id| !id.is_empty())
}

fn owner(slice: &str) -> Option<u32> {
    slice.strip_prefix("user-")?.strip_suffix(".slice")?.parse().ok()
}

/// The process id of the system manager.
const INIT: u32 = 1;

const ROOT_SLICE: &str = "-.slice";

/// The types of units that have processes.
const UNITS: [&str; 5] = ["service", "scope", "socket", "mount", "swap"];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: [Option<&str>; 5], owner: Option<u32>) {
        let Belonging { unit, slice, user_unit, user_slice, session, owner: found } =
            Belonging::of_path(path);
        let found_names = [unit, slice, user_unit, user_slice, session];
        assert_eq!(found_names.each_ref().map(Option::as_deref), expected, "{path}");
        assert_eq!(found, owner, "{path}");
    }

    #[test]
    fn paths_say_unit_and_session() {
        let root = Some("-.slice");
        check("/", [None, root, None, None, None], None);
        check("/init.scope", [Some("init.scope"), root, None, None, None], None);
        let system = Some("system.slice");
        let bus = Some("dbus.service");
        check("/system.slice/dbus.service", [bus, system, None, None, None], None);
        check("/system.slice/dbus.service/child", [bus, system, None, None, None], None);
        check("/system.slice/_dbus.service", [bus, system, None, None, None], None);
        let user = Some("user-7.slice");
        check(
            "/user.slice/user-7.slice/session-c2.scope",
            [Some("session-c2.scope"), user, None, None, Some("c2")],
            Some(7),
        );
        check(
            "/user.slice/user-7.slice/user@7.service/app.slice/app-x.slice/x.service",
            [Some("user@7.service"), user, Some("x.service"), Some("app-x.slice"), None],
            Some(7),
        );
        check(
            "/user.slice/user-7.slice/user@7.service/init.scope",
            [Some("user@7.service"), user, Some("init.scope"), root, None],
            Some(7),
        );
        check("/docker/1234", [None, root, None, None, None], None);
        check("/.service", [None, root, None, None, None], None);
        check("", [None, root, None, None, None], None);
    }

    #[test]
    fn control_groups_above_a_container_are_ignored() {
        assert_eq!(below("/machine/a/system.slice", "/machine/a/init.scope"), "/system.slice");
        assert_eq!(below("/system.slice", "/init.scope"), "/system.slice");
        assert_eq!(below("/machine/ab/x", "/machine/a/init.scope"), "/machine/ab/x");
        assert_eq!(below("/a", "/"), "/a");
    }
}
