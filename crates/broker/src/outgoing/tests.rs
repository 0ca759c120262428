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
        CopyTarget::Queue,
        &mut QueueMemory::default(),
    );
}

fn write(queue: &mut WriteQueue, socket: &OwnedFd) -> WriteProgress {
    queue.write_to(socket.as_fd(), u64::MAX, &mut QueueMemory::default(), |_, _| {})
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
        queue.push(
            Outgoing { from: None, head, body, fds },
            Charge::Free,
            CopyTarget::Queue,
            &mut QueueMemory::default(),
        );
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
        queue.push(
            Outgoing { from: None, head, body, fds },
            Charge::Free,
            CopyTarget::Queue,
            &mut QueueMemory::default(),
        );
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
    queue.write_to(ours.as_fd(), u64::MAX, &mut QueueMemory::default(), release);
    assert_eq!(released, [(A, bytes(15)), (B, bytes(20))]);
}

#[test]
fn a_message_over_the_allowance_of_descriptors_waits_and_can_be_dropped() {
    let mut queue = WriteQueue::default();
    for (head, count) in [(b"a", 2), (b"b", 3), (b"c", 0)] {
        let fds = (count > 0).then(|| open_files(count));
        let body = OutgoingBody::Bytes(b"-");
        let message = Outgoing { from: Some(A), head, body, fds };
        queue.push(message, Charge::OnSender, CopyTarget::Queue, &mut QueueMemory::default());
    }
    let (ours, theirs) = sys::socket::socket_pair().unwrap();
    let progress = queue.write_to(ours.as_fd(), 4, &mut QueueMemory::default(), |_, _| {});
    assert!(matches!(progress.outcome, Outcome::OverAllowance));
    assert_eq!(progress.written, Amount { messages: 1, bytes: 2, fds: 2 });
    let mut released = Vec::new();
    let release = |from, load| released.push((from, load));
    let contents = queue.contents.as_mut().unwrap();
    let dropped = contents.drop_first(TransferShortage::Descriptors, &Staging::default(), release);
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
    let dropped = queue.contents.as_mut().unwrap().drop_first(
        TransferShortage::Memory,
        &Staging::default(),
        |_, _| {},
    );
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

/// Queues the same message for several queues in the staging area. Returns how many bytes were
/// copied for each.
fn stage(
    queues: &mut [WriteQueue],
    memory: &mut QueueMemory,
    head: &[u8],
    body: &[u8],
) -> Vec<usize> {
    memory.staging.begin_input();
    let message = || Outgoing { from: Some(A), head, body: OutgoingBody::Bytes(body), fds: None };
    let push =
        |queue: &mut WriteQueue| queue.push(message(), Charge::Free, CopyTarget::Staging, memory);
    queues.iter_mut().map(push).collect()
}

#[test]
fn a_message_with_several_recipients_is_staged_once() {
    let mut memory = QueueMemory::default();
    let mut queues = [WriteQueue::default(), WriteQueue::default(), WriteQueue::default()];
    assert_eq!(stage(&mut queues, &mut memory, b"head", b"body"), [8, 0, 0]);
    assert_eq!(stage(&mut queues[..2], &mut memory, b"head", b"BODY"), [8, 0]);
    assert_eq!(stage(&mut queues, &mut memory, b"h", b""), [1, 0, 0]);
    for (queue, expected) in
        queues.iter_mut().zip(["headbodyheadBODYh"; 2].into_iter().chain(["headbodyh"]))
    {
        assert_eq!(memory.staging.len(), 17);
        let (ours, theirs) = sys::socket::socket_pair().unwrap();
        let progress = queue.write_to(ours.as_fd(), u64::MAX, &mut memory, |_, _| {});
        assert!(matches!(progress.outcome, Outcome::Empty));
        assert_eq!(progress.moved, 0);
        let mut bytes = [0; 32];
        let received = receive(&theirs, &mut bytes, &mut Vec::new(), TransferWait::Never).unwrap();
        assert_eq!(&bytes[..received.bytes], expected.as_bytes());
    }
    assert_eq!(memory.staging.len(), 0, "all queues are written");
}

#[test]
fn a_queue_of_a_full_socket_leaves_the_staging_area() {
    let mut memory = QueueMemory::default();
    let mut queues = [WriteQueue::default()];
    let body = vec![7; 1 << 20];
    let large = Rc::new(vec![8; 100]);
    stage(&mut queues, &mut memory, b"head", &body);
    let shared = SharedSlice { memory: large, range: 10..90, backing: Backing::Owned };
    push(&mut queues[0], B, b"queued", OutgoingBody::Shared(shared));
    stage(&mut queues, &mut memory, b"last", b"");
    let len = queues[0].len();
    let (ours, _theirs) = sys::socket::socket_pair().unwrap();
    let progress = queues[0].write_to(ours.as_fd(), u64::MAX, &mut memory, |_, _| {});
    assert!(matches!(progress.outcome, Outcome::Blocked));
    assert_eq!(memory.staging.len(), 0);
    assert_eq!(progress.moved + progress.written.bytes, 4 + (1 << 20) + 4);
    // Another message in the staging area does not change the queue.
    let mut other = [WriteQueue::default()];
    stage(&mut other, &mut memory, &[9; 100], &body);
    let (bytes, _) = drain(&mut queues[0]);
    assert_eq!(bytes.len() as u64, len as u64 - progress.written.bytes);
    let expected = [&[7; 10], &b"queued"[..], &[8; 80], b"last"].concat();
    assert_eq!(bytes[bytes.len() - expected.len()..], expected);
    assert!(bytes[..bytes.len() - expected.len()].iter().all(|&byte| byte == 7));
    assert!(memory.staging.len() > 0);
    other[0].discard(&mut memory);
    assert_eq!(memory.staging.len(), 0, "the only user is closed");
}

#[test]
fn a_staged_message_that_the_kernel_refuses_is_dropped_with_its_header() {
    let mut memory = QueueMemory::default();
    let mut queues = [WriteQueue::default()];
    stage(&mut queues, &mut memory, b"first", b"body");
    stage(&mut queues, &mut memory, b"second", b"");
    let contents = queues[0].contents.as_mut().unwrap();
    let dropped = contents.drop_first(TransferShortage::Size, &memory.staging, |_, _| {}).unwrap();
    assert_eq!(dropped.head, b"firstbody");
    let (ours, theirs) = sys::socket::socket_pair().unwrap();
    queues[0].write_to(ours.as_fd(), u64::MAX, &mut memory, |_, _| {});
    let mut bytes = [0; 32];
    let received = receive(&theirs, &mut bytes, &mut Vec::new(), TransferWait::Never).unwrap();
    assert_eq!(&bytes[..received.bytes], b"second");
}
