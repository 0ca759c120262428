//! Other ends that do not read, do not answer in order, or end only one direction of the socket.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod support;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::num::NonZeroU32;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{InterfaceName, MemberName, ObjectPath};
use diligence_client::{
    CallError, CallOptions, ConnectOptions, Connection, Ended, ListenOptions, PeerListener,
    ReceivedMessage, Reconnect, ReconnectLimits, StartedCall, Timeout,
};
use support::{PATIENCE, TestDirectory};

/// A connection, and its other end, at which a test reads and writes bytes itself.
struct SocketEnds {
    connection: Connection,
    other: UnixStream,
    /// It is not used, but keeps the socket file.
    _listener: PeerListener,
    _directory: TestDirectory,
}

impl SocketEnds {
    fn connect(name: &str) -> Self {
        let directory = TestDirectory::new(name);
        let address = format!("unix:path={}", directory.file("socket"));
        let listener = PeerListener::bind(&address, ListenOptions::default()).unwrap();
        let (connection, other) = thread::scope(|scope| {
            let connecting = scope.spawn(|| Connection::open_peer(&address).unwrap());
            let other = accept(&listener);
            (connecting.join().unwrap(), bytes_of(&other))
        });
        Self { connection, other, _listener: listener, _directory: directory }
    }
}

fn accept(listener: &PeerListener) -> Connection {
    let peer = listener.accept(Some(PATIENCE)).unwrap().expect("a connection");
    Connection::accept_peer(peer).unwrap()
}

fn bytes_of(connection: &Connection) -> UnixStream {
    UnixStream::from(connection.as_fd().try_clone_to_owned().unwrap())
}

fn start_call(connection: &Connection) -> StartedCall {
    let message = Builder::method_call(ObjectPath::ROOT, MemberName::literal("Ask"));
    let options = CallOptions { timeout: Timeout::After(PATIENCE), ..CallOptions::default() };
    connection.start_call(&message, &(), options).unwrap()
}

/// Waits in another thread for a reply. Returns when that thread probably reads from the socket.
fn read_for(call: StartedCall) -> thread::JoinHandle<Result<ReceivedMessage, CallError>> {
    let reader = thread::spawn(move || call.wait());
    thread::sleep(Duration::from_millis(100));
    reader
}

fn reply_to(serial: NonZeroU32) -> Vec<u8> {
    let mut bytes = Vec::new();
    Builder::method_return(serial).write(&mut bytes, NonZeroU32::MIN, &(7_u32,)).unwrap();
    bytes
}

fn emit_much(connection: &Connection) -> NonZeroU32 {
    connection.send(&signal(), &(&*vec![0_u8; MUCH],), Vec::new()).unwrap()
}

fn signal() -> Builder<'static> {
    let (path, interface) = (ObjectPath::literal("/a"), InterfaceName::literal("a.b"));
    Builder::signal(path, interface, MemberName::literal("C"))
}

fn number(reply: &ReceivedMessage) -> u32 {
    reply.read::<(u32,)>().unwrap().0
}

/// Queues much that the other end does not read, and waits for the reply to a call meanwhile.
fn check_reply_beside_full_socket(name: &str, has_reader: bool) {
    let SocketEnds { connection, other, .. } = &SocketEnds::connect(name);
    connection.set_call_timeout(Some(Duration::from_millis(50)));
    let earlier = has_reader.then(|| read_for(start_call(connection)));
    let signal = emit_much(connection);
    connection.set_call_timeout(Some(PATIENCE));
    let reply = reply_to(signal.checked_add(1).unwrap());
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(300));
            (&*other).write_all(&reply).unwrap();
        });
        let start = Instant::now();
        let reply = connection.peer_proxy("/", "a.b").unwrap().call("Ask", &());
        assert_eq!(number(&reply.unwrap()), 7);
        assert!(start.elapsed() < PATIENCE / 4, "{:?}", start.elapsed());
    });
    other.shutdown(Shutdown::Both).unwrap();
    earlier.into_iter().for_each(|earlier| drop(earlier.join().unwrap()));
}

#[test]
fn replies_arrive_while_the_other_end_does_not_read() {
    check_reply_beside_full_socket("full-alone", false);
}

