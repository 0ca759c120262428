//! The user at the other end of a TCP connection within this machine.
//!
//! The kernel does not report the process at the other end of a TCP socket, but it knows the user
//! of each socket, and both ends of a loopback connection are on this machine. A query
//! (sock_diag(7)) finds one socket without a search. If the kernel does not support the query, this
//! module searches the tables of all sockets (`/proc/net/tcp` and `/proc/net/tcp6`), which the
//! kernel takes milliseconds to write.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// Returns the user id of the owner of the socket at `peer` of an established connection to
/// `local`; `None` if there is no such socket. A socket that its process has closed already has no
/// user.
///
/// # Errors
///
/// Fails if the kernel supports neither the query nor the tables.
pub fn peer_uid(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    ask(local, peer).or_else(|_| look_up(local, peer))
}

/// Queries the socket at `peer` through netlink.
fn ask(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    let flags = SocketFlags::CLOEXEC;
    let protocol = Some(netlink::SOCK_DIAG);
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
    send(&socket, &question(local, peer), SendFlags::empty())?;
    let mut answer = [0; ANSWER_LEN_MAX];
    let (len, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    understand(&answer[..len])
}

/// Builds a `struct nlmsghdr` and a `struct inet_diag_req_v2` (linux/netlink.h, linux/inet_diag.h).
fn question(local: SocketAddr, peer: SocketAddr) -> Vec<u8> {
    let (local, peer) = (canonical(local), canonical(peer));
    let mut body = vec![
        if peer.0.is_ipv4() { AF_INET } else { AF_INET6 },
        IPPROTO_TCP,
        // No extensions, then a byte of padding.
        0,
        0,
    ];
    body.extend((1_u32 << ESTABLISHED).to_ne_bytes());
    body.extend(peer.1.to_be_bytes());
    body.extend(local.1.to_be_bytes());
    body.extend(octets(peer.0));
    body.extend(octets(local.0));
    // Zero means any network interface.
    body.extend(0_u32.to_ne_bytes());
    // All ones mean no cookie.
    body.extend([0xff; 8]);
    let len = HEADER_LEN + body.len();
    let mut message = u32::try_from(len).unwrap_or_default().to_ne_bytes().to_vec();
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    // Sequence number and port id.
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// Returns the address in sixteen bytes, of which an IPv4 address uses four.
fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&address.octets());
            bytes
        }
        IpAddr::V6(address) => address.octets(),
    }
}

