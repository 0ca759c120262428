//! The programs that start a bus, each with the command line that it uses and nobody may change,
//! and the users who come to a bus that is not theirs.

use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::time::Duration;

use conformance::{
    BusUnderTest, Daemon, ExternalProgram, FinishedProgram, PlainValue, RunAs, ScratchFolder,
    Signal, TestConfig, TestPeer, eventually, first_line, installed, link_bus, root_for, set_mode,
    socket_path,
};

/// dbus-run-session: the command gets the bus, its exit status is passed on, the bus goes.
#[test]
fn dbus_run_session() {
    let rows = [("exit 0", 0), ("exit 42", 42), ("kill -9 $$", 137)];
    let forms: [&[&str]; 2] = [&[], &["--config-file", "{conf}"]];
    for args in forms {
        for (script, code) in rows {
            let scratch = with_configuration();
            let command = format!("echo $DBUS_SESSION_BUS_ADDRESS; {CALL} >&2; {script}");
            let ran = ExternalProgram::at(installed("dbus-run-session", "dbus-daemon"))
                .arg(format!("--dbus-daemon={}", link_bus(&scratch).display()))
                .args(args.iter().map(|arg| fill(arg, &scratch)))
                .args(["--", "sh", "-c", &command])
                .run();
            assert_eq!(ran.code(), code, "{ran}");
            assert!(ran.stderr.contains("boolean true"), "{ran}");
            let address = ran.stdout.trim_end();
            let socket = socket_path(address).expect("a socket with a path");
            eventually("the end of the bus", || (!socket.exists()).then_some(()));
        }
    }
}

/// A call that is answered only on the bus of the environment.
const CALL: &str = "dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
                    org.freedesktop.DBus.NameHasOwner string:org.freedesktop.DBus";

/// GLib's GTestDBus: reads one line, then removes the configuration file.
#[test]
fn gtest_dbus() {
    let scratch = ScratchFolder::new();
    let ran = ExternalProgram::python(
        "import gi, os\n\
         gi.require_version('Gio', '2.0')\n\
         from gi.repository import Gio, GLib\n\
         bus = Gio.TestDBus.new(Gio.TestDBusFlags.NONE)\n\
         bus.up()\n\
         print(bus.get_bus_address())\n\
         connection = Gio.bus_get_sync(Gio.BusType.SESSION)\n\
         name = 'org.freedesktop.DBus'\n\
         print(connection.call_sync(name, '/', name, 'GetId', None, None, 0, -1, None))\n\
         connection.set_exit_on_close(False)\n\
         del connection\n\
         bus.stop()\n",
    )
    .env("G_TEST_DBUS_DAEMON", link_bus(&scratch))
    .run()
    .success();
    let address = first_line(&ran.stdout).expect("it prints the address");
    assert!(address.starts_with("unix:"), "{ran}");
    let socket = socket_path(&address).expect("a socket with a path");
    eventually("the end of the bus", || (!socket.exists()).then_some(()));
}

/// python-dbusmock: two lines, then the end of the output, while the bus goes on without it.
#[test]
fn dbusmock() {
    for form in ["--session", "--config-file={conf}"] {
        let scratch = with_configuration();
        let (mut output, child_side) = std::io::pipe().expect("a pipe");
        // The standard input is the pipe only to get it there; the shell turns it around.
        let running = ExternalProgram::shell("exec \"$@\" >&0 </dev/null")
            .arg(link_bus(&scratch))
            .args(["--fork", "--print-address=1", "--print-pid=1", &fill(form, &scratch)])
            .stdin(OwnedFd::from(child_side))
            .start();
        let mut text = String::new();
        output.read_to_string(&mut text).expect("text, and an end");
        let _ = running.finish().success();
        let daemon = Daemon::from_output(&text);
        assert!(TestPeer::connect(daemon.address()).is_alive());
        daemon.stop();
    }
}

/// at-spi-bus-launcher: reads descriptor 3 to its end, while the bus stays in the foreground.
#[test]
fn at_spi_bus_launcher() {
    let scratch = with_configuration();
    let (mut output, child_side) = std::io::pipe().expect("a pipe");
    let running = ExternalProgram::shell("exec 3>&0 </dev/null \"$@\"")
        .arg(link_bus(&scratch))
        .args([&fill("--config-file={conf}", &scratch), "--nofork", "--print-address", "3"])
        .stdin(OwnedFd::from(child_side))
        .start();
    let mut text = String::new();
    output.read_to_string(&mut text).expect("text, and an end");
    let address = first_line(&text).expect("the address");
    assert!(TestPeer::connect(&address).is_alive());
    let _ = running.terminate().success();
}

