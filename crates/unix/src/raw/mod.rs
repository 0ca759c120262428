//! All unsafe code of the crate. Each function is a thin, safe wrapper around one system call or C
//! library call that rustix does not have. The modules that use them document their purpose.

mod mapping;
mod receive;
mod sealed;

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

pub(crate) use mapping::{Pages, ReadOnlyMapping, WritableMapping};
pub(crate) use receive::{receive_behind, receive_into};
pub(crate) use sealed::SealedPages;

/// Whether the value of a socket option fit into the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionValue {
    /// The value fit; its length in bytes.
    Whole(usize),
    /// The value did not fit, and nothing was written; the length in bytes that it requires.
    Needs(usize),
}

/// getsockopt(2) at level `SOL_SOCKET`.
pub(crate) fn socket_option(
    socket: BorrowedFd<'_>,
    option: c_int,
    value: &mut [u8],
) -> io::Result<OptionValue> {
    let room = libc::socklen_t::try_from(value.len()).unwrap_or(libc::socklen_t::MAX);
    let mut length = room;
    // SAFETY: `value` may be written for `room` bytes, and the kernel writes at most as many as
    // `length` says at entry; `length` itself is a live local variable.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            value.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    match check(status) {
        Ok(_) => Ok(OptionValue::Whole(length as usize)),
        Err(error) if error.raw_os_error() == Some(libc::ERANGE) && length > room => {
            Ok(OptionValue::Needs(length as usize))
        }
        Err(error) => Err(error),
    }
}

/// Makes the kernel refuse descriptors that are sent to `socket` (`SO_PASSRIGHTS` off).
pub(crate) fn refuse_descriptors(socket: BorrowedFd<'_>) -> io::Result<()> {
    let off: c_int = 0;
    // SAFETY: the option is read from a live local variable of this length.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PASSRIGHTS,
            (&raw const off).cast(),
            size_of::<c_int>() as libc::socklen_t,
        )
    };
    check(status).map(drop)
}

/// The number of the option on all architectures except two, of which Rust supports one.
const SO_PASSRIGHTS: c_int = if cfg!(target_arch = "sparc64") { 0x5c } else { 83 };

/// Returns the memory in bytes that unreceived data of a socket occupies (`SIOCOUTQ`).
pub(crate) fn unsent_bytes(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: c_int = 0;
    // SAFETY: `TIOCOUTQ`, which is `SIOCOUTQ` for a socket, writes one int to the address given.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    check(status)?;
    Ok(bytes.unsigned_abs().into())
}

/// `SO_PEERPIDFD`: returns a new pidfd of the process at the other end.
pub(crate) fn peer_pidfd(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut number = [0; size_of::<RawFd>()];
    match socket_option(socket, libc::SO_PEERPIDFD, &mut number)? {
        OptionValue::Whole(length) if length == number.len() => {}
        OptionValue::Whole(_) | OptionValue::Needs(_) => {
            return Err(io::ErrorKind::Unsupported.into());
        }
    }
    // SAFETY: on success this option has put a descriptor into our table that was made for this
    // call, and written its number to all bytes of `number`; so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(RawFd::from_ne_bytes(number)) })
}

/// dup3(2): makes `number` refer to the open file of `by`, and closes the file that it referred to.
pub(crate) fn replace_descriptor(number: BorrowedFd<'_>, by: OwnedFd) -> io::Result<()> {
    // SAFETY: the call takes integers. `number` stays open and keeps its owner; only the file
    // changes that it refers to. It differs from `by`, which is owned by another value.
    check(unsafe { libc::dup3(by.as_raw_fd(), number.as_raw_fd(), libc::O_CLOEXEC) })?;
    Ok(())
}

/// Whether the kernel asked for secure execution when this program was started (getauxval(3),
/// `AT_SECURE`).
pub(crate) fn is_secure_execution() -> bool {
    // SAFETY: the call takes an integer, and reads memory that the kernel prepared for the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Converts a C status, which is -1 for an error in `errno`, into a result.
fn check<Status: Into<i64> + Copy>(status: Status) -> io::Result<Status> {
    if status.into() == -1 { Err(io::Error::last_os_error()) } else { Ok(status) }
}
