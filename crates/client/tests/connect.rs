//! Connecting to addresses of every kind.

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::Duration;
use std::{env, fs, thread};

use diligence_client::core::HandshakeError;
use diligence_client::wire::address::AddressErrorKind;
use diligence_client::{
    Anonymous, AttemptError, ConnectError, ConnectOptions, Connection, StandardBus,
};
use support::{PrivateTestBus, TestDirectory};

fn failed(address: &str) -> Vec<AttemptError> {
    match Connection::open(address) {
        Err(ConnectError::Failed(attempts)) => attempts.into_iter().map(|a| a.error).collect(),
        other => panic!("{address}: {other:?}"),
    }
}

fn is_usable(connection: &Connection) -> bool {
    let bus = "org.freedesktop.DBus";
    connection.call(bus, "/org/freedesktop/DBus", bus, "GetId", &()).is_ok()
}

#[test]
fn the_first_working_address_is_used() {
    let bus = PrivateTestBus::start();
    let list = format!("unix:path=/nonexistent/bus;bogus:;{};unix:path=/other", bus.address);
    assert!(is_usable(&Connection::open(&list).unwrap()));
}

#[test]
fn failed_addresses_report_reasons() {
    let found = failed("autolaunch:;bogus:a=b;unix:tmpdir=/tmp;tcp:host=localhost;systemd:");
    assert_eq!(
        found,
        [
            AttemptError::Autolaunch,
            AttemptError::UnknownTransport,
            AttemptError::ForServersOnly,
            AttemptError::ForServersOnly,
            AttemptError::ForServersOnly,
        ]
    );
    let error = Connection::open("unix:path=/nonexistent/bus").unwrap_err();
    let text = "cannot connect: unix:path=/nonexistent/bus: No such file or directory (os error 2)";
    assert_eq!(error.to_string(), text);
    let Err(ConnectError::Address(error)) = Connection::open("unix") else { panic!() };
    assert_eq!(error.kind, AddressErrorKind::MissingColon);
    let nonce = failed("nonce-tcp:host=127.0.0.1,port=1,noncefile=/dev/null");
    assert_eq!(nonce, [AttemptError::NonceLength { len: 0 }]);
}

#[test]
fn servers_with_another_guid_are_rejected() {
    let bus = PrivateTestBus::start();
    let (path, _) = bus.address.split_once(",guid=").expect("the address has a GUID");
    let found = failed(&format!("{path},guid=00000000000000000000000000000007"));
    assert!(matches!(found[..], [AttemptError::OtherServer { .. }]), "{found:?}");
}

#[test]
fn abstract_sockets_can_be_connected_to() {
    let directory = TestDirectory::new("abstract");
    let name = format!("unix:abstract=/tmp/diligence-client-test-{}", std::process::id());
    let bus = PrivateTestBus::at(&directory, &name, "<auth>EXTERNAL</auth>");
    assert!(bus.address.starts_with("unix:abstract="), "{}", bus.address);
    assert!(is_usable(&bus.connect()));
}

#[test]
fn rejected_pipelined_logins_are_retried_sequentially() {
    let directory = TestDirectory::new("anonymous");
    let path = directory.file("socket");
    let bus =
        PrivateTestBus::at(&directory, &format!("unix:path={path}"), "<auth>ANONYMOUS</auth>");
    assert!(is_usable(&bus.connect()));
    let options = ConnectOptions { anonymous: Anonymous::Never, ..ConnectOptions::default() };
    let address = bus.address.parse().unwrap();
    match Connection::open_with(&address, &options) {
        Err(ConnectError::Failed(attempts)) => assert!(
            matches!(attempts[0].error, AttemptError::Handshake(HandshakeError::Authentication(_))),
            "{attempts:?}"
        ),
        other => panic!("the server offers only ANONYMOUS: {other:?}"),
    }
}

#[test]
fn tcp_buses_are_joined_anonymously() {
    let directory = TestDirectory::new("anonymous-tcp");
    let address = "tcp:host=127.0.0.1,port=0,family=ipv4";
    let bus = PrivateTestBus::at(&directory, address, "<auth>ANONYMOUS</auth>");
    assert!(bus.address.starts_with("tcp:"), "{}", bus.address);
    assert!(is_usable(&bus.connect()));
}

/// Runs an ignored test of this file in a new process with these environment variables.
fn run_helper(test: &str, variables: &[(&str, &str)]) {
    let program = env::current_exe().expect("this test");
    let mut command = Command::new(program);
    command.args(["--exact", "--ignored", test]).envs(variables.iter().copied());
    let output = command.output().expect("the test program can be executed");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn cookies_are_read_from_the_home_directory() {
    let directory = TestDirectory::new("cookies");
    let home = directory.file("home");
    fs::create_dir(&home).unwrap();
    let keyrings = directory.0.join("home/.dbus-keyrings");
    fs::create_dir(&keyrings).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&keyrings, mode).unwrap();
    let variables = [("HOME", home.as_str()), ("TEST_DIRECTORY", &directory.file(""))];
    run_helper("helper_connects_with_cookies", &variables);
}

