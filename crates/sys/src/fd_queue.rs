//! A queue of descriptors: one descriptor that holds any number of others.
//!
//! The queue is a connected Unix socket whose peer has sent the descriptors and closed. So a process
//! that keeps descriptors for another one, such as a service manager, needs one descriptor and no
//! names for them. If all copies of the queue are closed, the kernel closes the descriptors in it.

use crate::socket::socket_pair;
use crate::transfer::{
    DescriptorDelivery, MAX_DESCRIPTORS, ReceiveOutcome, TransferWait, receive, send,
};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Creates a queue with these descriptors in their order.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if the kernel has no room for all descriptors in one socket: at
/// least 65536 fit. Otherwise the errors of [`send`], for which
/// [`TransferShortage`](crate::transfer::TransferShortage) has the reasons.
pub fn fill(descriptors: &[BorrowedFd<'_>]) -> io::Result<OwnedFd> {
    let (queue, filler) = socket_pair()?;
    for chunk in descriptors.chunks(MAX_DESCRIPTORS) {
        send(&filler, &[IoSlice::new(&[0])], chunk, TransferWait::Never)?;
    }
    Ok(queue)
}

/// Takes all descriptors out of a queue, so that copies of the queue are empty, too.
///
/// # Errors
///
/// Fails if the limit of open files of this process is too low, or if `queue` is not a queue. The
/// descriptors that were taken are closed then.
pub fn take_all(queue: impl AsFd) -> io::Result<Vec<OwnedFd>> {
    let mut descriptors = Vec::new();
    loop {
        let received = receive(&queue, &mut [0], &mut descriptors, TransferWait::Never)?;
        match received {
            ReceiveOutcome { descriptors: DescriptorDelivery::Truncated, .. } => {
                return Err(io::Error::other("the limit of open files is too low"));
            }
            ReceiveOutcome { bytes: 0, .. } => return Ok(descriptors),
            ReceiveOutcome { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read as _, Write as _};

    #[test]
    fn all_descriptors_leave_the_queue_in_their_order() {
        let pipes: Vec<_> = (0..300).map(|_| io::pipe().unwrap()).collect();
        let readers: Vec<_> = pipes.iter().map(|(reader, _)| reader.as_fd()).collect();
        let queue = fill(&readers).unwrap();
        let copy = queue.try_clone().unwrap();
        let writers: Vec<_> = pipes.into_iter().map(|(_, writer)| writer).collect();
        let taken = take_all(queue).unwrap();
        assert_eq!(taken.len(), 300);
        for (number, (reader, mut writer)) in taken.into_iter().zip(writers).enumerate() {
            write!(writer, "{number}").unwrap();
            drop(writer);
            let mut text = String::new();
            File::from(reader).read_to_string(&mut text).unwrap();
            assert_eq!(text, number.to_string());
        }
        assert!(take_all(copy).unwrap().is_empty());
        assert!(take_all(fill(&[]).unwrap()).unwrap().is_empty());
        assert!(take_all(File::open("/dev/null").unwrap()).is_err());
    }

    #[test]
    fn descriptors_are_closed_with_the_queue() {
        let (reader, mut writer) = io::pipe().unwrap();
        let queue = fill(&[reader.as_fd()]).unwrap();
        drop(reader);
        writer.write_all(b"x").unwrap();
        drop(queue);
        assert_eq!(writer.write_all(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