/// dbus-launch: descriptors of its own choice, in two words each.
#[test]
fn dbus_launch() {
    let scratch = with_configuration();
    let ran = ExternalProgram::shell("exec \"$@\" 7>\"$OUT/pid\" 8>\"$OUT/address\"")
        .arg(link_bus(&scratch))
        .args(["--fork", "--print-pid", "7", "--print-address", "8", "--session"])
        .env("OUT", scratch.path())
        .run()
        .success();
    assert_eq!(ran.stdout, "", "{ran}");
    let read = |name: &str| fs::read_to_string(scratch.join(name)).expect("it was written");
    let daemon = Daemon::from_output(&(read("address") + &read("pid")));
    assert!(TestPeer::connect(daemon.address()).is_alive());
    daemon.stop();
}

/// systemd: the sockets are there before the bus is, and stay when it ends.
#[test]
fn systemd_sockets() {
    let scratch = with_configuration();
    let place = scratch.join("socket");
    let listener = UnixListener::bind(&place).expect("a fresh place");
    // Somebody who came too early waits.
    let early = std::thread::spawn({
        let address = format!("unix:path={}", place.display());
        move || TestPeer::connect(&address).is_alive()
    });
    let notifications = Notifications::new(&scratch);
    let running = ExternalProgram::shell("exec 3<&0 </dev/null; LISTEN_PID=$$ exec \"$@\"")
        .arg(link_bus(&scratch))
        .args([&fill("--config-file={conf}", &scratch), "--address=systemd:", "--nofork"])
        .args(["--nopidfile", "--systemd-activation", "--syslog-only", "--print-address=2"])
        .env("LISTEN_FDS", "1")
        .env("NOTIFY_SOCKET", &notifications.path)
        .stdin(OwnedFd::from(listener))
        .start();
    notifications.wait_for("READY=1");
    assert!(early.join().expect("no panic"), "who came early is served");
    assert!(running.stderr().contains("unix:path="), "{}", running.stderr());
    let ran = running.terminate().success();
    assert!(place.exists(), "not its own socket, so it stays: {ran}");
}

/// sd_notify: ready when it can be talked to, and in between while it reloads.
#[test]
fn notifications() {
    let scratch = ScratchFolder::new();
    let notifications = Notifications::new(&scratch);
    let path = &notifications.path;
    let mut bus =
        BusUnderTest::start_with(&TestConfig::session(), |bus| bus.env("NOTIFY_SOCKET", path));
    notifications.wait_for("READY=1");
    assert!(bus.peer().is_alive());
    bus.process().signal(Signal::HUP);
    notifications.wait_for("RELOADING=1");
    notifications.wait_for("READY=1");
    bus.stop();
    notifications.wait_for("STOPPING=1");
}

/// When the bus says that it is ready again, the new configuration is in force. The reference says
/// so before.
#[test]
fn ready_with_the_new_configuration() {
    let scratch = ScratchFolder::new();
    let notifications = Notifications::new(&scratch);
    let path = &notifications.path;
    let config = |rules| TestConfig::session().limit("max_match_rules_per_connection", rules);
    let mut bus = BusUnderTest::start_with(&config(0), |bus| bus.env("NOTIFY_SOCKET", path));
    notifications.wait_for("READY=1");
    let mut peer = bus.peer();
    for rules in 1..=20 {
        let text = config(rules).text(bus.scratch().path());
        bus.scratch().file("bus.conf", &text);
        bus.process().signal(Signal::HUP);
        notifications.wait_for("RELOADING=1");
        notifications.wait_for("READY=1");
        let reply = peer.ask_bus("AddMatch", "type='signal'");
        assert_eq!(reply.error_name(), "", "{}", reply.summary());
    }
    bus.stop();
}

/// The other end of `NOTIFY_SOCKET`.
struct Notifications {
    socket: UnixDatagram,
    path: std::path::PathBuf,
}

impl Notifications {
    fn new(scratch: &ScratchFolder) -> Self {
        let path = scratch.join("notify");
        let socket = UnixDatagram::bind(&path).expect("a fresh place");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("not zero");
        set_mode(&path, 0o777);
        Self { socket, path }
    }

    fn wait_for(&self, line: &str) {
        let mut bytes = [0; 4096];
        loop {
            let length = self.socket.recv(&mut bytes).unwrap_or_else(|_| panic!("no {line}"));
            let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            if text.lines().any(|found| found == line) {
                return;
            }
        }
    }
}

