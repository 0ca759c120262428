//! The service manager's side of a notification.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;
use sys::notify::{Notified, barrier, notify, pass};
use sys::transfer::{TransferWait, receive};
use tempfile::TempDir;

fn check_arrives(manager: &UnixDatagram, variable: &OsStr) {
    let state = "READY=1\nSTATUS=listening";
    assert_eq!(notify(Some(variable), state).expect("the manager listens"), Notified::Sent);
    let mut buffer = [0; 100];
    let length = manager.recv(&mut buffer).expect("something was sent");
    assert_eq!(&buffer[..length], state.as_bytes());
}

#[test]
fn the_state_arrives_at_a_path_or_an_abstract_name() {
    let directory = TempDir::new().expect("a new folder");
    let path = directory.path().join("notify");
    check_arrives(&UnixDatagram::bind(&path).unwrap(), path.as_os_str());

    let name = format!("diligence-sys-notify-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let manager = UnixDatagram::bind_addr(&address).unwrap();
    check_arrives(&manager, OsStr::new(&format!("@{name}")));
}

#[test]
fn notifications_that_cannot_be_sent_are_errors_or_not_requested() {
    assert_eq!(notify(None, "READY=1").unwrap(), Notified::NotAsked);
    let check = |variable: &str, kind| {
        let error = notify(Some(OsStr::new(variable)), "READY=1").unwrap_err();
        assert_eq!(error.kind(), kind, "{variable:?}");
    };
    check("", ErrorKind::Unsupported);
    check("relative/path", ErrorKind::Unsupported);
    check("vsock:2:1234", ErrorKind::Unsupported);
    check("/nonexistent/notify", ErrorKind::NotFound);
    check("@diligence-sys-nobody-is-here", ErrorKind::ConnectionRefused);
}

#[test]
fn a_service_manager_that_does_not_listen_is_not_waited_for() {
    let directory = TempDir::new().expect("a new folder");
    let path = directory.path().join("notify");
    let _manager = UnixDatagram::bind(&path).unwrap();
    let refused = (0..100_000).find_map(|_| notify(Some(path.as_os_str()), "READY=1").err());
    assert_eq!(refused.unwrap().kind(), ErrorKind::WouldBlock);
}

#[test]
fn descriptors_arrive_with_their_state() {
    let directory = TempDir::new().expect("a new folder");
    let path = directory.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let wait = Duration::from_secs(10);
    pass(path.as_os_str(), "FDSTORE=1\nFDNAME=x", &[writer.as_fd()], wait).unwrap();
    drop(writer);
    let (mut buffer, mut descriptors) = ([0; 100], Vec::new());
    let received = receive(&manager, &mut buffer, &mut descriptors, TransferWait::Block).unwrap();
    assert_eq!(&buffer[..received.bytes], b"FDSTORE=1\nFDNAME=x");
    std::io::Write::write_all(&mut File::from(descriptors.remove(0)), b"content").unwrap();
    let mut text = String::new();
    File::from(std::os::fd::OwnedFd::from(reader)).read_to_string(&mut text).unwrap();
    assert_eq!(text, "content");
}

#[test]
fn a_barrier_ends_when_the_service_manager_has_taken_it() {
    let directory = TempDir::new().expect("a new folder");
    let path = directory.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    let late = barrier(path.as_os_str(), Duration::from_millis(50)).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::TimedOut);
    let taking = std::thread::spawn(move || {
        for _ in 0..2 {
            let mut buffer = [0; 100];
            let received = receive(&manager, &mut buffer, &mut Vec::new(), TransferWait::Block);
            assert_eq!(&buffer[..received.unwrap().bytes], b"BARRIER=1");
        }
    });
    barrier(path.as_os_str(), Duration::from_secs(10)).unwrap();
    taking.join().unwrap();
}
