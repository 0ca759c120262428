//! Two programs that talk much want no bus between them, but most libraries have only half of that.
//! Here, a program listens or connects; both ends call, serve, signal and pass descriptors. The
//! other end can be a program of another library.

use std::fs::File;
use std::future::{Future, poll_fn};
use std::io::{BufRead, BufReader, Read, Write};
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::asynchronous::{self, LocalRuntime, Runtime};
use diligence_client::wire::body::UnixFd;
use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{InterfaceName, MemberName, ObjectPath};
use diligence_client::wire::sasl::FdPassing;
use diligence_client::{
    CallError, CallOptions, Connection, IncomingCall, ListenOptions, PeerListener, ReceivedMessage,
    ServedInterface, SubscriptionError, WelcomeError,
};

use crate::support::{PATIENCE, TestDirectory, successful};

const PATH: &str = "/org/example/Peer";
const INTERFACE: &str = "org.example.Peer";

/// An interface that adds a number, and reads descriptors.
fn interface() -> ServedInterface<u32> {
    ServedInterface::<u32>::builder(INTERFACE)
        .method("Add", &["number"], &["sum"], |summand, call, (number,): (u32,)| {
            call.emit("Added", &(number,)).expect("the connection lives");
            Ok((*summand + number,))
        })
        .raw_method("Upper", &[("in", "h")], &[("out", "h")], |_, call: IncomingCall| {
            let text = text_behind(call.message()).to_uppercase();
            call.reply_with_descriptors(&(UnixFd(0),), vec![pipe_with(&text)]).unwrap();
        })
        .signal::<(u32,)>("Added", &["number"])
        .build()
        .expect("a valid interface")
}

fn pipe_with(text: &str) -> OwnedFd {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    reader.into()
}

fn text_behind(message: &ReceivedMessage) -> String {
    let (place,): (UnixFd,) = message.read().unwrap();
    let mut text = String::new();
    let copy = message.descriptor(place).expect("a descriptor").try_clone().unwrap();
    File::from(copy).read_to_string(&mut text).unwrap();
    text
}

/// An address in a new directory.
fn address() -> (TestDirectory, String) {
    static USED: AtomicUsize = AtomicUsize::new(0);
    let directory = TestDirectory::new(&format!("peer-{}", USED.fetch_add(1, Ordering::Relaxed)));
    let address = format!("unix:path={}", directory.file("socket"));
    (directory, address)
}

/// Waits for a program that connects.
fn accept_from(listener: &PeerListener) -> Connection {
    let peer = listener.accept(Some(PATIENCE)).unwrap().expect("a connection");
    Connection::accept_peer(peer).unwrap()
}

/// Calls the object at the other end in every way.
fn use_peer(connection: &Connection, summand: u32) {
    assert_eq!(connection.fds(), FdPassing::Agreed);
    assert_eq!(connection.name_on_bus(), None);
    let peer = connection.peer_proxy(PATH, INTERFACE).unwrap();
    let added = peer.signals("Added").unwrap();
    let (sum,): (u32,) = peer.call("Add", &(5_u32,)).unwrap().read().unwrap();
    assert_eq!(sum, summand + 5);
    let signal = added.next(Some(PATIENCE)).unwrap().expect("a signal");
    assert_eq!(signal.read::<(u32,)>().unwrap(), (5,));
    let options = CallOptions { descriptors: vec![pipe_with("text")], ..CallOptions::default() };
    let call = peer.start_call("Upper", &(UnixFd(0),), options).unwrap();
    assert_eq!(text_behind(&call.wait().unwrap()), "TEXT");
    let error = peer.call("Missing", &()).unwrap_err();
    let name = error.remote_name().expect("the peer answers");
    assert_eq!(name, "org.freedesktop.DBus.Error.UnknownMethod");
    let explained = connection.explain(&error).to_string();
    let pid = format!("pid {}) failed: ", std::process::id());
    assert!(
        explained.starts_with("Missing of the peer (") && explained.contains(&pid),
        "{explained}"
    );
}

/// Uses the other end, and serves it as long as it may need that.
fn use_and_serve(connection: &Connection, summand: u32) {
    let serving = connection.clone();
    let served = thread::spawn(move || serving.serve_for(SERVING));
    use_peer(connection, summand);
    served.join().unwrap().expect("the other end serves as long");
}

#[test]
fn both_ends_call_and_serve() {
    let (_directory, address) = address();
    let listener = PeerListener::bind(&address, ListenOptions::default()).unwrap();
    let bound = listener.address().to_string();
    assert!(bound.starts_with(&address) && bound.contains("guid="), "{bound}");
    let server = thread::spawn(move || {
        let connection = accept_from(&listener);
        connection.add_object(PATH, &interface(), 100).unwrap();
        use_and_serve(&connection, 200);
        connection
    });
    let client = Connection::open_peer(&bound).unwrap();
    client.add_object(PATH, &interface(), 200).unwrap();
    use_and_serve(&client, 100);
    drop(server.join().unwrap());
}

