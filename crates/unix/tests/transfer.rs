//! Bytes and descriptors through real sockets.

use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_getfd};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg, sockopt};
use rustix::process::{geteuid, getpid};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;
use std::time::Duration;
use unix::socket::{packet_pair, set_receive_timeout, socket_pair};
use unix::transfer::{
    DescriptorDelivery, MAX_DESCRIPTORS, ReceiveOutcome, TransferWait, receive, receive_packet,
    send, send_credentials,
};

/// Sends all of `data` with `descriptors`, without waiting.
fn give(socket: &OwnedFd, data: &[u8], descriptors: &[BorrowedFd<'_>]) {
    let sent = send(socket, &[IoSlice::new(data)], descriptors, TransferWait::Never);
    assert_eq!(sent.expect("there is room"), data.len());
}

/// Receives once, at most `room` bytes, without waiting.
fn take(socket: &OwnedFd, room: usize) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut buffer = vec![0; room];
    let mut descriptors = Vec::new();
    let received = receive(socket, &mut buffer, &mut descriptors, TransferWait::Never)?;
    assert_eq!(received.descriptors, DescriptorDelivery::Complete);
    buffer.truncate(received.bytes);
    Ok((buffer, descriptors))
}

/// Receives once and compares the bytes and the number of descriptors.
fn expect(socket: &OwnedFd, room: usize, data: &[u8], descriptors: usize) {
    let (bytes, received) = take(socket, room).expect("there is something to receive");
    assert_eq!((&bytes[..], received.len()), (data, descriptors));
}

/// Returns the inode, which distinguishes open sockets.
fn inode(descriptor: impl AsFd) -> u64 {
    fstat(descriptor).expect("it is open").st_ino
}

#[test]
fn every_number_of_descriptors_arrives_in_order() {
    let (here, there) = socket_pair().unwrap();
    let (one, other) = socket_pair().unwrap();
    for count in [0, 1, 2, 3, 16, MAX_DESCRIPTORS] {
        let sent: Vec<_> = [one.as_fd(), other.as_fd()].into_iter().cycle().take(count).collect();
        give(&here, b"x", &sent);
        let (bytes, received) = take(&there, 10).unwrap();
        assert_eq!(bytes, b"x");
        let inodes = |all: &[BorrowedFd<'_>]| all.iter().map(inode).collect::<Vec<_>>();
        let received: Vec<_> = received.iter().map(AsFd::as_fd).collect();
        assert_eq!(inodes(&received), inodes(&sent), "{count} descriptors");
        for descriptor in received {
            assert_eq!(fcntl_getfd(descriptor).unwrap(), FdFlags::CLOEXEC);
        }
    }
}

#[test]
fn too_many_descriptors_are_refused() {
    let (here, there) = socket_pair().unwrap();
    let sent = vec![here.as_fd(); MAX_DESCRIPTORS + 1];
    let error = send(&here, &[IoSlice::new(b"x")], &sent, TransferWait::Never).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(take(&there, 10).unwrap_err().kind(), ErrorKind::WouldBlock, "nothing was sent");
}

#[test]
fn descriptors_end_the_chunk_that_they_come_with() {
    let (here, there) = socket_pair().unwrap();
    give(&here, b"aa", &[]);
    give(&here, b"bb", &[here.as_fd()]);
    give(&here, b"cc", &[]);
    give(&here, b"dd", &[here.as_fd(), there.as_fd()]);
    give(&here, b"ee", &[here.as_fd()]);
    expect(&there, 100, b"aabb", 1);
    expect(&there, 100, b"ccdd", 2);
    expect(&there, 100, b"ee", 1);
}

#[test]
fn descriptors_come_with_the_first_byte_of_their_send() {
    let (here, there) = socket_pair().unwrap();
    give(&here, b"aa", &[]);
    give(&here, b"bbb", &[here.as_fd()]);
    expect(&there, 2, b"aa", 0);
    expect(&there, 1, b"b", 1);
    expect(&there, 100, b"bb", 0);
}

#[test]
fn descriptors_are_appended_to_what_the_vector_holds() {
    let (here, there) = socket_pair().unwrap();
    let mut descriptors = Vec::new();
    for count in 1..4 {
        give(&here, b"x", &[here.as_fd()]);
        let received = receive(&there, &mut [0], &mut descriptors, TransferWait::Never).unwrap();
        assert_eq!(
            received,
            ReceiveOutcome { bytes: 1, descriptors: DescriptorDelivery::Complete }
        );
        assert_eq!(descriptors.len(), count);
    }
}

#[test]
fn received_descriptors_outlive_the_senders() {
    let (here, there) = socket_pair().unwrap();
    let (carried, peer) = socket_pair().unwrap();
    give(&here, b"x", &[carried.as_fd()]);
    drop(carried);
    let (_, received) = take(&there, 1).unwrap();
    give(&received[0], b"still open", &[]);
    expect(&peer, 100, b"still open", 0);
}

#[test]
fn slices_are_joined_in_order_up_to_the_limit_of_the_kernel() {
    let (here, there) = socket_pair().unwrap();
    let slices = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"c")];
    assert_eq!(send(&here, &slices, &[], TransferWait::Never).unwrap(), 3);
    expect(&there, 100, b"abc", 0);

    let many = vec![IoSlice::new(b"x"); 1500];
    assert_eq!(send(&here, &many, &[], TransferWait::Never).unwrap(), 1024);
}

