//! Listening at server addresses, and removing the socket files.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use broker::listen::{
    ListenEnvironment, ListenError, Listener, ListenerEntry, Nonce, PassedSocketProblem, listen,
    parse,
};
use sys::inherited::InheritError;
use sys::socket::{SocketKind, UnixAddress as Place, connect_unix};
use wire::address::{Transport, UnixTransport};

/// A temporary directory, removed on drop.
struct ListenFolder(PathBuf);

impl ListenFolder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dl-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary folder is writable");
        Self(path)
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{dir}", self.0.to_str().expect("made from text"))
    }
}

impl Drop for ListenFolder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("it is ours");
    }
}

fn listen_at(text: &str, folder: &ListenFolder) -> Result<Vec<Listener>, ListenError> {
    let runtime_dir = Some(folder.0.clone());
    listen(
        &parse(&folder.fill(text))?,
        &mut ListenEnvironment { runtime_dir, ..ListenEnvironment::default() },
    )
}

/// The path of the socket in the address for clients.
fn place(listener: &Listener) -> &UnixTransport {
    match &listener.address.transport {
        Transport::Unix(place) => place,
        other => panic!("not a Unix socket: {other:?}"),
    }
}

#[test]
fn every_kind_of_unix_address_is_served_and_printed() {
    let folder = ListenFolder::new("kinds");
    let check = |text: &str, printed: &str| {
        let [listener] = &listen_at(text, &folder).unwrap()[..] else { panic!("one: {text}") };
        let address = listener.address.to_string();
        assert!(address.starts_with(&folder.fill(printed)), "{address}");
        assert!(address.ends_with(&format!(",guid={}", listener.guid)), "{address}");
        assert_eq!(listener.kind, SocketKind::Unix);
        let path = match place(listener) {
            UnixTransport::Abstract(name) => {
                connect_unix(Place::Abstract(name)).unwrap();
                None
            }
            UnixTransport::Path(path) => Some(PathBuf::from(str::from_utf8(path).unwrap())),
            other => panic!("nobody can connect to {other:?}"),
        };
        if let Some(path) = &path {
            UnixStream::connect(path).unwrap();
            let found = fs::symlink_metadata(path).unwrap();
            assert!(found.file_type().is_socket());
            assert_eq!(found.permissions().mode() & 0o777, 0o777, "anybody may try");
        }
        path
    };
    let left = [
        check("unix:path={dir}/a", "unix:path={dir}/a,"),
        check("unix:path={dir}/%62us%20x", "unix:path={dir}/bus%20x,"),
        check("unix:dir={dir}", "unix:path={dir}/dbus-"),
        check("unix:tmpdir={dir}", "unix:path={dir}/dbus-"),
        check("unix:runtime=yes", "unix:path={dir}/bus,"),
        check("unix:abstract={dir}/y%00z", "unix:abstract={dir}/y%00z,"),
    ];
    assert!(left.iter().flatten().all(|path| !path.exists()), "gone with the listener: {left:?}");
}

#[test]
fn listen_errors_have_the_texts_of_dbus_daemon() {
    let folder = ListenFolder::new("refused");
    fs::write(folder.0.join("plain"), "text").unwrap();
    let check = |text: &str, expected: &str| {
        let error = listen_at(text, &folder).expect_err(text);
        assert_eq!(error.to_string(), folder.fill(expected), "{text}");
    };
    check("unix", "Address does not contain a colon");
    check("unix:path=/x;;", "Address does not contain a colon");
    check(":", "Unknown address type ''");
    check("foo:x=y", "Unknown address type 'foo'");
    check("autolaunch:", "Unknown address type 'autolaunch'");
    check("unixexec:path=/bin/cat", "Unknown address type 'unixexec'");
    check(
        "tcp:host=127.0.0.1,family=ipv6",
        "Failed to lookup host/port: \"127.0.0.1:0\": Address family for hostname not supported (-9)",
    );
    check("unix:path", "'=' character not found or has no value following it");
    check("unix:path=a b", "In D-Bus address, character ' ' should have been escaped");
    check("systemd:", "No socket received.");
    check("unix:path={dir}/plain", "Failed to bind socket \"{dir}/plain\": Address already in use");
    check("unix:path={dir}", "Failed to bind socket \"{dir}\": Address already in use");
    check(
        "unix:path={dir}/no/x",
        "Failed to bind socket \"{dir}/no/x\": No such file or directory",
    );
    check(
        "unix:path={dir}/no/x;foo:",
        "Failed to bind socket \"{dir}/no/x\": No such file or directory",
    );
    check(
        "foo:;unix:path={dir}/no/x",
        "Failed to bind socket \"{dir}/no/x\": No such file or directory",
    );
    check("foo:;bar:", "Unknown address type 'foo'");
    assert_eq!(
        fs::read_to_string(folder.0.join("plain")).unwrap(),
        "text",
        "not ours, so it stays"
    );

    let mut nowhere = ListenEnvironment::default();
    let error = listen(&parse("unix:runtime=yes").unwrap(), &mut nowhere).unwrap_err();
    assert_eq!(error.to_string(), "\"XDG_RUNTIME_DIR\" is not set");
    let long = "x".repeat(200);
    assert!(listen_at(&format!("unix:path={{dir}}/{long}"), &folder).is_err());
    assert!(listen_at(&format!("unix:abstract={long}"), &folder).is_err());
}

