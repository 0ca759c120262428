//! Containers (`org.freedesktop.DBus.Containers1`): sockets for sandboxes, by which other programs
//! recognize the sandboxed ones. dbus-daemon has a test of this interface with the same cases.

use std::fs;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, PlainValue, ReceivedDescriptors, RunAs,
    TestConfig, TestPeer, eventually, field, instruments_binary, kind, root, run_tests, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(a_container_identifies_its_connections),
        test_case!(common_programs_run_in_containers),
        test_case!(other_users_cannot_connect).requires(root()),
        test_case!(the_socket_lives_as_long_as_its_creator),
        test_case!(a_stopped_container_closes_its_connections),
        test_case!(the_bus_removes_the_sockets_when_it_ends),
        test_case!(limits_are_enforced),
        test_case!(the_rules_of_a_container_are_limited),
        test_case!(a_filter_hides_names_from_common_programs),
        test_case!(a_filter_survives_a_replacement_of_the_bus),
        test_case!(a_socket_of_the_creator_is_used),
        test_case!(the_instruments_name_the_containers_of_connections),
        test_case!(sandboxed_programs_get_no_descriptors_of_processes),
        test_case!(a_pipe_determines_the_lifetime),
        test_case!(containers_outlive_a_replacement_of_the_bus),
    ])
}

const CONTAINERS: &str = "org.freedesktop.DBus.Containers1";
const DRIVER: &str = "org.freedesktop.DBus";

/// A container, as AddServer describes it.
struct TestContainer {
    instance: String,
    path: PathBuf,
    address: String,
}

fn containers_call(member: &str) -> PlainMessage {
    PlainMessage::call(DRIVER, "/org/freedesktop/DBus", CONTAINERS, member)
}

fn dictionary(entries: Vec<(&str, PlainValue)>) -> PlainValue {
    let entry = |(key, value)| {
        let value = PlainValue::Variant(Box::new(value));
        PlainValue::Entry(Box::new(PlainValue::text(key)), Box::new(value))
    };
    PlainValue::Array("{sv}".to_owned(), entries.into_iter().map(entry).collect())
}

fn add_server(kind: &str, name: &str, metadata: PlainValue) -> PlainMessage {
    containers_call("AddServer")
        .arg(PlainValue::text(kind))
        .arg(PlainValue::text(name))
        .arg(metadata)
        .arg(dictionary(Vec::new()))
}

/// Creates a container without metadata.
fn create(manager: &mut TestPeer, name: &str) -> TestContainer {
    create_with(manager, name, Vec::new())
}

/// Creates a container with rules in the language of xdg-dbus-proxy.
fn create_filtered(manager: &mut TestPeer, rules: &[&str]) -> TestContainer {
    create_with(manager, "filtered", vec![("org.diligence.Rules", rule_texts(rules))])
}

fn rule_texts(rules: &[&str]) -> PlainValue {
    let texts = rules.iter().map(|rule| PlainValue::text(rule)).collect();
    PlainValue::Array("s".to_owned(), texts)
}

