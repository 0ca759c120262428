//! Bytes and descriptors through stream sockets: one system call each way.
//!
//! A Unix stream socket carries descriptors beside its bytes (`SCM_RIGHTS`, unix(7)). The kernel
//! ties the descriptors of one [`send`] to the first byte of that send, and [`receive`] returns
//! them together with that byte. What a receiver may rely on:
//!
//! ```text
//!  sent       aaaa   bbbb+fds   cccc        three sends, the second one with descriptors
//!  received   aaaabbbb   fds                one receive may join what came *before* them,
//!             cccc                          but never reads past the send that carried them
//! ```
//!
//! So descriptors belong to some byte of the chunk that they came with, sets from two sends never
//! come at once, and the order is kept. Which message they are for, the message header says.
//!
//! The functions allocate nothing, except that the vector given to [`receive`] grows when more
//! descriptors come than it has room for.

use crate::raw;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{self, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::ffi::c_int;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The most descriptors that one send may carry (`SCM_MAX_FD` of the kernel).
pub const MAX_DESCRIPTORS: usize = 253;

/// What a call does when it would have to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferWait {
    /// It fails with [`io::ErrorKind::WouldBlock`], however the socket is set.
    Never,
    /// It waits, unless the socket is set non-blocking or a timeout of it is over; it then fails
    /// with [`io::ErrorKind::WouldBlock`] too.
    Block,
}

/// What one [`receive`] brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct ReceiveOutcome {
    /// How many bytes of the buffer were filled. Zero is the end of the stream, as long as the
    /// buffer has room. Fewer than the buffer has room for means that the socket was empty, or
    /// that descriptors ended the chunk.
    pub bytes: usize,
    /// Whether the descriptors of the chunk are complete.
    pub descriptors: DescriptorDelivery,
}

/// Whether all descriptors that the peer sent have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorDelivery {
    /// All did, if there were any.
    Complete,
    /// Some were lost (`MSG_CTRUNC`). There always is room for as many as can be sent, so this
    /// process had no descriptor number left, or a security module refused one of them: it is not
    /// the peer's fault, but the message that they belong to cannot be delivered.
    Truncated,
}

/// Reads once from `socket` into `buffer`, and appends the descriptors that came along to
/// `descriptors`, close-on-exec (recvmsg(2)).
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] when nothing can be read, see [`TransferWait`];
/// [`io::ErrorKind::ConnectionReset`] when the peer closed while it had data left to read.
pub fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
    wait: TransferWait,
) -> io::Result<ReceiveOutcome> {
    raw::receive_into(socket.as_fd(), buffer, descriptors, wait).map(ReceiveOutcome::new)
}

/// As [`receive`], but appends up to `room` bytes to `buffer`. The memory behind what it holds need
/// not have been filled with anything before.
///
/// # Errors
///
/// As [`receive`].
pub fn receive_more(
    socket: impl AsFd,
    buffer: &mut Vec<u8>,
    room: usize,
    descriptors: &mut Vec<OwnedFd>,
    wait: TransferWait,
) -> io::Result<ReceiveOutcome> {
    raw::receive_behind(socket.as_fd(), buffer, room, descriptors, wait).map(ReceiveOutcome::new)
}