#[test]
fn the_first_entry_that_works_is_taken() {
    let folder = ListenFolder::new("first");
    let text = "foo:;unix:path={dir}/no/x;unix:path={dir}/b;unix:path={dir}/c";
    let listeners = listen_at(text, &folder).unwrap();
    assert_eq!(listeners.len(), 1);
    assert!(folder.0.join("b").exists());
    assert!(!folder.0.join("c").exists());
}

#[test]
fn socket_files_are_replaced_and_only_own_ones_removed() {
    let folder = ListenFolder::new("replaced");
    let first = listen_at("unix:path={dir}/a", &folder).unwrap();
    let second = listen_at("unix:path={dir}/a", &folder).unwrap();
    assert_ne!(first[0].guid, second[0].guid);
    drop(first);
    UnixStream::connect(folder.0.join("a")).expect("the second listens");
    drop(second);
    assert!(!folder.0.join("a").exists());
}

#[test]
fn abstract_names_in_use_are_refused() {
    let folder = ListenFolder::new("abstract");
    let first = listen_at("unix:abstract={dir}", &folder).unwrap();
    let error = listen_at("unix:abstract={dir}", &folder).unwrap_err();
    let expected = "Failed to bind socket \"{dir}\": Address already in use";
    assert_eq!(error.to_string(), folder.fill(expected));
    drop(first);
    listen_at("unix:abstract={dir}", &folder).unwrap();
}

fn passed(sockets: Vec<OwnedFd>) -> ListenEnvironment {
    ListenEnvironment { passed: Ok(sockets), ..ListenEnvironment::default() }
}

#[test]
fn sockets_of_the_service_manager_are_served_in_order_and_once() {
    let folder = ListenFolder::new("passed");
    let path = folder.0.join("a");
    let unix = UnixListener::bind(&path).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let mut environment = passed(vec![unix.into(), tcp.into()]);
    let systemd = parse("systemd:").unwrap();
    let listeners = listen(&systemd, &mut environment).unwrap();

    let printed: Vec<_> = listeners.iter().map(|it| it.address.to_string()).collect();
    let [unix, tcp] = &printed[..] else { panic!("two: {printed:?}") };
    assert!(unix.starts_with(&folder.fill("unix:path={dir}/a,guid=")), "{unix}");
    let expected = format!("tcp:host=127.0.0.1,port={port},family=ipv4,guid=");
    assert!(tcp.starts_with(&expected), "{tcp}");
    let kinds: Vec<_> = listeners.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [SocketKind::Unix, SocketKind::Tcp]);

    // The sockets are non-blocking: accepting without a client fails at once.
    for listener in &listeners {
        let accepted = sys::socket::accept(&listener.sockets[0]).unwrap();
        assert!(matches!(accepted, sys::socket::Accepted::NoneWaiting));
    }
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    assert_eq!(listen(&systemd, &mut environment).unwrap_err(), ListenError::NoSocketPassed);
    drop(listeners);
    assert!(path.exists(), "it is the service manager's");
}

