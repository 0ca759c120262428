//! The user at the other end of a TCP connection.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use sys::loopback::peer_uid;

const ADDRESSES: [&str; 2] = ["127.0.0.1:0", "[::1]:0"];

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[test]
fn the_other_end_is_found_over_ipv4_and_ipv6() {
    for address in ADDRESSES {
        let listener = TcpListener::bind(address).unwrap();
        let local = listener.local_addr().unwrap();
        let _client = TcpStream::connect(local).unwrap();
        let (_server, peer) = listener.accept().unwrap();
        assert_eq!(peer_uid(local, peer).unwrap(), Some(own_uid()), "{address}");
        assert_eq!(peer_uid(peer, local).unwrap(), Some(own_uid()), "{address}");
    }
}

#[test]
fn an_ipv6_socket_that_speaks_ipv4_is_found() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = listener.local_addr().unwrap();
    let mapped = format!("[::ffff:127.0.0.1]:{}", local.port()).parse::<SocketAddr>().unwrap();
    let _client = TcpStream::connect(mapped).unwrap();
    let (_server, peer) = listener.accept().unwrap();
    assert_eq!(peer_uid(local, peer).unwrap(), Some(own_uid()));
}

#[test]
fn a_closed_socket_has_no_user() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = listener.local_addr().unwrap();
    drop(TcpStream::connect(local).unwrap());
    let (_server, peer) = listener.accept().unwrap();
    assert_eq!(peer_uid(local, peer).unwrap(), None);
}

#[test]
fn loopback_peer_of_another_user_is_distinguished() {
    // Only root can start a process as another user.
    if own_uid() != 0 {
        return;
    }
    for address in ADDRESSES {
        let listener = TcpListener::bind(address).unwrap();
        let local = listener.local_addr().unwrap();
        let connect = format!("exec 3<>/dev/tcp/{}/{}; exec sleep 10", local.ip(), local.port());
        let mut command = Command::new("bash");
        command.args(["-c", &connect]).uid(NOBODY).gid(NOBODY).stdin(Stdio::null());
        let mut client = command.spawn().unwrap();
        let (_server, peer) = listener.accept().unwrap();
        assert_eq!(peer_uid(local, peer).unwrap(), Some(NOBODY), "{address}");
        client.kill().unwrap();
        client.wait().unwrap();
    }
}

const NOBODY: u32 = 65534;