/// Writes `slices` to `socket` once, `descriptors` going with the first byte, and returns how many
/// bytes were taken (sendmsg(2)). A peer that is gone is an error, never a signal.
///
/// The kernel may take fewer bytes than given, and takes no more than 1024 slices. When it took
/// any, it took all the descriptors, so the rest is to be sent without them. Only a Unix socket
/// carries descriptors, and only with at least one byte; otherwise the kernel drops them silently.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] when the socket is full, see [`TransferWait`];
/// [`io::ErrorKind::BrokenPipe`] or [`io::ErrorKind::ConnectionReset`] when the peer is gone;
/// [`io::ErrorKind::InvalidInput`] for more than [`MAX_DESCRIPTORS`]; an error for which
/// [`TransferShortage::of`] returns a reason when the peer is there and the kernel cannot take the data.
pub fn send(
    socket: impl AsFd,
    slices: &[IoSlice<'_>],
    descriptors: &[BorrowedFd<'_>],
    wait: TransferWait,
) -> io::Result<usize> {
    if descriptors.is_empty() {
        // The kernel has less to copy and to check when there is nothing but bytes.
        if let [slice] = slices {
            return Ok(retry_on_intr(|| net::send(&socket, slice, wait.send_flags()))?);
        }
        return send_with(socket, slices, &mut SendAncillaryBuffer::default(), wait);
    }
    if descriptors.len() > MAX_DESCRIPTORS {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    debug_assert!(slices.iter().any(|slice| !slice.is_empty()), "descriptors without a byte");
    let mut space = [MaybeUninit::uninit(); CONTROL_SPACE];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fits = control.push(SendAncillaryMessage::ScmRights(descriptors));
    assert!(fits, "CONTROL_SPACE holds MAX_DESCRIPTORS");
    send_with(socket, slices, &mut control, wait)
}

/// Why the kernel does not take data for a peer that is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferShortage {
    /// `ETOOMANYREFS`: this user has sent more descriptors that nobody has received yet than it may
    /// have open files, or (before Linux 6.10) sockets are nested too deeply in one another.
    Descriptors,
    /// `ENOBUFS` or `ENOMEM`: the kernel has no memory for the data now.
    Memory,
    /// `EMSGSIZE`: the data is longer than the socket takes.
    Size,
}

impl TransferShortage {
    /// The shortage that an error of [`send`] reports, if it is one.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<Self> {
        match Errno::from_io_error(error)? {
            Errno::TOOMANYREFS => Some(Self::Descriptors),
            Errno::NOBUFS | Errno::NOMEM => Some(Self::Memory),
            Errno::MSGSIZE => Some(Self::Size),
            _ => None,
        }
    }
}

/// How much memory the data in `socket` takes that the peer has not received yet, in bytes
/// (`SIOCOUTQ`): at least the length of that data, and 0 only if the peer has received everything.
///
/// # Errors
///
/// As ioctl(2).
pub fn unreceived(socket: impl AsFd) -> io::Result<u64> {
    raw::unsent_bytes(socket.as_fd())
}

/// Ends both directions of a connection and leaves `socket` open. The peer can still receive what is
/// in its queue.
///
/// # Errors
///
/// As shutdown(2).
pub fn shut_down(socket: impl AsFd) -> io::Result<()> {
    Ok(net::shutdown(socket, net::Shutdown::Both)?)
}

fn send_with(
    socket: impl AsFd,
    slices: &[IoSlice<'_>],
    control: &mut SendAncillaryBuffer<'_, '_, '_>,
    wait: TransferWait,
) -> io::Result<usize> {
    let slices = &slices[..slices.len().min(MAX_SLICES)];
    Ok(retry_on_intr(|| sendmsg(&socket, slices, control, wait.send_flags()))?)
}

impl TransferWait {
    fn send_flags(self) -> SendFlags {
        match self {
            Self::Never => SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            Self::Block => SendFlags::NOSIGNAL,
        }
    }
}

impl ReceiveOutcome {
    fn new((bytes, flags): (usize, c_int)) -> Self {
        let descriptors = match flags & libc::MSG_CTRUNC {
            0 => DescriptorDelivery::Complete,
            _ => DescriptorDelivery::Truncated,
        };
        Self { bytes, descriptors }
    }
}

/// Bytes of ancillary data that hold `MAX_DESCRIPTORS`, wherever the buffer begins.
const CONTROL_SPACE: usize = rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS));

/// The most slices that the kernel takes in one call (`UIO_MAXIOV`).
const MAX_SLICES: usize = 1024;