#[test]
fn unusable_passed_sockets_are_reported() {
    let folder = ListenFolder::new("mistakes");
    let check = |wrong: OwnedFd, expected: PassedSocketProblem| {
        let good = UnixListener::bind(unused(&folder.0)).unwrap();
        let error =
            listen(&parse("systemd:").unwrap(), &mut passed(vec![good.into(), wrong])).unwrap_err();
        assert_eq!(error, ListenError::PassedSocket { index: 1, problem: expected });
        let text = error.to_string();
        assert!(text.starts_with("Passed socket has wrong type: number 2 "), "{text}");
    };
    check(File::open("/dev/null").unwrap().into(), PassedSocketProblem::NoSocket);
    check(UnixDatagram::unbound().unwrap().into(), PassedSocketProblem::NoStream);
    let (connected, _other) = UnixStream::pair().unwrap();
    check(connected.into(), PassedSocketProblem::NotListening);

    let passed = Err(InheritError::BadListenFds);
    let mut environment = ListenEnvironment { passed, ..ListenEnvironment::default() };
    let error = listen(&parse("systemd:").unwrap(), &mut environment).unwrap_err();
    assert_eq!(error, ListenError::Variables(InheritError::BadListenFds));
}

fn unused(folder: &Path) -> PathBuf {
    let number = fs::read_dir(folder).expect("it is ours").count();
    folder.join(number.to_string())
}

#[test]
fn tcp_addresses_are_served_and_printed() {
    let folder = ListenFolder::new("tcp");
    let check = |text: &str, printed: &str, host: &str| {
        let [listener] = &listen_at(text, &folder).unwrap()[..] else { panic!("one: {text}") };
        assert_eq!(listener.kind, SocketKind::Tcp);
        let Transport::Tcp(tcp) = &listener.address.transport else { panic!("not TCP: {text}") };
        let port = tcp.port.expect("one was chosen").get();
        let address = listener.address.to_string();
        let expected = format!("{printed},port={port},family=ipv4,guid={}", listener.guid);
        assert_eq!(address, expected, "{text}");
        assert_eq!(listener.entry, ListenerEntry::Open);
        TcpStream::connect((host, port)).unwrap();
        let taken = listen_at(&format!("tcp:host=127.0.0.1,port={port}"), &folder).unwrap_err();
        let words =
            format!("Failed to bind socket \"127.0.0.1\" port {port}: Address already in use");
        assert_eq!(taken.to_string(), words);
    };
    check("tcp:host=127.0.0.1", "tcp:host=127.0.0.1", "127.0.0.1");
    check("tcp:host=127.0.0.1,port=0,family=ipv4", "tcp:host=127.0.0.1", "127.0.0.1");
    check("tcp:host=example.com,bind=127.0.0.1", "tcp:host=example.com", "127.0.0.1");
    check("tcp:host=example.com,bind=*", "tcp:host=example.com", "127.0.0.1");
    check("tcp:family=ipv4", "tcp:host=localhost", "127.0.0.1");
}

/// With IPv6 disabled there is one socket, otherwise two at the same port.
#[test]
fn all_addresses_of_a_host_are_served_at_one_port() {
    let folder = ListenFolder::new("hosts");
    let [listener] = &listen_at("tcp:host=localhost,bind=*", &folder).unwrap()[..] else {
        panic!("one address is printed")
    };
    let Transport::Tcp(tcp) = &listener.address.transport else { panic!("not TCP") };
    let port = tcp.port.unwrap().get();
    let has_ipv6 = TcpListener::bind("[::1]:0").is_ok();
    assert_eq!(listener.sockets.len(), if has_ipv6 { 2 } else { 1 });
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    assert_eq!(TcpStream::connect(("::1", port)).is_ok(), has_ipv6);
}

#[test]
fn a_nonce_is_written_to_a_private_file() {
    let folder = ListenFolder::new("nonce");
    let temp_dir = folder.0.clone();
    let mut environment = ListenEnvironment { temp_dir, ..ListenEnvironment::default() };
    let address = parse("nonce-tcp:host=127.0.0.1").unwrap();
    let [listener] = &listen(&address, &mut environment).unwrap()[..] else { panic!("one") };
    let Transport::NonceTcp { noncefile: Some(file), .. } = &listener.address.transport else {
        panic!("no file: {}", listener.address)
    };
    let file = PathBuf::from(str::from_utf8(file).unwrap());
    assert!(file.starts_with(&folder.0) && file.ends_with("nonce"), "{}", file.display());
    assert_eq!(fs::read(&file).unwrap().len(), Nonce::LEN);
    assert!(matches!(listener.entry, ListenerEntry::Nonce(_)));
    environment.temp_dir = folder.0.join("no");
    let error = listen(&address, &mut environment).unwrap_err();
    let words = "Failed to create a nonce file in \"{dir}/no\": No such file or directory";
    assert_eq!(error.to_string(), folder.fill(words));
}
