//! Programs that start a bus, each with the command line that it uses, and users that connect to a
//! bus of another user.

use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::process::ExitCode;
use std::time::Duration;

use conformance::{
    BusUnderTest, Daemon, ExternalProgram, FinishedProgram, PlainValue, RunAs, ScratchFolder,
    Signal, TestConfig, TestPeer, eventually, first_line, installed, link_bus, root, run_tests,
    set_mode, socket_path, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(dbus_run_session_gets_a_bus_and_passes_the_exit_status_on),
        test_case!(gtest_dbus_starts_and_ends_the_bus),
        test_case!(dbusmock_starts_the_bus_in_the_background),
        test_case!(at_spi_bus_launcher_reads_the_address_from_descriptor_3),
        test_case!(dbus_launch_starts_the_bus),
        test_case!(sockets_from_systemd_stay_when_the_bus_ends),
        test_case!(systemd_is_notified_of_readiness_and_reloads),
        test_case!(readiness_after_a_reload_means_that_the_new_configuration_applies),
        test_case!(another_user_is_rejected_by_a_session_bus).requires(root()),
        test_case!(privileged_methods_are_allowed_for_root_and_the_user_of_the_bus)
            .requires(root()),
        test_case!(credentials_of_another_user).requires(root()),
    ])
}

/// dbus-run-session: the command gets the bus, its exit status is passed on, and the bus ends.
fn dbus_run_session_gets_a_bus_and_passes_the_exit_status_on() {
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

/// This call succeeds only on the bus of the environment.
const CALL: &str = "dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
                    org.freedesktop.DBus.NameHasOwner string:org.freedesktop.DBus";

/// GTestDBus of GLib reads one line and then removes the configuration file.
fn gtest_dbus_starts_and_ends_the_bus() {
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

/// python-dbusmock reads two lines and then closes the pipe, while the bus continues to run.
fn dbusmock_starts_the_bus_in_the_background() {
    for form in ["--session", "--config-file={conf}"] {
        let scratch = with_configuration();
        let (mut output, child_side) = std::io::pipe().expect("a pipe");
        // The shell turns its standard input, which is the pipe, into the standard output of the
        // bus.
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

/// at-spi-bus-launcher reads descriptor 3 to its end, while the bus stays in the foreground.
fn at_spi_bus_launcher_reads_the_address_from_descriptor_3() {
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

/// dbus-launch passes descriptors of its own choice, as separate arguments.
fn dbus_launch_starts_the_bus() {
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

/// systemd creates the sockets before the bus starts, and keeps them when the bus ends.
fn sockets_from_systemd_stay_when_the_bus_ends() {
    let scratch = with_configuration();
    let place = scratch.join("socket");
    let listener = UnixListener::bind(&place).expect("a fresh place");
    // A client that connects before the bus starts waits.
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
    assert!(early.join().expect("no panic"), "the early client is served");
    assert!(running.stderr().contains("unix:path="), "{}", running.stderr());
    let ran = running.terminate().success();
    assert!(place.exists(), "not its own socket, so it stays: {ran}");
}

/// The bus notifies systemd (sd_notify) when it accepts connections, and when it starts and
/// finishes reloading.
fn systemd_is_notified_of_readiness_and_reloads() {
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

/// When the bus reports that it is ready again, the new configuration is in force. dbus-daemon
/// reports it earlier.
fn readiness_after_a_reload_means_that_the_new_configuration_applies() {
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

/// The receiving socket of `NOTIFY_SOCKET`.
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

/// A client of another user is rejected at the end of the handshake, and the session bus continues
/// to work.
fn another_user_is_rejected_by_a_session_bus() {
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

/// Debian's user `daemon`, which runs no processes.
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

/// Privileged methods are allowed for root and for the user of the bus.
fn privileged_methods_are_allowed_for_root_and_the_user_of_the_bus() {
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

/// The credentials that the bus returns for a client of another user.
fn credentials_of_another_user() {
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
