//! A service manager restarts the service of the bus while clients are connected. The service
//! manager keeps the bus in its file descriptor store, so clients notice only a short pause.

use std::fs;
use std::io::{PipeWriter, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::ExitCode;

use conformance::{
    ExternalProgram, PlainMessage, PlainValue, RunAs, ScratchFolder, StartedProgram, TestConfig,
    TestPeer, bus_binary, copy_bus, diligence, eventually, field, root, run_tests, test_case,
};

fn main() -> ExitCode {
    let tests = [
        test_case!(names_rules_and_pending_calls_survive),
        test_case!(closed_connections_are_closed),
        test_case!(numbered_signals_arrive_once_and_in_order),
        test_case!(many_connections_survive),
        test_case!(programs_with_client_libraries_continue),
        test_case!(the_process_of_the_bus_is_another_one),
        test_case!(starting_services_and_their_messages_survive),
        test_case!(a_changed_configuration_is_in_force),
        test_case!(an_invalid_configuration_changes_nothing),
        test_case!(the_bus_of_another_user_is_not_continued).requires(root()),
        test_case!(a_socket_that_was_opened_again_is_used),
        test_case!(a_damaged_state_starts_a_new_bus),
        test_case!(a_program_that_rejects_the_state_ends_the_connections),
        test_case!(a_stop_ends_the_connections),
        test_case!(without_a_store_connections_end),
    ];
    run_tests(tests.map(|test| test.requires(diligence())))
}

/// A service manager whose only service is a bus.
struct ManagedBus {
    manager: StartedProgram,
    commands: PipeWriter,
    scratch: ScratchFolder,
    starts: usize,
}

impl ManagedBus {
    fn start(config: &TestConfig) -> Self {
        Self::of_program(config, &bus_binary(), "4")
    }

    fn of_program(config: &TestConfig, program: &Path, store_len: &str) -> Self {
        Self::start_with(config, program, store_len, |manager| manager)
    }

    fn start_with(
        config: &TestConfig,
        program: &Path,
        store_len: &str,
        change: impl FnOnce(ExternalProgram) -> ExternalProgram,
    ) -> Self {
        let scratch = ScratchFolder::new();
        conformance::set_mode(scratch.path(), 0o777);
        let file = scratch.file("bus.conf", &config.text(scratch.path()));
        let script = scratch.file("manager.py", include_str!("python/manager.py"));
        let (input, commands) = std::io::pipe().expect("a pipe");
        let manager = change(ExternalProgram::at("/usr/bin/python3")).stdin(input).arg(script);
        let manager = manager.arg(scratch.path()).arg(store_len).arg(program);
        let manager = manager.arg("--config-file").arg(file);
        let manager = manager.args(["--address=systemd:", "--nofork"]).start();
        let mut managed = Self { manager, commands, scratch, starts: 0 };
        managed.wait_for_start();
        managed
    }

    fn command(&mut self, line: &str) {
        writeln!(self.commands, "{line}").expect("the manager runs");
    }

    fn restart(&mut self) {
        self.command("restart");
        self.wait_for_start();
    }

    fn wait_for_start(&mut self) {
        self.starts += 1;
        let starts = self.starts;
        self.manager.wait_for("start", |stdout, _| {
            let last = stdout.rfind("started ")?;
            let count = stdout.matches("started ").count();
            (count == starts && stdout[last..].contains("READY=1")).then_some(())
        });
    }

    fn wait_for(&mut self, event: &str) {
        self.manager.wait_for(event, |stdout, _| stdout.contains(event).then_some(()));
    }

    fn wait_for_log(&mut self, line: &str) {
        self.manager.wait_for(line, |_, stderr| stderr.contains(line).then_some(()));
    }

    fn address(&self) -> String {
        format!("unix:path={}", self.scratch.join("passed").display())
    }

    fn peer(&self) -> TestPeer {
        TestPeer::connect(&self.address())
    }

    /// The process id of the service.
    fn process(&self) -> u32 {
        let stdout = self.manager.stdout();
        let (_, last) = stdout.rsplit_once("started ").expect("it was started");
        last.split(' ').next().and_then(|pid| pid.parse().ok()).expect("a process id")
    }
}

fn names_rules_and_pending_calls_survive() {
    let mut bus = ManagedBus::start(&TestConfig::session());
    let (mut caller, mut service) = (bus.peer(), bus.peer());
    assert_eq!(service.request_name("com.example.Service", 0), 1);
    caller.add_match("type='signal',member='Queued'");
    let null = fs::File::open("/dev/null").expect("it exists");
    for number in 0..3_u32 {
        // The same open file is in several messages.
        let signal = PlainMessage::signal("/x", "com.example.I", "Queued");
        let signal = signal.field(field::UNIX_FDS, PlainValue::U32(1)).arg(PlainValue::U32(number));
        let bytes = service.numbered(signal).encode();
        service.send_with_descriptors(&bytes, &[null.as_fd()]);
    }
    caller.send(PlainMessage::some_call("com.example.Service"));
    let call = service.receive().expect("the call");
    bus.restart();
    service.send(PlainMessage::reply(&call).arg(PlainValue::text("late")));
    for number in 0..3 {
        let signal = caller.receive().expect("the signal");
        assert_eq!((signal.first_u32(), signal.descriptors.len()), (Some(number), 1));
    }
    assert_eq!(caller.receive().expect("the reply").first_text(), "late");
    assert_eq!(bus.peer().name(), ":1.2", "unique names are not used again");
    bus.wait_for("FDSTOREREMOVE=1 FDNAME=diligence-state");
    bus.wait_for("FDSTOREREMOVE=1 FDNAME=diligence-descriptors");
    bus.wait_for("stored 0");
    bus.wait_for_log("keeps the bus for its next start (connections: 2, ");
    bus.wait_for_log(" replaced version ");
}

/// The service manager has no copies of the descriptors that would keep connections open.
fn closed_connections_are_closed() {
    let mut bus = ManagedBus::start(&TestConfig::session());
    let (mut watcher, leaving, mut wrong) = (bus.peer(), bus.peer(), bus.peer());
    watcher.add_match("type='signal',member='NameOwnerChanged'");
    bus.restart();
    let name = leaving.name().to_owned();
    drop(leaving);
    assert_eq!(watcher.receive().expect("the signal").first_text(), name);
    wrong.send_bytes(b"this is not a message");
    wrong.until_closed();
    assert_eq!(watcher.receive().expect("the signal").first_text(), wrong.name());
}

fn numbered_signals_arrive_once_and_in_order() {
    const COUNT: u32 = 20_000;
    const RESTARTS: u32 = 10;
    let mut bus = ManagedBus::start(&TestConfig::session());
    let (sender, mut recipient) = (bus.peer(), bus.peer());
    recipient.add_match("type='signal',interface='com.example.I'");
    let sending = sender.stream_numbers(COUNT);
    for number in 0..COUNT {
        let signal = recipient.receive().expect("the signal");
        assert_eq!(signal.first_u32(), Some(number));
        if number % (COUNT / RESTARTS) == 100 {
            bus.restart();
        }
    }
    drop(sending.join().expect("no panic"));
}

/// One message of the kernel carries at most 253 descriptors.
fn many_connections_survive() {
    let config = TestConfig::session().limit("max_connections_per_user", 1000);
    let mut bus = ManagedBus::start(&config);
    let mut peers: Vec<_> = (0..600).map(|_| bus.peer()).collect();
    for _ in 0..2 {
        bus.restart();
    }
    assert!(peers.iter_mut().all(TestPeer::is_alive));
    bus.wait_for_log("(connections: 600, ");
}

fn programs_with_client_libraries_continue() {
    let mut bus = ManagedBus::start(&TestConfig::session());
    let program = |what: &str| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/gio.py");
        let program = ExternalProgram::at("/usr/bin/python3").env("PYTHONDONTWRITEBYTECODE", "1");
        program.arg(script).args([what, &bus.address()])
    };
    let mut service = program("serve").start();
    service.wait_for_stdout("ready\n");
    let (input, end_of_input) = std::io::pipe().expect("a pipe");
    let client = program("stream").stdin(input).start();
    for _ in 0..5 {
        bus.restart();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    drop(end_of_input);
    let client = client.finish();
    // If the client failed, the service would wait for its last signal forever.
    let service = if client.succeeded() { service.finish() } else { service.terminate() };
    assert!(client.succeeded() && service.succeeded(), "{client}\n{service}");
}

fn the_process_of_the_bus_is_another_one() {
    let scratch = ScratchFolder::new();
    let pid_file = scratch.join("pid");
    let metrics = scratch.join("metrics");
    let config = TestConfig::session()
        .element(&format!("<pidfile>{}</pidfile>", pid_file.display()))
        .element(&format!("<?diligence <metrics_socket>{}</metrics_socket>?>", metrics.display()));
    let mut bus = ManagedBus::start(&config);
    let mut peer = bus.peer();
    let mut check = |bus: &ManagedBus| {
        let process = bus.process();
        assert_eq!(fs::read_to_string(&pid_file).expect("the file"), format!("{process}\n"));
        let reply = peer.ask_bus("GetConnectionUnixProcessID", "org.freedesktop.DBus");
        assert_eq!(reply.first_u32(), Some(process));
        std::os::unix::net::UnixStream::connect(&metrics).expect("the bus serves metrics");
        process
    };
    let first = check(&bus);
    bus.restart();
    let second = check(&bus);
    bus.restart();
    let third = check(&bus);
    assert!(first != second && second != third);
}

fn starting_services_and_their_messages_survive() {
    const NAME: &str = "com.example.Service";
    let folder = ScratchFolder::new();
    let path = |name: &str| folder.join(name).display().to_string();
    let service = folder.file("service.py", include_str!("python/service.py"));
    let script = format!(
        "echo began >&2; while [ ! -e {} ]; do sleep 0.01; done; exec /usr/bin/python3 {} \
         \"$DBUS_STARTER_ADDRESS\"",
        path("go"),
        service.display(),
    );
    let script = folder.file("late.sh", &script);
    let exec = format!("/bin/sh {}", script.display());
    folder.file("late.service", &format!("[D-BUS Service]\nName={NAME}\nExec={exec}\n"));
    let element = format!("<servicedir>{}</servicedir>", folder.path().display());
    let mut bus = ManagedBus::start(&TestConfig::session().element(&element));
    let mut caller = bus.peer();
    caller.send(PlainMessage::call(NAME, "/", "org.freedesktop.DBus.Peer", "Ping"));
    bus.wait_for_log("began\n");
    bus.restart();
    folder.file("go", "");
    let reply = caller.receive().expect("the reply");
    assert_eq!(reply.error_name(), "", "{}", reply.summary());
    let process = bus.process();
    eventually("no child", || {
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        children.expect("the bus runs").is_empty().then_some(())
    });
}

fn a_changed_configuration_is_in_force() {
    let config = TestConfig::session();
    let mut bus = ManagedBus::start(&config.clone().limit("max_names_per_connection", 2));
    let mut peer = bus.peer();
    assert_eq!(peer.request_name("com.example.One", 0), 1);
    let folder = bus.scratch.path().to_owned();
    bus.scratch.file("bus.conf", &config.limit("max_names_per_connection", 3).text(&folder));
    bus.restart();
    assert_eq!(peer.request_name("com.example.Two", 0), 1);
}

/// A bus that never was root knows its user without its configuration.
fn an_invalid_configuration_changes_nothing() {
    let folder = ScratchFolder::new();
    conformance::set_mode(folder.path(), 0o755);
    let config = TestConfig::session().limit("max_names_per_connection", 2);
    let config = config.policy("context=\"default\"", "<allow user=\"*\"/>");
    let mut bus = ManagedBus::start_with(&config, &copy_bus(&folder), "4", |manager| {
        if RunAs::is_root() { manager.user(RunAs::NOBODY) } else { manager }
    });
    let mut peer = bus.peer();
    assert_eq!(peer.request_name("com.example.One", 0), 1);
    bus.scratch.file("bus.conf", "<busconfig");
    bus.restart();
    let request = PlainMessage::to_bus("RequestName");
    let request = request.arg(PlainValue::text("com.example.Two")).arg(PlainValue::U32(0));
    assert_eq!(peer.call(request).error_name(), "LimitsExceeded");
    bus.wait_for_log("The bus continues with its old settings: ");
}

/// The bus of another user is not continued: an attacker who controls an unprivileged bus could
/// otherwise get the rights of another user at its restart.
fn the_bus_of_another_user_is_not_continued() {
    let config = TestConfig::session().policy("context=\"default\"", "<allow user=\"*\"/>");
    let mut bus = ManagedBus::start(&config);
    let mut peer = bus.peer();
    let folder = bus.scratch.path().to_owned();
    bus.scratch.file("bus.conf", &config.element("<user>nobody</user>").text(&folder));
    bus.restart();
    bus.wait_for_log("Cannot continue the bus: it is of user 0, not of user 65534");
    peer.until_closed();
    let mut peer = bus.peer();
    bus.restart();
    assert!(peer.is_alive(), "a bus that switches its user is continued");
}

fn a_socket_that_was_opened_again_is_used() {
    let mut bus = ManagedBus::start(&TestConfig::session());
    let mut old = bus.peer();
    bus.command("reopen");
    bus.restart();
    let mut new = bus.peer();
    assert!(old.is_alive() && new.is_alive());
}

fn a_damaged_state_starts_a_new_bus() {
    let mut bus = ManagedBus::start(&TestConfig::session());
    let mut peer = bus.peer();
    bus.command("damage");
    bus.restart();
    bus.wait_for_log("Cannot continue the bus: the end of the state is missing");
    peer.until_closed();
    bus.wait_for("stored 0");
    assert_eq!(bus.peer().name(), ":1.0");
    let mut peer = bus.peer();
    bus.restart();
    assert!(peer.is_alive());
}

fn a_program_that_rejects_the_state_ends_the_connections() {
    let folder = ScratchFolder::new();
    let program = copy_bus(&folder);
    let mut bus = ManagedBus::of_program(&TestConfig::session(), &program, "4");
    let mut peer = bus.peer();
    let new = folder.file("new", "#!/bin/sh\necho 'not today' >&2; exit 1\n");
    conformance::set_mode(&new, 0o755);
    fs::rename(&new, &program).expect("a scratch folder is writable");
    bus.command("restart");
    peer.until_closed();
    bus.wait_for_log("All connections are closed, not kept: ");
    bus.wait_for_log("cannot continue with the state: not today");
    bus.wait_for("ended 0");
    assert!(!bus.manager.stdout().contains("FDSTORE=1"));
}

fn a_stop_ends_the_connections() {
    let mut bus = ManagedBus::start(&TestConfig::session());
    let mut peer = bus.peer();
    bus.restart();
    bus.command("stop");
    peer.until_closed();
    bus.wait_for("stopped");
}

fn without_a_store_connections_end() {
    for store_len in ["0", "1"] {
        let mut bus = ManagedBus::of_program(&TestConfig::session(), &bus_binary(), store_len);
        let mut peer = bus.peer();
        bus.restart();
        peer.until_closed();
        assert!(!bus.manager.stdout().contains("FDSTORE=1"));
        assert_eq!(bus.peer().name(), ":1.0");
    }
}
