//! Who this process acts for, and giving up root, after everything that needs it was opened.

use crate::raw;
use std::io;

/// The numbers by which the kernel judges a process (credentials(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivilegeIdentity<'a> {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The supplementary groups.
    pub groups: &'a [u32],
}

/// The user who started this process, whatever its file makes of it (getuid(2)).
#[must_use]
pub fn real_user() -> u32 {
    rustix::process::getuid().as_raw()
}

/// The user whose rights this process has (geteuid(2)): another one than the
/// [real](real_user) one in a program that is set-user-ID.
#[must_use]
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether this program has rights that its caller may lack, because it is set-user-ID or
/// set-group-ID, has file capabilities, or a security module says so (getauxval(3), `AT_SECURE`).
/// Then nothing that the caller chose should be trusted, such as the environment.
#[must_use]
pub fn has_more_rights_than_caller() -> bool {
    raw::is_secure_execution()
}

/// Makes the whole process take on `identity`, with no way back.
///
/// # Errors
///
/// [`io::ErrorKind::PermissionDenied`] when the process is not root;
/// [`io::ErrorKind::InvalidInput`] for the numbers `u32::MAX`, which mean "unchanged" to the
/// kernel. After an error some of the groups may be changed already, so do not go on.
pub fn switch_to(identity: PrivilegeIdentity<'_>) -> io::Result<()> {
    let PrivilegeIdentity { uid, gid, groups } = identity;
    if uid == UNCHANGED || gid == UNCHANGED {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    raw::set_identity(uid, gid, groups)
}

const UNCHANGED: u32 = u32::MAX;
