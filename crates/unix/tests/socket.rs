//! Creating, accepting and distinguishing sockets.

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{FdFlags, fcntl_getfd};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use tempfile::TempDir;
use unix::socket::{
    Accepted, LocalAddress, SocketKind, UnixAddress, accept, connect_unix, connect_unix_at_once,
    is_listening, listen_unix, local_address, socket_kind, socket_pair,
};

fn accepted(listener: impl AsFd) -> OwnedFd {
    match accept(listener).expect("it listens") {
        Accepted::Connection(connection) => connection,
        other => panic!("expected a connection, found {other:?}"),
    }
}

#[test]
fn listens_accepts_and_connects_by_path_and_by_abstract_name() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("socket");
    let name = format!("diligence-sys-{}\0\u{ff}", std::process::id());
    for address in [UnixAddress::Path(&path), UnixAddress::Abstract(name.as_bytes())] {
        let listener = listen_unix(address).unwrap();
        assert!(matches!(accept(&listener).unwrap(), Accepted::NoneWaiting));
        let client = connect_unix(address).unwrap();
        let server = accepted(&listener);
        assert!(matches!(accept(&listener).unwrap(), Accepted::NoneWaiting));
        for socket in [&listener, &client, &server] {
            assert_eq!(fcntl_getfd(socket).unwrap(), FdFlags::CLOEXEC);
            assert_eq!(socket_kind(socket).unwrap(), SocketKind::Unix);
        }
        let is_nonblocking = |socket| fcntl_getfl(socket).unwrap().contains(OFlags::NONBLOCK);
        assert_eq!([&listener, &client, &server].map(is_nonblocking), [true, false, true]);
        assert_eq!([&listener, &client].map(|fd| is_listening(fd).unwrap()), [true, false]);
    }
}

#[test]
fn connecting_at_once_does_not_wait_for_the_listener() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("socket");
    let address = UnixAddress::Path(&path);
    let listener = listen_unix(address).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let waiting = connect_unix_at_once(address).unwrap();
    assert!(fcntl_getfl(&waiting).unwrap().contains(OFlags::NONBLOCK));
    let refused = connect_unix_at_once(address).expect_err("the backlog has one place");
    assert_eq!(refused.kind(), ErrorKind::WouldBlock);
    let _server = accepted(&listener);
    let _second = connect_unix_at_once(address).unwrap();
}

#[test]
fn socket_address_errors_are_distinguished() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("socket");
    let kind = |result: io::Result<OwnedFd>| result.expect_err("it fails").kind();
    assert_eq!(kind(connect_unix(UnixAddress::Path(&path))), ErrorKind::NotFound);
    let listener = listen_unix(UnixAddress::Path(&path)).unwrap();
    assert_eq!(kind(listen_unix(UnixAddress::Path(&path))), ErrorKind::AddrInUse);
    drop(listener);
    assert_eq!(kind(connect_unix(UnixAddress::Path(&path))), ErrorKind::ConnectionRefused);
    let unused = UnixAddress::Abstract(b"diligence-sys-unused-listens-here");
    assert_eq!(kind(connect_unix(unused)), ErrorKind::ConnectionRefused);
    for length in [107, 108, 109] {
        let path = format!("/{}", "x".repeat(length - 1));
        let is_too_long =
            |address| connect_unix(address).unwrap_err().kind() == ErrorKind::InvalidFilename;
        assert_eq!(is_too_long(UnixAddress::Path(Path::new(&path))), length > 108);
        assert_eq!(is_too_long(UnixAddress::Abstract(path.as_bytes())), length > 107);
    }
    assert_eq!(kind(listen_unix(UnixAddress::Path(Path::new("")))), ErrorKind::InvalidInput);
    assert_eq!(kind(listen_unix(UnixAddress::Abstract(b""))), ErrorKind::InvalidInput);
}

#[test]
fn addresses_are_read_back() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("socket");
    let name = format!("diligence-sys-address-{}", std::process::id()).into_bytes();
    let check = |socket: &dyn AsFd, expected: LocalAddress| {
        assert_eq!(local_address(socket.as_fd()).unwrap(), expected);
    };
    check(&listen_unix(UnixAddress::Path(&path)).unwrap(), LocalAddress::Path(path.clone()));
    check(&listen_unix(UnixAddress::Abstract(&name)).unwrap(), LocalAddress::Abstract(name));
    check(&socket_pair().unwrap().0, LocalAddress::Unnamed);
    let long = directory.path().join("x".repeat(108 - directory.as_ref().as_os_str().len() - 1));
    check(&listen_unix(UnixAddress::Path(&long)).unwrap(), LocalAddress::Path(long.clone()));
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    check(&tcp, LocalAddress::Internet(tcp.local_addr().unwrap()));
}

#[test]
fn socket_kinds_are_distinguished() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let client = TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
    let server = accepted(&tcp);
    assert!(matches!(accept(&tcp).unwrap(), Accepted::NoneWaiting));
    let check = |socket: &dyn AsFd, kind, listens| {
        assert_eq!(socket_kind(socket.as_fd()).unwrap(), kind);
        assert_eq!(is_listening(socket.as_fd()).unwrap(), listens);
    };
    check(&tcp, SocketKind::Tcp, true);
    check(&client, SocketKind::Tcp, false);
    check(&server, SocketKind::Tcp, false);
    check(&socket_pair().unwrap().0, SocketKind::Unix, false);
    check(&UdpSocket::bind("127.0.0.1:0").unwrap(), SocketKind::Other, false);
    check(&UnixDatagram::unbound().unwrap(), SocketKind::Other, false);
}

#[test]
fn a_file_is_not_a_socket() {
    let file = File::open("/dev/null").unwrap();
    let check = |error: io::Error| {
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NOTSOCK.raw_os_error()));
    };
    check(socket_kind(&file).unwrap_err());
    check(is_listening(&file).unwrap_err());
    check(local_address(&file).unwrap_err());
    check(accept(&file).unwrap_err());
}
