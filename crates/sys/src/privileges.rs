//! The users that this process acts for, and dropping root after everything that requires it was
//! opened.

use crate::raw;
use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};
use std::io;
pub use unix::privileges::{effective_user, has_more_rights_than_caller, real_user};

/// The ids that determine the rights of a process (credentials(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivilegeIdentity<'a> {
    /// The numeric user id.
    pub uid: u32,
    /// The numeric group id.
    pub gid: u32,
    /// The ids of the supplementary groups.
    pub groups: &'a [u32],
}

/// True if other processes of the same user may read the memory of this process (prctl(2),
/// `PR_GET_DUMPABLE`). A process that has switched its user is protected from that until it executes
/// another program.
#[must_use]
pub fn is_readable_by_user() -> bool {
    dumpable_behavior().is_ok_and(|behavior| behavior == DumpableBehavior::Dumpable)
}

/// Keeps other processes of the same user from reading the memory of this process.
///
/// # Errors
///
/// Fails only if a filter forbids the system call.
pub fn protect_from_user() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Ends the effect of [`protect_from_user`].
///
/// # Errors
///
/// Fails only if a filter forbids the system call.
pub fn end_protection_from_user() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::Dumpable)?)
}

/// Switches the whole process to `identity`, irreversibly.
///
/// # Errors
///
/// [`io::ErrorKind::PermissionDenied`] if the process is not root; [`io::ErrorKind::InvalidInput`]
/// for the ids `u32::MAX`, which mean "unchanged" to the kernel. After an error some of the groups
/// may have changed already, so do not continue.
pub fn switch_to(identity: PrivilegeIdentity<'_>) -> io::Result<()> {
    let PrivilegeIdentity { uid, gid, groups } = identity;
    if uid == UNCHANGED || gid == UNCHANGED {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    raw::set_identity(uid, gid, groups)
}

const UNCHANGED: u32 = u32::MAX;