#[test]
fn replies_arrive_through_another_thread_while_the_other_end_does_not_read() {
    check_reply_beside_full_socket("full-reader", true);
}

/// The thread that sends has to read when the other one leaves.
#[test]
fn two_sides_that_both_send_much_do_not_wait_for_each_other() {
    let SocketEnds { connection, other, .. } = SocketEnds::connect("both-send");
    let call = start_call(&connection);
    let reply = reply_to(call.serial());
    let reader = read_for(call);
    let mut signals = Vec::new();
    signal().write(&mut signals, NonZeroU32::MIN, &(&*vec![0_u8; MUCH],)).unwrap();
    let (done, is_done) = mpsc::channel();
    let sender = thread::spawn(move || {
        emit_much(&connection);
        connection.flush().unwrap();
        done.send(()).unwrap();
    });
    // The sender waits for room by now.
    thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    (&other).write_all(&reply).unwrap();
    assert_eq!(number(&reader.join().unwrap().unwrap()), 7);
    (&other).write_all(&signals).unwrap();
    let drain = thread::spawn(move || (&other).read_to_end(&mut Vec::new()));
    is_done.recv_timeout(PATIENCE).expect("everything is sent");
    assert!(start.elapsed() < PATIENCE / 2, "{:?}", start.elapsed());
    sender.join().unwrap();
    drain.join().unwrap().unwrap();
}

/// A thread that sends notices first that the other end has closed the socket.
#[test]
fn replies_that_came_before_the_end_are_not_lost() {
    for round in 0..100 {
        let SocketEnds { connection, other, .. } = &SocketEnds::connect("reply-and-close");
        let call = start_call(connection);
        let reply = reply_to(call.serial());
        thread::scope(|scope| {
            let reader = scope.spawn(|| call.wait());
            scope.spawn(|| {
                while connection.emit("/a", "a.b", "C", &()).is_ok() && connection.flush().is_ok() {
                }
            });
            thread::sleep(Duration::from_micros(500));
            (&*other).write_all(&reply).unwrap();
            other.shutdown(Shutdown::Both).unwrap();
            let reply = reader.join().unwrap();
            assert_eq!(number(&reply.unwrap_or_else(|error| panic!("{round}: {error}"))), 7);
        });
    }
}

/// A bus that reads no more, and does not close the socket.
#[test]
fn a_connection_is_restored_while_a_thread_reads() {
    let directory = TestDirectory::new("half-closed");
    let address = format!("unix:path={}", directory.file("socket"));
    let listener = PeerListener::bind(&address, ListenOptions::default()).unwrap();
    let bus = thread::spawn(move || {
        let greeted = || {
            let connection = accept(&listener);
            let hello = connection.next_request(Some(PATIENCE)).unwrap().expect("Hello");
            hello.reply(&(":1.1",)).unwrap();
            connection.flush().unwrap();
            connection
        };
        let first = greeted();
        thread::sleep(Duration::from_millis(200));
        bytes_of(&first).shutdown(Shutdown::Read).unwrap();
        let second = greeted();
        while let Ok(Some(request)) = second.next_request(Some(PATIENCE)) {
            request.reply(&(7_u32,)).unwrap();
        }
        drop(first);
    });
    let reconnect = Reconnect::WhenLost(ReconnectLimits::default());
    let options = ConnectOptions { reconnect, ..ConnectOptions::default() };
    let connection = Connection::open_with(&address.parse().unwrap(), &options).unwrap();
    let reader = read_for(start_call(&connection));
    thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    let lost = start_call(&connection).wait().unwrap_err();
    assert!(matches!(lost, CallError::Disconnected(Ended::Closed)), "{lost}");
    let lost = reader.join().unwrap().unwrap_err();
    assert!(matches!(lost, CallError::Disconnected(Ended::Closed)), "{lost}");
    assert!(start.elapsed() < PATIENCE / 4, "{:?}", start.elapsed());
    for _ in 0..100 {
        assert_eq!(number(&start_call(&connection).wait().unwrap()), 7);
    }
    drop(connection);
    bus.join().unwrap();
}

/// More bytes than a socket holds.
const MUCH: usize = 4 * 1024 * 1024;