/// Connects with cookies from the home directory in the environment.
#[test]
#[ignore = "cookies_are_read_from_the_home_directory runs it with another environment"]
fn helper_connects_with_cookies() {
    let Ok(directory) = env::var("TEST_DIRECTORY") else { return };
    let directory = TestDirectory(directory.into());
    let auth = "<auth>DBUS_COOKIE_SHA1</auth>";
    let bus = PrivateTestBus::at(&directory, "tcp:host=127.0.0.1,port=0,family=ipv4", auth);
    assert!(bus.address.starts_with("tcp:"), "{}", bus.address);
    assert!(is_usable(&bus.connect()));

    let nonce = PrivateTestBus::at(&directory, "nonce-tcp:host=127.0.0.1,port=0,family=ipv4", auth);
    assert!(nonce.address.contains("noncefile="), "{}", nonce.address);
    assert!(is_usable(&nonce.connect()));
}

#[test]
fn standard_buses_are_found_through_the_environment() {
    let bus = PrivateTestBus::start();
    let directory = TestDirectory::new("runtime");
    let (session, system) = ("DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS");
    let (starter, kind) = ("DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE");
    let runtime = ("XDG_RUNTIME_DIR", &*directory.file(""));
    let socket = directory.file("bus");
    let path = bus.address.split_once(',').expect("a GUID").0;
    std::os::unix::fs::symlink(path.trim_start_matches("unix:path="), socket).unwrap();
    let check = |expected: &str, variables: &[(&str, &str)]| {
        let none =
            [(session, ""), (system, ""), (starter, ""), (kind, ""), ("XDG_RUNTIME_DIR", "")];
        let expected = [("TEST_EXPECTED", expected)];
        run_helper(
            "helper_connects_to_standard_buses",
            &[&none[..], variables, &expected].concat(),
        );
    };
    check("", &[]);
    check("session", &[(session, &bus.address)]);
    check("session", &[runtime]);
    check("system", &[(system, &bus.address)]);
    check("starter", &[(starter, &bus.address)]);
    check("session starter", &[(session, &bus.address), (kind, "session")]);
    check("system starter", &[(system, &bus.address), (kind, "system")]);
}

/// Connects to the standard buses that `TEST_EXPECTED` lists.
#[test]
#[ignore = "standard_buses_are_found_through_the_environment runs it with other environments"]
fn helper_connects_to_standard_buses() {
    let Ok(expected) = env::var("TEST_EXPECTED") else { return };
    for (name, bus) in [
        ("session", StandardBus::Session),
        ("system", StandardBus::System),
        ("starter", StandardBus::Starter),
    ] {
        match Connection::standard(bus) {
            Ok(connection) => {
                assert!(expected.contains(name) || bus == StandardBus::System, "{name}");
                assert!(is_usable(&connection));
            }
            Err(error) => {
                assert!(!expected.contains(name), "{name}: {error}");
                let no_address = error == ConnectError::NoAddress(bus);
                assert!(no_address || bus == StandardBus::System, "{error}");
            }
        }
    }
}

#[test]
fn unixexec_addresses_connect_through_a_program() {
    let bus = PrivateTestBus::start();
    let path = bus.address.strip_prefix("unix:path=").and_then(|rest| rest.split(',').next());
    let script = r#"
import os, socket, sys, threading
bus = socket.socket(socket.AF_UNIX)
bus.connect(sys.argv[1])
def copy(read, write):
    while True:
        piece = read(4096)
        if not piece:
            os._exit(0)
        write(piece)
threading.Thread(target=copy, args=(lambda n: os.read(0, n), bus.sendall)).start()
copy(bus.recv, lambda piece: os.write(1, piece))
"#;
    let directory = TestDirectory::new("program");
    let file = directory.file("copy.py");
    fs::write(&file, script).unwrap();
    let path = path.expect("a socket file");
    let address = format!("unixexec:path=/usr/bin/python3,argv1={file},argv2={path}");
    assert!(is_usable(&Connection::open(&address).unwrap()));
}

#[test]
fn connecting_to_silent_servers_times_out() {
    let directory = TestDirectory::new("silent");
    let path = directory.file("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let options =
        ConnectOptions { timeout: Some(Duration::from_millis(50)), ..ConnectOptions::default() };
    let address = format!("unix:path={path}").parse().unwrap();
    let error = Connection::open_with(&address, &options).unwrap_err();
    let ConnectError::Failed(attempts) = error else { panic!("{error}") };
    assert_eq!(attempts[0].error, AttemptError::TimedOut);
    drop(listener);
}

#[test]
fn pipelined_handshakes_are_sent_in_one_write() {
    let directory = TestDirectory::new("once");
    let path = directory.file("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let count = peer.read(&mut bytes).unwrap();
        // The client sent everything up to the first call before the server replied.
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        peer.write_all(b"NONSENSE\r\n").unwrap();
        text
    });
    let refused = Connection::open(&format!("unix:path={path}")).unwrap_err();
    let text = server.join().unwrap();
    assert!(text.starts_with("\0AUTH EXTERNAL\r\n"), "{text:?}");
    assert!(text.contains("NEGOTIATE_UNIX_FD\r\nBEGIN\r\n") && text.contains("Hello"), "{text:?}");
    assert!(matches!(refused, ConnectError::Failed(_)), "{refused}");
}

#[test]
fn ports_without_listener_refuse_the_connection() {
    // A port that an open connection uses: no other socket can listen there.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let port = taken.local_addr().unwrap().port();
    let found = failed(&format!("tcp:host=127.0.0.1,port={port},family=ipv4"));
    let [AttemptError::System(error)] = found[..] else { panic!("{found:?}") };
    assert_eq!(error.kind, std::io::ErrorKind::ConnectionRefused);
}
