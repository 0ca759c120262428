//! Listening on a network: TCP, nonces and cookies.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use conformance::{
    BusUnderTest, ExternalProgram, Flavour, PeerStream, PlainMessage, PlainValue, RunAs,
    ScratchFolder, TestConfig, TestPeer, hex, key, kind,
};

/// A bus on TCP whose clients authenticate with the cookies of its user, which are in `home`.
fn cookie_bus(address: &str, home: &ScratchFolder) -> BusUnderTest {
    let config = TestConfig::session().listen(address).element("<auth>DBUS_COOKIE_SHA1</auth>");
    let home = home.path().to_owned();
    BusUnderTest::start_with(&config, |program| program.env("HOME", home))
}

const ADDRESSES: [&str; 2] =
    ["tcp:host=127.0.0.1,port=0,family=ipv4", "nonce-tcp:host=127.0.0.1,port=0,family=ipv4"];

/// libdbus and GLib support DBUS_COOKIE_SHA1.
#[test]
fn libdbus_and_glib_authenticate_with_a_cookie() {
    for address in ADDRESSES {
        let home = ScratchFolder::new();
        let bus = cookie_bus(address, &home);
        for program in [libdbus, glib] {
            let ran = program(bus.address()).env("HOME", home.path()).run().success();
            assert!(ran.stdout.contains("org.freedesktop.DBus"), "{ran}");
        }
        let stranger = ScratchFolder::new();
        let refused = libdbus(bus.address()).env("HOME", stranger.path()).run();
        assert!(!refused.succeeded(), "no cookie, no entry: {refused}");
        bus.stop();
    }
}

fn libdbus(address: &str) -> ExternalProgram {
    ExternalProgram::named("dbus-send", "dbus-bin").arg(format!("--bus={address}")).args([
        "--print-reply",
        "--dest=org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.ListNames",
    ])
}

fn glib(address: &str) -> ExternalProgram {
    let target = ["call", "--dest", "org.freedesktop.DBus", "--object-path", "/"];
    ExternalProgram::named("gdbus", "libglib2.0-bin").args(target).args([
        "--method",
        "org.freedesktop.DBus.ListNames",
        "--address",
        address,
    ])
}

/// Only its user can read the file of cookies, and no lock file remains.
#[test]
fn the_cookie_file_is_private() {
    let home = ScratchFolder::new();
    let bus = cookie_bus(ADDRESSES[0], &home);
    let first = challenge(bus.address());
    let keyrings = home.join(".dbus-keyrings");
    let file = keyrings.join(&first.context);
    assert_eq!((mode(&keyrings), mode(&file)), (0o700, 0o600));
    let text = fs::read_to_string(&file).expect("ours");
    let [line] = text.lines().collect::<Vec<_>>()[..] else { panic!("one cookie: {text:?}") };
    assert_eq!(line.split(' ').next(), Some(&*first.id));
    let files = fs::read_dir(&keyrings).expect("ours").count();
    assert_eq!(files, 1, "and nothing else");
    let second = challenge(bus.address());
    assert_eq!(second.id, first.id, "it is used while it is fresh");
    assert_ne!(second.text, first.text, "a proof is good for one login");
    bus.stop();
}

/// In a folder that other users can enter, the bus stores no cookies.
#[test]
fn cookies_are_refused_in_a_folder_that_others_can_enter() {
    let home = ScratchFolder::new();
    home.folder(".dbus-keyrings", 0o755);
    let bus = cookie_bus(ADDRESSES[0], &home);
    let mut stream = PeerStream::connect(bus.address());
    stream.write(b"\0");
    let answer = stream.say(&login()).expect("it answers");
    assert!(answer.starts_with("REJECTED"), "{answer}");
    bus.stop();
}