/// Parses a `struct inet_diag_msg`, or an error.
fn understand(answer: &[u8]) -> io::Result<Option<u32>> {
    let word = |at: usize| {
        let bytes = answer.get(at..at + 4).and_then(|bytes| bytes.first_chunk());
        bytes.map(|bytes| u32::from_ne_bytes(*bytes)).ok_or(io::ErrorKind::InvalidData)
    };
    let kind = (word(4)? & 0xffff, answer.get(HEADER_LEN + 1).copied());
    match kind {
        (kind, Some(state)) if kind == u32::from(SOCK_DIAG_BY_FAMILY) => {
            let (uid, inode) = (word(HEADER_LEN + UID_AT)?, word(HEADER_LEN + UID_AT + 4)?);
            Ok((state == ESTABLISHED && inode != 0).then_some(uid))
        }
        (kind, _) if kind == u32::from(NLMSG_ERROR) => {
            let code = word(HEADER_LEN)?.cast_signed();
            match Errno::from_raw_os_error(code.wrapping_neg()) {
                Errno::NOENT => Ok(None),
                error => Err(error.into()),
            }
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Searches the tables for the socket at `peer`.
fn look_up(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    for _ in 0..ATTEMPTS {
        for table in TABLES {
            let text = match fs::read_to_string(table) {
                // Without IPv6, its table does not exist.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                text => text?,
            };
            if let Some(uid) = find(&text, local, peer) {
                return Ok(Some(uid));
            }
        }
    }
    Ok(None)
}

/// Finds the socket whose local address is `peer` and whose remote address is `local`.
fn find(table: &str, local: SocketAddr, peer: SocketAddr) -> Option<u32> {
    let sockets = table.lines().skip(1).filter_map(LoopbackSocket::parse);
    let wanted = (canonical(peer), canonical(local));
    sockets
        .filter(|socket| socket.state == ESTABLISHED && socket.inode != 0)
        .find(|socket| (canonical(socket.address), canonical(socket.other_end)) == wanted)
        .map(|socket| socket.uid)
}

/// A line of a table (proc_net_tcp.rst in the kernel's documentation).
#[derive(Clone, Copy, Debug)]
struct LoopbackSocket {
    address: SocketAddr,
    other_end: SocketAddr,
    state: u8,
    uid: u32,
    /// The inode; 0 after the process has closed the socket, whose user is then reported as 0, too.
    inode: u64,
}

impl LoopbackSocket {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let address = parse_address(fields.next()?)?;
        let other_end = parse_address(fields.next()?)?;
        let state = u8::from_str_radix(fields.next()?, 16).ok()?;
        let mut fields = fields.skip(3);
        let uid = fields.next()?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        Some(Self { address, other_end, state, uid, inode })
    }
}

/// Parses `0100007F:1F90`: words of the address in the byte order of the machine, then the port.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |start: usize| u32::from_str_radix(address.get(start..start + 8)?, 16).ok();
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?.to_ne_bytes())),
        32 => {
            let mut bytes = [0; 16];
            for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(index * 8)?.to_ne_bytes());
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// Converts an IPv4 address in the form of an IPv6 socket to IPv4.
fn canonical(address: SocketAddr) -> (IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// A socket can be missing in a table that changes while it is read.
const ATTEMPTS: usize = 3;

/// The value of TCP_ESTABLISHED in the kernel.
const ESTABLISHED: u8 = 1;

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;

/// The size of a `struct nlmsghdr`.
const HEADER_LEN: usize = 16;

/// The offset of the user id in a `struct inet_diag_msg`; the inode follows it.
const UID_AT: usize = 64;

const ANSWER_LEN_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    type Way = fn(SocketAddr, SocketAddr) -> io::Result<Option<u32>>;

    /// Both ways to find a socket.
    const WAYS: [Way; 2] = [ask, look_up];

    #[test]
    fn loopback_query_and_tables_find_the_same_user() {
        let own = rustix::process::geteuid().as_raw();
        for (listens, connects) in
            [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1"), ("127.0.0.1:0", "::ffff:127.0.0.1")]
        {
            let listener = TcpListener::bind(listens).unwrap();
            let local = listener.local_addr().unwrap();
            let to: IpAddr = connects.parse().unwrap();
            let client = TcpStream::connect((to, local.port())).unwrap();
            let (_server, peer) = listener.accept().unwrap();
            for way in WAYS {
                assert_eq!(way(local, peer).unwrap(), Some(own), "{connects}");
                assert_eq!(way(peer, local).unwrap(), Some(own), "{connects}");
                // A listening socket is not an end of a connection.
                assert_eq!(way(peer, (local.ip(), 1).into()).unwrap(), None, "{connects}");
                assert_eq!(way((local.ip(), 1).into(), local).unwrap(), None, "{connects}");
            }
            drop(client);
            for way in WAYS {
                assert_eq!(way(local, peer).unwrap(), None, "{connects}");
            }
        }
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn only_an_established_socket_of_a_process_has_a_user() {
        let line = |state: &str, uid: u32, inode: u64| {
            format!(
                "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n\
                 \x20  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 7 0 1\n\
                 \x20  1: 0100007F:C350 0100007F:1F90 {state} 00000000:00000000 00:00000000 \
                 00000000  {uid}        0 {inode} 2 0000000000000000 20 4 30 10 -1\n"
            )
        };
        let [server, client]: [SocketAddr; 2] =
            ["127.0.0.1:8080", "127.0.0.1:50000"].map(|text| text.parse().unwrap());
        for (table, expected) in [
            (line("01", 1000, 77), Some(1000)),
            (line("01", 0, 77), Some(0)),
            // Sockets in FIN_WAIT1 and TIME_WAIT have no user, which the kernel reports as 0.
            (line("04", 0, 0), None),
            (line("06", 0, 0), None),
            (line("01", 0, 0), None),
            (String::new(), None),
        ] {
            assert_eq!(find(&table, server, client), expected, "{table}");
            assert_eq!(find(&table, client, server), None, "{table}");
        }
    }
}