/// Somebody else on a session bus is refused when the handshake is over, and does no harm.
#[test]
fn another_user_on_a_session_bus() {
    if !root_for("another user on a session bus") {
        return;
    }
    let own = BusUnderTest::session();
    assert!(!comes_in(own.address(), RunAs::NOBODY), "nobody on the bus of root");
    assert!(own.peer().is_alive());
    own.stop();
    let theirs = BusUnderTest::start_as(RunAs::NOBODY, &TestConfig::session());
    assert!(comes_in(theirs.address(), RunAs::NOBODY), "nobody on the bus of nobody");
    assert!(!comes_in(theirs.address(), DAEMON), "a third one");
    assert!(!comes_in(theirs.address(), ROOT), "not even root");
    theirs.stop();
}

const ROOT: RunAs = RunAs { uid: 0, gid: 0 };

/// Debian's user `daemon`, who runs nothing.
const DAEMON: RunAs = RunAs { uid: 1, gid: 1 };

fn comes_in(address: &str, user: RunAs) -> bool {
    let ran = dbus_send(address, user, "org.freedesktop.DBus.GetId", &[]);
    assert!(ran.succeeded() || ran.stderr.contains("Failed to "), "{ran}");
    ran.succeeded()
}

fn dbus_send(address: &str, user: RunAs, method: &str, args: &[&str]) -> FinishedProgram {
    ExternalProgram::named("dbus-send", "dbus-bin")
        .arg(format!("--bus={address}"))
        .args(["--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus", method])
        .args(args)
        .user(user)
        .run()
}

/// What needs rights beyond those of a client: root and the user of the bus have them.
#[test]
fn privileged_methods() {
    if !root_for("privileged methods for several users") {
        return;
    }
    let config = TestConfig::session().policy("context='default'", "<allow user='*'/>");
    let bus = BusUnderTest::start_as(RunAs::NOBODY, &config);
    let rows: [(&str, &[&str]); 3] = [
        ("org.freedesktop.DBus.Monitoring.BecomeMonitor", &["array:string:", "uint32:0"]),
        ("org.freedesktop.DBus.UpdateActivationEnvironment", &["dict:string:string:A,b"]),
        ("org.freedesktop.DBus.AddMatch", &["string:eavesdrop='true'"]),
    ];
    for (method, args) in rows {
        for (user, allowed) in [(ROOT, true), (RunAs::NOBODY, true), (DAEMON, false)] {
            let ran = dbus_send(bus.address(), user, method, args);
            assert_eq!(ran.succeeded(), allowed, "{user:?}: {ran}");
            assert!(allowed || ran.stderr.contains("AccessDenied"), "{ran}");
        }
    }
    bus.stop();
}

/// What the bus says of a client of another user.
#[test]
fn credentials_of_another_user() {
    if !root_for("credentials of another user") {
        return;
    }
    let config = TestConfig::session().policy("context='default'", "<allow user='*'/>");
    let bus = BusUnderTest::start(&config);
    let script = "import dbus.bus, sys\n\
                  connection = dbus.bus.BusConnection(sys.argv[1])\n\
                  print(connection.get_unique_name(), flush=True)\n\
                  sys.stdin.read()";
    let (input, keep) = std::io::pipe().expect("a pipe");
    let client =
        ExternalProgram::python(script).arg(bus.address()).user(RunAs::NOBODY).stdin(input);
    let mut client = client.start();
    let name = client.wait_for("name", |stdout, _| first_line(stdout));
    let mut peer = bus.peer();
    assert_eq!(peer.ask_bus("GetConnectionUnixUser", &name).first_u32(), Some(65534));
    let reply = peer.ask_bus("GetConnectionCredentials", &name);
    let entries = reply.body[0].entries().expect("a dictionary");
    assert_eq!(entries["UnixUserID"], &PlainValue::U32(65534));
    assert_eq!(entries["ProcessID"], &PlainValue::U32(client.id()));
    assert_eq!(
        entries["UnixGroupIDs"],
        &PlainValue::Array("u".into(), vec![PlainValue::U32(65534)])
    );
    drop(keep);
    let _ = client.finish().success();
    bus.stop();
}

fn with_configuration() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.file("good.conf", &TestConfig::session().text(scratch.path()));
    scratch
}

fn fill(text: &str, scratch: &ScratchFolder) -> String {
    text.replace("{conf}", &scratch.join("good.conf").display().to_string())
}
