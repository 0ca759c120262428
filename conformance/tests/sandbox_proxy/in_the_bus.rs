//! The proxy lets Diligence's bus do its work.

use std::{fs, process};

use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, PlainValue, TestConfig, TestPeer, eventually, kind,
};

use crate::proxy::ProxyProgram;

const NAME: &str = "com.example.Service";
const RULES: [&str; 2] = ["--filter", "--talk=com.example.Service"];

pub(crate) fn no_process_stands_between() {
    let bus = BusUnderTest::session();
    let [mut service, mut hidden] = [bus.peer(), bus.peer()];
    service.request_name(NAME, 0);
    hidden.request_name("com.example.Hidden", 0);
    let proxy = ProxyProgram::InBus.start(bus.address(), &RULES);
    let mut client = TestPeer::connect(proxy.address());
    client.round_trip(&mut service);
    let refused = client.call(PlainMessage::some_call("com.example.Hidden"));
    assert_eq!(refused.error_name(), "ServiceUnknown", "{}", refused.summary());
    // The service sees the process of the proxy, as behind the original, and the container.
    let pid = service.ask_bus("GetConnectionUnixProcessID", client.name());
    assert_eq!(pid.body, [PlainValue::U32(proxy.process.pid())]);
    let credentials = service.ask_bus("GetConnectionCredentials", client.name());
    let credentials = credentials.body[0].entries().expect("a dictionary");
    let sandboxed = credentials["org.diligence.SandboxedProcessID"];
    assert_eq!(sandboxed, &PlainValue::U32(process::id()));
    let container = PlainMessage::call(
        "org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.Containers1",
        "GetConnectionInstance",
    );
    let container = service.call(container.arg(PlainValue::text(client.name())));
    let name = proxy.path().display().to_string();
    assert_eq!(
        container.body[2..4],
        [PlainValue::text("org.diligence.SandboxProxy"), PlainValue::Str(name)]
    );
    let address = proxy.address().to_owned();
    let ran = ExternalProgram::at("gdbus")
        .args(["introspect", "--address", &address, "--dest", "org.freedesktop.DBus"])
        .args(["--object-path", "/org/freedesktop/DBus"])
        .run();
    assert!(ran.success().stdout.contains("ListNames"));
    // When the proxy ends, its programs are disconnected from the socket.
    drop(proxy);
    eventually("the end of the socket", || {
        let path = address.strip_prefix("unix:path=").expect("a path");
        std::os::unix::net::UnixStream::connect(path).is_err().then_some(())
    });
    bus.stop();
}

/// The requirement that Bubblewrap can create a sandbox.
pub(crate) fn bubblewrap() -> Result<(), String> {
    let created = ExternalProgram::named("bwrap", "bubblewrap").args(SANDBOX).arg("true").run();
    if created.succeeded() { Ok(()) } else { Err(format!("needs bwrap: {created}")) }
}

/// A program in a sandbox of Bubblewrap, which could give itself another root directory, sees only
/// what the rules name, and services see the process of the proxy.
pub(crate) fn programs_in_bubblewrap_see_the_same_as_behind_the_original() {
    let bus = BusUnderTest::session();
    let [mut service, mut hidden] = [bus.peer(), bus.peer()];
    service.request_name(NAME, 0);
    hidden.request_name("com.example.Hidden", 0);
    for program in [ProxyProgram::Original, ProxyProgram::InBus] {
        let proxy = program.start(bus.address(), &RULES);
        let ask = |member: &str, argument: &str| {
            let driver = "org.freedesktop.DBus";
            ExternalProgram::named("bwrap", "bubblewrap")
                .args(SANDBOX)
                .args(["gdbus", "call", "--address", proxy.address(), "--dest", driver])
                .args(["--object-path", "/", "--method", &format!("{driver}.{member}"), argument])
                .run()
                .success()
                .stdout
        };
        assert_eq!(ask("NameHasOwner", NAME), "(true,)\n", "{program:?}");
        assert_eq!(ask("NameHasOwner", "com.example.Hidden"), "(false,)\n", "{program:?}");
        let client = TestPeer::connect(proxy.address());
        let pid = service.ask_bus("GetConnectionUnixProcessID", client.name());
        assert_eq!(pid.body, [PlainValue::U32(proxy.process.pid())], "{program:?}");
    }
    bus.stop();
}

/// The options of a sandbox with its own users and processes.
const SANDBOX: [&str; 9] =
    ["--ro-bind", "/", "/", "--dev", "/dev", "--unshare-user", "--unshare-pid", "--proc", "/proc"];

pub(crate) fn a_stopped_container_closes_the_socket() {
    let bus = BusUnderTest::session();
    let mut manager = bus.peer();
    let mut proxy = ProxyProgram::InBus.start(bus.address(), &RULES);
    let mut client = TestPeer::connect(proxy.address());
    let containers = |member| {
        let (driver, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
        PlainMessage::call(driver, path, "org.freedesktop.DBus.Containers1", member)
    };
    let instance = containers("GetConnectionInstance").arg(PlainValue::text(client.name()));
    let instance = manager.call(instance).body.remove(0);
    // A file that another program has put there meanwhile stays.
    let path = proxy.path().to_owned();
    fs::remove_file(&path).expect("the socket");
    fs::write(&path, "another program").expect("a file");
    assert_eq!(manager.call(containers("StopInstance").arg(instance)).kind, kind::RETURN);
    client.until_closed();
    let status = eventually("the end of the proxy", || proxy.process.ended());
    assert!(status.success(), "{status}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "another program");
    bus.stop();
}

pub(crate) fn the_proxy_takes_over_if_the_bus_ends() {
    let scratch = conformance::ScratchFolder::new();
    let address = format!("unix:path={}", scratch.join("bus").display());
    let config = TestConfig::session().listen(&address);
    let first = BusUnderTest::start(&config);
    let proxy = ProxyProgram::InBus.start(first.address(), &RULES);
    assert!(TestPeer::connect(proxy.address()).is_alive());
    first.stop();
    let second = BusUnderTest::start(&config);
    let mut service = second.peer();
    service.request_name(NAME, 0);
    let mut client = eventually("a connection through the proxy", || {
        let stream = conformance::PeerStream::dial(proxy.address()).ok()?;
        let mut client = TestPeer::over(stream);
        client.stream().log_in(conformance::ReceivedDescriptors::Unwanted);
        (client.hello().kind == kind::RETURN).then_some(client)
    });
    client.round_trip(&mut service);
    let refused = client.call(PlainMessage::some_call("com.example.Hidden"));
    assert_eq!(refused.error_name(), "ServiceUnknown", "{}", refused.summary());
    second.stop();
}
