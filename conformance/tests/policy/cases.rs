//! The policy for connecting, and the stock policy of a system bus.

use conformance::{
    BUS_NAME, BUS_PATH, BusUnderTest, PeerStream, PlainMessage, PlainValue, ReceivedDescriptors,
    RunAs, ScratchFolder, TestConfig, TestPeer, bus_program, check_all, first_line, kind, require,
};

const ROOT: RunAs = RunAs { uid: 0, gid: 0 };
const DAEMON: RunAs = RunAs { uid: 1, gid: 1 };

fn connect(address: &str, user: RunAs) -> PeerStream {
    user.act(|| {
        let mut stream = PeerStream::connect(address);
        stream.log_in(ReceivedDescriptors::Negotiated);
        stream
    })
}

/// Connects as this user; `None` if the bus rejects the client.
fn join(address: &str, user: RunAs) -> Option<TestPeer> {
    let mut peer = TestPeer::over(connect(address, user));
    peer.send(PlainMessage::to_bus("Hello"));
    let reply = peer.receive()?;
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    assert_eq!(peer.receive().map(|m| m.member().to_owned()), Some("NameAcquired".into()));
    Some(peer)
}

/// The last matching rule decides whether a user may connect; without a matching rule, only the
/// bus's own user may.
pub(crate) fn the_last_matching_rule_decides_whether_a_user_connects() {
    // Rules, and whether they admit root (the user of the bus), nobody, and daemon.
    let rows = [
        ("", "", [true, false, false]),
        ("<allow user='*'/>", "", [true, true, true]),
        ("<allow user='nobody'/>", "", [true, true, false]),
        ("<allow user='65534'/>", "", [true, true, false]),
        ("<deny user='root'/><allow user='daemon'/>", "", [false, false, true]),
        ("<allow user='*'/><deny user='nobody'/>", "", [true, false, true]),
        ("<deny user='nobody'/><allow user='*'/>", "", [true, true, true]),
        ("<allow user='*'/>", "<deny user='daemon'/>", [true, true, false]),
        ("<deny user='*'/>", "<allow user='daemon'/>", [false, false, true]),
        ("<allow group='*'/>", "", [true, true, true]),
        ("<allow group='daemon'/>", "", [true, false, true]),
        ("<allow group='nosuch'/>", "", [true, false, false]),
        ("<allow own='*'/>", "", [true, false, false]),
    ];
    check_all(
        &rows,
        |row| format!("{} {}", row.0, row.1),
        |(default, mandatory, expected)| {
            let messages = "<allow send_type='*'/><allow receive_type='*'/>";
            let config = TestConfig::closed()
                .policy("context='default'", &format!("{messages}{default}"))
                .policy("context='mandatory'", mandatory);
            let bus = BusUnderTest::start(&config);
            let users = [ROOT, RunAs::NOBODY, DAEMON];
            let admitted = users.map(|user| join(bus.address(), user).is_some());
            assert_eq!(admitted, *expected);
            bus.stop();
        },
    );
}

/// Debian's configuration for the system bus, at an address of the test.
pub(crate) fn the_stock_policy_of_the_system_bus_applies() {
    require("/usr/share/dbus-1/system.conf", "dbus-system-bus-common");
    let scratch = ScratchFolder::new();
    conformance::set_mode(scratch.path(), 0o777);
    let address = format!("--address=unix:path={}/bus", scratch.path().display());
    let program = bus_program().args(["--system", "--nofork", "--nopidfile", "--nosyslog"]);
    let mut running = program.arg(address).arg("--print-address=1").start();
    let address = running.wait_for("address", |stdout, _| first_line(stdout));
    PeerStream::knock(&address);

    let call = |interface, member| PlainMessage::call(BUS_NAME, BUS_PATH, interface, member);
    let request = || {
        PlainMessage::to_bus("RequestName")
            .arg(PlainValue::text("com.example.A"))
            .arg(PlainValue::U32(0))
    };
    let stats = "org.freedesktop.DBus.Debug.Stats";
    // The replies to root and to nobody.
    let rows = [
        (call(BUS_NAME, "GetId"), ["", ""]),
        (call("org.freedesktop.DBus.Introspectable", "Introspect"), ["", ""]),
        (call("org.freedesktop.DBus.Peer", "Ping"), ["AccessDenied", "AccessDenied"]),
        (call(stats, "GetStats"), ["", "AccessDenied"]),
        (request(), ["AccessDenied", "AccessDenied"]),
        (PlainMessage::to_bus("UpdateActivationEnvironment"), ["AccessDenied", "AccessDenied"]),
        (PlainMessage::call(":1.0", "/x", "a.b", "M"), ["AccessDenied", "AccessDenied"]),
    ];
    let mut clients =
        [ROOT, RunAs::NOBODY].map(|user| join(&address, user).expect("everybody may connect"));
    for (call, expected) in rows {
        for (client, expected) in clients.iter_mut().zip(expected) {
            let reply = client.call(call.clone());
            let (member, summary) = (call.member(), reply.summary());
            assert_eq!(reply.error_name(), expected, "{member}: {summary}");
        }
    }
    // Broadcast signals are allowed.
    let [root, nobody] = &mut clients;
    root.add_match("interface='a.b'");
    nobody.send(PlainMessage::signal("/x", "a.b", "S"));
    nobody.collect();
    let received: Vec<_> = root.collect().iter().map(|m| m.member().to_owned()).collect();
    assert_eq!(received, ["S"]);
    drop(clients);
    let _ = running.terminate().success();
}
