use std::fs::File;
use std::os::fd::OwnedFd;

use sys::transfer::receive;

use super::*;

const A: PeerId = PeerId::new(0, 0);
const B: PeerId = PeerId::new(1, 0);

const fn bytes(count: usize) -> Load {
    Load { bytes: count, fds: 0 }
}

fn push(queue: &mut WriteQueue, from: PeerId, head: &[u8], body: OutgoingBody<'_>) {
    queue.push(
        Outgoing { from: Some(from), head, body, fds: None },
        Charge::Free,
        &mut Spare::default(),
    );
}

fn write(queue: &mut WriteQueue, socket: &OwnedFd) -> WriteProgress {
    queue.write_to(socket.as_fd(), u64::MAX, &mut Spare::default(), |_, _| {})
}

fn open_files(count: usize) -> SharedFds {
    let open =
        || CountedFd::from(OwnedFd::from(File::open("/dev/null").expect("it is always there")));
    (0..count).map(|_| open()).collect()
}

/// Writes everything, and reads it at the other end whenever the socket is full. Returns the
/// received bytes, and the number of descriptors of each read that had some.
fn drain(queue: &mut WriteQueue) -> (Vec<u8>, Vec<usize>) {
    let (ours, theirs) = sys::socket::socket_pair().unwrap();
    let (mut bytes, mut counts) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        let outcome = write(queue, &ours).outcome;
        loop {
            let mut fds = Vec::new();
            match receive(&theirs, &mut buffer, &mut fds, TransferWait::Never) {
                Ok(received) => bytes.extend_from_slice(&buffer[..received.bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
            counts.extend(Some(fds.len()).filter(|&count| count > 0));
        }
        match outcome {
            Outcome::Empty => return (bytes, counts),
            Outcome::Blocked => {}
            other => panic!("{other:?} with an open socket"),
        }
    }
}

#[test]
fn bytes_leave_in_the_order_in_which_they_came() {
    let large = Rc::new((0..1_000_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    let mut queue = WriteQueue::default();
    let mut expected = Vec::new();
    for round in 0..200_u8 {
        let head = [round; 40];
        push(&mut queue, A, &head, OutgoingBody::Bytes(b"body"));
        expected.extend_from_slice(&head);
        expected.extend_from_slice(b"body");
        if round % 50 == 7 {
            let backing = if round < 100 { Backing::Owned } else { Backing::Scratch };
            let (memory, range) = (Rc::clone(&large), 8..large.len());
            let body = OutgoingBody::Shared(SharedSlice { memory, range, backing });
            push(&mut queue, B, b"large", body);
            expected.extend_from_slice(b"large");
            expected.extend_from_slice(&large[8..]);
        }
    }
    assert_eq!(queue.len(), expected.len());
    let (bytes, _) = drain(&mut queue);
    assert!(bytes == expected, "the received bytes differ from the sent ones");
    assert_eq!(Rc::strong_count(&large), 1, "nobody holds it any longer");
    assert!(queue.contents.is_none(), "an empty queue has no memory");
}

#[test]
fn lent_memory_can_be_reclaimed() {
    let memory = Rc::new(vec![7; 1 << 20]);
    let mut queue = WriteQueue::default();
    let range = 100..memory.len();
    let slice = SharedSlice { memory: Rc::clone(&memory), range, backing: Backing::Scratch };
    push(&mut queue, A, b"head", OutgoingBody::Shared(slice));
    let (ours, _theirs) = sys::socket::socket_pair().unwrap();
    assert!(matches!(write(&mut queue, &ours).outcome, Outcome::Blocked));
    assert_eq!(Rc::strong_count(&memory), 2);
    queue.return_lent();
    assert_eq!(Rc::strong_count(&memory), 1);
    let (bytes, _) = drain(&mut queue);
    assert!(bytes.iter().all(|&byte| byte == 7), "what is left is what it was");
}

#[test]
fn descriptors_leave_with_their_own_message() {
    let mut queue = WriteQueue::default();
    for (head, count) in [(b"a", 0), (b"b", 2), (b"c", 0), (b"d", 3), (b"e", 253)] {
        let fds = (count > 0).then(|| open_files(count));
        let body = OutgoingBody::Bytes(b"-");
        queue.push(Outgoing { from: None, head, body, fds }, Charge::Free, &mut Spare::default());
    }
    let (ours, _theirs) = sys::socket::socket_pair().unwrap();
    let progress = write(&mut queue, &ours);
    let all = Amount { messages: 5, bytes: 10, fds: 258 };
    assert_eq!(progress.written, all);
    assert!(matches!(progress.outcome, Outcome::Empty));
}

#[test]
fn descriptors_are_received_only_with_their_own_message() {
    let mut queue = WriteQueue::default();
    for (head, count) in [(b"a", 0), (b"b", 2), (b"c", 0), (b"d", 3)] {
        let fds = (count > 0).then(|| open_files(count));
        let body = OutgoingBody::Bytes(b"-");
        queue.push(Outgoing { from: None, head, body, fds }, Charge::Free, &mut Spare::default());
    }
    assert_eq!(drain(&mut queue), (b"a-b-c-d-".to_vec(), vec![2, 3]));
}

#[test]
fn only_charged_messages_are_released_and_each_once() {
    let mut queue = WriteQueue::default();
    push(&mut queue, A, &[0; 10], OutgoingBody::Bytes(&[0; 5]));
    push(&mut queue, B, &[0; 20], OutgoingBody::Bytes(&[]));
    let mut changed = Vec::new();
    queue.set_charges(Charge::OnSender, |from, len| changed.push((from, len)));
    queue.set_charges(Charge::OnSender, |from, len| changed.push((from, len)));
    assert_eq!(changed, [(A, bytes(15)), (B, bytes(20))]);
    push(&mut queue, A, &[0; 30], OutgoingBody::Bytes(&[]));
    let (ours, _theirs) = sys::socket::socket_pair().unwrap();
    let mut released = Vec::new();
    let release = |from, len| released.push((from, len));
    queue.write_to(ours.as_fd(), u64::MAX, &mut Spare::default(), release);
    assert_eq!(released, [(A, bytes(15)), (B, bytes(20))]);
}

#[test]
fn a_message_over_the_allowance_of_descriptors_waits_and_can_be_dropped() {
    let mut queue = WriteQueue::default();
    for (head, count) in [(b"a", 2), (b"b", 3), (b"c", 0)] {
        let fds = (count > 0).then(|| open_files(count));
        let body = OutgoingBody::Bytes(b"-");
        let message = Outgoing { from: Some(A), head, body, fds };
        queue.push(message, Charge::OnSender, &mut Spare::default());
    }
    let (ours, theirs) = sys::socket::socket_pair().unwrap();
    let progress = queue.write_to(ours.as_fd(), 4, &mut Spare::default(), |_, _| {});
    assert!(matches!(progress.outcome, Outcome::OverAllowance));
    assert_eq!(progress.written, Amount { messages: 1, bytes: 2, fds: 2 });
    let mut released = Vec::new();
    let release = |from, load| released.push((from, load));
    let contents = queue.contents.as_mut().unwrap();
    let dropped = contents.drop_first(TransferShortage::Descriptors, release);
    let dropped = dropped.expect("nothing of it has left");
    assert_eq!((dropped.from, &*dropped.head), (Some(A), &b"b-"[..]));
    assert_eq!(dropped.amount, Amount { messages: 1, bytes: 2, fds: 3 });
    assert_eq!(released, [(A, Load { bytes: 2, fds: 3 })]);
    assert!(matches!(write(&mut queue, &ours).outcome, Outcome::Empty));
    let mut bytes = [0; 16];
    let mut fds = Vec::new();
    let received = receive(&theirs, &mut bytes, &mut fds, TransferWait::Never).unwrap();
    assert_eq!((&bytes[..received.bytes], fds.len()), (&b"a-"[..], 2));
    let received = receive(&theirs, &mut bytes, &mut fds, TransferWait::Never).unwrap();
    assert_eq!((&bytes[..received.bytes], fds.len()), (&b"c-"[..], 2));
}

#[test]
fn a_message_that_has_left_in_part_is_not_dropped() {
    let mut queue = WriteQueue::default();
    push(&mut queue, A, &vec![7; 1 << 20], OutgoingBody::Bytes(&[]));
    let (ours, _theirs) = sys::socket::socket_pair().unwrap();
    assert!(matches!(write(&mut queue, &ours).outcome, Outcome::Blocked));
    let waiting = queue.len();
    let dropped = queue.contents.as_mut().unwrap().drop_first(TransferShortage::Memory, |_, _| {});
    assert!(dropped.is_none());
    assert_eq!(queue.len(), waiting);
}

#[test]
fn a_closed_peer_is_distinguished_from_a_slow_one() {
    let (ours, theirs) = sys::socket::socket_pair().unwrap();
    let mut queue = WriteQueue::default();
    push(&mut queue, A, &vec![0; 1 << 20], OutgoingBody::Bytes(&[]));
    let progress = write(&mut queue, &ours);
    assert!(matches!(progress.outcome, Outcome::Blocked));
    assert_eq!(progress.written.messages, 0);
    drop(theirs);
    assert!(matches!(write(&mut queue, &ours).outcome, Outcome::Gone));
}
