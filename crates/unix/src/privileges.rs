//! The users that this process acts for, and whether it may trust its caller.

use crate::raw;

/// Returns the user who started this process, even if the program is set-user-ID (getuid(2)).
#[must_use]
pub fn real_user() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Returns the user whose rights this process has (geteuid(2)): in a set-user-ID program, it
/// differs from the [real](real_user) user.
#[must_use]
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// True if this program has rights that its caller may lack, because it is set-user-ID or
/// set-group-ID, has file capabilities, or a security module requires it (getauxval(3),
/// `AT_SECURE`). Then do not trust anything that the caller controls, such as the environment.
#[must_use]
pub fn has_more_rights_than_caller() -> bool {
    raw::is_secure_execution()
}
