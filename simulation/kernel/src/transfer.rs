//! Bytes and descriptors over sockets of the machine: never more at once than chance has it.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub use real::transfer::{
    DescriptorDelivery, MAX_DESCRIPTORS, ReceiveOutcome, TransferShortage, TransferWait,
};

use crate::machine;

/// Reads once from `socket` into `buffer`.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] when there is nothing, [`io::ErrorKind::ConnectionReset`] when who
/// left had not read all.
pub fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
    _: TransferWait,
) -> io::Result<ReceiveOutcome> {
    let room = buffer.len();
    let put = |at: usize, bytes: &[u8]| buffer[at..at + bytes.len()].copy_from_slice(bytes);
    machine::with(|machine| machine.take(socket.as_fd(), room, put, descriptors))
}

/// As [`receive`], but appends up to `room` bytes to `buffer`.
///
/// # Errors
///
/// As [`receive`].
pub fn receive_more(
    socket: impl AsFd,
    buffer: &mut Vec<u8>,
    room: usize,
    descriptors: &mut Vec<OwnedFd>,
    _: TransferWait,
) -> io::Result<ReceiveOutcome> {
    let put = |_: usize, bytes: &[u8]| buffer.extend_from_slice(bytes);
    machine::with(|machine| machine.take(socket.as_fd(), room, put, descriptors))
}

/// Writes `slices` once, with `descriptors`.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] when the socket is full, [`io::ErrorKind::BrokenPipe`] when nobody is
/// at its other end; an error for which [`TransferShortage::of`] returns a reason when the world made the
/// machine short of something.
pub fn send(
    socket: impl AsFd,
    slices: &[IoSlice<'_>],
    descriptors: &[BorrowedFd<'_>],
    _: TransferWait,
) -> io::Result<usize> {
    assert!(descriptors.len() <= MAX_DESCRIPTORS, "the kernel takes no more");
    machine::with(|machine| machine.give(socket.as_fd(), slices, descriptors))
}

/// How many bytes of `socket` wait to be received.
///
/// # Errors
///
/// None.
pub fn unreceived(socket: impl AsFd) -> io::Result<u64> {
    Ok(machine::with(|machine| machine.unreceived(socket.as_fd())))
}

/// Ends both directions of a connection and leaves `socket` open.
///
/// # Errors
///
/// None.
pub fn shut_down(socket: impl AsFd) -> io::Result<()> {
    machine::with(|machine| machine.shut_down(socket.as_fd()));
    Ok(())
}
