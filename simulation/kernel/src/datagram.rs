//! Datagrams to the journal. The machine keeps the last entries for failure reports.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

pub use real::datagram::Sent;

use crate::machine;

/// Appends `bytes` to the simulated journal, whatever the path.
///
/// # Errors
///
/// Never fails.
pub fn send_to(_: impl AsFd, _: &Path, bytes: &[u8]) -> io::Result<Sent> {
    machine::with(|machine| machine.log(bytes));
    Ok(Sent::Whole)
}

/// Always fails. The daemon passes a descriptor only when an entry is too long for a datagram, and
/// [`send_to`] accepts entries of any length.
///
/// # Errors
///
/// Always fails with [`io::ErrorKind::Unsupported`].
pub fn pass_descriptor(_: impl AsFd, _: &Path, _: BorrowedFd<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