/// A flood of signals does not keep a call from its deadline.
#[test]
fn calls_in_tasks_have_deadlines_while_signals_keep_arriving() {
    const LIMIT: Duration = Duration::from_millis(120);
    let (_directory, address) = address();
    let listener = PeerListener::bind(&address, ListenOptions::default()).unwrap();
    let flood = thread::spawn(move || {
        let connection = accept_from(&listener);
        let (path, interface) = (ObjectPath::literal("/a"), InterfaceName::literal("a.b"));
        let signal = Builder::signal(path, interface, MemberName::literal("C"));
        let mut signals = Vec::new();
        (0..1000).for_each(|_| signal.write(&mut signals, NonZeroU32::MIN, &()).unwrap());
        let start = Instant::now();
        // Ends when the other end has closed the connection.
        while start.elapsed() < PATIENCE / 2
            && connection.send_bytes(&signals).is_ok()
            && connection.flush().is_ok()
        {}
        start.elapsed()
    });
    let runtime = LocalRuntime::new().unwrap();
    runtime.block_on(async {
        let connection = asynchronous::Connection::open_peer(&address, &runtime).await.unwrap();
        let silent = connection.peer_proxy("/a", "a.b").unwrap();
        let options = CallOptions { timeout: LIMIT.into(), ..CallOptions::default() };
        let outcome = silent.start_call("Never", &(), options).await;
        assert!(matches!(outcome, Err(CallError::TimedOut { limit: LIMIT, .. })), "{outcome:?}");
    });
    drop(runtime);
    let flooded = flood.join().unwrap();
    assert!(flooded < PATIENCE / 4, "{flooded:?}");
}

#[test]
fn calls_that_the_other_end_does_not_read_end_in_time() {
    const LIMIT: Duration = Duration::from_millis(300);
    let (_directory, address) = address();
    let listener = PeerListener::bind(&address, ListenOptions::default()).unwrap();
    let silent = thread::spawn(move || accept_from(&listener));
    let connection = Connection::open_peer(&address).unwrap();
    let _silent = silent.join().unwrap();
    connection.set_call_timeout(Some(LIMIT));
    let peer = connection.peer_proxy(PATH, INTERFACE).unwrap();
    let larger_than_the_socket = vec![0_u8; 8 * 1024 * 1024];
    for arguments in [&larger_than_the_socket[..], &[]] {
        let start = Instant::now();
        let error = peer.call("Add", &(arguments,)).expect_err("nobody answers");
        assert!(matches!(error, CallError::TimedOut { limit: LIMIT, .. }), "{error}");
        let passed = start.elapsed();
        assert!(passed >= LIMIT && passed < LIMIT * 3 / 2, "{passed:?}");
    }
}

#[test]
fn both_ends_call_and_serve_in_tasks() {
    let runtime = LocalRuntime::new().unwrap();
    runtime.block_on(both_ends_in(&runtime));
}

#[cfg(feature = "tokio")]
#[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_ends_call_and_serve_in_tasks_of_tokio() {
    both_ends_in(&asynchronous::Tokio).await;
}

async fn both_ends_in(runtime: &(impl Runtime + Sync)) {
    let (_directory, address) = address();
    let options = ListenOptions::default();
    let listener = asynchronous::PeerListener::bind(&address, options, runtime).unwrap();
    let address = listener.address().to_string();
    let (server, client) = both(
        async {
            let peer = listener.accept().await.unwrap();
            asynchronous::Connection::accept_peer(peer, runtime).await.unwrap()
        },
        async { asynchronous::Connection::open_peer(&address, runtime).await.unwrap() },
    )
    .await;
    server.add_object(PATH, &interface(), 100).unwrap();
    client.add_object(PATH, &interface(), 200).unwrap();
    let mut serving = (pin!(server.serve()), pin!(client.serve()));
    let mut using = pin!(both(use_in_task(&server, 200), use_in_task(&client, 100)));
    poll_fn(|context| {
        assert!(serving.0.as_mut().poll(context).is_pending());
        assert!(serving.1.as_mut().poll(context).is_pending());
        using.as_mut().poll(context)
    })
    .await;
}

async fn use_in_task(connection: &asynchronous::Connection, summand: u32) {
    let peer = connection.peer_proxy(PATH, INTERFACE).unwrap();
    let added = peer.signals("Added").await.unwrap();
    let (sum,): (u32,) = peer.call("Add", &(5_u32,)).await.unwrap().read().unwrap();
    assert_eq!(sum, summand + 5);
    assert_eq!(added.next().await.unwrap().read::<(u32,)>().unwrap(), (5,));
    let options = CallOptions { descriptors: vec![pipe_with("text")], ..CallOptions::default() };
    let call = peer.start_call("Upper", &(UnixFd(0),), options);
    assert_eq!(text_behind(&call.await.unwrap()), "TEXT");
}

