//! Giving up root, after everything that needs it was opened.

use crate::raw;
use std::io;

/// The numbers by which the kernel judges a process (credentials(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The supplementary groups.
    pub groups: &'a [u32],
}

/// Makes the whole process take on `identity`, with no way back.
///
/// # Errors
///
/// [`io::ErrorKind::PermissionDenied`] when the process is not root;
/// [`io::ErrorKind::InvalidInput`] for the numbers `u32::MAX`, which mean "unchanged" to the
/// kernel. After an error some of the groups may be changed already, so do not go on.
pub fn switch_to(identity: Identity<'_>) -> io::Result<()> {
    let Identity { uid, gid, groups } = identity;
    if uid == UNCHANGED || gid == UNCHANGED {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    raw::set_identity(uid, gid, groups)
}

const UNCHANGED: u32 = u32::MAX;
