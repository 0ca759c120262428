//! Addresses of hosts, as getaddrinfo(3) finds them.

use std::ffi::{CStr, CString, c_int};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr;

use crate::addresses::bad;
use crate::errors::{LibraryFailure, names};

/// A host and port to look up.
pub(crate) struct HostQuery<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: &'a str,
    /// The protocol: `ipv4`, `ipv6` or any.
    pub(crate) family: Option<String>,
}

/// Looks up the addresses to connect to, or to listen at if `passive`.
pub(crate) fn resolve(
    query: &HostQuery<'_>,
    passive: bool,
) -> Result<Vec<SocketAddr>, LibraryFailure> {
    let family = match query.family.as_deref() {
        None => libc::AF_UNSPEC,
        Some("ipv4") => libc::AF_INET,
        Some("ipv6") => libc::AF_INET6,
        Some(other) => return Err(bad(format!("Unknown address family {other}"))),
    };
    let text = |text: &str| CString::new(text).unwrap_or_default();
    let (host, port) = (text(query.host), text(query.port));
    // SAFETY: zeros are a valid value of this plain structure.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_family = family;
    hints.ai_socktype = libc::SOCK_STREAM;
    hints.ai_flags = libc::AI_ADDRCONFIG | if passive { libc::AI_PASSIVE } else { 0 };
    let mut found = ptr::null_mut();
    // SAFETY: all pointers are valid during the call.
    let code = unsafe { libc::getaddrinfo(host.as_ptr(), port.as_ptr(), &hints, &mut found) };
    if code != 0 {
        return Err(lookup_failure(query, code));
    }
    let mut addresses = Vec::new();
    let mut next = found;
    // SAFETY: the list is valid and ends with NULL.
    while let Some(info) = unsafe { next.as_ref() } {
        addresses.extend(decode(info));
        next = info.ai_next;
    }
    // SAFETY: the list comes from getaddrinfo and is not used any more.
    unsafe { libc::freeaddrinfo(found) };
    Ok(addresses)
}

fn lookup_failure(query: &HostQuery<'_>, code: c_int) -> LibraryFailure {
    // SAFETY: the function returns a constant string for each code.
    let reason = unsafe { CStr::from_ptr(libc::gai_strerror(code)) }.to_string_lossy();
    let text =
        format!("Failed to lookup host/port: \"{}:{}\": {reason} ({code})", query.host, query.port);
    LibraryFailure::new(names::FAILED, text)
}

fn decode(info: &libc::addrinfo) -> Option<SocketAddr> {
    match info.ai_family {
        libc::AF_INET => {
            // SAFETY: an address of this family has this type.
            let address = unsafe { info.ai_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            Some(SocketAddrV4::new(ip, u16::from_be(address.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family has this type.
            let address = unsafe { info.ai_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
            let port = u16::from_be(address.sin6_port);
            Some(SocketAddrV6::new(ip, port, 0, address.sin6_scope_id).into())
        }
        _ => None,
    }
}