#[test]
fn non_blocking_transfers_never_wait() {
    let (here, there) = socket_pair().unwrap();
    let would_block = |result: io::Result<()>| {
        assert_eq!(result.map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    };
    would_block(take(&there, 10).map(drop));
    let mut total = 0;
    let chunk = [7; 100_000];
    let full = loop {
        match send(&here, &[IoSlice::new(&chunk)], &[], TransferWait::Never) {
            Ok(bytes) => total += bytes,
            Err(error) => break Err(error),
        }
    };
    would_block(full);
    assert!(total > 0);
    let mut received = 0;
    while let Ok((bytes, _)) = take(&there, 65536) {
        received += bytes.len();
    }
    assert_eq!(received, total);
}

#[test]
fn a_blocking_receive_waits_for_data_or_its_timeout() {
    let (here, there) = socket_pair().unwrap();
    let receiver = thread::spawn(move || {
        let mut buffer = [0; 8];
        let bytes =
            receive(&there, &mut buffer, &mut Vec::new(), TransferWait::Block).unwrap().bytes;
        assert_eq!(&buffer[..bytes], b"late");
        set_receive_timeout(&there, Some(Duration::from_millis(20))).unwrap();
        receive(&there, &mut buffer, &mut Vec::new(), TransferWait::Block).unwrap_err().kind()
    });
    // Time for the receiver to block, which is not observable.
    thread::sleep(Duration::from_millis(20));
    assert_eq!(send(&here, &[IoSlice::new(b"late")], &[], TransferWait::Block).unwrap(), 4);
    assert_eq!(receiver.join().unwrap(), ErrorKind::WouldBlock);
    let zero = set_receive_timeout(&here, Some(Duration::ZERO)).unwrap_err();
    assert_eq!(zero.kind(), ErrorKind::InvalidInput);
    set_receive_timeout(&here, None).unwrap();
}

#[test]
fn the_end_of_the_stream_is_zero_bytes_and_then_an_error_to_write() {
    let (here, there) = socket_pair().unwrap();
    give(&here, b"last", &[]);
    drop(here);
    expect(&there, 100, b"last", 0);
    expect(&there, 100, b"", 0);
    let error = send(&there, &[IoSlice::new(b"x")], &[], TransferWait::Never).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

#[test]
fn closing_with_unread_data_resets_the_peer() {
    let (here, there) = socket_pair().unwrap();
    give(&here, b"unread", &[]);
    drop(there);
    assert_eq!(take(&here, 10).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn packets_of_a_peer_that_closes_with_unread_ones_arrive() {
    let (here, there) = packet_pair().unwrap();
    give(&here, b"unread", &[]);
    give(&there, b"last", &[]);
    drop(there);
    let mut buffer = [0; 10];
    let mut take = || receive_packet(&here, &mut buffer).unwrap();
    assert_eq!([take(), take(), take()], [4, 0, 0]);
}

#[test]
fn descriptors_of_packets_are_refused_or_closed() {
    let (here, there) = packet_pair().unwrap();
    let (reader, writer) = io::pipe().unwrap();
    let sent = send(&here, &[IoSlice::new(b"text")], &[writer.as_fd()], TransferWait::Never);
    match sent {
        Err(error) => assert_eq!(error.kind(), ErrorKind::PermissionDenied),
        // The kernel is older than Linux 6.16.
        Ok(len) => assert_eq!(receive_packet(&there, &mut [0; 10]).unwrap(), len),
    }
    drop(writer);
    // The pipe has no writer any more.
    assert_eq!(io::read_to_string(reader).unwrap(), "");
}

#[test]
fn tcp_carries_the_bytes_but_not_the_descriptors() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    let sent = send(&client, &[IoSlice::new(b"bytes")], &[client.as_fd()], TransferWait::Block);
    assert_eq!(sent.unwrap(), 5);
    let mut descriptors = Vec::new();
    let mut buffer = [0; 100];
    let received = receive(&server, &mut buffer, &mut descriptors, TransferWait::Block).unwrap();
    assert_eq!(received, ReceiveOutcome { bytes: 5, descriptors: DescriptorDelivery::Complete });
    assert_eq!(descriptors.len(), 0);
}

#[test]
fn credentials_come_with_a_byte() {
    let (one, other) = socket_pair().expect("sockets");
    sockopt::set_socket_passcred(&other, true).expect("a Unix socket");
    send_credentials(&one, TransferWait::Never).expect("there is room");
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [1; 2];
    let mut slices = [IoSliceMut::new(&mut byte)];
    let received = recvmsg(&other, &mut slices, &mut control, RecvFlags::DONTWAIT);
    assert_eq!((received.expect("a byte").bytes, byte[0]), (1, 0));
    let mut found = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmCredentials(credentials) => Some(credentials),
        _ => None,
    });
    let credentials = found.next().expect("credentials");
    assert_eq!((credentials.pid, credentials.uid), (getpid(), geteuid()));
}
