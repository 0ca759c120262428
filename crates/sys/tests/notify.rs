//! The service manager's side of a notification.

#[path = "support/temp.rs"]
mod temp;

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use sys::notify::{Notified, notify};
use temp::TempDir;

fn check_arrives(manager: &UnixDatagram, variable: &OsStr) {
    let state = "READY=1\nSTATUS=listening";
    assert_eq!(notify(Some(variable), state).expect("the manager listens"), Notified::Sent);
    let mut buffer = [0; 100];
    let length = manager.recv(&mut buffer).expect("something was sent");
    assert_eq!(&buffer[..length], state.as_bytes());
}

#[test]
fn the_state_arrives_at_a_path_or_an_abstract_name() {
    let directory = TempDir::new();
    let path = directory.join("notify");
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
    let directory = TempDir::new();
    let path = directory.join("notify");
    let _manager = UnixDatagram::bind(&path).unwrap();
    let refused = (0..100_000).find_map(|_| notify(Some(path.as_os_str()), "READY=1").err());
    assert_eq!(refused.unwrap().kind(), ErrorKind::WouldBlock);
}