/// Runs two futures at once in one task.
async fn both<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (None, None);
    poll_fn(|context| {
        if first.is_none() {
            first = ready(one.as_mut().poll(context));
        }
        if second.is_none() {
            second = ready(other.as_mut().poll(context));
        }
        match (first.take(), second.take()) {
            (Some(one), Some(other)) => std::task::Poll::Ready((one, other)),
            (one, other) => {
                (first, second) = (one, other);
                std::task::Poll::Pending
            }
        }
    })
    .await
}

fn ready<T>(polled: std::task::Poll<T>) -> Option<T> {
    match polled {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}

#[test]
fn programs_of_glib_connect() {
    let (_directory, address) = address();
    let listener = PeerListener::bind(&address, ListenOptions::default()).unwrap();
    let script = r#"
import os, sys
from gi.repository import Gio, GLib
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
peer = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags, None, None)
signals = []
peer.signal_subscribe(None, None, None, None, None, 0, lambda *a: signals.append(a[5].unpack()))
def call(member, arguments, fds=None):
    return peer.call_with_unix_fd_list_sync(
        None, '/org/example/Peer', 'org.example.Peer', member, arguments, None, 0, 5000, fds, None)
print(call('Add', GLib.Variant('(u)', (5,)))[0].unpack()[0])
reader, writer = os.pipe()
os.write(writer, b'from glib')
os.close(writer)
reply, fds = call('Upper', GLib.Variant('(h)', (0,)), Gio.UnixFDList.new_from_array([reader]))
print(os.read(fds.get(reply.unpack()[0]), 100).decode())
while not signals:
    GLib.MainContext.default().iteration(True)
print(signals)
"#;
    let client = python(script, &listener.address().to_string());
    let connection = accept_from(&listener);
    connection.add_object(PATH, &interface(), 100).unwrap();
    connection.serve();
    let output = successful(&client.wait_with_output().unwrap());
    assert_eq!(output, "105\nFROM GLIB\n[(5,)]\n");
}

#[test]
fn servers_of_glib_are_connected_to() {
    let (_directory, address) = address();
    let script = r#"
import sys
from gi.repository import Gio, GLib
interface = Gio.DBusNodeInfo.new_for_xml('''<node><interface name="org.example.Peer">
  <method name="Add"><arg type="u" direction="in"/><arg type="u" direction="out"/></method>
</interface></node>''').interfaces[0]
def called(connection, sender, path, name, member, arguments, invocation):
    connection.emit_signal(None, path, name, 'Added', arguments)
    invocation.return_value(GLib.Variant('(u)', (arguments.unpack()[0] + 100,)))
connections = []
def connected(server, connection):
    connections.append(connection)
    connection.register_object('/org/example/Peer', interface, called, None, None)
    return True
flags = Gio.DBusServerFlags.NONE
server = Gio.DBusServer.new_sync(sys.argv[1], flags, Gio.dbus_generate_guid(), None, None)
server.connect('new-connection', connected)
server.start()
print('ready', flush=True)
GLib.MainLoop().run()
"#;
    let mut server = python(script, &address);
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let connection = Connection::open_peer(&address).unwrap();
    let peer = connection.peer_proxy(PATH, INTERFACE).unwrap();
    let added = peer.signals("Added").unwrap();
    assert_eq!(peer.call("Add", &(7_u32,)).unwrap().read::<(u32,)>().unwrap(), (107,));
    let signal = added.next(Some(PATIENCE)).unwrap().expect("a signal");
    assert_eq!(signal.read::<(u32,)>().unwrap(), (7,));
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(matches!(added.next(Some(PATIENCE)), Err(SubscriptionError::Disconnected(_))));
}

fn python(script: &str, address: &str) -> Child {
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", script, address]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|e| panic!("python3: {e}; the Debian package is python3-gi"))
}

#[test]
fn peers_that_do_not_authenticate_are_rejected() {
    let (directory, address) = address();
    let handshake = Duration::from_millis(100);
    let options = ListenOptions { handshake, ..ListenOptions::default() };
    let listener = PeerListener::bind(&address, options).unwrap();
    let welcome = |bytes: &[u8]| {
        let mut client = std::os::unix::net::UnixStream::connect(directory.file("socket")).unwrap();
        client.write_all(bytes).unwrap();
        let peer = listener.accept(Some(PATIENCE)).unwrap().expect("a connection");
        Connection::accept_peer(peer).expect_err("this client does not authenticate")
    };
    assert_eq!(welcome(b""), WelcomeError::TimedOut);
    assert_eq!(welcome(b"\0AUTH ANONYMOUS\r\n"), WelcomeError::TimedOut);
    assert!(matches!(welcome(b"GET / HTTP/1.0\r\n"), WelcomeError::Violation(_)));
    assert!(matches!(welcome(b"\0BEGIN\r\n"), WelcomeError::Violation(_)));
    assert!(listener.accept(Some(Duration::ZERO)).unwrap().is_none());
    drop(listener);
    assert!(!std::path::Path::new(&directory.file("socket")).exists());
    assert!(PeerListener::bind("tcp:host=localhost", ListenOptions::default()).is_err());
}

/// How long both ends of a connection serve each other.
const SERVING: Duration = Duration::from_secs(1);
