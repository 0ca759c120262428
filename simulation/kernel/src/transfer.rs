//! Bytes and descriptors over simulated sockets. How much one call transfers is random.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub use real::transfer::{
    DescriptorDelivery, MAX_DESCRIPTORS, ReceiveOutcome, TransferShortage, TransferWait,
};

use crate::machine::{self, Simulated};

/// Reads once from `socket` into `buffer`.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if nothing can be read, [`io::ErrorKind::ConnectionReset`] if the
/// peer closed the connection with unread data in it.
pub fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
    _: TransferWait,
) -> io::Result<ReceiveOutcome> {
    let room = buffer.len();
    let put = |at: usize, bytes: &[u8]| buffer[at..at + bytes.len()].copy_from_slice(bytes);
    machine::with(|machine| machine.daemon_receive(socket.as_fd(), room, put, descriptors))
}

/// Like [`receive`], but appends up to `room` bytes to `buffer`.
///
/// # Errors
///
/// Fails like [`receive`].
pub fn receive_more(
    socket: impl AsFd,
    buffer: &mut Vec<u8>,
    room: usize,
    descriptors: &mut Vec<OwnedFd>,
    _: TransferWait,
) -> io::Result<ReceiveOutcome> {
    let put = |_: usize, bytes: &[u8]| buffer.extend_from_slice(bytes);
    machine::with(|machine| machine.daemon_receive(socket.as_fd(), room, put, descriptors))
}

/// Writes `slices` to `socket` once, with `descriptors` attached to the first byte, and returns how
/// many bytes were sent.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if the socket is full, [`io::ErrorKind::BrokenPipe`] if the peer
/// has closed the connection; an error for which [`TransferShortage::of`] returns a reason if the
/// world has made the machine lack a resource.
pub fn send(
    socket: impl AsFd,
    slices: &[IoSlice<'_>],
    descriptors: &[BorrowedFd<'_>],
    _: TransferWait,
) -> io::Result<usize> {
    assert!(descriptors.len() <= MAX_DESCRIPTORS, "the kernel accepts at most MAX_DESCRIPTORS");
    machine::with(|machine| machine.daemon_send(socket.as_fd(), slices, descriptors))
}

/// Returns how many bytes in `socket` the peer has not received yet.
///
/// # Errors
///
/// Never fails.
pub fn unreceived(socket: impl AsFd) -> io::Result<u64> {
    Ok(machine::with(|machine| machine.unreceived(socket.as_fd())))
}

/// Ends both directions of a connection and leaves `socket` open.
///
/// # Errors
///
/// Never fails.
pub fn shut_down(socket: impl AsFd) -> io::Result<()> {
    match machine::with(|machine| machine.shut_down(socket.as_fd())) {
        Simulated::Yes => Ok(()),
        // One end of a lane, which is a real socket.
        Simulated::No => real::transfer::shut_down(socket),
    }
}
