//! Addresses: parsing, formatting, and errors.

use std::num::NonZeroU16;

use diligence_wire::address::AddressErrorKind as Kind;
use diligence_wire::address::{
    Address, AddressKey, AddressList, HostFamily, TcpAddress, Transport, UnixTransport,
};
use diligence_wire::guid::GuidError;

const GUID: &str = "5a3d03a47a3322e4b8c7ba966b010aa7";

fn parse(text: &str) -> Address {
    Address::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[track_caller]
fn check_transports(cases: &[(&str, Transport)]) {
    for (text, transport) in cases {
        assert_eq!(parse(text).transport, *transport, "{text:?}");
    }
}

#[test]
fn unix_addresses_have_five_forms() {
    let unix = Transport::Unix;
    check_transports(&[
        ("unix:path=/tmp/x", unix(UnixTransport::Path(b"/tmp/x".into()))),
        ("unix:path=/a%20b%41\\*,", unix(UnixTransport::Path(b"/a bA\\*".into()))),
        ("unix:abstract=a%00b", unix(UnixTransport::Abstract(b"a\0b".into()))),
        ("unix:dir=/tmp", unix(UnixTransport::Dir(b"/tmp".into()))),
        ("unix:tmpdir=/tmp", unix(UnixTransport::Tmpdir(b"/tmp".into()))),
        ("unix:runtime=yes", unix(UnixTransport::Runtime)),
    ]);
}

#[test]
fn tcp_addresses_have_defaults() {
    let port = NonZeroU16::new(4242);
    let local = TcpAddress { host: Some("127.0.0.1".into()), ..TcpAddress::default() };
    let full =
        TcpAddress { bind: Some("*".into()), port, family: Some(HostFamily::V4), ..local.clone() };
    check_transports(&[
        ("tcp:", Transport::Tcp(TcpAddress::default())),
        ("tcp:host=127.0.0.1,port=0", Transport::Tcp(local.clone())),
        ("tcp:family=ipv4,port=4242,host=127.0.0.1,bind=*", Transport::Tcp(full)),
        ("nonce-tcp:host=127.0.0.1", Transport::NonceTcp { tcp: local.clone(), noncefile: None }),
        (
            "nonce-tcp:host=127.0.0.1,noncefile=/n",
            Transport::NonceTcp { tcp: local, noncefile: Some(b"/n".into()) },
        ),
    ]);
    assert_eq!(TcpAddress::default().host_or_default(), "localhost");
}

#[test]
fn other_transports_are_parsed() {
    let exec = |argv: &[&str]| Transport::Unixexec {
        path: b"ssh".into(),
        argv: argv.iter().map(|text| text.as_bytes().into()).collect(),
    };
    check_transports(&[
        ("systemd:", Transport::Systemd),
        ("unixexec:path=ssh", exec(&["ssh"])),
        ("unixexec:argv2=b,argv1=a,path=ssh,argv4=d", exec(&["ssh", "a", "b"])),
        ("unixexec:path=ssh,argv0=bus,argv1=a", exec(&["bus", "a"])),
        ("autolaunch:", Transport::Autolaunch { scope: None }),
        ("autolaunch:scope=*user", Transport::Autolaunch { scope: Some(b"*user".into()) }),
        ("launchd:env=SOCKET", Transport::Launchd { env: b"SOCKET".into() }),
        (
            "vsock:cid=2,port=9",
            Transport::Other {
                name: "vsock".into(),
                keys: vec![
                    AddressKey { name: "cid".into(), value: b"2".into() },
                    AddressKey { name: "port".into(), value: b"9".into() },
                ],
            },
        ),
    ]);
}

#[track_caller]
fn check_written(cases: &[(&str, &str)]) {
    for &(text, written) in cases {
        let list = AddressList::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(list.to_string(), written, "{text:?}");
        assert_eq!(AddressList::parse(written), Ok(list), "{written:?} read again");
    }
}

#[test]
fn addresses_round_trip() {
    check_written(&[
        ("unix:path=/tmp/x", "unix:path=/tmp/x"),
        ("unix:path=/tmp/x;", "unix:path=/tmp/x"),
        ("unix:runtime=yes;unix:tmpdir=/tmp", "unix:runtime=yes;unix:tmpdir=/tmp"),
        ("unix:path=/s%20x%7E%2a*\\%C3%a9", "unix:path=/s%20x%7e**\\%c3%a9"),
        (
            "unix:color=red,guid=5A3D03A47A3322E4B8C7BA966B010AA7,path=/a",
            "unix:path=/a,color=red,guid=5a3d03a47a3322e4b8c7ba966b010aa7",
        ),
        (
            "tcp:port=1,family=ipv6,host=%3a%3a1,bind=*",
            "tcp:host=%3a%3a1,bind=*,port=1,family=ipv6",
        ),
        ("tcp:host=localhost,port=0", "tcp:host=localhost"),
        ("nonce-tcp:noncefile=/n,port=1", "nonce-tcp:port=1,noncefile=/n"),
        ("unixexec:path=a,argv0=a,argv1=b", "unixexec:path=a,argv1=b"),
        ("unixexec:path=a,argv0=c,argv3=d", "unixexec:path=a,argv0=c,argv3=d"),
        ("systemd:;launchd:env=X;autolaunch:scope=y", "systemd:;launchd:env=X;autolaunch:scope=y"),
        (
            "vsock:b=1,a=%21,guid=5a3d03a47a3322e4b8c7ba966b010aa7",
            "vsock:b=1,a=%21,guid=5a3d03a47a3322e4b8c7ba966b010aa7",
        ),
    ]);
}

#[test]
fn all_transports_accept_a_guid() {
    for text in ["unix:path=/a", "tcp:port=1", "vsock:cid=1"] {
        let address = parse(&format!("{text},guid={GUID}"));
        assert_eq!(address.guid.map(|guid| guid.to_string()).as_deref(), Some(GUID), "{text}");
        assert_eq!(parse(text).guid, None, "{text}");
    }
}

#[test]
fn connecting_and_listening_need_different_keys() {
    for (text, connectable, listenable) in [
        ("unix:path=/a", true, true),
        ("unix:abstract=a", true, true),
        ("unix:tmpdir=/tmp", false, true),
        ("unix:runtime=yes", false, true),
        ("tcp:host=localhost", false, true),
        ("tcp:host=localhost,port=1", true, true),
        ("nonce-tcp:host=localhost,port=1", false, true),
        ("nonce-tcp:host=localhost,port=1,noncefile=/n", true, true),
        ("unixexec:path=a", true, false),
        ("autolaunch:", true, false),
        ("systemd:", false, true),
        ("vsock:cid=1", false, false),
    ] {
        let address = parse(text);
        assert_eq!(address.is_connectable(), connectable, "connect to {text}");
        assert_eq!(address.is_listenable(), listenable, "listen on {text}");
    }
}

#[track_caller]
fn check_invalid(cases: &[(&str, Kind, usize)]) {
    for &(text, kind, at) in cases {
        let error = AddressList::parse(text).expect_err(text);
        assert_eq!((error.kind, error.at), (kind, at), "{text:?}");
    }
}

#[test]
fn malformed_addresses_report_the_position() {
    check_invalid(&[
        ("", Kind::Empty, 0),
        (";", Kind::EmptyEntry, 0),
        ("unix:path=/a;;unix:path=/b", Kind::EmptyEntry, 13),
        ("unix:path=/a;unix", Kind::MissingColon, 17),
        (":path=/a", Kind::EmptyTransport, 0),
        ("unix:path", Kind::MissingEquals, 9),
        ("unix:,path=/a", Kind::MissingEquals, 5),
        ("unix:=/a", Kind::EmptyKey, 5),
        ("unix:path=", Kind::EmptyValue, 10),
        ("unix:path=/a,path=/b", Kind::DuplicateKey, 13),
        ("unix:path=/a%2", Kind::BadEscape, 12),
        ("unix:path=/a%zz", Kind::BadEscape, 12),
        ("unix:path=/a b", Kind::UnescapedByte(b' '), 12),
        ("unix:path=/a~b", Kind::UnescapedByte(b'~'), 12),
        ("unix:path=/a=b", Kind::UnescapedByte(b'='), 12),
        ("unix:path=/a:b", Kind::UnescapedByte(b':'), 12),
        ("unix:path=/é", Kind::UnescapedByte(0xc3), 11),
    ]);
}

#[test]
fn invalid_address_values_report_the_position() {
    check_invalid(&[
        ("unix:", Kind::NoUnixKey, 5),
        ("unix:Path=/a", Kind::NoUnixKey, 12),
        ("systemd:;unix:path=/a,abstract=b", Kind::SeveralUnixKeys, 22),
        ("unix:runtime=no", Kind::RuntimeNotYes, 13),
        ("unix:path=%00x", Kind::NulInPath, 10),
        ("unixexec:", Kind::MissingKey("path"), 9),
        ("launchd:", Kind::MissingKey("env"), 8),
        ("tcp:host=%ff", Kind::NotUtf8, 9),
        ("tcp:port=65536", Kind::InvalidPort, 9),
        ("tcp:port=-1", Kind::InvalidPort, 9),
        ("tcp:port=%2b1", Kind::InvalidPort, 9),
        ("tcp:port=http", Kind::InvalidPort, 9),
        ("tcp:family=ipv9", Kind::InvalidFamily, 11),
        ("tcp:port=x,family=ipv9", Kind::InvalidFamily, 18),
        ("unix:path=/a,guid=12", Kind::InvalidGuid(GuidError::WrongLength { len: 2 }), 18),
    ]);
}
