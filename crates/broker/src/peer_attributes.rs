//! The attributes of a connection that a policy needs besides the user: groups, the console, and
//! for error texts the program.
//!
//! They are looked up only if the policy needs them. If a needed attribute cannot be read, the
//! connection is rejected.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use bus::policy::{Console, PeerAttributes};
use bus::{ConnectionCredentials, Policy};
use sys::credentials::{peer_groups, peer_label};
use sys::users::UserAccount;

/// Why the security label of a connection is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Label {
    /// Security modules decide by it.
    Decides,
    /// Error texts show it.
    IsShown,
}

/// Reads what the policy needs about the connection behind `socket`, which authenticated as `uid`.
///
/// # Errors
///
/// An attribute that the policy needs cannot be read.
pub(crate) fn read(
    policy: &Policy,
    socket: impl AsFd,
    known: &ConnectionCredentials,
    uid: u32,
    label: Label,
) -> io::Result<PeerAttributes> {
    let socket = socket.as_fd();
    let mut attributes = read_anonymous(policy, socket, known, label)?;
    if policy.asks_for_groups() {
        // The kernel recorded the groups of the process, which may differ from the groups of
        // the user that it authenticated as with a cookie.
        let groups = match known.uid == Some(uid) {
            true => peer_groups(socket)?,
            false => None,
        };
        attributes.groups = Some(groups.map_or_else(|| groups_of_account(uid), Ok)?.into());
    }
    if policy.asks_for_console() {
        attributes.console = console(Path::new("/run"), uid)?;
    }
    Ok(attributes)
}

/// Reads what can be known about a connection that authenticated anonymously.
///
/// # Errors
///
/// The label is needed for decisions and cannot be read.
pub(crate) fn read_anonymous(
    policy: &Policy,
    socket: impl AsFd,
    known: &ConnectionCredentials,
    label: Label,
) -> io::Result<PeerAttributes> {
    let mut attributes = PeerAttributes::default();
    if policy.restricts() || label == Label::Decides {
        attributes.command = known.pid.and_then(command);
        attributes.label = match label {
            Label::Decides => peer_label(socket)?,
            Label::IsShown => peer_label(socket).ok().flatten(),
        }
        .map(Into::into);
    }
    Ok(attributes)
}

fn groups_of_account(uid: u32) -> io::Result<Vec<u32>> {
    let mut groups = UserAccount::by_id(uid)?.ok_or(io::ErrorKind::NotFound)?.groups()?;
    groups.sort_unstable();
    Ok(groups)
}

/// The beginning of a command line, in the format of dbus-daemon.
fn command(pid: u32) -> Option<String> {
    let mut line = sys::process::command_line(pid)?.join(" ");
    let end = (0..=COMMAND_LEN_MAX).rev().find(|end| line.is_char_boundary(*end));
    line.truncate(end.unwrap_or_default());
    Some(line)
}

/// Whether a user is at the console: it has a session on a seat, according to the login manager's
/// files for sd_uid_get_seats(3), or without a login manager, pam_console(8) has marked it.
fn console(run: &Path, uid: u32) -> io::Result<Console> {
    let is_there = if run.join("systemd/seats").try_exists()? {
        has_seat(&run.join(format!("systemd/users/{uid}")))?
    } else {
        match UserAccount::by_id(uid)? {
            Some(user) => run.join("console").join(user.name()).try_exists()?,
            None => false,
        }
    };
    Ok(if is_there { Console::Present } else { Console::Absent })
}

fn has_seat(user_state: &Path) -> io::Result<bool> {
    let text = match std::fs::read_to_string(user_state) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        text => text?,
    };
    let seats = |line: &str| match line.split_once('=') {
        Some((key, value)) => {
            key.trim() == "ONLINE_SEATS" && !value.trim_matches(QUOTES).is_empty()
        }
        None => false,
    };
    Ok(text.lines().any(seats))
}

/// Characters that may surround a value.
const QUOTES: [char; 4] = ['"', '\'', ' ', '\t'];

/// The maximum number of bytes of a command line in error texts.
const COMMAND_LEN_MAX: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn users_with_a_seat_are_at_the_console() {
        let run = std::env::temp_dir().join(format!("diligence-seats-{}", std::process::id()));
        fs::create_dir_all(run.join("systemd/seats")).unwrap();
        fs::create_dir_all(run.join("systemd/users")).unwrap();
        let cases = [
            (None, Console::Absent),
            (Some("ONLINE_SEATS=seat0\n"), Console::Present),
            (Some("NAME=a\nONLINE_SEATS=\"seat0 seat1\"\nSEATS=\n"), Console::Present),
            (Some(" ONLINE_SEATS = a"), Console::Present),
            (Some("ONLINE_SEATS=\n"), Console::Absent),
            (Some("ONLINE_SEATS=\"\"\n"), Console::Absent),
            (Some("SEATS=seat0\nACTIVE_SEATS=seat0\n"), Console::Absent),
            (Some("garbage"), Console::Absent),
        ];
        for (state, expected) in cases {
            if let Some(state) = state {
                fs::write(run.join("systemd/users/7"), state).unwrap();
            }
            assert_eq!(console(&run, 7).unwrap(), expected, "{state:?}");
        }
        fs::remove_file(run.join("systemd/users/7")).unwrap();
        fs::create_dir(run.join("systemd/users/7")).unwrap();
        assert!(console(&run, 7).is_err(), "unreadable files are errors");
        fs::remove_dir_all(run).unwrap();
    }

    #[test]
    fn without_a_login_manager_pam_console_decides() {
        let run = std::env::temp_dir().join(format!("diligence-console-{}", std::process::id()));
        fs::create_dir_all(run.join("console")).unwrap();
        assert_eq!(console(&run, 0).unwrap(), Console::Absent);
        fs::write(run.join("console/root"), "").unwrap();
        assert_eq!(console(&run, 0).unwrap(), Console::Present);
        fs::remove_dir_all(run).unwrap();
    }

    #[test]
    fn a_command_line_is_shown_in_part() {
        let own = command(std::process::id()).expect("this process has one");
        assert!(!own.is_empty() && own.len() <= COMMAND_LEN_MAX, "{own}");
    }
}
