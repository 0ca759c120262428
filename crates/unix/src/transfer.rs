//! Transfers bytes and descriptors through stream sockets, with one system call per direction.
//!
//! A Unix stream socket carries descriptors in addition to its bytes (`SCM_RIGHTS`, unix(7)). The
//! kernel attaches the descriptors of one [`send`] to the first byte of that send, and [`receive`]
//! returns them together with that byte. A receiver can rely on this:
//!
//! ```text
//!  sent       aaaa   bbbb+fds   cccc        three sends, the second one with descriptors
//!  received   aaaabbbb   fds                one receive may join earlier bytes with them,
//!             cccc                          but never reads past the send that carried them
//! ```
//!
//! So descriptors belong to a byte of the chunk that they arrive with, the sets of two sends never
//! arrive together, and the order is kept. The message header determines which message they belong
//! to.
//!
//! The functions allocate nothing, except that the vector given to [`receive`] grows if more
//! descriptors arrive than it has space for.

use crate::raw;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    self, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, UCred, sendmsg,
};
use rustix::process::{getegid, geteuid, getpid};
use std::ffi::c_int;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The most descriptors that one send may carry (`SCM_MAX_FD` of the kernel).
pub const MAX_DESCRIPTORS: usize = 253;

/// The behavior of a call that would block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferWait {
    /// The call fails with [`io::ErrorKind::WouldBlock`], whatever the mode of the socket.
    Never,
    /// The call blocks, unless the socket is non-blocking or its timeout is over; then it fails
    /// with [`io::ErrorKind::WouldBlock`], too.
    Block,
}

/// The result of one [`receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct ReceiveOutcome {
    /// The number of bytes stored in the buffer. Zero is the end of the stream, if the buffer has
    /// space. Fewer than the buffer has space for means that the socket was empty, or that
    /// descriptors ended the chunk.
    pub bytes: usize,
    /// Whether the descriptors of the chunk are complete.
    pub descriptors: DescriptorDelivery,
}

/// Whether all descriptors that the peer sent have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorDelivery {
    /// All descriptors arrived, if there were any.
    Complete,
    /// Some were lost (`MSG_CTRUNC`). There is always space for the maximum number, so this process
    /// ran out of descriptors, or a security module refused one of them. It is not the peer's
    /// fault, but the message that they belong to cannot be delivered.
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

/// Like [`receive`], but appends up to `room` bytes to `buffer`, whose spare capacity need not be
/// initialized.
///
/// # Errors
///
/// Fails like [`receive`].
pub fn receive_more(
    socket: impl AsFd,
    buffer: &mut Vec<u8>,
    room: usize,
    descriptors: &mut Vec<OwnedFd>,
    wait: TransferWait,
) -> io::Result<ReceiveOutcome> {
    raw::receive_behind(socket.as_fd(), buffer, room, descriptors, wait).map(ReceiveOutcome::new)
}

/// Reads a packet from a `SOCK_SEQPACKET` socket into `buffer`, without waiting, and returns its
/// length (recv(2)). Zero is the end. The rest of a packet that is longer than the buffer, and
/// descriptors that came along, are discarded.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if no packet has arrived, and the same error until one does.
pub fn receive_packet(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match net::recv(&socket, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((_, len)) => return Ok(len),
            // The peer closed while it had packets left to read. Unlike a stream, this socket tells
            // it once, before the packets that the peer has sent.
            Err(Errno::CONNRESET | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Writes `slices` to `socket` once, with `descriptors` attached to the first byte, and returns how
/// many bytes were sent (sendmsg(2)). If the peer has disconnected, the result is an error, never a
/// signal.
///
/// The kernel may send fewer bytes than given, and sends at most 1024 slices. If it sent any bytes,
/// it sent all the descriptors, so send the rest without them. Only a Unix socket carries
/// descriptors, and only with at least one byte; otherwise the kernel drops them silently.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if the socket is full, see [`TransferWait`];
/// [`io::ErrorKind::BrokenPipe`] or [`io::ErrorKind::ConnectionReset`] if the peer has
/// disconnected; [`io::ErrorKind::InvalidInput`] for more than [`MAX_DESCRIPTORS`]; an error for
/// which [`TransferShortage::of`] returns a reason if the peer is connected and the kernel cannot
/// accept the data.
pub fn send(
    socket: impl AsFd,
    slices: &[IoSlice<'_>],
    descriptors: &[BorrowedFd<'_>],
    wait: TransferWait,
) -> io::Result<usize> {
    if descriptors.is_empty() {
        // Without descriptors, the kernel has less to copy and to check.
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

/// Writes one NUL byte to a Unix `socket`, with the credentials of this process attached to it
/// (`SCM_CREDENTIALS`, unix(7)). A few servers ask for them instead of `SO_PEERCRED`.
///
/// # Errors
///
/// Fails like [`send`].
pub fn send_credentials(socket: impl AsFd, wait: TransferWait) -> io::Result<()> {
    let credentials = UCred { pid: getpid(), uid: geteuid(), gid: getegid() };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fits = control.push(SendAncillaryMessage::ScmCredentials(credentials));
    assert!(fits, "the space is for one message of this kind");
    send_with(socket, &[IoSlice::new(&[0])], &mut control, wait).map(drop)
}

/// The reason that the kernel does not accept data for a connected peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferShortage {
    /// `ETOOMANYREFS`: this user has sent more descriptors that were not received yet than its
    /// limit of open files, or (before Linux 6.10) sockets are nested too deeply in one another.
    Descriptors,
    /// `ENOBUFS` or `ENOMEM`: the kernel has no memory for the data now.
    Memory,
    /// `EMSGSIZE`: the data is longer than the socket accepts.
    Size,
}

impl TransferShortage {
    /// Returns the shortage that an error of [`send`] reports, if it is one.
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

/// Returns how much memory the unreceived data in `socket` occupies, in bytes (`SIOCOUTQ`): at
/// least the length of that data, and 0 only if the peer has received everything.
///
/// # Errors
///
/// Fails with the errors of ioctl(2).
pub fn unreceived(socket: impl AsFd) -> io::Result<u64> {
    raw::unsent_bytes(socket.as_fd())
}

/// Returns the length of the data in `socket` that can be received, of all packets, in bytes.
///
/// # Errors
///
/// Fails with the errors of ioctl(2).
pub fn receivable(socket: impl AsFd) -> io::Result<u64> {
    Ok(rustix::io::ioctl_fionread(socket)?)
}

/// Ends both directions of a connection and leaves `socket` open. The peer can still receive the
/// data in its queue.
///
/// # Errors
///
/// Fails with the errors of shutdown(2).
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

/// The size in bytes of ancillary data with `MAX_DESCRIPTORS`, at any alignment of the buffer.
const CONTROL_SPACE: usize = rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS));

/// The most slices that the kernel takes in one call (`UIO_MAXIOV`).
const MAX_SLICES: usize = 1024;