/// A wrong response and the response of another user are rejected, and the bus continues to run.
#[test]
fn wrong_cookie_responses_are_rejected() {
    let home = ScratchFolder::new();
    let bus = cookie_bus(ADDRESSES[0], &home);
    let mut stream = PeerStream::connect(bus.address());
    stream.write(b"\0");
    assert!(stream.say(&login()).is_some_and(|line| line.starts_with("DATA ")));
    let wrong = format!("DATA {}", hex(b"00000000 0123456789012345678901234567890123456789"));
    assert!(stream.say(&wrong).is_some_and(|line| line.starts_with("REJECTED")));
    let unknown = format!("AUTH DBUS_COOKIE_SHA1 {}", hex(b"65534"));
    assert!(stream.say(&unknown).is_some_and(|line| line.starts_with("REJECTED")));
    let nameless = stream.say("AUTH DBUS_COOKIE_SHA1").expect("it answers");
    assert!(nameless.starts_with("REJECTED") || nameless.starts_with("DATA"), "{nameless}");
    PeerStream::knock(bus.address());
    bus.stop();
}

/// The challenge of the bus for DBUS_COOKIE_SHA1.
struct NetworkChallenge {
    context: String,
    id: String,
    text: String,
}

fn challenge(address: &str) -> NetworkChallenge {
    let mut stream = PeerStream::connect(address);
    stream.write(b"\0");
    let answer = stream.say(&login()).expect("it answers");
    let data = answer.strip_prefix("DATA ").unwrap_or_else(|| panic!("{answer}"));
    let bytes: Vec<u8> = data.as_bytes().chunks(2).map(decode).collect();
    let text = String::from_utf8(bytes).expect("text");
    let mut fields = text.splitn(3, ' ').map(ToOwned::to_owned);
    let mut field = || fields.next().expect("three fields");
    NetworkChallenge { context: field(), id: field(), text: field() }
}

fn login() -> String {
    format!("AUTH DBUS_COOKIE_SHA1 {}", hex(RunAs::own_uid().to_string().as_bytes()))
}

