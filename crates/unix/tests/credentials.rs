//! The credentials of this process; `processes.rs` tests a peer with another user.

use rustix::process::{getegid, geteuid, getgroups};
use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use unix::credentials::{PeerCredentials, own_credentials, peer_credentials};
use unix::socket::{UnixAddress, connect_unix, listen_unix, socket_pair};

fn check_is_this_process(credentials: &PeerCredentials) {
    assert_eq!(credentials.pid, Some(std::process::id()));
    assert_eq!(credentials.uid, geteuid().as_raw());
    assert_eq!(credentials.gid, getegid().as_raw());
    let groups = getgroups().expect("it has groups");
    let mut groups: Vec<u32> = groups.iter().map(|group| group.as_raw()).collect();
    groups.push(credentials.gid);
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(credentials.groups.as_ref(), Some(&groups));
    if let Some(label) = &credentials.security_label {
        assert!(!label.is_empty() && !label.ends_with(&[0]));
    }
    if let Some(pidfd) = &credentials.pidfd {
        let info = format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd());
        let pid = format!("Pid:\t{}\n", std::process::id());
        assert!(fs::read_to_string(info).expect("it is open").contains(&pid));
    }
}

#[test]
fn credentials_of_this_process_are_correct() {
    check_is_this_process(&own_credentials().unwrap());
    check_is_this_process(&peer_credentials(socket_pair().unwrap().0).unwrap());
    let name = format!("diligence-sys-credentials-{}", std::process::id());
    let address = UnixAddress::Abstract(name.as_bytes());
    let listener = listen_unix(address).unwrap();
    check_is_this_process(&peer_credentials(connect_unix(address).unwrap()).unwrap());
    drop(listener);
}

#[test]
fn sockets_without_credentials_say_so() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!(peer_credentials(&tcp).unwrap_err().kind(), ErrorKind::Unsupported);
}
