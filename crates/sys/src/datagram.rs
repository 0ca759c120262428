//! Datagrams to a program that listens at a path. If the data fits, it is sent directly; otherwise
//! it is put into memory whose descriptor is sent.

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, sendmsg_addr, sendto,
};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// The result of sending a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Sent {
    /// The whole datagram was sent.
    Whole,
    /// The datagram is longer than the kernel allows.
    TooLong,
}

/// Sends `bytes` to the socket at `path` without blocking. The path is looked up each time, so the
/// receiver may restart.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if the receiver's queue is full, [`io::ErrorKind::NotFound`] or
/// [`io::ErrorKind::ConnectionRefused`] if there is no receiver.
pub fn send_to(socket: impl AsFd, path: &Path, bytes: &[u8]) -> io::Result<Sent> {
    let address = SocketAddrUnix::new(path)?;
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    match retry_on_intr(|| sendto(&socket, bytes, flags, &address)) {
        Ok(_) => Ok(Sent::Whole),
        Err(Errno::MSGSIZE | Errno::NOBUFS) => Ok(Sent::TooLong),
        Err(error) => Err(error.into()),
    }
}

/// Sends an empty datagram with `descriptor` to the socket at `path`.
///
/// # Errors
///
/// Fails like [`send_to`].
pub fn pass_descriptor(
    socket: impl AsFd,
    path: &Path,
    descriptor: BorrowedFd<'_>,
) -> io::Result<()> {
    let address = SocketAddrUnix::new(path)?;
    let descriptors = [descriptor];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fits = control.push(SendAncillaryMessage::ScmRights(&descriptors));
    assert!(fits, "there is space for one descriptor");
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    retry_on_intr(|| sendmsg_addr(&socket, &address, &[], &mut control, flags))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn too_long_datagrams_differ_from_missing_receivers() {
        let path = std::env::temp_dir().join(format!("diligence-datagram-{}", std::process::id()));
        let sender = UnixDatagram::unbound().unwrap();
        let no_receiver = send_to(&sender, &path, b"x").unwrap_err();
        assert_eq!(no_receiver.kind(), io::ErrorKind::NotFound);
        let receiver = UnixDatagram::bind(&path).unwrap();
        assert_eq!(send_to(&sender, &path, b"x").unwrap(), Sent::Whole);
        assert_eq!(send_to(&sender, &path, &vec![0; 16 << 20]).unwrap(), Sent::TooLong);
        assert_eq!(receiver.recv(&mut [0; 10]).unwrap(), 1);
        std::fs::remove_file(&path).unwrap();
    }
}