fn decode(digits: &[u8]) -> u8 {
    let digits = std::str::from_utf8(digits).expect("digits");
    u8::from_str_radix(digits, 16).expect("hexadecimal")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

/// A client must first send the complete nonce. The nonce is in a file that only the user can read,
/// and which the bus removes at its end.
#[test]
fn clients_without_the_nonce_are_rejected() {
    let address = "nonce-tcp:host=127.0.0.1,family=ipv4";
    let config = TestConfig::session().listen(address).element("<auth>ANONYMOUS</auth>");
    let bus = BusUnderTest::start(&config.element("<allow_anonymous/>"));
    let file = Path::new(key(bus.address(), "noncefile").expect("a file")).to_owned();
    let folder = file.parent().expect("a folder of its own").to_owned();
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    let nonce = fs::read(&file).expect("ours");
    assert_eq!(nonce.len(), 16);

    let without = bus.address().replacen("nonce-tcp:", "tcp:", 1);
    let mut wrong = nonce;
    wrong[15] ^= 1;
    for bytes in [&wrong[..], b"\0AUTH ANONYMOUS\r\nBEGIN\r\n", &[0; 16]] {
        let mut stream = PeerStream::connect(&without);
        stream.write(bytes);
        assert!(stream.is_closed(), "{bytes:?}");
    }
    let mut stream = PeerStream::connect(bus.address());
    stream.write(b"\0");
    assert!(stream.say("AUTH ANONYMOUS").is_some_and(|line| line.starts_with("OK ")));
    stream.write(b"BEGIN\r\n");
    assert!(TestPeer::over(stream).hello().first_text().starts_with(":1."));
    bus.stop();
    // dbus-daemon leaves the folder behind.
    let is_gone = !folder.exists() || Flavour::under_test() == Flavour::Reference;
    assert!(is_gone, "the secret is gone");
    let _ = fs::remove_dir_all(folder);
}

/// Over TCP the kernel reports no credentials, so an anonymous client has none. dbus-daemon gives
/// such a client the process id 0.
#[test]
fn credentials_over_tcp_are_unknown() {
    let config = TestConfig::session()
        .listen("tcp:host=127.0.0.1,family=ipv4")
        .element("<auth>ANONYMOUS</auth><allow_anonymous/>");
    let bus = BusUnderTest::start(&config);
    let mut stream = PeerStream::connect(bus.address());
    stream.write(b"\0");
    assert!(stream.say("AUTH ANONYMOUS").is_some_and(|line| line.starts_with("OK ")));
    stream.write(b"BEGIN\r\n");
    let mut peer = TestPeer::over(stream);
    assert_eq!(peer.hello().kind, kind::RETURN);
    let own = peer.name().to_owned();
    let reply = peer.ask_bus("GetConnectionCredentials", &own);
    let entries = reply.body[0].entries().expect("a dictionary");
    for unknown in ["UnixUserID", "UnixGroupIDs"] {
        assert!(!entries.contains_key(unknown), "{entries:?}");
    }
    let user = peer.ask_bus("GetConnectionUnixUser", &own);
    assert_eq!(user.error_name(), "Failed", "{}", user.summary());
    if Flavour::under_test() == Flavour::Diligence {
        assert!(!entries.contains_key("ProcessID"), "{entries:?}");
        let process = peer.ask_bus("GetConnectionUnixProcessID", &own);
        assert_eq!(process.error_name(), "UnixProcessIdUnknown", "{}", process.summary());
    }
    bus.stop();
}

/// A client with a cookie has the user of the cookie, and an unknown process.
#[test]
fn credentials_with_a_cookie_are_those_of_its_user() {
    let home = ScratchFolder::new();
    let bus = cookie_bus(ADDRESSES[0], &home);
    let script = "import dbus.bus, sys\n\
                  connection = dbus.bus.BusConnection(sys.argv[1])\n\
                  bus = connection.get_object('org.freedesktop.DBus', '/org/freedesktop/DBus')\n\
                  known = bus.GetConnectionCredentials(connection.get_unique_name())\n\
                  print(*sorted(known), known['UnixUserID'])";
    let ran =
        ExternalProgram::python(script).arg(bus.address()).env("HOME", home.path()).run().success();
    let known = match Flavour::under_test() {
        Flavour::Reference => "ProcessID UnixUserID",
        Flavour::Diligence => "UnixUserID",
    };
    assert_eq!(ran.stdout, format!("{known} {}\n", RunAs::own_uid()));
    bus.stop();
}

/// The bus listens at all addresses of a host, and prints one.
#[test]
fn all_addresses_of_a_host_accept_connections() {
    let bus = BusUnderTest::start(&TestConfig::session().listen("tcp:host=localhost,bind=*"));
    assert!(!bus.address().contains(';'), "{}", bus.address());
    assert!(!bus.address().contains("bind="), "{}", bus.address());
    let port = key(bus.address(), "port").expect("a port");
    PeerStream::knock(&format!("tcp:host=127.0.0.1,port={port}"));
    let has_ipv6 = std::net::TcpListener::bind("[::1]:0").is_ok();
    if has_ipv6 && Flavour::under_test() == Flavour::Diligence {
        PeerStream::knock(&format!("tcp:host=::1,port={port}"));
    }
    bus.stop();
}

/// One bus can listen at several addresses of different kinds.
#[test]
fn a_bus_listens_at_local_and_network_addresses() {
    let scratch = ScratchFolder::new();
    let local = scratch.join("bus").display().to_string();
    let config = TestConfig::session()
        .listen("tcp:host=127.0.0.1,family=ipv4")
        .element(&format!("<listen>unix:path={local}</listen><allow_anonymous/>"));
    let bus = BusUnderTest::start(&config);
    let tcp = bus.address().split(';').find(|entry| entry.starts_with("tcp:")).expect("printed");
    let mut stream = PeerStream::connect(tcp);
    stream.write(b"\0");
    assert!(stream.say("AUTH ANONYMOUS").is_some_and(|line| line.starts_with("OK ")));
    stream.write(b"BEGIN\r\n");
    let mut remote = TestPeer::over(stream);
    assert_eq!(remote.hello().kind, kind::RETURN);
    let mut near = TestPeer::connect(&format!("unix:path={local}"));
    let large = PlainValue::text(&"x".repeat(300_000));
    for (from, to) in [(0, 1), (1, 0)] {
        let peers = [&mut near, &mut remote];
        let name = peers[to].name().to_owned();
        let call = PlainMessage::call(&name, "/x", "com.example.I", "Method").arg(large.clone());
        peers[from].send(call);
        assert_eq!(peers[to].receive().map(|found| found.body), Some(vec![large.clone()]));
    }
    bus.stop();
}