fn create_with(
    manager: &mut TestPeer,
    name: &str,
    arguments: Vec<(&str, PlainValue)>,
) -> TestContainer {
    let mut request = add_server("com.example.Sandbox", name, dictionary(Vec::new()));
    request.body[3] = dictionary(arguments);
    let reply = manager.call(request);
    let [PlainValue::Path(instance), PlainValue::Array(_, path), PlainValue::Str(address)] =
        &reply.body[..]
    else {
        panic!("{}", reply.summary())
    };
    let mut path: Vec<u8> = path
        .iter()
        .map(|byte| match byte {
            PlainValue::Byte(byte) => *byte,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(path.pop(), Some(0), "the path ends with a zero byte");
    let path = PathBuf::from(String::from_utf8(path).expect("a path"));
    TestContainer { instance: instance.clone(), path, address: address.clone() }
}

fn stop(member: &str, instance: &str) -> PlainMessage {
    containers_call(member).arg(PlainValue::Path(instance.to_owned()))
}

fn info(peer: &mut TestPeer, instance: &str) -> PlainMessage {
    peer.call(stop("GetInstanceInfo", instance))
}

/// Waits for the signal that a container has been removed.
fn wait_for_removal(peer: &mut TestPeer, instance: &str) {
    eventually("the signal InstanceRemoved", || {
        let removed = peer.receive()?;
        let is_it = removed.member() == "InstanceRemoved"
            && removed.body == [PlainValue::Path(instance.to_owned())];
        is_it.then_some(())
    });
}

fn watch_removals(peer: &mut TestPeer) {
    peer.add_match(&format!("interface='{CONTAINERS}'"));
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

fn a_container_identifies_its_connections() {
    let bus = BusUnderTest::session();
    let [mut manager, mut observer] = [bus.peer(), bus.peer()];
    let metadata = dictionary(vec![("Species", PlainValue::text("Martes martes"))]);
    let reply = manager.call(add_server("org.example.Springwatch", "", metadata.clone()));
    let PlainValue::Str(address) = &reply.body[2] else { panic!("{}", reply.summary()) };
    assert!(address.starts_with("unix:path="), "{address}");
    let app = TestPeer::connect(address);
    let question = containers_call("GetConnectionInstance").arg(PlainValue::text(app.name()));
    let found = observer.call(question);
    let [instance, PlainValue::Array(_, creator), kind, name, kept] = &found.body[..] else {
        panic!("{}", found.summary())
    };
    assert_eq!(instance, &reply.body[0]);
    assert_eq!((kind, name), (&PlainValue::text("org.example.Springwatch"), &PlainValue::text("")));
    assert_eq!(kept, &metadata, "metadata is returned unchanged");
    let pid = PlainValue::Variant(Box::new(PlainValue::U32(std::process::id())));
    let has_pid = |entry: &PlainValue| match entry {
        PlainValue::Entry(key, value) => **key == PlainValue::text("ProcessID") && **value == pid,
        _ => false,
    };
    assert!(creator.iter().any(has_pid), "{creator:?}");
    let credentials = observer.ask_bus("GetConnectionCredentials", app.name());
    let PlainValue::Array(_, credentials) = &credentials.body[0] else { panic!("a dictionary") };
    let of_container = |entry: &&PlainValue| match entry {
        PlainValue::Entry(key, _) => **key == PlainValue::Str(format!("{CONTAINERS}.Instance")),
        _ => false,
    };
    let Some(PlainValue::Entry(_, found)) = credentials.iter().find(of_container) else {
        panic!("{credentials:?}")
    };
    assert_eq!(**found, PlainValue::Variant(Box::new(instance.clone())));
    bus.stop();
}

/// Programs that know nothing of containers use the address of one like any other.
fn common_programs_run_in_containers() {
    let bus = BusUnderTest::session();
    let mut manager = bus.peer();
    let address = create(&mut manager, "app").address;
    let (bus_argument, address_argument) =
        (format!("--bus={address}"), format!("--address={address}"));
    let call = "org.freedesktop.DBus.ListNames";
    let commands: [&[&str]; 3] = [
        &["dbus-send", &bus_argument, "--print-reply", "--dest=org.freedesktop.DBus", "/", call],
        &["gdbus", "call", "--address", &address, "-d", DRIVER, "-o", "/", "-m", call],
        &["busctl", &address_argument, "--no-pager", "list"],
    ];
    for command in commands {
        let ran = ExternalProgram::at(command[0]).args(&command[1..]).run();
        assert!(ran.success().stdout.contains(manager.name()), "{command:?}");
    }
    bus.stop();
}

fn other_users_cannot_connect() {
    let bus = BusUnderTest::start(
        &TestConfig::session().policy("context='default'", "<allow user='*'/>"),
    );
    let mut manager = bus.peer();
    let container = create(&mut manager, "app");
    for (address, connects) in [(bus.address(), true), (&container.address, false)] {
        let ran = ExternalProgram::at("dbus-send")
            .args([&format!("--bus={address}"), "--print-reply", "--dest=org.freedesktop.DBus"])
            .args(["/", "org.freedesktop.DBus.GetId"])
            .user(RunAs::NOBODY)
            .run();
        assert_eq!(ran.succeeded(), connects, "{address}: {}", ran.stderr);
    }
    let mode = fs::metadata(container.path.parent().expect("a folder")).expect("it exists");
    assert_eq!(mode.permissions().mode() & 0o022, 0, "only the bus creates sockets there");
    bus.stop();
}

fn the_socket_lives_as_long_as_its_creator() {
    let bus = BusUnderTest::session();
    let (mut manager, mut observer) = (bus.peer(), bus.peer());
    watch_removals(&mut observer);
    let [used, unused] = ["used", "unused"].map(|name| create(&mut manager, name));
    let mut app = TestPeer::connect(&used.address);
    assert!(is_socket(&used.path) && is_socket(&unused.path));
    drop(manager);
    wait_for_removal(&mut observer, &unused.instance);
    eventually("the end of the sockets", || {
        (!used.path.exists() && !unused.path.exists()).then_some(())
    });
    assert!(app.is_alive(), "a connection outlives the creator");
    assert_eq!(info(&mut observer, &used.instance).kind, kind::RETURN);
    drop(app);
    wait_for_removal(&mut observer, &used.instance);
    let reply = info(&mut observer, &used.instance);
    assert_eq!(reply.error_name(), "NotContainer", "{}", reply.summary());
    bus.stop();
}

fn a_stopped_container_closes_its_connections() {
    let bus = BusUnderTest::session();
    let (mut manager, mut observer) = (bus.peer(), bus.peer());
    watch_removals(&mut observer);
    let container = create(&mut manager, "app");
    let mut app = TestPeer::connect(&container.address);
    let refused = app.call(stop("StopInstance", &container.instance));
    assert_eq!(refused.error_name(), "AccessDenied", "{}", refused.summary());
    for _ in 0..2 {
        let reply = observer.call(stop("StopListening", &container.instance));
        assert_eq!(reply.kind, kind::RETURN, "another connection of the user can do that");
        assert!(!container.path.exists());
    }
    assert!(app.is_alive());
    assert_eq!(manager.call(stop("StopInstance", &container.instance)).kind, kind::RETURN);
    app.until_closed();
    wait_for_removal(&mut observer, &container.instance);
    bus.stop();
}

fn the_bus_removes_the_sockets_when_it_ends() {
    let bus = BusUnderTest::session();
    let mut manager = bus.peer();
    let container = create(&mut manager, "app");
    assert!(is_socket(&container.path));
    bus.stop();
    assert!(!container.path.exists());
}

fn limits_are_enforced() {
    let config = TestConfig::session()
        .limit("max_containers", 3)
        .limit("max_containers_per_user", 2)
        .limit("max_container_metadata_bytes", 100)
        .limit("max_connections_per_container", 2);
    let bus = BusUnderTest::start(&config);
    let mut manager = bus.peer();
    let container = create(&mut manager, "first");
    create(&mut manager, "second");
    let request = add_server("com.example.Sandbox", "third", dictionary(Vec::new()));
    let reply = manager.call(request.clone());
    assert_eq!(reply.error_name(), "LimitsExceeded", "{}", reply.summary());
    let full = [(); 2].map(|()| TestPeer::before_hello(&container.address, DESCRIPTORS));
    let mut over = conformance::PeerStream::connect(&container.address);
    assert!(over.is_closed(), "a third connection");
    drop(full);
    eventually("room for a connection", || {
        let mut stream = conformance::PeerStream::connect(&container.address);
        stream.write(b"\0");
        stream.say("AUTH")
    });
    let long = dictionary(vec![("key", PlainValue::Str("x".repeat(100)))]);
    let reply = manager.call(add_server("com.example.Sandbox", "", long));
    assert_eq!(reply.error_name(), "LimitsExceeded", "{}", reply.summary());
    assert_eq!(manager.call(stop("StopInstance", &container.instance)).kind, kind::RETURN);
    assert_eq!(manager.call(request).kind, kind::RETURN, "there is room again");
    let ran = bus.stop();
    assert!(ran.stderr.contains("max_connections_per_container"), "{}", ran.stderr);
}

/// Programs print the same for a hidden service as for a service that does not exist.
fn the_rules_of_a_container_are_limited() {
    let bus = BusUnderTest::session();
    let mut manager = bus.peer();
    let container = create_filtered(&mut manager, &[]);
    let long = format!("see=com.example.{}", "A".repeat(200));
    for (rules, error) in [
        (vec!["see=com.example.A"; 1025], "LimitsExceeded"),
        (vec![long.as_str(); 400], "LimitsExceeded"),
        (vec!["see=com.example.A"; 1024], ""),
    ] {
        let path = "/org/freedesktop/DBus";
        let request = PlainMessage::call(DRIVER, path, "org.diligence.Containers1", "SetRules")
            .arg(PlainValue::Path(container.instance.clone()))
            .arg(rule_texts(&rules));
        let reply = manager.call(request);
        let found = if reply.kind == kind::RETURN { "" } else { reply.error_name() };
        assert_eq!(found, error, "{} rules: {}", rules.len(), reply.summary());
    }
    bus.stop();
}

fn a_filter_hides_names_from_common_programs() {
    let bus = BusUnderTest::session();
    let [mut manager, mut open, mut hidden] = [(); 3].map(|()| bus.peer());
    assert_eq!(open.request_name("com.example.Open", 0), 1);
    assert_eq!(hidden.request_name("com.example.Hidden", 0), 1);
    let container = create_filtered(&mut manager, &["talk=com.example.Open"]);
    let address = &container.address;
    let run = |command: &[&str]| ExternalProgram::at(command[0]).args(&command[1..]).run();
    let address_argument = format!("--address={address}");
    let listed = run(&["busctl", &address_argument, "--no-pager", "list"]).success().stdout;
    for (name, is_visible) in [
        ("com.example.Open", true),
        ("com.example.Hidden", false),
        (open.name(), true),
        (hidden.name(), false),
        (manager.name(), false),
    ] {
        let is_listed = listed.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert_eq!(is_listed, is_visible, "{name}: {listed}");
    }
    let bus_argument = format!("--bus={address}");
    let failure = |name: &str| {
        let calls: [&[&str]; 4] = [
            &["dbus-send", &bus_argument, "--print-reply", &format!("--dest={name}"), "/", "a.b.C"],
            &["gdbus", "call", "--address", address, "-d", name, "-o", "/", "-m", "a.b.C"],
            &["gdbus", "introspect", "--address", address, "-d", name, "-o", "/"],
            &["busctl", &address_argument, "--no-pager", "status", name],
        ];
        calls.map(|command| {
            let ran = run(command);
            assert!(!ran.succeeded(), "{command:?}");
            (ran.stdout + &ran.stderr).replace(name, "NAME")
        })
    };
    assert_eq!(failure("com.example.Hidden"), failure("com.example.Absent"));
    assert_eq!(failure(hidden.name()), failure(":1.999999"));
    assert_eq!(hidden.drain().len(), 0, "nothing has arrived");
    bus.stop();
}

fn a_filter_survives_a_replacement_of_the_bus() {
    let bus = BusUnderTest::session();
    let [mut manager, mut open, mut hidden] = [(); 3].map(|()| bus.peer());
    assert_eq!(open.request_name("com.example.Open", 0), 1);
    let container = create_filtered(&mut manager, &["talk=com.example.Open"]);
    let mut app = TestPeer::connect(&container.address);
    hidden.send(PlainMessage::some_call(app.name()));
    let call = eventually("the call", || app.receive().filter(|it| it.kind == kind::CALL));
    replace(&mut manager);
    let seen = app.ask_bus("NameHasOwner", hidden.name());
    assert_eq!(seen.body, [PlainValue::Bool(true)], "it has called the program");
    let seen = app.ask_bus("NameHasOwner", manager.name());
    assert_eq!(seen.body, [PlainValue::Bool(false)]);
    app.send(PlainMessage::reply(&call));
    eventually("the reply", || hidden.receive().filter(|it| it.kind == kind::RETURN));
    let refused = app.call(PlainMessage::some_call(hidden.name()));
    assert_eq!(refused.error_name(), "AccessDenied", "{}", refused.summary());
    app.send(PlainMessage::some_call("com.example.Open"));
    eventually("the call", || open.receive().filter(|it| it.kind == kind::CALL));
    bus.stop();
}

/// Sends AddServer with a descriptor, which a named argument refers to.
fn add_server_with(
    manager: &mut TestPeer,
    argument: &str,
    descriptor: BorrowedFd<'_>,
) -> PlainMessage {
    let mut request = add_server("com.example.Sandbox", "app", dictionary(Vec::new()));
    request.body[3] = dictionary(vec![(argument, PlainValue::Fd(0))]);
    let request = manager.numbered(request.field(field::UNIX_FDS, PlainValue::U32(1)));
    manager.send_with_descriptors(&request.encode(), &[descriptor]);
    eventually("the reply", || {
        manager.receive().filter(|reply| reply.reply_serial() == Some(request.serial))
    })
}

fn a_socket_of_the_creator_is_used() {
    let bus = BusUnderTest::session();
    let mut manager = bus.peer();
    let path = bus.scratch().path().join("own-socket");
    let socket = UnixListener::bind(&path).expect("a folder for tests");
    let reply = add_server_with(&mut manager, "org.diligence.Socket", socket.as_fd());
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    let PlainValue::Path(instance) = &reply.body[0] else { panic!("{}", reply.summary()) };
    let mut app = TestPeer::connect(&format!("unix:path={}", path.display()));
    let question = containers_call("GetConnectionInstance").arg(PlainValue::text(app.name()));
    assert_eq!(manager.call(question).body[0], reply.body[0]);
    // The creator can shut the socket down, which the bus must survive.
    watch_removals(&mut manager);
    rustix::net::shutdown(&socket, rustix::net::Shutdown::Both).expect("a socket");
    app.until_closed();
    wait_for_removal(&mut manager, instance);
    assert!(bus.peer().is_alive() && path.exists(), "the file belongs to its creator");
    let (stream, _) = std::os::unix::net::UnixStream::pair().expect("sockets");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let again = bus.scratch().path().join("other-socket");
    let again = UnixListener::bind(&again).expect("a folder for tests");
    let used = add_server_with(&mut manager, "org.diligence.Socket", again.as_fd());
    assert_eq!(used.kind, kind::RETURN, "{}", used.summary());
    for (socket, problem) in [
        (stream.as_fd(), "is not listening"),
        (tcp.as_fd(), "is not a Unix socket"),
        // With two containers, it would be open which of them a program gets into.
        (again.as_fd(), "is already the socket of a container or of the bus"),
    ] {
        let reply = add_server_with(&mut manager, "org.diligence.Socket", socket);
        assert_eq!(reply.kind, kind::ERROR, "it {problem}");
        let text = format!("the descriptor of org.diligence.Socket {problem}");
        assert!(reply.summary().contains(&text), "{}", reply.summary());
    }
    bus.stop();
}

fn the_instruments_name_the_containers_of_connections() {
    let bus = BusUnderTest::session();
    let mut manager = bus.peer();
    let container = create(&mut manager, "com.example.App");
    let app = TestPeer::connect(&container.address);
    let address = format!("--address={}", bus.address());
    let run = |words: &[&str]| {
        let program = ExternalProgram::at(instruments_binary());
        program.args(words).arg(&address).run().success().stdout
    };
    let list = run(&["list", "--unique", "--json"]);
    let named = r#""type":"com.example.Sandbox","name":"com.example.App"}"#;
    let of_app = format!(r#""container":{{"path":"{}",{named}"#, container.instance);
    assert!(list.contains(&of_app), "{list}");
    assert_eq!(list.matches(r#""container":"#).count(), 1, "{list}");
    let columns = run(&["list", "--unique"]);
    assert!(!columns.contains("com.example.App"), "busctl shows no containers: {columns}");
    let status = run(&["status", app.name()]);
    for line in ["ContainerType=com.example.Sandbox", "ContainerName=com.example.App"] {
        assert!(status.lines().any(|it| it == line), "{status}");
    }
    bus.stop();
}

fn sandboxed_programs_get_no_descriptors_of_processes() {
    let bus = BusUnderTest::session();
    let [mut manager, mut outside] = [(); 2].map(|()| bus.peer());
    let container = create(&mut manager, "app");
    let mut app = TestPeer::connect(&container.address);
    for (peer, has_descriptor) in [(&mut outside, true), (&mut app, false)] {
        let reply = peer.ask_bus("GetConnectionCredentials", manager.name());
        let entries = reply.body[0].entries().expect("a dictionary");
        assert_eq!(entries.contains_key("ProcessFD"), has_descriptor, "{}", reply.summary());
        assert!(entries.contains_key("ProcessID"), "{}", reply.summary());
    }
    bus.stop();
}

fn a_pipe_determines_the_lifetime() {
    let bus = BusUnderTest::session();
    let [mut manager, mut observer] = [bus.peer(), bus.peer()];
    watch_removals(&mut observer);
    let (read_end, write_end) = std::io::pipe().expect("a pipe");
    let reply = add_server_with(&mut manager, "org.diligence.Lifetime", read_end.as_fd());
    let [PlainValue::Path(instance), _, PlainValue::Str(address)] = &reply.body[..] else {
        panic!("{}", reply.summary())
    };
    for (descriptor, problem) in [
        (bus_socket().as_fd(), "a socket could keep its own connection open"),
        (write_end.as_fd(), "with the write end, the bus would keep the container itself"),
    ] {
        let reply = add_server_with(&mut manager, "org.diligence.Lifetime", descriptor);
        assert_eq!(reply.kind, kind::ERROR, "{problem}");
        assert!(reply.summary().contains("is not the read end of a pipe"), "{}", reply.summary());
    }
    let path = "/org/freedesktop/DBus";
    let list = PlainMessage::call(DRIVER, path, "org.diligence.Containers1", "ListInstances");
    let listed = manager.call(list).summary();
    assert!(listed.contains(instance.as_str()) && listed.contains("app"), "{listed}");
    drop((manager, read_end));
    let mut app = TestPeer::connect(address);
    replace(&mut observer);
    assert!(app.is_alive() && TestPeer::connect(address).is_alive());
    assert_eq!(observer.call(stop("StopListening", instance)).kind, kind::RETURN);
    assert!(app.is_alive(), "the pipe outlives the socket");
    replace(&mut observer);
    drop(write_end);
    app.until_closed();
    wait_for_removal(&mut observer, instance);
    bus.stop();
}

/// Replaces the program of the bus.
fn replace(peer: &mut TestPeer) {
    let (path, interface) = ("/org/freedesktop/DBus", "org.diligence.Daemon1");
    let call = PlainMessage::call(DRIVER, path, interface, "Reexecute");
    assert_eq!(peer.call(call).kind, kind::RETURN);
}

fn bus_socket() -> OwnedFd {
    std::os::unix::net::UnixStream::pair().expect("sockets").0.into()
}

const DESCRIPTORS: ReceivedDescriptors = ReceivedDescriptors::Unwanted;

fn containers_outlive_a_replacement_of_the_bus() {
    let bus = BusUnderTest::session();
    let (mut manager, mut observer) = (bus.peer(), bus.peer());
    watch_removals(&mut observer);
    assert_eq!(observer.call(containers_call("RequestHeader")).kind, kind::RETURN);
    let container = create(&mut manager, "app");
    let mut app = TestPeer::connect(&container.address);
    let before = info(&mut observer, &container.instance);
    replace(&mut manager);
    assert!(app.is_alive() && is_socket(&container.path));
    assert_eq!(info(&mut observer, &container.instance).body, before.body);
    let mut second = TestPeer::connect(&container.address);
    second.send(PlainMessage::some_call(observer.name()));
    let call =
        eventually("the call", || observer.receive().filter(|message| message.kind == kind::CALL));
    assert_eq!(call.get(10), Some(&PlainValue::Path(container.instance.clone())));
    assert_eq!(manager.call(stop("StopInstance", &container.instance)).kind, kind::RETURN);
    app.until_closed();
    second.until_closed();
    wait_for_removal(&mut observer, &container.instance);
    bus.stop();
}
