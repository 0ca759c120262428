//! Receiving data and descriptors from a socket.

use std::ffi::{c_int, c_uint};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::check;
use crate::transfer::{MAX_DESCRIPTORS, TransferWait};

/// recvmsg(2) into `space`. Appends received descriptors to `descriptors`. Returns the number of
/// bytes received and the flags of the message.
pub(crate) fn receive_into(
    socket: BorrowedFd<'_>,
    space: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
    wait: TransferWait,
) -> io::Result<(usize, c_int)> {
    let space = libc::iovec { iov_base: space.as_mut_ptr().cast(), iov_len: space.len() };
    // SAFETY: the slice may be written for its length.
    unsafe { receive_message(socket, space, descriptors, wait) }
}

/// Like [`receive_into`], but appends at most `room` received bytes to `buffer`.
pub(crate) fn receive_behind(
    socket: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    room: usize,
    descriptors: &mut Vec<OwnedFd>,
    wait: TransferWait,
) -> io::Result<(usize, c_int)> {
    buffer.reserve(room);
    let spare = &mut buffer.spare_capacity_mut()[..room];
    let space = libc::iovec { iov_base: spare.as_mut_ptr().cast(), iov_len: spare.len() };
    // SAFETY: the slice may be written for its length.
    let received = unsafe { receive_message(socket, space, descriptors, wait) }?;
    // SAFETY: the kernel has written `received.0` bytes to the start of the spare capacity. It
    // returns a larger number than it writes only with `MSG_TRUNC`, which `receive_message` never
    // passes.
    unsafe { buffer.set_len(buffer.len() + received.0) };
    Ok(received)
}

/// recvmsg(2). The function of rustix always asks for the address of the sender, and receives only
/// into initialized memory.
///
/// # Safety
///
/// The memory that `space` describes may be written.
unsafe fn receive_message(
    socket: BorrowedFd<'_>,
    mut space: libc::iovec,
    descriptors: &mut Vec<OwnedFd>,
    wait: TransferWait,
) -> io::Result<(usize, c_int)> {
    let flags = match wait {
        TransferWait::Never => libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT,
        TransferWait::Block => libc::MSG_CMSG_CLOEXEC,
    };
    let mut control = MaybeUninit::<ControlSpace>::uninit();
    // SAFETY: zeroes are valid for all fields of this C structure.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut space;
    message.msg_iovlen = 1;
    let count = loop {
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of::<ControlSpace>() as _;
        // SAFETY: `message` points to one slice, which may be written as the caller says, and to a
        // place for control data that may be written for its length; all outlive the call.
        let status = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
        match check(status as i64) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => break received?,
        }
    };
    if message.msg_controllen > 0 {
        // SAFETY: the kernel has initialized `message`, which was not changed since.
        unsafe { take_descriptors(&message, descriptors) };
    }
    Ok((count as usize, message.msg_flags))
}

/// Takes the descriptors out of the control data of a message. Closes pidfds of senders, which a
/// socket gets for each message if its listener has the option `SO_PASSPIDFD`.
///
/// # Safety
///
/// recvmsg(2) has filled in `message`, what it points to still exists, and its descriptors were not
/// taken yet.
unsafe fn take_descriptors(message: &libc::msghdr, descriptors: &mut Vec<OwnedFd>) {
    // SAFETY: the control data exists, and the kernel has stored its length in `message`.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: a pointer that is not null points to the header of an item of the control data.
        let (item, data) = unsafe { (*header, libc::CMSG_DATA(header)) };
        if item.cmsg_level == libc::SOL_SOCKET
            && [libc::SCM_RIGHTS, SCM_PIDFD].contains(&item.cmsg_type)
        {
            let before = data.addr() - header.addr();
            // C libraries differ in the type of this field.
            let length: usize = item.cmsg_len as _;
            let count = (length - before) / size_of::<RawFd>();
            for index in 0..count {
                // SAFETY: the item has this number of descriptors, at any alignment.
                let number = unsafe { data.cast::<RawFd>().add(index).read_unaligned() };
                // Instead of a pidfd, the kernel can send the negative number of an error.
                if number < 0 {
                    continue;
                }
                // SAFETY: the descriptor was opened for this message, and has no owner yet.
                let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
                if item.cmsg_type == libc::SCM_RIGHTS {
                    descriptors.push(descriptor);
                }
            }
        }
        // SAFETY: the control data exists, and `header` points to an item of it.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
}

/// Space for the control data of a message with the maximum number of descriptors.
#[repr(C, align(8))]
struct ControlSpace([u8; CONTROL_LEN]);

// SAFETY: the macro only computes.
const CONTROL_LEN: usize =
    unsafe { libc::CMSG_SPACE((MAX_DESCRIPTORS * size_of::<RawFd>()) as c_uint) } as usize;

/// The type of a control item with the pidfd of the sender (`SO_PASSPIDFD`, unix(7)).
const SCM_PIDFD: c_int = 4;

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn pidfds_of_senders_are_closed() {
        let (mut sender, receiver) = UnixStream::pair().unwrap();
        let on: c_int = 1;
        // SAFETY: the option is read from a live local variable of this length.
        let status = unsafe {
            libc::setsockopt(
                receiver.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PASSPIDFD,
                (&raw const on).cast(),
                size_of::<c_int>() as libc::socklen_t,
            )
        };
        if status != 0 {
            println!("skipped: this kernel has no SO_PASSPIDFD");
            return;
        }
        let pidfds = || {
            let links = std::fs::read_dir("/proc/self/fd").unwrap();
            let targets = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok());
            targets.filter(|target| target.to_string_lossy().contains("pidfd")).count()
        };
        let before = pidfds();
        for _ in 0..100 {
            sender.write_all(b"x").unwrap();
            let (mut space, mut descriptors) = ([0; 8], Vec::new());
            let wait = TransferWait::Never;
            let received = receive_into(receiver.as_fd(), &mut space, &mut descriptors, wait);
            assert_eq!(received.unwrap().0, 1);
            assert!(descriptors.is_empty());
        }
        assert!(pidfds() < before + 50, "pidfds are left");
    }
}
